"""The estimator."""

from __future__ import annotations

import contextlib
import datetime
import os
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, cast, overload

import numpy as np
import numpy.typing as npt

from . import _options, _process, _table
from ._base import not_fitted, warn_column_vector
from ._errors import DataError, KrigoError, UsageError, elsewhere, told, warn
from ._finding import Finding, card
from ._options import Value
from ._parameters import Parameters
from ._progress import bar
from ._table import Floats, Table

Names: TypeAlias = str | Sequence[str] | None
Path: TypeAlias = str | os.PathLike[str]
Number: TypeAlias = SupportsFloat  # numbers of Python and of numpy
Whole: TypeAlias = SupportsIndex
Data: TypeAlias = tuple[Any, ...] | None  # (X, y), or (X, y, groups)


class KrigoRegressor(Parameters):
    """A Gaussian process with a certificate: a promise about its predictions on further rows, computed from the data.

    Its parameters are the flags of `krigo fit`: help(KrigoRegressor.__init__) lists them, docs/how-to/python.md too. Say epsilon, the
    half-width of what counts as a hit, before you look at the data.

    Attributes
    ----------
    certificate_ : dict or None, with `mean_bound`, `epsilon_raw`, `delta`, `rows`, `conditions` and others.
    promise_ : the certificate as a sentence, or why there is none.
    context_ : dict or None, how the model does on the certified rows (`rmse`, `mae`, `r2`, `coverage95`) beside a `constant` and a `linear` model.
    notices_ : list of what is worth knowing about the fit.
    delivered_ : of deliver="all", a KrigoRegressor that all rows trained, which has no certificate.
    details_ : dict, what `krigo fit --json` prints: kernel, noise, training, conformal intervals.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    """

    def fit(self, X: Any, y: Any, groups: Any = None) -> KrigoRegressor:
        """Trains and certifies on these rows. Groups, one of each row, are an alternative to a column of X (group)."""
        table, columns, names, args = self._asked(X, y, groups)
        listeners, end = self._listeners()
        try:
            with table.explained():
                reply = _process.ask("fit", table.buffers, again=False, progress=listeners, table=table.header(), args={**args, "progress": listeners is not None})
        finally:
            end()
        model = _process.Model(reply.buffers["file"], reply.result)
        model.known(reply.process, reply.result["model"])
        notices = [f"column {name!r}: {_table.gap(texts)}" for name, texts in table.gaps.items() if name in _raw_columns(model.about)]
        self._take(model, columns, names, notices)
        if "delivered" in reply.buffers:
            self.delivered_ = type(self)(**self.get_params(deep=False))
            self.delivered_._take(_process.Model(reply.buffers["delivered"]), columns, names, notices)
        return self

    def evaluate(self, X: Any, y: Any, params: Value, groups: Any = None) -> dict[str, Any]:
        """What `krigo evaluate --json` prints: the objective, its gradient and the certificate at given parameters, a mapping or
        a file's path, without training."""
        table, _, _, args = self._asked(X, y, groups, params=params)
        with table.explained():
            return _process.ask("evaluate", table.buffers, table=table.header(), args=args).result

    def _asked(self, X: Any, y: Any, groups: Any, **more: Any) -> tuple[Table, list[str], list[str] | None, dict[str, Any]]:
        """The table, its columns but for y, their names if X has some, and what is to be done with it."""
        names: list[str] | None = None
        target = _options._text("target", self.target) if self.target is not None else _name(y) or "y"
        frame = _table.framed(X)
        if frame is not None:
            names = _table.columns(frame)
            if target in names:
                if self.target or _name(y):
                    raise DataError(f"the target {target!r} is a column of X too: leave it out of X, or name the target otherwise", column=target)
                target = _unused("y", names)
            table = _table.of_frame(frame, without=self._without(names))
        else:
            a = _table.matrix(X, type(self).__name__)
            prefix = "x"
            while target.startswith(prefix) and target[len(prefix) :] in map(str, range(1, a.shape[1] + 1)):
                prefix += "_"  # an array has no column names: avoid the target's name
            made = [f"{prefix}{j + 1}" for j in range(a.shape[1])]
            table = _table.of_matrix(a, made, self.missing == "mean", self._without(made))
        if table.rows == 1:
            raise DataError("1 sample, and 1 row of data says nothing of another: a minimum of 2 is needed")
        columns = list(table.names)
        _add_target(table, target, y, gaps=self.missing_target == "drop")
        params = {name: value for name, value in self.get_params(deep=False).items() if value is not False and name not in ("verbose", "progress")}
        params |= {"target": target, **more}
        if groups is not None:
            if self.group is not None:
                raise UsageError("group and groups exclude each other: rows can be grouped in one way")
            params["group"] = _add_groups(table, _unused("group", table.names), groups)
        auto = isinstance(self.categorical, str) and self.categorical == "auto"
        if auto:
            del params["categorical"]
        else:
            table.categories = []
        return table, columns, names, {"flags": _options.flags(params), "settle": auto and names is not None}

    def _without(self, names: Sequence[str]) -> set[str]:
        """The columns of which nothing is asked, so that they may hold whatever they do."""
        if self.duplicates == "drop":  # every cell decides whether rows are copies
            return set()
        dates = [str(text) for text in _options.listed(self.dates)]
        asked = {name for name in names if name == str(self.group) or any(text == name or text.startswith(f"{name}:") for text in dates)}
        return _table.left_out(names, *([str(v) for v in _options.listed(v)] for v in (self.inputs, self.ignore))) - asked

    def _listeners(self) -> tuple[Callable[[dict[str, Any]], None] | None, Callable[[], None]]:
        told = self.progress
        if not self.verbose:
            return told, lambda: None
        line, end = bar()
        if told is None:
            return line, end

        def both(event: dict[str, Any]) -> None:
            line(event)
            told(event)

        return both, end

    def _take(self, model: _process.Model, columns: list[str], names: list[str] | None, notices: list[str]) -> None:
        about = model.about
        self.model_ = model
        self.details_: dict[str, Any] = about["fit"]
        self.certificate_: dict[str, Any] | None = self.details_.get("certificate")
        self.promise_: str = about.get("sentence") or f"No certificate: {about.get('reason')}."
        self.context_: dict[str, Any] | None = self.details_.get("context")
        self.notices_: list[str] = notices + list(about.get("notices") or ())
        self.target_: str = about["target"]
        self.n_features_in_ = len(columns)
        self._columns = columns
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _fitted(self) -> _process.Model:
        model: _process.Model | None = getattr(self, "model_", None)
        if model is None:
            raise not_fitted(self)
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _table(self, X: Any, y: Any = None, groups: Any = None) -> Table:
        """Rows as the model takes them: columns of DataFrames by their names, those of arrays by where they stand."""
        about = self._fitted().about
        group: str = about.get("group") or ""
        distinct = bool((about.get("reading") or {}).get("distinct")) and y is not None  # every cell decides whether rows are copies
        frame, me = _table.framed(X), type(self).__name__
        if frame is not None and hasattr(self, "feature_names_in_"):
            wanted = set(_raw_columns(about))
            found = set(_table.columns(frame))
            only = wanted if wanted <= found else found  # if columns are missing, krigo's error names the columns found
            left: set[str] = set()
            if y is not None:
                asked = about.get("parameters") or {}
                if not distinct:  # the model was fitted with these columns, whose cells it didn't use
                    left = _table.left_out(list(found), *(_options.listed(asked.get(name)) for name in ("inputs", "ignore"))) - {group}
                only = ((found if distinct else only | left) | ({group} & found)) - {self.target_}
            table = _table.of_frame(frame, only, left & only)
        else:
            if frame is not None and not _table.numbered(_table.columns(frame)):
                warn(f"X has feature names, but {me} was fitted without feature names: its columns are taken in the order in which they stand")
            elif frame is None and not _table.numbered(self._columns):
                warn(f"X does not have valid feature names, but {me} was fitted with feature names: its columns are taken in the order of {', '.join(self._columns)}")
            a = _table.matrix(X if frame is None else frame, me)
            if a.shape[1] != self.n_features_in_:
                raise DataError(f"X has {a.shape[1]} features, but {me} is expecting {self.n_features_in_} features as input.")
            filled = (about.get("encoding") or {}).get("missing") == "mean"
            table = _table.of_matrix(a, self._columns, filled, () if distinct else set(self._columns) - {*_raw_columns(about), group})
        if y is not None:
            _add_target(table, self.target_, y, gaps=self.missing_target == "drop")
            if groups is not None:
                if group in table.names:
                    raise UsageError(f"the model's groups are in the column {group!r} of X: leave groups out")
                _add_groups(table, group or "group", groups)
            elif group and group != _options.EQUAL_ROWS and group not in table.names:
                raise DataError(f"the model's rows belong to groups: give groups=, one of each row, or X with the column {group!r}", column=group)
        return table

    def _ask(self, op: str, table: Table | None = None, again: bool = True, data: Table | None = None, **args: Any) -> _process.Reply:
        tables = {name: t for name, t in (("table", table), ("data", data)) if t is not None}
        header: dict[str, Any] = {name: t.header() for name, t in tables.items()} | ({"args": args} if args else {})
        with contextlib.ExitStack() as stack:
            for t in tables.values():
                stack.enter_context(t.explained())
            return _process.ask(op, [b for t in tables.values() for b in t.buffers], self._fitted(), again, **header)

    def _predicted(self, table: Table, data: Data = None, **args: Any) -> _process.Reply:
        """Predictions. What krigo notices about these rows is a warning."""
        reply = self._ask("predict", table, data=self._table(*data) if data is not None else None, **args)
        for notice in reply.result.get("notices") or ():
            warn(notice)
        return reply

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False, return_cov: Literal[False] = False, intervals: None = None, level: float = 0.95, noise: bool = True, *, exact_variance: bool = False) -> Floats: ...
    @overload
    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, intervals: str | None = None, level: float = 0.95, noise: bool = True,
        *, data: Data = None, by: str | None = None, exact_variance: bool = False,
    ) -> Floats | tuple[Floats, ...]: ...  # fmt: skip
    @told
    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, intervals: str | None = None, level: float = 0.95, noise: bool = True,
        *, data: Data = None, by: str | None = None, exact_variance: bool = False,
    ) -> Floats | tuple[Floats, ...]:  # fmt: skip
        """The mean, and what else is asked for, in this order: (mean, std or cov, intervals).

        The standard deviations and covariances are those of the target, with observation noise, as of a
        GaussianProcessRegressor with a WhiteKernel; without noise, of the function. Intervals are of a kind of `intervals`, with a row
        (lower, upper) for each row of X; "full" and "jackknife" want data, the (X, y) that the model was fitted on, and by, a column,
        gives each of its values intervals of its own. exact_variance, of solver="cg": solve for each row's variance.
        """
        if return_std and return_cov:
            raise UsageError("return_std and return_cov: at most one of them")
        level = _level(level)
        kinds = [] if intervals is None else [_options.word("intervals", intervals)]
        credible = kinds == ["credible"]
        reply = self._predicted(self._table(X), data, intervals=[] if credible else kinds, level=level, covariance=return_cov, by=by or "", exact_variance=exact_variance)
        b = _floats(reply)
        out: list[Floats] = [b["mean"]]
        if return_std:
            out.append(b["predictive_sd" if noise else "latent_sd"])
        if return_cov:
            cov = b["covariance"].reshape(len(out[0]), len(out[0]))
            if noise:
                cov[np.diag_indices_from(cov)] += b["predictive_variance"] - b["latent_variance"]
            out.append(cov)
        if credible:
            out.append(_credible(b, level))
        elif intervals is not None:
            out.append(np.column_stack([b[f"{intervals}_lower"], b[f"{intervals}_upper"]]))
        return out[0] if len(out) == 1 else tuple(out)

    @told
    def intervals(self, X: Any, kind: str = "conformal", level: float = 0.95, data: Data = None, by: str | None = None) -> Floats:
        """An interval for the target of each row, (lower, upper).

        conformal, normalised: hold this share of further targets on average over draws of the calibration rows and further rows.
        band: the certificate's, for its share. credible: the model's own belief, with no guarantee. full, jackknife: from all rows
        of data, the (X, y) that the model was fitted on, with by for each value of a column.
        """
        found = self.predict(X, False, False, kind, level, data=data, by=by)
        return cast("tuple[Floats, Floats]", found)[1]

    @told
    def predict_frame(self, X: Any, intervals: Names = None, level: float = 0.95, data: Data = None, by: str | None = None, exact_variance: bool = False, explain: bool = False) -> Any:
        """All that `krigo predict` writes, as a DataFrame of the kind of X (with its index), of pandas where X is an array. The column `outside`
        counts the inputs of a row that lie outside the range of the model's rows, and is 1 where the row is far from these: no guarantee is about it. With explain, `contribution_COL` says how much a column moves the prediction from `explain_base`, the prediction at the mean row. DataFrames of pandas have the notices in `attrs["notices"]`."""
        kinds = [_options.word("intervals", kind) for kind in _options.listed(intervals)]
        level = _level(level)
        frame = _table.framed(X)
        reply = self._predicted(self._table(X if frame is None else frame), data, intervals=[k for k in kinds if k != "credible"], level=level, by=by or "", exact_variance=exact_variance, explain=explain)
        found: dict[str, npt.NDArray[Any]] = {**_floats(reply)}
        if "credible" in kinds:
            found["credible_lower"], found["credible_upper"] = _credible(found, level).T
        found["outside"] = found["outside"].astype(np.int64)
        of = _table.kind(frame) or "pandas"
        library = import_module(of)
        if of == "pyarrow":
            return library.table(found)
        made = library.DataFrame(found)
        if of == "pandas":
            made.attrs["notices"] = reply.result.get("notices") or []
            if frame is not None:
                made.index = frame.index
        return made

    def sample_y(self, X: Any, n_samples: Whole = 1, random_state: Whole | np.random.RandomState | np.random.Generator | None = 0) -> Floats:
        """Joint draws of the function, without observation noise: a row for each row of X, a column for each draw."""
        draws = _options.whole("n_samples", n_samples)
        seed = _seed(random_state)
        table = self._table(X)
        reply = self._predicted(table, samples=draws, seed=seed)
        return _floats(reply)["samples"].reshape(table.rows, draws)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the coefficient of determination of the mean."""
        truth = _vector(y)
        mean = _floats(self._ask("predict", self._table(X)))["mean"]  # notices don't matter, because no guarantee is about R²
        w = np.ones(len(truth)) if sample_weight is None else _vector(sample_weight, "sample_weight")
        if not len(mean) == len(truth) == len(w):
            raise DataError(f"Found input variables with inconsistent numbers of samples: {[len(mean), len(truth)] + [len(w)] * (sample_weight is not None)}")
        miss = float(np.sum(w * (truth - mean) ** 2))
        spread = float(np.sum(w * (truth - np.average(truth, weights=w)) ** 2))
        if spread == 0:
            return 1.0 if miss == 0 else 0.0
        return 1 - miss / spread

    @told
    def certify(self, X: Any, y: Any, groups: Any = None) -> Finding:
        """Computes the certificate anew from the rows that the model was fitted on, in any order; other rows, or a model that
        isn't what these rows make it, are refused."""
        result = self._ask("certify", self._table(X, y, groups)).result
        if result.get("differs"):
            raise KrigoError(f"the model isn't what its data make it: {result['differs']}; don't rely on it")
        return Finding(result["sentence"], result["certify"])

    @told
    def fresh(self, X: Any, y: Any, groups: Any = None) -> Finding:
        """What rows show that had no part in the model, nor in choosing it: a bound that holds however it was made."""
        result = self._ask("fresh", self._table(X, y, groups)).result
        return Finding(result["sentence"], result["fresh"])

    def watch(self, X: Any, y: Any, ledger: Path, groups: Any = None, key: str = "") -> Finding:
        """Adds rows with their outcomes to a ledger, a file, and says what all of them show of the certificate. An alarm (`details["alarm"]`)
        is false with probability at most delta, however often one looks. Rows that may be given again, by a job that is run again, count once
        with a key, such as a date (`details["known"]`)."""
        result = self._ask("watch", self._table(X, y, groups), again=False, ledger=os.path.abspath(os.fspath(ledger)), key=_options.word("key", key) if key else "").result
        return Finding(result["sentence"], {**result["watch"], "known": result["known"]})

    def report(self, path: Path, X: Any = None, y: Any = None, groups: Any = None) -> None:
        """Writes a page of HTML about the model; with the rows that it was fitted on it has figures of these."""
        if (X is None) != (y is None):
            raise UsageError("report: give both X and y, or neither")
        page = self._ask("report", self._table(X, y, groups) if X is not None else None).buffers["page"]
        _write(path, page)

    def save(self, path: Path) -> None:
        """Writes the model file, which `krigo predict`, `certify` and the others take."""
        _write(path, self._fitted().file)

    @classmethod
    def load(cls, path: Path) -> KrigoRegressor:
        """Reads a model file, whoever wrote it. The parameters are those that it was fitted with."""
        with open(path, "rb") as f:
            model = _process.Model(f.read())
        about = model.about
        made = cls(**{name.replace("-", "_"): value for name, value in (about.get("parameters") or {}).items()})
        columns = _raw_columns(about)
        made._take(model, columns, columns, [])
        return made

    @told
    def set_params(self, **params: Any) -> KrigoRegressor:
        super().set_params(**params)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise elsewhere(name) or AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        tags.input_tags.string = True
        return tags

    def _html_repr(self) -> str:
        """What notebooks show: the promise, and of an estimator that has none scikit-learn's diagram."""
        if hasattr(self, "model_"):
            about = self._fitted().about
            told = [about.get("no_better"), self.promise_, about.get("context")]
            return card("\n".join(text for text in told if text), self.certificate_, self.notices_)
        above = getattr(super(), "_html_repr", None)
        return str(above()) if above is not None else f"<pre>{self!r}</pre>"

    def _repr_html_(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html_repr()}


