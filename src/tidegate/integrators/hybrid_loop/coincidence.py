"""Relations that reach their zeros at one instant: which derivatives exist there, and what they are (stage: integrators, at an event).

Each relation has its own derivative tau' of its time. If these differ for a parameter, a little more of it lets one relation change first and a
little less the other, so that S changes by the sum of (y' before - y' after) tau' over the relations in either order. Where both orders agree, as in
equations that only add up what relations decide, this is the derivative; where they do not, there is none. This is followed up where relations have
changed and nothing else has happened; where clauses were carried out it is said that there is none.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import native
from tidegate.events.guards import expected_sign, guard_slopes
from tidegate.events.restart import derivatives
from tidegate.events.tolerances import SAME_RATE, SAME_TIME, SOLVED_AGAIN
from tidegate.sensitivity.jump import set_direction

__all__ = ["note_moved_apart", "times_move_apart"]


@native
def _differ(a, b):
    return not abs(a - b) <= SAME_RATE * max(abs(a), abs(b))


@native
def _activities(run, t, out):
    """Not zero for guards that matter in the mode of m, or, since one may open the way to the other, in that of run.active."""
    ng = run.n_guards
    call_value(run.f_activity, t, run.y, run.p, run.m, out)
    for j in range(ng):
        out[j] = max(abs(out[j]), abs(run.active[j]))


@native
def _note_coincident(run, t, main):
    """Mark the guards that have changed what they decide because they reach zero now; True if ``main`` is not alone.

    The modes of before must be in m, those of now in run.m_trial. Leaves slopes of the mode before in run.slopes.
    """
    ng = run.n_guards
    marks = run.marks
    crossed = run.crossed
    mode = run.guard_mode
    y = run.y_old
    g = run.g
    slope = run.slopes
    active = run.noted_active
    call_value(run.f_guards, t, y, run.p, run.m, g)
    _activities(run, t, active)
    guard_slopes(run, t, y, run.ydot_before, slope)
    others = False
    for j in range(ng):
        roundoff = run.nu[j]
        changes = active[j] != 0.0 and run.m[mode[j]] != run.m_trial[mode[j]]
        reaches = -expected_sign(run, j) * slope[j] * run.step_before_event > roundoff
        at_zero = reaches and abs(g[j]) <= roundoff + SAME_TIME * abs(t * slope[j])
        marks[j] = 1 if j == main or (changes and (crossed[j] == 1 or at_zero)) else 0
        others = others or (marks[j] == 1 and j != main)
    return others


@native
def _times_of(run, t, i, out):
    """tau' of every guard for parameter number i; slopes must be in run.slopes."""
    s = run.sens
    zero = run.zero
    y = run.y_old
    set_direction(run, i, True)
    call_tangent(run.f_guards_tangent, t, y, zero, run.p, run.m, 0.0, s[i], run.dp, run.dm, out)
    set_direction(run, i, False)
    for j in range(run.n_guards):
        out[j] = 0.0 if out[j] == 0.0 else -out[j] / run.slopes[j]


@native
def _clocks_differ(run, t, i, main):
    """True if a time event that has happened has another tau' than the event.

    Where time events say themselves when they come next, their tau' was noted before they did.
    """
    ng = run.n_guards
    if run.n_clocks == 0:
        return False
    zero = run.zero
    change = run.times_scratch
    p = run.p
    fired = run.fired
    first = run.n_actions - run.n_steps - run.n_clocks
    if run.goes_on_at >= 0:
        return main >= 0 and fired[first] != 0.0 and _differ(run.clock_tau[i], run.dt_dp[i])
    for k in range(run.n_clocks):
        run.counts[k] -= fired[first + k]  # the time that is now, not the next
    set_direction(run, i, True)
    call_tangent(run.f_times_tangent, t, run.y, zero, p, run.m, 0.0, zero, run.dp, run.dm, change)
    set_direction(run, i, False)
    differ = False
    for k in range(run.n_clocks):
        run.counts[k] += fired[first + k]
        differ = differ or (fired[first + k] != 0.0 and _differ(change[ng + k], run.dt_dp[i]))
    return differ


