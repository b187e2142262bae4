#!/usr/bin/env python3
"""Times kl-PAC-SGP with its gradient over ranks of MPI on one machine, and measures their memory.

    bench/mpi.py [--rows N] [--inducing M] [--rounds R] [--repeat K]

Two ranks of one thread take turns with one rank of two threads. README.md says how to read the
tables. The benchmark needs Open MPI (scripts/install mpi).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from evidence import HERE, Bystanders, machine, print_table, say

QUIET = 0.1  # a turn counts if other processes use fewer cores than this


def run(program, ranks, threads, options):
    environment = dict(os.environ, GOMAXPROCS=str(threads), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), program]
    command += [f"--rows={options.rows}", f"--inducing={options.inducing}", f"--repeat={options.repeat}"]
    process = subprocess.run(command, env=environment, capture_output=True, text=True)
    if process.returncode != 0:
        sys.exit(f"{ranks} ranks failed with status {process.returncode}:\n{process.stderr}")
    return json.loads(process.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200000)
    parser.add_argument("--inducing", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    contenders = [(1, 2), (2, 1), (1, 1), (4, 1)]
    reports = {c: [] for c in contenders}
    noise = 0
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "mpi")
        subprocess.run(["go", "build", "-tags", "mpi", "-o", program, "./bench/mpi"], cwd=HERE.parent, check=True)
        for turn in range(options.rounds):
            for c in contenders:
                with Bystanders() as others:
                    reports[c].append(run(program, *c, options))
                noise = max(noise, others.cores)
                say(f"round {turn + 1}: {c[0]} ranks of {c[1]} threads: {reports[c][-1]['seconds']}")
    first = reports[contenders[0]][0]["value"]
    for (ranks, threads), of in reports.items():
        for r in of:
            if abs(r["value"] - first) > 1e-10 * abs(first):
                sys.exit(f"{ranks} ranks of {threads} threads compute {r['value']!r}, but one rank computes {first!r}")
    seconds = {c: [s for r in of for s in r["seconds"]] for c, of in reports.items()}
    base = statistics.median(seconds[1, 2])
    rows = []
    for c, of in reports.items():
        s = statistics.median(seconds[c])
        rows.append([*c, f"{s:.3f}", f"{min(seconds[c]):.3f}–{max(seconds[c]):.3f}", f"{base / s:.2f}",
                     f"{max(max(r['peak_kib']) for r in of) / 1024:.0f}",
                     f"{statistics.median(r['sum'] for r in of) * 1e3:.3f}", f"{statistics.median(r['one'] for r in of) * 1e6:.1f}"])
    print(f"kl-PAC-SGP and gradient, N = {options.rows}, M = {options.inducing}, d = 8; values agree to 1e-10\n")
    print_table(["ranks", "threads of each", "median s", "min–max s", "speed, of 1 rank × 2 threads", "peak MiB of a rank", "sum of M×M, ms", "of 1, µs"],
                ["--:"] * 8, rows)
    print(f"\n{machine()}; other processes used at most {noise:.2f} cores" + (": don't quote the times" if noise > QUIET else ""))


if __name__ == "__main__":
    main()
