"""Tests the contents of the wheels that `check` built."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import krigo

FOLDER = os.environ.get("KRIGO_WHEELS", "")
WHEELS = sorted(Path(FOLDER).glob("*.whl")) if FOLDER else []

# BEGINNINGS maps a platform to its executables' first bytes, and to where and which bytes name the processor.
BEGINNINGS = {
    "manylinux2014_x86_64": (b"\x7fELF", 18, b"\x3e\x00"),
    "manylinux2014_aarch64": (b"\x7fELF", 18, b"\xb7\x00"),
    "macosx_12_0_x86_64": (b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    "macosx_12_0_arm64": (b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
    "win_amd64": (b"MZ", 0, b"MZ"),
    "win_arm64": (b"MZ", 0, b"MZ"),
}

pytestmark = pytest.mark.skipif(not FOLDER, reason="python/check builds wheels")


def test_there_are_some():
    assert len(WHEELS) >= 3


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda path: path.stem.split("-")[-1])
def test_wheel(wheel):
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("krigo", "py3", "none")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        info = f"krigo-{version}.dist-info"
        executable = next(n for n in names if n.startswith("krigo/bin/"))
        assert executable == "krigo/bin/krigo" + (".exe" if platform.startswith("win") else "")
        assert {"krigo/__init__.py", "krigo/py.typed", f"{info}/METADATA", f"{info}/licenses/LICENSE", f"{info}/licenses/THIRD-PARTY-NOTICES.txt", f"{info}/sboms/krigo.cdx.json", f"{info}/RECORD"} < set(names)
        assert not [n for n in names if "__pycache__" in n or "test" in n]
        assert len({entry.date_time for entry in archive.infolist()}) == 1
        assert [n for n in names if archive.getinfo(n).external_attr >> 16 & 0o111] == [executable]
        record = {row[0]: row[1:] for row in csv.reader(archive.read(f"{info}/RECORD").decode().splitlines())}
        assert sorted(record) == sorted(names) and record.pop(f"{info}/RECORD") == ["", ""]
        for path, (digest, size) in record.items():
            data = archive.read(path)
            assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() and size == str(len(data))
        said = archive.read(f"{info}/WHEEL").decode()
        assert [line.split(": ")[1] for line in said.splitlines() if line.startswith("Tag")] == [f"py3-none-{p}" for p in platform.split(".")]
        metadata = archive.read(f"{info}/METADATA").decode()
        assert f"\nVersion: {version}\n" in metadata
        oldest = re.findall(r"^(\S+)==(\S+)$", (Path(__file__).resolve().parents[1] / "requirements-oldest.txt").read_text(), re.MULTILINE)
        for needed, least in re.findall(r"^Requires-Dist: ([a-z-]+)>=([0-9.]+)", metadata, re.MULTILINE):
            assert f"{dict(oldest)[needed]}.".startswith(f"{least}."), needed  # python/check tests with these
        begin, at, processor = BEGINNINGS[platform.split(".")[0]]
        program = archive.read(executable)
        assert program.startswith(begin) and program[at:].startswith(processor)


def test_again(tmp_path):
    """The build backend that pip uses makes the same bytes as scripts/release."""
    spec = importlib.util.spec_from_file_location("backend", Path(__file__).resolve().parents[1] / "backend.py")
    assert spec is not None and spec.loader is not None
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    name = backend.build_wheel(str(tmp_path))
    assert (tmp_path / name).read_bytes() == (Path(FOLDER) / name).read_bytes()


def test_installed():
    """The tests import the installed package, and the command krigo is its program."""
    root = Path(__file__).resolve().parents[1]
    assert root not in Path(krigo.__file__).resolve().parents
    script = shutil.which("krigo", path=Path(sys.executable).parent)
    assert script is not None
    version = subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout
    module = subprocess.run([sys.executable, "-m", "krigo", "--version"], capture_output=True, text=True, check=True).stdout
    assert version == module and krigo.__version__ in {wheel.stem.split("-")[1] for wheel in WHEELS}
    assert subprocess.run([script, "fit"], check=False, capture_output=True).returncode == 2
    # The command doesn't import numpy, which only the library needs.
    loaded = subprocess.run([sys.executable, "-c", "import krigo._program, sys; print('numpy' in sys.modules)"], capture_output=True, text=True, check=True).stdout
    assert loaded == "False\n"
