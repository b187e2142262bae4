#!/usr/bin/env python3
"""Times the exact negative log evidence and its gradient: krigo, GPyTorch, torch alone, scikit-learn.

    evidence.py [options]              the driver: checks, measures, prints a Markdown table
    evidence.py CONTENDER [options]    one Python contender, as the driver starts it

The model: y ~ N(0, K + s_n I), K the squared-exponential kernel with one lengthscale for
each input,

    k(x, x') = s_s exp(-1/2 sum_i (x_i - x'_i)^2 / l_i^2),

and the gradient is with respect to ln l_1 .. ln l_8, ln s_s, ln s_n, in this order (s_s and
s_n are variances). All in float64. README.md describes the protocol between the driver and
its contenders. The driver itself needs the standard library only.
"""

import argparse
import csv
import datetime
import gc
import importlib.util
import json
import math
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

SEED = 20240917
INPUTS = 8
NOISE = 0.1  # standard deviation of the noise in the data

# All contenders evaluate at this point. It is plausible but not an optimum, so that neither
# the value nor the largest component of the gradient is near zero at any N.
LOG_LENGTHSCALES = [0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6]
LOG_VARIANCE = 0.3
LOG_NOISE_VARIANCE = -1.5

AGREEMENT = 1e-6


# Data

def smooth(x):
    """The function under the noise: a few waves and one product. Its values vary by about 1."""
    return (
        math.sin(2 * x[0])
        + 0.5 * math.cos(1.5 * x[1] + x[2])
        + 0.3 * (x[3] - 1.5) * (x[4] - 1.5)
        + 0.2 * math.sin(x[5] + x[6] - x[7])
    )


def write_data(path, rows):
    """Writes the first `rows` rows of the data set as CSV: header, x1 .. x8, y."""
    rng = random.Random(SEED)
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"x{i + 1}" for i in range(INPUTS)] + ["y"])
        for _ in range(rows):
            x = [3 * rng.random() for _ in range(INPUTS)]
            out.writerow([repr(v) for v in x + [smooth(x) + NOISE * rng.gauss(0, 1)]])


def read_data(path):
    import numpy as np

    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1])


def made_up_data():
    import numpy as np

    x = np.random.default_rng(0).random((64, INPUTS))
    return x, x.sum(axis=1)


# Contenders in Python. Each is a function of the parsed options. It does its imports, and
# returns its version and a function of (x, y). That function returns an `evaluate` without
# arguments, which computes value and gradient anew at each call.

def gpytorch_contender(options):
    import gpytorch
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))

    def logarithmic():
        # The raw parameter is the logarithm, so the raw gradient is with respect to the logarithm.
        return gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)

    class ExactGP(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=INPUTS, lengthscale_constraint=logarithmic()),
                outputscale_constraint=logarithmic(),
            )

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def prepare(x, y):
        x, y = torch.from_numpy(x), torch.from_numpy(y)
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=logarithmic())
        model = ExactGP(x, y, likelihood).double()
        model.train()
        lengthscales = model.covar_module.base_kernel.raw_lengthscale
        variance = model.covar_module.raw_outputscale
        noise = likelihood.noise_covar.raw_noise
        with torch.no_grad():
            lengthscales.copy_(torch.tensor([options.log_lengthscales], dtype=torch.float64))
            variance.fill_(options.log_variance)
            noise.fill_(options.log_noise_variance)
        evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

        def evaluate():
            model.zero_grad()
            # GPyTorch's objective is a mean over the rows.
            value = -len(y) * evidence(model(x), y)
            value.backward()
            gradient = torch.cat([p.grad.flatten() for p in (lengthscales, variance, noise)])
            return value.item(), gradient.tolist()

        # Cholesky throughout: beyond a certain N the default is conjugate gradients and
        # stochastic Lanczos quadrature, which estimate the value.
        def evaluate_by_cholesky():
            with (
                gpytorch.settings.fast_computations(False, False, False),
                gpytorch.settings.max_cholesky_size(sys.maxsize),
            ):
                return evaluate()

        return evaluate_by_cholesky

    return f"{gpytorch.__version__} (torch {torch.__version__})", prepare


