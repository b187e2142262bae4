#!/usr/bin/env python3
"""Trains other libraries' regression models on the folds of a data set, and writes down how well they predict.

    peers.py --data FILE.csv.gz --target COL --fold FILE.fold.gz --folds 0,1,2 --peers gpytorch,lightgbm --out R.jsonl
    peers.py --data FILE.csv.gz FILE.csv.gz --split 0 --peers svgp,lightgbm,krigo --krigo KRIGO --out R.jsonl

Writes one line of JSON for each set, fold and peer. A line that is in the file already isn't computed again.
README.md says what the fields mean. Each training runs in a process of its own, which is this program again
with the job on standard input.
"""

import argparse
import contextlib
import csv
import fcntl
import gzip
import hashlib
import json
import math
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
import types
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from evidence import Bystanders, integers, memory_kib, say  # noqa: E402

from models import PEERS  # noqa: E402

# Data


def read_table(path, target):
    """Returns inputs and target. If target is empty, the last column is the target. Text becomes columns of 0 and 1."""
    names, texts, table = columns(path)
    if target and target not in names:
        raise ValueError(f"{path} has no column {target}; it has {', '.join(names)}")
    column = names.index(target) if target else len(names) - 1
    inputs = []
    for i, values in enumerate(table):
        kinds = np.unique(values) if i in texts else []
        if i != column:
            inputs += [values == kind for kind in kinds[len(kinds) == 2 :]] if i in texts else [values]
    return np.array(inputs, dtype=float).T, table[column]


def columns(path):
    """Returns the columns' names, the numbers of those that hold text, and the columns."""
    with gzip.open(path, "rt", newline="") as file:
        names, *rows = csv.reader(file)
    table, texts = [], []
    for i, values in enumerate(zip(*rows, strict=True)):
        try:
            table.append(np.array(values, dtype=float))
        except ValueError:
            table.append(np.array(values))
            texts.append(i)
    return names, texts, table


