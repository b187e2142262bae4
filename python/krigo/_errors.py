"""What can go wrong, in krigo's words."""

from __future__ import annotations

import re


class KrigoError(Exception):
    """Whatever krigo refuses, or can't do."""


class UsageError(KrigoError, ValueError):
    """An option is wrong: a parameter of the estimator. A message's --some-flag is the parameter some_flag."""


class DataError(KrigoError, ValueError):
    """The table is wrong, where that is known in this row, from 1, and column."""

    def __init__(self, message: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(message)
        self.row = row
        self.column = column

    def __reduce__(self) -> tuple[type[DataError], tuple[str, int | None, str | None]]:
        return type(self), (str(self), self.row, self.column)


class NoCertificate(KrigoError):
    """The model has no certificate; the message says why."""


class NotFitted(KrigoError, ValueError, AttributeError):
    """The estimator has no model yet."""


# Flags that a message of the program may advise, and what stands for them where there is no command line.
_INSTEAD = {
    "memory": "in Python the environment's KRIGO_MEMORY, as KRIGO_MEMORY=24GB, is --memory from the program's start on",
    "na": "in Python: replace such texts in the table by NaN",
    "units": "in Python: make numbers of the column",
    "decimal": "in Python: make numbers of the column",
    "thousands": "in Python: make numbers of the column",
}


def in_python(message: str) -> str:
    """A message of the program, with what to do in Python where it advises a flag that is no parameter."""
    said = dict.fromkeys(text for flag, text in _INSTEAD.items() if re.search(rf"--{flag}\b", message))
    return f"{message} ({'; '.join(said)})" if said else message


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
