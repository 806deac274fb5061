"""Several runs of one smooth model side by side natively: a step of Taylor's method is taken of ``MEMBERS`` of them at once.

Each run has a memory of its own, and whatever is not a smooth step is done in it as for one run alone. Where the steps ahead are smooth ones, what
these need is put into one lane of a memory in which numbers of different runs stand side by side (``compiled.emit_taylor.emit_members``), until
something else is to be done. A run that is over makes room for the next. So every run is what it would have been alone, to the last bit.

In goes a plan as ``hybrid_loop.several`` has it, with places behind it. Rows and log of a lane are those of one run behind the other; whose they are
is told by blocks, in the order in which they were written.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_member, call_members
from tidegate.compiled.emit_taylor.step_box import FIRST_LEAST, MEMBERS, Box
from tidegate.compiled.jit import INTEGERS, kernel_entry, native
from tidegate.compiled.pointers import integers_at, pointer, run_at
from tidegate.compiled.workspace import LIMIT, TARGET, integers, tail, vector
from tidegate.events.own_size import renew_tolerances
from tidegate.events.tolerances import SAME_TIME
from tidegate.integrators.hybrid_loop.loop import advance, begin
from tidegate.integrators.hybrid_loop.several import LEAST_ROOM, give_room, prepare, tell
from tidegate.integrators.plan_places import (
    AT_BLOCKS,
    AT_H,
    AT_LANES,
    AT_POLYNOMIALS,
    AT_R,
    AT_SLOTS,
    AT_TIMES,
    AT_TOLD,
    BLOCK_LOG,
    BLOCK_ROWS,
    COUNT,
    F_MEMBER,
    F_STEP,
    FILLED_LOG,
    FILLED_ROWS,
    IN_VAIN,
    IS_SMOOTH,
    LANE,
    LOGGED,
    MEMBER,
    MOST_STEPS,
    N_BLOCK,
    N_BLOCKS,
    N_OF_UNKNOWNS,
    N_PLAN,
    N_SINGLE,
    N_SLOT,
    N_TOLD,
    NEXT,
    NOBODY,
    NUMBER,
    OWNER,
    ROOM_BLOCKS,
    ROOM_LOG,
    ROOM_ROWS,
    ROWS,
    SLOT_LOG,
    SLOT_ROWS,
    STEPS_LEFT,
    TOLD_LOG,
    TOLD_ROWS,
    UNDER_WAY,
    WIDE_BOX,
    WIDE_OUT,
)
from tidegate.integrators.taylor.far_guards import at_guards, guards_are_far, may_be_far, note_farthest
from tidegate.integrators.taylor.smooth import goes_smoothly, next_stop, note_smooth_step, writes_asked
from tidegate.integrators.taylor.step import FAR, choose_order, put_least, put_limits

__all__ = ["run_members"]

# Of the memory in which numbers stand side by side: first what is one number of a run, then what is one of each unknown, then the box, the series,
# the polynomial, how far each guard has been from its zero, and what first coefficients need.
_TIME, _START, _PROPOSED, _LONGEST, _STOP, _LENGTH, _TAKEN, _MOST, _ASKED, _IS_IN, _ACCEPTED, _GROWN = range(N_SINGLE)
_Y, _END, _RATE, _SLOPE, _SIZE, _LARGEST = range(N_OF_UNKNOWNS)
_FEW: Final = 2  # runs that are left: they are taken to their ends one by one
_WORTH_WHILE: Final = 2.0  # steps up to where something else is to be done
_MOST_IN_VAIN: Final = 4  # times in a row that the first step beside others was none; each makes twice as many that a run goes alone then
_NEAR: Final = 2.0 * SAME_TIME
_BYTES: Final = 8
_OF_CAUTION, _OF_FIT, _OF_IDLE, _UNTIL = int(Box.CAUTION), int(Box.FIT), int(Box.IDLE), int(Box.UNTIL)
_POSSIBLE, _STEP, _IS_IDLE, _IS_CLEAR, _IS_LONG, _REACH, _IS_FAR = (
    int(Box.POSSIBLE), int(Box.STEP), int(Box.IS_IDLE), int(Box.IS_CLEAR), int(Box.IS_LONG), int(Box.REACH), int(Box.IS_FAR),
)  # fmt: skip


@native
def _slot(plan, lane):
    return integers(integers_at(plan[AT_SLOTS]), lane * N_SLOT, N_SLOT)


@native
def _run_of(slot):
    return run_at(integers_at(slot[AT_H]), pointer(slot[AT_R]))


@native
def _part(plan, first, count):
    """Of the memory in which numbers stand side by side: so many of each run."""
    return vector(pointer(plan[AT_LANES]), first * MEMBERS, count * MEMBERS)


@native
def _single(plan, which):
    """What is one number of a run."""
    return vector(pointer(plan[AT_LANES]), which * MEMBERS, MEMBERS)


@native
def _of_unknowns(plan, n, which):
    """What is a number of each unknown.

    _Y, its _END in the step ahead, its _RATE there, its _SLOPE now, the _SIZE beyond which somebody is to look, the _LARGEST so far.
    """
    return _part(plan, N_SINGLE + which * n, n)


@native
def _box(plan, n):
    return _part(plan, N_SINGLE + N_OF_UNKNOWNS * n, plan[WIDE_BOX])


@native
def _first_of_series(plan, n):
    return N_SINGLE + N_OF_UNKNOWNS * n + plan[WIDE_BOX]


@native
def _series(plan, n):
    return _part(plan, _first_of_series(plan, n), plan[WIDE_OUT])


@native
def _polynomial(plan, n, order):
    return _part(plan, _first_of_series(plan, n) + plan[WIDE_OUT], order * n)


@native
def _farthest(plan, model):
    """How far each guard that is watched has been from its zero beside others."""
    n = model.n
    return _part(plan, _first_of_series(plan, n) + plan[WIDE_OUT] + model.full_order * n, model.n_far)


@native
def _scratch(plan, model):
    n = model.n
    return _part(plan, _first_of_series(plan, n) + plan[WIDE_OUT] + model.full_order * n + model.n_far, 1)


@native
def _where(plan):
    """Addresses of parameters, then of what is constant between events."""
    return integers(integers_at(plan[AT_SLOTS]), MEMBERS * N_SLOT, 2 * MEMBERS)


@native
def _lane_of(plan, first, lane):
    """What is behind a number of one run."""
    return tail(pointer(plan[AT_LANES]), first * MEMBERS + lane)


@native
def _note(run, slot, told):
    """What has been written down since room was given."""
    slot[FILLED_ROWS] += run.n_rows
    slot[FILLED_LOG] += run.n_logged
    told[ROWS] += run.n_rows
    told[LOGGED] += run.n_logged


@native
def _close_block(plan, slot):
    """Say whose the records are that were written since the last block."""
    rows = slot[FILLED_ROWS] - slot[TOLD_ROWS]
    log = slot[FILLED_LOG] - slot[TOLD_LOG]
    if rows > 0 or log > 0:
        block = integers(integers_at(plan[AT_BLOCKS]), plan[N_BLOCKS] * N_BLOCK, N_BLOCK)
        block[OWNER] = slot[MEMBER]
        block[LANE] = slot[NUMBER]
        block[BLOCK_ROWS] = rows
        block[BLOCK_LOG] = log
        plan[N_BLOCKS] += 1
    slot[TOLD_ROWS] = slot[FILLED_ROWS]
    slot[TOLD_LOG] = slot[FILLED_LOG]


@native
def _is_full(plan, slot, least):
    return plan[ROOM_ROWS] - slot[FILLED_ROWS] < least or plan[ROOM_LOG] - slot[FILLED_LOG] < least


@native
def _go_on(plan, slot, is_new, budget):
    """A run alone, for at most so many steps from where it stands; True if it is over."""
    run = _run_of(slot)
    told = vector(pointer(plan[AT_TOLD]), slot[MEMBER] * N_TOLD, N_TOLD)
    give_room(run, plan[ROOM_ROWS] - slot[FILLED_ROWS], plan[ROOM_LOG] - slot[FILLED_LOG])
    rows = pointer(slot[SLOT_ROWS] + _BYTES * slot[FILLED_ROWS] * run.wide_rows)
    log = pointer(slot[SLOT_LOG] + _BYTES * slot[FILLED_LOG] * run.wide_log)
    times = pointer(plan[AT_TIMES])
    code = LIMIT
    if is_new:
        code = begin(run, rows, log, times)
        if code == 0:
            code = LIMIT
    else:
        before = run.c_steps
        run.budget = min(budget, plan[MOST_STEPS] - run.c_steps)
        code = advance(run, rows, log, pointer(plan[AT_POLYNOMIALS]), times)
        plan[STEPS_LEFT] -= 1 + run.c_steps - before
    _note(run, slot, told)
    if code == LIMIT and (is_new or run.c_steps < plan[MOST_STEPS]):
        return False
    tell(run, told, code)
    _close_block(plan, slot)
    slot[MEMBER] = NOBODY
    plan[UNDER_WAY] -= 1
    return True


@native
def _may_go_beside_others(run, plan):
    """True if the steps ahead are likely to be smooth ones, and more than one."""
    plain = run.hook_smooth != 0 and run.wants_step_rows == 0 and run.keeps_polynomials == 0 and run.phase == 0
    if not plain or run.is_terminated == 1 or run.c_steps + 1 >= plan[MOST_STEPS] or not goes_smoothly(run):
        return False
    choose_order(run)
    is_free = run.f_step == run.f_step_full and run.t + _WORTH_WHILE * min(run.step_new, run.step_max) < next_stop(run)
    return is_free and may_be_far(run)


@native
def _put_tolerances(run, plan, lane):
    """What steps are measured by, into the lane."""
    n = run.n
    box = _box(plan, n)
    size, largest = _of_unknowns(plan, n, _SIZE), _of_unknowns(plan, n, _LARGEST)
    for q in range(n):
        k = q * MEMBERS + lane
        box[FIRST_LEAST * MEMBERS + k] = run.series_box[FIRST_LEAST + q]
        size[k] = run.y_max[q] if run.goes_by_size == 1 else run.far_size[q] if run.n_far > 0 else np.inf
        largest[k] = run.y_max[q]
    first = at_guards(n)
    for i in range(run.n_far):
        box[(first + i) * MEMBERS + lane] = run.series_box[first + i]


@native
def _next_asked(run, plan):
    """The next time that somebody has asked for, or what rounding may take for it; infinite if there is none."""
    if run.next_output >= run.n_asked:
        return np.inf
    when = vector(pointer(plan[AT_TIMES]), 0, run.n_asked)[run.next_output]
    return when - _NEAR * max(abs(run.t), abs(when), run.time_size)


@native
def _writes_asked(run, plan, slot, lane):
    """Write the rows that somebody has asked for inside the step ahead of a lane; False if that is left to the loop."""
    n, order = run.n, run.full_order
    y, a = _of_unknowns(plan, n, _Y), _polynomial(plan, n, order)
    for q in range(n):
        run.y[q] = y[q * MEMBERS + lane]
    coefficients = vector(run.r, run.coefficients_at, order * n)
    for k in range(order * n):
        coefficients[k] = a[k * MEMBERS + lane]
    run.t = _single(plan, _TIME)[lane]
    run.step = _box(plan, n)[_STEP * MEMBERS + lane]
    give_room(run, plan[ROOM_ROWS] - slot[FILLED_ROWS], plan[ROOM_LOG] - slot[FILLED_LOG])
    rows = pointer(slot[SLOT_ROWS] + _BYTES * slot[FILLED_ROWS] * run.wide_rows)
    are_written = writes_asked(run, rows, vector(pointer(plan[AT_TIMES]), 0, run.n_asked), run.t + run.step)
    _note(run, slot, vector(pointer(plan[AT_TOLD]), slot[MEMBER] * N_TOLD, N_TOLD))
    _single(plan, _ASKED)[lane] = _next_asked(run, plan)
    return are_written


@native
def _enter(run, plan, slot, lane):
    """Put a run into its lane."""
    n = run.n
    if run.goes_by_size == 1:
        put_least(run)
    stop = next_stop(run)
    # the loop takes an end that is the same time for the time itself
    near = _NEAR * max(abs(run.t), abs(stop), run.time_size)
    _single(plan, _TIME)[lane] = run.t
    _single(plan, _START)[lane] = run.t_start
    _single(plan, _PROPOSED)[lane] = run.step_new
    _single(plan, _LONGEST)[lane] = run.step_max
    _single(plan, _STOP)[lane] = stop - near
    _single(plan, _TAKEN)[lane] = 0.0
    _single(plan, _MOST)[lane] = plan[MOST_STEPS] - run.c_steps - 1
    _single(plan, _ASKED)[lane] = _next_asked(run, plan)
    _single(plan, _IS_IN)[lane] = 1.0
    y = _of_unknowns(plan, n, _Y)
    for q in range(n):
        y[q * MEMBERS + lane] = run.y[q]
    box = _box(plan, n)
    box[_OF_CAUTION * MEMBERS + lane] = run.series_box[_OF_CAUTION]
    box[_OF_FIT * MEMBERS + lane] = run.series_box[_OF_FIT]
    box[_OF_IDLE * MEMBERS + lane] = run.series_box[_OF_IDLE]
    box[_UNTIL * MEMBERS + lane] = run.t_next
    _put_tolerances(run, plan, lane)
    farthest = _farthest(plan, run)
    for i in range(run.n_far):
        farthest[i * MEMBERS + lane] = 0.0
    first, out = _lane_of(plan, N_SINGLE, lane), _lane_of(plan, _first_of_series(plan, n), lane)
    call_member(plan[F_MEMBER], run.t, first, run.p, run.m, out, _scratch(plan, run))
    slot[IS_SMOOTH] = 1


@native
def _note_what_is_largest(run, plan, n, lane):
    """What the search for events notes of unknowns."""
    if run.n_far > 0:
        largest = _of_unknowns(plan, n, _LARGEST)
        for q in range(n):
            run.y_max[q] = largest[q * MEMBERS + lane]


@native
def _leave(run, plan, slot, lane):
    """Take a run out of its lane."""
    slot[IS_SMOOTH] = 0
    _single(plan, _IS_IN)[lane] = 0.0
    n = run.n
    taken = int(_single(plan, _TAKEN)[lane])
    if taken == 0:
        return
    y, slope = _of_unknowns(plan, n, _Y), _of_unknowns(plan, n, _SLOPE)
    for q in range(n):
        run.y[q] = y[q * MEMBERS + lane]
        run.f0[q] = slope[q * MEMBERS + lane]
    _note_what_is_largest(run, plan, n, lane)
    if run.n_far > 0:
        note_farthest(run, _farthest(plan, run), lane, MEMBERS)
    run.is_started = 0
    run.c_steps += taken
    run.c_rhs += 2 * taken
    run.crept_steps = max(run.crept_steps - taken + 1, 0)
    run.step = _single(plan, _LENGTH)[lane]
    run.possible = _single(plan, _PROPOSED)[lane]
    note_smooth_step(run, _single(plan, _TIME)[lane])


@native
def _renew(run, plan, n, lane):
    """What goes by sizes, where an unknown is larger than ever before; False if a guard may be near then."""
    y = _of_unknowns(plan, n, _Y)
    is_larger = False
    for q in range(n):
        run.y[q] = y[q * MEMBERS + lane]
        is_larger = is_larger or abs(run.y[q]) > run.far_size[q]
    _note_what_is_largest(run, plan, n, lane)
    goes_on = True
    if run.n_far > 0 and is_larger:
        run.t = _single(plan, _TIME)[lane]
        goes_on = guards_are_far(run) == 1
    if run.goes_by_size == 1:
        renew_tolerances(run, 0)
        put_least(run)
    _put_tolerances(run, plan, lane)
    return goes_on


@native
def _make_ready(plan, lane):
    """Go on with the run of a lane until it may go beside others; False if there is none, or somebody is to look."""
    slot = _slot(plan, lane)
    while True:
        if slot[IS_SMOOTH] == 1:
            return True
        if slot[MEMBER] == NOBODY:
            if plan[NEXT] >= plan[COUNT] or _is_full(plan, slot, LEAST_ROOM):
                return False
            prepare(_run_of(slot), plan)
            slot[MEMBER] = plan[NEXT]
            slot[IN_VAIN] = 0
            plan[NEXT] += 1
            plan[UNDER_WAY] += 1
            if _go_on(plan, slot, True, 0):
                continue
        if plan[STEPS_LEFT] <= 0 or plan[N_BLOCKS] + 3 * MEMBERS >= plan[ROOM_BLOCKS] or _is_full(plan, slot, LEAST_ROOM):
            return False
        run = _run_of(slot)
        is_last = plan[NEXT] >= plan[COUNT] and plan[UNDER_WAY] <= _FEW
        if not is_last and _may_go_beside_others(run, plan):
            _enter(run, plan, slot, lane)
            return True
        _go_on(plan, slot, False, plan[STEPS_LEFT] if is_last else 1)


@native
def _put_limits(plan, n):
    """What limits the step ahead of all runs."""
    t, start, proposed, longest = _single(plan, _TIME), _single(plan, _START), _single(plan, _PROPOSED), _single(plan, _LONGEST)
    box, unit = _box(plan, n), _single(plan, _first_of_series(plan, n))
    for lane in range(MEMBERS):
        unit[lane] = min(proposed[lane], longest[lane])
        put_limits(t[lane], start[lane], unit[lane], longest[lane], box, MEMBERS, lane)


@native
def _accept(plan, model, good, watches_nothing, is_watched):
    """Make the ends of steps the current points, where they are what the loop would do; how many steps it were."""
    t, proposed, length, taken = _single(plan, _TIME), _single(plan, _PROPOSED), _single(plan, _LENGTH), _single(plan, _TAKEN)
    stop, is_in, accepted, grown = _single(plan, _STOP), _single(plan, _IS_IN), _single(plan, _ACCEPTED), _single(plan, _GROWN)
    asked = _single(plan, _ASKED)
    n, n_far = model.n, model.n_far
    box = _box(plan, n)
    count = 0.0
    for lane in range(MEMBERS):
        step = box[_STEP * MEMBERS + lane]
        plain = box[_IS_IDLE * MEMBERS + lane] == 0.0 and box[_IS_LONG * MEMBERS + lane] == 0.0 and box[_REACH * MEMBERS + lane] <= FAR
        clear = watches_nothing or (is_watched and box[_IS_CLEAR * MEMBERS + lane] != 0.0)
        clear = clear and (n_far == 0 or box[_IS_FAR * MEMBERS + lane] != 0.0)
        is_good = (good >> lane) & 1 == 1 and is_in[lane] != 0.0 and plain and clear and t[lane] + step < stop[lane]
        if is_good and not t[lane] + step < asked[lane]:
            slot = _slot(plan, lane)
            is_good = _writes_asked(_run_of(slot), plan, slot, lane)
        one = 1.0 if is_good else 0.0
        accepted[lane] = one
        grown[lane] = 0.0
        t[lane] = t[lane] + step if is_good else t[lane]
        length[lane] = step if is_good else length[lane]
        proposed[lane] = box[_POSSIBLE * MEMBERS + lane] if is_good else proposed[lane]
        taken[lane] += one
        count += one
    y, end, rate = _of_unknowns(plan, n, _Y), _of_unknowns(plan, n, _END), _of_unknowns(plan, n, _RATE)
    slope, size, largest = _of_unknowns(plan, n, _SLOPE), _of_unknowns(plan, n, _SIZE), _of_unknowns(plan, n, _LARGEST)
    for q in range(n):
        for lane in range(MEMBERS):
            k = q * MEMBERS + lane
            is_good = accepted[lane] != 0.0
            y[k] = end[k] if is_good else y[k]
            slope[k] = rate[k] if is_good else slope[k]
            grown[lane] = 1.0 if is_good and abs(end[k]) > size[k] else grown[lane]
            largest[k] = max(largest[k], abs(end[k])) if is_good else largest[k]
    farthest = _farthest(plan, model)
    first = (at_guards(n) + n_far) * MEMBERS
    for k in range(n_far * MEMBERS):
        farthest[k] = max(farthest[k], box[first + k]) if accepted[k % MEMBERS] != 0.0 else farthest[k]
    return int(count)


@native
def _take_steps(plan, model):
    """Steps of all that are in their lanes, until one of these has something else to do; ``model`` is a run of the same model."""
    n, order = model.n, model.full_order
    watches_nothing, is_watched = model.n_peaks == 0, model.n_watched == model.n_quotients
    t, proposed, stop = _single(plan, _TIME), _single(plan, _PROPOSED), _single(plan, _STOP)
    taken, most = _single(plan, _TAKEN), _single(plan, _MOST)
    is_in, accepted, grown = _single(plan, _IS_IN), _single(plan, _ACCEPTED), _single(plan, _GROWN)
    leaves = False
    while True:
        _put_limits(plan, n)
        good = call_members(
            plan[F_STEP], t, _where(plan), _of_unknowns(plan, n, _Y), _series(plan, n), _box(plan, n), _polynomial(plan, n, order),
            _of_unknowns(plan, n, _END), _of_unknowns(plan, n, _RATE), _scratch(plan, model),
        )  # fmt: skip
        plan[STEPS_LEFT] -= _accept(plan, model, good, watches_nothing, is_watched)
        for lane in range(MEMBERS):
            if is_in[lane] == 0.0:
                continue
            goes_on = grown[lane] == 0.0 or _renew(_run_of(_slot(plan, lane)), plan, n, lane)
            if not goes_on or accepted[lane] == 0.0 or not t[lane] + proposed[lane] < stop[lane] or taken[lane] >= most[lane]:
                slot = _slot(plan, lane)
                _leave(_run_of(slot), plan, slot, lane)
                leaves = True
                if accepted[lane] == 0.0 and plan[STEPS_LEFT] > 0:
                    # whatever it is, the step is taken the plain way; several where none has been taken beside others
                    slot[IN_VAIN] = 0 if taken[lane] > 0.0 else min(slot[IN_VAIN] + 1, _MOST_IN_VAIN)
                    _go_on(plan, slot, False, 1 << slot[IN_VAIN])
        if leaves or plan[STEPS_LEFT] <= 0:
            return


@kernel_entry(INTEGERS)
def run_members(run, at):
    """Go on with the plan: TARGET when all runs are over, LIMIT where Python is wanted."""
    plan = integers(at, 0, N_PLAN)
    while True:
        ready = 0
        for lane in range(MEMBERS):
            if _make_ready(plan, lane):
                ready += 1
        held_up = plan[STEPS_LEFT] <= 0 or (ready == 0 and plan[UNDER_WAY] > 0)
        if plan[NEXT] >= plan[COUNT] and plan[UNDER_WAY] == 0:
            return TARGET
        for lane in range(MEMBERS):
            slot = _slot(plan, lane)
            lacks = slot[MEMBER] == NOBODY and plan[NEXT] < plan[COUNT]
            held_up = held_up or lacks or (slot[MEMBER] != NOBODY and slot[IS_SMOOTH] == 0)
        if held_up:
            for lane in range(MEMBERS):
                slot = _slot(plan, lane)
                if slot[IS_SMOOTH] == 1:
                    _leave(_run_of(slot), plan, slot, lane)
                if slot[MEMBER] != NOBODY:
                    _close_block(plan, slot)
            return LIMIT
        _take_steps(plan, run)
