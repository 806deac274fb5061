"""One event: rounds of transitions until nothing changes, with consistent values and sensitivities after every round.

The order of one instant (event iteration of Modelica, chapter 8.6; transitions of Galan, Feehery and Barton 1999):

1. the guards that crossed flip what they decide, time events that are due set their flags;
2. ``when`` conditions that became true set their flags (in a chain the first); what they ask for by ``pre`` is what there was before the round that
   led here. The bodies are carried out on the values before this round, which from now on ``pre`` means;
3. algebraic unknowns and derivatives are made consistent with the differential ones held;
4. every guard is looked at again: clear of zero its sign decides, at zero the side the trajectory leaves to;
5. if anything changed, again from 2.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    C_FLIPS,
    CHATTERING,
    CONFLICT,
    F_BODIES_T,
    FAILED_GUARD,
    FIRST_FIRE,
    I_FLIPPED,
    INITIAL_EVENT,
    MASS_VARIES,
    N_FIRE,
    N_G,
    N_S,
    O_COND2,
    O_FIRED,
    O_M,
    O_Y,
    O_YDOT,
    ROUNDS,
    UNSETTLED,
    N,
    integers,
    vector,
)
from tidegate.events.guards import refresh_activity
from tidegate.events.restart import consistent_point, derivatives, update_mass
from tidegate.events.settle import (
    catch_up,
    compute_bodies,
    conditions_hold,
    drop_of_states,
    fire_branches,
    flip_crossed,
    keep_states,
    look_again,
    note_start,
    read_conditions,
    remember_discrete,
    write_bodies,
)
from tidegate.sensitivity.jump import body_jump, restart_jump

__all__ = ["settle"]

_MOST_ROUNDS: Final = 120


@native
def _consistent(h, r, t, modes_changed):
    """Step 3 of a round: mass matrix, algebraic unknowns, derivatives and their sensitivities."""
    y = vector(r, h[O_Y], h[N])
    if modes_changed and h[MASS_VARIES] == 1:
        update_mass(h, r)
    code = consistent_point(h, r, t, h[O_Y])
    if code == 0:
        code = derivatives(h, r, t, h[O_Y], h[O_YDOT])
    if code == 0 and h[N_S] > 0:
        restart_jump(h, r, t, y)
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
    if ng > 0 and not at_start:
        catch_up(h, r, t)
    flip_crossed(h, r)
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
            changed = write_bodies(h, r)
            due = False
        code = _consistent(h, r, t, modes_changed or changed)
        if code != 0:
            h[ROUNDS] = rounds
            return code
        drop_of_states(h, r)
        modes_changed = False
        if ng > 0:
            changes, culprit = look_again(h, r, t, at_start, counts)
            if culprit >= 0:
                h[FAILED_GUARD] = culprit
                h[ROUNDS] = rounds
                return CHATTERING
            if changes > 0:
                modes_changed = True
                h[C_FLIPS] += changes
        # that ``pre`` has come up to the present matters to conditions only; equations and guards have seen it
        if not (changed or modes_changed or fires) and (not remembered or at_start or conditions_hold(h, r, t)):
            break
    h[ROUNDS] = rounds
    if at_start:
        note_start(h, r, t)
    refresh_activity(h, r)
    return 0
