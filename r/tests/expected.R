# What people of R expect of a model: plots, broom's functions, arguments of lm() refused by name, and messages in R's words.
library(krigo)
refused <- function(expr, ...) {
  e <- tryCatch({
    expr
    NULL
  }, error = identity)
  if (!inherits(e, "krigo_error")) stop("not refused in krigo's words: ", deparse1(substitute(expr)), if (!is.null(e)) paste0(": ", conditionMessage(e)))
  for (words in c(...)) if (!grepl(words, conditionMessage(e), fixed = TRUE)) stop(conditionMessage(e), "\nhas no ", words)
  if (grepl("--|strconv|flag", conditionMessage(e))) stop("not in R's words: ", conditionMessage(e))
}
fitted <- function(...) suppressMessages(krigo(..., kernel = "se", restarts = 1))

set.seed(1)
d <- data.frame(x = runif(150, 0, 6), z = runif(150), kind = sample(c("a", "b"), 150, TRUE), day = as.Date("2024-01-01") + sample(90, 150, TRUE))
d$y <- sin(d$x) + d$z + (d$kind == "a") + rnorm(150) / 10
m <- fitted(y ~ ., d, epsilon = 0.5, epsilon_units = "raw")

# plot draws the promise, the targets and the effects, and leaves the device's settings as they were.
drawn <- function(...) {
  file <- tempfile(fileext = ".ps")
  postscript(file, useKerning = FALSE)
  before <- par("mfrow")
  returned <- suppressMessages(plot(...))
  stopifnot(inherits(returned, "krigo"), identical(par("mfrow"), before))
  dev.off()
  text <- readLines(file, warn = FALSE)
  sub(".*\\((.*)\\).*", "\\1", grep("\\) .* t$", text, value = TRUE))
}
has <- function(words, ...) for (text in c(...)) if (!text %in% words) stop("nothing says ", text, ": ", toString(words))
alone <- drawn(m)
has(alone, "promise", "half-width, in units of y", "promised, at least")
stopifnot(!"these rows" %in% alone, !"predicted y" %in% alone)
all <- drawn(m, d)
has(all, "promise", "these rows", "predicted y", "x", "z", "kind", "a", "b", "day")
stopifnot(!"z" %in% drawn(m, d, effects = 1), !"promise" %in% drawn(m, d, which = "observed", main = "both"))
has(drawn(m, d[names(d) != "y"], which = "effects"), "kind")
few <- fitted(y ~ x, d[1:40, ])
has(drawn(few, d), "no certificate", "these rows")
refused(plot(few), "no promise about a width", "give data")
refused(plot(m, which = "effects"), "data is missing")
refused(plot(m, d, effects = -1), "effects")
labels <- fitted(kind ~ x + z, transform(d, kind = ifelse(y > 1, "dear", "cheap")))
refused(plot(labels, d), "label")

# An effect is the prediction if one column moves, while the others stay.
effect <- krigo:::effects_of(m, d, 4)
rows <- data.frame(x = effect$x$values, z = median(d$z), kind = names(which.max(table(d$kind))), day = median(d$day))
stopifnot(identical(range(effect$x$values), range(d$x)), all.equal(unname(effect$x$ends[, "fit"]), unname(suppressMessages(predict(m, rows)))))
stopifnot(identical(names(effect)[1:2], c("x", "kind")), identical(effect$kind$values, c("a", "b")), inherits(effect$day$values, "Date"))

