#!/usr/bin/env python3
"""Fits models of every route, kernel and loss, and compares verify.py with krigo certify on each.

    go build -o /tmp/krigo ./cmd/krigo && python3 verify/campaign.py /tmp/krigo [--mutations N] [--only TEXT]

With --mutations N it also changes N places in the file of each kind of model, with a right checksum, and counts the files that krigo refuses
but verify.py accepts.
"""
import argparse
import hashlib
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import core  # noqa: E402
import verify  # noqa: E402

KERNELS = ["se", "matern12", "matern32", "matern52", "rq", "periodic", "additive", "steps", "linear", "se+white", "se*periodic", "linear+constant+matern32", "matern32*matern12"]
LOSSES = ["band", "relative --epsilon 0.1", "asymmetric --epsilon 0.4:0.8", "clipped-square", "gaussian", "clipped-absolute"]
SPARSE = ["vfe", "fitc", "dtc", "pep --alpha 0.5", "svgp --epochs 5", "renyi --epochs 5"]


def tables(folder):
    """Writes small tables: smooth, with two inputs, with few different values, and with text, gaps and groups."""
    rng = random.Random(1)
    out = {}

    def write(name, header, rows):
        out[name] = os.path.join(folder, name + ".csv")
        with open(out[name], "w", encoding="utf-8") as f:
            f.write("\n".join([header] + [",".join(map(str, row)) for row in rows]) + "\n")

    xs = [rng.uniform(-3, 3) for _ in range(90)]
    write("one", "x,y", [(x, math.sin(x) + 0.3 * rng.gauss(0, 1) + 5) for x in xs])
    pairs = [(rng.gauss(0, 1), rng.uniform(0, 9)) for _ in range(110)]
    write("two", "a,b,y", [(a, b, 20 + 3 * a + math.cos(b) + 0.4 * rng.gauss(0, 1)) for a, b in pairs])
    write("few", "a,b,y", [(i % 3, i % 4, (i % 3) * 2 + rng.choice([0, 1]) + 3) for i in range(100)])
    rows = [(["gas", "oil", "7", "1e6", "ä b"][rng.randrange(5)], "" if i % 9 == 0 else round(rng.gauss(0, 1), 3), f"g{i // 2}") for i in range(120)]
    write("mixed", "heat,size,block,y", [(h, s, g, 10 + len(h) + (s or 0) + 0.3 * rng.gauss(0, 1)) for h, s, g in rows])
    return out