def shuffled(rows, seed):
    """Returns row numbers in a random order that any language can repeat. They are sorted by the splitmix64
    hash of seed·2³² + row, modulo 2⁶⁴."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) * np.uint64(1 << 32) + np.arange(rows, dtype=np.uint64)
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return np.argsort(z, kind="stable")


def parts(job, rows):
    """Returns the numbers of the fold's training rows, of the training rows that the peer may see, and of the test rows."""
    if job["fold_file"]:
        fold = np.loadtxt(job["fold_file"], dtype=int)
        if len(fold) != rows:
            raise ValueError(f"{job['fold_file']} has {len(fold)} lines, the data {rows} rows")
        test = np.flatnonzero(fold == job["fold"])
        train = np.flatnonzero(fold != job["fold"])
    else:
        order = shuffled(rows, job["split"])
        test, train = np.sort(order[: rows // 5]), np.sort(order[rows // 5 :])
    if len(test) == 0:
        raise ValueError("there are no test rows")
    seen = train
    if job["train_rows"]:
        seen = np.array(job["train_rows"])
        if not np.isin(seen, train).all() or len(np.unique(seen)) != len(seen):
            raise ValueError("the rows to train on include test rows of this fold, or a row twice")
    elif job["rows"]:
        if job["rows"] > len(train):
            raise ValueError(f"--rows {job['rows']}: the fold has only {len(train)} training rows")
        order = shuffled(rows, job["rows_seed"])
        seen = order[np.isin(order, train)][: job["rows"]]
    return train, seen, test


def scaling(values):
    """Returns the mean and standard deviation of each column. A constant column gets 1 as its standard deviation."""
    mean, sd = values.mean(axis=0), values.std(axis=0)
    return mean, np.where(sd > 1e-12 * np.maximum(1, np.abs(mean)), sd, 1.0)


def scores(y, mean, sd):
    """Returns scores of the prediction N(mean, sd²) of y. CRPS: Gneiting and Raftery 2007, eq. (21)."""
    from scipy.special import ndtr

    z = (y - mean) / sd
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    found = {
        "rmse": np.sqrt(np.mean((y - mean) ** 2)),
        "nlpd": np.mean(0.5 * z**2 + np.log(sd) + 0.5 * math.log(2 * math.pi)),
        "coverage95": np.mean(np.abs(z) <= 1.959963984540054),
        "crps": np.mean(sd * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / math.sqrt(math.pi))),
    }
    if not all(math.isfinite(v) for v in found.values()):
        raise ValueError("a prediction isn't finite")
    return {name: float(v) for name, v in found.items()}


# One training, in a process of its own


def train(job):
    x, y = read_table(job["data"], job["target"])
    fold, seen, test = parts(job, len(y))
    # Scores are in standard deviations of all training targets of the fold, so that they are comparable
    # however many rows the peer saw.
    unit = scaling(y[fold])[1]
    mean, sd, report = (by_krigo if job["peer"] in KRIGO else by_library)(job, x, y, seen, test)
    scored = scores(y[test] / unit, mean / unit, sd / unit)
    if "nlpd" in report:  # krigo's density of a transformed target isn't Gaussian
        report["nlpd"] -= math.log(unit)
    if "epsilon" in report["settings"]:
        report["settings"]["misses"] = float(np.mean(np.abs(y[test] - mean) > report["settings"]["epsilon"]))
    return {"rows": len(seen), "test_rows": len(test), "inputs": x.shape[1], **scored, **report}


def by_library(job, x, y, seen, test):
    """Trains a peer of models.py on rows that it scales by themselves. Returns mean, sd and the rest of the report."""
    peer, packages = PEERS[job["peer"]]
    (x_mean, x_sd), (y_mean, y_sd) = scaling(x[seen]), scaling(y[seen])
    scaled = np.ascontiguousarray((x - x_mean) / x_sd)

    options = types.SimpleNamespace(seed=job["seed"], threads=job["threads"], seconds=0.8 * job["limit"])
    for package in packages:  # import outside the clock
        with contextlib.suppress(ImportError):
            __import__({"scikit-learn": "sklearn", "faiss-cpu": "faiss"}.get(package, package.replace("-", "_")))
    baseline = memory_kib("VmRSS")
    wall, cpu = time.perf_counter(), time.process_time()
    mean, sd, settings = peer(scaled[seen], (y[seen] - y_mean) / y_sd, scaled[test], options)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    peak = memory_kib("VmHWM")
    return mean * y_sd + y_mean, sd * y_sd, {
        "settings": settings,
        "seconds": round(seconds, 3), "cpu_seconds": round(cpu_seconds, 3),
        "peak_mib": round(peak / 1024), "added_mib": round((peak - baseline) / 1024),
        "versions": {name: version(name) for name in [*packages, "numpy"]},
    }  # fmt: skip


KRIGO = ("krigo", "krigo-all")
FEWEST_CERTIFIED = 105  # fewer rows all train the model: it has no certificate and no sibling


def by_krigo(job, x, y, seen, test):
    """Runs `krigo fit` with its defaults on a CSV file of the rows, and `krigo predict` on a file of the test rows.
    krigo-all is the second model of `--deliver all`, which learns on all rows. krigo is told which columns hold text.
    The times are of both whole commands: reading and writing count, unlike with other peers."""
    with gzip.open(job["data"], "rt") as file:
        header, *lines = file.read().splitlines()
    target = job["target"] or header.split(",")[-1]
    with tempfile.TemporaryDirectory() as folder:
        train, tests, model, out = (f"{folder}/{name}" for name in ("train.csv", "test.csv", "model.krigo", "out.csv"))
        for path, rows in ((train, seen), (tests, test)):
            Path(path).write_text("\n".join([header, *(lines[row] for row in rows), ""]))
        common = ["--threads", str(job["threads"]), "--quiet"]
        fit = [job["krigo"], "fit", train, "--target", target, "--seed", str(job["seed"]), "--out", model, "--json"]
        names, texts, _ = columns(job["data"])
        fit += ["--categorical", ",".join(names[i] for i in texts)] if texts else []
        sibling = job["peer"] == "krigo-all" and len(seen) >= FEWEST_CERTIFIED
        text, fitting = measured(fit + common + (["--deliver", "all"] if sibling else []))
        model = model.replace(".krigo", "-all.krigo") if sibling else model
        _, predicting = measured([job["krigo"], "predict", model, tests, "--out", out, *common])
        found = np.genfromtxt(out, delimiter=",", names=True)
        header = Path(model).read_bytes()
        saved, _ = json.JSONDecoder().raw_decode(header[16:].decode("latin-1"))  # after magic, version and length
    transform = saved["scaling"].get("target_transform")
    rest = {"nlpd": surprise(transform, y[test], found["lower95"], found["upper95"])} if transform else {}
    fitted = json.loads(text)
    certificate, training = fitted.get("certificate"), fitted["training"]
    return found["mean"], found["predictive_sd"], {
        **rest,
        "settings": {
            "transform": transform["name"] if transform else "none",
            "objective": fitted["objective"], "kernel": spelt(saved["kernel"]),
            "stopped": training["stopped"], **({} if sibling or not certificate else {
                "learnt_rows": certificate["prior_rows"], "bound": certificate["mean_bound"],
                "epsilon": certificate["epsilon_raw"],
            }),
            "fit_seconds": round(fitting["seconds"], 3), "fit_cpu_seconds": round(fitting["cpu_seconds"], 3),
            "predict_seconds": round(predicting["seconds"], 3),
            "predict_cpu_seconds": round(predicting["cpu_seconds"], 3),
        },
        "seconds": round(fitting["seconds"] + predicting["seconds"], 3),
        "cpu_seconds": round(fitting["cpu_seconds"] + predicting["cpu_seconds"], 3),
        "peak_mib": round(max(fitting["peak"], predicting["peak"]) / 1024),
        "added_mib": round(max(fitting["peak"], predicting["peak"]) / 1024),
        "versions": {"krigo": measured([job["krigo"], "--version"])[0].strip()},
    }  # fmt: skip


def surprise(transform, y, lower, upper):
    """Returns the mean negative log density of y, if T(y) is normal and lower and upper are the ends of y's central 95 %
    interval. T is dataset.Transform's."""
    exponent, start = transform.get("lambda", 0), transform.get("from", 0)
    shift = 1 if transform["name"] in ("log1p", "yeo-johnson") else 0
    mirrored = transform["name"] == "yeo-johnson"

    def power(to, x):
        return (x**to - 1) / to if to else np.log(x)

    def slope(v):
        above = (np.maximum(v, start) + shift) ** (exponent - 1)
        return np.where(v < start, (1 - np.minimum(v, start)) ** (1 - exponent), above) if mirrored else above

    def at(v):
        below = np.minimum(v - start, 0)
        if mirrored:  # start is 0
            return power(exponent, np.maximum(v, 0) + 1) - power(2 - exponent, 1 - below)
        return power(exponent, np.maximum(v, start) + shift) + below * slope(v)

    mean, sd = (at(lower) + at(upper)) / 2, (at(upper) - at(lower)) / (2 * 1.959963984540054)
    z = (at(y) - mean) / sd
    return float(np.mean(0.5 * z**2 + np.log(sd) + 0.5 * math.log(2 * math.pi) - np.log(slope(y))))


def spelt(kernel):
    """Returns a kernel's name as --kernel takes it."""
    sign = {"sum": "+", "product": "*"}.get(kernel["name"])
    return sign.join(map(spelt, kernel["parts"])) if sign else kernel["name"]


def measured(command):
    """Runs a command. Returns its standard output, and its seconds, CPU seconds and peak memory (KiB)."""
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    began, peak = time.perf_counter(), 0
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out)
        while process.poll() is None:
            # The process is gone, or hasn't its own memory yet, if there is no such figure.
            with contextlib.suppress(RuntimeError, OSError):
                peak = max(peak, memory_kib("VmHWM", process.pid))
            time.sleep(0.005)
        seconds = time.perf_counter() - began
        if process.returncode:
            raise ValueError(f"{' '.join(command[:2])} ended with status {process.returncode}")
        out.seek(0)
        text = out.read()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = spent.ru_utime + spent.ru_stime - own.ru_utime - own.ru_stime
    return text, {"seconds": seconds, "cpu_seconds": cpu, "peak": peak}


