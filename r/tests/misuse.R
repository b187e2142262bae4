# krigo refuses mistakes with a message, and handles odd names correctly.
library(krigo)
refused <- function(expr, ...) {
  e <- tryCatch({
    expr
    NULL
  }, error = identity)
  if (is.null(e)) stop("nothing was refused: ", deparse1(substitute(expr)))
  if (!inherits(e, "krigo_error")) stop("not in krigo's words: ", deparse1(substitute(expr)), ": ", conditionMessage(e))
  for (words in c(...)) if (!grepl(words, conditionMessage(e), fixed = TRUE)) stop(conditionMessage(e), "\nhas no ", words)
  invisible(e)
}
fitted <- function(...) suppressMessages(krigo(..., kernel = "se"))
predicted <- function(...) suppressMessages(predict(...))

set.seed(1)
d <- data.frame(x = runif(120), z = runif(120))
d$y <- sin(5 * d$x) + d$z + rnorm(120) / 9
d$g <- rep(1:40, 3)
with_column <- function(name, value) {
  d[[name]] <- value
  d
}
m <- fitted(y ~ x + z, d, 1)

# A class may give numbers another meaning: bits of integers, days or minutes, codes.
bits <- structure(d$y, class = "integer64")
moment <- as.POSIXct("2024-03-01", tz = "UTC") + 86400 * (1:120)
unlike <- list(bits, as.difftime(d$y, units = "days"), as.Date(moment), moment, as.POSIXlt(moment), factor(round(d$y)), as.character(d$y), structure(d$y, class = "units"))
for (odd in unlike) {
  refused(certify_predictions(odd, d$y, 1), "y is a", "convert it to numbers first")
  refused(certify_predictions(d$y, odd, 1), "yhat is a", "convert it to numbers first")
  if (!inherits(odd, "POSIXlt")) {
    refused(krigo(y ~ x, with_column("y", odd), 1), "the target 'y'", "convert it to numbers first")
    refused(residuals(m, with_column("y", odd)), "the target 'y'")
    refused(plot(m, with_column("y", odd)), "the target 'y'")
    refused(certify(m, with_column("y", odd)), "the target 'y'")
  }
}
refused(certify_predictions(as.difftime(1:120, units = "days"), as.difftime(1:120, units = "mins"), 1), "in a unit that you choose")
refused(certify_predictions(ts(d$y), d$y, 1), "a ts")
refused(krigo(y ~ x, with_column("x", structure(d$x, class = "units")), 1), "holds units", "as.numeric")
once <- certify_predictions(d$y, d$x, 1)
stopifnot(identical(certify_predictions(I(d$y), array(d$x), 1), once), identical(certify_predictions(as.matrix(d$y), structure(d$x, names = 1:120), 1), once))
stopifnot(inherits(fitted(y ~ x, with_column("y", d$y > 1), 0.4, epsilon_units = "raw"), "krigo"))
hours <- fitted(y ~ x, with_column("x", as.difftime(24 * d$x, units = "hours")), 1) # krigo uses days, whatever the unit
stopifnot(identical(certificate(hours)$mean_bound, certificate(fitted(y ~ x, with_column("x", 24 * d$x / 24), 1))$mean_bound))

# Options: only options without a value take TRUE, and no option takes the next option for its value.
for (name in c("na", "loss", "split", "scaling", "delta", "ard", "missing", "group", "seed", "categorical", "dates", "slices", "promise")) {
  refused(do.call(krigo, c(list(y ~ x, d, 1), structure(list(TRUE), names = name))), name)
  refused(do.call(krigo, c(list(y ~ x, d, 1), structure(list(FALSE), names = name))), name)
  refused(do.call(krigo, c(list(y ~ x, d, 1), structure(list(NA), names = name))), name)
}
refused(krigo(y ~ x, d, 1, na = TRUE, group = "g"), "na is TRUE")
refused(krigo(y ~ x, d, 1, loss = TRUE, group = "g"), "loss needs a value")
refused(krigo(y ~ x, d, 1, standardise = FALSE), "standardise")
for (value in list(FALSE, TRUE, NULL, "x")) refused(krigo(y ~ x, d, 1, kernl = value), "kernl", "did you mean \"kernel\"")
stopifnot(identical(fitted(y ~ x + z, d, 1, curve = FALSE, no_standardise = FALSE, group = NULL, mean_bound = NULL)$fit$certificate, m$fit$certificate))
stopifnot(!is.null(certificate(fitted(y ~ x, d, 1, curve = TRUE))$curve))
refused(krigo(y ~ x, d, 1, test_fraction = 0.1, test.fraction = 0.2), "test_fraction is given twice")
refused(krigo(y ~ x, d, 1, kernel = "se", kernel = "rq"), "kernel is given twice")
refused(krigo(y ~ x, d, 1, loss = c("band", "relative")), "band,relative")
refused(krigo(y ~ x, d, 1, delta = c(0.1, 0.2)), "delta")
refused(krigo(y ~ x, d, 1, group = c("g", "z")), "group", "want one text")
refused(krigo(y ~ x, d, 1, kernel = list("se")), "kernel")
refused(krigo(y ~ x, d, NA), "epsilon")
refused(krigo(y ~ x, d, form = "loo"), "krigo(formula = ")
text <- with_column("x", sprintf("%.3f kg", d$x))
for (name in c("units", "decimal", "thousands")) {
  refused(do.call(krigo, c(list(y ~ x, text, 1), structure(list("kg"), names = name))), name, "columns of a data frame have types")
}
e <- refused(predict(m, text), "column 'x' of newdata is text", "convert the column to numbers first")
stopifnot(!grepl("--units", conditionMessage(e)))

