#!/usr/bin/env python3
"""Times the nearest-neighbour conditional density, value and gradient: krigo, torch and JAX.

    nearest.py [options]              the driver: checks, measures, prints a Markdown table
    nearest.py CONTENDER [options]    one Python contender, as the driver starts it

The value is the sum over rows of -ln N(y_i; mu_i, v_i), where mu_i and v_i are predicted from the m nearest other rows.
krigo finds these rows for all contenders. The model is evidence.py's. The gradient is with respect to ln l_1 .. ln l_8,
ln s_s, ln s_n, in float64. torch and JAX work on all rows of a chunk at once, with one batched product for distances,
and batched Cholesky factors and solves. Each uses the size of the chunk that is fastest on this machine.
"""

import argparse
import array
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evidence import HERE, INPUTS, LOG_LENGTHSCALES, LOG_NOISE_VARIANCE, LOG_VARIANCE, NOISE, SEED
from evidence import integers, machine, print_table, say, smooth
from sparse import QUIET, run

PARAMETERS = INPUTS + 2
AGREEMENT = 1e-6
CHUNKS = (500, 2000, 8000, 40000)


def write_data(path, rows):
    """Writes a file of the parameters, X and y, as little-endian float64."""
    rng = random.Random(SEED)
    x, y = array.array("d"), array.array("d")
    for _ in range(rows):
        row = [3 * rng.random() for _ in range(INPUTS)]
        x.extend(row)
        y.append(smooth(row) + NOISE * rng.gauss(0, 1))
    parameters = array.array("d", [*LOG_LENGTHSCALES, LOG_VARIANCE, LOG_NOISE_VARIANCE])
    with open(path, "wb") as file:
        for part in (parameters, x, y):
            if sys.byteorder == "big":
                part.byteswap()
            part.tofile(file)


def torch_contender(threads):
    import torch

    torch.set_num_threads(threads)

    def prepare(at, x, y, near):
        at, x, y, near = (torch.from_numpy(part) for part in (at, x, y, near.astype("int64")))

        def evaluate(chunk):
            p = at.clone().requires_grad_()
            total = 0.0
            for first in range(0, len(y), chunk):
                rows = slice(first, min(first + chunk, len(y)))
                inverse, variance, noise = (-p[:INPUTS]).exp(), p[INPUTS].exp(), p[INPUTS + 1].exp()
                others = (x[near[rows]] - x[rows, None]) * inverse  # positions relative to the row itself
                squares = (others**2).sum(-1)
                d2 = squares[:, :, None] + squares[:, None, :] - 2 * others @ others.mT
                k = variance * (-0.5 * squares).exp()
                c = variance * (-0.5 * d2).exp() + noise * torch.eye(near.shape[1], dtype=x.dtype)
                factor = torch.linalg.cholesky(c)
                half = torch.linalg.solve_triangular(factor, torch.stack((k, y[near[rows]]), -1), upper=False)
                mean = (half[..., 0] * half[..., 1]).sum(-1)
                v = variance + noise - (half[..., 0] ** 2).sum(-1)
                value = 0.5 * ((2 * math.pi * v).log() + (y[rows] - mean) ** 2 / v).sum()
                value.backward()
                total += value.item()
            return total, p.grad.tolist()

        return evaluate

    return torch.__version__, prepare


def jax_contender(threads):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def chunk_value(p, x, y, others_x, others_y):
        inverse, variance, noise = jnp.exp(-p[:INPUTS]), jnp.exp(p[INPUTS]), jnp.exp(p[INPUTS + 1])
        others = (others_x - x[:, None]) * inverse
        squares = (others**2).sum(-1)
        d2 = squares[:, :, None] + squares[:, None, :] - 2 * others @ others.mT
        k = variance * jnp.exp(-0.5 * squares)
        c = variance * jnp.exp(-0.5 * d2) + noise * jnp.eye(others_x.shape[1])
        factor = jnp.linalg.cholesky(c)
        half = jax.lax.linalg.triangular_solve(factor, jnp.stack((k, others_y), -1), left_side=True, lower=True)
        mean = (half[..., 0] * half[..., 1]).sum(-1)
        v = variance + noise - (half[..., 0] ** 2).sum(-1)
        return 0.5 * (jnp.log(2 * jnp.pi * v) + (y - mean) ** 2 / v).sum()

    value_and_gradient = jax.jit(jax.value_and_grad(chunk_value))

    def prepare(at, x, y, near):
        def evaluate(chunk):
            total, gradient = 0.0, 0.0
            for first in range(0, len(y), chunk):
                rows = slice(first, min(first + chunk, len(y)))
                value, g = value_and_gradient(at, x[rows], y[rows], x[near[rows]], y[near[rows]])
                total, gradient = total + value, gradient + g
            return float(total), gradient.tolist()

        return evaluate

    return jax.__version__, prepare


PEERS = {"torch": torch_contender, "jax": jax_contender}


