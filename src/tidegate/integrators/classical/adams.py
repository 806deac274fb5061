"""The method of Adams and Bashforth of order 2: H (3 f - f of the step before)/2. One evaluation a step.

A step that follows none of exactly its own length (the first after an event, the last before one) is one of the trapezoidal rule, of the same
order, with two evaluations. No estimate of the error; the step is as long as it is set.

References
----------
F. Bashforth, J. C. Adams, An Attempt to Test the Theories of Capillary Action, Cambridge (1883), chapter III.
"""

from __future__ import annotations

from tidegate.integrators.classical.fixed_step import FixedStep

__all__ = ["ADAMS", "extrapolated"]


def extrapolated(a: float, b: float) -> float:
    """The increment from the rates at two points: 3/2 of the last, less half of the one before."""
    return 1.5 * a - b


ADAMS = FixedStep(order=2, extrapolated=extrapolated, corrects=False, corrects_first=True)
