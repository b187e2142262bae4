"""Checks of a file with models of several targets: each model, and the certificate of all targets together."""
import struct
from math import fsum, log

from bounds import ONE_MODEL, Refused, Sample, check_bounds, opened, require
from more import check_curve, check_promise, check_sets, fixed_before


class Together:
    """The errors of certified rows of all targets, by the row's number in the file. An error is a multiple of the unit of its target's epsilon,
    in which the first target's epsilon stands for the target's own."""
    def __init__(self):
        self.heads, self.terms, self.rows, self.groups = [], [], {}, {}
    def add(self, head, t, numbers, sample, groups, y):
        self.heads.append(head)
        self.terms.append(t)
        self.kinds, unitless = head.has("kinds"), t.kind in ("relative", "scaled")
        for k, (i, (d, reach, _, scale)) in enumerate(zip(numbers, sample.rows)):
            factor = self.terms[0].below / t.below / ((scale or float("inf")) if unitless else 1)
            error = abs(d) * factor if scale or not unitless else float(d != 0) * 1e308
            self.rows.setdefault(i, []).append((1 - d if y[k] else d, y[k], reach) if self.kinds else (error, reach * factor))
            if groups:
                self.groups[i] = groups[k]
    def sample(self):
        """Returns the rows that have all targets. A row's error is the largest of its targets' errors."""
        of = {i: v for i, v in self.rows.items() if len(v) == len(self.terms)}
        units = {}
        for k, i in enumerate(of):
            units.setdefault(self.groups.get(i, (i,)), []).append(k)
        if self.kinds:
            return Sample([(*self.wrong(v), 0.0, 1.0) for v in of.values()], list(units.values()), bool(self.groups))
        return Sample([(max(e for e, _ in v), max(r for _, r in v), 0.0, 1.0) for v in of.values()], list(units.values()), bool(self.groups))
    def scores(self):
        """Returns a list for each class: 1 minus the probability of the class for each of its rows, which is its part of the classes' sum."""
        own = [[] for _ in self.terms]
        for v in self.rows.values():
            k = [truth for _, truth, _ in v].index(1)
            own[k].append(1 - v[k][0] / fsum(p for p, *_ in v))
        return own
    @staticmethod
    def wrong(classes):
        """Returns 1 if the first of the likeliest classes isn't the row's, else 0, and 1 if rounding may decide that, else 0."""
        p, truth, reach = zip(*classes)
        label = p.index(max(p))
        close = any(abs(p[label] - v) <= reach[label] + r for k, (v, r) in enumerate(zip(p, reach)) if k != label)
        return float(truth[label] != 1), float(close)


def verify(one, raw, data):
    """Checks a file of one model by the function one, or of several models. Returns what one returns."""
    if raw[:8] != b"KRIGO\r\n\x1a" or raw[8:12] != struct.pack("<I", 100):
        return one(raw, data)
    head, body, at = opened(raw, (100,))
    names, lengths, said, together, found = head.list("targets", str), head.list("bytes", int), head.of("together"), Together(), []
    require(len(names) == len(lengths) > 1 and min(lengths) >= 48 and at + sum(lengths) == len(body), "the file doesn't hold the models that its header lists")
    for name, n in zip(names, lengths):
        part, at = body[at:at + n], at + n
        inner = opened(part, ONE_MODEL)[0]
        require(inner("target", str) == name and inner.list("targets", str) == names, f"the model of {name!r} is of another fit")
        if inner.has("certificate"):
            try:
                found.append(one(part, data, together))
            except Refused as e:
                raise Refused(f"target {name}: {e}") from e
    require(found, f"the models have no certificate: {said('certificate_reason', str)}")
    t, first, delta, parts = together.terms[0], together.heads[0], said("delta", float), said("parts", int)
    require(all(u.delta == delta / parts for u in together.terms) and (parts >= len(names) + said.has("certificate") or together.kinds and parts == 1), "the parts of delta don't add up")
    same = ("seed", int), ("split", str), ("group", str)
    require(all(h(k, v) == first(k, v) for h in together.heads for k, v in same), "the models are of several fits")
    require(all(h.list("units_by_role", int) == first.list("units_by_role", int) for h in together.heads), "the models' roles were dealt otherwise")
    checked = [(f"target {name}: {what}", rests) for name, (_, of, _) in zip(names, found) for what, rests in of]
    word = found[0][2] + [(f"target {name}: {what}", rests) for name, (*_, of) in zip(names[1:], found[1:]) for what, rests in of[1:]]
    if not said.has("certificate"):
        return found[0][0], checked, word + [("that nothing is certified of all targets together", False)]
    require(len(found) == len(names), "all targets together have a certificate, but one of them has none")
    c, sample = said.of("certificate"), together.sample()
    require(t.direct and (t.kind in ("band", "relative", "scaled") or together.kinds and t.kind == "label") and not first("split", str) == "last", "no certificate of all targets together goes with these terms")
    units = [u.raw / t.below for u in together.terms]
    require(said.list("units", float) == units, "the units of the bands aren't those of the targets")
    t.slices, t.share, t.raw, t.statements = [], 1, t.below, 2 if t.promise and not t.curve else 1
    t.choices_penalty = log(t.statements)
    require((c("delta", float), c("loss", str), c("epsilon", float), c("rows", int), c("groups", int), c("group", str)) ==
            (t.delta, t.kind, t.below, len(sample.rows), sample.n if sample.grouped else 0, first("group", str)), "the certificate of all targets has other terms")
    require(c("valid", bool) and c("label", str) == "certificate" and sample.n >= 20, "the certificate of all targets isn't valid")
    require((c.has("promise"), c.has("curve"), c.has("slices")) == (t.promise > 0, t.curve, False), "the certificate of all targets has other parts")
    check_bounds(t, sample, 0.0, c)
    if t.curve:
        check_curve(t, sample, c.of("curve"), max(h.list("rows_by_role", int)[2] for h in together.heads))
    if t.promise:
        check_promise(t, sample, 0.0, c)
    checked.append(("the certificate of all targets together", True))
    if head.has("label_scores"):
        require(together.kinds and fixed_before(first, t, together.groups), "the scores for sets of labels aren't of rows that the predictions were fixed before")
        check_sets(head, together.scores())
        checked.append(("sets of labels", False))
    return c, checked, word
