"""Random runs under the user's hand: a random model whose states decay each for itself, what is done to its simulation, and what must come of it.

The truth walks from one instant to the next in plain Python: between them every state is an exponential in closed form, and so are the times at which
it crosses a level. It shares no code with tidegate.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import tidegate as tg

__all__ = ["Clause", "DoubtfulError", "Hand", "RandomModel", "component", "random_model"]

_CLOSE: Final = 1e-5  # instants and levels this close together are for nobody to tell apart
_MOST: Final = 400  # instants of one run


class DoubtfulError(Exception):
    """Two things are so close together that rounding decides between them, or too much happens."""


@dataclass(frozen=True)
class Clause:
    """``x[state]`` rises above the level, or falls below it: then d and n of the clause's number are assigned, and its x if it jumps."""

    state: int
    level: float
    is_above: bool
    read: int
    factor: float
    summand: float
    jump: float | None
    count: int


@dataclass(frozen=True)
class RandomModel:
    """Rates b_i - k_i x_i + c_i d[of_i] + e_i u, and h_i more above a level; a clause of every state; a clock with the last of the d for itself."""

    starts: tuple[float, ...]
    b: tuple[float, ...]
    k: tuple[float, ...]
    c: tuple[float, ...]
    of: tuple[int, ...]
    e: tuple[float, ...]
    h: tuple[float, ...]
    edges: tuple[float, ...]
    clauses: tuple[Clause, ...]
    period: float
    first: float
    tick: float


def random_model(draw: random.Random) -> RandomModel:
    """A model whose numbers are all different, so that nothing happens twice at one instant by itself."""
    n = draw.randint(1, 3)

    def some(low: float, high: float) -> tuple[float, ...]:
        return tuple(round(draw.uniform(low, high), 3) for _ in range(n))

    clauses = tuple(
        Clause(
            state=draw.choice([j, draw.randrange(n)]),
            level=round(draw.uniform(-1.5, 1.5), 3) + 0.00017,
            is_above=draw.random() < 0.6,
            read=draw.randrange(n + 1),
            factor=draw.choice([1.0, -1.0, 0.5, 0.0, -0.7]),
            summand=round(draw.uniform(-1.0, 1.0), 3),
            jump=draw.choice([None, None, round(draw.uniform(-1.5, 1.5), 3)]),
            count=draw.randint(1, 3),
        )
        for j in range(n)
    )
    return RandomModel(
        starts=some(-2.0, 2.0), b=some(-2.0, 2.0), k=some(0.3, 3.0), c=some(-2.0, 2.0), of=tuple(draw.randrange(n + 1) for _ in range(n)),
        e=some(-2.0, 2.0), h=tuple(draw.choice([0.0, round(draw.uniform(0.1, 2.0), 3)]) for _ in range(n)), edges=some(-1.0, 1.0), clauses=clauses,
        period=round(draw.uniform(0.2, 1.5), 3), first=round(draw.uniform(0.05, 0.7), 3), tick=round(draw.uniform(-1.0, 1.0), 3),
    )  # fmt: skip


def component(model: RandomModel) -> tg.Component:
    """The model as tidegate has it."""
    n = len(model.starts)
    lines = ["import tidegate as tg", "class Session(tg.Component):", "    u = tg.Input(0.5)"]
    lines += [f"    d{n} = tg.Discrete(1.0)", "    ticks = tg.Discrete(0)"]
    for i in range(n):
        lines += [f"    x{i} = tg.State({model.starts[i]!r})", f"    d{i} = tg.Discrete(1.0)", f"    n{i} = tg.Discrete(0)"]
        lines += [f"    k{i} = tg.Parameter({model.k[i]!r})", f"    b{i} = tg.Parameter({model.b[i]!r})"]
    lines.append("    def equations(self):")
    for i in range(n):
        rate = f"self.b{i} - self.k{i} * self.x{i} + {model.c[i]!r} * self.d{model.of[i]} + {model.e[i]!r} * self.u"
        more = f" + ({model.h[i]!r} if self.x{i} > {model.edges[i]!r} else 0.0)" if model.h[i] else ""
        lines.append(f"        yield tg.der(self.x{i}) == {rate}{more}")
    for j, one in enumerate(model.clauses):
        done = f"self.d{j}: {one.factor!r} * self.d{one.read} + {one.summand!r}, self.n{j}: self.n{j} + {one.count}"
        done += "" if one.jump is None else f", self.x{j}: {one.jump!r}"
        lines += [f"    @tg.when(lambda self: self.x{one.state} {'>' if one.is_above else '<'} {one.level!r})"]
        lines += [f"    def clause{j}(self):", f"        return {{{done}}}"]
    lines += [f"    @tg.every({model.period!r}, start={model.first!r})", "    def clock(self):"]
    lines += [f"        return {{self.ticks: self.ticks + 1, self.d{n}: self.d{n} * 0.5 + {model.tick!r}}}"]
    namespace: dict[str, Any] = {}
    exec("\n".join(lines), namespace)
    return namespace["Session"]()


@dataclass
class _Level:
    """Where a state is looked at: by the clause of this number, or, at None, by its own rate."""

    state: int
    level: float
    clause: int | None
    is_above: bool


