"""Where the past of a model with delays is not smooth: no step passes such a place, and derivatives by parameters jump there.

In: the start of the run, its events, and each other such place; out: times that steps end at (Bellen and Zennaro, Numerical Methods for Delay
Differential Equations, 2003, chapters 2 and 4: a jump of the past is one of the slope a delay later, and of one derivative more a delay after that).
A delay that does not vary tells these times beforehand. One that varies comes to them as the unknown does that says when it looks back at: its
polynomial is searched in every step, and the step is taken again to the place.

A break's time t* moves with a parameter p as ``t*' = xi' + tau'`` where the past broke at xi, and as ``t*' = (xi' - S) / w'`` where w is the unknown
that says when, and S its derivative by p. S of the others jumps as at an event (``sensitivity.jump``).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_hook
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.pointers import pointer
from tidegate.compiled.workspace import DELAY_VANISHED, NEVER, NO_SENSITIVITIES
from tidegate.events.restart import consistent_point, derivatives
from tidegate.integrators.hybrid_loop.past import (
    AGO,
    BREAK_COUNT,
    BREAK_ROOM,
    BREAK_START,
    BREAKS,
    COUNT,
    CROSSED,
    CROSSED_AT,
    CROSSED_ROW,
    CROSSED_UP,
    FIRST,
    FLAG,
    KEEPS_ALL,
    LAST_BREAK,
    LEVELS,
    LOCKED,
    N_DELAYS,
    N_SENS,
    NOW,
    ROW_START,
    SMOOTH,
    START,
    STEP_MAX,
    STEPS,
    begun_at,
    flag_rates_at,
    last_rates_at,
    nearly,
    piece_of,
    rates_at,
    reach_here,
    row_at,
    slack_of,
    slope_at,
    when_at,
)
from tidegate.sensitivity.jump import finish_jump, restart_jump, start_jump

__all__ = ["arrive", "begin_past", "break_again", "cut_at_break", "limit_step", "next_break", "rates_of_last_break"]

_SAMPLES: Final = 8  # of a step's polynomial, between which a delay is taken to come to one break at most
_BISECTIONS: Final = 60
_CORRECTIONS: Final = 8
_PART: Final = 0.95  # of a delay that varies: no step is longer
_SHORTER: Final = 0.9  # of the way to where the past is not known
_VANISHED: Final = 10.0  # so many slacks: what is shorter is no delay
_SAME_RATE: Final = 1e-9
_JUMPS: Final = 1e-9  # of y'
_NOTHING: Final = -1  # no break, no event: the step is whole


@kernel_entry()
def begin_past(run):
    """The run of a model with delays begins: nothing is kept, and what was before its start breaks off there."""
    head = pointer(run.past)
    head[NOW] = run.t
    head[START] = run.t
    head[COUNT] = 0.0
    head[FIRST] = 0.0
    head[BREAK_COUNT] = 0.0
    head[FLAG] = SMOOTH
    head[LOCKED] = 0.0
    head[LAST_BREAK] = NEVER
    for i in range(run.n_sens):
        run.dt_dp[i] = 0.0
    for k in range(int(head[N_DELAYS])):
        head[begun_at(head) + k] = run.t - head[AGO + k]
        head[slope_at(head) + k] = 1.0
    break_again(run, 0.0)
    return 0


@native
def _join_rates(kept, first, run, delay_rates, same_level):
    """Put how the time moves, run.dt_dp and what a delay adds to it; NaN where what is there already, at the same level, moves otherwise."""
    for i in range(run.n_sens):
        rate = run.dt_dp[i]
        if delay_rates >= 0:
            rate += pointer(run.past)[delay_rates + i]
        if same_level and not abs(kept[first + i] - rate) <= _SAME_RATE * (abs(rate) + abs(kept[first + i])):
            rate = np.nan
        kept[first + i] = rate


@native
def _put_break(run, time, level, delay):
    """Note a break; of two of a delay at one time the lower level counts."""
    head = pointer(run.past)
    breaks = pointer(int(head[BREAKS]))
    width = BREAK_START + int(head[N_SENS])
    rates = rates_at(head) + delay * int(head[N_SENS])
    count = int(head[BREAK_COUNT])
    slack = slack_of(head, time)
    k = count
    while k > 0 and breaks[width * (k - 1)] > time + slack:
        k -= 1
    j = k
    while j > 0 and breaks[width * (j - 1)] >= time - slack:
        j -= 1
        if int(breaks[width * j + 2]) == delay:
            there = breaks[width * j + 1]
            if level <= there:
                breaks[width * j + 1] = level
                _join_rates(breaks, width * j + BREAK_START, run, rates, level == there)
            return
    if count >= int(head[BREAK_ROOM]):
        return  # what is lost only costs steps
    for j in range(count * width - 1, k * width - 1, -1):
        breaks[j + width] = breaks[j]
    breaks[width * k] = time
    breaks[width * k + 1] = level
    breaks[width * k + 2] = float(delay)
    _join_rates(breaks, width * k + BREAK_START, run, rates, False)
    head[BREAK_COUNT] += 1.0


@native
def break_again(run, level):
    """A break at the current time, which moves as run.dt_dp says, comes again after every delay, one level higher."""
    if run.past != 0:
        break_of_past_again(run, float(level))


@kernel_entry(NUMBER)
def break_of_past_again(run, level):
    """``break_again`` of a model with delays."""
    head = pointer(run.past)
    if level >= head[LEVELS]:
        return 0
    for k in range(int(head[N_DELAYS])):
        if head[when_at(head) + k] < 0.0:
            _put_break(run, run.t + head[AGO + k], level + 1.0, k)
    if level <= head[FLAG]:
        _join_rates(head, flag_rates_at(head), run, -1, level == head[FLAG])
        head[FLAG] = level
    return 0


@native
def next_break(run):
    """The time of the next break that is known; that behind every other where there is none."""
    if run.past == 0:
        return NEVER
    head = pointer(run.past)
    if head[BREAK_COUNT] == 0.0:
        return NEVER
    return pointer(int(head[BREAKS]))[0]


# ---- arriving at a break


@native
def _take_break(run, head):
    """Take the first break off the list; its level, with its delay in place of the count that is returned too."""
    breaks = pointer(int(head[BREAKS]))
    width = BREAK_START + int(head[N_SENS])
    level = breaks[1]
    delay = int(breaks[2])
    for i in range(run.n_sens):
        run.dt_dp[i] = breaks[BREAK_START + i]
    head[BREAK_COUNT] -= 1.0
    for j in range(int(head[BREAK_COUNT]) * width):
        breaks[j] = breaks[j + width]
    return level, delay


@native
def _cross(head, delay):
    """The delay that varies is on the other side of its break now."""
    at = head[CROSSED_AT]
    head[begun_at(head) + delay] = at if head[CROSSED_UP] > 0.0 else at - 4.0 * slack_of(head, at)


@native
def _crossing_rates(run, head, delay):
    """How the time moves at which a delay that varies comes to its break; y' of before is known."""
    steps = pointer(int(head[STEPS]))
    when = int(head[when_at(head) + delay])
    place = int(head[CROSSED_ROW]) + ROW_START
    for i in range(run.n_sens):
        run.dt_dp[i] = (steps[place + i] - run.sens[i, when]) / run.ydot_before[when] if run.ydot_before[when] != 0.0 else np.nan


