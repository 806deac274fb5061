"""A mode that holds of itself among too many to try them all: turned round is what the last try shows to be wrong (stage: events).

In: a point, the relations that algebraic unknowns decide, marked in ``run.trial_g_end``, and the length of a short step. Out: their combination that
holds at the end of that step of the implicit Euler method. This is a problem of complementarity, as of many ideal diodes, which is solved by block
principal pivoting: all relations that the solution contradicts are turned round together, and only the last of them if that has led nowhere for a
while (Júdice and Pires 1994; Murty 1974).

A mode in the middle may be singular: a bridge that floats has no potential, a short circuit no current. Each mode is therefore mixed with a small
part of the one in which every open relation says the opposite. A blocking diode has a leak then and a conducting one a resistance, each with its
right sign. What is found so is looked at without that part. Where it is singular, since something floats, what is loose is moved along until the
first relation is at its zero, which is turned round: a diode through which nothing flows ties the bridge to the rest.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, SINGULAR, matrix
from tidegate.events.guards import refresh_activity, size_of
from tidegate.events.posterior import holds_ahead
from tidegate.linear.forced import model_jacobian, model_rates
from tidegate.linear.mass import times_mass, update_mass
from tidegate.linear.systems import BASE, factor_real, is_finite_jacobian, solve_real

__all__ = ["pivot_ahead"]

_PARTS: Final = np.array([1e-6, 1e-3, 1e-9])  # of the opposite mode, one after the other; no tuple, over which not every Numba can loop here
_MOST_ITERATIONS: Final = 6
_SMALL: Final = 1e-8  # a correction, beside the size of an unknown: what is looked for is a mode, not a solution
_ROUNDING: Final = 1e-13
_PATIENCE: Final = 8  # tries without fewer contradictions until relations are turned round one by one
_TRIES: Final = 20  # for each relation
_APART: Final = 0.125  # from the length of the step to the other with which it must hold
_GOLDEN: Final = 0.6180339887498949  # its multiples are spread evenly


@native
def _turn(run, j):
    offset = run.m_at + run.guard_mode[j]
    run.r[offset] = 1.0 - run.r[offset]


@native
def _turn_open(run):
    for j in range(run.n_guards):
        if run.trial_g_end[j] != 0.0:
            _turn(run, j)


@native
def _mixed(run, t, y, part, f):
    """J into run.jacobian, and f, with a part of those of the opposite mode."""
    n = run.n
    other = run.scratch_3
    _turn_open(run)
    model_jacobian(run, t, y, run.jacobian)
    model_rates(run, t, y, other)
    _turn_open(run)
    # kept where factors go that are made of the sum
    run.knows_base = 0
    if run.is_sparse == 1:
        for e in range(run.n_sparse_entries):
            run.entries_scratch[e] = run.jacobian[e]
    else:
        full = matrix(run.r, run.jacobian_at, n, n)
        for i in range(n):
            for j in range(n):
                run.real_factors[BASE][i, j] = full[i, j]
    model_jacobian(run, t, y, run.jacobian)
    model_rates(run, t, y, f)
    run.c_rhs += 2
    run.c_jacobian += 2
    for q in range(n):
        f[q] += part * (other[q] - f[q])
    if run.is_sparse == 1:
        for e in range(run.n_sparse_entries):
            run.jacobian[e] += part * (run.entries_scratch[e] - run.jacobian[e])
    else:
        full = matrix(run.r, run.jacobian_at, n, n)
        for i in range(n):
            for j in range(n):
                full[i, j] += part * (run.real_factors[BASE][i, j] - full[i, j])


@native
def _mixed_point(run, t, h, part):
    """The end of the step by the mixed equations into run.trial_end, its factors left behind; 0 or the reason of failure."""
    n = run.n
    y = run.trial_end
    right = run.scratch_1
    moved = run.scratch_2
    width = run.trial_rate
    for q in range(n):
        y[q] = run.y[q]
    for _ in range(_MOST_ITERATIONS):
        _mixed(run, t, y, part, right)
        if not is_finite_jacobian(run):
            return NOT_FINITE
        if factor_real(run, BASE, 1.0 / h, run.jacobian_at) != 0:
            return SINGULAR
        for q in range(n):
            width[q] = y[q] - run.y[q]
        times_mass(run, width, moved)
        for q in range(n):
            right[q] -= moved[q] / h
        solve_real(run, BASE, right.ctypes)
        norm = 0.0
        for q in range(n):
            y[q] += right[q]
            norm = max(norm, abs(right[q]) / size_of(run, q, y[q]))
        if not norm < 1e300:
            return NOT_FINITE
        if norm <= _SMALL:
            break
    return 0


@native
def _contradicted(run, t, wrong):
    """Mark the open relations that the end of the step contradicts; their number."""
    g = run.trial_g_full
    margin = run.trial_g_half
    width = run.trial_rate
    y = run.trial_end
    refresh_activity(run)
    for q in range(run.n):
        width[q] = _ROUNDING * size_of(run, q, y[q])
    call_value(run.f_guards, t, y, run.p, run.m, g)
    call_tangent(run.f_guard_scale, t, y, run.zero, run.p, run.m, 0.0, width, run.zero, run.zero, margin)
    count = 0
    for j in range(run.n_guards):
        wrong[j] = 0.0
        if run.trial_g_end[j] != 0.0 and run.active[j] != 0.0:
            holds = 1.0 if run.r[run.m_at + run.guard_mode[j]] != 0.0 else -1.0
            if holds * g[j] < -margin[j]:
                wrong[j] = 1.0
                count += 1
    return count


@native
def _pivot(run, t, h, part, count):
    """True if a combination was found that holds with the mixed equations; it is set."""
    wrong = run.late_scratch
    fewest = count + 1
    patience = _PATIENCE
    for _ in range(_TRIES * count):
        if _mixed_point(run, t, h, part) != 0:
            return False
        found = _contradicted(run, t, wrong)
        if found == 0:
            return True
        if found < fewest:
            fewest = found
            patience = _PATIENCE
        else:
            patience -= 1
        for j in range(run.n_guards - 1, -1, -1):
            if wrong[j] != 0.0:
                _turn(run, j)
                if patience < 0:
                    break
        if run.mass_varies == 1:
            update_mass(run)
    return False


@native
def _tie_what_is_loose(run, t, h, part):
    """Turn round the relation that is the first at its zero if what the equations leave open moves; False if there is none."""
    if _mixed_point(run, t, h, part) != 0:
        return False
    n = run.n
    loose = run.scratch_1
    y = run.trial_end
    largest = 0.0
    for q in range(n):
        loose[q] = (_GOLDEN * (q + 1)) % 1.0 - 0.5
        largest = max(largest, abs(y[q]))
    # as large as the part is small, where the equations leave something open
    solve_real(run, BASE, loose.ctypes)
    size = 0.0
    for q in range(n):
        size = max(size, abs(loose[q]))
    if not 0.0 < size < 1e300:
        return False
    call_value(run.f_guards, t, y, run.p, run.m, run.trial_g_full)
    for q in range(n):
        y[q] += loose[q] * max(largest, 1.0) / size
    call_value(run.f_guards, t, y, run.p, run.m, run.trial_g_half)
    first = -1
    nearest = np.inf
    for j in range(run.n_guards):
        move = abs(run.trial_g_half[j] - run.trial_g_full[j])
        if run.trial_g_end[j] > 0.0 and run.active[j] != 0.0 and move > 0.0 and abs(run.trial_g_full[j]) / move < nearest:
            nearest = abs(run.trial_g_full[j]) / move
            first = j
    if first < 0:
        return False
    _turn(run, first)
    run.trial_g_end[first] = -run.trial_g_end[first]  # once only
    return True


@kernel_entry(NUMBER, NUMBER)
def pivot_ahead(run, t, h):
    """Set the relations that are marked in run.trial_g_end to a combination that holds after a step of length h; the number of changes, or -1."""
    count = 0
    is_open = run.trial_g_end
    for j in range(run.n_guards):
        if is_open[j] != 0.0:
            count += 1
            is_open[j] = 1.0 + run.r[run.m_at + run.guard_mode[j]]
    for trial in range(_PARTS.size):
        part = _PARTS[trial]
        held = False
        if _pivot(run, t + h, h, part, count):
            for _ in range(count):
                held = holds_ahead(run, t, h) and holds_ahead(run, t, _APART * h)
                if held or not _tie_what_is_loose(run, t + h, h, part):
                    break
        changes = 0
        for j in range(run.n_guards):
            is_open[j] = abs(is_open[j])
            if is_open[j] == 0.0:
                continue
            offset = run.m_at + run.guard_mode[j]
            before = is_open[j] - 1.0
            changes += 1 if run.r[offset] != before else 0
            if not held:
                run.r[offset] = before
        if held:
            return changes
        if run.mass_varies == 1:
            update_mass(run)
    return -1
