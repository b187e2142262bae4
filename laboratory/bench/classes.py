#!/usr/bin/env python3
"""Classification: krigo beside other Gaussian processes, logistic regression and trees, on splits of three rows to train on and one to score.

    python3 bench/classes.py --krigo ./krigo --data FOLDER --out R.jsonl --sets Pima,iris --peers krigo,logistic --splits 10
    python3 bench/classes.py --out R.jsonl --table

FOLDER has sets.csv (set, label) and NAME.csv.gz, or NAME.tr.csv.gz and NAME.te.csv.gz, which are joined.
--out gets a line of JSON for each set, split and peer: the share of wrong labels, the mean log loss (probabilities are clipped at 1e-15, and the
label is the most probable class) and CPU seconds. A line that is there isn't computed again. --as NAME writes a newer krigo under another name.

All see the same rows. Rows with gaps are left out. Inputs are standardised on the training rows. For the peers a column of text becomes
columns of 0 and 1, one of two kinds. krigo gets the text itself, with --categorical. Everything has one thread.

- krigo: the default, which trains on seven training rows in ten (of many seven in eight) and certifies with the others; and "NAME-all", its sibling
  on all training rows (--deliver all). Each has its part of the command's CPU seconds, by its seconds of training.
  Models of more than two classes have no sibling. Another fit stands for it, with --prior-share 1.
- sklearn-rbf, sklearn-matern: GaussianProcessClassifier (Laplace, logit), constant times anisotropic RBF or Matérn 3/2, two restarts.
  Above 600 rows 500 of them drawn at random train the parameters, without restarts, and all predict. More classes: one against the others.
- gpytorch: variational, constant mean, ARD Matérn 5/2, Bernoulli (probit) or softmax, Adam (rate .05, at the end .005), float64.
  Up to 200 rows each row is an inducing input, else 200 centres of k-means that train too. Up to 1,000 rows 400 steps on all rows
  from two lengthscales (the larger ELBO wins), else 1,500 steps on batches of 512.
- gpflow: ARD squared exponential, constant mean, Bernoulli (probit) or RobustMax with ε trained, L-BFGS of at most 500 iterations.
  VGP up to 300 rows, else SVGP with 200 centres of k-means that train too. Up to 1,000 rows from two lengthscales (the larger ELBO wins).
- gpboost: ARD Matérn 3/2, a constant, Bernoulli (probit), Laplace, else as it comes. Above 1,000 rows Vecchia. More classes: one against the others.
- logistic: LogisticRegressionCV, ten strengths by five folds, log loss.
- lightgbm: 20 drawn settings, each with the number of rounds that stops best, by five folds' log loss; then on all rows.
- forest: RandomForestClassifier, 300 trees, the least rows in a leaf (1, 2, 5, 10, 20) by five folds' log loss.
"""

import os

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMAXPROCS"):
    os.environ[variable] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import argparse  # noqa: E402
import csv  # noqa: E402
import gzip  # noqa: E402
import io  # noqa: E402
import json  # noqa: E402
import resource  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from concurrent.futures import ProcessPoolExecutor  # noqa: E402
from multiprocessing import get_context  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

NO_INPUT = ("rownames", "ID")
MANY = 1000  # rows above which a peer approximates
SMALL = "Pima,biopsy,two_class_dat,synth,penguins,iris"

# Data and scores


def read(folder, name):
    """Returns the inputs' names, their columns (numbers or text) and the classes by number."""
    with open(Path(folder) / "sets.csv", newline="") as file:
        label = next(r["label"] for r in csv.DictReader(file) if r["set"].split(".")[0] == name)
    parts = sorted(Path(folder).glob(f"{name}.csv.gz")) or sorted(Path(folder).glob(f"{name}.t?.csv.gz"))
    rows = [r for p in parts for r in csv.DictReader(io.TextIOWrapper(gzip.open(p)))]
    names = [c for c in rows[0] if c not in (*NO_INPUT, label)]
    rows = [r for r in rows if all(r[c] not in ("", "NA") for c in names)]
    columns = []
    for c in names:
        values = [r[c] for r in rows]
        try:
            columns.append(np.array(values, dtype=float))
        except ValueError:
            columns.append(np.array(values))
    return names, columns, np.unique([r[label] for r in rows], return_inverse=True)[1]