# The driver


def run(job):
    """Trains in a new process. Returns the result or the error, and the seconds that it took."""
    # By default threads spin while they wait. If one has lost its core, small sets take a hundred times as long.
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", OMP_WAIT_POLICY="passive")
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment[variable] = str(job["threads"])
    command = [sys.executable, "-W", "ignore", __file__, "--one"]
    with Bystanders() as others:
        began = time.perf_counter()
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        # A group of its own, so that krigo ends with the process that started it.
        process = subprocess.Popen(
            command, env=environment, text=True, start_new_session=True, preexec_fn=lambda: limit_cpu(job), **pipes
        )
        try:
            output, errors = process.communicate(json.dumps(job), timeout=job["wall"])
            late = False
        except subprocess.TimeoutExpired:
            late = True
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        wall = time.perf_counter() - began
    if late:
        report = {"error": f"ran past {job['wall']:g} s"}
    elif process.returncode == -signal.SIGXCPU:
        report = {"error": f"ran past {job['limit'] * job['threads']:g} CPU s"}
    elif process.returncode < 0:
        report = {"error": f"ended by signal {-process.returncode}"}
    elif process.returncode > 0:
        last = [line for line in errors.splitlines() if line.strip()] or ["no message"]
        report = {"error": last[-1][:300]}
    else:
        report = json.loads(output.splitlines()[-1])
    report["others_cores"] = round(others.cores, 2)
    return report, wall


