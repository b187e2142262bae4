from __future__ import annotations

import copy
import inspect
import pickle
import re
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import krigo
from krigo import KrigoClassifier, KrigoError, KrigoRegressor, NotFitted, UsageError, _process
from krigo._errors import COMMANDS


@pytest.mark.parametrize("estimator", [KrigoRegressor(), KrigoClassifier(kernel="se", restarts=1)], ids=["regressor", "classifier"])
def test_check_estimator(estimator):
    results = check_estimator(estimator, on_fail=None)
    assert len(results) > 40
    # scikit-learn checks the array API only if SCIPY_ARRAY_API is set.
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] != "passed" and r["check_name"] != "check_array_api_input"] == []


def test_pipeline_and_choice(waves, quick):
    X, y = waves
    assert make_pipeline(StandardScaler(), KrigoRegressor(**quick)).fit(X, y).score(X, y) > 0.9
    assert cross_val_score(KrigoRegressor(**quick), X, y, cv=3).min() > 0.8
    search = GridSearchCV(KrigoRegressor(), {"kernel": ["se", "linear"]}, cv=2).fit(X[:100], y[:100])
    assert search.best_params_ == {"kernel": "se"}
    # fresh needs rows that had no part in the choice.
    assert search.best_estimator_.fresh(X[100:], y[100:]).details["rows"] == 50


def test_state(waves, quick, tmp_path):
    X, y = waves
    m = KrigoRegressor(**quick, epsilon=0.5).fit(X, y)
    want = m.predict(X)
    for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), copy.copy(m)):
        assert np.array_equal(other.predict(X), want)
        assert other.certificate_ == m.certificate_ and other.get_params() == m.get_params()
        assert other.certify(X, y).sentence.endswith(m.promise_)
    bare = clone(m)
    assert not hasattr(bare, "model_") and bare.get_params() == m.get_params()
    with pytest.raises(NotFittedError):
        bare.predict(X)
    with pytest.raises(NotFitted):
        bare.save(tmp_path / "none.krigo")
    assert np.array_equal(bare.fit(X, y).predict(X), want)


def test_predict(waves, quick):
    X, y = waves
    m = KrigoRegressor(**quick).fit(X, y)
    mean, std = m.predict(X, return_std=True)
    _, of_f = m.predict(X, return_std=True, noise=False)
    _, cov = m.predict(X[:20], return_cov=True)
    _, cov_of_f = m.predict(X[:20], return_cov=True, noise=False)
    assert np.all(std > of_f)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), std[:20], rtol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.diag(cov_of_f)), of_f[:20], rtol=1e-6)
    np.testing.assert_array_equal(cov - np.diag(np.diag(cov)), cov_of_f - np.diag(np.diag(cov_of_f)))
    for kind in ("conformal", "normalised", "band", "credible"):
        ends = m.intervals(X, kind, level=0.9)
        assert ends.shape == (len(X), 2) and np.all(ends[:, 0] < mean) and np.all(mean < ends[:, 1])
    narrow, wide = (np.ptp(m.intervals(X, "credible", level), axis=1) for level in (0.949999, 0.95))
    np.testing.assert_allclose(narrow, wide, rtol=1e-4)
    three = m.predict(X, return_std=True, intervals="band")
    assert [a.shape for a in three] == [(150,), (150,), (150, 2)]
    draws = m.sample_y(X[:30], n_samples=2000, random_state=3)
    assert draws.shape == (30, 2000) and np.array_equal(draws, m.sample_y(X[:30], 2000, 3))
    assert not np.array_equal(draws, m.sample_y(X[:30], 2000, 4))
    assert np.all(np.abs(draws.mean(1) - mean[:30]) < 6 * of_f[:30] / np.sqrt(2000) + 1e-9)
    for wrong in ({"return_std": True, "return_cov": True}, {"intervals": "sure"}, {"intervals": "conformal", "level": 2}):
        with pytest.raises(UsageError):
            m.predict(X, **wrong)


