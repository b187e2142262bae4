"""The program, which lies in this package's folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ._errors import KrigoError, warn

VARIABLE = "KRIGO_EXECUTABLE"


def path() -> str:
    """Where the program is: in the package, unless the environment names another one."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    own = _own()
    if not own.exists():
        raise KrigoError(f"{own} isn't there: install krigo from a wheel of this system and processor, or name the program by the environment variable {VARIABLE}")
    return str(own)


def _own() -> Path:
    return Path(__file__).with_name("bin") / ("krigo.exe" if os.name == "nt" else "krigo")


_compared = False


def compare(version: str) -> None:
    """Warns, once, where the environment names a program of another version than that which came with this package."""
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
        warn(f"{named}, which {VARIABLE} names, is krigo {version}; this package is made for {own}")


def main() -> None:
    """The command krigo: the program takes this process's place."""
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
