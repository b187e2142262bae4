#!/usr/bin/env python3
"""Measures what Python adds to krigo: medians of many calls, in milliseconds."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable

import numpy as np

from krigo import KrigoRegressor, _process


def median(call: Callable[[], object], times: int = 200) -> float:
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return 1e3 * float(np.median(taken))


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

    print(f"start of the program, and its end           {median(start, 20):8.2f}")
    print(f"a request that asks for nothing             {median(lambda: program.call('hello')):8.2f}")
    asked = median(lambda: program.call("predict", table.buffers, model=number, table=table.header()))
    whole = median(lambda: model.predict(X))
    print(f"the program's predictions of 1,000 × 13     {asked:8.2f}")
    print(f"predict of an array of 1,000 × 13           {whole:8.2f}")
    try:
        import pandas
    except ImportError:
        pass
    else:
        frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(13)])
        named = KrigoRegressor(kernel="se").fit(frame[:400], X[:400, 0])
        print(f"predict of a DataFrame of 1,000 × 13        {median(lambda: named.predict(frame)):8.2f}")
    print(f"first prediction of a model that was pickled{median(first, 50):8.2f}")


if __name__ == "__main__":
    main()
