"""What the functions of one model gave when they were followed last (front end of plain functions).

In: a function that is to be followed, and what it is called with. Out: what following it gave, once more as long as it would give the same: where a
model is made again because one of its functions reads something that has changed, the others are not followed again.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

from tidegate.expressions.tracing import Reads, collect_reads, hand_on
from tidegate.quick_dataclass import dataclass

__all__ = ["FollowedBefore"]


@dataclass(frozen=True, eq=False)
class _Followed:
    """What following a function gave, with what, and what was read of the surroundings; ``given`` keeps alive what keys are made of."""

    given: tuple[Any, ...]
    found: Any
    reads: Reads


class FollowedBefore:
    """What each function gave, and what it read."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], _Followed] = {}

    def last(self, what: tuple[object, ...]) -> Any:
        """What following a function gave last, whatever has changed since; None if it was not followed."""
        kept = self._kept.get(what)
        return None if kept is None else kept.found

    def of[T](self, what: tuple[object, ...], given: tuple[Any, ...], follow: Callable[[], T]) -> T:
        """What following a function gives.

        Parameters
        ----------
        what : names the function and how it is followed among all of the model.
        given : the function, and all objects that it is followed with; it is followed again where one is another object.
        follow : follows it.
        """
        kept = self._kept.get(what)
        if kept is None or len(kept.given) != len(given) or not all(map(is_, kept.given, given)) or kept.reads.changed():
            with collect_reads() as reads:
                found = follow()
            kept = self._kept[what] = _Followed(given, found, reads)
        hand_on(kept.reads)
        return kept.found
