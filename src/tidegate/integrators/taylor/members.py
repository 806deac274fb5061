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
from tidegate.events.schedule import is_same_time
from tidegate.integrators.hybrid_loop.loop import advance, begin
from tidegate.integrators.hybrid_loop.several import (
    AT_POLYNOMIALS,
    AT_TIMES,
    AT_TOLD,
    COUNT,
    LEAST_ROOM,
    LOGGED,
    MOST_STEPS,
    N_PLAN,
    N_TOLD,
    NEXT,
    ROOM_LOG,
    ROOM_ROWS,
    ROWS,
    STEPS_LEFT,
    prepare,
    tell,
)
from tidegate.integrators.taylor.smooth import goes_smoothly, next_stop, note_smooth_step
from tidegate.integrators.taylor.step import FARTHEST, looks_inside, put_least, put_limits, shortest_step

__all__ = ["run_members"]

# places behind those of the plan, and in what it points to; the same in ``integrators.taylor.together``
UNDER_WAY, N_BLOCKS, ROOM_BLOCKS, AT_BLOCKS, AT_SLOTS, AT_LANES, F_MEMBER, F_STEP, WIDE_OUT = range(N_PLAN, N_PLAN + 9)
# of each run under way
MEMBER, NUMBER, AT_H, AT_R, AT_ROWS, AT_LOG, USED_ROWS, USED_LOG, TOLD_ROWS, TOLD_LOG, IS_SMOOTH, TAKEN, N_SLOT = range(13)
OWNER, LANE, BLOCK_ROWS, BLOCK_LOG, N_BLOCK = range(5)
_NOBODY: Final = -1
_FEW: Final = 2  # runs that are left: they are taken to their ends one by one
_BYTES: Final = 8
_CAUTION, _FIT, _IDLE, _POSSIBLE, _STEP = int(Box.CAUTION), int(Box.FIT), int(Box.IDLE), int(Box.POSSIBLE), int(Box.STEP)
_IS_IDLE, _IS_CLEAR, _IS_LONG, _REACH = int(Box.IS_IDLE), int(Box.IS_CLEAR), int(Box.IS_LONG), int(Box.REACH)


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


_Y: Final = 3


# Where these parts begin, in numbers of one run: time, step proposed, time not to be reached, then as many as there are unknowns of
# y, its end, rates there and largest values so far, then the box, the series, the polynomial, and what first coefficients need.
@native
def _times(plan):
    return _part(plan, 0, 1)


@native
def _proposed(plan):
    return _part(plan, 1, 1)


@native
def _stops(plan):
    return _part(plan, 2, 1)


@native
def _unknowns(plan, n):
    return _part(plan, _Y, n)


@native
def _ends(plan, n):
    return _part(plan, _Y + n, n)


@native
def _rates(plan, n):
    return _part(plan, _Y + 2 * n, n)


@native
def _largest(plan, n):
    return _part(plan, _Y + 3 * n, n)


@native
def _box(plan, n):
    return _part(plan, _Y + 4 * n, FIRST_LEAST + 4 * n)


@native
def _series(plan, n):
    return _part(plan, _Y + 8 * n + FIRST_LEAST, plan[WIDE_OUT])


@native
def _polynomial(plan, n, order):
    return _part(plan, _Y + 8 * n + FIRST_LEAST + plan[WIDE_OUT], order * n)


@native
def _scratch(plan, n, order):
    return _part(plan, _Y + 8 * n + FIRST_LEAST + plan[WIDE_OUT] + order * n, 1)


@native
def _where(plan):
    """Addresses of parameters, then of what is constant between events."""
    return integers(integers_at(plan[AT_SLOTS]), MEMBERS * N_SLOT, 2 * MEMBERS)


@native
def _lane_of(plan, first, lane):
    """What is behind a number of one run."""
    return tail(pointer(plan[AT_LANES]), first * MEMBERS + lane)


@native
def _give_room(run, plan, slot):
    run.n_rows = 0
    run.n_logged = 0
    run.room_rows = plan[ROOM_ROWS] - slot[USED_ROWS]
    run.room_log = plan[ROOM_LOG] - slot[USED_LOG]


@native
def _note(run, slot, told):
    """What has been written down since room was given."""
    slot[USED_ROWS] += run.n_rows
    slot[USED_LOG] += run.n_logged
    told[ROWS] += run.n_rows
    told[LOGGED] += run.n_logged


