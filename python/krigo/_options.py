"""Parameters as krigo's options, and back."""

from __future__ import annotations

import contextlib
import datetime
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

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


# Parameters by what they are. Zero would be krigo's default of them, and is none that anybody means.
NUMBERS = ("delta", "promise", "prior_share", "learning_rate", "calibration_fraction", "test_fraction")
WHOLE = ("neighbours", "epochs", "batch", "restarts")
TRUTHS = ("curve", "fix_inducing")
NAMES = ("inputs", "ignore", "slices")
_ZERO = ("calibration_fraction", "test_fraction")  # none, which is the default


def number(name: str, value: Any) -> float:
    """A finite number."""
    value = plain(value)
    if isinstance(value, SupportsFloat) and not isinstance(value, (bool, datetime.timedelta)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            found = float(value)
            if math.isfinite(found):
                return found
    raise UsageError(f"{name} {short(value)}: want a finite number")


def whole(name: str, value: Any, least: int = 1, most: int = 2**53) -> int:
    """A whole number."""
    if not isinstance(value, (bool, np.bool_)):
        with contextlib.suppress(TypeError):
            found = operator.index(value)
            if least <= found <= most:
                return found
    raise UsageError(f"{name} {short(value)}: want a whole number from {least} on")


def probability(name: str, value: Any, such: str) -> float:
    found = number(name, value)
    if not 0 < found < 1:
        raise UsageError(f"{name} {short(value)}: want {such}")
    return found


def seed(name: str, value: Any) -> int:
    return whole(name, value, 0, 2**64 - 1)


def word(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name} {short(value)}: want text")
    return value


def truth(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise UsageError(f"{name} {short(value)}: want True or False")
    return bool(value)


def column(name: str, value: Any) -> str:
    """A column's name: as columns of DataFrames, whose names may be numbers."""
    if isinstance(plain(value), (str, int, float)) and not isinstance(value, (bool, np.bool_)):
        return str(value)
    raise UsageError(f"{name} {short(value)}: want the name of a column")


def short(value: Any) -> str:
    """A value in a message, where it isn't long."""
    try:
        text = repr(value)
    except ValueError:  # of a number with thousands of digits
        text = f"a {type(value).__name__} of many digits"
    return text if len(text) < 60 else text[:57] + "..."


def _checked(name: str, value: Any) -> Any:
    if name in NUMBERS:
        if name == "delta":
            return probability(name, value, "a probability between 0 and 1, such as 0.01")
        found = number(name, value)
        if found == 0 and name not in _ZERO:
            raise UsageError(f"{name} 0: want more than nothing, or None for the default")
        return found
    if name in WHOLE:
        return whole(name, value)
    if name == "seed":
        return seed(name, value)
    if name in TRUTHS:
        return truth(name, value)
    if name in NAMES:
        return [column(name, v) for v in listed(value)]
    if name in LISTS:
        return [_of_text(name, v) for v in listed(value)]
    if name == "group":
        return _group(value)
    if name == "kernel" and not isinstance(value, str):
        if not isinstance(value, (Sequence, np.ndarray, set, frozenset)):
            raise UsageError(f"kernel {short(value)}: want an expression, as 'se' or 'matern32+linear', or a list of them")
        return ",".join(word(name, v) for v in value)
    return word(name, value)


def _of_text(name: str, value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise UsageError(f"{name} {short(value)}: want numbers") from None
    return number(name, value)


def _group(value: Any) -> str:
    try:
        return column("group", value)
    except UsageError as e:
        raise UsageError(f"{e}; groups of each row are given as fit(X, y, groups=...)") from None


def options(params: Mapping[str, Any], target: str) -> dict[str, Any]:
    """The options for parameters, of which None means krigo's default."""
    all_: dict[str, dict[str, Any]] = {"data": {"target": target}, "kernel": {}, "method": {}, "prior": {}, "promise": {}, "run": {}}
    for name, (group, field) in PLACES.items():
        value = params[name]
        if value is None or value is False and name in TRUTHS:
            continue
        all_[group][field] = _checked(name, value)
    epsilon(params["epsilon"], all_["promise"])
    _inducing(plain(params["inducing"]), all_["method"])
    _alpha(plain(params["alpha"]), all_["method"])
    _posterior(params["posterior"], all_)
    _grid(params["grid"], all_["prior"])
    _scaling(params["scaling"], all_["data"])
    if params["duplicates"] is not None and word("duplicates", params["duplicates"]) == "group":
        if params["group"] is not None:
            raise UsageError("duplicates 'group' and group exclude each other: rows can be grouped in one way")
        all_["data"]["group"] = EQUAL_ROWS
    elif params["duplicates"] not in (None, "keep", "drop"):
        raise UsageError(f"duplicates {params['duplicates']!r}: want keep, drop or group")
    return {group: fields for group, fields in all_.items() if fields}


def epsilon(value: Any, promise: dict[str, Any]) -> None:
    if value is None:
        return
    widths: list[Any]
    if isinstance(value, str):
        widths = value.split(":")
    elif isinstance(value, (Sequence, np.ndarray)) and np.ndim(np.asarray(value, dtype=object)) > 0:
        widths = list(value)
    else:
        widths = [value]
    try:
        numbers = [_of_text("epsilon", w) for w in widths]
    except UsageError:
        numbers = []
    if len(numbers) not in (1, 2) or not all(w > 0 for w in numbers):
        raise UsageError(f"epsilon {short(value)}: want a positive number, or (below, above) for the asymmetric loss")
    promise["epsilon"] = numbers[0]
    if len(numbers) == 2:
        promise["epsilon_above"] = numbers[1]


def _inducing(value: Any, method: dict[str, Any]) -> None:
    if value is None:
        return
    if isinstance(value, str) and value in ("auto", "theory"):
        method["inducing_by"] = value
        return
    try:
        count = whole("inducing", value, 0)
    except UsageError:
        raise UsageError(f"inducing {short(value)}: want a number of inducing inputs, 0, auto or theory") from None
    method["inducing" if count else "inducing_by"] = count or "none"


def _alpha(value: Any, method: dict[str, Any]) -> None:
    if value is None:
        return
    if isinstance(value, str) and value in ("learn", "cv"):
        method["alpha_by"] = value
        return
    try:
        method["alpha"] = number("alpha", value)
    except UsageError:
        raise UsageError(f"alpha {short(value)}: want a number, learn or cv") from None


def _posterior(value: Any, all_: dict[str, dict[str, Any]]) -> None:
    if value is None:
        return
    if word("posterior", value) == "learnt":
        all_["prior"]["learn"] = True
    else:
        all_["method"]["posterior"] = value


def _grid(value: Any, prior: dict[str, Any]) -> None:
    if value is None:
        return
    try:
        (edge, digits) = value.split(",") if isinstance(value, str) else value
        mixed = str(digits).strip() == "mixed"
        prior["grid"] = {"L": _of_text("grid", edge), "Digits": 2 if mixed else whole("grid", int(digits) if isinstance(digits, str) else digits, 0)}
    except (TypeError, ValueError) as e:
        raise UsageError(f"grid {short(value)}: want L,DIGITS, such as 6,2, or L,mixed") from e
    if not prior["grid"]["L"] > 0:  # zero would be the default
        raise UsageError(f"grid {short(value)}: want a positive L")
    if mixed:
        prior["mixed"] = True


def _scaling(value: Any, data: dict[str, Any]) -> None:
    if isinstance(value, Mapping):
        data["scaling"] = "declared"
        data["declared"] = {"source": "declared", **{str(k): _constants(f"scaling {k}", v) for k, v in value.items()}}
    elif value is not None:
        data["scaling"] = word("scaling", value)


def _constants(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, (Sequence, np.ndarray)) and np.ndim(np.asarray(value, dtype=object)) > 0:
        return [number(name, v) for v in value]
    return number(name, value)


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
