"""The estimator of numbers, and what it shares with the estimator of classes."""

from __future__ import annotations

import contextlib
import datetime
import os
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from . import _options, _process, _table
from ._base import Regressor, not_fitted, warn_column_vector
from ._errors import DataError, KrigoError, UsageError, elsewhere, told, warn, warn_of_rows
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
FILLED = ("mean", "indicator")  # the values of missing with which inputs may have gaps
Self = TypeVar("Self", bound="Certified")  # Python 3.11 has typing.Self


class Certified(Parameters):
    """What the estimators share: a fit, its certificate, and its file."""

    def fit(self: Self, X: Any, y: Any, groups: Any = None) -> Self:
        """Train a model on the rows, and certify it.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs. krigo knows the columns of a frame by name, and the columns of an array by position.
        y : array or Series of shape (n_samples,)
            The targets.
        groups : array of shape (n_samples,), optional
            The group of each row, such as a patient's number. Groups stay together, and the certificate counts groups.
            The parameter ``group`` names a column of X instead.

        Returns
        -------
        KrigoRegressor or KrigoClassifier
            The estimator itself.

        Raises
        ------
        UsageError
            If a parameter is wrong.
        DataError
            If the table is wrong.

        Examples
        --------
        >>> few = KrigoRegressor(kernel="se").fit(X[:50], y[:50])
        >>> print(few.certificate_)  # 50 rows are too few to hold some out; promise_ says so
        None
        """
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

    def _asked(self, X: Any, y: Any, groups: Any, **more: Any) -> tuple[Table, list[str], list[str] | None, dict[str, Any]]:
        """Returns the table, its names for X's columns, a frame's own names for them, and the arguments for krigo.

        The keyword arguments become flags.
        """
        names: list[str] | None = None
        target = _options._text("target", self.target) if self.target is not None else _name(y) or "y"
        frame = _table.framed(X)
        if frame is not None:
            names = _table.columns(frame)
            if target in names:
                if self.target or _name(y):
                    raise DataError(f"the target {target!r} is a column of X too: drop the column from X, or rename the target", column=target)
                target = _unused("y", names)
            table = _table.of_frame(frame, without=self._without(names))
        else:
            a = _table.matrix(X, type(self).__name__)
            prefix = "x"
            while target.startswith(prefix) and target[len(prefix) :] in map(str, range(1, a.shape[1] + 1)):
                prefix += "_"  # an array has no column names: avoid the target's name
            made = [f"{prefix}{j + 1}" for j in range(a.shape[1])]
            table = _table.of_matrix(a, made, self.missing in FILLED, self._without(made))
        if table.rows == 1:
            raise DataError("X has 1 sample: want at least 2 rows")
        columns = list(table.names)
        self._add_y(table, target, y)
        params = {name: value for name, value in self.get_params(deep=False).items() if value is not False and name not in ("verbose", "progress")}
        params |= {"target": target, **more}
        if groups is not None:
            if self.group is not None:
                raise UsageError("group and groups are both set: set only one of them")
            params["group"] = _add_groups(table, _unused("group", table.names), groups)
        auto = isinstance(self.categorical, str) and self.categorical == "auto"
        if auto:
            del params["categorical"]
        else:
            table.categories = []
        return table, columns, names, {"flags": _options.flags(params), "settle": auto and names is not None}

    def _add_y(self, table: Table, name: str, y: Any) -> None:
        """Adds the targets to a table."""
        _add_target(table, name, y, gaps=self.missing_target == "drop")

    def _other(self, classes: list[str] | None) -> str:
        """Returns the name of the estimator for models with these classes, or "" if it is this estimator."""
        return "KrigoClassifier" if classes else ""

    def _without(self, names: Sequence[str]) -> set[str]:
        """Returns the columns whose cells the fit doesn't use. Their cells may hold anything."""
        if self.duplicates == "drop":  # every cell decides whether rows are copies
            return set()
        dates = [str(text) for text in _options.listed(self.dates)]
        asked = {name for name in names if name in (str(self.group), str(self.offset), str(self.exposure), str(self.noise_column), str(self.censored)) or any(text == name or text.startswith(f"{name}:") for text in dates)}
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
        other = self._other(about.get("classes"))
        if other:
            raise UsageError(f"the target {about['target']!r} has {'classes' if about.get('classes') else 'no classes'}: use {other}")
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
        """Returns rows as the model's table. It finds a frame's columns by name, and an array's by position."""
        about = self._fitted().about
        group: str = about.get("group") or ""
        own = {group, about.get("censored") or ""}  # columns that only rows with targets need
        distinct = bool((about.get("reading") or {}).get("distinct")) and y is not None  # every cell decides whether rows are copies
        frame, me = _table.framed(X), type(self).__name__
        if frame is not None and hasattr(self, "feature_names_in_"):
            wanted = set(_raw_columns(about))
            found = set(_table.columns(frame))
            only = wanted if wanted <= found else found  # if columns are missing, krigo's error names the columns found
            left: set[str] = set()
            if y is not None:
                asked = about.get("parameters") or {}
                if not distinct:  # the table of the fit had these columns, but the fit didn't use their cells
                    left = _table.left_out(list(found), *(_options.listed(asked.get(name)) for name in ("inputs", "ignore"))) - own
                only = ((found if distinct else only | left) | (own & found)) - {self.target_}
            table = _table.of_frame(frame, only, left & only)
        else:
            if frame is not None and not _table.numbered(_table.columns(frame)):
                warn(f"X has feature names, but {me} was fitted without feature names: krigo takes the columns of X in their order")
            elif frame is None and not _table.numbered(self._columns):
                warn(f"X does not have valid feature names, but {me} was fitted with feature names: krigo takes the columns of X in the order {', '.join(self._columns)}")
            a = _table.matrix(X if frame is None else frame, me)
            if a.shape[1] != self.n_features_in_:
                raise DataError(f"X has {a.shape[1]} features, but {me} is expecting {self.n_features_in_} features as input.")
            filled = (about.get("encoding") or {}).get("missing") in FILLED
            table = _table.of_matrix(a, self._columns, filled, () if distinct else set(self._columns) - {*_raw_columns(about), *own})
        if y is not None:
            self._add_y(table, self.target_, y)
            if groups is not None:
                if group in table.names:
                    raise UsageError(f"the model's groups are in the column {group!r} of X: don't pass groups")
                _add_groups(table, group or "group", groups)
            elif group and group != _options.EQUAL_ROWS and group not in table.names:
                raise DataError(f"the model was fitted with groups: give groups=, with the group of each row, or X with the column {group!r}", column=group)
        return table

    def _ask(self, op: str, table: Table | None = None, again: bool = True, data: Table | None = None, **args: Any) -> _process.Reply:
        tables = {name: t for name, t in (("table", table), ("data", data)) if t is not None}
        header: dict[str, Any] = {name: t.header() for name, t in tables.items()} | ({"args": args} if args else {})
        with contextlib.ExitStack() as stack:
            for t in tables.values():
                stack.enter_context(t.explained())
            return _process.ask(op, [b for t in tables.values() for b in t.buffers], self._fitted(), again, **header)

    def _predicted(self, table: Table, data: Data = None, **args: Any) -> _process.Reply:
        """Returns predictions, and warns of each notice about these rows."""
        reply = self._ask("predict", table, data=self._table(*data) if data is not None else None, **args)
        for notice in reply.result.get("notices") or ():
            warn_of_rows(notice)
        return reply

    @told
    def certify(self, X: Any, y: Any, groups: Any = None) -> Finding:
        """Check the certificate: compute it anew from the rows that the model was fitted on.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs of all rows of the fit, in any order.
        y : array or Series of shape (n_samples,)
            Their targets.
        groups : array of shape (n_samples,), optional
            The group of each row, if the fit had groups.

        Returns
        -------
        Finding
            The sentence, and in ``details`` what was checked.

        Raises
        ------
        DataError
            If these aren't the rows of the fit.
        KrigoError
            If the rows don't make this model.

        See Also
        --------
        fresh : Ask rows that are new to the model.

        Examples
        --------
        >>> gp.certify(X, y).details["matches"]
        True
        """
        result = self._ask("certify", self._table(X, y, groups)).result
        if result.get("differs"):
            raise KrigoError(f"the model isn't what its data make it: {result['differs']}; don't rely on this model")
        return Finding(result["sentence"], result["certify"])

    @told
    def fresh(self, X: Any, y: Any, groups: Any = None) -> Finding:
        """Bound the share of misses using new rows, which had no part in training or choosing the model.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs of the new rows.
        y : array or Series of shape (n_samples,)
            Their targets.
        groups : array of shape (n_samples,), optional
            The group of each row, if the fit had groups.

        Returns
        -------
        Finding
            The sentence and the bound, which holds however the model was made.

        See Also
        --------
        certify : Check the certificate with the rows of the fit.
        watch : Compare outcomes with the certificate as they arrive.

        Examples
        --------
        >>> found = gp.fresh(X_new, y_new)
        >>> print(f"misses at most {found.bound:.0%} of further rows")
        misses at most 9% of further rows
        """
        result = self._ask("fresh", self._table(X, y, groups)).result
        return Finding(result["sentence"], result["fresh"])

    def watch(self, X: Any, y: Any, ledger: Path, groups: Any = None, key: str = "") -> Finding:
        """Add outcomes to a ledger, and compare all outcomes in it with the certificate.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs of rows whose target became known.
        y : array or Series of shape (n_samples,)
            Their targets.
        ledger : path
            The file that keeps the outcomes. It is made if it isn't there.
        groups : array of shape (n_samples,), optional
            The group of each row, if the fit had groups.
        key : str, optional
            A name of these rows, such as a date. Rows with the same key count once, if a job runs again.

        Returns
        -------
        Finding
            ``details["alarm"]`` is None until the outcomes contradict the certificate. ``details["known"]`` says whether the
            key was known.

        See Also
        --------
        fresh : Bound the misses once, using new rows.

        Notes
        -----
        An alarm is false with probability at most ``delta``, however often you look.

        Examples
        --------
        >>> state = gp.watch(X_new, y_new, "outcomes.ledger", key="monday")
        >>> state.details["rows"], state.details["alarm"]
        (50, None)
        """
        result = self._ask("watch", self._table(X, y, groups), again=False, ledger=os.path.abspath(os.fspath(ledger)), key=_options.word("key", key) if key else "").result
        return Finding(result["sentence"], {**result["watch"], "known": result["known"]})

    def report(self, path: Path, X: Any = None, y: Any = None, groups: Any = None) -> None:
        """Write an HTML page about the model.

        Parameters
        ----------
        path : path
            The file to write.
        X : array or DataFrame of shape (n_samples, n_features), optional
            The inputs of the rows that the page shows, usually the rows of the fit. Without rows it shows no predictions.
        y : array or Series of shape (n_samples,), optional
            Their targets. X and y go together.
        groups : array of shape (n_samples,), optional
            The group of each row, if the fit had groups.

        Examples
        --------
        >>> gp.report("model.html", X, y)
        """
        if (X is None) != (y is None):
            raise UsageError("report: give both X and y, or neither")
        page = self._ask("report", self._table(X, y, groups) if X is not None else None).buffers["page"]
        _write(path, page)

    def plot(self, X: Any = None, y: Any = None, effects: Whole = 4) -> npt.NDArray[Any]:
        """Draw the promise, targets against predictions, and what single columns do to the prediction. This needs matplotlib.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features), optional
            The inputs of the rows to draw. A model holds no rows: without X only the promise is drawn.
        y : array or Series of shape (n_samples,), optional
            Their targets.
        effects : int, default 4
            At most how many columns to draw: those that move the prediction most, while the others stay at their medians or
            most frequent values. The shaded part is the model's 95 % interval of the target.

        Returns
        -------
        ndarray of matplotlib's Axes
            ``axes[0].figure`` is the figure.

        Raises
        ------
        ImportError
            If matplotlib isn't installed.

        Notes
        -----
        The promise is a line if the model was fitted with ``curve=True``, else a point. Effects are the model's belief, without a guarantee.

        Examples
        --------
        >>> axes = gp.plot(X_new, y_new)
        >>> [ax.get_title() for ax in axes]
        ['promise', 'observed against predicted', 'x1']
        """
        from . import _plot

        self._fitted()
        if X is None and y is not None:
            raise UsageError("plot: y goes with X, the inputs of the same rows")
        return _plot.drawn(self, X, y, _options.whole("effects", effects, 0, 100))

    def save(self, path: Path) -> None:
        """Write the model file, which ``krigo predict``, ``certify``, ``serve`` and ``watch`` take.

        Parameters
        ----------
        path : path
            The file to write. It is replaced as a whole.

        See Also
        --------
        load : Read a model file.

        Examples
        --------
        >>> gp.save("waves.krigo")
        """
        _write(path, self._fitted().file)

    @classmethod
    def load(cls: type[Self], path: Path) -> Self:
        """Read a model file, which Python, R or the command line wrote.

        Parameters
        ----------
        path : path
            The file to read.

        Returns
        -------
        KrigoRegressor or KrigoClassifier
            A fitted estimator, with the parameters that the model was fitted with.

        See Also
        --------
        save : Write a model file.

        Examples
        --------
        >>> gp.save("waves.krigo")
        >>> again = KrigoRegressor.load("waves.krigo")
        >>> bool(again.predict([[1.5]]) == gp.predict([[1.5]]))
        True
        """
        with open(path, "rb") as f:
            model = _process.Model(f.read())
        about = model.about
        made = cls(**{name.replace("-", "_"): value for name, value in (about.get("parameters") or {}).items()})
        columns = _raw_columns(about)
        made._take(model, columns, columns, [])
        return made

    @told
    def set_params(self: Self, **params: Any) -> Self:
        """
        Change parameters of the estimator. A fitted model stays as it is until the next fit.

        Parameters
        ----------
        **params : dict
            The parameters and their new values.

        Returns
        -------
        KrigoRegressor or KrigoClassifier
            The estimator itself.

        Examples
        --------
        >>> KrigoRegressor().set_params(kernel="se").kernel
        'se'
        """
        super().set_params(**params)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise elsewhere(name) or AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing in FILLED
        tags.input_tags.string = True
        return tags

    def _html_repr(self) -> str:
        """Returns HTML for notebooks: the promise, or scikit-learn's diagram if the estimator isn't fitted."""
        if hasattr(self, "model_"):
            about = self._fitted().about
            told = [about.get("no_better"), self.promise_, about.get("context")]
            return card("\n".join(text for text in told if text), self.certificate_, self.notices_, self.details_.get("test"))
        above = getattr(super(), "_html_repr", None)
        return str(above()) if above is not None else f"<pre>{self!r}</pre>"

    def _repr_html_(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html_repr()}


