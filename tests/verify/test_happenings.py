"""Events, resets, clocks and records that are not what the model says are found; wrong ones are made by a wrong model, or by hand."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.results import Result

__all__: list[str] = []


def ball(restitution: float = 0.8, floor: float = 0.0, *, bounces: bool = True) -> Any:
    bounce = tg.event(lambda t, y: y["h"] < floor, reset=lambda t, y: {"v": -restitution * y["v"]}, name="bounce")
    return tg.ode(lambda t, y: [y["v"], -9.81], y0={"h": 1.0, "v": 0.0}, events=[bounce] if bounces else [])


def wrong(run: Any, truth: Any, t_end: float = 2.0, **options: Any) -> set[tuple[str, str]]:
    """Kinds and names of what disagrees."""
    return {(item.kind, item.name) for item in tg.verify(tg.simulate(run, (0.0, t_end), **options), source=truth).wrong}


@pytest.mark.slow
def test_a_right_run_with_events_is_verified(method: str) -> None:
    check = tg.verify(tg.simulate(ball(), (0.0, 2.0), method=method))
    assert check.ok, str(check)
    assert {"equation", "condition", "reset", "continuity", "row"} <= {item.kind for item in check.findings}


def test_a_missed_event_is_found(method: str) -> None:
    assert wrong(ball(bounces=False), ball(), method=method) == {("missed event", "bounce")}


@pytest.mark.slow
def test_an_event_whose_condition_is_not_true_there_is_found(method: str) -> None:
    assert ("spurious event", "bounce") in wrong(ball(floor=0.1), ball(), 1.5, method=method)


@pytest.mark.slow
def test_a_wrong_reset_is_found(method: str) -> None:
    assert wrong(ball(restitution=0.80001), ball(), method=method) == {("reset", "bounce")}


@pytest.mark.slow
def test_values_changed_by_nothing_are_found() -> None:
    assert ("reset", "what only flips") in wrong(ball(), ball(bounces=False))


@pytest.mark.slow
def test_an_event_in_a_mode_that_cannot_be_is_found() -> None:
    # what a floor and a branch on it give that flip one after the other: a sawtooth that is never above 0.1 is above 0.5 for a moment
    def model(level: float, sawtooth: bool) -> Any:
        def tooth(t: Any, y: Any) -> Any:
            return 0.0 if y[0] % 1 < 0.9 else 1 - y[0] % 1

        condition = (lambda t, y: tooth(t, y) > level) if sawtooth else (lambda t, y: y[0] % 1 < 0.5)
        return tg.ode(lambda t, y: [1.0, 0.0], y0=[0.5, 0.0], events=tg.event(condition, reset=lambda t, y: {1: y[1] + 1}, name="never"))

    assert ("spurious event", "never") in wrong(model(0.5, False), model(0.5, True), 2.0)


@pytest.mark.slow
def test_what_only_rounding_decides_is_not_held_against_a_run() -> None:
    # x decays to 1e-18 and less of what it was, on whatever side of 0; that the clause happens a moment after is as good as that it does not
    def model(level: float) -> Any:
        clause = tg.event(lambda t, y: y[0] + 0.0 * t >= level, reset=lambda t, y: {0: -0.2}, name="up")
        return tg.ode(lambda t, y: [-1e3 * y[0]], y0=[-1.0], events=clause)

    found = wrong(model(-1e-15), model(0.0), 0.5, rtol=1e-5)
    assert ("spurious event", "up") not in found
    assert ("spurious event", "up") in wrong(model(-1e-8), model(0.0), 0.5, rtol=1e-5)


@pytest.mark.slow
def test_a_short_dip_between_the_ends_of_a_long_step_is_found() -> None:
    def model(depth: float) -> Any:
        dips = tg.event(lambda t, y: (y[2] - 0.5) ** 2 - y[0] + y[1] < depth, name="dips")
        return tg.ode(lambda t, y: [30.0, 30.0, 1.0], y0=[1.0, 1.0, 0.0], events=dips)

    assert wrong(model(-1.0), model(1e-4), 1.0) == {("missed event", "dips")}
    assert wrong(model(1e-4), model(1e-4), 1.0) == set()


class Tank(tg.Component):
    level = tg.State(1.0)
    inflow = tg.Algebraic()
    held = tg.Discrete(0.0)
    is_open = tg.Discrete(True)
    gain = tg.Parameter(2.0)
    lead = tg.Output(lambda self: self.level + 0.1 * tg.der(self.level))
    double = tg.Output()
    period = 0.25

    def equations(self) -> Any:
        yield tg.der(self.level) == self.inflow - self.gain * max(self.level - 0.5, 0.0)
        yield self.inflow == (0.5 if self.is_open else 0.0) + 0.1 * np.sin(tg.time) + 0.0 * self.held
        yield self.double == 2.0 * self.level

    @tg.every(0.25, start=0.25)
    def sample(self) -> Any:
        return {self.held: self.level}

    @tg.when(lambda self: self.double < 1.6)
    def shut(self) -> Any:
        return {self.is_open: False}

    @shut.elsewhen(lambda self: self.double < 1.4)
    def reopen(self) -> Any:
        return {self.is_open: not self.is_open}


class LateTank(Tank):
    @tg.every(0.25, start=0.26)
    def sample(self) -> Any:
        return {self.held: self.level}


class ForgetfulTank(Tank):
    @tg.every(0.25, start=0.25)
    def sample(self) -> Any:
        return {self.held: 1.01 * self.level}


class WrongTank(Tank):
    lead = tg.Output(lambda self: self.level + 0.2 * tg.der(self.level))


@pytest.mark.slow
def test_a_component_is_judged_by_its_own_methods(dae_method: str) -> None:
    check = tg.verify(tg.simulate(Tank(gain=3.0), (0.0, 2.0), method=dae_method, rtol=1e-5))
    assert check.truth == "the component's methods, called as Python"
    assert check.notes == ()
    assert check.ok, str(check)
    assert {"equation", "condition", "reset", "clock", "discrete variable", "output"} <= {item.kind for item in check.findings}


@pytest.mark.hunt
def test_clocks_bodies_and_outputs_of_a_component_that_are_wrong_are_found() -> None:
    assert ("clock", "sample") in wrong(LateTank(), Tank(), rtol=1e-5)
    assert wrong(ForgetfulTank(), Tank(), rtol=1e-5) == {("reset", "sample")}
    assert wrong(WrongTank(), Tank(), rtol=1e-5) == {("output", "lead")}


def tampered(**changes: Any) -> Result:
    result = copy(tg.simulate(Tank(), (0.0, 2.0), rtol=1e-5, method="radau"))
    kept = copy(result.interpolant)
    assert kept is not None
    kept.coefficients = kept.coefficients.copy()
    result.interpolant, result.values = kept, result.values.copy()
    for name, change in changes.items():
        change(getattr(result, name))
    return result


@pytest.mark.slow
def test_a_tampered_result_is_found_out() -> None:
    def jump(kept: Any) -> None:
        kept.coefficients[len(kept) // 2, 0, kept.names.index("level")] += 1e-3

    def flip(kept: Any) -> None:
        kept.coefficients[len(kept) // 2, 0, kept.names.index("held")] += 1e-3

    assert tg.verify(tampered()).ok
    assert ("continuity", "level") in {(item.kind, item.name) for item in tg.verify(tampered(interpolant=jump)).wrong}
    assert ("discrete variable", "held") in {(item.kind, item.name) for item in tg.verify(tampered(interpolant=flip)).wrong}


@pytest.mark.hunt
def test_a_tampered_row_is_found_out() -> None:
    result = tampered()
    column = [item.name for item in result.columns].index("level")
    between = np.flatnonzero(~np.isin(result.t, result.events.times))  # a row at an event is compared with the log instead
    result.values[between[between.size // 2], column] += 1e-3
    check = tg.verify(result)
    # the outputs are functions of level, which Python computes from the row
    assert {(item.kind, item.name, item.disagree) for item in check.wrong} == {("row", "level", 1), ("output", "lead", 1), ("output", "double", 1)}
    # level is 0.9: its tolerance is about rtol, 1e-5, of which a row may be off by one
    assert check.wrong[0].share == pytest.approx(1e-3 / 0.9e-5 / 5.0, rel=0.1)  # a row may lie five tolerances beside


@pytest.mark.slow
def test_a_row_where_an_output_jumps_without_an_event_is_right_from_one_side() -> None:
    def floored(value: float) -> Any:
        return tg.ode(lambda t, y: {"x": -1.0}, y0={"x": 0.0}, outputs=lambda t, y: {"whole": np.floor(y["x"]) + value})

    assert tg.verify(tg.simulate(floored(0.0), (0.0, 0.5))).ok  # in the first row x is 0, and less from then on
    assert wrong(floored(1.0), floored(0.0), 0.5) == {("output", "whole")}


@pytest.mark.hunt
def test_a_diagram_is_judged_by_the_neutral_model() -> None:
    def diagram(gain: float) -> Any:
        d = tg.Diagram("lag")
        d.step = tg.blocks.Step(at=0.5, after=2.0)
        d.speed = tg.blocks.Integrator()
        d.speed(gain * d.step - 0.3 * d.speed)
        return d

    result = tg.simulate(diagram(1.0), (0.0, 2.0), rtol=1e-5)
    check = tg.verify(result)
    assert check.truth.startswith("the neutral model")
    assert check.ok, str(check)
    result.parameters = {name: 1.1 * value for name, value in result.parameters.items()}
    assert "speed" in {item.name for item in tg.verify(result).wrong}


@pytest.mark.slow
def test_an_output_of_what_came_to_rest_on_its_threshold_is_right_on_either_side() -> None:
    def floored(value: float) -> Any:
        outputs = lambda t, y: {"whole": np.floor(1.04 * y["x"]) + value}  # noqa: E731
        return tg.ode(lambda t, y: [-0.937 if y["x"] > 0 else 0.0], y0={"x": 0.746}, outputs=outputs)

    # x is 0 to the last digits from t = 0.796 on, so that the floor is 0 or -1
    assert tg.verify(tg.simulate(floored(0.0), (0.0, 1.0), rtol=1e-4)).ok
    assert wrong(floored(1.0), floored(0.0), 1.0, rtol=1e-4) == {("output", "whole")}


class Chained(tg.Component):
    """Outputs that need each other, derivatives of them, and conditions and bodies that ask for either."""

    x = tg.State(1.0)
    k = tg.Discrete(0.0)
    forced = tg.Output(lambda self: 3.0 * np.sin(2.0 * tg.time) + self.x)
    rate = tg.Output(lambda self: tg.der(np.sin(self.x) * self.x))
    low = tg.Output()
    drift = tg.Output()

    def equations(self) -> Any:
        yield self.drift == (-self.x if self.low > 0.2 else -0.5 * self.x)
        yield self.low == 0.5 * self.x
        yield tg.der(self.x) == self.drift + 0.01 * self.forced

    @tg.when(lambda self: self.low + self.forced > 2.5)
    def rises(self) -> Any:
        return {self.k: self.low + self.drift}


class WronglyChained(Chained):
    rate = tg.Output(lambda self: 1.01 * tg.der(np.sin(self.x) * self.x))


@pytest.mark.hunt
def test_outputs_that_need_each_other_and_their_derivatives_are_worked_out_where_they_are_needed() -> None:
    result = tg.simulate(Chained(), (0.0, 3.0), rtol=1e-5)
    check = tg.verify(result)
    assert check.notes == ()
    assert check.ok, str(check)
    assert {("output", "rate"), ("output", "drift"), ("reset", "rises")} <= {(item.kind, item.name) for item in check.findings}
    assert ("output", "rate") in wrong(WronglyChained(), Chained(), rtol=1e-5)
