"""The estimator of classes."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from . import _process, _table
from ._base import Classifier
from ._errors import DataError, UsageError
from ._regressor import Certified, Number, _column, _complete, _floats, _framed, _level, _name, _vector, _weights
from ._table import Floats, Table

C = TypeVar("C", bound="KrigoClassifier")


class KrigoClassifier(Classifier, Certified):
    """Gaussian-process classification of up to 100 classes, with a certificate, which is a promise about labels of further rows.

    The parameters are those of `KrigoRegressor`. krigo refuses parameters that don't suit labels, such as ``epsilon``.
    It has the methods of `KrigoRegressor` for certificates and files: ``certify``, ``fresh``, ``watch``, ``report``, ``save`` and ``load``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. A loaded model's labels are numbers if all of them can be, else text.
    certificate_ : dict or None
        The numbers of the certificate. ``mean_bound`` bounds the share of wrong labels.
    promise_ : str
        The certificate as a sentence, or why there is no certificate.
    context_, notices_, delivered_, details_, n_features_in_, feature_names_in_
        As in `KrigoRegressor`.

    See Also
    --------
    certify_classifier : Certify the labels of any other classifier.

    Notes
    -----
    For more than two classes, krigo fits a model of each class against the others. The certificate is about the label, the class
    with the largest probability. It shares ``delta`` with the certificate of each model. Such an estimator has no ``delivered_``.

    Examples
    --------
    >>> import numpy as np
    >>> from krigo import KrigoClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (200, 1))
    >>> y = np.where(np.sin(X[:, 0]) + rng.normal(0, 0.1, 200) > 0, "up", "down")
    >>> gp = KrigoClassifier(kernel="se").fit(X, y)
    >>> gp.predict([[2], [5]])
    array(['up', 'down'], dtype='<U4')
    >>> gp.predict_proba([[2], [5]]).shape
    (2, 2)
    """

    classes_: npt.NDArray[Any]

    def fit(self: C, X: Any, y: Any, groups: Any = None) -> C:
        if self.noise not in (None, "probit"):
            raise UsageError(f"noise {self.noise}: classes take noise probit; leave noise out")
        classes = _classes(_column(y, "y"), _name(y) or "y")
        super().fit(X, y, groups)
        self.classes_ = classes
        if hasattr(self, "delivered_"):
            cast("KrigoClassifier", self.delivered_).classes_ = classes
        return self

    def _asked(self, X: Any, y: Any, groups: Any, **more: Any) -> tuple[Table, list[str], list[str] | None, dict[str, Any]]:
        return super()._asked(X, y, groups, **({"noise": "probit"} if self.declared is None else {}), **more)

    def _add_y(self, table: Table, name: str, y: Any) -> None:
        cells = _cells(_column(y, "y"))
        if len(cells) != table.rows:
            raise DataError(f"Found input variables with inconsistent numbers of samples: {[table.rows, len(cells)]}")
        if isinstance(cells, list):
            table.texts(name, cells)
        else:
            table.numbers(name, _vector(cells, gaps=self.missing_target == "drop"))

    def _other(self, classes: list[str] | None) -> str:
        return "" if classes else "KrigoRegressor"

    def _take(self, model: _process.Model, columns: list[str], names: list[str] | None, notices: list[str]) -> None:
        super()._take(model, columns, names, notices)
        cells = np.array(_cells(np.array(model.about["classes"])))
        whole = cells.dtype.kind == "f" and not np.any(cells % 1)
        self.classes_ = cells.astype(int) if whole else cells

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row. It is the model's own belief, without a guarantee.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``.

        Examples
        --------
        >>> gp.predict_proba([[2], [5]]).argmax(axis=1)
        array([1, 0])
        """
        return self._columns_of("probability", self._predicted(self._table(X)))

    def predict_set(self, X: Any, level: Number = 0.95) -> npt.NDArray[np.bool_]:
        """Return which labels can't be excluded for each row: a conformal set of labels.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.
        level : float, default 0.95
            The share of the rows of each class whose set holds their label, on average over draws of the certified rows and of
            further rows. That is no certificate.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            Whether each class, in the order of ``classes_``, is in the set. A set may be empty.

        Examples
        --------
        >>> gp.predict_set([[2], [5]], level=0.9)
        array([[False,  True],
               [ True, False]])
        """
        reply = self._predicted(self._table(X), sets=_level(level))
        return self._columns_of("set", reply).astype(bool)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable label of each row. The certificate is about these labels.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.

        Examples
        --------
        >>> gp.predict([[2], [5]])
        array(['up', 'down'], dtype='<U4')
        """
        return self._labels(self._predicted(self._table(X)))

    def predict_frame(self, X: Any) -> Any:
        """Return the label, the probability of each class, and how far each row is from the model's rows, as a frame.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.

        Returns
        -------
        DataFrame
            A frame of the kind of X, with its index, or of pandas if X is an array, with the columns ``label``, ``probability_CLASS``
            for each class, with two classes ``latent_sd`` (the standard deviation of the latent function), and ``outside``, which counts the inputs
            of a row that are outside the range of the model's rows: no guarantee is about such a row.

        Examples
        --------
        >>> gp.predict_frame([[2], [5]])["label"].tolist()
        ['up', 'down']
        """
        frame = _table.framed(X)
        reply = self._predicted(self._table(X if frame is None else frame))
        found = _floats(reply)
        columns: dict[str, Any] = {"label": self._labels(reply)}
        columns.update(zip([f"probability_{c}" for c in self.classes_], self._columns_of("probability", reply).T))
        columns.update({"latent_sd": found["latent_sd"]} if len(self.classes_) == 2 else {}, outside=found["outside"].astype(np.int64))
        return _framed(frame, columns, reply)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows with the right label.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            The inputs.
        y : array or Series of shape (n_samples,)
            The true labels.
        sample_weight : array of shape (n_samples,), optional
            The weight of each row.

        Returns
        -------
        float
            The accuracy. `fresh` bounds the share of wrong labels instead.

        Examples
        --------
        >>> gp.score(X, y) > 0.9
        True
        """
        truth = _cells(_column(y, "y"))
        found = _cells(self._labels(self._ask("predict", self._table(X))))
        w = _weights(sample_weight, len(found), len(truth))
        return float(np.average([a == b for a, b in zip(truth, found)], weights=w))

    def _order(self) -> npt.NDArray[Any]:
        """Returns the place in classes_ of each of krigo's classes, which it sorts by their numbers if all are numbers, as "9" and "10"."""
        cells = _cells(self.classes_)
        return np.arange(len(cells)) if isinstance(cells, list) else np.argsort(cells)

    def _columns_of(self, name: str, reply: _process.Reply) -> Floats:
        found, order = _floats(reply), self._order()
        columns = np.column_stack([found[f"{name}{k}"] for k in range(len(order))])
        return columns[:, np.argsort(order)]

    def _labels(self, reply: _process.Reply) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = self.classes_[self._order()[_complete(reply)["label"].astype(int)]]
        return labels


