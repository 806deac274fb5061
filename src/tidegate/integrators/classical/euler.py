"""Euler's method, of order 1: y + H f(t, y). One evaluation a step, no estimate of the error; the step is as long as it is set.

References
----------
L. Euler, Institutionum calculi integralis 1 (1768), section 650.
"""

from __future__ import annotations

from tidegate.integrators.classical.fixed_step import FixedStep

__all__ = ["EULER", "corrected", "is_corrected", "predicted"]


def predicted(a: float, b: float, is_same: bool) -> float:
    """The increment H f."""
    return a


def is_corrected(is_same: bool) -> bool:
    """Never."""
    return False


def corrected(a: float, end: float) -> float:
    """The increment H f: it is not corrected."""
    return a


EULER = FixedStep(1, predicted, is_corrected, corrected)
