"""The method of Adams and Bashforth of order 2: H (3 f - f of the step before)/2. One evaluation a step.

A step that follows none of exactly its own length (the first after an event, the last before one) is one of the trapezoidal rule, of the same order, with two evaluations.
No estimate of the error; the step is as long as it is set.

References
----------
F. Bashforth, J. C. Adams, An Attempt to Test the Theories of Capillary Action, Cambridge (1883), chapter III.
"""

from __future__ import annotations

from tidegate.integrators.classical.fixed_step import FixedStep
from tidegate.integrators.classical.trapezoid import corrected

__all__ = ["ADAMS", "is_corrected", "predicted"]


def predicted(a: float, b: float, is_same: bool) -> float:
    """From the rates at two points, or, where there is one only, that of Euler's method."""
    return 1.5 * a - b if is_same else a


def is_corrected(is_same: bool) -> bool:
    """Only where there is no step of the same length before."""
    return not is_same


ADAMS = FixedStep(2, predicted, is_corrected, corrected)
