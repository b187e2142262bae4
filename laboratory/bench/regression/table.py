#!/usr/bin/env python3
"""Prints results of peers.py as Markdown: means over folds, with one row for each set and peer.

    table.py results/uci.jsonl
"""

import json
import sys
from statistics import fmean, stdev

FIELDS = ["rmse", "nlpd", "coverage95", "crps", "seconds", "peak_mib"]


def cell(values, field):
    if field in ("seconds", "peak_mib"):
        return f"{fmean(values):.3g}" if fmean(values) < 1000 else f"{fmean(values):.0f}"
    error = f" ± {stdev(values) / len(values) ** 0.5:.3f}" if len(values) > 1 and field in ("rmse", "nlpd") else ""
    return f"{fmean(values):.3f}{error}"


def main(path):
    groups = {}
    with open(path) as file:
        for text in file:
            line = json.loads(text)
            groups.setdefault((line["set"], line["peer"], line["seen"]), []).append(line)
    print("| " + " | ".join(["set", "peer", "rows", "runs", *FIELDS, "failed"]) + " |")
    print("| :-- | :-- | --: | --: |" + " --: |" * len(FIELDS) + " :-- |")
    for (name, peer, _), lines in sorted(groups.items(), key=lambda item: item[0]):
        good = [line for line in lines if "error" not in line]
        cells = [cell([line[field] for line in good], field) if good else "" for field in FIELDS]
        rows = round(fmean(line["rows"] for line in good)) if good else ""
        failed = "; ".join(sorted({line["error"] for line in lines if "error" in line}))
        print("| " + " | ".join(map(str, [name, peer, rows, len(good), *cells, failed])) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
