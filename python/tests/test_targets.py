"""Several targets: what Python returns equals what the command line prints."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from krigo import DataError, KrigoError, KrigoTargets, UsageError


def test_targets(cli, tmp_path):
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 4, 160)
    rows = pd.DataFrame({"x": x, "a": np.sin(x) + 0.1 * rng.normal(size=160), "b, EUR": 50 * np.cos(x) + rng.normal(size=160)})
    rows.loc[::7, "b, EUR"] = np.nan
    data, file, ours = tmp_path / "two.csv", tmp_path / "two.krigo", tmp_path / "ours.krigo"
    rows.to_csv(data, index=False)
    printed = cli.json("fit", data, "--target", 'a,"b, EUR"', "--kernel", "se", "--out", file)
    X, Y = rows[["x"]], rows[["a", "b, EUR"]]
    m = KrigoTargets(kernel="se").fit(X, Y)
    assert m.together_ == printed["together"] and m.promise_ == printed["sentence"]
    assert m.certificate_ == printed["together"]["certificate"]
    want = pd.read_csv(io.StringIO(cli("predict", file, data)), float_precision="round_trip")
    assert np.array_equal(m.predict(X), want[["mean_a", "mean_b, EUR"]].to_numpy())
    assert m.certify(X, Y).sentence == m.promise_
    m.save(ours)
    assert "all at once" in cli("certify", ours, data)
    again = KrigoTargets.load(file)
    assert np.array_equal(again.predict(X), m.predict(X)) and again.certify(X, Y).details["targets"][1]["refitted"]
    assert list(again.models_) == ["a", "b, EUR"]
    with pytest.raises(KrigoError, match="the data has 100 rows"):
        m.certify(X[:100], Y[:100])


def test_refused():
    with pytest.raises(UsageError, match="not for several"):
        KrigoTargets(target="a")
    with pytest.raises(DataError, match="at least two columns"):
        KrigoTargets().fit(np.ones((9, 1)), np.ones((9, 1)))
    with pytest.raises(DataError, match="not of shape"):
        KrigoTargets().fit(np.ones((9, 1)), np.ones(9))
