"""Time events: the next scheduled instant, computed and never searched, and which events are due at it; what a completed step asks for."""

from __future__ import annotations

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import NEVER
from tidegate.events.settle import how_many_branches
from tidegate.events.tolerances import SAME_TIME

__all__ = ["is_same_time", "mark_due", "mark_steps", "schedule", "skip_past", "steps_ask", "stopped_clock"]


@native
def is_same_time(run, a, b):
    """True if two times differ by rounding only: at their own size, or at that from which the run or its clocks have come near zero."""
    return abs(a - b) <= SAME_TIME * max(abs(a), abs(b), run.time_size) and abs(a) < 1e300


@native
def _note_size(run, t, times):
    """Remember how far from zero the clocks that have ticked began: so large is what rounds their times."""
    ng = run.n_guards
    n_clocks = run.n_clocks
    if n_clocks == 0:
        return
    counts = run.counts
    firsts = run.times_scratch
    kept = run.times_kept
    for k in range(n_clocks):
        kept[k] = counts[k]
        counts[k] = 0.0
    call_value(run.f_times, t, run.y, run.p, run.m, firsts)
    for k in range(n_clocks):
        counts[k] = kept[k]
        first = abs(firsts[ng + k])
        if firsts[ng + k] != times[ng + k] and run.time_size < first < 1e300:
            run.time_size = first


@native
def _may_reach(run, when):
    """Where a step must end because of the time event at ``when``: there, or beyond it where the model lets it go on and nothing depends on it."""
    reach = run.discrete[run.may_reach_at]
    passes = run.n_sens == 0 and run.n > 0 and run.past == 0 and reach > when and not is_same_time(run, reach, when)
    return reach if passes else when


@native
def schedule(run, first):
    """Set run.t_next to the next time event or stop, which no step may pass. At the very start (``first``) an event may be due at once.

    Of a model that says how far a step may go beyond its next time event, that is the place which no step may pass; the event is in run.t_event.

    The end of the run is a place like any other inside a step, unless the model must not be asked for what is behind it.
    """
    n_times = run.n_times
    t = run.t
    run.t_next = run.t_end if run.ends_hard == 1 else NEVER
    run.t_event = NEVER
    for k in range(run.n_stops):
        stop = run.stops[k]
        if stop > t and not is_same_time(run, stop, t):
            run.t_next = min(run.t_next, stop)
            break
    if n_times == 0:
        return
    ng = run.n_guards
    times = run.times
    call_value(run.f_times, t, run.y, run.p, run.m, times)
    _note_size(run, t, times)
    active = run.active
    for k in range(n_times):
        when = times[k]
        if k < ng:
            # a relation that has this time behind it stays as it is
            if active[k] == 0.0 or not when > t or is_same_time(run, when, t):
                continue
        elif not (when > t or (first and is_same_time(run, when, t))) or (is_same_time(run, when, t) and not first):
            continue
        if k >= ng and run.may_reach_at >= 0 and when < run.t_event:
            run.t_event = when
            when = _may_reach(run, when)
        if when < run.t_next:  # noqa: PLR1730, min would let a NaN through
            run.t_next = when
    if run.ends_hard == 1 and is_same_time(run, run.t_next, run.t_end):
        # what is left behind the event would be no step
        run.t_next = run.t_end


@native
def stopped_clock(run, t):
    """The clock among the time events just carried out that would not tick again, although it repeats; -1 if there is none."""
    ng = run.n_guards
    n_clocks = run.n_clocks
    times = run.times
    fired = run.fired
    first = run.n_actions - run.n_steps - n_clocks
    repeats = run.repeats
    looked = False
    for k in range(n_clocks):
        if repeats[k] == 0 or fired[first + k] == 0.0:
            continue
        if not looked:
            call_value(run.f_times, t, run.y, run.p, run.m, times)
            looked = True
        if not times[ng + k] > t or is_same_time(run, times[ng + k], t):
            return k
    return -1


@native
def mark_due(run, t, apply):
    """Set the action flags of time events due at t, count them, mark the guards of time that flip; returns the first due item or -1.

    With ``apply`` false it only looks.
    """
    n_times = run.n_times
    if n_times == 0:
        return -1
    ng = run.n_guards
    times = run.times
    call_value(run.f_times, t, run.y, run.p, run.m, times)
    of_time = run.is_time
    flipped = run.flipped
    first = -1
    n_branches = how_many_branches(run)
    active = run.active
    for k in range(n_times):
        if not is_same_time(run, times[k], t):
            continue
        if k < ng and (of_time[k] == 0 or active[k] == 0.0):
            continue
        if first < 0:
            first = k
        if not apply:
            continue
        if k < ng:
            flipped[k] = 1
        else:
            run.flags[n_branches + (k - ng)] = 1.0
            run.counts[k - ng] += 1.0
    return first


@native
def skip_past(run, t, first):
    """Let periodic events whose next times lie before t count up to t; beyond it, too, unless t is the ``first`` time, at which they are due.

    After the start this concerns clocks whose period has just been changed: what would have been at this very instant is past.
    """
    n_times = run.n_times
    ng = run.n_guards
    if n_times <= ng:
        return
    times = run.times
    for _ in range(100_000_000):
        call_value(run.f_times, t, run.y, run.p, run.m, times)
        moved = False
        for k in range(ng, n_times):
            is_now = is_same_time(run, times[k], t)
            if (times[k] < t and not is_now) or (is_now and not first):
                before = times[k]
                run.counts[k - ng] += 1.0
                call_value(run.f_times, t, run.y, run.p, run.m, times)
                period = times[k] - before
                if period > 0.0:
                    run.counts[k - ng] += max(0.0, np.floor((t - times[k]) / period))
                    moved = True
                else:
                    run.counts[k - ng] -= 1.0
        if not moved:
            return


@native
def steps_ask(run, guard, due):
    """1 if a step event happens at the end of the step that has just been completed; its conditions are asked once, into run.steps_asked.

    A step that a state event has cut has not come to where it was to end, and is not completed.
    """
    if run.n_steps == 0 or (guard >= 0 and due < 0 and run.t != run.t_next and run.t < run.t_end):
        return 0
    asked = run.steps_asked
    call_value(run.f_steps, run.t, run.y, run.p, run.m, asked)
    for k in range(run.n_steps):
        if asked[k] != 0.0:
            return 1
    return 0


@native
def mark_steps(run):
    """Set the flags of the step events that happen."""
    first = run.n_actions - run.n_steps
    for k in range(run.n_steps):
        if run.steps_asked[k] != 0.0:
            run.flags[first + k] = 1.0