def test_parameters_come_back(boston, tmp_path):
    """A loaded model has the parameters that it was fitted with, so that fitting again gives the same model."""
    X, y = boston.drop(columns="MEDV"), boston.MEDV
    for params in (
        {"objective": "kl-pac", "inducing": 20, "kernel": "matern32", "ard": "off", "grid": "6,mixed", "seed": 3, "alpha": 0.5, "epochs": 15},
        {"kernel": ["se", "linear"], "epsilon": 3, "epsilon_units": "raw", "promise": 0.9, "delta": 0.05, "prior_share": 0.6, "ignore": ["B"]},
        {"kernel": "linear", "loss": "asymmetric", "epsilon": (0.4, 0.8), "categorical": ["CHAS"], "calibration_fraction": 0.1, "slices": "sd,CHAS"},
    ):
        m = KrigoRegressor(**params).fit(X, y)
        m.save(tmp_path / "m.krigo")
        loaded = KrigoRegressor.load(tmp_path / "m.krigo")
        assert loaded.certificate_ == m.certificate_ and loaded.promise_ == m.promise_
        again = clone(loaded).fit(X, y)
        assert again.certificate_ == m.certificate_
        assert np.array_equal(again.predict(X), m.predict(X))


def test_every_flag_is_a_parameter(cli):
    """Every flag of `krigo fit` is a parameter of the estimator, or an error names the command that has the flag."""
    flags = {name.replace("-", "_") for name in re.findall(r"^  --([a-z-]+)", cli("fit", "--help", "all"), re.MULTILINE)}
    flags -= {"verbose"}  # the parameter of this name prints progress
    others = {"out", "memory", "help", "json", "quiet", "threads"}  # flags about files and about the command itself
    params = set(KrigoRegressor().get_params())
    assert flags - others - params == {name for name, command in COMMANDS.items() if command.startswith("krigo fit ")}
    assert params - flags == {"progress", "verbose"}
    assert {o["name"].replace("-", "_") for o in _process.ask("schema").result["fit"]} == params & flags


def test_only_the_command_line(waves, quick, cli):
    """If only the command line has a name, the error names the command. Unknown names give Python's usual errors."""
    X, y = waves
    m = KrigoRegressor(**quick).fit(X, y)
    for name, command in COMMANDS.items():
        _, of, *rest = command.split()
        asks = {
            "fit": [lambda: KrigoRegressor(**{name: 1}), lambda: KrigoRegressor().set_params(**{name: 1})],
            "predict": [lambda: m.predict(X, **{name: 1}), lambda: m.predict_frame(X, **{name: 1}), lambda: m.intervals(X, **{name: 1})],
            "certify": [lambda: m.certify(X, y, **{name: 1}), lambda: m.fresh(X, y, **{name: 1})],
        }.get(of, [lambda: getattr(m, name), lambda: getattr(krigo, name)])
        if "--intervals" in rest:
            asks = [lambda: m.predict(X, intervals=name), lambda: m.predict_frame(X, intervals=["band", name]), lambda: m.intervals(X, name)]
        assert all(word in cli(of, "--help", "all") for word in rest), command
        for ask in asks:
            with pytest.raises(UsageError, match=f"^{name} exists only on the command line: use {command} "):
                ask()
    assert not hasattr(m, "compare") and not hasattr(krigo, "serves") and not hasattr(m, "kernl_")
    for ask in (lambda: KrigoRegressor(kernl="se"), lambda: m.predict(X, levle=0.9)):
        with pytest.raises(TypeError, match="unexpected keyword argument") as e:
            ask()
        assert not isinstance(e.value, KrigoError)
    assert "kernel" in inspect.signature(KrigoRegressor).parameters


def test_groups(waves, quick):
    X, y = waves
    patients = np.repeat(np.arange(75), 2)
    by_argument = KrigoRegressor(**quick, prior="informed").fit(X, y, groups=patients)
    assert by_argument.certificate_["groups"] > 0 and by_argument.certificate_["group"] == "group"
    assert by_argument.certify(X, y, groups=patients).sentence.endswith(by_argument.promise_)
    copies = KrigoRegressor(**quick, duplicates="group").fit(np.repeat(X, 2, 0), np.repeat(y, 2))
    assert copies.certificate_["groups"] < copies.certificate_["rows"]
    dropped = KrigoRegressor(**quick, duplicates="drop").fit(np.repeat(X, 2, 0), np.repeat(y, 2))
    assert dropped.certificate_["rows"] == KrigoRegressor(**quick).fit(X, y).certificate_["rows"]
    with pytest.raises(UsageError):
        KrigoRegressor(duplicates="group", group="a").fit(X, y)


