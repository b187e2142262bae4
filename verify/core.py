#!/usr/bin/env python3
"""Says what a certificate of krigo promises, from counts alone: python3 core.py MODEL DATA.csv PREDICTIONS.csv
or what certify --predictions says of labels:                   python3 core.py CERTIFICATE.json DATA.csv

This file is meant to be read from its first line to its last. It needs only Python and shares nothing with krigo, nor does it know what a
Gaussian process is. Numbers are whole, or the fractions that are written, and what is rounded makes the promise weaker.
DATA is CSV in UTF-8 with commas, a line of names, plain numbers, and nothing in gaps. PREDICTIONS has the predictions of the certified rows.
`krigo certify MODEL DATA --core FOLDER` writes it, and a rows.csv in place of DATA that are written otherwise. Any other program may write
    krigo core 1,SHA-256 of the file MODEL,of all that follows this line,of DATA (or of several files that have the same rows in the same order)
    row,predicted,sd
    12,22.41,
Rows count from 1 behind the names in DATA. Only the loss "scaled" needs an sd. Each of several targets has two such columns, in the file's
order. The prediction of a label of two classes is the probability of the second. Exit status: 0, or 1 for REFUSED."""
import csv, hashlib, io, json, re, struct, sys  # noqa: E401
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import ceil, factorial, floor, isfinite, log, pi, prod, sin, sqrt
CERTIFIED, COUNTS = 3, ("band", "relative", "scaled", "asymmetric", "label")  # the fourth role; losses that count misses
SLACK = Fraction(1, 10**6)  # a stored number may differ by it from what holds. What is said holds without it
WORD = ("that the predictions are the model's (verify.py and krigo certify predict themselves), and the ties in the header, which limit the population, all that were found",
        "that what predicts, epsilon and the sds come from prior rows alone, and that options, the seed and delta among them, were chosen before certified rows were seen",
        "that DATA are the rows that were measured, and that they and further rows are independent draws from one source")
COPIES, UNITS = "{} rows equal others in all that is read, and count as measured", {"column": "", "pair": "combination of ", "order": "stretch of the file", "time": "stretch of ", "place": "place by ", "copies": "set of near copies", "setting": "setting of "}
INFINITE = Fraction(10)**999  # the error of a row whose unit is 0, larger than any width
class Refused(Exception): """Why nothing is said."""
def require(ok, why):
    if not ok: raise Refused(why)
# ---- 1. The header is JSON, and each of its fields has the type that is asked for ----------------------------------------------------------
class Fields:  # an object. A missing field counts as zero
    def __init__(self, entries):
        require(type(entries) is dict, "the header lacks an object that it needs")
        self.entries = entries
    def __call__(self, name, kind):
        v = self.entries.get(name)
        require(v is None or type(v) is kind or kind is float and type(v) is int, f"the header's {name} isn't a {kind.__name__}")
        return (None if kind is dict else kind()) if v is None else kind(v)
    def of(self, name): return Fields(self(name, dict))
    def list(self, name, kind): return [Fields({name: v})(name, kind) for v in self(name, list)]
    def objects(self, name): return [Fields(v) for v in self.list(name, dict)]
    def has(self, name): return self.entries.get(name) is not None
    def exact(self, name): return Fraction(repr(self(name, float)))
def plain(pairs):  # refuses names that occur twice, or have capital letters: another reader might use another value for them
    odd = [n for n, _ in pairs if n != n.casefold() and n not in ("Kind", "Below", "Above", "L", "Digits")]
    require(len({n.casefold() for n, _ in pairs}) == len(pairs) and not odd, f"the header repeats a name, or has names in other letters {odd}")
    require(all(type(v) is not float or isfinite(v) for _, v in pairs), "the header holds a number that isn't finite")
    return dict(pairs)
ONE_MODEL, SEVERAL = (5, *range(7, 19)), (100,)  # versions of the format
def opened(raw, versions):  # the header of a file, the rest of the file, and where in the rest the header ends
    require(raw[:8] == b"KRIGO\r\n\x1a" and len(raw) >= 48, "this isn't a krigo model file, or it is cut short")
    version, length = struct.unpack("<II", raw[8:16])
    require(version in versions, f"not checked by this program: format version {version}; use krigo certify")
    require(sha(raw[:-32]) == raw[-32:], "the checksum doesn't match: the file is damaged, or was altered")
    return Fields(json.loads(raw[16:16 + length].decode(), object_pairs_hook=plain)), raw[:-32], 16 + length
