"""What plot draws, and the card of a notebook."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

from krigo import DataError, KrigoClassifier, KrigoRegressor, NotFitted, UsageError

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    mpl.pyplot.close("all")


@pytest.fixture(scope="module")
def model(waves):
    return KrigoRegressor(kernel="se", curve=True).fit(*waves)


def test_promise(waves, model):
    """The promise is a curve, or a point, and needs no rows."""
    (ax,) = model.plot()
    c = model.certificate_
    drawn = {(round(x, 9), round(s, 9)) for x, s in zip(*ax.lines[0].get_data())}
    assert drawn == {(round(p["half_width_raw"], 9), round(1 - p["bound"], 9)) for p in c["curve"]["points"]}
    assert [float(v) for v in np.ravel(ax.lines[1].get_data())] == [c["epsilon_raw"], 1 - c["mean_bound"]]
    (alone,) = KrigoRegressor(kernel="se", objective="kl-pac").fit(*waves).plot()
    assert len(alone.lines) == 1 and alone.get_title() == "promise"
    (none,) = KrigoRegressor(kernel="se").fit(waves[0][:50], waves[1][:50]).plot()
    assert none.get_title() == "no certificate" and not none.lines


def test_rows(waves, model):
    X, y = waves
    promise, seen, *effects = model.plot(X, y)
    within = np.column_stack(promise.lines[-1].get_data())
    assert np.allclose(within[:, 0], np.sort(np.abs(model.predict(X) - y))) and within[-1, 1] == 1
    assert np.array_equal(seen.lines[0].get_data(), [model.predict(X), y])
    assert {ax.get_title() for ax in effects} == {"x1", "x2"}
    for ax in effects:  # the other column is at its median
        at, mean = ax.lines[0].get_data()
        j = int(ax.get_title()[1]) - 1
        rows = np.tile(np.median(X, axis=0), (len(at), 1))
        rows[:, j] = at
        assert np.allclose(model.predict(rows), mean) and (at[0], at[-1]) == (X[:, j].min(), X[:, j].max())
    assert len(model.plot(X, y, effects=1)) == 3 and len(model.plot(X, effects=0)) == 1
    assert [ax.get_title() for ax in model.plot(X)][1:] == [ax.get_title() for ax in effects]


def test_columns_of_all_kinds(houses):
    """Categories, truth values, dates and missing values are drawn, from frames of pandas and polars."""
    X, y = houses.drop(columns="price"), houses.price
    m = KrigoRegressor(kernel="se", missing="mean").fit(X, y)
    axes = m.plot(X, y, effects=6)
    found = {ax.get_title(): ax.lines[0].get_xdata() for ax in axes[2:]}
    assert set(found) == set(X.columns)
    assert list(found["zone"]) == ["north", "south", "öst"] and found["sold"].dtype.kind == "M" and list(found["garden"]) == [0, 1]
    assert len(m.plot(pl.from_pandas(X.astype({"heating": str})), y)) == 6


def test_labels(waves):
    X, y = waves
    labels = np.where(y > 0, "up", "down")
    m = KrigoClassifier(kernel="se").fit(X, labels)
    promise, sure, *effects = m.plot(X, labels)
    assert [bar.get_height() for bar in promise.patches] == [1 - m.certificate_["mean_bound"], m.score(X, labels)]
    assert len(sure.lines) == 2 and len(effects) == 2
    at, up = effects[0].lines[1].get_data()
    rows = np.tile(np.median(X, axis=0), (len(at), 1))
    rows[:, int(effects[0].get_title()[1]) - 1] = at
    assert effects[0].lines[1].get_label() == "up" and np.allclose(m.predict_proba(rows)[:, 1], up)
    truths = KrigoClassifier(kernel="se").fit(X, y > 0)
    assert truths.plot(X, y > 0)[0].patches[1].get_height() == truths.score(X, y > 0)


def test_refused(waves, model):
    X, y = waves
    with pytest.raises(UsageError, match="y goes with X"):
        model.plot(y=y)
    with pytest.raises(UsageError, match="effects -1"):
        model.plot(X, y, effects=-1)
    with pytest.raises(DataError, match="inconsistent"):
        model.plot(X, y[:-1])
    with pytest.raises(NotFitted):
        KrigoRegressor().plot(X, y)


def test_without_matplotlib():
    """The package needs matplotlib only for plot, whose error says what to install."""
    code = """
import sys
sys.modules["matplotlib"] = None
import numpy as np, krigo
m = krigo.KrigoRegressor(kernel="se").fit(np.arange(60.0)[:, None], np.arange(60.0))
try:
    m.plot()
except ImportError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stdout == "plot needs matplotlib, which isn't installed: pip install matplotlib\n", done.stderr


def test_card(waves):
    """The card has the figures of the test rows, escaped names and the notices."""
    X, y = waves
    X = pd.DataFrame(X, columns=["<i>a", "b"])
    m = KrigoRegressor(kernel="se", test_fraction=0.2).fit(X, y)
    page = m._repr_html_()
    test = m.details_["test"]
    assert f"RMSE on {test['rows']} test rows" in page and f"{test['rmse_raw']:.4g}" in page and f"{test['coverage95']:.4g}" in page
    m.notices_.append("<i>a")
    assert "Notices" in m._repr_html_() and "<i>" not in m._repr_html_() and "&lt;i&gt;a" in m._repr_html_()
    assert "test rows" not in KrigoRegressor(kernel="se").fit(X, y)._repr_html_()
