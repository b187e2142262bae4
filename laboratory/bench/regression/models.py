"""The peers, which are other libraries' models. Each is a function that trains on standardised rows and predicts test rows:

    peer(x, y, tests, options) -> mean, sd, settings

`mean` and `sd` describe the Gaussian that is predicted for the target, noise included. `settings`
holds what the reader of a result has to know, for example how training ended. `options` has the
seed, the threads, and `seconds`: how long minibatches, or L-BFGS of a sparse model, may train before
they have to stop and predict. These are CPU seconds a thread, so that other work on the machine
changes no result. A library is imported only when its peer runs, so that it doesn't count in the
memory of other peers.
"""

import math
import time
import warnings

import numpy as np

INDUCING = 500
BATCH = 1000
NEIGHBOURS = 32  # 60 epochs on 2,000 rows of kin40k: 16 CPU s, RMSE .68 (5 epochs: .90). With 256 MKL fails in float32
EXACT_ROWS = 5000  # beyond it one evaluation of GPyTorch's evidence takes more than 8 s on two cores
SKLEARN_ROWS = 2000  # scikit-learn's derivatives take an n×n matrix for each input
BLOCK = 1000  # test rows predicted at a time: GPyTorch forms their joint covariance


def spent(options):
    return time.process_time() / options.threads


def typical_distance(inputs):
    """Returns where lengthscales start. Rows with d standardised inputs are about √(2d) apart. With
    lengthscales of 1, a covariance in 30 inputs would start as the identity, and the gradient as zero."""
    return math.sqrt(inputs)


def refuse_more_than(limit, rows, library):
    if rows > limit:
        raise ValueError(f"not run: {rows} rows; {library}'s exact GP runs up to {limit} rows")


def inducing_inputs(x, options):
    """Returns centres of k-means: INDUCING, or as many as there are distinct rows if these are fewer."""
    from sklearn.cluster import MiniBatchKMeans

    count = min(INDUCING, len(np.unique(x, axis=0)))
    means = MiniBatchKMeans(count, n_init=1, batch_size=4096, random_state=options.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # if rows repeat, it may find fewer clusters than asked for
        return means.fit(x).cluster_centers_


# GPyTorch and BoTorch


def minimise(loss, parameters, iterations=1000):
    """Runs scipy's L-BFGS-B on torch parameters. Returns the value, and why it stopped.

    torch's own L-BFGS doesn't test the value's relative change. It also ends if its line search meets a
    covariance that isn't positive definite. Here the line search steps back from such a point."""
    import torch
    from linear_operator.utils.errors import NanError, NotPSDError
    from scipy.optimize import minimize

    def put(flat):
        with torch.no_grad():
            torch.nn.utils.vector_to_parameters(torch.from_numpy(flat.copy()), parameters)

    def evaluate(flat):
        put(flat)
        for p in parameters:
            p.grad = None
        try:
            value = loss()
            value.backward()
        except (NanError, NotPSDError):
            return 1e6, np.zeros_like(flat)
        return value.item(), torch.cat([p.grad.flatten() for p in parameters]).numpy()

    start = torch.nn.utils.parameters_to_vector(parameters).detach().numpy()
    found = minimize(evaluate, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations, "maxfun": 2 * iterations})
    put(found.x)
    return found.fun, {"iterations": int(found.nit), "stopped": found.message.lower()}


def in_blocks(predict, tests, block=BLOCK):
    """Calls predict(rows) -> mean, variance (torch tensors) for blocks of all tests. Returns numpy mean and sd."""
    import torch

    with torch.no_grad():
        parts = [predict(torch.from_numpy(tests[i : i + block])) for i in range(0, len(tests), block)]
    mean = torch.cat([m.flatten() for m, _ in parts]).numpy()
    return mean, torch.cat([v.flatten() for _, v in parts]).sqrt().numpy()


def by_cholesky():
    """Returns a context in which GPyTorch computes exactly what it would otherwise estimate for large n."""
    import contextlib
    import sys

    import gpytorch

    stack = contextlib.ExitStack()
    stack.enter_context(gpytorch.settings.fast_computations(False, False, False))
    stack.enter_context(gpytorch.settings.max_cholesky_size(sys.maxsize))
    return stack


