"""Prints conditioning.json: sparse objectives on a ladder of condition numbers of K_ZZ, by dense definitions with 300 digits.

    python -m venv /tmp/flint && /tmp/flint/bin/pip install python-flint
    /tmp/flint/bin/python testdata/golden/conditioning.py > /tmp/conditioning.json

It takes the rows and the inducing inputs from the file. They are data set 14 of the laboratory's renyi-fig1, rounded to 6 digits.
There the pivots of K_ZZ are far larger than its smallest eigenvalue. "values" and "gradients" are at the jitter that krigo adds, and
"exact" is vfe's value without jitter. Gradients are derivatives by ln l^2, ln v, ln s and the inducing inputs at "places".
"""
import json
import pathlib

from flint import arb, arb_mat, ctx

ctx.prec = 1000
N, M = 50, 25
NOISE, VARIANCE, EPSILON, PENALTY = 0.01, 299.0, 0.6, 10.0
PLACES = [0, 7, 19]  # the inducing inputs of the gradients
STEP = 1 / arb(2**200)


def eye(n, v=None):
    """Returns a diagonal matrix, of ones if v is None."""
    return arb_mat(n, n, [(v[i] if v else 1) if i == j else 0 for i in range(n) for j in range(n)])


def trace(a):
    return sum((a[i, i] for i in range(a.nrows())), arb(0))


def normal(x):
    return (1 + (x / arb(2).sqrt()).erf()) / 2


def inverse_kl(risk, c):
    """Returns the p >= risk with kl(risk, p) = c, by bisection."""
    low, high = risk, arb(1)
    for _ in range(250):
        p = (low + high) / 2
        low, high = (p, high) if risk * (risk / p).log() + (1 - risk) * ((1 - risk) / (1 - p)).log() < c else (low, p)
        low, high = arb(low.mid()), arb(high.mid())
    return low


def objectives(x, y, z, l2, v, s, jitter):
    """Returns the values, for arbs l2, v and s and a list of arbs z."""
    def cov(a, b):
        return arb_mat([[v * (-(p - q) ** 2 / (2 * l2)).exp() for q in b] for p in a])
    u, r, whole = cov(z, x), arb_mat([[t] for t in y]), cov(x, x)
    k = cov(z, z) + eye(M) * jitter
    q = u.transpose() * k.solve(u)
    rest = [whole[i, i] - q[i, i] for i in range(N)]

    def evidence(c):
        return (N * (2 * arb.pi()).log() + c.det().log() + (r.transpose() * c.solve(r))[0, 0]) / 2
    out = {}
    for name, a in (("dtc", arb(0)), ("vfe", arb(0)), ("fitc", arb(1)), ("pep", arb("0.5"))):
        out[name] = evidence(q + eye(N, [a * t + s for t in rest]))
        if name == "vfe":
            out[name] += sum(rest, arb(0)) / (2 * s)
        if name == "pep":
            out[name] += (1 - a) / (2 * a) * sum(((1 + a * t / s).log() for t in rest), arb(0))
    a, b = arb(0.9), 1 - arb(0.9)
    out["renyi"] = evidence(q + (whole - q) * b + eye(N) * s) + a / (2 * b) * (eye(N) + (whole - q) * (b / s)).det().log()
    # kl-pac with FITC's posterior
    scaled = u * eye(N, [1 / (t + s) for t in rest])
    total = k + scaled * u.transpose()
    w = total.solve(scaled * r)
    out["kl"] = (total.det().log() - k.det().log() + trace(total.solve(k)) - M + (w.transpose() * k * w)[0, 0]) / 2
    mean, spread, risk = u.transpose() * w, u.transpose() * total.solve(u), arb(0)
    for i in range(N):
        root = (rest[i] + spread[i, i]).sqrt()
        risk += normal((y[i] - arb(EPSILON) - mean[i, 0]) / root) + normal((mean[i, 0] - y[i] - arb(EPSILON)) / root)
    out["pac"] = inverse_kl(risk / N, (out["kl"] + arb(PENALTY)) / N)
    return out


def rung(x, y, z, log_l2):
    """Returns a rung of the ladder."""
    def at(jitter, step=()):
        p = [arb(log_l2), arb(VARIANCE).log(), arb(NOISE).log()] + list(map(arb, z))
        for i in step:
            p[abs(i) - 1] += STEP if i > 0 else -STEP
        return objectives(list(map(arb, x)), list(map(arb, y)), p[3:], p[0].exp(), p[1].exp(), p[2].exp(), jitter)
    k = arb_mat([[(-(arb(p) - arb(q)) ** 2 / (2 * arb(log_l2).exp())).exp() for q in z] for p in z])
    smallest, largest = 1 / trace(k.inv()), arb(M)
    for _ in range(3):
        k2 = k * k
        largest = (trace(k2 * k2) / trace(k2)).sqrt()
    jitter = 0.0 if M * 2**-52 / float(smallest.mid()) <= 1e-3 else 1e-12 * VARIANCE
    values = at(arb(jitter))
    gradients = {n: [] for n in values}
    for i in [1, 2, 3] + [4 + p for p in PLACES]:
        above, below = at(arb(jitter), [i]), at(arb(jitter), [-i])
        for n in gradients:
            gradients[n].append(float(((above[n] - below[n]) / (2 * STEP)).mid()))
    return {"log_l2": log_l2, "condition": float("%.1e" % (float(largest.mid()) / float(smallest.mid()))), "jitter": jitter,
            "exact": float(at(arb(0))["vfe"].mid()), "values": {n: float(v.mid()) for n, v in values.items()}, "gradients": gradients}


def main():
    old = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())
    x, y, z = old["x"], old["y"], old["z"]
    ladder = [rung(x, y, z, t) for t in (-6.0, -4.0, -3.0, -2.5, -2.0, -1.8, -1.6, -1.4, -1.2, -1.0, -0.8, -0.6, -0.4, 0.0, 1.0, 3.0)]
    print(json.dumps({"x": x, "y": y, "z": z, "noise": NOISE, "variance": VARIANCE, "epsilon": EPSILON, "penalty": PENALTY,
                      "places": PLACES, "ladder": ladder}))


if __name__ == "__main__":
    main()
