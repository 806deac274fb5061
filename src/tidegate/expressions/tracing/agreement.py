"""What is said when a traced function and plain calls of it do not agree (stage: tracing the user's Python)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tidegate.errors import Origin, UntraceableError
from tidegate.expressions.nodes import Expr
from tidegate.expressions.tracing.compare import MOST_POINTS, Order, PathDifference, Plain, Point, compare
from tidegate.expressions.tracing.tracer import OPAQUE_HINT
from tidegate.names import listed

__all__ = ["require_agreement"]

_BEGAN: Final = time.time()
_RELOAD: Final = "where its file was edited after it was imported: importlib.reload(module), or a new Python; else "
_MOST_SHOWN: Final = 8  # values quoted of one point; more would hide the message itself


def require_agreement(
    name: str,
    origin: Origin,
    followed: Any,
    plain: Plain,
    start: Mapping[Expr, float],
    most: int = MOST_POINTS,
    order: Order | None = None,
    among: Mapping[Expr, Sequence[float]] | None = None,
) -> None:
    """Compare a function's graph with the function itself at several points.

    Parameters
    ----------
    name, origin : of the function, for messages.
    followed : what following it gave: expressions in any structure.
    plain : calls it with numbers.
    start : values of all symbols it may depend on, where the run starts.
    most : how many points at most.
    order : makes numbers comparable that may come in another order.
    among : the values of symbols that have only some.

    Raises
    ------
    UntraceableError
        where they differ, or where the function gives two answers to one question.
    """
    difference = compare(followed, plain, start, most, order, among)
    if difference is None:
        return
    a, b = _values(difference)
    where = f" at {_shown(difference.at)}" if difference.at else ""
    if difference.is_own:
        raise UntraceableError(
            f"{name} gives two answers to one question: {a} and then {b}{where}",
            origin=origin,
            hint="a model depends on its arguments alone: draw random numbers before the run and give them as parameters or a table, use `t` for the "
            "time, and discrete variables for what is remembered; or " + OPAQUE_HINT,
        )
    raise UntraceableError(
        f"{name} was not followed rightly:{where} it gives {b} when it is called, and {a} as it was followed on symbols",
        origin=origin,
        hint=(_RELOAD if _has_changed(origin.file) else "")
        + "write what depends on the variables with `if`, `min`, `max`, np.where and arithmetic, without texts, types and things that change "
        "outside; or " + OPAQUE_HINT,
    )


def _has_changed(file: str) -> bool:
    """Whether a file was written after tidegate was imported."""
    try:
        return Path(file).stat().st_mtime > _BEGAN
    except (OSError, ValueError):
        return False


def _values(difference: PathDifference) -> tuple[str, str]:
    """The first two numbers that differ, or how many there are."""
    mine, found = difference.followed, difference.plain
    if len(mine) != len(found):
        return f"{len(mine)} values", f"{len(found)} values"
    far = [abs(a - b) / (abs(a) + abs(b)) if a != b and abs(a) + abs(b) > 0 else 0.0 for a, b in zip(mine, found, strict=True)]
    at = max(range(len(far)), key=lambda k: (far[k] != far[k], far[k]))
    element = f" (value {at + 1})" if len(mine) > 1 else ""
    digits = 8 if far[at] > 1e-6 else 17
    return f"{mine[at]:.{digits}g}{element}", f"{found[at]:.{digits}g}{element}"


def _shown(point: Point) -> str:
    return listed((f"{item!r} = {value:.6g}" for item, value in point.items()), _MOST_SHOWN)
