# This file finds the program krigo and sends requests. The first request starts the program, which then runs beside R. R writes
# requests to the program's standard input, and the program writes each reply to a new file (docs/reference/pipe.md describes the
# frames). Replies come in files because base R can't be interrupted while it reads a pipe.

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
    "the program krigo wasn't found. The package looks in options(krigo.executable = \"/path/to/krigo\"), in the environment variable ",
    "KRIGO_EXECUTABLE, in the package (", file.path("bin", name), ", where scripts/release puts the program) and in the folders of PATH"
  )
}

existing <- function(path, of) {
  path <- path.expand(one(of, path))
  if (!file.exists(path)) refuse(of, " names ", path, ", which doesn't exist")
  path
}

krigo_error <- function(message, kind = "usage", row = NULL, column = NULL) {
  structure(class = c("krigo_error", "error", "condition"), list(message = message, call = NULL, kind = kind, row = row, column = column))
}

# one returns x if x is one text, and refuses anything else, such as several texts, NA or the empty text.
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

kept <- new.env(parent = emptyenv())

# running returns the program. It starts a program if none runs, if the last one has ended, or if the executable or the memory limit
# has changed since. A forked process starts its own program: the inherited pipe is the parent's, and the child mustn't close it.
running <- function() {
  command <- c(executable(), Sys.getenv("KRIGO_MEMORY"))
  p <- kept$program
  if (!is.null(p) && p$owner != Sys.getpid()) {
    kept$others <- c(kept$others, p)
  } else if (!is.null(p)) {
    if (identical(p$command, command) && !is.null(p$to) && !file.exists(p$status)) return(p)
    end(p)
  }
  kept$program <- NULL
  kept$program <- started(command)
}

started <- function(command) {
  p <- new.env(parent = emptyenv())
  p$owner <- Sys.getpid()
  p$command <- command
  p$folder <- tempfile("krigo")
  if (!dir.create(p$folder, mode = "0700")) refuse("the temporary folder ", p$folder, " can't be made", kind = "failed")
  p$status <- file.path(p$folder, "status") # the file exists once the program has ended
  p$said <- file.path(p$folder, "said")
  p$asked <- 0
  p$models <- list() # the files of the models that the program has loaded, with the models' numbers
  windows <- .Platform$OS.type == "windows"
  quoted <- function(text) shQuote(text, if (windows) "cmd" else "sh")
  run <- paste(quoted(command[1]), "pipe", if (nzchar(command[2])) paste("--memory", quoted(command[2])), "2>", quoted(p$said))
  p$to <- pipe(open = "wb", if (windows) {
    paste0("cmd /c \"", run, " & echo unknown > ", quoted(p$status), "\"")
  } else {
    part <- quoted(paste0(p$status, ".part"))
    paste0("trap '' INT; ", run, " > /dev/null; echo $? > ", part, "; mv ", part, " ", quoted(p$status))
  })
  reg.finalizer(p, end, onexit = TRUE)
  about <- asked(p, list(op = "hello"), patience = 30)$result
  if (!identical(about$protocol, 1L)) {
    end(p)
    refuse(command[1], " has version ", about$version, " and doesn't know this package's requests: use the program that comes with the package", kind = "failed")
  }
  p$pid <- about$pid
  p
}

# end ends a program and its requests. It doesn't wait for a program that never said that it is krigo.
end <- function(p) {
  if (p$owner != Sys.getpid() || is.null(p$to)) return(invisible())
  to <- p$to
  p$to <- NULL
  if (!file.exists(p$status)) {
    if (is.null(p$pid)) {
      kept$others <- c(kept$others, to)
      return(invisible())
    }
    pskill(p$pid)
  }
  tryCatch(suppressWarnings(close(to)), error = identity) # close waits for the program's end
  unlink(p$folder, recursive = TRUE)
}

