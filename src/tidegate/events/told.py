"""Up to where the polynomial of a step tells what a guard near its zero does (stage: events).

Steps are held to the tolerance of the unknowns. What dies out and is smaller than that may be anything within it: its polynomial crosses zero, or
turns there, where ``x' = -k x`` does neither. A shorter step tells.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import native
from tidegate.events.guards import last_powers

__all__ = ["CROSSES", "TURNS", "can_be_shorter", "is_told_at_once", "is_told_by_model", "is_told_wholly", "told_by_series", "told_by_slope"]

# as the first slope says: straight to zero is once, a parabola that touches it twice, where no step is to end
CROSSES: Final = 2.0
TURNS: Final = 2.5
_LEAST: Final = 1e-12  # of the times at hand: so short a step is not made shorter
_HEAD: Final = 3  # powers of a guard's polynomial that tell which way it goes, and where it begins
_TAIL: Final = 5e-3  # of the largest of these: up to there the last powers say nothing of what is left out
_LEFT_OUT: Final = 0.25  # of the power before the last, with the last: about what is left out
_LEAST_PART: Final = 1e-6
_NOTHING: Final = 1e-7  # of a guard at the start of a step: it is not the end of a series that lets it turn


@native
def can_be_shorter(run, step):
    """True unless nothing would be left of the step."""
    return step > _LEAST * max(abs(run.t), run.time_size, run.step_before_event)


@native
def told_by_slope(run, guard, towards, multiple):
    """Up to where a guard is told that nears its zero by ``towards`` in a step, at the start of it; 1 where it goes the other way.

    What crosses or turns is there after a small multiple, CROSSES or TURNS, of the time that its slope tells. What dies out never is.
    """
    return multiple * (abs(run.g[guard]) + run.nu[guard]) / towards if towards > 0.0 else 1.0


@native
def told_by_series(run, theta, guard):
    """The part of a step of power series, up to theta, in which the guard's polynomial is told by its first powers; theta for other methods.

    Of a series that does not converge so soon the last power takes the guard where it likes: through zero if it is an odd one. Where the last powers
    are no small part of the first ones the step is to be shorter, as often as it takes.
    """
    degree = run.degree
    if run.series_order == 0 or degree < run.series_order - 1:
        return theta
    c = run.guard_coefficients
    part = theta
    while part > _LEAST_PART:
        head = abs(run.g[guard])
        power = 1.0
        for k in range(min(_HEAD, degree - 1)):
            power *= part
            head = max(head, power * abs(c[k, guard]))
        if _is_small(part, degree, c[degree - 2, guard], c[degree - 1, guard], head):
            return part
        part *= 0.5
    return theta


@native
def is_told_at_once(run, theta, guard):
    """True if the first and the last two powers of a guard are enough for ``told_by_series`` to say theta; only these need be known."""
    degree = run.degree
    if degree < run.series_order - 1:
        return True
    if degree <= _HEAD:
        return False
    last_powers(run)
    c = run.guard_coefficients
    return _is_small(theta, degree, c[degree - 2, guard], c[degree - 1, guard], max(abs(run.g[guard]), theta * abs(c[0, guard])))


@native
def is_told_by_model(run, model, degree, theta, guard):
    """The same of the guard's own polynomial, see ``guard_models``, up to a place in the part of the step that it is for."""
    if degree < run.series_order - 1:
        return True
    return degree > _HEAD and _is_small(theta, degree, model[degree - 1], model[degree], max(abs(run.g[guard]), theta * abs(model[1])))


@native
def _is_small(theta, degree, before, last, head):
    """True if the last two powers are no more than a small part of this."""
    power = 1.0
    for _ in range(degree - 1):
        power *= theta
    return max(_LEFT_OUT * power * abs(before), power * theta * abs(last)) <= _TAIL * head


@native
def is_told_wholly(run, theta, guard):
    """True if the last powers of a guard's series are nothing at a part of a step."""
    degree = run.degree
    if degree < run.series_order - 1 or degree < _HEAD:
        return True
    c = run.guard_coefficients
    tail = (abs(c[degree - 2, guard]) + theta * abs(c[degree - 1, guard])) * theta ** float(degree - 1)
    return tail <= _NOTHING * abs(run.g[guard])
