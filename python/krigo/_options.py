"""Turns parameters into flags of krigo fit, and checks arguments."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import UsageError
from .kernels import Kernel

Value: TypeAlias = str | SupportsFloat | SupportsIndex | Sequence[Any] | Mapping[str, Any] | npt.NDArray[Any] | os.PathLike[str] | datetime.timedelta | Kernel | None

# The name that krigo uses as the group column if equal rows form the groups (dataset.EqualRows).
EQUAL_ROWS = "(equal rows)"

# Parameters that hold lists of column names.
NAMES = ("inputs", "ignore", "categorical", "dates")


def flags(params: Mapping[str, Any]) -> list[str]:
    """Returns parameters as flags of krigo fit. None gets no flag, so that krigo uses its default."""
    return [f"--{name.replace('_', '-')}" + _valued(name, value) for name, value in params.items() if value is not None]


def _valued(name: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "" if value else "=false"
    if name in NAMES:
        value = listed(value)
    elif name in ("init", "declared", "params") and isinstance(value, (str, os.PathLike)) and not str(value).startswith("{"):
        with open(value, encoding="utf-8", newline="") as f:
            value = f.read().strip() if name != "declared" else f.read()
    elif name == "group" and not isinstance(value, str) and np.ndim(value) > 0:
        raise UsageError(f"group {short(value)}: want the name of a column; to give the group of each row, call fit(X, y, groups=...)")
    if isinstance(value, Mapping):
        try:
            text = json.dumps(value, allow_nan=False, default=_plain)
        except (TypeError, ValueError) as e:
            raise UsageError(f"{name} {short(value)}: {e}") from None
        return "=declared:" + text if name == "scaling" else "=" + text
    if isinstance(value, (Sequence, np.ndarray, set, frozenset)) and not isinstance(value, (str, bytes)):
        return "=" + (":" if name == "epsilon" else ",").join(_text(name, v) if name == "kernel" else _quoted(_text(name, v)) for v in value)
    return "=" + _text(name, value)


def _text(name: str, value: Any) -> str:
    """Returns a value as the command line writes it."""
    if isinstance(value, (str, Kernel)):
        return str(value)
    if isinstance(value, datetime.timedelta):
        return f"{value.total_seconds()!r}s"
    if not isinstance(value, (bool, np.bool_)):
        with contextlib.suppress(TypeError, ValueError):  # str raises ValueError for a number of thousands of digits
            return str(operator.index(value))
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            if isinstance(value, SupportsFloat):
                return repr(float(value))
    raise UsageError(f"{name} {short(value)}: want text or a number")


def _quoted(text: str) -> str:
    """Returns an item of a list, with quotes if a CSV file would need them."""
    return '"' + text.replace('"', '""') + '"' if not text or any(c in text for c in ',"\r\n') else text


def _plain(value: Any) -> Any:
    """Converts numpy values for json.dumps, and refuses other values that JSON doesn't know."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError("want numbers, text, lists or mappings")


def listed(value: Any) -> list[Any]:
    """Returns a value as a list. It splits text at commas, as the command line does."""
    if value is None:
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, Mapping):  # the parameter dates: from a column to how the column writes dates
        return [f"{name}:{how}" if how else name for name, how in value.items()]
    if isinstance(value, (Sequence, np.ndarray, set, frozenset)) and not isinstance(value, bytes):
        return list(value)
    return [value]


def number(name: str, value: Any) -> float:
    """Returns value as a float, and refuses values that aren't finite numbers."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, SupportsFloat) and not isinstance(value, (bool, datetime.timedelta)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            found = float(value)
            if math.isfinite(found):
                return found
    raise UsageError(f"{name} {short(value)}: want a finite number")


def whole(name: str, value: Any, least: int = 1, most: int = 2**53) -> int:
    """Returns value as an int, and refuses values that aren't whole numbers from least to most."""
    if not isinstance(value, (bool, np.bool_)):
        with contextlib.suppress(TypeError):
            found = operator.index(value)
            if least <= found <= most:
                return found
    raise UsageError(f"{name} {short(value)}: want a whole number from {least} to {most}")


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


def short(value: Any) -> str:
    """Returns a value's text for a message, shortened to 60 characters."""
    try:
        text = repr(value)
    except ValueError:  # repr raises ValueError for a number of thousands of digits
        text = f"a {type(value).__name__} of many digits"
    return text if len(text) < 60 else text[:57] + "..."


def epsilon(value: Any, promise: dict[str, Any]) -> None:
    """Adds the half-widths of certify_predictions to promise."""
    if value is None:
        return
    widths = value.split(":") if isinstance(value, str) else value if np.ndim(np.asarray(value, dtype=object)) > 0 else [value]
    try:
        numbers = [float(w) if isinstance(w, str) else number("epsilon", w) for w in widths]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not all(0 < w < math.inf for w in numbers):
        raise UsageError(f"epsilon {short(value)}: want a positive number, or a pair (below, above) for the asymmetric loss")
    promise.update(zip(("epsilon", "epsilon_above"), numbers, strict=False))
