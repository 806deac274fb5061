"""A quantity that one relation stops at its zero, which is the zero of others, too: what they say, and clauses do, while it rests there and behind.

An event is put a rounding behind its zero, so that what stops there lies beyond by a rounding. It is at zero all the same: ``x > c`` does not
hold, and no clause that waits for it is carried out. The truth is known: when the quantity gets there, and when it leaves to which side.
"""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest

import tidegate as tg
from written_source import space_of

EXPLICIT: Final = ("taylor", "radau", "rodas5p", "bdf", "adams", "ida")
METHODS: Final = {"function": EXPLICIT, "component": EXPLICIT, "dae": ("radau", "rodas5p", "ida")}
KEPT: Final = 1e-5  # rtol is 1e-8, and multistep methods are a few hundred of that off
FORMS: Final = (
    "{x} {op} {c}", "{k} * {x} {op} {k} * {c}", "{k} * ({x} - {c}) {op} 0", "{x} - {c} {op} 0", "{x} / {k} {op} {c} / {k}", "max({x}, {c}) {op} {c}",
    "min({x}, {c}) {op} {c}", "max({x} - {c}, 0.0) * {k} {op} 0", "abs({x} - {c}) {op} 0", "({x} - {c}) * (1 + {x} * {x}) {op} 0",
    "np.sinh({x} - {c}) {op} 0", "np.exp({x} - {c}) {op} 1", "np.clip({x}, {c} - 0.2, {c}) {op} {c}", "np.clip({x}, {c}, {c} + 0.2) {op} {c}",
    "{x} + {y} {op} {c} + {y}", "np.sign({x} - {c}) {op} 0", "({x} - {c}) * (2 + {y}) {op} 0", "({x} - {c}) / (2 + {y}) {op} 0",
    "({x} - {c}) * np.exp({y}) {op} 0", "({x} - {c}) * {w} {op} 0", "abs({x} - {c}) * {w} {op} 0", "max({x} - {c}, 0.0) * {w} {op} 0",
)  # fmt: skip


class Case:
    """What comes of a seed: ``x`` runs to ``c``, is stopped by a relation, and leaves at a time; relations that are added up, clauses that count.

    Parameters
    ----------
    by : "function", "component" or "dae", where relations read an algebraic unknown in place of x - c.
    """

    def __init__(self, seed: int, by: str) -> None:
        self._draw = d = random.Random(seed)
        self._by = by
        self._c = c = d.choice([0.0, 0.0, 0.5, 0.1, -0.3, 0.7, round(d.uniform(-2.0, 2.0), 2)])
        self._side = side = d.choice([1, -1])  # from below, from above
        self.start = c - side * self._number(0.05, 1.0)
        self._way, self.speed, self._pull = abs(c - self.start), self._number(0.3, 2.0), self._number(0.3, 2.0)
        self._kind = d.choice(["even", "faster", "pulled"])
        self._leaves_at = round(self._arrival(self.speed) + self._number(0.2, 1.0), 3)
        self._leaves_to, self._leaves_with = d.choice([1, -1, 0]), self._number(0.3, 2.0)
        self.t_end = self._leaves_at + self._number(0.3, 1.0)
        self.relations = [self._relation() for _ in range(d.randint(1, 3))]
        self.clauses = [self._relation() for _ in range(d.randint(0, 2))]

    def _number(self, low: float, high: float) -> float:
        return round(self._draw.uniform(low, high), 3)

    def _relation(self) -> str:
        form = self._draw.choice(FORMS)
        return form.format(x="{x}", y="{y}", w="{w}", c=self._c, k=self._number(0.2, 5.0), op=self._draw.choice([">", "<", ">=", "<="]))

    def _arrival(self, speed: float) -> float:
        """When x gets to c."""
        if self._kind == "even":
            return self._way / speed
        if self._kind == "faster":
            return math.sqrt(1.0 + 2.0 * self._way / speed) - 1.0
        return math.log(1.0 + self._pull * self._way / speed) / self._pull

    def source(self) -> str:
        """The text of a module with its model."""
        op, other = ("<", ">=") if self._side > 0 else (">", "<=")
        c, x, y, v = self._c, *(("self.x", "self.y", "self.v") if self._by == "component" else ("x", "y", "p['v']"))
        moving = self._draw.choice([f"{x} {op} {c}", f"2.3 * ({x} - {c}) {op} 0", f"not {x} {other} {c}", f"{c} {'>' if op == '<' else '<'} {x}"])
        pulled = f" - {self._pull} * ({x} - {c})" if self._kind == "pulled" else ""
        time = "tg.time" if self._by == "component" else "t"
        faster = f" * (1 + {time})" if self._kind == "faster" else ""
        arriving = f"({self._side} * {v}{faster}{pulled} if {moving} else {pulled or '0.0'})"
        rates = [f"{arriving} if {time} < {self._leaves_at} else {self._leaves_to * self._leaves_with}"]
        swings = f"np.sin(3 * {time})"
        rates += [f"1.0 if {relation.format(x=x, y=y, w=swings)} else 0.0" for relation in self.relations]
        conditions = [clause.format(x=x, y=y, w=swings) for clause in self.clauses]
        return _component(self, rates, conditions) if self._by == "component" else _function(self, rates, conditions, is_dae=self._by == "dae", c=c)

    def _holds(self, relation: str, side: int, time: float) -> bool:
        if side == 0:
            return "=" in relation
        return self._says(relation, self._c + 0.05 * side, 0.0, math.sin(3.0 * time))

    def _says(self, relation: str, x: float, y: float, w: float) -> bool:
        return bool(eval(relation.format(x="x", y="y", w="w"), {"np": np, "x": x, "y": y, "w": w}))

    def truth(self, speed: float | None = None) -> dict[str, float]:
        """Final values, at a speed."""
        arrives = self._arrival(speed or self.speed)
        swings = [k * math.pi / 3.0 for k in range(1, int(3.0 * self.t_end / math.pi) + 1)]
        ends = sorted([0.0, arrives, self._leaves_at, self.t_end, *swings])
        parts: list[tuple[int, float, float]] = []
        for begin, end in pairwise(ends):
            middle = 0.5 * (begin + end)
            parts.append((-self._side if middle < arrives else 0 if middle < self._leaves_at else self._leaves_to, middle, end - begin))
        found = {"x": self._c + self._leaves_to * self._leaves_with * (self.t_end - self._leaves_at)}
        for k, relation in enumerate(self.relations):
            found[f"q{k}"] = sum(length for side, middle, length in parts if self._holds(relation, side, middle))
        for k, clause in enumerate(self.clauses):
            said = [self._says(clause, self.start, 0.3, 0.0), *(self._holds(clause, side, middle) for side, middle, _ in parts)]
            found[f"n{k}"] = float(sum(now and not before for before, now in pairwise(said)))
        return found


