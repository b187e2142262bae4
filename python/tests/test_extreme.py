"""Rows with extreme numbers are predicted with finite numbers, or refused by name, for targets of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from krigo import DataError, KrigoClassifier, KrigoRegressor, KrigoTargets, KrigoWarning

EXTREMES = [0, 1e154, -1e154, 1e308, -1e308, 5e-324, 1e-310, 1e200, 1e5, -1e5]


def rows(n: int = 120) -> tuple[pd.DataFrame, dict[str, object]]:
    rng = np.random.default_rng(5)
    x = rng.normal(size=n)
    y = x + rng.normal(size=n) / 2
    inputs = pd.DataFrame({"x": x, "months": 1 + rng.random(n)})
    return inputs, {
        "number": y,
        "two": np.where(y > 0, "yes", "no"),
        "three": np.array(["jay", "kea", "owl"])[np.clip(np.round(y) + 1, 0, 2).astype(int)],
        "count": np.floor(np.exp(1 + y / 2)),
        "size": np.exp(y),
        "grade": np.clip(np.round(y) + 3, 1, 5),
        "several": pd.DataFrame({"y": y, "size": np.exp(y)}),
    }


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("number", {}),
        ("number", {"noise": "student"}),
        ("number", {"noise_column": "months"}),
        ("two", {}),
        ("three", {}),
        ("count", {"noise": "poisson"}),
        ("count", {"noise": "negative-binomial", "exposure": "months"}),
        ("size", {"noise": "gamma", "exposure": "months"}),
        ("grade", {"noise": "ordinal"}),
        ("several", {}),
    ],
)
def test_extreme(target, options):
    inputs, targets = rows()
    kind = {"two": KrigoClassifier, "three": KrigoClassifier, "several": KrigoTargets}.get(target, KrigoRegressor)
    m = kind(kernel="linear", restarts=1, **options).fit(inputs, targets[target])
    predict = m.predict_proba if kind is KrigoClassifier else m.predict
    good = inputs.iloc[:2]
    before = predict(good)
    months = (1, 1e200, 1e-200) if "months" in options.values() else (1,)
    for x, exposure in [(x, e) for x in EXTREMES for e in months]:
        try:
            assert np.isfinite(predict(pd.DataFrame({"x": [x], "months": [exposure]}))).all(), (x, exposure)
        except DataError as e:
            assert "row 1" in str(e), (x, exposure, str(e))
        np.testing.assert_array_equal(predict(good), before)


def test_one_row():
    """A row whose prediction overflows takes no other row's. It is NaN with a warning that names it; where a number is needed it is an error."""
    inputs, targets = rows()
    mixed = pd.DataFrame({"x": [0.5, 1e200, -0.5], "months": [1, 1, 1]})
    m = KrigoRegressor(kernel="linear", restarts=1).fit(inputs, targets["number"])
    with pytest.warns(KrigoWarning, match="1 of 3 rows have no prediction, the first in row 2"):
        mean = m.predict(mixed)
    np.testing.assert_array_equal(mean[[0, 2]], m.predict(mixed.iloc[[0, 2]]))
    assert np.isnan(mean[1])
    data = (inputs, targets["number"])
    with pytest.warns(KrigoWarning, match="the first in row 2"):
        others = [m.intervals(mixed, kind, data=data if kind == "full" else None) for kind in ("credible", "conformal", "full")]
        others += [m.sample_y(mixed, 3)]
    for of in others:
        assert np.isnan(of[1]).all() and np.isfinite(of[[0, 2]]).all(), of
    with pytest.raises(DataError, match="row 2"):
        m.score(mixed, [0, 0, 0])
    for target in "two", "three":
        m = KrigoClassifier(kernel="linear", restarts=1).fit(inputs, targets[target])
        with pytest.warns(KrigoWarning, match="the first in row 2"):
            p = m.predict_proba(mixed)
        np.testing.assert_array_equal(p[[0, 2]], m.predict_proba(mixed.iloc[[0, 2]]))
        assert np.isnan(p[1]).all()
        with pytest.raises(DataError, match="row 2"):
            m.predict(mixed)
