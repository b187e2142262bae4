#!/usr/bin/env python3
"""What flags change: krigo with one list of flags beside another, on the same folds of public sets.

    folds.py --krigo ./krigo --data FOLDER --sets servo,stock [--folds 10] --flags="" --flags="--noise auto"

FOLDER has NAME.csv.gz with the target y, and NAME.fold.gz with the fold of each row. The first list of flags is what the others are compared with.
Each line has, as means over folds: the folds in which the flags change anything; the RMSE's change; the NLPD as `krigo fit` prints it, with
either list, and the difference with its standard error over folds; what 95 % intervals hold with either list; and the ratio of CPU seconds.
"""

import argparse
import gzip
import json
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np


def fit(program, flags, folder):
    """Returns RMSE, NLPD, coverage, and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    out = subprocess.run([program, "fit", folder / "train.csv", "--target", "y", "--test", folder / "test.csv", "--json", "--quiet",
                          "--out", folder / "m.krigo", *flags], check=True, capture_output=True)  # fmt: skip
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    test = json.loads(out.stdout)["test"]
    return test["rmse_raw"], test["nlpd"], test["coverage95"], cpu


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--krigo", required=True)
    p.add_argument("--data", required=True, type=Path)
    p.add_argument("--sets", required=True)
    p.add_argument("--folds", type=int, default=10)
    p.add_argument("--flags", action="append", required=True)
    o = p.parse_args()
    for name in o.sets.split(","):
        header, *rows = gzip.open(o.data / f"{name}.csv.gz", "rt").read().splitlines()
        fold = np.loadtxt(o.data / f"{name}.fold.gz", dtype=int)
        found = np.zeros((len(o.flags), o.folds, 4))
        for number in range(o.folds):
            with tempfile.TemporaryDirectory() as folder:
                for part, there in (("train", fold != number), ("test", fold == number)):
                    text = "\n".join([header, *(rows[i] for i in np.flatnonzero(there))])
                    (Path(folder) / f"{part}.csv").write_text(text + "\n")
                for k, flags in enumerate(o.flags):
                    found[k, number] = fit(o.krigo, flags.split(), Path(folder))
        for flags, of in zip(o.flags[1:], found[1:], strict=True):
            by = of[:, 1] - found[0, :, 1]
            rmse, _, held, cpu = of.mean(0) / found[0].mean(0)
            print(f"{name} {flags}: changes {np.sum((of[:, :2] != found[0, :, :2]).any(1))} of {o.folds} folds, RMSE {rmse - 1:+.1%}, "
                  f"NLPD {found[0, :, 1].mean():.3f} to {of[:, 1].mean():.3f} ({by.mean():+.3f} ± {by.std(ddof=1) / np.sqrt(o.folds):.3f}), "
                  f"intervals hold {found[0, :, 2].mean():.3f} to {of[:, 2].mean():.3f}, CPU × {cpu:.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
