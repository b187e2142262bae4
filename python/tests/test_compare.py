"""The leaderboard, and warnings that come once for a call."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_predict

from krigo import DataError, KrigoRegressor, KrigoTargets, UsageError, compare


class Seen(RegressorMixin, BaseEstimator):
    """Predicts the mean, and notes the rows that it gets."""

    log: list[tuple[list[float], list[float]]] = []

    def fit(self, X, y):
        self.rows_, self.mean_ = np.asarray(X)[:, 0].tolist(), y.mean()
        return self

    def predict(self, X):
        self.log.append((self.rows_, np.asarray(X)[:, 0].tolist()))
        return np.full(len(X), self.mean_)


@pytest.fixture
def quick_krigo():
    return KrigoRegressor(kernel="se", restarts=1)


def test_leaderboard(waves, quick_krigo):
    X, y = waves
    Seen.log.clear()
    board = compare(X, y, {"krigo": quick_krigo, "seen": Seen(), "bayes": BayesianRidge(), "forest": RandomForestRegressor(10, random_state=0)}, cv=3)
    assert set(board.index) == {"krigo", "ridge", "constant", "seen", "bayes", "forest"} and board.rmse.is_monotonic_increasing
    assert board.attrs == {"rows": 150, "splits": 3}
    # The same splits for all: what each model does is what it does on these splits alone.
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    assert Seen.log == [(X[a, 0].tolist(), X[b, 0].tolist()) for a, b in splits]
    for name, model in (("krigo", quick_krigo), ("forest", RandomForestRegressor(10, random_state=0)), ("bayes", BayesianRidge())):
        mean = np.empty(len(y))
        for a, b in splits:
            mean[b] = model.fit(X[a], y[a]).predict(X[b])
        assert np.isclose(board.rmse[name], np.sqrt(np.mean((mean - y) ** 2))) and np.isclose(board.mae[name], np.mean(np.abs(mean - y)))
    assert board.rmse["constant"] == board.rmse["seen"] and abs(board.rmse["ridge"] / board.rmse["bayes"] - 1) < 0.02
    held = board.coverage95
    assert 0.85 < held["krigo"] < 1 and 0.85 < held["bayes"] <= 1
    assert held[["forest", "ridge", "constant", "seen"]].isna().all()


def test_frames_and_groups(houses, quick_krigo):
    """Frames have categories, dates and missing values for krigo and for the ridge regression, and groups stay together."""
    X, y = houses.drop(columns=["price"]), houses.price
    model = {"krigo": KrigoRegressor(kernel="se", restarts=1, missing="mean")}
    found = compare(X, y, model, cv=2)
    assert found.rmse["krigo"] < found.rmse["constant"] / 4 and found.rmse["ridge"] < found.rmse["constant"] / 2
    assert np.allclose(compare(pl.from_pandas(X.astype({"heating": str})), y, model, cv=2).rmse, found.rmse)
    assert compare(X[["area", "zone"]][:120], y[:120], cv=2).rmse["krigo"] < found.rmse["constant"] / 2  # gaps in one fold alone
    Seen.log.clear()
    groups = np.arange(len(X)) // 4
    numbered = pd.DataFrame({"row": np.arange(len(X)), "area": X.area.fillna(0)})
    compare(numbered, y, {"krigo": KrigoRegressor(kernel="se", restarts=1), "seen": Seen()}, cv=2, groups=groups)
    assert all(not {int(r) // 4 for r in a} & {int(r) // 4 for r in b} for a, b in Seen.log)
    Seen.log.clear()
    compare(numbered, y, {"krigo": quick_krigo, "seen": Seen()}, cv=TimeSeriesSplit(2))
    assert all(max(a) < min(b) for a, b in Seen.log)


def test_refused(waves, quick_krigo):
    X, y = waves
    for models, cv, kind, words in (
        ({"forest": RandomForestRegressor}, 2, UsageError, "models: want names with estimators.*'forest'"),
        ({"forest": RandomForestRegressor(max_depth=-1)}, 2, ValueError, "forest: .*max_depth"),
        ({"five": 5}, 2, UsageError, "models: want names with estimators"),
        ({}, 1, UsageError, "cv 1: want a whole number"),
        ({"krigo": KrigoRegressor(kernel="sse")}, 2, UsageError, "krigo: .*sse"),
    ):
        with pytest.raises(kind, match=words):
            compare(X, y, models, cv=cv)
    with pytest.raises(DataError, match="inconsistent"):
        compare(X, y[:-1], {"krigo": quick_krigo})
    with pytest.raises(DataError, match="want numbers"):
        compare(X, np.where(y > 0, "up", "down"))


def said(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [w for w in found if "lie outside" in str(w.message)]


def test_warned_once(waves, quick_krigo):
    """A call warns once of rows outside, however many folds or targets it has, and names the line of the call."""
    X, y = waves
    for call in (
        lambda: compare(X, y, {"krigo": quick_krigo}, cv=4),
        lambda: cross_val_predict(quick_krigo, X, y, cv=4),
        lambda: GridSearchCV(quick_krigo, {"seed": [1, 2]}, cv=4, scoring="neg_mean_absolute_error").fit(X, y),
    ):
        (once,) = said(call)
        assert once.filename == __file__ and len(said(call)) == 1  # the next call warns again
    m = KrigoTargets(kernel="se").fit(X, np.column_stack([y, -y]))
    (once,) = said(lambda: m.predict(X + 9))
    assert "150 of 150 rows" in str(once.message)
    assert len(said(lambda: quick_krigo.fit(X, y).predict(X + 9))) == 1
