"""Shows the progress of a fit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def bar() -> tuple[Callable[[dict[str, Any]], None], Callable[[], None]]:
    """Returns two functions: the first shows an event, and the second removes the line at the end.

    In terminals and notebooks each event overwrites the line. Elsewhere a line is printed whenever a training run stops.
    """
    notebook = type(sys.modules["IPython"].get_ipython()).__name__ == "ZMQInteractiveShell" if "IPython" in sys.modules else False
    out = sys.stdout if notebook else sys.stderr
    over = notebook or out.isatty()
    width = 0

    def event(e: dict[str, Any]) -> None:
        nonlocal width
        steps = f"step {e['iteration']} of {e['of']}" if e.get("of") else f"step {e['iteration']}"
        if e.get("of_rows"):
            steps = f"{e['rows']:,} of {e['of_rows']:,} rows predicted"
        text = " · ".join(part for part in ("krigo", e.get("stage", ""), e.get("family", ""), steps, e.get("stopped", "")) if part)
        if over:
            out.write("\r" + text.ljust(width))
            width = len(text)
        elif e.get("stopped"):
            out.write(text + "\n")
        out.flush()

    def end() -> None:
        if over and width:
            out.write("\r" + " " * width + "\r")
            out.flush()

    return event, end
