# This file turns a data frame into krigo's table. Truth values become 0 and 1, factors become text, and dates become days since 1970.

# table_of returns columns as a table, in the order of the data frame, with the names of the columns of text and of the columns of dates.
table_of <- function(data, names) {
  twice <- intersect(names(data)[duplicated(names(data))], names)
  if (length(twice)) refuse("there are two columns '", twice[1], "'", kind = "data", column = twice[1])
  names <- intersect(names(data), names)
  columns <- lapply(names, function(name) column_of(name, data[[name]]))
  kinds <- vapply(columns, function(c) c$kind, "")
  list(
    names = names, text = kinds == "text", rows = nrow(data), dates = names[kinds == "date"], texts = names[kinds == "text"],
    buffers = do.call(c, lapply(columns, function(c) c$buffers))
  )
}

column_of <- function(name, x) {
  if (!is.null(dim(x)) && length(dim(x)) > 1 || is.list(x) && !inherits(x, "POSIXlt")) {
    refuse("column '", name, "' holds a ", class(x)[1], ": want one number, text, factor level or date in each row", kind = "data", column = name)
  }
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (is.factor(x)) x <- as.character(x)
  if (is.character(x)) return(list(kind = "text", buffers = text_buffers(apart(name, x))))
  if (inherits(x, "integer64")) refuse("column '", name, "' holds integer64, whose 64 bits don't fit into krigo's numbers of 53 bits: use as.numeric", kind = "data", column = name)
  if (inherits(x, "Date")) return(list(kind = "date", buffers = list(as.double(x))))
  if (inherits(x, "POSIXct")) return(list(kind = "date", buffers = list(days(as.double(x)))))
  if (inherits(x, "difftime")) x <- as.double(x, units = "days")
  if (!plain(x, "ts")) {
    refuse(
      "column '", name, "' holds ", class(x)[1], ": want numbers, truth values, text, factors or dates; if you mean only its numbers, use as.numeric",
      kind = "data", column = name
    )
  }
  list(kind = "number", buffers = list(as.double(x)))
}

# plain returns whether x holds plain numbers or truth values. A class may give numbers a unit or a code; the classes in but don't.
plain <- function(x, but = NULL) (is.numeric(x) || is.logical(x)) && !length(setdiff(oldClass(x), c("AsIs", but)))

# measured returns x as numbers that a width can be about. It refuses times, whose unit isn't known, and factors, whose numbers are codes.
measured <- function(what, x, but = NULL, column = NULL) {
  if (plain(x, but)) return(as.double(x))
  advice <- if (inherits(x, c("Date", "POSIXt", "difftime"))) {
    "convert it to numbers first, in a unit that you choose, for example as.numeric(difftime(x, start, units = \"days\")). A width has the same unit"
  } else if (is.factor(x)) {
    "convert it to numbers first: as.numeric(as.character(x)) gives the numbers that it shows, and as.numeric(x) gives codes"
  } else {
    "convert it to numbers first, for example as.numeric(x)"
  }
  refuse(what, " is a ", class(x)[1], ": ", advice, kind = "data", column = column)
}

target_of <- function(data, name) measured(paste0("the target '", name, "'"), data[[name]], "ts", name)

# labels_of returns labels as text. They may be factors, text, truth values or plain numbers.
labels_of <- function(what, x, column = NULL) {
  if (is.factor(x) || is.character(x) || is.logical(x)) return(as.character(x))
  if (plain(x)) return(ifelse(is.na(x), NA, number(x)))
  refuse(what, " is a ", class(x)[1], ": want labels: a factor, text, numbers or truth values", kind = "data", column = column)
}

# labelled returns data with the labels of the target as krigo's table has them: as numbers if all are numbers, else as text.
labelled <- function(data, name) {
  x <- data[[name]]
  labels <- labels_of(paste0("the target '", name, "'"), if (is.logical(x)) as.integer(x) else x, name)
  numbers <- suppressWarnings(as.numeric(labels))
  data[[name]] <- if (identical(is.na(numbers), is.na(labels))) numbers else labels
  data
}

# apart returns texts, and refuses texts that differ only in blanks around them, because krigo would take them for the same text.
apart <- function(name, x) {
  texts <- unique(x[!is.na(x)])
  bare <- trimws(texts, whitespace = "[\\h\\v]")
  same <- bare[duplicated(bare) & nzchar(bare)]
  if (length(same)) {
    shown <- paste0("\"", texts[bare == same[1]], "\"", collapse = " and ")
    refuse("column '", name, "' holds ", shown, ", which differ only in blanks around them, so that krigo would take them for the same text. Make them equal with trimws(x, whitespace = \"[\\\\h\\\\v]\"), or rename them", kind = "data", column = name)
  }
  x
}

# days returns seconds since 1970 as days, computed as krigo computes days from text.
days <- function(seconds) {
  whole <- floor(seconds)
  day <- floor(whole / 86400)
  day + ((whole - 86400 * day) + (seconds - whole)) / 86400
}

# utf8 returns texts in UTF-8. In the locale C it takes bytes of unknown encoding for UTF-8 if they are valid UTF-8.
utf8 <- function(x) {
  if (Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX")) {
    bytes <- !is.na(x) & Encoding(x) == "unknown" & validUTF8(x)
    Encoding(x[bytes]) <- "UTF-8"
  }
  enc2utf8(x)
}

# text_buffers returns two buffers: where each text begins, as 64-bit integers, which R doesn't have, and the texts.
text_buffers <- function(x) {
  x <- utf8(x)
  x[is.na(x)] <- ""
  ends <- c(0, cumsum(nchar(x, "bytes")))
  low <- ends %% 2^32
  low <- ifelse(low >= 2^31, low - 2^32, low)
  halves <- suppressWarnings(as.integer(rbind(low, ends %/% 2^32))) # -2^31 becomes NA, which has the same bits
  list(halves, charToRaw(paste(x, collapse = "")))
}

framed <- function(data, what = "data") {
  if (!is.data.frame(data)) refuse(what, " is a ", class(data)[1], ": want a data frame")
  data <- as.data.frame(data)
  names(data) <- utf8(names(data))
  data
}
