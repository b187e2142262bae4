"""Certificates of anybody's predictions."""

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
    """Certifies predictions of any model, made of rows that it never saw and that had no part in choosing it.

    y and yhat are the targets and their predictions, epsilon is in the units of y (None with the loss "clipped-absolute"). Of rows that belong together
    group has for each which it is of. The result has `.sentence`, `.bound` and `.certificate`.
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
