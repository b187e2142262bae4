"""The result of a check or a certificate, and its HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any


class Finding:
    """A sentence, and the numbers that it is made of.

    `KrigoRegressor.certify`, `fresh`, `watch` and `certify_predictions` return it. ``print`` shows the sentence.

    Attributes
    ----------
    sentence : str
        What krigo found, in words.
    details : dict
        What the command's ``--json`` prints.

    Examples
    --------
    >>> from krigo import certify_predictions
    >>> found = certify_predictions([0.0] * 100, [0.1] * 100, epsilon=0.5)
    >>> found.sentence.startswith("With 99 % confidence")
    True
    """

    def __init__(self, sentence: str, details: dict[str, Any]) -> None:
        self.sentence = sentence
        self.details = details

    @property
    def certificate(self) -> dict[str, Any]:
        """The numbers of the certificate, as `krigo certify --json` has them, or all details if they hold no certificate."""
        inner = self.details.get("certificate")
        return inner if isinstance(inner, dict) else self.details

    @property
    def bound(self) -> float:
        """The bound on the share of misses, or on the mean of another loss."""
        of = self.certificate
        return float(of["mean_bound"] if "mean_bound" in of else of["certified"])

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<krigo.Finding: {self.sentence}>"

    def _repr_html_(self) -> str:
        return card(self.sentence, self.certificate)


_ROW = "padding:1px 12px 1px 0;text-align:left;border:none"


def card(sentence: str, certificate: dict[str, Any] | None, notices: list[str] | None = None, test: dict[str, Any] | None = None) -> str:
    """Returns HTML for a notebook: the sentence, the bound, the figures of test rows, the conditions and the notices."""
    lines = [
        '<div style="font-family:system-ui,sans-serif;max-width:46em;border:1px solid #8888;border-radius:6px;padding:10px 14px;line-height:1.45">',
        f'<div style="white-space:pre-line;font-size:1.05em">{escape(sentence)}</div>',
    ]
    c = certificate or {}
    figures: list[tuple[str, str]] = []
    if isinstance(c.get("mean_bound"), (int, float)):
        figures.append(("bound on the share of misses" if c.get("loss") in _SHARES else "bound on the loss", f"{c['mean_bound']:.4g}"))
    seen = c.get("empirical_risk", c.get("mean_risk"))
    if isinstance(seen, (int, float)):
        figures.append(("observed on these rows", f"{seen:.4g}"))
    if isinstance(c.get("rows"), int):
        figures.append(("rows counted", f"{c['rows']:,}"))
    if isinstance(c.get("delta"), (int, float)):
        figures.append(("probability that the bound is wrong, at most", f"{c['delta']:g}"))
    seen_later = test or {}
    for key, name in _TEST.items():
        value = seen_later.get(key)
        if isinstance(value, (int, float)):
            figures.append((f"{name} on {seen_later['rows']:,} test rows", f"{value:.4g}"))
    if figures:
        lines.append('<table style="margin:8px 0 0;font-size:.92em;border:none">')
        lines += [f'<tr style="background:none"><td style="{_ROW};opacity:.7">{escape(k)}</td><td style="{_ROW}">{escape(v)}</td></tr>' for k, v in figures]
        lines.append("</table>")
    for title, items in (("Conditions", c.get("conditions")), ("Notices", notices)):
        if items:
            lines.append(f'<details style="margin-top:8px;font-size:.92em"><summary style="cursor:pointer">{title}</summary><ul style="margin:4px 0 0 1.2em;padding:0">')
            lines += [f"<li>{escape(str(item))}</li>" for item in items]
            lines.append("</ul></details>")
    lines.append("</div>")
    return "".join(lines)


_SHARES = ("band", "relative", "scaled", "asymmetric")

# _TEST names the figures of test rows that a card shows.
_TEST = {"rmse_raw": "RMSE", "mean_risk": "share of misses", "coverage95": "share within the model's 95 % interval"}
