# The program krigo: where it is, and how it is asked. Requests are written to a file and replies read from another one
# (docs/pipe.md has the frames), so that numbers are the same to the bit, and one run answers several requests in turn.

executable <- function() {
  name <- if (.Platform$OS.type == "windows") "krigo.exe" else "krigo"
  option <- getOption("krigo.executable")
  if (length(option)) return(existing(option, "options(krigo.executable)"))
  variable <- Sys.getenv("KRIGO_EXECUTABLE")
  if (nzchar(variable)) return(existing(variable, "the environment variable KRIGO_EXECUTABLE"))
  own <- system.file("bin", name, package = "krigo")
  if (nzchar(own)) return(own)
  path <- Sys.which("krigo")
  if (nzchar(path)) return(unname(path))
  refuse(
    "there is no program krigo: it is looked for in options(krigo.executable = \"/path/to/krigo\"), in the environment variable ",
    "KRIGO_EXECUTABLE, in the package (", file.path("bin", name), ", as scripts/release puts it there) and in the folders of PATH"
  )
}

existing <- function(path, of) {
  path <- path.expand(one(of, path))
  if (!file.exists(path)) refuse(of, " names ", path, ", which isn't there")
  path
}

krigo_error <- function(message, kind = "usage", row = NULL, column = NULL) {
  structure(class = c("krigo_error", "error", "condition"), list(message = message, call = NULL, kind = kind, row = row, column = column))
}

# one is the text that is wanted, and not several, none or NA.
one <- function(what, x) {
  if (!is.character(x) || length(x) != 1 || is.na(x) || !nzchar(x)) refuse(what, " is ", shown(x), ": want one text")
  x
}

one_of_two <- function(what, x) {
  if (!isTRUE(x) && !isFALSE(x)) refuse(what, " is ", shown(x), ": want TRUE or FALSE")
  x
}

shown <- function(x) if (length(x) <= 5 && is.atomic(x)) deparse1(x) else paste("a", class(x)[1], "of", length(x))

refuse <- function(..., kind = "usage", column = NULL) stop(krigo_error(paste0(...), kind, column = column))

# ask returns the result of the last of some requests, which are answered one after the other. A request is a list of op and, where
# there are such, model, table, args and buffers.
ask <- function(...) {
  requests <- list(...)
  program <- executable()
  folder <- tempfile("krigo")
  if (!dir.create(folder, mode = "0700")) refuse("the temporary folder ", folder, " can't be made", kind = "failed")
  on.exit(unlink(folder, recursive = TRUE))
  to <- file.path(folder, "requests")
  from <- file.path(folder, "replies")
  said <- file.path(folder, "said")
  write_requests(to, requests)
  memory <- Sys.getenv("KRIGO_MEMORY")
  args <- c("pipe", if (nzchar(memory)) c("--memory", shQuote(memory)))
  status <- suppressWarnings(system2(program, args, stdin = to, stdout = from, stderr = said))
  replies <- read_replies(from)
  for (reply in replies) {
    e <- reply$error
    if (is.null(e)) next
    if (e$kind == "cancelled") interrupted()
    stop(krigo_error(e$message, e$kind, e$row, e$column))
  }
  if (length(replies) < length(requests)) {
    words <- if (file.exists(said)) paste(readLines(said, warn = FALSE), collapse = "\n") else ""
    if (status == 130 || status == 2 && !nzchar(words)) interrupted() # 2: SIGINT itself, where no status of a command is left
    refuse(
      program, " ended without a reply (exit status ", status, ")", if (nzchar(words)) paste0(": ", words), "; is it of the package's version?",
      kind = "failed"
    )
  }
  replies[[length(replies)]]
}

# interrupted is what ^C does in R: the program, which had it, has ended.
interrupted <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
  invokeRestart("abort")
}

write_requests <- function(path, requests) {
  con <- file(path, "wb")
  on.exit(close(con))
  for (i in seq_along(requests)) {
    r <- requests[[i]]
    buffers <- c(r$table$buffers, r$buffers)
    header <- c(
      list(id = json_number(i), op = r$op),
      if (!is.null(r$model)) list(model = json_number(r$model)),
      if (!is.null(r$table)) list(table = list(names = I(r$table$names), text = I(r$table$text), rows = json_number(r$table$rows))),
      if (length(r$args)) list(args = r$args),
      list(buffers = I(lapply(buffers, function(b) json_number(bytes_of(b)))))
    )
    text <- charToRaw(utf8(as.character(toJSON(header, auto_unbox = TRUE, json_verbatim = TRUE))))
    writeBin(length(text), con, size = 4, endian = "little")
    writeBin(text, con)
    for (b in buffers) write_buffer(b, con)
  }
}

bytes_of <- function(b) switch(typeof(b), raw = 1, integer = 4, double = 8) * length(b)

# writeBin refuses more than 2^31 - 1 bytes at once.
write_buffer <- function(b, con) {
  step <- 2^24
  for (from in seq(1, by = step, length.out = ceiling(length(b) / step))) {
    writeBin(b[from:min(from + step - 1, length(b))], con, endian = "little")
  }
}

# json_number is a number with all its digits, of which jsonlite has 15.
json_number <- function(x) structure(number(x), class = "json")

number <- function(x) {
  vapply(as.double(x), FUN.VALUE = "", function(v) {
    if (!is.finite(v)) return(as.character(v))
    if (v == round(v) && abs(v) < 2^53) return(sprintf("%.0f", v))
    for (digits in 15:17) {
      text <- sprintf("%.*g", digits, v)
      if (as.double(text) == v) break
    }
    text
  })
}

read_replies <- function(path) {
  replies <- list()
  if (!file.exists(path)) return(replies)
  con <- file(path, "rb")
  on.exit(close(con))
  repeat {
    size <- readBin(con, "integer", 1, size = 4, endian = "little")
    if (!length(size)) break
    text <- readBin(con, "raw", size)
    if (length(text) < size) break
    text <- rawToChar(text)
    Encoding(text) <- "UTF-8"
    reply <- parsed(text)
    buffers <- lapply(reply$buffers, function(n) readBin(con, "raw", n))
    if (any(lengths(buffers) < unlist(reply$buffers))) break
    names(buffers) <- unlist(reply$names)
    replies[[length(replies) + 1]] <- list(result = reply$result, error = reply$error, buffers = buffers)
  }
  replies
}

parsed <- function(text) fromJSON(text, simplifyDataFrame = FALSE, simplifyMatrix = FALSE)

doubles <- function(buffer) readBin(buffer, "double", length(buffer) / 8, size = 8, endian = "little")
