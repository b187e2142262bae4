"""Classification of two classes: krigo beside scikit-learn's GaussianProcessClassifier and logistic regression.

    python3 bench/classes.py --krigo ./krigo --data FOLDER --sets Pima,biopsy,two_class_dat,synth [--splits 10]

FOLDER has NAME.csv.gz, or NAME.tr.csv.gz and NAME.te.csv.gz, which are joined. Each split trains on three rows in four and scores the others:
the share of wrong labels, and the mean log loss. Rows with gaps are left out. krigo is the default, with its certificate, and its sibling on all
training rows (--deliver all). GaussianProcessClassifier has an anisotropic RBF kernel with a constant, two restarts.
"""
import argparse
import csv
import gzip
import io
import json
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

LABEL = {"Pima": "type", "biopsy": "class", "two_class_dat": "Class", "synth": "yc", "spam7": "yesno"}


def read(folder, name):
    parts = sorted(Path(folder).glob(f"{name}.csv.gz")) or sorted(Path(folder).glob(f"{name}.t?.csv.gz"))
    rows = [r for p in parts for r in csv.DictReader(io.TextIOWrapper(gzip.open(p)))]
    names = [c for c in rows[0] if c not in ("rownames", "ID", LABEL[name])]
    rows = [r for r in rows if all(r[c] not in ("", "NA") for c in names)]
    return names, np.array([[float(r[c]) for c in names] for r in rows]), np.array([r[LABEL[name]] for r in rows])


def scored(p, y):
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return float(np.mean((p >= 0.5) != y)), float(log_loss(y, p, labels=[0, 1]))


def krigo(program, names, x, y, train, test, seed):
    with tempfile.TemporaryDirectory() as folder:
        for part, rows in (("train", train), ("test", test)):
            with open(f"{folder}/{part}.csv", "w", newline="") as f:
                out = csv.writer(f)
                out.writerow([*names, "label"])
                out.writerows([*map(repr, map(float, x[i])), "ab"[y[i]]] for i in rows)
        run = [program, "fit", f"{folder}/train.csv", "--target", "label", "--seed", str(seed), "--deliver", "all", "--out", f"{folder}/m.krigo", "--json", "--quiet"]
        said = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
        found = {}
        for who, model in (("krigo", "m.krigo"), ("krigo, all rows", "m-all.krigo")):
            made = json.loads(subprocess.run([program, "predict", f"{folder}/{model}", f"{folder}/test.csv", "--json", "--quiet"], check=True, capture_output=True, text=True).stdout)
            found[who] = scored(np.array([p["mean"] for p in made["predictions"]]), y[test])
        return found, said["certificate"]["mean_bound"] if said["certificate"] else None


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--krigo", required=True)
    a.add_argument("--data", required=True)
    a.add_argument("--sets", default="Pima,biopsy,two_class_dat,synth")
    a.add_argument("--splits", type=int, default=10)
    a = a.parse_args()
    warnings.simplefilter("ignore")
    for name in a.sets.split(","):
        names, x, labels = read(a.data, name)
        y, all_found, bounds = (labels == sorted(set(labels))[1]).astype(int), {}, []
        for seed in range(a.splits):
            order = np.random.default_rng(seed).permutation(len(y))
            test, train = order[:len(y) // 4], order[len(y) // 4:]
            found, bound = krigo(a.krigo, names, x, y, train, test, seed)
            bounds.append(bound)
            kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(np.ones(x.shape[1]), (1e-2, 1e3))
            for who, model in (("logistic", LogisticRegressionCV(scoring="neg_log_loss", max_iter=1000)),
                               ("sklearn GPC", GaussianProcessClassifier(kernel, n_restarts_optimizer=2, random_state=seed))):
                made = make_pipeline(StandardScaler(), model).fit(x[train], y[train])
                found[who] = scored(made.predict_proba(x[test])[:, 1], y[test])
            for who, of in found.items():
                all_found.setdefault(who, []).append(of)
            print(name, seed, {who: [round(v, 4) for v in of] for who, of in found.items()}, bound, flush=True)
        for who, of in all_found.items():
            wrong, loss = np.mean(of, axis=0)
            print(f"{name:15} {who:16} wrong {wrong:.4f}  log loss {loss:.4f}", flush=True)
        print(f"{name:15} bound of krigo   {np.mean([b for b in bounds if b is not None] or [np.nan]):.3f}", flush=True)


if __name__ == "__main__":
    main()
