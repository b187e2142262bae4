# This file has methods for the functions of broom, which come from the package generics. krigo needs neither package.

# tidy.krigo returns the parameters of the kernel and of the noise.
tidy.krigo <- function(x, ...) {
  models <- if (is.null(x$fit$targets)) list(x$fit) else x$fit$targets # one for each of more than two classes
  tables <- lapply(models, function(one) {
    values <- c(terms_of(one$kernel, x$inputs), if (!length(x$classes)) c("noise variance" = one$noise_variance))
    data.frame(term = names(values), estimate = unname(values))
  })
  if (length(tables) > 1) tables <- Map(function(table, class) cbind(class = class, table), tables, x$classes)
  do.call(rbind, tables)
}

# terms_of returns a kernel's numbers with names, in the order of its parts. All are in scaled units.
terms_of <- function(kernel, inputs) {
  if (length(kernel$parts)) return(unlist(lapply(kernel$parts, terms_of, inputs)))
  unlist(lapply(setdiff(names(kernel), "name"), function(what) {
    values <- unlist(kernel[[what]])
    if (!is.numeric(values)) return(NULL)
    own <- if (length(values) == 1) "" else if (length(values) == length(inputs)) paste(" of", inputs) else paste0(" ", seq_along(values))
    structure(values, names = paste0(kernel$name, ": ", sub("s$", "", what), own))
  }))
}

# glance.krigo returns one row: the certificate, and how the model does on the certified rows. What the model doesn't have is NA.
glance.krigo <- function(x, ...) {
  c <- certificate(x)
  found <- x$fit$context
  test <- x$fit$test
  of <- function(value) if (is.null(value)) NA_real_ else as.double(value)
  data.frame(
    nobs = of(if (is.null(x$fit$targets)) x$fit$rows else x$fit$targets[[1]]$rows), certified = of(c$rows), epsilon = of(c$epsilon_raw), bound = of(c$mean_bound),
    confidence = 1 - of(c$delta), rmse = of(found$rmse), mae = of(found$mae), r.squared = of(found$r2), coverage95 = of(found$coverage95), test.rmse = of(test$rmse_raw)
  )
}

# augment.krigo returns rows with their predictions, 95 % intervals and residuals.
augment.krigo <- function(x, data = NULL, newdata = NULL, ...) {
  rows <- if (is.null(newdata)) data else newdata
  if (is.null(rows)) refuse("data is missing: a model keeps no rows. Give the rows to predict")
  made <- as.data.frame(rows)
  if (length(x$classes)) {
    made$.fitted <- unname(predict(x, rows))
    return(made)
  }
  found <- predict(x, rows, interval = "prediction")
  made$.fitted <- unname(found[, "fit"])
  made$.lower <- unname(found[, "lwr"])
  made$.upper <- unname(found[, "upr"])
  if (x$target %in% names(framed(rows))) made$.resid <- observed_of(x, rows) - made$.fitted
  made
}
