"""Compares estimators on the same splits of the rows."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from . import _options, _table
from ._errors import DataError, UsageError, warn
from ._regressor import Certified, KrigoRegressor, Whole, _complete, _vector
from ._table import Floats, Table

# _MANY is the number of different texts from which on a column of text is no input of the ridge regression.
_MANY = 100


def compare(X: Any, y: Any, models: Mapping[str, Any] | None = None, cv: Any = 5, groups: Any = None, seed: Whole = 0) -> Any:
    """Compare estimators with krigo, a ridge regression and a constant, on the same splits. This needs scikit-learn and pandas.

    Parameters
    ----------
    X : array or DataFrame of shape (n_samples, n_features)
        The inputs.
    y : array or Series of shape (n_samples,)
        The targets, numbers.
    models : mapping of str to estimator, optional
        Estimators by the names that they have in the result. Each gets the rows of X as they are. One named "krigo", "ridge" or
        "constant" takes the place of that model. krigo is ``KrigoRegressor()``, or ``KrigoRegressor(missing="indicator")`` if
        inputs are missing, because a fold's model may see no gap before it predicts.
    cv : int or splitter of scikit-learn, default 5
        The number of shuffled folds (whole groups if ``groups`` are given), or a splitter such as ``TimeSeriesSplit()``.
    groups : array of shape (n_samples,), optional
        The group of each row. Groups stay together.
    seed : int, default 0
        The seed that shuffles the rows.

    Returns
    -------
    DataFrame
        A row for each model, the smallest ``rmse`` first: ``rmse``, ``mae``, ``coverage95`` (the share of targets within the model's 95 %
        interval, if it gives standard deviations) and the ``seconds`` of fits and predictions. ``attrs`` says how many ``rows`` and ``splits`` were counted.

    See Also
    --------
    certify_predictions : Certify the predictions of the model that you choose, with rows that chose nothing.

    Notes
    -----
    No figure is a guarantee, and the best of many figures is better than that model will be.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from krigo import compare
    >>> X = np.arange(60.0)[:, None]
    >>> board = compare(X, np.sin(X[:, 0] / 5), {"neighbours": KNeighborsRegressor()}, cv=3)
    >>> board.index[0]
    'krigo'
    """
    pandas = _needed("pandas")
    truth = _vector(y)
    shuffle = _options.seed("seed", seed)
    table, *_ = KrigoRegressor(missing="mean")._asked(X, y, groups)
    frame = _table.framed(X)
    rows = frame if frame is not None else _table.matrix(X, "compare")
    features = _features(table, len(truth), "group" if groups is not None else "")
    given = dict(models or {})
    for name, model in given.items():
        if not (isinstance(name, str) and not isinstance(model, type) and hasattr(model, "fit") and hasattr(model, "predict")):
            raise UsageError(f"models: want names with estimators, which have fit and predict, not {name!r}: {_options.short(model)}")
    everyone = {**_simple(), "krigo": KrigoRegressor(missing="indicator" if _gaps(table) else None), **given}
    boards = {name: _Board() for name in everyone}
    splits = _splits(cv, groups, shuffle, rows, truth)
    for train, test in splits:
        for name, model in everyone.items():
            of = features if name not in given and name != "krigo" else rows
            boards[name].add(name, model, (_rows(of, train), truth[train], _taken(groups, train)), (_rows(of, test), truth[test]))
    outside = sum(board.outside for board in boards.values())
    if outside:
        warn(f"{outside} rows of the folds lie outside the range of the rows that krigo's models were made from, in an input, or are far from them")
    board = pandas.DataFrame({name: b.figures() for name, b in boards.items()}).T.sort_values("rmse", kind="stable")
    board.index.name = "model"
    board.attrs.update(rows=len(next(iter(boards.values())).errors), splits=len(splits))
    return board


class _Board:
    """What one model did on the test rows of all splits."""

    def __init__(self) -> None:
        self.errors: list[float] = []
        self.held: list[bool] = []
        self.seconds = 0.0
        self.outside = 0

    def add(self, name: str, model: Any, train: tuple[Any, Floats, Any], test: tuple[Any, Floats]) -> None:
        """Fits a copy of a model, and adds its errors."""
        began = time.perf_counter()
        try:
            made = _needed("sklearn.base").clone(model, safe=False)
            mean, ends = self._predicted(made, train, test[0])
        except Exception as e:
            e.args = (f"{name}: {e}", *e.args[1:])
            raise
        self.seconds += time.perf_counter() - began
        self.errors += (mean - test[1]).tolist()
        if ends is not None:
            self.held += ((ends[0] <= test[1]) & (test[1] <= ends[1])).tolist()

    def _predicted(self, made: Any, train: tuple[Any, Floats, Any], X: Any) -> tuple[Floats, tuple[Floats, Floats] | None]:
        """Returns predictions, and the ends of the 95 % intervals of a model that knows them."""
        if isinstance(made, Certified):
            made.fit(*train)
            found = _complete(made._ask("predict", made._table(X)))
            self.outside += int(np.count_nonzero(found["outside"]))
            return found["mean"], (found["lower95"], found["upper95"])
        made.fit(*train[:2])
        if "return_std" in inspect.signature(made.predict).parameters:
            mean, sd = (np.asarray(v, dtype=float).ravel() for v in made.predict(X, return_std=True))
            return mean, (mean - 1.96 * sd, mean + 1.96 * sd) if sd.any() else None  # a constant of scikit-learn returns zeros
        return np.asarray(made.predict(X), dtype=float).ravel(), None

    def figures(self) -> dict[str, float]:
        errors = np.array(self.errors)
        return {
            "rmse": float(np.sqrt(np.mean(errors**2))),
            "mae": float(np.mean(np.abs(errors))),
            "coverage95": float(np.mean(self.held)) if self.held else np.nan,
            "seconds": round(self.seconds, 2),
        }


def _simple() -> dict[str, Any]:
    """Returns the ridge regression and the constant."""
    impute, scale = _needed("sklearn.impute").SimpleImputer(keep_empty_features=True), _needed("sklearn.preprocessing").StandardScaler()
    ridge = _needed("sklearn.linear_model").RidgeCV(alphas=np.logspace(-3, 4, 15))
    return {"ridge": _needed("sklearn.pipeline").make_pipeline(impute, scale, ridge), "constant": _needed("sklearn.dummy").DummyRegressor()}


def _gaps(table: Table) -> bool:
    """Returns whether a cell of a table is missing."""
    return any(bool(np.any(cells == "") if cells.dtype == object else np.any(np.isnan(cells))) for cells in table.cells().values())


def _features(table: Table, rows: int, group: str) -> Floats:
    """Returns the inputs of the ridge regression: numbers as they are, and for each text of a column whether a row has it."""
    columns: list[Floats] = []
    for name, cells in list(table.cells().items())[: -2 if group else -1]:  # the target and the group are last
        if cells.dtype != object:
            columns.append(cells)
            continue
        kinds = sorted(set(cells) - {""})
        if len(kinds) <= _MANY:
            columns += [(cells == kind).astype(float) for kind in kinds]
    return np.column_stack(columns) if columns else np.zeros((rows, 1))


def _splits(cv: Any, groups: Any, seed: int, X: Any, y: Floats) -> list[tuple[Any, Any]]:
    selection = _needed("sklearn.model_selection")
    if not hasattr(cv, "split"):
        folds = _options.whole("cv", cv, 2, len(y))
        cv = selection.GroupKFold(folds, shuffle=True, random_state=seed % 2**32) if groups is not None else selection.KFold(folds, shuffle=True, random_state=seed % 2**32)
    try:
        return list(cv.split(np.zeros((len(y), 1)), y, groups))
    except ValueError as e:
        raise DataError(f"cv: {e}") from e


def _rows(X: Any, at: Any) -> Any:
    """Returns some rows of an array or a frame."""
    of = _table.kind(X)
    if of == "pandas":
        return X.iloc[at]
    return X.take(at) if of == "pyarrow" else X[at]


def _taken(groups: Any, at: Any) -> Any:
    return None if groups is None else np.asarray(groups)[at]


def _needed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as e:
        library = "scikit-learn" if module.startswith("sklearn") else module
        raise ImportError(f"compare needs {library}, which isn't installed: pip install {library}") from e
