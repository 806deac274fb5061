"""A divisor that comes to zero inside a step: the right side has a pole there, which no method sees that only looks at both sides of it.

In: a step's polynomial, and what the right side divides by (``compiled.divisors``). Out: where the first pole lies. A divisor is followed through
samples; where its sign changes, or a dip between samples comes down to zero, the rates on both sides say what is there. At a pole of first or higher
order, |rate| times the distance from it does not shrink with the distance: so much an unknown would change where it comes near (its residue, for a
simple pole). A quotient whose numerator vanishes too leaves none, or as little as the numerator is known to; such a place is passed. A numerator
vanishes if it is smaller there, by far, than elsewhere in the step, and its residue within some tolerances.

Close to a pole the iteration of an implicit method may also end far from what its equations say, and turn back: a divisor grows though the rates at
both ends of the step and in its middle make it fall. Such a step is not believed either.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.events.guards import polynomial_point
from tidegate.events.restart import consistent_point, derivatives
from tidegate.events.tolerances import EPS

__all__ = ["first_pole", "is_at_the_pole", "rates_at"]

_SAMPLES: Final = 4  # of a step: both ends and two between
_EDGE: Final = 1e-6  # of a step: a zero so near to an event is left to it, since the event leaves the mode at that instant
_COMES_DOWN: Final = 0.5  # of a sample: a parabola whose lowest point is above is no reason to look again
_LEAPS: Final = 4.0  # of the first sample: a divisor that falls at first and is so much larger at the second has been somewhere in between
_TOUCHES: Final = 1e-8  # of the largest sample: a dip that comes down so far touches zero
_NONE: Final = 2.0  # a part of the step that it does not have
_NEVER: Final = 1e300  # parts of a step
_NEAREST: Final = 1e-10  # of a step: first distance from a zero at which rates are looked at
_FARTHEST: Final = 1e-4  # a zero that rounding blurs over more than that is taken for a pole
_APART: Final = 1e3  # ratio of the two distances at which they are looked at
_SHRINKS: Final = 0.3  # of |rate| times distance, which of a bounded rate would shrink by that ratio
_TOLERANCES: Final = 10.0  # a numerator that vanishes on the solution does so on the step's polynomial within some tolerances ...
_VANISHES: Final = 0.05  # ... and within this part of what it is at other places
_INVISIBLE: Final = 1e-6  # of a tolerance: so small are residues of nothing
_ROUNDINGS: Final = 64 * EPS  # of an unknown: likewise
_GROWS: Final = 0.1  # of a divisor: if it grows by more though the rates make it fall, the step has turned back
_KEPT: Final = 0.1  # of such a step at most
_AHEAD: Final = 1e-3  # of a step: over this the rate of a divisor is measured
_NEXT: Final = 1e-3  # of the time gone by: a divisor that would be gone so soon, before a step that has turned back, comes to zero there
_AT_HAND: Final = 1e-9  # of the time: nearer to a pole no shorter step is tried


@native
def is_at_the_pole(run):
    """True where the way to the pole just found is too short for another step."""
    return run.pole_theta * run.step <= _AT_HAND * max(abs(run.t), run.time_size)


@native
def _values_at(run, t, step, theta, out):
    """All divisors at a point of the step."""
    point = run.pole_point
    polynomial_point(run.n, run.degree, run.y, run.coefficients, theta, point)
    call_value(run.f_divisors, t + theta * step, point, run.p, run.m, out)


@native
def _value_at(run, t, step, k, theta):
    _values_at(run, t, step, theta, run.divisor_scratch)
    return run.divisor_scratch[k]


@native
def _bisected(run, t, step, k, sign, low, high):
    """Where the divisor changes its sign."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if sign * _value_at(run, t, step, k, middle) > 0.0:
            low = middle
        else:
            high = middle
    return high


