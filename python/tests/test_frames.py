from __future__ import annotations

import datetime
import io
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from krigo import DataError, KrigoError, KrigoRegressor, KrigoWarning, NoCertificate, UsageError, _table, certify_predictions


def polars(X: pd.DataFrame) -> pl.DataFrame:
    columns = {str(name): pl.Series([None if pd.isna(v) else v for v in s.astype(object)], strict=False) for name, s in X.items()}
    return pl.DataFrame(columns).with_columns(pl.col("heating").cast(pl.Enum(["gas", "oil"])))


def test_pandas_and_polars(houses):
    """pandas and polars frames of the same rows give the same table, whatever the order of the columns."""
    X, y = houses.drop(columns="price"), houses.price
    theirs = polars(X)
    assert theirs.schema["heating"] in (pl.Categorical, pl.Enum)
    a = KrigoRegressor(missing="mean", kernel="se").fit(X, y)
    b = KrigoRegressor(missing="mean", kernel="se").fit(theirs, pl.Series("price", y.to_numpy()))
    assert a.certificate_ == b.certificate_ and "price" in a.promise_ and a.promise_ == b.promise_
    want = a.predict(X)
    assert np.array_equal(a.predict(theirs), want) and np.array_equal(b.predict(X), want)
    turned = X[X.columns[::-1]].assign(more="text")
    assert np.array_equal(a.predict(turned), want)
    assert list(a.feature_names_in_) == list(X.columns) and a.n_features_in_ == 6
    frame = a.predict_frame(X[10:20], intervals="band")
    assert isinstance(frame, pd.DataFrame) and list(frame.index) == list(range(10, 20)) and np.array_equal(frame["mean"], want[10:20])
    assert frame["outside"].dtype == np.int64 and {"band_lower", "band_upper"} < set(frame.columns)
    parts = a.predict_frame(X[10:20], explain=True).filter(regex="^(explain|contribution)_")
    assert list(parts.columns[1:-1]) == ["contribution_" + name for name in X.columns] and np.allclose(parts.sum(axis=1), want[10:20])
    assert isinstance(a.predict_frame(theirs), pl.DataFrame)
    assert isinstance(KrigoRegressor(kernel="se").fit(np.arange(40.0)[:, None], np.arange(40.0)).predict_frame([[1.0]]), pd.DataFrame)
    assert [c["name"] for c in a.model_.about["encoding"]["columns"] if c.get("categories")] == ["zone", "heating"]


class Foreign:
    """A frame of a library that krigo doesn't know. It has only the protocols that protocols names."""

    def __init__(self, table: pa.Table, *protocols: str) -> None:
        for name in protocols:
            setattr(self, name, getattr(table, name, lambda: table))


def test_frames_of_others(houses, monkeypatch):
    """krigo reads any frame with column names by these names, and refuses frames that it can't read."""
    X, y = houses.drop(columns="price"), houses.price
    want = KrigoRegressor(missing="mean", kernel="se").fit(X, y)
    mean = want.predict(X)
    arrow = pa.Table.from_pandas(X)
    kinds = {
        "table": lambda table: table,
        "chunks": lambda table: pa.concat_tables([table[:100], table[100:]]),
        "batch": lambda table: table.to_batches()[0],
        "stream": lambda table: Foreign(table, "__arrow_c_stream__", "columns"),
        "protocol": lambda table: Foreign(table, "__dataframe__"),
        "narwhals": lambda table: Foreign(table, "to_native"),
    }
    for name, make in kinds.items():
        m = KrigoRegressor(missing="mean", kernel="se").fit(make(arrow), y)
        assert m.certificate_ == want.certificate_ and list(m.feature_names_in_) == list(X.columns), name
        turned = make(arrow.select(arrow.column_names[::-1]))
        for of in (m, want):
            assert np.array_equal(of.predict(turned), mean) and isinstance(of.predict_frame(turned), pa.Table), name
    numbers = pl.DataFrame({"b": np.arange(60.0), "a": np.arange(60.0) % 7})
    of = KrigoRegressor(kernel="se").fit(numbers, np.arange(60.0))
    for number, absent in enumerate((["pyarrow"], ["pyarrow", "polars"], ["pyarrow", "polars", "pandas"])):
        with monkeypatch.context() as m:
            for name in absent:
                m.setitem(sys.modules, name, None)
            table = Foreign(numbers.select("a", "b"), "__dataframe__")
            if number == 2:
                with pytest.raises(DataError, match="pyarrow, polars and pandas aren't installed"):
                    of.predict(table)
            else:
                assert _table.kind(_table.framed(table)) == ["polars", "pandas"][number] and np.array_equal(of.predict(table), of.predict(numbers))
    for odd in (Foreign(arrow, "columns"), Foreign(arrow, "column_names")):
        for ask in (want.predict, lambda X: KrigoRegressor().fit(X, y)):
            with pytest.raises(DataError, match="test_frames.Foreign, and krigo can't read its columns by name"):
                ask(odd)
    for column, how in ((pa.array([[1.0]] * 60), "ndarray"), (pa.array([b"x"] * 60), "bytes"), (pa.array([{"a": 1}] * 60), "dict")):
        with pytest.raises(DataError, match=f"column 'odd': .* is a {how}"):
            KrigoRegressor().fit(pa.table({"odd": column, "x": np.arange(60.0)}), np.arange(60.0))


