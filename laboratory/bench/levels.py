#!/usr/bin/env python3
"""Counts with an exposure and ordered levels: krigo beside the regressions of statsmodels and GPBoost, on splits of three rows to train on and one to score.

    python3 bench/levels.py --krigo ./krigo --data FOLDER --out R.jsonl --sets quine,ships --splits 10
    python3 bench/levels.py --out R.jsonl --table

FOLDER has quine, badhealth and ships as NAME.csv.gz (Rdatasets). anes96 and fair are statsmodels' own, whose targets have 7 and 5 ordered levels.
Of fair, 1,000 rows are drawn once. Rows of ships without months of service are left out.
--out gets a line of JSON for each set, split and peer: the mean of -ln of the probability of the count or level, and the share of levels whose most
probable level is another. A line that is there isn't computed again.

All see the same rows. Peers get columns of 0 and 1 for text, one of two kinds, and inputs standardised on the training rows.

- krigo: --noise NOISE --prior-share 1, so that all training rows train and none certifies. On ships also with --exposure service.
- glm-poisson, glm-nb: statsmodels' Poisson and NegativeBinomial (with s), and on ships also with the exposure.
- gpboost: ARD Matérn 3/2, a constant, negative binomial, Laplace, else as it comes, and on ships also with ln(exposure) as offset.
  -ln p from 2,000 draws of the latent function.
- ordered-probit, ordered-logit: statsmodels' OrderedModel.
- shares: each level's share of the training rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMAXPROCS"):
    os.environ[variable] = "1"

import argparse  # noqa: E402
import csv  # noqa: E402
import gzip  # noqa: E402
import io  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import warnings  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

TARGETS = {"quine": "Days", "badhealth": "numvisit", "ships": "incidents", "anes96": "PID", "fair": "rate_marriage"}
LEVELS = ("anes96", "fair")


def read(folder, name):
    """Returns the inputs' names and columns (numbers or text), the targets, and the exposures or None."""
    if name in LEVELS:
        import statsmodels.api as sm

        frame = getattr(sm.datasets, name).load_pandas().data
        if name == "anes96":
            frame = frame[["logpopul", "selfLR", "age", "educ", "income", "PID"]]
        else:
            frame = frame.drop(columns="affairs").sample(1000, random_state=1)
        columns = {c: frame[c].to_numpy(dtype=float) for c in frame}
    else:
        rows = list(csv.DictReader(io.TextIOWrapper(gzip.open(Path(folder) / f"{name}.csv.gz"))))
        rows = [r for r in rows if name != "ships" or float(r["service"]) > 0]
        columns = {}
        for c in rows[0]:
            values = [r[c] for r in rows]
            try:
                columns[c] = np.array(values, dtype=float)
            except ValueError:
                columns[c] = np.array(values)
    y, exposure = columns.pop(TARGETS[name]), columns.pop("service", None)
    columns.pop("rownames", None)
    return list(columns), list(columns.values()), y, exposure


def numbers(columns, train):
    """Returns a matrix, in which text has become columns of 0 and 1, standardised on the training rows."""
    found = []
    for values in columns:
        kinds = np.unique(values) if values.dtype.kind == "U" else []
        found += [values == kind for kind in kinds[1:]] if len(kinds) else [values]
    x = np.array(found, dtype=float).T
    spread = x[train].std(axis=0)
    return (x - x[train].mean(axis=0)) / np.where(spread > 0, spread, 1)


def krigo(program, data, train, test, noise, exposed):
    names, columns, y, exposure = data
    text = [n for n, c in zip(names, columns, strict=True) if c.dtype.kind == "U"]
    if exposed:
        names, columns = [*names, "exposure"], [*columns, exposure]
    with tempfile.TemporaryDirectory() as folder:
        for part, rows in (("train", train), ("test", test)):
            with open(f"{folder}/{part}.csv", "w", newline="") as file:
                out = csv.writer(file)
                out.writerow([*names, "target"])
                out.writerows([*(c[i] if c.dtype.kind == "U" else repr(float(c[i])) for c in columns), repr(float(y[i]))] for i in rows)

        def run(*words):
            done = subprocess.run([program, *words, "--json", "--quiet"], capture_output=True, text=True)
            if done.returncode:
                raise ValueError(done.stderr.strip())
            return json.loads(done.stdout)

        said = run("fit", f"{folder}/train.csv", "--target", "target", "--noise", noise, "--prior-share", "1", "--out", f"{folder}/m.krigo",
                   "--test", f"{folder}/test.csv", *(["--categorical", ",".join(text)] if text else []),
                   *(["--exposure", "exposure"] if exposed else []))  # fmt: skip
        score = {"nlpd": said["test"]["nlpd"]}
        if noise == "ordinal":
            made = run("predict", f"{folder}/m.krigo", f"{folder}/test.csv")["predictions"]
            score["wrong"] = float(np.mean([float(p["label"]) != v for p, v in zip(made, y[test], strict=True)]))
        return score