def gpytorch_exact(x, y, tests, options):
    """An exact GP: constant mean, ARD Matérn-5/2, Gaussian noise (floor lowered from 1e-4 to 1e-6), evidence by
    L-BFGS from two starts."""
    import gpytorch
    import torch

    refuse_more_than(EXACT_ROWS, len(y), "GPyTorch")
    inputs = x.shape[1]
    torch.set_num_threads(options.threads)

    class Exact(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(2.5, ard_num_dims=inputs))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    rows, target = torch.from_numpy(x), torch.from_numpy(y)
    best = None
    with by_cholesky():
        for lengthscale in (typical_distance(inputs), typical_distance(inputs) / 3):
            noise = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.GreaterThan(1e-6))
            model = Exact(rows, target, noise).double()
            model.covar_module.base_kernel.lengthscale = lengthscale
            model.likelihood.noise = 0.1
            model.train()
            evidence = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
            value, ended = minimise(lambda: -evidence(model(rows), target), list(model.parameters()))
            if best is None or value < best[0]:
                best = value, ended, model
        value, ended, model = best
        model.eval()

        def predict(block):
            noisy = model.likelihood(model(block))
            return noisy.mean, noisy.variance

        mean, sd = in_blocks(predict, tests)
    settings = {"kernel": "matern52 ard", "optimizer": "l-bfgs", "starts": 2, "evidence": -value * len(y), **ended}
    return mean, sd, settings


def botorch_default(x, y, tests, options):
    """SingleTaskGP and its fit with their defaults: squared exponential, and a lognormal prior of lengthscales that
    grows with the dimension. The prior is meant for inputs in the unit cube, so Normalize maps them there."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms.input import Normalize
    from gpytorch.mlls import ExactMarginalLogLikelihood

    refuse_more_than(EXACT_ROWS, len(y), "BoTorch")
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)  # after a failed fit, BoTorch starts again from a draw of the priors
    with by_cholesky():
        model = SingleTaskGP(torch.from_numpy(x), torch.from_numpy(y)[:, None], input_transform=Normalize(x.shape[1]))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))

        def predict(block):
            posterior = model.posterior(block, observation_noise=True)
            return posterior.mean, posterior.variance

        mean, sd = in_blocks(predict, tests)
    return mean, sd, {"kernel": "default (se ard, lognormal prior)", "inputs": "unit cube", "optimizer": "l-bfgs"}


def descend(loss, steps, parameters, options, began, rate=0.01):
    """Takes steps of Adam on loss(), each on the next minibatch. In the last quarter the rate is a tenth.

    The schedule follows the steps or the time allowed, whichever is farther along, so that a slow
    machine also ends with the small steps. Returns what a result says of the training."""
    import torch

    adam = torch.optim.Adam(parameters, lr=rate)
    done = 0
    while (share := max(done / steps, (spent(options) - began) / options.seconds)) < 1:
        for group in adam.param_groups:
            group["lr"] = rate if share < 0.75 else rate / 10
        adam.zero_grad()
        loss().backward()
        adam.step()
        done += 1
    return {"optimizer": "adam", "rate": rate, "steps": done, "stopped": "epochs" if done >= steps else "time"}


def variational(strategy, inputs):
    """Returns a GP with constant mean and ARD Matérn-5/2 whose posterior is strategy(model), and its likelihood."""
    import gpytorch

    class Variational(gpytorch.models.ApproximateGP):
        def __init__(self):
            super().__init__(strategy(self))
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(2.5, ard_num_dims=inputs))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        def __call__(self, x):
            return self.variational_strategy(x)

    model, likelihood = Variational(), gpytorch.likelihoods.GaussianLikelihood()
    model.covar_module.base_kernel.lengthscale = typical_distance(inputs)
    likelihood.noise = 0.1
    return model, likelihood


def variational_predictions(model, likelihood, tests, block):
    model.eval()
    likelihood.eval()

    def predict(rows):
        noisy = likelihood(model(rows))
        return noisy.mean, noisy.variance

    return in_blocks(predict, tests, block)


def svgp(x, y, tests, options):
    """GPyTorch's SVGP with minibatches and Adam."""
    import gpytorch
    import torch

    began = spent(options)
    n = len(y)
    batches = math.ceil(n / BATCH)
    epochs = max(100, math.ceil(3000 / batches))  # with few rows an epoch has few steps
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    centres = torch.from_numpy(inducing_inputs(x, options))

    def strategy(model):
        q = gpytorch.variational.CholeskyVariationalDistribution(len(centres))
        return gpytorch.variational.VariationalStrategy(model, centres, q, learn_inducing_locations=True)

    rows, target = torch.from_numpy(x), torch.from_numpy(y)
    model, likelihood = (part.double() for part in variational(strategy, x.shape[1]))
    elbo = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=n)

    def minibatches():
        while True:
            yield from torch.randperm(n).split(BATCH)

    minibatch = minibatches()

    def loss():
        batch = next(minibatch)
        return -elbo(model(rows[batch]), target[batch])

    ended = descend(loss, epochs * batches, [*model.parameters(), *likelihood.parameters()], options, began)
    mean, sd = variational_predictions(model, likelihood, tests, BLOCK)
    return mean, sd, {"kernel": "matern52 ard", "inducing": len(centres), "batch": BATCH, "epochs": epochs, **ended}


