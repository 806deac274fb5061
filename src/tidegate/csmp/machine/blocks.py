"""What each block type does when it is executed once, natively (stage: csmp).

Source: the CSMP-10(ARL) report, ARL/Aero. Note 362, Table 1 and Appendices B, G and H.
"""

from __future__ import annotations

import math

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import integers, vector
from tidegate.csmp.machine import offsets as m

__all__ = ["execute", "formula", "input_of", "integrate", "is_rare"]

_NOTHING = 1e-30  # an implicit equation's value that counts as zero
_SHORTEST_PERIOD = 1e-9  # of a step; a shorter one would only count changes nobody sees
_MULTIPLIER = 630360016  # 14^29 modulo _MODULUS, the generator of the PDP-10's FORTRAN library
_MODULUS = 2147483647


@native
def input_of(h, r, b, i):
    """Output of the block at input i (1..3) of block b, with the input's sign."""
    source = h[h[m.O_MATRIX] + 5 * b + i]
    value = r[h[m.O_X] + abs(source)]
    return -value if source < 0 else value


@native
def _lagrange(abscissae_ordinates, first, n_points, x):
    """Polynomial through consecutive points."""
    total = 0.0
    for i in range(first, first + n_points):
        term = abscissae_ordinates[2 * i + 1]
        for j in range(first, first + n_points):
            if j != i:
                term *= (x - abscissae_ordinates[2 * j]) / (abscissae_ordinates[2 * i] - abscissae_ordinates[2 * j])
        total += term
    return total


@native
def _interpolated(pairs, first, count, degree, x):
    """Ordinate at x by the window of degree + 1 pairs that lies about it, pushed inside at the ends."""
    low = first
    high = first + count
    while low < high:  # how many abscissae are not above x
        middle = (low + high) // 2
        if pairs[2 * middle] <= x:
            low = middle + 1
        else:
            high = middle
    n_left = low - first
    if degree % 2 == 1:
        start = n_left - (degree + 1) // 2
    else:
        nearest = n_left - 1
        if n_left == 0 or (n_left < count and pairs[2 * low] - x < x - pairs[2 * (low - 1)]):
            nearest = n_left
        start = nearest - degree // 2
    start = first + min(max(start, 0), count - degree - 1)
    if degree == 1:
        x0 = pairs[2 * start]
        y0 = pairs[2 * start + 1]
        return y0 + (pairs[2 * start + 3] - y0) / (pairs[2 * start + 2] - x0) * (x - x0)
    return _lagrange(pairs, start, degree + 1, x)


@native
def _call_routine(h, r, b):
    """Run a user routine; where it hands back additional outputs, put them in place."""
    address = h[h[m.O_ADDRESS] + b]
    if address == 0:
        return m.STOP_NOT_LOADED
    given = vector(r, h[m.O_GIVEN], 4)
    taken = vector(r, h[m.O_TAKEN], 1)
    x = vector(r, h[m.O_X], h[m.N_PLACES])
    for i in range(3):
        given[i] = input_of(h, r, b, i + 1)
    given[3] = h[m.STAGE]
    first = h[h[m.O_FIRST_EXTRA] + b]
    n_extras = h[h[m.O_N_EXTRAS] + b]
    extras = integers(h, h[m.O_EXTRAS] + first, n_extras)
    call_value(address, r[m.T], x, vector(r, h[m.O_P], 3 * h[m.N_PLACES]), given, taken)
    if h[m.IS_FAILED] != 0:
        return m.STOP_ROUTINE
    x[b] = taken[0]
    for i in range(n_extras):
        x[extras[i]] = r[h[m.O_TAKEN] + 1 + i]
    return 0


@native
def _function(h, r, b):
    """A function block."""
    x = vector(r, h[m.O_X], h[m.N_PLACES])
    degree = int(r[h[m.O_P] + 3 * b])
    if degree < 0:
        return _call_routine(h, r, b)
    first = h[h[m.O_FIRST_PAIR] + b]
    count = h[h[m.O_N_PAIRS] + b]
    pairs = vector(r, h[m.O_PAIRS], 2 * (first + count))
    # a routine may have written P1: never more points than there are
    x[b] = _interpolated(pairs, first, count, min(max(degree, 1), count - 1), input_of(h, r, b, 1))
    return 0


