"""What counts as zero, as one instant, as standing still: the tolerances of everything about events, and where each comes from.

Three sizes are behind them. A *time* is a double: a handful of operations lead to one, each with half an EPS of it. The *round-off level* nu of a
guard is what the rounding of all that it reads makes of it (``events.guards``): below that its sign means nothing, and a few round-off levels are as
good as none. The
*tolerance* is how far an unknown may be from the solution by the user's own word. Nothing here depends on the length of a run.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ACROSS",
    "AT_THE_END",
    "CLEAR",
    "EPS",
    "FAINT",
    "GRAZING",
    "HELD_STILL",
    "HELD_STILL_TOLERANCE",
    "IDLE_STEP",
    "MOVES_TIME",
    "ROUNDING",
    "ROUNDING_OF_SLOPES",
    "ROUNDING_SOLVED",
    "SAME_PLACE",
    "SAME_RATE",
    "SAME_TIME",
    "SHORT",
    "SLOW",
    "SOLVED_AGAIN",
    "STOPPED",
    "TINY_STEP",
    "UNRESOLVED",
]  # fmt: skip

EPS: Final = 2.220446049250313e-16

# --- parts of a time -------------------------------------------------------------------------------------------------------------
# units of time: the first step where nothing tells a time scale; steps grow fast
IDLE_STEP: Final = 1e-9
# of the time: a first step of SUNDIALS that moves it
MOVES_TIME: Final = 100 * EPS
# two that are one: a tick is computed as start + count * period, a crossing as the start of a step and a part of it
SAME_TIME: Final = 8 * EPS
# a step that moves time by its last digits only; one alone may be the way to a stop
TINY_STEP: Final = 4 * EPS
# an interval of which so little is resolved says nothing about the next one: five bits of it are left
UNRESOLVED: Final = 256 * EPS

# --- parts of the size of an unknown ---------------------------------------------------------------------------------------------
# what some ten operations of a step leave of it; and what is left of one that comes out of a linear system
ROUNDING: Final = 16 * EPS
ROUNDING_SOLVED: Final = 128 * EPS
# of the terms of a slope, which are products of two such
ROUNDING_OF_SLOPES: Final = 32 * EPS
# states that are held while the algebraic equations are solved move by less, and by less of their tolerance
HELD_STILL: Final = 1e-13
HELD_STILL_TOLERANCE: Final = 1e-4

# --- round-off levels of a guard -----------------------------------------------------------------------------------------------------------
# how far behind its zero the point of an event is put: less than one, so that the side it leaves to still decides
ACROSS: Final = 0.5
# moved by less, it lies where it was left: half of what an event puts it across
SAME_PLACE: Final = 0.25
# so far from zero it has left it: its own round-off level and that of the point it is compared with
CLEAR: Final = 2.0
# a grazing nearer than this may be a crossing: the round-off level grows to this over the steps that led there
GRAZING: Final = 16.0
# what moves by no more in a step than this, and is at zero, may be on its way to nowhere: what crosses with another guard comes from farther away
SLOW: Final = 1000.0
# a bounce lower than this is fed by rounding, of which each bounce adds one
FAINT: Final = 100.0

# --- parts of the model's own time scale, of speeds, of tolerances ---------------------------------------------------------------
# a guard at zero that does not pass its round-off level within this rests there
AT_THE_END: Final = 1e-6
# over this the rate of a rate is measured: half of the digits of a double are left of the difference
SHORT: Final = 1e-7
# of the speed before: no faster afterwards, a guard was stopped
STOPPED: Final = 1e-9
# relative difference of two derivatives of times that are one; they come out of the same steps
SAME_RATE: Final = 1e-6
# of the tolerance: solving the algebraic equations again moves unknowns by no more
SOLVED_AGAIN: Final = 1e-2
