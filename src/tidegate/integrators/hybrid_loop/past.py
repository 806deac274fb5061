"""The past that a model looks back at: polynomials of its steps, kept as long as a delay reaches, and the places where it is not smooth.

In: the steps of the run, as they are committed. Out: values of ``past`` in the model's equations (``look_back``, called by their machine code), and
times that no step may pass (Bellen and Zennaro, Numerical Methods for Delay Differential Equations, 2003, chapters 2 and 4: a jump of the past is one
of the slope a delay later, and of one derivative more a delay after that). A step is no longer than the shortest delay, so that all that it reads is
known.

The memory is made by ``integrators.past_memory``, and stands by itself, since it grows: a head, whose first numbers are named here, then delays, then
places of unknowns; steps as rows [start, end, length, degree, values, coefficients]; breaks as pairs [time, level].
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import NEVER, pointer

__all__ = [
    "BREAKS",
    "BREAK_COUNT",
    "BREAK_ROOM",
    "COUNT",
    "DELAYS",
    "FIRST",
    "HEAD",
    "LEVELS",
    "LOOK",
    "NOW",
    "N_DELAYS",
    "N_KEPT",
    "ROOM",
    "START",
    "STEPS",
    "WIDTH",
    "arrive",
    "begin_past",
    "break_again",
    "come_to_here",
    "give_up_last_step",
    "is_full",
    "keep_step",
    "look_back",
    "next_break",
]

# places in the head
LOOK: Final = 0  # address of ``look_back``
NOW: Final = 1  # to where the run has come: a step that is looked at begins there
START: Final = 2  # of the run
COUNT: Final = 3  # of steps that are kept
FIRST: Final = 4  # place of the oldest of them; they stand in a ring
ROOM: Final = 5  # for so many
WIDTH: Final = 6  # of one
N_KEPT: Final = 7  # unknowns that are kept
STEPS: Final = 8  # address of the steps
BREAKS: Final = 9  # address of the breaks
BREAK_COUNT: Final = 10
BREAK_ROOM: Final = 11
N_DELAYS: Final = 12
LEVELS: Final = 13  # so many derivatives must be smooth for the method
DELAYS: Final = 16  # where delays begin
HEAD: Final = 16
_SAME: Final = 1e-12  # of a time: two breaks so near are one, and there a step lies on the side it has come to


@native
def _slack(head, t):
    return _SAME * max(abs(t), abs(head[START]), abs(head[NOW]))


@native
def _step_at(head, steps, s, slack):
    """Number of the last kept step that begins at s or before; 0 where none does."""
    low = 0
    high = int(head[COUNT])
    first = int(head[FIRST])
    room = int(head[ROOM])
    width = int(head[WIDTH])
    while high - low > 1:
        middle = (low + high) // 2
        if steps[((first + middle) % room) * width] <= s + slack:
            low = middle
        else:
            high = middle
    return low


@kernel_entry(NUMBERS, NUMBERS, of_a_run=False)
def look_back(given, out):
    """A value of the past, or a derivative of it: [where the past stands, s, what was before the start, how long ago, unknown, how often derived]."""
    head = pointer(int(given[0]))
    s = given[1]
    ago = given[3]
    order = int(given[5])
    count = int(head[COUNT])
    slack = _slack(head, s)
    # the side of a break is that to which the step has come
    begun = head[NOW] - ago
    if begun < head[START] - slack or count == 0:
        out[0] = given[2]
        return 0
    if order < 0:
        out[0] = 0.0
        return 0
    steps = pointer(int(head[STEPS]))
    first = int(head[FIRST])
    room = int(head[ROOM])
    width = int(head[WIDTH])
    k = _step_at(head, steps, begun, slack)
    while k + 1 < count and s > steps[((first + k) % room) * width + 1] + slack:
        k += 1
    while k > 0 and s < steps[((first + k) % room) * width] - slack:
        k -= 1
    row = ((first + k) % room) * width
    n = int(head[N_KEPT])
    slot = int(head[DELAYS + int(head[N_DELAYS]) + int(given[4])])
    length = steps[row + 2]
    degree = int(steps[row + 3])
    theta = (s - steps[row]) / length
    value = 0.0
    for d in range(degree, order - 1, -1):
        c = steps[row + 4 + d * n + slot]
        for j in range(order):
            c *= (d - j) / length
        value = value * theta + c
    out[0] = value
    return 0


@native
def begin_past(run):
    """The run begins: nothing is kept, and what was before its start breaks off there."""
    if run.past == 0:
        return
    head = pointer(run.past)
    head[NOW] = run.t
    head[START] = run.t
    head[COUNT] = 0.0
    head[FIRST] = 0.0
    head[BREAK_COUNT] = 0.0
    break_again(run, 0)


@native
def keep_step(run):
    """Keep the step about to be committed; forget those that no delay reaches any more."""
    if run.past == 0 or run.step <= 0.0:
        return
    head = pointer(run.past)
    steps = pointer(int(head[STEPS]))
    room = int(head[ROOM])
    width = int(head[WIDTH])
    n = int(head[N_KEPT])
    n_delays = int(head[N_DELAYS])
    longest = head[DELAYS + n_delays - 1]
    slack = _slack(head, run.t)
    while head[COUNT] > 1.0 and steps[int(head[FIRST]) * width + 1] < run.t - longest - slack:
        head[FIRST] = float((int(head[FIRST]) + 1) % room)
        head[COUNT] -= 1.0
    row = ((int(head[FIRST]) + int(head[COUNT])) % room) * width
    steps[row] = run.t
    steps[row + 1] = run.t + run.step
    steps[row + 2] = run.length
    steps[row + 3] = float(run.degree)
    coefficients = run.coefficients
    for q in range(run.n):
        slot = int(head[DELAYS + n_delays + q])
        if slot >= 0:
            steps[row + 4 + slot] = run.y[q]
            for d in range(run.degree):
                steps[row + 4 + (d + 1) * n + slot] = coefficients[d, q]
    head[COUNT] += 1.0


@native
def come_to_here(run):
    """The run stands inside a step, of which the part until there is kept."""
    if run.past != 0:
        pointer(run.past)[NOW] = run.t


@native
def give_up_last_step(run):
    """That step is taken up again, whole."""
    if run.past != 0:
        head = pointer(run.past)
        head[COUNT] -= 1.0
        head[NOW] = run.t


@native
def is_full(run):
    """True if the next step might find no room."""
    if run.past == 0:
        return False
    head = pointer(run.past)
    return head[COUNT] >= head[ROOM] - 2.0 or head[BREAK_COUNT] >= head[BREAK_ROOM] - 4.0 * head[N_DELAYS] - 4.0


@native
def _put_break(head, time, level):
    """Note a break; of two at one time the lower level counts."""
    breaks = pointer(int(head[BREAKS]))
    count = int(head[BREAK_COUNT])
    slack = _slack(head, time)
    k = count
    while k > 0 and breaks[2 * (k - 1)] > time + slack:
        k -= 1
    if k > 0 and breaks[2 * (k - 1)] >= time - slack:
        breaks[2 * k - 1] = min(breaks[2 * k - 1], level)
        return
    if count >= int(head[BREAK_ROOM]):
        return  # what is lost only costs steps
    for j in range(count, k, -1):
        breaks[2 * j] = breaks[2 * j - 2]
        breaks[2 * j + 1] = breaks[2 * j - 1]
    breaks[2 * k] = time
    breaks[2 * k + 1] = level
    head[BREAK_COUNT] += 1.0


@native
def break_again(run, level):
    """A break at the current time comes again after every delay, one level higher."""
    if run.past == 0:
        return
    head = pointer(run.past)
    if level >= head[LEVELS]:
        return
    for k in range(int(head[N_DELAYS])):
        _put_break(head, run.t + head[DELAYS + k], level + 1.0)


@native
def arrive(run):
    """The run has come to the end of a step; True if the past breaks there."""
    if run.past == 0:
        return False
    head = pointer(run.past)
    head[NOW] = run.t
    breaks = pointer(int(head[BREAKS]))
    slack = _slack(head, run.t)
    passed = 0
    count = int(head[BREAK_COUNT])
    lowest = head[LEVELS] + 1.0
    while passed < count and breaks[2 * passed] <= run.t + slack:
        lowest = min(lowest, breaks[2 * passed + 1])
        passed += 1
    if passed == 0:
        return False
    for k in range(passed, count):
        breaks[2 * (k - passed)] = breaks[2 * k]
        breaks[2 * (k - passed) + 1] = breaks[2 * k + 1]
    head[BREAK_COUNT] -= float(passed)
    break_again(run, lowest)
    return True


@native
def next_break(run):
    """The time of the next break; that behind every other where there is none."""
    if run.past == 0:
        return NEVER
    head = pointer(run.past)
    if head[BREAK_COUNT] == 0.0:
        return NEVER
    return pointer(int(head[BREAKS]))[0]