def numbers(columns):
    """Returns a matrix, in which text has become columns of 0 and 1."""
    found = []
    for values in columns:
        kinds = np.unique(values) if values.dtype.kind == "U" else []
        found += [values == kind for kind in kinds[len(kinds) == 2 :]] if len(kinds) else [values]
    return np.array(found, dtype=float).T


def scored(p, y):
    """Returns the share of wrong labels and the mean log loss of the probabilities p, a row for each test row."""
    p = np.clip(p, 1e-15, 1)
    return float(np.mean(p.argmax(axis=1) != y)), float(-np.mean(np.log((p / p.sum(axis=1, keepdims=True))[np.arange(len(y)), y])))


def of_two(p):
    return np.stack([1 - np.ravel(p), np.ravel(p)], axis=1)


# krigo


def krigo(program, data, train, test, seed):
    """Returns probabilities, certificate and CPU seconds of the default and of its sibling."""
    names, columns, y = data
    text = [n for n, c in zip(names, columns, strict=True) if c.dtype.kind == "U"]
    with tempfile.TemporaryDirectory() as folder:
        for part, rows in (("train", train), ("test", test)):
            with open(f"{folder}/{part}.csv", "w", newline="") as file:
                out = csv.writer(file)
                out.writerow([*names, "label"])
                out.writerows([*(c[i] if c.dtype.kind == "U" else repr(float(c[i])) for c in columns), "abcdefghij"[y[i]]] for i in rows)

        def run(*words):
            done = subprocess.run([program, *words, "--json", "--quiet"], capture_output=True, text=True)
            if done.returncode:
                raise ValueError(done.stderr.strip())
            return json.loads(done.stdout)

        def fit(out, *more):
            began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            said = run("fit", f"{folder}/train.csv", "--target", "label", "--seed", str(seed), "--out", f"{folder}/{out}", *more,
                       *(["--categorical", ",".join(text)] if text else []))  # fmt: skip
            return said, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began

        def answer(model, of, cpu):
            made = run("predict", f"{folder}/{model}", f"{folder}/test.csv")["predictions"]
            p = [q["probabilities"] for q in made] if "probabilities" in made[0] else of_two([q["mean"] for q in made])
            certificate = of.get("together", of).get("certificate")
            bound = certificate and certificate["mean_bound"]
            kernels = [named(t["kernel"]) for t in of.get("targets", [of])]
            return np.array(p), {"bound": bound, "kernel": ", ".join(kernels), "cpu": cpu}

        if y.max() > 1:
            yield answer("m.krigo", *fit("m.krigo"))
            yield answer("a.krigo", *fit("a.krigo", "--prior-share", "1"))
        else:
            said, cpu = fit("m.krigo", "--deliver", "all")
            both = [said, said["delivered"]]
            seconds = [s["training"]["seconds"] for s in both]
            for model, of, spent in zip(("m.krigo", "m-all.krigo"), both, seconds, strict=True):
                yield answer(model, of, cpu * spent / sum(seconds))


def named(kernel):
    """Returns the kernel's name with its parts, such as "additive+matern32"."""
    return {"sum": "+", "product": "*"}[kernel["name"]].join(map(named, kernel["parts"])) if "parts" in kernel else kernel["name"]


# Peers: each trains on x, y and returns probabilities for tests


def logistic(x, y, tests, classes, seed):
    from sklearn.linear_model import LogisticRegressionCV

    return LogisticRegressionCV(scoring="neg_log_loss", max_iter=2000).fit(x, y).predict_proba(tests)


def sklearn_gp(form, x, y, tests, seed):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import ConstantKernel

    def made(kernel, **options):
        return GaussianProcessClassifier(kernel, random_state=seed, **options)

    start = ConstantKernel(1.0, (1e-3, 1e4)) * form(np.full(x.shape[1], np.sqrt(x.shape[1])), (1e-2, 1e3))
    if len(y) <= 600:
        return made(start, n_restarts_optimizer=2).fit(x, y).predict_proba(tests)
    some = np.random.default_rng(seed).choice(len(y), 500, replace=False)
    return made(made(start).fit(x[some], y[some]).kernel_, optimizer=None).fit(x, y).predict_proba(tests)


