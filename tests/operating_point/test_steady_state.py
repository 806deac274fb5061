"""Steady states against plain Python: chains of tanks solved one after the other, closed reactions, circuits, switches that do not settle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import tidegate as tg
from tidegate.library import electrical as el

__all__: list[str] = []


class Tank(tg.Component):
    level = tg.State(0.0)
    inflow = tg.Input()
    outflow = tg.Algebraic()
    k = tg.Parameter(1.0)
    weir = tg.Parameter(1.0)
    rim = tg.Parameter(1.0)

    def equations(self) -> Any:
        yield tg.der(self.level) == self.inflow - self.outflow
        yield self.outflow == self.k * self.level + self.k * self.level**3 + self.weir * max(self.level - self.rim, 0.0)


class Chain(tg.Component):
    tanks = tg.Array(Tank, 4)
    feed = tg.Parameter(1.0)
    back = tg.Parameter(0.1)

    def equations(self) -> Any:
        yield self.tanks[0].inflow == self.feed
        for k in range(1, 4):
            yield self.tanks[k].inflow == self.tanks[k - 1].outflow + self.back


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_chains_of_tanks_rest_where_each_lets_out_what_it_gets(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = {f"tanks[{k}].{name}": float(v) for k in range(4) for name, v in zip(("k", "weir", "rim"), random.uniform(0.1, 3.0, 3), strict=True)}
    values |= {"feed": float(random.uniform(0.0, 9.0)), "back": float(random.uniform(0.0, 2.0))}
    rest = tg.steady_state(Chain(), parameters=values)
    flow = values["feed"]
    for k in range(4):
        own = {name: values[f"tanks[{k}].{name}"] for name in ("k", "weir", "rim")}

        def excess(h: float, own: dict[str, float] = own, flow: float = flow) -> float:
            return own["k"] * (h + h**3) + own["weir"] * max(h - own["rim"], 0.0) - flow

        level = brentq(excess, 0.0, 100.0, xtol=1e-14)
        # a correction of Newton's method is below 1e-9; the values are better by its square
        assert rest[f"tanks[{k}].level"] == pytest.approx(level, rel=1e-11, abs=1e-11)
        assert rest[f"tanks[{k}].outflow"] == pytest.approx(flow, rel=1e-10, abs=1e-10)
        flow += values["back"]


def test_of_a_closed_reaction_the_place_keeps_what_the_start_holds() -> None:
    model = tg.ode(lambda t, y, p: [-2.0 * y["a"] + y["b"], 2.0 * y["a"] - y["b"]], y0={"a": 3.0, "b": 0.0}, p={"k": 1.0})
    rest = tg.steady_state(model)
    assert (rest["a"], rest["b"]) == pytest.approx((1.0, 2.0), rel=1e-8)  # 1e7 times as slow as the fastest scale is the longest step
    assert not rest.is_isolated
    assert "belongs to the start values" in str(rest)
    other = tg.steady_state(model, y0={"b": 3.0})
    assert other["a"] == pytest.approx(2.0, rel=1e-8)


class Rectifier(tg.Component):
    source = el.ConstantVoltage(V=5.0)
    r = el.Resistor(R=10.0)
    load = el.Resistor(R=40.0)
    diode = el.IdealDiode()
    coil = el.Inductor(L=0.1)
    buffer = el.Capacitor(C=1e-3)
    ground = el.Ground()

    def equations(self) -> Any:
        yield tg.connect(self.source.p, self.r.p)
        yield tg.connect(self.r.n, self.coil.p)
        yield tg.connect(self.coil.n, self.diode.p)
        yield tg.connect(self.diode.n, self.load.p, self.buffer.p)
        yield tg.connect(self.source.n, self.load.n, self.buffer.n, self.ground.p)


@pytest.mark.slow
def test_a_circuit_of_parts_rests_at_its_operating_point_with_its_diode_open() -> None:
    rest = tg.steady_state(Rectifier())
    assert rest["coil.i"] == pytest.approx(5.0 / 50.0, rel=1e-6)  # the diode has a resistance of 1e-5
    assert rest["buffer.v"] == pytest.approx(4.0, rel=1e-6)
    assert tg.steady_state(Rectifier(), parameters={"source.V": -5.0})["coil.i"] == pytest.approx(0.0, abs=1e-3)


class Thermostat(tg.Component):
    T = tg.State(15.0)
    on = tg.Discrete(True)
    outside = tg.Parameter(5.0)

    def equations(self) -> Any:
        yield tg.der(self.T) == -(self.T - self.outside) * 0.1 + (3.0 if self.on else 0.0)

    @tg.when(lambda self: self.T > 22.0)
    def off(self) -> Any:
        return {self.on: False}

    @tg.when(lambda self: self.T < 18.0)
    def heat(self) -> Any:
        return {self.on: True}


@pytest.mark.slow
def test_a_thermostat_that_switches_has_no_steady_state_and_one_that_does_not_has() -> None:
    with pytest.raises(tg.SteadyStateError, match="off has happened"):
        tg.steady_state(Thermostat())
    assert tg.steady_state(Thermostat(), parameters={"outside": -10.0})["T"] == pytest.approx(20.0)
    warm = tg.steady_state(Thermostat(), parameters={"outside": 20.0}, span=100.0)
    assert (warm["T"], warm["on"]) == (pytest.approx(20.0), 0.0)
    held = tg.steady_state(Thermostat(), parameters={"outside": 20.0}, y0={"T": 19.0, "on": False})
    assert held["T"] == pytest.approx(20.0)


class Sampled(tg.Component):
    x = tg.State(0.0)
    u = tg.Discrete(0.0)
    goal = tg.Parameter(2.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.u - self.x

    @tg.every(0.1)
    def control(self) -> Any:
        return {self.u: self.u + 0.2 * (self.goal - self.x)}


def test_a_clock_that_still_changes_values_is_told_and_one_that_has_settled_is_not() -> None:
    with pytest.raises(tg.SteadyStateError, match=r"the next tick of control changes u from 0\.4 to 0\.72"):
        tg.steady_state(Sampled())
    rest = tg.steady_state(Sampled(), span=200.0)
    assert (rest["x"], rest["u"]) == pytest.approx((2.0, 2.0), rel=1e-5)  # so far the last tick of the span has settled


@pytest.mark.slow
def test_what_does_not_settle_is_named() -> None:
    with pytest.raises(tg.SteadyStateError, match=r"level does not settle; .* still changes by 0\.3"):
        tg.steady_state(tg.ode(lambda t, y: [0.3, -y["x"]], y0={"level": 1.0, "x": 1.0}))
    with pytest.raises(tg.SteadyStateError, match=r'y\["x"\] > 0|x > 0.* switches back and forth'):
        tg.steady_state(tg.ode(lambda t, y: [-1.0 if y["x"] > 0 else 1.0], y0={"x": 1.0}))


def test_wrong_words_are_answered() -> None:
    model = tg.ode(lambda t, y, p: [p["a"] - y["x"]], y0={"x": 1.0}, p={"a": 4.0})
    for arguments, sentence in (
        ({"y0": {"z": 1.0}}, "no variable 'z'"), ({"y0": {"a": 1.0}}, "a is a parameter"), ({"span": -1.0}, "span must be a positive number"),
        ({"time": float("nan")}, "time must be a finite number"), ({"parameters": {"b": 1.0}}, "no parameter 'b'"),
    ):  # fmt: skip
        with pytest.raises(tg.UsageError, match=sentence):
            tg.steady_state(model, **arguments)  # pyright: ignore[reportCallIssue, reportArgumentType] - as users do


@pytest.mark.slow
def test_a_grid_is_a_labelled_dataset_and_what_fails_has_its_message() -> None:
    model = tg.ode(lambda t, y, p: [p["a"] + y["x"] - y["x"] ** 3 / 3.0 - y["w"], y["x"] - y["w"]], y0={"x": 1.0, "w": 1.0}, p={"a": 0.0, "b": 1.0})
    found = tg.steady_state(model, grid={"a": [0.0, 9.0, -1.0 / 3.0], "b": [1.0, 2.0]})
    assert found["x"].dims == ("a", "b")
    assert (found["x"].values[1] ** 3 / 3.0).tolist() == pytest.approx([9.0, 9.0])
    none = tg.steady_state(tg.ode(lambda t, y, p: [p["a"]], y0={"x": 1.0}, p={"a": 0.0}), grid={"a": [0.0, 1.0]})
    assert none["status"].values.tolist() == ["found", "failed"]
    assert "x does not settle" in str(none["message"].values[1])


@pytest.mark.slow
def test_a_run_from_a_steady_state_stays_there_until_it_is_disturbed() -> None:
    rest = tg.steady_state(Chain(), parameters={"feed": 4.0})
    run = rest.simulation(rtol=1e-8)
    stayed = run.advance(50.0)
    level = stayed["tanks[3].level"].values
    assert np.ptp(level) < 1e-7  # the tolerance over fifty units of time
    again = tg.steady_state(Chain(), parameters={"feed": 4.0}, y0=rest)
    assert again.iterations <= 2
    assert again["tanks[3].level"] == pytest.approx(rest["tanks[3].level"], rel=1e-12)