@native
def _touching(run, t, step, k, sign, low, high, largest):
    """Where between two samples a dip comes down to zero or below (thirds; its bottom need not be smooth); _NONE if it does not."""
    for _ in range(100):
        left = low + (high - low) / 3.0
        right = high - (high - low) / 3.0
        if not low < left < right < high:
            break
        at_left = sign * _value_at(run, t, step, k, left)
        at_right = sign * _value_at(run, t, step, k, right)
        if at_left <= 0.0 or at_right <= 0.0:
            return _bisected(run, t, step, k, sign, low, left if at_left <= 0.0 else right)
        if at_left < at_right:
            high = right
        else:
            low = left
    return low if sign * _value_at(run, t, step, k, low) <= _TOUCHES * largest else _NONE


@native
def _zero(run, t, step, k, low, width):
    """First zero of a divisor behind ``low``; _NONE if the samples tell of none."""
    values = run.divisor_values
    sign = 1.0 if values[0, k] > 0.0 or (values[0, k] == 0.0 and values[1, k] > 0.0) else -1.0
    largest = 0.0
    for i in range(_SAMPLES):
        if not abs(values[i, k]) < 1e300:
            return _NONE
        largest = max(largest, abs(values[i, k]))
    part = width / (_SAMPLES - 1)
    for i in range(1, _SAMPLES):
        here = sign * values[i, k]
        if here <= 0.0:
            return _bisected(run, t, step, k, sign, low + (i - 1) * part, low + i * part)
        if i == 1 and here > _LEAPS * sign * values[0, k] and sign * _value_at(run, t, step, k, low + _AHEAD * width) < sign * values[0, k]:
            theta = _touching(run, t, step, k, sign, low, low + part, abs(values[0, k]))
            if theta < _NONE:
                return theta
        if i == _SAMPLES - 1:
            break
        before = sign * values[i - 1, k]
        after = sign * values[i + 1, k]
        bend = before - 2.0 * here + after
        slope = after - before
        if here <= before and here <= after and bend > 0.0 and here - slope * slope / (8.0 * bend) < _COMES_DOWN * here:
            theta = _touching(run, t, step, k, sign, low + (i - 1) * part, low + (i + 1) * part, largest)
            if theta < _NONE:
                return theta
    return _NONE


@native
def _distance(run, t, step, k, theta):
    """How near to a zero, as a part of the step, the divisor is more than rounding."""
    near = _NEAREST
    while near < _FARTHEST:
        ahead = abs(_value_at(run, t, step, k, theta + near))
        behind = abs(_value_at(run, t, step, k, theta - near))
        farther = abs(_value_at(run, t, step, k, theta + 2.0 * near))
        if 0.5 * behind < ahead < 2.0 * behind and 1.5 * ahead < farther < 6.0 * ahead:
            break
        near *= 10.0
    return near


@native
def rates_at(run, t, step, theta):
    """The rates of all unknowns at a point of the step, into run.pole_rate; 0 if there are such."""
    polynomial_point(run.n, run.degree, run.y, run.coefficients, theta, run.pole_point)
    time = t + theta * step
    code = consistent_point(run, time, run.pole_point_at)
    return code if code != 0 else derivatives(run, time, run.pole_point_at, run.pole_rate_at)


@native
def _numerators(run, t, step, k, low, width):
    """The largest |rate| times divisor at the samples, into run.pole_numerators."""
    largest = run.pole_numerators
    rate = run.pole_rate
    for q in range(run.n):
        largest[q] = 0.0
    for i in range(_SAMPLES):
        if rates_at(run, t, step, low + width * i / (_SAMPLES - 1)) == 0:
            divisor = abs(run.divisor_values[i, k])
            for q in range(run.n):
                largest[q] = max(largest[q], abs(rate[q]) * divisor)