def _cells(labels: npt.NDArray[Any]) -> Floats | list[str]:
    """Returns labels as krigo's table has them: numbers if all of them can be, else text. Missing labels are NaN or empty."""
    if labels.dtype.kind in "biuf":
        return labels.astype(float)
    texts = ["" if _table._missing(v) else _table._written(v) for v in labels.tolist()]
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return texts


def _classes(labels: npt.NDArray[Any], column: str) -> npt.NDArray[Any]:
    """Returns the different labels, sorted, and refuses fewer than two."""
    cells = np.array(_cells(labels))
    numbers = cells.dtype.kind == "f"
    try:
        classes: npt.NDArray[Any] = np.unique(labels[~np.isnan(cells) if numbers else cells != ""])
    except TypeError as e:
        raise DataError(f"y: labels must be all numbers or all text: {e}", column=column) from e
    if len(classes) > 2 and numbers and np.any(cells % 1 > 0):
        raise DataError("Unknown label type: continuous. y holds numbers, which KrigoRegressor predicts", column=column)
    if len(classes) > 100:
        raise DataError(f"y has {len(classes)} classes: want at most 100", column=column)
    if len(classes) < 2:
        raise DataError(f"y has {'one class' if len(classes) else 'no labels'}: want at least two", column=column)
    return classes
