"""Measures what split-conformal tools promise and keep, on simulated tables (README.md).

    python conformance/run.py                          libraries, into results/conformance.json
    python conformance/run.py --krigo PATH             krigo
    python conformance/run.py --only plain --sizes 20  fewer cells

A cell is a situation, a tool, a size n and a level.
Finished cells stay in the file, and a later call goes on.
"""

import argparse
import concurrent.futures
import datetime
import importlib.metadata
import json
import math
import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the matrices are small

import numpy as np
from sklearn.linear_model import Ridge

import krigo
from situations import SITUATIONS, TRAIN, draw
from tools import TOOLS

SIZES = [5, 9, 10, 19, 20, 50, 99, 100, 200]
KRIGO_SIZES = [5, 10, 20, 50, 100, 200]
LEVELS = [0.8, 0.9, 0.95]
SHORT = 0.05  # a run is short if its coverage is below the level by more
NAMES = {"conformal": "krigo conformal", "table": "krigo widths", "promise": "krigo --group"}


def percent(part, digits=1):
    """Returns a share as per cent."""
    return f"{100 * part:.{digits}f}"


def cell(situation, tool, n, level, promise, runs, coverages, false=None):
    """Returns a row of the table. coverages come from the runs in which there was an interval."""
    count = len(coverages)
    kept = ""
    short = ""
    if count and not math.isnan(coverages[0]):
        values = np.array(coverages)
        error = values.std(ddof=1) / math.sqrt(count) if count > 1 else 0
        kept = f"{percent(values.mean())} ± {percent(error)}"
        short = percent(np.mean(values < level - SHORT))
    wrong = "" if false is None or not count else percent(np.mean(false))
    return [
        situation,
        tool,
        str(n),
        f"{100 * level:g}" if level else "all",
        promise,
        str(runs),
        percent(count / runs, 0),
        kept,
        short,
        wrong,
    ]


def label(situation, source):
    """Names a situation and the source of its further rows."""
    return f"{situation}, {source}" if source else situation


def promised(source, tool):
    """Returns the kind of promise that a tool's documentation makes about a source."""
    if source == "new groups" or tool == "uncorrected":
        return "none"
    return "on average"


def peers(situation, n, runs, seed):
    """Returns the rows of all libraries, which see the same draws and the same model."""
    held = {}
    sources = [""]
    for run in range(runs):
        table = draw(situation, n, run, seed)
        sources = list(table.further)
        model = Ridge(alpha=1.0).fit(table.x[:TRAIN], table.y[:TRAIN])
        for tool, (function, _) in TOOLS.items():
            for source, further in table.further.items():
                for level in LEVELS:
                    try:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            ends = function(
                                model, table.x[TRAIN:], table.y[TRAIN:], further.x, level
                            )
                    except ValueError:
                        continue
                    held.setdefault((source, tool, level), []).append(further.cover(*ends))
    return [
        cell(
            label(situation, source),
            tool,
            n,
            level,
            promised(source, tool),
            runs,
            held.get((source, tool, level), []),
        )
        for source in sources
        for tool in TOOLS
        for level in LEVELS
    ]


def own(program, situation, n, runs, seed, jobs):
    """Returns krigo's rows for a situation and a size."""
    tables = [draw(situation, n, run, seed) for run in range(runs)]
    kinds = [""] if situation != "groups" else ["", "g"]
    rows = []
    for by in kinds:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            said = list(pool.map(lambda t, by=by: krigo.run(program, t, n, LEVELS, by), tables))
        for kind, source, level in wanted(by, tables[0]):
            got = [s[kind, source, level] for s in said if (kind, source, level) in s]
            false = [f for _, f in got if f is not None]
            promise = promised(source, kind) if kind == "conformal" else "with 95 % confidence"
            rows.append(
                cell(
                    label(situation, source),
                    NAMES[kind],
                    n,
                    level,
                    promise,
                    runs,
                    [c for c, _ in got],
                    false or None,
                )
            )
    return rows


def wanted(by, table):
    """Yields the kinds of statements, sources and levels that a run of krigo may make."""
    for source in table.further:
        if by and source == "new groups":
            yield from (("promise", source, level) for level in LEVELS)
        if not by and source != "new groups":
            yield from (("conformal", source, level) for level in LEVELS)
            yield from (("table", source, level) for level in [*LEVELS, 0])


