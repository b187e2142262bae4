"""What can go wrong, in krigo's words."""

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
    """Python doesn't have this; the message names the command that does."""


class KrigoWarning(UserWarning):
    """Something that isn't an error, such as a row outside the range of the model's rows."""


def warn(message: str, category: type[Warning] = KrigoWarning) -> None:
    """Warns, and names the line outside this package that led here."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# Names of commands, flags and kinds of intervals that only the command line has, with the command. docs/how-to/python.md lists them.
COMMANDS = {
    **{name: f"krigo {name}" for name in ("compare", "declare", "demo", "generate", "inspect", "serve")},
    **{name: f"krigo fit --{name.replace('_', '-')}" for name in ("dry_run", "fresh_start", "resume", "test")},
    "keep": "krigo predict --keep",
    **{name: f"krigo certify --{name.replace('_', '-')}" for name in ("accept_file_order", "anytime", "declaration", "no_refit", "refit", "shift")},
}


def elsewhere(name: str) -> CommandLineOnly | None:
    """The error for something that only the command line has."""
    return CommandLineOnly(f"{name}: only the command line has it: {COMMANDS[name]} (docs/how-to/python.md lists what Python doesn't have)") if name in COMMANDS else None


def told(call: Callable[P, T]) -> Callable[P, T]:
    """Says of an argument that only the command line has which command has it."""
    known = inspect.signature(call).parameters

    @functools.wraps(call)
    def asked(*args: P.args, **named: P.kwargs) -> T:
        for name in named.keys() - known.keys():
            if error := elsewhere(name):
                raise error
        return call(*args, **named)

    return asked


def in_python(message: str) -> str:
    """A message of the program, with what to do in Python where it advises a flag that is no parameter."""
    return message + " (in Python the environment's KRIGO_MEMORY, as KRIGO_MEMORY=24GB, is --memory from the program's start on)" * bool(re.search(r"--memory\b", message))


def of_reply(error: dict[str, object]) -> KrigoError:
    """The exception for the error of a reply."""
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