def test_progress(waves, capsys):
    X, y = waves
    events = []
    KrigoRegressor(kernel="se", progress=events.append).fit(X, y)
    assert events and {"stage", "family", "start", "starts", "iteration", "of", "stopped", "rows", "of_rows"} == set(events[0])
    assert capsys.readouterr() == ("", "")
    KrigoRegressor(kernel="se", verbose=True).fit(X, y)
    said = capsys.readouterr().err
    first = said.splitlines()[0]
    assert re.match(r"krigo · start \d of 3 · se", first)  # starts run side by side: any may speak first
    assert "\r" not in said

    class Stop(Exception):
        pass

    def stop(_):
        raise Stop

    with pytest.raises(Stop):
        KrigoRegressor(progress=stop).fit(X, y)
    assert KrigoRegressor(kernel="se").fit(X, y).certificate_


def test_a_model_that_lies(waves, quick):
    X, y = waves
    m = KrigoRegressor(**quick).fit(X, y)
    with pytest.raises(KrigoError):
        m.certify(X[::-1] + 1, y)


def test_what_the_command_line_has(boston, cli, tmp_path):
    """Declarations, initial parameters, deliver="all", intervals from data, and evaluate match the command line."""
    few = boston[:80]
    data, file = tmp_path / "few.csv", tmp_path / "few.krigo"
    few.to_csv(data, index=False)
    X, y = few.drop(columns="MEDV"), few.MEDV
    flags = ("--target", "MEDV", "--kernel", "se", "--prior", "informed", "--categorical", "CHAS", "--restarts", "1")
    declaration = tmp_path / "declaration.json"
    declaration.write_text(cli("declare", data, *flags))
    cli("fit", data, "--declared", declaration, "--out", file)
    declared = KrigoRegressor(declared=declaration).fit(X, y)
    assert declared.certificate_ == cli.json("certify", file, data)["certificate"] and declared.certificate_["declaration"]
    with pytest.raises(UsageError, match="kernel with declared"):
        KrigoRegressor(declared=declaration, kernel="se").fit(X, y)
    with pytest.raises(UsageError, match="target price: the declaration's target is MEDV"):
        KrigoRegressor(declared=declaration).fit(X, y.rename("price"))

    both = KrigoRegressor(kernel="se", prior="informed", categorical="CHAS", restarts=1, deliver="all", budget=timedelta(minutes=5)).fit(X, y)
    assert both.certificate_["mean_bound"] == declared.certificate_["mean_bound"] and both.delivered_.certificate_ is None
    assert both.delivered_.predict(X).shape == (80,)
    for kind, level, by in (("full", 0.8, None), ("jackknife", 0.7, "CHAS")):
        cli("predict", file, data, "--intervals", kind, "--data", data, "--level", level, *(["--by", by] if by else []), "--out", tmp_path / "p.csv")
        want = pd.read_csv(tmp_path / "p.csv", float_precision="round_trip")[[f"{kind}_lower", f"{kind}_upper"]].to_numpy()
        assert np.array_equal(both.intervals(X, kind, level, data=(X, y), by=by), want)
    with pytest.raises(UsageError, match="intervals full: give the data"):
        both.intervals(X, "full")

    at = {"kernel": {"name": "se", "variance": 1.2, "lengthscales": [np.float64(0.5)]}, "noise_variance": 0.1}
    params = tmp_path / "params.json"
    params.write_text('{"kernel": {"name": "se", "variance": 1.2, "lengthscales": [0.5]}, "noise_variance": 0.1}')
    printed = cli.json("evaluate", data, "--target", "MEDV", "--params", params, "--objective", "evidence")
    for given in (at, params):
        assert KrigoRegressor(objective="evidence", categorical=None).evaluate(X, y, given) == printed
    started = KrigoRegressor(objective="evidence", init=at, fix_parameters=True).fit(X, y)
    assert started.details_["noise_variance"] == pytest.approx(0.1)

    cg = KrigoRegressor(kernel="se", solver="cg", objective="evidence", prior="informed").fit(X, y)
    cg.save(file)
    cli("predict", file, data, "--exact-variance", "--out", tmp_path / "p.csv")
    want = pd.read_csv(tmp_path / "p.csv", float_precision="round_trip")["latent_sd"]
    assert np.array_equal(cg.predict(X, return_std=True, noise=False, exact_variance=True)[1], want)


