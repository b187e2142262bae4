#!/usr/bin/env python3
"""Times the exact GP's weights and predictions by conjugate gradients: krigo and GPyTorch.

    cg.py --data FILE --params FILE [options]   the driver: prints a Markdown table
    cg.py CONTENDER ...                         one Python contender, as the driver starts it

The model is fixed: zero mean, squared-exponential kernel with one lengthscale for each
input, parameters from a file as `krigo fit --init` takes it, inputs and target standardised.
Contenders solve (K + s I) w = y to the same relative residual, with partial pivoted Cholesky
preconditioners of the same rank, and predict the mean at test rows. The residual is computed
from w in float64 after the clock has stopped. CPU seconds are summed over threads. With one
thread, they hardly depend on other work of the machine.
"""

import argparse
import csv
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evidence import Bystanders, machine, memory_kib, print_table, say

HERE = Path(__file__).resolve().parent


def split(path, rows, tests, folder):
    """Writes standardised training and test rows as CSV, with the target in the last column."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        header, *table = csv.reader(file)
    random.Random(1).shuffle(table)
    table = [[float(v) for v in row] for row in table[: rows + tests]]
    columns = list(zip(*table[:rows]))
    means = [sum(c) / rows for c in columns]
    scales = [(sum((v - m) ** 2 for v in c) / rows) ** 0.5 or 1.0 for c, m in zip(columns, means)]
    names = []
    for name, part in (("train", table[:rows]), ("test", table[rows:])):
        names.append(str(Path(folder) / f"{name}.csv"))
        with open(names[-1], "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(header)
            for row in part:
                out.writerow([repr((v - m) / s) for v, m, s in zip(row, means, scales)])
    return names


def gpytorch_contender(options):
    import warnings

    warnings.filterwarnings("ignore")
    import gpytorch
    import numpy as np
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    kind = torch.float32 if options.single else torch.float64
    params = json.loads(Path(options.params).read_text())

    class ExactGP(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=x.shape[1]))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def read(path):
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        return table[:, :-1], table[:, -1]

    (x, y), (xs, ys) = read(options.train), read(options.test)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = ExactGP(torch.from_numpy(x).to(kind), torch.from_numpy(y).to(kind), likelihood).to(kind)
    model.covar_module.base_kernel.lengthscale = torch.tensor([params["kernel"]["lengthscales"]], dtype=kind)
    model.covar_module.outputscale = params["kernel"]["variance"]
    likelihood.noise = params["noise_variance"]
    model.eval(), likelihood.eval()
    baseline = memory_kib("VmRSS")
    settings = gpytorch.settings
    with (
        torch.no_grad(),
        settings.max_cholesky_size(0),
        settings.cg_tolerance(options.tolerance),
        settings.eval_cg_tolerance(options.tolerance),
        settings.max_cg_iterations(5000),
        settings.max_preconditioner_size(options.rank),
        settings.min_preconditioning_size(0),
        settings.skip_posterior_variances(True),
        gpytorch.beta_features.checkpoint_kernel(options.partition),
    ):
        start, cpu = time.perf_counter(), time.process_time()
        first = model(torch.from_numpy(xs[:1]).to(kind)).mean  # computes the weights, which GPyTorch keeps
        solved, cpu = time.perf_counter(), time.process_time() - cpu
        mean = model(torch.from_numpy(xs).to(kind)).mean.double().numpy()
        predicted = time.perf_counter()
        w = model.prediction_strategy.mean_cache.double().numpy().reshape(-1)
    peak = memory_kib("VmHWM")
    del first
    # r = y - (K + s I) w
    lengths = np.array(params["kernel"]["lengthscales"])
    z = x / lengths
    r = y - params["noise_variance"] * w
    for i in range(0, len(y), 500):
        d2 = ((z[i : i + 500, None, :] - z[None, :, :]) ** 2).sum(-1) if len(y) < 2000 else (
            (z[i : i + 500] ** 2).sum(1)[:, None] + (z**2).sum(1)[None, :] - 2 * z[i : i + 500] @ z.T
        )
        r[i : i + 500] -= params["kernel"]["variance"] * np.exp(-0.5 * np.maximum(d2, 0)) @ w
    return {
        "version": f"{gpytorch.__version__} (torch {torch.__version__})",
        "solve": solved - start,
        "cpu": cpu,
        "predict": predicted - solved,
        "residual": float(np.linalg.norm(r) / np.linalg.norm(y)),
        "rmse": float(np.sqrt(np.mean((mean - ys) ** 2))),
        "mean": mean.tolist(),
        "baseline_kib": baseline,
        "peak_kib": peak,
    }


def main():
    parser = argparse.ArgumentParser(prog="cg.py", description=__doc__.splitlines()[0])
    parser.add_argument("contender", nargs="?")
    parser.add_argument("--data")
    parser.add_argument("--params", required=True)
    parser.add_argument("--rows", type=int, default=16000)
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("--rank", type=int, default=500)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--gpytorch-tolerance", type=float, help="tolerance of GPyTorch's own test, if that ends early or late")
    parser.add_argument("--partition", type=int, default=0, help="rows of K that GPyTorch computes at a time; 0: it stores K")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--contenders", default="krigo,krigo-float64,gpytorch,gpytorch-float32")
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--train")
    parser.add_argument("--test")
    options = parser.parse_args()
    if options.contender:
        json.dump(gpytorch_contender(options), sys.stdout)
        return

    with tempfile.TemporaryDirectory() as folder:
        train, test = split(options.data, options.rows, options.tests, folder)
        program = str(Path(folder) / "krigo-cg")
        subprocess.run(["go", "build", "-o", program, "./bench/cg"], cwd=HERE.parent, check=True)
        environment = dict(os.environ)
        for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMAXPROCS"):
            environment[variable] = str(options.threads)
        results = {}
        for number in range(options.rounds):
            for name in options.contenders.split(","):
                tolerance = options.tolerance
                if name.startswith("krigo"):
                    command = [program, "-solve", "-rank", str(options.rank)]
                    command += ["-float64"] if name.endswith("float64") else []
                    flag = "-"
                else:
                    command = [sys.executable, __file__, "gpytorch", f"--rank={options.rank}", f"--partition={options.partition}"]
                    command += ["--single"] if name.endswith("float32") else []
                    tolerance, flag = options.gpytorch_tolerance or tolerance, "--"
                command += [f"{flag}train={train}", f"{flag}test={test}", f"{flag}params={options.params}", f"{flag}tolerance={tolerance}"]
                with Bystanders() as others:
                    process = subprocess.run(command, env=environment, capture_output=True, text=True)
                if process.returncode != 0:
                    say(f"{name} failed with status {process.returncode}:\n{process.stderr[-2000:]}")
                    continue
                report = json.loads(process.stdout)
                results.setdefault(name, []).append(report)
                say(f"round {number + 1}: {name} {report['solve']:.1f} s, {report['cpu']:.1f} s of CPU, residual {report['residual']:.1e}; others used {others.cores:.2f} cores")
        best = {name: min(reports, key=lambda r: r["cpu"]) for name, reports in results.items()}
        reference = best.get("krigo-float64") or best["krigo"]
        rows = []
        for name, r in best.items():
            off = max(abs(a - b) for a, b in zip(r["mean"], reference["mean"]))
            rows.append([
                options.rows, name + " " + r.get("version", ""), r.get("iterations", "–"), f"{r['solve']:.1f}", f"{r['cpu']:.1f}",
                f"{r['cpu'] / best['krigo']['cpu']:.2f}", f"{r['residual']:.1e}", f"{r['rmse']:.4f}", f"{off:.1e}",
                f"{(r['peak_kib'] - r['baseline_kib']) / 1024:.0f}", f"{r['peak_kib'] / 1024:.0f}",
            ])
    print(f"{machine()}; threads: {options.threads}\n")
    head = ["N", "contender", "iterations", "solve s", "CPU s", "CPU ratio to krigo", "residual", "test RMSE", "means off by", "added MiB", "peak MiB"]
    print_table(head, ["--:", ":--"] + ["--:"] * 9, rows)


if __name__ == "__main__":
    main()
