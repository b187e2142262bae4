#!/usr/bin/env python3
"""Times sparse objectives and their gradients: krigo, and for VFE GPflow and GPyTorch.

    sparse.py [options]              the driver: checks, measures, prints two Markdown tables
    sparse.py CONTENDER [options]    one Python contender, as the driver starts it

The model is evidence.py's with M inducing inputs Z; gradients are with respect to
ln l_1 .. ln l_8, ln s_s, ln s_n and every element of Z. All in float64. README.md
describes the protocol and how to read the tables.
"""

import argparse
import array
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evidence import HERE, INPUTS, LOG_LENGTHSCALES, LOG_NOISE_VARIANCE, LOG_VARIANCE, NOISE, SEED
from evidence import Bystanders, integers, machine, memory_kib, print_table, say, smooth

PARAMETERS = INPUTS + 2
AGREEMENT = 1e-6
QUIET = 0.1  # a turn counts if other processes use fewer cores than this

# Multiplications and additions of order N M² and M³ in krigo's code. A product of m×k and k×n
# counts 2mnk, or half of it if only a triangle of the result is computed or one factor is
# triangular. Kernels, sums over rows and other terms of order N M aren't counted, so that the
# rates below are too low rather than too high.
#
#   N M²  VFE: V = L⁻¹K_ZX 1, A 1, (L⁻ᵀC)V 2;
#         FITC: V 1, A 1, V B̄ 2, Σ λ̄ V Vᵀ 1, L⁻ᵀV̄ 1; PAC also L_B⁻¹V 1, Σ h V Vᵀ 1, V B⁻¹ 2
#   M³    Cholesky of K_ZZ and of B 1/3 each, B⁻¹ 2/3, B̄A 2, two triangular solves 1 each;
#         VFE one more for L⁻ᵀC; PAC also three products for B̄ and Σ V̄ Vᵀ: 2, 1, 2
#
# If V isn't kept, each pass after the first computes L⁻¹K_ZX again.
COUNTS = {  # objective: (N M², M³, passes after the first)
    "vfe": (4, 19 / 3, 1),
    "fitc": (6, 16 / 3, 1),
    "pac": (10, 31 / 3, 3),
}
KEEP = {"kept": 1 << 30, "again": 0}  # krigo's default, and the least memory


def flops(objective, keep, rows, m):
    square, cube, passes = COUNTS[objective]
    return (square + (passes if keep == "again" else 0)) * rows * m**2 + cube * m**3


# Data

def write_data(path, rows, inducing):
    """Writes a file of the parameters, X, y and Z, as little-endian float64."""
    rng = random.Random(SEED)
    x, y = array.array("d"), array.array("d")
    for _ in range(rows):
        row = [3 * rng.random() for _ in range(INPUTS)]
        x.extend(row)
        y.append(smooth(row) + NOISE * rng.gauss(0, 1))
    z = array.array("d", (3 * rng.random() for _ in range(inducing * INPUTS)))
    parameters = array.array("d", [*LOG_LENGTHSCALES, LOG_VARIANCE, LOG_NOISE_VARIANCE])
    with open(path, "wb") as file:
        for part in (parameters, x, y, z):
            if sys.byteorder == "big":
                part.byteswap()
            part.tofile(file)


def read_data(path, rows, inducing):
    import numpy as np

    data = np.fromfile(path, dtype="<f8")
    at, x, y, z = np.split(data, np.cumsum([PARAMETERS, rows * INPUTS, rows]))
    return at, x.reshape(rows, INPUTS), y, z.reshape(inducing, INPUTS)


def made_up_data():
    import numpy as np

    rng = np.random.default_rng(0)
    return np.zeros(PARAMETERS), rng.random((64, INPUTS)), rng.random(64), rng.random((16, INPUTS))


# Contenders in Python. Each does its imports, and returns its version and a function of
# (at, x, y, z). That function returns an `evaluate` without arguments, which computes the
# value, the gradient in the parameters and the gradient in Z anew at each call.

