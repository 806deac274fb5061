"""`tg.StopRun` ends a run well wherever it is raised; `tg.RetryStep` asks for a smaller step, and says why where none is small enough."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.frontends.dsblock import EventAction, Start

ENDS: list[tuple[bool, float, float]] = []


class Decay(tg.DSblock):
    """``x' = -x``, with one place at which something is asked for."""

    place = ""
    limit = 0.5

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.output("Y")
        declare.auxiliary("W")
        declare.indicator("Z")

    def ask(self, place: str, x: float, values: Any = None) -> None:
        if place == self.place and x < self.limit:
            raise tg.StopRun(f"{place} has seen enough", values)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        self.ask("derivatives", x.X)
        return -x.X

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        self.ask("outputs", x.X)
        return 2.0 * x.X

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        self.ask("indicators", x.X)
        return x.X - 0.3

    def communication(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        self.ask("communication", x.X, {"W": 3.0 * x.X})
        return 3.0 * x.X

    def step_condition(self, t: float, x: Any, u: Any, p: Any, m: Any) -> bool:
        self.ask("step_condition", x.X)
        return False

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        self.ask("start", -1.0)
        return Start()

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        self.ask("event", x.X)
        return EventAction("continue")

    def terminate(self, is_well: bool, t: float, x: Any, u: Any, p: Any, m: Any) -> None:
        ENDS.append((is_well, t, x.X))


def decay(place: str) -> Decay:
    block = Decay()
    block.place = place
    return block


def test_a_stop_at_a_communication_point_stores_everything_up_to_it(method: str) -> None:
    ENDS.clear()
    asked = np.linspace(0.0, 2.0, 41)
    result = tg.simulate(decay("communication"), (0.0, 2.0), outputs=asked, rtol=1e-8, method=method)
    last = 0.7  # the first asked time behind log(2)
    assert (result.status, result.message) == ("terminated", "communication has seen enough")
    assert result.t == pytest.approx(asked[asked <= last + 1e-9], abs=1e-14)
    for name, factor in (("X", 1.0), ("Y", 2.0), ("W", 3.0)):
        assert result[name].values == pytest.approx(factor * np.exp(-result.t), rel=1e-5)
    assert len(ENDS) == 1
    assert ENDS[0] == (True, pytest.approx(last), pytest.approx(math.exp(-last), rel=1e-5))


@pytest.mark.parametrize("place", ["derivatives", "outputs", "indicators", "step_condition", "event"])
def test_a_stop_from_anywhere_ends_the_run_well_at_a_completed_step(place: str, method: str) -> None:
    ENDS.clear()
    result = tg.simulate(decay(place), (0.0, 2.0), rtol=1e-8, method=method)
    assert (result.status, result.message) == ("terminated", f"{place} has seen enough")
    assert [is_well for is_well, _, _ in ENDS] == [True]
    assert ENDS[0][1] == result.t[-1]
    assert result["X"].values == pytest.approx(np.exp(-result.t), rel=1e-5)
    if place == "outputs":
        # the row where it was asked for is there, without what outputs would have given
        assert (result["X"].values[-2] > 0.5 > result["X"].values[-1], math.isnan(result["Y"].values[-1])) == (True, True)
    if place == "event":
        assert result.t[-1] == pytest.approx(-math.log(0.3), abs=1e-6)


def test_a_stop_at_the_start_leaves_the_start() -> None:
    ENDS.clear()
    result = tg.simulate(decay("start"), (0.0, 2.0))
    assert (result.status, result.message, result.t[-1]) == ("terminated", "start has seen enough", 0.0)
    assert result.final["X"] == 1.0
    assert ENDS == [(True, 0.0, 1.0)]


class AtOnce(Decay):
    """Has seen enough at T0."""

    place = "communication"
    limit = 2.0


def test_a_simulation_that_was_stopped_goes_no_further() -> None:
    ENDS.clear()
    simulation = tg.Simulation(decay("communication"))
    simulation.advance(0.5)
    simulation.advance(1.0)
    assert (simulation.status, simulation.result.message) == ("terminated", "communication has seen enough")
    assert simulation["X"] == pytest.approx(math.exp(-simulation.time), rel=1e-5)
    assert [(True, simulation.time, simulation["X"])] == ENDS
    with pytest.raises(tg.UsageError, match="has seen enough"):
        simulation.advance(1.5)
    at_once = tg.Simulation(AtOnce())
    assert (at_once.status, at_once.time, at_once.result.final["W"]) == ("terminated", 0.0, 3.0)
    assert tg.simulate(AtOnce(), (0.0, 1.0)).t.tolist() == [0.0]


class Says(tg.DSblock):
    """Stops by what its event answers; communication has nothing to return."""

    def define(self, declare: Any) -> None:
        declare.state("X")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 1.0

    def communication(self, t: float, x: Any, u: Any, p: Any, m: Any) -> None:
        SEEN.append((t, x.X))

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(next_event=0.75)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        return EventAction("stop", reason="it is time")


SEEN: list[tuple[float, float]] = []


def test_an_event_that_stops_says_why_and_communication_needs_no_values() -> None:
    SEEN.clear()
    result = tg.simulate(Says(), (0.0, 2.0), outputs=[0.0, 0.25, 0.5, 0.75, 1.0])
    assert (result.status, result.message) == ("terminated", "it is time")
    assert [(pytest.approx(t), pytest.approx(t)) for t in (0.0, 0.25, 0.5, 0.75)] == SEEN


class Root(tg.DSblock):
    """``x' = -sqrt(x)`` up to x = 0.01, where it is not defined beyond; each step may look behind it."""

    asks_in = "derivatives"

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.indicator("Z")
        declare.output("Y")

    def root(self, place: str, x: float, reason: str) -> float:
        if x < 0.0 and place == self.asks_in:
            raise tg.RetryStep(reason)
        return math.sqrt(abs(x))

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -self.root("derivatives", x.X, "no root")

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.root("indicators", x.X, "no root") - 0.1

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        if x.X < 0.0 and self.asks_in == "outputs":
            raise tg.RetryStep("no root")
        return math.sqrt(abs(x.X))

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        return EventAction("stop")


@pytest.mark.slow
@pytest.mark.parametrize("place", ["derivatives", "indicators", "outputs"])
def test_a_smaller_step_helps_where_only_the_step_was_too_long(place: str, method: str) -> None:
    block = Root()
    block.asks_in = place
    result = tg.simulate(block, (0.0, 5.0), rtol=1e-7, method=method, first_step=1.0)
    assert result.t[-1] == pytest.approx(1.8, abs=1e-4)  # sqrt(x) = 1 - t/2


class Wall(tg.DSblock):
    """``x' = 1``, and nothing is known beyond 0.5."""

    place = ""

    def define(self, declare: Any) -> None:
        declare.state("X")
        declare.indicator("Z")
        declare.output("Y")

    def known(self, place: str, x: float) -> float:
        if place == self.place and x > 0.5:
            raise tg.RetryStep("the table ends at 0.5")
        return 1.0

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.known("derivatives", x.X)

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.known("indicators", x.X)

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.known("outputs", x.X)


@pytest.mark.hunt
@pytest.mark.parametrize("place", ["derivatives", "indicators", "outputs"])
def test_where_no_step_is_short_enough_the_error_says_the_reason(place: str, method: str) -> None:
    block = Wall()
    block.place = place
    with pytest.raises(tg.StepSizeError, match=r"the table ends at 0\.5") as told:
        tg.simulate(block, (0.0, 1.0), method=method)
    assert told.value.result is not None
    assert place == "outputs" or told.value.time == pytest.approx(0.5, abs=1e-4)


class Broken(Decay):
    """Raises in its outputs, on which nothing depends."""

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 1.0 / (x.X > 0.5)


def test_what_outputs_raise_is_not_lost() -> None:
    with pytest.raises(tg.CallbackError, match="outputs or communication of DSblock Broken raised ZeroDivisionError") as told:
        tg.simulate(Broken(), (0.0, 2.0), outputs=0.1)
    assert told.value.result is not None
    assert told.value.result.t[-1] <= 0.8
