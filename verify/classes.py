"""Checks a certificate of labels (krigo certify --predictions with labels): the JSON that --out writes, and the table. docs/reference/format.md
describes it. Binomial tails are checked in whole numbers, betting bounds and the boundary of a chosen threshold in float64."""
import struct
from bisect import bisect_left
from collections import Counter
from fractions import Fraction
from hashlib import sha256
from math import exp, floor, fsum, gcd, lgamma, log, log1p, sqrt
from unicodedata import category, normalize

from bounds import Fields, as_number, as_text, bets as stakes, binomial, holds, near, plain, require
from more import crossing
from reading import read_table

CONDITIONS = (
    "Each certified {0} is an independent draw from one source, and the certificate is about further {0}s from it.",
    "What made the predictions never saw these rows, and wasn't chosen by them. The person who certifies vouches for both.",
    "What is stated was chosen before these rows were seen: the statements, \u03b4, costs, kinds of rows, and the shares that were asked for.")
MIN_ROWS, LEAST, STEPS, FIRST, BINS = 20, 0.001, 400, 0.05, 10

def ordered(*lists):
    """Returns different labels in order: numbers by their value if all are numbers, else text."""
    labels = sorted({label for one in lists for label in one}, key=lambda s: s.encode())
    numbers = [as_number(s) for s in labels]
    return labels if any(v is None or v != v for v in numbers) else sorted(labels, key=as_number)

# Letters of other scripts, each before the Latin letter that it looks like.
ALIKE = str.maketrans(dict(pair for pair in zip(*[iter("""
А A В B Е E З 3 І I Ї Ï Ј J К K М M Н H О O Р P С C Ѕ S Т T У Y Ү Y Х X Ԍ G Ԛ Q Ԝ W Ӏ l а a с c ԁ d е e ё ë г r һ h і i ї ï ј j к k ӏ l о o р p ԛ q ѕ s у y ү y х x ԝ w
Α A Β B Ε E Ζ Z Η H Ι I Κ K Μ M Ν N Ο O Ρ P Τ T Υ Y Χ X α a γ y η n ι i κ k ν v ο o ρ p υ u χ x ı i հ h օ o ս u ‐ - ‒ - – - — - − - ‘ ' ’ ' ʼ '
""".split())] * 2)))
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u180b\u180c\u180d\u180f"

def look(name):
    """Returns what equals that of a name which looks the same."""
    kept = "".join(c for c in name if category(c) != "Cf" and c not in UNSEEN and not "\ufe00" <= c <= "\ufe0f" and not "\U000e0100" <= c <= "\U000e01ef")
    return " ".join(normalize("NFKC", kept).translate(ALIKE).split())

def keys(o, always, maybe=""):
    """Refuses an object that lacks a field, or has a field that this program doesn't check."""
    always = set(always.split())
    odd = always ^ set(o.entries) - set(maybe.split())
    require(not odd, f"fields lack, or are unknown: {sorted(odd)}")

