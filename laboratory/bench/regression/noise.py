#!/usr/bin/env python3
"""Noise that depends on the input: krigo beside hetGP and GPBoost on the motorcycle data, ten folds of each of several orders of the rows.

    noise.py --data mcycle.csv.gz --krigo ./krigo [--orders 5] [--only krigo,hetgp,gpboost]

hetGP is hetGPy, its Python version: pip install hetgpy. All fits see the same training rows. The table has, as means over all test rows: the NLPD in
the target's units, and in standard deviations of the target; the difference from the NLPD of AGAINST, with its standard error over rows; the RMSE;
and what central 95 % intervals hold.
"""

import argparse
import contextlib
import csv
import io
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from peers import read_table, shuffled


AGAINST = "krigo --noise gp, all rows train"


@contextlib.contextmanager
def silence():
    """GPBoost's library writes its warnings to the process's own standard output."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def krigo(program, *flags):
    def predict(x, y, tests):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, columns in (("train.csv", (x, y)), ("test.csv", (tests, np.zeros(len(tests))))):
                with open(folder / file, "w", newline="") as out:
                    csv.writer(out).writerows([("x", "y"), *zip(columns[0][:, 0], columns[1])])
            fit = ["fit", folder / "train.csv", "--target", "y", "--target-transform", "none", "--out", folder / "m.krigo", "--quiet", *flags]
            for command in (fit, ["predict", folder / "m.krigo", folder / "test.csv", "--out", folder / "p.csv", "--quiet"]):
                subprocess.run([program, *command], check=True, stdout=subprocess.DEVNULL)
            p = np.genfromtxt(folder / "p.csv", delimiter=",", names=True)
            return np.atleast_1d(p["mean"]), np.atleast_1d(p["predictive_sd"])

    return predict


def hetgp(covariance, scaled, constant=False, **bounds):
    """Settings: as the package recommends (inputs in the unit cube, outputs standardised), or as its example of these data has them."""

    def predict(x, y, tests):
        from hetgpy import hetGP, homGP

        low, width, centre, sd = (x.min(0), np.ptp(x, 0), y.mean(), y.std()) if scaled else (0, 1, 0, 1)
        model = homGP() if constant else hetGP()
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            model.mle((x - low) / width, (y - centre) / sd, covtype=covariance, **bounds)
            p = model.predict((tests - low) / width)
        return centre + sd * p["mean"], sd * np.sqrt(p["sd2"] + p["nugs"])

    return predict


def gpboost(likelihood):
    def predict(x, y, tests):
        import gpboost

        centre, sd = y.mean(), y.std()
        inputs, at = (np.column_stack([np.ones(len(v)), v]) for v in (x, tests))  # the linear part of the mean and of ln of the variance
        with silence():
            model = gpboost.GPModel(gp_coords=x, cov_function="matern", cov_fct_shape=2.5, likelihood=likelihood, gp_approx="vecchia")
            model.fit(y=(y - centre) / sd, X=inputs)
            p = model.predict(gp_coords_pred=tests, X_pred=at, predict_var=True, predict_response=True)
        return centre + sd * p["mu"], sd * np.sqrt(p["var"])

    return predict


def contenders(program):
    """Returns the ways to fit, by name. The first word is the library."""
    ways = {}
    for rows, share in (("", ()), (", all rows train", ("--prior-share", "1", "--prior", "informed"))):
        for noise in ("constant", "linear", "gp", "auto"):
            ways[f"krigo --noise {noise}{rows}"] = krigo(program, "--noise", noise, *share)
    ways["krigo --noise gp --kernel matern52, all rows train"] = krigo(program, "--noise", "gp", "--kernel", "matern52", "--prior", "informed", "--prior-share", "1")
    ways["hetgp Gaussian"] = hetgp("Gaussian", True)
    ways["hetgp Matern5_2"] = hetgp("Matern5_2", True)
    ways["hetgp Matern5_2, its example"] = hetgp("Matern5_2", False, lower=[1.0], upper=[10.0])
    ways["hetgp Matern5_2, constant noise"] = hetgp("Matern5_2", True, constant=True)
    for likelihood in ("gaussian", "gaussian_heteroscedastic", "gaussian_heteroscedastic_fixed_and_random"):
        ways[f"gpboost {likelihood}"] = gpboost(likelihood)
    return ways


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", required=True, help="mcycle.csv.gz, with columns times and accel")
    p.add_argument("--krigo", required=True)
    p.add_argument("--orders", type=int, default=5, help="of rows (default 5), each cut into ten folds")
    p.add_argument("--only", default="krigo,hetgp,gpboost")
    o = p.parse_args()
    x, y = read_table(o.data, "accel")
    x, unit = x[:, -1:], np.log(y.std())
    found = {}
    for name, predict in contenders(o.krigo).items():
        if name.split()[0] not in o.only.split(","):
            continue
        surprise, error, held = np.zeros((3, o.orders, len(y)))
        for order in range(o.orders):
            for test in np.array_split(shuffled(len(y), order), 10):
                train = np.setdiff1d(np.arange(len(y)), test)
                mean, sd = predict(x[train], y[train], x[test])
                at = order, test
                error[at] = y[test] - mean
                surprise[at] = np.log(sd) + 0.5 * np.log(2 * np.pi) + 0.5 * (error[at] / sd) ** 2
                held[at] = np.abs(error[at]) <= 1.959964 * sd
        found[name] = surprise.mean(0), np.sqrt(np.mean(error**2)), held.mean()
        print(f"{name}: {surprise.mean():.3f}", file=sys.stderr, flush=True)
    print("| fit | NLPD | in sd | difference | RMSE | 95 % intervals hold |\n|---|--:|--:|--:|--:|--:|")
    for name, (surprise, rmse, held) in found.items():
        difference = surprise - found.get(AGAINST, (surprise,))[0]
        print(f"| {name} | {surprise.mean():.3f} | {surprise.mean() - unit:.3f} | {difference.mean():+.3f} ± {difference.std() / np.sqrt(len(y)):.3f} | "
              f"{rmse:.2f} | {held:.3f} |")  # fmt: skip


if __name__ == "__main__":
    main()
