#!/usr/bin/env python3
"""LightGBM, scikit-learn's and GPyTorch's Gaussian processes on the board's splits.

    go run ./board --splits DIR
    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install -r board/requirements.txt
    /tmp/peers/bin/python board/peers.py DIR [--only uci,split] [--peers lightgbm,sklearn,gpytorch]

It runs in the folder laboratory and writes results/peers.json. Rows that are there and aren't run again stay.
RMSE is in standard deviations of the training target. CPU seconds are of fitting and predicting with one thread, without imports.

- lightgbm: LGBMRegressor as it comes, with native categories. It has no intervals.
- sklearn: Constant * Matern(5/2, ARD) + White, normalize_y, one restart, up to 2,000 training rows.
- gpytorch: exact GP, scaled Matern-5/2 ARD, 100 steps of Adam with rate .1 as in its documentation, up to 3,000 rows.

Inputs of both GPs are standardised on the training rows, and text becomes columns of 0 and 1.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import resource
import subprocess
import warnings
from pathlib import Path

# A thread for each library: threads that wait for one another would count as CPU seconds.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import pandas as pd

ROWS = {"lightgbm": 10**9, "sklearn": 2000, "gpytorch": 3000}
VERSIONS = ("lightgbm", "scikit-learn", "gpytorch", "torch", "numpy")


def categories(train, test):
    """Makes text a category, and leaves out text of more than 256 kinds."""
    for name in list(train.columns):
        if pd.api.types.is_numeric_dtype(train[name]):
            continue
        levels = sorted(train[name].dropna().astype(str).unique())
        if len(levels) > 256:
            train, test = train.drop(columns=[name]), test.drop(columns=[name])
            continue
        for table in (train, test):
            table[name] = pd.Categorical(table[name].astype(str).where(table[name].notna()), levels)
    return train, test


def dense(train, test):
    """Returns numbers only: standardised on the training rows, categories as columns of 0 and 1, gaps as the mean."""
    rows = len(train)
    x = pd.get_dummies(pd.concat([train, test]), dtype=float).to_numpy(float)
    mean, sd = np.nanmean(x[:rows], 0), np.nanstd(x[:rows], 0)
    x = np.nan_to_num((x - mean)[:, sd > 0] / sd[sd > 0])
    return x[:rows], x[rows:]


def lightgbm(x, y, z):
    from lightgbm import LGBMRegressor

    x.columns = z.columns = [f"c{i}" for i in range(x.shape[1])]
    return LGBMRegressor(verbose=-1, n_jobs=1).fit(x, y).predict(z), None


def sklearn(x, y, z):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    x, z = dense(x, z)
    kernel = ConstantKernel() * Matern(np.ones(x.shape[1]), nu=2.5) + WhiteKernel()
    gp = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0).fit(x, y)
    return gp.predict(z, return_std=True)


def gpytorch(x, y, z):
    import gpytorch as g
    import torch

    torch.manual_seed(0)
    x, z = (torch.tensor(a, dtype=torch.float64) for a in dense(x, z))
    middle, scale = y.mean(), y.std()
    t = torch.tensor((y - middle) / scale, dtype=torch.float64)

    class Exact(g.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(x, t, likelihood)
            self.mean_module = g.means.ConstantMean()
            self.covar_module = g.kernels.ScaleKernel(g.kernels.MaternKernel(nu=2.5, ard_num_dims=x.shape[1]))

        def forward(self, a):
            return g.distributions.MultivariateNormal(self.mean_module(a), self.covar_module(a))

    likelihood = g.likelihoods.GaussianLikelihood().double()
    model = Exact(likelihood).double()
    objective = g.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        loss = -objective(model(x), t)
        loss.backward()
        optimizer.step()
    model.eval()
    likelihood.eval()
    with torch.no_grad():
        p = likelihood(model(z))
        return p.mean.numpy() * scale + middle, p.stddev.numpy() * scale


PEERS = {"lightgbm": lightgbm, "sklearn": sklearn, "gpytorch": gpytorch}


def score(peer, folder, target):
    """Returns the figures of one split, or None if it has too many rows for the peer."""
    train, test = (pd.read_csv(folder / f"{part}.csv").dropna(subset=[target]) for part in ("train", "test"))
    if len(train) > ROWS[peer]:
        return None
    y, truth = train[target].to_numpy(float), test[target].to_numpy(float)
    x, z = categories(train.drop(columns=[target]), test.drop(columns=[target]))
    before = resource.getrusage(resource.RUSAGE_SELF)
    mean, sd = PEERS[peer](x, y, z)
    after = resource.getrusage(resource.RUSAGE_SELF)
    found = {"rmse": np.sqrt(np.mean((mean - truth) ** 2)) / y.std()}
    if sd is not None:
        found["coverage"] = np.mean(np.abs(mean - truth) <= 1.959964 * sd)
        found["nlpd"] = np.mean(np.log(2 * np.pi * sd**2) / 2 + (mean - truth) ** 2 / (2 * sd**2)) - np.log(y.std())
    found["cpu_seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found


def warm(peer):
    """Imports a peer's libraries, so that their import isn't timed."""
    x = pd.DataFrame({"a": np.arange(20.0)})
    PEERS[peer](x, np.sin(x["a"].to_numpy()), x.copy())


def origin(tables):
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True)
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in VERSIONS)
    return {
        "title": "Other libraries on the board's splits",
        "commit": commit.stdout.strip(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "command": "python board/peers.py DIR",
        "machine": f"{cpu[1] if cpu else platform.machine()}, one thread, {versions}",
        "defaults": 0,
        "measures": [],
        "tables": tables,
    }


def save(path, rows):
    lines = ",\n".join("    " + json.dumps(rows[name], separators=(",", ":")) for name in sorted(rows))
    text = json.dumps(origin([]), indent=2).replace('"tables": []', f'"tables": [\n{lines}\n  ]')
    path.write_text(text + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("splits", type=Path)
    p.add_argument("--only", default="", help="rows whose names begin with one of these, with commas between them")
    p.add_argument("--peers", default="lightgbm,sklearn,gpytorch")
    p.add_argument("--file", type=Path, default=Path("results/peers.json"))
    o = p.parse_args()
    warnings.simplefilter("ignore")
    rows = {}
    if o.file.exists():
        rows = {row["table"]: row for row in json.loads(o.file.read_text())["tables"]}
    splits = [s for s in json.loads((o.splits / "list.json").read_text()) if s["kind"] == "number"]
    for table in dict.fromkeys(s["table"] for s in splits):
        if not table.startswith(tuple(o.only.split(","))):
            continue
        for peer in o.peers.split(","):
            if table.startswith("stranger") and peer != "lightgbm":
                continue
            warm(peer)
            found = [score(peer, o.splits / s["folder"], s["target"]) for s in splits if s["table"] == table]
            if None in found:
                continue
            figures = {m: round(float(np.mean([f[m] for f in found])), 4) for m in sorted(found[0])}
            rows[f"{table} {peer}"] = {"table": f"{table} {peer}", "runs": len(found), "figures": figures}
            print(table, peer, figures, flush=True)
            save(o.file, rows)


if __name__ == "__main__":
    main()