@native
def _close_block(plan, slot):
    """Say whose the records are that were written since the last block."""
    rows = slot[USED_ROWS] - slot[TOLD_ROWS]
    log = slot[USED_LOG] - slot[TOLD_LOG]
    if rows > 0 or log > 0:
        block = integers(integers_at(plan[AT_BLOCKS]), plan[N_BLOCKS] * N_BLOCK, N_BLOCK)
        block[OWNER] = slot[MEMBER]
        block[LANE] = slot[NUMBER]
        block[BLOCK_ROWS] = rows
        block[BLOCK_LOG] = log
        plan[N_BLOCKS] += 1
    slot[TOLD_ROWS] = slot[USED_ROWS]
    slot[TOLD_LOG] = slot[USED_LOG]


@native
def _is_full(plan, slot, least):
    return plan[ROOM_ROWS] - slot[USED_ROWS] < least or plan[ROOM_LOG] - slot[USED_LOG] < least


@native
def _go_on(plan, slot, is_new, budget):
    """A run alone, for at most so many steps from where it stands; True if it is over."""
    run = _run_of(slot)
    told = vector(pointer(plan[AT_TOLD]), slot[MEMBER] * N_TOLD, N_TOLD)
    _give_room(run, plan, slot)
    rows = pointer(slot[AT_ROWS] + _BYTES * slot[USED_ROWS] * run.wide_rows)
    log = pointer(slot[AT_LOG] + _BYTES * slot[USED_LOG] * run.wide_log)
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
    slot[MEMBER] = _NOBODY
    plan[UNDER_WAY] -= 1
    return True


@native
def _may_go_beside_others(run, plan):
    """True if the step ahead is likely to be a smooth one."""
    plain = run.hook_smooth != 0 and run.wants_step_rows == 0 and run.keeps_polynomials == 0 and run.f_step == run.f_step_full
    if not plain or run.phase != 0 or run.is_taken == 1 or run.is_terminated == 1 or run.c_steps + 1 >= plan[MOST_STEPS] or not goes_smoothly(run):
        return False
    return run.t + min(run.step_new, run.step_max) < next_stop(run, vector(pointer(plan[AT_TIMES]), 0, run.n_asked))


@native
def _put_tolerances(run, plan, lane):
    """What steps are measured by, into the lane."""
    n = run.n
    box = _box(plan, n)
    most = _largest(plan, n)
    for q in range(n):
        box[(FIRST_LEAST + q) * MEMBERS + lane] = run.series_box[FIRST_LEAST + q]
        most[q * MEMBERS + lane] = run.y_max[q] if run.goes_by_size == 1 else np.inf


@native
def _enter(run, plan, slot, lane):
    """Put a run into its lane."""
    n = run.n
    if run.goes_by_size == 1:
        put_least(run)
    _times(plan)[lane] = run.t
    _proposed(plan)[lane] = run.step_new
    _stops(plan)[lane] = next_stop(run, vector(pointer(plan[AT_TIMES]), 0, run.n_asked))
    y = _unknowns(plan, n)
    for q in range(n):
        y[q * MEMBERS + lane] = run.y[q]
    box = _box(plan, n)
    box[_CAUTION * MEMBERS + lane] = run.series_box[_CAUTION]
    box[_FIT * MEMBERS + lane] = run.series_box[_FIT]
    box[_IDLE * MEMBERS + lane] = run.series_box[_IDLE]
    _put_tolerances(run, plan, lane)
    first, out = _lane_of(plan, _Y, lane), _lane_of(plan, _Y + 8 * n + FIRST_LEAST, lane)
    call_member(plan[F_MEMBER], run.t, first, run.p, run.m, out, _scratch(plan, n, run.series_order))
    slot[IS_SMOOTH] = 1
    slot[TAKEN] = 0


@native
def _leave(run, plan, slot, lane):
    """Take a run out of its lane."""
    slot[IS_SMOOTH] = 0
    n = run.n
    taken = slot[TAKEN]
    slot[TAKEN] = 0
    if taken == 0:
        return
    y, rate = _unknowns(plan, n), _rates(plan, n)
    for q in range(n):
        run.y[q] = y[q * MEMBERS + lane]
        run.f0[q] = rate[q * MEMBERS + lane]
    run.is_started = 0
    run.c_steps += taken
    run.c_rhs += 2 * taken
    run.crept_steps = max(run.crept_steps - taken + 1, 0)
    run.possible = _proposed(plan)[lane]
    note_smooth_step(run, _times(plan)[lane])


