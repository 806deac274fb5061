"""One event: rounds of transitions until nothing changes, with consistent values and sensitivities after every round.

The order of one instant (event iteration of Modelica, chapter 8.6; transitions of Galan, Feehery and Barton 1999):

1. the guards that crossed flip what they decide, time events that are due set their flags;
2. ``when`` conditions that became true set their flags (in a chain the first), the bodies are carried out on the values before the round;
3. algebraic unknowns and derivatives are made consistent with the differential ones held;
4. every guard is looked at again: clear of zero its sign decides, at zero the side the trajectory leaves to;
5. if anything changed, again from 2.
"""

from __future__ import annotations

from typing import Final

from numba import njit

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.workspace import (
    C_FLIPS,
    CHATTERING,
    F_BODIES,
    F_CONDITIONS,
    F_GUARDS,
    F_GUARDS_T,
    FAILED_GUARD,
    FIRST_DISCRETE,
    FIRST_FIRE,
    I_BRANCH,
    I_CHAIN,
    I_FLIPPED,
    I_KIND,
    I_MODE,
    I_STRICT,
    I_TERMINATES,
    INITIAL_EVENT,
    IS_TERMINATED,
    LOWER,
    MASS_VARIES,
    N_COND,
    N_D,
    N_FIRE,
    N_G,
    N_S,
    N_TIMES,
    N_WHEN,
    O_BODY,
    O_COND,
    O_COND2,
    O_FIRED,
    O_G,
    O_GT,
    O_M,
    O_NUSTART,
    O_P,
    O_Y,
    O_YDOT,
    O_ZERO,
    RELATION,
    ROUNDS,
    STEP_BEFORE_EVENT,
    UNSETTLED,
    N,
    integers,
    vector,
)
from tidegate.events.isolate import guard_noise, refresh_activity
from tidegate.events.restart import consistent_point, derivatives, update_mass
from tidegate.sensitivity.jump import body_jump, restart_jump

__all__ = ["note_conditions", "read_conditions", "settle"]

_MOST_ROUNDS: Final = 120
_MOST_FLIPS: Final = 3  # times one relation at zero may change its mind at one instant


@njit(error_model="numpy")
def read_conditions(h, r, t, out_offset):
    """Values of when conditions and state conditions in the current mode."""
    if h[N_COND] > 0:
        call_value(h[F_CONDITIONS], t, r[h[O_Y] :], r[h[O_P] :], r[h[O_M] :], vector(r, out_offset, h[N_COND]))


@njit(error_model="numpy")
def _fire_branches(h, r):
    """Set the flags of branches of which a condition has just become true; in a chain only the first. True if any was set."""
    now = vector(r, h[O_COND2], h[N_COND])
    before = vector(r, h[O_COND], h[N_COND])
    n_branches = h[N_FIRE] - (h[N_TIMES] - h[N_G])
    branch = integers(h, h[I_BRANCH], n_branches + 1)
    chain = integers(h, h[I_CHAIN], max(n_branches, 1))
    flags = h[O_M] + h[FIRST_FIRE]
    any_fired = False
    last_chain = -1
    for b in range(n_branches):
        rises = False
        for c in range(branch[b], branch[b + 1]):
            if now[c] != 0.0 and before[c] == 0.0:
                rises = True
        if rises and chain[b] != last_chain:
            r[flags + b] = 1.0
            last_chain = chain[b]
            any_fired = True
    for c in range(h[N_WHEN]):
        before[c] = now[c]
    return any_fired


@njit(error_model="numpy")
def _carry_out(h, r, t):
    """Run the bodies of the set flags and clear them; True if a value changed."""
    n = h[N]
    nd = h[N_D]
    y = vector(r, h[O_Y], n)
    out = vector(r, h[O_BODY], n + nd)
    discrete = vector(r, h[O_M] + h[FIRST_DISCRETE], nd)
    flags = vector(r, h[O_M] + h[FIRST_FIRE], h[N_FIRE])
    fired = vector(r, h[O_FIRED], h[N_FIRE])
    terminates = integers(h, h[I_TERMINATES], h[N_FIRE])
    changed = False
    if h[F_BODIES] != 0:
        for q in range(n):
            out[q] = y[q]
        for q in range(nd):
            out[n + q] = discrete[q]
        call_value(h[F_BODIES], t, y, r[h[O_P] :], r[h[O_M] :], out)
        if h[N_S] > 0:
            body_jump(h, r, t, y)
        for q in range(n):
            if out[q] != y[q]:
                changed = True
            y[q] = out[q]
        for q in range(nd):
            if out[n + q] != discrete[q]:
                changed = True
            discrete[q] = out[n + q]
    for k in range(h[N_FIRE]):
        if flags[k] != 0.0:
            fired[k] = 1.0
            if terminates[k] == 1:
                h[IS_TERMINATED] = 1
            flags[k] = 0.0
    return changed


@njit(error_model="numpy")
def _remember_discrete(h, r):
    """pre(d) := d; True if that changes anything."""
    nd = h[N_D]
    first = h[O_M] + h[FIRST_DISCRETE]
    changed = False
    for q in range(nd):
        if r[first + nd + q] != r[first + q]:
            changed = True
            r[first + nd + q] = r[first + q]
    return changed


@njit(error_model="numpy")
def _truth(h, r, t, guard, g, slope, nu):
    """What a guard says now: 1 positive side, 0 not, -1 undecided (at zero, and staying there)."""
    if g > nu:
        return 1
    if g < -nu:
        return 0
    # at zero within rounding: the side the trajectory leaves to, if it moves at all
    move = slope * r[STEP_BEFORE_EVENT]
    if move > nu:
        return 1
    if move < -nu:
        return 0
    return -1


