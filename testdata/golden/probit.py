"""Computes probit.json: expectation propagation for labels to 50 digits, by Eqs. 3.53, 3.58 and 3.65 of Rasmussen & Williams 2006.

Sites are updated one after another, with a rank-one update of the posterior covariance, until none changes by 1e-45.
Usage: python3 probit.py Pima.tr.csv > probit.json (needs mpmath)
"""
import csv
import json
import sys

from mpmath import cholesky_solve, det, diag, erfc, exp, eye, log, matrix, mp, mpf, npdf, sqrt

mp.dps = 60
COLUMNS, SCALES = ["npreg", "glu", "bp", "skin", "bmi", "ped", "age"], [4, 32, 12, 12, 8, 0.25, 8]
rows = list(csv.DictReader(open(sys.argv[1])))[:40]
X = [[float(r[c]) / s for c, s in zip(COLUMNS, SCALES)] for r in rows]
labels = [int(r["type"] == "Yes") for r in rows]


def cdf(z):
    return erfc(-z / sqrt(mpf(2))) / 2


def se(a, b, l2, variance):
    return variance * exp(-sum((mpf(p) - mpf(q))**2 for p, q in zip(a, b)) / (2 * l2))


def run(log_l2, log_variance, mean):
    n, l2, variance, m0 = len(X), exp(mpf(log_l2)), exp(mpf(log_variance)), mpf(mean)
    K = matrix(n, n)
    for i in range(n):
        for j in range(n):
            K[i, j] = se(X[i], X[j], l2, variance)
    side = [2 * y - 1 for y in labels]
    tau, nu = [mpf(0)] * n, [mpf(0)] * n  # sites of f - mean
    S, mu = K.copy(), [mpf(0)] * n
    cavities = [None] * n
    while True:
        change = mpf(0)
        for i in range(n):
            v = 1 / (1 / S[i, i] - tau[i])
            m = v * (mu[i] / S[i, i] - nu[i])
            z = side[i] * (m0 + m) / sqrt(1 + v)
            r = npdf(z) / cdf(z)
            new_mean, new_var = m + side[i] * v * r / sqrt(1 + v), v - v**2 * r * (z + r) / (1 + v)
            t, u = 1 / new_var - 1 / v, new_mean / new_var - m / v
            dt, du = t - tau[i], u - nu[i]
            tau[i], nu[i], change = t, u, max(change, abs(dt), abs(du))
            column = [S[j, i] for j in range(n)]
            k = dt / (1 + dt * column[i])
            for a in range(n):
                for b in range(n):
                    S[a, b] -= k * column[a] * column[b]
            mu = [sum(S[a, b] * nu[b] for b in range(n)) for a in range(n)]
        if change < mpf(10)**-45:
            break
    B = eye(n)
    for a in range(n):
        for b in range(n):
            B[a, b] += sqrt(tau[a]) * K[a, b] * sqrt(tau[b])
    logZ = -log(det(B)) / 2 + sum(a * b for a, b in zip(nu, mu)) / 2  # nu' S nu / 2 with S = (K^-1 + T)^-1
    for i in range(n):  # what remains of Eq. 3.65: the sites' normalisations, by the cavities
        v = 1 / (1 / S[i, i] - tau[i])
        m = v * (mu[i] / S[i, i] - nu[i])
        logZ += log(cdf(side[i] * (m0 + m) / sqrt(1 + v))) + log(1 + tau[i] * v) / 2
        logZ += (m**2 * tau[i] - 2 * m * nu[i] - nu[i]**2 * v) / (2 * (1 + tau[i] * v))
    return logZ, mu, S


cases = []
for at in ((1.5, 0.5, -0.25), (3.0, 3.0, 0.0)):
    logZ, mu, S = run(*at)
    cases.append({"log_l2": at[0], "log_variance": at[1], "mean": at[2], "log_evidence": mp.nstr(logZ, 50),
                  "p": [mp.nstr(cdf((mpf(at[2]) + mu[i]) / sqrt(1 + S[i, i])), 50) for i in range(3)]})
json.dump({"about": "EP of the first rows of Pima.tr, se; p are the probabilities of label 1 in the first three rows", "x": X, "y": labels, "cases": cases}, sys.stdout)
