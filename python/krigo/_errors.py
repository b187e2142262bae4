"""krigo's exceptions and warnings."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class KrigoError(Exception):
    """Base class of krigo's errors. The message has the words of the command line."""


class UsageError(KrigoError, ValueError):
    """A parameter is wrong. If the message says --some-flag, the parameter is some_flag."""


class DataError(KrigoError, ValueError):
    """The table is wrong.

    Attributes
    ----------
    row : int or None
        The row, from 1, if krigo knows it.
    column : str or None
        The column, if krigo knows it.
    """

    def __init__(self, message: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(message)
        self.row = row
        self.column = column

    def __reduce__(self) -> tuple[type[DataError], tuple[str, int | None, str | None]]:
        return type(self), (str(self), self.row, self.column)


class NoCertificate(KrigoError):
    """The model has no certificate. The message says why."""


class NotFitted(KrigoError, ValueError, AttributeError):
    """The estimator has no model yet: call `fit` first."""


class CommandLineOnly(UsageError, TypeError, AttributeError):
    """Only the command line has what was asked for. The message names the command."""


class KrigoWarning(UserWarning):
    """Something that isn't an error, such as a row outside the range of the model's rows."""


def warn(message: str, category: type[Warning] = KrigoWarning) -> None:
    """Warns, and names the line outside this package that called the package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# COMMANDS maps each name that only the command line has to its command. docs/how-to/python.md lists the names.
COMMANDS = {
    **{name: f"krigo {name}" for name in ("compare", "declare", "demo", "generate", "inspect", "serve")},
    **{name: f"krigo fit --{name.replace('_', '-')}" for name in ("dry_run", "fresh_start", "resume", "test")},
    "keep": "krigo predict --keep",
    **{name: f"krigo certify --{name.replace('_', '-')}" for name in ("accept_file_order", "anytime", "declaration", "no_refit", "refit", "shift")},
}


def elsewhere(name: str) -> CommandLineOnly | None:
    """Returns the error for a name that only the command line has, or None for any other name."""
    return CommandLineOnly(f"{name} exists only on the command line: use {COMMANDS[name]} (docs/how-to/python.md lists what Python doesn't have)") if name in COMMANDS else None


def told(call: Callable[P, T]) -> Callable[P, T]:
    """Returns call, but if an argument exists only on the command line, an error names the command."""
    known = inspect.signature(call).parameters

    @functools.wraps(call)
    def asked(*args: P.args, **named: P.kwargs) -> T:
        for name in named.keys() - known.keys():
            if error := elsewhere(name):
                raise error
        return call(*args, **named)

    return asked


def in_python(message: str) -> str:
    """Returns the program's message. If the message advises the flag --memory, the text adds what to do in Python."""
    return message + " (in Python, set the environment variable KRIGO_MEMORY before the first call, for example KRIGO_MEMORY=24GB)" * bool(re.search(r"--memory\b", message))


def of_reply(error: dict[str, object]) -> KrigoError:
    """Returns the exception for the error in a reply."""
    message = in_python(str(error.get("message", "")))
    kind = error.get("kind")
    if kind == "usage":
        return UsageError(message)
    if kind == "data":
        row, column = error.get("row"), error.get("column")
        return DataError(message, row if isinstance(row, int) else None, column if isinstance(column, str) else None)
    if kind == "no-certificate":
        return NoCertificate(message)
    return KrigoError(message)