# asked sends a request and returns the reply. A request is a list of op and, if needed, model, table, args and buffers. If no reply
# comes, for example after an interruption or after patience seconds, asked ends the program and its requests.
asked <- function(p, request, patience = Inf) {
  p$asked <- p$asked + 1
  file <- file.path(p$folder, p$asked)
  frame <- framed_request(request, p$asked, file)
  answered <- FALSE
  on.exit(if (!answered) end(p))
  # A write fails if the program has ended. The loop below finds that out.
  tryCatch(suppressWarnings({
    for (part in frame) write_buffer(part, p$to)
    flush(p$to)
  }), error = identity)
  waited <- 0 # not by the clock, which somebody may set
  pause <- 5e-4
  while (!file.exists(file)) {
    if (file.exists(p$status) && !file.exists(file)) {
      words <- if (file.exists(p$said)) paste(readLines(p$said, warn = FALSE), collapse = "\n") else ""
      refuse(
        p$command[1], " ended without a reply (exit status ", readLines(p$status), ")", if (nzchar(words)) paste0(": ", words), "; does the program have the package's version?",
        kind = "failed"
      )
    }
    if (waited > patience) {
      refuse(p$command[1], " was started, and didn't say within ", patience, " seconds that it is krigo", kind = "failed")
    }
    Sys.sleep(pause)
    waited <- waited + pause
    pause <- min(1.1 * pause, 0.05)
  }
  reply <- read_reply(file)
  unlink(file)
  answered <- TRUE
  e <- reply$error
  if (!is.null(e)) stop(krigo_error(in_r(p, e$message), e$kind, e$row, e$column))
  if (!identical(request$op, "schema")) reply$result <- spoken(p, reply$result)
  reply
}

# known returns a model's number in a program, and loads the model first if the program doesn't have it.
known <- function(p, file) {
  for (m in p$models) if (identical(m$file, file)) return(m$number)
  remember(p, file, asked(p, list(op = "load", buffers = list(file))))$result$model
}

# remember notes the model's number in a reply, and returns the reply. To save memory, a program keeps at most eight models.
remember <- function(p, file, reply) {
  if (length(p$models) == 8) {
    asked(p, list(op = "close", model = p$models[[1]]$number))
    p$models[[1]] <- NULL
  }
  p$models <- c(p$models, list(list(file = file, number = reply$result$model)))
  reply
}

# framed_request returns the parts of a request's frame.
framed_request <- function(r, id, reply) {
  buffers <- c(r$table$buffers, r$buffers)
  header <- c(
    list(id = json_number(id), op = r$op, reply = utf8(reply)),
    if (!is.null(r$model)) list(model = json_number(r$model)),
    if (!is.null(r$table)) list(table = list(names = I(r$table$names), text = I(r$table$text), rows = json_number(r$table$rows))),
    if (length(r$args)) list(args = r$args),
    list(buffers = I(lapply(buffers, function(b) json_number(bytes_of(b)))))
  )
  text <- charToRaw(utf8(as.character(toJSON(header, auto_unbox = TRUE, json_verbatim = TRUE))))
  c(list(length(text), text), buffers)
}

bytes_of <- function(b) switch(typeof(b), raw = 1, integer = 4, double = 8) * length(b)

# write_buffer writes a buffer in pieces, because writeBin refuses more than 2^31 - 1 bytes at once.
write_buffer <- function(b, con) {
  step <- 2^24
  for (from in seq(1, by = step, length.out = ceiling(length(b) / step))) {
    writeBin(b[from:min(from + step - 1, length(b))], con, endian = "little")
  }
}

# json_number returns a number as JSON with all its digits, because jsonlite writes only 15 digits.
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

read_reply <- function(path) {
  con <- file(path, "rb")
  on.exit(close(con))
  text <- rawToChar(readBin(con, "raw", readBin(con, "integer", 1, size = 4, endian = "little")))
  Encoding(text) <- "UTF-8"
  reply <- parsed(text)
  buffers <- lapply(reply$buffers, function(n) readBin(con, "raw", n))
  names(buffers) <- unlist(reply$names)
  list(result = reply$result, error = reply$error, buffers = buffers)
}

parsed <- function(text) fromJSON(text, simplifyDataFrame = FALSE, simplifyMatrix = FALSE)

doubles <- function(buffer) readBin(buffer, "double", length(buffer) / 8, size = 8, endian = "little")