def _function(case: Case, rates: list[str], conditions: list[str], *, is_dae: bool, c: float) -> str:
    sums, counts = [f"q{k}" for k in range(len(case.relations))], [f"n{k}" for k in range(len(conditions))]
    names = ["x", *sums, *counts, "y"]
    rates = [*rates, *["0.0"] * len(counts), "np.cos(3 * t)"]
    start = f"'x': {case.start!r}, 'y': 0.3, " + ", ".join(f"'{name}': 0.0" for name in (*sums, *counts))
    clauses: list[str] = []
    for k, condition in enumerate(conditions):
        clauses += [f"def when{k}(t, y, p):", "    x, y = y['x'], y['y']", f"    return {condition}"]
        clauses += [f"def count{k}(t, y, p):", f"    return {{'n{k}': y['n{k}'] + 1}}"]
    events = ", ".join(f"tg.event(when{k}, reset=count{k})" for k in range(len(conditions)))
    if not is_dae:
        body = [
            "def rates(t, y, p):",
            f"    {', '.join(names)} = [y[name] for name in {names}]",
            f"    return dict({', '.join(map('{}={}'.format, names, rates))})",
        ]
        return "\n".join([*body, *clauses, f"model = tg.ode(rates, y0={{{start}}}, p={{'v': {case.speed}}}, events=[{events}])", ""])
    written = [rate.replace(f"x - {c}", "z") for rate in rates]
    body = ["def residual(t, y, ydot, p):", f"    {', '.join(names)}, z = [y[name] for name in {[*names, 'z']}]"]
    body += [f"    tied = z + 0.3 * z**3 - (x - ({c})) - 0.3 * (x - ({c})) ** 3"]
    body += [f"    return [{', '.join(f'ydot[{name!r}] - ({rate})' for name, rate in zip(names, written, strict=True))}, tied]"]
    given = f"y0={{{start}, 'z': {case.start - c!r}}}, p={{'v': {case.speed}}}"
    return "\n".join([*body, *clauses, f"model = tg.dae(residual, {given}, events=[{events}])", ""])


def _component(case: Case, rates: list[str], conditions: list[str]) -> str:
    sums = [f"q{k}" for k in range(len(case.relations))]
    lines = ["class Model(tg.Component):", f"    v = tg.Parameter({case.speed})", f"    x = tg.State({case.start!r})", "    y = tg.State(0.3)"]
    lines += [*(f"    {name} = tg.State(0.0)" for name in sums), *(f"    n{k} = tg.Discrete(0.0)" for k in range(len(conditions)))]
    lines += ["    def equations(self):", "        yield tg.der(self.y) == np.cos(3 * tg.time)"]
    lines += [f"        yield tg.der(self.{name}) == ({rate})" for name, rate in zip(["x", *sums], rates, strict=True)]
    for k, condition in enumerate(conditions):
        lines += [f"    @tg.when(lambda self: {condition})", f"    def clause{k}(self):", f"        return {{self.n{k}: self.n{k} + 1}}"]
    return "\n".join([*lines, "model = Model()", ""])


