#!/usr/bin/env python3
"""Relative errors on drawn functions of ten inputs: rosenbrock, dixonprice, griewank, ackley and wingweight (bench/regression/sets.py).

    functions.py --krigo ./krigo [--krigo ./other …] [--rows 100,400] [--seeds 10] --flags="" --flags="--kernel additive+matern32"

A seed draws the rows uniformly in the function's box, and noise of .05 of the function's standard deviation. All rows train (--prior-share 1).
The test rows are 1,000 further ones. Each line has means over the seeds: the RMSE against the function itself, in its standard deviations, with the
standard error of the mean; the RMSE against noisy test targets; what 95 % intervals of noisy targets hold; how many fits have a kernel with
an additive part; and the median of CPU seconds.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "regression"))
from sets import FUNCTIONS, NOISE  # noqa: E402

TEST = 1000


def draw(name, rows, seed):
    """Returns inputs, the standardised function and noisy targets."""
    function, box = FUNCTIONS[name]
    rng = np.random.default_rng([seed, rows, list(FUNCTIONS).index(name)])
    x = rng.uniform(*box, (rows + TEST, 10))
    f = function(x)
    f = (f - f.mean()) / f.std()
    return x, f, f + NOISE * rng.standard_normal(len(f))


def measured(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(out.stderr)
    return out.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def fit(program, flags, folder, x, f, y):
    rows = len(y) - TEST
    header = ",".join(f"x{j + 1}" for j in range(x.shape[1])) + ",y"
    for name, part in (("train", slice(0, rows)), ("test", slice(rows, None))):
        np.savetxt(folder / f"{name}.csv", np.column_stack([x, y])[part], delimiter=",", header=header, comments="", fmt="%.17g")
    model = folder / "m.krigo"
    said, cpu = measured([program, "fit", folder / "train.csv", "--target", "y", "--prior", "informed", "--prior-share", "1", "--json", "--quiet",
                          "--out", model, *flags])  # fmt: skip
    measured([program, "predict", model, folder / "test.csv", "--out", folder / "p.csv", "--quiet"])
    p = np.genfromtxt(folder / "p.csv", delimiter=",", names=True)
    held = (p["lower95"] <= y[rows:]) & (y[rows:] <= p["upper95"])
    error, noisy = (np.sqrt(np.mean((p["mean"] - t[rows:]) ** 2)) for t in (f, y))
    return error, noisy, held.mean(), "additive" in json.dumps(json.loads(said)["kernel"]), cpu


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--krigo", action="append", required=True)
    p.add_argument("--functions", default=",".join(FUNCTIONS))
    p.add_argument("--rows", default="100,400")
    p.add_argument("--seeds", type=int, default=10)
    p.add_argument("--flags", action="append", help="flags of all fits; several: each program is run with each")
    o = p.parse_args()
    for rows in map(int, o.rows.split(",")):
        for name in o.functions.split(","):
            for program in o.krigo:
                for flags in o.flags or [""]:
                    found = []
                    for seed in range(o.seeds):
                        with tempfile.TemporaryDirectory() as folder:
                            found.append(fit(program, flags.split(), Path(folder), *draw(name, rows, seed)))
                    error, noisy, held, additive, cpu = np.array(found, dtype=float).T
                    print(f"{rows} {name} {Path(program).name} {flags}: {error.mean():.4f} ± {error.std(ddof=1) / np.sqrt(o.seeds):.4f} "
                          f"(median {np.median(error):.4f}), noisy {noisy.mean():.4f}, intervals hold {held.mean():.3f}, "
                          f"additive {additive.sum():.0f} of {o.seeds}, {np.median(cpu):.1f} CPU s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
