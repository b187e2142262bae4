#!/usr/bin/env python3
"""Checks a certificate of krigo without krigo: python3 verify.py MODEL DATA.csv[.gz]

Written by docs/format.md, with Python's standard library alone. It reads the model file, deals the rows their roles,
makes scaling and posterior anew, predicts the certified rows, counts the misses, and computes every number of the
certificate. Two numbers agree that differ by 1e-6, or that share of one above 1. A row whose error is the band's edge
but for rounding counts once as a miss and once not, and the certificate has to hold both times. What this program
doesn't know is refused as "not checked by this program". Exit status: 0 it agrees, 1 it refuses, 2 wrong usage.
"""
import csv
import gzip
import hashlib
import io
import json
import re
import struct
import sys
from decimal import Decimal
from fractions import Fraction
from math import ceil, comb, cos, dist, erf, erfc, exp, expm1, floor, fsum, inf, isfinite, lgamma, log, log1p, pi, sin, sqrt
from operator import mul

TEST, CALIBRATION, PRIOR, CERTIFIED = range(4)
UNIT = 2.0**-52  # rounding of 1
ZERO_ONE, UNITLESS = ("band", "relative", "scaled", "asymmetric"), ("relative", "scaled", "clipped-absolute")
BOUND_TRAINED = ("kl-pac", "sqrt-pac")  # their noise variance only shapes Q
OBJECTIVES = BOUND_TRAINED + ("evidence", "nearest", "vfe", "fitc", "dtc", "pep", "svgp", "renyi")
ZERO = {int: 0, float: 0.0, str: "", bool: False, list: [], dict: None}

class Refused(Exception):
    """Says why there is no agreement."""

def require(ok, why):
    if not ok:
        raise Refused(why)

def near(what, stored, own, most=None):
    """A stored number is the own one, or between two own ones."""
    most, slack = own if most is None else most, 1e-6 * max(1, abs(stored))
    require(own - slack <= stored <= most + slack, f"{what} is {own:.9g}, not {stored:.9g}")

# ---- The model file --------------------------------------------------------------------------------------------------
class Fields:
    """An object of the header, each field of which is of the type that is asked for; one that isn't there is zero."""
    def __init__(self, entries):
        require(type(entries) is dict, "the header lacks an object that it has to have")
        self.entries = entries

    def __call__(self, name, kind):
        v = self.entries.get(name)
        require(v is None or type(v) is kind or kind is float and type(v) is int, f"the header's {name} isn't a {kind.__name__}")
        return ZERO[kind] if v is None else float(v) if kind is float else v

    def of(self, name):
        return Fields(self(name, dict))

    def list(self, name, kind):
        return [Fields({name: v})(name, kind) for v in self(name, list)]

    def has(self, name):
        return self.entries.get(name) is not None

def plain(pairs):
    """Readers may differ about names that are there twice, or in other letters."""
    odd = [n for n, _ in pairs if n != n.casefold() and n not in ("Kind", "Below", "Above", "L", "Digits")]
    require(len({n.casefold() for n, _ in pairs}) == len(pairs) and not odd, f"names twice, or in other letters: {odd}")
    return dict(pairs)

def number(text):
    require(isfinite(float(text)), f"the header holds {text}, which isn't a finite number")
    return float(text)

def read_model(raw):
    require(raw[:8] == b"KRIGO\r\n\x1a" and len(raw) >= 48, "this isn't a krigo model file, or it is cut short")
    version, length = struct.unpack("<II", raw[8:16])
    require(version == 5, f"not checked by this program: format version {version}; use krigo certify")
    body, arrays, at = raw[:-32], {}, 16 + length
    require(hashlib.sha256(body).digest() == raw[-32:], "the checksum doesn't match: the file is damaged, or was altered")
    head = Fields(json.loads(body[16:at].decode(), object_pairs_hook=plain, parse_float=number, parse_constant=number))
    for entry in map(Fields, head.list("arrays", dict)):
        name, rows, cols = entry("name", str), entry("rows", int), entry("cols", int)
        kind, code = ("uint64", "Q") if name in ("rows", "groups") else ("float64", "d")
        count = rows * cols if cols else rows * (rows + 1) // 2
        require(entry("type", str) == kind and name not in arrays and min(rows, cols) >= 0 and at + 8 * count <= len(body),
                f"the array {name} isn't of type {kind}, is there twice, or is cut short")
        values, at = struct.unpack_from(f"<{count}{code}", body, at), at + 8 * count
        require(kind == "uint64" or all(map(isfinite, values)), f"the array {name} holds what isn't a finite number")
        arrays[name], arrays[name, "shape"] = list(values), (rows, cols)
        if cols == 0:
            arrays[name] = [values[i * (i + 1) // 2:(i + 1) * (i + 2) // 2] for i in range(rows)]
        elif name.endswith("support"):
            arrays[name] = [values[i * cols:(i + 1) * cols] for i in range(rows)]
    require(at == len(body), "the file holds more than its header says")
    return head, arrays

# ---- The table -------------------------------------------------------------------------------------------------------
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$", re.ASCII)

def numeral(v):
    """The fewest digits that read back as v; with an exponent, of two digits or more, below 1e-4 and from 1e6 on."""
    if v == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(v)).normalize().as_tuple()
    power, text = len(digits) + exponent - 1, "".join(map(str, digits))
    if -4 <= power < 6:
        return format(Decimal((sign, digits, exponent)), "f")
    return "-" * sign + text[0] + "." * (len(text) > 1) + text[1:] + f"e{power:+03d}"

def as_number(cell):
    """The number that a cell is; NaN of a missing value, None of text."""
    if cell.lower() in ("", "na", "n/a", "#n/a", "nan", "null", "?"):
        return float("nan")
    return float(cell) if DECIMAL.match(cell) and isfinite(float(cell)) else None

def as_text(cell):
    v = as_number(cell)
    return cell if v is None else "" if v != v else numeral(v)

def read_table(raw):
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig").replace("\r\n", "\n")
    head = re.sub(r'"[^"]*"', "", text.lstrip("\n")).split("\n")[0]
    comma = next((c for c in ",;\t" if c in head), ",")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=comma, skipinitialspace=comma != "\t", strict=True)
    rows = [[cell.strip() for cell in row] for row in lines if row]
    rows = [row for row in rows if row != [""] or len(rows[0]) == 1]
    names, first = rows[0], [as_number(cell) for cell in rows[0]]
    if None not in first and any(v == v for v in first):  # no header
        names = [f"x{j + 1}" for j in range(len(first) - 1)] + ["y"]
    else:
        rows = rows[1:]
    require(len(set(names)) == len(names) and rows and all(len(r) == len(names) for r in rows), "the table isn't one")
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}

def bits(v):
    return struct.pack("<d", v) if v == v else bytes.fromhex("010000000000f87f")