def vnngp(x, y, tests, options, batch=64, epochs=60):
    """GPyTorch's VNNGP: every row is an inducing input, conditioned on its nearest neighbours among the rows before it.
    Minibatches, rate and float32 are those of GPyTorch's tutorial. The order is random."""
    import gpytorch
    import torch

    began = spent(options)
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    order = np.random.default_rng(options.seed).permutation(len(y))
    rows, target = torch.from_numpy(x[order]).float(), torch.from_numpy(y[order]).float()
    neighbours = min(NEIGHBOURS, len(y) // 2)

    def strategy(model):
        q = gpytorch.variational.MeanFieldVariationalDistribution(len(rows))
        return gpytorch.variational.NNVariationalStrategy(model, rows, q, k=neighbours, training_batch_size=batch)

    model, likelihood = variational(strategy, x.shape[1])
    nearest = model.variational_strategy
    elbo = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))

    def loss():
        latent = model(None)  # the strategy picks the next minibatch, and afterwards says which
        return -elbo(latent, target[nearest.current_training_indices])

    steps = epochs * nearest._total_training_batches
    ended = descend(loss, steps, [*model.parameters(), *likelihood.parameters()], options, began)
    mean, sd = variational_predictions(model, likelihood, tests.astype(np.float32), batch)
    settings = {"kernel": "matern52 ard", "neighbours": neighbours, "batch": batch, "epochs": epochs, **ended}
    return mean.astype(float), sd.astype(float), settings


# GPflow


def sgpr(x, y, tests, options, iterations=1000):
    """GPflow's SGPR. L-BFGS trains everything, inducing inputs too, until it converges or time is spent."""
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import gpflow
    import tensorflow as tf

    began = spent(options)
    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    centres = inducing_inputs(x, options)
    inputs = x.shape[1]
    kernel = gpflow.kernels.Matern52(lengthscales=np.full(inputs, typical_distance(inputs)))
    model = gpflow.models.SGPR(
        (x, y[:, None]), kernel, centres, mean_function=gpflow.functions.Constant(), noise_variance=0.1
    )

    late = False

    def step(*_):
        nonlocal late
        late = spent(options) - began > options.seconds
        if late:
            raise StopIteration  # scipy's way to end with the best point so far

    found = gpflow.optimizers.Scipy().minimize(
        model.training_loss_closure(), model.trainable_variables, step_callback=step,
        options={"maxiter": iterations, "maxfun": 2 * iterations},
    )  # fmt: skip
    parts = [model.predict_y(tests[i : i + BLOCK]) for i in range(0, len(tests), BLOCK)]
    mean = np.concatenate([m.numpy().ravel() for m, _ in parts])
    sd = np.sqrt(np.concatenate([v.numpy().ravel() for _, v in parts]))
    settings = {
        "kernel": "matern52 ard", "inducing": len(centres), "optimizer": "l-bfgs", "iterations": int(found.nit),
        "stopped": "time" if late else str(found.message).lower(),
    }  # fmt: skip
    return mean, sd, settings


# scikit-learn


