"""krigo's exceptions and warnings."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import warnings
import weakref
from collections.abc import Callable, Collection, Mapping
from typing import Any, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class KrigoError(Exception):
    """Base class of krigo's errors."""


class UsageError(KrigoError, ValueError):
    """A parameter is wrong."""


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


# _told holds what each running call of joblib was warned of.
_told: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


def warn_of_rows(message: str) -> None:
    """Warns of predicted rows, but only once for a call that predicts for many folds, such as cross_val_predict or GridSearchCV.

    scikit-learn runs folds by joblib. Python's own filter doesn't keep repeated warnings back there, because each fold resets the filter.
    """
    frame, call, level, outside = sys._getframe().f_back, None, 2, 2
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if module == "joblib.parallel" and frame.f_code.co_varnames[:1] == ("self",):
            call = frame.f_locals["self"]
            outside = level
        elif outside == level - 1 and call is not None and module.partition(".")[0] in ("joblib", "sklearn"):
            outside = level
        frame, level = frame.f_back, level + 1
    if call is None:
        return warn(message)
    text = re.sub(r"\b\d+ of \d+ rows", "some rows of a fold", message)
    told = _told.setdefault(call, set())
    if text not in told:
        told.add(text)
        warnings.warn(text, KrigoWarning, stacklevel=outside + 1)


def warn(message: str, category: type[Warning] = KrigoWarning) -> None:
    """Warns, and names the line outside this package that called the package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# COMMANDS maps each name that only the command line has to its command. docs/how-to/python.md lists the names.
COMMANDS = {
    **{name: f"krigo {name}" for name in ("declare", "demo", "generate", "inspect", "serve")},
    **{name: f"krigo fit --{name.replace('_', '-')}" for name in ("dry_run", "fresh_start", "resume", "test")},
    "keep": "krigo predict --keep",
    **{name: f"krigo certify --{name.replace('_', '-')}" for name in ("accept_file_order", "anytime", "declaration", "head", "no_refit", "refit", "shift")},
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


# _FLAG finds a command line, which stays as it is, or a flag with the word after it, which may be the flag's value.
_FLAG = re.compile(r"""krigo\ [a-z]+(?:\ [A-Z]{2,}|\ --[a-z-]+)*|--([a-z][a-z-]*[a-z])(?:([ =])("[^"]*"|[^\s,;:()"]*[^\s,;:()".])(:?))?""", re.VERBOSE)

# _COPIED holds flags that a message names with the text to copy.
_COPIED = ("categorical", "group", "na", "sheet", "units")

# _INVALID finds what the program says of a value that it can't read, and _WANTED has the words for each function that can't read it.
_INVALID = re.compile(r'invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?(?:--)?([a-z-]+)" flag: (.*)', re.DOTALL)
_WANTED = {"strconv.ParseInt": "want a whole number", "strconv.ParseUint": "want a whole number", "strconv.ParseFloat": "want a number", "strconv.ParseBool": "want True or False", "time": 'want a duration, such as "90s"'}
_PHRASES = {"(docs/reference/settings.md has all flags)": "(help(krigo.KrigoRegressor.__init__) has all parameters)", "or below:above for": "or a pair (below, above) for"}

# _RENAMED maps flags to parameters that have another name in Python.
_RENAMED = {"samples": "n_samples"}

Flags: TypeAlias = Mapping[str, Collection[str]]


def in_python(message: str, flags: Flags | None = None) -> str:
    """Returns the program's message with parameters in place of flags, such as missing="mean" for --missing mean.

    Flags that Python doesn't have stay. If the message advises --memory, the text adds what to do in Python.
    """
    known = flags or {}

    def parameter(found: re.Match[str]) -> str:
        flag, between, value, colon = found.groups()
        if flag not in known or flag.replace("-", "_") in COMMANDS:
            return found.group()
        name = _RENAMED.get(flag, flag.replace("-", "_"))
        if not value:
            return name
        number = re.fullmatch(r"-?[\d.]+(e-?\d+)?", value) is not None
        if (colon and found.start() == 0) or not (number or value in known[flag] or (flag in _COPIED and value not in ("and", "or"))):
            return f"{name} {value}{colon}"
        return f"{name}={value}{colon}" if number or value[0] == '"' else f'{name}="{value}"{colon}'

    for theirs, ours in _PHRASES.items():
        message = message.replace(theirs, ours)
    invalid = _INVALID.fullmatch(message)
    if invalid and invalid[2] in known:
        wanted = _WANTED.get(invalid[3].split(":")[0]) or invalid[3]
        message = f"--{invalid[2]} {invalid[1]}: {wanted}"
    first = re.match(r"[a-z]+(?:-[a-z]+)+(?=\W)", message)
    if first and first.group() in known:
        message = first.group().replace("-", "_") + message[first.end() :]
    text = re.sub(r"""(=(?:"[^"]*"|[\d.e-]+)) (?=\w+=["\d])""", r"\1, ", _FLAG.sub(parameter, message))
    return text + " (in Python, set the environment variable KRIGO_MEMORY before the first call, for example KRIGO_MEMORY=24GB)" * bool(re.search(r"--memory\b", message))


# _SPOKEN holds the fields of replies that are words for people.
_SPOKEN = ("sentence", "reason", "context", "no_better", "differs", "notices")


def spoken(result: dict[str, Any], flags: Callable[[], Flags]) -> dict[str, Any]:
    """Returns a reply's result with its words in Python's terms."""

    def words(of: Any) -> Any:
        if isinstance(of, list):
            return [words(one) for one in of]
        return in_python(of, flags()) if isinstance(of, str) and "--" in of else of

    if isinstance(result.get("targets"), list):
        result["targets"] = [spoken(one, flags) if isinstance(one, dict) else one for one in result["targets"]]
    return {name: words(of) if name in _SPOKEN else of for name, of in result.items()}


def of_reply(error: dict[str, object], flags: Flags | None = None) -> KrigoError:
    """Returns the exception for the error in a reply."""
    message = in_python(str(error.get("message", "")), flags)
    kind = error.get("kind")
    if kind == "usage":
        return UsageError(message)
    if kind == "data":
        row, column = error.get("row"), error.get("column")
        return DataError(message, row if isinstance(row, int) else None, column if isinstance(column, str) else None)
    if kind == "no-certificate":
        return NoCertificate(message)
    return KrigoError(message)