def long_text(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()

class Table:
    """Rows as the model sees them: their bytes, targets and groups, and, once roles are dealt, their inputs x."""
    def __init__(self, head, columns):
        self.inputs, self.encoding, self.fill = head.list("inputs", str), None, False
        self.names, target, group = self.inputs, head("target", str), head("group", str)
        if head.has("encoding"):
            self.encoding = [Fields(c) for c in head.of("encoding").list("columns", dict)]
            self.names, self.fill = [c("name", str) for c in self.encoding], head.of("encoding")("missing", str) == "mean"
        used = self.names + [target] + [group] * bool(group)
        require(len(set(used)) == len(used) and set(used) <= set(columns), "the table lacks a column, or one is used twice")
        self.textual = [c.has("categories") for c in self.encoding] if self.encoding else [False] * len(self.names)
        self.cells = [list(map(as_text if t else as_number, columns[n])) for n, t in zip(self.names, self.textual)]
        self.y, self.groups = list(map(as_number, columns[target])), list(map(as_text, columns[group])) if group else None
        for name, cells in list(zip(self.names, self.cells)) + [(target, self.y), (group, self.groups or [1])]:
            gaps = self.fill and name not in (target, group)
            require(None not in cells and (gaps or all(c == c and c != "" for c in cells)), f"{name!r} has gaps, or text")
        self.bytes = [b"".join(long_text(c) if t else bits(c) for c, t in zip(row, self.textual)) + bits(y)
                      for row, y in zip(zip(*self.cells), self.y)]
        self.tails = [long_text(g) for g in self.groups] if group else [b""] * len(self.y)

    def encode(self, prior):
        """Makes the inputs; categories and fills have to be what the prior rows make them."""
        made, names, self.one_hot = [], [], []
        for name, cells, entry in zip(self.names, self.cells, self.encoding or [Fields({})] * len(self.cells)):
            known, whose = [cells[i] for i in prior if cells[i] == cells[i] and cells[i] != ""], "aren't those of the prior rows"
            if entry.has("categories"):
                own = sorted(set(known) - {"other"}, key=str.encode)
                require(known and own == entry.list("categories", str), f"the categories of {name!r} {whose}")
                names += [f"{name}={c}" for c in own + ["other"]]
                made += [[float((own.index(c) if c in own else len(own)) == k) for c in cells] for k in range(len(own) + 1)]
                self.one_hot += [True] * (len(own) + 1)
                continue
            require(entry.has("mean") == self.fill, f"what fills {name!r} is there where nothing is filled, or the reverse")
            mean = entry("mean", float)
            require(not self.fill or known and abs(fsum(known) / len(known) - mean) <= 1e-9 * abs(mean), f"fills of {name!r} {whose}")
            names, made, self.one_hot = names + [name], made + [[c if c == c else mean for c in cells]], self.one_hot + [False]
        require(names == self.inputs, "the encoding makes other inputs than the model's")
        self.x = list(zip(*made))

# ---- Which row has which role, and the scaling -----------------------------------------------------------------------
def sha(b):
    return hashlib.sha256(b).digest()

def fnv(b):
    h = 0xCBF29CE484222325
    for byte in b:
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h

def hash_of(digests, columns):
    return sha(struct.pack("<QQ", len(digests), columns) + b"".join(sorted(digests))).hex()

def keys(salt, digests):
    seen, out = {}, []
    for d in digests:
        seen[d] = seen.get(d, -1) + 1
        out.append(sha(salt + d + struct.pack("<Q", seen[d]))[:16])
    return out

def deal(head, arrays, table):
    """The rows of each role, in the order in which they are used, and how many repeat others."""
    counts, n, columns = head.list("rows_by_role", int), len(table.y), len(table.names)
    require(len(counts) == 4 and min(counts) >= 0 and sum(counts) == n, f"the data have {n} rows, rows_by_role {sum(counts)}")
    digests, names = [sha(b + t) for b, t in zip(table.bytes, table.tails)], sorted({sha(t) for t in table.tails})
    whole = hash_of(digests, columns)
    require(whole == head("rows_sha256", str), "the rows aren't those the model was made from: their rows_sha256 is another")
    targets = b"".join(struct.pack("<Q", t) for t in sorted(struct.unpack("<Q", bits(y))[0] for y in table.y))
    require(sha(targets).hex() == head("targets_sha256", str), "targets_sha256 is another")
    split, order, units = head("split", str), range(n), head.list("groups_by_role", int) or counts
    require(head.has("groups_by_role") == (table.groups is not None), "groups_by_role and group disagree")
    if split == "last":
        require(table.groups is None, "not checked by this program: a backtest of groups")
        role = [r for r in (PRIOR, CALIBRATION, CERTIFIED, TEST) for _ in range(counts[r])]
    else:
        require(split == "content" and n * (columns + 1) <= 2**28, "not checked by this program: this split, or table")
        salt = f"krigo roles {whole} ".encode() + struct.pack("<Q", head("seed", int))
        own = place = keys(salt, digests)
        if table.groups is not None:
            of_group = dict(zip(names, keys(salt + b" group", names)))
            place = [of_group[sha(t)] for t in table.tails]
        dealt = sorted(set(place))
        require(len(units) == 4 and min(units) >= 0 and sum(units) == len(dealt), "groups_by_role aren't so many groups")
        role_of = dict(zip(dealt, [r for r in range(4) for _ in range(units[r])]))
        role, order = [role_of[p] for p in place], sorted(range(n), key=lambda i: (place[i], own[i]))
    of = [[i for i in order if role[i] == r] for r in range(4)]
    require([len(rows) for rows in of] == counts, "rows_by_role aren't the numbers of rows that are dealt")
    own = hash_of([digests[i] for i in of[CERTIFIED]], columns)
    require(own == head("certified_rows_sha256", str), "certified_rows_sha256 isn't that of the certified rows")
    made = sorted((fnv(table.bytes[i]), table.tails[i]) for i in range(n) if role[i] != TEST)
    require([h for h, _ in made] == arrays.get("rows"), "the array rows isn't the rows' hashes")
    groups = None if table.groups is None else sorted({fnv(t) for _, t in made})
    require(groups == arrays.get("groups"), "the array groups isn't the groups' hashes")
    alike = {}
    for h, tail in made:
        alike.setdefault(h, []).append(tail)
    return of, sum(len(t) for t in alike.values() if len(t) > 1 and (groups is None or len(set(t)) > 1))

def scale_rows(head, table, roles):
    """The rows in scaled units, as pairs of inputs and target, and the target's mean and scale."""
    s, d = head.of("scaling"), len(table.inputs)
    means, scales = s.list("input_mean", float) + [s("target_mean", float)], s.list("input_scale", float) + [s("target_scale", float)]
    source = s("source", str)
    rows = roles[PRIOR] + (roles[CERTIFIED] if source == "all-rows" else [])
    require(len(means) == len(scales) == d + 1 > 1 and min(scales) > 0, "the scaling doesn't fit, or has scales of no size")
    require(source in ("prior-rows", "all-rows", "declared"), f"the scaling is from {source!r}")
    all_rows = [x + (y,) for x, y in zip(table.x, table.y)]
    for j in range(d + 1 if source != "declared" else 0):
        values = [all_rows[i][j] for i in rows]
        mean = fsum(values) / len(values)
        sd = sqrt(fsum((v - mean)**2 for v in values) / len(values))
        if j < d and (table.one_hot[j] or sd <= 1e-13 * abs(mean)):
            mean, sd = 0.0 if table.one_hot[j] else mean, 1.0
        require(abs(means[j] - mean) <= 1e-9 * max(abs(mean), sd) and abs(scales[j] - sd) <= 1e-9 * sd,
                f"the scaling's constants aren't those of {source}")
    scaled = [tuple((v - m) / s for v, m, s in zip(row, means, scales)) for row in all_rows]
    return [(row[:-1], row[-1]) for row in scaled], scales[-1]

# ---- Linear algebra, of lower triangles as lists of rows -------------------------------------------------------------
def dot(a, b):
    """Up to the end of the shorter one."""
    return sum(map(mul, a, b))

def cholesky(a):
    factor = []
    for i, row in enumerate(a):
        new = []
        for j in range(i):
            new.append((row[j] - dot(new, factor[j])) / factor[j][j])
        pivot = row[i] - dot(new, new)
        require(pivot > 0, "a covariance matrix isn't positive definite")
        factor.append(new + [sqrt(pivot)])
    return factor

def forward(factor, b):
    """The solution x of L x = b."""
    x = []
    for row, v in zip(factor, b):
        x.append((v - dot(row, x)) / row[-1])
    return x

def over(factor, a):
    """The columns of L^-1 A, from their diagonals on, of a lower triangle A; of L^-1 without one."""
    for j in range(len(factor)):
        x = []
        for i in range(j, len(factor)):
            x.append(((a[i][j] if a else float(i == j)) - dot(factor[i][j:i], x)) / factor[i][i])
        yield x

# ---- Kernels: value takes two points as prepare makes them -----------------------------------------------------------
PROFILES = {  # of distance d over lengthscales, and shape a
    "se": lambda d, a: exp(-0.5 * d * d),
    "matern12": lambda d, a: exp(-d),
    "matern32": lambda d, a: (1 + sqrt(3) * d) * exp(-sqrt(3) * d),
    "matern52": lambda d, a: (1 + sqrt(5) * d + 5 * d * d / 3) * exp(-sqrt(5) * d),
    "rq": lambda d, a: exp(-a * log1p(d * d / (2 * a))),
}

class Kernel:
    """Takes its parameters, natural logarithms, off the front of theta; the header has to say the same."""
    def __init__(self, spec, theta, dim):
        self.name, said = spec("name", str), spec.list("lengthscales", float)
        self.parts = [Kernel(Fields(p), theta, dim) for p in spec.list("parts", dict)]
        long, joint = self.name in PROFILES or self.name == "periodic", self.name in ("sum", "product")
        require(long or joint or self.name in ("linear", "constant", "white"), f"not checked by this program: the kernel {self.name!r}")
        require(bool(self.parts) == joint and len(said) in ((1, dim) if long else (0,)), f"the kernel {self.name} doesn't fit the inputs")
        logs, own = [2 * log(v) for v in said], []
        for field, has in (("shape", self.name == "rq"), ("period", self.name == "periodic"), ("variance", not joint)):
            require((spec(field, float) > 0) == has and (has or not spec(field, float)), f"the kernel {self.name} has no such {field}")
            logs += [log(spec(field, float))] if has else []
        for v in logs:
            own.append(theta.pop(0))
            require(abs(v - own[-1]) <= 1e-9 * max(1, abs(own[-1])), "the header's kernel isn't that of the array theta")
        require(not spec.has("parameters"), "not checked by this program: parameters of a registered kernel")
        self.inverse = [exp(-0.5 * v) for v in own[:len(said)]] * (dim if len(said) == 1 else 1)
        self.lengths = own[:len(said)] if len(said) == dim > 1 or dim == len(said) else []
        self.variance, self.shape = (exp(own[-1]), exp(own[-2]) if len(own) > 1 else 0) if own else (0, 0)
        self.profile = PROFILES.get(self.name)

    def prepare(self, x):
        if self.parts:
            return [k.prepare(x) for k in self.parts]
        if self.name == "periodic":
            return tuple(f(2 * pi * v / self.shape) * s for f in (cos, sin) for v, s in zip(x, self.inverse))
        return tuple(map(mul, x, self.inverse)) if self.profile else x

    def value(self, p, q):
        if self.profile:
            return self.variance * self.profile(dist(p, q), self.shape)
        if self.parts:
            values = [k.value(a, b) for k, a, b in zip(self.parts, p, q)]
            return sum(values) if self.name == "sum" else product(values)
        if self.name == "periodic":
            return self.variance * exp(-0.5 * dist(p, q)**2)
        return self.variance * (dot(p, q) if self.name == "linear" else self.name == "constant" or p == q)

    def free_lengths(self):
        return self.lengths + [v for k in self.parts for v in k.free_lengths()]

def product(values):
    out = 1.0
    for v in values:
        out *= v
    return out

class Conditional:
    """The covariance of a posterior, times a temper."""
    def __init__(self, posterior, temper):
        self.posterior, self.temper = posterior, temper

    def prepare(self, x):
        p = self.posterior.kernel.prepare(x)
        return (p,) + self.posterior.whiten([self.posterior.kernel.value(p, s) for s in self.posterior.points])

    def value(self, p, q):
        return self.temper * (self.posterior.kernel.value(p[0], q[0]) - dot(p[1], q[1]) + dot(p[2], q[2]))

class Posterior:
    """Mean m(x) + k(x,S) w, variance k(x,x) - |u|^2 + |v|^2 with u = L^-1 k(S,x), v = L_B^-1 u; or from nearest rows."""
    def __init__(self, arrays, prefix, kernel, mean, noise, nearest=0):
        self.kernel, self.mean, self.noise, self.nearest = kernel, mean, noise, nearest  # no noise: L has it
        self.support, self.weights, self.targets, self.stored, self.low_b = (
            arrays.get(prefix + k) for k in ("support", "weights", "targets", "cholesky", "cholesky_b"))
        n = len(self.support)
        for k, cols in (("weights", 1), ("targets", 1), ("cholesky", 0), ("cholesky_b", 0)):
            require(arrays.get((prefix + k, "shape"), (n, cols)) == (n, cols), f"the array {prefix}{k} doesn't fit the support")
        self.points, self.low = [kernel.prepare(s) for s in self.support], []
        self.wholes, self.sparse = [kernel.value(p, p) for p in self.points], self.low_b is not None
        base, temper = (kernel.posterior.kernel, kernel.temper) if isinstance(kernel, Conditional) else (kernel, 1)
        self.largest = temper * max((base.value(p, p) for p in map(base.prepare, self.support)), default=0)
        require(nearest or self.stored is not None and self.weights is not None, "the posterior lacks factor or weights")
        require(all(f[-1] > 0 for f in (self.stored or []) + (self.low_b or [])), "a factor has a diagonal that isn't positive")
        if n and not nearest:
            self.factor(n)

    def factor(self, n):
        """Makes L anew. The shift of a sparse one, or of one whose noise isn't stored, is what the stored L has."""
        require(not self.sparse or all(abs(z) <= 1e8 for s in self.support for z in s), "an inducing input is too far out")
        self.k = [[self.kernel.value(p, q) for q in self.points[:i + 1]] for i, p in enumerate(self.points)]
        scale, c = fsum(self.wholes) / n, fsum(dot(f, f) - k for f, k in zip(self.stored, self.wholes)) / n
        if self.sparse:
            jitters = [j for j in (1e-10 * 10**e * scale for e in range(7)) if abs(c - j) <= 1e-3 * j]
            c = 0.0 if c < max(0.5e-10 * scale, 1e-13 * self.largest) else (jitters + [c])[0]
        self.shift = max(c, 0) if self.sparse or self.noise is None else self.noise
        require(self.sparse or self.shift >= n * UNIT * self.largest, "the noise variance is no more than rounding")
        self.low = cholesky([row[:-1] + [row[-1] + self.shift] for row in self.k])
        off = sqrt(fsum(dot(x[1:], x[1:]) + (x[0] - 1)**2 for x in over(self.low, self.stored)))
        if off > 1e-6:  # but for rounding
            reach = n * UNIT * self.largest * fsum(dot(x, x) for x in over(self.low, None))
            require(off <= min(reach, 0.5), f"a stored factor isn't that of its kernel and noise: it is off by {off:.3g}")

    def whiten(self, ks):
        u = forward(self.low, ks)
        return u, forward(self.low_b, u) if self.sparse else ()

    def predict(self, x):
        """Mean and variance of f, and how far rounding may move the mean."""
        p, mean = self.kernel.prepare(x), self.mean(x)
        ks, whole = [self.kernel.value(p, s) for s in self.points], self.kernel.value(p, p)
        reach = 64 * UNIT * (1 + abs(mean))
        if self.weights is not None:
            terms = list(map(mul, ks, self.weights))
            mean, reach = mean + fsum(terms), reach + 64 * UNIT * fsum(map(abs, terms))
        if not self.nearest:
            u, v = self.whiten(ks)
            return mean, max(whole - dot(u, u), 0) + dot(v, v), reach
        rank = sorted((-k * k / s if s > 0 else 0, i) for i, (k, s) in enumerate(zip(ks, self.wholes)))
        rows = sorted(i for _, i in rank[:self.nearest])
        if len(rank) > self.nearest and 0 < rank[self.nearest][0] - rank[self.nearest - 1][0] < 1e-13 * -rank[0][0]:
            reach = inf  # rounding says which rows are nearest
        low = cholesky([[self.kernel.value(self.points[i], self.points[j]) for j in rows[:a]] + [self.wholes[i] + self.noise]
                        for a, i in enumerate(rows)])
        c = forward(low, [ks[i] for i in rows])
        if self.weights is None:
            r = forward(low, [self.targets[i] for i in rows])
            mean, reach = mean + dot(c, r), reach + 64 * UNIT * len(rows) * dot(map(abs, c), map(abs, r))
        return mean, max(whole - dot(c, c), 0), reach

    def kl(self):
        """KL(Q|P), and what rounding may have taken off it."""
        n, squares = len(self.support), fsum(w * w for w in self.weights)
        off = n * UNIT * self.largest
        if not n:
            return 0.0
        if self.sparse:
            mu = [fsum(w * row[j] for w, row in zip(self.weights[j:], self.low[j:])) for j in range(n)]
            trace = fsum(dot(x, x) for x in over(self.low_b, None))
            kl = fsum(log(f[-1]) for f in self.low_b) + (dot(mu, mu) + trace - n) / 2
        else:
            quadratic = fsum(w * (2 * dot(row, self.weights) - row[-1] * w) for w, row in zip(self.weights, self.k))
            logs = 2 * fsum(log(f[-1]) for f in self.low) - n * log(self.noise)
            kl = (logs - n + self.noise * fsum(dot(x, x) for x in over(self.low, None)) + quadratic) / 2
        rounding = off * squares / 2 + (0 if self.sparse else n * off / self.noise)
        require(kl + rounding >= -1e-8, f"KL(Q|P) is {kl}")
        return max(kl, 0.0) + rounding

    def solves(self, rows, tolerance, what):
        """The support is these rows, in this order, and (K + noise I) w = y - m(X), or the targets are the right side."""
        require([tuple(s) for s in self.support] == [x for x, _ in rows], f"the {what} doesn't stand on the model's rows, in their order")
        square = whole = 0.0
        shift = self.noise if self.nearest else self.shift
        for i, (x, y) in enumerate(rows):
            mean = self.mean(x)
            size, r = abs(y) + abs(mean), y - mean
            if self.weights is None:
                require(abs(self.targets[i] - r) <= 1e-11 * size, f"the {what}'s targets aren't those of its rows")
                continue
            terms = [self.kernel.value(self.points[i], q) * w for q, w in zip(self.points, self.weights)] + [shift * self.weights[i]]
            off, size = abs(fsum(terms) - r), size + fsum(map(abs, terms))
            square, whole = square + off * off, whole + r * r
            require(self.nearest or off <= min(tolerance * size, 1e-5 * max(1, abs(y))), f"the {what}'s weights don't solve its equations")
        require(sqrt(square) <= 1e-5 * sqrt(whole), f"the {what}'s weights don't solve its equations")

# ---- Losses ----------------------------------------------------------------------------------------------------------
def tail(x):
    return 0.5 * erfc(x / sqrt(2))

def density(x):
    return exp(-x * x / 2) / sqrt(2 * pi)

class Sample:
    """Errors d = y - mean with how far rounding reaches, sd of f, |y| or the sd of y as scale, and the units counted."""
    def __init__(self, errors, sd, scale, reach, units):
        self.errors, self.sd, self.scale, self.reach, self.units, self.n = errors, sd, scale, reach, units, len(units)

    def losses(self, loss, draw):
        """The losses of units at least, and at most: of the mean, or expected of a random draw."""
        both = [loss.drawn(*row) if draw else loss.point(*row) for row in zip(self.errors, self.reach, self.sd, self.scale)]
        return [[min(fsum(both[i][k] for i in unit) / len(unit), 1) for unit in self.units] for k in (0, 1)]

class Loss:
    def __init__(self, kind, below, above=0.0):
        self.kind, self.below, self.above = kind, below, above

    def edges(self, scale):
        if self.kind in ("relative", "scaled"):
            return self.below * scale, self.below * scale
        return self.below, self.above if self.kind == "asymmetric" else self.below

    def point(self, d, reach, _, scale):
        below, above = self.edges(scale)
        if self.kind in ZERO_ONE:
            slack, margin = min(d + above, below - d), reach + 1e-9 * min(below, above)
            return float(slack < -margin), float(slack < margin)
        return [self.graded(max(abs(d) + r, 0.0), scale) for r in (-reach, reach)]

    def graded(self, d, scale):
        if self.kind == "clipped-absolute":
            return min(d / scale, 1.0) if scale else float(d > 0)
        t = d / self.below
        return min(t * t, 1.0) if self.kind == "clipped-square" else -expm1(-t * t)

    def drawn(self, d, reach, s, scale):
        if s <= 1e-150:
            return self.point(d, reach, s, scale)
        below, above = self.edges(scale)
        w, d = (scale, abs(d)) if self.kind == "clipped-absolute" else (below, d)
        if self.kind == "gaussian":
            e = 1 - exp(-d * d / (w * w + 2 * s * s)) / sqrt(1 + 2 * s * s / (w * w))
        elif w == 0 and self.kind == "clipped-absolute":
            e = 1.0
        else:
            a, b, c = (d - w) / s, (d + (above if self.kind == "asymmetric" else w)) / s, d / s
            e = tail(-a) + tail(b)
            if self.kind == "clipped-square":
                e += (d * d + s * s) / w**2 * (tail(a) - tail(b)) + s / w**2 * ((d - w) * density(b) - (d + w) * density(a))
            elif self.kind == "clipped-absolute":
                e += (d * (erf(c / sqrt(2)) - tail(-a) + tail(b)) + s * (2 * density(c) - density(a) - density(b))) / w
        return (min(max(e, 0.0), 1.0),) * 2

# ---- Tails and bounds ------------------------------------------------------------------------------------------------
def holds(k, n, p, delta):
    """P(Bin(n, p) <= k) <= delta, in whole numbers: p is a fraction. A billionth of delta is left to rounding."""
    a, b = Fraction(p).as_integer_ratio()
    total, power, choose = 0, 1, 1
    for i in range(k + 1):
        total, power, choose = total * (b - a) + choose * power, power * a, choose * (n - i) // (i + 1)
    return total * (b - a)**(n - k) <= Fraction(delta) * (1 + Fraction(1, 10**9)) * b**n

def bisect(below, low, high):
    for _ in range(100):
        mid = (low + high) / 2
        low, high = (mid, high) if below(mid) else (low, mid)
    return high

def log_choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

def binomial(k, n, delta):
    """The p with P(Bin(n, p) <= k) = delta."""
    def more(p):
        total = term = 1.0
        for j in range(k, 0, -1):
            term *= j / (n - j + 1) * (1 - p) / p
            total += term
            if term < 1e-18 * total:
                break
        return log_choose(n, k) + k * log(p) + (n - k) * log1p(-p) + log(total) > log(delta)
    return 1.0 if k >= n else bisect(more, k / n if k else 1e-300, 1 - 1e-16)

def kl_inverse(q, eps):
    def kl(p):
        return (q * log(q / p) if q else 0) + ((1 - q) * log((1 - q) / (1 - p)) if q < 1 else 0)
    return 1.0 if q >= 1 else bisect(lambda p: kl(p) < eps, max(q, 1e-300), 1 - 1e-16)

def log_constant(family, n):
    if family in ("maurer", "split-kl"):  # ln xi(n), Maurer 2004
        modes = (log_choose(n, k) + k * log(k / n) + (n - k) * log1p(-k / n) for k in range(1, n))
        return log(2 + fsum(map(exp, modes)))
    return log(2 * sqrt(n))

def learnt_bound(family, risk, low, eps, n):
    """Of any Q. low is the risk of min(l, 1/4)/(1/4)."""
    if family == "pinsker":
        return min(1, risk + sqrt(eps / 2))
    if family == "split-kl":
        return split_kl(low, max(0, (risk - low / 4) / 0.75), eps + log(2) / n)
    return kl_inverse(risk, eps)

def split_kl(low, high, eps):
    return min(1, kl_inverse(low, eps) / 4 + kl_inverse(high, eps) * 0.75)

def fixed_bound(family, losses, zero_one, delta):
    """Of a predictor that was fixed before."""
    n, risk = len(losses), fsum(losses) / len(losses)
    if zero_one:
        return binomial(round(risk * n), n, delta)
    if family == "split-kl":
        parts = [fsum(min(x, 0.25) for x in losses) * 4 / n, fsum(max(x - 0.25, 0) for x in losses) / 0.75 / n]
        return split_kl(parts[0], parts[1], log(2 / delta) / n)
    if family == "betting":
        shares = [sin((k + 0.5) * pi / 128)**2 for k in range(64)]
        def poor(m):
            logs = [fsum(log(1 - c + c * (1 - x) / (1 - m)) for x in losses) for c in shares]
            return max(logs) + log(fsum(exp(v - max(logs)) for v in logs) / 64) < -log(delta)
        return bisect(poor, risk, 1.0) if risk < 1 and poor(risk) else risk
    if family == "pinsker":
        return min(1, risk + sqrt(-log(delta) / (2 * n)))
    return kl_inverse(risk, -log(delta) / n)

def misses_of_curve(n):
    k, out = 0, []
    while k < n:
        out, k = out + [k], max(k + 1, k * 51 // 50)
    return out

def crossing(n, misses, bounds):
    """P(for any i no more than misses[i] of n uniform variables are below bounds[i]): exactly for few rows, by Steck's
    recursion for their order statistics, else by that of a Poisson process that has n points."""
    if n <= 300:
        orders = [next((Fraction(b) for k, b in zip(misses, bounds) if k >= j), Fraction(1)) for j in range(n)]
        whole, held = 2**80, [1]  # held[m] over whole^m: P(U_(j) <= orders[j], j <= m), of m variables
        ends = [floor(b * whole) for b in orders]
        for m in range(1, n + 1):
            held.append(sum(comb(m, j) * (-1)**(j + 1) * ends[m - j]**j * held[m - j] for j in range(1, m + 1)))
        return 1 - float(Fraction(held[n], whole**n))
    def law(k, mean):
        return exp(k * log(mean) - mean - lgamma(k + 1)) if mean else float(k == 0)
    first, state, at = 0, [1.0], 0.0
    for k, b in zip(misses, bounds):
        mean = n * (b - at)
        low, high = max(0, int(mean - 10 * sqrt(mean) - 10)), int(mean + 10 * sqrt(mean) + 30)
        steps = [law(j, mean) for j in range(high, low - 1, -1)]  # backwards
        start, end = max(first + low, k + 1), min(first + len(state) - 1 + high, n)
        new = []
        for to in range(start, end + 1):  # the sum over j of state[j] law(to - first - j)
            j0 = max(0, to - first - high)
            new.append(dot(state[j0:to - first - low + 1], steps[high - (to - first - j0):]))
        first, state, at = start, new, b
    return 1 - fsum(q * law(n - first - j, n * (1 - at)) for j, q in enumerate(state)) / law(n, n)

# ---- The certificate -------------------------------------------------------------------------------------------------
class Terms:
    """What was fixed beforehand, as the model's terms say it."""
    def __init__(self, t):
        self.kind, self.below, self.above = (t.of("loss")(k, v) for k, v in (("Kind", str), ("Below", float), ("Above", float)))
        self.loss, self.delta, self.raw = Loss(self.kind, self.below, self.above), t("delta", float), t("epsilon_raw", float)
        self.family, self.route, self.promise = t("family", str) or "kl", t("route", str) or "twice", t("promise", float)
        self.informed, self.fixed, self.curve, self.slices = t("informed", bool), t("fixed", bool), t("curve", bool), t.list("slices", str)
        self.params, self.choices, self.direct = t("params", int), t("choices", int), self.fixed and self.route == "direct"
        self.share = 2 if self.slices else 1  # all but the slices have delta over it
        self.statements = self.share * (2 if self.promise and not self.curve else 1) * (2 if self.route == "both" else 1)
        self.mixes = [t(k, int) for k in ("resolutions", "structures", "lengthscales", "tied")]
        self.length, self.digits = t.of("grid")("L", float), t.of("grid")("Digits", int)
        points, (resolutions, structures, many, tied) = round(2 * self.length * 10**self.digits) + 1, self.mixes
        mixed = log(max(resolutions, 1)) + log(max(structures, 1)) + many * log(max(tied, 1))
        self.grid_penalty = self.params * log(points) + mixed if self.params else 0.0
        self.choices_penalty = log(self.statements * (1 if self.direct else self.choices))

def check_terms(head, t, posterior, scale):
    """The terms are those of the model and of the options it was fitted with, and the certificate is one of them."""
    f, terms, c, counts = head.of("fitted"), head.of("terms"), head.of("certificate"), head.list("rows_by_role", int)
    data, asked, prior = f.of("data"), f.of("promise"), f.of("prior")
    unitless, own, source = t.kind in UNITLESS, head.has("prior") or posterior.nearest > 0, head.of("scaling")("source", str)
    units = 1 if unitless or asked("units", str) != "raw" else scale
    theta, (resolutions, structures, many, tied) = posterior.theta + posterior.beta, t.mixes
    different = len(set(posterior.kernel.lengths)) if tied else 0
    steps, groups = round(2 * t.length * 10**t.digits), sum(head.list("groups_by_role", int) or counts)
    left = groups - ceil(data("test_fraction", float) * groups) - ceil(asked("calibration", float) * groups)
    seven = min(ceil(0.875 * left), max(ceil(0.7 * left), left - 1000))
    seven = max(min(seven, left - 21), ceil(0.25 * left)) if t.informed else max(20, min(1000, (left + 9) // 10)) if source == "prior-rows" else 0
    dealt = [ceil(data("test_fraction", float) * groups), ceil(asked("calibration", float) * groups),
             ceil(prior("share", float) * left) if prior("share", float) else seven]
    ards = {"on": 1, "off": 1}.get(f.of("kernel")("ard", str))
    choices = 0
    for e in f.of("kernel")("expression", str).replace("auto", "matern32*matern12,matern32,matern52,rq,se").split(","):
        choices += ards or (2 if len(posterior.inputs) > 1 and re.search("se|matern|rq|periodic", e) else 1)
    tempers = prior.list("temper", float)
    label = ("backtest (the certified rows are the last of the table, not drawn at random)" if terms("backtest", bool) else
             "certificate" if source != "all-rows" else "bound (heuristic: scaled with training statistics)")
    zero_one = t.kind in ZERO_ONE
    for what, ok in {
        "the loss": t.kind in ZERO_ONE + ("clipped-square", "gaussian", "clipped-absolute") and (t.below > 0 or t.kind == "clipped-absolute")
        and (t.above > 0) == (t.kind == "asymmetric") and (t.kind != "scaled" or t.direct and head("objective", str) not in BOUND_TRAINED),
        "delta": 0 < t.delta < 1, "choices": t.choices >= 1 and (t.choices == 1 or not t.direct), "predictions of elsewhere": not terms("elsewhere", bool),
        "the route": t.route in ("twice", "direct", "both") and (t.route == "twice" or t.fixed) and (t.informed or not t.fixed),
        "the inequality": t.family in ("kl", "maurer", "pinsker", "split-kl", "betting") and (t.fixed or t.family != "betting")
        and (t.fixed or t.family != "split-kl" or t.kind.startswith("clipped")), "the promise": 0 <= t.promise < 1,
        "the curve": not t.curve or t.direct and t.kind in ("band", "relative", "scaled") and not head("group", str) and t.family == "kl",
        "the slices": not t.slices or t.direct and zero_one and not head("group", str),
        "whether the prior was learnt": t.informed == own, "learning after the prior": posterior.nearest or t.fixed == (own and not posterior.support),
        "a posterior that isn't factored": posterior.nearest == 0 or t.direct,
        "epsilon_raw": abs(t.raw - t.below * (1 if unitless else scale)) <= 1e-12 * t.raw, "the scaling": terms("scaling", str) == source,
        "the prior rows": terms("prior_rows", int) == counts[PRIOR], "the encoding": terms("encoded", bool) == head.has("encoding"),
        "the group": terms("group", str) == head("group", str) == data("group", str), "the target": data("target", str) == head("target", str),
        "the backtest": terms("backtest", bool) == (head("split", str) == "last") == (data("split", str) == "last"),
        "the parameters paid for": t.params == (0 if t.informed else len(theta) - many + tied) and different <= tied <= many
        and (not tied or len(posterior.kernel.free_lengths()) == many), "a mix": 1 not in (resolutions, structures) and (tied == 0) == (many == 0),
        "the grid": t.informed or 0 <= t.digits <= 6 and 0 < steps <= 1e9 and all(v == (2 * k - steps) * t.length / steps and 0 <= k <= steps
                                                                                  for v in theta for k in [round((v + t.length) * steps / (2 * t.length))]),
        "the objective": head("objective", str) == f.of("method")("name", str), "the seed": head("seed", int) == f.of("run")("seed", int),
        "the prior's kind": (prior("kind", str) == "informed") == t.informed, "the prior's temper": not head.has("prior") or head.of("prior")("temper", float) in tempers,
        "the loss asked for": asked("loss", str) == t.kind and asked("delta", float) == t.delta and asked("epsilon", float) / units == t.below
        and asked("epsilon_above", float) / units == t.above, "the inequality asked for": (asked("bound", str), asked("mean_bound", str)) == (t.family, t.route),
        "the promise asked for": (asked("share", float), asked("curve", bool), asked.list("slices", str)) == (t.promise, t.curve, t.slices),
        "how many were tried": t.choices == (len(tempers) if t.informed else choices), "the roles asked for": dealt == (head.list("groups_by_role", int) or counts)[:3],
        "the certificate's terms": (c("delta", float), c("loss", str), c("epsilon", float), c("epsilon_raw", float), c("epsilon_above", float)) ==
        (t.delta, t.kind, t.below, t.raw, t.above) and c("family", str) == (t.family if t.family != "kl" else "") and c("group", str) == head("group", str)
        and c("route", str) == (t.route if t.route != "twice" else "") and c("prior", str) == ("informed" if t.informed else "grid")
        and (c("prior_rows", int), c("scaling", str)) == (counts[PRIOR], source), "the certificate's valid, or its label":
        c("valid", bool) == (label == "certificate") and c("label", str) == label, "the certificate's rows": c("rows", int) == counts[CERTIFIED]
        and c("groups", int) == (head.list("groups_by_role", int) or [0] * 4)[CERTIFIED],
    }.items():
        require(ok, f"the model's terms, options and certificate disagree about {what}")

def check_bounds(t, sample, low_sample, kl, c):
    """Every number of the certificate, from the losses at least and at most."""
    out, n, zero_one = [], sample.n, t.kind in ZERO_ONE and not sample.grouped
    points = sample.losses(t.loss, False)
    draws = points if t.direct else sample.losses(t.loss, True)
    curve = check_curve(t, sample, c.of("curve")) if t.curve else None
    for point, drawn in zip(points, draws):
        risk, delta = fsum(drawn) / n, t.delta / t.statements
        if t.fixed:
            own = curve if t.curve else fixed_bound(t.family, point, zero_one, delta) if t.route != "twice" else 1.0
            bound = own if t.direct else fixed_bound(t.family, drawn, False, delta / t.choices)
            paid = -log(c.of("curve")("level", float) if t.curve else t.delta / exp(t.choices_penalty)) / n
        else:
            penalty = t.grid_penalty + t.choices_penalty + log_constant(t.family, n) - log(t.delta)
            own, paid = 1.0, (kl + penalty) / n
            bound = learnt_bound(t.family, risk, fsum(low_sample()) / n if t.family == "split-kl" else 0, paid, n)
        out.append((risk, bound, bound if t.direct else min(1, 2 * bound, own), risk + sqrt(paid / 2)))
    for name, least, most in zip(("empirical_risk", "bound", "mean_bound", "bound_sqrt"), *out):
        near(f"the certificate's {name}", c(name, float), least, most)
        require(name == "empirical_risk" or c(name, float) >= most - 1e-6, f"{name} is {most:.9g} if rows at the band's edge are misses")
    near("the certificate's kl", c("kl", float), kl)
    near("the certificate's grid_penalty", c("grid_penalty", float), t.grid_penalty)
    near("the certificate's choices_penalty", c("choices_penalty", float), t.choices_penalty)
    if t.direct and zero_one and not t.curve:
        require(holds(round(fsum(points[0])), n, c("bound", float), t.delta / t.statements), "the bound fails more often than delta")

def check_curve(t, sample, c):
    """Returns the curve's bound at the declared half-width."""
    n, level, delta, bound, at, worst, where = sample.n, c("level", float), t.delta / t.share, 1.0, 0.0, 0.0, 1.0
    require(0 < level < delta, "the curve's level is none")
    misses, total = misses_of_curve(n), 0.0
    bounds, points = [binomial(k, n, level) for k in misses], []
    together = crossing(n, misses, bounds)
    require(0.99 * delta <= together <= delta * (1 + 1e-9), f"the curve's bounds fail together with {together:.9g}, not {delta:.9g}")
    errors = sorted(abs(d) / (s if t.kind != "band" and d else 1) if s or d == 0 else inf for d, s in zip(sample.errors, sample.scale))
    for k, b in reversed(list(zip(misses, bounds))):
        w = errors[n - 1 - k]
        if b < 1 and w < inf:
            points = [p for p in points[-1:] if p[0] < w] and points + [(w, k, b)] or points[:-1] + [(w, k, b)]
    stored = [Fields(p) for p in c.list("points", dict)]
    require(len(stored) == len(points), "the curve has points of other errors")
    for p, (w, k, b) in zip(stored, points):
        require(p("misses", int) == k and holds(k, n, p("bound", float), level), f"the curve's bound of {k} misses fails too often")
        near("a bound of the curve", p("bound", float), b)
        near("a half-width of the curve", p("half_width", float), w)
        near("a half-width of the curve", p("half_width_raw", float) * t.below / t.raw, w)
        total, worst = total + bound * (w - at), worst + min(20 * bound, 1) * (w - at)
        bound, at = b, w
        where = b if p("half_width", float) <= t.below else where
    for name, own in (("clip", at), ("bound", total), ("worst", worst)):
        near(f"the curve's mean error's {name}", c.of("mean_error")(name, float), own)
    return where

def check_promise(t, sample, kl, c):
    """The half-width is the first of the list (or of the curve) that the share is guaranteed for."""
    p, n, most = c.of("promise"), sample.n, 1 - t.promise
    kind = "scaled" if t.kind == "scaled" else "relative" if t.kind in UNITLESS else "band"
    delta, direct = t.delta / 2 / t.share, t.fixed and t.route != "twice"
    family = "maurer" if t.family == "split-kl" and not t.fixed else t.family

    def bound(width, k):
        losses = sample.losses(Loss(kind, width), t.fixed is False or not direct)[k]
        if direct:
            return fixed_bound(family, losses, not sample.grouped, delta)
        if t.fixed:
            return min(1, 2 * fixed_bound(family, losses, False, delta / t.choices / 100))
        penalty = t.grid_penalty + log(t.choices * 100) + log_constant(family, n) - log(delta)
        return min(1, 2 * learnt_bound(family, fsum(losses) / n, 0, (kl + penalty) / n, n))

    widths = [10**(-2 + j / 33) / (10 if kind == "relative" else 1) for j in range(100)]
    if t.curve:
        points = [Fields(q) for q in c.of("curve").list("points", dict)]
        widths = [q("half_width", float) for q in points]
        own = next((j for j, q in enumerate(points) if q("bound", float) <= most), len(widths))
    else:
        own = next((j for j, w in enumerate(widths) if bound(w, 0) <= most), len(widths))
        require(own == len(widths) or bound(widths[own], 1) <= most + 1e-9, "the promise fails if rows at its edge are misses")
    width = widths[own] if own < len(widths) else 0.0
    near("the promise's half_width", p("half_width", float), width)
    near("the promise's half_width_raw", p("half_width_raw", float), width * (1 if t.kind in UNITLESS else t.raw / t.below))
    near("the promise's bound", p("bound", float), most if direct and width or t.curve else bound(width or widths[-1], 0))
    require(p("share", float) == t.promise and (p("relative", bool), p("scaled", bool)) == (kind == "relative", kind == "scaled")
            and bool(p("reason", str)) == (width == 0), "the promise is another")

def kinds_of_rows(by, table, roles, sds, scale):
    """The slices by a column, or by the sd of y: name, ends, and which of the certified rows."""
    rows = roles[CERTIFIED]
    if by not in table.names and by == "sd":
        cut = sorted(sds)
        low, high = cut[len(cut) // 3], cut[2 * len(cut) // 3]
        return [(name, a * scale, z * scale, [i for i, v in enumerate(sds) if a < v < b]) for name, a, b, z in (
            ("surest third", 0.0, low, low), ("middle third", low, high, high), ("least sure third", high, inf, cut[-1]))]
    require(by in table.names, f"there is no column {by!r} to slice by")
    j = table.names.index(by)
    if table.textual[j]:
        own = table.encoding[j].list("categories", str)
        cells = [table.cells[j][i] if table.cells[j][i] in own else "other" for i in rows]
        return [("= " + c, 1.0, 1.0, [i for i, v in enumerate(cells) if v == c]) for c in own + ["other"]]
    j = table.inputs.index(by)
    values, known = [table.x[i][j] for i in rows], sorted(table.x[i][j] for i in roles[PRIOR])
    if len(set(known)) <= 6:
        return [("= " + numeral(v), v, v, [i for i, w in enumerate(values) if w == v]) for v in sorted(set(known))]
    low, high = known[len(known) // 3], known[2 * len(known) // 3]
    return [("≤ " + numeral(low), known[0], low, [i for i, v in enumerate(values) if v <= low])] + (
        [(f"> {numeral(low)}, ≤ {numeral(high)}", low, high, [i for i, v in enumerate(values) if low < v <= high])] if low < high else []
    ) + [("> " + numeral(high), high, known[-1], [i for i, v in enumerate(values) if v > high])]

def check_slices(t, sample, c, kinds):
    stored = [Fields(s) for s in c.list("slices", dict)]
    require(len(stored) == len(kinds), "the slices are others")
    least, most = sample.losses(t.loss, False)
    for s, (by, name, low, high, rows) in zip(stored, kinds):
        what, n, delta = f"the slice {by} {name}", len(rows), t.delta / 2 / len(kinds)
        require((s("by", str), s("name", str), s("rows", int)) == (by, name, n) and bool(s("reason", str)) == (n < 20), f"{what} is another")
        counts = [round(fsum(losses[i] for i in rows)) for losses in (least, most)]
        bounds = [binomial(k, n, delta) if n >= 20 else 1.0 for k in counts]
        near(f"{what}'s mean_risk", s("mean_risk", float), *(k / max(n, 1) for k in counts))
        near(f"{what}'s mean_bound", s("mean_bound", float), *bounds)
        require(s("mean_bound", float) >= bounds[1] - 1e-6, f"{what} is above its bound if rows at the band's edge are misses")
        near(f"{what}'s from", s("from", float), low)
        near(f"{what}'s to", s("to", float), high)

def check_conformal(head, arrays, rows, noise):
    """The quantiles of the errors of calibration rows, or of certified ones of predictions that were fixed before."""
    require(head.has("conformal") <= bool(rows), "conformal intervals are there without rows that they are of")
    if not head.has("conformal"):
        return
    c, n, rank = head.of("conformal"), len(rows), ceil((len(rows) + 1) * 0.95 - 1e-9)
    require(all(reach < inf for _, _, reach in rows), "not checked by this program: conformal scores where nearest rows tie")
    scores = [sorted(abs(d) for d, _, _ in rows), sorted(abs(d) / sqrt(v + noise) for d, v, _ in rows)]
    require((c("level", float), c("rows", int), n >= 19) == (0.95, n, True), "conformal intervals are of another level, or of other rows")
    for name, field, own, unit in zip(("misses", "deviations"), ("half_width", "normalised"), scores, (1, sqrt(noise))):
        stored = arrays.get(name) or []
        require(len(stored) == n and stored[rank - 1] == c(field, float) and stored == sorted(stored), f"conformal {name} aren't in order")
        require(all(abs(a - b) <= 1e-6 * b + 1e-9 / unit for a, b in zip(own, stored)), f"conformal {name} are others than the rows'")

def mean_of(name, beta, dim):
    require(name in ("zero", "constant", "linear"), f"not checked by this program: the mean {name!r}")
    require(len(beta) == {"zero": 0, "constant": 1, "linear": 1 + dim}[name], "beta doesn't fit the mean")
    return lambda x: (beta[0] if beta else 0.0) + dot(beta[1:], x)

def read_posterior(head, arrays):
    dim, solver, noise = len(head.list("inputs", str)), head("solver", str), head("noise_variance", float)
    require(noise > 0 and solver in ("", "cg", "nearest"), f"not checked by this program: the solver {solver!r}, or its noise")
    prefix, spec, prior = "", head.of("kernel"), None
    if head.has("prior"):
        prefix, temper, said = "prior_", head.of("prior")("temper", float), spec.list("parts", dict)
        require(spec("name", str) == "posterior" and len(said) == 1 and spec("variance", float) == temper > 0, "the prior's kernel isn't its posterior's")
        spec = Fields(said[0])
    require(all(k + prefix in arrays for k in ()) and prefix + "theta" in arrays and prefix + "beta" in arrays, "arrays are missing")
    left = list(arrays[prefix + "theta"])
    kernel = Kernel(spec, left, dim)
    mean = mean_of((head.of("prior") if prefix else head)("mean", str), arrays[prefix + "beta"], dim)
    require(not left, "the header's kernel isn't that of the array theta")
    for name in ("support", "prior_support"):
        require(name not in arrays or arrays[name, "shape"][1] == dim, "the support has other inputs")
    nearest = head("nearest", int) if solver else 0
    require((nearest > 0) == bool(solver) and nearest <= len(arrays["support"]), "nearest doesn't fit the support")
    q = Posterior(arrays, prefix, kernel, mean, None if prefix and arrays["support"] else noise, nearest)
    q.theta, q.beta = arrays[prefix + "theta"], arrays[prefix + "beta"]
    if prefix:
        require(not arrays["theta"] and not arrays["beta"], "a posterior of a learnt prior has parameters")
        prior = q
        q = Posterior(arrays, "", Conditional(prior, temper), lambda x: prior.predict(x)[0], noise)
        q.theta, q.beta = [], []
    q.inputs = head.list("inputs", str)
    return q, prior

def verify(model, data):
    head, arrays = read_model(model)
    require(head.has("certificate"), f"the model has no certificate: {head('certificate_reason', str)}")
    require(head("objective", str) in OBJECTIVES, f"not checked by this program: the objective {head('objective', str)!r}")
    table = Table(head, read_table(data))
    roles, repeats = deal(head, arrays, table)
    table.encode(roles[PRIOR])
    rows, scale = scale_rows(head, table, roles)
    q, prior = read_posterior(head, arrays)
    t, noise = Terms(head.of("terms")), head("observation_noise", float)
    check_terms(head, t, q, scale)
    certified, known = [rows[i] for i in roles[CERTIFIED]], [rows[i] for i in roles[PRIOR]]
    if q.nearest:
        q.solves(known, 0, "posterior")
    elif prior and not prior.sparse:
        prior.solves(known, 1e-11, "prior")
    if not q.nearest and not q.sparse and q.support:
        q.solves(certified, 1e-6 if prior else 1e-11, "posterior")
    by_bound = head("objective", str) in BOUND_TRAINED or t.informed and not t.fixed
    require(noise > 0 and (by_bound or abs(noise - q.noise) <= 1e-6 * noise), "observation_noise isn't the noise variance")

    def predicted(role):
        at = [q.predict(rows[i][0]) for i in roles[role]]
        return [(rows[i][1] - mean, variance, reach) for i, (mean, variance, reach) in zip(roles[role], at)]

    errors = predicted(CERTIFIED)
    sds = [sqrt(v + noise) for _, v, _ in errors]
    scales = sds if t.kind == "scaled" else [abs(table.y[i]) / scale for i in roles[CERTIFIED]]
    units = [[i] for i in range(len(errors))]
    if table.groups is not None:
        of = {}
        for i, row in enumerate(roles[CERTIFIED]):
            of.setdefault(table.groups[row], []).append(i)
        units = list(of.values())
    require(len(units) >= 20, "fewer than 20 certified rows, or groups")
    sample = Sample([d for d, _, _ in errors], [sqrt(v) for _, v, _ in errors], scales, [r for _, _, r in errors], units)
    sample.grouped = table.groups is not None

    def low_losses():  # of min(l, 1/4)/(1/4), which is a loss of its kind
        narrow = Loss(t.kind, t.below / 2)
        part = Sample(sample.errors, sample.sd, [s / 4 for s in scales], sample.reach, units)
        return part.losses(narrow, True)[1]

    c, kl = head.of("certificate"), 0.0 if q.nearest else q.kl()
    require(not t.fixed or kl == 0, "the posterior isn't the prior itself")
    require((c.has("promise"), c.has("curve"), c.has("slices")) == (t.promise > 0, t.curve, bool(t.slices)), "parts of the certificate are missing")
    require(c("repeats", int) == repeats, f"repeats is {repeats}")
    check_bounds(t, sample, low_losses, kl, c)
    if t.promise:
        check_promise(t, sample, kl, c)
    check_slices(t, sample, c, [(by,) + kind for by in t.slices for kind in kinds_of_rows(by, table, roles, sds, scale)])
    fixed = t.direct and not by_bound and head.of("scaling")("source", str) != "all-rows" and not sample.grouped and head("split", str) == "content"
    own = CALIBRATION if roles[CALIBRATION] else CERTIFIED
    scores = predicted(CALIBRATION) if roles[CALIBRATION] else errors if fixed and len(errors) >= 19 else []
    require(not head.has("conformal") or (head.of("conformal")("from", str) == "certified") == (own == CERTIFIED), "conformal.from is another")
    check_conformal(head, arrays, scores, noise)
    made = [i for r in (CALIBRATION, PRIOR, CERTIFIED) for i in roles[r]]
    for name, end in (("min", min), ("max", max)):
        require(head.of("input_range").list(name, float) == [end(table.x[i][j] for i in made) for j in range(len(table.inputs))], "input_range is another")
    words = ["whether anything else was tried", "conditions", "training", "curves", "notices", "test figures"] + ["observation_noise"] * by_bound
    return c, words

def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], "rb") as model, open(sys.argv[2], "rb") as data:
            raw = model.read(), data.read()
    except OSError as e:
        print(e, file=sys.stderr)
        return 2
    try:
        c, words = verify(*raw)
    except Refused as e:
        print(f"REFUSED: {e}")
        return 1
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, struct.error, csv.Error, EOFError, OSError) as e:
        print(f"REFUSED: the files don't hold what their formats say ({type(e).__name__}: {e})")
        return 1
    print(f"agrees: {c('label', str)}, mean_bound {c('mean_bound', float):.6g} at delta {c('delta', float):g} on {c('rows', int)} rows")
    print("not checked, the fitter's word: " + ", ".join(words))
    return 0

if __name__ == "__main__":
    sys.exit(main())
