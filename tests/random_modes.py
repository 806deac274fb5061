"""Random automata with modes that have names: rates that are constant in a mode, exits at bounds; where they go, from crossing to crossing.

The model is written in one of five ways: tables of texts or of members of an enumeration with a row for each exit, chains of `if`, `match`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

__all__ = ["END", "Modes", "source", "walk"]

END: Final = 6.0
MOST: Final = 40  # exits
NAMES: Final = ("idle", "fill", "drain", "hold", "boost", "rest")
SLOTS: Final = (0, 1)


@dataclass(frozen=True)
class Exit:
    """Out of a mode where ``sign * (y[place] - bound)`` becomes positive; ``y[changed]`` is ``value`` then."""

    place: int
    sign: int
    bound: float
    to: str
    changed: int | None
    value: float


class Modes:
    """One automaton with two states."""

    def __init__(self, rng: random.Random) -> None:
        self.names = rng.sample(NAMES, rng.randint(2, 5))
        self.rates = {name: [round(rng.uniform(-1.5, 1.5), 2) for _ in SLOTS] for name in self.names}
        self.exits = {name: [self._exit(rng) for _ in range(rng.randint(1, 2))] for name in self.names}

    def _exit(self, rng: random.Random) -> Exit:
        sign, bound = rng.choice([1, -1]), round(rng.uniform(-1, 1), 2)
        return Exit(rng.choice(SLOTS), sign, bound, rng.choice(self.names), rng.choice([None, None, 0, 1]), round(rng.uniform(-0.9, 0.9), 2))


class _Walk:
    """Where an automaton is, and how near it came to being undecided."""

    def __init__(self, modes: Modes) -> None:
        self.modes, self.mode, self.y, self.t = modes, modes.names[0], [0.1, -0.2], 0.0
        self.changes = 0
        self.margin = min(1.0, *(abs(self.distance(each)) for each in self.exits().values()))  # at a bound it is a matter of where it goes
        self.held = self.conditions()

    def exits(self) -> dict[int, Exit]:
        """Of the mode of now, by the slot of their event."""
        return dict(enumerate(self.modes.exits[self.mode]))

    def distance(self, one: Exit) -> float:
        """How far it is behind the bound."""
        return one.sign * (self.y[one.place] - one.bound)

    def conditions(self) -> list[bool]:
        """Which conditions hold."""
        exits = self.exits()
        return [slot in exits and self.distance(exits[slot]) > 0 for slot in SLOTS]

    def take(self, one: Exit) -> None:
        """What happens at an exit."""
        self.mode, self.changes = one.to, self.changes + 1
        if one.changed is not None:
            self.y[one.changed] = one.value
        self.margin = min(self.margin, *(abs(self.distance(each)) for each in self.exits().values()))

    def step(self) -> bool:
        """To the next change of a condition, and through what follows at once; False where the end comes first."""
        rates, exits = self.modes.rates[self.mode], self.exits()
        coming: list[tuple[float, int]] = []
        for slot, one in exits.items():
            speed, behind = one.sign * rates[one.place], self.distance(one)
            if (speed > 0 and not self.held[slot]) or (speed < 0 and self.held[slot]):
                coming.append((self.t + max(-behind / speed, 0.0), slot))
        time, slot = min(coming, default=(END + 1.0, 0))
        passed = min(time, END) - self.t
        self.margin = min(self.margin, abs(END - time))
        for k in SLOTS:
            self.y[k] += rates[k] * passed
        if time > END:
            return False
        self.t = time
        self.margin = min(self.margin, *(abs(self.distance(one)) for other, one in exits.items() if other != slot), 1.0)
        self.y[exits[slot].place] = exits[slot].bound
        if self.held[slot]:
            self.held[slot] = False
            return True
        before = self.held.copy()
        before[slot] = True
        self.take(exits[slot])
        now = self.conditions()
        while fired := [k for k in SLOTS if now[k] and not before[k]]:
            if len(fired) > 1 or self.changes > MOST:
                self.margin = 0.0
                return False
            self.take(self.exits()[fired[0]])
            before, now = now, self.conditions()
        self.held = now
        return self.changes <= MOST


def walk(modes: Modes) -> tuple[str, list[float], int] | None:
    """The mode and the states at the end, and how many exits were taken; None where rounding may decide, or two exits are taken at once."""
    way = _Walk(modes)
    while way.step():
        pass
    return (way.mode, way.y, way.changes) if way.margin > 1e-4 and way.changes <= MOST else None


_TABLES: Final = """
def rate(t, y, d):
    a, b = RATES[d.mode]
    return {'a': a, 'b': b}
