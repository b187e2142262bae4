# These tests compare the package with the command line, and models with saved models. R CMD check runs this file.
library(krigo)

program <- krigo:::executable()
cli <- function(...) {
  said <- tempfile()
  out <- system2(program, shQuote(c(...)), stdout = TRUE, stderr = said)
  if (!is.null(attr(out, "status"))) stop(paste(readLines(said), collapse = "\n"))
  Encoding(out) <- "UTF-8"
  out
}
json <- function(...) jsonlite::fromJSON(paste(cli(...), collapse = "\n"), simplifyDataFrame = FALSE, simplifyMatrix = FALSE)
refused <- function(expr) tryCatch({
  expr
  stop("nothing was refused")
}, krigo_error = function(e) e)
says <- function(e, ...) for (words in c(...)) if (!grepl(words, conditionMessage(e), fixed = TRUE)) stop(conditionMessage(e), "\nhas no ", words)
quietly <- suppressMessages
put <- function(data, name, value, rows = seq_len(nrow(data))) {
  data[rows, name] <- value
  data
}

set.seed(1)
n <- 150
houses <- data.frame(
  id = seq_len(n), rooms = rnorm(n, 5), `living area` = runif(n, 30, 200), garden = runif(n) > 0.5,
  zone = factor(sample(c("north, old", "south \"new\"", "Süd"), n, TRUE)), heating = sample(c("gas", "oil"), n, TRUE), sold = as.Date("2024-01-01") + sample(400, n, TRUE), check.names = FALSE
)
houses$price <- sin(houses$rooms) + houses$`living area` / 100 + houses$garden + (houses$zone == "Süd") + rnorm(n) / 10
trained <- houses[1:120, ]
further <- houses[121:150, ]

# The command line with a CSV file and the package with the same rows give the same model.
text <- function(data) {
  data$garden <- as.integer(data$garden)
  for (name in c("rooms", "living area", "price")) data[[name]] <- sprintf("%.17g", data[[name]])
  path <- tempfile(fileext = ".csv")
  write.csv(data, path, row.names = FALSE, quote = which(names(data) %in% c("zone", "heating")), fileEncoding = "UTF-8")
  path
}
csv <- text(trained)
file <- tempfile(fileext = ".krigo")
fitted <- json(
  "fit", csv, "--target", "price", "--ignore", "id", "--categorical", "zone", "--dates", "sold:year", "--kernel", "se,matern32", "--epsilon", "0.5",
  "--epsilon-units", "raw", "--test-fraction", "0.1", "--seed", "3", "--out", file, "--json", "--quiet"
)
heard <- character()
m <- withCallingHandlers(
  krigo(price ~ . - id, trained, epsilon = 0.5, epsilon_units = "raw", kernel = c("se", "matern32"), dates = "sold:year", test_fraction = 0.1, seed = 3),
  message = function(c) {
    heard <<- c(heard, conditionMessage(c))
    invokeRestart("muffleMessage")
  }
)
stopifnot(
  inherits(m, "krigo"), is.raw(m$file), identical(certificate(m), fitted$certificate), identical(m$fit$test, fitted$test), identical(m$fit$kernel, fitted$kernel),
  identical(sub("\n$", "", heard), as.character(unlist(m$notices))), length(heard) == length(fitted$notices), grepl("^With 99 % confidence", promise(m)), identical(m$target, "price"),
  setequal(m$columns, c("rooms", "living area", "garden", "zone", "heating", "sold"))
)

# Notices are the command line's.
edges <- data.frame(a = runif(60), b = runif(60))
edges$y <- edges$a
e <- quietly(krigo(y ~ ., edges, kernel = "se"))
printed <- tempfile(fileext = ".csv")
write.csv(data.frame(lapply(edges, sprintf, fmt = "%.17g")), printed, row.names = FALSE, quote = FALSE)
said <- system2(program, c("fit", printed, "--target", "y", "--kernel", "se", "--out", tempfile(fileext = ".krigo")), stdout = TRUE, stderr = FALSE)
stopifnot(grepl("\"a\" orders the rows", e$notices[1], fixed = TRUE), grepl("- a in the formula", e$notices[1], fixed = TRUE))
stopifnot(length(e$notices) > 1, vapply(e$notices[-1], function(notice) grepl(gsub("\\s+", " ", notice), gsub("\\s+", " ", paste(said, collapse = " ")), fixed = TRUE), NA))

