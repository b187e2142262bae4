#!/usr/bin/env python3
"""Drawn step functions: RMSE of krigo beside a tuned LightGBM (bench/regression/models.py) on the same rows.

    steps.py --krigo ./krigo [--krigo ./other …] [--rows 500] [--draws 5] --flags="" --flags="--kernel steps"

Inputs are uniform in [0, 1], or integers of 1 to 6 in the shape codes. Shapes are sums of four random steps of each of five inputs (sums),
sums of twelve boxes of two inputs among ten (boxes), a random tree of depth five over five inputs (tree), and boxes of integers (codes).
The function has a standard deviation of 1 and the noise of .2. All rows train (--prior-share 1), and 2,000 further rows are predicted.
Each line has means over the draws: the RMSE against the function itself, divided by LightGBM's, with the standard error of the mean; the share of
fits with the kernel steps; and CPU seconds.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from functions import measured

sys.path.insert(0, str(Path(__file__).resolve().parent / "regression"))
from models import lightgbm_tuned  # noqa: E402

TEST, NOISE = 2000, 0.2
SHAPES = ("sums", "boxes", "tree", "codes")


def tree(rng, x, depth):
    if depth == 0:
        return np.full(len(x), rng.standard_normal())
    left = x[:, rng.integers(x.shape[1])] < rng.uniform(0.2, 0.8)
    return np.where(left, tree(rng, x, depth - 1), tree(rng, x, depth - 1))


def draw(shape, rows, seed):
    """Returns inputs, the standardised function and noisy targets."""
    rng = np.random.default_rng([seed, rows, SHAPES.index(shape)])
    x = rng.uniform(size=(rows + TEST, 10 if shape in ("boxes", "codes") else 5))
    if shape == "codes":
        x = np.floor(6 * x) / 6
    if shape == "sums":
        f = sum(rng.standard_normal() * (column > rng.uniform()) for column in x.T for _ in range(4))
    elif shape == "tree":
        f = tree(rng, x, 5)
    else:
        f = np.zeros(len(x))
        for _ in range(12):
            i, j = rng.choice(x.shape[1], 2, replace=False)
            f += rng.standard_normal() * (x[:, i] > rng.uniform(0.2, 0.8)) * (x[:, j] > rng.uniform(0.2, 0.8))
    f = (f - f.mean()) / f.std()
    return x, f, f + NOISE * rng.standard_normal(len(f))


def fit(program, flags, folder, x, y):
    """Returns predictions of the test rows, whether the kernel is steps, and CPU seconds."""
    rows = len(y) - TEST
    header = ",".join(f"x{j + 1}" for j in range(x.shape[1])) + ",y"
    for name, part in (("train", slice(0, rows)), ("test", slice(rows, None))):
        np.savetxt(folder / f"{name}.csv", np.column_stack([x, y])[part], delimiter=",", header=header, comments="", fmt="%.17g")
    model = folder / "m.krigo"
    said, cpu = measured([program, "fit", folder / "train.csv", "--target", "y", "--prior", "informed", "--prior-share", "1", "--json", "--quiet",
                          "--out", model, *flags])  # fmt: skip
    measured([program, "predict", model, folder / "test.csv", "--out", folder / "p.csv", "--quiet"])
    return np.genfromtxt(folder / "p.csv", delimiter=",", names=True)["mean"], "steps" in json.dumps(json.loads(said)["kernel"]), cpu


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--krigo", action="append", required=True)
    p.add_argument("--shapes", default=",".join(SHAPES))
    p.add_argument("--rows", type=int, default=500)
    p.add_argument("--draws", type=int, default=5)
    p.add_argument("--flags", action="append", help="flags of all fits; several: each program is run with each")
    o = p.parse_args()
    for shape in o.shapes.split(","):
        drawn = [draw(shape, o.rows, seed) for seed in range(o.draws)]
        peer = []
        for x, f, y in drawn:
            mean, _, _ = lightgbm_tuned(x[: o.rows], y[: o.rows], x[o.rows :], SimpleNamespace(seed=0, threads=1))
            peer.append(np.sqrt(np.mean((mean - f[o.rows :]) ** 2)))
        print(f"{o.rows} {shape}: LightGBM {np.mean(peer):.4f}", flush=True)
        for program in o.krigo:
            for flags in o.flags or [""]:
                found = []
                for (x, f, y), other in zip(drawn, peer, strict=True):
                    with tempfile.TemporaryDirectory() as folder:
                        mean, steps, cpu = fit(program, flags.split(), Path(folder), x, y)
                    found.append((np.sqrt(np.mean((mean - f[o.rows :]) ** 2)) / other, steps, cpu))
                ratio, steps, cpu = np.array(found, dtype=float).T
                print(f"  {Path(program).name} {flags}: {ratio.mean():.3f} ± {ratio.std(ddof=1) / np.sqrt(o.draws):.3f} of LightGBM's, "
                      f"steps {steps.sum():.0f} of {o.draws}, {np.median(cpu):.1f} CPU s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
