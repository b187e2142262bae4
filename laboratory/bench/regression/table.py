#!/usr/bin/env python3
"""Prints results of peers.py as Markdown: means over folds, with one row for each set and peer.

    table.py results/uci.jsonl

krigo's line has its certificate's bound and the share of test rows that miss.
"""

import json
import sys
from statistics import fmean, stdev

FIELDS = ["rmse", "nlpd", "coverage95", "crps", "cpu_seconds", "seconds", "peak_mib"]
SETTINGS = ["bound", "misses"]


def cell(values, field):
    if field in ("cpu_seconds", "seconds", "peak_mib"):
        return f"{fmean(values):.3g}" if fmean(values) < 1000 else f"{fmean(values):.0f}"
    error = f" ± {stdev(values) / len(values) ** 0.5:.3f}" if len(values) > 1 and field in ("rmse", "nlpd") else ""
    return f"{fmean(values):.3f}{error}"


def main(path):
    groups = {}
    with open(path) as file:
        for text in file:
            line = json.loads(text)
            groups.setdefault((line["set"], line["peer"], line["seen"]), []).append(line)
    print("| " + " | ".join(["set", "peer", "rows", "runs", *FIELDS, *SETTINGS, "failed"]) + " |")
    print("| :-- | :-- | --: | --: |" + " --: |" * len(FIELDS + SETTINGS) + " :-- |")
    for (name, peer, _), lines in sorted(groups.items(), key=lambda item: item[0]):
        good = [line for line in lines if "error" not in line]
        cells = [cell([line[field] for line in good], field) if good else "" for field in FIELDS]
        for which in SETTINGS:
            values = [line["settings"][which] for line in good if which in line["settings"]]
            cells.append(f"{fmean(values):.4f}" if values else "")
        rows = round(fmean(line["rows"] for line in good)) if good else ""
        failed = "; ".join(sorted({line["error"] for line in lines if "error" in line}))
        print("| " + " | ".join(map(str, [name, peer, rows, len(good), *cells, failed])) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
