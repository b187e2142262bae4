#!/usr/bin/env python3
"""Times krigo's dense routines beside OpenBLAS's, in turn, and prints a Markdown table.

    numcore.py [options]     the driver
    numcore.py worker        OpenBLAS through scipy, as the driver starts it

A worker reads lines "routine n seconds" and answers each with the median time of a call.
bench/numcore is krigo's worker. README.md says how to read the table.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evidence import HERE, integers, machine, print_table, say

FLOPS = {"gemm": 2, "syrk": 1, "trsm": 1, "potrf": 1 / 3, "potrf+potri": 1}  # times n^3
CASES = [
    *((routine, n) for routine in ("gemm", "syrk", "trsm") for n in (400, 512, 1024, 2048)),
    *(("potrf", n) for n in (400, 1024, 2048, 4096)),
    *(("potrf+potri", n) for n in (400, 1024, 4000)),
]
QUIET = 0.1  # a time counts if other processes use fewer cores than this


# OpenBLAS

def worker():
    import numpy as np
    import scipy.linalg.blas as blas
    import scipy.linalg.lapack as lapack

    def random(n):
        return np.asfortranarray(np.random.default_rng(n).random((n, n)) - 0.5)

    def positive(n):
        a = random(n)
        return np.asfortranarray(a @ a.T / n + np.eye(n))

    # Matrices are column-major, so that nothing is copied. Factorisations run on both
    # triangles, and the faster one counts.
    def prepare(routine, n):
        nothing = lambda: None
        if routine in ("gemm", "syrk"):
            a, b, c = random(n), random(n), random(n)
            if routine == "gemm":
                return [(nothing, lambda: blas.dgemm(1.0, a, b, 0.0, c, overwrite_c=1))]
            return [(nothing, lambda: blas.dsyrk(1.0, a, 0.0, c, lower=lower, overwrite_c=1)) for lower in (1, 0)]
        a, b, x = positive(n), random(n), random(n)
        if routine == "trsm":
            return [(lambda: np.copyto(x, b), lambda: blas.dtrsm(1.0, a, x, lower=1, overwrite_b=1))]

        def factor(lower):
            assert lapack.dpotrf(x, lower=lower, clean=0, overwrite_a=1)[1] == 0

        def invert(lower):
            factor(lower)
            assert lapack.dpotri(x, lower=lower, overwrite_c=1)[1] == 0

        call = factor if routine == "potrf" else invert
        return [(lambda: np.copyto(x, a), lambda lower=lower: call(lower)) for lower in (1, 0)]

    for line in sys.stdin:
        routine, n, seconds = line.split()
        medians = []
        for before, call in prepare(routine, int(n)):
            times = []
            while sum(times) < float(seconds) or len(times) < 4:
                before()
                start = time.perf_counter()
                call()
                times.append(time.perf_counter() - start)
            medians.append(statistics.median(times[1:]))
        print(min(medians), flush=True)


# The driver

class Worker:
    def __init__(self, command, threads):
        environment = dict(os.environ)
        for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOMAXPROCS"):
            environment[variable] = str(threads)
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def cpu(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, routine, n, seconds):
        """Returns the median time of a call, and the cores that other processes used meanwhile."""
        wall, busy = time.perf_counter(), all_cpu() - self.cpu()
        print(routine, n, seconds, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.process.args[0]} didn't answer {routine} {n}")
        others = (all_cpu() - self.cpu() - busy) / (time.perf_counter() - wall)
        time.sleep(0.05)  # OpenBLAS's threads spin for a while after a call
        return float(answer), others


def all_cpu():
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def drive(arguments):
    parser = argparse.ArgumentParser(prog="numcore.py", description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=integers, default=[1, 2], help="thread counts (default 1,2)")
    parser.add_argument("--rounds", type=int, default=5, help="number of quiet times of each contender (default 5)")
    parser.add_argument("--patience", type=int, default=10, help="largest number of rounds to get them (default 10)")
    parser.add_argument("--seconds", type=float, default=0.2, help="length of one measurement (default 0.2)")
    parser.add_argument("--only", default="", help="routines to time, separated by commas (default all)")
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        program = Path(temporary) / "krigo-numcore"
        subprocess.run(["go", "build", "-o", program, "./bench/numcore"], cwd=HERE.parent, check=True)
        for threads in options.threads:
            ours = Worker([program], threads)
            theirs = Worker([sys.executable, __file__, "worker"], threads)
            for routine, n in CASES:
                if options.only and routine not in options.only.split(","):
                    continue
                times, noisy = {ours: [], theirs: []}, False
                for _ in range(options.patience):
                    for who, kept in times.items():
                        if len(kept) < options.rounds:
                            seconds, others = who.ask(routine, n, options.seconds)
                            if others < QUIET:
                                kept.append(seconds)
                for who, kept in times.items():
                    if not kept:
                        noisy = True
                        kept.append(who.ask(routine, n, options.seconds)[0])
                ms = [statistics.median(kept) * 1e3 for kept in times.values()]
                rate = [FLOPS[routine] * n**3 / t / 1e6 for t in ms]
                rows.append(
                    [routine, n, threads, *(f"{t:.4g}" for t in ms), *(f"{r:.1f}" for r in rate)]
                    + [f"{rate[0] / rate[1]:.2f}" + (" (disturbed)" if noisy else "")]
                )
                say(" ".join(map(str, rows[-1])))
            for who in (ours, theirs):
                who.process.stdin.close()
                who.process.wait()
    head = ["routine", "n", "threads", "krigo ms", "OpenBLAS ms", "krigo GFLOPS", "OpenBLAS GFLOPS", "ratio"]
    print_table(head, [":--"] + ["--:"] * 7, rows)
    print(f"\n{machine()}")


if __name__ == "__main__":
    if sys.argv[1:] == ["worker"]:
        worker()
    else:
        drive(sys.argv[1:])