def _check(case: Case, by: str, method: str) -> None:
    model = space_of(case.source(), f"<at rest, {by}>", tg=tg, np=np, __name__="several_zeros")["model"]
    truth = case.truth()
    with_derivatives = by != "dae" and method in ("taylor", "radau")
    options: dict[str, Any] = {"sensitivities": ["v"]} if with_derivatives else {}
    result = tg.simulate(model, (0.0, case.t_end), rtol=1e-8, atol=1e-9, method=method, **options)
    assert {name: float(result.final[name]) for name in truth} == pytest.approx(truth, abs=KEPT)
    if with_derivatives:
        more, less = case.truth(case.speed + 1e-6), case.truth(case.speed - 1e-6)
        for name in ("x", *(f"q{k}" for k in range(len(case.relations)))):
            # the truth is a difference of closed forms, good to nine digits
            assert float(result.sensitivity(name, "v")[-1]) == pytest.approx((more[name] - less[name]) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("by", list(METHODS))
def test_what_is_at_rest_at_a_zero_is_neither_beyond_it_nor_before(by: str, seed: int) -> None:
    _check(Case(seed, by), by, METHODS[by][seed % len(METHODS[by])])


@pytest.mark.hunt
@pytest.mark.parametrize(("by", "method"), [(by, method) for by, methods in METHODS.items() for method in methods])
def test_what_is_at_rest_at_a_zero_by_every_method(by: str, method: str) -> None:
    for seed in range(100, 120):
        _check(Case(seed, by), by, method)


@pytest.mark.parametrize("method", EXPLICIT)
def test_what_is_stopped_before_it_crosses_is_no_cause(method: str) -> None:
    model = tg.ode(lambda t, y: [1.3 if y["x"] < 0.7 else 0.0, 1.0 if 2.1 * y["x"] > 1.47 else 0.0], y0={"x": 0.056, "q": 0.0})
    result = tg.simulate(model, (0.0, 1.0), method=method)
    assert [event.cause for event in result.events] == ["x >= 0.7"]
    assert result.final["q"] == 0.0


@pytest.mark.parametrize("method", EXPLICIT)
def test_a_square_of_what_rests_at_zero_is_not_below_it(method: str) -> None:
    def rates(t: Any, y: Any) -> list[Any]:
        return [-0.825 if y["x"] > -0.3 else 0.0, np.cos(3 * t), 1.0 if (y["x"] + 0.3) * (y["x"] + 0.3) * (2 + y["y"]) < 0 else 0.0]

    # the rounding of its slope is on both sides of zero, about as far on each
    model = tg.ode(rates, y0={"x": 0.20800000000000002, "y": 0.3, "q": 0.0})
    result = tg.simulate(model, (0.0, 1.5), rtol=1e-8, atol=1e-9, method=method)
    assert (result.final["x"], result.final["q"]) == (-0.3, 0.0)


@pytest.mark.parametrize("method", EXPLICIT)
def test_a_tank_that_has_run_empty_is_empty_and_can_be_filled_again(method: str) -> None:
    def rates(t: Any, y: Any) -> dict[str, Any]:
        return {"h": (-0.37 if y["h"] > 0 else 0.0) if t < 2.0 else 0.25, "since": 1.0}

    # the clause sets another state and stops nothing
    noted = tg.event(lambda t, y: y["h"] <= 0, reset=lambda t, y: {"since": 0.0})
    result = tg.simulate(tg.ode(rates, y0={"h": 0.4, "since": 5.0}, events=noted), (0.0, 3.0), method=method)
    assert float(result.at(1.5)["h"]) == 0.0
    assert result.final["h"] == pytest.approx(0.25, abs=1e-9)
    assert result.final["since"] == pytest.approx(3.0 - 0.4 / 0.37, abs=1e-6)


class Drained(tg.Component):
    """Once a clause has seen it below, it is below: nothing else has stopped it."""

    draining = tg.Discrete(True)
    level = tg.State(0.7)
    while_below = tg.State(0.0)

    def equations(self) -> Any:
        yield tg.der(self.level) == tg.where(self.draining, -0.9, 0.0)
        yield tg.der(self.while_below) == tg.where(self.level < 0, 1.0, 0.0)

    @tg.when(lambda self: self.level < 0)
    def empty(self) -> Any:
        return {self.draining: False}


@pytest.mark.parametrize("method", EXPLICIT)
def test_what_a_clause_stops_where_it_crosses_stays_beyond(method: str) -> None:
    result = tg.simulate(Drained(), (0.0, 2.0), method=method, rtol=1e-8)
    assert -1e-14 < result.final["level"] < 0.0
    assert result.final["while_below"] == pytest.approx(2.0 - 0.7 / 0.9, abs=1e-6)
