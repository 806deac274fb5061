"""Relations that reach their zeros at one instant: which derivatives exist there, and what they are (stage: integrators, at an event).

Each relation has its own derivative tau' of its time. If these differ for a parameter, a little more of it lets one relation change first and a
little less the other, so that S changes by the sum of (y' before - y' after) tau' over the relations in either order. Where both orders agree, as in
equations that only add up what relations decide, this is the derivative; where they do not, there is none. This is followed up where relations have
changed and nothing else has happened; where clauses were carried out it is said that there is none.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    F_ACTIVITY,
    F_GUARDS,
    F_GUARDS_T,
    F_TIMES_T,
    FIRST_COUNT,
    I_MODE,
    I_SIDE,
    MASS_VARIES,
    N_FIRE,
    N_G,
    N_MODES,
    N_S,
    N_TIMES,
    O_ACT,
    O_ATOL,
    O_DM,
    O_DP,
    O_DTDP,
    O_FIRED,
    O_G,
    O_GT,
    O_M,
    O_MOLD,
    O_MTRIAL,
    O_NU,
    O_P,
    O_S,
    O_SIGMA,
    O_SOUT,
    O_TIMES,
    O_TRIAL,
    O_Y,
    O_YDOT,
    O_YDOTM,
    O_YMAX,
    O_YOLD,
    O_ZERO,
    RTOL,
    STEP_BEFORE_EVENT,
    N,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.events.guards import expected_sign, guard_slopes
from tidegate.events.restart import derivatives
from tidegate.sensitivity.jump import set_direction

__all__ = ["doubt_times", "note_doubts"]

_TIME_ROUNDING: Final = 8 * 2.220446049250313e-16
_STILL: Final = 1e-2  # of the tolerance: solving the algebraic equations again moves unknowns by no more
_SAME: Final = 1e-6  # relative difference of two derivatives of times that are one; they come out of the same steps


@native
def _differ(a, b):
    return not abs(a - b) <= _SAME * max(abs(a), abs(b))


@native
def _activities(h, r, t, out):
    """Not zero for guards that matter in the mode of m, or, since one may open the way to the other, in that of O_ACT."""
    ng = h[N_G]
    call_value(h[F_ACTIVITY], t, vector(r, h[O_Y], h[N]), tail(r, h[O_P]), tail(r, h[O_M]), out)
    for j in range(ng):
        out[j] = max(abs(out[j]), abs(r[h[O_ACT] + j]))


@native
def _note_coincident(h, r, t, main):
    """Mark the guards that have changed what they decide because they reach zero now; True if ``main`` is not alone.

    The modes of before must be in m, those of now in O_MTRIAL. Leaves slopes of the mode before in O_GT.
    """
    n = h[N]
    ng = h[N_G]
    marks = integers(h, h[I_SIDE] + 3 * ng, ng)
    crossed = integers(h, h[I_SIDE] + ng, ng)
    mode = integers(h, h[I_MODE], ng)
    y = vector(r, h[O_YOLD], n)
    g = vector(r, h[O_G], ng)
    slope = vector(r, h[O_GT], ng)
    active = vector(r, h[O_TRIAL] + 7 * n + 3 * ng, ng)
    call_value(h[F_GUARDS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), g)
    _activities(h, r, t, active)
    guard_slopes(h, r, t, y, vector(r, h[O_YDOTM], n), slope)
    others = False
    for j in range(ng):
        noise = r[h[O_NU] + j]
        changes = active[j] != 0.0 and r[h[O_M] + mode[j]] != r[h[O_MTRIAL] + mode[j]]
        reaches = -expected_sign(h, r, j) * slope[j] * r[STEP_BEFORE_EVENT] > noise
        at_zero = reaches and abs(g[j]) <= noise + _TIME_ROUNDING * abs(t * slope[j])
        marks[j] = 1 if j == main or (changes and (crossed[j] == 1 or at_zero)) else 0
        others = others or (marks[j] == 1 and j != main)
    return others


@native
def _times_of(h, r, t, i, out):
    """tau' of every guard for parameter number i; slopes must be in O_GT."""
    ng = h[N_G]
    n = h[N]
    slope = vector(r, h[O_GT], ng)
    s = matrix(r, h[O_S], h[N_S], n)
    zero = vector(r, h[O_ZERO], n)
    y = vector(r, h[O_YOLD], n)
    set_direction(h, r, i, True)
    call_tangent(h[F_GUARDS_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, s[i], tail(r, h[O_DP]), tail(r, h[O_DM]), out)
    set_direction(h, r, i, False)
    for j in range(ng):
        out[j] = 0.0 if out[j] == 0.0 else -out[j] / slope[j]


@native
def _clocks_differ(h, r, t, i):
    """True if a time event that has happened has another tau' than the event."""
    ng = h[N_G]
    n = h[N]
    n_times = h[N_TIMES]
    if n_times <= ng:
        return False
    zero = vector(r, h[O_ZERO], n)
    change = vector(r, h[O_TIMES] + n_times, n_times)
    p = tail(r, h[O_P])
    fired = h[O_FIRED] + h[N_FIRE] - n_times
    count = h[O_M] + h[FIRST_COUNT] - ng
    for k in range(ng, n_times):
        r[count + k] -= r[fired + k]  # the time that is now, not the next
    set_direction(h, r, i, True)
    call_tangent(h[F_TIMES_T], t, vector(r, h[O_Y], n), zero, p, tail(r, h[O_M]), 0.0, zero, tail(r, h[O_DP]), tail(r, h[O_DM]), change)
    set_direction(h, r, i, False)
    differ = False
    for k in range(ng, n_times):
        r[count + k] += r[fired + k]
        differ = differ or (r[fired + k] != 0.0 and _differ(change[k], r[h[O_DTDP] + i]))
    return differ


@native
def _in_order(h, r, t, i, sign, taus, out):
    """S after the event if the marked relations change one after the other, those with the smallest sign * tau' first; 0 or the reason of failure."""
    n = h[N]
    ng = h[N_G]
    modes = integers(h, h[I_MODE], ng)
    marks = integers(h, h[I_SIDE] + 3 * ng, ng)
    before = h[O_TRIAL]
    after = before + n
    for k in range(h[N_MODES]):
        r[h[O_M] + k] = r[h[O_MOLD] + k]
    left = 0
    code = 0
    for q in range(n):
        out[q] = r[h[O_S] + i * n + q]
        r[before + q] = r[h[O_YDOTM] + q]
    for j in range(ng):
        left += marks[j]
    while left > 0 and code == 0:
        first = -1
        for j in range(ng):
            if marks[j] == 1 and (first < 0 or sign * taus[j] < sign * taus[first]):
                first = j
        marks[first] = 2
        left -= 1
        place = modes[first]
        r[h[O_M] + place] = r[h[O_MTRIAL] + place]
        if left == 0:
            for q in range(n):
                r[after + q] = r[h[O_YDOT] + q]
        else:
            code = derivatives(h, r, t, h[O_Y], after)
        for q in range(n):
            out[q] += (r[before + q] - r[after + q]) * taus[first]
            r[before + q] = r[after + q]
    for j in range(ng):
        marks[j] = 1 if marks[j] != 0 else 0
    return code


@native
def _only_relations(h, r):
    """True if no clause was carried out and no unknown has jumped, so that the orders of relations can be followed."""
    if h[MASS_VARIES] == 1:
        return False
    for k in range(h[N_FIRE]):
        if r[h[O_FIRED] + k] != 0.0:
            return False
    for q in range(h[N]):
        allowed = _STILL * (r[h[O_ATOL] + q] + r[RTOL] * r[h[O_YMAX] + q])
        if not abs(r[h[O_Y] + q] - r[h[O_YOLD] + q]) <= allowed:
            return False
    return True


@native
def doubt_times(h, r, t, main):
    """After the event: which parameters move relations and clocks of this instant differently.

    Where relations alone have changed, sigma becomes what ``finish_jump`` makes S of. ``main`` is the guard that the event is about, or -1.
    True if for any parameter there is no derivative; it is then marked in O_SOUT.
    """
    n = h[N]
    ng = h[N_G]
    several = False
    for k in range(h[N_MODES]):
        r[h[O_MTRIAL] + k] = r[h[O_M] + k]
        r[h[O_M] + k] = r[h[O_MOLD] + k]
    if ng > 0:
        several = _note_coincident(h, r, t, main)
    taus = vector(r, h[O_TRIAL] + 7 * n, max(ng, 1))
    one = vector(r, h[O_TRIAL] + 2 * n, n)
    other = vector(r, h[O_TRIAL] + 3 * n, n)
    marks = integers(h, h[I_SIDE] + 3 * ng, max(ng, 1))
    doubted = False
    for i in range(h[N_S]):
        lost = h[O_SOUT] + i
        r[lost] = 0.0
        tau = r[h[O_DTDP] + i]
        if not abs(tau) < np.inf:
            continue
        differs = _clocks_differ(h, r, t, i)
        if several:
            for k in range(h[N_MODES]):
                r[h[O_M] + k] = r[h[O_MOLD] + k]
            _times_of(h, r, t, i, taus)
            for j in range(ng):
                differs = differs or (marks[j] == 1 and _differ(taus[j], tau))
        if not differs:
            continue
        agree = main >= 0 and _only_relations(h, r)
        if agree:
            taus[main] = tau
            agree = _in_order(h, r, t, i, -1.0, taus, other) == 0 and _in_order(h, r, t, i, 1.0, taus, one) == 0
            for q in range(n):
                if agree:
                    r[h[O_SIGMA] + i * n + q] = one[q] + r[h[O_YDOT] + q] * tau
            for q in range(n):
                before = r[h[O_S] + i * n + q]
                agree = agree and not _differ(one[q] - before, other[q] - before)
        if not agree:
            r[lost] = 1.0
            doubted = True
    for k in range(h[N_MODES]):
        r[h[O_M] + k] = r[h[O_MTRIAL] + k]
    return doubted


@native
def note_doubts(h, r):
    """After ``finish_jump``: tau' is infinite where it was found that there is none."""
    for i in range(h[N_S]):
        if r[h[O_SOUT] + i] != 0.0:
            r[h[O_DTDP] + i] = np.inf