# Predictions equal the command line's to the bit.
out <- tempfile(fileext = ".csv")
invisible(cli("predict", file, text(further), "--intervals", "conformal,normalised,band", "--level", "0.8", "--out", out, "--quiet"))
table <- read.csv(out, colClasses = "numeric", numerals = "no.loss")
p <- quietly(predict(m, further, se.fit = TRUE))
stopifnot(
  identical(unname(p$fit), table$mean), identical(unname(p$se.fit), table$latent_sd), identical(names(p$fit), row.names(further)),
  all.equal(p$se.fit^2 + p$residual.scale^2, structure(table$predictive_variance, names = row.names(further)))
)
p <- quietly(predict(m, further, interval = "prediction"))
stopifnot(identical(unname(p), unname(as.matrix(table[c("mean", "lower95", "upper95")]))), identical(colnames(p), c("fit", "lwr", "upr")))
stopifnot(all.equal(quietly(predict(m, further, interval = "prediction", level = 0.95 + 1e-12)), p))
for (kind in c("conformal", "normalised", "band")) {
  p <- if (kind == "band") quietly(predict(m, further, interval = kind)) else quietly(predict(m, further, interval = kind, level = 0.8))
  stopifnot(identical(unname(p), unname(as.matrix(table[c("mean", paste0(kind, c("_lower", "_upper")))]))))
}
p <- quietly(predict(m, further, interval = "confidence"))
stopifnot(p[, "lwr"] < p[, "fit"], quietly(predict(m, further, interval = "prediction"))[, "upr"] > p[, "upr"])
stopifnot(identical(quietly(predict(m, further)), quietly(predict(m, further[rev(names(further))])))) # krigo finds columns by name
stopifnot(identical(quietly(predict(m, further[7, ])), quietly(predict(m, further))[7]))
stopifnot(identical(quietly(residuals(m, further)), quietly(further$price - predict(m, further))))

# Neither the order of columns in the formula nor a class like a tibble's changes the model.
odd <- trained
class(odd) <- c("tbl_df", "tbl", "data.frame")
a <- quietly(krigo(price ~ rooms + garden, odd, kernel = "se"))
b <- quietly(krigo(price ~ garden + rooms, trained, kernel = "se"))
stopifnot(identical(certificate(a), certificate(b)), identical(quietly(predict(a, further)), quietly(predict(b, further))))

# The model file names its inputs: the command line fits the model again from the whole table, to the last bit.
again <- tempfile(fileext = ".krigo")
write_krigo(quietly(krigo(price ~ . - id - sold, trained, kernel = "se")), again)
invisible(cli("certify", again, csv, "--refit", "--quiet"))

# Levels that the model doesn't know count as one category, others. A message says so.
unknown <- further[1:2, ]
unknown$zone <- c("west", "east")
heard <- tryCatch(predict(m, unknown), message = conditionMessage)
stopifnot(grepl("a category that no prior row has", heard))
p <- quietly(predict(m, unknown))
unknown$zone <- factor(c("x", "y"), levels = c("Süd", "x", "y"))
stopifnot(is.finite(p), identical(p, quietly(predict(m, unknown))))

# krigo refuses missing values, or fills them.
gaps <- trained
gaps$rooms[7] <- NA
gaps$zone[9] <- NA
e <- refused(krigo(price ~ rooms + zone, gaps))
says(e, "row 7", "rooms", "missing = \"mean\"")
stopifnot(e$kind == "data", e$row == 7, e$column == "rooms")
says(refused(krigo(price ~ . - id, gaps, strict = TRUE)), "row 7", "rooms")
# With . in the formula, it fills them, and leaves out what says nothing.
settled <- quietly(krigo(price ~ ., gaps, kernel = "se"))
says(simpleCondition(paste(settled$notices, collapse = " ")), "id is left out", "in a formula", "rooms misses 1 of")
stopifnot(!"id" %in% all.vars(settled$formula), is.finite(quietly(predict(settled, gaps))))
filled <- quietly(krigo(price ~ rooms + zone, gaps, missing = "mean", kernel = "se"))
stopifnot(is.finite(quietly(predict(filled, gaps))))
says(tryCatch(predict(m, gaps), message = identity), "rooms misses 1 of", "row 7")
stopifnot(is.finite(quietly(predict(m, gaps))))
gaps$price[3] <- NA
says(refused(krigo(price ~ rooms, gaps, missing_target = "refuse")), "price", "row 3")
says(refused(krigo(price ~ rooms, put(trained, "rooms", Inf, 5))), "row 5", "rooms")

