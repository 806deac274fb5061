"""Values that unknowns do not cross, and guards that have their zeros there (stage: events).

``compiled.kept_sides`` says which they are. A method knows nothing of it: where such an unknown is nearer than what steps are held to, its side is
chance. So at the end of a step it is where it was at the start, and a zero of a guard that is the unknown's is no crossing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.events.guards import expected_sign, polynomial_point
from tidegate.events.tolerances import EPS

__all__ = ["hold_sides", "is_a_kept_zero", "kept_side"]

_LITTLE: Final = 1e-3  # of the distance on the wrong side: so far on the right one
_LEAST: Final = 1e-60  # at least, where zero is not crossed; its cube is a number yet


@native
def _level(run, k):
    if run.kept_parameter[k] >= 0:
        return run.p[run.kept_parameter[k]]
    return run.m[run.kept_discrete[k]] if run.kept_discrete[k] >= 0 else run.kept_level[k]


@native
def hold_sides(run, values):
    """Let the unknowns at the end of a step from the current point be on the sides that the equations keep."""
    for k in range(run.n_kept):
        q = run.kept_unknown[k]
        level = _level(run, k)
        before = run.y[q] - level
        value = values[q] - level
        if before == 0.0:
            values[q] = level
        elif value * np.copysign(1.0, before) <= 0.0:
            least = max(_LITTLE * abs(value), _LEAST, EPS * abs(level))
            values[q] = level + np.copysign(min(abs(before), least), before)


@native
def _tolerance(run, q):
    return run.atol[q] + run.rtol * run.y_max[q]


@native
def _side_at(run, t, j, k, distance):
    """A guard at the point in run.trial_stage where the unknown is so far from the value that it does not cross."""
    run.trial_stage[run.kept_unknown[k]] = _level(run, k) + distance
    call_value(run.f_guards, t, run.trial_stage, run.p, run.m, run.late_scratch)
    return run.late_scratch[j]


@native
def kept_side(run, t, j):
    """1 or -1: the side on which a guard is, since its unknown keeps its own, however near it is; 0 where that is not what counts."""
    for e in range(run.kept_first[j], run.kept_first[j + 1]):
        k = run.kept_of_guards[e]
        q = run.kept_unknown[k]
        before = run.y[q] - _level(run, k)
        if before == 0.0 or abs(before) > _tolerance(run, q):
            continue
        for i in range(run.n):
            run.trial_stage[i] = run.y[i]
        g = _side_at(run, t, j, k, np.copysign(_tolerance(run, q), before))
        if abs(g) > run.nu_start[j]:
            return 1 if g > 0.0 else -1
    return 0


@native
def is_a_kept_zero(run, t, step, theta, j):
    """True of a zero in the step from the current point that a guard has there since an unknown seems to cross what it does not cross."""
    for e in range(run.kept_first[j], run.kept_first[j + 1]):
        k = run.kept_of_guards[e]
        q = run.kept_unknown[k]
        level = _level(run, k)
        before = run.y[q] - level
        if before == 0.0:
            return True
        polynomial_point(run.n, run.degree, run.y, run.coefficients, theta, run.trial_stage)
        if abs(run.trial_stage[q] - level) > _tolerance(run, q):
            continue
        # what else is in the guard may have changed its sign
        if expected_sign(run, j) * _side_at(run, t + theta * step, j, k, np.copysign(_tolerance(run, q), before)) > run.nu_start[j]:
            return True
    return False
