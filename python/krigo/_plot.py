"""Draws the promise of a model, its targets against its predictions, and the effects of single columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ._table import Floats, Table

if TYPE_CHECKING:
    from ._classifier import KrigoClassifier
    from ._regressor import Certified

_STEPS = 40  # how many values of a column of numbers an effect has
_KINDS = 12  # up to how many different values are drawn one by one


def drawn(of: Certified, X: Any, y: Any, most: int) -> npt.NDArray[Any]:
    """Returns the axes that it draws."""
    try:
        from matplotlib import pyplot
    except ImportError as e:
        raise ImportError("plot needs matplotlib, which isn't installed: pip install matplotlib") from e
    classes = hasattr(of, "classes_")
    table = of._table(X) if X is not None else None
    effects = _effects(of, table, classes, most) if table is not None and most > 0 else []
    panels = 1 + (y is not None) + len(effects)
    across = min(3, panels)
    down = -(-panels // across)
    _, grid = pyplot.subplots(down, across, figsize=(4.2 * across, 3.5 * down), squeeze=False, layout="constrained")
    axes: npt.NDArray[Any] = grid.ravel()
    for ax in axes[panels:]:
        ax.remove()
    axes = axes[:panels]
    if classes:
        _labels(axes, cast("KrigoClassifier", of), X, y)
    else:
        _numbers(axes, of, table, X, y)
    for ax, (name, values, curves, band) in zip(axes[panels - len(effects) :], effects, strict=True):
        _effect(ax, name, values, curves, band)
        ax.set_ylabel("probability" if classes else of.target_)
    return axes


def _numbers(axes: npt.NDArray[Any], of: Certified, table: Table | None, X: Any, y: Any) -> None:
    """Draws how many predictions lie how near, as promised and as seen, and targets against predictions."""
    from ._regressor import _floats, _vector

    certificate = of.certificate_ or {}
    band = certificate.get("epsilon_raw") if certificate.get("loss") == "band" else None
    ax = axes[0]
    points = (certificate.get("curve") or {}).get("points") or []
    if points:
        points = sorted(points, key=lambda p: p["half_width_raw"])
        ax.step([p["half_width_raw"] for p in points], [1 - p["bound"] for p in points], where="post", label="promised, at least")
    if band is not None:
        ax.plot([band], [1 - certificate["mean_bound"]], "o", color="C0", label=None if points else "promised, at least")
    if y is not None and table is not None:
        truth = _vector(y)
        mean = _floats(of._ask("predict", table))["mean"]
        _same_rows(len(mean), len(truth))
        ax.step(np.sort(np.abs(truth - mean)), np.arange(1, len(mean) + 1) / len(mean), where="post", color="C1", label="these rows")
        axes[1].plot(mean, truth, ".", alpha=0.6)
        axes[1].axline((float(mean[0]), float(mean[0])), slope=1, color="0.4", linewidth=1)
        for side in () if band is None else (-band, band):
            axes[1].axline((float(mean[0]), float(mean[0]) + side), slope=1, color="0.4", linewidth=1, linestyle="--")
        axes[1].set(title="observed against predicted", xlabel="predicted", ylabel=of.target_)
    ax.set(title="promise" if certificate else "no certificate", xlabel=f"half-width, in units of {of.target_}", ylabel="share of predictions within", ylim=(0, 1.02))
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="lower right")


def _labels(axes: npt.NDArray[Any], of: KrigoClassifier, X: Any, y: Any) -> None:
    """Draws the share of right labels, as promised and as seen, and how often labels are right by their probability."""
    shares = {} if of.certificate_ is None else {"promised,\nat least": 1 - of.certificate_["mean_bound"]}
    if y is not None:
        from ._classifier import _cells
        from ._regressor import _column, _floats

        reply = of._ask("predict", of._table(X))
        found, truth = _cells(of._labels(reply)), _cells(_column(y, "y"))
        _same_rows(len(found), len(truth))
        right = np.array([a == b for a, b in zip(found, truth, strict=True)])
        shares["these rows"] = float(right.mean())
        sure = np.max([v for name, v in _floats(reply).items() if name.startswith("probability")], axis=0)
        bins = np.minimum((sure * 10).astype(int), 9)
        filled = np.unique(bins)
        axes[1].plot([0, 1], [0, 1], color="0.4", linewidth=1)
        axes[1].plot([sure[bins == b].mean() for b in filled], [right[bins == b].mean() for b in filled], "o-")
        axes[1].set(title="observed against predicted", xlabel="probability of the label", ylabel="share of right labels")
    axes[0].bar(list(shares), list(shares.values()), color=[f"C{i}" for i in range(len(shares))])
    axes[0].set(title="promise" if of.certificate_ else "no certificate", ylabel="share of right labels", ylim=(0, 1.02))


def _same_rows(predicted: int, rows: int) -> None:
    from ._regressor import _weights

    _weights(None, predicted, rows)


# An effect is a column's name, its values, the curves by name, and the ends of an interval, if there is one.
_Effect = tuple[str, npt.NDArray[Any], dict[str, Floats], tuple[Floats, Floats] | None]


def _effects(of: Certified, table: Table, classes: bool, most: int) -> list[_Effect]:
    """Returns the effects of the columns that move the prediction most."""
    from ._regressor import _floats

    moved, blocks = _moved(table)
    found = _floats(of._ask("predict", moved))
    named = {"": "mean"}
    if classes:
        labels = cast("KrigoClassifier", of)
        named = {str(c): f"probability{k}" for c, k in zip(labels.classes_, np.argsort(labels._order()), strict=True)}
    effects: list[_Effect] = []
    for name, values, rows in blocks:
        band = None if classes else (found["lower95"][rows], found["upper95"][rows])
        drawn = (values * 86400).astype("datetime64[s]") if name in table.dates else values
        effects.append((name, drawn, {label: found[of][rows] for label, of in named.items()}, band))
    effects.sort(key=lambda e: -max(float(np.ptp(c)) for c in e[2].values()))
    return effects[:most]


def _moved(table: Table) -> tuple[Table, list[tuple[str, npt.NDArray[Any], slice]]]:
    """Returns a table in which each column in turn moves, while the others stay, and which rows those are."""
    cells = table.cells()
    usual: dict[str, Any] = {}
    blocks: list[tuple[str, npt.NDArray[Any], slice]] = []
    rows = 0
    for name, column in cells.items():
        known = column[column != ""] if column.dtype == object else column[~np.isnan(column)]
        kinds, counts = np.unique(known, return_counts=True)
        if len(kinds) == 0:
            usual[name] = "" if column.dtype == object else np.nan
            continue
        often = kinds[np.sort(np.argsort(-counts, kind="stable")[:_KINDS])]
        usual[name] = kinds[np.argmax(counts)] if column.dtype == object else np.median(known)
        values = often if column.dtype == object or len(kinds) <= _KINDS else np.linspace(kinds[0], kinds[-1], _STEPS)
        blocks.append((name, values, slice(rows, rows + len(values))))
        rows += len(values)
    moved = Table(rows)
    moving = {name: (values, at) for name, values, at in blocks}
    for name, column in cells.items():
        filled = np.full(rows, usual[name], dtype=column.dtype)
        if name in moving:
            values, at = moving[name]
            filled[at] = values
        if column.dtype == object:
            moved.texts(name, filled.tolist())
        else:
            moved.numbers(name, filled)
    moved.categories, moved.dates = table.categories, table.dates
    return moved, blocks


def _effect(ax: Any, name: str, values: npt.NDArray[Any], curves: dict[str, Floats], band: tuple[Floats, Floats] | None) -> None:
    at: Any = [str(v) for v in values] if values.dtype == object else values
    for label, curve in curves.items():
        ax.plot(at, curve, "o" if values.dtype == object else "-", label=label)
    if band is not None and values.dtype == object:
        ax.vlines(at, *band, alpha=0.3)
    elif band is not None:
        ax.fill_between(at, *band, alpha=0.15)
    if len(curves) > 1:
        ax.legend()
    ax.set(title=name, xlabel=name)
    if values.dtype == object or values.dtype.kind == "M":
        ax.tick_params(axis="x", labelrotation=45)