# A model is a value: both saveRDS and write_krigo save it.
kept <- tempfile()
saveRDS(m, kept)
again <- readRDS(kept)
stopifnot(identical(again, m), identical(quietly(predict(again, further)), quietly(predict(m, further))))
write_krigo(m, kept)
again <- read_krigo(kept)
stopifnot(
  identical(again$file, m$file), identical(again$fit, m$fit), identical(promise(again), promise(m)), identical(again$columns, m$columns),
  identical(again$checksum, read_krigo(write_krigo(again, tempfile()))$checksum), identical(quietly(predict(again, further)), quietly(predict(m, further)))
)
invisible(cli("certify", kept, csv, "--quiet")) # the command line reads R's model, and R the command line's
stopifnot(identical(certificate(read_krigo(file)), certificate(m)))

# Certificates.
recomputed <- certify(m, trained)
stopifnot(identical(certificate(recomputed), json("certify", file, csv, "--json", "--quiet")$certificate), recomputed$details$matches)
says(refused(certify(m, put(trained, "price", 9, 4))), "the data")
stopifnot(inherits(refused(certify(m, trained[-1, ])), "error"))
fresh <- certify_fresh(m, further)
stopifnot(identical(fresh$details, json("certify", file, text(further), "--fresh", "--json", "--quiet")), grepl("^With 99 %", promise(fresh)))

straight <- lm(price ~ rooms + garden, trained)
yhat <- unname(predict(straight, further))
of <- tempfile(fileext = ".csv")
write.csv(data.frame(y = sprintf("%.17g", further$price), prediction = sprintf("%.17g", yhat)), of, row.names = FALSE, quote = FALSE)
found <- certify_predictions(further$price, predict(straight, further), epsilon = 0.7, delta = 0.05)
wanted <- json("certify", "--predictions", of, "--target", "y", "--epsilon", "0.7", "--delta", "0.05", "--json")
stopifnot(identical(certificate(found)$mean_bound, wanted$certificate$mean_bound), identical(promise(found), wanted$sentence), grepl("^With 95 %", promise(found)))
grouped <- certify_predictions(further$price, yhat, epsilon = 2, group = rep_len(1:22, 30))
stopifnot(certificate(grouped)$groups == 22)
sides <- certify_predictions(further$price, yhat, epsilon = c(0.1, 0.9), loss = "asymmetric")
stopifnot(certificate(sides)$epsilon == 0.1, certificate(sides)$epsilon_above == 0.9)
says(refused(certify_predictions(1:3, 1:2, 1)), "3 targets", "2 predictions")
says(refused(certify_predictions(1:30, 1:30, -1)), "epsilon")

# Groups, other options, and deliver = "all".
grouped <- quietly(krigo(price ~ rooms + garden, put(trained, "owner", rep(1:40, 3)), group = "owner", kernel = "se", prior_share = 0.4, epsilon_units = "raw", epsilon = 1))
stopifnot(certificate(grouped)$group == "owner", "owner" != grouped$columns, grouped$group == "owner")
stopifnot(certify(grouped, put(trained, "owner", rep(1:40, 3)))$details$matches)
sliced <- quietly(krigo(price ~ rooms + garden, trained, kernel = "se", slices = c("garden", "sd"), curve = TRUE, prior_share = 0.4))
stopifnot(length(certificate(sliced)$slices) > 2, length(certificate(sliced)$curve$points) > 1)
both <- quietly(krigo(price ~ rooms + garden, trained, kernel = "se", deliver = "all", budget = "60s"))
stopifnot(inherits(both$delivered, "krigo"), is.null(certificate(both$delivered)), grepl("^No certificate", promise(both$delivered)), is.finite(quietly(predict(both$delivered, further))))