def models():
    """Yields pairs of a table's name and flags of krigo fit."""
    some = iter(range(10**9))

    def table():
        return ["one", "two", "few"][next(some) % 3]

    informed, grid = "--prior informed --objective evidence --restarts 1", "--prior grid --restarts 1"
    for k in KERNELS:
        for ard in ("on", "off"):
            yield "two", f"{informed} --kernel {k} --ard {ard}"
        yield table(), f"{informed} --kernel {k} --loss scaled --epsilon 2 --promise 0.8 --ard off"
        yield table(), f"{informed} --kernel {k} --mean linear --curve --promise 0.7 --slices sd --ard off --prior-share 0.3"
        yield "two", f"{informed} --kernel {k} --solver nearest --optimizer adam --epochs 2 --batch 20 --ard off"
        yield table(), f"{informed} --kernel {k} --solver cg --epochs 3 --ard off --seed 3"
        yield "two", f"{grid} --objective kl-pac --kernel {k} --epochs 15 --ard off"
        yield "two", f"{grid} --objective kl-pac --kernel {k} --inducing 6 --epochs 15 --ard off --promise 0.2"
        yield "two", f"--prior informed --posterior learnt --objective evidence --kernel {k} --ard off --restarts 1 --epochs 10"
    for loss in LOSSES:
        for bound in ("kl", "betting", "split-kl", "pinsker", "maurer"):
            yield table(), f"{informed} --loss {loss} --bound {bound} --kernel se"
        for route in ("twice", "both"):
            for bound in ("kl", "betting", "split-kl"):
                yield table(), f"{informed} --loss {loss} --bound {bound} --mean-bound {route} --temper 1,0.3 --kernel matern32 --promise 0.5 --ard off"
        for bound in ("kl", "maurer", "pinsker"):
            yield "two", f"{grid} --objective kl-pac --loss {loss} --bound {bound} --kernel se --ard off --epochs 15"
        yield "two", f"--prior informed --posterior learnt --objective vfe --inducing 6 --loss {loss} --kernel se --ard off --epochs 10"
    for kind in ("clipped-square", "clipped-absolute"):
        yield "two", f"{grid} --objective kl-pac --loss {kind} --bound split-kl --kernel se --ard off --epochs 15 --promise 0.1"
    for s in SPARSE:
        yield "two", f"--prior informed --objective {s} --inducing 7 --kernel se --ard off"
        yield "one", f"--prior informed --objective {s} --inducing 7 --kernel matern32 --slices x,sd,distance --prior-share 0.3"
        yield "two", f"--prior grid --objective {s} --inducing 7 --kernel se --ard off"
        yield "few", f"--prior informed --objective {s} --inducing 5 --kernel se --mean-bound both --ard off"
    for seed in range(8):
        yield "one", f"--seed {seed}"
        yield "two", f"--seed {seed} --objective nearest --prior informed --kernel matern32 --ard off --epochs 2 --neighbours 8 --batch 20"
        yield "few", f"--seed {seed} --prior informed --objective evidence --kernel se --slices a,b --test-fraction 0.1 --prior-share 0.3"
        yield "mixed", f"--seed {seed} --categorical heat,block --missing mean --kernel se --ard off --slices heat,size,sd --curve --prior-share 0.4"
        yield "mixed", f"--seed {seed} --categorical heat --missing mean --group block --kernel se --ard off"
    yield "mixed", "--categorical heat --missing mean --group block --prior grid --objective kl-pac --kernel se --ard off --prior-share 0.3 --promise 0.1"
    yield "mixed", "--categorical heat --missing mean --group block --bound betting --kernel se --ard off --loss gaussian"
    for rest in ("--split last", "--scaling all-rows", "--no-standardise", "--calibration-fraction 0.3", "--test-fraction 0.2"):
        yield "two", f"{informed} --kernel se {rest}"
        yield "two", f"{grid} --objective kl-pac --kernel se {rest} --epochs 15"
    yield "two", f"{grid} --objective kl-pac --kernel se --grid 6,mixed --epochs 15 --ard on"
    yield "two", f"{grid} --objective kl-pac --kernel se --grid 6,mixed --bound maurer --epochs 15 --promise 0.1"
    yield "two", f"{grid} --objective kl-pac --kernel se,matern32 --ard auto --epochs 15"
    for ard in ("on", "off"):
        yield "mixed", f"{informed} --categorical heat --missing mean --kernel se(size)*matern32(heat)+linear(heat,size) --ard {ard}"
    for k in ("exchangeable(heat)*se", "se+ordinal(heat)", "matern32(size)*lowrank(heat)"):
        yield "mixed", f"{informed} --categorical heat --missing mean --kernel {k} --ard off"
    yield "mixed", f"{informed} --categorical heat --missing indicator --kernel se --ard on"
    yield "mixed", f"{grid} --objective kl-pac --categorical heat --missing mean --kernel se(size),rq(heat) --ard auto --epochs 15"
    yield "two", f"{grid} --objective sqrt-pac --kernel se --epochs 15"
    yield "two", f"{grid} --objective kl-pac --kernel se --inducing 6 --posterior free --epochs 15 --ard off"
    yield "two", f"{grid} --objective evidence --kernel se --epsilon 2 --epsilon-units raw --mean constant"
    yield "two", f"{informed} --kernel se --epsilon 2 --epsilon-units raw --delta 0.05 --prior-share 0.5"
    yield "two", "--prior informed --objective kl-pac --kernel se --ard off --epochs 15"
    yield "one", "declare --kernel se,matern32 --promise 0.7"
    yield "two", "declare --objective kl-pac --kernel se --epochs 15 --seed 5"


def opened(raw):
    end = 16 + struct.unpack("<I", raw[12:16])[0]
    return json.loads(raw[16:end]), raw[end:-32]


def closed(raw, head, arrays):
    text = json.dumps(head).encode()
    out = raw[:12] + struct.pack("<I", len(text)) + text + arrays
    return out + hashlib.sha256(out).digest()


