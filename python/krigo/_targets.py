"""Several targets of one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _options, _process, _table
from ._base import not_fitted
from ._errors import DataError, UsageError, told, warn_of_rows
from ._finding import Finding
from ._regressor import KrigoRegressor, Path, _add_target, _floats, _raw_columns, _write
from ._table import Floats


class KrigoTargets:
    """Gaussian-process regression of several targets, with a certificate of each and one of all targets at once.

    The parameters are those of `KrigoRegressor`, except ``target``, ``deliver`` and ``declared``.

    Attributes
    ----------
    models_ : dict of str to KrigoRegressor
        The fitted model of each target. Their certificates share ``delta`` equally with the certificate of all targets at once.
    certificate_ : dict or None
        The numbers of the certificate of all targets at once.
    promise_ : str
        What holds for all targets together, in words.
    together_ : dict
        How ``delta`` is shared, and the units of each target's band.

    Examples
    --------
    >>> import numpy as np
    >>> from krigo import KrigoTargets
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (200, 1))
    >>> Y = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 0])]) + rng.normal(0, 0.1, (200, 2))
    >>> both = KrigoTargets(epsilon=0.5, kernel="se").fit(X, Y)
    >>> list(both.models_)
    ['y1', 'y2']
    >>> both.predict([[1.5]]).round(1)
    array([[1. , 0.1]])
    """

    def __init__(self, **parameters: Any) -> None:
        for name in ("target", "deliver", "declared"):
            if parameters.get(name) is not None:
                raise UsageError(f"{name}: not for several targets")
        self.parameters = parameters
        KrigoRegressor(**parameters)  # refuses names that aren't parameters

    @told
    def fit(self, X: Any, Y: Any, groups: Any = None) -> KrigoTargets:
        """Train a model of each target, and certify them.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.
        Y : array or DataFrame of shape (n_samples, n_targets)
            The targets. A cell may be missing (NaN). The columns of an array are named y1, y2, ….
        groups : array of shape (n_samples,), optional
            The group of each row.

        Returns
        -------
        KrigoTargets
            The object itself.
        """
        columns = _columns(Y)
        names, first = list(columns), KrigoRegressor(**self.parameters)
        if len(names) < 2:
            raise DataError("Y: want at least two columns; KrigoRegressor fits one target")
        first.target = names[0]
        table, inputs, frame, args = first._asked(X, columns[names[0]], groups)
        for name in names[1:]:
            if name in table.names:
                raise DataError(f"the target {name!r} is a column of X too: drop the column from X, or rename the target", column=name)
            _add_target(table, name, columns[name], f"Y[{name!r}]", gaps=True)
        one = _options.flags({"target": names[0]})[0]
        args["flags"] = [flag for flag in args["flags"] if flag != one] + ["--target=" + ",".join(map(_options._quoted, names))]
        with table.explained():
            reply = _process.ask("fit", table.buffers, again=False, table=table.header(), args=args)
        self._take(reply, inputs, frame)
        return self

    def _take(self, reply: _process.Reply, inputs: list[str] | None, frame: list[str] | None) -> None:
        self.file_: bytes = bytes(reply.buffers["file"])
        self.together_: dict[str, Any] = reply.result["together"]
        self.certificate_: dict[str, Any] | None = self.together_["certificate"]
        self.promise_: str = reply.result["sentence"]
        self.models_: dict[str, KrigoRegressor] = {}
        for i, about in enumerate(reply.result["targets"]):
            model = _process.Model(reply.buffers[f"file{i}"], about)
            model.known(reply.process, about["model"])
            made = KrigoRegressor(**getattr(self, "parameters", {}))
            made.target = about["target"]
            columns = inputs or _raw_columns(about)
            made._take(model, columns, frame if inputs else columns, [])
            self.models_[about["target"]] = made

    def _fitted(self) -> dict[str, KrigoRegressor]:
        if not hasattr(self, "models_"):
            raise not_fitted(self)
        return self.models_

    def predict(self, X: Any) -> Floats:
        """Predict all targets of each row, as an array of shape (n_samples, n_targets). Each of ``models_`` also gives intervals and more."""
        replies = [m._ask("predict", m._table(X)) for m in self._fitted().values()]
        for notice in dict.fromkeys(notice for reply in replies for notice in reply.result.get("notices") or ()):
            warn_of_rows(notice)
        return np.column_stack([_floats(reply)["mean"] for reply in replies])

    @told
    def certify(self, X: Any, Y: Any, groups: Any = None) -> Finding:
        """Compute all certificates anew from the rows of the fit, in any order. Refuses models that the rows don't make."""
        models, columns = self._fitted(), _columns(Y)
        if set(columns) != set(models):
            raise DataError(f"Y has the columns {list(columns)}, and the targets are {list(models)}")
        first, *others = models
        table = models[first]._table(X, columns[first], groups)
        for name in others:
            _add_target(table, name, columns[name], f"Y[{name!r}]", gaps=True)
        with table.explained():
            found = _process.ask("certify_targets", [*table.buffers, self.file_], table=table.header()).result
        return Finding(found["sentence"], found)

    def save(self, path: Path) -> None:
        """Write one file with all models, which ``krigo predict``, ``certify``, ``serve`` and ``extract`` take."""
        self._fitted()
        _write(path, self.file_)

    @classmethod
    def load(cls, path: Path) -> KrigoTargets:
        """Read a file of several targets, which Python or the command line wrote."""
        with open(path, "rb") as f:
            reply = _process.ask("load_targets", [f.read()])
        made = cls()
        made._take(reply, None, None)
        return made


def _columns(Y: Any) -> Mapping[str, Any]:
    """Returns the columns of Y by name."""
    frame = _table.framed(Y)
    if frame is not None:
        return {name: frame[name] for name in _table.columns(frame)}
    a = np.asarray(Y, dtype=float)
    if a.ndim != 2:
        raise DataError(f"Y: want an array with a column for each target, not of shape {a.shape}")
    return {f"y{j + 1}": a[:, j] for j in range(a.shape[1])}
