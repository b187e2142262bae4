krigo <- function(formula, data, epsilon = NULL, delta = 0.01, ..., seed = 0) {
  call <- match.call()
  data <- framed(data)
  dots <- list(...)
  if (length(dots) && (is.null(names(dots)) || !all(nzchar(names(dots))))) {
    refuse("an argument without a name: options of krigo fit are given by their names, as kernel = \"matern32\"")
  }
  names(dots) <- gsub("[._]", "-", names(dots))
  for (name in intersect(names(dots), c("target", "inputs", "ignore"))) refuse(name, ": the formula says it")
  group <- dots[["group"]]
  wanted <- columns_of(formula, data, group)
  table <- table_of(data, c(wanted$inputs, wanted$target, group))
  dates <- lapply(unlist(strsplit(as.character(dots[["dates"]]), ",", fixed = TRUE)), date_of)
  dated <- vapply(dates, function(d) d$column, "")
  waves <- unlist(lapply(dates, function(d) outer(paste(d$column, d$parts)[seq_along(d$parts)], c("sin", "cos"), paste)))
  said <- unlist(strsplit(as.character(dots[["categorical"]]), ",", fixed = TRUE))
  dots[["categorical"]] <- listed(union(trimws(said), setdiff(table$texts, c(wanted$target, group, dated))))
  dots[["dates"]] <- listed(c(dots[["dates"]], setdiff(table$dates, c(wanted$target, group, dated))))
  flags <- c(
    flag("target", wanted$target), flag("inputs", listed(c(wanted$inputs, waves))), flag("epsilon", if (is.null(epsilon)) NULL else paste(written(epsilon), collapse = ":")), flag("delta", delta), flag("seed", seed),
    unlist(Map(flag, names(dots), dots), use.names = FALSE)
  )
  reply <- ask(list(op = "fit", table = table, args = list(flags = I(flags))))
  object <- model_of(reply$buffers[["file"]], reply$result, call, formula)
  for (notice in object$fit$notices) message(notice)
  if (!is.null(reply$buffers[["delivered"]])) object$delivered <- loaded(reply$buffers[["delivered"]], call, formula)
  object
}

# date_of is a column of dates as --dates names it, as sold:dmy:day:year.
date_of <- function(text) {
  words <- strsplit(trimws(text), ":", fixed = TRUE)[[1]]
  parts <- c("day", "week", "year")
  said <- words %in% c(parts, "ymd", "dmy", "mdy", "words", "month", "time")
  from <- max(1, which(!said))
  list(column = paste(words[seq_len(from)], collapse = ":"), parts = intersect(words[-seq_len(from)], parts))
}

# columns_of are the target and the inputs that a formula names. Terms that aren't columns are refused: what the model file
# doesn't keep couldn't be done to further rows.
columns_of <- function(formula, data, group) {
  if (!inherits(formula, "formula") || length(formula) != 3) refuse("formula: want target ~ inputs, as price ~ . or price ~ rooms + age")
  left <- formula[[2]]
  if (!is.name(left)) {
    refuse("on the left side of the formula stands ", deparse1(left), ": the promise is about a column, so make it one first, as data$y <- ", deparse1(left))
  }
  target <- as.character(left)
  all <- terms(formula, data = data)
  if (!is.null(attr(all, "offset"))) refuse("the formula has an offset: subtract it from the target first")
  if (attr(all, "intercept") == 0) refuse("the formula leaves out the intercept, which a Gaussian process doesn't have: say mean = \"zero\"")
  labels <- attr(all, "term.labels")
  plain <- vapply(labels, function(label) is.name(str2lang(label)), NA)
  if (!all(plain)) {
    refuse("the formula has ", paste(labels[!plain], collapse = ", "), ": inputs are columns as they are; transform the data first. The kernel finds interactions and curves by itself")
  }
  inputs <- setdiff(vapply(labels, function(label) as.character(str2lang(label)), ""), group)
  absent <- setdiff(c(target, inputs, group), names(data))
  if (length(absent)) refuse("data has no column '", absent[1], "'", kind = "data", column = absent[1])
  if (target %in% inputs || identical(target, group)) refuse("the target '", target, "' is on both sides")
  if (!length(inputs)) refuse("the formula names no inputs")
  list(target = target, inputs = unname(inputs))
}

