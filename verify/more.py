"""The other checks of verify.py: a certificate's promise, curve and slices, conformal intervals, the options with which the model was
fitted with, the hashes of single rows and the range of the inputs."""
import ast
import re
from bisect import bisect
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import accumulate
from math import ceil, fsum, inf, log, sqrt

from bounds import CALIBRATION, CERTIFIED, OWN_SD, PRIOR, REACH, UNITLESS, Fields, Loss, Sample, binomial, columns_of, dot, fixed_bound, fnv, holds, learnt_bound, named, near, numeral, require
from core import never


def same(stored, own, unit, rounding=0):
    """Whether a stored score or half-width is the own. Intervals are wider by twice the tolerance: docs/theory/bounds.md, "Ends"."""
    return abs(own - stored) <= 1e-6 * abs(stored) + 1e-9 * unit + rounding


def same_width(what, stored, own, unit=1, rounding=0):
    require(same(stored, own, unit, rounding), f"{what} is {own:.9g}, not {stored:.9g}")


def joined(name, parts):
    """Returns a sum or product, in which nested sums or products of the same kind are joined."""
    return (name,) + tuple(q for p in parts for q in (p[1:] if p[0] == name else (p,)))


def plain(expression):
    """Returns an expression in which a kernel's columns are part of its name, so that Python can parse it."""
    return re.sub(r'\w+ *\((?:"[^"]*"|[^()"])*\)', lambda m: on(*named(m[0])), expression)


def on(name, columns):
    return "_".join([name] + [c.encode().hex() for c in columns])


def asked_shape(n):
    return n.id if isinstance(n, ast.Name) else joined({ast.Add: "sum", ast.Mult: "product"}[type(n.op)], map(asked_shape, (n.left, n.right)))


def shape(k):
    return joined(k.name, map(shape, k.parts)) if k.parts else on(k.name, k.columns)


def leaves(k):
    return [v for p in k.parts for v in leaves(p)] if k.parts else [k]


def inputs_left(data, columns):
    """Returns the columns that the options leave as inputs."""
    inputs, ignored = ([p.replace("[", "[[]") for p in data.list(k, str)] for k in ("inputs", "ignore"))
    unnamed = [data(k, str) for k in ("offset", "exposure", "noise_column") if data(k, str) not in data.list("inputs", str)]
    own = [data("target", str), data("group", str), data("censored", str)] + unnamed + data.list("beside", str)
    left = [n for n in columns if n not in own and not any(fnmatchcase(n, p) for p in ignored)]
    return {n for n in left if (any(fnmatchcase(n, p) for p in inputs) if inputs else n not in ("", "(index)", "__index_level_0__"))}


