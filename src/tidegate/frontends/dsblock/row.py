"""What a block says of itself at a communication point: Y, W, and what is recorded beside them. In: a run at a point; out: a row of the result.

A wish to stop that a callback raises here keeps the row (Otter, DSblock 3.3, BLOCKK: everything up to and including T is stored then).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from tidegate.errors import StepSizeError
from tidegate.frontends.dsblock.block import Entry, Run
from tidegate.frontends.dsblock.description import Description, SignalKind
from tidegate.wishes import RetryStep, StopRun

__all__ = ["row"]


def row(run: Run, entry: Entry, described: Description, others: Sequence[float]) -> list[float]:
    """Y, W and the others.

    Raises
    ------
    StopRun : a callback asks for the end; with the row, in which that callback has what it has given along, or nothing.
    StepSizeError : it asks for a smaller step, where the step was complete.
    """
    n_y, n_w = described.size(SignalKind.OUTPUT), described.size(SignalKind.AUXILIARY)
    y: Sequence[float] | NDArray[Any] = [math.nan] * n_y
    w: Sequence[float] | NDArray[Any] = [math.nan] * n_w
    has_y = not n_y
    try:
        if n_y:
            y = run.outputs(entry)
            has_y = True
        if described.communicates:
            w = run.auxiliaries(entry)
    except StopRun as wish:
        given = () if wish.values is None else wish.values
        if not has_y and len(given) == n_y:
            y = given
        elif has_y and len(given) == n_w:
            w = given
        wish.numbers, wish.time = [*y, *w, *others], entry.time
        raise
    except RetryStep as wish:
        raise StepSizeError(
            f"outputs of DSblock {described.name} ask for a smaller step at t = {entry.time:.9g}, where the step was complete: {wish}",
            time=entry.time,
        ) from wish
    return [*y, *w, *others]
