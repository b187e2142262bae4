#!/usr/bin/env python3
"""Checks a krigo certificate without krigo: python3 verify.py [--json] MODEL|CERTIFICATE.json DATA[.gz]

This program follows docs/reference/format.md and needs only Python's standard library. It reads the model file and DATA, which is CSV or JSON,
plain or gzip. It assigns each row its role, recomputes scaling and posterior, predicts the certified rows, counts the misses, and computes every number of the certificate. Two numbers
agree if they differ by at most 1e-6, relative to numbers above 1. If only rounding decides whether a row is a miss, the certificate must
hold both ways. The program refuses what it doesn't know with "not checked by this program". It prints two lists at its end: what it
checked, and what it takes on the fitter's word. It can't fit again, so that what only training can show is in the second list.
Exit status: 0 the certificate agrees, 1 the program refuses it and says why, 2 wrong usage, or a file is missing.
"""
import csv
import gzip
import json
import os
import struct
import sys
from math import sqrt
from os.path import isfile

import classes
import more
import several
from bounds import (
    BOUND_TRAINED, CERTIFIED, OWN_SD, PRIOR, Fields, Monotone, Refused, Sample, Table, Terms, Varying, alpha_of, check_bounds, check_terms, deal,
    drawn_labels, follows, read_model, read_posterior, require, scale_rows)
from reading import read_table
from target import LINKED, SOME_SITES, Target

def claims(head, t, q, prior, derived, by_bound, rounded):
    """Returns two lists, what was checked and what is taken on the fitter's word: pairs of a claim and whether the bound rests on it."""
    declared = head.of("scaling")("source", str) == "declared"
    checked = [("the rows and their roles", True), ("categories of inputs, and what fills gaps", True), ("the certificate's numbers", True)]
    word = [("that all options (inputs, kernel, loss, epsilon, delta, seed) and how cells are read were chosen before the certified rows were seen, "
             "and that nothing else was tried", True),  # first in the list, since no program can check it
            ("conditions, reasons, repeats, near copies, source, findings, training, curves and test figures", False)]
    if head.has("monotone"):
        checked.append(("the columns with which predictions rise or fall, and their ends", True))
    if head.has("censored"):
        word.append(("how much limits weigh among the prior rows, which training found", True))
    if head.has("offset"):
        word.append(("that the certified rows had no part in what made the offset", True))
    if t.fixed:
        word.append(("ties: which rows depend on one another, and so which rows the promise is about (krigo certify measures them again)", True))
    if head.has("context"):
        (checked if more.simple(head) else word).append(("errors on certified rows, beside those of a constant and a linear model", False))
        word.append(("the coverage of the model's own intervals", False))
    (word if declared else checked).append(("the scaling's constants", True))
    checked.append(("terms, inputs, kernel and mean, compared with the options in fitted", True))
    checked.append(("hashes of single rows, input_range", False))
    if head.has("label_scores"):
        checked.append(("sets of labels", False))
    if head.has("conformal"):
        (word if rounded else checked).append((f"conformal intervals{rounded}", False))
    (word if by_bound else checked).append(("observation_noise", False))
    if not t.informed:
        checked.append(("the prior's parameters, which are on the grid that is paid for; the posterior, whatever it is", True))
    else:
        varies = ", and noise_of_inputs," if head.has("noise_of_inputs") else ""
        word.append((f"that kernel, theta, beta and noise variance{varies} come from the prior rows alone", True))
        sparse = prior is not None and prior.sparse
        if sparse:
            word.append(("that the prior's inducing inputs come from the prior rows alone", True))
        (word if sparse and not derived else checked).append(("the prior's weights", True))
        if q.nearest and (head.has("classes") or head.has("noise") and head("noise", str) in LINKED):
            word.append((f"the sites of prior rows, but for {SOME_SITES} at most", True))
        if q.support and not q.nearest:
            checked.append(("the posterior, whatever it is", True))
    return checked, word

def check_ties(head):
    """Refuses ties that no model has, and a certificate that ignores one of them."""
    columns = {"column": 1, "pair": 2, "order": 0, "time": 1, "place": 2, "copies": 0}
    grouped = head.has("group") and head("group", str) != "(equal rows)"
    for tie in head.objects("ties") if head.has("ties") else []:
        kind, names, units = tie("kind", str), tie.list("columns", str) if tie.has("columns") else [], tie("units", int)
        known, new = (tie(k, float) if tie.has("known_share") and tie.has("new_share") else None for k in ("known_share", "new_share"))
        require((kind == "setting" and names or kind in columns and len(names) == columns[kind]) and len(set(names)) == len(names) and head("target", str) not in names and
                "" not in names and 2 <= units <= tie("rows", int), "a tie is impossible")
        splits = kind != "pair" and units >= 5 and (tie("apart", float) > 2 if known is None else known - new > .15)
        require(not grouped and (not splits or head.has("group") or head.of("fitted").of("promise").has("population")), "the certificate ignores a tie")

