krigo <- function(formula, data, epsilon = NULL, delta = 0.01, ..., seed = 0) {
  if (!inherits(formula, "formula") && "form" %in% names(sys.call())) {
    refuse("form: R takes this name for the argument formula. Name the formula too: krigo(formula = y ~ x, data, form = \"loo\")")
  }
  call <- small(match.call())
  data <- framed(data)
  # lm() looks for these in data, so that evaluating them here could fail first.
  for (name in intersect(names(as.list(substitute(list(...)))), names(no_options))) refuse(name, ": ", no_options[[name]])
  dots <- list(...)
  if (length(dots) && (is.null(names(dots)) || !all(nzchar(names(dots))))) {
    refuse("an argument without a name: name every option of krigo fit, for example kernel = \"matern32\"")
  }
  names(dots) <- gsub("[._]", "-", names(dots))
  if (anyDuplicated(names(dots))) refuse(gsub("-", "_", names(dots)[anyDuplicated(names(dots))], fixed = TRUE), " is given twice")
  for (name in intersect(names(dots), c("target", "inputs", "ignore"))) refuse(name, ": leave this option out, because the formula names the target and the inputs")
  for (name in intersect(names(dots), c("units", "decimal", "thousands"))) {
    refuse(name, ": this option is for text files, and the columns of a data frame have types. Convert text to numbers first, for example as.numeric(sub(\" kg$\", \"\", x))")
  }
  for (name in intersect(names(dots), texts_alone)) {
    if (is.logical(dots[[name]])) refuse(name, " is ", shown(dots[[name]]), ": want text")
    if (is.character(dots[[name]])) dots[[name]] <- utf8(dots[[name]])
  }
  group <- if (!is.null(dots[["group"]])) one("group", dots[["group"]])
  offset <- if (!is.null(dots[["offset"]])) one("offset", dots[["offset"]])
  exposure <- if (!is.null(dots[["exposure"]])) one("exposure", dots[["exposure"]])
  noise <- if (!is.null(dots[["noise-column"]])) one("noise_column", dots[["noise-column"]])
  limits <- if (!is.null(dots[["censored"]])) one("censored", dots[["censored"]])
  offset <- c(offset, exposure, noise, limits)
  wanted <- columns_of(formula, data, c(group, offset))
  y <- if (length(wanted$target) == 1) data[[wanted$target]]
  known <- if (is.factor(y) || is.character(y)) unique(as.character(y[!is.na(y)]))
  kinds <- length(known)
  worded <- anyNA(suppressWarnings(as.numeric(known))) || identical(dots[["noise"]], "probit") # more than two numbers may be meant as numbers
  if (kinds == 2 || kinds %in% 3:100 && worded) {
    data <- labelled(data, wanted$target)
    if ((is.numeric(data[[wanted$target]]) || kinds > 2) && is.null(dots[["noise"]])) dots[["noise"]] <- "probit"
  } else {
    for (name in wanted$target) target_of(data, name)
  }
  table <- table_of(data, c(wanted$inputs, wanted$target, group, offset))
  dates <- lapply(unlist(strsplit(as.character(dots[["dates"]]), ",", fixed = TRUE)), date_of)
  dated <- vapply(dates, function(d) d$column, "")
  waves <- unlist(lapply(dates, function(d) outer(paste(d$column, d$parts)[seq_along(d$parts)], c("sin", "cos"), paste)))
  said <- unlist(strsplit(as.character(dots[["categorical"]]), ",", fixed = TRUE))
  # With . in the formula, krigo settles texts that aren't factors, and gaps, and leaves out what says nothing.
  settles <- "." %in% all.names(formula[[3]]) && !isTRUE(dots[["strict"]])
  texts <- if (settles) Filter(function(name) is.factor(data[[name]]), table$texts) else table$texts
  dots[["categorical"]] <- listed(union(trimws(said), setdiff(texts, c(wanted$target, group, offset, dated))))
  dots[["dates"]] <- listed(c(dots[["dates"]], setdiff(table$dates, c(wanted$target, group, offset, dated))))
  p <- running()
  flags <- c(
    flag("target", if (length(wanted$target) > 1) listed(wanted$target) else wanted$target), if (!settles || !all(names(data) %in% table$names)) flag("inputs", listed(c(wanted$inputs, waves))), flag("epsilon", if (is.null(epsilon)) NULL else if (anyNA(epsilon)) NA else if (is.logical(epsilon)) epsilon else paste(written("epsilon", epsilon), collapse = ":")), flag("delta", delta), flag("seed", seed),
    unlist(Map(flag, names(dots), dots), use.names = FALSE), unknown(p, names(dots)[vapply(dots, is.null, NA)])
  )
  reply <- asked(p, list(op = "fit", table = table, args = list(flags = I(flags), settle = settles)))
  if (length(wanted$target) > 1) {
    object <- targets_of(p, reply, call)
    for (notice in unique(unlist(lapply(object$models, function(m) m$notices)))) message(notice)
    return(object)
  }
  remember(p, reply$buffers[["file"]], reply)
  formula <- if (!settles) written_out(wanted$target, wanted$inputs)
  object <- model_of(reply$buffers[["file"]], reply$result, call, formula)
  for (notice in object$notices) message(notice)
  if (!is.null(reply$buffers[["delivered"]])) object$delivered <- loaded(reply$buffers[["delivered"]], call, formula)
  object
}