def sklearn_rbf(x, y, tests, classes, seed):
    from sklearn.gaussian_process.kernels import RBF

    return sklearn_gp(RBF, x, y, tests, seed)


def sklearn_matern(x, y, tests, classes, seed):
    from sklearn.gaussian_process.kernels import Matern

    return sklearn_gp(lambda lengthscales, bounds: Matern(lengthscales, bounds, nu=1.5), x, y, tests, seed)


def centres(x, count, seed):
    from sklearn.cluster import KMeans

    return KMeans(min(count, len(np.unique(x, axis=0))), n_init=1, random_state=seed).fit(x).cluster_centers_


def gpytorch(x, y, tests, classes, seed):
    import gpytorch as g
    import torch

    torch.set_num_threads(1)
    n, d = x.shape
    latents = torch.Size([classes]) if classes > 2 else torch.Size()
    inducing = torch.from_numpy(x if n <= 200 else centres(x, 200, seed))
    rows, target = torch.from_numpy(x), torch.from_numpy(y) if classes > 2 else torch.from_numpy(y).double()

    class Model(g.models.ApproximateGP):
        def __init__(self, lengthscale):
            q = g.variational.CholeskyVariationalDistribution(len(inducing), batch_shape=latents)
            strategy = g.variational.VariationalStrategy(self, inducing, q, learn_inducing_locations=n > 200)
            if latents:
                strategy = g.variational.IndependentMultitaskVariationalStrategy(strategy, num_tasks=classes)
            super().__init__(strategy)
            self.mean_module = g.means.ConstantMean(batch_shape=latents)
            kernel = g.kernels.MaternKernel(2.5, ard_num_dims=d, batch_shape=latents)
            self.covar_module = g.kernels.ScaleKernel(kernel, batch_shape=latents)
            kernel.lengthscale = lengthscale

        def forward(self, x):
            return g.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    best = None
    for lengthscale in (np.sqrt(d), np.sqrt(d) / 3)[: 2 if n <= MANY else 1]:
        torch.manual_seed(seed)
        likelihood = g.likelihoods.SoftmaxLikelihood(num_classes=classes, mixing_weights=False) if latents else g.likelihoods.BernoulliLikelihood()
        model = Model(lengthscale).double()
        elbo = g.mlls.VariationalELBO(likelihood, model, num_data=n)
        adam, steps, late = torch.optim.Adam(model.parameters(), lr=0.05), 400 if n <= MANY else 1500, []
        with g.settings.num_likelihood_samples(20):
            for step in range(steps):
                adam.param_groups[0]["lr"] = 0.05 if step < 0.75 * steps else 0.005
                batch = slice(None) if n <= MANY else torch.randperm(n)[:512]
                adam.zero_grad()
                loss = -elbo(model(rows[batch]), target[batch])
                loss.backward()
                adam.step()
                late.append(loss.item())
        if best is None or np.mean(late[-20:]) < best[0]:
            best = np.mean(late[-20:]), model, likelihood
    _, model, likelihood = best
    model.eval()
    with torch.no_grad(), g.settings.num_likelihood_samples(1000):
        made = likelihood(model(torch.from_numpy(tests)))
        return made.probs.mean(0).numpy() if latents else of_two(made.mean.numpy())


def gpflow(x, y, tests, classes, seed):
    import gpflow as g
    import tensorflow as tf

    if not tf.config.threading.get_intra_op_parallelism_threads():
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    n, d = x.shape
    latents, best = classes if classes > 2 else 1, None
    data = (x, y[:, None].astype(float))
    for lengthscale in (np.sqrt(d), np.sqrt(d) / 3)[: 2 if n <= MANY else 1]:
        kernel = g.kernels.SquaredExponential(lengthscales=np.full(d, lengthscale))
        mean = g.functions.Constant(np.zeros(latents))
        likelihood = g.likelihoods.MultiClass(classes) if classes > 2 else g.likelihoods.Bernoulli()
        if classes > 2:
            g.set_trainable(likelihood.invlink.epsilon, True)
        if n <= 300:
            model = g.models.VGP(data, kernel, likelihood, mean_function=mean, num_latent_gps=latents)
            loss = model.training_loss_closure()
        else:
            model = g.models.SVGP(kernel, likelihood, centres(x, 200, seed), mean_function=mean, num_latent_gps=latents, num_data=n)
            loss = model.training_loss_closure(data)
        g.optimizers.Scipy().minimize(loss, model.trainable_variables, options={"maxiter": 500})
        if best is None or loss().numpy() < best[0]:
            best = loss().numpy(), model
    p = best[1].predict_y(tests)[0].numpy()
    return p if classes > 2 else of_two(p)


