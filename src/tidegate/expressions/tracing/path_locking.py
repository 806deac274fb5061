"""Functions whose source cannot be read: run once for each path through their decisions (stage: tracing the user's Python).

In: something to run on symbols. Out: its results on all paths, joined by ``select``. Python asks for the truth of a symbolic condition through
``bool()``; the ``decide`` hook answers and notes the question, so that the run can be repeated with the other answer, depth first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

from tidegate.errors import Origin, UntraceableError
from tidegate.expressions.nodes import Expr, decide
from tidegate.expressions.tracing.source import is_pythons_own, is_tidegates_own
from tidegate.quick_dataclass import dataclass

__all__ = ["MOST_PATHS", "Exploration", "explore", "failing_line"]

MOST_PATHS: Final = 4096  # twelve independent conditions; beyond it the graph would be unusable too
_NUMPY: Final = f"{Path('/numpy/')}/"


@dataclass(eq=False)
class Exploration:
    """What the runs so far have met.

    Parameters
    ----------
    known : what is assumed about a condition already; None if nothing.
    met : told every condition that had to be decided, and where.
    assume : told what was decided, until the run ends.
    forget : called when a run ends.
    before_more : called when a second path turns out to be needed.
    """

    known: Callable[[Expr], bool | None]
    met: Callable[[Expr, Origin], None]
    assume: Callable[[Expr, bool], None]
    forget: Callable[[], None]
    before_more: Callable[[], None] = lambda: None
    paths: int = 0


def explore(run: Callable[[], Any], join: Callable[[Expr, Any, Any], Any], exploration: Exploration) -> Any:
    """The joined result of a run on all its paths.

    Raises
    ------
    UntraceableError
        if there are more than ``MOST_PATHS`` of them.
    """
    return _explore(run, join, exploration, [])


def _explore(run: Callable[[], Any], join: Callable[[Expr, Any, Any], Any], exploration: Exploration, prefix: list[tuple[Expr, bool]]) -> Any:
    exploration.paths += 1
    if exploration.paths > MOST_PATHS:
        raise UntraceableError(
            f"a function that cannot be read is decided by symbols on more than {MOST_PATHS} paths",
            hint="put it into a file, so that its `if` can be read; or mark it with tg.opaque",
        )
    if exploration.paths == 2:
        exploration.before_more()
    path: list[tuple[Expr, bool]] = []

    def answer(condition: Expr) -> bool:
        known = exploration.known(condition)
        if known is not None:
            return known
        truth = prefix[len(path)][1] if len(path) < len(prefix) else True
        exploration.assume(condition, truth)
        path.append((condition, truth))
        exploration.met(condition, _asking())
        return truth

    token = decide.set(answer)
    try:
        value = run()
    finally:
        decide.reset(token)
        exploration.forget()
    for at in reversed(range(len(prefix), len(path))):
        condition = path[at][0]
        other = _explore(run, join, exploration, [*path[:at], (condition, False)])
        value = join(condition, value, other)
    return value


def failing_line(error: BaseException) -> Origin:
    """The line of the user's code that an exception came through last."""
    found = Origin()
    trail = error.__traceback__
    while trail is not None:
        code = trail.tb_frame.f_code
        if not _is_library(code.co_filename):
            found = Origin(code.co_filename, trail.tb_lineno)
        trail = trail.tb_next
    return found


def _asking() -> Origin:
    """The line that asked for the truth of a condition: the innermost that is not in a library."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the only way to see who called bool()
    while frame is not None and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return Origin() if frame is None else Origin(frame.f_code.co_filename, frame.f_lineno)


def _is_library(filename: str) -> bool:
    return is_tidegates_own(filename) or _NUMPY in filename or is_pythons_own(filename)