# date_of returns the column and the parts of an item of --dates, for example of sold:dmy:day:year.
date_of <- function(text) {
  words <- strsplit(trimws(text), ":", fixed = TRUE)[[1]]
  parts <- c("day", "week", "year")
  said <- words %in% c(parts, "ymd", "dmy", "mdy", "words", "month", "time")
  from <- max(1, which(!said))
  list(column = paste(words[seq_len(from)], collapse = ":"), parts = intersect(words[-seq_len(from)], parts))
}

# no_options says what to do in place of arguments that lm() has and krigo() hasn't.
no_options <- list(
  weights = "krigo gives all rows the same weight. For a known standard deviation of each row's noise, say noise_column = \"column\"",
  subset = "krigo takes all rows of data: give krigo(formula, data[rows, ]), or subset(data, condition)",
  na.action = "missing values are an error unless the formula has ., or say missing = \"mean\". na.omit(data) leaves their rows out"
)

# texts_alone names options that may be any text. krigo() refuses TRUE and FALSE for them, because the program can't know the mistake.
texts_alone <- c("group", "offset", "exposure", "noise-column", "censored", "categorical", "dates", "na", "slices", "init")

# small returns a call without the values that it has in the place of names: functions, data frames and environments of formulas.
small <- function(call) {
  if (!is.name(call[[1]]) && !is.call(call[[1]])) call[[1]] <- as.name("krigo")
  for (name in names(call)[-1]) {
    value <- call[[name]]
    if (inherits(value, "formula")) environment(call[[name]]) <- globalenv() else if (is.data.frame(value)) call[[name]] <- as.name("data")
  }
  call
}

