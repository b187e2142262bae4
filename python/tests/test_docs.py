"""Every public name is documented, and the examples of docstrings run."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import krigo
from krigo._errors import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


def test_methods_are_documented():
    text = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
    own = [name for of in (krigo.KrigoRegressor, krigo.KrigoClassifier, krigo.Finding) for name in methods(of)]
    assert [name for name in own if not re.search(rf"\b{name}\b", text)] == []
    missing = text.partition("## Only on the command line")[2].partition("\n## ")[0]
    assert [name for name in COMMANDS if not re.search(rf"\b{name.replace('_', '[-_]')}\b", missing)] == []


def methods(of: type) -> Iterator[str]:
    """Yields the public names that the package gives to a class, but not those of scikit-learn."""
    for name in dir(of):
        at = next(base for base in of.__mro__ if name in vars(base))
        if at.__module__.startswith("krigo.") and not name.startswith("_") and not name.endswith("_request"):
            yield name


def documented() -> Iterator[tuple[str, object]]:
    """Yields the package's exports and the public methods of its classes.

    The examples of a class's methods use the model of its own example.
    """
    for name in sorted(krigo.__all__, key=lambda name: name != "KrigoRegressor"):
        of = getattr(krigo, name)
        yield name, of
        if name in ("KrigoRegressor", "Finding"):
            yield from ((f"{name}.{method}", getattr(of, method)) for method in methods(of))
        if name == "KrigoClassifier":
            yield from ((f"{name}.{method}", getattr(of, method)) for method in ("predict", "predict_proba", "score"))


def test_docstrings(tmp_path, monkeypatch):
    """Docstrings name every parameter and have an example, and the examples run."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner()
    for name, of in documented():
        text = inspect.getdoc(of) or ""
        assert text, name
        if inspect.isroutine(of):
            section = re.split(r"\n(?=\w[\w ]*\n---)", text.partition("Parameters\n")[2])[0]
            described = re.findall(r"^\**(\w+) : ", section, re.MULTILINE)
            assert described == [p for p in inspect.signature(of).parameters if p != "self"], name
        if inspect.isroutine(of) or name in ("KrigoRegressor", "Finding"):
            assert re.search(r"\nExamples\n--------\n(.*\n\n)?>>> ", text), name
        test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
        runner.run(test, clear_globs=False)
        assert runner.failures == 0, name
        names = test.globs if name in ("KrigoRegressor", "KrigoClassifier") else names
