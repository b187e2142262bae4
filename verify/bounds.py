"""The first checks of verify.py: the model file, the roles of rows, scaling, posterior, and the numbers of a certificate."""
import csv
import re
import struct
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import cos, dist, erf, exp, expm1, floor, frexp, fsum, inf, isfinite, isnan, ldexp, lgamma, log, log1p, nan, pi, prod, sin, sqrt
from operator import mul
from statistics import NormalDist

import core
from core import ONE_MODEL, Fields, Refused, fnv, hash_of, keys, long_text, bits, opened, plain, require, sha  # noqa: F401

TEST, CALIBRATION, PRIOR, CERTIFIED = range(4)
UNIT, NORMAL = 2.0**-52, NormalDist()  # UNIT is the spacing of floats above 1
REACH = 64  # rounding may move a sum by this many units of the sum of its terms' sizes
ZERO_ONE, UNITLESS = ("band", "relative", "scaled", "asymmetric", "label"), ("relative", "scaled", "clipped-absolute", "log-density")
OWN_SD = ("scaled", "log-density")  # the scale of a row is the predictor's standard deviation of y
BOUND_TRAINED = ("kl-pac", "sqrt-pac")  # objectives whose noise variance only shapes Q
OBJECTIVES = BOUND_TRAINED + ("evidence", "nearest", "vfe", "fitc", "dtc", "pep", "svgp", "renyi")
def near(what, stored, own, most=None):
    """Refuses a stored number that isn't the recomputed own, or isn't between own and most."""
    slack = 1e-6 * max(1, abs(stored))
    require(own - slack <= stored <= (own if most is None else most) + slack, f"{what} is {own:.9g}, not {stored:.9g}")