def gpboost(x, y, tests, classes, seed):
    import gpboost as g

    def one(y):
        approximation = {"gp_approx": "vecchia"} if len(y) > MANY else {}
        model = g.GPModel(gp_coords=x, cov_function="matern_ard", cov_fct_shape=1.5, likelihood="bernoulli_probit",
                          num_parallel_threads=1, seed=seed, **approximation)  # fmt: skip
        model.fit(y=y.astype(float), X=np.ones((len(y), 1)))
        return model.predict(gp_coords_pred=tests, X_pred=np.ones((len(tests), 1)), predict_response=True)["mu"]

    return of_two(one(y)) if classes == 2 else np.stack([one(y == k) for k in range(classes)], axis=1)


def lightgbm(x, y, tests, classes, seed):
    import lightgbm as g
    from sklearn.model_selection import StratifiedKFold

    draw = np.random.default_rng(seed)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(x, y))
    best = None
    for _ in range(20):
        settings = {
            "objective": "binary" if classes == 2 else "multiclass", "verbosity": -1, "num_threads": 1, "seed": seed, "deterministic": True,
            **({"num_class": classes} if classes > 2 else {}), "learning_rate": 0.05, "bagging_freq": 1,
            "num_leaves": int(draw.integers(2, 48)), "min_data_in_leaf": int(draw.integers(3, 40)), "lambda_l2": float(10 ** draw.uniform(-3, 1.5)),
            "feature_fraction": float(draw.uniform(0.4, 1)), "bagging_fraction": float(draw.uniform(0.5, 1)),
        }  # fmt: skip
        found = g.cv(settings, g.Dataset(x, y, free_raw_data=False), num_boost_round=1000, folds=folds, callbacks=[g.early_stopping(30, verbose=False)])
        losses = next(v for k, v in found.items() if k.endswith("logloss-mean"))
        if best is None or losses[-1] < best[0]:
            best = losses[-1], settings, len(losses)
    p = g.train(best[1], g.Dataset(x, y), num_boost_round=best[2]).predict(tests)
    return p if classes > 2 else of_two(p)


def forest(x, y, tests, classes, seed):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(RandomForestClassifier(300, random_state=seed), {"min_samples_leaf": [1, 2, 5, 10, 20]}, scoring="neg_log_loss", cv=5)
    return search.fit(x, y).predict_proba(tests)


PEERS = {
    "logistic": logistic, "sklearn-rbf": sklearn_rbf, "sklearn-matern": sklearn_matern, "gpytorch": gpytorch, "gpflow": gpflow,
    "gpboost": gpboost, "lightgbm": lightgbm, "forest": forest,
}  # fmt: skip
KRIGING = [name for name in PEERS if name not in ("lightgbm", "forest")]  # the peers that the best is picked from

def timed(who, *job):
    warnings.simplefilter("ignore")
    began = time.process_time()
    return PEERS[who](*job), {"cpu": time.process_time() - began}


# Table


def error_of(differences):
    """Returns the standard error of the mean over splits that share rows: Nadeau and Bengio 2003, with a third as many test rows as training rows."""
    return float(np.std(differences, ddof=1) * np.sqrt(1 / len(differences) + 1 / 3)) if len(differences) > 1 else float("nan")