def verify(model, data, together=None):
    """Returns the certificate, what was checked, and what is taken on the fitter's word. Adds the errors of certified rows to together."""
    head, arrays = read_model(model)
    require(head.has("certificate"), f"the model has no certificate: {head('certificate_reason', str)}")
    check_ties(head)
    table = Table(head, read_table(data, Fields(head.of("reading").entries if head.has("reading") else {})))
    roles = deal(head, arrays, table)
    table.encode(roles[PRIOR])
    rows, scale = scale_rows(head, table, roles)
    own, target = [y for _, y in rows], Target(head, table, roles)  # own targets are in standard deviations of y, the unit of losses
    rows = [(x, target.seen(y)) for (x, _), y in zip(rows, table.y)] if target.name or target.as_is else rows
    (q, prior), t, noise, c = read_posterior(head, arrays), Terms(head.of("terms")), head("observation_noise", float), head.of("certificate")
    check_terms(head, t, q, prior, scale)
    varying, made = Varying(head, noise, len(rows[0][0])), prior or q
    known = [(e / scale)**2 for e in table.errors] or [0.0] * len(rows)
    if not made.sparse and not head.has("noise"):
        noises = varying.noises(made.support, [known[i] for i in roles[PRIOR]])
        sides = [table.sides[i] for i in roles[PRIOR]] if table.sides else []
        if sides:  # a limit is a measurement that training found, whose noise is larger
            noises = [max(noise, own) if side else noise for side, own in zip(sides, made.noises or [noise] * len(sides))]
        require((noises is None) == (made.noises is None) and all(abs(a - b) <= 1e-6 * b for a, b in zip(made.noises or [], noises or [])), "the rows' noise isn't what noise_of_inputs or noise_column makes it")
    sited = target.noise in LINKED
    require(target.as_is == sited, "the scaling doesn't go with the noise")
    by_sites = (head.has("classes") or sited) and head("objective", str) not in BOUND_TRAINED
    if head.has("classes") or sited:
        fits, drawn = not by_sites or prior or q.nearest, drawn_labels(head)
        if not drawn:
            fits = fits and by_sites and (q.nearest or not q.support) and t.direct
        if not sited:
            fits = fits and target.noise == "probit" and t.kind == "label" and (t.below == 1 if drawn else t.below == 0.5 and noise == 1)
        require(fits and not any(map(head.has, ("offset", "noise_column", "censored", "monotone", "noise_of_inputs"))), "the noise doesn't go with the columns or the loss")
    require((sited and not target.cuts or not head.has("exposure")) and (noise == 1 or not target.cuts), "the noise has no exposure, or is 1")
    if by_sites and not (prior and prior.sparse):
        target.settled(prior or q, [rows[i] for i in roles[PRIOR]], roles[PRIOR], noise)
    elif not by_sites and (q.nearest or prior and not prior.sparse):
        (prior or q).solves([rows[i] for i in roles[PRIOR]], 1e-11, "prior", [table.sides[i] for i in roles[PRIOR]] if table.sides else ())
    derived = False
    if prior and prior.sparse and not q.support and not by_sites and alpha_of(head) is not None:
        each = varying.noises([rows[i][0] for i in roles[PRIOR]], [known[i] for i in roles[PRIOR]])
        derived = follows(prior, *([rows[i] for i in roles[role]] for role in (PRIOR, CERTIFIED)), alpha_of(head), each)
    if q.support and not q.nearest and not q.sparse:
        q.solves([rows[i] for i in roles[CERTIFIED]], 1e-6 if prior else 1e-11, "posterior")
    by_bound = not q.nearest and (head("objective", str) in BOUND_TRAINED or t.informed and not t.fixed)
    require(noise > 0 and (by_bound or abs(noise - q.noise) <= 1e-6 * noise), "observation_noise isn't the noise variance")
    if head.has("noise") and head("noise", str) == "student":
        noise *= 2  # the variance of Student's t with four degrees of freedom
    require(not target.name or t.direct and not by_bound and not target.noise, "a transform of the target needs a mean that is certified directly")
    if head.has("monotone"):
        require(t.direct and not by_bound and not head.has("offset"), "a monotone mean needs a mean that is certified directly, and no offset")
    predictor = Monotone(head, q, [rows[i][0] for i in roles[PRIOR]]) if head.has("monotone") or head.of("fitted").of("kernel").has("monotone") else q
    found = [(i, *target.shifted(i, predictor.predict(rows[i][0]))) for i in roles[CERTIFIED]]
    errors = [(rows[i][1] - mean, variance, reach) for i, mean, variance, reach in found]
    points = [target.predicted(mean, varying.variance(rows[i][0], mean, v, known[i]), noise, reach, t.kind in OWN_SD or "sd" in t.slices)
              for i, mean, v, reach in found]
    scales = [sd if t.kind in OWN_SD else table.size[i] / scale for (i, *_), (_, _, sd) in zip(found, points)]
    units, kl = {}, 0.0 if q.nearest else q.kl()
    for k, i in enumerate(roles[CERTIFIED]):
        units.setdefault(table.groups[i] if table.groups else k, []).append(k)
    require(len(units) >= 20, "fewer than 20 certified rows, or groups")
    missed = [own[i] - point for (i, *_), (point, _, _) in zip(found, points)]
    limits = [table.sides[i] for i in roles[CERTIFIED]] if table.sides else [0] * len(found)
    require(not head("censored", str) or t.direct and not (by_bound or varying.some or varying.known or head.has("noise") or head.has("conformal")),
            "limits need a mean that is certified directly, one noise, and no conformal intervals")
    require(c("limits", int) == sum(map(abs, limits)), "the certificate counts another number of limits")
    missed = [0.0 if side * d < 0 else d for side, d in zip(limits, missed)]  # no miss where the target may be
    missed = [d if y > 0 else -d for d, y in ((d, own[i]) for d, (i, *_) in zip(missed, found))] if t.kind == "label" else missed
    sample = Sample([(d, reach, sqrt(v), s) for d, (_, reach, _), (_, v, _), s in zip(missed, points, errors, scales)], list(units.values()), bool(table.groups))
    check_bounds(t, sample, kl, c)
    rounded = more.check(head, arrays, table, roles, rows, own, scale, predictor, t, sample, kl, errors, [sd for *_, sd in points], target, noise, by_bound,
                         varying, known)
    if together is not None:
        together.add(head, t, [table.numbers[i] for i in roles[CERTIFIED]], sample, table.groups and [table.groups[i] for i in roles[CERTIFIED]],
                     [own[i] for i in roles[CERTIFIED]])
    return (c, *claims(head, t, q, prior, derived, by_bound, rounded))