def mutations(raw, count, rng):
    """Yields files in which one number, text or flag of the header, or one value of an array, is changed, and what was changed."""
    head, arrays = opened(raw)
    places = []

    def walk(v, at):
        if isinstance(v, dict):
            for k, w in v.items():
                walk(w, at + [k])
        elif isinstance(v, list):
            for i in {0, len(v) - 1} if v else ():
                walk(v[i], at + [i])
        places.append(at)

    skipped = ("training", "curves", "notices", "findings", "source", "test", "conditions", "arrays")
    for k, v in head.items():
        if k not in skipped:
            walk(v, [k])
    for _ in range(count):
        if rng.random() < 0.4 and arrays:
            at, changed = 8 * rng.randrange(len(arrays) // 8), bytearray(arrays)
            v = struct.unpack_from("<d", changed, at)[0]
            struct.pack_into("<d", changed, at, rng.choice([v * 1.001, v + 0.1, -v, 0.0, v * (1 + 1e-6), 1e300]))
            yield f"array value {at // 8}", closed(raw, head, bytes(changed))
            continue
        at = rng.choice(places)
        copy = json.loads(json.dumps(head))
        of = copy
        for k in at[:-1]:
            of = of[k]
        v = of[at[-1]]
        if isinstance(v, bool):
            new = not v
        elif isinstance(v, (int, float)):
            new = rng.choice([v + 1, v * 1.001, -v, 0, v / 2, v * 1000, type(v)(1), None])
        elif isinstance(v, str):
            new = rng.choice(["", "x", v + " ", "band", "gaussian", "maurer", "twice", "both", "direct", "all-rows", "declared", "last", None])
        elif isinstance(v, list):
            new = rng.choice([[], v[:-1], v + v[-1:], v[::-1], None])
        else:
            new = rng.choice([{}, None])
        if new == v:
            continue
        of[at[-1]] = new
        yield ".".join(map(str, at)) + f" = {str(new)[:40]}", closed(raw, copy, arrays)


def verdict(raw, data):
    try:
        verify.verify(raw, data)
        return ""
    except verify.Refused as e:
        return str(e)
    except Exception as e:  # verify.py refuses the file for all of them
        return f"{type(e).__name__}: {e}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("krigo")
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or folder
        files = tables(folder)
        todo = [(i, t, f) for i, (t, f) in enumerate(models()) if args.only in f]

        def fit(job):
            i, table, flags = job
            out = os.path.join(folder, f"m{i}.krigo")
            how = ["--target", "y"] + flags.split()
            if how[2] == "declare":
                declaration = os.path.join(folder, "declaration.json")
                with open(declaration, "w", encoding="utf-8") as f:
                    subprocess.run([args.krigo, "declare", files[table]] + how[:2] + how[3:], stdout=f, check=True)
                how = ["--declared", declaration]
            run = subprocess.run([args.krigo, "fit", files[table], "--out", out] + how, capture_output=True, text=True)
            return job, out, run.stderr.strip() if run.returncode else ""

        agree = differ = refused = tried = caught = told = unknown = 0
        holes = []
        with ThreadPoolExecutor(1) as pool:
            for (i, table, flags), out, err in pool.map(fit, todo):
                if err:
                    refused += 1
                    print(f"no fit: {table} {flags}: {err[:150]}")
                    continue
                own = os.path.join(folder, "core")
                certify = subprocess.run([args.krigo, "certify", out, files[table], "--no-refit", "--core", own], capture_output=True, text=True)
                with open(out, "rb") as f, open(files[table], "rb") as g:
                    raw, data = f.read(), g.read()
                why = verdict(raw, data)
                if (certify.returncode == 0) == (why == ""):
                    agree += 1
                else:
                    differ += 1
                    print(f"DIFFER: {i} {table} {flags}: certify {certify.returncode} {certify.stderr.strip()[:200]}, verify {why or 'agrees'}", flush=True)
                if certify.returncode == 0:  # core.py says what krigo certifies, or that it doesn't know the kind
                    try:
                        with open(os.path.join(own, "rows.csv"), "rb") as f, open(os.path.join(own, "predictions.csv"), "rb") as g:
                            core.model(raw, f.read(), g.read())
                        told += 1
                    except core.Refused as e:
                        unknown += 1
                        if not str(e).startswith(("not checked by core.py", "this is a backtest")):
                            differ += 1
                            print(f"DIFFER: {i} {table} {flags}: core.py: {e}", flush=True)
                for what, forged in mutations(raw, args.mutations, random.Random(i)) if why == "" and i % 7 == 0 else ():
                    path = os.path.join(folder, "forged.krigo")
                    with open(path, "wb") as f:
                        f.write(forged)
                    theirs = subprocess.run([args.krigo, "certify", path, files[table], "--no-refit"], capture_output=True, text=True)
                    tried += 1
                    caught += theirs.returncode != 0
                    if theirs.returncode != 0 and verdict(forged, data) == "":
                        holes.append(f"{i} {what}: {theirs.stderr.strip()[:120] or theirs.stdout.strip()[-120:]}")
                        print("HOLE:", holes[-1], flush=True)
        print(f"{agree + differ} models: agreement on {agree}, not on {differ}; {refused} sets of options aren't fitted")
        print(f"core.py says the sentence of {told}, and doesn't know the kind of {unknown}")
        if tried:
            print(f"{tried} forgeries: krigo refuses {caught}, and verify.py passes {len(holes)} of these")
        return 0 if differ == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