# krigo refuses texts that differ only in blanks.
blanks <- with_column("k", factor(rep(c("a", " a", "a\u00a0", "b"), 30)))
refused(krigo(y ~ x + k, blanks), "column 'k'", "\" a\"", "blanks")
refused(krigo(y ~ x, blanks, group = "k"), "column 'k'", "blanks")
refused(certify_predictions(d$y, d$x, 1, group = blanks$k), "blanks")
blanks$k <- factor(trimws(blanks$k, whitespace = "[\\h\\v]"))
stopifnot(length(certificate(fitted(y ~ x + k, blanks, 1))$conditions) > 0)

# A column's name may be any text.
for (name in c("a`b", "C:\\users", "\u00e9t\u00e9", "if", "a\nb", "TRUE", "column 1 of krigo")) {
  odd <- d[c("x", "z", "y")]
  names(odd)[1] <- name
  a <- fitted(y ~ ., odd, 1)
  file <- tempfile(fileext = ".krigo")
  write_krigo(a, file)
  b <- read_krigo(file)
  stopifnot(identical(a$columns, c(name, "z")), identical(b$columns, a$columns), identical(b$formula, a$formula), identical(predicted(a, odd), predicted(b, odd)))
  stopifnot(identical(fitted(formula(b), odd, 1)$fit$certificate, a$fit$certificate), identical(predicted(a, odd), predicted(m, d)))
}
locale <- Sys.getlocale("LC_CTYPE")
odd <- d[c("x", "z", "y")]
names(odd)[1] <- "\u00e9t\u00e9"
odd$k <- rep(c("S\u00fcd", "Nord"), 60)
typed <- eval(parse(text = "y ~ \u00e9t\u00e9 + k", encoding = "UTF-8"))
a <- fitted(typed, odd, 1)
invisible(Sys.setlocale("LC_CTYPE", "C"))
named <- odd
names(named)[1] <- rawToChar(charToRaw(names(odd)[1])) # bytes without a marked encoding, as read from a file
named$k <- vapply(odd$k, function(k) rawToChar(charToRaw(k)), "")
for (table in list(odd, named)) {
  for (f in c(y ~ ., typed)) {
    b <- fitted(f, table[setdiff(names(table), "z")], 1)
    stopifnot(identical(b$columns, a$columns), identical(b$fit$certificate, a$fit$certificate), identical(predicted(b, table), predicted(a, odd)))
  }
}
b <- fitted(y ~ x, { k <- d; names(k)[4] <- "\u00e9t\u00e9"; k }, 1, group = "\u00e9t\u00e9")
stopifnot(identical(b$group, "\u00e9t\u00e9"))
invisible(Sys.setlocale("LC_CTYPE", locale))

# krigo ignores columns that the formula doesn't name, whatever their names.
double <- cbind(d, d["g"], 7)
names(double)[6] <- ""
names(double)[2] <- NA
stopifnot(identical(fitted(y ~ x, double, 1)$fit$certificate, fitted(y ~ x, d, 1)$fit$certificate), identical(predicted(fitted(y ~ x, d, 1), double), predicted(fitted(y ~ x, d, 1), d)))
refused(krigo(y ~ ., double), "without a name")
refused(krigo(y ~ x + g, double), "two columns 'g'")
refused(predict(m, cbind(d, d["x"])), "two columns 'x'")
refused(krigo(y ~ 5, d), "formula")

