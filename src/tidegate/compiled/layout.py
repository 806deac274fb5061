"""Where everything stands in the flat vectors of a compiled model: y, p and m (modes and all that is constant between events).

``m`` is [modes | discrete variables | their previous values | inputs | fire flags | counts of periodic time events | drops of states | contacts].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidegate.expressions import Expr, Role, symbol

__all__ = ["Layout", "count_symbol", "drop_symbol", "fire_symbol", "names_of", "seed"]


_CONTACT: Final = (symbol(Role.MODE, "contact guard"), symbol(Role.MODE, "contact time"), symbol(Role.MODE, "contact slope"))


def fire_symbol(index: int) -> Expr:
    """1 while branch or time event number ``index`` is carried out."""
    return symbol(Role.MODE, f"fire{index}")


def count_symbol(index: int) -> Expr:
    """How often time event number ``index`` has happened."""
    return symbol(Role.MODE, f"count{index}")


def drop_symbol(state: Expr) -> Expr:
    """By how much a state was more before the last round of an event than it is now; zero between events."""
    return symbol(Role.MODE, f"(pre({state.data.name}) - {state.data.name})")


def seed(vector: str, index: int) -> Expr:
    """Element of a direction in which functions are differentiated."""
    return symbol(Role.SEED, f"{vector}[{index}]")


@dataclass(frozen=True, eq=False)
class Layout:
    """Symbols in the order of the flat vectors.

    Parameters
    ----------
    unknowns, parameters, modes, discretes, inputs : symbols.
    n_fires : number of when branches and time events.
    n_time_events : number of time events.
    dropping : states whose values before a round a condition asks for.
    """

    unknowns: tuple[Expr, ...]
    parameters: tuple[Expr, ...]
    modes: tuple[Expr, ...]
    discretes: tuple[Expr, ...]
    inputs: tuple[Expr, ...]
    n_fires: int
    n_time_events: int
    dropping: tuple[Expr, ...] = ()

    @property
    def first_discrete(self) -> int:
        """Place of the first discrete variable in m."""
        return len(self.modes)

    @property
    def first_previous(self) -> int:
        """Place of the first previous value in m."""
        return self.first_discrete + len(self.discretes)

    @property
    def first_input(self) -> int:
        """Place of the first input in m."""
        return self.first_previous + len(self.discretes)

    @property
    def first_fire(self) -> int:
        """Place of the first fire flag in m."""
        return self.first_input + len(self.inputs)

    @property
    def first_count(self) -> int:
        """Place of the first count in m."""
        return self.first_fire + self.n_fires

    @property
    def first_drop(self) -> int:
        """Place of the first drop of a state in m."""
        return self.first_count + self.n_time_events

    @property
    def first_contact(self) -> int:
        """Place of what is noted of tangential contacts.

        Of the first one more than the guard's number, or zero, and its time; then the square of the slope
        below which the crossing found last is no more than a contact.
        """
        return self.first_drop + len(self.dropping)

    @property
    def n_m(self) -> int:
        """Length of m."""
        return self.first_contact + len(_CONTACT)

    def m_symbols(self) -> list[Expr]:
        """The symbols of m in order."""
        previous = [symbol(Role.PREVIOUS, d.data.name) for d in self.discretes]
        fires = [fire_symbol(k) for k in range(self.n_fires)]
        counts = [count_symbol(k) for k in range(self.n_time_events)]
        drops = [drop_symbol(s) for s in self.dropping]
        return [*self.modes, *self.discretes, *previous, *self.inputs, *fires, *counts, *drops, *_CONTACT]

    def places(self) -> dict[Expr, tuple[str, int]]:
        """For every symbol the vector and index where native code finds it."""
        places: dict[Expr, tuple[str, int]] = {symbol(Role.TIME, "time"): ("t", 0)}
        for vector, symbols in (("y", self.unknowns), ("p", self.parameters), ("m", self.m_symbols())):
            places |= {s: (vector, k) for k, s in enumerate(symbols)}
        return places

    def seeds(self) -> dict[Expr, Expr]:
        """For time, every unknown, parameter and discrete variable the symbol of its direction."""
        seeds = {symbol(Role.TIME, "time"): seed("dt", 0)}
        seeds |= {s: seed("dy", k) for k, s in enumerate(self.unknowns)}
        seeds |= {s: seed("dp", k) for k, s in enumerate(self.parameters)}
        first, last = self.first_discrete, self.first_input
        seeds |= {s: seed("dm", first + k) for k, s in enumerate(self.m_symbols()[first:last])}
        return seeds

    def seed_places(self) -> dict[Expr, tuple[str, int]]:
        """Like ``places`` for the symbols of directions, and for ``v``, the derivatives a residual is taken at."""
        places: dict[Expr, tuple[str, int]] = {seed("dt", 0): ("dt", 0)}
        for vector, size in (("dy", len(self.unknowns)), ("v", len(self.unknowns)), ("dp", len(self.parameters)), ("dm", self.n_m)):
            places |= {seed(vector, k): (vector, k) for k in range(size)}
        return places


def names_of(symbols: Sequence[Expr]) -> list[str]:
    """The user's names of symbols."""
    return [s.data.name for s in symbols]
