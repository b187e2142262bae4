# ^C in a terminal, which reaches R and the program: R is interrupted, the program ends, and nothing is left.
bash <- Sys.which("bash")
if (.Platform$OS.type == "unix" && nzchar(bash)) {
  folder <- tempfile("interrupt")
  dir.create(folder)
  script <- file.path(folder, "script.R")
  writeLines(sprintf('
library(krigo)
set.seed(1)
d <- data.frame(a = runif(1900), b = runif(1900))
d$y <- sin(9 * d$a) + d$b + rnorm(1900) / 5
found <- tryCatch({ writeLines("", "%1$s/begun"); krigo(y ~ ., d, restarts = 100); "done" }, interrupt = function(e) "interrupted")
writeLines(c(found, list.files(tempdir())), "%1$s/found.tmp")
invisible(file.rename("%1$s/found.tmp", "%1$s/found"))
', folder), script)
  # With job control a job has a process group, as in a terminal, and SIGINT isn't ignored.
  system2(bash, args = c("-c", shQuote(sprintf('
set -m
%s --vanilla --no-echo -f %s >%s/said 2>&1 &
job=$!
for i in $(seq 600); do [ -e %s/begun ] && break; sleep 0.1; done
sleep 2
kill -INT -- -$job
for i in $(seq 600); do kill -0 -- -$job 2>/dev/null || break; sleep 0.1; done
kill -KILL -- -$job 2>/dev/null && echo survived >> %s/found
exit 0
', shQuote(file.path(R.home("bin"), "R")), script, folder, folder, folder))))
  found <- if (file.exists(file.path(folder, "found"))) readLines(file.path(folder, "found"))
  if (!identical(found, "interrupted")) stop(paste(c("found:", found, readLines(file.path(folder, "said"))), collapse = "\n"))
}