# columns_of returns the target and the inputs that a formula names. It refuses terms that aren't columns: the model file
# doesn't keep such terms, so that krigo couldn't compute them for further rows.
columns_of <- function(formula, data, group) {
  if (!inherits(formula, "formula") || length(formula) != 3) refuse("formula: want target ~ inputs, for example price ~ . or price ~ rooms + age")
  if ("." %in% all.names(formula) && !all(nzchar(names(data)) & !is.na(names(data)))) {
    refuse("data has a column without a name, and . in the formula means all columns: name the column, or leave the column out of data", kind = "data")
  }
  # terms() works only with names that the locale can write. It gets other names for the columns.
  own <- paste("column", seq_along(data), "of krigo")
  columns <- names(data)
  symbols <- suppressWarnings(vapply(columns, function(n) if (is.na(n) || !nzchar(n)) "" else as.character(as.name(n)), ""))
  found <- function(name) {
    if (name == ".") return(NA) # all columns
    at <- match(utf8(name), columns)
    if (is.na(at)) match(name, symbols) else at
  }
  owned <- exchanged(formula, function(name) if (!is.na(at <- found(name))) own[at])
  theirs <- function(e) exchanged(e, function(name) if (!is.na(at <- match(name, own))) columns[at])
  column <- function(e) if (is.na(at <- match(as.character(e), own))) utf8(as.character(e)) else columns[at]

  left <- owned[[2]]
  several <- is.call(left) && identical(left[[1]], quote(cbind)) && length(left) > 2
  parts <- if (several) as.list(left)[-1] else list(left)
  if (!all(vapply(parts, is.name, NA))) {
    words <- deparse1(theirs(left))
    refuse("the left side of the formula is ", words, ", but the target must be a column, or cbind of columns: make a column first, for example data$y <- ", words)
  }
  target <- unname(vapply(parts, column, ""))
  absent <- setdiff(target, columns)
  if (length(absent)) refuse("data has no column '", absent[1], "'", kind = "data", column = absent[1])
  all <- tryCatch(terms(owned, data = structure(data, names = own)), error = function(e) refuse("formula: ", conditionMessage(e)))
  if (!is.null(attr(all, "offset"))) refuse("the formula has an offset: say offset = \"column\", which names a column of another model's predictions")
  if (attr(all, "intercept") == 0) refuse("the formula removes the intercept, which a Gaussian process doesn't have: set mean = \"zero\" instead")
  variables <- as.list(attr(all, "variables"))[-1]
  factors <- attr(all, "factors")
  parts <- lapply(seq_along(attr(all, "order")), function(i) variables[factors[, i] > 0])
  plain <- vapply(parts, function(p) length(p) == 1 && is.name(p[[1]]), NA)
  if (!all(plain)) {
    words <- vapply(parts[!plain], function(p) paste(vapply(p, function(e) deparse1(theirs(e)), ""), collapse = ":"), "")
    refuse("the formula has ", paste(words, collapse = ", "), ", but inputs are columns as they are: transform the data first. The kernel finds interactions and curves by itself")
  }
  inputs <- setdiff(vapply(parts, function(p) column(p[[1]]), ""), group)
  absent <- setdiff(c(inputs, group), columns)
  if (length(absent)) refuse("data has no column '", absent[1], "'", kind = "data", column = absent[1])
  both <- intersect(target, c(inputs, group))
  if (length(both)) refuse("the target '", both[1], "' can't be an input or the group too")
  if (!length(inputs)) refuse("the formula names no inputs")
  list(target = target, inputs = unname(inputs))
}

# exchanged returns an expression in which another(name) replaces each name, unless another(name) is NULL.
exchanged <- function(e, another) {
  if (is.name(e)) {
    name <- another(as.character(e))
    return(if (is.null(name)) e else suppressWarnings(as.name(name)))
  }
  if (is.call(e)) for (i in seq_along(e)[-1]) if (!identical(e[[i]], quote(expr = ))) e[[i]] <- exchanged(e[[i]], another)
  e
}

# written_out returns the formula of a target and columns with any names.
written_out <- function(target, columns) {
  named <- function(name) suppressWarnings(as.name(name))
  structure(call("~", named(target), Reduce(function(a, b) call("+", a, b), lapply(columns, named))), class = "formula", .Environment = globalenv())
}

# flag returns an option as a flag of krigo fit. If the option can't be TRUE or FALSE, the program refuses the flag.
flag <- function(name, value) {
  if (is.null(value)) return(NULL)
  words <- gsub("-", "_", name, fixed = TRUE)
  if (!is.atomic(value) || !length(value)) refuse(words, " is ", shown(value), ": want text, numbers or TRUE")
  if (anyNA(value)) refuse(words, " is ", shown(value), ": want a value")
  if (isTRUE(value)) return(paste0("--", name))
  if (isFALSE(value)) return(paste0("--", name, "=false"))
  if (length(value) > 1) value <- if (name == "kernel") paste(value, collapse = ",") else listed(written(words, value))
  utf8(paste0("--", name, "=", written(words, value)))
}

# unknown returns a flag for each option that is NULL and that the program doesn't have, so that the program refuses the option.
unknown <- function(p, names) {
  if (!length(names)) return(NULL)
  known <- vapply(asked(p, list(op = "schema"))$result$fit, function(o) o$name, "")
  sprintf("--%s=NULL", setdiff(names, known))
}

written <- function(name, value) {
  if (inherits(value, "difftime")) return(paste0(number(as.double(value, units = "secs")), "s"))
  if (is.numeric(value)) return(number(value))
  if (!is.character(value) && !is.factor(value)) refuse(name, " is ", shown(value), ": want text, numbers or TRUE")
  as.character(value)
}

# listed returns texts joined by commas. A text that has a comma, a quote or a line break is quoted, as in a CSV file.
listed <- function(texts) {
  if (!length(texts)) return(NULL)
  odd <- grepl("[,\"\n]", texts)
  texts[odd] <- paste0("\"", gsub("\"", "\"\"", texts[odd], fixed = TRUE), "\"")
  paste(texts, collapse = ",")
}