def _floats(reply: _process.Reply) -> dict[str, Floats]:
    return {name: np.frombuffer(data, np.float64).copy() for name, data in reply.buffers.items()}


def _credible(b: Mapping[str, npt.NDArray[Any]], level: float) -> Floats:
    if level == 0.95:
        return np.column_stack([b["lower95"], b["upper95"]])
    half = statistics.NormalDist().inv_cdf((1 + level) / 2) * b["predictive_sd"]
    return np.column_stack([b["mean"] - half, b["mean"] + half])


def _level(level: Number) -> float:
    return _options.probability("level", level, "a share of targets between 0 and 1, such as 0.9")


def _seed(random_state: Whole | np.random.RandomState | np.random.Generator | None) -> int:
    """A seed: a number as it is, of a generator of numpy its next draw."""
    if random_state is None:
        return int.from_bytes(os.urandom(6), "little")
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**53))
    return _options.seed("random_state", random_state)


def _raw_columns(about: Mapping[str, Any]) -> list[str]:
    """The columns that a model wants of a table, before anything becomes of them."""
    encoding = about.get("encoding")
    names = [c["name"] for c in encoding["columns"]] if encoding else list(about["inputs"])
    derived = {f"{d['column']} {part} {wave}" for d in (about.get("reading") or {}).get("dates") or () for part in d.get("parts") or () for wave in ("sin", "cos")}
    return [name for name in names if name not in derived]


