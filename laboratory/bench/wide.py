#!/usr/bin/env python3
"""Many inputs on few rows: coverage of the model's own 95 % intervals, and RMSE beside a ridge regression's, on drawn tables.

    wide.py --krigo ./krigo [--krigo ./other …] [--shapes 490x32,210x200] [--draws 20] [--flags="--kernel se"]

Inputs are independent N(0, 1), and 5 of them matter. The truth is linear, or Friedman's function of 1991 with Φ(x) in place
of uniform inputs, both with a standard deviation of 1. The noise has a standard deviation of --noise, .5 by default. Every program trains on all
rows of the same table (--prior-share 1), and predicts 1,000 further rows. Ridge takes its penalty by leave-one-out errors.
Each row says, as means over the draws: coverage of y, RMSE divided by the noise's sd, RMSE divided by ridge's, CPU seconds.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
from math import erf, sqrt
from pathlib import Path

import numpy as np

TEST = 1000


def draw(truth, rows, inputs, noise, seed):
    rng = np.random.default_rng([seed, rows, inputs, truth == "linear"])
    x = rng.normal(size=(rows + TEST, inputs))
    if truth == "linear":
        f = x[:, :5] @ rng.choice([-1, 1], 5) / sqrt(5)
    else:
        u = np.vectorize(lambda v: (1 + erf(v / sqrt(2))) / 2)(x[:, :5])
        f = (10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3] + 5 * u[:, 4] - 14.41) / 4.87
    return x, f + noise * rng.normal(size=rows + TEST)


def ridge(x, y, at):
    """Returns predictions by the penalty with the least sum of squared leave-one-out errors."""
    mean, shift = x.mean(0), y.mean()
    u, s, v = np.linalg.svd(x - mean, full_matrices=False)
    best = None
    for penalty in len(y) * np.logspace(-4, 3, 60):
        shrink = s**2 / (s**2 + penalty)
        left = (y - shift - u @ (shrink * (u.T @ (y - shift)))) / (1 - 1 / len(y) - (u**2) @ shrink)
        if best is None or left @ left < best[0]:
            best = left @ left, shift + (at - mean) @ (v.T @ (s / (s**2 + penalty) * (u.T @ (y - shift))))
    return best[1]


def fit(program, flags, folder, x, y):
    rows = len(y) - TEST
    header = ",".join(f"x{j + 1}" for j in range(x.shape[1])) + ",y"
    for name, part in (("train", slice(0, rows)), ("test", slice(rows, None))):
        np.savetxt(folder / f"{name}.csv", np.column_stack([x, y])[part], delimiter=",", header=header, comments="", fmt="%.17g")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([program, "fit", folder / "train.csv", "--target", "y", "--prior", "informed", "--prior-share", "1", "--test",
                          folder / "test.csv", "--json", "--quiet", "--out", folder / "m.krigo", *flags], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(out.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = json.loads(out.stdout)
    return said["test"]["coverage95"], said["test"]["rmse_raw"], after.ru_utime - before.ru_utime, said


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--krigo", action="append", required=True)
    p.add_argument("--shapes", default="490x32,210x200")
    p.add_argument("--truths", default="linear,friedman")
    p.add_argument("--noise", type=float, default=0.5)
    p.add_argument("--draws", type=int, default=20)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--flags", action="append", help="flags of all fits; several: each program is run with each")
    p.add_argument("--kernels", action="store_true", help="also list the kernels that were chosen")
    o = p.parse_args()
    for shape in o.shapes.split(","):
        rows, inputs = map(int, shape.split("x"))
        for truth in o.truths.split(","):
            found, base = {}, []
            for seed in range(o.first, o.first + o.draws):
                x, y = draw(truth, rows, inputs, o.noise, seed)
                base.append(sqrt(np.mean((ridge(x[:rows], y[:rows], x[rows:]) - y[rows:]) ** 2)))
                with tempfile.TemporaryDirectory() as folder:
                    for program in o.krigo:
                        for flags in o.flags or [""]:
                            found.setdefault((program, flags), []).append(fit(program, flags.split(), Path(folder), x, y))
            print(f"{shape} {truth}: ridge RMSE {np.mean(base) / o.noise:.3f} of the noise's sd", flush=True)
            for (program, flags), of in found.items():
                cover, rmse, cpu = (np.array([f[k] for f in of]) for k in range(3))
                print(f"  {os.path.basename(program)} {flags}: coverage {cover.mean():.3f} ({cover.min():.3f} least), RMSE {rmse.mean() / o.noise:.3f}, "
                      f"{np.mean(rmse / base):.3f} of ridge's, {np.median(cpu):.1f} s of CPU", flush=True)
                if o.kernels:
                    print("   ", [json.dumps(f[3]["kernel"])[:120] for f in of])


if __name__ == "__main__":
    main()