class Rows:
    """The rows of the table, by what the certificate names."""
    def __init__(self, c, data):
        def column(name):
            require(name in data, f"the table has no column {name}")
            return data[name]

        def text(name):
            cells = [as_text(cell) for cell in column(name)]
            require(all(cells), f"the column {name} has a missing cell")
            return cells

        def numbers(name):
            cells = [as_number(cell) for cell in column(name)]
            require(all(v is not None and v == v for v in cells), f"the column {name} has a cell that isn't a number")
            return cells
        target, prediction, prefix, costs = c("target", str), c("prediction", str), c("probabilities", str), c.of("costs") if c.has("costs") else None
        truth, predicted = text(target), text(prediction) if prediction else None
        self.classes = ordered(truth, predicted or [], costs.list("classes", str) if costs else [])
        self.p = None
        if prefix:
            names = [n[len(prefix):] for n in data if n.startswith(prefix) and n not in (prefix, target, prediction)]
            require(set(self.classes) <= set(names), "a class has no column of probabilities")
            self.classes = ordered(names)
            self.p = list(zip(*(numbers(prefix + n) for n in self.classes)))
            require(all(0 <= v <= 1 for row in self.p for v in row) and all(abs(sum(row) - 1) <= 1e-3 + 1e-9 for row in self.p), "a row's probabilities aren't probabilities")
        place = {label: j for j, label in enumerate(self.classes)}
        self.truth, self.n = [place[t] for t in truth], len(truth)
        self.label = [place[t] for t in predicted] if prediction else [row.index(max(row)) for row in self.p]
        self.wrong = [int(t != l) for t, l in zip(self.truth, self.label)]
        self.score = numbers(c("score", str)) if c("score", str) else self.p and [row[l] for row, l in zip(self.p, self.label)]
        self.kinds = text(c("slice_by", str)) if c("slice_by", str) else None
        self.groups = text(c("group", str)) if c("group", str) else None
        self.detected = self.score if c("score", str) else self.p and c("positive", str) in place and [row[place[c("positive", str)]] for row in self.p]
        if costs:
            keys(costs, "classes costs")
            names, table = costs.list("classes", str), costs.list("costs", list)
            require(len(table) == len(names) and all(len(row) == len(names) and all(type(v) in (int, float) and v >= 0 for v in row) for row in table), "costs aren't a table of numbers")
            self.costs = {(t, l): table[names.index(a)][names.index(b)] for a, t in place.items() for b, l in place.items()}
            self.most = max(self.costs.values())
        self.positive = place.get(c("positive", str))
        for names in self.classes, sorted(set(self.kinds or [])):
            require(len(set(map(look, names))) == len(names), "names of classes, or of slices, look the same")
        self.copies = 0
        if not self.groups:
            times = Counter(zip(*(map(as_text, cells) for cells in data.values())))
            whole = gcd(*times.values())
            require((len(times) - 1) * log(whole) <= log(1e6), f"the table is {whole} copies of its rows")
            self.copies = self.n - len(times) if set(data) - {target, prediction, c("slice_by", str)} else 0

    def hash(self):
        def row(i):
            texts = [self.classes[self.truth[i]], self.classes[self.label[i]], self.kinds[i] if self.kinds else ""] + ([self.groups[i]] if self.groups else [])
            numbers = self.p[i] if self.p else [self.score[i]] if self.score else []
            return b"".join(struct.pack("<Q", len(t.encode())) + t.encode() for t in texts) + b"".join(struct.pack("<d", v + 0.0) for v in numbers)
        return sha256(b"".join(struct.pack("<Q", len(b)) + b for b in sorted(map(row, range(self.n))))).hexdigest()

    def units(self, losses):
        """Returns the losses of rows, or the mean losses of groups."""
        if not self.groups:
            return losses
        each = {}
        for g, loss in zip(self.groups, losses):
            each.setdefault(g, []).append(loss)
        return [min(fsum(v) / len(v), 1) for v in each.values()]

def bets(losses, m, shares):
    """Returns the logarithms of the wealths of gamblers who stake these shares against the mean m."""
    return [fsum(log(1 - c + c * (1 - x) / (1 - m)) for x in losses) for c in shares]

def mean_wealth(logs):
    return max(logs) + log(fsum(exp(v - max(logs)) for v in logs) / len(logs))

def check_betting(what, bound, mean, delta, wealth):
    """Checks that the gamblers have 1/delta at the bound, and have less at a bound that is smaller by a millionth."""
    require(bound >= mean - 1e-12 and (bound >= 1 or wealth(bound) >= -log(delta) - 1e-6), f"{what} is too small")
    require(bound - 2e-6 <= mean or wealth(min(bound, 1) - 2e-6) < -log(delta), f"{what} is too large")

def check_binomial(what, bound, k, n, delta):
    require(holds(k, n, bound, delta) or bound >= 1, f"{what} fails with a probability above its delta")
    near(what, bound, binomial(k, n, delta))

