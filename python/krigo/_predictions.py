"""Certificates of anybody's predictions."""

from __future__ import annotations

from typing import Any

from . import _options, _process
from ._finding import Finding
from ._regressor import _add_groups, _add_target, _name
from ._table import Table


def certify_predictions(
    y: Any,
    yhat: Any,
    epsilon: float | tuple[float, float] | str | None,
    loss: str = "band",
    delta: float = 0.01,
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
    target = target or _name(y) or "y"
    table = Table(len(y))
    _add_target(table, target, y)
    prediction = "prediction" if target != "prediction" else "prediction_"
    _add_target(table, prediction, yhat)
    promise: dict[str, Any] = {"units": "raw", "loss": loss, "delta": _options.plain(delta), "curve": curve}
    _options.epsilon(epsilon, promise)
    if bound is not None:
        promise["bound"] = bound
    data = {"target": target}
    if group is not None:
        data["group"] = _add_groups(table, "group" if "group" not in table.names else "group_", group)
    reply = _process.ask("certify_predictions", table.buffers, table=table.header(), args={"prediction": prediction, "options": {"data": data, "promise": promise}})
    return Finding(reply.result["sentence"], reply.result)
