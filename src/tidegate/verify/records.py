"""Whether what was written down fits together (stage: verification). In: steps, rows, event log, plain outputs. Out: findings.

Unknowns go on from step to step, but for events, after which they begin with the log's values; discrete variables are constant between events; rows
are what the steps' polynomials say, with the outputs that Python computes from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.model.plain_model import Instant, PlainModel
from tidegate.results import Event, Result
from tidegate.results.labels import number
from tidegate.verify.defects import Tolerance, differential, noisy
from tidegate.verify.pieces import StepPiece
from tidegate.verify.verification import Tally

__all__ = ["check_joints", "check_rows"]

FloatArray = NDArray[np.float64]

_BESIDE: Final = (1e-7, -1e-7)  # of a step: where an output is asked that jumps at a row
_BESIDE_THE_ROW: Final = 5.0  # tolerances: algebraic unknowns of a row are solved for, those of a polynomial only controlled
_ALIKE: Final = 1e-7  # of an output's size: the same numbers by another order of operations
_INSTANT: Final = 4 * 2.220446049250313e-16  # of a time: so far apart two instants are one


def check_joints(
    pieces: Sequence[StepPiece], result: Result, model: PlainModel, tolerance: Tolerance, tally: Tally, inner: Collection[str] = ()
) -> None:
    """Where one step ends and the next begins; ``inner`` are discrete variables that the model keeps for itself, whose changes are no events."""
    last: dict[float, Event] = {event.time: event for event in result.events if event.kind in ("state", "time")}
    others = {event.time for event in result.events if event.kind == "set"}
    for before, after in pairwise(pieces):
        if after.start in others:
            continue
        event = last.get(after.start)
        y, d = before.at(1.0).y, before.d
        if event is not None:
            y = np.array([event.after[name] for name in model.unknowns], dtype=float)
            d = np.array([event.after[name] for name in model.discretes], dtype=float)
        allowed = tolerance.of(np.maximum(before.size, after.size)) / tolerance.allowed
        shares = np.abs(after.at(0.0).y - y) / allowed
        for name, share in zip(model.unknowns, shares.tolist(), strict=True):
            tally.note("continuity", name, after.start, share, "" if share <= 1.0 else f"jumps by {share:.3g} tolerances at t = {after.start:.9g}")
        for name, old, new in zip(model.discretes, d.tolist(), after.d.tolist(), strict=True):
            if name in inner:
                continue
            says = f"is {number(new, 9)} after t = {after.start:.9g} where it was {number(old, 9)}"
            tally.note("discrete variable", name, after.start, 0.0 if old == new else np.inf, says)


def check_rows(
    pieces: Sequence[StepPiece], result: Result, model: PlainModel, tolerance: Tolerance, tally: Tally, *, is_explicit: bool, most: int
) -> list[str]:
    """Rows that are not at an event, against the polynomials and against outputs in Python; returned is what could not be judged.

    Parameters
    ----------
    most : so many rows are compared, evenly over the run.
    """
    if not pieces:
        return []
    instants = set(result.events.times.tolist())
    largest = np.max([piece.size for piece in pieces], axis=0)
    # what follows from states may be a small difference of large ones, and is as exact as these
    states = np.ones(largest.size, dtype=bool) if is_explicit or not largest.size else differential(model, pieces[0])
    ends = np.array([piece.end for piece in pieces])
    rows = np.unique(np.linspace(0, result.t.size - 1, min(most, result.t.size)).astype(int))
    place = {column.name: k for k, column in enumerate(result.columns)}
    own, constants = [place[name] for name in model.unknowns], [place[name] for name in model.discretes]
    shown = [column.name for column in result.columns if column.role == "output"]
    known: Mapping[str, float] = model.outputs(pieces[0].at(0.0)) if shown else {}
    outputs = [name for name in shown if name in known]
    sizes = {name: float(np.nanmax(np.abs(result.values[:, place[name]]), initial=0.0)) for name in outputs}
    for row in rows.tolist():
        t = float(result.t[row])
        if t in instants:
            continue
        piece = pieces[min(int(np.searchsorted(ends, t)), len(pieces) - 1)]
        at = piece.at(piece.theta(t))
        y, d = result.values[row, own], result.values[row, constants]
        size = np.maximum(np.where(states, piece.size, largest), np.abs(y))
        hardly = _INSTANT * abs(t) * np.abs(at.ydot)  # what is fast moves while nobody can tell two times apart
        shares = np.abs(at.y - y) / (_BESIDE_THE_ROW * tolerance.of(size) / tolerance.allowed + hardly)
        worst = int(np.argmax(shares)) if shares.size else 0
        if shares.size:
            says = f"the row at t = {t:.9g} and the dense result differ by {_BESIDE_THE_ROW * shares[worst]:.3g} tolerances"
            tally.note("row", model.unknowns[worst], t, float(shares[worst]), says)
        if outputs:
            asked = _RowOutputs(model, piece, Instant(t, y, at.ydot, d, d), largest, tolerance, is_explicit=is_explicit)
            for name in outputs:
                got = float(result.values[row, place[name]])
                # derivatives in an output of a DAE are not those of the polynomial, which has them to less
                allowed = _ALIKE * sizes[name] + (1.0 if is_explicit else 100.0) * tolerance.rtol * abs(got)
                share, wanted = asked.share(name, got, allowed)
                tally.note("output", name, t, share, f"is {number(got, 9)} in the row at t = {t:.9g}, and Python gives {number(wanted, 9)}")
    return [f"{len(shown) - len(outputs)} outputs that what it is judged by does not have"] if len(outputs) < len(shown) else []


class _RowOutputs:
    """What Python gives for outputs at a row and, only where that is something else, on either side of it.

    A row may lie where an output jumps without an event, as one of a start value on a threshold does: then it is the limit from one side.
    """

    def __init__(self, model: PlainModel, piece: StepPiece, row: Instant, largest: FloatArray, tolerance: Tolerance, *, is_explicit: bool) -> None:
        self._model, self._piece, self._row, self._is_explicit = model, piece, row, is_explicit
        self._largest, self._tolerance = largest, tolerance
        self._given: list[Mapping[str, float]] = []

    @cached_property
    def _rounded(self) -> list[Instant]:
        """The row within the rounding of what was integrated: what came to rest on a threshold may lie on either side of it."""
        return noisy(self._row, np.zeros(self._row.y.size, dtype=bool), self._largest, self._tolerance)

    def _instant(self, k: int) -> Instant:
        """The row, or what is on a side of it."""
        if k == 0:
            return self._row
        if k > len(_BESIDE):
            return self._rounded[k - len(_BESIDE) - 1]
        theta, row = self._piece.theta(self._row.t), self._row
        near = self._piece.at(theta + _BESIDE[k - 1])
        return Instant(near.t, row.y + (near.y - self._piece.at(theta).y), near.ydot, row.d, row.d)

    def _at(self, k: int) -> Mapping[str, float]:
        while len(self._given) <= k:
            at = self._instant(len(self._given))
            slopes = self._model.residuals(Instant(at.t, at.y, np.zeros_like(at.y), at.d, at.pre)) if self._is_explicit else at.ydot
            self._given.append(self._model.outputs(Instant(at.t, at.y, slopes, at.d, at.pre)))
        return self._given[k]

    def _after_beside(self) -> Iterator[int]:
        yield from range(1 + len(_BESIDE), 1 + len(_BESIDE) + len(self._rounded))

    def share(self, name: str, got: float, allowed: float) -> tuple[float, float]:
        """How far the value in the row is off, over what is allowed, and what it should be."""
        first = _off(got, self._at(0)[name], allowed)
        others = (self._at(k)[name] for each in (range(1, 1 + len(_BESIDE)), self._after_beside()) for k in each)
        if first <= 1.0 or any(_off(got, value, allowed) <= 1.0 for value in others):
            return min(first, 1.0), self._at(0)[name]
        return first, self._at(0)[name]


def _off(got: float, wanted: float, allowed: float) -> float:
    away = abs(got - wanted) if not (np.isnan(got) and np.isnan(wanted)) else 0.0
    if not away:
        return 0.0
    return away / allowed if allowed > 0.0 else np.inf
