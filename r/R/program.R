# The program krigo: where it is, and how it is asked. One runs beside R, from the first request on. R writes requests to its standard input
# and the program writes each reply to a file of its own (docs/reference/pipe.md has the frames): base R can't read a pipe and be interrupted, but it can
# look for a file.

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

kept <- new.env(parent = emptyenv())

# running returns the program. It starts one if there is none, if it has ended, or if another one is meant by now. A forked process starts its
# own: the pipe that it has inherited is its parent's, and isn't to be closed.
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
  p$status <- file.path(p$folder, "status") # there once the program has ended
  p$said <- file.path(p$folder, "said")
  p$asked <- 0
  p$models <- list() # files that it has, with their numbers
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
    refuse(command[1], ", of version ", about$version, ", has other requests than this package: use the one that comes with it", kind = "failed")
  }
  p$pid <- about$pid
  p
}

# end ends a program, and whatever it does. What never said that it is krigo isn't waited for.
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
  tryCatch(suppressWarnings(close(to)), error = identity) # waits for its end
  unlink(p$folder, recursive = TRUE)
}

# asked returns the reply to a request: a list of op and, where there are such, model, table, args and buffers. If there is none in the end, as
# after an interruption or when the time for it is up, the program is ended, and with it what it does.
asked <- function(p, request, patience = Inf) {
  p$asked <- p$asked + 1
  file <- file.path(p$folder, p$asked)
  frame <- framed_request(request, p$asked, file)
  answered <- FALSE
  on.exit(if (!answered) end(p))
  # A write fails if the program has ended, which is seen below.
  tryCatch(suppressWarnings({
    for (part in frame) write_buffer(part, p$to)
    flush(p$to)
  }), error = identity)
  begin <- proc.time()[["elapsed"]]
  pause <- 5e-4
  while (!file.exists(file)) {
    if (file.exists(p$status) && !file.exists(file)) {
      words <- if (file.exists(p$said)) paste(readLines(p$said, warn = FALSE), collapse = "\n") else ""
      refuse(
        p$command[1], " ended without a reply (exit status ", readLines(p$status), ")", if (nzchar(words)) paste0(": ", words), "; is it of the package's version?",
        kind = "failed"
      )
    }
    if (proc.time()[["elapsed"]] - begin > patience) {
      refuse(p$command[1], " was started, and didn't say within ", patience, " seconds that it is krigo", kind = "failed")
    }
    Sys.sleep(pause)
    pause <- min(1.1 * pause, 0.05)
  }
  reply <- read_reply(file)
  unlink(file)
  answered <- TRUE
  e <- reply$error
  if (!is.null(e)) stop(krigo_error(e$message, e$kind, e$row, e$column))
  reply
}

# known returns the number under which a program has a model, which it is given if it hasn't.
known <- function(p, file) {
  for (m in p$models) if (identical(m$file, file)) return(m$number)
  remember(p, file, asked(p, list(op = "load", buffers = list(file))))$result$model
}

# remember keeps the number of a model that a reply has. The program has eight models at most, as memory isn't endless.
remember <- function(p, file, reply) {
  if (length(p$models) == 8) {
    asked(p, list(op = "close", model = p$models[[1]]$number))
    p$models[[1]] <- NULL
  }
  p$models <- c(p$models, list(list(file = file, number = reply$result$model)))
  reply
}

# framed_request returns the parts of a frame.
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