# ---- The model file ----------------------------------------------------------------------------------------------------------------------
def read_model(raw):
    (head, body, at), arrays = opened(raw, ONE_MODEL), {}
    for entry in head.objects("arrays"):
        name, rows, cols = entry("name", str), entry("rows", int), entry("cols", int)
        kind, code = ("uint64", "Q") if name in ("rows", "groups") else ("float64", "d")
        count = rows * cols if cols else rows * (rows + 1) // 2
        fits = entry("type", str) == kind and name not in arrays and min(rows, cols) >= 0 and at + 8 * count <= len(body)
        require(fits, f"the array {name} isn't of type {kind}, occurs twice, or is cut short")
        values, at = struct.unpack_from(f"<{count}{code}", body, at), at + 8 * count
        require(kind == "uint64" or all(map(isfinite, values)), f"the array {name} holds a number that isn't finite")
        arrays[name], arrays[name, "shape"] = list(values), (rows, cols)
        if cols == 0:
            arrays[name] = [values[i * (i + 1) // 2:(i + 1) * (i + 2) // 2] for i in range(rows)]
        elif name.endswith("support"):
            arrays[name] = [values[i * cols:(i + 1) * cols] for i in range(rows)]
    require(at == len(body), "the file holds more than its header says")
    return head, arrays

# ---- The table ---------------------------------------------------------------------------------------------------------------------------
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$", re.ASCII)
def numeral(v):
    """Returns the fewest digits that read back as v. Below 1e-4 and from 1e6 on it writes an exponent of at least two digits."""
    sign, digits, exponent = Decimal(repr(v)).normalize().as_tuple()
    power, text = len(digits) + exponent - 1, "".join(map(str, digits))
    if v == 0 or -4 <= power < 6:
        return format(Decimal((sign, digits, exponent)), "f") if v else "0"
    return "-" * sign + text[0] + "." * (len(text) > 1) + text[1:] + f"e{power:+03d}"
def as_number(cell):
    """Returns the number in a cell. It returns NaN if the cell is missing, and None if the cell is text."""
    if cell.lower() in ("", "na", "n/a", "#n/a", "nan", "null", "?"):
        return nan
    cell = re.sub("^\u2212", "-", cell)  # a typesetter's minus
    return float(cell) if DECIMAL.match(cell) and isfinite(float(cell)) else None
def as_text(cell):
    v = as_number(cell)
    return cell if v is None else "" if isnan(v) else numeral(v)
def hashed_order(head, names, columns, rests):
    """Returns the order of the columns in which rows are hashed. In a file without hash_order it is the file's."""
    order = core.hashed_order(head, names, columns, rests) if head.has("hash_order") else range(len(names))
    require(not head.has("hash_order") or order != sorted(order), "hash_order doesn't follow from the rows")
    return order
def blocks(group, columns):
    """Returns the block of each row for a group block:COLUMNS:SIZE. A block is the number of the row's interval in each column."""
    names, _, sizes = group.removeprefix("block:").rpartition(":")
    names, sizes = next(csv.reader([names])), [float(s) for s in sizes.split(",")]
    require(set(names) <= set(columns) and len(sizes) in (1, len(names)) and min(sizes) > 0, "the table lacks a column of the blocks, or their sizes are wrong")
    cells = [[as_number(c) for c in columns[n]] for n in names]
    require(all(c is not None and isfinite(c) for column in cells for c in column), "a column of blocks has gaps, or text")
    return [",".join(str(floor(c / s)) for c, s in zip(row, sizes * (len(names) // len(sizes)))) for row in zip(*cells)]
def limit(cell):
    """Returns the number of a target that may be a limit, as in <0.1. It makes -0 a 0."""
    v = as_number(re.sub(r"^[<>≤≥]=?\s*", "", cell))
    return v if v is None else v + 0.0
def side_of(cell, of_target):
    """Returns -1 for a target below a limit, 1 for one above, and 0 for a measured target. None: the cell says something else."""
    if of_target:
        return {"<": -1.0, "≤": -1.0, ">": 1.0, "≥": 1.0}.get(cell[:1], 0.0)
    known = {"left": -1.0, "right": 1.0, "none": 0.0, "": 0.0, "-1": -1.0, "1": 1.0, "0": 0.0}
    return known.get(as_text(cell).lower())
class Table:
    """Rows as the model sees them: their bytes, targets and groups. encode adds their inputs x, once each row has a role."""
    def __init__(self, head, columns):
        if head.has("kinds"):  # a column of 0 and 1 for each class, instead of the classes
            of, labels = head.of("kinds")("column", str), head.of("kinds").list("labels", str)
            cells = list(map(as_text, columns[of]))
            require(len(set(labels)) == len(labels) > 2 and set(cells) <= {*labels, ""}, "a label isn't one of the model's classes")
            columns = {**{n: c for n, c in columns.items() if n != of}, **{f"{of}={k}": [str(int(c == k)) if c else "" for c in cells] for k in labels}}
        self.inputs, self.columns, limits = head.list("inputs", str), list(columns), head("censored", str)
        coding = head.of("encoding") if head.has("encoding") else Fields({})
        self.names, target, group, offset, noise = [c("name", str) for c in coding.objects("columns")] or self.inputs, head("target", str), head("group", str).replace("(equal rows)", ""), head("offset", str) or head("exposure", str), head("noise_column", str)
        self.encoding, self.fill = coding.objects("columns"), coding("missing", str) in ("mean", "indicator")
        self.indicates, self.without = coding("missing", str) == "indicator", coding("without_apart", bool)
        by_blocks = group.startswith("block:") and group not in columns
        used = self.names + [target] + [group] * bool(group and not by_blocks) + [n for n in (offset, noise) if n and n not in self.names] + [limits] * (limits not in ("", target))
        require(len(set(used)) == len(used) and set(used) <= set(columns), f"as this program reads the table, it lacks columns, or uses one twice: {sorted(set(used) - set(columns))}")
        read = limit if limits == target else as_number
        known = [read(y) is None or not isnan(read(y)) for y in columns[target]]  # rows without a target are left out
        self.numbers, self.whole = [i for i, k in enumerate(known) if k], None
        self.textual = [c.has("categories") for c in self.encoding] or [False] * len(self.names)
        if head.has("targets"):
            self.beside(head, head.list("targets", str), columns, blocks(group, columns) if by_blocks else columns[group] if group else [])
        columns = {n: [c for c, k in zip(columns[n], known) if k] for n in used}
        self.cells = [list(map(as_text if t else as_number, columns[n])) for n, t in zip(self.names, self.textual)]
        self.sides = [side_of(c, limits == target) for c in columns[limits]] if limits else []
        if head.has("classes"):  # targets are the places of labels
            classes = head.list("classes", str)
            require(len(set(classes)) == len(classes) == 2 and set(map(as_text, columns[target])) <= set(classes), "a label isn't one of the model's classes")
            columns[target] = [str(classes.index(as_text(c))) for c in columns[target]]
        self.y, self.groups = list(map(read, columns[target])), blocks(group, columns) if by_blocks else list(map(as_text, columns[group])) if group else []
        self.offset, self.errors = (list(map(as_number, columns[n])) if n else [] for n in (offset, noise))
        for name, cells in list(zip(self.names, self.cells)) + [(target, self.y), (group, self.groups), (offset, self.offset), (noise, self.errors), (limits, self.sides)]:
            gaps = all(c != "" and c == c for c in cells) or self.fill and name not in (target, group, offset, noise, limits)  # noqa: PLR0124
            require(gaps and None not in cells, f"the column {name!r} has gaps, or text")
        require(all(e >= 0 for e in self.errors), "a standard error is below 0")
        require(not head.has("exposure") or not head.has("offset") and all(e > 0 for e in self.offset), "an exposure isn't above 0, or there is an offset too")
        self.shifts = list(map(log, self.offset)) if head.has("exposure") else [0.0] * len(self.y)
        tails = [b"".join(map(bits, of)) for of in zip(*[c for c in (self.offset, self.errors, self.sides) if c], self.y)]
        columns = [list(map(long_text if t else bits, cells)) for cells, t in zip(self.cells, self.textual)]
        order = hashed_order(head, self.names, columns, tails) if self.whole is None else self.order
        self.bytes = [b"".join(row) for row in zip(*[columns[k] for k in order], tails)]
        self.size, self.raw = list(map(abs, self.y)), self.y  # the model learns y, or what the offset misses; relative losses divide by |y|
        self.y = [y - o for o, y in zip(self.offset, self.y)] if head.has("offset") else self.y
        self.groups = [sha(b"".join(row)).hex() for row in zip(*columns, tails)] if head("group", str) == "(equal rows)" else self.groups
        self.tails = list(map(long_text, self.groups)) or [b""] * len(self.y)
    def beside(self, head, targets, columns, groups):
        """Lists the rows that have any target of the fit, by which roles are dealt: number in the file, bytes, end of the bytes for the group."""
        require(len(targets) > 1 and len(set(targets)) == len(targets) and set(targets) <= set(columns), "the table lacks a target of the fit")
        inputs = [list(map(as_text if t else as_number, columns[n])) for n, t in zip(self.names, self.textual)]
        inputs += [list(map(as_number, columns[n])) for n in targets]
        require(all(None not in cells for cells in inputs), "an input, or a target of the fit, has text")
        aimed = [i for i, row in enumerate(zip(*inputs[len(self.names):])) if not all(map(isnan, row))]
        cells = [[long_text(column[i]) if t else bits(column[i]) for i in aimed] for column, t in zip(inputs, self.textual + [False] * len(targets))]
        rests = [b"".join(row) for row in zip(*cells[len(self.names):])]
        self.order = hashed_order(head, self.names, cells[:len(self.names)], rests)
        rows = [b"".join(row) for row in zip(*[cells[k] for k in self.order], rests)]
        self.whole = [(i, row, long_text(as_text(groups[i])) if groups else b"") for i, row in zip(aimed, rows)]
    def encode(self, prior):
        """Makes the inputs x. Refuses categories, and values that fill gaps, which don't follow from the prior rows."""
        made, names, self.one_hot, told, apart = [], [], [], [], False
        for name, cells, entry in zip(self.names, self.cells, self.encoding or [Fields({})] * len(self.cells)):
            known = [cells[i] for i in prior if cells[i] not in ("", None) and cells[i] == cells[i]]  # noqa: PLR0124
            if entry.has("categories"):
                own = sorted(set(known) - {"other"}, key=str.encode)
                require(known and own == entry.list("categories", str), f"the categories of {name!r} don't follow from the prior rows")
                own.append("other")
                names += [f"{name}={c}" for c in own]
                made += [[float(c == k or k == "other" and c not in own) for c in cells] for k in own]
                self.one_hot += [True] * len(own)
                continue
            mean = entry("mean", float)
            middle = without_apart(known) if self.without else known
            apart |= self.fill and len(middle) < len(known)
            own = fsum(middle) / len(middle) if self.fill and known else mean
            require(entry.has("mean") == self.fill and abs(own - mean) <= 1e-9 * abs(mean), f"what fills gaps of {name!r} isn't the prior rows' mean")
            names, made, self.one_hot = names + [name], made + [[mean if isnan(c) else c for c in cells]], self.one_hot + [False]
            gaps = [i for i in prior if isnan(cells[i])]
            gap = self.indicates and min(len(gaps), len(known)) >= 10 and gaps not in told
            require(gap == entry("gap", bool), f"whether gaps of {name!r} are an input doesn't follow from the prior rows")
            if gap:
                told.append(gaps)
                names, made, self.one_hot = names + [f"{name}=missing"], made + [[float(isnan(c)) for c in cells]], self.one_hot + [True]
        require(apart == self.without, "no values that the encoding leaves out stand apart")
        require(names == self.inputs, "the encoding makes other inputs than the model's")
        self.x = list(zip(*made))

# ---- Which row has which role, and the scaling -------------------------------------------------------------------------------------------
def without_apart(values):
    """Returns the values of an input without those that stand apart: at most 20 at each end, far from all others."""
    rest, most, before = sorted(values), {1: 20, -1: 20}, None
    kinds = len(set(rest))
    while before != len(rest):
        before = len(rest)
        for sign in (1, -1):
            v = sorted(sign * x for x in rest)
            for n in range(1, min(max(3, len(v) // 100), most[sign]) + 1):
                if len(v) - n < 20 or kinds - n < 10:
                    break
                least, last = v[0], v[-n - 1]
                if v[-n] >= max(last + 10 * (last - least), last * sqrt(last / least) if least > 0 else last):
                    rest, kinds, most[sign] = v[:-n], kinds - n, most[sign] - n
                    rest = [sign * x for x in rest]
                    break
    return rest
def deal(head, arrays, table):
    """Assigns every row a role, and returns the rows of each role, in the order in which the model uses them."""
    counts, n, columns = head.list("rows_by_role", int), len(table.y), len(table.names)
    require(len(counts) == 4 and min(counts) >= 0 and sum(counts) == n, f"the data have {n} rows, but rows_by_role counts {sum(counts)}")
    digests, names = [sha(b + t) for b, t in zip(table.bytes, table.tails)], sorted({sha(t) for t in table.tails})
    whole = hash_of(digests, columns)
    require(whole == head("rows_sha256", str), "the model was made from other rows: their rows_sha256 is another")
    targets = b"".join(struct.pack("<Q", t) for t in sorted(struct.unpack("<Q", bits(y))[0] for y in table.raw))
    require(sha(targets).hex() == head("targets_sha256", str), "targets_sha256 doesn't match the targets")
    split, order, units = head("split", str), range(n), head.list("groups_by_role", int) or counts
    require(head.has("groups_by_role") == bool(table.groups), "groups_by_role and group disagree")
    if split == "last":
        require(not table.groups and table.whole is None, "not checked by this program: a backtest of groups, or of several targets")
        role = [r for r in (PRIOR, CALIBRATION, CERTIFIED, TEST) for _ in range(counts[r])]
    else:
        require(split == "content" and n * (columns + 1) <= 2**28, "not checked by this program: this split, or so large a table")
        tails = table.tails
        if table.whole is not None:  # roles are dealt to all rows that have any target of the fit
            tails, units = [tail for *_, tail in table.whole], head.list("units_by_role", int)
            digests_of_all, names = [sha(b + t) for _, b, t in table.whole], sorted({sha(t) for t in tails})
            whole = hash_of(digests_of_all, columns)
        salt = f"krigo roles {whole} ".encode() + struct.pack("<Q", head("seed", int))
        own, of_group = list(keys(salt, digests if table.whole is None else digests_of_all)), dict(zip(names, keys(salt + b" group", names)))
        place = [of_group[sha(t)] for t in tails] if table.groups else own
        dealt = sorted(set(place))
        require(len(units) == 4 and min(units) >= 0 and sum(units) == len(dealt), "groups_by_role or units_by_role doesn't count the table's groups")
        role_of = dict(zip(dealt, [r for r in range(4) for _ in range(units[r])]))
        if table.whole is not None:
            at = {number: k for k, (number, *_) in enumerate(table.whole)}
            place, own = [place[at[i]] for i in table.numbers], [own[at[i]] for i in table.numbers]
            groups = [len({p for p in place if role_of[p] == r}) for r in range(4)]
            require(not table.groups or groups == head.list("groups_by_role", int), "groups_by_role doesn't count the groups that have the target")
        role, order = [role_of[p] for p in place], sorted(range(n), key=lambda i: (place[i], own[i]))
    of = [[i for i in order if role[i] == r] for r in range(4)]
    require([len(rows) for rows in of] == counts, "rows_by_role doesn't count the rows that get each role")
    require(hash_of([digests[i] for i in of[CERTIFIED]], columns) == head("certified_rows_sha256", str), "certified_rows_sha256 doesn't match the certified rows")
    return of
def drawn_labels(head):
    """Returns whether labels are certified that a random draw of f gives, by its sign. Targets are then -1 and 1, else 0 and 1."""
    t = head.of("terms")
    return head.has("classes") and not (t("fixed", bool) and t("route", str) == "direct")
def scale_rows(head, table, roles):
    """Returns the rows in scaled units, as pairs of inputs and target, and the target's scale."""
    s, d, source, all_rows = head.of("scaling"), len(table.inputs), head.of("scaling")("source", str), [x + (y,) for x, y in zip(table.x, table.y)]
    means, scales = s.list("input_mean", float) + [s("target_mean", float)], s.list("input_scale", float) + [s("target_scale", float)]
    require(len(means) == len(scales) == d + 1 > 1 and min(scales) > 0, "the scaling doesn't fit the inputs, or has a scale that isn't positive")
    require(source in ("prior-rows", "all-rows", "declared"), f"the scaling has an unknown source, {source!r}")
    without, apart = s("without_apart", bool), source == "declared"
    for j in range(d + 1 if source != "declared" else 0):
        values = [all_rows[i][j] for i in roles[PRIOR] + roles[CERTIFIED] * (source == "all-rows")]
        middle = values if j == d or table.one_hot[j] or not without else without_apart(values)
        apart, values = apart or len(middle) < len(values), middle
        unit = ldexp(0.5, frexp(max(map(abs, values)))[1])  # the squares of other numbers than those near 1 may overflow
        mean = fsum(v / unit for v in values) / len(values)
        mean, sd = mean * unit, sqrt(fsum((v / unit - mean)**2 for v in values) / len(values)) * unit
        if j == d and head.has("classes"):
            mean, sd = (0.5, 0.5) if drawn_labels(head) else (0.0, 1.0)
        if j < d and (table.one_hot[j] or sd <= 1e-13 * abs(mean)):
            mean, sd = 0.0 if table.one_hot[j] else mean, 1.0
        require(abs(means[j] - mean) <= 1e-9 * max(abs(mean), sd) and abs(scales[j] - sd) <= 1e-9 * sd, f"the scaling's constants don't follow from {source}")
    require(apart or not without, "no values that the scaling leaves out stand apart")
    scaled = [tuple((v - m) / s for v, m, s in zip(row, means, scales)) for row in all_rows]
    return [(row[:-1], row[-1]) for row in scaled], scales[-1]

# ---- Linear algebra. A lower triangle is a list of rows ----------------------------------------------------------------------------------
def dot(a, b):
    """Returns the inner product of two lists. It ignores the tail of the longer list."""
    return sum(map(mul, a, b))
def cholesky(a):
    factor = []
    for i, row in enumerate(a):
        new = forward(factor, row[:i])
        require(row[i] > dot(new, new), "a covariance matrix isn't positive definite")
        factor.append(new + [sqrt(row[i] - dot(new, new))])
    return factor
def forward(factor, b):
    """Returns the solution x of L x = b."""
    x = []
    for row, v in zip(factor, b):
        x.append((v - dot(row, x)) / row[-1])
    return x
def over(factor, a=None):
    """Yields the columns of L^-1 A from the diagonal down. A is a lower triangle; without A they are the columns of L^-1."""
    for j in range(len(factor)):
        x = []
        for i in range(j, len(factor)):
            x.append(((a[i][j] if a else float(i == j)) - dot(factor[i][j:i], x)) / factor[i][i])
        yield x

# ---- Kernels. value takes two points that prepare returned -------------------------------------------------------------------------------
PROFILES = {  # functions of the distance d divided by lengthscales, and of the shape a
    "se": lambda d, a: exp(-0.5 * d * d),
    "matern12": lambda d, a: exp(-d),
    "matern32": lambda d, a: (1 + sqrt(3) * d) * exp(-sqrt(3) * d),
    "matern52": lambda d, a: (1 + sqrt(5) * d + 5 * d * d / 3) * exp(-sqrt(5) * d),
    "rq": lambda d, a: exp(-a * log1p(d * d / (2 * a))),
}
def named(text):
    """Returns the name of a kernel, and the columns that it sees."""
    m = re.fullmatch(r'(\w+) *\(((?:"[^"]*"|[^()"])*)\)', text)
    columns = [c.strip() for c in re.findall(r'(?:"[^"]*"|[^,"])+', m[2])] if m else []
    return m[1] if m else text, [c[1:-1].replace('""', '"') if c[:1] == '"' else c for c in columns]
class Kernel:
    """A kernel. It removes its parameters, which are natural logarithms, from the front of theta, and compares them with the header."""
    def __init__(self, spec, theta, names):
        (self.name, self.columns), said, logs = named(spec("name", str)), spec.list("lengthscales", float), []
        self.profile = PROFILES.get(self.name)
        kinds = self.name in ("exchangeable", "ordinal", "lowrank")  # then the columns are one, and perhaps its categories in an order
        of = self.columns[:1] if kinds else self.columns
        require(len(set(of)) == len(of) and set(of) <= {n for n, _ in names}, f"the kernel {self.name} has columns that are no inputs")
        self.at = [i for c in of for i, (name, _) in enumerate(names) if name == c] or range(len(names))  # inputs that it sees
        names = [names[i] for i in self.at]
        self.parts, dim = [Kernel(p, theta, names) for p in spec.objects("parts")], len(names)
        long, joint = self.name in PROFILES or self.name in ("periodic", "additive", "steps"), self.name in ("sum", "product")
        weights = ["main", "pairs"][:dim] if self.name == "additive" else []
        if self.name == "steps":
            weights = [f"steep_{i + 1}_{b + 1}" for i in range(dim) for b in range(16)]
        if kinds:
            require(of and names[0][1] is not None, f"the kernel {self.name} doesn't see a categorical column")
            weights = {"exchangeable": ["shared"], "ordinal": [f"gap_{i + 1}" for i in range(dim - 2)]}.get(
                self.name, [f"weight_{i + 1}_{q}" for i in range(dim - 1) for q in (1, 2)])
        require(long or joint or kinds or self.name in ("linear", "constant", "white"), f"not checked by this program: the kernel {self.name!r}")
        require(spec.has("parameters") == bool(weights) and bool(self.parts) == joint and len(said) in ((1, dim) if long else (0,)), f"the kernel {self.name} doesn't fit")
        for field, has in (("shape", self.name == "rq"), ("period", self.name == "periodic"), ("variance", not joint and self.name != "additive")):
            require(spec(field, float) > 0 if has else spec(field, float) == 0, f"the kernel {self.name} can't have this {field}")
            logs += [log(spec(field, float))] if has else []
        logs = [2 * log(v) for v in said] + [log(spec.of("parameters")(w, float)) for w in weights] + logs
        own, theta[:len(logs)] = theta[:len(logs)], []
        require(len(own) == len(logs) and all(abs(v - w) <= 1e-9 * max(1, abs(w)) for v, w in zip(logs, own)), "the header's kernel doesn't match the array theta")
        self.dim, self.inverse = dim, [exp(-0.5 * v) for v in own[:len(said)]] * (dim if len(said) == 1 else 1)
        self.lengths = (own[:dim] if len(said) == dim else []) + [v for k in self.parts for v in k.lengths]  # lengthscales that each belong to one input
        self.weights = [exp(v) for v in own[len(said):]] + [0]
        self.variance, self.shape = (exp(own[-1]), exp(own[-2]) if len(own) > 1 else 0) if own else (0, 0)
        if kinds:
            self.correlations([level for _, level in names[:-1]], [exp(v) for v in own[:-1]])
    def correlations(self, levels, w):
        """Makes R, the correlations of categories. The last input is that of all other categories."""
        n, listed = len(levels), self.columns[1:]
        order = sorted(range(n), key=lambda i: listed.index(levels[i])) if listed else list(range(n))
        if not listed and self.name == "ordinal" and all(map(is_number, levels)):
            order.sort(key=lambda i: float(levels[i]))
        require(not listed or self.name == "ordinal" and sorted(listed) == sorted(levels), f"the kernel {self.name} lists other categories")
        self.r = [[float(i == j) for j in range(n + 1)] for i in range(n + 1)]
        points = [(log(w[2 * i]) + 1, log(w[2 * i + 1]) + 0.5 - i % 2) for i in range(n)] if self.name == "lowrank" else []
        for i in range(n + 1):
            for j in range(i):
                if self.name == "exchangeable":
                    v, a, b = w[0] / (1 + w[0]), i, j
                elif i == n:
                    continue
                elif self.name == "ordinal":
                    d, a, b = sqrt(3) * fsum(w[j:i]), order[i], order[j]
                    v = (1 + d) * exp(-d)
                else:
                    p, q, a, b = points[i], points[j], i, j
                    v = dot(p, q) / sqrt((1 + dot(p, p)) * (1 + dot(q, q)))
                self.r[a][b] = self.r[b][a] = v
    def prepare(self, x):
        x = [x[i] for i in self.at]
        if self.parts:
            return [k.prepare(x) for k in self.parts]
        if self.name == "periodic":
            return [f(2 * pi * v / self.shape) * s for f in (cos, sin) for v, s in zip(x, self.inverse)]
        if self.name == "steps":  # bins of width 1/4 from -2 to 2, and each part begins at the bin's end nearest to 0
            ends = [(b / 4 - 2 if b else -inf, b / 4 - 1.75 if b < 15 else inf, b / 4 - 2 if b > 7 else b / 4 - 1.75) for b in range(16)]
            return [s * fsum(w * (min(max(v, low), high) - zero) for w, (low, high, zero) in zip(self.weights[16 * i:], ends))
                    for i, (v, s) in enumerate(zip(x, self.inverse))]
        return list(map(mul, x, self.inverse)) if self.profile else list(x)
    def value(self, p, q, sign=-1):
        """Returns k(p, q). If sign is 1, it returns the size of the numbers whose difference k is, on whose last places rounding acts."""
        if self.profile:
            return self.variance * self.profile(dist(p, q), self.shape)
        if self.parts:
            values = [k.value(a, b, sign) for k, a, b in zip(self.parts, p, q)]
            return sum(values) if self.name == "sum" else prod(values)
        if self.name == "periodic":
            return self.variance * exp(-0.5 * dist(p, q)**2)
        if self.name == "steps":
            return self.variance * exp(-fsum(abs(v - w) for v, w in zip(p, q)))
        if self.name == "additive":
            parts, d = [], len(p)
            for x, z, i in zip(p, q, self.inverse):
                length = i**-2
                near = 1 / (length + 1)
                hidden = sqrt(1 - near**2)
                own = 1 - hidden * sqrt((length + 1) / (length + 3)) + 0.002
                parts.append((exp(-0.5 * ((x - z) * i)**2) + sign * hidden * exp(-0.5 * near * (x * x + z * z))) / own)
            pairs = sum(v * w for j, v in enumerate(parts) for w in parts[:j])
            return self.weights[0] * sum(parts) / d + (self.weights[1] * pairs / (d * (d - 1) / 2) if d > 1 else 0)
        if self.name in ("exchangeable", "ordinal", "lowrank"):
            return self.variance * fsum(v * dot(row, q) for v, row in zip(p, self.r) if v)
        return self.variance * (dot(p, q) if self.name == "linear" else self.name == "constant" or p == q)
class Conditional:
    """A kernel that is the covariance of a posterior, times a temper."""
    def __init__(self, posterior, temper):
        self.posterior, self.temper, self.lengths = posterior, temper, []
    def prepare(self, x):
        p = self.posterior.kernel.prepare(x)
        return (p,) + self.posterior.whiten([self.posterior.kernel.value(p, s) for s in self.posterior.points])
    def value(self, p, q):
        return self.temper * (self.posterior.kernel.value(p[0], q[0]) - dot(p[1], q[1]) + dot(p[2], q[2]))
class Posterior:
    """Mean m(x) + k(x,S) w, variance k(x,x) - |u|^2 + |v|^2 with u = L^-1 k(S,x), v = L_B^-1 u. With nearest, both come from the nearest rows."""
    def __init__(self, arrays, prefix, kernel, mean, noise, nearest=0):
        self.kernel, self.of_mean, self.noise, self.nearest = kernel, mean, noise, nearest  # noise is None if L has the noise in it
        self.support, self.weights, self.targets, self.stored, self.low_b = (
            arrays.get(prefix + k) for k in ("support", "weights", "targets", "cholesky", "cholesky_b"))
        n, self.theta, self.low, self.sparse = len(self.support), arrays[prefix + "theta"] + arrays[prefix + "beta"], [], self.low_b is not None
        self.noises = arrays.get(prefix + "noises")  # the rows' own, if they differ
        for k, cols in (("noises", 1), ("weights", 1), ("targets", 1), ("cholesky", 0), ("cholesky_b", 0)):
            require(arrays.get((prefix + k, "shape"), (n, cols)) == (n, cols), f"the array {prefix}{k} doesn't fit the support")
        self.points = [kernel.prepare(s) for s in self.support]
        self.wholes = [kernel.value(p, p) for p in self.points]
        base, temper = (kernel.posterior.kernel, kernel.temper) if isinstance(kernel, Conditional) else (kernel, 1)
        self.largest, self.size = (temper * max((base.value(p, p, sign) for p in map(base.prepare, self.support)), default=0) for sign in (-1, 1))
        require(nearest or self.stored is not None and self.weights is not None, "the posterior lacks its factor, or weights")
        require(all(f[-1] > 0 for f in (self.stored or []) + (self.low_b or [])), "a factor has a diagonal that isn't positive")
        require(self.noises is None or not self.sparse and all(s > 0 for s in self.noises), "a row's noise variance isn't positive")
        if n and not nearest:
            self.factor(n)
    def factor(self, n):
        """Computes L from K + shift I. shift is the noise. If the posterior is sparse or noise is None, shift comes from the stored L."""
        require(not self.sparse or all(abs(z) <= 1e8 for s in self.support for z in s), "an inducing input is too far out")
        self.k = [[self.kernel.value(p, q) for q in self.points[:i + 1]] for i, p in enumerate(self.points)]
        scale, c = fsum(self.wholes) / n, fsum(dot(f, f) - k for f, k in zip(self.stored, self.wholes)) / n
        if self.sparse:
            jitters = [j for j in (1e-12 * 10**e * scale for e in range(9)) if abs(c - j) <= 1e-3 * j + n * UNIT * self.largest]
            c = 0.0 if c < max(0.5e-12 * scale, 1e-13 * self.largest) else (jitters + [c])[0]
        self.shifts = self.noises or n * [max(c, 0) if self.sparse or self.noise is None else self.noise]
        require(self.sparse or min(self.shifts) >= n * UNIT * self.largest, "the noise variance is as small as rounding errors")
        self.low = cholesky([row[:-1] + [row[-1] + s] for row, s in zip(self.k, self.shifts)])
        off = sqrt(fsum(dot(x[1:], x[1:]) + (x[0] - 1)**2 for x in over(self.low, self.stored)))
        rounding = min(n * UNIT * self.size * fsum(dot(x, x) for x in over(self.low)), 0.5) if off > 1e-6 else 1e-6
        require(off <= rounding, f"a stored factor doesn't match its kernel and noise: it is off by {off:.3g}")
    def whiten(self, ks):
        u = forward(self.low, ks)
        return u, forward(self.low_b, u) if self.sparse else []
    def mean(self, x):
        return self.of_mean(x)[0]
    def predict(self, x):
        """Returns mean and variance of f, and how far rounding may move the mean."""
        p, (mean, reach) = self.kernel.prepare(x), self.of_mean(x)
        ks, whole, reach = [self.kernel.value(p, s) for s in self.points], self.kernel.value(p, p), reach + REACH * UNIT * (1 + abs(mean))
        if self.weights is not None:
            sizes = [self.kernel.value(p, s, 1) for s in self.points] if isinstance(self.kernel, Kernel) else ks
            mean, reach = mean + fsum(map(mul, ks, self.weights)), reach + REACH * UNIT * fsum(abs(k * w) for k, w in zip(sizes, self.weights))
        if not self.nearest:
            u, v = self.whiten(ks)
            return mean, max(whole - dot(u, u), 0) + dot(v, v), reach
        rank = sorted((-k * k / s if s > 0 else 0, i) for i, (k, s) in enumerate(zip(ks, self.wholes)))
        rows = sorted(i for _, i in rank[:self.nearest])
        if len(rank) > self.nearest and 0 < rank[self.nearest][0] - rank[self.nearest - 1][0] < 1e-13 * -rank[0][0]:
            reach = inf  # rounding decides which rows are nearest
        low = cholesky([[self.kernel.value(self.points[i], self.points[j]) for j in rows[:a]] + [self.wholes[i] + (self.noises[i] if self.noises else self.noise)] for a, i in enumerate(rows)])
        c = forward(low, [ks[i] for i in rows])
        if self.weights is None:
            r = forward(low, [self.targets[i] for i in rows])
            mean, reach = mean + dot(c, r), reach + REACH * UNIT * len(rows) * dot(map(abs, c), map(abs, r))
        return mean, max(whole - dot(c, c), 0), reach
    def kl(self):
        """Returns KL(Q|P), plus the amount by which rounding may have lowered it."""
        n, squares = len(self.support), fsum(w * w for w in self.weights)
        rounding = n * UNIT * self.largest * (squares / 2 + (0 if self.sparse or not n else fsum(1 / s for s in self.shifts)))
        if self.sparse:
            mu = [fsum(w * row[j] for w, row in zip(self.weights[j:], self.low[j:])) for j in range(n)]
            kl = fsum(log(f[-1]) for f in self.low_b) + (dot(mu, mu) + fsum(dot(x, x) for x in over(self.low_b)) - n) / 2
        elif n:
            quadratic = fsum(w * (2 * dot(row, self.weights) - row[-1] * w) for w, row in zip(self.weights, self.k))
            logs = 2 * fsum(log(f[-1]) for f in self.low) - fsum(map(log, self.shifts))
            kl = (logs - n + fsum(s * dot(x, x) for s, x in zip(self.shifts, over(self.low))) + quadratic) / 2
        require(not n or kl + rounding >= -1e-8, "KL(Q|P) is negative")
        return max(kl, 0.0) + rounding if n else 0.0
    def solves(self, rows, tolerance, what, sides=()):
        """Checks that the support is these rows, in this order, and that (K + noise I) w = y - m(X). Without weights, checks targets = y - m(X).
        Leaves out rows whose target is on a side of a limit."""
        require([tuple(s) for s in self.support] == [x for x, _ in rows], f"the {what}'s support isn't the model's rows in their order")
        square, whole, shifts = 0.0, 0.0, (self.noises or len(rows) * [self.noise]) if self.nearest else self.shifts
        for i, (mean, y) in enumerate((self.mean(x), y) for x, y in rows):
            size, r = abs(y) + abs(mean), y - mean
            if sides and sides[i]:
                continue
            if self.weights is None:
                require(abs(self.targets[i] - r) <= 1e-11 * size, f"the {what}'s targets don't match its rows")
                continue
            terms = [self.kernel.value(self.points[i], q) * w for q, w in zip(self.points, self.weights)] + [shifts[i] * self.weights[i]]
            off, size = abs(fsum(terms) - r), size + fsum(map(abs, terms))
            square, whole = square + off * off, whole + r * r
            require(self.nearest or off <= min(tolerance * size, 1e-5 * max(1, abs(y))), f"the {what}'s weights don't solve its equations")
        require(not self.nearest or sqrt(square) <= 1e-5 * sqrt(whole), f"the {what}'s weights don't solve its equations")
def alpha_of(head):
    """Returns the alpha in D = alpha lambda + noise, which gives weights from parameters and inducing inputs, or None if weights are trained."""
    objective, asked = head("objective", str), head.of("fitted").of("method")
    if objective in ("vfe", "dtc", "fitc", "pep") + BOUND_TRAINED and asked("posterior", str) == "fitc":
        return 1.0
    if objective in ("svgp", "renyi") or objective in BOUND_TRAINED and asked("alpha_by", str) == "learn":
        return None
    return asked("alpha", float) if asked.has("alpha") else {"vfe": 0.0, "dtc": 0.0, "pep": 0.5}.get(objective, 1.0)
def follows(q, rows, others, alpha, noises):
    """Returns whether weights and L_B follow from parameters, inducing inputs, noise variance and prior rows, up to rounding.
    Refuses them if means at rows and others differ by over 1e-3 standard deviations of the target.
    From 1e-5 on they don't count as following."""
    m = len(q.support)
    b, c = [[float(i == j) for j in range(i + 1)] for i in range(m)], [0.0] * m
    for (x, y), noise in zip(rows, noises or len(rows) * [q.noise]):
        p = q.kernel.prepare(x)
        u = forward(q.low, [q.kernel.value(p, s) for s in q.points])
        d = alpha * max(q.kernel.value(p, p) - dot(u, u), 0.0) + noise
        r = (y - q.mean(x)) / d
        for i, v in enumerate(u):
            c[i] += v * r
            w = v / d
            b[i] = [a + w * z for a, z in zip(b[i], u)]
    low = cholesky(b)
    half = forward(low, c)
    mu = [0.0] * m
    for i in range(m - 1, -1, -1):
        mu[i] = (half[i] - fsum(low[k][i] * mu[k] for k in range(i + 1, m))) / low[i][i]
    own = [fsum(w * row[j] for w, row in zip(q.weights[j:], q.low[j:])) for j in range(m)]
    apart = [v - w for v, w in zip(mu, own)]
    mean = max(abs(dot(apart, forward(q.low, [q.kernel.value(p, s) for s in q.points])))
               for p in (q.kernel.prepare(x) for x, _ in rows + others))
    off = max(mean, sqrt(fsum(dot(x[1:], x[1:]) + (x[0] - 1)**2 for x in over(low, q.low_b))))
    require(off <= 1e-3, f"the prior's weights aren't those that its parameters, inducing inputs, noise variance and prior rows make: they are off by {off:.3g}")
    return off <= 1e-5
def columns_of(head):
    """Returns the column from which each input comes, and its category or None."""
    entries = head.of("encoding").objects("columns") if head.has("encoding") else []
    levels = [(c("name", str), v) for c in entries
              for v in (c.list("categories", str) + ["other"] if c.has("categories") else [None, "missing"] if c("gap", bool) else [None])]
    return levels or [(name, None) for name in head.list("inputs", str)]
def is_number(text):
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) is not None
def read_posterior(head, arrays):
    """Returns the posterior Q, and its prior if that is a posterior too, else None."""
    dim, solver, noise, spec = len(head.list("inputs", str)), head("solver", str), head("noise_variance", float), head.of("kernel")
    nearest = head("nearest", int) if solver else 0
    require(solver in ("", "cg", "nearest"), f"not checked by this program: the solver {solver!r}")
    require(noise > 0 and (nearest > 0) == bool(solver) and nearest <= len(arrays["support"]), "noise_variance or nearest has a wrong value")
    require((arrays.get("weights") is None) == (solver == "nearest"), "the solver and the posterior's arrays disagree")
    prefix, said = ("prior_", head.of("prior")) if head.has("prior") else ("", head)
    if prefix:
        require(spec("name", str) == "posterior" and spec("variance", float) == said("temper", float) > 0, "the kernel isn't the prior's")
        spec, = spec.objects("parts")
    require(all(arrays[k, "shape"][1] == dim for k in ("support", prefix + "support")), "the support has other inputs")
    theta, beta, mean = list(arrays[prefix + "theta"]), arrays[prefix + "beta"], said("mean", str)
    kernel = Kernel(spec, theta, columns_of(head))
    require(not theta and len(beta) == {"zero": 0, "constant": 1, "linear": 1 + dim}.get(mean), "theta or beta doesn't fit kernel or mean")
    q = Posterior(arrays, prefix, kernel, lambda x: ((beta[0] if beta else 0.0) + dot(beta[1:], x), 0.0), None if prefix and arrays["support"] else noise, nearest)
    if not prefix:
        return q, None
    require(not arrays["theta"] + arrays["beta"] and not nearest, "a posterior of a learnt prior has parameters, or isn't factored")
    return Posterior(arrays, "", Conditional(q, said("temper", float)), lambda x: q.predict(x)[::2], noise), q

def isotonic(values):
    """Returns the isotonic regression of a list."""
    pools = []
    for v in values:
        pools.append((v, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((a * m + b * n) / (m + n), m + n)]
    return [v for v, n in pools for _ in range(n)]
class Monotone:
    """A mean that doesn't fall along one or two axes: isotonic regression of the means on a grid, linear between its knots. The variance is q's."""
    def __init__(self, head, q, prior):
        self.q, self.kernel, self.support, self.axes = q, q.kernel, q.support, [(a("input", int), a("from", float), a("to", float)) for a in head.objects("monotone")]
        asked, names = head.of("fitted").of("kernel").list("monotone", str), columns_of(head)
        require([t.rpartition(":")[::2] for t in asked] == [(names[j][0], "up" if a < b else "down") for j, a, b in self.axes] and
                len({j for j, *_ in self.axes}) == len(self.axes) < 3, "the model and the options disagree about monotone")
        for j, *ends in self.axes:
            known = [x[j] for x in prior]
            require(names[j][1] is None and all(abs(a - b) <= 1e-6 * (max(known) - min(known)) for a, b in zip(sorted(ends), (min(known), max(known)))),
                    "the ends of monotone aren't the prior rows'")
    def mean(self, x):
        """Returns the mean, and how far rounding may move it."""
        side, reaches, grid = 32 if len(self.axes) == 1 else 12, [], []
        for knots in product(range(side), repeat=len(self.axes)):
            at = list(x)
            for (j, a, b), k in zip(self.axes, knots):
                at[j] = a + (b - a) * k / (side - 1)
            mean, _, reach = self.q.predict(at)
            grid, reaches = grid + [mean], reaches + [reach]
        rows = [grid[i:i + side] for i in range(0, len(grid), side)]
        if len(self.axes) > 1:
            first = map(isotonic, zip(*map(isotonic, rows)))
            second = map(isotonic, zip(*map(isotonic, zip(*rows))))
            rows = [[(a + b) / 2 for a, b in zip(p, q)] for p, q in zip(zip(*first), second)]
        else:
            rows = [isotonic(grid)]
        for j, a, b in reversed(self.axes):
            p = max(0.0, min((x[j] - a) / (b - a), 1.0)) * (side - 1)
            k = min(int(p), side - 2)
            rows = [[r[k] + (p - k) * (r[k + 1] - r[k]) for r in rows]]
        return rows[0][0], max(reaches)
    def predict(self, x):
        mean, reach = self.mean(x)
        return mean, self.q.predict(x)[1], reach
class Varying:
    """A noise that depends on the inputs: a(x) is a factor of the noise variance s, or of the whole variance of y."""
    def __init__(self, head, noise, dim):
        self.known, self.noise, f = head.has("noise_column"), noise, head.of("noise_of_inputs") if head.has("noise_of_inputs") else Fields({})
        self.some, self.whole, self.shift, self.low, self.high = head.has("noise_of_inputs"), f("whole", bool), f("shift", float), f("low", float), f("high", float)
        self.slopes, self.weights, self.length = f.list("slopes", float), f.list("weights", float), f("length", float)
        self.centres = [[float(v) for v in c] for c in f.list("centres", list)]
        self.later = f("later", bool)
        dim += 2 * self.whole
        require(all(len(c) == dim for c in self.centres) and len(self.slopes) in (0, dim) and len(self.centres) == len(self.weights), "noise_of_inputs has another number of inputs")
        require(-20 <= self.low <= self.high <= 20 and (not self.centres or self.length > 0), "noise_of_inputs has a wrong value")
        require(not self.known or not self.some and not head.has("noise") and not head.of("scaling").has("target_transform"), "standard errors don't go with this noise, or with a transform")
    def factor(self, x):
        log_a = self.shift + dot(self.slopes, x) + fsum(w * exp(-fsum((a - b)**2 for a, b in zip(x, c)) / (2 * self.length**2)) for w, c in zip(self.weights, self.centres))
        return exp(max(self.low, min(log_a, self.high)))
    def noises(self, rows, known):
        """Returns the noise variances of rows, or None if they are all the same. known holds the squares of the standard errors."""
        if self.known:
            return [self.noise + v for v in known]
        return [self.noise * self.factor(x) for x in rows] if self.some and not (self.whole or self.later) else None
    def variance(self, x, mean, v, known):
        """Returns the variance of y less the noise that is the same for all rows."""
        if not self.some:
            return v + known
        if self.whole:
            root = sqrt(len(x))
            return self.factor(list(x) + [root * mean, root * log(v + self.noise)]) * (v + self.noise) - self.noise
        return v + self.noise * (self.factor(x) - 1)

# ---- Losses, and bounds on their means ---------------------------------------------------------------------------------------------------
class Loss:
    """The loss of an error d = y - mean, which rounding may move by reach. s is the sd of f, and scale is |y| or the sd of y.
    For a label, d is the distance to the other label's side."""
    def __init__(self, kind, below, above=0.0):
        self.kind, self.below, self.above = kind, below, above
    def point(self, d, reach, _, scale):
        """Returns the least and the largest loss of the mean."""
        below, above = self.edges(scale)
        if self.kind in ZERO_ONE:
            slack, margin = min(d + above, below - d), reach + 1e-9 * min(below, above)
            return float(slack < -margin), float(slack < margin)
        sizes = [max(abs(d) - reach, 0.0), abs(d) + reach]
        if self.kind == "log-density":
            return [max(0.0, min(0.5 + (log(scale) + min(v / scale, 1e150)**2 / 2 - 0.5) / (2 * below), 1.0)) if scale else float(v > 0) for v in sizes]
        if self.kind == "clipped-absolute":
            return [min(v / scale, 1.0) if scale else float(v > 0) for v in sizes]
        return [min((v / below)**2, 1.0) if self.kind == "clipped-square" else -expm1(-(v / below)**2) for v in sizes]
    def edges(self, scale):
        below = self.below * scale if self.kind in ("relative", "scaled") else scale if self.kind == "clipped-absolute" else self.below
        return below, inf if self.kind == "label" else self.above if self.kind == "asymmetric" else below
    def drawn(self, d, reach, s, scale):
        """Returns the least and the largest expected loss of a random draw."""
        w, above = self.edges(scale)
        if s <= 1e-150 or w == 0:
            return (1.0, 1.0) if s > 1e-150 else self.point(d, reach, s, scale)
        a, b, c, e = (d - w) / s, (d + above) / s, d / s, 1 - exp(-d * d / (w * w + 2 * s * s)) / sqrt(1 + 2 * s * s / (w * w))
        if self.kind != "gaussian":
            e = NORMAL.cdf(a) + NORMAL.cdf(-b)
        if self.kind == "clipped-square":
            e += (d * d + s * s) / w**2 * (1 - e) + s / w**2 * ((d - w) * NORMAL.pdf(b) - (d + w) * NORMAL.pdf(a))
        if self.kind == "clipped-absolute":
            e += (d * (erf(c / sqrt(2)) - NORMAL.cdf(a) + NORMAL.cdf(-b)) + s * (2 * NORMAL.pdf(c) - NORMAL.pdf(a) - NORMAL.pdf(b))) / w
        return (min(max(e, 0.0), 1.0),) * 2
class Sample:
    """Rows as (d, reach, s, scale), and the rows of each unit. A unit is a row or a group, whichever the certificate counts."""
    def __init__(self, rows, units, grouped):
        self.rows, self.units, self.grouped, self.n = rows, units, grouped, len(units)
    def losses(self, loss, draw):
        """Returns the least and the largest loss of each unit. With draw, they are the expected losses of a random draw, else the mean's losses."""
        both = [(loss.drawn if draw else loss.point)(*row) for row in self.rows]
        return [[min(fsum(both[i][k] for i in unit) / len(unit), 1) for unit in self.units] for k in (0, 1)]
def holds(k, n, p, delta):
    """Returns whether P(Bin(n, p) <= k) <= delta, in whole numbers. It allows a billionth of delta for the rounding of p."""
    return core.holds(k, n, p, Fraction(delta) * (1 + Fraction(1, 10**9)))
def rise(below, low):
    """Returns the point between low and 1 at which below stops being true."""
    high = 1 - UNIT / 2
    for _ in range(100):
        mid = (low + high) / 2
        last = mid in (low, high)
        low, high = (mid, high) if below(mid) else (low, mid)
        if last:
            break
    return high
def log_term(n, k, p):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + (k * log(p) if k else 0) + (n - k) * log1p(-p)
def binomial(k, n, delta):
    """Returns the p with P(Bin(n, p) <= k) = delta."""
    def more(p):
        total = term = 1.0
        for j in range(k, 0, -1):
            term *= j / (n - j + 1) * (1 - p) / p
            total += term
            if term < 1e-18 * total:
                break
        return log_term(n, k, p) + log(total) > log(delta)
    return 1.0 if k >= n else rise(more, k / n or 1e-300)
def kl_inverse(q, eps):
    return 1.0 if q >= 1 else rise(lambda p: (q * log(q / p) if q else 0) + (1 - q) * log((1 - q) / (1 - p)) < eps, q or 1e-300)
def split_kl(low, high, eps):
    return min(1, kl_inverse(low, eps) / 4 + kl_inverse(high, eps) * 0.75)
def learnt_bound(t, risk, low, kl, n, penalty, delta, family):
    """Returns the bound for any Q, and the complexity that it pays, divided by n. low is the risk of the loss min(l, 1/4)/(1/4)."""
    constant = 2 * sqrt(n) if family in ("kl", "pinsker") else 2 + fsum(exp(log_term(n, k, k / n)) for k in range(1, n))
    eps = (kl + t.grid_penalty + penalty + log(constant) - log(delta)) / n
    if family == "pinsker":
        return min(1, risk + sqrt(eps / 2)), eps
    return kl_inverse(risk, eps) if family != "split-kl" else split_kl(low, max(0, (risk - low / 4) / 0.75), eps + log(2) / n), eps
def bets(n, delta, rules):
    """Returns the shares that the gamblers of the inequality betting stake. By rules 2 they depend on n and delta."""
    least = sqrt(min(0.75, sqrt(-log(delta) / n))) if rules >= 2 else 0
    return [(least + (1 - least) * sin((k + 0.5) * pi / 128))**2 for k in range(64)]
def fixed_bound(t, losses, zero_one, delta):
    """Returns the bound for a predictor that was fixed before the certified rows were seen."""
    family = t.family
    n, risk = len(losses), fsum(losses) / len(losses)
    if zero_one:
        return binomial(round(risk * n), n, delta)
    if family == "split-kl":
        return split_kl(fsum(min(x, 0.25) for x in losses) * 4 / n, fsum(max(x - 0.25, 0) for x in losses) / 0.75 / n, log(2 / delta) / n)
    if family == "betting":
        def poor(m):
            logs = [fsum(log(1 - c + c * (1 - x) / (1 - m)) for x in losses) for c in bets(n, delta, t.rules)]
            return max(logs) + log(fsum(exp(v - max(logs)) for v in logs) / 64) < -log(delta)
        return rise(poor, risk) if risk < 1 else 1.0
    return min(1, risk + sqrt(-log(delta) / (2 * n))) if family == "pinsker" else kl_inverse(risk, -log(delta) / n)

# ---- The certificate ---------------------------------------------------------------------------------------------------------------------
class Terms:
    """The model's terms: what was fixed before the certified rows were seen."""
    def __init__(self, t):
        self.kind, self.below, self.above = (t.of("loss")(k, v) for k, v in (("Kind", str), ("Below", float), ("Above", float)))
        self.loss, self.delta, self.raw = Loss(self.kind, self.below, self.above), t("delta", float), t("epsilon_raw", float)
        self.family, self.route, self.promise = t("family", str) or "kl", t("route", str) or "twice", t("promise", float)
        self.informed, self.fixed, self.curve, self.slices = t("informed", bool), t("fixed", bool), t("curve", bool), t.list("slices", str)
        self.params, self.choices, self.direct = t("params", int), t("choices", int), self.fixed and self.route == "direct"
        self.rules, self.share = t("rules", int), 2 if self.slices else 1  # all but the slices have delta / share
        self.read = (1 - (self.promise or 0.8), 0.2, 0.1, 0.05, 0.01) if self.rules >= 3 else ()  # where a curve is tightest
        self.curve_end = 1 if not self.rules else max(0.3, 1 - self.promise) if self.promise else 0.3  # the curve bounds shares of misses up to this
        self.statements = self.share * (2 if self.promise and not self.curve else 1) * (2 if self.route == "both" else 1)
        self.mixes = [t(k, int) for k in ("resolutions", "structures", "lengthscales", "tied")]
        self.end, self.digits = t.of("grid")("L", float), t.of("grid")("Digits", int)
        fits = not self.params or self.end > 0 and 0 <= self.digits <= 6 and 1 <= self.steps() <= 1e9
        require(self.choices > 0 and 0 < self.delta < 0.5 and fits, "delta, choices or grid has a wrong value")
        resolutions, structures, many, tied = (max(v, 1) for v in self.mixes)
        self.grid_penalty = self.params * log(self.steps() + 1) + log(resolutions) + log(structures) + many * log(tied) if self.params else 0.0
        self.choices_penalty = log(self.statements * (1 if self.direct else self.choices))
    def steps(self):
        return round(2 * self.end * 10**self.digits)
    def on_grid(self, v):
        k = round((v + self.end) * self.steps() / (2 * self.end))
        return 0 <= k <= self.steps() and v == (2 * k - self.steps()) * self.end / self.steps()
def check_terms(head, t, q, prior, scale):
    """Checks that the terms agree with the model, and the certificate with the terms."""
    terms, c, counts, objective = head.of("terms"), head.of("certificate"), head.list("rows_by_role", int), head("objective", str)
    source, units, group, (resolutions, structures, many, tied) = head.of("scaling")("source", str), head.list("groups_by_role", int), head("group", str), t.mixes
    learnt, zero_one, backtest = bool(prior or q.nearest), t.kind in ZERO_ONE, head("split", str) == "last"
    label = ("backtest (the certified rows are the last of the table, not drawn at random)" if backtest else
             "bound (heuristic: scaled with training statistics)" if source == "all-rows" else "certificate")
    require(t.kind in ZERO_ONE + ("clipped-square", "gaussian", "clipped-absolute", "log-density"), f"not checked by this program: the loss {t.kind}")
    for what, ok in (
        ("the loss", (t.below > 0 or t.kind == "clipped-absolute")
         and (t.above > 0 if t.kind == "asymmetric" else t.above == 0) and (t.kind not in OWN_SD or t.direct and objective not in BOUND_TRAINED)),
        ("the objective", objective in OBJECTIVES), ("the promise", 0 <= t.promise < 1), ("the declaration", terms("declaration", str) == c("declaration", str)),
        ("the route", t.route == "twice" or t.fixed and t.route in ("direct", "both")), ("choices", t.choices == 1 or not t.direct),
        ("the inequality", t.family in ("kl", "maurer", "pinsker") or t.family == "betting" and t.fixed
         or t.family == "split-kl" and (t.fixed or t.kind.startswith("clipped"))), ("outside predictions", not terms("elsewhere", bool)),
        ("the curve", not t.curve or t.direct and t.kind in ("band", "relative", "scaled") and not group and t.family == "kl"),
        ("the rules", t.rules == 0 or t.rules in ((1, 3) if t.curve else (1,) if t.slices else (2,)) and (t.curve or t.slices or t.family == "betting")),
        ("the slices", not t.slices or t.direct and zero_one and not group), ("whether the prior was learnt", t.informed == learnt),
        ("whether Q is the prior", t.direct if q.nearest else t.fixed == (learnt and not q.support)), ("the scaling", terms("scaling", str) == source),
        ("epsilon_raw", abs(t.raw - t.below * (1 if t.kind in UNITLESS else scale)) <= 1e-12 * t.raw), ("prior_rows", terms("prior_rows", int) == counts[PRIOR]),
        ("whether equal rows are copies", terms("copies", bool) == (group == "(equal rows)" or head.has("reading") and head.of("reading")("distinct", bool))),
        ("the encoding", terms("encoded", bool) == head.has("encoding")), ("the group", terms("group", str) == group),
        ("the backtest", terms("backtest", bool) == backtest), ("the grid", t.informed or all(map(t.on_grid, q.theta))),
        ("the parameters paid for", t.params == (0 if t.informed else len(q.theta) - many + tied) and (tied == many == 0 or
         len(set(q.kernel.lengths)) <= tied <= many == len(q.kernel.lengths))), ("the mix", 1 not in (resolutions, structures) and resolutions >= min(structures, 1)),
        ("the certificate's terms", (c("delta", float), c("loss", str), c("epsilon", float), c("epsilon_raw", float), c("epsilon_above", float)) ==
         (t.delta, t.kind, t.below, t.raw, t.above) and (c("family", str) or "kl", c("route", str) or "twice", c("group", str)) == (t.family, t.route, group)),
        ("the certificate's rows and prior", (c("rows", int), c("groups", int), c("prior_rows", int), c("scaling", str), c("prior", str)) ==
         (counts[CERTIFIED], units[CERTIFIED] if units else 0, counts[PRIOR], source, "informed" if t.informed else "grid")),
        ("whether it is valid, or its label", c("valid", bool) == (label == "certificate") and c("label", str) == label),
        ("its parts", (c.has("promise"), c.has("curve"), c.has("slices")) == (t.promise > 0, t.curve, bool(t.slices))),
    ):
        require(ok, f"the model, its terms and its certificate disagree about {what}")
def check_bounds(t, sample, kl, c):
    """Checks the numbers of the certificate against the least and the largest losses."""
    n, zero_one, out = sample.n, t.kind in ZERO_ONE and not sample.grouped, []
    points, curve = sample.losses(t.loss, False), c.of("curve").objects("points") if t.curve else []  # more.py checks the curve
    narrow = Sample([(d, r, s, v / 4) for d, r, s, v in sample.rows], sample.units, False)  # the loss min(l, 1/4)/(1/4) is of the same kind as l
    for point, drawn in zip(points, points if t.direct else sample.losses(t.loss, True)):
        risk, delta = fsum(drawn) / n, t.delta / t.statements
        if t.fixed:
            own = fixed_bound(t, point, zero_one, delta) if t.route != "twice" and not t.curve else 1.0
            own = ([own] + [p("bound", float) for p in curve if p("half_width", float) <= t.below])[-1]
            bound = own if t.direct else fixed_bound(t, drawn, False, delta / t.choices)
            paid = -log(c.of("curve")("level", float) if t.curve else t.delta / exp(t.choices_penalty)) / n
        else:
            low = fsum(narrow.losses(Loss(t.kind, t.below / 2), True)[1]) / n if t.family == "split-kl" else 0
            own, (bound, paid) = 1.0, learnt_bound(t, risk, low, kl, n, t.choices_penalty, t.delta, t.family)
        out.append((risk, bound, bound if t.direct else min(1, 2 * bound, own), risk + sqrt(paid / 2)))
    tied = sum(reach == inf for _, reach, *_ in sample.rows)
    for name, least, most in zip(("empirical_risk", "bound", "mean_bound", "bound_sqrt"), *out):
        near(f"the certificate's {name}", c(name, float), least, most)
        require(not tied or c(name, float) >= most - 1e-6, f"not checked by this program: only rounding decides which rows are nearest to {tied} certified rows")
        require(name == "empirical_risk" or c(name, float) >= most - 1e-6, f"{name} is {most:.9g} if rows at the band's edge are misses")
    for name, own in (("kl", kl), ("grid_penalty", t.grid_penalty), ("choices_penalty", t.choices_penalty)):
        near(f"the certificate's {name}", c(name, float), own)
    if t.direct and zero_one and not t.curve:
        require(holds(round(fsum(points[0])), n, c("bound", float), t.delta / t.statements), "the bound fails with a probability above delta")