@native
def _jump(run):
    """S behind a break, whose time moves as run.dt_dp says; y' of before is known, and the delay has gone across."""
    t = run.t
    start_jump(run)
    code = consistent_point(run, t, run.y_at)
    if code == 0:
        code = derivatives(run, t, run.y_at, run.ydot_at)
    if code != 0:
        return code
    for i in range(run.n_sens):
        if not abs(run.dt_dp[i]) < np.inf:
            for q in range(run.n):
                size = abs(run.ydot[q]) + abs(run.ydot_before[q])
                if run.is_algebraic[q] == 0 and abs(run.ydot[q] - run.ydot_before[q]) > _JUMPS * size:
                    return NO_SENSITIVITIES
    restart_jump(run, t, run.y_at)
    finish_jump(run, t)
    return 0


@native
def _note_last(run, head):
    """Remember how the time of this break moves: conditions that change because of it change when it does."""
    same = head[LAST_BREAK] == run.t
    _join_rates(head, last_rates_at(head), run, -1, same)
    head[LAST_BREAK] = run.t


@native
def _one_by_one(run, head):
    """Each break of this time with its own jump of S; the lowest level, or the reason of failure in front of it."""
    lowest = SMOOTH
    while True:
        waits = head[BREAK_COUNT] > 0.0 and pointer(int(head[BREAKS]))[0] <= run.t + slack_of(head, run.t)
        if not waits and head[CROSSED] == 0.0:
            return 0, lowest
        code = derivatives(run, run.t, run.y_at, run.ydot_before_at)
        if code != 0:
            return code, lowest
        if waits:
            level, delay = _take_break(run, head)
            reach_here(run, delay)
        else:
            delay = int(head[CROSSED]) - 1
            level = pointer(int(head[STEPS]))[int(head[CROSSED_ROW]) + 4] + 1.0
            _crossing_rates(run, head, delay)
            _cross(head, delay)
            head[CROSSED] = 0.0
        code = _jump(run)
        if code != 0:
            return code, lowest
        _note_last(run, head)
        lowest = min(lowest, level)
        break_again(run, level)


