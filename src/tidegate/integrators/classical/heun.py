"""Adams' predictor of order 2 with one correction by the trapezoidal rule; the source calls it Heun's method.

Two evaluations a step, of order 2 with a smaller error than either of its parts. A step that follows none of exactly its own length is predicted by
Euler's method. No estimate of the error; the step is as long as it is set.

References
----------
L. Månsson, CONDIS, Lund Institute of Technology, TFRT-5238 (1980).
"""

from __future__ import annotations

from tidegate.integrators.classical.adams import extrapolated
from tidegate.integrators.classical.fixed_step import FixedStep

__all__ = ["HEUN"]

HEUN = FixedStep(order=2, extrapolated=extrapolated, corrects=True, corrects_first=True)