# model_of returns a model: the model file with what krigo says about the model.
model_of <- function(file, about, call, formula = NULL) {
  derived <- lapply(about$reading$dates, function(d) outer(paste(d$column, unlist(d$parts)), c("sin", "cos"), paste))
  columns <- if (is.null(about$encoding)) about$inputs else vapply(about$encoding$columns, function(c) c$name, "")
  columns <- setdiff(columns, unlist(derived))
  if (is.null(formula)) formula <- written_out(about$target, columns)
  if (!identical(about$offset, "")) columns <- c(columns, about$offset)
  if (!identical(about$exposure, "")) columns <- c(columns, about$exposure)
  if (!identical(about$noise_column, "")) columns <- c(columns, about$noise_column)
  structure(class = "krigo", list(
    call = call, formula = formula, file = file, target = about$target, inputs = about$inputs, columns = columns, group = if (!identical(about$group, "")) about$group, censored = if (!identical(about$censored, "")) about$censored,
    sentence = if (is.null(about$sentence)) paste0("No certificate: ", about$reason, ".") else about$sentence,
    classes = unlist(about$classes), no_better = about$no_better, context = about$context,
    dates = vapply(about$reading$dates, function(d) d$column, ""), checksum = about$checksum, options = about$options, fit = about$fit, notices = about$notices
  ))
}

loaded <- function(file, call, formula = NULL) {
  p <- running()
  model_of(file, remember(p, file, asked(p, list(op = "load", buffers = list(file))))$result, call, formula)
}

read_krigo <- function(file) {
  if (!file.exists(one("file", file))) refuse(file, " doesn't exist", kind = "failed")
  if (dir.exists(file)) refuse(file, " is a folder: want a model file", kind = "failed")
  bytes <- readBin(file, "raw", file.size(file))
  call <- match.call()
  tryCatch(loaded(bytes, call), krigo_error = function(e) {
    p <- running()
    reply <- tryCatch(asked(p, list(op = "load_targets", buffers = list(bytes))), krigo_error = function(...) stop(e))
    targets_of(p, reply, call)
  })
}

write_krigo <- function(object, file) {
  if (!inherits(object, "krigo_targets")) object <- model(object)
  write_whole(object$file, file)
}

# write_whole writes a whole file, or leaves the old file as it was.
write_whole <- function(bytes, file) {
  file <- path.expand(one("file", file))
  new <- tempfile(".krigo-", dirname(file), ".tmp")
  on.exit(unlink(new))
  con <- tryCatch(suppressWarnings(file(new, "wb")), error = function(e) refuse(file, " can't be written: does its folder exist?", kind = "failed"))
  tryCatch(write_buffer(bytes, con), finally = close(con))
  if (file.size(new) != length(bytes) || !file.rename(new, file)) refuse(file, " can't be written", kind = "failed")
  invisible(file)
}

model <- function(object) {
  if (inherits(object, "krigo_targets")) refuse("this takes the model of one target: m$models has them")
  if (!inherits(object, "krigo")) refuse("want a model of krigo(), not a ", class(object)[1])
  object
}

# of sends a request about a model and returns the reply.
of <- function(object, op, table = NULL, args = NULL) {
  p <- running()
  asked(p, list(op = op, model = known(p, model(object)$file), table = table, args = args))
}

# rows_of returns a data frame as the model's table: the inputs, and if target is TRUE also the target and the groups. target may
# also name the targets.
rows_of <- function(object, data, what = "data", target = FALSE) {
  data <- framed(data, what)
  targets <- if (is.character(target)) target else if (target) object$target
  target <- length(targets) > 0
  wanted <- c(model(object)$columns, targets)
  absent <- setdiff(wanted, names(data))
  if (length(absent)) refuse(what, " has no column '", absent[1], "', which the model needs", kind = "data", column = absent[1])
  classes <- model(object)$classes
  if (target && length(classes)) data <- labelled(data, object$target) else for (name in targets) target_of(data, name)
  table <- table_of(data, c(wanted, if (target) c(object$group, object$censored)))
  coded <- Filter(function(c) length(c$categories), object$fit$encoding$columns)
  text <- setdiff(table$texts, c(vapply(coded, function(c) c$name, ""), object$dates, object$group, object$censored, if (length(classes)) object$target))
  if (length(text)) refuse("column '", text[1], "' of ", what, " is text, but was numbers in the fit: convert the column to numbers first", kind = "data", column = text[1])
  table
}
