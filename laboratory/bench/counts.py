#!/usr/bin/env python3
"""Counts: krigo beside generalised linear models and a Gaussian process of GPBoost, on splits of three rows to train on and one to score.

    python3 bench/counts.py --krigo ./krigo --data FOLDER --out R.jsonl --splits 10
    python3 bench/counts.py --out R.jsonl --table

FOLDER has quine.csv.gz, badhealth.csv.gz and ships.csv.gz. --out gets a line of JSON for each set, split, library and noise: the mean of −ln of the
probability of each count on the other rows, and CPU seconds. A line that is there isn't computed again. --as NAME writes a krigo under
another name, and --flags gives it more flags. Its probabilities are computed here, from its mean, latent variance and scale of the noise.

All see the same rows. Rows with gaps are left out, and ships that weren't in service. The months of service of ships are an exposure: by default
ln of it is one more input for all. With --exposure it is a factor of the mean for all.

- krigo: the default, which trains on seven training rows in ten (below 105 all train) and certifies with the others, and "NAME-all", its sibling on all
  training rows. It gets text as categories.
- glm: statsmodels' Poisson, or negative binomial with the variance μ + s μ², of main effects. Text, and the year and period of ships, are categories.
- gpboost: ARD Matérn 3/2, a constant, Laplace, else as it comes. Text becomes columns of 0 and 1, and inputs are standardised on the training rows.
"""

import argparse
import csv
import gzip
import json
import resource
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

from classes import error_of, named, numbers  # sets one thread for all libraries, before they are read

import numpy as np
from scipy.special import gammaln, logsumexp

SETS = {"quine": "Days", "badhealth": "numvisit", "ships": "incidents"}
FACTORS = {"ships": ["year", "period"]}
NOISES = ("poisson", "negative-binomial")


def read(folder, name):
    """Returns the inputs by name (numbers or text), the counts, and the exposure or None."""
    rows = [r for r in csv.DictReader(gzip.open(Path(folder) / f"{name}.csv.gz", "rt")) if "NA" not in r.values()]
    rows = [r for r in rows if float(r.get("service", 1)) > 0]
    inputs = {}
    for c in rows[0]:
        if c not in ("rownames", "service", SETS[name]):
            values = [r[c] for r in rows]
            try:
                inputs[c] = np.array(values, dtype=float)
            except ValueError:
                inputs[c] = np.array(values)
    exposure = np.array([float(r["service"]) for r in rows]) if "service" in rows[0] else None
    return inputs, np.array([float(r[SETS[name]]) for r in rows]), exposure


def log_probability(y, f, s):
    """Returns ln of the probability of the counts y at the logarithm f of the mean. s is the scale of the negative binomial, or 0."""
    if s == 0:
        return y * f - np.exp(f) - gammaln(y + 1)
    return gammaln(y + 1 / s) - gammaln(1 / s) - gammaln(y + 1) + y * (f + np.log(s)) - (y + 1 / s) * np.log1p(s * np.exp(f))


def score(y, mean, variance, s):
    """Returns the mean of −ln of the probability of y if the logarithm of the mean is N(mean, variance)."""
    node, weight = np.polynomial.hermite_e.hermegauss(150)
    weight, node = weight[weight > 0], node[weight > 0]
    f = mean[:, None] + np.sqrt(np.maximum(variance, 0))[:, None] * node
    return float(-np.mean(logsumexp(log_probability(y[:, None], f, s) + np.log(weight / weight.sum()), axis=1)))


# Libraries: each returns, for each of its models, a name, the mean and the variance of the logarithm of the mean, s, and what else to note


