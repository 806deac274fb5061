"""The points of a curve (stage: plot). In go recorded rows and step polynomials, out come points that look smooth and break at jumps."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.plot.panels import Curve
from tidegate.results import Column, Result
from tidegate.results.presence import hides_absent, is_absent

__all__ = ["CurvePoints", "Times"]

_POINTS: Final = 2000  # across the picture; about one a pixel

CurvePoints = tuple[NDArray[np.float64], NDArray[np.float64]]


class Times:
    """The times of a picture: the recorded ones, and finer ones between them where there is dense output.

    Parameters
    ----------
    result : whose curves are drawn.
    span : the stretch of time that is shown; None for the whole run.
    """

    def __init__(self, result: Result, span: tuple[float, float] | None = None) -> None:
        self._result = result
        t = result.t
        gaps = np.diff(t)
        seen = t if span is None else np.clip(t, min(span), max(span))
        shown = np.diff(seen)
        total = float(np.sum(np.abs(shown)))
        # points where the picture is wide; steps after an event may be far narrower than a pixel
        between = (np.abs(shown) * (_POINTS / total)).astype(int) if total else np.zeros(gaps.size, dtype=int)
        rank = np.arange(int(between.sum())) - np.repeat(np.cumsum(between) - between, between) + 1
        self._inner = np.repeat(seen[:-1], between) + rank * np.repeat(shown / (between + 1), between)
        self._inner_positions = np.repeat(np.arange(1, gaps.size + 1), between)
        self._jumps = np.flatnonzero(gaps == 0.0) + 1
        interpolant = result.interpolant
        self._names: dict[str, int] = {}
        if interpolant is not None and len(interpolant) and self._inner.size:
            first, last = sorted(interpolant.span)
            slack = 1e-9 * (last - first)
            # a run that failed may have recorded more than its last complete step covers
            if self._inner.min() >= first - slack and self._inner.max() <= last + slack:
                self._names = {name: i for i, name in enumerate(interpolant.names)}
                inner = np.clip(self._inner, first, last)
                self._dense = interpolant(inner)
                outputs = result.dense_outputs
                if outputs is not None and outputs.names:
                    first_output = self._dense.shape[1]
                    values = outputs.at(inner, self._dense, interpolant.pieces(inner, "right"), interpolant)
                    self._dense = np.concatenate([self._dense, values], axis=1)
                    self._names |= {name: first_output + k for k, name in enumerate(outputs.names)}

    def points(self, curve: Curve) -> CurvePoints:
        """Points of a value, or of a sensitivity, with NaN where it jumps at an event."""
        result = self._result
        t = result.t
        if curve.parameter >= 0 and result.sensitivities is not None:
            y = result.sensitivities[:, curve.parameter, curve.column]
        else:
            y = result.values[:, curve.column]
        name = result.columns[curve.column].name
        places, times, values = self._breaks(self._jumps[y[self._jumps] != y[self._jumps - 1]])
        if curve.parameter < 0 and name in self._names:
            places = np.concatenate([self._inner_positions, places])
            times = np.concatenate([self._inner, times])
            values = np.concatenate([self._between(result.columns[curve.column]), values])
        if curve.parameter < 0:
            y, values = map(result.columns[curve.column].shown, (y, values))
        # np.insert keeps the given order of what goes to one place
        return np.insert(t, places, times), np.insert(y, places, values)

    def _between(self, column: Column) -> NDArray[np.float64]:
        """Values between the rows, with none where rows have none."""
        values = self._dense[:, self._names[column.name]]
        if not hides_absent(self._result.options):
            return values
        absent = is_absent(column, values.shape, lambda name: self._dense[:, self._names[name]] if name in self._names else None)
        return values if absent is None else np.where(absent, np.nan, values)

    def stairs(self, curve: Curve) -> CurvePoints:
        """Points of a variable that only changes at events."""
        return self._result.t, self._result.columns[curve.column].shown(self._result.values[:, curve.column])

    def path(self, along: Curve, curve: Curve) -> CurvePoints:
        """Points of one value over another, with NaN where either jumps at an event."""
        columns = [self._result.columns[each.column] for each in (along, curve)]
        ys = [self._result.values[:, each.column] for each in (along, curve)]
        jumps = self._jumps[np.any([y[self._jumps] != y[self._jumps - 1] for y in ys], axis=0)]
        places, _, gaps = self._breaks(jumps)
        is_dense = all(column.name in self._names for column in columns)
        if is_dense:
            places = np.concatenate([self._inner_positions, places])
        drawn: list[NDArray[np.float64]] = []
        for column, y in zip(columns, ys, strict=True):
            values = np.concatenate([self._between(column), gaps]) if is_dense else gaps
            drawn.append(np.insert(column.shown(y), places, column.shown(values)))
        return drawn[0], drawn[1]

    def _breaks(self, jumps: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        return jumps, self._result.t[jumps], np.full(jumps.size, np.nan)
