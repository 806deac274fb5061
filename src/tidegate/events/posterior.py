"""Relations in a mode that is only passed through: what they say of the values that the mode would force upon the states (stage: events).

In: an event's point and a mode whose equations do not determine the algebraic unknowns while the states are held, for it would force a state: an open
switch and a diode not yet conducting leave a coil's current no way. Out: the next mode; the states stay where they are, only a mode that is found
may move them (inner loop of the event iteration of DSblock 4.0a; modes of no duration of Mosterman and Biswas 1996).

What the mode would do is seen in one step of the implicit Euler method of vanishing length h: M (y_post - y) = h f(t, y_post) has a solution though
the states are constrained, and the impulse that takes them there, of order 1/h, has the sign that says which relation gives way. Nothing else is
made of it, and h must not matter: what relations say must be the same for h and h/100.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, RELATION, RESTART_FAILED, SINGULAR
from tidegate.events.guards import find_open, refresh_activity, size_of
from tidegate.events.tolerances import ROUNDING_SOLVED
from tidegate.linear.forced import model_rates
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import BASE, evaluate_jacobian, factor_real, is_finite_jacobian, solve_real

__all__ = ["forced_point", "holds_ahead", "look_past", "what_guards_say"]

_LONGEST: Final = 1e-6  # of the step that led to the event: the first h
_APART: Final = 1e-2  # from one h to the next
_MOST_LENGTHS: Final = 4
_MOST_ITERATIONS: Final = 25
_CLOSE: Final = 1e-13  # of a correction beside the size of an unknown
_ROUNDING: Final = 1e-10  # of one of a state where corrections do not become smaller
_CORRECTIONS: Final = 16.0  # last ones, which tell what rounding leaves
_LEFT: Final = 2.0  # roundings, by which a state that has just reached its bound lies across


@native
def forced_point(run, t, h):
    """The end of the step of length h into run.trial_end, what rounding makes of it into run.trial_rate; 0 or the reason of failure."""
    n = run.n
    y = run.trial_end
    width = run.trial_rate
    moved = run.scratch_1
    right = run.scratch_2
    for q in range(n):
        y[q] = run.y[q]
    last = np.inf
    for iteration in range(_MOST_ITERATIONS):
        evaluate_jacobian(run, t, y)
        if not is_finite_jacobian(run):
            return NOT_FINITE
        run.knows_forces = 0
        run.knows_base = 0
        if factor_real(run, BASE, 1.0 / h, run.jacobian_at) != 0:
            return SINGULAR
        for q in range(n):
            width[q] = y[q] - run.y[q]
        times_mass(run, width, moved)
        model_rates(run, t, y, right)
        run.c_rhs += 1
        for q in range(n):
            right[q] -= moved[q] / h
        solve_real(run, BASE, right.ctypes)
        norm = 0.0
        norm_of_states = 0.0
        for q in range(n):
            y[q] += right[q]
            width[q] = abs(right[q])
            part = width[q] / size_of(run, q, y[q])
            norm = max(norm, part)
            if run.is_algebraic[q] == 0:
                norm_of_states = max(norm_of_states, part)
        if not norm < 1e300:
            return NOT_FINITE
        # rounding of what ties the states is divided by h, in what takes them there
        if norm <= _CLOSE or (iteration > 1 and norm_of_states <= _ROUNDING and norm >= 0.5 * last):
            return 0
        last = norm
    return RESTART_FAILED


@native
def what_guards_say(run, t, h, out):
    """+1 or -1 for guards that are clear of zero at the end of a step of length h, else 0; 0 or the reason of failure."""
    code = forced_point(run, t, h)
    if code != 0:
        return code
    y = run.trial_end
    width = run.trial_rate
    g = run.trial_g_full
    margin = run.trial_g_half
    n = run.n
    unit = run.scratch_1
    moved = run.scratch_2
    for q in range(n):
        width[q] = _CORRECTIONS * width[q] + _CLOSE * size_of(run, q, y[q])
        unit[q] = 0.0
    for q in range(n):
        # states are known but for rounding, which an impulse makes much of
        if run.is_algebraic[q] == 0:
            unit[q] = _LEFT * ROUNDING_SOLVED * size_of(run, q, run.y[q]) / h
            times_mass(run, unit, moved)
            unit[q] = 0.0
            solve_real(run, BASE, moved.ctypes)
            for k in range(n):
                width[k] += abs(moved[k])
    call_value(run.f_guards, t, y, run.p, run.m, g)
    call_tangent(run.f_guard_scale, t, y, run.zero, run.p, run.m, 0.0, width, run.zero, run.zero, margin)
    for j in range(run.n_guards):
        clear = margin[j] < abs(g[j]) < np.inf
        out[j] = 0.0 if not clear else 1.0 if g[j] > 0.0 else -1.0
        if run.guard_kind[j] == RELATION and g[j] == 0.0 and margin[j] == 0.0:
            # nothing that moves is in it, as in ``clip(x, a, b) <= a`` below a: it says what is written
            out[j] = -1.0 if run.is_strict[j] == 1 else 1.0
    return 0


@native
def holds_ahead(run, t, h):
    """True if no relation marked in run.trial_g_end says anything else than what is assumed of it after a step of length h."""
    says = run.reach_scratch
    refresh_activity(run)
    if what_guards_say(run, t + h, h, says) != 0:
        return False
    for j in range(run.n_guards):
        if run.trial_g_end[j] != 0.0 and run.active[j] != 0.0:
            holds = 1.0 if run.r[run.m_at + run.guard_mode[j]] != 0.0 else -1.0
            if says[j] * holds < 0.0:
                return False
    return True


@native
def _agree(run, a, b):
    """True if what two lengths say does not contradict each other; what only one of them says is taken into ``b``."""
    for j in range(run.n_guards):
        if run.guard_kind[j] == RELATION and run.trial_g_end[j] != 0.0 and a[j] * b[j] < 0.0:
            return False
    for j in range(run.n_guards):
        b[j] = b[j] if b[j] != 0.0 else a[j]
    return True


@kernel_entry(NUMBER, INTEGER)
def look_past(run, t, only_first):
    """Set the relations to what they say of the values that this mode would force; the number of changes, or -1 if that cannot be found out.

    Relations between time and states alone stay as they are. With ``only_first`` only the first one changes.
    """
    said = run.late_scratch
    says = run.reach_scratch
    is_open = run.trial_g_end
    length = run.step_before_event if run.step_before_event > 0.0 else 1.0
    find_open(run, t, is_open)
    length *= _LONGEST
    if what_guards_say(run, t, length, says) != 0:
        return -1
    for _ in range(_MOST_LENGTHS):
        for j in range(run.n_guards):
            said[j] = says[j]
        length *= _APART
        if what_guards_say(run, t, length, says) != 0:
            return -1
        if not _agree(run, said, says):
            continue
        changes = 0
        for j in range(run.n_guards):
            if run.guard_kind[j] != RELATION or is_open[j] == 0.0 or says[j] == 0.0:
                continue
            offset = run.m_at + run.guard_mode[j]
            truth = 1.0 if says[j] > 0.0 else 0.0
            if run.r[offset] != truth:
                run.r[offset] = truth
                changes += 1
                if only_first == 1:
                    break
        return changes
    return -1
