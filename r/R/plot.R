# This file draws the promise of a model, its targets against its predictions, and what single columns do to the prediction.

plot.krigo <- function(x, data = NULL, ..., which = c("promise", "observed", "effects"), effects = 4, xlab = paste("predicted", x$target), ylab = x$target) {
  which <- match.arg(which, several.ok = TRUE)
  if (!(is.numeric(effects) && length(effects) == 1 && isTRUE(effects >= 0))) refuse("effects: want a number of columns, such as 4")
  if (is.null(data)) {
    if (!"promise" %in% which) refuse("data is missing: a model keeps no rows. Give the rows to draw")
    which <- "promise"
  }
  seen <- !is.null(data) && any(c("promise", "observed") %in% which)
  observed <- if (seen) observed_of(x, data)
  predicted <- if (seen) predict(x, data)
  moved <- if ("effects" %in% which && effects > 0) effects_of(x, framed(data), effects)
  panels <- sum(c("promise", "observed") %in% which) + length(moved)
  if (panels > 1) {
    old <- par(mfrow = c(ceiling(panels / 3), min(panels, 3)))
    on.exit(par(old))
  }
  if ("promise" %in% which) plot_promise(x, abs(observed - predicted))
  if ("observed" %in% which) {
    plot(predicted, observed, xlab = xlab, ylab = ylab, ...)
    abline(0, 1)
    width <- certificate(x)$epsilon_raw
    if (identical(certificate(x)$loss, "band")) for (side in c(-width, width)) abline(side, 1, lty = 2)
  }
  for (name in names(moved)) plot_effect(name, moved[[name]], x$target)
  invisible(x)
}

# plot_promise draws how many predictions lie how near, as promised and as seen.
plot_promise <- function(x, errors) {
  c <- certificate(x)
  each <- function(name) vapply(c$curve$points, function(point) as.double(point[[name]]), 0)
  widths <- each("half_width_raw")
  bounds <- each("bound")[order(widths)]
  band <- if (identical(c$loss, "band")) c$epsilon_raw
  if (!length(c(widths, band, errors))) refuse("the model has no promise about a width to draw: give data, the rows to draw")
  plot(
    NULL, xlim = c(0, max(widths, band, errors)), ylim = 0:1, main = if (is.null(c)) "no certificate" else "promise",
    xlab = paste("half-width, in units of", x$target), ylab = "share of predictions within"
  )
  lines(sort(widths), 1 - bounds, type = "s")
  if (length(band)) points(band, 1 - c$mean_bound, pch = 19)
  if (length(errors)) lines(sort(errors), seq_along(errors) / length(errors), type = "s", lty = 2)
  promised <- if (length(c(widths, band))) "promised, at least"
  words <- c(promised, if (length(errors)) "these rows")
  curve <- if (length(widths)) 1 else NA
  legend("bottomright", words, lty = c(if (length(promised)) curve, 2), pch = c(if (length(promised)) if (length(band)) 19 else NA, NA), bty = "n")
}

# effects_of returns, for the columns that move the prediction most, their values with the predictions and their 95 % intervals.
# The other columns stay at their medians or most frequent values.
effects_of <- function(x, data, most) {
  usual <- lapply(data[x$columns], function(v) usual_of(v))
  found <- lapply(x$columns, function(name) {
    values <- values_of(data[[name]])
    if (!length(values)) return(NULL)
    rows <- data.frame(lapply(usual, rep, length(values)), check.names = FALSE)
    rows[[name]] <- values
    list(values = values, ends = suppressMessages(predict(x, rows, interval = "prediction")))
  })
  names(found) <- x$columns
  found <- found[lengths(found) > 0]
  moves <- vapply(found, function(e) diff(range(e$ends[, "fit"])), 0)
  found[order(-moves)[seq_len(min(most, length(found)))]]
}

measurable <- function(v) is.numeric(v) || inherits(v, c("Date", "POSIXct", "difftime"))

# frequent returns the different values of a column, the most frequent first, at most some.
frequent <- function(v, some) {
  counts <- sort(table(as.character(v)), decreasing = TRUE)
  v[match(names(counts)[seq_len(min(some, length(counts)))], as.character(v))]
}

usual_of <- function(v) {
  known <- v[!is.na(v)]
  if (!length(known)) return(v[1])
  if (measurable(v)) median(known) else frequent(known, 1)
}

# values_of returns the values that an effect has: 40 between the ends of a column of many numbers, else the most frequent.
values_of <- function(v) {
  known <- v[!is.na(v)]
  if (measurable(v) && length(unique(known)) > 12) return(seq(min(known), max(known), length.out = 40))
  sort(frequent(known, 12))
}

plot_effect <- function(name, effect, target) {
  words <- !measurable(effect$values)
  at <- if (words) seq_along(effect$values) else effect$values
  plot(at, effect$ends[, "fit"], type = if (words) "p" else "l", ylim = range(effect$ends), xlab = name, ylab = target, main = name, xaxt = if (words) "n" else "s")
  if (words) axis(1, at, as.character(effect$values))
  if (words) segments(at, effect$ends[, "lwr"], at, effect$ends[, "upr"], lty = 2) else for (end in c("lwr", "upr")) lines(at, effect$ends[, end], lty = 2)
}
