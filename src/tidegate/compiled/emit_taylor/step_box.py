"""What the machine code of a whole step of Taylor's method is told and tells, by places in one array (stage: compiled)."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = ["CAREFULLY", "DONE", "FIRST_LEAST", "MANY", "MEMBERS", "WATCHED", "Box", "box_size", "first_of_guards"]

DONE: Final = 0
CAREFULLY: Final = 1  # the step is to be taken the plain way
WATCHED: Final = 1  # there are exponentials, and the step tells how far what they are taken of moves
MANY: Final = 2  # there are more than it watches
MEMBERS: Final = 8  # runs of which a step is taken at once, where it is of several


class Box(IntEnum):
    """Places of single numbers.

    Behind them stand four of each unknown: its least scale, its scale, its slope at the end, a sum for rounding. Then of each guard that is watched
    how near to its zero it must not come (in), of each its size at the start (out), and of each how far from its zero it stays at least (out).
    """

    IS_STARTED = 0  # in: not zero where the first coefficients are known already, and hold
    CAUTION = 1  # in: the part of the radius that a step may use
    LONGEST = 2  # in: the longest step
    UNLIMITED = 3  # in: the longest where the series does not limit it
    UNTIL = 4  # in: the time that no step may pass
    SMALLEST = 5  # in: what a step must be longer than
    LOOK = 6  # in: steps longer than this are to be looked into
    FIT = 7  # in: of the scale, how much may be left of the equations at the end
    IDLE = 8  # in: of the scale, what an unknown that rests moves at most
    LIMIT = 9  # out: how long the series lets the step be
    POSSIBLE = 10  # out: the same with what else limits it
    STEP = 11  # out
    IS_IDLE = 12  # out: 1 if no unknown moves
    IS_CLEAR = 13  # out: 1 if no divisor comes near zero
    IS_LONG = 14  # out: 1 if the caller is to look into the step
    LONGEST_KNOWN = 15  # in: the longest where the series of y' = A y + b + c t limits it, which knows all that is ahead
    REACH = 16  # out: how far, at most, what an exponential is taken of moves in the step, if it comes near zero
    ASKS_FAR = 17  # in: not zero where somebody asks for what guards do, of one run alone; of several it is told always
    IS_FAR = 18  # out: 1 if no guard that is watched comes nearer to its zero than it must


FIRST_LEAST: Final = 24  # a whole number of lines of the cache


def first_of_guards(n: int) -> int:
    """Where what is told of guards begins."""
    return FIRST_LEAST + 4 * n


def box_size(n: int, n_guards: int) -> int:
    """How many numbers it has for so many unknowns and guards that are watched."""
    return first_of_guards(n) + 3 * n_guards