@kernel_entry()
def arrive(run):
    """The run has come to the end of a step: -1 if the past breaks there and the method is to start afresh, or the reason of failure."""
    if run.past == 0:
        return 0
    head = pointer(run.past)
    length = run.t - head[NOW]
    head[NOW] = run.t
    if length > 0.0:
        head[FLAG] = SMOOTH
    slack = slack_of(head, run.t)
    breaks = pointer(int(head[BREAKS]))
    is_broken = head[CROSSED] != 0.0 or (head[BREAK_COUNT] > 0.0 and breaks[0] <= run.t + slack)
    crossed = int(head[CROSSED]) - 1
    lowest = SMOOTH
    if is_broken and run.n_sens > 0:
        code, lowest = _one_by_one(run, head)
        if code != 0:
            return code
    while head[BREAK_COUNT] > 0.0 and breaks[0] <= run.t + slack:
        level, _ = _take_break(run, head)
        lowest = min(lowest, level)
    if head[CROSSED] != 0.0:
        lowest = min(lowest, pointer(int(head[STEPS]))[int(head[CROSSED_ROW]) + 4] + 1.0)
    for k in range(int(head[N_DELAYS])):
        before = head[begun_at(head) + k]
        if k != crossed:
            reach_here(run, k)
        elif head[CROSSED] != 0.0:
            _cross(head, k)
        if length > 0.0 and head[when_at(head) + k] >= 0.0:
            head[slope_at(head) + k] = (run.y[int(head[when_at(head) + k])] - before) / length
    head[CROSSED] = 0.0
    if is_broken and run.n_sens == 0:
        break_again(run, lowest)
    return -1 if is_broken else 0


@native
def rates_of_last_break(run):
    """True if the run stands where the past just broke; how the time of that moves is in run.dt_dp then."""
    if run.past == 0:
        return False
    head = pointer(run.past)
    if run.step != 0.0 or head[LAST_BREAK] != run.t:
        return False
    for i in range(run.n_sens):
        run.dt_dp[i] = head[last_rates_at(head) + i]
    return True


# ---- delays that vary


@kernel_entry()
def limit_step(run):
    """No step is longer than the delays that vary are; DELAY_VANISHED if one is none any more."""
    head = pointer(run.past)
    if head[KEEPS_ALL] == 0.0:
        return 0
    head[CROSSED] = 0.0
    most = head[STEP_MAX]
    for k in range(int(head[N_DELAYS])):
        when = int(head[when_at(head) + k])
        if when >= 0:
            ago = run.t - run.y[when]
            if not ago > _VANISHED * slack_of(head, run.t):
                run.failed_guard = k
                return DELAY_VANISHED
            most = min(most, _PART * ago / max(1.0, head[slope_at(head) + k]))
    run.step_max = most
    return 0


