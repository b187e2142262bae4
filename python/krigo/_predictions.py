"""Certificates for the predictions of any model."""

from __future__ import annotations

from typing import Any

from . import _options, _process
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