def leaves(k):
    def condition(t, y, d):
        ways = EXITS[d.mode]
        if k >= len(ways):
            return False
        place, sign, bound, *_ = ways[k]
        return sign * (y[place] - bound) > 0
    return condition
def going(k):
    def reset(t, y, d):
        new = {}
        if k < len(EXITS[d.mode]):
            _, _, _, to, changed, value = EXITS[d.mode][k]
            new['mode'] = to
            if changed is not None:
                new['ab'[changed]] = value
        return new
    return reset
events = [tg.event(leaves(k), reset=going(k), name=str(k)) for k in (0, 1)]
"""


def source(rng: random.Random, modes: Modes) -> str:
    """The text of a module whose ``model`` is the automaton."""
    style = rng.choice(["texts", "Enum", "IntEnum", "if", "match"])
    is_member = "Enum" in style
    shown = {name: f"Mode.{name.upper()}" if is_member else repr(name) for name in modes.names}
    lines = [f"class Mode(enum.{style}):", *(f"    {name.upper()} = {k}" for k, name in enumerate(sorted(modes.names)))] if is_member else []
    if is_member or style == "texts":
        lines.append("RATES = {" + ", ".join(f"{shown[name]}: {tuple(modes.rates[name])}" for name in modes.names) + "}")
        rows = {name: ", ".join(_row(one, shown[one.to]) for one in modes.exits[name]) for name in modes.names}
        lines += ["EXITS = {" + ", ".join(f"{shown[name]}: [{row}]" for name, row in rows.items()) + "}", _TABLES]
    else:
        lines += _branches("rate", {name: f"return {modes.rates[name]}" for name in modes.names}, is_match=style == "match")
        for k in SLOTS:
            there = {name: dict(enumerate(modes.exits[name])).get(k) for name in modes.names}
            conditions = {name: f"return {one.sign} * (y[{one.place}] - {one.bound}) > 0" if one else "return False" for name, one in there.items()}
            lines += _branches(f"leaves{k}", conditions, is_match=style == "match")
            resets = {name: f"return {_new_values(one)}" if one else "return {}" for name, one in there.items()}
            lines += _branches(f"going{k}", resets, is_match=style == "match")
        lines.append("events = [tg.event(leaves0, reset=going0, name='0'), tg.event(leaves1, reset=going1, name='1')]")
    start = shown[modes.names[0]]
    lines.append(f"model = tg.ode(rate, y0={{'a': 0.1, 'b': -0.2}}, discrete={{'mode': {start}}}, events=events)")
    return "\n".join(lines) + "\n"


def _row(one: Exit, to: str) -> str:
    return f"({one.place}, {one.sign}, {one.bound}, {to}, {one.changed}, {one.value})"


def _new_values(one: Exit) -> str:
    changed = f", {'ab'[one.changed]!r}: {one.value}" if one.changed is not None else ""
    return f"{{'mode': {one.to!r}{changed}}}"


def _branches(name: str, bodies: dict[str, str], *, is_match: bool) -> list[str]:
    """A function that does in each mode what belongs to it."""
    if is_match:
        return [f"def {name}(t, y, d):", "    match d.mode:", *(f"        case {mode!r}: {body}" for mode, body in bodies.items())]
    *first, (_, last) = bodies.items()
    return [f"def {name}(t, y, d):", *(f"    if d['mode'] == {mode!r}: {body}" for mode, body in first), f"    {last}"]