def sklearn_exact(x, y, tests, options):
    """GaussianProcessRegressor: ARD Matérn-5/2 and white noise, two restarts drawn from the bounds."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    refuse_more_than(SKLEARN_ROWS, len(y), "scikit-learn")
    inputs = x.shape[1]
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * Matern(
        np.full(inputs, typical_distance(inputs)), (1e-2, 1e3), nu=2.5
    ) + WhiteKernel(0.1, (1e-6, 1e1))
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=options.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a lengthscale at its bound belongs to an input that doesn't matter
        model.fit(x, y)
    mean, sd = model.predict(tests, return_std=True)  # sd includes WhiteKernel's variance
    settings = {"kernel": "matern52 ard + white", "restarts": 2, "evidence": float(model.log_marginal_likelihood_value_)}
    return mean, sd, settings


# GPBoost


def gpboost_vecchia(x, y, tests, options):
    """GPBoost's GP with Vecchia's approximation and ARD Matérn-5/2. Everything else is as it comes."""
    import gpboost

    model = gpboost.GPModel(
        gp_coords=x, cov_function="matern_ard", cov_fct_shape=2.5, gp_approx="vecchia",
        num_parallel_threads=options.threads, seed=options.seed,
    )  # fmt: skip
    model.fit(y=y)
    found = model.predict(gp_coords_pred=tests, predict_var=True)
    settings = {
        "kernel": "matern52 ard", "neighbours": "default", "optimizer": "l-bfgs",
        "iterations": int(model._get_num_optim_iter()),
    }  # fmt: skip
    return found["mu"], np.sqrt(found["var"]), settings


# LightGBM

FEW = 2000  # below this many rows, a tenth is too small to decide when to stop


def boosted(x, y, tests, options, parameters, rounds, stop):
    """Held-out rows give the residuals' sd and, if `stop` is set, the number of rounds. The predicting model is
    then trained on all rows. One tenth is held out or, with fewer than FEW rows, each tenth in turn."""
    import lightgbm

    parameters = {
        "objective": "regression", "num_threads": options.threads, "seed": options.seed, "verbosity": -1,
        "deterministic": True, **parameters,
    }  # fmt: skip
    order = np.random.default_rng(options.seed).permutation(len(y))
    tenths = np.array_split(order, 10)
    held = tenths if len(y) < FEW else tenths[:1]
    curves, predictions = [], []
    for part in held:
        rest = np.setdiff1d(order, part)
        train = lightgbm.Dataset(x[rest], y[rest], free_raw_data=False)
        check = lightgbm.Dataset(x[part], y[part], reference=train)
        curve = {}
        calls = [lightgbm.record_evaluation(curve)]
        if stop and len(held) == 1:
            calls.append(lightgbm.early_stopping(stop, verbose=False))
        trained = lightgbm.train({**parameters, "metric": "l2"}, train, rounds, valid_sets=[check], callbacks=calls)
        curves.append(curve["valid_0"]["l2"])
        predictions.append(trained)
    best = 1 + int(np.argmin(np.mean(curves, axis=0))) if stop else rounds
    residuals = np.concatenate(
        [y[part] - model.predict(x[part], num_iteration=best) for part, model in zip(held, predictions, strict=True)]
    )
    sd = math.sqrt(np.mean(residuals**2))
    final = lightgbm.train(parameters, lightgbm.Dataset(x, y), best)
    settings = {
        **{k: v for k, v in parameters.items() if k not in ("verbosity", "num_threads", "deterministic", "seed")},
        "rounds": best, "sd": f"residuals of {len(residuals)} held-out rows",
        "held_out": "each tenth in turn" if len(held) > 1 else "one tenth",
    }  # fmt: skip
    return final.predict(tests), np.full(len(tests), sd), settings


def lightgbm_stopped(x, y, tests, options):
    """Small steps, stopped by held-out rows. Small sets get smaller leaves, since the default of 20 rows is a fifth of the smallest set."""
    leaf = int(np.clip(len(y) // 50, 3, 20))
    few = len(y) < FEW
    return boosted(
        x, y, tests, options, {"learning_rate": 0.05, "min_data_in_leaf": leaf}, rounds=500 if few else 5000, stop=100
    )


def lightgbm_default(x, y, tests, options):
    """LightGBM with its defaults: 100 rounds at a rate of 0.1."""
    return boosted(x, y, tests, options, {}, rounds=100, stop=0)


def lightgbm_tuned(x, y, tests, options, candidates=20, rounds=1000, stop=50):
    """The best of 20 drawn candidates by the squared error of the same five folds, whose mean also says when to stop.
    The sd is that of the best candidate's errors on the folds."""
    import lightgbm

    random = np.random.default_rng(options.seed)
    parts = np.array_split(random.permutation(len(y)), 5)
    folds = [(np.setdiff1d(np.arange(len(y)), part), part) for part in parts]
    best = None
    for _ in range(candidates):
        drawn = {
            "learning_rate": 10 ** random.uniform(-1.7, -0.7), "num_leaves": int(random.integers(3, 32)),
            "min_data_in_leaf": int(2 ** random.uniform(1, 5)), "lambda_l2": 10 ** random.uniform(-2, 1.5),
            "feature_fraction": random.uniform(0.5, 1),
        }  # fmt: skip
        parameters = {
            "objective": "regression", "metric": "l2", "num_threads": options.threads, "seed": options.seed,
            "verbosity": -1, "deterministic": True, **drawn,
        }  # fmt: skip
        curve = lightgbm.cv(
            parameters, lightgbm.Dataset(x, y, free_raw_data=False), rounds, folds=folds,
            callbacks=[lightgbm.early_stopping(stop, verbose=False)],
        )["valid l2-mean"]  # fmt: skip
        if best is None or min(curve) < best[0]:
            best = min(curve), 1 + int(np.argmin(curve)), drawn, parameters
    error, count, drawn, parameters = best
    final = lightgbm.train(parameters, lightgbm.Dataset(x, y), count)
    settings = {**drawn, "rounds": count, "candidates": candidates, "sd": "errors on five folds"}
    return final.predict(tests), np.full(len(tests), math.sqrt(error)), settings