def glm(x, y, e, train, test, family):
    """Returns the score of a regression of counts. e is the logarithm of the exposure."""
    import statsmodels.api as sm
    from scipy import stats

    with_one = sm.add_constant(x, has_constant="add")
    model = {"poisson": sm.Poisson, "nb": sm.NegativeBinomial}[family]
    fitted = model(y[train], with_one[train], offset=e[train]).fit(disp=0, maxiter=500, method="bfgs" if family == "nb" else "newton")
    mu = np.exp(with_one[test] @ fitted.params[: with_one.shape[1]] + e[test])
    if family == "poisson":
        return {"nlpd": float(-stats.poisson.logpmf(y[test], mu).mean())}
    r = 1 / fitted.params[-1]
    return {"nlpd": float(-stats.nbinom.logpmf(y[test], r, r / (r + mu)).mean())}


def gpboost(x, y, e, train, test):
    import gpboost as gpb
    from scipy import stats

    model = gpb.GPModel(gp_coords=x[train], cov_function="matern_ard", cov_fct_shape=1.5, likelihood="negative_binomial")
    model.fit(y=y[train], X=np.ones((len(train), 1)), offset=e[train])
    p = model.predict(gp_coords_pred=x[test], X_pred=np.ones((len(test), 1)), offset_pred=e[test], predict_var=True, predict_response=False)
    r = float(np.ravel(model.get_aux_pars(format_pandas=False))[0])
    f = p["mu"] + np.sqrt(p["var"]) * np.random.default_rng(1).standard_normal((2000, 1))
    logs = stats.nbinom.logpmf(y[test], r, r / (r + np.exp(f)))
    return {"nlpd": float(-(np.logaddexp.reduce(logs, axis=0) - np.log(2000)).mean())}


def ordered(x, y, train, test, link):
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    levels, places = np.unique(y[train], return_inverse=True)
    if link == "shares":
        p = np.tile(np.bincount(places) / len(train), (len(test), 1))
    else:
        fitted = OrderedModel(places, x[train], distr=link).fit(method="bfgs", disp=0, maxiter=500)
        p = np.asarray(fitted.predict(x[test]))
    at = np.clip(np.searchsorted(levels, y[test]), 0, len(levels) - 1)
    return {"nlpd": float(-np.log(np.clip(p[np.arange(len(test)), at], 1e-15, 1)).mean()),
            "wrong": float(np.mean(levels[p.argmax(axis=1)] != y[test]))}  # fmt: skip


def peers(name, exposure):
    if name in LEVELS:
        return ["krigo-ordinal", "ordered-probit", "ordered-logit", "shares"]
    of = ["krigo-negative-binomial", "krigo-poisson", "glm-nb", "glm-poisson", "gpboost"]
    return of + ([f"{p}+exposure" for p in of] if exposure is not None else [])


def score(arguments, data, peer, train, test):
    _, columns, y, exposure = data
    x, exposed = numbers(columns, train), peer.endswith("+exposure")
    kind, _, what = peer.removesuffix("+exposure").partition("-")
    if kind == "krigo":
        return krigo(arguments.krigo, data, train, test, what, exposed)
    e = np.log(exposure) if exposed else np.zeros(len(y))
    if kind == "glm":
        return glm(x, y, e, train, test, what)
    return gpboost(x, y, e, train, test) if kind == "gpboost" else ordered(x, y, train, test, what or kind)


def table(lines):
    """Prints the mean scores with standard errors over splits."""
    for name in dict.fromkeys(line["set"] for line in lines):
        print(f"\n{name}")
        for peer in dict.fromkeys(line["peer"] for line in lines if line["set"] == name):
            of = [line for line in lines if (line["set"], line["peer"]) == (name, peer)]
            cells = []
            for key in ("nlpd", "wrong"):
                v = [line[key] for line in of if key in line]
                cells += [f"{key} {np.mean(v):.3f} ± {np.std(v, ddof=1) / len(v) ** 0.5:.3f}"] if len(v) > 1 else []
            print(f"  {peer:34s} {len(of):3d} splits  {'  '.join(cells)}")


def main():
    parser = argparse.ArgumentParser()
    for flag, value in (("krigo", "krigo"), ("data", "."), ("out", ""), ("sets", "quine,ships"), ("splits", "10"), ("peers", "")):
        parser.add_argument(f"--{flag}", default=value)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    out = Path(arguments.out)
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if arguments.table:
        table(lines)
        return
    known = {(line["set"], line["split"], line["peer"]) for line in lines}
    warnings.simplefilter("ignore")
    for name in arguments.sets.split(","):
        data = read(arguments.data, name)
        for split in range(int(arguments.splits)):
            order = np.random.default_rng(split).permutation(len(data[2]))
            cut = len(order) * 3 // 4
            for peer in arguments.peers.split(",") if arguments.peers else peers(name, data[3]):
                if (name, split, peer) not in known:
                    line = {"set": name, "split": split, "peer": peer, **score(arguments, data, peer, order[:cut], order[cut:])}
                    with open(out, "a") as file:
                        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
