"""Simulated tables whose coverage is known exactly.

A draw is a table of 200 + n rows, and further rows without targets. A further row comes with the
distribution of its target given its inputs. So cover(lower, upper) returns the probability that an
interval holds, averaged over the further rows, and needs no simulated targets.
"""

import zlib
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln, ndtr

TRAIN = 200  # rows that train the model; the other n rows calibrate it
FURTHER = 300  # further rows of a draw, if inputs are continuous
GROUP = 5  # rows of a group


@dataclass
class Further:
    """Further rows: inputs for the tools, columns for a CSV file, and the targets' distribution."""

    x: np.ndarray
    columns: dict
    mean: np.ndarray = None  # of normal targets
    sd: float = 0.0
    values: np.ndarray = None  # of discrete targets
    probabilities: np.ndarray = None  # of the values, a row for each further row

    def cover(self, lower, upper):
        """Returns the probability that lower <= target <= upper, on average over the rows."""
        if self.values is None:
            return float(
                np.mean(ndtr((upper - self.mean) / self.sd) - ndtr((lower - self.mean) / self.sd))
            )
        held = (lower[:, None] <= self.values) & (self.values <= upper[:, None])
        return float(np.mean(np.sum(self.probabilities * held, axis=1)))


@dataclass
class Draw:
    """A table of 200 + n rows in random order, and further rows by the name of their source."""

    x: np.ndarray
    y: np.ndarray
    columns: dict
    further: dict = field(default_factory=dict)


def plain(rng, n):
    """Continuous inputs and targets. A straight line misses the product."""

    def inputs(rows):
        x = rng.normal(size=(rows, 2))
        return x, x[:, 0] + 0.5 * x[:, 1] + 0.5 * x[:, 0] * x[:, 1]

    x, mean = inputs(TRAIN + n)
    y = mean + rng.normal(size=len(x))
    x_new, mean_new = inputs(FURTHER)
    return Draw(x, y, named(x), {"": Further(x_new, named(x_new), mean=mean_new, sd=1.0)})


def ties(rng, n):
    """Nine settings of the inputs, and targets rounded to whole numbers: many scores are equal."""
    settings = np.array([[a, b] for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)])

    def mean(x):
        return x[:, 0] + 0.5 * x[:, 1] + 0.5 * x[:, 0] * x[:, 1]

    x = settings[rng.integers(len(settings), size=TRAIN + n)]
    y = np.round(mean(x) + rng.normal(size=len(x)))
    values = np.arange(-12.0, 13.0)
    above = ndtr(values + 0.5 - mean(settings)[:, None])
    below = ndtr(values - 0.5 - mean(settings)[:, None])
    return Draw(
        x,
        y,
        named(x),
        {"": Further(settings, named(settings), values=values, probabilities=above - below)},
    )


def counts(rng, n):
    """Continuous inputs, and counts as targets."""

    def inputs(rows):
        x = rng.normal(size=(rows, 2))
        return x, np.exp(1 + 0.5 * x[:, 0] + 0.2 * x[:, 1])

    x, rate = inputs(TRAIN + n)
    y = rng.poisson(rate).astype(float)
    x_new, rate_new = inputs(FURTHER)
    values = np.arange(0.0, 80.0)
    log = values * np.log(rate_new)[:, None] - rate_new[:, None] - gammaln(values + 1)
    return Draw(
        x, y, named(x), {"": Further(x_new, named(x_new), values=values, probabilities=np.exp(log))}
    )


def groups(rng, n):
    """Groups of five rows with an effect of their own; rows, not groups, are dealt at random.

    The name of the group is an input. Further rows come from the same groups, and are then
    exchangeable with the table's rows, or from new groups, and then aren't.
    """
    rows = TRAIN + n
    many = -(-rows // GROUP)  # the last group may be smaller
    effects = rng.normal(size=many)

    def inputs(group):
        x = rng.normal(size=(len(group), 2))
        return x, x[:, 0] + 0.5 * x[:, 1]

    def coded(x, group):
        return np.hstack([x, (group[:, None] == np.arange(many)).astype(float)])

    group = rng.permutation(np.arange(rows) // GROUP)
    x, mean = inputs(group)
    y = mean + effects[group] + 0.5 * rng.normal(size=rows)
    draw = Draw(coded(x, group), y, named(x, group))
    same = rng.integers(many, size=FURTHER)
    x_new, mean_new = inputs(same)
    draw.further["same groups"] = Further(
        coded(x_new, same), named(x_new, same), mean=mean_new + effects[same], sd=0.5
    )
    new = np.arange(many, many + FURTHER)
    x_new, mean_new = inputs(new)
    draw.further["new groups"] = Further(
        coded(x_new, new), named(x_new, new), mean=mean_new, sd=np.sqrt(1.25)
    )
    return draw


def named(x, group=None):
    """Returns the columns of a CSV file."""
    columns = {"a": x[:, 0], "b": x[:, 1]}
    if group is not None:
        columns["g"] = [f"g{k}" for k in group]
    return columns


SITUATIONS = {"plain": plain, "ties": ties, "counts": counts, "groups": groups}


def draw(name, n, run, seed):
    """Returns a draw, which is the same for every tool."""
    return SITUATIONS[name](np.random.default_rng([seed, zlib.crc32(name.encode()), n, run]), n)
