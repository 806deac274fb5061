"""Runs that cannot go on say why: accumulating events, chattering, NaN and too many steps are four things with four messages.

That Ctrl-C reaches the compiled loop, and that algebraic variables may jump, is tested with the executive and the Carver circuit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import allowed, unseen_time

__all__: list[str] = []


def ball(e: float, *, to_zero: bool) -> Any:
    def onto_zero(t: Any, y: Any, p: Any) -> Any:
        return {"h": 0.0, "v": -p["e"] * y["v"]}

    def speed_only(t: Any, y: Any, p: Any) -> Any:
        return {"v": -p["e"] * y["v"]}

    bounce = tg.event(lambda t, y: y["h"] < 0, reset=onto_zero if to_zero else speed_only)
    return tg.ode(lambda t, y: [y["v"], -9.81], y0={"h": 1.0, "v": 0.0}, p={"e": e}, events=bounce)


@pytest.mark.parametrize("to_zero", [True, False])
@pytest.mark.parametrize("e", [1e-3, 0.05, 0.2, 0.5, 0.9])
def test_bounces_that_accumulate_stop_the_run_where_they_do(e: float, to_zero: bool, method: str) -> None:
    end = math.sqrt(2 / 9.81) * (1 + e) / (1 - e)
    early = unseen_time(method, 1e-6, 9.81, e)
    with pytest.raises(tg.ZenoError, match="h < 0") as caught:
        tg.simulate(ball(e, to_zero=to_zero), (0.0, end + 1.0), max_steps=20_000, method=method)
    assert caught.value.time == pytest.approx(end, abs=1e-4 * end + early)
    assert caught.value.result is not None
    assert caught.value.result.final["h"] > -1e-6


@pytest.mark.parametrize("to_zero", [True, False])
def test_a_plastic_impact_does_not_fall_through_the_floor(to_zero: bool, method: str) -> None:
    with pytest.raises(tg.ZenoError, match="brings the motion to rest on `h < 0`, and it would go on through it") as caught:
        tg.simulate(ball(0.0, to_zero=to_zero), (0.0, 1.0), method=method)
    assert caught.value.time == pytest.approx(math.sqrt(2 / 9.81), rel=1e-6)
    assert caught.value.result is not None
    assert caught.value.result.final["h"] > -1e-9
    assert "mode" in caught.value.hint


class BallWithForce(tg.Component):
    """The same ball, its weight an algebraic unknown."""

    h = tg.State(1.0)
    v = tg.State(0.0)
    force = tg.Algebraic()
    e = tg.Parameter(0.0)

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == self.force
        yield 2.0 * self.force + 19.62 == 0.0

    @tg.when(lambda self: self.h < 0)
    def bounce(self) -> Any:
        return {self.v: -self.e * self.v}


def test_a_plastic_impact_in_a_dae_does_not_fall_through_the_floor(dae_method: str) -> None:
    with pytest.raises(tg.ZenoError, match="brings the motion to rest on `h < 0`, and it would go on through it") as caught:
        tg.simulate(BallWithForce(), (0.0, 1.0), method=dae_method)
    assert caught.value.time == pytest.approx(math.sqrt(2 / 9.81), rel=1e-5)


def test_bounces_that_accumulate_in_a_dae_stop_the_run(dae_method: str) -> None:
    end = math.sqrt(2 / 9.81) * 3.0
    with pytest.raises(tg.ZenoError, match="h < 0") as caught:
        tg.simulate(BallWithForce(), (0.0, end + 1.0), parameters={"e": 0.5}, method=dae_method)
    # IDA follows the bounces down to its tolerances, Radau to rounding
    assert caught.value.time == pytest.approx(end, rel=1e-3)


class Landing(tg.Component):
    h = tg.State(1.0)
    v = tg.State(0.0)
    lies = tg.Discrete(False)

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == (0.0 if self.lies else -9.81)

    @tg.when(lambda self: self.h < 0)
    def land(self) -> Any:
        return {self.v: 0.0, self.lies: True}


def test_a_landing_with_a_mode_of_its_own_rests(method: str) -> None:
    final = tg.simulate(Landing(), (0.0, 5.0), method=method).final
    assert final["h"] == pytest.approx(0.0, abs=1e-9)
    assert final["v"] == 0.0


ON_THE_WAY: dict[str, tuple[Any, Any]] = {
    "a threshold that resets nothing of the motion": (lambda t, y: {"n": y["n"] + 1}, None),
    "a brake that leaves some speed": (lambda t, y: {"v": 0.01 * y["v"]}, None),
    "a stop without a force": (lambda t, y: {"v": 0.0}, lambda t, y: [y["v"], 0.0, 0.0]),
    "a start anew": (lambda t, y: {"h": 1.0, "v": 0.0, "n": y["n"] + 1}, None),
}


@pytest.mark.parametrize("what", list(ON_THE_WAY))
def test_ordinary_thresholds_are_passed(what: str, method: str) -> None:
    reset, f = ON_THE_WAY[what]
    event = tg.event(lambda t, y: y["h"] < 0, reset=reset)
    fall = f or (lambda t, y: [y["v"], -9.81, 0.0])
    model = tg.ode(fall, y0={"h": 1.0, "v": -1.0, "n": 0.0}, events=event)
    result = tg.simulate(model, (0.0, 0.6 if "anew" in what else 1.0), method=method)
    assert result.status == "finished"
    assert len(result.events) == 1


def fuller(t: Any, y: Any, p: Any) -> Any:
    return [y[1], -1.0 if y[0] + p["c"] * y[1] * abs(y[1]) > 0 else 1.0]


def fuller_end(c: float) -> float:
    """Time at which the spiral from (1, 0) reaches the origin: its two half turns shrink by one ratio each.

    From (x, 0), x > 0, with acceleration -1 the switch is met where x - v^2/2 = c v^2, with speed -sqrt(x / (c + 1/2)); then +1 carries the
    point to v = 0 at (c - 1/2) / (c + 1/2) of x, and each half turn lasts twice that speed.
    """
    ratio = (0.5 - c) / (0.5 + c)
    return 2 / math.sqrt(c + 0.5) / (1 - math.sqrt(ratio))


def test_switches_that_accumulate_along_a_spiral_are_zeno(method: str) -> None:
    model = tg.ode(fuller, y0=[1.0, 0.0], p={"c": 0.3})
    with pytest.raises(tg.ZenoError, match="accumulate") as caught:
        tg.simulate(model, (0.0, 20.0), max_steps=20_000, method=method)
    # a half turn that starts at x lasts 2 sqrt(x / 0.8), as a throw to the height x does under 1.6, and the next lasts half as long
    early = unseen_time(method, 1e-6, 1.6, math.sqrt(0.2 / 0.8))
    assert caught.value.time == pytest.approx(fuller_end(0.3), abs=1e-4 * fuller_end(0.3) + early)


@pytest.mark.parametrize("mu", [0.07, 0.15, 0.3])
def test_a_body_that_sticks_by_dry_friction_chatters_at_the_instant_it_sticks(mu: float, method: str) -> None:
    model = tg.ode(lambda t, y, p: [y["v"], -y["x"] - p["mu"] * np.sign(y["v"])], y0={"x": 1.0, "v": 0.0}, p={"mu": mu})
    half_turns = math.ceil((1 - mu) / (2 * mu))  # each half turn takes 2 mu off the amplitude; it sticks within mu
    with pytest.raises(tg.ChatteringError, match=r"\bv\b") as caught:
        tg.simulate(model, (0.0, 50.0), max_steps=20_000, method=method)
    # an error of the speed is one of the time at which it is zero, divided by the acceleration there, which is small where it nearly stuck before
    slowest = 1 - (2 * half_turns - 1) * mu
    assert caught.value.time == pytest.approx(half_turns * math.pi, rel=allowed(method, 1e-6, 1e-6 / slowest, 2.0))


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_sign_slides_on_zero(start: float, method: str) -> None:
    result = tg.simulate(tg.ode(lambda t, y: [-np.sign(y[0])], y0=[start]), (0.0, 3.0), max_steps=1_000, method=method)
    assert result.final["y[0]"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("start", [0.0, 1e9])
@pytest.mark.parametrize("f", [np.sqrt, np.log, lambda x: x**1.5])
def test_the_end_of_a_domain_is_told_from_steps_that_are_short_for_another_reason(f: Any, start: float, method: str) -> None:
    leaving = tg.ode(lambda t, y: [-1.0, f(y["x"])], y0={"x": 0.5, "z": 0.0})
    with pytest.raises(tg.NotFiniteError) as caught:
        tg.simulate(leaving, (start, start + 1.0), method=method)
    assert caught.value.time - start == pytest.approx(0.5, abs=1e-4)
    running_away = tg.ode(lambda t, y: [y["x"] ** 2], y0={"x": 1.0})
    with pytest.raises(tg.StepSizeError):
        tg.simulate(running_away, (start, start + 2.0), method=method)


def test_four_ways_of_not_ending_have_four_names(method: str) -> None:
    # a multistep method takes some thirty steps after each bounce, and bounces twenty times before they are too small to see
    most = 300 if method == "radau" else 1_000
    models = {
        tg.ZenoError: ball(0.5, to_zero=True),
        tg.ChatteringError: tg.ode(lambda t, y: [-1.0 if y["x"] > 0 else 1.0], y0={"x": 1.0}),
        tg.NotFiniteError: tg.ode(lambda t, y: [-1.0, np.sqrt(y["x"] - 0.5)], y0={"x": 1.0, "z": 0.0}),
        tg.TooManyStepsError: tg.ode(lambda t, y: [-y["x"] + np.sin(1e3 * t)], y0={"x": 1.0}),
    }
    messages: set[str] = set()
    for kind, model in models.items():
        with pytest.raises(kind) as caught:
            tg.simulate(model, (0.0, 10.0), max_steps=most, method=method)
        assert type(caught.value) is kind
        assert caught.value.hint
        messages.add(caught.value.hint)
    assert len(messages) == 4
