"""Guards that come down to zero within the tolerances and turn back: grazings of which nobody can say whether they are crossings.

Looked for where sensitivities are asked for, since none exists there. In: a step's polynomial and its earliest crossing, if there is one. Out, at the
end of m: the first grazing of the run, and how fast a guard must cross to be sure of it. Only a guard that falls at the start and rises at the end of
a piece has a lowest point in between.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import RELATION
from tidegate.events.told import TURNS, can_be_shorter, told_by_series, told_by_slope
from tidegate.events.tolerances import GRAZING
from tidegate.events.unresolved import is_unresolved

__all__ = ["guard_reach", "note_grazings", "note_touch"]

_HALVINGS: Final = 30  # of the part of a step that holds the lowest point; the value there is flat
_STILL: Final = 0.01  # of the slope at the start: a guard that has become so slow is at its lowest point
_PIECES: Final = 8  # of a step, each with one lowest point at most


@native
def guard_reach(run, t, y, size, out):
    """How far the tolerances of unknowns of such a size may move each guard."""
    n = run.n
    width = run.roundoff
    nothing = run.zero
    for q in range(n):
        width[q] = run.atol[q] + run.rtol * abs(size[q])
    call_tangent(run.f_guard_scale, t, y, run.zero, run.p, run.m, 0.0, width, nothing, nothing, out)


@native
def _slopes_at(run, t, step, y, theta, slopes):
    """Change of every guard by theta at a point of the step, the point itself left in run.scratch_1."""
    n = run.n
    degree = run.degree
    a = run.coefficients
    point = run.scratch_1
    rate = run.scratch_2
    nothing = run.zero
    for q in range(n):
        x = 0.0
        v = 0.0
        for k in range(degree - 1, -1, -1):
            x = (x + a[k, q]) * theta
            v = v * theta + (k + 1) * a[k, q]
        point[q] = y[q] + x
        rate[q] = v
    call_tangent(run.f_guards_tangent, t + theta * step, point, nothing, run.p, run.m, step, rate, nothing, nothing, slopes)


@native
def _note_grazing(run, t, step, y, lower, upper, found):
    """Look at one piece of the step; the slopes at its start are in run.piece_slopes, and are replaced by those at its end.

    Returns up to where the step is to be cut, so that a grazing that may be none is told from one; 1 for nowhere.
    """
    note = run.grazing
    ng = run.n_guards
    if note[0] != 0.0:
        return 1.0
    falls = run.piece_slopes
    late = run.late_scratch
    reach = run.reach_scratch
    here = run.slopes
    before = run.g
    of_time = run.is_time
    kind = run.guard_kind
    mode = run.guard_mode
    _slopes_at(run, t, step, y, upper, late)
    for j in range(ng):
        if j == found or run.active[j] == 0.0 or of_time[j] == 1:
            continue
        sign = 1.0 if kind[j] != RELATION or run.m[mode[j]] != 0.0 else -1.0
        # it turns in between, or just about at the end
        if not (sign * falls[j] < 0.0 and sign * late[j] > _STILL * sign * falls[j]):
            continue
        # from a pole it falls ever more slowly, and is within what tolerances make of it there
        if is_unresolved(run, j):
            continue
        low = lower
        high = upper
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            _slopes_at(run, t, step, y, middle, here)
            if sign * here[j] < 0.0:
                low = middle
            else:
                high = middle
        _slopes_at(run, t, step, y, high, here)
        point = run.scratch_1
        guard_reach(run, t + high * step, point, run.y_max, reach)
        call_value(run.f_guards, t + high * step, point, run.p, run.m, here)
        rounding = GRAZING * run.nu_start[j]
        within = run.reach_factor * reach[j] + rounding
        # a guard that is at zero from the start of a mode on comes from there, not to it
        came = within if run.is_first == 1 else rounding
        # at the end it may still be on its way: down to here and no further
        fall = min(sign * late[j], 0.0)
        ahead = fall * fall * 0.5 * (upper - lower) / (sign * (late[j] - falls[j]))
        if sign * here[j] <= within and sign * here[j] - ahead >= -within and sign * before[j] > came:
            told = min(told_by_slope(run, j, -sign * run.guard_coefficients[0, j], TURNS), told_by_series(run, high, j))
            if told < high and can_be_shorter(run, told * step):
                run.failed_guard = j
                return told
            note[0] = j + 1.0
            note[1] = t + high * step
            return 1.0
    for j in range(ng):
        falls[j] = late[j]
    return 1.0


@native
def _least_slope(run, t, step, y, guard, theta):
    """Square of the slope that a guard must have where it crosses at theta, were it moved back by what the tolerances allow and still crossed.

    Its bend is taken from the part of the step before theta, or, where it crosses at the very start, from what comes; less what rounding makes of
    it, which is all there is to it in a step that is short enough.
    """
    slopes = run.late_scratch
    reach = run.reach_scratch
    beside = 0.5 * theta if theta > 0.0 else 0.5
    _slopes_at(run, t, step, y, beside, slopes)
    other = slopes[guard]
    _slopes_at(run, t, step, y, theta, slopes)
    rounding = GRAZING * run.nu_start[guard]
    bend = max(abs(slopes[guard] - other) - rounding, 0.0) / (abs(theta - beside) * step * step)
    guard_reach(run, t + theta * step, run.scratch_1, run.y_max, reach)
    return 2.0 * bend * (run.reach_factor * reach[guard] + rounding)


@kernel_entry(NUMBER, NUMBER, NUMBER, INTEGER)
def note_grazings(run, t, step, upper, found):
    """At the end of m: the first grazing of the run up to ``upper``, and how fast the guard that was found there must be to cross for certain.

    The coefficients of the guards must be in run.guard_coefficients. Returns 0; or 1 where the step is to be cut at run.found_theta first.
    """
    y = run.y
    if upper > 0.0:
        for j in range(run.n_guards):
            run.piece_slopes[j] = run.guard_coefficients[0, j]
        # in a long step a guard may turn more than once, also the one that crosses in its last piece
        for k in range(_PIECES):
            crossed = found if k == _PIECES - 1 else -1
            told = _note_grazing(run, t, step, y, upper * k / _PIECES, upper * (k + 1) / _PIECES, crossed)
            if told < 1.0:
                run.found_theta = told
                return 1
    if found >= 0:
        # what jumps across at a pole does not just reach its zero
        run.grazing[2] = 0.0 if run.at_pole == found + 1 else _least_slope(run, t, step, y, found, upper)
    return 0


@native
def note_touch(run, t, guard):
    """A guard that was found to cross, too slowly to be sure, and of which nothing came: the search left it out as the one that crosses."""
    for i in range(run.n_sens):
        if run.dt_dp[i] != run.dt_dp[i] and run.grazing[0] == 0.0:
            run.grazing[0] = guard + 1.0
            run.grazing[1] = t
