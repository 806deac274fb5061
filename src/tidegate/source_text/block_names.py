"""Names of DSblock 3.3 for the names of a model (stage: source text): Fortran 90 names of at most 31 characters in upper case, each once."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["BlockNames"]

_LONGEST: Final = 31


class BlockNames:
    """Gives every quantity its name; ``given`` tells which."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, own: str) -> str:
        """The block's name of a quantity: ``PUMP_FLOW`` of ``pump.flow``, ``X_1_2`` of ``x[1,2]``.

        Examples
        --------
        >>> BlockNames().name("pump.speed[0]")
        'PUMP_SPEED_0'
        """
        plain = re.sub(r"[^A-Z0-9]+", "_", own.upper()).strip("_")
        plain = plain if plain[:1].isalpha() else f"V_{plain}"
        found, k = plain[:_LONGEST].rstrip("_"), 1
        while found in self._taken:
            k += 1
            tail = f"_{k}"
            found = plain[: _LONGEST - len(tail)].rstrip("_") + tail
        self._taken.add(found)
        self.given.setdefault(own, found)
        return found
