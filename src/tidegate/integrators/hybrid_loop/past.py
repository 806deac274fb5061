"""The past that a model looks back at: polynomials of its steps, kept as long as a delay reaches, with those of their derivatives by parameters.

In: the steps of the run, as they are committed. Out: values of ``past`` in the model's equations (``look_back``, called by their machine code). Where
the past is not smooth, and what follows from that, is the matter of ``breaks``. A step is no longer than the shortest delay, so that all that it
reads is known.

A step reads of each delay one smooth piece of the past only, and beyond its end that piece continued: which one it is, ``begun`` says, the time that
the delay has come to at the start of the step. A delay that varies has an unknown that says when it looks back at.

The memory is made by ``integrators.past_memory``, and stands by itself, since it grows: a head, whose first numbers are named here, then sections of
numbers for each delay, for each parameter, for each unknown; steps as rows [start, end, length, degree, level of the break at the start, how its time
moves, values and coefficients, these of each derivative]; breaks as rows [time, level, delay, how the time moves].
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import NUMBERS, kernel_entry, native
from tidegate.compiled.pointers import pointer

__all__ = [
    "AGO",
    "BREAKS",
    "BREAK_COUNT",
    "BREAK_ROOM",
    "BREAK_START",
    "COUNT",
    "CROSSED",
    "CROSSED_AT",
    "CROSSED_ROW",
    "CROSSED_UP",
    "DEGREE",
    "FIRST",
    "FLAG",
    "HEAD",
    "KEEPS_ALL",
    "LAST_BREAK",
    "LEVELS",
    "LOCKED",
    "LOOK",
    "NOW",
    "N_DELAYS",
    "N_KEPT",
    "N_SENS",
    "ROOM",
    "ROW_START",
    "SMOOTH",
    "START",
    "STEPS",
    "STEP_MAX",
    "TOLERANCE",
    "WIDTH",
    "begun_at",
    "come_to_here",
    "flag_rates_at",
    "give_up_last_step",
    "held_at",
    "is_full",
    "keep_sensitivity",
    "keep_step",
    "last_rates_at",
    "lock_past",
    "look_back",
    "nearly",
    "piece_of",
    "rates_at",
    "reach_here",
    "row_at",
    "slack_of",
    "slope_at",
    "slots_at",
    "unlock_past",
    "when_at",
]

# places in the head
LOOK: Final = 0  # address of ``look_back``
STEPS: Final = 1  # address of the steps
BREAKS: Final = 2  # address of the breaks
COUNT: Final = 3  # of steps that are kept
FIRST: Final = 4  # place of the oldest of them; they stand in a ring
ROOM: Final = 5  # for so many
WIDTH: Final = 6  # of one
BREAK_COUNT: Final = 7
BREAK_ROOM: Final = 8
N_KEPT: Final = 9  # unknowns that are kept
N_DELAYS: Final = 10
N_SENS: Final = 11  # derivatives that are kept of each
DEGREE: Final = 12  # largest degree of a step's polynomial
LEVELS: Final = 13  # so many derivatives must be smooth for the method
KEEPS_ALL: Final = 14  # 1 where a delay varies: nobody knows how far it will reach
STEP_MAX: Final = 15  # as the user and the shortest delay that does not vary want it
TOLERANCE: Final = 16  # relative, of the run
START: Final = 17  # of the run
NOW: Final = 18  # to where the run has come
FLAG: Final = 19  # level of the break at the start of the next step; SMOOTH where there is none
LAST_BREAK: Final = 20  # when the past last broke
LOCKED: Final = 21  # 0 at events, where the piece of a delay that varies follows from where it looks
CROSSED: Final = 22  # number of a delay, from one, that comes to a break with the step just found; 0 for none
CROSSED_AT: Final = 23  # when that break was
CROSSED_UP: Final = 24  # 1 if it is left behind, -1 if the delay goes back across it
CROSSED_ROW: Final = 25  # place of the step that begins with it
HEAD: Final = 26
AGO: Final = HEAD  # section: how long ago, for each delay
ROW_START: Final = 5  # of a step: where what is kept of it begins, behind how the time of the break moves
BREAK_START: Final = 3
SMOOTH: Final = 1e9
_SAME: Final = 1e-12  # of a time: two breaks so near are one, and there a step lies on the side it has come to
_NEAR: Final = 1e-3  # of the tolerance: nearer a delay that varies does not come to a break


@native
def slack_of(head, t):
    """Times so near are one."""
    return _SAME * max(abs(t), abs(head[START]), abs(head[NOW]))


@native
def nearly(head, t):
    """How near a delay that varies comes to a break."""
    return max(_NEAR * head[TOLERANCE], _SAME) * max(abs(t), abs(head[START]), abs(head[NOW]))


@native
def begun_at(head):
    """Section: to which time each delay has come at the start of the step."""
    return HEAD + int(head[N_DELAYS])


@native
def held_at(head):
    """Section: the same for a step inside which the run stands."""
    return HEAD + 2 * int(head[N_DELAYS])


@native
def when_at(head):
    """Section: the unknown that says when, or -1."""
    return HEAD + 3 * int(head[N_DELAYS])


@native
def slope_at(head):
    """Section: how fast that moved in the last step."""
    return HEAD + 4 * int(head[N_DELAYS])


@native
def rates_at(head):
    """Section: how the delays move with parameters."""
    return HEAD + 5 * int(head[N_DELAYS])


@native
def flag_rates_at(head):
    """Section: how the time of the break at the start of the next step moves."""
    return HEAD + (5 + int(head[N_SENS])) * int(head[N_DELAYS])


@native
def last_rates_at(head):
    """Section: how that of the last break moves."""
    return flag_rates_at(head) + int(head[N_SENS])


@native
def slots_at(head):
    """Section: which of the kept unknowns each is, or -1."""
    return flag_rates_at(head) + 2 * int(head[N_SENS])


@native
def row_at(head, k):
    """Where step number k, counted from the oldest, stands."""
    return ((int(head[FIRST]) + k) % int(head[ROOM])) * int(head[WIDTH])


@native
def piece_of(head, steps, s, slack):
    """Number of the last kept step that begins at s or before; 0 where none does."""
    low = 0
    high = int(head[COUNT])
    while high - low > 1:
        middle = (low + high) // 2
        if steps[row_at(head, middle)] <= s + slack:
            low = middle
        else:
            high = middle
    return low


@native
def _piece_for(head, steps, s, begun, slack, varies):
    """The step that is read at s; a delay that varies goes across no break."""
    count = int(head[COUNT])
    k = piece_of(head, steps, begun, slack)
    while k + 1 < count and s > steps[row_at(head, k) + 1] + slack:
        if varies and steps[row_at(head, k + 1) + 4] < head[LEVELS]:
            break
        k += 1
    while k > 0 and s < steps[row_at(head, k)] - slack:
        if varies and steps[row_at(head, k) + 4] < head[LEVELS]:
            break
        k -= 1
    return k


@kernel_entry(NUMBERS, NUMBERS, of_a_run=False)
def look_back(given, out):
    """A value of the past, or a derivative of it.

    ``given`` is [where the past stands, s, what was before the start, delay, unknown, how often derived or what else is asked, parameter from 1].
    """
    head = pointer(int(given[0]))
    s = given[1]
    delay = int(given[3])
    order = int(given[5])
    slack = slack_of(head, s)
    # the side of a break is that to which the step has come
    begun = head[begun_at(head) + delay]
    varies = head[when_at(head) + delay] >= 0.0
    if varies and head[LOCKED] == 0.0 and not abs(s - begun) <= nearly(head, s):
        begun = s
    if head[COUNT] == 0.0 or begun < head[START] - slack:
        out[0] = given[2]
        return 0
    out[0] = 0.0
    parameter = int(given[6])
    first = 0
    if order <= -2:
        if parameter == 0:
            return 0
        order = -2 - order
        first = parameter * (int(head[DEGREE]) + 1)
    if order < 0:
        return 0
    steps = pointer(int(head[STEPS]))
    row = row_at(head, _piece_for(head, steps, s, begun, slack, varies))
    n = int(head[N_KEPT])
    values = row + ROW_START + int(head[N_SENS]) + first * n + int(head[slots_at(head) + int(given[4])])
    length = steps[row + 2]
    degree = int(steps[row + 3])
    theta = (s - steps[row]) / length
    value = 0.0
    for d in range(degree, order - 1, -1):
        c = steps[values + d * n]
        for j in range(order):
            c *= (d - j) / length
        value = value * theta + c
    out[0] = value
    return 0


@native
def keep_sensitivity(run, i, q, d, coefficient):
    """Keep a coefficient of the polynomial of a derivative by parameter i, of the step that is going to be kept."""
    head = pointer(run.past)
    slot = int(head[slots_at(head) + q])
    if slot >= 0:
        n = int(head[N_KEPT])
        place = row_at(head, int(head[COUNT])) + ROW_START + int(head[N_SENS]) + ((i + 1) * (int(head[DEGREE]) + 1) + d) * n + slot
        pointer(int(head[STEPS]))[place] = coefficient


@native
def _forget(run, head, steps):
    """Forget the steps that no delay reaches any more."""
    longest = 0.0
    for k in range(int(head[N_DELAYS])):
        longest = max(longest, head[AGO + k])
    slack = slack_of(head, run.t)
    while head[KEEPS_ALL] == 0.0 and head[COUNT] > 1.0 and steps[row_at(head, 0) + 1] < run.t - longest - slack:
        head[FIRST] = float((int(head[FIRST]) + 1) % int(head[ROOM]))
        head[COUNT] -= 1.0


@kernel_entry()
def keep_step(run):
    """Keep the step about to be committed of a model with delays; the polynomials of derivatives are there already, but for their start."""
    if run.step <= 0.0:
        return 0
    head = pointer(run.past)
    steps = pointer(int(head[STEPS]))
    n = int(head[N_KEPT])
    ns = int(head[N_SENS])
    _forget(run, head, steps)
    row = row_at(head, int(head[COUNT]))
    steps[row] = run.t
    steps[row + 1] = run.t + run.step
    steps[row + 2] = run.length
    steps[row + 3] = float(run.degree)
    steps[row + 4] = head[FLAG]
    for i in range(ns):
        steps[row + ROW_START + i] = head[flag_rates_at(head) + i]
    values = row + ROW_START + ns
    coefficients = run.coefficients
    for q in range(run.n):
        slot = int(head[slots_at(head) + q])
        if slot >= 0:
            steps[values + slot] = run.y[q]
            for d in range(run.degree):
                steps[values + (d + 1) * n + slot] = coefficients[d, q]
            for i in range(ns):
                keep_sensitivity(run, i, q, 0, run.sens[i, q])
    head[COUNT] += 1.0
    return 0


@native
def reach_here(run, k):
    """The delay has come as far as the run has."""
    head = pointer(run.past)
    when = int(head[when_at(head) + k])
    head[begun_at(head) + k] = run.t - head[AGO + k] if when < 0 else run.y[when]


@native
def come_to_here(run):
    """The run stands inside a step, of which the part until there is kept."""
    if run.past != 0:
        head = pointer(run.past)
        head[NOW] = run.t
        for k in range(int(head[N_DELAYS])):
            head[held_at(head) + k] = head[begun_at(head) + k]
            reach_here(run, k)


@native
def give_up_last_step(run):
    """That step is taken up again, whole."""
    if run.past != 0:
        head = pointer(run.past)
        head[COUNT] -= 1.0
        head[NOW] = run.t
        for k in range(int(head[N_DELAYS])):
            head[begun_at(head) + k] = head[held_at(head) + k]


@native
def unlock_past(run):
    """At an event delays that vary may jump, and with them the piece of the past that is read."""
    if run.past != 0:
        pointer(run.past)[LOCKED] = 0.0


@native
def lock_past(run):
    """From here on each delay reads the piece that it has come to."""
    if run.past != 0:
        lock_delays(run)


@kernel_entry()
def lock_delays(run):
    """The same of a model that has some."""
    head = pointer(run.past)
    head[LOCKED] = 1.0
    for k in range(int(head[N_DELAYS])):
        when = int(head[when_at(head) + k])
        if when >= 0 and not abs(run.y[when] - head[begun_at(head) + k]) <= nearly(head, run.y[when]):
            head[begun_at(head) + k] = run.y[when]
    return 0


@native
def is_full(run):
    """True if the next step might find no room."""
    if run.past == 0:
        return False
    head = pointer(run.past)
    return head[COUNT] >= head[ROOM] - 2.0 or head[BREAK_COUNT] >= head[BREAK_ROOM] - 4.0 * head[N_DELAYS] - 4.0
