# However R is interrupted or ends, the program ends too and leaves no files. ^C in a terminal reaches R and the program, an
# interruption in a notebook reaches only R, and kill -9 gives R no time.
bash <- Sys.which("bash")
if (.Platform$OS.type == "unix" && nzchar(bash)) for (kill in c("-INT -- -$job", "-INT $job", "-KILL $job")) {
  folder <- tempfile("interrupt")
  dir.create(folder)
  script <- file.path(folder, "script.R")
  writeLines(sprintf('
library(krigo)
set.seed(1)
d <- data.frame(a = runif(1900), b = runif(1900))
d$y <- sin(9 * d$a) + d$b + rnorm(1900) / 5
small <- suppressMessages(krigo(y ~ ., d[1:50, ], kernel = "se"))
found <- tryCatch({ writeLines("", "%1$s/begun"); krigo(y ~ ., d, restarts = 100); "done" }, interrupt = function(e) "interrupted")
left <- list.files(tempdir())
again <- predict(small, d[1:5, ]) # a new program answers
writeLines(c(found, left), "%1$s/found.tmp")
invisible(file.rename("%1$s/found.tmp", "%1$s/found"))
', folder), script)
  # With job control (set -m) a job has its own process group, as in a terminal, and doesn't ignore SIGINT.
  system2(bash, args = c("-c", shQuote(sprintf('
set -m
%s --vanilla --no-echo -f %s >%s/said 2>&1 &
job=$!
for i in $(seq 600); do [ -e %s/begun ] && break; sleep 0.1; done
sleep 1
kill %s
for i in $(seq 100); do kill -0 -- -$job 2>/dev/null || break; sleep 0.1; done
kill -KILL -- -$job 2>/dev/null && echo survived >> %s/found
exit 0
', shQuote(file.path(R.home("bin"), "R")), script, folder, folder, kill, folder))))
  found <- if (file.exists(file.path(folder, "found"))) readLines(file.path(folder, "found"))
  if (!identical(found, if (grepl("INT", kill)) "interrupted")) stop(paste(c(kill, "found:", found, readLines(file.path(folder, "said"))), collapse = "\n"))
}