def scikit_learn_contender(options):
    import numpy as np
    import scipy
    import sklearn
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    def prepare(x, y):
        kernel = ConstantKernel() * RBF(length_scale=np.ones(INPUTS)) + WhiteKernel()
        # theta is ln s_s, ln l_1 .. ln l_8, ln s_n.
        theta = np.array([options.log_variance, *options.log_lengthscales, options.log_noise_variance])
        model = GaussianProcessRegressor(
            kernel.clone_with_theta(theta), alpha=0.0, optimizer=None, copy_X_train=False
        ).fit(x, y)

        def evaluate():
            value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True, clone_kernel=False)
            variance, *lengthscales, noise = (-gradient).tolist()
            return -float(value), [*lengthscales, variance, noise]

        return evaluate

    return f"{sklearn.__version__} (numpy {np.__version__}, scipy {scipy.__version__})", prepare


def torch_contender(options):
    """The gradient in closed form, without autograd, as a person would write it who needs only this one."""
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))

    def prepare(x, y):
        y = torch.from_numpy(y)
        u = torch.from_numpy(x) / torch.exp(torch.tensor(options.log_lengthscales, dtype=torch.float64))
        variance, noise = math.exp(options.log_variance), math.exp(options.log_noise_variance)

        def evaluate():
            squares = (u * u).sum(1)
            k = torch.addmm(squares[:, None] + squares, u, u.T, alpha=-2).clamp_(min=0).mul_(-0.5).exp_().mul_(variance)
            c = k.clone()
            c.diagonal().add_(noise)
            factor = torch.linalg.cholesky(c)
            weights = torch.cholesky_solve(y[:, None], factor)[:, 0]
            value = 0.5 * (y @ weights) + factor.diagonal().log().sum() + 0.5 * len(y) * math.log(2 * math.pi)
            inverse = torch.cholesky_inverse(factor)
            noise_gradient = 0.5 * noise * (inverse.diagonal().sum() - weights @ weights)
            w = inverse.addr_(weights, weights, alpha=-1).mul_(k)  # (C^-1 - C^-1 y y' C^-1) o K
            sums = w.sum(1)
            lengthscales = sums @ (u * u) - (u * (w @ u)).sum(0)
            return value.item(), [*lengthscales.tolist(), 0.5 * sums.sum().item(), noise_gradient.item()]

        return evaluate

    return torch.__version__, prepare


PEERS = {  # name: (the module that must be there, the contender)
    "gpytorch": ("gpytorch", gpytorch_contender),
    "torch": ("torch", torch_contender),
    "scikit-learn": ("sklearn", scikit_learn_contender),
}


