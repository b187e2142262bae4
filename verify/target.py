"""The target as a model sees it: in standard deviations, possibly after a transform T, an increasing function onto all numbers."""
from copy import copy
from math import erfc, exp, expm1, fsum, inf, log, log1p, sqrt
from statistics import NormalDist

from bounds import PRIOR, require

NODES = (0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717)  # Gauss-Legendre, on [-1, 1]
WEIGHTS = (0.2955242247147529, 0.2692667193099963, 0.2190863625159820, 0.1494513491505806, 0.0666713443086881)

SITE_NEIGHBOURS, SOME_SITES = 64, 50  # nearest rows that make the site of a row; most rows whose sites are checked, since each takes all others
LINKED = {"ordinal": (0, 0), "poisson": (1, 0), "negative-binomial": (1, 1), "gamma": (0, 1)}  # Var y = linear mu + square s mu^2


def power(lam, x):
    return (x**lam - 1) / lam if lam else log(x)


def root(lam, u):
    return max(lam * u + 1, 0)**(1 / lam) if lam else exp(u)


class Target:
    """Converts targets. mean and scale are the mean and sd of y, and centre and unit those of T(y)."""
    def __init__(self, head, table, roles):
        self.classes, s, self.noise = head.has("classes"), head.of("scaling"), head("noise", str) if head.has("noise") else ""
        self.as_is = s.has("target_as_is") and s("target_as_is", bool)
        self.shifts = table.shifts  # what the logarithms of exposures add to f
        self.levels, self.cuts = ((head.of("ordinal").list(k, float) for k in ("levels", "thresholds")) if self.noise == "ordinal" else ((), ()))
        require(not self.levels or self.levels == sorted({table.y[i] for i in roles[PRIOR]}) and 1 <= len(self.cuts) == len(self.levels) - 1
                and self.cuts[0] == 0 and sorted(set(self.cuts)) == self.cuts, "the levels aren't those of the prior rows, or the thresholds don't rise")
        self.mean, self.scale, self.name = s("target_mean", float), s("target_scale", float), None
        if not s.has("target_transform"):
            return
        t, known = s.of("target_transform"), [table.y[i] for i in roles[PRIOR]]
        self.name, self.lam, self.start, self.centre, self.unit, self.estimate = (
            t("name", str), t("lambda", float), t("from", float), t("mean", float), t("scale", float), t("estimate", str))
        require(self.name in ("log", "log1p", "sqrt", "boxcox", "yeo-johnson") and self.estimate in ("median", "mean"),
                f"not checked by this program: the transform {self.name!r}, estimate {self.estimate!r}")
        require(s("source", str) == "prior-rows", "a transform's constants must come from the prior rows")
        self.shift, self.signed = 1 if self.name in ("log1p", "yeo-johnson") else 0, self.name == "yeo-johnson"
        own = 0 if self.signed else min(y + self.shift for y in known if y + self.shift > 0) / 8 - self.shift
        require(abs(own - self.start) <= 1e-12 * abs(own), "the transform's tangent begins at another target")
        said, (_, lam, centre, unit) = (self.lam, self.centre, self.unit), max(map(lambda lam: self.fit(lam, known), {
            "log": [0.0], "log1p": [0.0], "sqrt": [0.5]}.get(self.name, [k / 20 for k in range(41)])), key=lambda f: f[0])
        require(said[0] == lam and abs(said[1] - centre) <= 1e-9 * max(abs(centre), unit) and abs(said[2] - unit) <= 1e-9 * unit,
                "the transform's constants don't follow from the prior rows")
        self.lam, self.centre, self.unit = said

    def shifted(self, i, predicted):
        """Returns what a posterior predicts of the row i with the row's exposure."""
        mean, variance, reach = predicted
        return mean + self.shifts[i], variance, reach

    def settled(self, q, rows, numbers, scale):
        """Checks that the sites of rows are the fixed point of expectation propagation (Rasmussen & Williams 2006, Eqs. 3.53 to 3.59)."""
        require([tuple(s) for s in q.support] == [x for x, _ in rows] and q.noises and (q.weights or q.nearest), "the prior's support isn't the model's rows in their order")
        near = copy(q)
        near.nearest = q.nearest and SITE_NEIGHBOURS
        for i in range(0, len(rows), -(-len(rows) // SOME_SITES) if q.nearest else 1):
            (x, y), noise = rows[i], q.noises[i]
            mean, variance, reach = near.predict(x)
            w = (q.targets[i] + q.mean(x) - mean) / noise if q.nearest else q.weights[i]
            mean, variance, _ = self.shifted(numbers[i], (mean, variance, reach))
            v = 1 / max(1 / variance - 1 / noise, 1e-12)
            m = v * (mean / variance - w - mean / noise)
            g, delta = self.label(y, m, v) if self.classes else self.level(y, m, v) if self.cuts else self.rate(y, m, v, scale)
            site = min(max(1 / delta - v, 1 if self.classes or self.cuts else 1e-12) if delta > 0 else 1e8, 1e8)
            off = max(abs(1 / site - 1 / noise) * variance, abs((m + g * (site + v)) / site - w - mean / noise) * sqrt(variance))
            require(off <= 1e-5, f"the sites don't follow from the targets of the prior rows: one is off by {off:.3g}")

    @staticmethod
    def label(y, m, v):
        """Returns the first two derivatives of ln Z by m for a label, the second with the other sign."""
        side = 1 if y > 0 else -1
        z = side * m / sqrt(v + 1)
        r = NormalDist().pdf(z) / (erfc(-z / sqrt(2)) / 2) if z > -30 else -z - 1 / z
        return side * r / sqrt(v + 1), r * (z + r) / (v + 1)

    def ends(self, m, v):
        """Returns the cuts below and above each level, in standard deviations of f and its noise."""
        cuts = [-inf] + [(c - m) / sqrt(v + 1) for c in self.cuts] + [inf]
        return list(zip(cuts, cuts[1:]))

    def level(self, y, m, v):
        """Returns the same for a level. A single cut is a label's."""
        low, high = self.ends(m, v)[self.levels.index(y)]
        if low == -inf or high == inf:
            g, delta = self.label(1 if low > -inf else -1, sqrt(v + 1) * -(low if low > -inf else high), v)
            return g, delta
        away = -1 if low + high > 0 else 1  # the side on which no digits are lost
        z = (erfc(-away * (high if away > 0 else low) / sqrt(2)) - erfc(-away * (low if away > 0 else high) / sqrt(2))) / 2
        a, b = NormalDist().pdf(low) / z, NormalDist().pdf(high) / z
        return (a - b) / sqrt(v + 1), (high * b - low * a + (a - b)**2) / (v + 1)

    def rate(self, y, m, v, s):
        """Returns the same for a noise with the mean e^f, by Gauss's rule on panels as narrow as p(y|f) N(f; m, v)."""
        linear, square = LINKED[self.noise]
        def slope(f):
            return (y - exp(f)) / (linear + square * s * exp(f)) - (f - m) / v
        def product(f):  # without terms that don't depend on f
            if self.noise == "poisson":
                own = y * f - exp(f)
            elif self.noise == "gamma":
                own = -(f + y * exp(-f)) / s
            else:
                own = y * f - (y + 1 / s) * log1p(s * exp(f))
            return own - (f - m)**2 / (2 * v)
        low, high = sorted((m, log(y) if y > 0 else m + v * (slope(m))))
        for _ in range(200):
            low, high = ((low + high) / 2, high) if slope((low + high) / 2) > 0 else (low, (low + high) / 2)
        mode, rate = low, exp(low)
        width = min(1 / sqrt(1 / v + rate * (linear + square * s * y) / (linear + square * s * rate)**2), 1)
        top, mass, first, second = product(mode), 0.0, 0.0, 0.0
        for way in (-1, 1):
            k = 0
            while k == 0 or product(mode + way * k * width) - top > -40:
                for node, weight in zip(NODES, WEIGHTS):
                    for at in ((1 - node) / 2, (1 + node) / 2):
                        d = way * (k + at) * width
                        w = weight * width / 2 * exp(product(mode + d) - top)
                        mass, first, second = mass + w, first + w * d, second + w * d * d
                k += 1
        first, second = first / mass, second / mass
        return (mode + first - m) / v, (1 - (second - first * first) / v) / v

    def fit(self, lam, known):
        """Returns the log likelihood of a Gaussian T(y), without the terms that don't depend on lambda, and lambda, mean and sd of T(y)."""
        self.lam = lam
        try:
            seen = [self.at(y) for y in known]
            centre = fsum(seen) / len(seen)
            unit = sqrt(fsum((v - centre)**2 for v in seen) / len(seen))
            return fsum(log(self.slope(y)) for y in known) - len(seen) * log(unit), lam, centre, unit
        except (OverflowError, ValueError):
            return -inf, lam, 0.0, 1.0

    def at(self, y):
        if y >= self.start:
            return power(self.lam, y + self.shift)
        if self.signed:
            return -power(2 - self.lam, 1 - y)
        return power(self.lam, self.start + self.shift) + (y - self.start) * self.slope(y)

    def slope(self, y):
        if self.signed and y < 0:
            return (1 - y)**(1 - self.lam)
        return (max(y, self.start) + self.shift)**(self.lam - 1)

    def inverse(self, u):
        below = self.at(self.start)
        if u >= below:
            return root(self.lam, u) - self.shift
        return 1 - root(2 - self.lam, -u) if self.signed else self.start + (u - below) / self.slope(self.start)

    def seen(self, y):
        """Returns y as the model sees it: in scaled units, after the transform, or as it is."""
        if self.as_is:
            return y
        return (self.at(y) - self.centre) / self.unit if self.name else (y - self.mean) / self.scale

    def moments(self, mean, sd):
        """Returns mean and sd of T^-1(u) for u ~ N(mean, sd^2), by Gauss's rule on panels of two standard deviations."""
        middle, kink = self.inverse(mean), (self.at(self.start) - mean) / sd
        low, high = -9 - self.reach(2 - self.lam, -mean, sd) * self.signed, 9 + self.reach(self.lam, mean, sd)
        edges = sorted({low, high, *(low + 2 * k for k in range(1, int((high - low) / 2) + 1)), *([kink] if low < kink < high else [])})
        mass = first = second = 0.0
        for a, b in zip(edges, edges[1:]):
            for node, weight in zip(NODES, WEIGHTS):
                for z in ((a + b - node * (b - a)) / 2, (a + b + node * (b - a)) / 2):
                    w, d = weight * (b - a) / 2 * exp(-z * z / 2), self.inverse(mean + sd * z) - middle
                    mass, first, second = mass + w, first + w * d, second + w * d * d
        return middle + first / mass, sqrt(max(second / mass - (first / mass)**2, 0))

    @staticmethod
    def reach(lam, u, sd):
        return min(2 * sd / max(1 + lam * u, 1e-300), sqrt(2 / max(lam, 1e-300)), 60)

    def predicted(self, mean, variance, noise, reach, wanted):
        """Returns the prediction in standard deviations of y, how far rounding may move it, and, if wanted, the sd of y in the same unit."""
        if self.classes:  # the probability of the second class moves less than the mean
            if self.scale < 1:  # a random draw is certified
                return mean, reach, 0.0
            p = erfc(-mean / sqrt(2 * (variance + noise))) / 2
            return p, reach + 1e-12, sqrt(p * (1 - p))
        if self.as_is:  # the mean and the standard deviation of y
            if self.cuts:
                chances = [(erfc(-b / sqrt(2)) - erfc(-a / sqrt(2))) / 2 for a, b in self.ends(mean, variance)]
                point = fsum(p * y for p, y in zip(chances, self.levels))
                spread = sqrt(fsum(p * (y - point)**2 for p, y in zip(chances, self.levels)))
                return (point - self.mean) / self.scale, reach * (self.levels[-1] - self.levels[0]) / self.scale + 1e-12, spread / self.scale
            linear, square = LINKED[self.noise]
            point = exp(mean + variance / 2)
            spread = sqrt(linear * point + point * point * (expm1(variance) + square * noise * exp(variance)))
            return (point - self.mean) / self.scale, 2 * reach * point / self.scale + 1e-12, spread / self.scale
        if not self.name:
            return mean, reach, sqrt(variance + noise)
        u, sd = self.centre + self.unit * mean, 0.0
        point = self.inverse(u)
        reach *= self.unit / self.slope(point) / self.scale
        if self.estimate == "mean":
            point, _ = self.moments(u, self.unit * sqrt(noise))
        if wanted:
            _, sd = self.moments(u, self.unit * sqrt(variance + noise))
        return (point - self.mean) / self.scale, 2 * reach, sd / self.scale
