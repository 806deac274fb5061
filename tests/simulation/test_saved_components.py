"""Components whose modes tie states, whose parts sleep and whose states are chosen anew go on from a file as if they had never been away."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from tidegate.library import rotational


class Coupled(tg.Component):
    """Two inertias that a clutch ties and lets go."""

    J1, J2 = rotational.Inertia(J=1.0, w=10.0), rotational.Inertia(J=2.0)
    clutch, drive = rotational.Clutch(), rotational.SignalTorque()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.drive.flange, self.J1.flange_a)
        yield tg.connect(self.J1.flange_b, self.clutch.flange_a)
        yield tg.connect(self.clutch.flange_b, self.J2.flange_a)
        yield self.drive.tau == tg.where(tg.time < 2.0, 2.0, 0.0)
        yield self.clutch.capacity == tg.where(tg.time > 0.5, tg.where(tg.time < 3.0, 12.0, 0.5), 0.0)


class Cell(tg.Component):
    x, k, n = tg.State(1.0), tg.Parameter(0.7), tg.Discrete(0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == -self.k * self.x

    @tg.every(0.37)
    def tick(self) -> Any:
        return {self.n: self.n + 1, self.x: self.x + 0.1}


class Sleepers(tg.Component):
    """Parts whose states come and go, with clocks and memories that sleep meanwhile."""

    one, two, y = Cell(), Cell(k=0.2), tg.State(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.y) == 2.0 - 0.3 * self.y
        yield tg.enable(self.one, when=math.sin(3.0 * tg.time) > 0.2)
        yield tg.enable(self.two, when=self.y < 3.0)


class Pendulum(tg.Component):
    """In Cartesian coordinates, round and round: states are chosen anew on the way."""

    x, y, vx, vy, F, L = tg.State(1.0), tg.State(0.0), tg.State(0.0), tg.State(7.5), tg.Algebraic(), tg.Parameter(1.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == self.vx
        yield tg.der(self.y) == self.vy
        yield tg.der(self.vx) == -self.F * self.x
        yield tg.der(self.vy) == -self.F * self.y - 9.81
        yield self.x**2 + self.y**2 == self.L**2


CASES: list[tuple[Any, list[str], str]] = [(Coupled, ["J1.J"], "J2.w"), (Sleepers, ["one.k"], "one.x"), (Pendulum, [], "x")]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida", "rodas5p"])
@pytest.mark.parametrize(("kind", "parameters", "shown"), CASES)
def test_any_stops_leave_states_events_and_derivatives_as_they_are(kind: Any, parameters: list[str], shown: str, method: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"rtol": 1e-8, "method": method, "sensitivities": parameters if method == "radau" and parameters else None}
    whole = tg.simulate(kind(), (0.0, 4.0), **options)
    chance = random.Random(f"{kind.__name__} {method}")
    simulation = tg.Simulation(kind(), **options)
    for until in [*sorted(chance.uniform(0.0, 4.0) for _ in range(3)), 4.0]:
        simulation.advance(until)
        simulation = tg.Simulation.load(simulation.save(tmp_path / "stopped.sim"), kind())
    tolerance = 1e-3 if method == "ida" else 1e-5
    assert {name: simulation[name] for name in whole.final} == pytest.approx(dict(whole.final), rel=tolerance, abs=tolerance, nan_ok=True)
    assert [event.time for event in simulation.result.events] == pytest.approx([event.time for event in whole.events], abs=tolerance)
    if options["sensitivities"]:
        found, expected = (result.sensitivity(shown, parameters[0]) for result in (simulation.result, whole))
        assert float(found[-1]) == pytest.approx(float(expected[-1]), rel=1e-4)