def test_order_of_columns(waves):
    """A warning comes if only the fit or only the later rows have column names, unless these are numbers."""
    X, y = waves
    named = pd.DataFrame(X, columns=["a", "b"])
    by_array, by_name = KrigoRegressor(kernel="se").fit(X, y), KrigoRegressor(kernel="se").fit(named, y)
    for model, table, words in (
        (by_array, named[["b", "a"]], "X has feature names, but KrigoRegressor was fitted without feature names"),
        (by_array, pa.Table.from_pandas(named), "X has feature names, but KrigoRegressor was fitted without feature names"),
        (by_array, named.set_axis(["x2", "x1"], axis=1), "X has feature names, but KrigoRegressor was fitted without feature names"),
        (by_name, X, "X does not have valid feature names, but KrigoRegressor was fitted with feature names"),
    ):
        with pytest.warns(KrigoWarning, match=words) as said:
            model.score(table, y)
        assert [w.filename for w in said] == [__file__] and issubclass(KrigoWarning, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model, table in ((by_array, X), (by_array, pd.DataFrame(X)), (by_array, pd.DataFrame(X, columns=["x1", "x2"])), (by_name, named[["b", "a"]])):
            assert model.score(table, y) > 0.9


def test_notices(houses, cli, tmp_path):
    """The command line's notices about predicted rows are warnings in Python, and also stand in the frame."""
    X, y = houses.drop(columns="price"), houses.price
    m = KrigoRegressor(missing="mean", kernel="se").fit(X, y)
    odd = X[10:14].assign(area=[1e6, 50, 60, 70], zone=["west", "north", "east", "north"], garden=0)
    m.save(tmp_path / "m.krigo")
    odd.to_csv(tmp_path / "odd.csv", index=False)
    notices = cli.said("predict", tmp_path / "m.krigo", tmp_path / "odd.csv").splitlines()
    assert len(notices) == 2 and "west" in notices[0] and "2 of 4 rows lie outside" in notices[1]
    for ask in (m.predict, m.predict_frame, m.intervals, m.sample_y):
        with pytest.warns(KrigoWarning) as said:
            found = ask(odd)
        assert [str(w.message) for w in said] == notices and {w.filename for w in said} == {__file__}
        if isinstance(found, pd.DataFrame):
            assert found.attrs["notices"] == notices and [n > 0 for n in found["outside"]] == [True, False, True, False]
    edge = pd.DataFrame(np.random.default_rng(1).random((60, 2)), columns=["a", "b"])
    found = KrigoRegressor(kernel="se").fit(edge, edge.a.to_numpy()).details_["findings"]
    assert any(f["kind"] == "lengthscale_at_upper_edge" and "b" in f["subject"] and f["severity"] == "warning" for f in found)
    with pytest.warns(KrigoWarning, match="lie outside"):
        usual = X[m.predict_frame(pd.concat([X, odd]))["outside"].to_numpy()[: len(X)] == 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(usual) > 0.9 * len(X) and m.predict_frame(usual).attrs["notices"] == []


def test_dates(houses):
    """Every type of date gives the same days."""
    y = houses.price
    when = houses.sold.dt.floor("s")
    columns = {
        "datetime": when,
        "zoned": when.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        "text": when.dt.strftime("%Y-%m-%d %H:%M:%S"),
        "object": pd.Series([t.to_pydatetime() for t in when], dtype=object),
        "polars": pl.Series(when.to_numpy()).cast(pl.Datetime("ms")),
    }
    certificates = {}
    for name, column in columns.items():
        X = pl.DataFrame({"sold": column}) if name == "polars" else pd.DataFrame({"sold": column})
        m = KrigoRegressor(kernel="se").fit(X, y)
        assert [d["column"] for d in m.model_.about["reading"]["dates"]] == ["sold"], name
        certificates[name] = (m.certificate_, m.predict(X).tolist())
    assert all(c == certificates["text"] for c in certificates.values())
    days = pd.DataFrame({"sold": [datetime.date(2021, 3, 1) + datetime.timedelta(days=i) for i in range(60)]})
    m = KrigoRegressor(kernel="se").fit(days, np.arange(60.0))
    assert np.array_equal(m.predict(days[:5].astype({"sold": "datetime64[ns]"})), m.predict(days)[:5])


def test_dates_far_away(cli, tmp_path):
    """Dates before 1677 and after 2262, outside the range of nanoseconds, give the same days as the command line."""
    first, last = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)
    dates = [last - datetime.timedelta(days=i - 1) if i % 2 else first + datetime.timedelta(days=i * i) for i in range(60)]
    y = np.sin(np.arange(60.0))
    moments = np.array(dates, "datetime64[D]")
    arrow = pd.Series(dates).astype("date32[pyarrow]")
    X = {
        "objects": pd.DataFrame({"when": dates}),
        "objects of numpy": pd.DataFrame({"when": pd.Series(list(moments), dtype=object)}),
        "s": pd.DataFrame({"when": pd.Series(moments.astype("datetime64[s]"))}),
        "us": pd.DataFrame({"when": pd.Series(moments.astype("datetime64[us]"))}),
        "date32": pd.DataFrame({"when": arrow}),
        "timestamp": pd.DataFrame({"when": pd.Series(moments.astype("datetime64[us]")).astype("timestamp[us][pyarrow]")}),
        "polars": pl.DataFrame({"when": dates}),
        "polars us": pl.DataFrame({"when": pl.Series(dates).cast(pl.Datetime("us"))}),
        **{f"array {unit}": moments.astype(f"datetime64[{unit}]")[:, None] for unit in ("D", "h", "m", "s", "ms", "us")},
    }
    days = moments.astype(int)
    assert days.max() == 2932896
    data, file = tmp_path / "d.csv", tmp_path / "d.krigo"
    pd.DataFrame({"when": [d.isoformat() for d in dates], "y": y}).to_csv(data, index=False)
    printed = cli.json("fit", data, "--target", "y", "--dates", "when", "--kernel", "se", "--out", file)
    mean = pd.read_csv(io.StringIO(cli("predict", file, data)), float_precision="round_trip")["mean"]
    for name, table in X.items():
        m = KrigoRegressor(kernel="se").fit(table, y)
        assert m._table(table).buffers[0].cast("d").tolist() == days.tolist(), name
        assert m.certificate_ == printed["certificate"], name
        assert np.array_equal(m.predict(table), mean), name


def test_moments():
    """Every unit gives the same days to the bit."""
    text = ["1969-12-31T23:59:59.125", "2021-03-04T05:06:07.89", "1970-01-01T00:00:00", "NaT"]
    found = []
    for unit in ("ms", "5ms", "us", "ns"):
        table = _table.Table(4)
        table.days("when", np.array(text, f"datetime64[{unit}]"))
        found.append(table.buffers[0].tobytes())
    assert len(set(found)) == 1
    for unit, want in (("Y", 365.0), ("M", 365.0), ("W", 364.0)):
        table = _table.Table(1)
        table.days("when", np.array(["1971-01-01"], "datetime64[D]").astype(f"datetime64[{unit}]"))
        assert table.buffers[0].cast("d").tolist() == [want]


def test_said_of_columns(houses):
    X, y = houses.drop(columns="price"), houses.price
    with pytest.raises(DataError, match='categorical="zone"'):
        KrigoRegressor(categorical=None, missing="mean").fit(X.drop(columns="heating"), y)
    with pytest.raises(DataError, match='"area".*2 more problems') as e:
        KrigoRegressor(missing="refuse").fit(X, y)
    assert e.value.row == 4 and e.value.column == "area"
    names = X.assign(name=["".join(chr(97 + i // 26**k % 26) for k in range(3)) for i in range(len(X))])
    with pytest.raises(DataError, match="it names rows"):
        KrigoRegressor(missing="mean", strict=True).fit(names, y)
    assert "name" not in KrigoRegressor(missing="mean", kernel="se", restarts=1).fit(names, y).model_.about["inputs"]
    m = KrigoRegressor(missing="mean", ignore="name", group="zone", kernel="se")
    with pytest.raises(DataError, match="missing"):
        m.fit(names, y)  # a group can't be filled
    filled = names.assign(street=[f"s{i % 80}" for i in range(len(X))])
    m = KrigoRegressor(missing="mean", ignore=["name"], group="street", kernel="se", prior="informed").fit(filled, y)
    assert m.certificate_["group"] == "street"
    assert m.certify(filled, y).sentence.endswith(m.promise_)
    assert len(m.predict(filled.drop(columns=["name", "street"]))) == len(X)
    with pytest.raises(DataError, match="input columns missing: \"area\""):
        m.predict(filled.drop(columns="area"))
    with pytest.raises(DataError, match="no column"):
        KrigoRegressor(missing="mean", ignore="nmae").fit(X, y)
    with pytest.raises(DataError, match="holds List"):
        KrigoRegressor().fit(pl.DataFrame({"a": [[1]] * 30}), np.arange(30.0))
    with pytest.raises(DataError, match="is a column of X too"):
        KrigoRegressor(missing="mean").fit(houses, y)


def test_errors(waves):
    X, y = waves
    gap = X.copy()
    gap[7, 1] = np.nan
    for data, target, row, column in ((gap, y, 8, "x2"), (np.where(np.isnan(gap), np.inf, gap), y, 8, "x2"), (X, np.where(np.arange(150) == 4, np.nan, y), 5, "y")):
        with pytest.raises(DataError) as e:
            KrigoRegressor().fit(data, target)
        assert (e.value.row, e.value.column) == (row, column)
    assert KrigoRegressor(missing="mean", kernel="se").fit(gap, y).predict(gap).shape == (150,)
    for wrong in (
        {"epsilon": -1}, {"epsilon": "wide"}, {"objective": "magic"}, {"kernel": "sse"}, {"delta": 0}, {"delta": 2}, {"inducing": "many"}, {"alpha": "big"},
        {"grid": "6"}, {"duplicates": "burn"}, {"ard": "perhaps"}, {"dates": "when:xyz:day:day"}, {"seed": -1}, {"seed": "one"},
    ):  # fmt: skip
        with pytest.raises((UsageError, DataError)) as e:
            KrigoRegressor(**wrong).fit(X, y)
        assert isinstance(e.value, ValueError) and isinstance(e.value, KrigoError), wrong
    m = KrigoRegressor(kernel="se").fit(X, y)
    for bad in ({"yhat": y[:-1]}, {"loss": "sharp"}, {"epsilon": 0}, {"group": np.zeros(3)}):
        with pytest.raises(ValueError):
            certify_predictions(**{"y": y, "yhat": y, "epsilon": 1, **bad})
    with pytest.raises(DataError, match="150 rows|inconsistent"):
        m.certify(X, y[:-1])
    with pytest.raises(ValueError, match="X has 1 features"):
        m.predict(X[:, :1])
    few = KrigoRegressor().fit(X[:22], y[:22])
    assert few.certificate_ is None and few.promise_.startswith("No certificate: all 22 rows train the model") and few.details_["training"]["leave_one_out_rmse"] > 0
    with pytest.raises(NoCertificate):
        few.certify(X[:22], y[:22])
    with pytest.raises(KrigoError):
        few.intervals(X, "band")
    asked = KrigoRegressor(kernel="se", prior="informed").fit(X[:42], y[:42])
    assert asked.certificate_ is not None and asked.certificate_["rows"] == 21


def test_no_rows(waves):
    X, y = waves
    m = KrigoRegressor(kernel="se").fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.raises((DataError, KrigoError)):
        KrigoRegressor().fit(pd.DataFrame({"a": [], "b": []}), [])
    assert len(m.predict(pd.DataFrame({"a": [1.0], "b": [2.0]}))) == 1


def test_text_arrays():
    words = np.array([["red" if i % 3 else "blue", i / 7] for i in range(90)], dtype=object)
    y = np.arange(90.0)
    m = KrigoRegressor(categorical=["x1"], kernel="se").fit(words, y)
    assert m.predict(words).shape == (90,)


def test_html(waves, quick):
    X, y = waves
    m = KrigoRegressor(**quick, target="<b>&y").fit(X, y)
    page = m._repr_html_()
    assert "&lt;b&gt;&amp;y" in page and "<b>" not in page and "Conditions" in page
    assert m._repr_mimebundle_()["text/html"] == page
    assert "<b>" not in m.certify(X, y)._repr_html_() and "bound on the share" in m.fresh(X + 1, y)._repr_html_()
    assert KrigoRegressor()._repr_html_()


def test_gaps_of_new_rows():
    """A gap where the fit had none takes no other row's answer: it is filled, named, and its row counts as outside."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.random(120), "kind": rng.choice(["p", "q"], 120)})
    m = KrigoRegressor(kernel="se", restarts=1).fit(X, 3 * X.a + (X.kind == "p") + rng.normal(0, 0.1, 120))
    new = X.head(4).copy()
    new.loc[1, "a"] = np.nan
    new.loc[2, "kind"] = None
    with pytest.warns(KrigoWarning, match=r"a misses 1 of 4 cells \(the first in row 2\)"):
        got = m.predict_frame(new)
    assert got["mean"][[0, 3]].tolist() == m.predict(X.head(4))[[0, 3]].tolist()
    assert (got["outside"] > 0).tolist() == [False, True, True, False]
    new["a"] = ["0.5", "n.d.", 0.25, 0.5]
    with pytest.warns(KrigoWarning, match=r'a: 1 of 4 cells can\'t be read as numbers or dates \(the first in row 2: "n.d."\)'):
        got = m.predict_frame(new)
    assert (got["outside"] > 0).tolist() == [False, True, True, False]
