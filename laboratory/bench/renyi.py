#!/usr/bin/env python3
"""Times one minibatch step of the Rényi GP, value and gradient: krigo and GPyTorch.

    renyi.py [options]              the driver: checks, measures, prints a Markdown table
    renyi.py gpytorch [options]     the Python contender, as the driver starts it

The value is the negative α-ELBO of a batch of rows at α = 1/2. With Q = K_XZ K_ZZ^-1 K_ZX, it is

    1/2 [N ln 2π + ln|Ξ| + y' Ξ^-1 y] + 1/2 ln|I + (K - Q)/(2 s_n)|,  Ξ = s_n I + (K + Q)/2.

The model is evidence.py's. The gradient is with respect to ln l_1 .. ln l_8, ln s_s, ln s_n and
every element of Z, in float64. Protocol and data are sparse.py's.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import sparse
from evidence import HERE, INPUTS, integers, machine, print_table, say

ALPHA = 0.5


def gpytorch_contender(threads):
    import gpytorch
    import torch

    torch.set_num_threads(threads)

    def logarithmic():
        # The raw parameter is the logarithm, so the raw gradient is with respect to the logarithm.
        return gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)

    def prepare(at, x, y, z):
        at, x, y, z = (torch.from_numpy(part.copy()) for part in (at, x, y, z))
        kernel = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel(ard_num_dims=INPUTS, lengthscale_constraint=logarithmic()),
            outputscale_constraint=logarithmic(),
        ).double()
        noise = at[INPUTS + 1].clone().requires_grad_()
        z.requires_grad_()
        raw = [kernel.base_kernel.raw_lengthscale, kernel.raw_outputscale, noise]
        with torch.no_grad():
            for parameter, part in zip(raw[:2], (at[:INPUTS], at[INPUTS])):
                parameter.copy_(part.reshape(parameter.shape))
        identity = torch.eye(len(y), dtype=torch.float64)

        def log_det(factor):
            return 2 * factor.diagonal().log().sum()

        def evaluate():
            for parameter in (*raw, z):
                parameter.grad = None
            s = noise.exp()
            v = torch.linalg.solve_triangular(
                torch.linalg.cholesky(kernel(z).to_dense()), kernel(z, x).to_dense(), upper=False
            )
            q = v.T @ v
            r = kernel(x).to_dense() - q
            xi = torch.linalg.cholesky(s * identity + (1 - ALPHA) * r + q)
            half = torch.linalg.solve_triangular(xi, y[:, None], upper=False)
            penalty = log_det(torch.linalg.cholesky(identity + (1 - ALPHA) / s * r))
            value = 0.5 * (len(y) * math.log(2 * math.pi) + log_det(xi) + (half**2).sum())
            value = value + ALPHA / (2 * (1 - ALPHA)) * penalty
            value.backward()
            gradient = torch.cat([parameter.grad.flatten() for parameter in raw])
            return value.item(), gradient.tolist(), z.grad.flatten().numpy()

        return evaluate

    return f"{gpytorch.__version__} (torch {torch.__version__})", prepare


sparse.PEERS = {"gpytorch": gpytorch_contender}


def drive(arguments):
    parser = argparse.ArgumentParser(prog="renyi.py", description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=1024, help="rows of the batch (default 1024)")
    parser.add_argument("--inducing", type=int, default=1024, help="inducing inputs (default 1024)")
    parser.add_argument("--threads", type=integers, default=[1, 2], help="thread counts (default 1,2)")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each contender, in turn (default 5)")
    parser.add_argument("--repeat", type=int, default=5, help="evaluations in a process (default 5)")
    options = parser.parse_args(arguments)

    rows, busiest = [], 0.0
    with tempfile.TemporaryDirectory(prefix="krigo-bench-") as temporary:
        program, data = Path(temporary) / "krigo-sparse", Path(temporary) / "data"
        if subprocess.run(["go", "build", "-o", program, "./bench/sparse"], cwd=HERE.parent).returncode != 0:
            sys.exit("krigo: can't build bench/sparse")
        sparse.write_data(data, options.batch, options.inducing)
        common = [f"--data={data}", f"--rows={options.batch}", f"--inducing={options.inducing}", f"--repeat={options.repeat}"]
        commands = {
            "krigo": [program, *common, "--objective=renyi"],
            "gpytorch": [sys.executable, __file__, "gpytorch", *common],
        }
        for threads in options.threads:
            reports = {name: [] for name in commands}
            for turn in range(options.rounds):
                for name, command in commands.items():
                    out, others = sparse.run(command, threads)
                    reports[name].append(json.loads(out))
                    busiest = max(busiest, others)
                    median = statistics.median(reports[name][-1]["seconds"])
                    say(f"threads={threads}, round {turn + 1}: {name} {median:.4g} s; others used {others:.2f} cores")
                worst = sparse.check([r[-1] for r in reports.values()])
            ours = statistics.median(s for r in reports["krigo"] for s in r["seconds"])
            for name, turns in reports.items():
                seconds = [s for r in turns for s in r["seconds"]]
                median = statistics.median(seconds)
                rows.append([options.batch, options.inducing, threads, f"{name} {turns[0]['version']}", f"{median:.4g}",
                             f"{min(seconds):.4g}–{max(seconds):.4g}", f"{median / ours:.2f}"])
    print_table(["batch", "M", "threads", "contender", "median s", "min–max s", "ratio to krigo"],
                ["--:", "--:", "--:", ":--", "--:", "--:", "--:"], rows)
    print(f"\nValue and gradient agree to {worst:.1e} (relative). {machine()}. During a timed run, other processes used at most {busiest:.2f} cores.")
    if busiest > 0.1:
        print("\n**The machine wasn't idle: don't quote these times.**")


if __name__ == "__main__":
    if sys.argv[1:2] == ["gpytorch"]:
        sparse.run_contender("gpytorch", sys.argv[2:])
    else:
        drive(sys.argv[1:])
