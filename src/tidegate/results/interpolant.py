"""Dense output: the step polynomials of a run as one function of time (stage: results).

In go the polynomials that the integrator kept, one for each step, in powers of theta = (t - start) / width; out comes a callable. It is
evaluated by Horner's rule. At an event the trajectory has two values: the one after it is given, unless the left one is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UsageError
from tidegate.results.labels import number

__all__ = ["Interpolant", "Side", "span_told"]

Side = Literal["left", "right"]

_SLACK: Final = 1e-12  # relative to the run's span: how far outside it a time may lie by rounding


class Interpolant:
    """Piecewise polynomial in time.

    Parameters
    ----------
    starts : (k,), times where the pieces begin, in the order of the run (falling in a run backwards).
    widths : (k,), signed lengths of the pieces; zero for an instant with several events.
    coefficients : (k, d + 1, n), of theta**0, theta**1, ...; shorter polynomials padded with zeros.
    names : n names.

    Examples
    --------
    >>> line = Interpolant([0.0, 1.0], [1.0, 1.0], [[[0.0], [1.0]], [[5.0], [0.0]]], ["x"])
    >>> [float(line(t)[0]) for t in (0.5, 1.0)], float(line(1.0, side="left")[0])
    ([0.5, 5.0], 1.0)
    """

    __slots__ = ("_direction", "coefficients", "names", "starts", "widths")

    def __init__(self, starts: ArrayLike, widths: ArrayLike, coefficients: ArrayLike, names: Sequence[str]) -> None:
        self.starts: NDArray[np.float64] = np.asarray(starts, dtype=float)
        self.widths: NDArray[np.float64] = np.asarray(widths, dtype=float)
        self.coefficients: NDArray[np.float64] = np.asarray(coefficients, dtype=float)
        self.names = tuple(names)
        k = self.starts.size
        if self.widths.shape != (k,) or self.coefficients.ndim != 3 or self.coefficients.shape[::2] != (k, len(self.names)):
            raise ValueError(
                f"{k} starts, widths {self.widths.shape}, coefficients {self.coefficients.shape} and {len(self.names)} names do not fit together"
            )
        self._direction = -1.0 if self.widths.sum() < 0 else 1.0

    def __len__(self) -> int:
        return int(self.starts.size)

    @property
    def span(self) -> tuple[float, float]:
        """Where the pieces begin and end."""
        if not len(self):
            return float("nan"), float("nan")
        return float(self.starts[0]), float(self.starts[-1] + self.widths[-1])

    def __call__(self, times: ArrayLike, *, side: Side = "right") -> NDArray[np.float64]:
        """Values at these times.

        Parameters
        ----------
        times : a number or any shape of numbers, within the span.
        side : which value to give at an event: after it ("right") or before it ("left").

        Returns
        -------
        The shape of ``times``, with the n values along a last dimension.

        Raises
        ------
        UsageError
            If a time lies outside the span.
        """
        t = np.asarray(times, dtype=float)
        self._check(t)
        flat = t.ravel()
        piece = self.pieces(flat, side)
        width = self.widths[piece]
        theta = np.divide(flat - self.starts[piece], width, out=np.zeros_like(flat), where=width != 0.0)
        rows = self.coefficients[piece]
        values = np.zeros((flat.size, len(self.names)))
        for power in range(self.coefficients.shape[1] - 1, -1, -1):
            values *= theta[:, None]
            values += rows[:, power, :]
        return values.reshape((*t.shape, len(self.names)))

    def pieces(self, times: NDArray[np.float64], side: Side) -> NDArray[np.intp]:
        """(times,), number of the piece in which each of these times lies, or to which it belongs on this side of an event."""
        # the pieces are in the order of the run, so along it their starts rise
        piece = np.searchsorted(self._direction * self.starts, self._direction * times, side=side) - 1
        return np.clip(piece, 0, max(len(self) - 1, 0))

    def _check(self, t: NDArray[np.float64]) -> None:
        first, last = sorted(self.span)
        slack = _SLACK * (last - first)
        outside: Any = ~((t >= first - slack) & (t <= last + slack))
        if t.size and bool(np.any(outside)):
            raise UsageError(
                f"time {number(float(t[outside].ravel()[0]), 12)} lies outside the run, which goes from {number(first, 12)} to {number(last, 12)}"
                if len(self)
                else "the run has no steps to interpolate in",
                hint="simulate over a longer time span",
            )


def span_told(t: NDArray[np.float64], interpolant: Interpolant | None, unit: str) -> str:
    """From when to when a result goes: one step of a run that goes on begins where the piece before ended, whose row is not its own."""
    if not t.size:
        return "empty"
    first = float(interpolant.span[0]) if t.size == 1 and interpolant is not None and len(interpolant) else float(t[0])
    return f"from {number(first, 10)} to {number(float(t[-1]), 10)} {unit}".rstrip()
