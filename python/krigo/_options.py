"""Parameters as krigo's options, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._errors import UsageError

# Where a parameter stands in the options, whose JSON is documented by `krigo fit --dry-run --json`.
PLACES: dict[str, tuple[str, str]] = {
    "inputs": ("data", "inputs"),
    "ignore": ("data", "ignore"),
    "missing": ("data", "missing"),
    "group": ("data", "group"),
    "split": ("data", "split"),
    "test_fraction": ("data", "test_fraction"),
    "kernel": ("kernel", "expression"),
    "ard": ("kernel", "ard"),
    "mean": ("kernel", "mean"),
    "objective": ("method", "name"),
    "inducing_init": ("method", "inducing_init"),
    "fix_inducing": ("method", "fix_inducing"),
    "alphas": ("method", "alphas"),
    "anneal": ("method", "anneal"),
    "neighbours": ("method", "neighbours"),
    "term": ("method", "term"),
    "form": ("method", "form"),
    "hyperprior": ("method", "hyperprior"),
    "solver": ("method", "solver"),
    "optimizer": ("method", "optimizer"),
    "epochs": ("method", "epochs"),
    "batch": ("method", "batch"),
    "batches": ("method", "batches"),
    "learning_rate": ("method", "learning_rate"),
    "restarts": ("run", "restarts"),
    "prior": ("prior", "kind"),
    "prior_share": ("prior", "share"),
    "temper": ("prior", "temper"),
    "loss": ("promise", "loss"),
    "epsilon_units": ("promise", "units"),
    "delta": ("promise", "delta"),
    "bound": ("promise", "bound"),
    "mean_bound": ("promise", "mean_bound"),
    "promise": ("promise", "share"),
    "curve": ("promise", "curve"),
    "slices": ("promise", "slices"),
    "calibration_fraction": ("promise", "calibration"),
    "seed": ("run", "seed"),
}

# Parameters that are lists; one thing will do.
LISTS = ("inputs", "ignore", "slices", "alphas", "temper")

# The name that krigo has, in the place of a column, for groups of rows that are equal (dataset.EqualRows).
EQUAL_ROWS = "(equal rows)"


def listed(value: Any) -> list[Any]:
    """One thing as a list of it. Text is names with commas between them, as on the command line."""
    if value is None:
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, (Sequence, np.ndarray, set, frozenset)):
        return list(value)
    return [value]


def plain(value: Any) -> Any:
    """A number of numpy as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def options(params: Mapping[str, Any], target: str) -> dict[str, Any]:
    """The options for parameters, of which None means krigo's default."""
    all_: dict[str, dict[str, Any]] = {"data": {"target": target}, "kernel": {}, "method": {}, "prior": {}, "promise": {}, "run": {}}
    for name, (group, field) in PLACES.items():
        value = plain(params[name])
        if value is None or value is False:
            continue
        if name in LISTS:
            value = [plain(v) for v in listed(value)]
        elif name == "kernel" and not isinstance(value, str):
            value = ",".join(value)
        all_[group][field] = value
    if params["delta"] is not None and not 0 < params["delta"] < 1:  # zero would be the default
        raise UsageError(f"delta {params['delta']}: want a probability between 0 and 1, such as 0.01")
    epsilon(params["epsilon"], all_["promise"])
    _inducing(plain(params["inducing"]), all_["method"])
    _alpha(plain(params["alpha"]), all_["method"])
    _posterior(params["posterior"], all_)
    _grid(params["grid"], all_["prior"])
    _scaling(params["scaling"], all_["data"])
    if params["duplicates"] == "group":
        if params["group"] is not None:
            raise UsageError("duplicates 'group' and group exclude each other: rows can be grouped in one way")
        all_["data"]["group"] = EQUAL_ROWS
    elif params["duplicates"] not in (None, "keep", "drop"):
        raise UsageError(f"duplicates {params['duplicates']!r}: want keep, drop or group")
    return {group: fields for group, fields in all_.items() if fields}


def epsilon(value: Any, promise: dict[str, Any]) -> None:
    if value is None:
        return
    widths = value.split(":") if isinstance(value, str) else [value] if np.ndim(value) == 0 else list(value)
    try:
        numbers = [float(w) for w in widths]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (1, 2) or not all(w > 0 for w in numbers):
        raise UsageError(f"epsilon {value!r}: want a positive number, or (below, above) for the asymmetric loss")
    promise["epsilon"] = numbers[0]
    if len(numbers) == 2:
        promise["epsilon_above"] = numbers[1]