def krigo(program, flags, name, noise, data, train, test, seed, exposure):
    inputs, y, service = data
    columns = dict(inputs)
    if service is not None:
        columns["service"] = service if exposure else np.log(service)
    text = [c for c, v in columns.items() if v.dtype.kind == "U"]
    with tempfile.TemporaryDirectory() as folder:
        for part, rows in (("train", train), ("test", test)):
            with open(f"{folder}/{part}.csv", "w", newline="") as file:
                out = csv.writer(file)
                out.writerow([*columns, "count"])
                out.writerows([*(v[i] if v.dtype.kind == "U" else repr(float(v[i])) for v in columns.values()), int(y[i])] for i in rows)

        def run(*words):
            done = subprocess.run([program, *words, "--json", "--quiet"], capture_output=True, text=True)
            if done.returncode:
                raise ValueError(done.stderr.strip())
            return json.loads(done.stdout)

        if text:
            flags = [*flags, "--categorical", ",".join(text)]
        if service is not None and exposure:
            flags = [*flags, "--exposure", "service"]
        if len(train) >= 105:
            flags = [*flags, "--deliver", "all"]
        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        said = run("fit", f"{folder}/train.csv", "--target", "count", "--noise", noise, "--seed", str(seed), "--out", f"{folder}/m.krigo", *flags)
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
        both = {"": said, "-all": said.get("delivered") or said}
        seconds = {tail: of["training"]["seconds"] for tail, of in both.items()}
        for tail, of in both.items():
            model = f"m{tail}.krigo" if Path(f"{folder}/m{tail}.krigo").exists() else "m.krigo"
            made = run("predict", f"{folder}/{model}", f"{folder}/test.csv")["predictions"]
            mean, variance = (np.array([p[k] for p in made]) for k in ("mean", "latent_variance"))
            more = {"kernel": named(of["kernel"]), "scale": of["observation_noise"], "cpu": cpu * seconds[tail] / sum(seconds.values())}
            yield name + tail, np.log(mean) - variance / 2, variance, 0 if noise == "poisson" else of["observation_noise"], more


def designed(of, inputs, factors):
    """Returns the columns of main effects."""
    found = [np.ones(len(of))]
    for c, v in inputs.items():
        if v.dtype.kind == "U" or c in factors:
            found += [v == kind for kind in np.unique(v)[1:]]
        else:
            found.append((v - v.mean()) / v.std())
    return np.array(found, dtype=float).T


def glm(noise, x, y, tests, offset, offset_tests):
    import statsmodels.api as sm

    seen = x.any(axis=0)  # a category that no training row has keeps the base's effect
    x, tests = x[:, seen], tests[:, seen]
    fitted = sm.GLM(y, x, family=sm.families.Poisson(), offset=offset).fit(maxiter=200)
    s, beta = 0, fitted.params
    if noise != "poisson":
        start = np.append(beta, 0.5)
        found = sm.NegativeBinomial(y, x, offset=offset).fit(start_params=start, maxiter=1000, disp=False, method="bfgs")
        *beta, s = found.params
    return tests @ np.array(beta) + offset_tests, np.zeros(len(tests)), max(s, 1e-6) if noise != "poisson" else 0


def gpboost(noise, x, y, tests, offset, offset_tests, seed):
    import gpboost as g

    model = g.GPModel(gp_coords=x, cov_function="matern_ard", cov_fct_shape=1.5, likelihood=noise.replace("-", "_"), num_parallel_threads=1, seed=seed)
    model.fit(y=y, X=np.ones((len(y), 1)), offset=offset)
    found = model.predict(gp_coords_pred=tests, X_pred=np.ones((len(tests), 1)), offset_pred=offset_tests, predict_response=False, predict_var=True)
    s = 0
    if noise != "poisson":
        s = 1 / float(np.ravel(model.get_aux_pars(format_pandas=False))[0])
    return found["mu"], found["var"], s


