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
  if (inherits(object, "krigo_targets")) return(certify_targets(object, data))
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

certify_classifier <- function(y, proba = NULL, labels = NULL, classes = colnames(proba), statements = "error", delta = 0.01,
                               at_most_wrong = NULL, recall = NULL, positive = NULL, score = NULL, costs = NULL, slice_by = NULL,
                               group = NULL, target = "y") {
  truth <- labels_of("y", y)
  if (is.null(classes)) classes <- if (is.factor(y)) levels(y) else sort(unique(y[!is.na(y)]))
  classes <- labels_of("classes", classes)
  chosen <- identical(statements, "error") && !(is.null(at_most_wrong) && is.null(recall) && is.null(costs) && is.null(slice_by))
  args <- list(target = utf8(one("target", target)), statements = if (!chosen) I(statements))
  shares <- list(delta = delta, at_most_wrong = at_most_wrong, recall = recall)
  for (name in names(shares)) {
    share <- shares[[name]]
    if (is.null(share)) next
    if (!(is.numeric(share) && length(share) == 1 && isTRUE(share > 0 && share < 1))) refuse(name, ": want a share between 0 and 1, such as 0.01")
    args[[name]] <- json_number(share)
  }
  if (!is.null(positive)) args$positive <- labels_of("positive", positive)
  data <- structure(list(truth), names = args$target)
  given <- list(prediction = labels, slice_by = slice_by, group = group, score = score)
  for (name in names(given)[!vapply(given, is.null, NA)]) {
    args[[name]] <- if (name == target) paste0(name, "_") else name
    data[[args[[name]]]] <- if (name == "score") measured("score", score) else labels_of(name, given[[name]])
  }
  if (!is.null(proba)) {
    if (is.data.frame(proba)) proba <- as.matrix(proba)
    if (!is.matrix(proba) || !is.numeric(proba) || ncol(proba) != length(classes)) {
      refuse("proba: want a matrix with a column for each of the classes ", toString(classes), "; name its columns, or give classes", kind = "data")
    }
    args$probabilities <- if (startsWith(target, "probability of ")) "chance of " else "probability of "
    data[paste0(args$probabilities, classes)] <- lapply(seq_along(classes), function(k) as.double(proba[, k]))
  }
  if (!is.null(costs)) {
    lines <- apply(as.matrix(costs), 1, function(row) paste0("[", paste(number(row), collapse = ","), "]"))
    args$costs <- list(classes = I(classes), costs = structure(paste0("[", paste(lines, collapse = ","), "]"), class = "json"))
  }
  rows <- lengths(data)
  if (any(rows != rows[1])) refuse("there are ", rows[1], " labels in y, but ", rows[rows != rows[1]][1], " values of ", names(rows)[rows != rows[1]][1], kind = "data")
  table <- table_of(data.frame(data, check.names = FALSE), names(data))
  found <- asked(running(), list(op = "certify_labels", table = table, args = Filter(Negate(is.null), args)))$result
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
