"""A narrow peak of the right side inside a step, which no method sees that only looks at places apart from it.

In: a step's polynomial, and functions that are largest where a peak may be: what an exponential is taken of, and minus the size of what is divided
by (``compiled.peaks``). Out: a place before the first such peak that the step has missed. Each function is followed through samples, and its highest
point between them is found; there the equations say whether the polynomial has the peak. If not, and what it adds is more than the tolerance, the
step ends before it, and the next begins as short as the peak is wide.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.events.guards import polynomial_point
from tidegate.events.poles import rates_at

__all__ = ["first_pulse"]

# parts of a step where it is sampled: equal ones would all lie at the same phase of a train of peaks
_SAMPLES: Final = np.array([0.0, 0.113, 0.271, 0.372, 0.517, 0.618, 0.741, 0.893, 1.0])
_PARTS: Final = 8
_EDGE: Final = 1e-7  # of a step: whether a function rises at its start, or falls at its end
_GOLDEN: Final = 0.6180339887498949
_MOST_CUTS: Final = 70  # of the way between samples: down to what a number can tell
_HIDDEN: Final = 3.0  # what an exponential is taken of is so much higher at the peak than where the step was looked at, which saw nothing of it, ...
_HIDDEN_RATIO: Final = 2.0  # ... and what is divided by so much smaller
_HALF: Final = 0.7  # an exponential has halved where its exponent is so much less, ...
_HALF_RATIO: Final = 1.2  # ... a power of a quotient where its divisor is so much larger
_BEFORE: Final = 6.0  # half widths in front of the peak the step ends
_APART: Final = 0.1  # of the way to a peak: the polynomial may lack as much there as it does everywhere, ...
_PLACES: Final = 3  # at ...
_FARTHER: Final = 0.27  # ... parts of the way
_STANDS_OUT: Final = 10.0  # ... and much less than at a peak that it has missed
_PART_OF_THE_WAY: Final = 0.45  # to a peak, at least: from half of it the next step may come to lie just on it, where a factor may vanish


@native
def _height(run, t, theta, k):
    """Of one function on the step's polynomial: the larger, the nearer to a peak."""
    point = run.pole_point
    polynomial_point(run.n, run.degree, run.y, run.coefficients, theta, point)
    call_value(run.f_divisors, t + theta * run.length, point, run.p, run.m, run.divisor_scratch)
    return _higher(run, k, run.divisor_scratch[k])


@native
def _higher(run, k, value):
    return value if k >= run.n_quotients else -abs(value)


@native
def _lies_below(run, k, height, peak, difference, ratio):
    """True if a height is far enough below that of a peak."""
    return height < peak - difference if k >= run.n_quotients else height < ratio * peak


@native
def _highest(run, t, k, low, high):
    """The highest place between two, and how high it is (golden section)."""
    left = high - _GOLDEN * (high - low)
    right = low + _GOLDEN * (high - low)
    at_left = _height(run, t, left, k)
    at_right = _height(run, t, right, k)
    for _ in range(_MOST_CUTS):
        if not low < left < right < high:
            break
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = _height(run, t, left, k)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = _height(run, t, right, k)
    return (left, at_left) if at_left >= at_right else (right, at_right)


@native
def _half_width(run, t, k, theta, peak, room):
    """How far from a peak what it makes has about halved, as a part of the step; ``room`` if it has not within that."""
    width = room
    while width > _EDGE * _EDGE * room:
        half = 0.5 * width
        if not _lies_below(run, k, _height(run, t, theta - half, k), peak, _HALF, _HALF_RATIO):
            break
        width = half
    return width


@native
def _note_defects(run, t, theta, defects):
    """What the equations say at a place and the polynomial does not, for the whole step; False where they have no value."""
    n = run.n
    a = run.coefficients
    if rates_at(run, t, run.length, theta) != 0:
        return False
    rate = run.pole_rate
    for q in range(n):
        slope = 0.0
        for k in range(run.degree - 1, -1, -1):
            slope = slope * theta + (k + 1.0) * a[k, q]
        defects[q] = abs(run.length * rate[q] - slope) if run.is_algebraic[q] == 0 else 0.0
    return True


@native
def _note_defects_apart(run, t, first, theta):
    """The least of them at some places on the way to a peak, one of which may lie in another; False where the equations have no value."""
    if not _note_defects(run, t, first + _APART * (theta - first), run.defects_apart):
        return False
    for place in range(1, _PLACES):
        if _note_defects(run, t, first + (_APART + _FARTHER * place) * (theta - first), run.defects_here):
            for q in range(run.n):
                run.defects_apart[q] = min(run.defects_apart[q], run.defects_here[q])
    return True