def gpflow_contender(threads):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import gpflow
    import tensorflow as tf
    import tensorflow_probability as tfp

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    gpflow.config.set_default_jitter(0.0)

    def logarithmic(value):
        # The unconstrained variable is the logarithm, so its gradient is with respect to the logarithm.
        return gpflow.Parameter(value, transform=tfp.bijectors.Exp())

    def prepare(at, x, y, z):
        import numpy as np

        kernel = gpflow.kernels.SquaredExponential(lengthscales=np.ones(INPUTS))
        kernel.lengthscales = logarithmic(np.exp(at[:INPUTS]))
        kernel.variance = logarithmic(np.exp(at[INPUTS]))
        model = gpflow.models.SGPR((x, y[:, None]), kernel, z, noise_variance=1.0)
        model.likelihood.variance = logarithmic(np.exp(at[INPUTS + 1]))
        variables = [
            parameter.unconstrained_variable
            for parameter in (kernel.lengthscales, kernel.variance, model.likelihood.variance, model.inducing_variable.Z)
        ]

        @tf.function
        def value_and_gradient():
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(variables)
                value = model.training_loss()
            return value, tape.gradient(value, variables)

        def evaluate():
            value, (lengthscales, variance, noise, inducing) = value_and_gradient()
            return float(value), [*lengthscales.numpy(), float(variance), float(noise)], inducing.numpy().ravel()

        return evaluate

    return f"{gpflow.__version__} (tensorflow {tf.__version__})", prepare


def gpytorch_contender(threads):
    import gpytorch
    import torch

    torch.set_num_threads(threads)

    def logarithmic():
        # The raw parameter is the logarithm, so the raw gradient is with respect to the logarithm.
        return gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)

    class SGPR(gpytorch.models.ExactGP):
        def __init__(self, x, y, z, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.base = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=INPUTS, lengthscale_constraint=logarithmic()),
                outputscale_constraint=logarithmic(),
            )
            self.covar_module = gpytorch.kernels.InducingPointKernel(self.base, z, likelihood)

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def prepare(at, x, y, z):
        at, x, y, z = (torch.from_numpy(part.copy()) for part in (at, x, y, z))
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=logarithmic())
        model = SGPR(x, y, z, likelihood).double()
        model.train()
        raw = [model.base.base_kernel.raw_lengthscale, model.base.raw_outputscale, likelihood.noise_covar.raw_noise]
        with torch.no_grad():
            for parameter, part in zip(raw, (at[:INPUTS], at[INPUTS], at[INPUTS + 1])):
                parameter.copy_(part.reshape(parameter.shape))
        # The marginal likelihood of the low-rank covariance, plus InducingPointKernel's added
        # loss term, which is VFE's trace term. It is a mean over the rows.
        evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

        def evaluate():
            model.zero_grad()
            # GPyTorch's "fast" computations stay on. For a low-rank covariance they are exact
            # and M×M. Without them, GPyTorch would factor N×N matrices.
            with gpytorch.settings.max_cholesky_size(sys.maxsize):
                value = -len(y) * evidence(model(x), y)
                value.backward()
            gradient = torch.cat([parameter.grad.flatten() for parameter in raw])
            return value.item(), gradient.tolist(), model.covar_module.inducing_points.grad.flatten().numpy()

        return evaluate

    return f"{gpytorch.__version__} (torch {torch.__version__})", prepare


PEERS = {"gpflow": gpflow_contender, "gpytorch": gpytorch_contender}


def run_contender(name, arguments):
    """Runs one contender: warms up, measures, and reports JSON on standard output."""
    parser = argparse.ArgumentParser(prog=f"sparse.py {name}")
    parser.add_argument("--data", required=True)
    for option in ("--rows", "--inducing", "--repeat"):
        parser.add_argument(option, type=int, required=True)
    options = parser.parse_args(arguments)

    version, prepare = PEERS[name](int(os.environ["OMP_NUM_THREADS"]))
    prepare(*made_up_data())()  # the first use loads libraries, which then count as baseline
    data = read_data(options.data, options.rows, options.inducing)
    baseline = memory_kib("VmRSS")
    evaluate = prepare(*data)
    value, gradient, inducing = evaluate()
    seconds = []
    for _ in range(options.repeat):
        gc.collect()  # outside the clock, since the garbage is the last evaluation's
        start = time.perf_counter()
        value, gradient, inducing = evaluate()
        seconds.append(time.perf_counter() - start)
    report = {
        "contender": name,
        "version": version,
        "value": value,
        "gradient": list(map(float, gradient)),
        "inducing": inducing.tolist(),
        "seconds": seconds,
        "baseline_kib": baseline,
        "peak_kib": memory_kib("VmHWM"),
    }
    print(json.dumps(report))