def table(lines):
    found = {}
    for r in lines:
        found.setdefault(r["set"], {}).setdefault((r["peer"], r["noise"]), {})[r["split"]] = r
    everyone = list(dict.fromkeys(p for of in found.values() for p in of))
    best = {}
    for name, of in found.items():
        peers = {p: v for p, v in of.items() if p[0] in ("glm", "gpboost")}
        best[name] = min(peers, key=lambda p: np.mean([r["score"] for r in peers[p].values()]))

    def difference(of, who, base):
        a, b = np.array([(r["score"], of[base][s]["score"]) for s, r in of[who].items() if s in of[base]]).T
        return f"{100 * (a.mean() / b.mean() - 1):+.1f} %, {a.mean() - b.mean():+.4f} ± {error_of(a - b):.4f}"

    print("| library, noise | " + " | ".join(found) + " |\n|---" + "|---" * len(found) + "|")
    for who in everyone:
        cells = []
        for name, of in found.items():
            if who not in of:
                cells.append("")
                continue
            results = of[who].values()
            few = "" if len(results) == max(map(len, of.values())) else f" ({len(results)})"
            cells.append(f"{np.mean([r['score'] for r in results]):.4f}{few}; " + ("best" if who == best[name] else difference(of, who, best[name])))
        print(f"| {', '.join(who)} | " + " | ".join(cells) + " |")
    for name, of in found.items():
        print(name, {", ".join(who): f"{np.median([r['cpu'] for r in results.values()]):.2g}" for who, results in of.items()})


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--krigo")
    a.add_argument("--data")
    a.add_argument("--out", required=True)
    a.add_argument("--sets", default=",".join(SETS))
    a.add_argument("--peers", default="krigo,glm,gpboost")
    a.add_argument("--noises", default=",".join(NOISES))
    a.add_argument("--splits", type=int, default=10)
    a.add_argument("--as", dest="name", default="krigo")
    a.add_argument("--flags", default="")
    a.add_argument("--exposure", action="store_true")
    a.add_argument("--table", action="store_true")
    a = a.parse_args()
    lines = [json.loads(line) for line in open(a.out)] if Path(a.out).exists() else []
    if a.table:
        return table(lines)
    warnings.simplefilter("ignore")
    done = {(r["set"], r["split"], r["peer"], r["noise"]) for r in lines}
    for name in a.sets.split(","):
        data = inputs, y, service = read(a.data, name)
        log_service = np.zeros(len(y)) if service is None else np.log(service)
        offset = log_service if a.exposure else np.zeros(len(y))
        more = {} if service is None or a.exposure else {"log_service": log_service}
        x, design = numbers([*inputs.values(), *more.values()]), designed(y, {**inputs, **more}, FACTORS.get(name, []))
        for seed in range(a.splits):
            order = np.random.default_rng(seed).permutation(len(y))
            test, train = order[: len(y) // 4], order[len(y) // 4 :]
            sd = x[train].std(axis=0)
            z = (x - x[train].mean(axis=0)) / np.where(sd > 0, sd, 1)
            for noise in a.noises.split(","):
                for who in a.peers.split(","):
                    if (name, seed, a.name if who == "krigo" else who, noise) in done:
                        continue
                    try:
                        began = time.process_time()
                        if who == "krigo":
                            made = list(krigo(a.krigo, a.flags.split(), a.name, noise, data, train, test, seed, a.exposure))
                        else:
                            which, some = (glm, ()) if who == "glm" else (gpboost, (seed,))
                            of = design if who == "glm" else z
                            made = [(who, *which(noise, of[train], y[train], of[test], offset[train], offset[test], *some), {})]
                            made[0][-1]["cpu"] = time.process_time() - began
                    except Exception as problem:  # a library that fails has no line, and the others go on
                        print(f"{name} {seed} {who} {noise}: {type(problem).__name__} {problem}"[:500], flush=True)
                        continue
                    with open(a.out, "a") as out:
                        for peer, mean, variance, s, said in made:
                            line = {"set": name, "split": seed, "peer": peer, "noise": noise, "score": score(y[test], mean, variance, s), **said}
                            out.write(json.dumps(line) + "\n")
                            print(name, seed, peer, noise, f"{line['score']:.4f}", f"CPU s {said['cpu']:.1f}", said.get("kernel", ""), flush=True)


if __name__ == "__main__":
    main()
