"""Figures of the prototypes that the methods were chosen by, and the bounds that follow from them.

Both times of a figure were taken in one process on one machine, so that their ratio can be compared with a ratio measured here:
tidegate may take at most ``ALLOWANCE`` times as long relative to SUNDIALS as its prototype did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ALLOWANCE", "FIGURES", "Figure"]

ALLOWANCE: Final = 1.5


@dataclass(frozen=True, slots=True)
class Figure:
    """One prototype run beside SUNDIALS 7.9.

    Parameters
    ----------
    key : the problem, as ``Work.key``.
    rivals : competitors of the comparison; the fastest of them counts.
    own_ms, rival_ms : what was measured then.
    rtol : at this tolerance; or
    error : at this achieved error.
    """

    key: str
    rivals: tuple[str, ...]
    own_ms: float
    rival_ms: float
    rtol: float | None = None
    error: float | None = None

    @property
    def bound(self) -> float:
        """Largest ratio to the rival that is allowed."""
        return ALLOWANCE * self.own_ms / self.rival_ms


_IDA = ("IDA 7.9 native", "IDA 7.9 native, algebraic errors ignored")
FIGURES: Final = (
    Figure("P3", _IDA, 0.152, 0.371, rtol=1e-8),
    Figure("P3", _IDA[:1], 0.117, 0.390, error=1e-7),
    Figure("P4", ("CVODE 7.9 native, BDF",), 0.119, 0.289, rtol=1e-8),
    Figure("P6", _IDA[:1], 0.121, 0.189, rtol=1e-8),
    Figure("P6", _IDA[:1], 0.086, 0.109, error=1e-7),
    Figure("P6+3", _IDA[:1], 0.180, 0.572, error=1e-7),
)
