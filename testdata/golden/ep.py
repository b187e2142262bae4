"""Writes ep.json: expectation propagation of labels and counts with 50 digits, by Sect. 3.6 of Rasmussen & Williams 2006.

    python3 -m venv /tmp/mp && /tmp/mp/bin/pip install gmpy2
    /tmp/mp/bin/python testdata/golden/ep.py Pima.tr.csv badhealth.csv > testdata/golden/ep.json

The tables are MASS::Pima.tr and COUNT::badhealth. Numbers are MPFR's, with 80 digits. Sites are updated one after
another, with a rank-one update of the posterior (Eqs. 3.53, 3.59), until no site changes by 1e-52. ln Z is Eq. 3.65.
Moments of counts are sums over f of equal steps, which converge faster than any power of the step.
The gradient of ln Z is of differences of converged ln Z. The case of 200 rows takes the formula of fixed sites instead,
with the derivative of C = K + D, and the formula is held against the differences of all other cases.
Parameters are ln l_1^2 ..., ln of the variance, the constant mean, ln of the noise's scale.
"""

import csv
import json
import sys

import gmpy2
from gmpy2 import mpfr

gmpy2.get_context().precision = 270
TINY, STEP = mpfr(10) ** -52, mpfr(10) ** -20
ROOT2PI = gmpy2.sqrt(2 * gmpy2.const_pi())


def normal(z):
    return gmpy2.exp(-z * z / 2) / ROOT2PI


def probit(y, m, v, _):
    """Returns ln Z, and the mean and variance of Phi(side f) N(f; m, v): Eq. 3.58."""
    side, width = 2 * y - 1, gmpy2.sqrt(1 + v)
    z = side * m / width
    cdf = gmpy2.erfc(-z / gmpy2.sqrt(mpfr(2))) / 2
    r = normal(z) / cdf
    return gmpy2.log(cdf), m + side * v * r / width, v - v * v * r * (z + r) / (1 + v)


def poisson(y, f, _):
    return y * f - gmpy2.exp(f) - gmpy2.lgamma(mpfr(y + 1))[0]


def negative(y, f, s):
    r = 1 / s
    return (gmpy2.lgamma(y + r)[0] - gmpy2.lgamma(r)[0] - gmpy2.lgamma(mpfr(y + 1))[0]
            + y * gmpy2.log(s) + y * f - (y + r) * gmpy2.log1p(s * gmpy2.exp(f)))


def counts(log):
    def tilted(y, m, v, s):
        def product(f):
            return log(y, f, s) - (f - m) ** 2 / (2 * v)

        f, e = m, mpfr(10) ** -25  # the mode, roughly: Newton steps by differences
        for _ in range(60):
            up, at, down = product(f + e), product(f), product(f - e)
            first, second = (up - down) / (2 * e), (up - 2 * at + down) / (e * e)
            step = -first / second
            f += max(min(step, mpfr(1)), mpfr(-1))
            if abs(step) < 1e-8:
                break
        h, top = min(gmpy2.sqrt(-1 / second) / 6, mpfr(1) / 16), product(f)
        sums = [mpfr(0)] * 3
        for side in (1, -1):
            k = 0 if side == 1 else -1
            while True:
                at = f + k * h
                off = product(at) - top
                if off < -170:
                    break
                w = gmpy2.exp(off)
                sums = [sums[0] + w, sums[1] + w * (at - f), sums[2] + w * (at - f) ** 2]
                k += side
        mean = sums[1] / sums[0]
        return top + gmpy2.log(h * sums[0]) - gmpy2.log(v) / 2 - gmpy2.log(ROOT2PI), f + mean, sums[2] / sums[0] - mean**2

    return tilted


NOISES = {"probit": probit, "poisson": counts(poisson), "negative-binomial": counts(negative)}


def cholesky(a):
    rows = []
    for i, row in enumerate(a):
        own = []
        for j in range(i + 1):
            left = row[j] - sum(p * q for p, q in zip(own, rows[j] if j < i else own))
            own.append(gmpy2.sqrt(left) if j == i else left / rows[j][j])
        rows.append(own)
    return rows