# Errors have krigo's words.
says(refused(krigo(price ~ rooms, trained, kernl = "se")), "kernl", "did you mean \"kernel\"")
says(refused(krigo(price ~ rooms, trained, kernel = "ses")), "ses")
says(refused(krigo(price ~ rooms, trained, delta = 2)), "delta 2: ")
says(refused(krigo(price ~ rooms, trained, epsilon = -1)), "epsilon \"-1\"")
says(refused(krigo(price ~ rooms, trained, out = "x")), "out: it is for krigo fit on the command line alone")
says(refused(krigo(price ~ rooms, trained, inputs = "x")), "formula")
says(refused(krigo(price ~ rooms, trained, 0.5, 0.01, "se")), "without a name")
for (f in c(log(price) ~ rooms, price ~ log(rooms), price ~ rooms * garden, price ~ I(rooms^2), price ~ rooms - 1, price ~ rooms + offset(id), price ~ poly(rooms, 2), ~rooms, price ~ 1)) {
  stopifnot(inherits(refused(krigo(f, trained)), "krigo_error"))
}
says(refused(krigo(price ~ log(rooms), trained)), "log(rooms)", "transform the data first")
says(refused(krigo(price ~ rooms + pool, trained)), "'pool'")
says(refused(krigo(price ~ ., as.list(trained))), "data frame")
says(refused(krigo(price ~ ., cbind(trained, z = I(as.list(trained$id))))), "'z'")
says(refused(predict(m, further["rooms"])), "newdata has no column")
says(refused(predict(m)), "newdata is missing")
says(refused(predict(m, further, level = 1)), "level")

# watch counts outcomes over several calls.
simple <- quietly(krigo(eruptions ~ waiting, faithful[1:130, ], epsilon = 1, epsilon_units = "raw", kernel = "se"))
ledger <- tempfile(fileext = ".ledger")
first <- watch(simple, faithful[131:200, ], ledger)
second <- watch(simple, faithful[201:272, ], ledger)
stopifnot(first$details$rows == 70, second$details$rows == 142, is.null(second$details$alarm), file.exists(ledger))
bad <- faithful[201:272, ]
bad$eruptions <- bad$eruptions + 10
alarmed <- watch(simple, bad, ledger)
stopifnot(alarmed$details$alarm$row > 142, grepl("alarm", promise(alarmed), ignore.case = TRUE))

other <- tempfile(fileext = ".ledger")
once <- watch(simple, faithful[131:200, ], other, key = "monday")
again <- watch(simple, faithful[131:200, ], other, key = "monday")
stopifnot(!once$known, again$known, identical(again$details, once$details), inherits(again, "krigo_finding"))

page <- tempfile(fileext = ".html")
report(simple, faithful[1:130, ], page)
stopifnot(grepl("^<!doctype html>", readLines(page, 1, warn = FALSE), ignore.case = TRUE))
report(simple, file = page)
stopifnot(inherits(refused(report(simple, file = file.path(tempfile(), "x.html"))), "krigo_error"))

pdf(NULL)
plot(simple, faithful[1:130, ])
invisible(dev.off())
printed <- capture.output(print(simple), print(second))
stopifnot(any(grepl("With 99 %", printed)), grepl("^With 99 %", capture.output(summary(simple))[1]))

# The program gets numbers and texts unchanged.
numbers <- c(1 / 3, 0.1, 1e5, 123456789012, 2^53 - 1, 1e300, 5e-324, -0.5, 7)
stopifnot(identical(as.double(krigo:::number(numbers)), numbers), identical(krigo:::number(c(1e5, 0.1)), c("100000", "0.1")))
stopifnot(identical(krigo:::listed(c("a", "b,c", "d\"e")), "a,\"b,c\",\"d\"\"e\""))
stopifnot(identical(krigo:::date_of("a:b:dmy:day:year"), list(column = "a:b", parts = c("day", "year"))), identical(krigo:::date_of("time")$column, "time"))
moments <- as.POSIXct("2024-03-01 06:00:00", tz = "UTC")
stopifnot(identical(krigo:::days(as.double(moments)), as.double(as.Date("2024-03-01")) + 0.25), krigo:::days(-86400.5) == -1 - 0.5 / 86400)

# An option or a variable that names a missing program is refused.
options(krigo.executable = "/nowhere/krigo")
says(refused(predict(simple, faithful)), "options(krigo.executable)", "/nowhere/krigo")
options(krigo.executable = NULL)
Sys.setenv(KRIGO_EXECUTABLE = "/nowhere/krigo")
says(refused(predict(simple, faithful)), "KRIGO_EXECUTABLE")
Sys.unsetenv("KRIGO_EXECUTABLE")