def memory_kib(field, process="self"):
    """Returns a memory figure of a process, by default this one.

    VmRSS is the memory that it holds now, VmHWM the most that it has held."""
    with open(f"/proc/{process}/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    raise RuntimeError(f"no {field} in /proc/{process}/status")


def run_contender(name, arguments):
    """Runs one contender: warms up once, measures, and reports JSON on standard output."""
    parser = argparse.ArgumentParser(prog=f"evidence.py {name}")
    parser.add_argument("--data", required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--log-lengthscales", type=numbers, required=True)
    parser.add_argument("--log-variance", type=float, required=True)
    parser.add_argument("--log-noise-variance", type=float, required=True)
    options = parser.parse_args(arguments)

    version, prepare = PEERS[name][1](options)
    prepare(*made_up_data())()  # the first use loads libraries, which then count as baseline
    baseline = memory_kib("VmRSS")
    evaluate = prepare(*read_data(options.data))
    value, gradient = evaluate()
    seconds = []
    for _ in range(options.repeat):
        gc.collect()  # outside the clock, since the garbage is the last evaluation's
        start = time.perf_counter()
        value, gradient = evaluate()
        seconds.append(time.perf_counter() - start)
    json.dump(
        {
            "contender": name,
            "version": version,
            "value": value,
            "gradient": gradient,
            "seconds": seconds,
            "baseline_kib": baseline,
            "peak_kib": memory_kib("VmHWM"),
        },
        sys.stdout,
    )
    print()


# The driver

def numbers(text):
    return [float(field) for field in text.split(",")]


def integers(text):
    return [int(field) for field in text.split(",")]


def say(text):
    print(text, file=sys.stderr, flush=True)


def contender_commands(temporary, only):
    """Returns the contenders that can run here, as name -> command, krigo first. Prints which are left out, and why."""
    commands = {}
    if not (HERE / "evidence").is_dir():
        say("krigo is left out: there is no bench/evidence to build")
    elif not shutil.which("go"):
        say("krigo is left out: found no go command")
    else:
        program = Path(temporary) / "krigo-evidence"
        build = subprocess.run(["go", "build", "-o", program, "./bench/evidence"], cwd=HERE.parent)
        if build.returncode != 0:
            sys.exit("krigo: can't build bench/evidence")
        commands["krigo"] = [str(program)]
    for name in only:
        module, _ = PEERS[name]
        if importlib.util.find_spec(module):
            commands[name] = [sys.executable, __file__, name]
        else:
            say(f"{name} is left out: it isn't installed, see bench/README.md")
    return commands


class Bystanders:
    """Measures how many cores other processes use, and on a virtual machine other guests.

    If one of several threads has to share its core, the others wait for it at each barrier, and
    the time grows many times over. A table is therefore good only if this figure is small.
    """

    def __enter__(self):
        self.start = self.reading()
        return self

    def __exit__(self, *_):
        wall, theirs = (b - a for a, b in zip(self.start, self.reading()))
        self.cores = max(0.0, theirs / wall)

    @staticmethod
    def reading():
        with open("/proc/stat") as file:
            user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
        ticks = user + nice + system + irq + softirq + steal
        own = os.times()
        ours = own.user + own.system + own.children_user + own.children_system
        return own.elapsed, ticks / os.sysconf("SC_CLK_TCK") - ours


def run(name, command, data, repeat, threads):
    """Runs one contender in a process of its own and returns its report."""
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMAXPROCS"):
        environment[variable] = str(threads)
    command = command + [
        f"--data={data}",
        f"--repeat={repeat}",
        "--log-lengthscales=" + ",".join(map(repr, LOG_LENGTHSCALES)),
        f"--log-variance={LOG_VARIANCE!r}",
        f"--log-noise-variance={LOG_NOISE_VARIANCE!r}",
    ]
    process = subprocess.run(command, env=environment, capture_output=True, text=True)
    if process.returncode != 0:
        sys.exit(f"{name} failed with status {process.returncode}:\n{process.stderr}")
    return json.loads(process.stdout)


def disagreement(a, b):
    """Returns the relative differences of two reports: of their values, and of their gradients in the maximum norm."""
    value = abs(a["value"] - b["value"]) / abs(b["value"])
    scale = max(map(abs, b["gradient"]))
    gradient = max(abs(p - q) for p, q in zip(a["gradient"], b["gradient"], strict=True)) / scale
    return value, gradient


def check(reports):
    """Returns the largest differences of values and gradients. Ends the program if they aren't the same."""
    first, *others = reports
    worst = (0.0, 0.0)
    for other in others:
        value, gradient = disagreement(other, first)
        if not (value <= AGREEMENT and gradient <= AGREEMENT):  # "not <=" also catches NaN
            sys.exit(
                f"{other['contender']} and {first['contender']} disagree: "
                f"value by {value:.1e}, gradient by {gradient:.1e} (relative)"
            )
        worst = (max(worst[0], value), max(worst[1], gradient))
    return worst


def measure(commands, data, rows, threads, rounds, repeat):
    """Runs the contenders in turn, `rounds` times over.

    Returns name -> reports, and the most cores that other processes used during a run.
    """
    reports = {name: [] for name in commands}
    disturbance = 0.0
    for number in range(rounds):
        for name, command in commands.items():
            with Bystanders() as others:
                report = run(name, command, data, repeat, threads)
            reports[name].append(report)
            disturbance = max(disturbance, others.cores)
            median = statistics.median(report["seconds"])
            where = f"threads={threads}, round {number + 1}"
            say(f"    {where}: {name} {median:.4g} s; other processes used {others.cores:.2f} cores")
        check([rs[-1] for rs in reports.values()])
    return reports, disturbance


def table_rows(rows, threads, reports):
    seconds = {name: [s for r in rs for s in r["seconds"]] for name, rs in reports.items()}
    for name, times in seconds.items():
        median = statistics.median(times)
        ratio = f"{median / statistics.median(seconds['krigo']):.2f}" if "krigo" in seconds else "–"
        added = max(r["peak_kib"] - r["baseline_kib"] for r in reports[name]) / 1024
        peak = max(r["peak_kib"] for r in reports[name]) / 1024
        yield [
            rows,
            threads,
            f"{name} {reports[name][0]['version']}",
            f"{median:.4g}",
            f"{min(times):.4g}–{max(times):.4g}",
            ratio,
            f"{added:.0f}",
            f"{peak:.0f}",
        ]


HEAD = ["N", "threads", "contender", "median s", "min–max s", "ratio to krigo", "added MiB", "peak MiB"]
ALIGN = ["--:", "--:", ":--", "--:", "--:", "--:", "--:", "--:"]


def print_table(head, align, rows):
    for cells in [head, align, *rows]:
        print("| " + " | ".join(map(str, cells)) + " |")


def machine():
    """Returns a line that says on which machine and when the program ran."""
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GiB",
        f"{platform.system()} {platform.release()} {platform.machine()}",
        datetime.date.today().isoformat(),
        f"Python {platform.python_version()}",
    ]
    if shutil.which("go"):
        parts.append(subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True).stdout.strip())
    return "; ".join(parts)


