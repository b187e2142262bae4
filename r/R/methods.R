predict.krigo <- function(object, newdata, se.fit = FALSE,
                          interval = c("none", "confidence", "prediction", "conformal", "normalised", "band"), level = 0.95,
                          type = NULL, ...) {
  if (missing(newdata)) refuse("newdata is missing: a model keeps no rows. Give the data frame of the fit, or another one with the same columns")
  only_the_command_line(c(if (length(interval) == 1) interval, names(list(...))))
  interval <- match.arg(interval)
  if (...length()) refuse("predict takes no argument ", c(names(list(...)), "without a name")[1], ": its arguments are newdata, se.fit, interval, level and type")
  classes <- object$classes
  if (!is.null(type) && !identical(type, "response") && !(length(classes) && isTRUE(type %in% c("class", "prob", "set")))) {
    refuse("type: want ", if (length(classes)) "\"class\", \"prob\" or \"set\"" else "\"response\": the model predicts numbers, which have no classes")
  }
  if (length(classes) > 2 && identical(type, "response")) refuse("type: the target has ", length(classes), " classes: want \"class\", \"prob\" or \"set\"")
  if (length(classes) && (se.fit || interval != "none")) refuse("a label has no ", if (se.fit) "standard error" else "interval", ": ask for type = \"prob\"")
  if (interval == "band" && !missing(level)) refuse("level: the band holds the share that the certificate states. Leave level out, or ask for another interval")
  if (!is.numeric(level) || length(level) != 1 || !isTRUE(level > 0 && level < 1)) refuse("level: want a share between 0 and 1, such as 0.95")
  noise <- object$options$kernel$noise
  if (any(noise %in% c("poisson", "negative-binomial", "gamma", "ordinal")) && (se.fit || interval == "confidence" || interval == "prediction" && level != 0.95)) {
    refuse("noise ", noise, ": the function is ", if (noise == "ordinal") "compared with thresholds" else "the logarithm of the mean", ", and only the ends of interval = \"prediction\" at level 0.95 are known: leave out ", if (se.fit) "se.fit" else if (interval == "confidence") "interval" else "level")
  }
  table <- rows_of(object, newdata, "newdata")
  kinds <- intersect(interval, c("conformal", "normalised", "band"))
  reply <- of(object, "predict", table, if (identical(type, "set")) list(sets = json_number(level)) else if (length(kinds)) list(intervals = I(kinds), level = json_number(level)))
  found <- lapply(reply$buffers, doubles)
  for (notice in reply$result$notices) message(notice)
  rows <- row.names(newdata)
  if (length(classes)) {
    if (is.null(type) || type == "class") return(structure(factor(classes[1 + found$label], levels = classes), names = rows))
    each <- found[paste0(if (type == "set") "set" else "probability", seq_along(classes) - 1)]
    each <- matrix(unlist(each), ncol = length(classes), dimnames = list(rows, classes))
    return(if (type == "set") each == 1 else if (type == "prob") each else each[, 2])
  }
  fit <- structure(found$mean, names = rows)
  if (interval != "none") {
    ends <- switch(interval,
      confidence = around(found$mean, found$latent_sd, level),
      prediction = if (level == 0.95) found[c("lower95", "upper95")] else around(found$mean, found$predictive_sd, level),
      found[paste0(interval, c("_lower", "_upper"))]
    )
    fit <- cbind(fit = found$mean, lwr = ends[[1]], upr = ends[[2]])
    rownames(fit) <- rows
  }
  if (!se.fit) return(fit)
  # The root of a difference of squares as a product of two roots, because the squares could overflow.
  noise <- sqrt(pmax(found$predictive_sd - found$latent_sd, 0)) * sqrt(found$predictive_sd + found$latent_sd)
  list(fit = fit, se.fit = structure(found$latent_sd, names = rows), residual.scale = median(noise))
}

# only_the_command_line refuses what predict has only on the command line, and names the command. docs/how-to/r.md lists the names.
only_the_command_line <- function(names) {
  flags <- gsub("[._]", "-", names)
  for (i in which(flags %in% c("by", "data", "exact-variance", "explain", "full", "jackknife", "keep", "samples"))) {
    kind <- if (flags[i] %in% c("full", "jackknife")) "intervals "
    refuse(names[i], " exists only on the command line: use krigo predict --", kind, flags[i], " (docs/how-to/r.md lists what R doesn't have)")
  }
}

around <- function(mean, sd, level) {
  half <- qnorm((1 + level) / 2) * sd
  list(mean - half, mean + half)
}

residuals.krigo <- function(object, data, ...) {
  if (missing(data)) refuse("data is missing: a model keeps no rows. Give the rows whose residuals you want")
  observed <- observed_of(object, data)
  predicted <- predict(object, data)
  structure(observed - predicted, names = names(predicted))
}