# broom's functions.
tidy <- krigo:::tidy.krigo(m)
scales <- m$fit$kernel$lengthscales
stopifnot(
  identical(names(tidy), c("term", "estimate")), "se: lengthscale of x" %in% tidy$term, "se: lengthscale of kind=a" %in% tidy$term,
  all(scales %in% tidy$estimate), tidy$estimate[tidy$term == "noise variance"] == m$fit$noise_variance
)
sum <- suppressMessages(krigo(y ~ x + z, d, kernel = "se(x)+linear", restarts = 1))
stopifnot(identical(krigo:::tidy.krigo(sum)$term, c("se(x): variance", "se(x): lengthscale", "linear: variance", "noise variance")))
glance <- krigo:::glance.krigo(m)
stopifnot(nrow(glance) == 1, glance$bound == certificate(m)$mean_bound, glance$epsilon == 0.5, glance$confidence == 0.99, glance$rmse == m$fit$context$rmse, is.na(glance$test.rmse))
stopifnot(is.na(krigo:::glance.krigo(few)$bound), krigo:::glance.krigo(few)$nobs == 40, !"noise variance" %in% krigo:::tidy.krigo(labels)$term, krigo:::glance.krigo(labels)$bound > 0)
augment <- function(...) suppressMessages(krigo:::augment.krigo(...))
made <- augment(m, d[1:9, ])
stopifnot(identical(names(made), c(names(d), ".fitted", ".lower", ".upper", ".resid")), all(made$.lower < made$.fitted & made$.fitted < made$.upper))
stopifnot(all.equal(made$.resid, d$y[1:9] - made$.fitted), identical(augment(m, newdata = d[1:9, names(d) != "y"]), made[names(made) %in% c("x", "z", "kind", "day", ".fitted", ".lower", ".upper")]))
stopifnot(identical(levels(augment(labels, d)$.fitted), labels$classes))
refused(augment(m), "data is missing")
three <- fitted(kind ~ x + z, transform(d, kind = cut(y, c(-9, 0.5, 1.5, 9), c("low", "mid", "high"))))
stopifnot(identical(unique(krigo:::tidy.krigo(three)$class), three$classes))
if (requireNamespace("generics", quietly = TRUE)) {
  stopifnot(identical(generics::tidy(m), tidy), identical(generics::glance(m), glance), identical(suppressMessages(generics::augment(m, d[1:9, ])), made))
}

# lm()'s arguments are refused by name, before they are evaluated.
refused(krigo(y ~ x, d, weights = no_such_column), "weights: ", "noise_column")
refused(krigo(y ~ x, d, subset = z > 0.5), "subset: ", "data[rows, ]")
refused(krigo(y ~ x, d, na.action = na.omit), "na.action: ", "missing = \"mean\"")

# Messages have options in place of flags.
refused(krigo(y ~ x, d, delta = 2), "delta 2: ")
refused(krigo(y ~ x, d, epochs = 0.5), "epochs \"0.5\": want a whole number")
refused(krigo(y ~ x, d, epsilon = -1), "epsilon \"-1\"", "c(below, above)")
refused(krigo(y ~ x, d, group = "z", split = "last"), "split = \"last\"")
refused(krigo(y ~ x, d, duplicates = "group", group = "z"), "duplicates = \"group\" and group = \"z\"")
refused(krigo(y ~ x, d, fix_parameters = TRUE), "fix_parameters: ", "init")
refused(krigo(y ~ x, d, nonsense_here = 1), "no option nonsense_here")
refused(krigo(y ~ x, transform(d, x = ifelse(x > 5, NA, x))), "missing = \"mean\"")
stopifnot(grepl("prior = \"informed\"", promise(few), fixed = TRUE), !grepl("--", c(promise(few), few$notices), fixed = TRUE))
p <- krigo:::running()
for (said in list(
  c("or of these 40 by --prior informed --delta 0.05", "or of these 40 by prior = \"informed\", delta = 0.05"),
  c("krigo certify --fresh takes rows, krigo extract FILE --target NAME a name", "krigo certify --fresh takes rows, krigo extract FILE --target NAME a name"),
  c("raise --memory 3, a--b -- c", "raise --memory 3, a--b -- c"),
  c("leave --slices out, or say --na unknown", "leave slices out, or say na = \"unknown\"")
)) if (krigo:::in_r(p, said[1]) != said[2]) stop(krigo:::in_r(p, said[1]))
