"""The estimator of classes: what Python returns equals what the command line prints."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor

from krigo import DataError, KrigoClassifier, KrigoError, KrigoRegressor, UsageError


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 160))
    return pd.DataFrame({"a": a, "b": b, "kind": np.where(a + b**2 + 0.3 * rng.normal(size=160) > 1, "bad", "good")})


def test_classifier(rows, quick, cli, tmp_path):
    data, file, ours = tmp_path / "two.csv", tmp_path / "two.krigo", tmp_path / "ours.krigo"
    rows.to_csv(data, index=False)
    printed = cli.json("fit", data, "--target", "kind", "--kernel", "se", "--restarts", "1", "--out", file)
    X, y = rows[["a", "b"]], rows.kind
    m = KrigoClassifier(**quick).fit(X, y)
    assert m.certificate_ == printed["certificate"] and "wrong label" in m.promise_
    assert list(m.classes_) == ["bad", "good"] and is_classifier(m) and not is_regressor(m)
    want = pd.read_csv(io.StringIO(cli("predict", file, data)), float_precision="round_trip")
    m.save(ours)
    for of in (m, KrigoClassifier.load(file), KrigoClassifier.load(ours), pickle.loads(pickle.dumps(m))):
        assert np.array_equal(of.predict_proba(X), want[["probability_bad", "probability_good"]].to_numpy())
        assert np.array_equal(of.predict(X), want["label"])
        assert of.score(X, y) == np.mean(want["label"] == y)
        frame = of.predict_frame(X.set_index(X.index + 7))
        assert list(frame.index[:2]) == [7, 8] and list(frame.columns) == list(want.columns)
        pd.testing.assert_frame_equal(frame.reset_index(drop=True), want, check_exact=True, check_dtype=False)
        assert of.certify(X, y).sentence.endswith(m.promise_)
    for other in (lambda: KrigoRegressor.load(file), lambda: KrigoRegressor(**quick, noise="probit").fit(X, y == "bad")):
        with pytest.raises(UsageError, match="has classes: use KrigoClassifier"):
            other()


@pytest.mark.parametrize("labels", [[False, True], [2, 1], ["10", "9"], [None, "yes", "no"]])
def test_labels(rows, quick, tmp_path, labels):
    """Labels of any type come back as they were. Numbers as text are sorted as text in classes_, and as numbers by krigo."""
    y = np.array(labels[-2:], object)[(rows.kind == "bad").astype(int)]
    if None in labels:
        y[::20] = None
    m = KrigoClassifier(**quick, missing_target="drop").fit(rows[["a", "b"]], y)
    found = m.predict(rows[["a", "b"]])
    assert list(m.classes_) == sorted(labels[-2:]) and np.mean(found == y) > 0.85
    assert np.array_equal(found, m.classes_[m.predict_proba(rows[["a", "b"]]).argmax(axis=1)])
    assert m.certify(rows[["a", "b"]], y).details["matches"]
    m.save(tmp_path / "m.krigo")
    again = KrigoClassifier.load(tmp_path / "m.krigo")
    assert again.score(rows[["a", "b"]], y) == m.score(rows[["a", "b"]], y)


@pytest.mark.parametrize("labels", [["low", "mid", "up"], ["10", "9", "8"], [7, 5, 3]])
def test_more_classes(rows, quick, cli, tmp_path, labels):
    X, y = rows[["a", "b"]], np.array(labels, object)[np.digitize(rows.a, [-0.5, 0.5])]
    data, file, ours = tmp_path / "three.csv", tmp_path / "three.krigo", tmp_path / "ours.krigo"
    X.assign(y=y).to_csv(data, index=False)
    m = KrigoClassifier(**quick).fit(X, y)
    printed = cli.json("fit", data, "--target", "y", "--kernel", "se", "--restarts", "1", "--noise", "probit", "--out", file)
    assert m.certificate_ == printed["together"]["certificate"] and "wrong label" in m.promise_
    assert list(m.classes_) == sorted(labels)
    want = pd.read_csv(io.StringIO(cli("predict", file, data, "--intervals", "conformal", "--level", "0.9")), float_precision="round_trip", dtype={"label": str, "labels": str}, keep_default_na=False)
    m.save(ours)
    for of in (m, KrigoClassifier.load(file), KrigoClassifier.load(ours), pickle.loads(pickle.dumps(m))):
        shown = [str(c) for c in of.classes_]
        assert np.array_equal(of.predict_proba(X), want[[f"probability_{c}" for c in shown]].to_numpy())
        assert [str(label) for label in of.predict(X)] == list(want["label"])
        sets = of.predict_set(X, level=0.9)
        assert [{c for c, held in zip(shown, row) if held} for row in sets] == [set(text.split(",")) - {""} for text in want["labels"]]
        assert of.score(X, y) > 0.85 and of.get_params()["delta"] is None
        assert list(of.predict_frame(X).columns) == ["label", *[f"probability_{c}" for c in shown], "outside"]
        assert of.certify(X, y).details["matches"]
    with pytest.raises(KrigoError):
        m.certify(X, y[::-1])
    new = X + 0.01
    wrong = np.mean(m.predict(new) != y)
    assert m.fresh(new, y).details["mean_risk"] == pytest.approx(wrong)
    watched = m.watch(new, y, tmp_path / "ledger")
    assert watched.details["misses"] == round(160 * wrong) and watched.details["alarm"] is None
    assert cli.json("watch", ours, "--ledger", tmp_path / "ledger")["misses"] == watched.details["misses"]
    assert "got a wrong label" in m.watch(new, y[::-1], tmp_path / "ledger").sentence
    m.report(tmp_path / "page.html", X, y)
    assert "Confusion matrix" in (tmp_path / "page.html").read_text()


def test_sets(rows, quick):
    X, y = rows[["a", "b"]], rows.kind
    m = KrigoClassifier(**quick).fit(X, y)
    wide, narrow = m.predict_set(X, level=0.99), m.predict_set(X, level=0.5)
    assert np.all(wide >= narrow) and wide.sum() > narrow.sum() and wide.dtype == bool
    assert np.mean(wide[np.arange(len(y)), (y == "good").astype(int)]) > 0.95
    with pytest.raises(UsageError):
        m.predict_set(X, level=1)
    with pytest.raises(KrigoError, match="no scores"):
        KrigoClassifier(**quick).fit(X[:60], y[:60]).predict_set(X)


def test_refused(rows):
    X = rows[["a", "b"]]
    for y, message in ((rows.a, "continuous"), (rows.a > 9, "one class"), ([1, "x"] * 80, "all numbers or all text")):
        with pytest.raises(DataError, match=message):
            KrigoClassifier().fit(X, np.array(y, object))
    for wrong in ({"noise": "gp"}, {"epsilon": 1}, {"promise": 0.9}, {"offset": "b"}):
        with pytest.raises(UsageError):
            KrigoClassifier(**wrong).fit(X, rows.kind)