# ---- 2. Which rows are certified follows from the seed and from what all rows hold -----------------------------------------------------------
def table(raw):
    names, *rows = [[c.strip() for c in row] for row in csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True) if row]
    require(len(set(names)) == len(names) and all(len(r) == len(names) for r in rows), "DATA isn't a table with different names and equally long rows")
    return {n: [row[j] for row in rows] for j, n in enumerate(names)}
def number(c):  # a cell as it is written. Its float64, which krigo reads, differs from it by less than what is counted as a miss
    v = Decimal(c)
    require("_" not in c and c.isascii() and v.is_finite() and abs(v.adjusted()) < 400, f"{c!r} isn't a plain number")
    return Fraction(v)
def bits(v): return struct.pack("<d", v) if v == v else bytes.fromhex("010000000000f87f")  # noqa: PLR0124
def long_text(text): return struct.pack("<Q", len(text.encode())) + text.encode()
def sha(b): return hashlib.sha256(b).digest()
def fnv(b, h=0xCBF29CE484222325):
    for byte in b: h = (h ^ byte) * 0x100000001B3 % 2**64
    return h
def hashed_order(head, names, columns, rests):
    """Returns the order of the columns in a row's bytes. It follows from the cells, so that nobody can choose it, and roles with it."""
    sums = [sum(fnv(rest, fnv(cell)) for cell, rest in zip(cells, rests)) % 2**64 for cells in columns]
    order = sorted(range(len(names)), key=lambda k: (sums[k], names[k].encode()))
    require((head.list("hash_order", int) or sorted(order)) == order, "hash_order doesn't follow from the rows, or they aren't written plainly: use rows.csv of certify --core")
    return order
def hash_of(digests, columns): return sha(struct.pack("<QQ", len(digests), columns) + b"".join(sorted(digests))).hex()  # of rows in any order
def keys(salt, digests):  # a key for each digest, and different keys for equal rows
    seen = {}
    for d in digests:
        seen[d] = seen.get(d, -1) + 1
        yield sha(salt + d + struct.pack("<Q", seen[d]))[:16]