def table(lines):
    """Prints tables for benchmark.md: log loss and share of wrong labels, CPU seconds, and differences from the best of KRIGING.
    The best is by its mean difference from logistic regression, which is quick and so has all splits. A peer with less than half as many splits as another GP isn't picked."""
    found = {}
    for r in lines:
        found.setdefault(r["set"], {}).setdefault(r["peer"], {})[r["split"]] = r
    everyone = list(dict.fromkeys(p for of in found.values() for p in of))
    everyone.sort(key=lambda p: list(PEERS).index(p) if p in PEERS else -1)

    def show(title, cell):
        print(f"\n| {title} | " + " | ".join(found) + " |\n|---" + "|---" * len(found) + "|")
        for who in everyone:
            print(f"| {who} | " + " | ".join(cell(of, list(of[who].values())) if who in of else "" for of in found.values()) + " |")

    def means(of, results):
        few = f" ({len(results)})" if len(results) < max(map(len, of.values())) else ""
        return f"{np.mean([r['loss'] for r in results]):.4f} / {100 * np.mean([r['wrong'] for r in results]):.1f} %{few}"

    show("log loss / wrong (splits)", means)
    show("CPU s", lambda of, results: f"{np.median([r['cpu'] for r in results]):.2g}")
    for measure in ("loss", "wrong"):

        def difference(of, results, measure=measure):
            enough = max((len(of[p]) for p in KRIGING[1:] if p in of), default=1) / 2
            best = min((p for p in KRIGING if len(of.get(p, [])) >= max(enough, 1)), key=lambda p: np.mean([of[p][s][measure] - of["logistic"][s][measure] for s in of[p]]))
            both = [(r[measure], of[best][r["split"]][measure]) for r in results if r["split"] in of[best]]
            if results[0]["peer"] == best or not both:
                return "best" if both else ""
            a, b = np.array(both).T
            return f"{a.mean() / b.mean():.3f}, {a.mean() - b.mean():+.4f} ± {error_of(a - b):.4f}"

        show(f"{measure}: ratio and difference to the best GP or logistic", difference)
    for name, of in found.items():
        for who, results in of.items():
            if bounds := [r["bound"] for r in results.values() if r.get("bound") is not None]:
                print(f"{name}: mean bound of {who} {np.mean(bounds):.4f}")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--krigo")
    a.add_argument("--data")
    a.add_argument("--out", required=True)
    a.add_argument("--sets", default=SMALL)
    a.add_argument("--peers", default=",".join(["krigo", *PEERS]))
    a.add_argument("--splits", type=int, default=10)
    a.add_argument("--as", dest="name", default="krigo")
    a.add_argument("--table", action="store_true")
    a = a.parse_args()
    lines = [json.loads(line) for line in open(a.out)] if Path(a.out).exists() else []
    if a.table:
        return table(lines)
    warnings.simplefilter("ignore")
    processes = {}  # one for each peer, since torch and TensorFlow don't live in one
    done = {(r["set"], r["split"], r["peer"]) for r in lines}
    for name in a.sets.split(","):
        data = read(a.data, name)
        x, y = numbers(data[1]), data[2]
        for seed in range(a.splits):
            order = np.random.default_rng(seed).permutation(len(y))
            test, train = order[: len(y) // 4], order[len(y) // 4 :]
            mean, sd = x[train].mean(axis=0), x[train].std(axis=0)
            z = (x - mean) / np.where(sd > 0, sd, 1)
            for who in a.peers.split(","):
                written = a.name if who == "krigo" else who
                if (name, seed, written) in done:
                    continue
                try:
                    if who == "krigo":
                        made = zip((written, f"{written}-all"), krigo(a.krigo, data, train, test, seed), strict=True)
                    else:
                        if who not in processes:
                            processes[who] = ProcessPoolExecutor(1, get_context("fork"))
                        made = [(who, processes[who].submit(timed, who, z[train], y[train], z[test], int(y.max()) + 1, seed).result())]
                    made = list(made)
                except Exception as problem:  # a peer that fails has no line, and the others go on
                    print(f"{name} {seed} {who}: {type(problem).__name__} {problem}"[:500], flush=True)
                    continue
                with open(a.out, "a") as out:
                    for peer, (p, more) in made:
                        wrong, loss = scored(p, y[test])
                        out.write(json.dumps({"set": name, "split": seed, "peer": peer, "wrong": wrong, "loss": loss, **more}) + "\n")
                        print(f"{name} {seed} {peer} wrong {wrong:.4f} loss {loss:.4f} CPU s {more['cpu']:.1f}", flush=True)


if __name__ == "__main__":
    main()
