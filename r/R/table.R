# A data frame as krigo takes tables: numbers are numbers, truth values 0 and 1, factors and text text, dates days since 1970.

# table_of is the table of these columns of a data frame, in its order, with the names of those that are text and dates.
table_of <- function(data, names) {
  names <- intersect(names(data), names)
  columns <- lapply(names, function(name) column_of(name, data[[name]], nrow(data)))
  kinds <- vapply(columns, function(c) c$kind, "")
  list(
    names = enc2utf8(names), text = kinds == "text", rows = nrow(data), dates = names[kinds == "date"], texts = names[kinds == "text"],
    buffers = do.call(c, lapply(columns, function(c) c$buffers))
  )
}

column_of <- function(name, x, rows) {
  if (!is.null(dim(x)) && length(dim(x)) > 1 || is.list(x) && !inherits(x, "POSIXlt")) {
    refuse("column '", name, "' holds a ", class(x)[1], ": want one number, text, factor or date a row", kind = "data", column = name)
  }
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (is.factor(x)) x <- as.character(x)
  if (is.character(x)) return(list(kind = "text", buffers = text_buffers(x)))
  if (inherits(x, "integer64")) refuse("column '", name, "' holds integer64, of which numbers here hold 53 bits: say as.numeric", kind = "data", column = name)
  if (inherits(x, "Date")) return(list(kind = "date", buffers = list(as.double(x))))
  if (inherits(x, "POSIXct")) return(list(kind = "date", buffers = list(days(as.double(x)))))
  if (inherits(x, "difftime")) x <- as.double(x, units = "days")
  if (!is.numeric(x) && !is.logical(x)) {
    refuse("column '", name, "' holds ", class(x)[1], ": want numbers, truth values, text, factors or dates", kind = "data", column = name)
  }
  list(kind = "number", buffers = list(as.double(x)))
}

# days are seconds since 1970 as krigo computes them from text.
days <- function(seconds) {
  whole <- floor(seconds)
  day <- floor(whole / 86400)
  day + ((whole - 86400 * day) + (seconds - whole)) / 86400
}

# text_buffers are where each text begins, as 64-bit integers, of which R has none, and the texts.
text_buffers <- function(x) {
  x <- enc2utf8(x)
  x[is.na(x)] <- ""
  ends <- c(0, cumsum(nchar(x, "bytes")))
  low <- ends %% 2^32
  low <- ifelse(low >= 2^31, low - 2^32, low)
  halves <- suppressWarnings(as.integer(rbind(low, ends %/% 2^32))) # -2^31 is NA, whose bits it has
  list(halves, charToRaw(paste(x, collapse = "")))
}

framed <- function(data, what = "data") {
  if (!is.data.frame(data)) refuse(what, " is a ", class(data)[1], ": want a data frame")
  data <- as.data.frame(data)
  if (anyDuplicated(names(data))) {
    twice <- names(data)[anyDuplicated(names(data))]
    refuse(what, " has two columns '", twice, "'", kind = "data", column = twice)
  }
  data
}