def inverse(a):
    """Returns the inverse of a positive definite matrix, and ln of its determinant."""
    lower, n = cholesky(a), len(a)
    columns = []  # columns of the inverse of the lower factor, from the diagonal down
    for j in range(n):
        column = [1 / lower[j][j]]
        for i in range(j + 1, n):
            column.append(-sum(p * q for p, q in zip(lower[i][j:i], column)) / lower[i][i])
        columns.append(column)
    found = [[mpfr(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            found[i][j] = found[j][i] = sum(p * q for p, q in zip(columns[i], columns[j][i - j :]))
    return found, 2 * sum(gmpy2.log(lower[i][i]) for i in range(n))


def covariance(x, theta):
    l2, variance = [gmpy2.exp(t) for t in theta[:-1]], gmpy2.exp(theta[-1])
    return [[variance * gmpy2.exp(-sum(mpfr(p - q) ** 2 / t for p, q, t in zip(a, b, l2)) / 2) for b in x] for a in x]


def propagate(noise, x, y, at, start=None):
    """Returns ln Z, the sites' precisions and shifts (of f - mean), and the mean (of f) and variance in each row."""
    n, m0, s, tilted = len(y), at[-2], gmpy2.exp(at[-1]), NOISES[noise]
    K = covariance(x, at[:-2])
    tau, nu = start or ([mpfr(0)] * n, [mpfr(0)] * n)

    def posterior():  # (K^-1 + T)^-1 = K - K T^1/2 B^-1 T^1/2 K, with B = 1 + T^1/2 K T^1/2
        root = [gmpy2.sqrt(t) for t in tau]
        binv, logdet = inverse([[root[a] * K[a][b] * root[b] + (a == b) for b in range(n)] for a in range(n)])
        half = [[sum(p * q for p, q in zip(binv[a], [root[c] * K[c][b] for c in range(n)])) for a in range(n)] for b in range(n)]
        S = [[K[a][b] - sum(p * r * q for p, r, q in zip(K[a], root, half[b])) for b in range(n)] for a in range(n)]
        return S, [sum(p * q for p, q in zip(row, nu)) for row in S], logdet

    S, mu, _ = posterior() if start else ([row[:] for row in K], [mpfr(0)] * n, None)
    change = mpfr(1)
    while change > TINY:
        change = mpfr(0)
        for i in range(n):
            v = 1 / (1 / S[i][i] - tau[i])
            m = v * (mu[i] / S[i][i] - nu[i])
            _, mean, variance = tilted(y[i], m0 + m, v, s)
            dt, du = 1 / variance - 1 / v - tau[i], (mean - m0) / variance - m / v - nu[i]
            tau[i], nu[i], change = tau[i] + dt, nu[i] + du, max(change, abs(dt), abs(du))
            column, whole = S[i][:], 1 + dt * S[i][i]
            by = (du - dt * mu[i]) / whole
            mu = [p + by * q for p, q in zip(mu, column)]
            for a in range(n):
                k = dt * column[a] / whole
                S[a] = [p - k * q for p, q in zip(S[a], column)]
        print(noise, n, float(change), file=sys.stderr)
    S, mu, logdet = posterior()
    logZ = -logdet / 2 + sum(p * q for p, q in zip(nu, mu)) / 2
    for i in range(n):  # what remains of Eq. 3.65: the sites' normalisations, by the cavities
        v = 1 / (1 / S[i][i] - tau[i])
        m = v * (mu[i] / S[i][i] - nu[i])
        logZ += tilted(y[i], m0 + m, v, s)[0] + gmpy2.log(1 + tau[i] * v) / 2
        logZ += (m * m * tau[i] - 2 * m * nu[i] - nu[i] ** 2 * v) / (2 * (1 + tau[i] * v))
    return logZ, tau, nu, [m0 + p for p in mu], [S[i][i] for i in range(n)]


def formula(x, at, tau, nu):
    """Returns the derivatives of ln N(sites; mean, K + D) by ln l^2, ln of the variance and the mean."""
    n, K = len(x), covariance(x, at[:-2])
    cinv, _ = inverse([[K[a][b] + (1 / tau[a] if a == b else 0) for b in range(n)] for a in range(n)])
    w = [sum(p * q / t for p, q, t in zip(row, nu, tau)) for row in cinv]
    outer = [[(w[a] * w[b] - cinv[a][b]) * K[a][b] / 2 for b in range(n)] for a in range(n)]
    by = [sum(outer[a][b] * mpfr(x[a][j] - x[b][j]) ** 2 for a in range(n) for b in range(n)) / (2 * gmpy2.exp(at[j]))
          for j in range(len(x[0]))]
    return [*by, sum(map(sum, outer)), sum(w)]


def differences(noise, x, y, at, tau, nu):
    found = []
    for j in range(len(at)):
        if j == len(at) - 1 and noise != "negative-binomial":
            found.append(mpfr(0))
            continue
        ends = [propagate(noise, x, y, [t + e * (i == j) for i, t in enumerate(at)], (tau[:], nu[:]))[0] for e in (STEP, -STEP)]
        found.append((ends[0] - ends[1]) / (2 * STEP))
    return found


def table(file, inputs, target, step):
    rows = list(csv.DictReader(open(file)))[::step]
    number = {"Yes": 1, "No": 0}
    x = [[float(r[c]) for c in inputs] for r in rows]
    return {"x": [[int(v) if v == int(v) else v for v in row] for row in x],
            "y": [number[r[target]] if r[target] in number else int(r[target]) for r in rows]}


tables = {"pima": table(sys.argv[1], ["npreg", "glu", "bp", "skin", "bmi", "ped", "age"], "type", 1),
          "badhealth": table(sys.argv[2], ["badh", "age"], "numvisit", 40)}
pima = [2.75, 7.0, 5.0, 5.0, 4.25, -2.75, 4.25]
cases = []
for noise, of, rows, at in [
    ("probit", "pima", 25, [*pima, 0.5, -0.25, 0]),
    ("probit", "pima", 25, [*(p + 2 for p in pima), 3.5, 0, 0]),
    ("probit", "pima", 200, [*(p + 1.5 for p in pima), 1.25, -0.5, 0]),
    ("poisson", "badhealth", 29, [0.5, 4.5, -0.5, 0.75, 0]),
    ("negative-binomial", "badhealth", 29, [0.5, 4.5, -0.5, 0.75, 0.25]),
    ("negative-binomial", "badhealth", 29, [0.5, 3.5, 1, 0.5, -2.5]),
]:
    x, y = tables[of]["x"][:rows], tables[of]["y"][:rows]
    rows, at = len(y), [mpfr(t) for t in at]
    logZ, tau, nu, mean, variance = propagate(noise, x, y, at)
    gradient = [*formula(x, at, tau, nu), mpfr(0)]
    if rows < 100:
        exact = differences(noise, x, y, at, tau, nu)
        assert all(abs(p - q) < 1e-30 for p, q in zip(exact[:-1], gradient[:-1])), (exact, gradient)
        gradient = exact

    def digits(values, n):
        return [f"{v:.{n - 1}e}" for v in values]

    some = range(0, rows, max(rows // 25, 1))
    cases.append({
        "noise": noise, "table": of, "rows": rows, "log_l2": [float(t) for t in at[:-3]], "log_variance": float(at[-3]),
        "mean": float(at[-2]), "log_scale": float(at[-1]), "log_evidence": digits([logZ], 50)[0], "gradient": digits(gradient, 38),
        "each": some.step, "sites": digits([at[-2] + nu[i] / tau[i] for i in some], 50), "site_variances": digits([1 / tau[i] for i in some], 50),
        "means": digits([mean[i] for i in some], 50), "variances": digits([variance[i] for i in some], 50),
    })  # fmt: skip
about = ("EP with a squared-exponential kernel; gradient of ln Z by ln l^2, ln variance, mean, ln scale; sites as measured targets with "
         "variances, and means and variances of f, in every each-th row")
text = json.dumps({"about": about, "tables": tables, "cases": cases}, separators=(",", ":"))
print(text.replace('"cases"', '\n"cases"').replace('{"noise"', '\n{"noise"').replace('"badhealth":{', '\n"badhealth":{'))