def least_wealth(bins, m, shares):
    """Returns the gamblers' least wealth over all signs of the bins."""
    wealth = [[0.0] * len(shares)]
    for z in filter(None, bins):
        both = [bets([(1 + sign * v) / 2 for v in z], m, shares) for sign in (1, -1)]
        wealth = [[a + b for a, b in zip(w, logs)] for w in wealth for logs in both]
    return min(map(mean_wealth, wealth))

def check_statements(r, about, delta, found, c, by_column, rules):
    """Checks the statements of one kind, found, which have delta together."""
    n = len(set(r.groups)) if r.groups else r.n
    for s in found:
        keys(s, "about delta rows wrong mean bound", "of by reason" if s("of", str) else "")
    if about in ("classes", "predicted", "slices"):
        require(not r.groups, f"{about} with groups")
        by = [r.classes[j] for j in (r.truth if about == "classes" else r.label)] if about != "slices" else r.kinds
        kinds = r.classes if about != "slices" else ordered(by)
        counts = {kind: (by.count(kind), sum(w for w, b in zip(r.wrong, by) if b == kind)) for kind in kinds}
        parts = sum(rows >= MIN_ROWS for rows, _ in counts.values())
        require([s("of", str) for s in found] == kinds, f"{about}: the kinds of rows differ")
        for s in found:
            rows, wrong = counts[s("of", str)]
            require(s("by", str) == (by_column if about == "slices" else ""), "the column of slices differs")
            require(s("reason", str) == ("" if rows >= MIN_ROWS else f"{rows} certified rows are too few, of {MIN_ROWS}"), "a reason differs")
            require((s("rows", int), s("wrong", int)) == (rows, wrong), f"{about}: the counts of {s('of', str)} differ")
            near("a mean", s("mean", float), wrong / rows if rows else 0.0)
            if rows < MIN_ROWS:
                require(s("bound", float) == 1 and s("delta", float) == 0, f"{about}: too few rows have a bound")
                continue
            require(abs(s("delta", float) * parts / delta - 1) < 1e-9, f"{about}: the part of delta differs")
            check_binomial(f"the bound of {s('of', str)}", s("bound", float), wrong, rows, s("delta", float))
        return
    require(len(found) == 1, f"{about} isn't stated once")
    s, bound, shares = found[0], found[0]("bound", float), stakes(n, delta, rules)
    require(abs(s("delta", float) / delta - 1) < 1e-9, f"{about}: the part of delta differs")
    require(s("rows", int) == n and not s.has("of") and not s.has("reason"), f"{about}: the number of rows differs")
    if about == "calibration":
        require(not r.groups, "calibration with groups")
        bins = [[] for _ in range(BINS)]
        for w, label, p in zip(r.wrong, r.label, r.p):
            bins[min(int(BINS * p[label]), BINS - 1)].append(1 - w - p[label])
        mean = fsum(abs(fsum(z)) for z in bins) / n
        near("the calibration error", s("mean", float), mean)
        sure = [[] for _ in range(BINS)]
        for label, p in zip(r.label, r.p):
            sure[min(int(BINS * p[label]), BINS - 1)].append(p[label])
        require([b("rows", int) for b in c.objects("bins")] == [len(z) for z in bins] and s("wrong", int) == 0, "the bins differ")
        for b, z, p in zip(c.objects("bins"), bins, sure):
            keys(b, "rows confidence right")
            near("a bin's confidence", b("confidence", float), fsum(p) / max(len(p), 1))
            near("a bin's share of right labels", b("right", float), (fsum(z) + fsum(p)) / max(len(p), 1))
        return check_betting("the calibration's bound", (1 + bound) / 2, (1 + mean) / 2, delta, lambda m: least_wealth(bins, m, shares))
    most, zero_one, losses = 1.0, True, r.wrong
    if about == "brier":
        zero_one, losses = False, [fsum((p - (j == t))**2 for j, p in enumerate(row)) / 2 for t, row in zip(r.truth, r.p)]
    elif about == "log-loss":
        zero_one, most, losses = False, -log(LEAST), [-log(max(row[t], LEAST)) for t, row in zip(r.truth, r.p)]
    elif about == "costs":
        zero_one, most, losses = False, r.most, [r.costs[pair] for pair in zip(r.truth, r.label)]
    elif about.startswith("top-"):
        k = int(about[4:])
        require(about == f"top-{k}" and k > 0, f"the statement {about} is unknown")
        losses = [int(sum(p >= row[t] for p in row) - 1 >= k) for t, row in zip(r.truth, r.p)]
    else:
        require(about == "error", f"the statement {about} is not checked by this program")
    own = r.units([min(max(v / most, 0), 1) for v in losses])
    near(f"the mean of {about}", s("mean", float), fsum(own) / n * most)
    require(s("wrong", int) == zero_one * sum(losses), f"{about}: the number of wrong rows differs")
    if zero_one and not r.groups:
        return check_binomial(f"the bound of {about}", bound, sum(losses), n, delta)
    check_betting(f"the bound of {about}", bound / most, fsum(own) / n, delta, lambda m: mean_wealth(bets(own, m, shares)))