# One program answers all requests and keeps its models. If the program dies or the memory limit changes, a new program starts.
# A fork starts its own program.
pid <- function() krigo:::running()$pid
one <- pid()
wanted <- quietly(predict(simple, faithful))
loads <- krigo:::running()$asked
stopifnot(identical(quietly(predict(simple, faithful)), wanted), krigo:::running()$asked == loads + 1, pid() == one)
many <- lapply(1:9, function(seed) quietly(krigo(eruptions ~ waiting, faithful, kernel = "se", restarts = 1, seed = seed)))
stopifnot(length(krigo:::running()$models) == 8, identical(quietly(predict(simple, faithful)), wanted), pid() == one)
if (.Platform$OS.type == "unix") {
  tools::pskill(one, tools::SIGKILL)
  while (!file.exists(krigo:::kept$program$status)) Sys.sleep(0.01)
  stopifnot(identical(quietly(predict(simple, faithful)), wanted), pid() != one)
  one <- pid()
}
Sys.setenv(KRIGO_MEMORY = "1MB")
says(refused(predict(simple, faithful[rep(1:272, 400), ])), "--memory")
Sys.unsetenv("KRIGO_MEMORY")
stopifnot(pid() != one, identical(quietly(predict(simple, faithful)), wanted))
times <- vapply(1:30, function(i) system.time(quietly(predict(simple, faithful)))[["elapsed"]], 0)
stopifnot(median(times) < 0.1) # a call takes a few milliseconds, unless the machine is busy
stopifnot(identical(list.files(krigo:::kept$program$folder), "said"))
krigo:::end(krigo:::kept$program)
stopifnot(!length(list.files(tempdir(), "^krigo")))
if (.Platform$OS.type == "unix") {
  one <- pid()
  forks <- parallel::mclapply(1:2, function(i) list(quietly(predict(simple, faithful)), pid()), mc.cores = 2)
  stopifnot(identical(forks[[1]][[1]], wanted), length(unique(c(one, forks[[1]][[2]], forks[[2]][[2]]))) == 3, pid() == one)
}

# Labels: a factor, text and a factor of numbers give the same certificate, and predictions equal the command line's.
flowers <- data.frame(iris[iris$Species != "setosa", ], row.names = NULL)
odd <- flowers[seq(1, 99, 2), ]
even <- flowers[seq(2, 100, 2), ]
fit <- function(data) quietly(krigo(Species ~ Petal.Width + Sepal.Width, data, kernel = "se", prior = "informed"))
m <- fit(even)
stopifnot(identical(m$classes, c("versicolor", "virginica")), grepl("get a wrong label of Species", promise(m)))
stopifnot(identical(promise(fit(transform(even, Species = as.character(Species)))), promise(m)))
coded <- transform(even, Species = factor(as.integer(Species == "virginica")))
stopifnot(identical(certificate(fit(coded))$mean_bound, certificate(m)$mean_bound), identical(fit(coded)$classes, c("0", "1")))
write_krigo(m, file)
csv <- tempfile(fileext = ".csv")
write.csv(odd, csv, row.names = FALSE)
invisible(cli("predict", file, csv, "--out", out, "--quiet"))
table <- read.csv(out)
found <- quietly(predict(m, odd))
p <- quietly(predict(m, odd, type = "prob"))
stopifnot(is.factor(found), identical(as.character(found), table$label), all.equal(unname(p[, 2]), table$probability_virginica))
stopifnot(identical(colnames(p), m$classes), identical(quietly(predict(m, odd, type = "response")), p[, 2]))
stopifnot(identical(certificate(certify(m, even))$mean_bound, certificate(m)$mean_bound))
says(refused(predict(m, odd, interval = "conformal")), "a label has no interval")
says(refused(residuals(m, odd)), "a label has no residual")

