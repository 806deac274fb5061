"""Unknowns whose sign the equations keep, and guards that vanish with them (stage: events).

``compiled.kept_signs`` says which they are. A method knows nothing of it: where such an unknown is smaller than what steps are held to, its sign
is chance. So at the end of a step it is what it was at the start, and a zero of a guard that is the unknown's is no crossing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.events.guards import expected_sign, polynomial_point

__all__ = ["hold_signs", "is_a_kept_zero", "kept_side"]

_LITTLE: Final = 1e-3  # of the distance on the wrong side: so far on the right one
_LEAST: Final = 1e-60  # at least; its cube is a number yet


@native
def hold_signs(run, values):
    """Let the unknowns at the end of a step from the current point have the signs that the equations keep."""
    for k in range(run.n_kept_signs):
        q = run.kept_signs[k]
        before = run.y[q]
        value = values[q]
        if before == 0.0:
            values[q] = 0.0
        elif value * np.copysign(1.0, before) <= 0.0:
            values[q] = np.copysign(min(abs(before), max(_LITTLE * abs(value), _LEAST)), before)


@native
def _side_at(run, t, j, size):
    """A guard at the point in run.trial_stage where the unknown it vanishes with has that size."""
    run.trial_stage[run.kept_by[j]] = size
    call_value(run.f_guards, t, run.trial_stage, run.p, run.m, run.late_scratch)
    return run.late_scratch[j]


@native
def kept_side(run, t, j):
    """1 or -1: the side on which a guard is, since its unknown keeps its sign, however small it is; 0 where that is not what counts."""
    q = run.kept_by[j]
    if q < 0 or run.y[q] == 0.0:
        return 0
    size = run.atol[q] + run.rtol * run.y_max[q]
    if abs(run.y[q]) > size:
        return 0
    for i in range(run.n):
        run.trial_stage[i] = run.y[i]
    g = _side_at(run, t, j, np.copysign(size, run.y[q]))
    return 0 if abs(g) <= run.nu_start[j] else 1 if g > 0.0 else -1


@native
def is_a_kept_zero(run, t, step, theta, j):
    """True of a zero in the step from the current point that a guard has there since an unknown seems to have one, whose sign is kept."""
    q = run.kept_by[j]
    if q < 0:
        return False
    if run.y[q] == 0.0:
        return True
    size = run.atol[q] + run.rtol * run.y_max[q]
    polynomial_point(run.n, run.degree, run.y, run.coefficients, theta, run.trial_stage)
    if abs(run.trial_stage[q]) > size:
        return False
    # what else is in the guard may have changed its sign
    return expected_sign(run, j) * _side_at(run, t + theta * step, j, np.copysign(size, run.y[q])) > run.nu_start[j]