# xRFM


def xrfm_tuned(x, y, tests, options, candidates=20):
    """The default and 20 draws of PyTabKit's search space, the best by the squared error of the same five folds. xRFM
    stops by the held-out rows, so there is no model of all rows: the mean of the five folds' models predicts.
    The sd is that of the best candidate's errors on the folds. As xRFM's page advises, a column of two values becomes 0 and 1."""
    import torch
    from xrfm import xRFM

    low, high = x.min(axis=0), x.max(axis=0)
    binary = ((x == low) | (x == high)).all(axis=0) & (low < high)
    shift, unit = np.where(binary, low, 0), np.where(binary, high - low, 1)
    rows, tests, target = (torch.from_numpy(v).float() for v in ((x - shift) / unit, (tests - shift) / unit, y))
    random = np.random.default_rng(options.seed)
    parts = np.array_split(random.permutation(len(y)), 5)
    drawn = [{"kernel": "l2", "bandwidth": 10.0, "exponent": 1.0, "norm_p": 2.0, "diag": True, "reg": 1e-3}]
    for _ in range(candidates):
        exponent = random.uniform(0.7, 1.4)
        drawn.append({
            "kernel": str(random.choice(["lpq", "l2"], p=[0.8, 0.2])), "bandwidth": math.exp(random.uniform(*np.log([0.5, 200]))),
            "exponent": exponent, "norm_p": exponent + (2 - exponent) * random.uniform(0, 0.8),
            "diag": bool(random.integers(2)), "reg": math.exp(random.uniform(*np.log([1e-6, 10]))),
        })  # fmt: skip
    best = None
    for candidate in drawn:
        model = {name: value for name, value in candidate.items() if name != "reg"}
        fit = {"reg": candidate["reg"], "iters": 5, "verbose": False, "early_stop_rfm": True, "early_stop_multiplier": 1.1}
        models, error = [], 0
        for part in parts:
            rest = np.setdiff1d(np.arange(len(y)), part)
            params = {"model": {**model, "bandwidth_mode": "constant"}, "fit": dict(fit)}
            models.append(xRFM(params, device="cpu", tuning_metric="mse", n_threads=options.threads,
                               random_state=options.seed, verbose=False))  # fmt: skip
            models[-1].fit(rows[rest], target[rest], rows[part], target[part])
            error += float(np.sum((np.ravel(models[-1].predict(rows[part])) - y[part]) ** 2)) / len(y)
        if best is None or error < best[0]:
            best = error, candidate, models
    error, candidate, models = best
    mean = np.mean([np.ravel(model.predict(tests)) for model in models], axis=0, dtype=float)
    settings = {**candidate, "candidates": len(drawn), "sd": "errors on five folds"}
    return mean, np.full(len(tests), math.sqrt(error)), settings


PEERS = {  # name: (the function, the packages whose versions a result states)
    "gpytorch": (gpytorch_exact, ["gpytorch", "linear_operator", "torch"]),
    "botorch": (botorch_default, ["botorch", "gpytorch", "linear_operator", "torch"]),
    "svgp": (svgp, ["gpytorch", "linear_operator", "torch"]),
    "vnngp": (vnngp, ["gpytorch", "linear_operator", "torch", "faiss-cpu"]),
    "gpboost": (gpboost_vecchia, ["gpboost"]),
    "sgpr": (sgpr, ["gpflow", "tensorflow", "tensorflow-probability"]),
    "sklearn": (sklearn_exact, ["scikit-learn", "scipy"]),
    "lightgbm": (lightgbm_stopped, ["lightgbm"]),
    "lightgbm-default": (lightgbm_default, ["lightgbm"]),
    "lightgbm-tuned": (lightgbm_tuned, ["lightgbm"]),
    "xrfm": (xrfm_tuned, ["xrfm", "torch"]),
}
