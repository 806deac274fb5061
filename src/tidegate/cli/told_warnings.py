"""What the command line says of warnings (stage: command line). In go those of Python, of libraries and our own; out come sentences with the line.

The user's line, that is: where a library warns, the innermost of his that led to it.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from rich.console import Console
from rich.markup import escape

from tidegate.errors import Origin, TidegateWarning, told
from tidegate.expressions import tracing
from tidegate.user_frames import is_of_a_library

__all__ = ["warnings_told"]

_FOLLOWING: Final = Path(tracing.__file__).parent


@contextmanager
def warnings_told() -> Generator[None]:
    """Say warnings of the block in the form of errors, each once for a line; which of them are shown is Python's to say, as ever."""
    known: set[tuple[str, Origin]] = set()
    followed: dict[str, None] = {}  # of functions while they were followed on symbols, without their lines: plain calls say these again

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, file: object = None, line: str | None = None) -> None:  # noqa: ARG001
        text = str(message)
        place = Origin() if issubclass(category, TidegateWarning) else _place(filename, lineno)  # ours say it themselves
        if not place.line and Path(filename).is_relative_to(_FOLLOWING):
            followed[text] = None
        elif (text, place) not in known:
            known.add((text, place))
            _print(text, place)

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        finally:
            for text in followed.keys() - {text for text, _ in known}:
                _print(text, Origin())


def _print(text: str, place: Origin) -> None:
    head, *rest = text.split("\n")
    where = [f"  at {told(place)}"] if place.line else []
    lines = [f"[bold yellow]warning:[/] {escape(head)}", *map(escape, (*rest, *where))]
    Console(stderr=True, soft_wrap=True, highlight=False, emoji=False).print("\n".join(lines))


def _place(filename: str, lineno: int) -> Origin:
    """The line that a warning names, if it is the user's; else the innermost of his that led to it; none where there is none."""
    places = [(filename, lineno), *((frame.f_code.co_filename, frame.f_lineno) for frame in _frames(sys._getframe(1)))]  # noqa: SLF001, as warnings itself
    own = next(((name, line) for name, line in places if not is_of_a_library(name)), None)
    return Origin() if own is None else Origin(own[0], own[1], linecache.getline(*own).strip())


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
