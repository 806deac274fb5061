"""What DSblock keeps of a run between two events besides x, as discrete variables of the model.

In: a description, replies. Out: their names, how they start, what a reply makes of them. A saved run holds them; results do not show them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from tidegate.frontends.dsblock.block import Action, Reply
from tidegate.frontends.dsblock.description import Description, Group

__all__ = [
    "GOES_ON",
    "LAST",
    "NEXT",
    "NX",
    "NZ",
    "PRIORITY",
    "REACH",
    "RUN",
    "STOPPED",
    "clipped",
    "counted",
    "counters",
    "direction_of",
    "kept",
    "starts",
]

RUN: Final = "(run)"  # its number
NEXT: Final = "(next time event)"
REACH: Final = "(may reach)"  # how far a step may go beyond that
NX: Final = "(states)"
NZ: Final = "(indicators)"
LAST: Final = "(last event)"
STOPPED: Final = "(stopped)"
PRIORITY: Final = "(priority)"
GOES_ON: Final = "(goes on)"  # 1 where the last event has left everything as it was
_AS_BEFORE: Final = 2  # a direction that stays
_MOST_IMPORTANT, _USUAL, _LEAST_IMPORTANT = 1, 50, 100


def direction_of(indicator: str) -> str:
    """The name of its direction (HCROSS)."""
    return f"(direction of {indicator})"


def counters(group: Group) -> dict[str, int]:
    """Discrete variables that tell how many states and indicators of a group are there, with the most there are."""
    sizes = group.states.stop - group.states.start, group.indicators.stop - group.indicators.start
    return {f"(states of {group.name})": sizes[0], f"(indicators of {group.name})": sizes[1]}


def starts(described: Description, n_states: int, indicators: Sequence[str]) -> dict[str, float]:
    """Values at the start of a run, those that the block itself declares in front."""
    found: dict[str, float] = {**described.discretes, RUN: 0.0, NEXT: math.inf, NX: n_states, NZ: len(indicators)}
    found |= {LAST: -math.inf, STOPPED: 0.0, PRIORITY: _USUAL, REACH: -math.inf, GOES_ON: 0.0}
    found |= {name: float(size) for group in described.groups for name, size in counters(group).items()}
    return found | {direction_of(name): 0.0 for name in indicators}


def counted(described: Description, ranks: Mapping[str, int], indicators: Sequence[str]) -> dict[str, dict[str, int]]:
    """Which unknowns and indicators are there as long as a number is large enough, each with its own.

    Parameters
    ----------
    ranks : of every unknown, which x it belongs to.
    """
    places = {name: k for k, name in enumerate(indicators)}
    if not described.groups:
        return {NX: dict(ranks), NZ: places}
    found: dict[str, dict[str, int]] = {}
    for group in described.groups:
        for name, where, of in zip(counters(group), (group.states, group.indicators), (ranks, places), strict=True):
            found[name] = {one: k - where.start for one, k in of.items() if where.start <= k < where.stop}
    return found


def kept(reply: Reply, described: Description, indicators: Sequence[str], time: float, *, has_time_event: bool) -> dict[str, float]:
    """What a reply at a time makes of them. A pending time event stays unless there was one, or the reply names another."""
    new = {GOES_ON: float(reply.action is Action.CONTINUE), PRIORITY: float(clipped(reply.priority))}
    if reply.next_event is not None or has_time_event:
        ahead = reply.next_event if reply.next_event is not None and reply.next_event > time else math.inf
        new[NEXT] = ahead
        new[REACH] = -math.inf if reply.may_reach is None or ahead == math.inf else reply.may_reach
    if reply.directions is not None:
        given = zip(indicators, reply.directions.tolist(), strict=False)
        new |= {direction_of(name): float(direction) for name, direction in given if direction != _AS_BEFORE}
    if reply.n_states is not None:
        new[NX] = float(reply.n_states)
    if reply.n_indicators is not None:
        new[NZ] = float(reply.n_indicators)
    if reply.groups is not None:
        names = [name for group in described.groups for name in counters(group)]
        new |= dict(zip(names, (float(size) for sizes in reply.groups for size in sizes), strict=True))
    if reply.action is Action.STOP:
        new[STOPPED] = 1.0
    return new


def clipped(priority: int) -> int:
    """The nearest priority there is."""
    return min(max(priority, _MOST_IMPORTANT), _LEAST_IMPORTANT)
