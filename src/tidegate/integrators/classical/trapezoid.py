"""The trapezoidal rule with one correction of Euler's prediction, of order 2 (Heun's method by another name).

Predicted: H f(t, y); corrected: H (f(t, y) + f(t + H, predicted))/2. Two evaluations a step, the second at the corrected value: it is what the next step starts
with. No estimate of the error; the step is as long as it is set.

References
----------
K. Heun, Neue Methode zur approximativen Integration der Differentialgleichungen einer unabhängigen Veränderlichen, Z. Math. Phys. 45 (1900) 23-38.
"""

from __future__ import annotations

from tidegate.integrators.classical.fixed_step import FixedStep

__all__ = ["TRAPEZOID", "corrected", "is_corrected", "predicted"]


def predicted(a: float, b: float, is_same: bool) -> float:
    """The increment of Euler's method, H f."""
    return a


def is_corrected(is_same: bool) -> bool:
    """Always."""
    return True


def corrected(a: float, end: float) -> float:
    """The mean of both ends."""
    return 0.5 * (a + end)


TRAPEZOID = FixedStep(2, predicted, is_corrected, corrected)
