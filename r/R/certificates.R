certificate <- function(object, ...) UseMethod("certificate")
certificate.krigo <- function(object, ...) object$fit$certificate
certificate.krigo_finding <- function(object, ...) if (is.null(object$details$certificate)) object$details else object$details$certificate

promise <- function(object, ...) UseMethod("promise")
promise.krigo <- function(object, ...) object$sentence
promise.krigo_finding <- function(object, ...) object$sentence

finding <- function(sentence, details) structure(class = "krigo_finding", list(sentence = sentence, details = details))

print.krigo_finding <- function(x, ...) {
  writeLines(wrapped(x$sentence))
  invisible(x)
}

wrapped <- function(text) strwrap(strsplit(text, "\n", fixed = TRUE)[[1]])

certify <- function(object, data) {
  found <- of(object, "certify", rows_of(object, data, target = TRUE))$result
  if (nzchar(found$differs)) {
    refuse("the model isn't what its file and data make it: ", found$differs, "; don't rely on this model", kind = "differs")
  }
  finding(found$sentence, found$certify)
}

certify_fresh <- function(object, data) {
  found <- of(object, "fresh", rows_of(object, data, target = TRUE))$result
  finding(found$sentence, found$fresh)
}

certify_predictions <- function(y, yhat, epsilon, delta = 0.01, loss = "band", group = NULL, bound = NULL, curve = FALSE, target = "y") {
  y <- measured("y", y)
  yhat <- measured("yhat", yhat)
  if (length(y) != length(yhat)) refuse("there are ", length(y), " targets, but ", length(yhat), " predictions", kind = "data")
  if (!is.null(group) && length(group) != length(y)) refuse("there are ", length(y), " targets, but group has ", length(group), " values", kind = "data")
  if (!is.null(epsilon) && !(is.numeric(epsilon) && length(epsilon) %in% 1:2 && all(is.finite(epsilon) & epsilon > 0))) {
    refuse("epsilon: want a positive number in the units of y, or two numbers (below and above) for the loss \"asymmetric\"")
  }
  if (!(is.numeric(delta) && length(delta) == 1 && isTRUE(delta > 0 && delta < 1))) refuse("delta: want a probability between 0 and 1, such as 0.01")
  if (length(epsilon) == 2 && !identical(loss, "asymmetric")) refuse("epsilon has two widths, but only the loss \"asymmetric\" takes two widths")
  names <- make.unique(c(utf8(one("target", target)), "prediction", "group"))
  data <- list(y, yhat, group)
  names(data) <- names[seq_along(data)]
  data <- data.frame(data[!vapply(data, is.null, NA)], check.names = FALSE)
  options <- list(
    data = c(list(target = names[1]), if (!is.null(group)) list(group = names[3])),
    promise = c(
      list(units = "raw", loss = one("loss", loss), delta = json_number(delta)), if (one_of_two("curve", curve)) list(curve = TRUE),
      if (!is.null(bound)) list(bound = one("bound", bound)),
      if (length(epsilon)) list(epsilon = json_number(epsilon[1])), if (length(epsilon) == 2) list(epsilon_above = json_number(epsilon[2]))
    )
  )
  found <- asked(running(), list(op = "certify_predictions", table = table_of(data, names), args = list(options = options, prediction = names[2])))$result
  finding(found$sentence, found)
}

watch <- function(object, data, ledger, key = NULL) {
  if (!is.null(key)) key <- utf8(one("key", as.character(key)))
  args <- c(list(ledger = utf8(path.expand(one("ledger", ledger)))), if (!is.null(key)) list(key = key))
  found <- of(object, "watch", rows_of(object, data, target = TRUE), args)$result
  result <- finding(found$sentence, found$watch)
  result$known <- isTRUE(found$known)
  result
}

report <- function(object, data = NULL, file) {
  table <- if (!is.null(data)) rows_of(object, data, target = TRUE)
  page <- of(object, "report", table)$buffers[["page"]]
  write_whole(page, file)
}
