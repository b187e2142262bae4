"""Finds the program krigo, which lies in this package's folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ._errors import KrigoError, warn

VARIABLE = "KRIGO_EXECUTABLE"


def path() -> str:
    """Returns the program's path: the path that the environment names, else the path in this package."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    own = _own()
    if not own.exists():
        raise KrigoError(f"{own} is missing: install krigo from a wheel for this system and processor, or set the environment variable {VARIABLE} to the program's path")
    return str(own)


def _own() -> Path:
    return Path(__file__).with_name("bin") / ("krigo.exe" if os.name == "nt" else "krigo")


_compared = False


def compare(version: str) -> None:
    """Warns once if the environment names a program whose version differs from the package's own program."""
    global _compared
    if _compared:
        return
    _compared = True
    named = os.environ.get(VARIABLE)
    if not named or not _own().exists():
        return
    try:
        own = subprocess.run([str(_own()), "--version"], check=False, capture_output=True, text=True, timeout=30).stdout.strip().removeprefix("krigo version ")
    except (OSError, subprocess.SubprocessError):  # the package's own program may be for another processor
        return
    if own and own != version:
        warn(f"{VARIABLE} names {named}, which is krigo {version}, but this package is made for {own}")


def main() -> None:
    """Is the command krigo: it replaces this process with the program."""
    try:
        args = [path(), *sys.argv[1:]]
    except KrigoError as e:
        sys.exit(f"krigo: {e}")
    if os.name != "nt":
        os.execv(args[0], args)
    try:  # Windows has no exec: ^C reaches both processes, and the program handles it
        process = subprocess.Popen(args)
        while True:
            try:
                sys.exit(process.wait())
            except KeyboardInterrupt:
                continue
    except OSError as e:
        sys.exit(f"krigo: {e}")
