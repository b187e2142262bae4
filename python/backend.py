"""The build backend of `pip install ./python`: tools/release, which needs Go, makes the wheel for this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    return []


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    release = ["go", "run", "-C", str(ROOT / "tools"), "./release", "-root", str(ROOT), "-targets", "here", "-of", "wheel"]
    return subprocess.run([*release, wheel_directory], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    raise NotImplementedError("the package is built from the repository, by wheels alone")
