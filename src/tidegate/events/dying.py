"""What only dies out, as the equations say (stage: events).

``x' = -k x`` never crosses zero, but every method makes it do so where it is smaller than the tolerance: its sign is chance then. A tank,
``h' = -sqrt(h)``, does run empty. With ``g' = -c g^e`` the one has e = 1, the other 1/2, a crossing 0, and zero is reached if e is less than 1. So a
guard's value and its rate are looked at a little farther on the way that the unknowns take: if the rate falls as the value does, it dies out.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import RELATION
from tidegate.events.grazing import guard_reach
from tidegate.events.guards import guard_slopes
from tidegate.events.kept_sides import is_a_kept_zero
from tidegate.events.restart import derivatives
from tidegate.events.tolerances import ROUNDING

__all__ = ["crosses_by_chance", "dies_out", "is_in_reach", "is_within_tolerance"]

_AHEAD: Final = 0.75  # of the time in which it would be at zero if it went on as it does
_LESS: Final = 0.6  # of its value, there, or nothing can be told
_SLOWEST: Final = 0.6  # times that part of its rate, as what it dies out by may change; much slower, it is led somewhere
_FASTEST: Final = 1.15  # e > 0.85, where a root of multiplicity m is passed with 1 - 1 / m


@native
def _may_be_in_reach(run, j, value):
    """False of a guard farther from zero than its tolerance can be, which its round-off level tells."""
    return abs(value) <= 2.0 * run.rtol / ROUNDING * run.nu_start[j]


@native
def _may_be_within_tolerance(run, j, value):
    """False of a guard that is no relation as well."""
    return run.guard_kind[j] == RELATION and _may_be_in_reach(run, j, value)


@native
def is_in_reach(run, t, j):
    """True if a guard at the current point is as near zero as the tolerances of what it reads."""
    if not _may_be_in_reach(run, j, run.g[j]):
        return False
    guard_reach(run, t, run.y, run.y_max, run.reach_scratch)
    return abs(run.g[j]) <= run.reach_scratch[j]


@native
def is_within_tolerance(run, t, j):
    """True if it is a relation, too."""
    return run.guard_kind[j] == RELATION and is_in_reach(run, t, j)


@native
def dies_out(run, t, j, slope, rates):
    """True if a guard at the current point moves towards its zero, but the slower the nearer it is, so that it never gets there."""
    g = run.g[j]
    if not -slope * g > 0.0:
        return False
    ahead = _AHEAD * abs(g / slope)
    if run.ends_hard == 1 and t + ahead > run.t_end:
        return False
    point = run.trial_stage
    for q in range(run.n):
        point[q] = run.y[q] + ahead * rates[q]
    if derivatives(run, t + ahead, run.trial_stage_at, run.trial_rate_at) != 0:
        return False
    run.late_at = np.nan
    call_value(run.f_guards, t + ahead, point, run.p, run.m, run.late_scratch)
    guard_slopes(run, t + ahead, point, run.trial_rate, run.trial_g_half)
    left = run.late_scratch[j] / g
    return 0.0 < left <= _LESS and _SLOWEST * left < run.trial_g_half[j] / slope < _FASTEST * left


@native
def crosses_by_chance(run, t, step, theta, j):
    """True of a crossing in the step from the current point on, where the guard is within the tolerance of zero at both ends and only dies out."""
    if is_a_kept_zero(run, t, step, theta, j):
        return True
    if not _may_be_within_tolerance(run, j, run.g[j]):
        return False
    run.late_at = np.nan
    call_value(run.f_guards, t + step, run.y_end, run.p, run.m, run.late_scratch)
    if run.is_linear[j] == 1 and not _may_be_within_tolerance(run, j, run.late_scratch[j]):
        return False
    if not is_in_reach(run, t, j):
        return False
    # the tolerances make the same of an affine guard at both ends of the step
    if run.is_linear[j] == 0:
        guard_reach(run, t + step, run.y_end, run.y_max, run.reach_scratch)
    if not abs(run.late_scratch[j]) <= run.reach_scratch[j] or derivatives(run, t, run.y_at, run.trial_total_at) != 0:
        return False
    guard_slopes(run, t, run.y, run.trial_total, run.trial_g_end)
    return dies_out(run, t, j, run.trial_g_end[j], run.trial_total)
