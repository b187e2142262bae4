# This file has the models of several targets, krigo(cbind(a, b) ~ x, data): a list of a model of each target, and a certificate of all targets at once.

targets_of <- function(p, reply, call) {
  models <- lapply(seq_along(reply$result$targets), function(i) {
    file <- reply$buffers[[paste0("file", i - 1)]]
    model_of(file, remember(p, file, list(result = reply$result$targets[[i]]))$result, call)
  })
  names(models) <- vapply(models, function(m) m$target, "")
  structure(class = "krigo_targets", list(
    call = call, file = reply$buffers[["file"]], models = models, sentence = reply$result$sentence, together = reply$result$together
  ))
}

promise.krigo_targets <- function(object, ...) object$sentence
certificate.krigo_targets <- function(object, ...) object$together$certificate

# predict.krigo_targets returns a column for each target. With further arguments it returns a list with what predict returns for each target.
predict.krigo_targets <- function(object, newdata, ...) {
  found <- lapply(object$models, predict, newdata, ...)
  if (...length()) found else do.call(cbind, found)
}

print.krigo_targets <- function(x, ...) {
  if (!is.null(x$call)) cat("Call: ", deparse1(x$call), "\n\n", sep = "")
  writeLines(wrapped(x$sentence))
  for (m in x$models) cat("\nTrained on ", target_line(m), "\n", sep = "")
  invisible(x)
}

# certify_targets computes the certificates of all targets again.
certify_targets <- function(object, data) {
  table <- rows_of(object$models[[1]], data, target = names(object$models))
  found <- asked(running(), list(op = "certify_targets", table = table, buffers = list(object$file)))$result
  finding(found$sentence, found)
}