# observed_of returns the targets of rows as numbers, with the same checks as krigo().
observed_of <- function(object, data) {
  if (length(object$classes)) {
    refuse("a label has no residual: table(data$", object$target, ", predict(m, data)) counts labels, and report() draws how probable they are")
  }
  data <- framed(data)
  if (!object$target %in% names(data)) refuse("data has no column '", object$target, "', the target", kind = "data", column = object$target)
  target_of(data, object$target)
}

# update.krigo fits again with the model's call, after changing the call by the arguments.
update.krigo <- function(object, ...) {
  if (!"formula" %in% names(object$call)) {
    refuse("a model that read_krigo() read has no call to change: call krigo() instead, for example with formula(object)")
  }
  NextMethod()
}

print.krigo <- function(x, ...) {
  if (!is.null(x$call)) cat("Call: ", deparse1(x$call), "\n\n", sep = "")
  writeLines(c(told(x), ""))
  cat("Trained on ", target_line(x), "\n", sep = "")
  invisible(x)
}

# told returns the lines about a model: that a constant is as good, if so, then the promise, then the model's errors on the certified rows.
told <- function(x) unlist(lapply(c(x$no_better, x$sentence, x$context), function(text) if (nzchar(text)) wrapped(text)))

target_line <- function(x) {
  c <- x$fit$certificate
  models <- if (is.null(x$fit$targets)) list(x$fit) else x$fit$targets # one for each of more than two classes
  informed <- identical(c$prior, "informed")
  others <- c(
    if (informed) paste(c$rows, "certify it"), if (!is.null(x$options$promise$calibration)) paste(x$fit$conformal$rows, "calibrate its intervals"),
    if (!is.null(x$fit$test)) paste(x$fit$test$rows, "test it")
  )
  paste0(
    if (informed) c$prior_rows else if (is.null(c)) models[[1]]$rows else c$rows, " rows", if (length(others)) paste0(" (others: ", paste(others, collapse = ", "), ")"), ", kernel ",
    paste(unique(vapply(models, function(one) expression_of(one$kernel), "")), collapse = " or "),
    ": ", x$target, " from ", paste(x$columns, collapse = ", ")
  )
}

# expression_of returns a kernel as text: sums and products of parts.
expression_of <- function(kernel) {
  if (!length(kernel$parts)) return(kernel$name)
  parts <- vapply(kernel$parts, function(part) {
    text <- expression_of(part)
    if (kernel$name == "product" && part$name == "sum") paste0("(", text, ")") else text
  }, "")
  paste(parts, collapse = if (kernel$name == "sum") "+" else "*")
}

summary.krigo <- function(object, ...) {
  structure(class = "summary.krigo", list(
    promise = object$sentence, no_better = object$no_better, context = object$context, certificate = certificate(object), conformal = object$fit$conformal, test = object$fit$test, kernel = object$fit$kernel,
    classes = object$classes, noise_variance = object$fit$noise_variance, training = object$fit$training, notices = object$notices, model = target_line(object)
  ))
}

print.summary.krigo <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  shown <- function(v) paste(format(v, digits = digits), collapse = " ")
  writeLines(c(told(list(no_better = x$no_better, sentence = x$promise, context = x$context)), ""))
  c <- x$certificate
  if (!is.null(c)) {
    cat("Bound on the loss of predictions: ", shown(c$mean_bound), ", from ", c$rows, " certified rows, delta ", shown(c$delta), "\n", sep = "")
    cat("Conditions:\n", paste0(strwrap(paste("-", c$conditions), exdent = 2), "\n"), sep = "")
  }
  cat("\nTrained on ", x$model, "\n", sep = "")
  if (!is.null(x$kernel$lengthscales)) cat("Lengthscales (scaled units): ", shown(x$kernel$lengthscales), "\n", sep = "")
  labels <- length(x$classes) > 0
  if (!labels) cat("Noise variance (scaled units): ", shown(x$noise_variance), "\n", sep = "")
  if (!is.null(x$test) && labels) cat("Test rows: ", x$test$rows, ", wrong labels ", shown(x$test$mean_risk), ", log loss ", shown(x$test$nlpd), "\n", sep = "")
  if (!is.null(x$test) && !labels) cat("Test rows: ", x$test$rows, ", RMSE ", shown(x$test$rmse_raw), ", misses ", shown(x$test$mean_risk), "\n", sep = "")
  if (length(x$notices)) cat("Notices:\n", paste0(strwrap(paste("-", x$notices), exdent = 2), "\n"), sep = "")
  invisible(x)
}