@native
def _looks_at(run, q, theta):
    """The unknown that says when, at a part of the step."""
    x = 0.0
    for d in range(run.degree - 1, -1, -1):
        x = (x + run.coefficients[d, q]) * theta
    return run.y[q] + x


@native
def _part_of(run, q, low, high, value):
    """Between two parts of the step, the one where the unknown has that value."""
    side = _looks_at(run, q, low) < value
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if (_looks_at(run, q, middle) < value) == side:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@native
def _break_between(head, begun, value):
    """The row of the step that begins with the first break on the way from where a delay has come to, -1 if there is none."""
    steps = pointer(int(head[STEPS]))
    count = int(head[COUNT])
    slack = slack_of(head, begun)
    near = nearly(head, value)
    if count == 0:
        return -1
    is_before = begun < head[START] - slack
    k = -1 if is_before else piece_of(head, steps, begun, slack)
    j = k + 1
    while j < count and steps[row_at(head, j)] < value - slack:
        if steps[row_at(head, j) + 4] < head[LEVELS]:
            return row_at(head, j)
        j += 1
    j = k
    while j >= 0 and steps[row_at(head, j)] > value + near:
        if steps[row_at(head, j) + 4] < head[LEVELS]:
            return row_at(head, j)
        j -= 1
    return -1


@native
def _first_crossing(run, head):
    """Where in the step a delay comes to a break first, or to what is not known yet: (part of the step or 2, delay, row or -1)."""
    first = 2.0
    which = -1
    place = -1
    for k in range(int(head[N_DELAYS])):
        q = int(head[when_at(head) + k])
        if q < 0:
            continue
        before = 0.0
        for i in range(1, _SAMPLES + 1):
            theta = i / _SAMPLES
            if before >= first:
                break
            value = _looks_at(run, q, theta)
            row = _break_between(head, head[begun_at(head) + k], value)
            known = value <= run.t + slack_of(head, run.t)
            if row >= 0 or not known:
                at = pointer(int(head[STEPS]))[row] if row >= 0 else run.t
                found = _part_of(run, q, before, theta, at)
                if found < first:
                    first = found
                    which = k
                    place = row
                break
            before = theta
    return first, which, place


@kernel_entry()
def cut_at_break(run):
    """Let the step just found end where a delay that varies comes to a break, if it does.

    -1 if it does not, else 0 or the reason of failure; run.last_guard is the event at the new end, -1 for none.
    """
    head = pointer(run.past)
    if head[KEEPS_ALL] == 0.0 or run.n == 0:
        return _NOTHING
    theta, k, row = _first_crossing(run, head)
    if k < 0:
        return _NOTHING
    q = int(head[when_at(head) + k])
    run.last_guard = -1
    if row < 0:
        code = call_hook(run.hook_locate, run.h, run.r, _SHORTER * theta, -1)
        run.last_guard = run.found_guard
        return code
    at = pointer(int(head[STEPS]))[row]
    is_up = head[begun_at(head) + k] < at - slack_of(head, at)
    for _ in range(_CORRECTIONS):
        code = call_hook(run.hook_locate, run.h, run.r, theta, -1)
        if code != 0 or run.found_guard >= 0 or not run.step > 0.0:
            run.last_guard = run.found_guard
            return code
        gap = at - run.y_new[q]
        if abs(gap) <= 0.1 * nearly(head, at):
            break
        slope = 0.0
        for d in range(run.degree - 1, -1, -1):
            slope += (d + 1.0) * run.coefficients[d, q]
        theta = 1.0 + gap / slope if slope != 0.0 else 1.0
        if not 0.5 < theta < 1.5:
            break
    head[CROSSED] = k + 1.0
    head[CROSSED_AT] = at
    head[CROSSED_UP] = 1.0 if is_up else -1.0
    head[CROSSED_ROW] = float(row)
    return 0
