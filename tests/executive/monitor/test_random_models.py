"""Random models with many events against closed forms: which events happen, in which order, and when."""

from __future__ import annotations

import math
from random import Random

import pytest

from monitor_models import Body, Flow, Look, model
from tidegate.executive.monitor import METHODS

DTMIN = 1e-10


class Tanks:
    """Levels that rise and fall with constant rates; at a bound the rate turns round, with another size. Now and then somebody sets a level."""

    def __init__(self, seed: int) -> None:
        draw = Random(seed)
        self.n = draw.randint(1, 4)
        self.levels = [draw.uniform(0.2, 0.8) for _ in range(self.n)]
        self.rates = [draw.choice((-1, 1)) * draw.uniform(0.3, 2.0) for _ in range(self.n)]
        self.sizes = [[draw.uniform(0.3, 2.0) for _ in range(200)] for _ in range(self.n)]
        self.visits = sorted((draw.uniform(0.0, 4.0), draw.randrange(self.n), draw.uniform(0.2, 0.8)) for _ in range(draw.randint(0, 5)))
        self.dtmax = draw.choice((0.01, 0.1, 1.0, 10.0))
        self.frequency = draw.choice((None, 0.0, -1.0, 0.07, 0.9))

    def truth(self) -> list[tuple[float, int]]:
        """Turns until t = 4, by arithmetic."""
        levels, rates, sizes = list(self.levels), list(self.rates), [list(one) for one in self.sizes]
        visits = [*self.visits, (4.0, 0, 0.0)]
        now, turns = 0.0, list[tuple[float, int]]()
        while visits:
            due = [((1.0 - y) / r if r > 0 else -y / r) for y, r in zip(levels, rates, strict=True)]
            first = min(range(self.n), key=due.__getitem__)
            span = min(due[first], visits[0][0] - now)
            levels = [y + r * span for y, r in zip(levels, rates, strict=True)]
            now += span
            if span == due[first]:
                turns.append((now, first))
                rates[first] = -math.copysign(sizes[first].pop(), rates[first])
            else:
                _, which, level = visits.pop(0)
                levels[which] = level
        return turns

    def simulated(self, method: str) -> list[tuple[float, int]]:
        monitor, agenda = model(method, dtmin=DTMIN, dtmax=self.dtmax)
        flows = [Flow(level, 1.0) for level in self.levels]
        rates, sizes = list(self.rates), [list(one) for one in self.sizes]
        turns: list[tuple[float, int]] = []

        def evaluate() -> None:
            for flow, rate in zip(flows, rates, strict=True):
                flow.rate = rate

        def wait(which: int) -> None:
            flow = flows[which]

            def turn() -> None:
                turns.append((monitor.time, which))
                rates[which] = -math.copysign(sizes[which].pop(), rates[which])
                wait(which)

            monitor.wait(turn, lambda: flow.state >= 1.0 if rates[which] > 0 else flow.state <= 0.0)

        for which, flow in enumerate(flows):
            monitor.start_variable(flow)
            wait(which)
        monitor.start_body(Body(evaluate))
        if self.frequency is not None:
            monitor.start_sample(Look(lambda: None, self.frequency))
        for time, which, level in self.visits:
            agenda.at(time, lambda which=which, level=level: setattr(flows[which], "state", level))
        agenda.run(until=4.0)
        return turns


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 40), marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("method", METHODS)
def test_tanks_turn_when_arithmetic_says(method: str, seeds: range) -> None:
    """Each turn is late by dtmin at most, which the next turns of the tank inherit."""
    for seed in seeds:
        tanks = Tanks(seed)
        truth, simulated = tanks.truth(), tanks.simulated(method)
        assert [which for _, which in simulated] == [which for _, which in truth], seed
        late = max((abs(t - s) for (t, _), (s, _) in zip(truth, simulated, strict=True)), default=0.0)
        assert late < 10 * len(truth) * DTMIN, seed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "dtmax", "error"),
    [
        ("rke", 0.5, 1e-6),
        ("pc", 0.5, 1e-6),
        ("heun", 1e-3, 1e-5),
        ("adams2", 1e-3, 1e-5),
        ("trapezoid", 1e-3, 1e-5),
    ],
)
def test_thermostats_switch_when_the_exponential_says(method: str, dtmax: float, error: float) -> None:
    for seed in range(8 if dtmax > 0.1 else 2):
        draw = Random(seed)
        k, hot, low, high = draw.uniform(0.2, 2.0), draw.uniform(25.0, 40.0), draw.uniform(15.0, 17.0), draw.uniform(19.0, 22.0)
        monitor, agenda = model(method, dtmin=DTMIN, dtmax=dtmax)
        room, heater = Flow(low, 1e-9), [hot]
        switches: list[float] = []

        def evaluate(room: Flow = room, heater: list[float] = heater, k: float = k) -> None:
            room.rate = k * (heater[0] - room.state)

        def switch() -> None:
            switches.append(monitor.time)  # noqa: B023 - within this turn of the loop
            heater[0] = hot - heater[0]  # noqa: B023
            wait()

        def wait() -> None:
            monitor.wait(switch, lambda: room.state > high if heater[0] else room.state < low)  # noqa: B023

        monitor.start_variable(room)
        monitor.start_body(Body(evaluate))
        wait()
        agenda.run(until=5.0)
        up, down = math.log((hot - low) / (hot - high)) / k, math.log(high / low) / k
        truth, now = [], 0.0
        while True:
            now += down if len(truth) % 2 else up
            if now >= 5.0:
                break
            truth.append(now)
        assert switches == pytest.approx(truth, abs=error)
        assert switches