def allowed(k, m, a, level):
    """Whether at most k successes of m draws have at most the probability level. Only rounding may make another program say otherwise."""
    return k < m and tail(k, m, a) <= log(level) - 1e-11

def tail(k, m, a):
    total = term = 1.0
    for j in range(k, 0, -1):
        term *= j / (m - j + 1) * (1 - a) / a
        total += term
        if term < 1e-18 * total:
            break
    return lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1) + k * log(a) + (m - k) * log1p(-a) + log(total)

def search(n, true):
    """Returns the least i < n for which true(i), or n."""
    low, high = 0, n
    while low < high:
        mid = (low + high) // 2
        low, high = (low, mid) if true(mid) else (mid + 1, high)
    return low

def steps(n, a, level):
    """Returns the boundary's steps: from m answered rows on, k may be wrong."""
    def most(m):
        return search(int(a * m) + 1, lambda k: not allowed(k, m, a, level)) - 1
    first, last = max(most(max(1, int(FIRST * n))), 0), most(n)
    every, k, found = max(1, (last - first + STEPS) // STEPS), first, []
    while k <= last:
        k = last if k + every > last else k
        found.append((search(n, lambda m: allowed(k, m, a, level)), k))
        k += every
    return found

def crossed(bound, a):
    """Returns the probability that the walk of a coin is at or below the boundary. In whole numbers if there are few rows."""
    if bound and bound[-1][0] <= 400:
        a = Fraction(a).limit_denominator(10**6) if Fraction(a).limit_denominator(10**6) == Fraction(str(a)) else Fraction(a)
        up, down, limit, walk = a.numerator, a.denominator - a.numerator, dict(bound), {0: 1}
        for m in range(1, bound[-1][0] + 1):
            walk = {k: walk.get(k, 0) * down + walk.get(k - 1, 0) * up for k in range(m + 1) if k > limit.get(m, -1)}
        return float(1 - Fraction(sum(walk.values()), a.denominator**bound[-1][0]))
    walk, at = {0: 1.0}, 0
    for m, limit in bound:
        d = m - at
        low, high = max(0, floor(d * a - 10 * sqrt(d * a * (1 - a)) - 10)), min(d, floor(d * a + 10 * sqrt(d * a * (1 - a)) + 30))
        draw = [(s, exp(lgamma(d + 1) - lgamma(s + 1) - lgamma(d - s + 1) + s * log(a) + (d - s) * log1p(-a))) for s in range(low, high + 1)]
        after = {}
        for k, q in walk.items():
            for s, p in draw:
                if k + s > limit:
                    after[k + s] = after.get(k + s, 0.0) + q * p
        walk, at = {k: q for k, q in after.items() if q > 1e-25}, m
    return max(0.0, 1 - fsum(walk.values()))

def check_band(what, k, n, level, delta, end, bound):
    """Checks the bound of k misses of n by the band of a curve (more.check_curve), which holds at all thresholds at once."""
    misses, j = [], 0
    while j < n and j <= end * n:
        misses, j = misses + [j], max(j + 1, j * 51 // 50)
    require(0 < level < delta, f"{what}: the level isn't between 0 and its delta")
    bounds = [binomial(m, n, level) for m in misses]
    require(0.99 * delta <= crossing(n, misses, bounds) <= delta * (1 + 1e-6), f"{what}: the bounds fail together with another probability than delta")
    i = bisect_left(misses, k)
    near(what, bound, min(bounds[i], 1) if i < len(bounds) else 1.0)

def check_selective(r, s, a, delta):
    require(s("at_most_wrong", float) == a and abs(s("delta", float) / delta - 1) < 1e-9, "the chosen threshold's share or delta differs")
    level, n = s("level", float), r.n
    require(0 < level <= 0.75 * delta * (1 + 1e-12), "the boundary's level isn't between 0 and its delta")
    bound = steps(n, a, level)
    together = crossed(bound, a)
    require(together <= 0.75 * delta * (1 + 1e-6), f"the boundary is crossed with {together:.9g}, above its part of delta")
    # Another level gives another boundary. The search of the level is repeated, so that the level can't follow the rows.
    low, high, tried = 0.75 * delta / (STEPS + 2), 0.75 * delta, 0.75 * delta
    while True:
        low, high = (tried, high) if crossed(steps(n, a, tried), a) + 1e-11 <= 0.75 * delta else (low, tried)
        if high / low < 1.001:
            break
        tried = sqrt(low * high)
    require(abs(level / low - 1) < 1e-6, f"the boundary's level is {low:.9g}, not {level:.9g}")

    def most(m):
        i = bisect_left(bound, (m + 1, -1))
        return max([k for _, k in bound[max(i - 1, 0):i]] + [k - (rows - m) for rows, k in bound[i:i + 1]], default=-1)
    order = sorted(range(n), key=lambda i: -r.score[i])
    found, wrong = (0.0, 0, 0, 0), 0
    for m, i in enumerate(order, 1):
        wrong += r.wrong[i]
        if wrong <= most(m) and (m == n or r.score[order[m]] < r.score[i]):
            found = (r.score[i], m, wrong, most(m))
    own = (s("threshold", float), s("answered", int), s("wrong", int), s("allowed", int))
    require(own == found, f"the threshold, its rows, wrong rows and allowed rows are {found}, not {own}")
    keys(s, "at_most_wrong delta threshold answered wrong allowed level answers answers_level", "reason")
    few = "too few rows, or too many wrong answers among the surest; allow more, or certify more rows"
    require(s("reason", str) == ("" if found[1] else few), "a reason stands beside a threshold, or lacks")
    # Without a threshold no row is answered, and the band's bound on the share without an answer is 1.
    check_band("the share of rows without an answer", n - found[1], n, s("answers_level", float), delta / 4, 1 - FIRST, 1 - s("answers", float))

def check_detection(r, d, recall, delta, positive):
    require(d("recall", float) == recall and d("positive", str) == positive and abs(d("delta", float) / delta - 1) < 1e-9, "the detection's class, recall or delta differs")
    of = [t == r.positive for t in r.truth]
    total, seen, found = sum(of), 0, None
    order, most = sorted(range(r.n), key=lambda i: -r.detected[i]), search(total, lambda k: not holds(k, total, 1 - recall, 0.75 * delta)) - 1
    for m, i in enumerate(order, 1):
        seen += of[i]
        if (m == r.n or r.detected[order[m]] < r.detected[i]) and seen and total - seen <= most:
            found = (r.detected[i], total - seen, m - seen)
            break
    require((d("positives", int), d("others", int)) == (total, r.n - total), "the detection's rows differ")
    keys(d, "positive recall delta threshold positives missed others false_alarms false_alarms_bound false_alarms_level", "reason")
    few = "too few certified rows of the class; ask for a smaller share, or certify more rows"
    require(d("reason", str) == ("" if found else few), "a reason stands beside a threshold, or lacks")
    if not found:
        none = [d(name, kind) for name, kind in (("threshold", float), ("missed", int), ("false_alarms", int), ("false_alarms_level", float), ("false_alarms_bound", float))]
        return require(none == [0, 0, 0, 0, 1], "no threshold has this recall")
    own = (d("threshold", float), d("missed", int), d("false_alarms", int))
    require(own == found, f"the threshold, missed rows and false alarms are {found}, not {own}")
    if r.n > total:
        check_band("the share of false alarms", found[2], r.n - total, d("false_alarms_level", float), delta / 4, 0.5, d("false_alarms_bound", float))

def verify(raw, data):
    """Returns what verify.py prints: the certificate, what was checked, and what is taken on the word of the person who certified."""
    import json
    o = Fields(json.loads(raw, object_pairs_hook=plain))
    require(o("kind", str) == "classes" and o("version", int) == 1, "this kind of certificate is not checked by this program")
    c, r, delta = o.of("certificate"), Rows(o, read_table(data)), o("delta", float)
    require(0 < delta < 0.5 and c("delta", float) == delta, "delta isn't the declared delta, or is 0.5 or more")
    keys(o, "source kind version target delta rows_sha256 certificate sentence",
         "prediction score probabilities slice_by group costs statements at_most_wrong recall positive rules")
    keys(c, "rows delta classes confusion valid label conditions", "groups statements bins copies selective detection")
    require(c.has("bins") == ("calibration" in o.list("statements", str)), "bins without a calibration, or a calibration without bins")
    require(bool(o("recall", float)) == bool(o("positive", str)), "a class without a recall")
    unit = "group" if r.groups else "row"
    require(c.list("conditions", str) == [text.format(unit) for text in CONDITIONS], "the conditions differ")
    require(c("copies", int) == r.copies, f"{r.copies} rows are copies, not {c('copies', int)}")
    require(r.hash() == o("rows_sha256", str), "the rows' hash differs: these aren't the certified rows")
    n = len(set(r.groups)) if r.groups else r.n
    require(n >= MIN_ROWS and c("rows", int) == r.n and c("groups", int) == (n if r.groups else 0), "the number of rows, or groups, differs")
    require(c.list("classes", str) == r.classes, "the classes differ")
    own = [[0] * len(r.classes) for _ in r.classes]
    for t, label in zip(r.truth, r.label):
        own[t][label] += 1
    require(c.list("confusion", list) == own, "the confusion matrix differs")
    named, a, recall = o.list("statements", str), o("at_most_wrong", float), o("recall", float)
    parts = len(named) + (a > 0) + (recall > 0)
    require(len(set(named)) == len(named) and parts, "statements are named twice, or nothing is stated")
    require(not r.groups or not a and not recall, "a threshold with groups")
    bet = r.groups or {"brier", "log-loss", "calibration", "costs"} & set(named)
    require(not o("rules", int) or bet and o("rules", int) == 2, "the rules aren't those of these statements")
    said = c.objects("statements")
    require([about for about in dict.fromkeys(s("about", str) for s in said)] == named, "the statements aren't the declared statements")
    for about in named:
        check_statements(r, about, delta / parts, [s for s in said if s("about", str) == about], c, o("slice_by", str), o("rules", int))
    require(c.has("selective") == (a > 0) and c.has("detection") == (recall > 0), "a threshold lacks, or wasn't declared")
    if a:
        check_selective(r, c.of("selective"), a, delta / parts)
    if recall:
        check_detection(r, c.of("detection"), recall, delta / parts, o("positive", str))
    require(c("valid", bool) and c("label", str) == "certificate", "the label isn't that of a certificate")
    checked = [("the rows, classes, copies and confusion matrix", True), ("every statement and threshold, and its part of delta", True)]
    word = [("that statements, delta, costs, slices and shares were chosen before the certified rows were seen, and that nothing else was tried", True),
            ("that what made the predictions never saw these rows", True), ("the sentence, and the name of the source", False)]
    return c, checked, word