def _inducing(value: Any, method: dict[str, Any]) -> None:
    if value is None:
        return
    if value in ("auto", "theory"):
        method["inducing_by"] = value
    elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        method["inducing" if value else "inducing_by"] = value or "none"
    else:
        raise UsageError(f"inducing {value!r}: want a number of inducing inputs, 0, auto or theory")


def _alpha(value: Any, method: dict[str, Any]) -> None:
    if value in ("learn", "cv"):
        method["alpha_by"] = value
    elif isinstance(value, (int, float)):
        method["alpha"] = value
    elif value is not None:
        raise UsageError(f"alpha {value!r}: want a number, learn or cv")


def _posterior(value: Any, all_: dict[str, dict[str, Any]]) -> None:
    if value == "learnt":
        all_["prior"]["learn"] = True
    elif value is not None:
        all_["method"]["posterior"] = value


def _grid(value: Any, prior: dict[str, Any]) -> None:
    if value is None:
        return
    parts = value.split(",") if isinstance(value, str) else list(value)
    try:
        (edge, digits) = parts
        mixed = str(digits).strip() == "mixed"
        prior["grid"] = {"L": float(edge), "Digits": 2 if mixed else int(digits)}
    except ValueError as e:
        raise UsageError(f"grid {value!r}: want L,DIGITS, such as 6,2, or L,mixed") from e
    if mixed:
        prior["mixed"] = True


def _scaling(value: Any, data: dict[str, Any]) -> None:
    if isinstance(value, Mapping):
        data["scaling"] = "declared"
        data["declared"] = {"source": "declared", **{k: np.asarray(v).tolist() for k, v in value.items()}}
    elif value is not None:
        data["scaling"] = value


def dates(value: Any) -> list[dict[str, Any]]:
    """Columns of dates as krigo takes them: of names, "COLUMN:dmy:day:year", or of a mapping from names to "dmy:day:year"."""
    texts = [f"{name}:{how}" if how else str(name) for name, how in value.items()] if isinstance(value, Mapping) else [str(v) for v in listed(value)]
    return [_date(text) for text in texts]


FORMS = ("ymd", "dmy", "mdy", "words", "month", "time")
PERIODS = ("day", "week", "year")


def _date(text: str) -> dict[str, Any]:
    column, form, parts = text, "", []
    while ":" in column:
        rest, _, word = column.rpartition(":")
        if word in PERIODS:
            parts.append(word)
        elif word in FORMS and not form:
            form = word
        else:
            break
        column = rest
    return {"column": column, "form": form, "parts": parts[::-1]}


def parameters(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that make these options: those of a model that was fitted elsewhere."""
    found: dict[str, Any] = {}
    for name, (group, field) in PLACES.items():
        value = (fitted.get(group) or {}).get(field)
        if value not in (None, "", 0, False, []):
            found[name] = value
    data, method, prior, promise = (fitted.get(group) or {} for group in ("data", "method", "prior", "promise"))
    if found.get("group") == EQUAL_ROWS:
        found["group"], found["duplicates"] = None, "group"
    if data.get("categorical"):
        found["categorical"] = data["categorical"]
    reading = data.get("reading") or {}
    if reading.get("distinct"):
        found["duplicates"] = "drop"
    if reading.get("dates"):
        found["dates"] = [":".join([d["column"], *([d["form"]] if d.get("form") else []), *(d.get("parts") or ())]) for d in reading["dates"]]
    if data.get("scaling"):
        found["scaling"] = data["declared"] if data["scaling"] == "declared" else data["scaling"]
    if "epsilon" in promise and promise.get("loss") != "clipped-absolute":
        above = promise.get("epsilon_above")
        found["epsilon"] = (promise["epsilon"], above) if above else promise["epsilon"]
    if method.get("inducing_by") == "none":
        found["inducing"] = 0
    elif method.get("inducing_by"):
        found["inducing"] = method["inducing_by"]
    elif method.get("inducing"):
        found["inducing"] = method["inducing"]
    if method.get("alpha_by"):
        found["alpha"] = method["alpha_by"]
    elif method.get("alpha") is not None:
        found["alpha"] = method["alpha"]
    if prior.get("learn"):
        found["posterior"] = "learnt"
    elif method.get("posterior"):
        found["posterior"] = method["posterior"]
    if prior.get("grid") and prior.get("kind") != "informed":
        found["grid"] = (prior["grid"]["L"], "mixed" if prior.get("mixed") else prior["grid"]["Digits"])
    if data.get("target"):
        found["target"] = data["target"]
    return found
