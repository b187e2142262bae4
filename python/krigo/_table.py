"""Makes krigo's tables from arrays, pandas and polars DataFrames, pyarrow tables, and frames that convert to these."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import numbers
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import DataError

Floats: TypeAlias = npt.NDArray[np.float64]


# _MISSING holds the texts that krigo takes for a missing value, in upper or lower case, in any column.
_MISSING = frozenset({"na", "n/a", "#n/a", "nan", "null", "?"})

# _OF_A_DAY maps a unit of numpy's dates to the number of these units in a day.
_OF_A_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}


class Table:
    """Columns of numbers or text, and which columns are categories or dates by their type."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.names: list[str] = []
        self.text: list[bool] = []
        self.buffers: list[memoryview] = []
        self.categories: list[str] = []  # columns whose type says that they hold categories
        self.dates: list[str] = []  # columns whose type says that they hold dates
        self.gaps: dict[str, list[str]] = {}  # by column: texts that count as missing, but may be categories

    def numbers(self, name: str, values: npt.ArrayLike) -> None:
        column = np.ascontiguousarray(values, "<f8")
        self._named(name, False, len(column))
        self.buffers.append(_bytes(column))

    def texts(self, name: str, values: Sequence[str]) -> None:
        self._named(name, True, len(values))
        gaps = sorted(text for text in set(values) if text.strip().lower() in _MISSING)
        if gaps:
            self.gaps[name] = gaps
        coded = [value.encode(errors="replace") for value in values]
        ends = np.zeros(len(coded) + 1, "<i8")
        np.cumsum(np.fromiter(map(len, coded), np.int64, len(coded)), out=ends[1:])
        self.buffers += [_bytes(ends), memoryview(b"".join(coded))]

    def nothing(self, name: str) -> None:
        """Adds a column of missing values, for a column whose cells krigo doesn't use."""
        self.numbers(name, np.full(self.rows, np.nan))

    def days(self, name: str, moments: npt.NDArray[np.datetime64]) -> None:
        """Adds a column of dates as days since 1970, to the bit the days that krigo computes from text."""
        unit, _ = np.datetime_data(moments.dtype)
        if unit not in _OF_A_DAY:  # the unit is coarser than a day, or finer than nanoseconds
            unit = "D" if unit in ("Y", "M", "W") else "ns"
        since = moments.astype(f"datetime64[{unit}]").astype(np.int64)
        days, rest = np.divmod(since, _OF_A_DAY[unit])
        a_second = max(1, _OF_A_DAY[unit] // 86400)
        whole, fraction = np.divmod(rest * (86400 * a_second // _OF_A_DAY[unit]), a_second)
        values = days + (whole + fraction / a_second) / 86400
        self.dates.append(name)
        self.numbers(name, np.where(np.isnat(moments), np.nan, values))

    def array(self, name: str, a: npt.NDArray[Any]) -> None:
        """Adds a column from a numpy array."""
        if a.dtype.kind == "M":
            self.days(name, a)
        elif a.dtype.kind == "m":
            self.numbers(name, a / np.timedelta64(1, "s") / 86400)
        elif a.dtype.kind in "OUS":
            self.objects(name, a.tolist())
        else:
            self.numbers(name, a)

    def objects(self, name: str, values: Sequence[Any], category: bool = False) -> None:
        """Adds a column of Python objects: days if all are dates, numbers if all are numbers, else text."""
        present = [v for v in values if not _missing(v)]
        if category:
            self.categories.append(name)
            self.texts(name, ["" if _missing(v) else _written(v) for v in values])
            return
        if present and all(isinstance(v, (datetime.date, np.datetime64)) for v in present):
            moments = ["NaT" if _missing(v) else _naive(v) for v in values]
            self.days(name, np.array(moments, "datetime64[us]"))
            return
        text = any(isinstance(v, str) for v in present)
        kinds = (str, int, float, np.number, np.bool_, numbers.Real, decimal.Decimal, datetime.date, np.datetime64) if text else _NUMBERS
        for i, v in enumerate(values):
            if not _missing(v) and (not isinstance(v, kinds) or isinstance(v, np.complexfloating)):
                raise DataError(f"row {i + 1}, column {name!r}: {_shown(v)} is a {type(v).__name__}: want numbers, text, truth values or dates", i + 1, name)
        if text:
            self.texts(name, ["" if _missing(v) else _written(v) for v in values])
            return
        column = np.empty(len(values))
        for i, v in enumerate(values):
            try:
                column[i] = np.nan if _missing(v) else _number(v)
            except OverflowError as e:
                raise DataError(f"row {i + 1}, column {name!r}: {_shown(v)} is too large", i + 1, name) from e
        self.numbers(name, column)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Adds to an error about a missing value which texts of the column krigo took for missing values."""
        try:
            yield
        except DataError as e:
            texts = self.gaps.get(e.column or "")
            if texts is None or "missing" not in str(e):
                raise
            raise DataError(f"{e}; {gap(texts)}", e.row, e.column) from None

    def _named(self, name: str, text: bool, rows: int) -> None:
        if rows != self.rows:
            raise DataError(f"column {name!r} has {rows} rows, but the other columns have {self.rows}", column=name)
        self.names.append(name)
        self.text.append(text)

    def cells(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the columns by name, as numbers or texts."""
        found: dict[str, npt.NDArray[Any]] = {}
        buffers = iter(self.buffers)
        for name, text in zip(self.names, self.text, strict=True):
            values = next(buffers)
            if not text:
                found[name] = np.frombuffer(values, "<f8")
                continue
            ends, coded = np.frombuffer(values, "<i8"), bytes(next(buffers))
            found[name] = np.array([coded[a:b].decode() for a, b in zip(ends, ends[1:], strict=False)], dtype=object)
        return found

    def header(self) -> dict[str, Any]:
        return {"names": self.names, "text": self.text, "rows": self.rows, "dates": self.dates, "categories": self.categories}


def _bytes(a: npt.NDArray[Any]) -> memoryview:
    return a.data.cast("B") if a.size else memoryview(b"")


def _missing(value: object) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 (NaN, NaT)
    except (TypeError, ValueError):  # comparing pandas' NA gives no truth value
        return type(value).__name__ == "NAType"


def gap(texts: Sequence[str]) -> str:
    named = ", ".join(repr(text) for text in texts)
    return f"the text{'s'[: len(texts) > 1]} {named} count{'s'[: len(texts) == 1]} as missing in every column: rename a category that has such a name"


def floats(values: npt.NDArray[Any]) -> Floats:
    """Returns objects as numbers, with NaN for missing values."""
    return np.array([np.nan if _missing(v) else float(v) for v in values], float)


# _NUMBERS holds the types of cells that become numbers. A duration becomes days, as in columns of durations.
_NUMBERS = (int, float, np.number, np.bool_, numbers.Real, decimal.Decimal, datetime.timedelta)


def _number(value: Any) -> float:
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "s")) / 86400
    if isinstance(value, datetime.timedelta):
        return value.total_seconds() / 86400
    return float(value)


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a number of many digits"
    return text if len(text) < 60 else text[:57] + "..."


def _written(value: object) -> str:
    """Returns a cell as a CSV file has it. True becomes 1, as in a column of truth values."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def _naive(moment: Any) -> Any:
    if isinstance(moment, datetime.datetime) and moment.tzinfo is not None:
        return moment.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return moment


# _FRAMES maps a library to its class of frames. kind imports no library: if X is a frame, its library is loaded.
_FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}


def kind(X: object) -> str | None:
    """Returns the name of the library in _FRAMES whose frame X is, or None."""
    for name, of in _FRAMES.items():
        frame = getattr(sys.modules.get(name), of, None)
        if frame is not None and isinstance(X, frame):
            return name
    return None


def framed(X: Any) -> Any:
    """Returns X as a frame of a library in _FRAMES, or None if X's columns have no names.

    An installed library in _FRAMES converts the frames of other libraries.
    """
    if hasattr(X, "to_native"):  # a frame of narwhals
        X = X.to_native()
    if type(X).__module__.startswith("polars") and hasattr(X, "collect"):
        raise TypeError("a LazyFrame has no rows yet: pass X.collect()")
    if kind(X):
        return X
    if not any(hasattr(X, of) for of in ("__dataframe__", "columns", "column_names")):
        return None
    why = "it has neither __dataframe__ nor __arrow_c_stream__, or pyarrow, polars and pandas aren't installed"
    for name in ("pyarrow", "polars", "pandas"):
        try:
            return _read(import_module(name), X)
        except (ImportError, AttributeError):
            continue
        except Exception as e:  # another library may raise anything
            why = str(e)
    raise DataError(f"X is a {type(X).__module__}.{type(X).__qualname__}, and krigo can't read its columns by name ({why}): pass a pandas or polars DataFrame, or a pyarrow table")


def _read(library: Any, X: Any) -> Any:
    """Returns X as a frame of library, through a protocol that X and library both have."""
    whole = getattr(library, _FRAMES[library.__name__])
    if library.__name__ != "pandas" and any(hasattr(X, of) for of in ("__arrow_c_stream__", "__arrow_c_array__")):
        return library.table(X) if library.__name__ == "pyarrow" else whole(X)
    if library.__name__ == "polars":
        return library.from_dataframe(X)
    return import_module({"pyarrow": "pyarrow.interchange", "pandas": "pandas.api.interchange"}[library.__name__]).from_dataframe(X)


def columns(frame: Any) -> list[str]:
    """Returns the names of a frame's columns."""
    return [str(name) for name in (frame.column_names if kind(frame) == "pyarrow" else frame.columns)]


def numbered(names: Sequence[str]) -> bool:
    """Returns whether names only number the columns, as krigo does for arrays (x1, x2, …) and pandas does (0, 1, …)."""
    return all(name == str(j) or re.fullmatch(f"x_*{j + 1}", name) for j, name in enumerate(names))


def left_out(names: Sequence[str], inputs: Collection[str], ignored: Collection[str]) -> set[str]:
    """Returns the columns that aren't inputs, by names and patterns (with * and ?) in inputs and ignored."""

    def named(patterns: Collection[str], name: str) -> bool:
        return any(p == name or re.fullmatch(re.escape(p).replace(r"\*", ".*").replace(r"\?", "."), name, re.DOTALL) for p in patterns)

    return {name for name in names if named(ignored, name) or inputs and not named(inputs, name)}


def of_frame(X: Any, only: Iterable[str] | None = None, without: Collection[str] = ()) -> Table:
    """Returns a frame as a table.

    If only is given, the table has only these columns. For columns in without, the table has missing values.
    """
    wanted = None if only is None else set(only)
    table = Table(len(X))
    add = {"pandas": _add_pandas, "polars": _add_polars, "pyarrow": _add_pyarrow}[kind(X) or ""]
    for at, name in enumerate(columns(X)):
        if name in without:
            table.nothing(name)
        elif wanted is None or name in wanted:
            add(table, name, X, at)
    return table


def _add_pandas(table: Table, name: str, X: Any, at: int) -> None:
    import pandas as pd

    s = X.iloc[:, at]
    dtype = s.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        table.objects(name, s.astype(object).tolist(), category=True)
    elif pd.api.types.is_datetime64_any_dtype(dtype):
        if getattr(dtype, "tz", None) is not None:
            s = s.dt.tz_convert("UTC").dt.tz_localize(None)
        moments = s.to_numpy()
        if moments.dtype.kind == "M":
            table.days(name, moments)
        else:  # dates of Arrow
            table.objects(name, s.tolist())
    elif pd.api.types.is_timedelta64_dtype(dtype):
        table.numbers(name, s.dt.total_seconds().to_numpy(dtype=float) / 86400)
    elif pd.api.types.is_complex_dtype(dtype):
        raise DataError(f"column {name!r}: Complex data not supported", column=name)
    elif pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        table.numbers(name, s.to_numpy(dtype=float, na_value=np.nan))
    else:
        table.objects(name, s.tolist())


def _add_polars(table: Table, name: str, X: Any, at: int) -> None:
    import polars as pl

    s = X.to_series(at)
    dtype = s.dtype
    if dtype in (pl.Categorical, pl.Enum):
        table.objects(name, s.cast(pl.String).to_list(), category=True)
    elif dtype in (pl.Date, pl.Datetime):
        if getattr(dtype, "time_zone", None):
            s = s.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        table.days(name, s.to_numpy())
    elif dtype == pl.Duration:
        table.numbers(name, s.cast(pl.Duration("us")).cast(pl.Int64).cast(pl.Float64).fill_null(np.nan).to_numpy() / 86400e6)
    elif dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        table.numbers(name, s.cast(pl.Float64).fill_null(np.nan).to_numpy())
    elif dtype in (pl.String, pl.Object):
        table.objects(name, s.to_list())
    else:
        raise DataError(f"column {name!r} holds {dtype}: want numbers, text, categories or dates", column=name)


def _add_pyarrow(table: Table, name: str, X: Any, at: int) -> None:
    import pyarrow

    column = X.column(at)
    if pyarrow.types.is_dictionary(column.type):
        table.objects(name, column.to_pylist(), category=True)
    else:
        table.array(name, column.to_numpy())


def matrix(X: Any, estimator: str) -> npt.NDArray[Any]:
    """Returns X as a two-dimensional array. Its errors have scikit-learn's words if scikit-learn has the same error."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("Sparse data was passed, but dense data is required. Use '.toarray()' to convert to a dense numpy array.")
    a = array(X, "X", "Expected 2D array, got something else instead")
    if a.ndim != 2:
        found = "scalar" if a.ndim == 0 else f"{a.ndim}D"
        raise DataError(
            f"Expected 2D array, got {found} array instead. Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample."
        )
    rows, cols = a.shape
    if rows == 0:
        raise DataError(f"Found array with 0 sample(s) (shape={a.shape}) while a minimum of 1 is required by {estimator}.")
    if cols == 0:
        raise DataError(f"Found array with 0 feature(s) (shape={a.shape}) while a minimum of 1 is required by {estimator}.")
    return a


def array(values: Any, what: str, otherwise: str) -> npt.NDArray[Any]:
    """Returns values as a numpy array, and refuses masked entries, complex numbers, and rows of different lengths."""
    unmasked(values, what)
    try:
        a = np.asarray(values)
    except ValueError as e:  # rows have different lengths
        raise DataError(f"{otherwise}: {e}") from e
    if a.dtype.kind == "c":
        raise DataError("Complex data not supported")
    return a


def unmasked(values: Any, what: str) -> None:
    """Refuses numpy arrays with masked entries, because the number under a mask isn't data."""
    for i, part in enumerate(values if isinstance(values, (list, tuple)) else [values]):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):  # type: ignore[no-untyped-call]
            hidden = np.broadcast_to(part.mask, part.shape)
            row = i if part is not values else int(np.argwhere(hidden)[0][0]) if part.ndim else 0
            raise DataError(f"row {row + 1}: {what} has masked entries: remove the rows with masked entries, or fill the entries, with .filled(np.nan) if they are missing values", row + 1)


def of_matrix(a: npt.NDArray[Any], names: Sequence[str], gaps: bool, without: Collection[str] = ()) -> Table:
    """Returns an array as a table.

    Unless gaps is set, of_matrix refuses missing numbers. For columns in without, the table has missing values.
    """
    table = Table(len(a))
    if a.dtype.kind in "OUSmM":
        for j, name in enumerate(names):
            if name in without:
                table.nothing(name)
            else:
                table.array(name, a[:, j])
        return table
    values = a.astype(float, copy=False)
    wrong = np.isinf(values) if gaps else ~np.isfinite(values)
    wrong &= ~np.isin(names, list(without))
    if wrong.any():
        i, j = (int(at) for at in np.argwhere(wrong)[0])
        what = "NaN: the value is missing; remove the row, fill the value, or set missing='mean'" if np.isnan(values[i, j]) else f"{values[i, j]} is not finite (infinity); remove the row or fill the value"
        raise DataError(f"row {i + 1}, column {j + 1} ({names[j]!r}): {what}", i + 1, names[j])
    for j, name in enumerate(names):
        if name in without:
            table.nothing(name)
        else:
            table.numbers(name, values[:, j])
    return table
