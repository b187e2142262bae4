#!/usr/bin/env python3
"""Measures what Python adds to krigo's times. It prints medians of many calls, in milliseconds."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable

import numpy as np
import pandas

from krigo import KrigoRegressor, _process


def medians(*calls: Callable[[], object], times: int = 200) -> list[float]:
    """Returns the median time of each call. The calls take turns, so that other work slows all of them alike."""
    taken = np.empty((times, len(calls)))
    for row in taken:
        for k, call in enumerate(calls):
            begin = time.perf_counter()
            call()
            row[k] = time.perf_counter() - begin
    return [1e3 * float(m) for m in np.median(taken, axis=0)]


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 13))
    model = KrigoRegressor(kernel="se").fit(X[:400], X[:400, 0] + 0.1 * rng.normal(size=400))
    program = _process.current()
    table = model._table(X)
    number = model.model_.number(program)
    packed = pickle.dumps(model)

    def start() -> None:
        _process.Process().end()

    def first() -> None:
        pickle.loads(packed).predict(X[:1])

    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(13)])
    named = KrigoRegressor(kernel="se").fit(frame[:400], X[:400, 0])
    figures = {
        "start of the program, and its end": medians(start, times=20)[0],
        "first prediction of a model that was pickled": medians(first, times=50)[0],
    }
    names = ("a request that asks for nothing", "the program's predictions of 1,000 × 13", "predict of an array of 1,000 × 13", "predict of a DataFrame of 1,000 × 13")
    asked = medians(
        lambda: program.call("hello"),
        lambda: program.call("predict", table.buffers, model=number, table=table.header()),
        lambda: model.predict(X),
        lambda: named.predict(frame),
    )
    for name, figure in {**figures, **dict(zip(names, asked, strict=True))}.items():
        print(f"{name:46}{figure:8.2f}")


if __name__ == "__main__":
    main()
