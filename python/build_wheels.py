#!/usr/bin/env python3
"""Builds the wheels of the Python package: its modules, and the program krigo for one system and processor in each.

    python3 python/build_wheels.py --out FOLDER [--targets linux/amd64,windows/arm64]

Needs Go, git and Python's standard library. The same commit gives the same bytes with the same Go and the same zlib. It is the
build backend of pyproject.toml too, so that `pip install ./python` builds for the machine at hand.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGE = HERE / "krigo"

# What pip calls the systems. The program has no C and is linked statically, so that both of Linux's C libraries will do;
# macOS 12 is the oldest that the Go tool builds for.
TAGS = {
    "linux/amd64": ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"],
    "linux/arm64": ["manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"],
    "darwin/amd64": ["macosx_12_0_x86_64"],
    "darwin/arm64": ["macosx_12_0_arm64"],
    "windows/amd64": ["win_amd64"],
    "windows/arm64": ["win_arm64"],
}


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def described() -> str:
    """The release as scripts/release names it."""
    return output("git", "describe", "--tags", "--always", "--dirty")


def version(description: str) -> str:
    """A release as Python's packages number theirs: v1.2.3-4-gabc is 1.2.3.post4+gabc, and before the first tag 0.0.0+gabc."""
    bare = description.removesuffix("-dirty")
    local = ["dirty"] if bare != description else []
    tagged = re.fullmatch(r"v?(\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?)(?:-(\d+)-g([0-9a-f]+))?", bare)
    if tagged is None or not re.search(r"[.-]|^v", bare):
        number, local = "0.0.0", ["g" + bare, *local]
    else:
        number, since, commit = tagged.groups()
        if since:
            number, local = f"{number}.post{since}", ["g" + commit, *local]
    return number + ("+" + ".".join(local) if local else "")


def metadata(number: str) -> str:
    return "\n".join(
        [
            "Metadata-Version: 2.1",
            "Name: krigo",
            f"Version: {number}",
            "Summary: Gaussian processes that keep their promises: regression with a certificate",
            "License: Apache-2.0",
            "Classifier: Programming Language :: Python :: 3",
            "Classifier: Topic :: Scientific/Engineering",
            "Classifier: Typing :: Typed",
            "Requires-Python: >=3.10",
            "Requires-Dist: numpy>=1.24",
            'Requires-Dist: scikit-learn>=1.6; extra == "sklearn"',
            'Requires-Dist: pandas>=2; extra == "pandas"',
            'Requires-Dist: polars>=1; extra == "polars"',
            "Provides-Extra: sklearn",
            "Provides-Extra: pandas",
            "Provides-Extra: polars",
            "Description-Content-Type: text/markdown",
            "",
            (ROOT / "docs" / "python.md").read_text(encoding="utf-8"),
        ]
    )


def program(target: str, description: str, folder: Path) -> Path:
    """Builds krigo, as scripts/release does."""
    system, processor = target.split("/")
    out = folder / ("krigo.exe" if system == "windows" else "krigo")
    flags = f"-s -w -buildid= -X github.com/krigo-gp/krigo/internal/command.release={description}"
    subprocess.run(
        ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(out), "./cmd/krigo"],
        cwd=ROOT,
        check=True,
        env={**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": processor, "GOFLAGS": ""},
    )
    return out


def digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build(target: str, out: Path) -> Path:
    """Builds the wheel of a target."""
    description = described()
    number = version(description)
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct")))[:6]
    info = f"krigo-{number}.dist-info"
    files: dict[str, bytes] = {}
    for path in sorted(PACKAGE.iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            files[f"krigo/{path.name}"] = path.read_bytes()
    with tempfile.TemporaryDirectory() as work:
        built = program(target, description, Path(work))
        executable = f"krigo/bin/{built.name}"
        files[executable] = built.read_bytes()
    files[f"{info}/METADATA"] = metadata(number).encode()
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in TAGS[target])
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: krigo build_wheels\nRoot-Is-Purelib: false\n{tags}".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nkrigo = krigo._program:main\n"
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    rows.writerows([name, digest(data), len(data)] for name, data in files.items())
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = record.getvalue().encode()

    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"krigo-{number}-py3-none-{'.'.join(TAGS[target])}.whl"
    part = wheel.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.create_system = 3  # permissions are Unix's
            entry.external_attr = (0o100755 if name == executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=9)
    part.replace(wheel)
    return wheel


def here() -> str:
    """The target of this machine."""
    return output("go", "env", "GOHOSTOS") + "/" + output("go", "env", "GOHOSTARCH")


# What pip calls of a build backend.


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    return []


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    return build(here(), Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    raise NotImplementedError("the package is built from the repository, by wheels alone")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the wheels of the Python package.")
    parser.add_argument("--out", required=True, type=Path, help="folder for the wheels")
    parser.add_argument("--targets", default=",".join(TAGS), help="systems and processors, as Go names them, with commas between them, or here (default all)")
    args = parser.parse_args()
    targets = [here() if t == "here" else t for t in args.targets.split(",")]
    unknown = [t for t in targets if t not in TAGS]
    if unknown:
        sys.exit(f"--targets {', '.join(unknown)}: want some of {', '.join(TAGS)}, or here")
    for target in targets:
        print(build(target, args.out.resolve()), flush=True)


if __name__ == "__main__":
    main()
