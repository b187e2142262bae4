# Rows with extreme numbers are predicted with finite numbers, or named and left without a prediction, for targets of every kind. Other rows'
# answers stay.
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
  loud <- function(rows) {
    if (inherits(m, "krigo_targets")) return(unlist(predict(m, rows, interval = ends)))
    as.vector(predict(m, rows, interval = ends, type = type))
  }
  answer <- function(rows) suppressMessages(loud(rows))
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
      said <- character()
      three <- tryCatch(withCallingHandlers(loud(rbind(good, row)), message = function(notice) {
        said <<- c(said, conditionMessage(notice))
        invokeRestart("muffleMessage")
      }), error = identity)
      if (!is.numeric(three)) { # what a row says of itself may be refused, not that it is far
        if (!inherits(three, "krigo_error") || !grepl("row 3", conditionMessage(three), fixed = TRUE)) told(at, conditionMessage(three))
        next
      }
      if (!any(grepl("the first in row 3", said, fixed = TRUE))) told(at, paste("the third row isn't named:", paste(said, collapse = "; ")))
      stays <- vapply(before, function(v) any(abs(three - v) <= 1e-9 * abs(v), na.rm = TRUE), TRUE)
      if (!all(stays) || all(is.finite(three))) told(at, paste("beside other rows it is", deparse1(three)))
    } else if (!all(is.finite(answer(rbind(good, row))))) told(at, "beside other rows it isn't finite")
  }
  if (!identical(krigo:::running()$pid, program)) stop(deparse1(kind), ": the program ended")
}