def main():
    files = [f for f in sys.argv[1:] if f != "--json"]
    if len(files) != 2 or not all(map(isfile, files)):
        print(__doc__, file=sys.stderr)
        return 2
    why, said = "", {}
    try:
        with open(files[0], "rb") as model, open(files[1], "rb") as data:
            raw = model.read()
            labels = raw.lstrip()[:1] == b"{"
            c, checked, word = classes.verify(raw, data.read()) if labels else several.verify(verify, raw, data.read())
        said = {k: c(k, kind) for k, kind in (("valid", bool), ("label", str), ("mean_bound", float), ("delta", float), ("rows", int)) if not (labels and k == "mean_bound")}
        said["independently_checked"] = not any(rests for _, rests in word[1:])
        for name, of in (("checked", checked), ("on_the_fitters_word", word)):
            said[name] = [{"what": what, "bound_rests_on_it": rests} for what, rests in of]
    except Refused as e:
        why = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(e))  # a text of the file mustn't begin a line
    except (ArithmeticError, AttributeError, EOFError, LookupError, RecursionError, SyntaxError, TypeError, ValueError, csv.Error, struct.error, gzip.BadGzipFile) as e:
        why = f"the files don't follow their formats ({type(e).__name__}: {e})"
    try:
        if len(files) < len(sys.argv) - 1:
            print(json.dumps({"agrees": not why, "refused": why, **said}))
        elif why:
            print(f"REFUSED: {why}")
        else:
            bound = f", mean_bound {said['mean_bound']:.6g}" if "mean_bound" in said else ""
            print(f"agrees: {said['label']}{bound} at delta {said['delta']:g} on {said['rows']} rows")
            print("The model, its data and its options give these numbers. That the options were chosen before the certified rows were seen is the fitter's word."
                  if said["independently_checked"] else
                  "NOT INDEPENDENTLY CHECKED: these numbers rest on parts of the file that only the fitter vouches for, marked * below.")
            for head, of in (("checked", checked), ("taken on the fitter's word", word)):
                print(head + "".join(f"\n  {'*' if rests and of is word else '-'} {what}" for what, rests in of))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if why else 0

if __name__ == "__main__":
    sys.exit(main())
