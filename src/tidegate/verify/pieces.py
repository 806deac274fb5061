"""The dense result as instants (stage: verification). In: a result's polynomials and log. Out: values and derivatives at any point of any step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.model.plain_model import Instant
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result

__all__ = ["Exact", "StepPiece", "pieces_of"]

FloatArray = NDArray[np.float64]

_BESIDE: Final = 1e-4  # of a step, to either side: where slopes of what is computed are taken from
_LOOKS: Final = np.linspace(0.0, 1.0, 9)  # parts of a step at which sizes are taken


@dataclass(frozen=True, eq=False)
class StepPiece:
    """One step's polynomial.

    Parameters
    ----------
    index : among the steps.
    start, width : where it is.
    coefficients : (degree + 1, n), in powers of theta.
    d : discrete variables, constant in it.
    first, last : whether it begins, or ends, at an event or at an end of the run.
    computed : from parts of the step the values, (parts, n), of the unknowns that are no polynomials, and zero for the others; None without such.
    """

    index: int
    start: float
    width: float
    coefficients: FloatArray
    d: FloatArray
    first: bool
    last: bool
    computed: Callable[[FloatArray], FloatArray] | None = None

    @property
    def end(self) -> float:
        """Time of its end."""
        return self.start + self.width

    def theta(self, t: float) -> float:
        """Part of the step that has gone by at a time."""
        return (t - self.start) / self.width

    def at(self, theta: float) -> Instant:
        """Values and derivatives at a part of the step; beyond its ends the polynomial goes on."""
        c = self.coefficients
        y, slope = c[-1].copy(), np.zeros_like(c[-1])
        for row in c[-2::-1]:
            slope = slope * theta + y
            y = y * theta + row
        if self.computed is not None:
            below, here, above = self.computed(np.array([theta - _BESIDE, theta, theta + _BESIDE]))
            y, slope = y + here, slope + (above - below) / (2.0 * _BESIDE)
        return Instant(self.start + theta * self.width, y, slope / self.width, self.d, self.d)

    def instants(self, thetas: FloatArray) -> list[Instant]:
        """The same at several parts."""
        if self.computed is not None:
            return [self.at(theta) for theta in thetas.tolist()]
        powers = np.vander(thetas, len(self.coefficients), increasing=True)
        y = powers @ self.coefficients
        slopes = powers[:, :-1] @ (np.arange(1, len(self.coefficients))[:, None] * self.coefficients[1:]) / self.width
        times = self.start + thetas * self.width
        return [Instant(t, values, rates, self.d, self.d) for t, values, rates in zip(times.tolist(), y, slopes, strict=True)]

    @cached_property
    def size(self) -> FloatArray:
        """Largest absolute values of the unknowns in it."""
        values = np.vander(_LOOKS, len(self.coefficients), increasing=True) @ self.coefficients
        return np.max(np.abs(values if self.computed is None else values + self.computed(_LOOKS)), axis=0)


def pieces_of(result: Result, unknowns: Sequence[str], discretes: Sequence[str]) -> list[StepPiece]:
    """Every step that has a length, in order."""
    kept = result.interpolant
    assert kept is not None
    place = {name: k for k, name in enumerate(kept.names)}
    own, constants = [place.get(name, -1) for name in unknowns], [place[name] for name in discretes]
    computed = _Computed(result, unknowns, [k for k, index in enumerate(own) if index < 0]) if -1 in own else None
    instants = set(result.events.times.tolist())
    moving = np.flatnonzero(kept.widths)
    found: list[StepPiece] = []
    for k in moving.tolist():
        start, width = float(kept.starts[k]), float(kept.widths[k])
        following = k + 1
        end = float(kept.starts[following]) if following < len(kept) else start + width
        is_last = following >= len(kept) or end in instants
        is_first = not found or start in instants
        c = kept.coefficients[k]
        kept_own = c[:, own]
        if computed is not None:
            kept_own[:, computed.columns] = 0.0
        others = None if computed is None else partial(computed, k)
        found.append(StepPiece(k, start, width, kept_own, c[0, constants], is_first, is_last, others))
    return found


class _Computed:
    """Unknowns of a result that are formulas of its polynomials.

    Parameters
    ----------
    result : with these.
    unknowns : all names; columns : places in them of those that are computed.
    """

    def __init__(self, result: Result, unknowns: Sequence[str], columns: list[int]) -> None:
        kept, outputs = result.interpolant, result.dense_outputs
        assert kept is not None
        if outputs is None or any(unknowns[k] not in outputs.names for k in columns):
            missing = ", ".join(unknowns[k] for k in columns)
            raise UsageError(f"this result was stored without what {missing} follow from", hint="verify it before it is stored")
        self._kept, self._outputs, self._n, self.columns = kept, outputs, len(unknowns), columns
        self._places = [outputs.names.index(unknowns[k]) for k in columns]

    def __call__(self, piece: int, thetas: FloatArray) -> FloatArray:
        """(parts, n)."""
        kept = self._kept
        times = kept.starts[piece] + thetas * kept.widths[piece]
        dense = np.vander(thetas, kept.coefficients.shape[1], increasing=True) @ kept.coefficients[piece]
        found = np.zeros((thetas.size, self._n))
        found[:, self.columns] = self._outputs.at(times, dense, np.full(thetas.size, piece), kept)[:, self._places]
        return found


class Exact:
    """Tells which values are exact: those at rest since the start, or since an event that gave them their value.

    What came to rest where an event was located has that event's rounding, which may lie on either side of a threshold.

    Parameters
    ----------
    result : with the log.
    unknowns : their names.
    """

    def __init__(self, result: Result, unknowns: Sequence[str]) -> None:
        self._changed: dict[float, NDArray[np.bool_]] = {}
        for event in result.events:
            if event.kind in ("state", "time"):
                changed = np.array([event.before[name] != event.after[name] for name in unknowns], dtype=bool)
                self._changed[event.time] = self._changed.get(event.time, False) | changed
        self._given = np.ones(len(unknowns), dtype=bool)

    def at_rest(self, piece: StepPiece) -> NDArray[np.bool_]:
        """For each unknown; the pieces are asked for in their order."""
        if piece.start in self._changed:
            self._given = self._given | self._changed[piece.start]
        rests = ~np.any(piece.coefficients[1:], axis=0)
        if piece.computed is not None:
            rests &= np.ptp(piece.computed(_LOOKS), axis=0) == 0.0
        self._given = self._given & rests
        return self._given
