"""krigo's command line as a tool: it fits its own model on its own split of the same table."""

import csv
import json
import os
import subprocess
import tempfile

import numpy as np

from situations import GROUP, TRAIN

DELTA = 0.05
LEAST = 20  # certified rows, or groups, that krigo asks for


def asked(program, arguments):
    """Runs krigo and returns its standard output, or None if it refuses."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def write(path, columns, y=None):
    """Writes a CSV file."""
    if y is not None:
        columns = {**columns, "y": y}
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*columns.values()))


def run(program, draw, n, levels, by=""):
    """Returns what krigo says of a draw, and whether it holds.

    Keys are (kind, source of further rows, level). Values are the coverage, and whether the
    statement is false, or None if the statement has no confidence.
    The kind "table" and level 0 stand for the whole table of widths.
    """
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table.csv")
        write(table, draw.columns, draw.y)
        if by:
            return grouped(program, folder, table, draw, n, levels, by)
        return rows(program, folder, table, draw, n, levels)


def fit(program, folder, table, n, further=()):
    """Fits a model with n certified rows. Returns its JSON, None after a refusal, and its path."""
    model = os.path.join(folder, "model.krigo")
    share = repr(TRAIN / (TRAIN + n))
    text = asked(
        program,
        [
            "fit",
            table,
            "--target",
            "y",
            "--prior-share",
            share,
            "--delta",
            str(DELTA),
            "--fresh-start",
            "--json",
            "--out",
            model,
            *further,
        ],
    )
    return (json.loads(text), model) if text else (None, model)


def predictions(program, model, path, *further):
    """Returns the columns that predict prints, as arrays, or None if it refuses."""
    text = asked(program, ["predict", model, path, *further])
    if text is None:
        return None
    lines = list(csv.reader(text.splitlines()))
    cells = np.array([[float(cell) for cell in line] for line in lines[1:]])
    return dict(zip(lines[0], cells.T))


def rows(program, folder, table, draw, n, levels):
    """Judges conformal intervals and the table of widths, which speak of groups in the table."""
    said = {}
    ties = ["--population", "same"] if "g" in draw.columns else []
    fitted, model = fit(program, folder, table, n, ties)
    certificate = (fitted or {}).get("certificate")
    if not certificate:
        return said
    assert certificate["rows"] == n, f"{certificate['rows']} certified rows, want {n}"
    path = os.path.join(folder, "further.csv")
    for source, further in draw.further.items():
        if source == "new groups":
            continue
        write(path, further.columns)
        for level in levels:
            kind = ["--intervals", "conformal", "--level", str(level)]
            got = predictions(program, model, path, *kind)
            if got is not None:
                coverage = further.cover(got["conformal_lower"], got["conformal_upper"])
                said["conformal", source, level] = (coverage, None)
        if "curve" in certificate:
            mean = predictions(program, model, path)["mean"]
            widths(said, source, further, mean, certificate["curve"]["points"], levels)
    return said


def widths(said, source, further, mean, points, levels):
    """Judges every statement of the table: at least 1 − bound lie within the half-width."""
    wrong = False
    best = {}
    for point in points:
        share, width = 1 - point["bound"], point["half_width_raw"]
        if share <= 0:
            continue
        coverage = further.cover(mean - width, mean + width)
        wrong = wrong or coverage < share - 1e-9
        for level in levels:
            if share >= level - 1e-9 and (level not in best or width < best[level][0]):
                best[level] = (width, coverage)
    for level, (_, coverage) in best.items():
        said["table", source, level] = (coverage, coverage < level - 1e-9)
    said["table", source, 0] = (float("nan"), wrong)


def grouped(program, folder, table, draw, n, levels, by):
    """Judges the promise about new groups, a fit for each level."""
    said = {}
    if n // GROUP < LEAST:
        return said
    further = draw.further["new groups"]
    path = os.path.join(folder, "further.csv")
    write(path, further.columns)
    for level in levels:
        fitted, model = fit(program, folder, table, n, ["--group", by, "--promise", str(level)])
        promise = ((fitted or {}).get("certificate") or {}).get("promise")
        if not promise or promise["share"] != level or "reason" in promise:
            continue  # with a reason krigo says that it can't promise this share
        mean, width = predictions(program, model, path)["mean"], promise["half_width_raw"]
        coverage = further.cover(mean - width, mean + width)
        said["promise", "new groups", level] = (coverage, coverage < level - 1e-9)
    return said
