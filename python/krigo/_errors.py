"""What can go wrong, in krigo's words."""

from __future__ import annotations


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


def of_reply(error: dict[str, object]) -> KrigoError:
    """The exception for the error of a reply."""
    message = str(error.get("message", ""))
    kind = error.get("kind")
    if kind == "usage":
        return UsageError(message)
    if kind == "data":
        row, column = error.get("row"), error.get("column")
        return DataError(message, row if isinstance(row, int) else None, column if isinstance(column, str) else None)
    if kind == "no-certificate":
        return NoCertificate(message)
    return KrigoError(message)