def check_asked(head, t, table, scale, own):
    """Checks that the model and its terms agree with the options with which it was fitted. The fitter vouches for both, so they must agree."""
    f, source, (resolutions, *_) = head.of("fitted"), head.of("scaling")("source", str), t.mixes
    asked, data, prior, kernel, grid = f.of("promise"), f.of("data"), f.of("prior"), f.of("kernel"), f.of("prior").of("grid")
    unit = 1 if t.kind in UNITLESS or asked("units", str) != "raw" else scale
    tempers, tried = prior.list("temper", float), 0
    kinds = ("matern32*matern12,matern32,matern52,rq,se", "matern32,matern52,se,linear")[kernel("noise", str) == "probit"]
    expressions = plain(kernel("expression", str)).replace("auto", kinds + ",additive+matern32" * t.informed).split(",")
    further = [e + "+linear" for e in expressions] + ["steps"] if t.informed and "auto" in kernel("expression", str) else []
    shapes = [asked_shape(ast.parse(e.strip(), mode="eval").body) for e in expressions + further]
    is_average = (further and own.name == "sum" and 2 <= len(own.parts) <= 4 and all(shape(k) in shapes for k in own.parts)
                  and not kernel("noise", str) and not data("censored", str) and shape(own) not in shapes)
    long = [{bool(k.lengths) for k in leaves(p) if (k.profile or k.name in ("periodic", "additive", "steps")) and k.dim > 1}
            for p in (own.parts if is_average else [own])]
    wide = [on("", [c]) for c, level in set(columns_of(head)) if level == "other"]  # columns of several inputs
    for e in expressions:
        several = [p for p in re.findall(r"(?:se|matern..|rq|periodic|additive|steps)(?:\b|_\w+)", e)
                   if p.count("_") > 1 or any(p.endswith(w) for w in wide) or "_" not in p and len(table.inputs) > 1]
        tried += 2 if kernel("ard", str) == "auto" and several else 1
    is_seen, named = head.of("scaling").has("target_transform"), data("target_transform", str) or "none"
    seen = head.of("scaling").of("target_transform") if is_seen else data
    units = head.list("units_by_role", int) or head.list("groups_by_role", int) or head.list("rows_by_role", int)
    test, calibration = (ceil(of(k, float) * sum(units)) for of, k in ((data, "test_fraction"), (asked, "calibration")))
    left = sum(units) - test - calibration
    rows = max(20, min(1000, (left + 9) // 10)) if source == "prior-rows" else 0
    if t.informed:
        before = min(ceil(0.875 * left), max(ceil(0.7 * left), left - 1000))  # up to defaults 8
        now = max(min(ceil(0.8 * left), left - 165, 800), before, left - 50_000)
        rows = next((n for n in (max(min(n, left - 21), ceil(0.25 * left)) for n in (now, before)) if n == units[2]), now)
    for what, ok in (
        ("the objective", f.of("method")("name", str) == head("objective", str)), ("the target", data("target", str) == head("target", str)),
        ("the classes", data.list("classes", str) == head.list("classes", str) and (f.of("kernel")("noise", str) == "probit") == head.has("classes")), *((f"the {k}", data(k, str) == head(k, str)) for k in ("offset", "exposure")), ("the noise-column", data("noise_column", str) == head("noise_column", str)),
        ("the limits", data("censored", str) == head("censored", str)),
        ("the targets of the fit", data.list("beside", str) == head.list("targets", str) and head.has("targets") == head.has("units_by_role")),
        ("the inputs", inputs_left(data, table.columns) == set(table.names)),
        ("the encoding", set(data.list("categorical", str)) & set(table.names) == {n for n, text in zip(table.names, table.textual) if text}
         and (data("missing", str) in ("mean", "indicator")) == table.fill
         and (data("missing", str) == "indicator") == table.indicates),
        ("the mean", kernel("mean", str) == (head.of("prior") if head.has("prior") else head)("mean", str)),
        ("the kernel", (shape(own) in shapes or is_average)
         and all(p <= {"on": {True}, "off": {False}}.get(kernel("ard", str), p) and len(p) < 2 for p in long)),
        ("the group", data("group", str) == head("group", str)), ("the split", (data("split", str) == "last") == (head("split", str) == "last")),
        ("the target's transform", named in ("auto", seen("name", str)) and seen("estimate", str) == (data("target_estimate", str) or "mean")
         if is_seen else named == "none"),
        ("the scaling", data("scaling", str) == source), ("the seed", f.of("run")("seed", int) == head("seed", int)),
        ("the grid", grid("L", float) == t.end and (grid("Digits", int) == t.digits or prior("mixed", bool) and t.digits < 3)),
        ("a mixed grid", prior("mixed", bool) == (resolutions == 3)), ("the prior's kind", (prior("kind", str) == "informed") == t.informed),
        ("the temper", not head.has("prior") or head.of("prior")("temper", float) in tempers), ("delta", asked("delta", float) == t.delta),
        ("the loss", (asked("loss", str), asked("epsilon", float) / unit, asked("epsilon_above", float) / unit) == (t.kind, t.below, t.above)),
        ("the inequality", (asked("bound", str), asked("mean_bound", str)) == (t.family, t.route)),
        ("the promise", (asked("share", float), asked("curve", bool), asked.list("slices", str)) == (t.promise, t.curve, t.slices)),
        ("the declaration", f.of("run")("declared", str) == head.of("terms")("declaration", str)),
        ("how many were tried", t.choices == (len(tempers) if t.informed else tried)),
        ("the roles", [test, calibration, ceil(prior("share", float) * left) if prior.has("share") else rows] == units[:3]),
    ):
        require(ok, f"the model and the options that it was fitted with disagree about {what}")


def check_rows(head, arrays, table, roles, distances):
    """Checks the arrays rows and groups, and input_range. distances are the sds of f at the certified rows."""
    made, told = [i for r in (CALIBRATION, PRIOR, CERTIFIED) for i in roles[r]], head.of("input_range")
    require(sorted(fnv(table.bytes[i]) for i in made) == arrays.get("rows"), "the array rows doesn't hold the rows' hashes")
    require(sorted({fnv(table.tails[i]) for i in made} if table.groups else ()) == arrays.get("groups", []), "the array groups doesn't hold the groups' hashes")
    for name, end in (("min", min), ("max", max)):
        require(told.list(name, float) == [end(table.x[i][j] for i in made) for j in range(len(table.inputs))], "input_range doesn't match the rows")
    missed = [n for n, cells in zip(table.names, table.cells) if any(cells[i] == "" or cells[i] != cells[i] for i in made)]  # noqa: PLR0124
    require(told.list("missed", str) == missed or not told.has("missed"), "input_range names other columns with gaps than the rows have")
    if told.has("far"):  # rounding moves small sds more than their squares
        near("the square of input_range's far", told("far", float)**2, sorted(distances)[min(-(-99 * (len(distances) + 1) // 100), len(distances)) - 1]**2)


def crossing(n, misses, bounds):
    """Returns P(for some i at most misses[i] of n uniform variables are below bounds[i])."""
    return 1 - float(never(n, zip(misses, map(Fraction, bounds))))


def check_curve(t, sample, c, size):
    """Checks that the curve's points are at the errors of the certified rows, and that its bounds hold together with probability 1 - delta. A
    prediction sums size terms. An error near rounding may differ between programs by that rounding (see check_conformal), up to 1e-6."""
    n, level, delta, misses, k = sample.n, c("level", float), t.delta / t.share, [], 0
    while k < n and k <= t.curve_end * n:
        misses, k = misses + [k], max(k + 1, k * 51 // 50)
    require(0 < level < delta, "the curve's level isn't between 0 and its delta")
    weights, at, guess = [0.2 if t.read else 1] * len(misses), 1, delta / (4 + min(n // 300, 2))
    guessed = [binomial(k, n, guess) for k in misses if t.read]
    for share in t.read:  # the largest number of misses whose bound is at most the share has the whole level
        at = bisect(guessed, share) or at
        weights[at - 1] = 1
    bounds, points, stored = [binomial(k, n, level * w) for k, w in zip(misses, weights)], [], c.objects("points")
    bounds = list(accumulate(reversed(bounds), min))[::-1]  # more misses have no smaller bound
    together, unit = crossing(n, misses, bounds), t.raw / t.below
    require(0.99 * delta <= together <= delta * (1 + 1e-9), f"the curve's bounds fail together with {together:.9g}, not {delta:.9g}")
    units = [(abs(d), v if t.kind != "band" and d else 1) for d, _, _, v in sample.rows]
    errors = sorted(d / v if v else inf for d, v in units)
    rounding = min(1e-6, max(r / v if v else 0 for (_, r, *_), (_, v) in zip(sample.rows, units)) / REACH * (4 + sqrt(size)))
    for k, b in reversed(list(zip(misses, bounds))):
        w = errors[n - 1 - k]
        points += [(w, k, b)] * (b < 1 and w < inf)
    require([p("misses", int) for p in stored] == [k for _, k, _ in points], "the curve's points aren't at the errors of the certified rows")
    at, bound, total, worst = 0.0, 1.0, 0.0, 0.0
    for p, (w, k, b) in zip(stored, points):
        require(holds(k, n, p("bound", float), level), f"the curve's bound of {k} misses fails with a probability above its level")
        near("a bound of the curve", p("bound", float), b)
        same_width("a half_width of the curve", p("half_width", float), w, 1, rounding)
        same_width("a half_width_raw of the curve", p("half_width_raw", float), w * unit, unit, rounding * unit)
        at, bound, total, worst = w, b, total + bound * (w - at), worst + min(20 * bound, 1) * (w - at)
    for name, own in (("clip", at), ("bound", total), ("worst", worst)):
        near(f"the curve's mean error's {name}", c.of("mean_error")(name, float), own)


def check_promise(t, sample, kl, c):
    """Checks that the half-width is the first of the list, or of the curve, for which the share is guaranteed."""
    p, out, direct, delta = c.of("promise"), 1 - t.promise, t.fixed and t.route != "twice", t.delta / 2 / t.share
    kind = "scaled" if t.kind in OWN_SD else "relative" if t.kind in UNITLESS else "band"
    widths = [10**(-2 + j / 33) / (10 if kind == "relative" else 1) for j in range(100)]

    def bound(width, most):
        losses = sample.losses(Loss(kind, width), not direct)[most]
        if t.fixed:
            own = fixed_bound(t, losses, direct and not sample.grouped, delta / (1 if direct else 100 * t.choices))
        else:
            family = "maurer" if t.family == "split-kl" else t.family
            own, _ = learnt_bound(t, fsum(losses) / sample.n, 0, kl, sample.n, log(100 * t.choices), delta, family)
        return own if direct else min(1, 2 * own)

    if t.curve:
        width = next((q("half_width", float) for q in c.of("curve").objects("points") if q("bound", float) <= out), 0.0)
    else:
        width = next((w for w in widths if bound(w, 0) <= out), 0.0)
        require(not width or bound(width, 1) <= out, "the promise fails if rows at its edge are misses")
    unit = 1 if t.kind in UNITLESS else t.raw / t.below
    same_width("the promise's half_width", p("half_width", float), width)
    same_width("the promise's half_width_raw", p("half_width_raw", float), width * unit, unit)
    near("the promise's bound", p("bound", float), out if t.curve or direct and width else bound(width or widths[-1], 0))
    require((p("share", float), p("relative", bool), p("scaled", bool), p.has("reason")) == (t.promise, kind == "relative", kind == "scaled", not width),
            "the promise's share, kind or reason is wrong")


def kinds_of_rows(by, table, roles, sds, distances):
    """Returns the slices by a column, by the sd of y, or by distance, which is the sd of f: each slice's name, ends and certified rows."""
    rows, own = roles[CERTIFIED], {"sd": (sds, "surest", "least sure"), "distance": (distances, "nearest", "farthest")}
    if by in own and by not in table.names:
        values, nearest, farthest = own[by]
        cut = sorted(values)
        low, high = cut[len(cut) // 3], cut[2 * len(cut) // 3]
        return [(name, a, b, [i for i, v in enumerate(values) if (a is None or a < v) and (b is None or v < b)])
                for name, a, b in ((nearest, None, low), ("in between", low, high), (farthest, high, None)) if a != b]
    require(by in table.names, f"there is no column {by!r} to slice by")
    at = table.names.index(by)
    if table.textual[at]:
        own = table.encoding[at].list("categories", str) + ["other"]
        return [("= " + c, None, None, [k for k, i in enumerate(rows) if table.x[i][table.inputs.index(f"{by}={c}")]]) for c in own]
    at = table.inputs.index(by)
    known, values = sorted(table.x[i][at] for i in roles[PRIOR]), [table.x[i][at] for i in rows]
    if len(set(known)) <= 6:
        return [(f"= {numeral(v)}", v, v, [k for k, w in enumerate(values) if w == v]) for v in sorted(set(known))]
    low, high = known[len(known) // 3], known[2 * len(known) // 3]
    cuts = [(f"≤ {numeral(low)}", None, low), (f"> {numeral(low)}, ≤ {numeral(high)}", low, high), (f"> {numeral(high)}", high, None)]
    return [(name, a, b, [k for k, v in enumerate(values) if (a is None or a < v) and (b is None or v <= b)]) for name, a, b in cuts if a != b]


def check_slices(t, sample, c, kinds):
    stored, (least, most) = c.objects("slices"), sample.losses(t.loss, False)
    parts = sum(1 for *_, rows in kinds if t.rules == 0 or len(rows) >= 20)
    require(len(stored) == len(kinds), "the number of slices is wrong")
    for s, (by, name, low, high, rows) in zip(stored, kinds):
        what, n, counts = f"the slice {by} {name}", len(rows), [round(fsum(losses[i] for i in rows)) for losses in (least, most)]
        require((s("by", str), s("name", str), s("rows", int), s.has("reason")) == (by, name, n, n < 20), f"{what} has another name, number of rows or reason")
        bounds = [binomial(k, n, t.delta / 2 / parts) if n >= 20 else 1.0 for k in counts]
        require(n < 20 or holds(counts[0], n, s("mean_bound", float), t.delta / 2 / parts), f"{what} has a bound that fails too often")
        require((s.has("from"), s.has("to")) == (low is not None, high is not None), f"{what} has wrong ends")
        for field, own in (("mean_risk", [k / max(n, 1) for k in counts]), ("mean_bound", bounds), ("from", [low]), ("to", [high])):
            if own != [None]:
                near(f"{what}'s {field}", s(field, float), *own)
        require(s("mean_bound", float) >= bounds[1] - 1e-6, f"{what} is above its bound if rows at the band's edge are misses")


def check_conformal(c, arrays, missed, rows, noise, source, size):
    """Checks the quantiles of the errors of calibration rows, or of certified rows if predictions were fixed before. Returns how far rounding
    moves them, if it moves them by more than intervals are wider. Only the program that fitted can then tell a score from a smaller score.
    Each program rounds a mean of n terms k w: values k by two units each, the sum by about sqrt(n) units of the sum of the terms' sizes."""
    n, rank = len(rows), ceil((len(rows) + 1) * 0.95 - 1e-9)
    require((c("level", float), c("rows", int), c("from", str)) == (0.95, n, source) and n >= 19, "conformal intervals have a wrong level, source or number of rows")
    require(all(reach < inf for _, _, reach in rows), "not checked by this program: conformal scores where nearest rows tie")
    scores, rounded = [sorted(abs(d) for d, _ in missed), sorted(abs(d) / sqrt(v + noise) for d, v, _ in rows)], ""
    rounding = max(reach for *_, reach in rows + missed) / REACH * (4 + sqrt(size))
    for name, field, own, unit in zip(("misses", "deviations"), ("half_width", "normalised"), scores, (1, 1 / sqrt(noise))):
        stored = arrays[name]
        require(len(stored) == n and stored[rank - 1] == c(field, float) and stored == sorted(stored), f"the conformal {name} aren't sorted, or not as {field}")
        for a, b in zip(own, stored):
            if not same(b, a, unit):
                same_width(f"one of the conformal {name}", b, a, unit, rounding * unit)
                rounded = f": rounding moves scores by up to {rounding:.2g} sd of the target, and smaller ones couldn't be told apart"
    if c.has("stretch"):
        near("the stretch of predictions' standard deviations", c("stretch", float), (n * c("normalised", float) / 1.959963984540054 + 40) / (n + 40))
    return rounded


def fixed_before(head, t, groups):
    """Whether the certified rows, which were seen after the predictions were fixed, and further rows can stand for one another."""
    return t.direct and head.of("scaling")("source", str) != "all-rows" and not groups and head("split", str) == "content"


def check_sets(head, own):
    """Checks the scores of certified rows, by class, from which sets of labels are made."""
    stored = [[Fields({"": v})("", float) for v in scores] for scores in head.list("label_scores", list)]
    require(list(map(len, stored)) == list(map(len, own)) and all(scores == sorted(scores) for scores in stored), "label_scores has other rows, or isn't sorted")
    for a, b in zip((v for scores in own for v in sorted(scores)), (v for scores in stored for v in scores)):
        same_width("one of the label_scores", b, a)


def least_squares(x, y):
    """Returns the coefficients of least squares with a ridge of 1e-9 of each column's squares, the constant last; None if they overflow."""
    x, size = [[*row, 1.0] for row in x], len(x[0]) + 1
    gram = [[fsum(row[i] * row[j] for row in x) for j in range(i + 1)] for i in range(size)]
    b = [fsum(row[i] * v for row, v in zip(x, y)) for i in range(size)]
    for i in range(size):
        gram[i][i] = gram[i][i] * (1 + 1e-9) + 2.0**-1000
        for j in range(i + 1):
            v = gram[i][j] - dot(gram[i][:j], gram[j][:j])
            if i == j and not 0 < v < inf:
                return None
            gram[i][j] = sqrt(v) if i == j else v / gram[j][j]
        b[i] = (b[i] - dot(gram[i][:i], b[:i])) / gram[i][i]
    for i in reversed(range(size)):
        b[i] = (b[i] - fsum(gram[k][i] * b[k] for k in range(i + 1, size))) / gram[i][i]
    return b


def simple(head):
    """Returns whether check_context knows the model's kind of targets."""
    return not any(map(head.has, ("classes", "exposure", "offset", "censored", "noise")))


def check_context(head, roles, rows, own, scale, t, sample):
    """Checks the errors on certified rows, beside those of a constant and a linear model."""
    if not head.has("context") or not simple(head):
        return
    x, certified, prior = head.of("context"), roles[CERTIFIED], roles[PRIOR]
    delta, zero_one = t.delta / t.share / (2 if t.promise and not t.curve else 1), t.kind in ("band", "relative", "scaled", "asymmetric", "label")

    def errors(what, of, d, risks):
        near(f"the context's {what} RMSE", of("rmse", float) / scale, sqrt(fsum(v * v for v in d) / len(d)))
        some = Sample([(v, 1e-9 * max(1, abs(v)), s, size) for v, (_, _, s, size) in zip(d, sample.rows)], sample.units, sample.grouped)
        losses = some.losses(t.loss, False)
        near(f"the context's {what} mean_risk", of("mean_risk", float), *(fsum(v) / len(v) for v in losses))
        if risks:
            near(f"the context's {what} mean_bound", of("mean_bound", float), *(fixed_bound(t, v, zero_one and not sample.grouped, delta) for v in losses))
    d = [v for v, *_ in sample.rows]
    errors("own", x, d, False)
    near("the context's MAE", x("mae", float) / scale, fsum(map(abs, d)) / len(d))
    require(x("rows", int) == len(d), "the context counts other rows")
    targets = sorted(own[i] for i in prior)
    middle = (targets[(len(targets) - 1) // 2] + targets[len(targets) // 2]) / 2
    apart = [own[i] - middle for i in certified]
    if x.has("constant"):
        errors("constant's", x.of("constant"), apart, True)
        near("the context's constant", (x.of("constant")("value", float) - head.of("scaling")("target_mean", float)) / scale, middle)
    c2, mean = fsum(v * v for v in apart) / len(apart), fsum(apart) / len(apart)
    if c2 - mean * mean > 1e-9 * c2:
        near("the context's R2", x("r2", float), 1 - fsum(v * v for v in d) / len(d) / (c2 - mean * mean))
    if x.has("linear"):
        b = least_squares([rows[i][0] for i in prior], [own[i] for i in prior])
        require(b is not None, "the context has a linear model whose sums overflow")
        errors("linear model's", x.of("linear"), [own[i] - dot(rows[i][0], b[:-1]) - b[-1] for i in certified], True)


def check(head, arrays, table, roles, rows, own, scale, q, t, sample, kl, errors, sds, target, noise, by_bound, varying, known):
    """Makes all checks of this file, after check_bounds. errors holds error, variance and reach of rounding at certified rows, as the model sees
    the target. Returns what rounding leaves open about the conformal intervals, or an empty text."""
    c = head.of("certificate")
    check_asked(head, t, table, scale, getattr(q.kernel, "posterior", q).kernel)
    size = max(len(q.support), len(getattr(q.kernel, "posterior", q).support))  # a learnt prior has a support too
    distances = [sqrt(variance) for _, variance, _ in errors]
    check_rows(head, arrays, table, roles, distances)
    if t.curve:
        check_curve(t, sample, c.of("curve"), size)
    if t.promise:
        check_promise(t, sample, kl, c)
    check_context(head, roles, rows, own, scale, t, sample)
    check_slices(t, sample, c, [(by,) + kind for by in t.slices for kind in kinds_of_rows(by, table, roles, [sd * scale for sd in sds], distances)])
    if head.has("label_scores"):
        require(head.has("classes") and not by_bound and fixed_before(head, t, table.groups), "the scores for sets of labels aren't of rows that the predictions were fixed before")
        check_sets(head, [[d for (d, *_), i in zip(sample.rows, roles[CERTIFIED]) if own[i] == k] for k in (0, 1)])
    if not head.has("conformal"):
        require(not roles[CALIBRATION], "there are calibration rows, but no conformal intervals")
        return ""
    fixed = not by_bound and fixed_before(head, t, table.groups)
    require(fixed or roles[CALIBRATION], "conformal intervals are from certified rows, but the predictions weren't fixed before")
    scored = [(i, *target.shifted(i, q.predict(rows[i][0]))) for i in roles[CALIBRATION]]
    of = [(own[i], *target.predicted(mean, v, noise, reach, False)) for i, mean, v, reach in scored]
    missed = [(y - point, reach) for y, point, reach, _ in of] or [(d, reach) for d, reach, *_ in sample.rows]
    scored = [(rows[i][1] - mean, varying.variance(rows[i][0], mean, v, known[i]), reach) for i, mean, v, reach in scored]
    errors = [(d, varying.variance(rows[i][0], rows[i][1] - d, v, known[i]), reach) for i, (d, v, reach) in zip(roles[CERTIFIED], errors)]
    if target.as_is:  # deviations are of y itself
        def deviation(i):
            mean, v, reach = target.shifted(i, q.predict(rows[i][0]))
            point, reach, sd = target.predicted(mean, v, noise, reach, True)
            return own[i] - point, sd * sd - noise, reach
        scored, errors = ([deviation(i) for i in roles[role]] for role in (CALIBRATION, CERTIFIED))
    own_sd = not t.direct or t.kind in OWN_SD or "sd" in t.slices or "distance" in t.slices  # the terms are about the GP's own standard deviations
    require(not head.of("conformal").has("stretch") or not (own_sd or head.has("noise_column") or head.has("noise")), "the stretch doesn't go with the noise or the terms")
    return check_conformal(head.of("conformal"), arrays, missed, scored or errors, noise, "" if scored else "certified", size)
