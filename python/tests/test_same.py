"""Python returns what the command line prints, to the last bit."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from krigo import DataError, KrigoRegressor, _errors, _process, certify_classifier, certify_predictions


def flat(text: str) -> str:
    """Returns the text on one line, because only the command line wraps text."""
    return " ".join(text.split())


def table(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), float_precision="round_trip")


@pytest.mark.parametrize(
    ("flags", "params"),
    [
        ([], {}),
        (["--epsilon", "1", "--promise", "0.9", "--curve", "--slices", "sd"], {"epsilon": 1, "promise": 0.9, "curve": True, "slices": ["sd"]}),
        (["--objective", "kl-pac", "--inducing", "15", "--epochs", "20", "--bound", "maurer"], {"objective": "kl-pac", "inducing": 15, "epochs": 20, "bound": "maurer"}),
        (["--kernel", "se", "--loss", "relative", "--epsilon", "0.3", "--seed", "5", "--test-fraction", "0.2"], {"kernel": "se", "loss": "relative", "epsilon": 0.3, "seed": 5, "test_fraction": 0.2}),
    ],
)
def test_fit(boston, cli, tmp_path, flags, params):
    data, file = tmp_path / "boston.csv", tmp_path / "boston.krigo"
    boston.to_csv(data, index=False)
    printed = cli.json("fit", data, "--target", "MEDV", "--out", file, *flags)
    X, y = boston.drop(columns="MEDV"), boston.MEDV
    m = KrigoRegressor(**params).fit(X, y)
    assert m.certificate_ == printed["certificate"]
    assert flat(m.promise_) in _errors.in_python(flat(cli("certify", file, data)), _process.current().flags())
    assert {k: v for k, v in m.details_.items() if k not in ("training", "model")} == {k: v for k, v in printed.items() if k not in ("training", "model")}
    want = table(cli("predict", file, data, "--intervals", "conformal,band") if not flags else cli("predict", file, data))
    got = m.predict_frame(X, intervals=["conformal", "band"] if not flags else None)
    assert list(got.columns) == list(want.columns)
    assert np.array_equal(got.to_numpy(), want.to_numpy())


def test_files(houses, cli, tmp_path):
    """Python and the command line read each other's models, with categories, missing values and dates."""
    data, file = tmp_path / "houses.csv", tmp_path / "houses.krigo"
    houses.assign(garden=houses.garden.astype(int)).to_csv(data, index=False)
    cli("fit", data, "--target", "price", "--categorical", "zone,heating", "--missing", "mean", "--dates", "sold:year", "--kernel", "se", "--out", file)
    X, y = houses.drop(columns="price"), houses.price
    theirs = KrigoRegressor.load(file)
    ours = KrigoRegressor(categorical=["zone", "heating"], missing="mean", dates="sold:year", kernel="se").fit(X, y)
    assert ours.certificate_ == theirs.certificate_ and ours.promise_ == theirs.promise_
    want = table(cli("predict", file, data))
    for m in (ours, theirs):
        assert np.array_equal(m.predict_frame(X).to_numpy(), want.to_numpy())
        assert m.certify(X, y).sentence.endswith(m.promise_)
    ours.save(tmp_path / "ours.krigo")
    assert flat(ours.promise_) in flat(cli("certify", tmp_path / "ours.krigo", data))
    assert np.array_equal(table(cli("predict", tmp_path / "ours.krigo", data)).to_numpy(), want.to_numpy())


def test_fresh_watch_report(boston, cli, tmp_path):
    old, new, file = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "m.krigo"
    train, later = boston[::2], boston[1::2]
    train.to_csv(old, index=False)
    later.to_csv(new, index=False)
    m = KrigoRegressor(kernel="se").fit(train.drop(columns="MEDV"), train.MEDV)
    m.save(file)
    X, y = later.drop(columns="MEDV"), later.MEDV
    found = m.fresh(X, y)
    assert found.details == cli.json("certify", file, new, "--fresh")
    assert flat(cli("certify", file, new, "--fresh")).startswith(flat(found.sentence.splitlines()[0]))
    assert found.bound == found.details["mean_bound"]
    watched = m.watch(X, y, tmp_path / "py.ledger")
    printed = cli.json("watch", file, new, "--ledger", tmp_path / "cli.ledger")
    assert {k: v for k, v in watched.details.items() if k not in ("alarm", "known")} == {k: v for k, v in printed.items() if k in watched.details and k != "alarm"}
    assert m.watch(X, y, tmp_path / "py.ledger").details["rows"] == 2 * len(later)
    for known in (False, True):  # rows with a key count once
        details = m.watch(X, y, tmp_path / "py.ledger", key="july").details
        assert (details["rows"], details["known"]) == (3 * len(later), known)
    m.report(tmp_path / "m.html", train.drop(columns="MEDV"), train.MEDV)
    assert (tmp_path / "m.html").read_text().startswith("<!") and sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


