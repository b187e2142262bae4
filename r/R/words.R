# This file puts options in place of flags in the program's words, such as missing = "mean" for --missing mean.

# flags_of returns the flags that are options or arguments in R, with the words that each takes. The first message with a flag asks for them.
flags_of <- function(p) {
  if (is.null(p$flags)) {
    p$flags <- list()
    all <- asked(p, list(op = "schema"))$result
    options <- c(all$fit, Filter(function(o) o$name == "level", all$predict))
    p$flags <- lapply(options, function(o) unlist(o$values))
    names(p$flags) <- vapply(options, function(o) o$name, "")
  }
  p$flags
}

# copied names flags that a message names with the text to copy.
copied <- c("categorical", "group", "na", "sheet", "units")

# a_flag matches a command line, which stays as it is, or a flag with the word after it, which may be the flag's value.
a_flag <- paste0("krigo [a-z]+(?: [A-Z]{2,}| --[a-z-]+)*", "|", "--[a-z][a-z-]*[a-z](?:[ =](?:\"[^\"]*\"|[^\\s,;:()\"]*[^\\s,;:()\".]):?)?")

# wanted says what a value must be that a function of the program can't read.
wanted <- c(
  strconv.ParseInt = "want a whole number", strconv.ParseUint = "want a whole number", strconv.ParseFloat = "want a number",
  strconv.ParseBool = "want TRUE or FALSE", time = "want a duration, such as \"90s\""
)

in_r <- function(p, message) {
  invalid <- regmatches(message, regexec("^invalid argument (\".*\") for \"(?:-[a-z], )?(?:--)?([a-z-]+)\" flag: ([^:]*)", message))[[1]]
  if (length(invalid)) message <- paste0("--", invalid[3], " ", invalid[2], ": ", if (is.na(wanted[invalid[4]])) invalid[4] else wanted[invalid[4]])
  if (startsWith(message, "unknown flag: --")) {
    words <- strsplit(sub("unknown flag: --", "", message, fixed = TRUE), ";", fixed = TRUE)[[1]]
    words[1] <- gsub("-", "_", words[1], fixed = TRUE)
    message <- paste0("krigo has no option ", paste(words, collapse = ";"))
  }
  message <- sub("^--([a-z-]+): it is for", "\\1: it is for", message)
  # The formula names the inputs.
  message <- gsub("--(?:inputs '[^']*'|categorical (?:\"[^\"]*\"|\\S+)) keeps (it|them)", "named in a formula without ., krigo keeps \\1", message, perl = TRUE)
  message <- gsub("--ignore (\"[^\"]*\"|\\S+) leaves (it|them) out", "- \\1 in the formula leaves \\2 out", message, perl = TRUE)
  message <- gsub("say --ignore (\"[^\"]*\"|\\S+)", "say - \\1 in the formula", message, perl = TRUE)
  message <- sub("settings.md has all flags", "settings.md has all options", message, fixed = TRUE)
  message <- sub("or below:above for", "or c(below, above) for", message, fixed = TRUE)
  if (!grepl("--", message, fixed = TRUE) && !grepl("^[a-z]+-[a-z-]+\\W", message)) return(message)
  known <- flags_of(p)
  first <- sub("\\W.*", "", gsub("-", "_", message, fixed = TRUE))
  if (gsub("_", "-", first, fixed = TRUE) %in% names(known)) substr(message, 1, nchar(first)) <- first
  at <- gregexpr(a_flag, message, perl = TRUE)
  found <- regmatches(message, at)
  regmatches(message, at) <- list(mapply(option_of, found[[1]], at[[1]] == 1, MoreArgs = list(known = known)))
  gsub("( = (?:\"[^\"]*\"|[0-9.e-]+)) (?=\\w+ = [\"0-9])", "\\1, ", message, perl = TRUE)
}

# option_of returns a flag and its value as an option of R. At the beginning of a message the flag has the value that was given.
option_of <- function(text, begins, known) {
  flag <- sub("^--([a-z-]+).*", "\\1", text)
  if (!startsWith(text, "--") || !flag %in% names(known)) return(text)
  name <- gsub("-", "_", flag, fixed = TRUE)
  colon <- if (endsWith(text, ":")) ":" else ""
  value <- sub(":$", "", substring(text, nchar(flag) + 4))
  if (!nzchar(value)) return(name)
  number <- grepl("^-?[0-9.]+(e-?[0-9]+)?$", value)
  said <- number || value %in% known[[flag]] || flag %in% copied && !value %in% c("and", "or")
  if (begins && nzchar(colon) || !said) return(paste0(name, " ", value, colon))
  paste0(name, " = ", if (number || startsWith(value, "\"")) value else paste0("\"", value, "\""), colon)
}

# spoken returns a reply's result with its words for people in R's terms.
spoken <- function(p, result) {
  words <- intersect(c("sentence", "reason", "context", "no_better", "differs", "notices"), names(result))
  for (name in words) {
    of <- result[[name]]
    if (is.character(of) && any(grepl("--", of, fixed = TRUE))) result[[name]] <- vapply(of, function(text) in_r(p, text), "", USE.NAMES = FALSE)
  }
  if (is.list(result$targets)) result$targets <- lapply(result$targets, function(one) if (is.list(one)) spoken(p, one) else one)
  result
}