@native
def _is_pole(run, t, step, k, theta, low, width):
    """True unless the rates stay bounded about a zero of the divisor, but for what nobody can know of its numerator."""
    n = run.n
    y = run.y
    rate = run.pole_rate
    near = _distance(run, t, step, k, theta)
    if not near < _FARTHEST:
        return True
    _numerators(run, t, step, k, low, width)
    for side in range(2):
        way = near if side == 0 else -near
        if rates_at(run, t, step, theta + _APART * way) != 0:
            continue
        for q in range(n):
            run.pole_far[q] = abs(rate[q]) * _APART * near * step
        if rates_at(run, t, step, theta + way) != 0:
            continue
        divisor = abs(_value_at(run, t, step, k, theta + way))
        for q in range(n):
            if run.is_algebraic[q] == 1:
                continue
            residue = abs(rate[q]) * near * step
            if not residue > _SHRINKS * run.pole_far[q]:
                continue
            tolerance = run.atol[q] + run.rtol * abs(y[q])
            if residue > _TOLERANCES * tolerance:
                return True
            least = max(_INVISIBLE * tolerance, _ROUNDINGS * abs(y[q]))
            if residue > least and abs(rate[q]) * divisor > _VANISHES * run.pole_numerators[q]:
                return True
    return False


@native
def _time_left(run, t, step, k, sign, theta):
    """When a divisor would be gone, as a part of the step, at the rates that hold at a point of it; _NEVER if it does not fall."""
    if rates_at(run, t, step, theta) != 0:
        return _NEVER
    time = t + theta * step
    call_value(run.f_divisors, time, run.pole_point, run.p, run.m, run.divisor_scratch)
    here = sign * run.divisor_scratch[k]
    for q in range(run.n):
        run.pole_point[q] += _AHEAD * step * run.pole_rate[q]
    call_value(run.f_divisors, time + _AHEAD * step, run.pole_point, run.p, run.m, run.divisor_scratch)
    lost = here - sign * run.divisor_scratch[k]
    return _AHEAD * here / lost if lost > 0.0 else _NEVER


@native
def _turned_back_before(run, t, step, k):
    """Where a divisor comes to zero that grows over the whole step against the rates in it; _NEVER if it does not."""
    before = run.divisor_values[0, k]
    after = run.divisor_values[_SAMPLES - 1, k]
    sign = 1.0 if before > 0.0 else -1.0
    if not sign * (after - before) > _GROWS * abs(before):
        return _NEVER
    if not (_time_left(run, t, step, k, sign, 0.5) < _NEVER and _time_left(run, t, step, k, sign, 1.0) < _NEVER):
        return _NEVER
    return _time_left(run, t, step, k, sign, 0.0)


@kernel_entry(NUMBER, NUMBER, NUMBER, INTEGER)
def first_pole(run, t, low, high, is_event):
    """1 if the step from the current point has a pole between two parts of it, at run.pole_theta, the divisor in run.failed_divisor; else 0.

    With ``is_event`` the mode is left at ``high``, and a pole just there is none.
    """
    step = run.step
    n = run.n
    width = high - low
    if not width > 0.0 or not step > 0.0:
        return 0
    for i in range(_SAMPLES):
        _values_at(run, t, step, low + width * i / (_SAMPLES - 1), run.divisor_values[i])
    whole = low == 0.0 and high == 1.0
    if whole:
        # to the last bit where the next step starts
        call_value(run.f_divisors, t + step, run.y_end, run.p, run.m, run.divisor_values[_SAMPLES - 1])
    first = low + _EDGE * width if low > 0.0 else low
    last = high - _EDGE * width if is_event == 1 else high
    best = _NONE
    for k in range(run.n_divisors):
        theta = _zero(run, t, step, k, low, width)
        if theta == _NONE and whole:
            left = _turned_back_before(run, t, step, k)
            if left < _NEVER:
                run.failed_divisor = k
                run.pole_time = t + left * step
                # at it, or once more from half the way
                run.pole_theta = 0.0 if left * step < _NEXT * (t - run.t_start) else min(left, 2.0 * _KEPT)
                return 1
        if not first <= theta <= last or not theta < best:
            continue
        if n > 0 and run.rank < n:
            run.needs_jacobian = 1  # the one of the step makes way for those about the zero
        if _is_pole(run, t, step, k, theta, low, width):
            best = theta
            run.failed_divisor = k
    run.pole_theta = best
    run.pole_time = t + best * step
    return 1 if best < _NONE else 0
