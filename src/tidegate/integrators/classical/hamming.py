"""Hamming's modified predictor-corrector of order 4, with starting values refined, and its grid halved and doubled.

History: values y and rates f at equidistant times with spacing h; number 3 is the newest, at the step's start, then 2, 1, 0 and, for doubling, -1
and -2.
One step from t to t + h, two evaluations::

    P    = predicted(y0, f1, f2, f3, h)
    M    = modified(P, (P - C) of the step before)      evaluate there: f
    C    = corrected(y1, y3, f2, f3, f, h)
    err  = P - C; accept if its size is allowed
    y    = improved(C, err)                             evaluate there: the rate of the new point

The estimate of the error is err itself, not 9/121 of it. (P - C) of a grid that was just halved or doubled is ``difference(...)``, right after the
refinement 0. The starting values are those of two equal steps of Runge-Kutta-England, refined once.

References
----------
R. W. Hamming, Stable predictor-corrector methods for ordinary differential equations, Journal of the ACM 6 (1959) 37-47, doi:10.1145/320954.320958.
A. Ralston, in: A. Ralston, H. S. Wilf (eds.), Mathematical Methods for Digital Computers, Wiley (1960) 95-109: modifier, halving, doubling.
L. Månsson, CONDIS, Lund Institute of Technology, TFRT-5238 (1980): the refinement, and discontinuities recognised by the number of halvings.
"""

from __future__ import annotations

from tidegate.integrators.classical.polynomial import Coefficients

__all__ = [
    "DOUBLES",
    "ENOUGH",
    "MOST",
    "corrected",
    "difference",
    "halved_far",
    "halved_near",
    "improved",
    "is_past",
    "may_double",
    "modified",
    "polynomial",
    "predicted",
    "refined_1",
    "refined_2",
    "refined_3",
]

MOST = 64  # the largest quotient of allowed and estimated error that counts
DOUBLES = 50  # the quotient above which a doubled step will pass: 2**5, and something to spare (the threshold of DHPCG's successors)
ENOUGH = 6  # points of history from which every second one is taken, and the new one, are the four of a doubled grid


def is_past(quotient: float, halvings: int, disc_halvings: int, is_halved: bool) -> bool:
    """Whether a discontinuity lies behind an accepted step: at most one step succeeds between two halvings in front of it."""
    return quotient > DOUBLES and halvings >= disc_halvings and not is_halved


def may_double(quotient: float, known: int, doubled: float, longest: float) -> bool:
    """Whether the next step is to be twice as long as an accepted one, `known` points being known before that."""
    return quotient > DOUBLES and known >= ENOUGH and doubled <= longest


def refined_1(y0: float, f0: float, f1: float, f2: float, f3: float, h: float) -> float:
    """Starting value 1, from rates at all four points."""
    return y0 + h / 24 * (9 * f0 + 19 * f1 - 5 * f2 + f3)


def refined_2(y0: float, f0: float, f1: float, f2: float, h: float) -> float:
    """Starting value 2, with the rate at the refined 1."""
    return y0 + h / 3 * (f0 + 4 * f1 + f2)


def refined_3(y0: float, f0: float, f1: float, f2: float, f3: float, h: float) -> float:
    """Starting value 3, with the rates at the refined 1 and 2."""
    return y0 + h * 3 / 8 * (f0 + 3 * f1 + 3 * f2 + f3)


def predicted(y0: float, f1: float, f2: float, f3: float, h: float) -> float:
    """P, by Milne's formula over four steps."""
    return y0 + (2 * f3 - f2 + 2 * f1) * 4 * h / 3


def modified(p: float, last_difference: float) -> float:
    """M: the prediction, mended by the error that the step before had."""
    return p - last_difference * 112 / 121


def corrected(y1: float, y3: float, f2: float, f3: float, f: float, h: float) -> float:
    """C, by Hamming's stable corrector, from the rate f at M."""
    return (9 * y3 - y1 + 3 * h * (f + 2 * f3 - f2)) / 8


def improved(c: float, err: float) -> float:
    """The new value: the correction, less its estimated error."""
    return c + 9 * err / 121


def difference(y0: float, y3: float, f0: float, f1: float, f2: float, f3: float, h: float) -> float:
    """P - C for points of a new spacing h, from the values at both ends and the rates between."""
    return 242 * (y3 - y0) / 27 - 121 * h * (f3 + 3 * f2 + 3 * f1 + f0) / 36


def halved_far(y0: float, y1: float, y2: float, y3: float, f1: float, f2: float, f3: float, h: float) -> float:
    """The value at t - 3h/2, between points 1 and 2 of the grid with spacing h."""
    return ((12 * y3 + 135 * y2 + 108 * y1 + y0) + h * ((-3) * f3 - 54 * f2 + 27 * f1)) / 256


def halved_near(y0: float, y1: float, y2: float, y3: float, f1: float, f2: float, f3: float, h: float) -> float:
    """The value at t - h/2, between points 2 and 3 of the grid with spacing h."""
    return ((80 * y3 + 135 * y2 + 40 * y1 + y0) + h * ((-15) * f3 + 90 * f2 + 15 * f1)) / 256


def polynomial(y1: float, y2: float, y3: float, f1: float, f2: float, f3: float, h: float) -> Coefficients:
    """The quintic through points 1, 2 and 3 and the rates there, from point 2, where the step starts, to point 3, its end."""
    return Coefficients(
        c1=h * f2,
        c2=((4 * y3 - 8 * y2 + 4 * y1) + h * (f1 - f3)) / 4,
        c3=((5 * y3 - 5 * y1) - h * (f3 + 8 * f2 + f1)) / 4,
        c4=((4 * y2 - 2 * y3 - 2 * y1) + h * (f3 - f1)) / 4,
        c5=((3 * y1 - 3 * y3) + h * (f3 + 4 * f2 + f1)) / 4,
    )