# flag is an option of krigo fit as it stands on the command line.
flag <- function(name, value) {
  if (is.null(value) || isFALSE(value)) return(NULL)
  if (isTRUE(value)) return(paste0("--", name))
  if (length(value) > 1) value <- listed(written(value))
  enc2utf8(paste0("--", name, "=", written(value)))
}

written <- function(value) {
  if (inherits(value, "difftime")) return(paste0(number(as.double(value, units = "secs")), "s"))
  if (is.numeric(value)) return(number(value))
  if (!is.character(value) && !is.factor(value)) refuse("an option is a ", class(value)[1], ": want text, numbers or TRUE")
  as.character(value)
}

# listed joins texts by commas, those that have some in quotes, as a CSV file.
listed <- function(texts) {
  if (!length(texts)) return(NULL)
  odd <- grepl("[,\"\n]", texts)
  texts[odd] <- paste0("\"", gsub("\"", "\"\"", texts[odd], fixed = TRUE), "\"")
  paste(texts, collapse = ",")
}

# model_of is a model file with what krigo says of it.
model_of <- function(file, about, call, formula = NULL) {
  derived <- lapply(about$reading$dates, function(d) outer(paste(d$column, unlist(d$parts)), c("sin", "cos"), paste))
  columns <- if (is.null(about$encoding)) about$inputs else vapply(about$encoding$columns, function(c) c$name, "")
  columns <- setdiff(columns, unlist(derived))
  if (is.null(formula)) formula <- reformulate(sprintf("`%s`", columns), as.name(about$target), env = globalenv())
  structure(class = "krigo", list(
    call = call, formula = formula, file = file, target = about$target, columns = columns, group = if (!identical(about$group, "")) about$group,
    sentence = if (is.null(about$sentence)) paste0("No certificate: ", about$reason, ".") else about$sentence,
    checksum = about$checksum, options = about$options, fit = about$fit
  ))
}

loaded <- function(file, call, formula = NULL) model_of(file, ask(list(op = "load", buffers = list(file)))$result, call, formula)

read_krigo <- function(file) {
  if (!file.exists(file)) refuse(file, " isn't there", kind = "failed")
  loaded(readBin(file, "raw", file.size(file)), match.call())
}

write_krigo <- function(object, file) {
  object <- model(object)
  write_whole(object$file, file)
}

# write_whole leaves a file whole or as it was.
write_whole <- function(bytes, file) {
  file <- path.expand(file)
  new <- tempfile(".krigo-", dirname(file), ".tmp")
  on.exit(unlink(new))
  con <- tryCatch(suppressWarnings(file(new, "wb")), error = function(e) refuse(file, " can't be written: is its folder there?", kind = "failed"))
  tryCatch(write_buffer(bytes, con), finally = close(con))
  if (file.size(new) != length(bytes) || !file.rename(new, file)) refuse(file, " can't be written", kind = "failed")
  invisible(file)
}

model <- function(object) {
  if (!inherits(object, "krigo")) refuse("want a model of krigo(), not a ", class(object)[1])
  object
}

# of asks about a model.
of <- function(object, op, table = NULL, args = NULL) {
  ask(list(op = "load", buffers = list(object$file)), list(op = op, model = 1, table = table, args = args))
}

# rows_of is a data frame as a model takes it: with what it predicts from, and where wanted what it predicts and the groups.
rows_of <- function(object, data, what = "data", target = FALSE) {
  data <- framed(data, what)
  wanted <- c(model(object)$columns, if (target) object$target)
  absent <- setdiff(wanted, names(data))
  if (length(absent)) refuse(what, " has no column '", absent[1], "', which the model needs", kind = "data", column = absent[1])
  table_of(data, c(wanted, if (target) object$group))
}
