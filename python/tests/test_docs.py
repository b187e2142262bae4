"""The documentation's script runs and prints what the page shows, and every public name is documented."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import krigo
from krigo._errors import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


def script(name: str) -> str:
    found = re.search(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def test_script(tmp_path):
    code = script("docs/how-to/python.md")
    assert script("README.md") == code
    (tmp_path / "data").symlink_to(ROOT / "data")
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert f"\n    {said[0]}\n" in (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
    assert sum(line.startswith("With 99 % confidence") for line in said) == 3
    assert {p.name for p in tmp_path.iterdir()} == {"data", "houses.krigo", "houses.html"}


def test_methods_are_documented():
    from krigo import Finding, KrigoRegressor

    text = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
    own = [name for of in (KrigoRegressor, Finding) for name in vars(of) if not name.startswith("_") and not name.endswith("_request")]  # of scikit-learn
    assert [name for name in own if not re.search(rf"\b{name}\b", text)] == []
    missing = text.partition("## Only on the command line")[2].partition("\n## ")[0]
    assert [name for name in COMMANDS if not re.search(rf"\b{name.replace('_', '[-_]')}\b", missing)] == []


def documented() -> Iterator[tuple[str, object]]:
    """Yields the package's exports and the public methods of its classes.

    KrigoRegressor comes first, because the other examples use the model of its example.
    """
    for name in sorted(krigo.__all__, key=lambda name: name != "KrigoRegressor"):
        of = getattr(krigo, name)
        yield name, of
        if name in ("KrigoRegressor", "Finding"):
            yield from ((f"{name}.{method}", getattr(of, method)) for method in vars(of) if not method.startswith("_") and not method.endswith("_request"))


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
        names = test.globs if name == "KrigoRegressor" else names
