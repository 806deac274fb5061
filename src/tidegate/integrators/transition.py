"""One event: rounds of transitions until nothing changes, with consistent values and sensitivities after every round.

The order of one instant (event iteration of Modelica, chapter 8.6; transitions of Galan, Feehery and Barton 1999):

1. the guards that crossed, with those that cross at this instant too, flip what they decide, time events that are due set their flags;
2. every other relation follows, as in 5 and 6, before any clause looks; the unknowns are then put back;
3. ``when`` conditions that became true set their flags (in a chain the first); what they ask for by ``pre`` is what there was before the round that
   led here. The bodies are carried out on the values before this round, which from now on ``pre`` means;
4. relations of differential unknowns that are clear of zero are set;
5. algebraic unknowns and derivatives are made consistent with the differential ones held;
6. every guard is looked at again: clear of zero its sign decides, at zero the side the trajectory leaves to; if any changed, again from 5;
7. if anything changed, again from 3.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    C_FLIPS,
    CHATTERING,
    CONFLICT,
    EVENT_CAUSE,
    F_BODIES_T,
    FAILED_GUARD,
    FIRST_FIRE,
    I_FLIPPED,
    INITIAL_EVENT,
    MASS_VARIES,
    N_FIRE,
    N_G,
    N_MODES,
    N_S,
    O_ATOL,
    O_BODY,
    O_COND2,
    O_FIRED,
    O_M,
    O_MTRIAL,
    O_TRIAL,
    O_Y,
    O_YDOT,
    O_YMAX,
    ROUNDS,
    RTOL,
    UNSETTLED,
    ZENO,
    ZENO_TIME,
    N,
    integers,
    vector,
)
from tidegate.events.chatter import goes_on_through
from tidegate.events.crossing import flip_crossed, forget_where_guards_left, note_guards, take_back_replaced
from tidegate.events.guards import refresh_activity
from tidegate.events.restart import consistent_point, derivatives, update_mass
from tidegate.events.settle import (
    compute_bodies,
    conditions_hold,
    drop_of_states,
    fire_branches,
    keep_states,
    note_start,
    read_conditions,
    remember_discrete,
    write_bodies,
)
from tidegate.events.truth import catch_up, look_again, settle_known
from tidegate.sensitivity.jump import body_jump, restart_jump

__all__ = ["settle"]

_MOST_ROUNDS: Final = 120
_MANY: Final = 8  # rounds of clauses that move unknowns: as many at one instant, and
_SHRUNK: Final = 1e-4  # so small a part of what the first of them did, and events accumulate there


@native
def _consistent(h, r, t, modes_changed):
    """Step 5 of a round: mass matrix, algebraic unknowns, derivatives."""
    if modes_changed and h[MASS_VARIES] == 1:
        update_mass(h, r)
    code = consistent_point(h, r, t, h[O_Y])
    return code if code != 0 else derivatives(h, r, t, h[O_Y], h[O_YDOT])


@native
def _keep(r, source, target, size):
    for q in range(size):
        r[target + q] = r[source + q]


@native
def _follow_before_clauses(h, r, t, counts):
    """Step 2: all relations as they follow from those that crossed, with unknowns as before; if that cannot be found out, the certain ones."""
    n = h[N]
    unknowns = h[O_TRIAL] + 5 * n  # from ``note_guards``
    changes = settle_known(h, r, t)
    _keep(r, h[O_M], h[O_MTRIAL], h[N_MODES])
    found = 0
    for _ in range(_MOST_ROUNDS):
        take_back_replaced(h, r, t)
        if _consistent(h, r, t, True) != 0:
            found = -1
            break
        changed, culprit = look_again(h, r, t, False, counts, True)
        found += changed
        if culprit >= 0:
            found = -1
        if changed == 0 or culprit >= 0:
            break
    if found < 0:
        # the equations may make sense only after what clauses do
        _keep(r, h[O_MTRIAL], h[O_M], h[N_MODES])
        found = 0
    _keep(r, unknowns, h[O_Y], n)
    if h[MASS_VARIES] == 1:
        update_mass(h, r)
    h[C_FLIPS] += changes + found


@native
def _follow(h, r, t, modes_changed, at_start, counts):
    """Steps 4 to 6: everything that follows from y and the discrete variables; (reason of failure, whether a mode changed)."""
    n = h[N]
    y = vector(r, h[O_Y], n)
    # later passes are left to guards with their slopes, which have the last word
    changes = settle_known(h, r, t) if h[N_G] > 0 else 0
    any_changed = changes > 0
    h[C_FLIPS] += changes
    for _ in range(_MOST_ROUNDS):
        _keep(r, h[O_Y], h[O_TRIAL] + 6 * n, n)
        code = _consistent(h, r, t, modes_changed or changes > 0)
        if code != 0:
            return code, any_changed
        if h[N_S] > 0:
            restart_jump(h, r, t, y, h[O_TRIAL] + 6 * n)
        if h[N_G] > 0:
            more, culprit = look_again(h, r, t, at_start, counts, False)
            if culprit >= 0:
                h[FAILED_GUARD] = culprit
                return CHATTERING, True
            h[C_FLIPS] += more
            any_changed = any_changed or more > 0
            modes_changed = more > 0
            changes = 0
        else:
            modes_changed = False
        if not modes_changed:
            return 0, any_changed
    return UNSETTLED, any_changed


@native
def _kick(h, r):
    """How far bodies move the unknowns, as a part of their sizes."""
    most = 0.0
    for q in range(h[N]):
        size = max(r[h[O_YMAX] + q], r[h[O_ATOL] + q] / r[RTOL])
        most = max(most, abs(r[h[O_BODY] + q] - r[h[O_Y] + q]) / size)
    return most


@native
def _without_end(h, r, t, code, first_kick, kick):
    """The reason of failure, where rounds do not end: events accumulate if each does less than the one before."""
    if 0.0 < kick < _SHRUNK * first_kick:
        r[ZENO_TIME] = t
        if h[EVENT_CAUSE] >= 0:
            h[FAILED_GUARD] = h[EVENT_CAUSE]
        return ZENO
    return code


@unit(NUMBER, WHOLE)
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
    if ng > 0:
        forget_where_guards_left(h, r)
        before_clauses = not at_start and h[N_FIRE] > 0
        if not at_start:
            catch_up(h, r, t)
        if before_clauses:
            note_guards(h, r, t)
        flip_crossed(h, r, t)
        if before_clauses:
            _follow_before_clauses(h, r, t, counts)
            for j in range(ng):
                counts[j] = 0
    due = False
    for k in range(h[N_FIRE]):
        due = due or r[h[O_M] + h[FIRST_FIRE] + k] != 0.0
    modes_changed = True
    rounds = 0
    first_kick = 0.0
    kick = 0.0
    kicks = 0
    while True:
        rounds += 1
        if rounds > _MOST_ROUNDS:
            h[ROUNDS] = rounds
            return _without_end(h, r, t, UNSETTLED, first_kick, kick)
        read_conditions(h, r, t, h[O_COND2])
        fires = fire_branches(h, r) if not at_start else False
        remembered = remember_discrete(h, r)
        keep_states(h, r)
        changed = False
        if fires or due:
            if not compute_bodies(h, r, t):
                h[ROUNDS] = rounds
                return CONFLICT
            if h[N_S] > 0 and h[F_BODIES_T] != 0:
                body_jump(h, r, t, vector(r, h[O_Y], h[N]))
            kick = _kick(h, r)
            first_kick = max(first_kick, kick)
            kicks += 1 if kick > 0.0 else 0
            if kick > 0.0:
                # what guards made of themselves before has come to nothing
                forget_where_guards_left(h, r)
                for j in range(ng):
                    counts[j] = 0
            changed = write_bodies(h, r)
            due = False
        drop_of_states(h, r)
        code, modes_changed = _follow(h, r, t, modes_changed or changed, at_start, counts)
        if code != 0:
            h[ROUNDS] = rounds
            return _without_end(h, r, t, code, first_kick, kick) if code == CHATTERING else code
        if not at_start and h[N_FIRE] > 0 and goes_on_through(h, r):
            h[ROUNDS] = rounds
            return ZENO
        # that ``pre`` has come up to the present matters to conditions only; equations and guards have seen it
        if not (changed or modes_changed or fires) and (not remembered or at_start or conditions_hold(h, r, t)):
            break
    h[ROUNDS] = rounds
    if kicks > _MANY and kick < _SHRUNK * first_kick:
        return _without_end(h, r, t, 0, first_kick, kick)
    if at_start:
        note_start(h, r, t)
    refresh_activity(h, r)
    return 0