def test_scaling(waves, quick, tmp_path):
    """scaling takes constants by column name, or in the order of the inputs, as a model file holds them."""
    X, y = waves
    m = KrigoRegressor(**quick, scaling={"input_mean": [0, 0.5], "input_scale": [1, 2], "target_mean": 0, "target_scale": 3}).fit(X, y)
    named = {"inputs": {"x1": {"mean": 0, "scale": 1}, "x2": {"mean": 0.5, "scale": 2}}, "target": {"mean": 0, "scale": 3}}
    assert np.array_equal(KrigoRegressor(**quick, scaling=named).fit(X, y).predict(X), m.predict(X))
    m.save(tmp_path / "m.krigo")
    assert np.array_equal(clone(KrigoRegressor.load(tmp_path / "m.krigo")).fit(X, y).predict(X), m.predict(X))
    with pytest.raises(KrigoError):
        KrigoRegressor(**quick, scaling={"input_mean": [0], "input_scale": [1], "target_mean": 0, "target_scale": 3}).fit(X, y)


def test_dates_are_reproduced(waves, quick, cli, tmp_path):
    """The command line reproduces a fit of a frame to the bit from a CSV file of the same rows.

    The frame's dates are text in the file, and the fit ignores a column.
    """
    X, y = waves
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(when=pd.Timestamp("2021-03-01") + pd.to_timedelta(np.arange(150), unit="D"), id=np.arange(150))
    m = KrigoRegressor(**quick, ignore="id").fit(frame, pd.Series(y, name="y"))
    assert m.certify(frame, y).details["independently_checked"]
    m.save(tmp_path / "m.krigo")
    frame.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    assert cli("certify", tmp_path / "m.krigo", tmp_path / "d.csv").startswith("Reproduced:")


def test_kernels_compose():
    from krigo.kernels import linear, matern32, periodic, se

    assert str((se("x1", 'a "b"') + periodic("hour")) * se("a,b") + linear()) == '(se(x1,"a ""b""")+periodic(hour))*se("a,b")+linear'
    assert str("se" * (linear("x") + "white")) == "(se)*(linear(x)+white)"
    with pytest.raises(TypeError, match="not with 3"):
        se() * 3
    X = np.random.default_rng(3).normal(size=(120, 2))
    y = np.sin(X[:, 0]) + X[:, 1]
    gp = KrigoRegressor(kernel=[se("x1") + linear("x2"), matern32("x1", "x2")], restarts=1).fit(X, y)
    assert gp.details_["kernel"]["name"] in ("sum", "matern32(x1, x2)")
    with pytest.raises(UsageError, match='did you mean "x1"'):
        KrigoRegressor(kernel=se("x11")).fit(X, y)


def test_counts(quick):
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x": rng.normal(size=150), "years": rng.uniform(0.5, 3, 150)})
    y = rng.poisson(X["years"] * np.exp(1 + X["x"]))
    m = KrigoRegressor(kernel="se", noise="poisson", exposure="years").fit(X, y)
    np.testing.assert_allclose(m.predict(X.assign(years=2 * X["years"])), 2 * m.predict(X), rtol=1e-12)
    with pytest.raises(KrigoError, match="years"):
        m.predict(X[["x"]])
    with pytest.raises(KrigoError, match="isn't above 0"):
        m.predict(X.assign(years=0))
    levels = KrigoRegressor(kernel="se", noise="ordinal", exposure=None, ignore="years").fit(X, np.minimum(y, 4))
    frame = levels.predict_frame(X)
    np.testing.assert_allclose(frame[[f"probability_{k}" for k in range(5)]] @ np.arange(5), frame["mean"], rtol=1e-9)
