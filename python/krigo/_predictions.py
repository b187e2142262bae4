"""Certificates for the predictions of any model."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _options, _process
from ._errors import DataError
from ._finding import Finding
from ._regressor import Number, _add_groups, _add_target, _name, _vector
from ._table import Table


def certify_predictions(
    y: Any,
    yhat: Any,
    epsilon: Number | tuple[Number, Number] | str | None,
    loss: str = "band",
    delta: Number = 0.01,
    group: Any = None,
    *,
    bound: str | None = None,
    curve: bool = False,
    target: str | None = None,
) -> Finding:
    """Certify the predictions of any model: bound the share of misses on further rows.

    Parameters
    ----------
    y : array or Series of shape (n_samples,)
        The targets of rows that had no part in training or choosing the model.
    yhat : array of shape (n_samples,)
        The model's predictions for these rows.
    epsilon : float, (float, float) or None
        The half-width, in the units of y, beyond which an error counts as a miss. A pair is the width below and above, for
        the loss "asymmetric". It is None for the loss "clipped-absolute". Choose it before you look at the rows.
    loss : str, default "band"
        "band", "relative", "asymmetric", "clipped-square", "gaussian" or "clipped-absolute".
    delta : float, default 0.01
        The largest probability that the certificate is wrong, over the draw of the rows.
    group : array of shape (n_samples,), optional
        The group of each row, such as a patient's number. The certificate then counts groups.
    bound : str, optional
        The inequality. By default krigo chooses it.
    curve : bool, default False
        Whether to bound the misses of every half-width at once.
    target : str, optional
        The name of the target in sentences. By default it is y's name, or "y".

    Returns
    -------
    Finding
        The sentence, the bound and the numbers of the certificate.

    Raises
    ------
    UsageError
        If a parameter is wrong.
    DataError
        If y, yhat or group is wrong.

    See Also
    --------
    KrigoRegressor : A model that comes with a certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from krigo import certify_predictions
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=500)
    >>> yhat = y + rng.normal(0, 0.2, 500)
    >>> found = certify_predictions(y, yhat, epsilon=0.5)
    >>> print(f"misses at most {found.bound:.1%} of further rows")
    misses at most 2.3% of further rows
    """
    target = _options.word("target", target) if target is not None else _name(y) or "y"
    truth = _vector(y)
    table = Table(len(truth))
    table.numbers(target, truth)
    prediction = "prediction" if target != "prediction" else "prediction_"
    _add_target(table, prediction, yhat, "yhat")
    promise: dict[str, Any] = {
        "units": "raw",
        "loss": _options.word("loss", loss),
        "delta": _options.probability("delta", delta, "a probability between 0 and 1, such as 0.01"),
        "curve": _options.truth("curve", curve),
    }
    _options.epsilon(epsilon, promise)
    if bound is not None:
        promise["bound"] = _options.word("bound", bound)
    data = {"target": target}
    if group is not None:
        data["group"] = _add_groups(table, "group" if "group" not in table.names else "group_", group, "group")
    with table.explained():
        reply = _process.ask("certify_predictions", table.buffers, table=table.header(), args={"prediction": prediction, "options": {"data": data, "promise": promise}})
    return Finding(reply.result["sentence"], reply.result)


def certify_classifier(
    y: Any,
    proba: Any = None,
    labels: Any = None,
    *,
    classes: Any = None,
    statements: Any = "error",
    delta: Number = 0.01,
    at_most_wrong: Number | None = None,
    recall: Number | None = None,
    positive: Any = None,
    score: Any = None,
    costs: Any = None,
    slice_by: Any = None,
    group: Any = None,
    target: str | None = None,
) -> Finding:
    """Certify the labels of any classifier: bound its errors, costs or calibration on further rows.

    Parameters
    ----------
    y : array or Series of shape (n_samples,)
        The true labels of rows that had no part in training or choosing the classifier.
    proba : array of shape (n_samples, n_classes), optional
        The probability of each class, as ``predict_proba`` returns it. The label is the most probable class.
    labels : array of shape (n_samples,), optional
        The predicted labels. Give them, or `proba`, or both.
    classes : array of shape (n_classes,), optional
        The classes of `proba`'s columns, such as ``model.classes_``. By default they are the sorted labels in y.
    statements : str or list of str, default "error"
        What holds together: "error", "classes", "predicted", "brier", "log-loss", "calibration", "top-2" and so on.
    delta : float, default 0.01
        The largest probability that the certificate is wrong, over the draw of the rows.
    at_most_wrong : float, optional
        Choose the rows that get an answer, so that at most this share of the answers is wrong.
    recall : float, optional
        Choose the rows that are flagged, so that at least this share of the class `positive` is flagged.
    positive : label, optional
        The class for `recall`.
    score : array of shape (n_samples,), optional
        How sure each label is (at_most_wrong), or how likely the class `positive` is (recall), if not by `proba`.
    costs : array of shape (n_classes, n_classes), optional
        The cost of each true (row) and predicted (column) class, in the order of `classes`.
    slice_by : array of shape (n_samples,), optional
        Bound the share of wrong labels for each value.
    group : array of shape (n_samples,), optional
        The group of each row, such as a patient's number. The certificate then counts groups.
    target : str, optional
        The name of the target. By default it is y's name, or "y".

    Returns
    -------
    Finding
        The sentence and the numbers of the certificate.

    Raises
    ------
    UsageError
        If a parameter is wrong.
    DataError
        If an array is wrong.

    See Also
    --------
    certify_predictions : The same for numbers.

    Examples
    --------
    >>> from krigo import certify_classifier
    >>> y = ["cat", "dog"] * 100
    >>> print(certify_classifier(y, labels=["dog"] + y[1:]).sentence)
    With 99 % confidence (over the draw of the certified rows), at most 3.3 % of further rows get a wrong label. It is 0.5 % on the 200 certified rows.
    """
    target = _options.word("target", target) if target is not None else _name(y) or "y"
    truth = _labels(y)
    table = Table(len(truth))
    table.texts(target, truth)
    args: dict[str, Any] = {"target": target, "delta": _options.probability("delta", delta, "a probability between 0 and 1, such as 0.01")}

    def free(name: str) -> str:
        while name in table.names or name == target:
            name += "_"
        return name

    for option, values in (("prediction", labels), ("slice_by", slice_by), ("group", group)):
        if values is not None:
            args[option] = free(option)
            table.texts(args[option], _labels(values))
    if score is not None:
        args["score"] = free("score")
        _add_target(table, args["score"], score, "score")
    if statements is not None and not (statements == "error" and (at_most_wrong or recall or costs is not None or slice_by is not None)):
        args["statements"] = [statements] if isinstance(statements, str) else list(statements)
    for option, share in (("at_most_wrong", at_most_wrong), ("recall", recall)):
        if share is not None:
            args[option] = _options.probability(option, share, "a share between 0 and 1")
    if positive is not None:
        args["positive"] = _labels([positive])[0]
    known = _labels(classes) if classes is not None else _labels(sorted(set(np.asarray(y).tolist())))
    if proba is not None:
        columns = np.asarray(proba, float)
        if columns.shape != (len(truth), len(known)):
            raise DataError(f"proba: want a column for each of the classes {known} and {len(truth)} rows, not shape {columns.shape}; say classes=model.classes_")
        args["probabilities"] = free("probability of ")
        for j, name in enumerate(known):
            table.numbers(args["probabilities"] + name, columns[:, j])
    if costs is not None:
        args["costs"] = {"classes": known, "costs": np.asarray(costs, float).tolist()}
    with table.explained():
        reply = _process.ask("certify_labels", table.buffers, table=table.header(), args=args)
    return Finding(reply.result["sentence"], reply.result)


def _labels(values: Any) -> list[str]:
    """Returns labels as text. Whole numbers lose their point, so that 1.0 and 1 are one label."""
    return [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in np.asarray(values).tolist()]
