"""Rows at the times that somebody has asked for: those inside a step, and those at the current point."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_hook
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import AFTER_ROW, LIMIT, NOT_FINITE, OUTPUT_ROW
from tidegate.events.kept_sides import hold_sides
from tidegate.events.schedule import is_same_time
from tidegate.integrators.hybrid_loop.record import communicate, record_row

__all__ = ["FOR_A_ROW", "ROOM", "outputs_here", "write_outputs"]

FOR_A_ROW: Final = 1  # what the hook of values is told: nothing goes on from there
ROOM: Final = 4  # rows a step can add besides outputs


@native
def outputs_here(run, rows, times):
    """Rows at asked times that are the current time, after what happened at it; 0, or NOT_FINITE if the function told of them has failed."""
    while run.next_output < run.n_asked and (times[run.next_output] <= run.t or is_same_time(run, times[run.next_output], run.t)):
        if run.n_rows >= run.room_rows:
            return 0
        if not communicate(run, times[run.next_output], run.y_at):
            return NOT_FINITE
        if run.wants_event_rows == 1 and run.n_rows > 0:
            last = (run.n_rows - 1) * run.wide_rows
            if rows[last + 1] == AFTER_ROW and is_same_time(run, rows[last], run.t):
                run.next_output += 1
                continue
        record_row(run, rows, times[run.next_output], run.y_at, run.sens_at, OUTPUT_ROW)
        run.next_output += 1
    return 0


@native
def write_outputs(run, rows, times, until):
    """Rows at the asked times inside the step; 0, LIMIT if the buffer is full before all are written, or a reason of failure."""
    while run.next_output < run.n_asked:
        when = times[run.next_output]
        if not when < until or is_same_time(run, when, until) or run.blocked_step > 0.0:
            return 0
        if run.n_rows >= run.room_rows - ROOM:
            return LIMIT
        if run.n > 0:
            code = call_hook(run.hook_values, run.h, run.r, when, FOR_A_ROW)
            if code != 0:
                return code
            hold_sides(run, run.y_old)
        if not communicate(run, when, run.y_old_at):
            return NOT_FINITE
        record_row(run, rows, when, run.y_old_at, run.sens_out_at, OUTPUT_ROW)
        run.next_output += 1
    return 0
