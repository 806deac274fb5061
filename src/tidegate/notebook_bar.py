"""A bar below the cell of a notebook, without widgets. In go shares of what is done with a text, out comes HTML that is kept up to date."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any, Final, cast

__all__ = ["NotebookBar", "is_in_notebook"]

_EVERY: Final = 0.1  # seconds between two pictures of it; a browser shows no more
_WIDTH: Final = 24  # characters, where a page shows text only


def is_in_notebook() -> bool:
    """Whether output goes to the cell of a notebook."""
    asked: Any = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if asked is None else asked()
    return type(shell).__name__ in ("ZMQInteractiveShell", "Shell")  # of Jupyter, of Colab


class NotebookBar:
    """To be updated with the share that is done; it appears with the first update."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = 0.0
        self._handle: Any = None
        self._last = (0.0, "")

    def update(self, share: float, text: str) -> None:
        """Show a share between 0 and 1, and a text beside it."""
        self._last = (min(max(share, 0.0), 1.0), text)
        if time.monotonic() - self._shown >= _EVERY:
            self._show(self._left())

    def stop(self, began: float) -> None:
        """Show how far it came, and how long that took since ``began``, a time of ``time.monotonic``."""
        self._show(f"{time.monotonic() - began:.1f} s")

    def _left(self) -> str:
        share = self._last[0]
        seconds = (time.monotonic() - self._began) * (1.0 - share) / share if share > 0.0 else 0.0
        minutes, seconds = divmod(round(seconds), 60)
        return f"{minutes}:{seconds:02d} left"

    def _show(self, when: str) -> None:
        import IPython.display

        display = cast("Any", IPython.display).display
        share, text = self._last
        self._shown = time.monotonic()
        said = f"{text}, {100.0 * share:.0f} %, {when}"
        filled = round(share * _WIDTH)
        page = f"<div><progress value='{share:.4f}' max='1' style='width:20em'></progress> {escape(said)}</div>"
        data = {"text/html": page, "text/plain": f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {said}"}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