@native
def _pulse(h, r, b):
    """A time pulse generator: P2 counts down to the next change, M tells whether a train is on."""
    x = vector(r, h[m.O_X], h[m.N_PLACES])
    p = vector(r, h[m.O_P] + 3 * b, 3)
    is_on = h[m.O_MATRIX] + 5 * b + 4
    step = r[m.STEP]
    if input_of(h, r, b, 1) < 0.0:
        x[b] = 0.0
        h[is_on] = 0
        return 0
    if h[is_on] != 1:
        x[b] = 1.0
        h[is_on] = 1
        if not p[0] > _SHORTEST_PERIOD * step:
            return m.STOP_PERIOD
        p[1] = 0.5 * (step - p[0]) + 1e-4 * min(step, p[0])
        return 0
    while p[1] >= 0.0:
        x[b] = 1.0 - x[b]
        p[1] -= 0.5 * p[0]
    p[1] += 0.5 * step
    return 0


@native
def _begin_implicit(h, r, b):
    """A V block: what it holds is the first guess; no iterate comes before it."""
    r[h[m.O_P] + 3 * b + 1] = 0.0
    r[h[m.O_P] + 3 * b + 2] = 0.0
    return 0


@native
def _iterate(h, r, b):
    """A Y block: one iteration of Wegstein's method; 1 if the blocks behind its V are to be executed again."""
    tape = integers(h, h[m.O_TAPE], h[m.N_TAPE])
    count = integers(h, h[m.O_COUNT], h[m.N_PLACES])
    x = vector(r, h[m.O_X], h[m.N_PLACES])
    v = tape[h[h[m.O_GUESS] + b]]
    p = vector(r, h[m.O_P] + 3 * b, 3)
    before = vector(r, h[m.O_P] + 3 * v, 3)  # P2 and P3 of V: guess and value of the iteration before
    limit = r[h[m.O_LIMIT] + b]
    guess = x[v]
    value = input_of(h, r, b, 1)
    new = value
    p[1] = limit
    n = count[b]
    if n > 0 and guess != before[1]:
        slope = (value - before[2]) / (guess - before[1])
        p[1] = slope
        if slope != 1.0:
            p[2] = slope / (slope - 1.0)
            new = p[2] * guess + (1.0 - p[2]) * value
    is_near = abs(new - guess) < abs(guess) * p[0] or (abs(guess) <= _NOTHING and abs(new) < _NOTHING)
    h[h[m.O_MATRIX] + 5 * b + 4] = n
    x[b] = new
    x[v] = new
    if is_near or n + 1 > limit:
        p[1] = limit
        count[b] = 0
        return 0 if is_near else 2
    before[1] = guess
    before[2] = value
    count[b] = n + 1
    return 1


@native
def integrate(h, r, ox, op, om, b, code):
    """An I or T1 block on the pass: reset, hold, and the rate for the coming half step."""
    x1 = r[ox + h[om + 5 * b + 1]]
    x2 = r[ox + h[om + 5 * b + 2]]
    x3 = r[ox + h[om + 5 * b + 3]]
    p = op + 3 * b
    if code == m.LAG:
        r[h[m.O_RATE] + b] = (x1 + x2 + x3 - r[ox + b]) / r[p + 1]
        return 0
    if x3 != 0.0:
        r[ox + b] = r[p]
        if h[m.STAGE] != m.HALF_CODE:
            r[h[m.O_BASE] + b] = r[p]
    rate = x1 * (1.0 + r[p + 1]) + r[p + 2]
    r[h[m.O_RATE] + b] = 0.0 if x2 != 0.0 else rate
    return 0


