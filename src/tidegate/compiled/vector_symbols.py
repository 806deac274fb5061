"""The symbols that stand for the elements of the flat vectors (stage: compiled): what functions are written in before they are machine code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tidegate.compiled.compiled_model import Point
from tidegate.compiled.emit_llvm import PAST
from tidegate.compiled.layout import GRAZING_NUMBERS, Layout
from tidegate.expressions import Expr, Role, symbol
from tidegate.quick_dataclass import dataclass
from tidegate.structure.stabilise import IS_INTEGRATED
from tidegate.structure.steep_roots import TOLERANCE

__all__ = ["Symbols", "action_symbol", "count_symbol", "drop_symbol", "names_of", "seed"]


def action_symbol(index: int) -> Expr:
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
class Symbols:
    """Symbols in the order of the flat vectors.

    Parameters
    ----------
    unknowns, parameters, modes, discretes, inputs : symbols.
    n_actions : number of when branches and time events.
    n_time_events : number of time events.
    dropping : states whose values before a round a condition asks for.
    looks_back : whether there is a symbol of where the past stands.
    is_hdae : whether there is a symbol of which form of the equations holds.
    """

    unknowns: tuple[Expr, ...]
    parameters: tuple[Expr, ...]
    modes: tuple[Expr, ...]
    discretes: tuple[Expr, ...]
    inputs: tuple[Expr, ...]
    n_actions: int
    n_time_events: int
    dropping: tuple[Expr, ...] = ()
    is_hdae: bool = False
    looks_back: bool = False

    @cached_property
    def layout(self) -> Layout:
        """Where they stand, without what is shown."""
        return Layout(
            unknowns=names_of(self.unknowns),
            parameters=names_of(self.parameters),
            discretes=names_of(self.discretes),
            inputs=names_of(self.inputs),
            n_modes=len(self.modes),
            n_actions=self.n_actions,
            n_time_events=self.n_time_events,
            dropping=tuple(self.unknowns.index(s) for s in self.dropping),
            n_forms=int(self.is_hdae),
            n_pasts=int(self.looks_back),
            tolerance=next((k for k, s in enumerate(self.discretes) if s.data.name == TOLERANCE), -1),
        )

    @cached_property
    def drops(self) -> tuple[Expr, ...]:
        """By how much states were more before the last round; zero at the start."""
        return tuple(map(drop_symbol, self.dropping))

    def of_m(self) -> list[Expr]:
        """The symbols of m in order."""
        previous = [symbol(Role.PREVIOUS, d.data.name) for d in self.discretes]
        event_actions = [action_symbol(k) for k in range(self.n_actions)]
        counts = [count_symbol(k) for k in range(self.n_time_events)]
        return [
            *self.modes,
            *self.discretes,
            *previous,
            *self.inputs,
            *event_actions,
            *counts,
            *self.drops,
            *(symbol(Role.MODE, name) for name in GRAZING_NUMBERS),
            *([IS_INTEGRATED] if self.is_hdae else []),
            *([PAST] if self.looks_back else []),
        ]

    @cached_property
    def positions(self) -> dict[Expr, tuple[str, int]]:
        """For every symbol the vector and index where native code finds it."""
        positions: dict[Expr, tuple[str, int]] = {symbol(Role.TIME, "time"): ("t", 0)}
        for vector, symbols in (("y", self.unknowns), ("p", self.parameters), ("m", self.of_m())):
            positions |= {s: (vector, k) for k, s in enumerate(symbols)}
        return positions

    def values(self, at: Point) -> dict[Expr, float]:
        """What the symbols stand for at a point."""
        return dict(zip(self.positions, (at.time, *at.y.tolist(), *at.p.tolist(), *at.m.tolist()), strict=True))

    def seeds(self) -> dict[Expr, Expr]:
        """For time, every unknown, parameter, discrete variable and input the symbol of its direction."""
        seeds = {symbol(Role.TIME, "time"): seed("dt", 0)}
        seeds |= {s: seed("dy", k) for k, s in enumerate(self.unknowns)}
        seeds |= {s: seed("dp", k) for k, s in enumerate(self.parameters)}
        first = len(self.modes)
        seeds |= {s: seed("dm", first + k) for k, s in enumerate(self.of_m()[first : self.layout.first_action])}
        return seeds

    def seed_positions(self) -> dict[Expr, tuple[str, int]]:
        """Like ``positions`` for the symbols of directions, and for ``v``, the derivatives a residual is taken at."""
        positions: dict[Expr, tuple[str, int]] = {seed("dt", 0): ("dt", 0)}
        sizes = {"dy": len(self.unknowns), "v": len(self.unknowns), "dp": len(self.parameters), "dm": self.layout.n_m}
        for vector, size in sizes.items():
            positions |= {seed(vector, k): (vector, k) for k in range(size)}
        return positions


def names_of(symbols: Sequence[Expr]) -> tuple[str, ...]:
    """The user's names of symbols."""
    return tuple(s.data.name for s in symbols)
