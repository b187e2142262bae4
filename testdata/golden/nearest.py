"""Writes nearest.json: the nearest-neighbour conditional density, and other scores of its predictions, with 40 digits.

    python -m venv /tmp/mp && /tmp/mp/bin/pip install mpmath
    /tmp/mp/bin/python testdata/golden/nearest.py > testdata/golden/nearest.json

Everything is computed by the definitions, with explicit inverses and with differences in 80 digits as derivatives.
Parameters are ln l_1^2 ..., ln sigma^2 of each part, the constant mean, ln s. "Without itself", the neighbours of a row
are the m nearest other rows, by inputs divided by the first part's lengthscales.
"""

import json
import random

import mpmath
from mpmath import mp, mpf

mp.dps = 80


def scaled(a, b, theta):
    return sum((p - q) ** 2 / mp.exp(t) for p, q, t in zip(a, b, theta))


def se(a, b, theta):
    return mp.exp(theta[len(a)]) * mp.exp(-scaled(a, b, theta) / 2)


def matern32(a, b, theta):
    d = mp.sqrt(3 * scaled(a, b, theta))
    return mp.exp(theta[len(a)]) * (1 + d) * mp.exp(-d)


def linear(a, b, theta):
    return mp.exp(theta[0]) * sum(p * q for p, q in zip(a, b))


PARTS = {"se": (se, 3), "matern32": (matern32, 3), "linear": (linear, 1)}


def covariance(kernel, a, b, theta):
    total = mpf(0)
    for name in kernel.split("+"):
        function, size = PARTS[name]
        total += function(a, b, theta[:size])
        theta = theta[size:]
    return total


def normal(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def density(y, m, v, s):
    return (mp.log(2 * mp.pi * (v + s)) + (y - m) ** 2 / (v + s)) / 2


def square(y, m, v, s):
    return (y - m) ** 2


def crps(y, m, v, s):
    """Returns the CRPS by Gneiting and Raftery 2007, Eq. 21. check_crps compares it with the definition."""
    sigma = mp.sqrt(v + s)
    z = (y - m) / sigma
    return sigma * (z * (2 * mpmath.ncdf(z) - 1) + 2 * normal(z) - 1 / mp.sqrt(mp.pi))


def check_crps():
    """Compares crps with the integral of (F(t) - 1{t >= y})^2, without its negligible tails."""
    y, m, v, s = mpf("0.3"), mpf("-0.2"), mpf("0.5"), mpf("0.1")
    sigma = mp.sqrt(v + s)
    z = (y - m) / sigma
    below = mpmath.quad(lambda t: mpmath.ncdf(t) ** 2, [z - 40, z - 20, z - 10, z - 5, z - 2, z])
    above = mpmath.quad(lambda t: mpmath.ncdf(-t) ** 2, [z, z + 2, z + 5, z + 10, z + 20, z + 40])
    assert abs(sigma * (below + above) - crps(y, m, v, s)) < mpf(10) ** -20


def band(y, m, v, s):
    root = mp.sqrt(v)
    return mpmath.ncdf((y - mpf("0.6") - m) / root) + mpmath.ncdf((m - y - mpf("0.6")) / root)


TERMS = {"density": density, "square": square, "crps": crps, "band": band}


def value(case, at, term):
    x, y, n = case["x"], case["y"], len(case["y"])
    theta, mean, s = at[:-2], at[-2], mp.exp(at[-1])
    total = mpf(0)
    for i in range(n):
        near = case["near"][i]
        c = mp.matrix(len(near))
        for p, a in enumerate(near):
            for q, b in enumerate(near):
                c[p, q] = covariance(case["kernel"], x[a], x[b], theta) + (s if p == q else 0)
        k = mp.matrix([covariance(case["kernel"], x[i], x[a], theta) for a in near])
        inverse = c**-1
        r = mp.matrix([y[a] - mean for a in near])
        m = mean + (k.T * inverse * r)[0]
        v = covariance(case["kernel"], x[i], x[i], theta) - (k.T * inverse * k)[0]
        total += TERMS[term](y[i], m, v, s)
    return total


def gradient(case, at, term):
    h = mpf(10) ** -6  # differences of eight points have an error of order h^8
    out = []
    for i in range(len(at)):
        def moved(step):
            return value(case, [v + (step if j == i else 0) for j, v in enumerate(at)], term)
        weights = [(1, mpf(4) / 5), (2, -mpf(1) / 5), (3, mpf(4) / 105), (4, -mpf(1) / 280)]
        out.append(sum(w * (moved(k * h) - moved(-k * h)) for k, w in weights) / h)
    return out


def main():
    check_crps()
    rng = random.Random(17)
    cases = []
    for kernel, logs, m in [
        ("se", ["0.3", "-0.4", "0.2", "0.15", "-1.7"], 3),
        ("matern32", ["-0.2", "0.5", "-0.3", "-0.1", "-2.3"], 4),
        ("matern32+linear", ["0.1", "0.6", "0.4", "-1.2", "0.2", "-0.9"], 6),
    ]:
        n = 7
        x = [[mpf(str(round(rng.gauss(0, 1), 3))) for _ in range(2)] for _ in range(n)]
        x[5] = x[2]  # two equal rows
        y = [mpf(str(round(float(mp.sin(2 * a[0]) + a[1]) + rng.gauss(0, 0.2), 3))) for a in x]
        at = [mpf(v) for v in logs]
        near = []
        for i in range(n):
            others = sorted((j for j in range(n) if j != i), key=lambda j: (scaled(x[i], x[j], at), j))
            near.append(others[:m])
        case = {"kernel": kernel, "m": m, "x": x, "y": y, "near": near}
        terms = {}
        for term in TERMS:
            terms[term] = {
                "value": mp.nstr(value(case, at, term), 40),
                "gradient": [mp.nstr(g, 40) for g in gradient(case, at, term)],
            }
        cases.append({
            "kernel": kernel, "m": m, "x": [[float(v) for v in a] for a in x], "y": [float(v) for v in y],
            "at": [float(v) for v in at], "terms": terms,
        })
    print(json.dumps({"cases": cases}, separators=(",", ":")))


main()
