"""Random components whose discrete variables drive each other in rounds, in parts too, and what they do in plain Python.

States are straight lines between events, so that the truth needs no integration. Rounds are carried out as the page on resets says: all clauses of a
round see the values before it, but outputs and inputs of parts as the equations have them; conditions are asked again behind each round. ``tg.pre``
is what was there before the last one, in bodies before the present one, and of a relation the truth that it had.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

__all__ = ["Machine", "UnclearError"]

_NEAR = 1e-6  # to a threshold, or of two instants: what rounding decides says nothing
_BEHIND = 1e-7  # of time: so far behind a crossing it is seen which side holds
_MOST_ROUNDS, _MOST_INSTANTS = 25, 600
Values = dict[str, float]
Truths = list[list[bool]]  # of the conditions of each clause


class UnclearError(Exception):
    """What happens hangs on rounding, on which of two clauses is first, or never ends."""


@dataclass
class _Clause:
    name: str
    body: dict[str, str]
    priority: int
    conditions: tuple[str, ...] = ()
    clock: tuple[float, float] | None = None  # period and first tick
    is_chained: bool = False
    is_inside: bool = False  # of the part


@dataclass
class Machine:
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
        self._n, self._nx = rng.randint(2, 4), rng.randint(1, 2)
        self._starts = [self._number(-1.0, 1.0) for _ in range(self._nx)]
        self._atoms: list[str] = []  # what is compared with zero, of states
        self._rates = [self._rate() for _ in range(self._nx)]
        self._outputs = {"total": f"{self._count()} + {rng.choice([1, 2, -1])}*{self._count()}"}
        self._outputs["mixed"] = f"{self._count()} + {rng.choice([1, 2])}*{self._state()}"
        self._given = "self.n{} - self.n{}".format(*rng.sample(range(self._n), 2)) if rng.random() < 0.6 else self._outputs["total"]
        self._has_part = rng.random() < 0.6
        priorities = rng.sample(range(1, 60), 12)
        self._clauses: list[_Clause] = []
        for k in range(rng.randint(1, 3)):
            self._clauses.append(_Clause(f"tick{k}", self._body(), priorities.pop(), clock=(self._number(0.25, 1.1), self._number(0.0, 0.8))))
        for k in range(rng.randint(2, 6)):
            is_chained = rng.random() < 0.25 and k > 0
            several = 1 if is_chained or rng.random() < 0.85 else 2
            conditions = tuple(self._condition() for _ in range(several))
            priority = self._clauses[-1].priority if is_chained else priorities.pop()
            self._clauses.append(_Clause(f"when{k}", self._body(), priority, conditions, is_chained=is_chained))
        for k in range(rng.randint(1, 2) if self._has_part else 0):
            compared = [f"self.u >= {rng.randint(0, 2)}", f"self.u == {rng.randint(-1, 2)}", f"(self.u > {rng.randint(-1, 1)}) & (self.m < 4)"]
            condition = rng.choice([*compared, "self.m != tg.pre(self.m)", "self.u > tg.pre(self.u)"])
            body = dict([rng.choice([("m", "(self.m + 1) % 7"), ("q", "self.m + self.u"), ("q", "self.q + 1")])])
            self._clauses.append(_Clause(f"inside{k}", body, priorities.pop(), (condition,), is_inside=True))

    # -- what is written ------------------------------------------------------------------------------------------------------------------------

    def _number(self, low: float, high: float) -> float:
        return round(self._rng.uniform(low, high), 3)

    def _count(self) -> str:
        return f"self.n{self._rng.randrange(self._n)}"

    def _state(self) -> str:
        return f"self.x{self._rng.randrange(self._nx)}"

    def _compared(self) -> tuple[str, str]:
        """A relation of a state, and the same of its value before."""
        state, level, sign = self._state(), self._number(-1.0, 1.0), self._rng.choice("<>")
        self._atoms.append(f"{state} - {level}")
        return f"({state} {sign} {level})", f"(tg.pre({state}) {sign} {level})"

    def _rate(self) -> str:
        text = f"{self._number(-1.0, 1.0)} + {self._number(-0.5, 0.5)}*{self._count()}"
        if self._rng.random() < 0.4:
            text += f" + ({self._number(-1.0, 1.0)} if {self._compared()[0]} else {self._number(-1.0, 1.0)})"
        if self._rng.random() < 0.3:
            text += f" + ({self._number(-1.0, 1.0)} if {self._count()} >= {self._rng.randint(1, 2)} else 0.0)"
        return text

    def _condition(self) -> str:
        rng = self._rng
        kind, a, b = rng.randrange(13), *(f"self.n{k}" for k in rng.sample(range(self._n), 2))
        if kind < 6:
            level = rng.randint(1, 2)
            discrete = [
                f"{a} >= {rng.randint(1, 3)}",
                f"{a} == {rng.randint(0, 3)}",
                f"{a} > {b}",
                f"({a} == {rng.randint(0, 2)}) & ({b} != {level})",
            ]
            return [*discrete, f"{a} != tg.pre({a})", f"({a} >= {level}) & (tg.pre({a}) < {level})"][kind]
        if kind == 6:
            return f"self.total >= {rng.randint(0, 4)}"
        if kind == 7:
            level = self._number(-0.9, 3.0)
            self._atoms.append(f"self.mixed - {level}")
            return f"self.mixed > {level}"
        now, was = self._compared()
        several = [now, f"{now} & ({a} >= 1)", f"{now} & ({was} ^ True)", f"({now} ^ {was}) | ({a} == 2)", f"({a} >= 1) & ({now} ^ True) & {was}"]
        return several[kind - 8]

    def _body(self) -> dict[str, str]:
        rng, body = self._rng, dict[str, str]()
        for _ in range(rng.randint(1, 2)):
            kind, a, b, most = rng.randrange(8), *(rng.randrange(self._n) for _ in range(2)), rng.randint(2, 5)
            if kind == 0:
                read = ["self.total", "self.mixed", "tg.pre(self.total)", *(["self.part_of.u", "self.part_of.m"] if self._has_part else [])]
                return {"z0": f"self.z0*0.5 + {rng.choice(read)}"}
            if kind == 1:
                body[f"x{rng.randrange(self._nx)}"] = f"{self._number(-1.0, 1.0)}"
            elif kind == 2:
                body["z1"] = f"self.n{a} + 10*self.n{b}"
            elif kind == 3:
                now, was = self._compared()
                body["z1"] = f"(1.0 if {now} ^ {was} else 0.0) + 2*(1.0 if {was} else 0.0)"
            else:
                values = [
                    f"(self.n{a} + 1) % {most}",
                    f"self.n{b}",
                    f"(self.n{a} + self.n{b} + 1) % {most}",
                    f"({most - 2} if self.n{b} >= 1 else 0)",
                ]
                body[f"n{a}"] = values[kind - 4]
        return body

    def source(self) -> str:
        """The file; ``model`` in it is the model."""
        lines = ["import tidegate as tg"]
        if self._has_part:
            lines += ["class Part(tg.Component):", "    u = tg.Input(0.0)", "    m, q = tg.Discrete(0), tg.Discrete(0.0)"]
            lines += [line for clause in self._clauses if clause.is_inside for line in self._clause(clause, "")]
        lines.append("class Machine(tg.Component):")
        lines += [f"    x{k} = tg.State({start})" for k, start in enumerate(self._starts)]
        lines += [f"    n{k} = tg.Discrete(0)" for k in range(self._n)]
        lines += [f"    z{k} = tg.Discrete(0.0)" for k in range(2)]
        lines += [f"    {name} = tg.Output(lambda self: {text})" for name, text in self._outputs.items()]
        lines += ["    part_of = Part()"] if self._has_part else []
        lines.append("    def equations(self):")
        lines += [f"        yield tg.der(self.x{k}) == {rate}" for k, rate in enumerate(self._rates)]
        lines += [f"        yield self.part_of.u == {self._given}"] if self._has_part else []
        before = ""
        for clause in (clause for clause in self._clauses if not clause.is_inside):
            lines += self._clause(clause, before)
            before = clause.name
        return "\n".join([*lines, "model = Machine()", ""])

    @staticmethod
    def _clause(clause: _Clause, before: str) -> list[str]:
        if clause.clock is not None:
            head = f"tg.every({clause.clock[0]}, start={clause.clock[1]}, priority={clause.priority})"
        else:
            conditions = ", ".join(f"lambda self: {text}" for text in clause.conditions)
            head = f"{before}.elsewhen({conditions})" if clause.is_chained else f"tg.when({conditions}, priority={clause.priority})"
        returned = ", ".join(f"self.{name}: {text}" for name, text in clause.body.items())
        return [f"    @{head}", f"    def {clause.name}(self):", f"        return {{{returned}}}"]

    # -- what happens ---------------------------------------------------------------------------------------------------------------------------

    def final(self) -> Values:
        """The values at the end.

        Raises
        ------
        UnclearError : nobody can say.
        """
        values: Values = {f"x{k}": start for k, start in enumerate(self._starts)}
        values |= {f"n{k}": 0 for k in range(self._n)} | {"z0": 0.0, "z1": 0.0}
        values |= {"part_of.m": 0, "part_of.q": 0.0} if self._has_part else {}
        self._clear_of_levels(values)
        ticks = {k: 0 for k, clause in enumerate(self._clauses) if clause.clock is not None}
        t, holds = 0.0, self._conditions(values, values)
        here = values  # a little behind the last instant
        for _ in range(_MOST_INSTANTS):
            rates = self._rates_at(here)
            due = sorted((start + ticks[k] * period, k) for k, clause in enumerate(self._clauses) if clause.clock for period, start in [clause.clock])
            crossing = min(self._crossings(values, rates), default=None)
            until = min(due[0][0], self.end)
            instants = sorted([*(when for when, _ in due), self.end])
            if instants[1] - instants[0] < _NEAR:
                raise UnclearError
            if crossing is not None and t + crossing[0] < until + _NEAR:
                if t + crossing[0] > until - _NEAR:
                    raise UnclearError
                t += crossing[0]
                values, here, holds = self._crossed(values, rates, *crossing, holds)
                continue
            values = _moved(values, rates, until - t)
            if until == self.end:
                return values
            t = until
            values, holds = self._instant(values, values, holds, due[0][1])
            self._clear_of_levels(values)
            ticks[due[0][1]] += 1
            here = values
        raise UnclearError

    def _crossings(self, values: Values, rates: list[float]) -> list[tuple[float, str]]:
        """When states come to where something is compared with them, a while ahead."""
        now, later = self._seen(values), self._seen(_moved(values, rates, 1.0))
        found: list[tuple[float, str]] = []
        for atom in self._atoms:
            gap, rate = _value(atom, now), _value(atom, later) - _value(atom, now)
            if abs(gap) > 1e-9 and gap * rate < 0.0:
                found.append((-gap / rate, atom))
        found.sort()
        if found and (found[0][0] < _NEAR or any(when - found[0][0] < _NEAR and atom != found[0][1] for when, atom in found[1:])):
            raise UnclearError
        return found

    def _crossed(self, values: Values, rates: list[float], when: float, atom: str, holds: Truths) -> tuple[Values, Values, Truths]:
        values = _moved(values, rates, when)
        before, behind = _moved(values, rates, -_BEHIND), _moved(values, rates, _BEHIND)
        after = _moved(behind, self._rates_at(behind), 3 * _BEHIND)
        if _value(atom, self._seen(before)) * _value(atom, self._seen(after)) >= 0.0:
            raise UnclearError  # it slides
        new, holds = self._instant(behind, before, holds, None)
        # what no clause has given a value is where it crosses, exactly
        exact = {name: values[name] if value == behind[name] and name[0] == "x" else value for name, value in new.items()}
        for other in self._atoms:
            gap = _value(other, self._seen(exact))
            if abs(gap) < _NEAR and (other != atom or _turns(gap := _value(atom, self._seen(behind)), self, new, atom)):
                raise UnclearError
        return exact, new, holds

    def _instant(self, values: Values, before: Values, holds: Truths, tick: int | None) -> tuple[Values, Truths]:
        """Rounds until nothing happens."""
        now = self._conditions(values, before)
        for _ in range(_MOST_ROUNDS):
            due = self._due(now, holds, tick)
            holds, tick = now, None
            if not due:
                return values, self._conditions(values, values)
            new = self._round(values, before, due)
            for atom in self._atoms:
                gap = _value(atom, self._seen(new))
                if abs(gap) < _NEAR and abs(gap - _value(atom, self._seen(values))) > 1e-12:
                    raise UnclearError
            now = self._conditions(new, values)
            before, values = values, new
        raise UnclearError

    def _due(self, now: Truths, holds: Truths, tick: int | None) -> list[int]:
        due: list[int] = []
        is_taken = False
        for k, clause in enumerate(self._clauses):
            rises = k == tick if clause.clock else any(new and not old for new, old in zip(now[k], holds[k], strict=True))
            is_taken = is_taken and clause.is_chained
            if rises and not is_taken:
                due.append(k)
            is_taken = is_taken or (rises and clause.clock is None)
        return due

    def _round(self, values: Values, before: Values, due: list[int]) -> Values:
        new, by = dict(values), dict[str, int]()
        seen, was = self._seen(values), self._seen(before)
        # those that read what follows from discrete variables write none that anything follows from
        for follows in (False, True):
            if follows:
                was = self._seen(values)
                fresh = self._seen({name: values[name] if name[0] == "x" else value for name, value in new.items()})
                seen.total, seen.mixed = fresh.total, fresh.mixed
                if self._has_part:
                    seen.part_of.u = fresh.part_of.u
            for k in due:
                clause = self._clauses[k]
                reads = any(word in text for text in clause.body.values() for word in ("self.total", "self.mixed", "self.part_of.u", "self.u"))
                if reads != follows:
                    continue
                for name, text in clause.body.items():
                    target = f"part_of.{name}" if clause.is_inside else name
                    value = _value(text, *((seen.part_of, was.part_of) if clause.is_inside else (seen, was)))
                    if target not in by or clause.priority < by[target]:
                        by[target], new[target] = clause.priority, value
        return new

    def _conditions(self, values: Values, before: Values) -> Truths:
        now, was = self._seen(values), self._seen(before)
        inner = (now.part_of, was.part_of) if self._has_part else ()
        return [[bool(_value(text, *(inner if clause.is_inside else (now, was)))) for text in clause.conditions] for clause in self._clauses]

    def _rates_at(self, values: Values) -> list[float]:
        seen = self._seen(values)
        return [float(_value(rate, seen)) for rate in self._rates]

    def _clear_of_levels(self, values: Values) -> None:
        seen = self._seen(values)
        if any(abs(_value(atom, seen)) < _NEAR for atom in self._atoms):
            raise UnclearError

    def _seen(self, values: Mapping[str, float]) -> Any:
        """What ``self`` is to the text of the model."""
        seen = SimpleNamespace(**{name: value for name, value in values.items() if "." not in name})
        for name, text in self._outputs.items():
            setattr(seen, name, _value(text, seen))
        if self._has_part:
            seen.part_of = SimpleNamespace(u=_value(self._given, seen), m=values["part_of.m"], q=values["part_of.q"])
        return seen


def _turns(side: float, machine: Machine, values: Values, atom: str) -> bool:
    ahead = _moved(values, machine._rates_at(values), 1e-3)
    return _value(atom, machine._seen(ahead)) * side <= 0.0


def _moved(values: Values, rates: list[float], dt: float) -> Values:
    return values | {f"x{k}": values[f"x{k}"] + rate * dt for k, rate in enumerate(rates)}


def _value(text: str, seen: Any, before: Any = None) -> Any:
    return eval(text.replace("tg.pre(self.", "(was."), {"self": seen, "was": before or seen})