def limit_cpu(job):
    seconds = math.ceil(job["limit"] * job["threads"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


@contextlib.contextmanager
def alone(lock):
    """Holds a lock file, as flock(1) does, so that only one heavy process runs on a shared machine."""
    if not lock:
        yield
        return
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def learnt(record, name, fold):
    """Returns the rows on which krigo's default learnt, from the record that `go run ./reproduce benchmark` writes."""
    for text in Path(record).read_text().splitlines():
        line = json.loads(text)
        if line["key"] == f"{name}/default/fold={fold}":
            return line["result"]["learnt_rows"]
    raise ValueError(f"{record}: found no result of krigo's default for fold {fold} of {name}")


KEY = ("set", "data_sha256", "fold", "split", "peer", "seen")


def key(line):
    return tuple(line.get(name) for name in KEY)


def drive(arguments):
    parser = argparse.ArgumentParser(prog="peers.py", description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, nargs="+", help="gzip-compressed CSV files with a header line")
    parser.add_argument("--set", help="the set's name in results (default: the file's name)")
    parser.add_argument("--target", help="name of the target's column (default: the last column)")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--fold", help="file with the number of each row's fold")
    which.add_argument("--split", type=integers, help="seeds of random splits, 80/20")
    parser.add_argument("--folds", type=integers, default=list(range(10)), help="folds of --fold (default 0 to 9)")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"default: {','.join(PEERS)}; also: {', '.join(KRIGO)}")
    parser.add_argument("--krigo", help="krigo's program, for the peer krigo")
    parser.add_argument("--out", required=True, help="file to which lines are added")
    parser.add_argument("--rows", type=integers, help="number of training rows, in a random order; or several numbers")
    parser.add_argument("--rows-seed", type=int, help="seed of that order (default: the split's seed, else 0)")
    parser.add_argument("--train-rows", help="file of the rows to train on: one number, counted from 0, a line")
    parser.add_argument("--learnt", help="benchmark.jsonl of krigo's benchmark, to train on the rows on which krigo learnt")
    parser.add_argument("--seed", type=int, default=0, help="seed of the peers' random numbers (default 0)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="CPU seconds a thread for a training (default 600)")
    parser.add_argument("--wall", type=float, help="seconds that it may take beside other work (default without end)")
    parser.add_argument("--retry", action="store_true", help="run failed trainings again")
    parser.add_argument("--lock", help="hold this file's lock during a training")
    options = parser.parse_args(arguments)
    peers = options.peers.split(",")
    if unknown := [p for p in peers if p not in PEERS and p not in KRIGO]:
        parser.error(f"no peer {', '.join(unknown)}; there are {', '.join([*PEERS, *KRIGO])}")
    if set(peers) & set(KRIGO) and not options.krigo:
        parser.error("the peer krigo needs --krigo")
    cases = [("split", s) for s in options.split] if options.split else [("fold", f) for f in options.folds]
    if bool(options.train_rows) + bool(options.learnt) + bool(options.rows) > 1:
        parser.error("--train-rows, --learnt and --rows each say what to train on: give one")
    if options.train_rows and len(cases) > 1:
        parser.error("--train-rows is for one fold")
    if options.learnt and not options.fold:
        parser.error("--learnt is for folds")
    if len(options.data) > 1 and (options.set or options.target or options.fold):
        parser.error("--set, --target and --fold are for one file of data")
    for data in options.data:
        measure(options, data, peers, cases)


def measure(options, data, peers, cases):
    """Trains every peer that has no result yet in each case of one data set, and adds the results to the file."""
    name = options.set or Path(data).name.removesuffix(".csv.gz")
    digest = hashlib.sha256(Path(data).read_bytes()).hexdigest()[:12]
    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    there = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    done = {key(line) for line in there if not (options.retry and "error" in line)}

    rows = len(read_table(data, options.target)[1])
    for kind, number, first in ((kind, number, first) for kind, number in cases for first in options.rows or [None]):
        given, seen = None, "all"
        seed = options.rows_seed
        if seed is None:
            seed = number if kind == "split" else 0
        if options.train_rows:
            given = integers(",".join(Path(options.train_rows).read_text().split()))
        elif options.learnt:
            given = learnt(options.learnt, name, number)
        elif options.rows:
            seen = f"first {first} by seed {seed}"
        if given:
            seen = "rows " + hashlib.sha256("".join(f"{row}\n" for row in sorted(given)).encode()).hexdigest()[:12]
        chosen = {
            "fold_file": options.fold, kind: number,
            "rows": first, "rows_seed": seed, "train_rows": given,
        }  # fmt: skip
        parts(chosen, rows)  # fail here on a wrong request, before a peer runs
        for peer in peers:
            line = {"set": name, "data_sha256": digest, kind: number, "peer": peer, "seen": seen}
            if key(line) in done:
                continue
            job = {
                **chosen, "data": data, "target": options.target, "peer": peer,
                "seed": options.seed, "threads": options.threads, "limit": options.limit,
                "wall": options.wall, "krigo": options.krigo,
            }  # fmt: skip
            with alone(options.lock):
                report, wall = run(job)
            line |= report | {"threads": options.threads, "limit": options.limit, "cpu": cpu_name()}
            if options.retry:  # replace the failed line
                there = [old for old in there if key(old) != key(line)]
                out.write_text("".join(json.dumps(old) + "\n" for old in there))
                there.append(line)
            with out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            outcome = line.get("error") or f"rmse {line['rmse']:.4f}, nlpd {line['nlpd']:.4f}, {line['seconds']:.1f} s"
            say(f"{name} {kind} {number} {peer}: {outcome} ({wall:.1f} s in all)")


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return f"{platform.machine()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    if sys.argv[1:] == ["--one"]:
        print(json.dumps(train(json.load(sys.stdin))))
    else:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends a training that is under way, too
        try:
            drive(sys.argv[1:])
        except (OSError, ValueError) as error:
            sys.exit(f"peers.py: {error}")
