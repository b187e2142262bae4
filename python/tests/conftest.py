from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import krigo._program

ROOT = Path(__file__).resolve().parents[2]


class CommandLine:
    """Runs the command line of the program that the package uses."""

    def __call__(self, *args: object, fails: bool = False) -> str:
        done = subprocess.run([krigo._program.path(), *map(str, args)], check=False, capture_output=True, text=True)
        assert (done.returncode != 0) == fails, done.stderr + done.stdout
        return done.stderr if fails else done.stdout

    def said(self, *args: object) -> str:
        return subprocess.run([krigo._program.path(), *map(str, args)], check=True, capture_output=True, text=True).stderr

    def json(self, *args: object) -> Any:
        return json.loads(self(*args, "--json"))


@pytest.fixture(scope="session")
def cli() -> CommandLine:
    return CommandLine()


@pytest.fixture(scope="session")
def boston() -> pd.DataFrame:
    return pd.read_csv(ROOT / "data" / "boston.csv.gz")


@pytest.fixture(scope="session")
def waves() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=150)


@pytest.fixture(scope="session")
def houses() -> pd.DataFrame:
    """Returns rows with missing numbers, categories as text and by type, truth values and dates."""
    rng = np.random.default_rng(2)
    n = 260
    frame = pd.DataFrame(
        {
            "area": rng.gamma(4, 30, n).round(1),
            "rooms": pd.array(rng.integers(1, 7, n), dtype="Int64"),
            "zone": rng.choice(["north", "south", "öst"], n),
            "heating": pd.Categorical(rng.choice(["gas", "oil"], n)),
            "garden": rng.random(n) < 0.4,
            "sold": pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 900 * 86400, n), unit="s"),
        }
    )
    frame["price"] = 50 + 2 * frame.area + 30 * (frame.zone == "south") + 0.05 * (frame.sold - frame.sold.min()).dt.days + rng.normal(0, 15, n)
    frame.loc[3, "area"] = np.nan
    frame.loc[5, "rooms"] = pd.NA
    frame.loc[7, "zone"] = None
    return frame


@pytest.fixture(scope="session")
def quick() -> dict[str, Any]:
    """Returns parameters for a quick fit."""
    return {"kernel": "se", "restarts": 1}
