"""The base classes of the estimators: scikit-learn's classes if scikit-learn is installed, else a small replacement."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._errors import KrigoWarning, NotFitted, warn

if TYPE_CHECKING:

    class Regressor:
        pass

    class Classifier:
        pass

    class Estimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

else:
    try:
        from sklearn.base import BaseEstimator as Estimator
        from sklearn.base import ClassifierMixin as Classifier
        from sklearn.base import RegressorMixin as Regressor

    except ImportError:

        class Regressor:
            pass

        class Classifier:
            pass

        class Estimator:
            def get_params(self, deep=True):
                return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

            def set_params(self, **params):
                known = self.get_params()
                for name, value in params.items():
                    if name not in known:
                        raise ValueError(f"{type(self).__name__} has no parameter {name!r}. Its parameters are {', '.join(sorted(known))}")
                    setattr(self, name, value)
                return self

            def __repr__(self):
                default = inspect.signature(type(self).__init__).parameters
                given = (f"{k}={v!r}" for k, v in self.get_params().items() if v is not default[k].default)
                return f"{type(self).__name__}({', '.join(given)})"


def warn_column_vector() -> None:
    """Warns, in scikit-learn's words, that y was a column vector."""
    category: type[Warning] = KrigoWarning
    with contextlib.suppress(ImportError):
        from sklearn.exceptions import DataConversionWarning as category  # type: ignore[no-redef]
    warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for example using ravel().", category)


def not_fitted(estimator: object) -> Exception:
    """Returns the exception for an estimator that has no model yet."""
    return _not_fitted(f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator.")


def _not_fitted(message: str) -> Exception:
    """Returns a NotFitted that is also scikit-learn's NotFittedError, if scikit-learn is installed.

    Code of scikit-learn catches NotFittedError. Each call makes a new class, so a pickle holds only the message.
    """
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return NotFitted(message)

    class Both(NotFitted, NotFittedError):  # type: ignore[misc]
        def __reduce__(self) -> tuple[Callable[[str], Exception], tuple[str]]:
            return _not_fitted, (str(self),)

    Both.__name__ = Both.__qualname__ = "NotFitted"
    Both.__module__ = NotFitted.__module__
    return Both(message)
