"""The trapezoidal rule with one correction of Euler's prediction, of order 2 (elsewhere this one is called Heun's method).

Predicted: H f(t, y); corrected: H (f(t, y) + f(t + H, predicted))/2. Two evaluations a step, the second at the corrected value: the next step starts
with it. No estimate of the error; the step is as long as it is set.

References
----------
K. Heun, Neue Methode zur approximativen Integration der Differentialgleichungen einer unabhängigen Veränderlichen, Z. Math. Phys. 45 (1900) 23-38.
"""

from __future__ import annotations

from tidegate.integrators.classical.fixed_step import FixedStep

__all__ = ["TRAPEZOID", "corrected"]


def corrected(a: float, end: float) -> float:
    """The mean of the rates at both ends, times H."""
    return 0.5 * (a + end)


TRAPEZOID = FixedStep(order=2, extrapolated=None, corrects=True, corrects_first=True)
