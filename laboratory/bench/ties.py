#!/usr/bin/env python3
"""MAPIE's tests of exchangeability on the tables that `reproduce ties` writes.

    ties.py --tables runs/ties --out mapie.jsonl [--permutations 99] [--rows 400]

Writes one line of JSON for each table and test: table, peer, and alarm (null if the table has too few rows for the test).
A table that is in the file already isn't tested again.

A test looks for an effect of the order of the rows. Each test runs on the rows in the file's order, and on the same rows
shuffled. A GP of scikit-learn (ARD Matérn-5/2 and white noise) is fitted to a random half of the rows, and the tests see
its errors on the other half. The column that ties rows (groups.json beside the tables) isn't an input. What rows of a
group have in common is therefore in their errors, where a test may see it. Other columns of text become inputs of 0 and 1.
An empty cell gets the column's mean. Tests have level 0.05 and their defaults, except for the number of permutations,
since a permutation takes time that grows with the square of the rows.
"""

import argparse
import csv
import json
import math
import os
import sys
import warnings
import zlib
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from mapie.exchangeability_testing import FixedDatasetExchangeabilityTest  # noqa: E402
from mapie.regression import SplitConformalRegressor  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel  # noqa: E402

METHODS = ("pvalue_permutation", "plugin_martingale", "jumper_martingale")
MOST_LEVELS = 200  # texts with more different values aren't inputs


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def read(path, group):
    """Returns the scaled inputs, without the column group, and the scaled target, which is the last column."""
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    columns = []
    for name, cells in list(zip(names, zip(*rows)))[:-1]:
        if name == group:
            continue
        values = np.array([number(cell) for cell in cells])
        if np.isfinite(values).any():
            values = np.where(np.isfinite(values), values, np.nanmean(np.where(np.isfinite(values), values, math.nan)))
            if len(set(values)) < len(values) or not (np.diff(values) == 1).all():  # otherwise the column numbers the rows
                columns.append(values)
        elif len(set(cells)) <= MOST_LEVELS:
            columns += [np.array([cell == level for cell in cells], float) for level in sorted(set(cells))]
    x = np.stack(columns, axis=1)
    sd = x.std(axis=0)
    x = (x[:, sd > 0] - x[:, sd > 0].mean(axis=0)) / sd[sd > 0]
    y = np.array([number(row[-1]) for row in rows])
    return x, (y - y.mean()) / y.std()


def alarms(x, y, order, fitted, permutations):
    """Returns what each test says about the rows in this order: True for an alarm, None if it can't say."""
    said = {}
    for method in METHODS:
        regressor = SplitConformalRegressor(fitted, prefit=True)
        params = {"mapie_estimator": regressor, "task": "regression"}
        if "permutation" in method:
            params |= {"num_permutations": permutations, "random_state": 0}
        test = FixedDatasetExchangeabilityTest(method, {method: params}, test_level=0.05)
        test.run(x[order], y[order])
        decision = test.is_exchangeable[method]
        said[method] = None if decision is None else not decision
    return said


def look(path, group, rows, permutations):
    x, y = read(path, group)
    rng = np.random.default_rng(zlib.crc32(path.stem.encode()))
    if len(y) > rows:  # drawn, since one stretch of the file would hide ties over long distances
        kept = np.sort(rng.permutation(len(y))[:rows])
        x, y = x[kept], y[kept]
    drawn = rng.permutation(len(y))
    learnt, tested = drawn[: len(y) // 2], np.sort(drawn[len(y) // 2 :])
    kernel = ConstantKernel() * Matern(np.ones(x.shape[1]), nu=2.5) + WhiteKernel(0.1)
    fitted = GaussianProcessRegressor(kernel, random_state=0).fit(x[learnt], y[learnt])
    for order, at in (("as in the file", tested), ("shuffled", rng.permutation(tested))):
        for method, alarm in alarms(x, y, at, fitted, permutations).items():
            yield {"table": path.stem, "peer": f"MAPIE {method}, {order}", "alarm": alarm}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--permutations", type=int, default=99)
    parser.add_argument("--rows", type=int, default=400, help="largest number of rows of a table; they are drawn at random and keep their order")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    done = set()
    if args.out.exists():
        done = {json.loads(line)["table"] for line in args.out.read_text().splitlines()}
    groups = json.loads((args.tables / "groups.json").read_text())
    for path in sorted(args.tables.glob("*.csv")):
        if path.stem in done:
            continue
        print(path.stem, file=sys.stderr, flush=True)
        lines = [json.dumps(found) for found in look(path, groups.get(path.stem), args.rows, args.permutations)]
        with args.out.open("a") as file:  # all of a table at once
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