def _name(y: Any) -> str | None:
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def _unused(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _vector(y: Any, what: str = "y", gaps: bool = False) -> Floats:
    """Targets as numbers, or what stands beside them. Those that aren't finite are refused, and without gaps missing ones."""
    if y is None:
        raise DataError("requires y to be passed, but the target y is None" if what == "y" else f"{what} is None: want a number for each row")
    a = _table.array(y, what, f"{what} should be a 1d array")
    if a.ndim == 2 and a.shape[1] == 1:
        warn_column_vector()
        a = a[:, 0]
    if a.ndim != 1:
        raise DataError(f"{what} should be a 1d array, got an array of shape {a.shape} instead.")
    if a.dtype.kind in "mM" or a.dtype.kind == "O" and any(isinstance(v, (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)) for v in a):
        raise DataError(f"{what} holds dates or durations, and only numbers are predicted: say in which unit, as days, (y - y.min()) / np.timedelta64(1, 'D')", column=_name(y) or what)
    try:
        values = _table.floats(a) if a.dtype.kind == "O" else a.astype(float)
    except (TypeError, ValueError, OverflowError) as e:
        raise DataError(f"{what}: only numbers are predicted: {e}", column=_name(y) or what) from e
    wrong = np.isinf(values) if gaps else ~np.isfinite(values)
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        how = f"Input {what} contains NaN: the value is missing" if np.isnan(values[i]) else f"Input {what} contains infinity: the value is not finite"
        raise DataError(f"row {i + 1}: {how}; remove the row or fill the value", i + 1, what if what != "y" else _name(y) or "y")
    return values


def _add_target(table: Table, name: str, y: Any, what: str = "y", gaps: bool = False) -> None:
    values = _vector(y, what, gaps)
    if len(values) != table.rows:
        raise DataError(f"Found input variables with inconsistent numbers of samples: {[table.rows, len(values)]}")
    table.numbers(name, values)


def _add_groups(table: Table, name: str, groups: Any, what: str = "groups") -> str:
    _table.unmasked(groups, what)
    try:
        shape = np.shape(groups)
    except ValueError:
        shape = (-1, -1)
    if shape != (table.rows,):
        raise DataError(f"{what}: want one of each of {table.rows} rows, as an array of one dimension, and not an array of shape {shape}" if -1 not in shape else f"{what}: want an array of one dimension")
    table.objects(name, groups.to_list() if hasattr(groups, "to_list") else np.asarray(groups).tolist())
    return name


def _write(path: Path, data: bytes) -> None:
    """Writes a file as a whole or not at all."""
    folder, name = os.path.split(os.path.abspath(os.fspath(path)))
    handle, part = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        if os.name != "nt":
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(part, 0o666 & ~mask)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
