"""
Gaussian-process regression with a certificate.

`KrigoRegressor` is a scikit-learn estimator. It promises, with a stated confidence, how often its predictions will be off by more than ε.
`KrigoClassifier` does the same for classes, and promises how often its labels will be wrong.
`KrigoTargets` fits several targets of one table.
`certify_predictions` makes such a promise for the predictions of any other model, and `certify_classifier` for the labels of a classifier.
`compare` puts any estimators beside krigo, on the same splits of the rows.

The program krigo does the work. It comes with this package and runs beside Python. Tables and models go through a pipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._classifier import KrigoClassifier
    from ._compare import compare
    from ._errors import DataError, KrigoError, KrigoWarning, NoCertificate, NotFitted, UsageError
    from ._finding import Finding
    from ._predictions import certify_classifier, certify_predictions
    from ._regressor import KrigoRegressor
    from ._targets import KrigoTargets

__all__ = ["DataError", "Finding", "KrigoClassifier", "KrigoError", "KrigoRegressor", "KrigoTargets", "KrigoWarning", "NoCertificate", "NotFitted", "UsageError", "certify_classifier", "certify_predictions", "compare"]

_HOME = {
    "KrigoClassifier": "_classifier",
    "KrigoRegressor": "_regressor",
    "KrigoTargets": "_targets",
    "certify_classifier": "_predictions",
    "certify_predictions": "_predictions",
    "compare": "_compare",
    "Finding": "_finding",
}


def __getattr__(name: str) -> object:
    # The command krigo imports this package too, but needs neither numpy nor scikit-learn. They are imported when used.
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("krigo")
        except PackageNotFoundError:
            return "0"
    if name == "kernels":
        from . import kernels

        return kernels
    if name not in __all__:
        from ._errors import elsewhere

        raise elsewhere(name) or AttributeError(f"module 'krigo' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module("." + _HOME.get(name, "_errors"), __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
