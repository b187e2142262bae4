#!/usr/bin/env python3
"""Prints how krigo stands beside the first of the other libraries on each set, from results of peers.py, as Markdown.

    forty.py results/forty.jsonl results/uci.jsonl

A ratio is krigo's mean RMSE by a peer's mean RMSE, over the folds that both have, and the first peer is the one with the
largest ratio. The difference is krigo's NLPD minus the smallest of the peers', likewise. A set counts by RMSE if the ratio is
at most 1.03, and by NLPD if the difference is at most .03.
"""

import json
import sys
from statistics import fmean

MODELS = ("krigo", "krigo-all")
PEERS = {"gpytorch": "G", "botorch": "B", "gpboost": "V", "lightgbm-tuned": "L", "lightgbm": "l", "xrfm": "X"}
NEAR = 0.03


def read(paths):
    """Returns results by set, model and fold. Results on parts of the training rows are left out."""
    found = {}
    for path in paths:
        with open(path) as file:
            for line in map(json.loads, file):
                if line["seen"] == "all" and "error" not in line:
                    found.setdefault(line["set"], {}).setdefault(line["peer"], {})[line["fold"]] = line
    return found


def beside(models, model, peers):
    """Returns (ratio, letter) of the first peer by RMSE, (difference, letter) by NLPD, all letters, and the least number
    of folds."""
    ratios, differences, folds = [], [], []
    for peer, letter in peers.items():
        both = sorted(models[model].keys() & models.get(peer, {}).keys())
        if both:
            ours, theirs = ([models[which][fold] for fold in both] for which in (model, peer))
            ratios.append((fmean(r["rmse"] for r in ours) / fmean(r["rmse"] for r in theirs), letter))
            differences.append((fmean(r["nlpd"] for r in ours) - fmean(r["nlpd"] for r in theirs), letter))
            folds.append(len(both))
    return max(ratios), max(differences), "".join(letter for _, letter in ratios), min(folds)


def main(paths):
    found = read(paths)
    near, dense, sets = dict.fromkeys(MODELS, 0), dict.fromkeys(MODELS, 0), 0
    print("| set | rows, inputs | folds | others | default: RMSE / NLPD | ratio | difference | sibling: ratio | difference |")
    print("|---|---|--:|---|---|---|---|---|---|")
    for name in sorted(found):
        models = found[name]
        ours = models.get("krigo", {}).keys() & models.get("krigo-all", {}).keys()
        if not any(ours & models.get(peer, {}).keys() for peer in PEERS):
            continue
        sets += 1
        cells = []
        for model in MODELS:
            (ratio, first), (difference, least), letters, folds = beside(models, model, PEERS)
            near[model] += ratio <= 1 + NEAR
            dense[model] += difference <= NEAR
            cells += [f"{ratio:.3f} ({first})", f"{difference:+.3f} ({least})".replace("-", "−")]
        lines = models["krigo"].values()
        rmse, nlpd = (fmean(line[field] for line in lines) for field in ("rmse", "nlpd"))
        line = next(iter(lines))
        values = f"{rmse:.3f} / {nlpd:.3f}".replace("-", "−")
        print("| " + " | ".join([name, f"{line['rows']}, {line['inputs']}", str(folds), letters, values, *cells]) + " |")
    for model in MODELS:
        print(f"\n{model}: first or within 3 % of the first on {near[model]} of {sets} sets, by NLPD within .03 on {dense[model]}")


if __name__ == "__main__":
    main(sys.argv[1:])
