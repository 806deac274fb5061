"""Random components whose clauses yield equations beside others that give values, and what they do in plain Python.

States are straight lines between events; what an equation of a clause determines is one linear system with everything that follows from it, solved
by NumPy. Rounds are those of ``random_machines``. What two clauses want of one variable in one round goes to the more important.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["Instants", "UnclearError"]

_NEAR = 1e-6  # to a threshold, or of two instants: what rounding decides says nothing
_BEHIND = 1e-7  # of time: so far behind a crossing it is seen which side holds
_MOST_ROUNDS, _MOST_INSTANTS, _MOST = 25, 400, 50.0
Values = dict[str, float]
Truths = dict[tuple[str, int], bool]


class UnclearError(Exception):
    """What happens hangs on rounding, on which of two clauses is first, or never ends."""


@dataclass
class _Clause:
    name: str
    priority: int
    conditions: tuple[str, ...] = ()
    clock: tuple[float, float] | None = None  # period and first tick
    equations: dict[str, str] = field(default_factory=dict)
    body: dict[str, str] = field(default_factory=dict)


@dataclass
class Instants:
    """One of them, by its seed.

    Attributes
    ----------
    end : of the run.
    """

    seed: int
    end: float = field(init=False)

    def __post_init__(self) -> None:
        rng = self._rng = random.Random(self.seed)
        self.end = self._number(3.0, 6.0)
        self._starts = {name: self._number(-1.0, 1.0) for name in ("x0", "x1", "d0", "d1")}
        self._atoms: list[str] = []  # what is compared with zero, of states
        levels = [(self._number(-1, 1), self._number(-0.5, 0.5), rng.randrange(2), self._number(-0.2, 0.2), rng.randrange(2)) for _ in range(2)]
        self._rates = [f"{a} + {b}*self.n{i} + {c}*self.d{j}" for a, b, i, c, j in levels]
        self._has_system = rng.random() < 0.7
        a, b = (self._number(-0.6, 0.6) for _ in range(2))
        self._w = f"{a}*self.d0 + {b}*self.d1 + {self._number(-1, 1)}*self.x0 + {self._number(-1, 1)}"
        priorities = rng.sample(range(2, 90), 7)
        self._clauses = [self._clause(f"clause{k}", priorities[k], must_yield=k == 0) for k in range(rng.randint(3, 7))]

    # -- what is written ------------------------------------------------------------------------------------------------------------------------

    def _number(self, low: float, high: float) -> float:
        return round(self._rng.uniform(low, high), 3)

    def _clause(self, name: str, priority: int, *, must_yield: bool) -> _Clause:
        rng = self._rng
        if rng.random() < 0.35:
            clause = _Clause(name, priority, clock=(self._number(0.25, 1.1), self._number(0.1, 0.8)))
        else:
            clause = _Clause(name, priority, tuple(self._condition() for _ in range(1 if rng.random() < 0.75 else 2)))
        if must_yield or rng.random() < 0.55:
            clause.equations = {f"d{k}": self._equation(k) for k in rng.sample(range(2), 1 if rng.random() < 0.7 else 2)}
        if not clause.equations or rng.random() < 0.4:
            for _ in range(rng.randint(1, 2)):
                clause.body |= self._given(may_be_determined=not clause.equations)
        return clause

    def _given(self, *, may_be_determined: bool) -> dict[str, str]:
        rng = self._rng
        kind, n, read = rng.randrange(6), rng.randrange(2), rng.choice(["d0", "d1", *(["w"] if self._has_system else [])])
        if kind == 0:
            return {f"x{n}": f"{self._number(-1, 1)}"}
        if kind < 3:
            return {"z": f"self.z*0.5 + {f'self.{read}' if kind == 1 else f'tg.pre(self.{read})'}"}
        if kind == 3 and may_be_determined:
            return {f"d{n}": rng.choice([f"{self._number(-1, 1)}", "self.x0", "self.d0*0.5 - 0.3", "self.n0*0.25"])}
        return {f"n{n}": rng.choice([f"(self.n{n} + 1) % {rng.randint(2, 4)}", f"1 - self.n{1 - n}"])}

    def _equation(self, k: int) -> str:
        rng = self._rng
        read = [f"tg.pre(self.d{k})", f"tg.pre(self.d{1 - k})", f"self.d{1 - k}", f"self.x{rng.randrange(2)}"]
        read += [f"self.n{rng.randrange(2)}", f"tg.pre(self.n{rng.randrange(2)})", *(["self.w"] * 3 if self._has_system else [])]
        terms = rng.sample(read, rng.randint(1, 3))
        return " + ".join([f"{self._number(-1, 1)}", *(f"{self._number(-0.6, 0.6)}*{term}" for term in terms)])

    def _relation(self) -> str:
        name, level = self._rng.choice(["x0", "x1", *(["w"] if self._has_system else [])]), self._number(-1.5, 1.5)
        self._atoms.append(f"self.{name} - {level}")
        return f"(self.{name} {self._rng.choice('<>')} {level})"

    def _condition(self) -> str:
        rng = self._rng
        d, n, level = f"self.d{rng.randrange(2)}", f"self.n{rng.randrange(2)}", self._number(-0.8, 0.8)
        several = [
            f"({d} {rng.choice('<>')} {level})",
            f"({d} != tg.pre({d}))",
            f"({d} > tg.pre({d})) & ({n} >= 1)",
            f"(({d} > {level}) & ((tg.pre({d}) > {level}) ^ True))",
            f"({n} >= {rng.randint(1, 2)})",
            f"({d} < tg.pre({d})) | ({n} == 2)",
        ]
        kind = rng.randrange(10)
        return several[kind] if kind < 6 else f"{self._relation()} & ({d} > {level})" if kind == 6 else self._relation()

    def source(self) -> str:
        """The file; ``model`` in it is the model."""
        lines = ["import tidegate as tg", "class Made(tg.Component):"]
        lines += [f"    {name} = tg.{'State' if name[0] == 'x' else 'Discrete'}({start})" for name, start in self._starts.items()]
        lines += ["    n0, n1, z = tg.Discrete(0), tg.Discrete(0), tg.Discrete(0.0)", *(["    w = tg.Algebraic(0.0)"] if self._has_system else [])]
        lines.append("    def equations(self):")
        lines += [f"        yield tg.der(self.x{k}) == {rate}" for k, rate in enumerate(self._rates)]
        lines += [f"        yield self.w == {self._w}"] if self._has_system else []
        for clause in self._clauses:
            conditions = ", ".join(f"lambda self: {text}" for text in clause.conditions)
            when = f"tg.when({conditions}" if clause.clock is None else f"tg.every({clause.clock[0]}, start={clause.clock[1]}"
            lines += [f"    @{when}, priority={clause.priority})", f"    def {clause.name}(self):"]
            lines += [f"        yield self.{name} == {text}" for name, text in clause.equations.items()]
            if clause.body:
                lines.append(f"        return {{{', '.join(f'self.{name}: {text}' for name, text in clause.body.items())}}}")
        return "\n".join([*lines, "model = Made()", ""])

    # -- what happens ---------------------------------------------------------------------------------------------------------------------------

    def final(self) -> Values:
        """The values at the end.

        Raises
        ------
        UnclearError : nobody can say.
        """
        values: Values = {**self._starts, "n0": 0, "n1": 0, "z": 0.0}
        self._clear_of_levels(values)
        ticks = {clause.name: 0 for clause in self._clauses if clause.clock is not None}
        t, holds, here = 0.0, self._truths(values, values), values  # the last a little behind the last instant
        for _ in range(_MOST_INSTANTS):
            rates = self._rates_at(here)
            due = sorted((c.clock[1] + ticks[c.name] * c.clock[0], c.name) for c in self._clauses if c.clock is not None)
            instants = sorted([*(when for when, _ in due), self.end])
            if len(instants) > 1 and instants[1] - instants[0] < _NEAR:
                raise UnclearError
            crossings = sorted(self._crossings(values, rates))
            if crossings and t + crossings[0][0] < instants[0] + _NEAR:
                when, k = crossings[0]
                if t + when > instants[0] - _NEAR or when < _NEAR or (len(crossings) > 1 and crossings[1][0] - when < _NEAR):
                    raise UnclearError
                t += when
                values, here, holds = self._crossed(_moved(values, rates, when), rates, k, holds)
                continue
            values, t = _moved(values, rates, instants[0] - t), instants[0]
            if t == self.end:
                return values
            values, holds = self._instant(values, values, holds, due[0][1])
            self._clear_of_levels(values)
            ticks[due[0][1]] += 1
            here = values
        raise UnclearError

    def _crossings(self, values: Values, rates: Values) -> Iterator[tuple[float, int]]:
        for k, (now, later) in enumerate(zip(self._gaps(values), self._gaps(_moved(values, rates, 1.0)), strict=True)):
            if abs(now) > 1e-9 and now * (later - now) < 0.0:
                yield -now / (later - now), k

    def _crossed(self, at: Values, rates: Values, k: int, holds: Truths) -> tuple[Values, Values, Truths]:
        before, behind = _moved(at, rates, -_BEHIND), _moved(at, rates, _BEHIND)
        new, holds = self._instant(behind, before, holds, None)
        # what no clause has given a value is where it crosses, exactly
        exact = {name: at[name] if value == behind[name] and name[0] == "x" else value for name, value in new.items()}
        was, ahead = self._gaps(behind), self._gaps(_moved(new, self._rates_at(new), 1e-3))
        for j, gap in enumerate(self._gaps(exact)):
            if abs(gap) < 3 * _NEAR and (j != k or was[k] * self._gaps(new)[k] < 0.0 or ahead[k] * was[k] <= 0.0):
                raise UnclearError
        return exact, new, holds

    def _instant(self, values: Values, before: Values, holds: Truths, tick: str | None) -> tuple[Values, Truths]:
        """Rounds until nothing happens."""
        now = self._truths(values, before)
        for _ in range(_MOST_ROUNDS):
            due = {name for (name, _), holds_now in now.items() if holds_now and not holds[name, _]} | ({tick} if tick else set())
            holds, tick = now, None
            if not due:
                return values, self._truths(values, values)
            new = self._round(values, [clause for clause in self._clauses if clause.name in due])
            gaps, ahead = self._gaps(new), self._gaps(_moved(new, self._rates_at(new), 1e-3))
            for gap, later, was in zip(gaps, ahead, self._gaps(values), strict=True):
                if abs(gap) < _NEAR and (abs(gap - was) > 1e-12 or gap * later <= 0.0):
                    raise UnclearError  # what was put onto a threshold, or turns round there
            self._clear_of_own_levels(new, values)
            before, values = values, new
            now = self._truths(values, before)
        raise UnclearError

    def _round(self, values: Values, due: list[_Clause]) -> Values:
        seen = self._seen(values)
        yields = any(clause.equations for clause in due)
        for text in (text for clause in due if len(due) > 1 for text in clause.body.values()):
            if re.search(r"(?<!pre\()self\.w", text) or (yields and re.search(r"(?<!pre\()self\.d", text)):
                raise UnclearError  # it may see what another clause of the round does
        new, taken = dict(values), dict[str, int]()
        winner: dict[str, _Clause] = {}
        for clause in sorted(due, key=lambda clause: clause.priority):
            for name, text in clause.body.items():
                if name not in taken:
                    taken[name], new[name] = clause.priority, _value(text, seen, seen)
            for name in clause.equations:
                winner.setdefault(name, clause)
        active = {name: clause.equations[name] for name, clause in winner.items() if clause.priority < taken.get(name, 100)}
        return new | self._solved(new, active, seen)

    def _solved(self, new: Values, active: Mapping[str, str], was: Any) -> Values:
        """The linear system of the equations that hold in this round."""

        def gaps(trial: list[float]) -> Any:
            values = new | dict(zip(active, trial, strict=True))
            seen = self._seen(values)
            return np.array([values[name] - _value(text, seen, was) for name, text in active.items()])

        n = len(active)
        if not n:
            return {}
        base = gaps([0.0] * n)
        matrix = np.array([gaps([float(i == j) for i in range(n)]) - base for j in range(n)]).T
        if np.linalg.cond(matrix) > 100.0:
            raise UnclearError
        found = dict(zip(active, np.linalg.solve(matrix, -base).tolist(), strict=True))
        if any(abs(value - getattr(was, name)) < _NEAR or abs(value) > _MOST for name, value in found.items()):
            raise UnclearError
        return found

    def _truths(self, values: Values, before: Values) -> Truths:
        now, was = self._seen(values), self._seen(before)
        return {(clause.name, k): bool(_value(text, now, was)) for clause in self._clauses for k, text in enumerate(clause.conditions)}

    def _clear_of_levels(self, values: Values) -> None:
        if any(abs(gap) < _NEAR for gap in self._gaps(values)):
            raise UnclearError

    def _clear_of_own_levels(self, new: Values, values: Values) -> None:
        for name in ("d0", "d1"):
            levels = [float(level) for c in self._clauses for text in c.conditions for level in re.findall(rf"self\.{name}\)? [<>] (-?[\d.]+)", text)]
            if 0.0 < abs(new[name] - values[name]) < _NEAR or any(abs(new[name] - level) < _NEAR for level in levels):
                raise UnclearError

    def _gaps(self, values: Values) -> list[float]:
        seen = self._seen(values)
        return [_value(atom, seen, seen) for atom in self._atoms]

    def _rates_at(self, values: Values) -> Values:
        seen = self._seen(values)
        return {f"x{k}": float(_value(rate, seen, seen)) for k, rate in enumerate(self._rates)}

    def _seen(self, values: Mapping[str, float]) -> Any:
        """What ``self`` is to the text of the model."""
        seen = SimpleNamespace(**values)
        seen.w = _value(self._w, seen, seen)
        return seen


def _moved(values: Values, rates: Values, dt: float) -> Values:
    return values | {name: values[name] + rate * dt for name, rate in rates.items()}


def _value(text: str, seen: Any, before: Any) -> Any:
    return eval(text.replace("tg.pre(self.", "(was."), {"self": seen, "was": before})