def drive(arguments):
    parser = argparse.ArgumentParser(prog="evidence.py", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=integers, default=[500, 2000, 5000], help="values of N (default 500,2000,5000)")
    parser.add_argument("--threads", type=integers, default=[1, 2], help="thread counts (default 1,2)")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each contender, in turn (default 5)")
    parser.add_argument("--repeat", type=int, help="evaluations in a process (default 10000/N, from 1 to 20)")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PEERS), help="peers beside krigo")
    options = parser.parse_args(arguments)
    if unknown := set(options.only) - set(PEERS):
        parser.error(f"--only: no {', '.join(unknown)}; there are {', '.join(PEERS)}")
    if options.rounds < 1 or (options.repeat is not None and options.repeat < 1):
        parser.error("--rounds and --repeat must be at least 1")

    table = []
    disturbance = 0.0
    with tempfile.TemporaryDirectory(prefix="krigo-bench-") as temporary:
        commands = contender_commands(temporary, options.only)
        if not commands:
            sys.exit("there is no contender to run")
        for rows in options.rows:
            data = Path(temporary) / f"data-{rows}.csv"
            write_data(data, rows)
            repeat = options.repeat or max(1, min(20, 10000 // rows))
            say(f"N={rows}")
            for threads in options.threads:
                value, gradient = check([run(*item, data, 0, threads) for item in commands.items()])
                say(f"    threads={threads}: all agree, value to {value:.1e}, gradient to {gradient:.1e} (relative)")
            for threads in options.threads:
                reports, theirs = measure(commands, data, rows, threads, options.rounds, repeat)
                disturbance = max(disturbance, theirs)
                table += table_rows(rows, threads, reports)
    print_table(HEAD, ALIGN, table)
    print(f"\n{machine()}. During a timed run, other processes used at most {disturbance:.2f} cores.")
    if disturbance > 0.1:
        print("\n**The machine wasn't idle: don't quote these times.**")


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PEERS:
        run_contender(sys.argv[1], sys.argv[2:])
    else:
        drive(sys.argv[1:])