@native
def _make_ready(plan, lane):
    """Go on with the run of a lane until it may go beside others; False if there is none, or somebody is to look."""
    slot = _slot(plan, lane)
    while True:
        if slot[IS_SMOOTH] == 1:
            return True
        if slot[MEMBER] == _NOBODY:
            if plan[NEXT] >= plan[COUNT] or _is_full(plan, slot, LEAST_ROOM):
                return False
            prepare(_run_of(slot), plan)
            slot[MEMBER] = plan[NEXT]
            plan[NEXT] += 1
            plan[UNDER_WAY] += 1
            if _go_on(plan, slot, True, 0):
                continue
        run = _run_of(slot)
        is_alone = plan[NEXT] >= plan[COUNT] and plan[UNDER_WAY] <= _FEW
        if plan[STEPS_LEFT] <= 0 or plan[N_BLOCKS] + 3 * MEMBERS >= plan[ROOM_BLOCKS] or _is_full(plan, slot, LEAST_ROOM):
            return False
        if not is_alone and _may_go_beside_others(run, plan):
            _enter(run, plan, slot, lane)
            return True
        _go_on(plan, slot, False, plan[STEPS_LEFT] if is_alone else 1)


@native
def _take_steps(plan, run_0):
    """Steps of all that are in their lanes, until one of these has something else to do."""
    n = run_0.n
    order = run_0.series_order
    t, proposed, stops = _times(plan), _proposed(plan), _stops(plan)
    y, end, rate, most = _unknowns(plan, n), _ends(plan, n), _rates(plan, n), _largest(plan, n)
    box, out, polynomial, scratch = _box(plan, n), _series(plan, n), _polynomial(plan, n, order), _scratch(plan, n, order)
    where = _where(plan)
    leaves = False
    while not leaves:
        for lane in range(MEMBERS):
            if _slot(plan, lane)[IS_SMOOTH] == 1:
                run = _run_of(_slot(plan, lane))
                unit = min(proposed[lane], run.step_max)
                out[lane] = unit
                put_limits(run, t[lane], unit, box, MEMBERS, lane)
        good = call_members(plan[F_STEP], t, where, y, out, box, polynomial, end, rate, scratch)
        for lane in range(MEMBERS):
            slot = _slot(plan, lane)
            if slot[IS_SMOOTH] == 0:
                continue
            run = _run_of(slot)
            later = t[lane] + box[_STEP * MEMBERS + lane]
            reach = box[_REACH * MEMBERS + lane]
            is_known = (good >> lane) & 1 == 1 and not reach > FARTHEST and looks_inside(run, box[_IS_LONG * MEMBERS + lane], reach) == 1
            is_clear = run.n_watched == run.n_quotients and box[_IS_CLEAR * MEMBERS + lane] != 0.0
            is_plain = box[_IS_IDLE * MEMBERS + lane] == 0.0 and (run.n_peaks == 0 or is_clear)
            if not is_known or not is_plain or not later < stops[lane] or is_same_time(run, later, stops[lane]):
                _leave(run, plan, slot, lane)
                leaves = True
                if plan[STEPS_LEFT] > 0:
                    # whatever it is, the step is taken the plain way
                    _go_on(plan, slot, False, 1)
                continue
            is_larger = False
            for q in range(n):
                place = q * MEMBERS + lane
                y[place] = end[place]
                is_larger = is_larger or abs(y[place]) > most[place]
            t[lane] = later
            proposed[lane] = box[_POSSIBLE * MEMBERS + lane]
            run.step = box[_STEP * MEMBERS + lane]
            slot[TAKEN] += 1
            plan[STEPS_LEFT] -= 1
            if is_larger:
                for q in range(n):
                    run.y[q] = y[q * MEMBERS + lane]
                renew_tolerances(run, 0)
                put_least(run)
                _put_tolerances(run, plan, lane)
            if not later + proposed[lane] < stops[lane] or run.c_steps + slot[TAKEN] + 1 >= plan[MOST_STEPS]:
                _leave(run, plan, slot, lane)
                leaves = True
        leaves = leaves or plan[STEPS_LEFT] <= 0


@kernel_entry(INTEGERS)
def run_members(run, at):
    """Go on with the plan: TARGET when all runs are over, LIMIT where Python is wanted."""
    plan = integers(at, 0, WIDE_OUT + 1)
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
            lacks = slot[MEMBER] == _NOBODY and plan[NEXT] < plan[COUNT]
            held_up = held_up or lacks or (slot[MEMBER] != _NOBODY and slot[IS_SMOOTH] == 0)
        if held_up:
            for lane in range(MEMBERS):
                slot = _slot(plan, lane)
                if slot[IS_SMOOTH] == 1:
                    _leave(_run_of(slot), plan, slot, lane)
                if slot[MEMBER] != _NOBODY:
                    _close_block(plan, slot)
            return LIMIT
        _take_steps(plan, run)
