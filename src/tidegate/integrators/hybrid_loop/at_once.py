"""A whole run in one call: the memory as it was before the first, the start, every step, and what was written down packed for Python to take.

In goes a plan, integers that say where everything is; ``integrators.packed_run`` makes it. Out comes the size of what was packed, in bytes. Where
Python has to look at something, nothing is packed, and the answer says where the run stands: it can go on from there as if Python had advanced it.
"""

from __future__ import annotations

import math
from typing import Final

from tidegate.compiled.copying import copy_numbers
from tidegate.compiled.jit import INTEGERS, kernel_entry, native
from tidegate.compiled.pointers import integers_at, pointer, run_at
from tidegate.compiled.workspace import FIRST_CHANGING, INDEX_OF, TARGET, integers, vector
from tidegate.integrators.hybrid_loop.loop import advance, begin

__all__ = ["run_at_once"]

# places in a plan; the same in ``integrators.packed_run``, which names what stands there
N_FRESH_INTEGERS, N_FRESH_NUMBERS, AT_FRESH_INTEGERS, AT_FRESH_NUMBERS, AT_TIMES, AT_POLYNOMIALS, AT_ROWS, AT_LOG, AT_PACKED = range(9)
ROOM_PACKED, MOST_STEPS, N_VALUES, AT_INTEGERS, AT_NUMBERS = range(9, 14)
N_PLAN: Final = 14
NOT_BEGUN: Final = -100  # beside -1, -2, ... for the reasons for which ``advance`` came back
FIRST_COUNTER: Final = INDEX_OF["c_steps"]
N_COUNTERS: Final = INDEX_OF["c_proved"] + 1 - FIRST_COUNTER
N_HEAD: Final = 3 + N_COUNTERS  # how many rows, events and polynomials, and the counters
_TIME_AND_KIND: Final = 2  # in front of a row's values
_IN_FRONT_OF_SLOPES: Final = 5  # of an event's time by parameters
_BYTES: Final = 8


@native
def _put(place, source, count):
    """Copy numbers to an address; the address behind them."""
    copy_numbers(pointer(place), source, count)
    return place + _BYTES * count


@native
def _refresh(plan):
    """The memory as it was before the first run."""
    copy_numbers(pointer(plan[AT_INTEGERS] + FIRST_CHANGING * _BYTES), pointer(plan[AT_FRESH_INTEGERS]), plan[N_FRESH_INTEGERS])
    copy_numbers(pointer(plan[AT_NUMBERS]), pointer(plan[AT_FRESH_NUMBERS]), plan[N_FRESH_NUMBERS])


@native
def _is_plain(run, plan, rows, log):
    """True if nothing is to be said of the run: tolerances held, all that is shown is finite, derivatives exist, every clause could happen."""
    if run.n_loose > 0 or run.n_faint > 0:
        return False
    for k in range(run.n_when):
        if run.held[k] != 0.0:
            return False
    for k in range(run.n_rows):
        values = vector(rows, k * run.wide_rows + _TIME_AND_KIND, plan[N_VALUES])
        for q in range(plan[N_VALUES]):
            if not math.isfinite(values[q]):
                return False
    if run.n_sens == 0:
        return True
    for k in range(run.n_logged):
        slopes = vector(log, k * run.wide_log + _IN_FRONT_OF_SLOPES, run.n_sens)
        for q in range(run.n_sens):
            if not math.isfinite(slopes[q]):
                return False
    return run.m[run.first_grazing] == 0.0


@native
def _packed(run, plan, rows, log, polynomials):
    """How many bytes were packed; none where there is no room."""
    n_rows = run.n_rows * run.wide_rows
    n_log = run.n_logged * run.wide_log
    n_polynomials = run.n_polynomials * run.wide_polynomials
    size = N_HEAD + run.n_m + n_rows + n_log + n_polynomials
    if size > plan[ROOM_PACKED]:
        return 0
    head = integers(integers_at(plan[AT_PACKED]), 0, N_HEAD)
    head[0] = run.n_rows
    head[1] = run.n_logged
    head[2] = run.n_polynomials
    place = _put(plan[AT_PACKED] + 3 * _BYTES, pointer(plan[AT_INTEGERS] + FIRST_COUNTER * _BYTES), N_COUNTERS)
    place = _put(place, run.m.ctypes, run.n_m)
    place = _put(place, rows, n_rows)
    place = _put(place, log, n_log)
    _put(place, polynomials, n_polynomials)
    return _BYTES * size


@kernel_entry(INTEGERS, of_a_run=False)
def run_at_once(at):
    """Bytes packed, of a run that came to its end; else ``NOT_BEGUN`` or -1 less the reason for which it stopped where it is."""
    plan = integers(at, 0, N_PLAN)
    run = run_at(integers_at(plan[AT_INTEGERS]), pointer(plan[AT_NUMBERS]))
    _refresh(plan)
    rows = pointer(plan[AT_ROWS])
    log = pointer(plan[AT_LOG])
    polynomials = pointer(plan[AT_POLYNOMIALS])
    times = pointer(plan[AT_TIMES])
    if begin(run, rows, log, times) != 0:
        return NOT_BEGUN
    run.budget = plan[MOST_STEPS]
    code = advance(run, rows, log, polynomials, times)
    if code != TARGET or not _is_plain(run, plan, rows, log):
        return -1 - code
    size = _packed(run, plan, rows, log, polynomials)
    return size if size > 0 else -1 - TARGET
