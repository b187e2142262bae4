"""Tests of the suite itself, skipped without numpy, scipy and scikit-learn."""

import unittest

try:
    import numpy as np

    import krigo
    import run
    import situations
    import tools
except ImportError as error:
    raise unittest.SkipTest(str(error)) from error


class Zero:
    """A model that predicts zero."""

    def predict(self, x):
        return np.zeros(len(x))


class TestSuite(unittest.TestCase):
    def test_cover(self):
        """Coverage is exact, and a discrete target on an end is covered."""
        rows = situations.Further(np.zeros((1, 1)), {}, mean=np.zeros(1), sd=1.0)
        self.assertAlmostEqual(rows.cover(np.array([-1.959964]), np.array([1.959964])), 0.95, 6)
        rows = situations.Further(
            np.zeros((1, 1)), {}, values=np.array([0.0, 1.0]), probabilities=np.array([[0.3, 0.7]])
        )
        self.assertEqual(rows.cover(np.array([1.0]), np.array([2.0])), 0.7)

    def test_probabilities(self):
        """The probabilities of discrete targets add up to 1."""
        for name in ("ties", "counts"):
            rows = situations.draw(name, 5, 0, 1).further[""]
            self.assertLess(np.max(np.abs(rows.probabilities.sum(axis=1) - 1)), 1e-6, name)

    def test_ranks(self):
        """The rank is ceil(level (n+1)), and the interval infinite if there is no such row."""
        x = np.zeros((1, 1))
        for n, level, rank in ((9, 0.9, 9), (10, 0.9, 10), (19, 0.95, 19), (99, 0.9, 90)):
            _, upper = tools.by_hand(Zero(), np.zeros((n, 1)), np.arange(1.0, n + 1), x, level)
            self.assertEqual(upper[0], rank)
        _, upper = tools.by_hand(Zero(), np.zeros((5, 1)), np.arange(5.0), x, 0.9)
        self.assertEqual(upper[0], np.inf)

    def test_widths(self):
        """A table of widths is false if one of its statements is."""
        rows = situations.Further(np.zeros((1, 1)), {}, mean=np.zeros(1), sd=1.0)
        for width, false in ((1.3, False), (1.2, True)):
            said = {}
            points = [
                {"bound": 0.5, "half_width_raw": 0.7},
                {"bound": 0.2, "half_width_raw": width},
            ]
            krigo.widths(said, "", rows, np.zeros(1), points, [0.8, 0.9])
            self.assertEqual(said["table", "", 0][1], false)
            self.assertEqual(said["table", "", 0.8][1], false)
            self.assertNotIn(("table", "", 0.9), said)

    def test_cell(self):
        """A run is short if its coverage is more than five points below the level."""
        row = run.cell("plain", "textbook", 20, 0.9, "on average", 4, [0.84, 0.86, 0.95, 0.95])
        self.assertEqual(row[6:], ["100", "90.0 ± 2.9", "25.0", ""])


if __name__ == "__main__":
    unittest.main()
