"""The package refuses wrong arguments with a message, and the program, which all threads share, goes on."""

from __future__ import annotations

import datetime
import decimal
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest

from krigo import DataError, KrigoError, KrigoRegressor, UsageError, _errors, _process, certify_predictions

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def model(waves):
    return KrigoRegressor(kernel="se", prior_share=0.3).fit(*waves)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    return X, pd.Series(np.sin(X.a) + 0.1 * rng.normal(size=60), name="y")


NO_NUMBERS = [
    *[{name: value} for name in ("epsilon", "delta", "promise", "prior_share", "calibration_fraction", "test_fraction", "learning_rate", "alpha", "seed", "epochs", "batch", "restarts", "neighbours", "inducing")
      for value in (NAN, INF, np.float32("nan"), 10**400, True, 1j, (1, 2, 3), object())],
    *[{"scaling": {name: value}} for name in ("target_mean", "input_mean") for value in (NAN, [1.0, INF], object())],
    *[{"epsilon": value} for value in ((0.1, NAN), (0.1, 10**400), [[1], [1, 2]], {}, "nan", np.array([1.0, INF]))],
    *[{"temper": [1, NAN]}, {"alphas": "0.5,nan"}, {"alphas": ["half"]}, {"grid": (NAN, 2)}, {"grid": (6, 1.5)}, {"grid": 6}, {"grid": (0, 0)}],
]  # fmt: skip

NO_WORDS = [
    *[{name: value} for name in ("kernel", "objective", "missing", "loss", "bound", "solver", "posterior", "duplicates", "split") for value in (5, b"se", "", ["a", 5])],
    *[{"inputs": [b"a"]}, {"ignore": [None]}, {"slices": [("a",)]}, {"group": np.arange(60)}, {"curve": "yes"}, {"fix_inducing": "no"}, {"scaling": 5}],
    *[{"seed": value} for value in (-1, 1.5, "one", 2**64)],
]  # fmt: skip


@pytest.mark.parametrize("wrong", NO_NUMBERS + NO_WORDS, ids=repr)
def test_parameters(waves, wrong):
    """The error names the parameter, whether Python or the program refuses it, and the program goes on."""
    pid = _process.current().pid
    with pytest.raises(UsageError, match=rf"(?s)(^|\W){next(iter(wrong)).replace('_', '[-_]')}\b(?!.*json)"):
        KrigoRegressor(**{"kernel": "se", **wrong}).fit(*waves)
    assert _process.current().pid == pid


@pytest.mark.parametrize("name", ["delta", "promise", "prior_share", "learning_rate", "epsilon", "epochs", "batch", "restarts", "neighbours"])
def test_zero_is_no_default(waves, name):
    for zero in (0, 0.0, np.int64(0)):
        with pytest.raises(UsageError, match=rf"^{name} \"?0(\.0)?\"?: "):
            KrigoRegressor(**{"kernel": "se", name: zero}).fit(*waves)


@pytest.mark.parametrize("wrong", [
    *[{name: value} for name in ("delta", "epsilon") for value in (0, NAN, INF, 10**400, True, -1)],
    {"delta": "0.01"}, {"delta": None}, {"epsilon": (0.1, 0.2)}, {"epsilon": (0.1, NAN)}, {"loss": 5}, {"bound": 5}, {"curve": 1}, {"target": 5}, {"target": ""},
], ids=repr)  # fmt: skip
def test_predictions(rows, wrong):
    _, y = rows
    with pytest.raises(UsageError, match=rf"(?s)^{next(iter(wrong))}\b(?!.*json)"):
        certify_predictions(**{"y": y, "yhat": y * 0.9, "epsilon": 0.1, **wrong})


def test_predictions_are_named(rows):
    _, y = rows
    for bad, how in ((NAN, "yhat contains NaN"), (INF, "yhat contains infinity")):
        with pytest.raises(DataError, match=f"row 3: Input {how}") as e:
            certify_predictions(y, y.where(y.index != 2, bad), 1)
        assert (e.value.row, e.value.column) == (3, "yhat")
    for wrong in ({"y": 1.0}, {"y": None}, {"yhat": None}, {"yhat": 1.0}, {"yhat": [[1, 2], [1]]}, {"group": np.zeros((60, 2))}, {"group": 5}, {"group": np.zeros(59)}):
        with pytest.raises(DataError, match="y|group"):
            certify_predictions(**{"y": y, "yhat": y, "epsilon": 1, **wrong})


