"""Several runs of one model natively, one behind the other in one memory: each with start values and parameters of its own.

In goes a plan, integers that say what is where and how far all has come; ``integrators.several_runs`` makes it. Out come the rows and the log of all
runs in one buffer each, and for every run what has become of it. Between two runs the memory is what it was before the first, so each of them is
what it would have been alone, to the last bit. Python is wanted where a buffer is full, and after so many steps that somebody should look for Ctrl-C.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.copying import copy_numbers
from tidegate.compiled.jit import INTEGERS, kernel_entry, native
from tidegate.compiled.pointers import pointer
from tidegate.compiled.workspace import FIRST_CHANGING, LIMIT, TARGET, integers, vector
from tidegate.integrators.hybrid_loop.loop import advance, begin
from tidegate.integrators.plan_places import (
    AT_FRESH_INTEGERS,
    AT_FRESH_NUMBERS,
    AT_LOG,
    AT_POLYNOMIALS,
    AT_ROWS,
    AT_STARTS,
    AT_TIMES,
    AT_TOLD,
    CODE,
    COUNT,
    GRAZING,
    IS_HELD,
    IS_OVER,
    IS_UNDER_WAY,
    LOGGED,
    MOST_STEPS,
    N_FRESH_INTEGERS,
    N_FRESH_NUMBERS,
    N_PLAN,
    N_REMARKS,
    N_TOLD,
    NEXT,
    ROOM_LOG,
    ROOM_ROWS,
    ROWS,
    STEPS,
    STEPS_LEFT,
    TIME,
    USED_LOG,
    USED_ROWS,
    WIDTH,
)

__all__ = ["give_room", "prepare", "run_several", "tell"]

LEAST_ROOM: Final = 40  # records: with less a run is not begun, since it would come to its first stop at once
_BYTES: Final = 8


@native
def _put(target, source, first, count):
    for q in range(count):
        target[q] = source[first + q]
    return first + count


@native
def prepare(run, plan):
    """The memory as it was before the first run, with the parameters and start values of the next."""
    # memory beside that of the first run stays where it is
    address_h, address_r = run.address_h, run.address_r
    copy_numbers(pointer(address_h + FIRST_CHANGING * _BYTES), pointer(plan[AT_FRESH_INTEGERS]), plan[N_FRESH_INTEGERS])
    copy_numbers(pointer(address_r), pointer(plan[AT_FRESH_NUMBERS]), plan[N_FRESH_NUMBERS])
    run.address_h = address_h
    run.address_r = address_r
    width = plan[WIDTH]
    start = vector(pointer(plan[AT_STARTS]), plan[NEXT] * width, width)
    place = _put(run.p, start, 0, run.n_p)
    place = _put(run.y, start, place, run.n)
    place = _put(run.m, start, place, run.n_m)
    place = _put(vector(run.r, run.sens_at, run.n_sens * run.n), start, place, run.n_sens * run.n)
    place = _put(vector(run.r, run.sens_discrete_at, run.n_sens * run.n_discrete), start, place, run.n_sens * run.n_discrete)
    if run.n_stops_room > 0:
        run.n_stops = int(start[place])
        _put(run.stops, start, place + 1, run.n_stops)


@native
def give_room(run, rows, log):
    """So much is left of the buffers, as if they were empty ones."""
    run.n_rows = 0
    run.n_logged = 0
    run.room_rows = rows
    run.room_log = log


@native
def _note(run, plan, told):
    """What has been written down since room was given."""
    plan[USED_ROWS] += run.n_rows
    plan[USED_LOG] += run.n_logged
    told[ROWS] += run.n_rows
    told[LOGGED] += run.n_logged


@native
def _is_held(run):
    for k in range(run.n_when):
        if run.held[k] != 0.0:
            return 1.0
    return 0.0


@native
def tell(run, told, code):
    """What has become of a run that is over."""
    told[CODE] = code
    told[TIME] = run.t
    told[STEPS] = run.c_steps
    told[GRAZING] = run.m[run.first_grazing]
    told[IS_HELD] = _is_held(run)
    told[N_REMARKS] = run.n_loose + run.n_faint
    told[IS_OVER] = 1.0


@kernel_entry(INTEGERS)
def run_several(run, at):
    """Go on with the plan: TARGET when all runs are over, LIMIT where Python is wanted."""
    plan = integers(at, 0, N_PLAN)
    while plan[NEXT] < plan[COUNT]:
        told = vector(pointer(plan[AT_TOLD]), plan[NEXT] * N_TOLD, N_TOLD)
        is_new = plan[IS_UNDER_WAY] == 0
        full = plan[ROOM_ROWS] - plan[USED_ROWS] < LEAST_ROOM or plan[ROOM_LOG] - plan[USED_LOG] < LEAST_ROOM
        if plan[STEPS_LEFT] <= 0 or (is_new and full):
            return LIMIT
        if is_new:
            prepare(run, plan)
        give_room(run, plan[ROOM_ROWS] - plan[USED_ROWS], plan[ROOM_LOG] - plan[USED_LOG])
        rows = pointer(plan[AT_ROWS] + _BYTES * plan[USED_ROWS] * run.wide_rows)
        log = pointer(plan[AT_LOG] + _BYTES * plan[USED_LOG] * run.wide_log)
        times = pointer(plan[AT_TIMES])
        code = begin(run, rows, log, times) if is_new else 0
        before = run.c_steps
        if code == 0:
            run.budget = min(plan[STEPS_LEFT], plan[MOST_STEPS] - run.c_steps)
            code = advance(run, rows, log, pointer(plan[AT_POLYNOMIALS]), times)
            plan[STEPS_LEFT] -= 1 + run.c_steps - before
            if code == LIMIT and run.c_steps < plan[MOST_STEPS]:
                _note(run, plan, told)
                plan[IS_UNDER_WAY] = 1
                return LIMIT
        _note(run, plan, told)
        tell(run, told, code)
        plan[IS_UNDER_WAY] = 0
        plan[NEXT] += 1
    return TARGET