@native
def _in_order(run, t, i, sign, taus, out):
    """S after the event if the marked relations change one after the other, those with the smallest sign * tau' first; 0 or the reason of failure."""
    n = run.n
    ng = run.n_guards
    modes = run.guard_mode
    marks = run.marks
    before = run.trial_middle
    after = run.trial_end
    for k in range(run.n_modes):
        run.m[k] = run.m_old[k]
    left = 0
    code = 0
    for q in range(n):
        out[q] = run.sens[i, q]
        before[q] = run.ydot_before[q]
    for j in range(ng):
        left += marks[j]
    while left > 0 and code == 0:
        first = -1
        for j in range(ng):
            if marks[j] == 1 and (first < 0 or sign * taus[j] < sign * taus[first]):
                first = j
        marks[first] = 2
        left -= 1
        index = modes[first]
        run.m[index] = run.m_trial[index]
        if left == 0:
            for q in range(n):
                after[q] = run.ydot[q]
        else:
            code = derivatives(run, t, run.y_at, run.trial_end_at)
        for q in range(n):
            out[q] += (before[q] - after[q]) * taus[first]
            before[q] = after[q]
    for j in range(ng):
        marks[j] = 1 if marks[j] != 0 else 0
    return code


@native
def _only_relations(run):
    """True if no clause was carried out and no unknown has jumped, so that the orders of relations can be followed."""
    if run.mass_varies == 1:
        return False
    for k in range(run.n_actions):
        if run.fired[k] != 0.0:
            return False
    for q in range(run.n):
        allowed = SOLVED_AGAIN * (run.atol[q] + run.rtol * run.y_max[q])
        if not abs(run.y[q] - run.y_old[q]) <= allowed:
            return False
    return True


@native
def times_move_apart(run, t, main):
    """After the event: which parameters move relations and clocks of this instant differently.

    Where relations alone have changed, sigma becomes what ``finish_jump`` makes S of. ``main`` is the guard that the event is about, or -1.
    True if for any parameter there is no derivative; it is then marked in run.sens_out.
    """
    n = run.n
    ng = run.n_guards
    several = False
    for k in range(run.n_modes):
        run.m_trial[k] = run.m[k]
        run.m[k] = run.m_old[k]
    if ng > 0:
        several = _note_coincident(run, t, main)
    taus = run.trial_g_full
    one = run.trial_stage
    other = run.trial_rate
    marks = run.marks
    moved_apart = False
    for i in range(run.n_sens):
        lost = run.sens_out_at + i
        run.r[lost] = 0.0
        tau = run.dt_dp[i]
        if not abs(tau) < np.inf:
            continue
        differs = _clocks_differ(run, t, i, main)
        if several:
            for k in range(run.n_modes):
                run.m[k] = run.m_old[k]
            _times_of(run, t, i, taus)
            for j in range(ng):
                differs = differs or (marks[j] == 1 and _differ(taus[j], tau))
        if not differs:
            continue
        agree = main >= 0 and _only_relations(run)
        if agree:
            taus[main] = tau
            agree = _in_order(run, t, i, -1.0, taus, other) == 0 and _in_order(run, t, i, 1.0, taus, one) == 0
            for q in range(n):
                if agree:
                    run.sigma[i, q] = one[q] + run.ydot[q] * tau
            for q in range(n):
                before = run.sens[i, q]
                agree = agree and not _differ(one[q] - before, other[q] - before)
        if not agree:
            run.r[lost] = 1.0
            moved_apart = True
    for k in range(run.n_modes):
        run.m[k] = run.m_trial[k]
    return moved_apart


@native
def note_moved_apart(run):
    """After ``finish_jump``: tau' is infinite where it was found that there is none."""
    for i in range(run.n_sens):
        if run.r[run.sens_out_at + i] != 0.0:
            run.dt_dp[i] = np.inf
