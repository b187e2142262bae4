"""
Kernels that compose with + and *.

Each function names columns of X, or none, if the kernel sees all inputs:

>>> from krigo.kernels import linear, periodic, se
>>> (se("x1", "floor (m2)") + periodic("hour")) * se("day") + linear()
(se(x1,"floor (m2)")+periodic(hour))*se(day)+linear
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Kernel", "additive", "constant", "exchangeable", "linear", "lowrank", "matern12", "matern32", "matern52", "ordinal", "periodic", "rq", "se", "steps", "white"]


@dataclass(frozen=True, repr=False)
class Kernel:
    """A kernel's expression, as the flag `--kernel` of `krigo fit` takes it. Texts are expressions too."""

    expression: str
    factor: bool = False  # whether a product takes it without parentheses

    def __str__(self) -> str:
        return self.expression

    __repr__ = __str__

    def __add__(self, other: Kernel | str) -> Kernel:
        return Kernel(f"{self}+{_kernel(other)}")

    def __radd__(self, other: str) -> Kernel:
        return _kernel(other) + self

    def __mul__(self, other: Kernel | str) -> Kernel:
        return Kernel("*".join(k.expression if k.factor else f"({k})" for k in (self, _kernel(other))), True)

    def __rmul__(self, other: str) -> Kernel:
        return _kernel(other) * self


def _kernel(k: Kernel | str) -> Kernel:
    if isinstance(k, str):
        return Kernel(k)
    if not isinstance(k, Kernel):
        raise TypeError(f"a kernel composes with kernels and texts, not with {k!r}")
    return k


def _on(name: str, columns: tuple[str, ...]) -> Kernel:
    plain = [str(c) for c in columns]
    texts = ['"' + c.replace('"', '""') + '"' if c != c.strip() or not c or any(s in c for s in ',()"') else c for c in plain]
    return Kernel(name + (f"({','.join(texts)})" if texts else ""), True)


def se(*columns: str) -> Kernel:
    """Squared exponential: very smooth functions."""
    return _on("se", columns)


def matern12(*columns: str) -> Kernel:
    """Matérn-1/2: rough functions."""
    return _on("matern12", columns)


def matern32(*columns: str) -> Kernel:
    """Matérn-3/2."""
    return _on("matern32", columns)


def matern52(*columns: str) -> Kernel:
    """Matérn-5/2."""
    return _on("matern52", columns)


def rq(*columns: str) -> Kernel:
    """Rational quadratic: several lengthscales at once."""
    return _on("rq", columns)


def periodic(*columns: str) -> Kernel:
    """Functions with a period."""
    return _on("periodic", columns)


def additive(*columns: str) -> Kernel:
    """Effects of one and of two inputs that add up."""
    return _on("additive", columns)


def steps(*columns: str) -> Kernel:
    """Functions with steps where an input passes a threshold."""
    return _on("steps", columns)


def linear(*columns: str) -> Kernel:
    """Linear functions."""
    return _on("linear", columns)


def constant(*columns: str) -> Kernel:
    """Constant functions."""
    return _on("constant", columns)


def white(*columns: str) -> Kernel:
    """Noise that rows with the same inputs share."""
    return _on("white", columns)


def exchangeable(column: str) -> Kernel:
    """Categories that are all equally alike."""
    return _on("exchangeable", (column,))


def ordinal(column: str, *order: str) -> Kernel:
    """Categories on a line, in the given order, or in the order of numbers."""
    return _on("ordinal", (column, *order))


def lowrank(column: str) -> Kernel:
    """Categories that are more or less alike, two by two."""
    return _on("lowrank", (column,))