# Sets of labels, and more than two classes, equal the command line's.
sets <- quietly(predict(m, odd, type = "set", level = 0.8))
invisible(cli("predict", file, csv, "--intervals", "conformal", "--level", "0.8", "--out", out, "--quiet"))
listed <- function(sets) apply(sets, 1, function(held) paste(colnames(sets)[held], collapse = ","))
stopifnot(is.logical(sets), identical(unname(listed(sets)), as.character(read.csv(out)$labels)))
three <- quietly(krigo(Species ~ Petal.Width + Sepal.Width, iris[seq(2, 150, 2), ], kernel = "se", prior = "informed"))
write_krigo(three, file)
write.csv(iris, csv, row.names = FALSE)
invisible(cli("predict", file, csv, "--intervals", "conformal", "--out", out, "--quiet"))
printed <- read.csv(out)
p3 <- quietly(predict(three, iris, type = "prob"))
stopifnot(identical(three$classes, levels(iris$Species)), identical(as.character(quietly(predict(three, iris))), printed$label))
stopifnot(all.equal(unname(p3), unname(as.matrix(printed[paste0("probability_", three$classes)]))), abs(rowSums(p3) - 1) < 1e-12)
stopifnot(identical(unname(listed(quietly(predict(three, iris, type = "set")))), as.character(printed$labels)))
stopifnot(grepl("get a wrong label of Species", promise(three)), identical(certificate(three)$mean_bound, three$fit$together$certificate$mean_bound))
stopifnot(identical(promise(certify(three, iris[seq(2, 150, 2), ])), promise(three)))
invisible(capture.output(print(three), print(summary(three))))
says(refused(predict(three, iris, type = "response")), "3 classes")

# A certificate of a classifier equals the command line's.
write.csv(data.frame(odd["Species"], table), csv, row.names = FALSE)
c1 <- json("certify", "--predictions", csv, "--target", "Species", "--probabilities", "probability_", "--statements", "error,classes,brier", "--json")
c2 <- certify_classifier(odd$Species, p, statements = c("error", "classes", "brier"), target = "Species")
stopifnot(all.equal(c1$certificate$statements, certificate(c2)$statements), identical(c1$sentence, promise(c2)))
costs <- certify_classifier(odd$Species, p, costs = rbind(c(0, 1), c(2.5, 0)), group = seq_len(50))
stopifnot(grepl("mean cost", promise(costs)))
stopifnot(grepl("of class .TRUE. are flagged|no threshold", promise(certify_classifier(p[, 2] > 0.5, score = p[, 2], labels = p[, 2] > 0.5, recall = 0.5, positive = TRUE))))
says(refused(certify_classifier(odd$Species, p[, 2])), "a column for each of the classes")
says(refused(certify_classifier(odd$Species[-1], p)), "49 labels in y")

# Counts have the command line's quantiles, and no standard error in their own unit.
insects <- quietly(krigo(count ~ spray, InsectSprays, noise = "poisson", kernel = "se", prior = "informed", epsilon = 8, epsilon_units = "raw"))
write_krigo(insects, file)
out <- tempfile(fileext = ".csv")
write.csv(InsectSprays, csv, row.names = FALSE)
invisible(cli("predict", file, csv, "--out", out, "--quiet"))
table <- read.csv(out)
p <- quietly(predict(insects, InsectSprays, interval = "prediction"))
stopifnot(all.equal(unname(p), as.matrix(unname(table[c("mean", "lower95", "upper95")])), check.attributes = FALSE), all(p[, "lwr"] >= 0))
says(refused(predict(insects, InsectSprays, se.fit = TRUE)), "logarithm", "se.fit")
says(refused(predict(insects, InsectSprays, interval = "prediction", level = 0.9)), "leave out level")

# Options that name a column give the command line's models: an offset, standard errors, limits, and a monotone column.
lab <- data.frame(x = runif(150, 0, 4), z = rnorm(150), error = rexp(150) / 5 + 0.01)
lab$y <- exp(lab$x / 2) + lab$z / 2 + rnorm(150, 0, lab$error)
lab$base <- exp(lab$x / 2) + 0.3
lab$side <- ifelse(lab$y < 1.5, "left", "none")
lab$y[lab$side == "left"] <- 1.5
exact <- data.frame(lapply(lab, function(v) if (is.numeric(v)) sprintf("%.17g", v) else v))
write.csv(exact, csv, row.names = FALSE, quote = FALSE)
for (o in list(list(offset = "base"), list(noise_column = "error"), list(censored = "side"), list(monotone = "x:up"))) {
  name <- names(o)
  left <- setdiff(c("base", "error", "side"), o[[1]])
  m <- do.call(krigo, c(list(reformulate(c("x", "z"), "y"), lab, kernel = "se", epsilon = 0.5), o))
  flags <- c("fit", csv, "--target", "y", "--ignore", paste(left, collapse = ","), "--kernel", "se", "--epsilon", "0.5", paste0("--", sub("_", "-", name)), o[[1]], "--out", file, "--json", "--quiet")
  printed <- json(flags)
  stopifnot(identical(certificate(m), printed$certificate), setequal(m$columns, c("x", "z", if (name %in% c("offset", "noise_column")) o[[1]])))
  invisible(cli("predict", file, csv, "--out", out, "--quiet"))
  table <- read.csv(out, colClasses = "numeric", numerals = "no.loss")
  p <- quietly(predict(m, lab, interval = "prediction"))
  stopifnot(identical(unname(p), unname(as.matrix(table[c("mean", "lower95", "upper95")]))), certify(m, lab)$details$matches)
  stopifnot(identical(quietly(residuals(m, lab)), lab$y - p[, "fit"]))
}
says(refused(krigo(y ~ x + offset(base), lab)), "say offset = \"column\"")
says(refused(krigo(y ~ x, lab, offset = "bass")), "'bass'")
says(refused(predict(krigo(y ~ x, lab, offset = "base", kernel = "se"), lab["x"])), "'base'")