@njit(error_model="numpy")
def _look_again(h, r, t, at_start, counts):
    """Set every mode by its guard; returns (number of changes, guard that changed its mind too often or -1)."""
    ng = h[N_G]
    n = h[N]
    y = vector(r, h[O_Y], n)
    g = vector(r, h[O_G], ng)
    slope = vector(r, h[O_GT], ng)
    nothing = r[h[O_ZERO] :]
    zero = vector(r, h[O_ZERO], n)
    kind = integers(h, h[I_KIND], ng)
    mode = integers(h, h[I_MODE], ng)
    strict = integers(h, h[I_STRICT], ng)
    modes = h[O_M]
    guard_noise(h, r, t, y)
    nu = vector(r, h[O_NUSTART], ng)
    call_value(h[F_GUARDS], t, y, r[h[O_P] :], r[h[O_M] :], g)
    call_tangent(h[F_GUARDS_T], t, y, zero, r[h[O_P] :], r[h[O_M] :], 1.0, vector(r, h[O_YDOT], n), nothing, nothing, slope)
    changes = 0
    for j in range(ng):
        if not abs(g[j]) < 1e301:
            continue  # not defined here, so not on the active path either, or found out by the integrator
        truth = _truth(h, r, t, j, g[j], slope[j], nu[j])
        place = modes + mode[j]
        if kind[j] == RELATION:
            if truth < 0:
                if not at_start:
                    continue
                truth = 0 if strict[j] == 1 else 1
            if r[place] != truth:
                r[place] = truth
                changes += 1
                if abs(g[j]) <= nu[j]:
                    counts[j] += 1
                    if counts[j] > _MOST_FLIPS:
                        return changes, j
        elif truth == 0:
            r[place] += -1.0 if kind[j] == LOWER else 1.0
            changes += 1
    return changes, -1


@njit(error_model="numpy")
def _flip_crossed(h, r):
    """Apply the flips of the guards that crossed or fell due."""
    ng = h[N_G]
    flipped = integers(h, h[I_FLIPPED], max(ng, 1))
    kind = integers(h, h[I_KIND], max(ng, 1))
    mode = integers(h, h[I_MODE], max(ng, 1))
    for j in range(ng):
        if flipped[j] == 1:
            flipped[j] = 0
            place = h[O_M] + mode[j]
            if kind[j] == RELATION:
                r[place] = 1.0 - r[place]
            else:
                r[place] += -1.0 if kind[j] == LOWER else 1.0


@njit(error_model="numpy")
def _consistent(h, r, t, modes_changed):
    """Step 3 of a round: mass matrix, algebraic unknowns, derivatives and their sensitivities."""
    y = vector(r, h[O_Y], h[N])
    if modes_changed and h[MASS_VARIES] == 1:
        update_mass(h, r)
    code = consistent_point(h, r, t, y)
    if code == 0:
        code = derivatives(h, r, t, y, vector(r, h[O_YDOT], h[N]))
    if code == 0 and h[N_S] > 0:
        restart_jump(h, r, t, y)
    return code


@njit(error_model="numpy")
def settle(h, r, t, kind):
    """Carry out one event at the current point; sigma and tau' must be set where sensitivities are asked for.

    Returns 0, or the reason of failure.
    """
    ng = h[N_G]
    at_start = kind == INITIAL_EVENT
    counts = integers(h, h[I_FLIPPED] + max(ng, 1), max(ng, 1))
    for j in range(ng):
        counts[j] = 0
    for k in range(h[N_FIRE]):
        r[h[O_FIRED] + k] = 0.0
    _flip_crossed(h, r)
    due = False
    for k in range(h[N_FIRE]):
        due = due or r[h[O_M] + h[FIRST_FIRE] + k] != 0.0
    modes_changed = True
    rounds = 0
    while True:
        rounds += 1
        if rounds > _MOST_ROUNDS:
            h[ROUNDS] = rounds
            return UNSETTLED
        read_conditions(h, r, t, h[O_COND2])
        fires = _fire_branches(h, r) if not at_start else False
        changed = False
        if fires or due:
            changed = _carry_out(h, r, t)
            due = False
        code = _consistent(h, r, t, modes_changed or changed)
        if code != 0:
            h[ROUNDS] = rounds
            return code
        modes_changed = False
        if ng > 0:
            changes, culprit = _look_again(h, r, t, at_start, counts)
            if culprit >= 0:
                h[FAILED_GUARD] = culprit
                h[ROUNDS] = rounds
                return CHATTERING
            if changes > 0:
                modes_changed = True
                h[C_FLIPS] += changes
        remembered = _remember_discrete(h, r)
        if not (changed or modes_changed or remembered or fires):
            break
    h[ROUNDS] = rounds
    if at_start:
        read_conditions(h, r, t, h[O_COND])
    refresh_activity(h, r)
    return 0


@njit(error_model="numpy")
def note_conditions(h, r, t):
    """True if the event just settled changed a state condition or carried anything out; remembers the conditions for the next one."""
    read_conditions(h, r, t, h[O_COND2])
    now = vector(r, h[O_COND2], h[N_COND])
    before = vector(r, h[O_COND], h[N_COND])
    changed = False
    for c in range(h[N_WHEN], h[N_COND]):
        if now[c] != before[c]:
            changed = True
        before[c] = now[c]
    for k in range(h[N_FIRE]):
        if r[h[O_FIRED] + k] != 0.0:
            changed = True
    return changed