@native
def _remember(h, r, b, code, is_again):
    """Blocks with memory: they advance once a half step, also inside an implicit loop."""
    x = vector(r, h[m.O_X], h[m.N_PLACES])
    if code == m.HOLD:
        p = vector(r, h[m.O_P] + 3 * b, 3)
        if not is_again:
            p[1] = x[b]
        if h[m.STAGE] != m.INITIAL_CODE:
            x[b] = input_of(h, r, b, 1) if input_of(h, r, b, 2) > 0.0 else p[1]
        return 0
    if is_again:
        return 0
    if code == m.PULSE:
        return _pulse(h, r, b)
    h[m.SEED] = h[m.SEED] * _MULTIPLIER % _MODULUS
    x[b] = 2.0 * h[m.SEED] / _MODULUS - 1.0
    return 0


@native
def _signed(h, r, ox, place):
    """An input of a summer; a choice of two numbers costs less than a branch."""
    source = h[place]
    value = r[ox + abs(source)]
    return -value if source < 0 else value


@native
def formula(h, r, ox, op, om, b, code):
    """A block whose output follows from its inputs and parameters; only a summer's inputs have signs."""
    place = om + 5 * b
    y = ox + b
    if code == m.SUMMER:
        r[y] = _signed(h, r, ox, place + 1) + _signed(h, r, ox, place + 2) + _signed(h, r, ox, place + 3)
        return 0
    p1 = r[op + 3 * b]
    p2 = r[op + 3 * b + 1]
    x1 = r[ox + h[place + 1]]
    x2 = r[ox + h[place + 2]]
    x3 = r[ox + h[place + 3]]
    if code == m.WEIGHTED:
        r[y] = p1 * x1 + p2 * x2 + r[op + 3 * b + 2] * x3
    elif code == m.GAIN:
        r[y] = p1 * x1
    elif code == m.MULTIPLIER:
        r[y] = x1 * x2
    elif code == m.DIVIDER:
        if x2 == 0.0:
            return m.STOP_DIVISION
        r[y] = x1 / x2
    elif code == m.INVERTER:
        r[y] = -x1
    elif code == m.OFFSET:
        r[y] = x1 + p1
    elif code == m.MAGNITUDE:
        r[y] = abs(x1)
    elif code == m.ROOT:
        if x1 < 0.0:
            return m.STOP_ROOT
        r[y] = math.sqrt(x1)
    elif code == m.BANG:
        r[y] = 1.0 if x1 >= 0.0 else -1.0
    elif code == m.DEAD:
        r[y] = x1 - p1 if x1 > p1 else (x1 - p2 if x1 < p2 else 0.0)
    elif code == m.LIMITER:
        r[y] = p1 if x1 > p1 else (p2 if x1 < p2 else x1)  # noqa: FURB136, as the report states it, also for NaN
    elif code == m.NEGATIVE:
        r[y] = x1 if x1 > 0.0 else 0.0  # noqa: FURB136
    elif code == m.POSITIVE:
        r[y] = x1 if x1 < 0.0 else 0.0  # noqa: FURB136
    elif code == m.RELAY:
        r[y] = x2 if x1 >= 0.0 else x3
    elif code == m.QUIT:
        h[h[m.O_FIRED] + b] = 1 if x1 > x2 else 0
    return 0


@native
def execute(h, r, b, at, code):
    """A block of the rarer kinds; a code of ``places`` if it stops the run, -1 to go back to its V, -2 if its iteration did not converge."""
    is_again = at < h[m.AGAIN]
    if code == m.FUNCTION:
        return _function(h, r, b)
    if code == m.HOLD or code == m.PULSE or code == m.JITTER:  # noqa: PLR1714
        return _remember(h, r, b, code, is_again)
    if code == m.VACUOUS:
        return _begin_implicit(h, r, b)
    if code == m.WYE:
        outcome = _iterate(h, r, b)
        if outcome == 1:
            return -1
        if at == h[m.AGAIN]:
            h[m.AGAIN] = -1
        return -2 if outcome == 2 else 0
    return _call_routine(h, r, b)


@native
def is_rare(code):
    """Kinds with a memory, a table, a loop or a routine; the others are formulas, and most of all diagrams."""
    if code == m.FUNCTION or code == m.HOLD or code == m.PULSE:  # noqa: PLR1714
        return True
    return code == m.JITTER or code == m.VACUOUS or code == m.WYE or code > m.LAG  # noqa: PLR1714
