# Rows with extreme numbers are predicted with finite numbers, or refused by name, for targets of every kind. Other rows' answers stay.
library(krigo)
set.seed(5)
n <- 120
d <- data.frame(x = rnorm(n), months = 1 + runif(n), error = 0.1 + 0.4 * runif(n))
d$number <- d$x + rnorm(n) / 2
d$side <- ifelse(d$number < -1, "left", "none")
d$two <- factor(ifelse(d$number > 0, "yes", "no"))
d$three <- c("jay", "kea", "owl")[pmin(pmax(round(d$number) + 2, 1), 3)]
d$count <- floor(exp(1 + d$number / 2))
d$size <- exp(d$number)
d$grade <- pmin(pmax(round(d$number) + 3, 1), 5)

kinds <- list(
  list(number ~ x), list(number ~ x, noise = "student"), list(number ~ x, noise_column = "error"), list(number ~ x, censored = "side"),
  list(number ~ x, offset = "months"), list(two ~ x), list(three ~ x), list(count ~ x, noise = "poisson"), list(count ~ x, noise = "poisson", exposure = "months"),
  list(count ~ x, noise = "negative-binomial", exposure = "months"), list(size ~ x, noise = "gamma"), list(size ~ x, noise = "gamma", exposure = "months"),
  list(grade ~ x, noise = "ordinal"), list(cbind(number, size) ~ x)
)
extremes <- expand.grid(x = c(0, 1e154, -1e154, 1e308, -1e308, 5e-324, 1e-310, 1e200, 1e5, -1e5), beside = c(1, 1e200, 1e-200))
stopifnot(extremes$x[6] > 0, extremes$x[7] > 0)
good <- d[1:2, ]
for (kind in kinds) {
  m <- suppressMessages(do.call(krigo, c(kind, list(data = d, kernel = "linear", restarts = 1))))
  type <- if (inherits(m, "krigo") && length(m$classes)) "prob"
  ends <- if (is.null(type)) "prediction" else "none"
  answer <- function(rows) {
    if (inherits(m, "krigo_targets")) return(unlist(suppressMessages(predict(m, rows, interval = ends))))
    as.vector(suppressMessages(predict(m, rows, interval = ends, type = type)))
  }
  before <- answer(good)
  told <- function(at, what) stop(deparse1(kind), ", x = ", extremes$x[at], ", beside = ", extremes$beside[at], ": ", what)
  stopifnot(is.finite(before))
  program <- krigo:::running()$pid
  beside <- any(c("months", "error") %in% unlist(kind[-1]))
  for (at in which(beside | extremes$beside == 1)) {
    row <- d[3, ]
    row$x <- extremes$x[at]
    row$months <- row$error <- extremes$beside[at]
    found <- tryCatch(answer(row), error = identity)
    if (is.numeric(found)) {
      if (!all(is.finite(found))) told(at, paste("the prediction is", deparse1(found)))
    } else if (!inherits(found, "krigo_error") || !grepl("row 1", conditionMessage(found), fixed = TRUE) || grepl("goroutine", conditionMessage(found), fixed = TRUE)) {
      told(at, conditionMessage(found))
    }
    if (!identical(answer(good), before)) told(at, "it changed other rows' answers")
    if (!is.numeric(found)) {
      e <- tryCatch(answer(rbind(good, row)), error = identity)
      if (!inherits(e, "krigo_error") || !identical(e$row, 3L) && !grepl("row 3", conditionMessage(e), fixed = TRUE)) told(at, "the third row isn't named")
    } else if (!all(is.finite(answer(rbind(good, row))))) told(at, "beside other rows it isn't finite")
  }
  if (!identical(krigo:::running()$pid, program)) stop(deparse1(kind), ": the program ended")
}
