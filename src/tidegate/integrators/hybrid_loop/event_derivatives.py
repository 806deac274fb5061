"""What an event does to derivatives by parameters: how its time moves, before it; the jump, after it. Compiled only where they are asked for."""

from __future__ import annotations

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry
from tidegate.events.grazing import note_touch
from tidegate.events.settle import anything_happened
from tidegate.events.time_scale import time_scale
from tidegate.integrators.hybrid_loop.breaks import rates_of_last_break
from tidegate.integrators.hybrid_loop.coincidence import note_moved_apart, times_move_apart
from tidegate.sensitivity.jump import event_time_derivatives, finish_jump, follow_ties, time_event_derivatives

__all__ = ["differentiate_times", "jump_with_event"]


@kernel_entry(NUMBER, INTEGER, INTEGER)
def differentiate_times(run, t, guard, due):
    """tau' of a guard that crossed, or of scheduled items of which the first is ``due``; nothing moves an event that is neither."""
    for i in range(run.n_sens):
        run.dt_dp[i] = 0.0
    if guard >= 0:
        if not rates_of_last_break(run):
            event_time_derivatives(run, t, run.y, guard, time_scale(run, run.ydot_before_at))
    elif due >= 0:
        time_event_derivatives(run, t, run.y, due, run.dt_dp_at)
    if due >= 0 and run.goes_on_at >= 0:
        time_event_derivatives(run, t, run.y, run.n_guards, run.clock_tau_at)
    return 0


@kernel_entry(NUMBER, INTEGER, INTEGER, INTEGER)
def jump_with_event(run, t, guard, due, has_happened):
    """S behind the event, which has been settled."""
    if has_happened == 1 or anything_happened(run):
        # where nothing happened nothing jumps, and a badly conditioned event time must not touch anything
        main = guard if guard >= 0 or due >= run.n_guards else due
        moved_apart = (guard >= 0 or due >= 0) and run.n > 0 and times_move_apart(run, t, main)
        finish_jump(run, t)
        if moved_apart:
            note_moved_apart(run)
        return 0
    if guard >= 0:
        note_touch(run, t, guard)
    follow_ties(run, t)
    return 0
