"""Random hybrid models written twice: as expressions, and as functions of which nothing is known; both runs are one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.model.callables import At, CallableClause, CallableModel, Threshold, Tick

T_END = 3.0
RTOL = 1e-8
SAME = 1e-5  # of states of order one: a thousand tolerances, since derivatives of the functions are differences


@dataclass
class Written:
    """Linear equations with a wave, relays that add to them, clauses and clocks that shrink and shift one state."""

    matrix: list[list[float]]
    drive: list[float]
    start: list[float]
    relays: list[tuple[list[float], float, list[float], bool]]
    clauses: list[tuple[list[float], float, int, float, float]]
    clocks: list[tuple[float, float, int, float, float]]


def written(seed: int) -> Written:
    draw = random.Random(seed)
    n = draw.choice([1, 2, 3])

    def row() -> list[float]:
        return [draw.uniform(-1.0, 1.0) for _ in range(n)]

    def jump() -> tuple[int, float, float]:
        return draw.randrange(n), draw.uniform(-0.5, 0.9), draw.uniform(-1.0, 1.0)

    matrix = [[-draw.uniform(0.5, 3.0) if i == j else draw.uniform(-1.0, 1.0) for j in range(n)] for i in range(n)]
    relays = [(row(), draw.uniform(-0.5, 0.5), row(), draw.random() < 0.5) for _ in range(draw.choice([0, 1, 2]))]
    clauses = [(row(), draw.uniform(-0.6, 0.6), *jump()) for _ in range(draw.choice([0, 1, 2]))]
    clocks = [(draw.uniform(0.1, 1.0), draw.uniform(0.3, 1.5), *jump()) for _ in range(draw.choice([0, 1, 2]))]
    return Written(matrix, row(), row(), relays, clauses, clocks)


def as_expressions(model: Written) -> Any:
    n = len(model.start)
    body: dict[str, Any] = {f"x{i}": tg.State(value) for i, value in enumerate(model.start)}
    body |= {"count": tg.Discrete(0.0), "q": tg.Parameter(1.0)}

    def height(self: Any, row: list[float], level: float) -> Any:
        return sum(row[i] * getattr(self, f"x{i}") for i in range(n)) - level

    def equations(self: Any) -> Any:
        for i in range(n):
            rate = self.q * (model.drive[i] + np.sin(2.0 * tg.time)) + sum(model.matrix[i][j] * getattr(self, f"x{j}") for j in range(n))
            for row, level, added, strict in model.relays:
                g = height(self, row, level)
                rate = rate + tg.where(g > 0 if strict else g >= 0, added[i], 0.0)
            yield tg.der(getattr(self, f"x{i}")) == rate

    def jump(j: int, factor: float, shift: float, counted: float) -> Callable[[Any], Any]:
        return lambda self: {getattr(self, f"x{j}"): factor * getattr(self, f"x{j}") + shift, self.count: self.count + counted}

    body["equations"] = equations
    for k, (row, level, *what) in enumerate(model.clauses):
        body[f"clause{k}"] = tg.when(lambda self, row=row, level=level: height(self, row, level) > 0)(jump(*what, 1.0))
    for k, (first, period, *what) in enumerate(model.clocks):
        body[f"clock{k}"] = tg.every(period, start=first)(jump(*what, 10.0))
    return type("Written", (tg.Component,), body)()


def as_functions(model: Written) -> CallableModel:
    matrix, drive = np.array(model.matrix), np.array(model.drive)

    def rates(at: At) -> Any:
        added = sum((np.array(relay[2]) for relay, holds in zip(model.relays, at.holds, strict=False) if holds), start=np.zeros(len(drive)))
        return matrix @ at.y + at.p[0] * (drive + np.sin(2.0 * at.time)) + added

    def threshold(row: list[float], level: float, *, strict: bool, decides: bool) -> Threshold:
        return Threshold("", lambda at: float(np.dot(row, at.y) - level), strict=strict, decides=decides)

    def jump(j: int, factor: float, shift: float, counted: float) -> Callable[[At], dict[str, float]]:
        return lambda at: {f"x{j}": factor * at.y[j] + shift, "count": at.d[0] + counted}

    thresholds = [threshold(row, level, strict=strict, decides=True) for row, level, _, strict in model.relays]
    clauses = [CallableClause(f"clause{k}", [len(thresholds) + k], jump(*what, 1.0)) for k, (_, _, *what) in enumerate(model.clauses)]
    thresholds += [threshold(row, level, strict=True, decides=False) for row, level, *_ in model.clauses]
    return CallableModel(
        "written",
        states={f"x{i}": value for i, value in enumerate(model.start)},
        rhs=rates,
        parameters={"q": 1.0},
        discretes={"count": 0.0},
        thresholds=thresholds,
        clauses=clauses,
        ticks=[Tick(f"clock{k}", first, period, jump(*what, 10.0)) for k, (first, period, *what) in enumerate(model.clocks)],
    )


def outcome(source: Any, method: str) -> tg.Result | type[tg.RunError]:
    try:
        return tg.simulate(source, (0.0, T_END), method=method, rtol=RTOL, sensitivities="all")
    except tg.RunError as error:
        return type(error)


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(3))
def test_a_model_of_functions_runs_as_the_same_of_expressions(seed: int, method: str) -> None:
    model = written(seed)
    one, other = (outcome(source, method) for source in (as_expressions(model), as_functions(model)))
    if isinstance(one, type) or isinstance(other, type):
        assert one is other  # they chatter, disagree or pile up alike
        return
    assert other.final == pytest.approx(dict(one.final), abs=SAME)
    assert [event.kind for event in other.events] == [event.kind for event in one.events]
    for i in range(len(model.start)):
        expected = float(one.sensitivity(f"x{i}", "q")[-1])
        assert float(other.sensitivity(f"x{i}", "q")[-1]) == pytest.approx(expected, rel=1e-3, abs=1e-3)