# Wrong arguments of predict, certify_predictions and watch.
refused(predict(m, d, interval = "band", level = 0.9), "level")
refused(predict(m, d, type = "prob"), "predicts numbers")
refused(predict(m, d, intervall = "band"), "intervall")
for (name in c("by", "data", "exact_variance", "exact.variance", "explain", "keep", "samples")) {
  refused(do.call(predict, c(list(m, d), structure(list(1), names = name))), paste0(name, " exists only on the command line: use krigo predict --", gsub("[._]", "-", name)))
}
for (kind in c("full", "jackknife")) refused(predict(m, d, interval = kind), paste0(kind, " exists only on the command line: use krigo predict --intervals ", kind))
refused(residuals(m), "data is missing")
refused(certify_predictions(d$y, d$x, c(1, 2)), "asymmetric")
for (f in list(
  function() certify_predictions(d$y, d$x, 1, loss = c("band", "relative")), function() certify_predictions(d$y, d$x, 1, target = c("a", "b")),
  function() certify_predictions(d$y, d$x, 1, delta = c(0.1, 0.2)), function() certify_predictions(d$y, d$x, 1, bound = NA), function() certify_predictions(d$y, d$x, 1, curve = NA)
)) refused(f())
ledger <- tempfile()
for (key in list(NA, "", c("a", "b"), NA_character_, character())) refused(watch(m, d, ledger, key = key), "key")
stopifnot(!file.exists(ledger))
refused(watch(m, d, NA), "ledger")
for (file in list(NA, c("a", "b"), "", 1)) {
  refused(read_krigo(file), "file")
  refused(write_krigo(m, file), "file")
}
refused(read_krigo(tempdir()), "folder")

# The printed counts of rows are the model's.
dealt <- fitted(y ~ x, d, 1, prior = "informed", calibration_fraction = 0.2, test_fraction = 0.1)
said <- as.integer(regmatches(line <- krigo:::target_line(dealt), gregexpr("[0-9]+(?= (rows|certify|calibrate|test))", line, perl = TRUE))[[1]])
stopifnot(length(said) == 4, sum(said) == 120, said[1] == certificate(dealt)$prior_rows, said[2] == certificate(dealt)$rows, said[3] == dealt$fit$conformal$rows)
grid <- fitted(y ~ x, d, 1, prior = "grid")
stopifnot(grepl(paste0("^", certificate(grid)$rows, " rows, kernel"), krigo:::target_line(grid)))

# update changes a model by the columns of its formula. A model holds no data frame and no environment.
all <- suppressMessages(krigo(y ~ ., d[c("x", "z", "y")], 1, kernel = "se"))
stopifnot(identical(formula(all), y ~ x + z))
less <- suppressMessages(update(all, . ~ . - z))
stopifnot(identical(less$columns, "x"), identical(less$fit$certificate, fitted(y ~ x, d, 1)$fit$certificate))
stopifnot(certificate(suppressMessages(update(all, delta = 0.05)))$delta == 0.05)
file <- tempfile()
refused(update(read_krigo(write_krigo(all, file)), . ~ . - z), "read", "formula(object)")
made <- (function() {
  heavy <- runif(1e6)
  table <- d
  suppressMessages(do.call(krigo, list(y ~ x, table, 1, kernel = "se")))
})()
saveRDS(made, file)
stopifnot(file.size(file) < 1e5, !any(vapply(as.list(made$call), is.data.frame, NA)), identical(environment(made$formula), globalenv()))
stopifnot(identical(as.list(made$call)[c(1, 3)], list(as.name("krigo"), data = as.name("data"))))

pdf(NULL)
plot(m, d, xlab = "said", ylab = "seen", main = "both")
refused(plot(m, d["x"]), "no column")
refused(plot(m, d[c("x", "z")]), "the target")
invisible(dev.off())

# No function asks the clock, which somebody may set while a request is under way.
for (name in ls(asNamespace("krigo"), all.names = TRUE)) {
  f <- get(name, asNamespace("krigo"))
  clocks <- if (is.function(f)) intersect(all.names(body(f)), c("proc.time", "Sys.time", "Sys.Date", "date", "system.time"))
  if (length(clocks)) stop(name, " asks the clock: ", clocks)
}

# A program that doesn't reply is an error.
if (.Platform$OS.type == "unix") {
  for (status in c(0, 1, 3, 130, 143)) {
    silent <- tempfile()
    writeLines(c("#!/bin/sh", paste("exit", status)), silent)
    Sys.chmod(silent, "700")
    options(krigo.executable = silent)
    refused(predict(m, d), "ended without a reply", paste0("(exit status ", status, ")"))
  }
}
for (path in list(c("a", "b"), NA, 1, "")) {
  options(krigo.executable = path)
  refused(predict(m, d), "krigo.executable")
}
