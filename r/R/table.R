# A data frame as krigo takes tables: numbers are numbers, truth values 0 and 1, factors and text text, dates days since 1970.

# table_of is the table of these columns of a data frame, in its order, with the names of those that are text and dates.
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
    refuse("column '", name, "' holds a ", class(x)[1], ": want one number, text, factor or date a row", kind = "data", column = name)
  }
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (is.factor(x)) x <- as.character(x)
  if (is.character(x)) return(list(kind = "text", buffers = text_buffers(apart(name, x))))
  if (inherits(x, "integer64")) refuse("column '", name, "' holds integer64, of which numbers here hold 53 bits: say as.numeric", kind = "data", column = name)
  if (inherits(x, "Date")) return(list(kind = "date", buffers = list(as.double(x))))
  if (inherits(x, "POSIXct")) return(list(kind = "date", buffers = list(days(as.double(x)))))
  if (inherits(x, "difftime")) x <- as.double(x, units = "days")
  if (!plain(x, "ts")) {
    refuse(
      "column '", name, "' holds ", class(x)[1], ": want numbers, truth values, text, factors or dates; where its numbers alone are meant, say as.numeric",
      kind = "data", column = name
    )
  }
  list(kind = "number", buffers = list(as.double(x)))
}

# plain says whether values are what their numbers say, in no unit and code that their class knows; but for these classes.
plain <- function(x, but = NULL) (is.numeric(x) || is.logical(x)) && !length(setdiff(oldClass(x), c("AsIs", but)))

# measured are numbers that widths are about. A time has as many as there are units, and a factor's are codes.
measured <- function(what, x, but = NULL, column = NULL) {
  if (plain(x, but)) return(as.double(x))
  advice <- if (inherits(x, c("Date", "POSIXt", "difftime"))) {
    "make numbers of it first, in a unit that you choose, as as.numeric(difftime(x, start, units = \"days\")): a width is in that unit"
  } else if (is.factor(x)) {
    "make numbers of it first; as.numeric(as.character(x)) are those that it shows, as.numeric(x) codes"
  } else {
    "make numbers of it first, as.numeric(x) where that is meant"
  }
  refuse(what, " is a ", class(x)[1], ": ", advice, kind = "data", column = column)
}

target_of <- function(data, name) measured(paste0("the target '", name, "'"), data[[name]], "ts", name)

# apart refuses texts that differ only in blanks around them, which krigo takes for one.
apart <- function(name, x) {
  texts <- unique(x[!is.na(x)])
  bare <- trimws(texts, whitespace = "[\\h\\v]")
  same <- bare[duplicated(bare) & nzchar(bare)]
  if (length(same)) {
    shown <- paste0("\"", texts[bare == same[1]], "\"", collapse = " and ")
    refuse("column '", name, "' holds ", shown, ", which differ only in blanks around them and would be one: trimws(x, whitespace = \"[\\\\h\\\\v]\") makes one of them, other names keep them apart", kind = "data", column = name)
  }
  x
}

# days are seconds since 1970 as krigo computes them from text.
days <- function(seconds) {
  whole <- floor(seconds)
  day <- floor(whole / 86400)
  day + ((whole - 86400 * day) + (seconds - whole)) / 86400
}

# utf8 are texts in UTF-8, as which bytes of a locale that has no letters beyond ASCII are taken where they can be.
utf8 <- function(x) {
  if (Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX")) {
    bytes <- !is.na(x) & Encoding(x) == "unknown" & validUTF8(x)
    Encoding(x[bytes]) <- "UTF-8"
  }
  enc2utf8(x)
}

# text_buffers are where each text begins, as 64-bit integers, of which R has none, and the texts.
text_buffers <- function(x) {
  x <- utf8(x)
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
  names(data) <- utf8(names(data))
  data
}