# The driver

def run(command, threads, text=None):
    """Runs a program. Returns its output, and the cores that other processes used meanwhile."""
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMAXPROCS"):
        environment[variable] = str(threads)
    with Bystanders() as others:
        process = subprocess.run(list(map(str, command)), env=environment, input=text, capture_output=True, text=True)
    if process.returncode != 0:
        sys.exit(f"{command} failed with status {process.returncode}:\n{process.stderr}")
    return process.stdout, others.cores


def dgemm(threads):
    """Returns the rate of OpenBLAS's dgemm, for the better of two sizes, and the cores that other processes used."""
    orders = (1024, 2048)
    command = [sys.executable, HERE / "numcore.py", "worker"]
    out, others = run(command, threads, "".join(f"gemm {n} 0.3\n" for n in orders))
    return max(2 * n**3 / float(seconds) for n, seconds in zip(orders, out.split(), strict=True)), others


def check(reports):
    """Returns the largest differences of values and gradients. Ends the program if they aren't the same."""
    worst = 0.0
    first, *others = reports
    for other in others:
        for part in ("value", "gradient", "inducing"):
            a, b = ([r[part]] if part == "value" else r[part] for r in (other, first))
            difference = max(abs(p - q) for p, q in zip(a, b, strict=True)) / max(map(abs, b))
            if not difference <= AGREEMENT:  # "not <=" also catches NaN
                sys.exit(f"{other['contender']} and {first['contender']} disagree: {part} by {difference:.1e} (relative)")
            worst = max(worst, difference)
    return worst


class Turns:
    """Results of a contender's turns: of the quiet turns, or of all turns if no turn was quiet."""

    def __init__(self):
        self.quiet, self.noisy = [], []

    def add(self, what, others):
        (self.quiet if others < QUIET else self.noisy).append(what)

    def kept(self):
        return self.quiet or self.noisy


def measure(commands, threads, options):
    """Lets the contenders and dgemm take turns. Returns name -> Turns."""
    turns = {name: Turns() for name in [*commands, "dgemm"]}
    for number in range(options.patience):
        for name, turn in turns.items():
            if len(turn.quiet) >= options.rounds:
                continue
            if name == "dgemm":
                rate, others = dgemm(threads)
                turn.add(rate, others)
                figure = f"{rate / 1e9:.1f} GFLOPS"
            else:
                out, others = run(commands[name], threads)
                report = json.loads(out)
                turn.add(report, others)
                figure = f"{statistics.median(report['seconds']):.4g} s"
            say(f"    threads={threads}, turn {number + 1}: {' '.join(name) if name != 'dgemm' else name} {figure}; others used {others:.2f} cores")
    return turns


def seconds(turn):
    return [s for report in turn.kept() for s in report["seconds"]]


def added(turn):
    return max(r["peak_kib"] - r["baseline_kib"] for r in turn.quiet + turn.noisy) / 1024


def mark(*turns):
    return "" if all(turn.quiet for turn in turns) else " (disturbed)"


def table_rows(m, threads, turns, rows):
    """Returns the rows for one M and number of threads, for two tables: krigo beside its peers, and krigo's objectives."""
    ours = turns["vfe", "kept"]
    beside, objectives = [], []
    for name, turn in turns.items():
        if name == "dgemm":
            continue
        median = statistics.median(seconds(turn))
        spread = f"{min(seconds(turn)):.4g}–{max(seconds(turn)):.4g}"
        if name[0] in PEERS or name[0] == "vfe":
            label = f"{name[0]} {turn.kept()[0]['version']}" if name[0] in PEERS else f"krigo, V {name[1]}"
            ratio = median / statistics.median(seconds(ours))
            memory = added(turn) / added(ours)
            beside.append(
                [m, threads, label, f"{median:.4g}", spread, f"{ratio:.2f}" + mark(turn, ours), f"{added(turn):.0f}", f"{memory:.2f}"]
            )
        if name[0] in COUNTS:
            work = flops(*name, rows, m)
            peak = statistics.median(turns["dgemm"].kept())
            fitc = turns["fitc", name[1]]
            objectives.append(
                [m, threads, *name, f"{median:.4g}", spread, f"{work / 1e9:.1f}", f"{work / median / 1e9:.1f}", f"{peak / 1e9:.1f}"]
                + [f"{100 * work / median / peak:.0f} %" + mark(turn, turns["dgemm"])]
                + [f"{median / statistics.median(seconds(fitc)):.2f}" + mark(turn, fitc)]
            )
    return beside, objectives