# Several targets give the command line's models and certificate, from the formula or from a file. Targets may have gaps.
lab$`b, EUR` <- ifelse(seq_len(150) %% 7 == 0, NA, 50 * cos(lab$x) + lab$z)
exact$`b, EUR` <- ifelse(is.na(lab$`b, EUR`), "", sprintf("%.17g", lab$`b, EUR`))
write.csv(exact[c("x", "z", "y", "b, EUR")], csv, row.names = FALSE, quote = FALSE, na = "")
writeLines(sub("b, EUR", "\"b, EUR\"", readLines(csv)), csv)
both <- quietly(krigo(cbind(y, `b, EUR`) ~ x + z, lab, kernel = "se", epsilon = 0.5))
printed <- json("fit", csv, "--target", "y,\"b, EUR\"", "--kernel", "se", "--epsilon", "0.5", "--out", file, "--json", "--quiet")
stopifnot(identical(certificate(both), printed$together$certificate), identical(promise(both), printed$sentence))
invisible(cli("predict", file, csv, "--out", out, "--quiet"))
table <- read.csv(out, colClasses = "numeric", numerals = "no.loss", check.names = FALSE)
p <- quietly(predict(both, lab))
stopifnot(identical(unname(p), unname(as.matrix(table[c("mean_y", "mean_b, EUR")]))), identical(colnames(p), c("y", "b, EUR")))
stopifnot(identical(quietly(predict(both, lab, interval = "band"))$y, quietly(predict(both$models$y, lab, interval = "band"))))
stopifnot(identical(promise(certify(both, lab)), promise(both)))
again <- read_krigo(file)
stopifnot(identical(quietly(predict(again, lab)), p), identical(read_krigo(write_krigo(both, file))$file, both$file))
stopifnot(any(grepl("all at once", capture.output(print(both)))), identical(names(krigo(cbind(y, z) ~ ., lab[c("x", "y", "z")], kernel = "se")$models), c("y", "z")))
says(refused(watch(both, lab, ledger)), "m$models")
says(refused(certify(both, lab[-1, ])), "149 rows")
says(refused(krigo(cbind(y, log(z)) ~ x, lab)), "cbind of columns")
says(refused(krigo(cbind(y, zone) ~ x, transform(lab, zone = factor(side)))), "the target 'zone' is a factor")
says(refused(krigo(cbind(y, y) ~ x, lab)), "target")

# The mean is proportional to the exposure, which newdata needs too. Levels have no standard error in their own unit.
sprays <- transform(InsectSprays, area = rep(c(1, 2), length.out = nrow(InsectSprays)))
exposed <- quietly(krigo(count ~ spray, sprays, noise = "poisson", exposure = "area", kernel = "se", prior = "informed"))
one <- predict(exposed, transform(sprays, area = 1))
stopifnot(all.equal(predict(exposed, transform(sprays, area = 3)), 3 * one))
says(refused(predict(exposed, InsectSprays)), "area")
says(refused(predict(exposed, transform(sprays, area = 0))), "isn't above 0")
leveled <- quietly(krigo(level ~ spray, transform(InsectSprays, level = pmin(count %/% 6, 3)), noise = "ordinal", kernel = "se"))
stopifnot(all(predict(leveled, InsectSprays) >= 0), all(predict(leveled, InsectSprays) <= 3))
says(refused(predict(leveled, InsectSprays, se.fit = TRUE)), "thresholds", "se.fit")
