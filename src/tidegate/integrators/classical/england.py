"""Runge-Kutta-England: two classical half steps of order 4, with an estimate of the error from a ninth evaluation of both.

A step of length H = 2 h goes from t to t + 2 h. Its k are rates times h. The formulas return what is added to the value y at the step's start; the
caller adds it, and evaluates there::

    k1  at  t                            (the rate is known already)
    k2  at  t + h/2    y + second(k1)
    k3  at  t + h/2    y + third(k1, k2)
    k4  at  t + h      y + fourth(k2, k3)
    k5  at  t + h      y + d             d = middle(k1, k3, k4): the first half step
    k6  at  t + 3h/2   y + sixth(d, k5)
    k7  at  t + 3h/2   y + seventh(d, k5, k6)
    k8  at  t + 2h     y + eighth(...)   only for the estimate
        err = estimate(...); accept if its size is allowed
    k9  at  t + 2h     y + ninth(d, k6, k7)
        increment(...); one more evaluation there gives the rate the next step starts with

Nine evaluations for an accepted step, seven for a rejected one. Of order 4; the estimate is added, which makes the error of smooth problems shrink
with the fifth power. Step rule: with q the least of allowed/|err| over the variables, ``following`` keeps the estimate at half of what is allowed;
no step more than doubles (q counts at most as ``MOST``), and a rejected step is halved.

References
----------
R. England, Error estimates for Runge-Kutta type solutions to systems of ordinary differential equations, The Computer Journal 12 (1969) 166-170,
doi:10.1093/comjnl/12.2.166. L. Månsson, CONDIS, Lund Institute of Technology, TFRT-5238 (1980), for the order of operations, which decides the last
digits.
"""

from __future__ import annotations

from tidegate.integrators.classical.polynomial import Coefficients

__all__ = [
    "ENOUGH",
    "MOST",
    "eighth",
    "estimate",
    "following",
    "fourth",
    "increment",
    "middle",
    "ninth",
    "polynomial",
    "regridded",
    "second",
    "seventh",
    "sixth",
    "third",
]

MOST = 64  # the largest quotient of allowed and estimated error that counts: half of it is the fifth power of a doubled step
ENOUGH = 2  # the quotient above which the next step may be longer


def second(k1: float) -> float:
    """Where k2 is evaluated, at t + h/2."""
    return 0.5 * k1


def third(k1: float, k2: float) -> float:
    """Where k3 is evaluated, at t + h/2."""
    return 0.25 * (k1 + k2)


def fourth(k2: float, k3: float) -> float:
    """Where k4 is evaluated, at t + h."""
    return 2 * k3 - k2


def middle(k1: float, k3: float, k4: float) -> float:
    """The first half step d; k5 is evaluated at its end, t + h."""
    return ((k1 + k4) + 4 * k3) / 6


def sixth(d: float, k5: float) -> float:
    """Where k6 is evaluated, at t + 3h/2."""
    return d + 0.5 * k5


def seventh(d: float, k5: float, k6: float) -> float:
    """Where k7 is evaluated, at t + 3h/2."""
    return d + 0.25 * (k5 + k6)


def eighth(d: float, k2: float, k3: float, k4: float, k5: float, k6: float, k7: float) -> float:
    """Where k8 is evaluated, at t + 2h, for the estimate alone."""
    return (((-d) + (24 * k5 - 20 * k4)) + 16 * (k3 - k2)) + (k6 - 2 * k7)


def estimate(k1: float, k3: float, k4: float, k5: float, k7: float, k8: float) -> float:
    """The error of the step, with its sign."""
    return ((4 * k7 - k8) + (((-k1) + 4 * k3) + (17 * k4 - 23 * k5))) / 90


def ninth(d: float, k6: float, k7: float) -> float:
    """Where k9 is evaluated, at t + 2h."""
    return d + (2 * k7 - k6)


def increment(err: float, d: float, k5: float, k7: float, k9: float) -> float:
    """What the whole step adds."""
    return (err + d) + ((k5 + k9) + 4 * k7) / 6


def following(step: float, proposed: float, quotient: float, longest: float) -> float:
    """The step to propose after an accepted one of which the least quotient of allowed and estimated error is known.

    Longer, if there is room in the error, and at most the longest; as it was, if something else has made the step shorter than was proposed.
    """
    if step == proposed and quotient > ENOUGH:
        return min((0.5 * quotient) ** 0.2 * step, longest)
    return proposed


def polynomial(k1: float, k5: float, end: float, d: float, err: float, increment: float) -> Coefficients:
    """The quintic through start, middle and end of the step and the rates there; `end` is the rate at the end times h."""
    m = d + 0.5 * err
    return Coefficients(
        c1=2 * k1,
        c2=(7 * increment + 16 * m) - (2 * end + 12 * k1 + 16 * k5),
        c3=2 * ((5 * end + 13 * k1 + 32 * k5) - (16 * m + 17 * increment)),
        c4=4 * ((4 * m + 13 * increment) - (4 * end + 6 * k1 + 20 * k5)),
        c5=8 * ((k1 + end + 4 * k5) - 3 * increment),
    )


def regridded(y1: float, y0: float, ym1: float, f1: float, f0: float, fm1: float, h: float) -> float:
    """The value half a spacing h before y1, from three equidistant points: the point between y0 and y1 of a grid that is made twice as fine."""
    return ((45 * y1 + 72 * y0 + 11 * ym1) + h * ((-9) * f1 + 36 * f0 + 3 * fm1)) / 128