def certified(head, data):
    """Returns number, target and group of each certified row, and how many rows are copies, if DATA has the model's hashes."""
    coding = head.of("encoding").objects("columns") if head.has("encoding") else []
    names, target, group = [c("name", str) for c in coding] or head.list("inputs", str), head("target", str), head("group", str)
    also, truth = [head(n, str) for n in ("offset", "exposure", "noise_column") if head.has(n)], head.of("kinds")("column", str) if head.has("kinds") else target
    require(head("split", str) == "content" and not head.has("censored") and group in (*data, "", "(equal rows)"[:99 * (len(head.list("targets", str)) < 2)]), "not checked by core.py: backtests, groups that are blocks, targets that are limits")
    require(group not in data or len({float(g) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", g, re.I) else g for g in data[group]}) == len(set(data[group])), f"{group!r} has one number in two forms")
    require(not {truth, target, group, *head.list("targets", str)} & {*names, *also} - {""} and group not in (truth, target), "what is predicted, or groups, are inputs, too")
    if head.has("kinds"):  # a column of 0 and 1 for each class takes the place of the classes
        of = head.of("kinds")
        data = {**data, **{f"{of('column', str)}={k}": [str(int(c == k)) if c else "" for c in data[of("column", str)]] for k in of.list("labels", str)}}
    if head.has("classes"):
        data = {**data, target: [str(head.list("classes", str).index(c)) if c else "" for c in data[target]]}
    targets = head.list("targets", str) or [target]
    cells = [[long_text(c) if entry.has("categories") else bits(float(c) if c and number(c) is not None else float("nan")) for c in data[n]] for n, entry in zip(names, coding or [Fields({})] * len(names))]
    def digests(rows, columns, order=None):
        """Returns the rows' digests and groups. A row's bytes are its inputs, a number as its float64, a category behind its length, and these columns."""
        rests = [b"".join(bits(float(data[c][i]) if data[c][i] and number(data[c][i]) is not None else float("nan")) for c in columns) for i in rows]
        order = order or hashed_order(head, names, [[c[i] for i in rows] for c in cells], rests)
        groups = [data[group][i] if group in data else sha(b"".join([c[i] for c in cells] + [rest])).hex() if group else "" for i, rest in zip(rows, rests)]
        return [sha(b"".join([cells[k][i] for k in order] + [rest] + [long_text(g)] * (group != ""))) for i, rest, g in zip(rows, rests, groups)], groups, order
    own = [i for i, c in enumerate(data[target]) if c]  # rows that have the model's target, and rows that have any target of the fit
    dealt = [i for i, row in enumerate(zip(*(data[n] for n in targets))) if any(row)]
    of, groups, order = digests(dealt, also + targets)
    mine, own_groups, _ = digests(own, also + [target], order)
    require(hash_of(mine, len(names)) == head("rows_sha256", str), "DATA are other rows than the model's, or not written plainly: use rows.csv of certify --core")
    salt = f"krigo roles {hash_of(of, len(names))} ".encode() + struct.pack("<Q", head("seed", int))
    by_group = dict(zip(names_of := sorted({sha(long_text(g)) for g in groups}), keys(salt + b" group", names_of)))
    place = [by_group[sha(long_text(g))] for g in groups] if group else list(keys(salt, of))  # rows of a group have the group's key
    units = head.list("units_by_role", int) or head.list("groups_by_role", int) or head.list("rows_by_role", int)
    require(len(units) == 4 and min(units) >= 0 and sum(units) == len(set(place)) and (not group or "" not in groups), "the model counts another number of rows, or groups, or a row has no group")
    role_of = dict(zip(sorted(set(place)), [r for r in range(4) for _ in range(units[r])]))
    role = {i: role_of[p] for i, p in zip(dealt, place)}
    require([sum(role[i] == r for i in own) for r in range(4)] == head.list("rows_by_role", int), "rows_by_role doesn't count the rows that get each role")
    require(hash_of([d for i, d in zip(own, mine) if role[i] == CERTIFIED], len(names)) == head("certified_rows_sha256", str), "certified_rows_sha256 is of other rows")
    return [(i, number(data[target][i]), g) for i, g in zip(own, own_groups) if role[i] == CERTIFIED], len(mine) - len(set(mine))
# ---- 3. Bounds: functions of counts, n and delta. proof/README.md says why each holds ------------------------------
def holds(k, n, p, delta):
    """Returns whether P(Bin(n, p) <= k) <= delta, for k < n: whether the sum of comb(n, i) a^i (b-a)^(n-i) for i <= k is at most delta b^n, with p = a/b."""
    a, b = Fraction(p).as_integer_ratio()
    total, power, choose = 0, 1, 1
    for i in range(k + 1):
        total, power, choose = total * (b - a) + choose * power, power * a, choose * (n - i) // (i + 1)
    return k >= n or total * (b - a)**(n - k) <= Fraction(delta) * b**n
def least(true, grid=10**7):  # the least multiple of 1/grid, or 1, from which on true is true
    low, high = -1, grid
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (low, mid) if true(Fraction(mid, grid)) else (mid, high)
    return Fraction(high, grid)
def binomial(k, n, delta):  # the bound on the share of misses after k misses in n rows (Clopper and Pearson 1934)
    return Fraction(1) if k >= n else least(lambda p: holds(k, n, p, delta))
def never(n, bounds, one=2**256):
    """Returns the probability, rounded down, that for all (k, b) of bounds more than k of n uniform numbers are below b. b rises with k.
    paths[m] is the sum over all ways in which m numbers are below the last b, times n^m/m!. Then j more fall between it and the next."""
    paths, at = {0: one}, Fraction(0)
    for k, b in bounds:
        mean, jumps, after = n * (b - at), [one], {}
        while len(jumps) <= mean or jumps[-1] > one >> 100:  # what is left out makes the result smaller
            jumps.append(jumps[-1] * mean.numerator // (mean.denominator * len(jumps)))
        for m, ways in paths.items():
            for to in range(max(k + 1, m), min(n + 1, m + len(jumps))):
                after[to] = after.get(to, 0) + ways * jumps[to - m] // one
        paths, at = {m: ways for m, ways in after.items() if ways << 100 > max(after.values())}, b
    return sum(ways * (n * (1 - at))**(n - m) / factorial(n - m) for m, ways in paths.items()) * factorial(n) / Fraction(n)**n / one
def curve(n, delta, level, promise):
    """Returns pairs of a number of misses and its bound. That any bound fails, at any width, has the probability delta at most. Even the level may
    follow the rows: a lower level has larger bounds. The shares that are shown have the tightest bounds, and follow from n and delta alone."""
    shown, misses, at, k = (1 - (promise or Fraction(0.8)), *map(Fraction, (0.2, 0.1, 0.05, 0.01))), [], 1, 0
    while k < n and k <= max(0.3, float(shown[0])) * n:  # any list will do that n and the promise decide
        misses, k = misses + [k], max(k + 1, k * 51 // 50)
    weights, bounds, last = [Fraction(0.2)] * len(misses), [], Fraction(1)
    for s in shown:
        at = sum(holds(k, n, s, delta / (4 + min(n // 300, 2))) for k in misses) or at
        weights[at - 1] = 1
    for k, w in reversed(list(zip(misses, weights))):  # more misses have no smaller bound
        last = min([last, binomial(k, n, level * w)] + [s for s in shown if holds(k, n, s, level * w)])
        bounds.insert(0, (k, last))
    require(1 - never(n, bounds) <= delta, "the bounds at all widths fail together with a probability above delta")
    return bounds
def betting(losses, delta, one=2**64):
    """Returns a bound on the mean of losses from 0 to 1, one for each group (Waudby-Smith and Ramdas 2024). 64 gamblers stake shares, which follow
    from n and delta alone, on losses below m. m is ruled out if they have 64/delta together. Wealth is rounded down."""
    lowest = sqrt(min(0.75, sqrt(-log(delta) / len(losses))))
    stakes = [Fraction((lowest + (1 - lowest) * sin((k + 0.5) * pi / 128))**2) for k in range(64)]  # the bound holds for any stakes
    def rich(m):
        grown = ([floor(one * (1 - c + c * (1 - x) / (1 - m)))**times for x, times in Counter(losses).items()] for c in stakes)
        return sum(map(prod, grown)) * delta >= 64 * one**len(losses)
    return least(lambda m: m == 1 or m * len(losses) >= sum(losses) and rich(m))
# ---- 4. The sentence, from counts, n, delta and the population --------------------------------------------------------------------------------
def up(v):  # a width in words: four digits, rounded up
    power = next(k for k in range(-1000, 1000) if v < Fraction(10)**k) - 4
    return format(Decimal(ceil(v / Fraction(10)**power)).scaleb(power).normalize(), "f")
def percent(share, places=2): return format((Decimal(floor(10**places * 100 * share)) / 10**places).normalize(), "f") + " %"  # rounded down
def within(t, target, w):  # in words, what holds of a prediction whose error is at most w times epsilon
    below, above, raw = t.of("loss").exact("Below"), t.of("loss").exact("Above"), t.exact("epsilon_raw") * w
    return {"relative": f"lie within ±{up(100 * below * w)} % of {target!r}", "scaled": f"lie within {up(below * w)} of their sds of {target!r}", "label": f"are right about {target!r}",
            "asymmetric": f"lie at most {up(raw)} below and {up(raw * above / below)} above {target!r}"}.get(t.of("loss")("Kind", str), f"lie within ±{up(raw)} of {target!r}")
def population(heads):  # of all these targets together
    head, also = heads[0], f" that have {' and '.join(repr(h('target', str)) for h in heads)}" * (len(heads) > 1 and not heads[0].has("kinds"))
    ties = list(dict.fromkeys(UNITS.get(t("kind", str), f"{t('kind', str)!r} of ") + " and ".join(map(repr, t.list("columns", str))) for h in heads for t in h.objects("ties") if head("group", str) in ("", "(equal rows)")))
    dated = any(d("column", str) in head("group", str).replace(":", ",").split(",") for d in (head.of("reading").objects("dates") if head.has("reading") else ()))
    said = f"groups from the same source (grouped by {head('group', str)!r}, on average over groups{'; of the same period, not later ones' * dated})" if head("group", str) else "rows from the same source"
    return said + f" whose {' and '.join(ties)} occurred in the fitted table" * (ties != []) + also
def say(heads, t, c, ratios, groups, delta, words):
    """Says what holds of predictions with these errors, in multiples of epsilon, and refuses a certificate that says more."""
    grouped, promise, is_curve, kind = heads[0]("group", str) != "", t.exact("promise"), t("curve", bool), t.of("loss")("Kind", str)
    units, n, part = {}, len(set(groups)) if grouped else len(ratios), delta / (2 if promise and not is_curve else 1)
    for r, g in zip(ratios, groups if grouped else range(n)):
        units.setdefault(g, []).append(r * (1 + Fraction(1, 10**9)))  # what is within a billionth of a width misses it
    def lost(width): return [Fraction(sum(r > width for r in rs), len(rs)) for rs in units.values()]
    def bound(width): return betting(lost(width), part) if grouped else binomial(int(sum(lost(width))), n, part)
    require(n >= 20 and (c("rows", int), c("groups", int)) == (len(ratios), n * grouped), "the certificate counts another number of rows or groups, or fewer than 20")
    known = t("rules", int) == 3 and not grouped if is_curve else not grouped or c("family", str) == t("family", str) == "betting" and t("rules", int) == 2
    require(known and not t.list("slices", str) and (kind != "label" or not (promise or is_curve)), "not checked by core.py: slices, curves by older rules or of groups, groups but by betting and its newest rules, and labels with widths")
    epsilon, lines = c.exact("epsilon"), []
    if is_curve:
        errors, bounds = sorted(r for rs in units.values() for r in rs), curve(n, delta, c.of("curve").exact("level") * (1 - SLACK), promise)
        points = [(errors[n - 1 - k], b) for k, b in bounds if b < 1 and errors[n - 1 - k] < INFINITE]
        def bound(width): return min([b for w, b in points if w <= width], default=Fraction(1))
        for p in c.of("curve").objects("points"):
            most, least_bound = (bound(p.exact("half_width") / epsilon * w) for w in (1 - SLACK, 1 + SLACK))
            require(least_bound - SLACK <= p.exact("bound") <= most + SLACK, "a point of the curve promises more than holds, or less")
        lines = [(s, min(w for w, b in points if b <= s)) for s in (Fraction(k, 100) for k in (20, 10, 5, 1)) if any(b <= s for _, b in points)]
    own, misses = bound(Fraction(1)), sum(lost(Fraction(1)))
    require(abs(c.exact("empirical_risk") * n - misses) < SLACK * n, f"the certificate counts {c('empirical_risk', float) * n:.9g} misses, not {float(misses):.9g}")
    require(own <= min(c.exact("mean_bound"), c.exact("bound")) + SLACK, f"mean_bound is {c('mean_bound', float):.9g}, but only {float(own):.9g} holds")
    lines += [(own, Fraction(1))] * (own < 1)
    if promise and c.of("promise")("half_width", float) > 0:
        out, width = 1 - promise, c.of("promise").exact("half_width")
        listed = any(abs(width**33 / Fraction(10)**k - 1) < SLACK for k in range(-99, 34))  # 10^(k/33) were fixed beforehand
        least_width, width = width / epsilon * (1 + SLACK if is_curve else 1 - SLACK), width / epsilon * (1 + SLACK)
        require((is_curve or listed) and (bound(least_width) <= out or not (grouped or is_curve) and holds(int(sum(lost(least_width))), n, out, part)), "the promise doesn't hold")
        lines.append((out, width))
    first = f"With {percent(1 - delta, 9)} confidence (over the draw of the {n} certified {'groups' if grouped else 'rows'}), of predictions on further {population(heads)}"
    require(all(1 - b <= 1 - sum(lost(w)) / n for b, w in lines), "more is promised of further rows than holds of certified ones")
    said = [f"  at least {percent(1 - b)} {words(w)} ({percent(1 - sum(lost(w)) / n)} of the certified ones)" for b, w in sorted(lines, key=lambda line: line[1])]
    return [first, *said] + ["  nothing is known"] * (not said) + ["  (all of this together)"] * (len(said) > 1)
def ratio(t, y, predicted, sd):  # the error of a prediction as a multiple of epsilon
    kind, below, above, d = t.of("loss")("Kind", str), t.of("loss").exact("Below"), t.of("loss").exact("Above"), y - predicted
    unit = {"relative": abs(y) * below, "scaled": abs(sd or 0) * below}.get(kind, t.exact("epsilon_raw") * (above / below if kind == "asymmetric" and d < 0 else 1))
    return abs(d) / unit if unit else INFINITE * (d != 0)
def model(raw, written, predictions):  # what a model file certifies: of each target, and of all together
    several = raw[8:12] == struct.pack("<I", *SEVERAL)
    (top, body, at), heads, rows_of, lines = opened(raw, SEVERAL if several else ONE_MODEL), [], {}, []
    for n in top.list("bytes", int) if several else ():
        heads, at = heads + [opened(body[at:at + n], ONE_MODEL)[0]], at + n
    heads, (first, _, rest) = heads or [top], predictions.partition(b"\n")
    bound_to, data = first.decode().strip().split(","), table(written)
    require(bound_to[:3] == ["krigo core 1", sha(raw).hex(), sha(rest).hex()], "PREDICTIONS are of another model, or were altered")
    require(sha(written).hex() in bound_to[3:], "PREDICTIONS count the rows of another file, perhaps in another order: use rows.csv of certify --core")
    named, *table_of = csv.reader(rest.decode().splitlines(), strict=True)
    predicted = {int(row[0]) - 1: [number(v) if v else None for v in row[1:]] for row in table_of}
    require(named == ["row", *["predicted", "sd"] * len(heads)] and len(predicted) == len(table_of), "PREDICTIONS have other columns, or a row twice")
    said, kinds = top.of("together") if several else Fields({}), heads[0].has("kinds")
    delta, parts, copies = said.exact("delta"), said("parts", int), 0
    alike = {h.of("terms").of("loss")("Kind", str) == "label" for h in heads} in ({True}, {kinds}) and all(h.entries.get(n) == heads[0].entries.get(n) for h in heads for n in ("group", "seed", "split", "kinds", "targets"))
    names = [f"{of('column', str)}={k}" for of in [heads[0].of("kinds")] for k in of.list("labels", str)] if kinds else [h("target", str) for h in heads]
    require(alike and names == [h("target", str) for h in heads] and all(h.list("targets", str) == names for h in heads if several), "models of one file deal their rows alike, all or none are of labels, and each label has a model")
    for j, head in enumerate(heads):
        require(head.has("certificate"), f"there is no certificate of {head('target', str)}: {head('certificate_reason', str)}")
        t, c, kind = head.of("terms"), head.of("certificate"), head.of("terms").of("loss")("Kind", str)
        known = t("fixed", bool) and t("informed", bool) and t("route", str) == "direct" and not t("elsewhere", bool) and kind in COUNTS
        known = known and c("valid", bool) and t("scaling", str) != "all-rows" and not t("backtest", bool)
        require(known, "not checked by core.py: backtests, heuristic bounds, random draws, what the certified rows trained, and losses that don't count misses")
        below, raw = t.of("loss")("Below", float), t("epsilon_raw", float)
        same = c("delta", float) == t("delta", float) and (c("loss", str), c("epsilon", float), c("epsilon_raw", float)) == (kind, below, raw)
        sound = min(below, raw) > 0 and 0 <= t("promise", float) < 1 and (kind != "asymmetric" or t.of("loss")("Above", float) > 0) and (kind != "label" or raw == 0.5) and t("choices", int) <= 1
        require(same and sound and (not head.has("classes") or kind == "label" and len(head.list("classes", str)) == 2 and (not kinds or head.list("classes", str) == ["0", "1"])), "certificate and terms disagree")
        adds_up = not several or t("delta", float) == said("delta", float) / parts and (parts == 1 if kinds else parts >= len(heads) + said.has("certificate"))
        require(adds_up and 0 < t("delta", float) < 0.5, "the parts of delta don't add up")
        rows, equal = certified(head, data)
        require(all(len(predicted.get(i, ())) == 2 * len(heads) and predicted[i][2 * j] is not None for i, *_ in rows), "PREDICTIONS lack a certified row")
        require(kind != "label" or all(y in (0, 1) for _, y, _ in rows), "a label isn't 0 or 1")
        copies, ratios = max(copies, equal), [ratio(t, y, *predicted[i][2 * j:2 * j + 2]) for i, y, _ in rows]
        for (i, y, g), r in zip(rows, ratios):
            rows_of.setdefault(i, []).append((r, y, predicted[i][2 * j], g))
        lines += say([head], t, c, ratios, [g for *_, g in rows], min(t.exact("delta"), delta / parts) if several else t.exact("delta"), lambda w: within(t, head("target", str), w))  # noqa: B023
    if said.has("certificate"):  # a row misses if any target misses. A label is wrong if another class is as likely as the row's own
        whole = [v for v in rows_of.values() if len(v) == len(heads)]
        require(not kinds or all(sum(y for _, y, *_ in v) == 1 for v in whole), "a row has no label, or two")
        worst = [max(r for r, *_ in v) if not kinds else Fraction(2 * any(p >= q for _, y, p, _ in v if not y for _, z, q, _ in v if z)) for v in whole]
        lines += say(heads, heads[0].of("terms"), said.of("certificate"), worst, [v[0][-1] for v in whole], delta / parts, lambda w: " and ".join(
            within(h.of("terms"), h("target", str), w) for h in heads) if not kinds else f"have the right label of {heads[0].of('kinds')('column', str)!r}")
    return lines + [f"With {percent(1 - delta, 9)} confidence all of this together" if parts > 1 else "Each of these by itself"] * several + [COPIES.format(copies)] * (copies > 0)
# ---- 5. Labels that another program predicted --------------------------------------------------------------------------------------------------
def labels(raw, data):  # what a certificate of labels states, from its confusion matrix
    o = Fields(json.loads(raw, object_pairs_hook=plain))
    c, named, delta, prefix = o.of("certificate"), o.list("statements", str), o.exact("delta"), o("probabilities", str)
    known = o("kind", str) == "classes" and named and set(named) <= {"error", "classes", "predicted", "slices"} and named == list(dict.fromkeys(named))
    require(known and not (o("group", str) or o("at_most_wrong", float) or o("recall", float)) and 0 < delta < Fraction(1, 2), "not checked by core.py: labels of groups, thresholds, and statements but error, classes, predicted and slices")
    classes, copies, truth, own = c.list("classes", str), len(rows := list(zip(*data.values()))) - len(set(rows)), data[o("target", str)], data[o("prediction", str)] if o.has("prediction") else ()
    likely = () if own else [*zip(*(map(number, data[prefix + k]) for k in classes))]
    require(c("valid", bool) and own is not truth and not any(data[prefix + k] is truth for k in classes if not own) and (own or {n for n in data if n.startswith(prefix)} - {prefix, o("target", str)} == {prefix + k for k in classes}) and "" not in (*truth, *own) and all(row.count(max(row)) == 1 for row in likely), "this is no certificate, or labels or predictions are missing, or two classes are equally likely, so that their order would decide")
    own = own or [classes[row.index(max(row))] for row in likely]
    confusion = [[sum(pair == (a, b) for pair in zip(truth, own)) for b in classes] for a in classes]
    require(c.list("confusion", list) == confusion and c("rows", int) == len(truth) == sum(map(sum, confusion)), "the confusion matrix differs, or a label has two forms, such as 1 and 1.0")
    lines = [f"With {percent(1 - delta, 9)} confidence (over the draw of the {len(truth)} certified rows), of the labels {(o('prediction', str) if o.has('prediction') else prefix)!r} of {o('target', str)!r} on further rows from the same source"]
    for about in named:
        of = {"error": [""] * len(truth), "classes": truth, "predicted": own, "slices": data.get(o("slice_by", str))}[about]
        parts = len(named) * sum(of.count(kind) >= 20 for kind in set(of))
        for s in [s for s in c.objects("statements") if s("about", str) == about]:
            n, k = of.count(s("of", str)), sum(a != b for a, b, kind in zip(truth, own, of) if kind == s("of", str))
            bound = binomial(k, n, delta / parts) if n >= 20 else Fraction(1)
            require((s("rows", int), s("wrong", int)) == (n, k) and bound <= s.exact("bound") + SLACK, f"the statement {about} {s('of', str)} is wrong")
            lines.append(f"  at least {percent(1 - bound)} are right{(f' ({about}: ' + repr(s('of', str)) + ')') * (about != 'error')}, {n - k} of {n} certified ones are")
    return lines + [COPIES.format(copies)] * (copies > 0)
def main(names):
    try:
        require(len(names) in (2, 3), __doc__)
        raw, data, *predictions = (open(name, "rb").read() for name in names)  # noqa: SIM115
        said = "\n- ".join(["\n".join([*(model(raw, data, *predictions) if predictions else labels(raw, table(data))), "That is so if this is true, which no program can see here:"]), *WORD])
    except (Refused, OSError, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, StopIteration, TypeError, ValueError, csv.Error, struct.error) as e:
        why = str(e) if isinstance(e, Refused) else f"the files don't follow their formats (DATA that are written otherwise have a rows.csv of certify --core; {type(e).__name__}: {e})"
        said = "REFUSED: " + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in why)  # a text of the file mustn't begin a line
    sys.stdout.buffer.write(said.encode() + b"\n")
    return said.startswith("REFUSED: ")
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