class Hand:
    """What must come of a simulation of the model."""

    def __init__(self, model: RandomModel) -> None:
        self.model = model
        n = len(model.starts)
        self.time, self.ticks = 0.0, 0
        self.x, self.d, self.n = list(model.starts), [1.0] * (n + 1), [0] * n
        self.b, self.k, self.u = list(model.b), list(model.k), 0.5
        self.pieces: list[tuple[float, tuple[tuple[float, float, float], ...]]] = []  # from when, and x, its limit and its pace of each state
        levels = [_Level(one.state, one.level, j, False) for j, one in enumerate(model.clauses)]
        levels += [_Level(i, model.edges[i], None, False) for i in range(n) if model.h[i]]
        self._levels = levels
        self._look(range(n))

    def values(self) -> dict[str, float]:
        """By the names of the model."""
        found = {"u": self.u, "ticks": float(self.ticks)}
        for letter in "xdnkb":
            found |= {f"{letter}{i}": float(value) for i, value in enumerate(getattr(self, letter))}
        return found

    def at(self, time: float) -> list[float]:
        """The states at a time that lies between two instants."""
        since, pieces = next(piece for piece in reversed(self.pieces) if piece[0] <= time)
        return [q + (x - q) * math.exp(-k * (time - since)) for x, q, k in pieces]

    def next_tick(self) -> float:
        """When the clock ticks."""
        return self.model.first + self.ticks * self.model.period

    def set(self, values: dict[str, float]) -> None:
        """As the user does it: one event."""
        for name, value in values.items():
            if name == "u":
                self.u = value
            else:
                getattr(self, name[0])[int(name[1:])] = value
        self._settle(self._look([int(name[1:]) for name in values if name[0] == "x"]))

    def advance(self, until: float) -> None:
        """Walk there."""
        for _ in range(_MOST):
            self._note()
            limits = [self._limit(i) for i in range(len(self.x))]
            crossings = sorted(((self.time + self._until(one, limits[one.state]), k) for k, one in enumerate(self._levels)), key=lambda item: item[0])
            tick, first = self.next_tick(), crossings[0][0]
            now = min(first, tick, until)
            marks = [first, *(item[0] for item in crossings[1:]), tick, *([until] if until != tick else [])]
            is_crowded = now != until and sum(abs(one - now) < _CLOSE for one in marks) > 1
            if is_crowded or any(0.0 < abs(one - until) < _CLOSE for one in marks):
                raise DoubtfulError
            step = now - self.time
            self.x = [limits[i] + (x - limits[i]) * math.exp(-self.k[i] * step) for i, x in enumerate(self.x)]
            self.time = now
            if now == first:
                crossed = self._levels[crossings[0][1]]
                self.x[crossed.state] = crossed.level
                crossed.is_above = not crossed.is_above
                self._settle([crossed.clause] if crossed.clause is not None and self._holds(crossed) else [])
            elif now == tick:
                self.ticks += 1
                self.d[-1] = self.d[-1] * 0.5 + self.model.tick
            if now == until and self.next_tick() != until:
                self._note()
                return
        raise DoubtfulError

    def _limit(self, i: int) -> float:
        model = self.model
        more = next((model.h[i] for one in self._levels if one.clause is None and one.state == i and one.is_above), 0.0)
        return (self.b[i] + model.c[i] * self.d[model.of[i]] + model.e[i] * self.u + more) / self.k[i]

    def _until(self, one: _Level, limit: float) -> float:
        x = self.x[one.state]
        if abs(limit - one.level) < _CLOSE:
            raise DoubtfulError
        if (limit > one.level) == one.is_above:
            return math.inf
        return max(0.0, math.log((x - limit) / (one.level - limit)) / self.k[one.state])

    def _holds(self, one: _Level) -> bool:
        return one.clause is not None and one.is_above == self.model.clauses[one.clause].is_above

    def _look(self, states: Iterable[int]) -> list[int]:
        """Which clauses become true by new values of states."""
        wanted = {*states}
        found: list[int] = []
        for one in self._levels:
            if one.state in wanted:
                if abs(self.x[one.state] - one.level) < _CLOSE:
                    raise DoubtfulError
                held, one.is_above = self._holds(one), self.x[one.state] > one.level
                if one.clause is not None and self._holds(one) and not held:
                    found.append(one.clause)
        return found

    def _settle(self, clauses: list[int]) -> None:
        """One round after the other until nothing becomes true."""
        for _ in range(_MOST):
            if not clauses:
                return
            before = [*self.d]
            jumped: list[int] = []
            for j in clauses:
                one = self.model.clauses[j]
                self.d[j] = one.factor * before[one.read] + one.summand
                self.n[j] += one.count
                if one.jump is not None:
                    self.x[j] = one.jump
                    jumped.append(j)
            clauses = self._look(jumped)
        raise DoubtfulError

    def _note(self) -> None:
        if self.pieces and self.pieces[-1][0] == self.time:
            self.pieces.pop()
        self.pieces.append((self.time, tuple((x, self._limit(i), self.k[i]) for i, x in enumerate(self.x))))
