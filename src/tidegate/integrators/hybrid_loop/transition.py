"""One event: rounds of transitions until nothing changes, with consistent values and sensitivities after every round.

The order of one instant (event iteration of Modelica, chapter 8.6; transitions of Galan, Feehery and Barton 1999):

1. the guards that crossed, with those that cross at this instant too, flip what they decide, time events that are due set their flags;
2. every other relation follows, as in 5 and 6, before any clause looks; the unknowns are then put back;
3. ``when`` conditions that became true set their flags (in a chain the first); what they ask for by ``pre`` is what there was before the round that
   led here. Relations that only seem to change until then have not changed (``events.undone``). The bodies are carried out on the values before this
   round, which from now on ``pre`` means;
4. relations of differential unknowns that are clear of zero are set;
5. algebraic unknowns and derivatives are made consistent with the differential ones held;
6. every guard is looked at again: clear of zero its sign decides, at zero the side the trajectory leaves to; if any changed, again from 5. A mode
   that would force states is only passed through: its relations say which comes next (``events.posterior``), and the states stay as they are.
   A state that rests at a zero is put there exactly, and guards are looked at once more.
   If they say that it holds, it ties states, which is integrated if it can be (``events.constrain``);
7. if anything changed, again from 3.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import CHATTERING, CONFLICT, INITIAL_EVENT, NOT_FINITE, SINGULAR, UNSETTLED, ZENO
from tidegate.events.chatter import goes_on_through
from tidegate.events.constrain import constrain
from tidegate.events.crossing import flip_crossed, forget_where_guards_left, keep_crossed, note_guards, take_back_replaced
from tidegate.events.exactly_at_zero import is_put_exactly_at_zero, say_what_is_written
from tidegate.events.guards import refresh_activity
from tidegate.events.not_tied import NONE_FOUND, NONE_HOLDS, NOTHING, WITH_SENSITIVITIES
from tidegate.events.on_its_side import put_on_its_side
from tidegate.events.other_modes import GAVE_UP, find_mode, find_mode_ahead
from tidegate.events.posterior import look_past
from tidegate.events.restart import consistent_point, derivatives
from tidegate.events.resting import forget_resting, note_resting
from tidegate.events.settle import (
    carry_out_branches,
    clauses_are_due,
    compute_bodies,
    conditions_hold,
    drop_of_states,
    keep_relations,
    keep_states,
    note_start,
    read_conditions,
    remember_discrete,
    write_bodies,
)
from tidegate.events.truth import catch_up, look_again, settle_known
from tidegate.events.undone import note_guards_of_round, note_modes_of_round, take_back_undone
from tidegate.integrators.hybrid_loop.just_behind import rates_just_behind
from tidegate.linear.forced import let_go
from tidegate.linear.mass import update_mass
from tidegate.sensitivity.jump import body_jump, restart_jump
from tidegate.sensitivity.ties import ties_are_differentiable, ties_hold

__all__ = ["settle"]

_MOST_ROUNDS: Final = 120
_ALL_AT_ONCE: Final = 12  # passes in which all relations follow together; then, since they may go round in a circle, one after the other (Murty 1974)
_MANY: Final = 8  # rounds of clauses that move unknowns: as many at one instant, and
_SHRUNK: Final = 1e-4  # so small a part of what the first of them did, and events accumulate there


@native
def _begin_anew(run, counts):
    """What guards made of themselves before at this instant has come to nothing."""
    forget_where_guards_left(run)
    for j in range(run.n_guards):
        counts[j] = 0


@native
def _solved(run, t):
    code = consistent_point(run, t, run.y_at)
    if code == 0:
        code = derivatives(run, t, run.y_at, run.ydot_at)
        if code == NOT_FINITE:
            code = rates_just_behind(run, t)
    return code


@native
def _consistent(run, t, modes_changed):
    """Step 5 of a round: mass matrix, algebraic unknowns, derivatives."""
    if modes_changed and run.mass_varies == 1:
        update_mass(run)
    code = _solved(run, t)
    return _solved(run, t) if code != 0 and run.n_guards > 0 and put_on_its_side(run, t, 0) > 0 else code


@native
def _keep(run, source, target, size):
    for q in range(size):
        run.r[target + q] = run.r[source + q]


@native
def _look(run, t, at_start, counts, before_clauses, modes_changed, only_first):
    """Steps 5 and 6: consistent values in this mode, and what relations say of them; (reason of failure, number of changes, guard that chatters)."""
    n = run.n
    _keep(run, run.y_at, run.y_unsolved_at, n)
    _keep(run, run.size_before_at, run.y_max_at, n)
    let_go(run)
    run.not_forced_why = NOTHING
    code = _consistent(run, t, modes_changed)
    if code != 0 and run.rank < n:
        _keep(run, run.y_unsolved_at, run.y_at, n)
        changes = look_past(run, t, 1 if only_first else 0)
        if changes < 0:
            changes = find_mode(run, t)
            run.not_forced_why = NONE_FOUND if changes == GAVE_UP else NONE_HOLDS if changes < 0 else NOTHING
        if changes > 0:
            return 0, changes, -1
        if changes == 0:
            # the mode says of itself that it holds
            run.not_forced_why = constrain(run, t)
            if run.not_forced_why == NOTHING:
                code = _consistent(run, t, False)
            if code == 0 and run.n_sens > 0 and ties_are_differentiable(run, t) == 0:
                let_go(run)
                run.not_forced_why = WITH_SENSITIVITIES
                return SINGULAR, 0, -1
    if code == 0:
        if run.n_sens > 0 and not before_clauses:
            restart_jump(run, t, run.y_unsolved_at)
            if run.n_forced > 0 and ties_hold(run, t) == 0:
                run.not_forced_why = WITH_SENSITIVITIES
                return SINGULAR, 0, -1
        if run.n_guards == 0:
            return 0, 0, -1
        changes, culprit = look_again(run, t, at_start, counts, before_clauses, only_first)
        return 0, changes, culprit
    return code, 0, -1


@native
def _follow_before_clauses(run, t, counts):
    """Step 2: all relations as they follow from those that crossed, with unknowns as before; if that cannot be found out, the certain ones."""
    n = run.n
    changes = settle_known(run, t)
    _keep(run, run.m_at, run.m_trial_at, run.n_modes)
    found = 0
    for k in range(_MOST_ROUNDS):
        take_back_replaced(run, t)
        code, changed, culprit = _look(run, t, False, counts, True, True, k >= _ALL_AT_ONCE)
        if code != 0:
            found = -1
            break
        found += changed
        if culprit >= 0:
            found = -1
        if culprit >= 0 or (changed == 0 and not is_put_exactly_at_zero(run, t)):
            break
    if found < 0:
        # the equations may make sense only after what clauses do
        _keep(run, run.m_trial_at, run.m_at, run.n_modes)
        found = 0
        let_go(run)
    _keep(run, run.noted_y_at, run.y_at, n)  # from ``note_guards``
    run.is_exact = 0
    if run.mass_varies == 1:
        update_mass(run)
    run.c_flips += changes + found


@native
def _rounds(run, t, modes_changed, at_start, counts, at_once):
    """Consistent values and what relations say of them, until no mode changes; (reason of failure, whether one changed).

    From the pass ``at_once`` on relations follow one after the other.
    """
    any_changed = False
    for k in range(_MOST_ROUNDS):
        code, more, culprit = _look(run, t, at_start, counts, False, modes_changed, k >= at_once)
        if code != 0:
            return code, any_changed
        if culprit >= 0:
            run.failed_guard = culprit
            return CHATTERING, True
        run.c_flips += more
        any_changed = any_changed or more > 0
        modes_changed = more > 0
        if not modes_changed and (run.n_guards == 0 or not is_put_exactly_at_zero(run, t)):
            return 0, any_changed
    return UNSETTLED, any_changed


@native
def _follow(run, t, modes_changed, at_start, counts):
    """Steps 4 to 6: everything that follows from y and the discrete variables; (reason of failure, whether a mode changed)."""
    # later passes are left to guards with their slopes, which have the last word
    changes = settle_known(run, t) if run.n_guards > 0 else 0
    run.c_flips += changes
    _keep(run, run.m_at, run.m_trial_at, run.n_modes)
    code, any_changed = _rounds(run, t, modes_changed or changes > 0, at_start, counts, _ALL_AT_ONCE)
    if code == CHATTERING:
        # abs(x) > 0, where x passes zero, was looked at before abs(x) had turned round: once more, what others are made of first
        _keep(run, run.m_trial_at, run.m_at, run.n_modes)
        _begin_anew(run, counts)
        code, any_changed = _rounds(run, t, True, at_start, counts, 0)
    if code in (CHATTERING, UNSETTLED) and find_mode_ahead(run, t) == 1:
        for j in range(run.n_guards):
            counts[j] = 0
        code, _ = _rounds(run, t, True, at_start, counts, _ALL_AT_ONCE)
        any_changed = True
    if code == CHATTERING and not at_start:
        # several that come to rest at one instant, as sign(x) and sign(z): one after the other they drive each other round in a circle
        _keep(run, run.m_trial_at, run.m_at, run.n_modes)
        _begin_anew(run, counts)
        if say_what_is_written(run, t) == 1:
            code, _ = _rounds(run, t, True, at_start, counts, _ALL_AT_ONCE)
            any_changed = True
    return code, any_changed or changes > 0


@native
def _kick(run):
    """How far bodies move the unknowns, as a part of their sizes."""
    most = 0.0
    for q in range(run.n):
        size = max(run.y_max[q], run.atol[q] / run.rtol)
        most = max(most, abs(run.body[q] - run.y[q]) / size)
    return most


@native
def _without_end(run, t, code, first_kick, kick):
    """The reason of failure, where rounds do not end: events accumulate if each does less than the one before."""
    if 0.0 < kick < _SHRUNK * first_kick:
        run.zeno_time = t
        if run.event_cause >= 0:
            run.failed_guard = run.event_cause
        return ZENO
    return code


@kernel_entry(NUMBER, INTEGER)
def settle(run, t, kind):
    """Carry out one event at the current point; sigma and tau' must be set where sensitivities are asked for.

    Returns 0, or the reason of failure.
    """
    ng = run.n_guards
    at_start = kind == INITIAL_EVENT
    counts = run.flip_counts
    _keep(run, run.y_max_at, run.size_before_at, run.n)
    for j in range(ng):
        counts[j] = 0
    for k in range(run.n_actions):
        run.fired[k] = 0.0
    before_clauses = ng > 0 and not at_start and run.n_actions > 0
    may_be_undone = before_clauses and run.n_discrete > 0 and run.has_acts == 0
    if ng > 0:
        forget_where_guards_left(run)
        if at_start:
            forget_resting(run)
            call_value(run.f_guards, t, run.y, run.p, run.m, run.g)
        else:
            catch_up(run, t)
            note_resting(run, t)
        if before_clauses:
            note_guards(run, t)
            note_modes_of_round(run)
        flip_crossed(run)
        if before_clauses:
            _follow_before_clauses(run, t, counts)
            for j in range(ng):
                counts[j] = 0
            keep_crossed(run)
    due = clauses_are_due(run)
    modes_changed = True
    rounds = 0
    first_kick = 0.0
    kick = 0.0
    kicks = 0
    while True:
        rounds += 1
        if rounds > _MOST_ROUNDS:
            run.rounds = rounds
            return _without_end(run, t, UNSETTLED, first_kick, kick)
        read_conditions(run, t, run.conditions_now_at)
        if may_be_undone:
            take_back_undone(run, t)
        event_actions = carry_out_branches(run) if not at_start else False
        remembered = remember_discrete(run)
        keep_states(run)
        changed = False
        if may_be_undone:
            note_guards_of_round(run, t)
        if event_actions or due:
            if not compute_bodies(run, t):
                run.rounds = rounds
                return CONFLICT
            if run.n_sens > 0 and run.f_bodies_tangent != 0:
                body_jump(run, t)
            kick = _kick(run)
            first_kick = max(first_kick, kick)
            kicks += 1 if kick > 0.0 else 0
            if kick > 0.0:
                _begin_anew(run, counts)
            changed = write_bodies(run)
            due = False
        drop_of_states(run)
        code, modes_changed = _follow(run, t, modes_changed or changed, at_start, counts)
        if code != 0:
            run.rounds = rounds
            return _without_end(run, t, code, first_kick, kick) if code == CHATTERING else code
        if not at_start and run.n_actions > 0 and goes_on_through(run, t):
            run.rounds = rounds
            return ZENO
        # that ``pre`` has come up to the present matters to conditions only; equations and guards have seen it
        if not (changed or modes_changed or event_actions) and (not remembered or at_start or conditions_hold(run, t)):
            break
    run.rounds = rounds
    if kicks > _MANY and kick < _SHRUNK * first_kick:
        return _without_end(run, t, 0, first_kick, kick)
    if at_start:
        keep_relations(run, t)
        note_start(run, t)
    refresh_activity(run)
    return 0