def versions(program):
    """Returns the versions of what is measured."""
    found = {package: importlib.metadata.version(package) for _, package in TOOLS.values()}
    found["scikit-learn"] = importlib.metadata.version("scikit-learn")
    found["python"] = ".".join(map(str, sys.version_info[:3]))
    if program:
        found["krigo"] = (krigo.asked(program, ["version"]) or "").strip()
    return found


def load(path):
    """Reads the results' file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path, result):
    """Writes a results' file, a row of the table a line."""
    head = {key: value for key, value in result.items() if key != "rows"}
    text = json.dumps(head, indent=2, ensure_ascii=False)[:-2]
    lines = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in result["rows"])
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(f'{text},\n  "rows": [\n{lines}\n  ]\n}}\n')
    os.replace(path + ".part", path)


def order(row):
    """Sorts rows by situation, tool, n and level."""
    names = list(SITUATIONS)
    situation, _, source = row[0].partition(", ")
    tools = [*TOOLS, *NAMES.values()]
    return (
        names.index(situation),
        source,
        tools.index(row[1]),
        int(row[2]),
        float(row[3]) if row[3] != "all" else 0,
    )


def summary(rows):
    """Returns the short table at 90 %: a row for each situation and tool, a column for each n.

    Libraries whose figures are equal share a row.
    Statements with confidence have a row only if krigo makes some.
    """
    sizes = [10, 20, 50, 100, 200]
    false = {(row[0], row[1], row[2]): row[9] for row in rows if row[3] == "all"}
    found = {}
    for row in rows:
        if row[3] == "90" and int(row[2]) in sizes:
            cells = found.setdefault((row[0].rpartition(", ")[2], row[1]), {})
            cells[int(row[2])] = shown(row, false.get((row[0], row[1], row[2]), row[9]))
    merged = {}
    for (source, tool), cells in found.items():
        line = tuple(cells.get(n, "–") for n in sizes)
        if any(text != "–" for text in line) or "conformal" in tool:
            merged.setdefault((source, line), []).append(tool)
    lines = [[source, ",".join(tools), *line] for (source, line), tools in merged.items()]
    return ["further rows", "tool", *map(str, sizes)], lines


def shown(row, false):
    """Returns a cell of the short table: kept/short, or kept/false if promised with confidence.

    If some runs have no answer, the share of runs with an answer follows.
    """
    if row[6] == "0":
        return "–"
    mean = row[7].split(" ")[0]
    rest = false if row[4].startswith("with") else row[8]
    answers = "" if row[6] == "100" else f"({row[6]}%)"
    return f"{mean}/{float(rest):.0f}{answers}"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--krigo", help="measure this program instead of the libraries")
    parser.add_argument(
        "--runs", type=int, help="draws for each cell (default 200, and 100 for krigo)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="fits of krigo at a time")
    parser.add_argument("--only", help="situations, separated by commas")
    parser.add_argument("--sizes", help="calibration sizes, separated by commas")
    parser.add_argument("--out", default=os.path.join(here, "..", "results", "conformance.json"))
    args = parser.parse_args()
    result = load(args.out)
    result["versions"] = {**result.get("versions", {}), **versions(args.krigo)}
    result["seed"] = args.seed
    done = {
        (row[0].partition(", ")[0], row[1].startswith("krigo"), row[2]) for row in result["rows"]
    }
    only = args.only.split(",") if args.only else list(SITUATIONS)
    sizes = [int(n) for n in args.sizes.split(",")] if args.sizes else None
    sizes = sizes or (KRIGO_SIZES if args.krigo else SIZES)
    for situation, n in [(s, n) for n in sizes for s in only]:
        if (situation, bool(args.krigo), str(n)) in done:
            continue
        if args.krigo:
            runs = args.runs or 100
            rows = own(
                args.krigo, situation, n, runs if n >= krigo.LEAST else 1, args.seed, args.jobs
            )
        else:
            rows = peers(situation, n, args.runs or 200, args.seed)
        result["rows"] = sorted(result["rows"] + rows, key=order)
        result["date"] = datetime.date.today().isoformat()
        save(args.out, result)
        print(f"{situation}, n = {n}", file=sys.stderr, flush=True)
    short = args.out.replace(".json", "-90.json")
    if os.path.exists(short):
        table = load(short)
        table["columns"], table["rows"] = summary(result["rows"])
        table["align"] = "l" * len(table["columns"])
        for key in ("commit", "date", "command"):
            table[key] = result[key]
        save(short, table)


if __name__ == "__main__":
    main()