def test_constant_target():
    """certify_predictions takes a constant target, because it trains nothing."""
    yhat = np.repeat([5.0, 9.0], [190, 10])
    assert 0.05 < certify_predictions(np.full(200, 5.0), yhat, 1).bound < 0.15


@pytest.mark.parametrize("wrong", [{"level": NAN}, {"level": 0}, {"level": 1}, {"level": "0.9"}, {"intervals": 5}], ids=repr)
def test_predict(waves, model, wrong):
    X, _ = waves
    for ask in (model.predict, model.predict_frame):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            ask(X, **{"intervals": "conformal", **wrong})


def test_draws(waves, model):
    X = waves[0][:5]
    for wrong in ({"n_samples": 1.5}, {"n_samples": 0}, {"n_samples": True}, {"random_state": -1}, {"random_state": 1.5}, {"random_state": "x"}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            model.sample_y(X, **wrong)
    for make in (np.random.RandomState, np.random.default_rng):
        one, other = make(3), make(3)
        first = model.sample_y(X, np.int64(2), one)
        assert first.shape == (5, 2) and np.array_equal(first, model.sample_y(X, 2, other))
        assert not np.array_equal(first, model.sample_y(X, 2, one))  # the generator has moved on


def test_others_go_on(waves):
    """A wrong request of one thread doesn't end another thread's fit."""
    X, y = waves
    began, done, found = threading.Event(), threading.Event(), []

    def progress(event):
        began.set()
        done.wait(60)

    def fit():
        found.append(KrigoRegressor(kernel="se", prior_share=0.3, progress=progress).fit(X, y))

    thread = threading.Thread(target=fit)
    thread.start()
    try:
        assert began.wait(60)
        for send in (NAN, np.float64(INF), b"text", object(), {1, 2}):
            with pytest.raises(UsageError, match="^level "):
                _process.current().call("predict", model=1, args={"level": send})
        with pytest.raises(UsageError, match="^epsilon: "):
            KrigoRegressor(epsilon=np.inf).fit(X, y)
    finally:
        done.set()
        thread.join()
    assert found[0].certificate_


def test_masks(waves, model, tmp_path):
    X, y = waves
    hidden, shown = np.ma.masked_array(X, mask=False), np.ma.masked_array(y, mask=False)
    hidden[6, 1] = shown[4] = np.ma.masked
    whole = np.ma.masked_array(X, mask=False)
    assert np.array_equal(model.predict(whole), model.predict(X))
    for ask in (
        lambda: KrigoRegressor(missing="mean").fit(hidden, y),
        lambda: model.predict(hidden),
        lambda: model.predict(list(hidden)),
    ):
        with pytest.raises(DataError, match="row 7: X has masked entries"):
            ask()
    for ask in (
        lambda: KrigoRegressor().fit(X, shown),
        lambda: model.score(X, shown),
        lambda: model.watch(X, shown, tmp_path / "l.ledger"),
        lambda: certify_predictions(shown, y, 1),
        lambda: certify_predictions(y, shown, 1),
        lambda: certify_predictions(y, y, 1, group=shown),
        lambda: KrigoRegressor().fit(X, y, groups=shown),
    ):
        with pytest.raises(DataError, match="row 5: (y|yhat|group|groups) has masked entries"):
            ask()
    assert not (tmp_path / "l.ledger").exists()


def test_lengths(waves, model, tmp_path):
    X, y = waves
    for short in (y[:1], y[:-1], list(y) + [0.0]):
        for ask in (model.score, model.certify, model.fresh, lambda X, y: model.watch(X, y, tmp_path / "l.ledger"), lambda _, y: certify_predictions(y, waves[1], 1), KrigoRegressor().fit):
            with pytest.raises(DataError, match="inconsistent numbers of samples"):
                ask(X, short)
    with pytest.raises(DataError, match="inconsistent"):
        model.score(X, y, sample_weight=[1.0])


@pytest.mark.parametrize("make", [
    lambda n: pd.Series(pd.date_range("2020-01-01", periods=n), name="when"),
    lambda n: pd.Series(pd.to_timedelta(np.arange(n), unit="D")),
    lambda n: np.arange(n).astype("datetime64[D]"),
    lambda n: np.arange(n).astype("timedelta64[s]"),
    lambda n: [datetime.timedelta(days=i) for i in range(n)],
    lambda n: pd.Series([datetime.date(2020, 1, 1)] * n),
    lambda n: pl.Series([datetime.timedelta(days=i) for i in range(n)]),
    lambda n: pd.Series(np.array([np.timedelta64(i, "D") for i in range(n)], dtype=object)),
])  # fmt: skip
def test_dates_are_no_targets(waves, make):
    X, _ = waves
    with pytest.raises(DataError, match="dates or durations.*Choose a unit"):
        KrigoRegressor().fit(X, make(len(X)))
    with pytest.raises(DataError, match="yhat holds dates"):
        certify_predictions(np.arange(len(X)), make(len(X)), 1)


STRANGE = {
    "tuple": [(1, 2)] * 60,
    "time": [datetime.time(1)] * 60,
    "Period": pd.period_range("2020-01", periods=60, freq="M"),
    "complex": pd.Series([1j] * 60, dtype=object),
    "bytes": [b"1"] * 60,
    "list": [[1]] * 60,
    "int": pd.Series([10**400] * 60, dtype=object),
    "bytes beside text": ["a", b"b"] * 30,
}


@pytest.mark.parametrize("kind", STRANGE)
def test_strange_objects(rows, kind):
    X, y = rows
    strange = X.assign(odd=STRANGE[kind])
    with pytest.raises(DataError, match="column 'odd'") as e:
        KrigoRegressor().fit(strange, y)
    assert e.value.column == "odd"
    # Columns that are left out may hold anything, and don't change the model.
    want = KrigoRegressor(kernel="se", prior_share=0.3).fit(X, y)
    for left in ({"ignore": "odd"}, {"ignore": ["o?d"]}, {"inputs": ["a", "b"]}, {"inputs": "a,b*"}):
        m = KrigoRegressor(kernel="se", prior_share=0.3, **left).fit(strange, y)
        assert m.certificate_ == want.certificate_ and m.certify(strange, y).sentence.endswith(want.promise_), left
        assert np.array_equal(m.predict(strange), want.predict(X))
    with pytest.raises(DataError, match="column 'odd'"):  # rows are copies only if all their cells are equal
        KrigoRegressor(kernel="se", prior_share=0.3, ignore="odd", duplicates="drop").fit(strange, y)


def test_arrays_that_leave_columns_out(rows):
    X, y = rows
    table = np.column_stack([X.to_numpy(), np.where(np.arange(60) == 4, NAN, 1.0)])
    m = KrigoRegressor(kernel="se", prior_share=0.3, ignore="x3").fit(table, y)
    assert np.array_equal(m.predict(table), KrigoRegressor(kernel="se", prior_share=0.3).fit(X.to_numpy(), y).predict(X.to_numpy()))
    with pytest.raises(DataError, match="row 5, column 3"):
        KrigoRegressor(kernel="se", prior_share=0.3).fit(table, y)


def test_gaps_of_arrays(rows):
    """An array may have gaps with missing="indicator", as with "mean"."""
    X, y = rows
    gaps = X.to_numpy().copy()
    gaps[::4, 0] = NAN
    with pytest.raises(DataError, match="row 1, column 1"):
        KrigoRegressor(kernel="se").fit(gaps, y)
    want = KrigoRegressor(kernel="se", missing="indicator").fit(pd.DataFrame(gaps, columns=["x1", "x2"]), y)
    m = KrigoRegressor(kernel="se", missing="indicator").fit(gaps, y)
    assert np.array_equal(m.predict(gaps), want.predict(pd.DataFrame(gaps, columns=["x1", "x2"])))


def test_numbers_of_other_kinds(rows):
    X, y = rows
    same = pd.DataFrame({"a": [decimal.Decimal(repr(v)) for v in X.a], "b": [np.float64(v) for v in X.b]}, dtype=object)
    assert KrigoRegressor(kernel="se", prior_share=0.3).fit(same, y).certificate_ == KrigoRegressor(kernel="se", prior_share=0.3).fit(X, y).certificate_
    days = np.arange(60, dtype="timedelta64[D]")[:, None]
    objects = pd.DataFrame({"x1": [datetime.timedelta(days=i) for i in range(60)]}, dtype=object)
    want = KrigoRegressor(kernel="se", prior_share=0.3).fit(np.arange(60.0)[:, None], y)
    for of in (days, days.astype("timedelta64[us]"), objects):
        assert KrigoRegressor(kernel="se", prior_share=0.3).fit(of, y).certificate_ == want.certificate_
    theirs = {"inducing": np.int64(3), "seed": None, "epsilon": np.float32(0.5), "restarts": np.int32(1), "delta": decimal.Decimal("0.05")}
    ours = {"inducing": 3, "seed": 0, "epsilon": 0.5, "restarts": 1, "delta": 0.05}
    a, b = (KrigoRegressor(kernel="se", prior_share=0.3, objective="kl-pac", **params).fit(X, y) for params in (theirs, ours))
    assert a.certificate_ == b.certificate_


def test_texts_that_are_missing(rows):
    """A category can't have a text for missing values as its name, and the error or a notice says so."""
    X, y = rows
    for kind in (pd.Categorical, list):
        X["zone"] = kind(["NA", "x", "?", "None", "y", "z"] * 10)
        with pytest.raises(DataError, match=r"column 3 \(\"zone\"\): the value is missing.*the texts '\?', 'NA' count as missing") as e:
            KrigoRegressor(missing="refuse").fit(X, y)
        assert (e.value.row, e.value.column) == (1, "zone")
        m = KrigoRegressor(missing="mean", kernel="se").fit(X, y)
        assert any("'zone': the texts '?', 'NA' count as missing" in notice for notice in m.notices_)
    assert not any("count as missing" in n for n in KrigoRegressor(missing="mean", kernel="se", ignore="zone").fit(X, y).notices_)


def test_advice_can_be_followed(rows):
    X, y = rows
    for flag, cells, more in (("na", ["unknown" if i == 3 else str(i / 2) for i in range(60)], {"missing": "mean"}), ("units", [f"{i} kg" for i in range(60)], {})):
        with pytest.raises(DataError, match=rf'{flag}="\w+"$') as e:
            KrigoRegressor(kernel="se", strict=True).fit(X.assign(c=cells), y)
        m = KrigoRegressor(kernel="se", **{flag: str(e.value).split('"')[-2]}, **more, prior="informed").fit(X.assign(c=cells), y)
        assert m.model_.about["inputs"][2] == "c" and len(m.predict(X.assign(c=cells))) == 60


def test_names_of_arrays(rows):
    """An array has no column names, so the target may have any name."""
    X, y = rows
    want = KrigoRegressor(kernel="se", prior_share=0.3).fit(X.to_numpy(), y.to_numpy())
    for name in ("x1", "x2", "x_1", "group"):
        m = KrigoRegressor(kernel="se", prior_share=0.3).fit(X.to_numpy(), y.rename(name))
        assert f" of {name}\n" in m.promise_ and np.array_equal(m.predict(X.to_numpy()), want.predict(X.to_numpy()))
        assert m.certify(X.to_numpy(), y).sentence.endswith(m.promise_)
    assert KrigoRegressor(kernel="se", prior_share=0.3).fit(X.to_numpy(), y.rename("x1"), groups=np.arange(60) // 2).certificate_["groups"] > 0


def test_groups_that_were_forgotten(rows, tmp_path):
    X, y = rows
    groups = np.arange(60) // 2
    m = KrigoRegressor(kernel="se", prior_share=0.3).fit(X, y, groups=groups)
    for ask in (m.certify, m.fresh, lambda X, y: m.watch(X, y, tmp_path / "l.ledger"), lambda X, y: m.report(tmp_path / "r.html", X, y)):
        with pytest.raises(DataError, match="give groups="):
            ask(X, y)
    for wrong in (np.zeros((60, 2)), groups[:-1], 5, None and groups, [(1, 2)] * 60, [[1], [1, 2]] * 30):
        if wrong is not None:
            with pytest.raises(DataError, match="groups"):
                m.certify(X, y, groups=wrong)
    assert m.certify(X, y, groups=groups).sentence.endswith(m.promise_)
    # krigo finds a group column by its name, also after loading the model.
    named = KrigoRegressor(kernel="se", prior_share=0.3, group="g").fit(X.assign(g=groups), y)
    named.save(tmp_path / "g.krigo")
    for of in (named, KrigoRegressor.load(tmp_path / "g.krigo")):
        assert of.certify(X.assign(g=groups), y).sentence.endswith(named.promise_)
        assert len(of.predict(X)) == 60
        assert of.certify(X, y, groups=groups).sentence.endswith(named.promise_)
    with pytest.raises(KrigoError):
        named.certify(X.assign(g=groups), y, groups=groups)


def test_copies_by_every_column(rows):
    """Rows that differ only in an ignored column aren't copies, neither in fit nor in certify."""
    X, y = rows
    twice = pd.concat([X, X], ignore_index=True).assign(id=np.arange(120))
    m = KrigoRegressor(kernel="se", prior_share=0.3, duplicates="drop", ignore="id").fit(twice, np.tile(y, 2))
    assert m.certify(twice, np.tile(y, 2)).sentence.endswith(m.promise_)


FOR_PEOPLE = {
    "--delta 2: want a probability": "delta 2: want a probability",
    "the value is missing; leave the row out, or have it filled with --missing mean": 'the value is missing; leave the row out, or have it filled with missing="mean"',
    "or of these 40 by --prior informed --delta 0.05": 'or of these 40 by prior="informed", delta=0.05',
    "group: a fit can't have both --group and --split last": 'group: a fit can\'t have both group and split="last"',
    "say --na unknown": 'say na="unknown"',
    "--duplicates group and --group zone exclude each other": 'duplicates="group" and group="zone" exclude each other',
    "fix-parameters: give the parameters as --init, and no --restarts": "fix_parameters: give the parameters as init, and no restarts",
    "With --group RAD, the promise is about a new RAD": 'With group="RAD", the promise is about a new RAD',
    "The half of δ that --slices took is lost": "The half of δ that slices took is lost",
    "add --data FILE, for example --data table.csv; --samples 5": "add data FILE, for example data table.csv; n_samples=5",
    "krigo certify --fresh takes rows, and krigo extract FILE --target NAME a name": "krigo certify --fresh takes rows, and krigo extract FILE --target NAME a name",
    'invalid argument "0.5" for "epochs" flag: strconv.ParseInt: parsing "0.5": invalid syntax (docs/reference/settings.md has all flags)': 'epochs "0.5": want a whole number',
    '--epsilon "-1": want a positive number, or below:above for the asymmetric loss': 'epsilon "-1": want a positive number, or a pair (below, above) for the asymmetric loss',
    "say --resume, or raise --memory 3": "say --resume, or raise --memory 3",
    "a--b -- c": "a--b -- c",
}


@pytest.mark.parametrize("said", FOR_PEOPLE)
def test_words(said):
    """Messages have Python's parameters in place of flags. Flags that only the command line has, and its commands, stay."""
    known = {**_process.current().flags(), "data": ()}
    assert _errors.in_python(said, known).removesuffix(_errors.in_python("--memory")[len("--memory") :]) == FOR_PEOPLE[said]


def test_no_flag_in_messages(rows):
    """Errors, notices and promises of typical mistakes name no flag."""
    X, y = rows
    gaps = X.assign(a=X.a.where(X.a < 1))
    for call, words in (
        (lambda: KrigoRegressor(strict=True).fit(gaps, y), 'missing="mean"'),
        (lambda: KrigoRegressor(delta=2).fit(X, y), "delta 2"),
        (lambda: KrigoRegressor(group="a", split="last").fit(X, y), 'split="last"'),
        (lambda: KrigoRegressor(kernel="se", solver="cg", objective="nearest").fit(X, y), "objective|solver"),
        (lambda: KrigoRegressor(fix_parameters=True).fit(X, y), "^fix_parameters: .* init"),
        (lambda: KrigoRegressor(inputs="a", ignore="c").fit(X, y), "ignore"),
        (lambda: KrigoRegressor(duplicates="group", group="a").fit(X, y), 'duplicates="group"'),
    ):
        with pytest.raises(KrigoError, match=words) as e:
            call()
        assert "--" not in str(e.value)
    few = KrigoRegressor(kernel="se").fit(X, y)
    assert 'prior="informed"' in few.promise_
    filled = KrigoRegressor(kernel="se").fit(gaps, y)
    assert any('missing="refuse"' in notice for notice in filled.notices_)
    assert not [text for text in (few.promise_, *few.notices_, *filled.notices_) if "--" in text]
