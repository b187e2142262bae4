"""Split-conformal tools behind one function each.

A tool gets a fitted model, n calibration rows, further rows and a level, and returns the lower and
upper ends for the further rows. A ValueError is an answer, too: the tool then gives no interval.
Each tool is called as its own documentation does (README.md has the pages).
"""

import math

import numpy as np


def by_hand(model, x, y, further, level):
    """The interval as textbooks have it: the ceil(level (n+1))-th smallest absolute residual."""
    scores = np.sort(np.abs(y - model.predict(x)))
    rank = math.ceil(round(level * (len(y) + 1), 9))
    width = scores[rank - 1] if rank <= len(y) else np.inf
    at = model.predict(further)
    return at - width, at + width


def naive(model, x, y, further, level):
    """What is often written instead: the empirical quantile, without the correction for n."""
    width = np.quantile(np.abs(y - model.predict(x)), level)
    at = model.predict(further)
    return at - width, at + width


def mapie(model, x, y, further, level):
    from mapie.regression import SplitConformalRegressor

    tool = SplitConformalRegressor(model, confidence_level=level, prefit=True).conformalize(x, y)
    _, ends = tool.predict_interval(further)
    return ends[:, 0, 0], ends[:, 1, 0]


def crepes(model, x, y, further, level):
    from crepes import WrapRegressor

    tool = WrapRegressor(model)
    tool.calibrate(x, y)
    ends = tool.predict_int(further, confidence=level)
    return ends[:, 0], ends[:, 1]


def puncc(model, x, y, further, level):
    from deel.puncc.api.prediction import BasePredictor
    from deel.puncc.regression import SplitCP

    tool = SplitCP(BasePredictor(model, is_trained=True), train=False)
    tool.fit(X_calib=x, y_calib=y)
    _, lower, upper = tool.predict(further, alpha=round(1 - level, 10))
    return np.asarray(lower), np.asarray(upper)


# The names of tools in tables, the function, and the package whose version counts.
TOOLS = {
    "MAPIE": (mapie, "mapie"),
    "crepes": (crepes, "crepes"),
    "puncc": (puncc, "puncc"),
    "textbook": (by_hand, "numpy"),
    "uncorrected": (naive, "numpy"),
}
