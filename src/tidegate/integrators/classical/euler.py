"""Euler's method, of order 1: y + H f(t, y).

One evaluation a step, no estimate of the error; the step is as long as it is set.

References
----------
L. Euler, Institutionum calculi integralis 1 (1768), section 650.
"""

from __future__ import annotations

from tidegate.integrators.classical.fixed_step import FixedStep

__all__ = ["EULER"]

EULER = FixedStep(order=1, extrapolated=None, corrects=False, corrects_first=False)