BESIDE = ["M", "threads", "contender", "median s", "min–max s", "ratio to krigo", "added MiB", "memory ratio"]
OBJECTIVES = ["M", "threads", "objective", "V", "median s", "min–max s", "Gflop", "GFLOPS", "DGEMM", "of DGEMM", "of FITC's time"]


def drive(arguments):
    parser = argparse.ArgumentParser(prog="sparse.py", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40000, help="N (default 40000)")
    parser.add_argument("--inducing", type=integers, default=[200, 500, 1000], help="values of M (default 200,500,1000)")
    parser.add_argument("--threads", type=integers, default=[1, 2], help="thread counts (default 1,2)")
    parser.add_argument("--rounds", type=int, default=3, help="number of quiet turns of each contender (default 3)")
    parser.add_argument("--patience", type=int, default=6, help="largest number of turns to get them (default 6)")
    parser.add_argument("--repeat", type=int, help="evaluations in a turn (default 2000/M, from 2 to 10)")
    parser.add_argument("--gpflow", default=sys.executable, help="a Python that has GPflow (default: this one)")
    parser.add_argument("--only", default="", help="contenders to run, separated by commas, among vfe,fitc,pac,gpflow,gpytorch (default all)")
    options = parser.parse_args(arguments)
    options.patience = max(options.patience, options.rounds)
    if options.rounds < 1 or (options.repeat is not None and options.repeat < 1):
        parser.error("--rounds and --repeat must be at least 1")
    wanted = options.only.split(",") if options.only else [*COUNTS, *PEERS]
    if not {"vfe", "fitc"} <= {*wanted}:
        parser.error("--only needs vfe and fitc, which the others are compared with")

    pythons = {}
    for name, python in ("gpflow", options.gpflow), ("gpytorch", sys.executable):
        find = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({name!r}))"
        if name in wanted:
            if subprocess.run([python, "-c", find]).returncode == 0:
                pythons[name] = python
            else:
                say(f"{name} is left out: it isn't installed, see bench/README.md")

    beside, objectives = [], []
    with tempfile.TemporaryDirectory(prefix="krigo-bench-") as temporary:
        program = Path(temporary) / "krigo-sparse"
        subprocess.run(["go", "build", "-o", program, "./bench/sparse"], cwd=HERE.parent, check=True)
        for m in options.inducing:
            data = Path(temporary) / f"data-{m}"
            write_data(data, options.rows, m)
            repeat = options.repeat or max(2, min(10, 2000 // m))
            arguments = [f"--data={data}", f"--rows={options.rows}", f"--inducing={m}", f"--repeat={repeat}"]
            commands = {
                (objective, keep): [program, *arguments, f"--objective={objective}", f"--keep={size}"]
                for objective in COUNTS
                if objective in wanted
                for keep, size in KEEP.items()
            }
            commands |= {(name,): [python, __file__, name, *arguments] for name, python in pythons.items()}
            say(f"N={options.rows}, M={m}")
            for threads in options.threads:
                turns = measure(commands, threads, options)
                same = [t for name, t in turns.items() if name[0] == "vfe" or name[0] in PEERS]
                worst = check([report for turn in same for report in turn.quiet + turn.noisy])
                say(f"    threads={threads}: VFE agrees to {worst:.1e} (relative)")
                for table, rows in zip((beside, objectives), table_rows(m, threads, turns, options.rows)):
                    table += rows
    print_table(BESIDE, ["--:", "--:", ":--"] + ["--:"] * 5, beside)
    print()
    print_table(OBJECTIVES, ["--:", "--:", ":--", ":--"] + ["--:"] * 7, objectives)
    print(f"\nN = {options.rows}. {machine()}")


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PEERS:
        run_contender(sys.argv[1], sys.argv[2:])
    else:
        drive(sys.argv[1:])