def run_contender(name, arguments):
    """Runs one contender: chooses a chunk, which warms up, measures, and reports JSON on standard output."""
    import numpy as np

    parser = argparse.ArgumentParser(prog=f"nearest.py {name}")
    for option in ("--data", "--near"):
        parser.add_argument(option, required=True)
    for option in ("--rows", "--neighbours", "--repeat"):
        parser.add_argument(option, type=int, required=True)
    options = parser.parse_args(arguments)

    version, prepare = PEERS[name](int(os.environ["OMP_NUM_THREADS"]))
    data = np.fromfile(options.data, dtype="<f8")
    at, x, y = np.split(data, np.cumsum([PARAMETERS, options.rows * INPUTS]))
    near = np.fromfile(options.near, dtype="<i4").reshape(options.rows, options.neighbours)
    evaluate = prepare(at.copy(), x.reshape(options.rows, INPUTS).copy(), y.copy(), near)

    def timed(chunk):
        start = time.perf_counter()
        result = evaluate(chunk)
        return time.perf_counter() - start, result

    best = min(CHUNKS, key=lambda chunk: min(timed(chunk)[0] for _ in range(2)))
    seconds = []
    for _ in range(options.repeat):
        spent, (value, gradient) = timed(best)
        seconds.append(spent)
    print(json.dumps({"contender": name, "version": f"{version}, {best} rows at once", "value": value, "gradient": gradient, "seconds": seconds}))


def check(reports):
    """Returns the largest difference of values and gradients. Ends the program if they aren't the same."""
    first, *others = reports
    worst = 0.0
    for other in others:
        for a, b in (([other["value"]], [first["value"]]), (other["gradient"], first["gradient"])):
            difference = max(abs(p - q) for p, q in zip(a, b, strict=True)) / max(map(abs, b))
            if not difference <= AGREEMENT:  # "not <=" also catches NaN
                sys.exit(f"{other['contender']} and {first['contender']} disagree by {difference:.1e} (relative)")
            worst = max(worst, difference)
    return worst


def drive(arguments):
    parser = argparse.ArgumentParser(prog="nearest.py", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40000, help="N (default 40000)")
    parser.add_argument("--neighbours", type=int, default=32, help="m (default 32)")
    parser.add_argument("--threads", type=integers, default=[2], help="thread counts (default 2)")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each contender, in turn (default 3)")
    parser.add_argument("--repeat", type=int, default=3, help="evaluations in a process (default 3)")
    parser.add_argument("--jax", default=sys.executable, help="a Python that has JAX (default: this one)")
    parser.add_argument("--predict", type=int, default=4000, help="rows that krigo predicts from 256 neighbours (default 4000)")
    options = parser.parse_args(arguments)

    rows, busiest, worst = [], 0.0, 0.0
    with tempfile.TemporaryDirectory(prefix="krigo-bench-") as temporary:
        program, data, near = (Path(temporary) / name for name in ("krigo-nearest", "data", "near"))
        subprocess.run(["go", "build", "-o", program, "./bench/nearest"], cwd=HERE.parent, check=True)
        write_data(data, options.rows)
        common = [f"--data={data}", f"--rows={options.rows}", f"--neighbours={options.neighbours}", f"--repeat={options.repeat}"]
        run([program, *common, f"--write={near}"], options.threads[0])
        commands = {"krigo": [program, *common, f"--predict={options.predict}"]}
        for name, python in ("torch", sys.executable), ("jax", options.jax):
            find = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({name!r}))"
            if subprocess.run([python, "-c", find]).returncode == 0:
                commands[name] = [python, __file__, name, *common, f"--near={near}"]
            else:
                say(f"{name} is left out: it isn't installed, see bench/README.md")
        for threads in options.threads:
            reports = {name: [] for name in commands}
            for turn in range(options.rounds):
                for name, command in commands.items():
                    out, others = run(command, threads)
                    reports[name].append(json.loads(out))
                    busiest = max(busiest, others)
                    median = statistics.median(reports[name][-1]["seconds"])
                    say(f"threads={threads}, round {turn + 1}: {name} {median:.4g} s; others used {others:.2f} cores")
                worst = max(worst, check([r[-1] for r in reports.values()]))
            ours = statistics.median(s for r in reports["krigo"] for s in r["seconds"])
            for name, turns in reports.items():
                seconds = [s for r in turns for s in r["seconds"]]
                median = statistics.median(seconds)
                rows.append([options.rows, options.neighbours, threads, f"{name} {turns[0]['version']}", f"{median:.4g}",
                             f"{min(seconds):.4g}–{max(seconds):.4g}", f"{median / ours:.1f}"])
            search, predicted = (statistics.median(r[f] for r in reports["krigo"]) for f in ("search_seconds", "predicted_rows_a_second"))
            say(f"threads={threads}: krigo's search takes {search:.3g} s; it predicts {predicted:.0f} rows a second from 256 neighbours")
    print_table(["N", "m", "threads", "contender", "median s", "min–max s", "ratio to krigo"], ["--:", "--:", "--:", ":--", "--:", "--:", "--:"], rows)
    print(f"\nValue and gradient agree to {worst:.1e} (relative). {machine()}. During a timed run, other processes used at most {busiest:.2f} cores.")
    if busiest > QUIET:
        print("\n**The machine wasn't idle: don't quote these times.**")


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PEERS:
        run_contender(sys.argv[1], sys.argv[2:])
    else:
        drive(sys.argv[1:])