@pytest.mark.parametrize("model", ["sklearn", "lightgbm"])
def test_predictions(boston, cli, tmp_path, model):
    if model == "lightgbm":
        from lightgbm import LGBMRegressor

        other = LGBMRegressor(verbose=-1, n_jobs=1)
    else:
        other = LinearRegression()
    X, y = boston.drop(columns="MEDV"), boston.MEDV
    yhat = other.fit(X[::2], y[::2]).predict(X[1::2])
    found = certify_predictions(y[1::2], yhat, 5)
    pd.DataFrame({"MEDV": y[1::2], "prediction": yhat}).to_csv(tmp_path / "p.csv", index=False)
    args = ("certify", "--predictions", tmp_path / "p.csv", "--target", "MEDV", "--prediction", "prediction", "--epsilon", "5")
    printed = cli.json(*args)
    assert found.certificate == printed["certificate"] and found.sentence == printed["sentence"]
    assert found.bound == printed["certificate"]["mean_bound"] and flat(cli(*args)).startswith(flat(str(found)))
    graded = certify_predictions(list(y[1::2]), list(yhat), None, loss="clipped-absolute", delta=0.05)
    assert 0 < graded.bound < 1 and graded.certificate["delta"] == 0.05
    groups = certify_predictions(y[1::2], yhat, 5, group=np.arange(len(yhat)) // 2)
    assert groups.certificate["groups"] == (len(yhat) + 1) // 2


def test_labels():
    """A classifier's certificate is the binomial bound, by labels or by probabilities."""
    y = np.array(["cat", "dog"] * 100)
    labels = np.where(np.arange(200) < 3, "dog", y)
    found = certify_classifier(y, labels=labels)
    assert found.certificate["confusion"] == [[98, 2], [0, 100]]
    proba = np.where((labels == "cat")[:, None], [[0.8, 0.2]], [[0.3, 0.7]])
    both = certify_classifier(y, proba, statements=["error"])
    assert both.certificate["statements"] == found.certificate["statements"]


@pytest.fixture(scope="module")
def lab():
    """A simulator's `base`, a standard `error` of each y, and y that isn't measured below 1.5."""
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"x": rng.uniform(0, 4, 160), "z": rng.normal(size=160), "error": rng.exponential(0.2, 160) + 0.01})
    rows["y"] = np.exp(rows.x / 2) + rows.z / 2 + rng.normal(0, rows.error)
    rows["base"] = np.exp(rows.x / 2) + 0.3
    rows["side"] = np.where(rows.y < 1.5, "left", "none")
    rows.loc[rows.side == "left", "y"] = 1.5
    return rows


@pytest.mark.parametrize(("name", "value"), [("offset", "base"), ("noise_column", "error"), ("censored", "side"), ("monotone", "x:up"), ("kernel", "se(x)+linear(z)")])
def test_columns_with_a_purpose(lab, cli, tmp_path, name, value):
    rows = lab[["x", "z", *({value} & set(lab)), "y"]]
    data, file = tmp_path / "lab.csv", tmp_path / "lab.krigo"
    rows.to_csv(data, index=False)
    params = {"kernel": "se", "epsilon": 0.5, name: value}
    printed = cli.json("fit", data, "--target", "y", "--out", file, *(f"--{k.replace('_', '-')}={v}" for k, v in params.items()))
    X, y = rows.drop(columns="y"), rows.y
    m = KrigoRegressor(**params).fit(X, y)
    assert m.certificate_ == printed["certificate"]
    want = table(cli("predict", file, data))
    for made in (m, KrigoRegressor.load(file)):
        assert np.array_equal(made.predict_frame(X).to_numpy(), want.to_numpy())
        assert made.certify(X, y).certificate == m.certificate_
    if name == "monotone":
        grid = pd.DataFrame({"x": np.linspace(0, 4, 50), "z": 0.3})
        assert (np.diff(m.predict(grid)) >= -1e-9).all()
    if name in ("offset", "noise_column"):
        with pytest.raises(DataError, match=value):
            m.predict(X.drop(columns=value))
    if name == "offset":
        assert np.allclose(m.predict(X.assign(base=X.base + 7)), m.predict(X) + 7)
    if name == "censored":
        assert np.array_equal(m.predict(X.drop(columns="side")), m.predict(X))