@native
def _is_missed(run, t, theta, width):
    """True if the polynomial lacks at a place, and for some width, what it does not lack everywhere; whose it is, is noted."""
    if not _note_defects(run, t, theta, run.defects_here):
        return False
    found = False
    for q in range(run.n):
        here = run.defects_here[q]
        tolerance = run.atol[q] + run.rtol * abs(run.y[q])
        if here * width > tolerance and here > _STANDS_OUT * run.defects_apart[q]:
            run.is_missed[q] = 1
            found = True
    return found


@native
def _has_begun(run, t, first, way):
    """True if what is missed at the peak would be missed up to a place in front of it already."""
    if not _note_defects(run, t, first + way, run.defects_here):
        return False
    for q in range(run.n):
        if run.is_missed[q] == 1 and run.defects_here[q] * way > run.atol[q] + run.rtol * abs(run.y[q]):
            return True
    return False


@native
def _may_hide(run, k, before, here, after, left, right, ends):
    """True if three samples leave room for a peak that is far enough above both ends, if what is between them bends down all along."""
    top = here + max((here - before) / left * right, (here - after) / right * left)
    return _lies_below(run, k, ends, top, _HIDDEN, _HIDDEN_RATIO)


@native
def _look_at(run, t, k, low, high, first, last, ends):
    """Look for a missed peak between two places of the part of the step that is looked at, from ``first`` to ``last``, which are so high at most."""
    theta, peak = _highest(run, t, k, low, high)
    if _lies_below(run, k, ends, peak, _HIDDEN, _HIDDEN_RATIO):
        _note_if_missed(run, t, k, theta, peak, first, last)


@native
def _note_if_missed(run, t, k, theta, peak, first, last):
    """Leave in run.pulse_theta a place before a peak at theta, if the step has missed it and none before it."""
    if not _note_defects_apart(run, t, first, theta):
        return
    for q in range(run.n):
        run.is_missed[q] = 0
    width = _half_width(run, t, k, theta, peak, theta - first)
    # beside the highest place, too: a factor may vanish just there
    missed = _is_missed(run, t, theta, width)
    missed = _is_missed(run, t, theta - width, width) or missed
    missed = _is_missed(run, t, min(theta + width, last), width) or missed
    if not missed:
        return
    # what comes before is kept, so it must not have begun to rise
    way = max(theta - _BEFORE * width - first, _PART_OF_THE_WAY * (theta - first))
    # the step may be longer than the way by any factor
    least = _EDGE * _EDGE * way
    while way > least and _has_begun(run, t, first, way):
        way *= _PART_OF_THE_WAY
    if first + way < run.pulse_theta:
        run.pulse_theta = first + way
        run.pulse_width = width * run.length


@native
def _place_of(i, low, high):
    """Of a sample: right behind the start and right before the end there are two more."""
    if i == 0:
        return low
    if i == _PARTS + 2:
        return high
    width = high - low
    if i == 1:
        return low + _EDGE * width
    return high - _EDGE * width if i == _PARTS + 1 else low + width * _SAMPLES[i - 1]


@kernel_entry(NUMBER, NUMBER, NUMBER, INTEGER)
def first_pulse(run, t, low, high, is_seen):
    """1 if the step from the current point has missed a peak between two parts of it, before which run.pulse_theta lies; else 0.

    ``is_seen`` says that the step fits the equations at ``high``. Where it does not, as where a run ends far within a step, one that rises there is
    missed like one before it.
    """
    width = high - low
    run.pulse_theta = 2.0
    if not width > 0.0 or not run.length > 0.0 or run.degree < 1:
        return 0
    values = run.peak_values
    for i in range(_PARTS + 3):
        theta = _place_of(i, low, high)
        polynomial_point(run.n, run.degree, run.y, run.coefficients, theta, run.pole_point)
        call_value(run.f_divisors, t + theta * run.length, run.pole_point, run.p, run.m, values[i])
    for k in range(run.n_peaks):
        at_start = _higher(run, k, values[0, k])
        at_end = _higher(run, k, values[_PARTS + 2, k])
        ends = max(at_start, at_end) if is_seen == 1 else at_start
        if is_seen == 0 and at_end > _higher(run, k, values[_PARTS + 1, k]) and _lies_below(run, k, at_start, at_end, _HIDDEN, _HIDDEN_RATIO):
            _note_if_missed(run, t, k, high, at_end, low, high)
        for i in range(1, _PARTS + 2):
            before = _higher(run, k, values[i - 1, k])
            here = _higher(run, k, values[i, k])
            after = _higher(run, k, values[i + 1, k])
            if here > before and here >= after:
                left = _place_of(i - 1, low, high)
                right = _place_of(i + 1, low, high)
                place = _place_of(i, low, high)
                if not _may_hide(run, k, before, here, after, place - left, right - place, ends):
                    continue
                _look_at(run, t, k, low if i <= 2 else left, high if i >= _PARTS else right, low, high, ends)
    return 1 if run.pulse_theta < 2.0 else 0