class KrigoRegressor(Regressor, Certified):
    """Gaussian-process regression with a certificate, which is a promise about predictions on further rows.

    The parameters are the flags of `krigo fit`. ``help(KrigoRegressor.__init__)`` lists them with their defaults.
    Choose ``epsilon``, the half-width beyond which an error counts as a miss, before you look at the data.

    Attributes
    ----------
    certificate_ : dict or None
        The numbers of the certificate, such as ``mean_bound``, ``epsilon_raw``, ``delta``, ``rows`` and ``conditions``.
    promise_ : str
        The certificate as a sentence, or why there is no certificate.
    context_ : dict or None
        How good the model is on the certified rows (``rmse``, ``mae``, ``r2``, ``coverage95``), beside a ``constant`` and a ``linear`` model.
    notices_ : list of str
        What else is worth knowing about the fit.
    delivered_ : KrigoRegressor
        With ``deliver="all"``, a second model, which all rows trained and which has no certificate.
    details_ : dict
        What ``krigo fit --json`` prints, for example the kernel, the noise and the training.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of str
        The names of the columns of X, if X was a frame.

    See Also
    --------
    certify_predictions : Certify the predictions of any other model.

    Notes
    -----
    krigo trains on some of the rows, the prior rows, and counts misses on other rows, the certified rows.
    The certificate is wrong with probability at most ``delta`` over the draw of the certified rows.
    It doesn't hold if the certified rows chose the model, as in a grid search. Then ask `fresh` with new rows.

    Examples
    --------
    The examples of the methods use the model and the rows of this example.

    >>> import numpy as np
    >>> from krigo import KrigoRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> X_new, y_new = X[150:], y[150:]
    >>> X, y = X[:150], y[:150]
    >>> gp = KrigoRegressor(epsilon=0.3, epsilon_units="raw", kernel="se").fit(X, y)
    >>> print(f"misses at most {gp.certificate_['mean_bound']:.0%} of further rows")
    misses at most 17% of further rows
    >>> gp.predict([[1.5], [4.7]]).round(1)
    array([ 1., -1.])
    """

    def evaluate(self, X: Any, y: Any, params: Value, groups: Any = None) -> dict[str, Any]:
        """Evaluate an objective at given parameters, without training.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.
        y : array or Series of shape (n_samples,)
            The targets.
        params : dict or path
            The parameters of the kernel and the noise, or a JSON file that holds them.
        groups : array of shape (n_samples,), optional
            The group of each row.

        Returns
        -------
        dict
            What ``krigo evaluate --json`` prints: the objective's value, its gradient and the certificate.

        Examples
        --------
        >>> params = {"kernel": {"name": "se", "variance": 1, "lengthscales": [0.5]}, "noise_variance": 0.1}
        >>> found = KrigoRegressor(objective="evidence").evaluate(X, y, params)
        >>> round(found["value"], 2)  # the negative logarithm of the evidence
        20.83
        """
        table, _, _, args = self._asked(X, y, groups, params=params)
        with table.explained():
            return _process.ask("evaluate", table.buffers, table=table.header(), args=args).result

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
        """Predict the target of each row, with its uncertainty if asked.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.
        return_std : bool, default False
            Whether to return standard deviations too.
        return_cov : bool, default False
            Whether to return the covariance matrix of the rows too. At most one of return_std and return_cov may be set.
        intervals : str, optional
            The kind of intervals to return too (see `intervals`).
        level : float, default 0.95
            The share of targets that the intervals should hold.
        noise : bool, default True
            Whether standard deviations and covariances include observation noise. If not, they are of the function.
        data : tuple (X, y) or (X, y, groups), optional
            The rows that the model was fitted on, which the intervals "full" and "jackknife" need.
        by : str, optional
            A column. The intervals "full" and "jackknife" then hold for each of its values.
        exact_variance : bool, default False
            Whether to solve for each row's variance, if the model was fitted with ``solver="cg"``.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            The predictions. If nothing else is asked, only this array is returned, else a tuple.
        std or cov : ndarray of shape (n_samples,) or (n_samples, n_samples)
            The standard deviations or covariances, if asked.
        intervals : ndarray of shape (n_samples, 2)
            The lower and upper ends, if asked.

        Warns
        -----
        KrigoWarning
            If a row is outside the range of the model's rows, or has no prediction because it overflows: it is NaN then.

        See Also
        --------
        intervals : Intervals of several kinds.
        predict_frame : All figures of the predictions as a frame.
        sample_y : Draws of the function.

        Examples
        --------
        >>> mean, std = gp.predict([[1.5], [4.7]], return_std=True)
        >>> std.round(1)
        array([0.1, 0.1])
        """
        if return_std and return_cov:
            raise UsageError("return_std and return_cov are both set: set at most one")
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
        """Return an interval for the target of each row.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.
        kind : {"conformal", "normalised", "band", "credible", "full", "jackknife"}, default "conformal"
            What the intervals rest on (see Notes).
        level : float, default 0.95
            The share of targets that the intervals should hold. "band" takes the certificate's share instead.
        data : tuple (X, y) or (X, y, groups), optional
            The rows that the model was fitted on, which "full" and "jackknife" need.
        by : str, optional
            A column. "full" and "jackknife" then hold for each of its values.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The lower and the upper end of each interval.

        See Also
        --------
        predict : Predictions, with standard deviations or covariances.

        Notes
        -----
        "conformal" and "normalised" (wider where the model is less sure) hold the share ``level`` on average over draws of
        further rows and of the certified rows, or of the calibration rows if some were set aside. "band" is the certificate's, with its confidence. "full" and "jackknife" use all rows
        of ``data``. "credible" is the model's own belief, without a guarantee.

        Examples
        --------
        >>> gp.intervals([[1.5], [4.7]], "conformal", level=0.9).round(1)
        array([[ 0.7,  1.3],
               [-1.3, -0.7]])
        """
        found = self.predict(X, False, False, kind, level, data=data, by=by)
        return cast("tuple[Floats, Floats]", found)[1]

    @told
    def predict_frame(self, X: Any, intervals: Names = None, level: float = 0.95, data: Data = None, by: str | None = None, exact_variance: bool = False, explain: bool = False) -> Any:
        """Return everything that ``krigo predict`` writes, as a frame.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.
        intervals : str or list of str, optional
            The kinds of intervals to add (see `intervals`).
        level : float, default 0.95
            The share of targets that the intervals should hold.
        data : tuple (X, y) or (X, y, groups), optional
            The rows that the model was fitted on, which the intervals "full" and "jackknife" need.
        by : str, optional
            A column. The intervals "full" and "jackknife" then hold for each of its values.
        exact_variance : bool, default False
            Whether to solve for each row's variance, if the model was fitted with ``solver="cg"``.
        explain : bool, default False
            Whether to add ``contribution_COL`` for each column: how much it moves the prediction from ``explain_base``, the
            prediction at the mean row.

        Returns
        -------
        DataFrame
            A frame of the kind of X, with its index, or of pandas if X is an array. ``outside`` counts the inputs of a row that
            are outside the range of the model's rows, and is 1 if the row is far from them: no guarantee is about such a row.
            A frame of pandas has the notices in ``attrs["notices"]``.

        Examples
        --------
        >>> frame = gp.predict_frame([[1.5], [4.7]], intervals="band")
        >>> frame[["mean", "band_lower", "band_upper"]].round(1).to_numpy()
        array([[ 1. ,  0.7,  1.3],
               [-1. , -1.3, -0.7]])
        """
        kinds = [_options.word("intervals", kind) for kind in _options.listed(intervals)]
        level = _level(level)
        frame = _table.framed(X)
        reply = self._predicted(self._table(X if frame is None else frame), data, intervals=[k for k in kinds if k != "credible"], level=level, by=by or "", exact_variance=exact_variance, explain=explain)
        found: dict[str, npt.NDArray[Any]] = {**_floats(reply)}
        if "credible" in kinds:
            found["credible_lower"], found["credible_upper"] = _credible(found, level).T
        found["outside"] = found["outside"].astype(np.int64)
        return _framed(frame, found, reply)

    def sample_y(self, X: Any, n_samples: Whole = 1, random_state: Whole | np.random.RandomState | np.random.Generator | None = 0) -> Floats:
        """Draw functions from the posterior, without observation noise.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples_X, n_features)
            The inputs at which to draw.
        n_samples : int, default 1
            The number of draws.
        random_state : int, numpy generator or None, default 0
            The seed. The next draw of a generator is the seed, and None takes a new seed each time.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples)
            A column for each draw. The rows of a draw are correlated.

        Examples
        --------
        >>> gp.sample_y([[1.5], [4.7]], n_samples=3).shape
        (2, 3)
        """
        draws = _options.whole("n_samples", n_samples)
        seed = _seed(random_state)
        table = self._table(X)
        reply = self._predicted(table, samples=draws, seed=seed)
        return _floats(reply)["samples"].reshape(table.rows, draws)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R², the coefficient of determination of the predictions.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.
        y : array or Series of shape (n_samples,)
            The targets.
        sample_weight : array of shape (n_samples,), optional
            The weight of each row.

        Returns
        -------
        float
            1 minus the mean squared error divided by the variance of y. No guarantee is about R².

        Examples
        --------
        >>> round(gp.score(X_new, y_new), 2)
        0.98
        """
        truth = _vector(y)
        mean = _complete(self._ask("predict", self._table(X)))["mean"]  # other notices don't matter, because no guarantee is about R²
        w = _weights(sample_weight, len(mean), len(truth))
        miss = float(np.sum(w * (truth - mean) ** 2))
        spread = float(np.sum(w * (truth - np.average(truth, weights=w)) ** 2))
        if spread == 0:
            return 1.0 if miss == 0 else 0.0
        return 1 - miss / spread


def _floats(reply: _process.Reply) -> dict[str, Floats]:
    return {name: np.frombuffer(data, np.float64).copy() for name, data in reply.buffers.items()}


def _complete(reply: _process.Reply) -> dict[str, Floats]:
    """Returns the numbers of a reply in which every row has a prediction. Otherwise raises an error that names the first row without."""
    found = _floats(reply)
    for finding, notice in zip(reply.result["findings"] or (), reply.result["notices"] or ()):
        if finding["kind"] == "rows_without_prediction":
            raise DataError(notice)
    return found


def _framed(frame: Any, columns: Mapping[str, npt.NDArray[Any]], reply: _process.Reply) -> Any:
    """Returns columns as a frame of the kind of the given frame, with its index, or of pandas if it is None."""
    of = _table.kind(frame) or "pandas"
    library = import_module(of)
    if of == "pyarrow":
        return library.table(dict(columns))
    made = library.DataFrame(columns)
    if of == "pandas":
        made.attrs["notices"] = reply.result.get("notices") or []
        if frame is not None:
            made.index = frame.index
    return made


def _credible(b: Mapping[str, npt.NDArray[Any]], level: float) -> Floats:
    if level == 0.95:
        return np.column_stack([b["lower95"], b["upper95"]])
    half = statistics.NormalDist().inv_cdf((1 + level) / 2) * b["predictive_sd"]
    return np.column_stack([b["mean"] - half, b["mean"] + half])


def _level(level: Number) -> float:
    return _options.probability("level", level, "a share of targets between 0 and 1, such as 0.9")


def _seed(random_state: Whole | np.random.RandomState | np.random.Generator | None) -> int:
    """Returns a seed: the given number, the next draw of a numpy generator, or a random number for None."""
    if random_state is None:
        return int.from_bytes(os.urandom(6), "little")
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**53))
    return _options.seed("random_state", random_state)


def _raw_columns(about: Mapping[str, Any]) -> list[str]:
    """Returns the names of the columns that a model needs from a table, before krigo encodes categories and dates."""
    encoding = about.get("encoding")
    names = [c["name"] for c in encoding["columns"]] if encoding else list(about["inputs"])
    derived = {f"{d['column']} {part} {wave}" for d in (about.get("reading") or {}).get("dates") or () for part in d.get("parts") or () for wave in ("sin", "cos")}
    further = [about.get("offset"), about.get("exposure"), about.get("noise_column")]
    return [name for name in names if name not in derived] + [name for name in further if name and name not in names]


def _name(y: Any) -> str | None:
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def _unused(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _column(y: Any, what: str) -> npt.NDArray[Any]:
    if y is None:
        raise DataError("requires y to be passed, but the target y is None" if what == "y" else f"{what} is None: want a number for each row")
    a = _table.array(y, what, f"{what} should be a 1d array")
    if a.ndim == 2 and a.shape[1] == 1:
        warn_column_vector()
        a = a[:, 0]
    if a.ndim != 1:
        raise DataError(f"{what} should be a 1d array, got an array of shape {a.shape} instead.")
    return a


def _vector(y: Any, what: str = "y", gaps: bool = False) -> Floats:
    """Returns targets, predictions or weights as numbers. It refuses infinity and, without gaps, missing values."""
    a = _column(y, what)
    if a.dtype.kind in "mM" or a.dtype.kind == "O" and any(isinstance(v, (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)) for v in a):
        raise DataError(f"{what} holds dates or durations: want numbers. Choose a unit, for example days: (y - y.min()) / np.timedelta64(1, 'D')", column=_name(y) or what)
    try:
        values = _table.floats(a) if a.dtype.kind == "O" else a.astype(float)
    except (TypeError, ValueError, OverflowError) as e:
        raise DataError(f"{what}: want numbers: {e}", column=_name(y) or what) from e
    wrong = np.isinf(values) if gaps else ~np.isfinite(values)
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        how = f"Input {what} contains NaN: the value is missing" if np.isnan(values[i]) else f"Input {what} contains infinity: the value is not finite"
        raise DataError(f"row {i + 1}: {how}; remove the row or fill the value", i + 1, what if what != "y" else _name(y) or "y")
    return values


def _weights(sample_weight: Any, predicted: int, rows: int) -> Floats:
    w = np.ones(rows) if sample_weight is None else _vector(sample_weight, "sample_weight")
    if not predicted == rows == len(w):
        raise DataError(f"Found input variables with inconsistent numbers of samples: {[predicted, rows] + [len(w)] * (sample_weight is not None)}")
    return w


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
        raise DataError(f"{what}: want a one-dimensional array with the group of each of {table.rows} rows, not an array of shape {shape}" if -1 not in shape else f"{what}: want a one-dimensional array")
    table.objects(name, groups.to_list() if hasattr(groups, "to_list") else np.asarray(groups).tolist())
    return name


def _write(path: Path, data: bytes) -> None:
    """Writes a whole file, or leaves the old file as it was."""
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
