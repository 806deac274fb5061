"""Delays that vary with time or with the unknowns: closed forms, and Dormand and Prince's method in plain SciPy with breaks found by bisection."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from delayed_truth import solve_varying

__all__: list[str] = []


def logarithmic(p: Any = None) -> tg.Ode:
    """x' = x x(ln x) / t, x = 1 until t = 1: x = t until e, exp(t / e) until e squared (Neves and Feldstein 1976)."""
    return tg.ode(lambda t, y: [y["x"] * tg.delay(y["x"], t - np.log(y["x"]), history=1.0) / t], y0={"x": 1.0})


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_a_delay_that_depends_on_the_state_comes_to_its_break(rtol: float) -> None:
    result = tg.simulate(logarithmic(), (1, 7), rtol=rtol)
    times = np.linspace(1.01, 7.0, 60)
    assert result.at(times, "x").values == pytest.approx(np.where(times < np.e, times, np.exp(times / np.e)), rel=10 * rtol)
    assert len(result.events) == 0
    assert result.names == ["x"]
    # a step ends at the break
    assert np.min(np.abs(np.asarray(result["x"]["time"].values) - np.e)) < rtol


class Echo(tg.Component):
    """A signal that comes back from a wall that moves: what was sent at w is heard at t, w + 2 d(w) = t; here 2 d = a + b t."""

    a = tg.Parameter(0.4)
    b = tg.Parameter(0.25)
    sent = tg.Algebraic()
    heard = tg.Algebraic()
    x = tg.State(0.0)

    def equations(self) -> Any:
        yield self.sent == np.sin(3.0 * tg.time)
        yield self.heard == tg.delay(self.sent, self.a + self.b * tg.time, history=0.0)
        yield tg.der(self.x) == self.heard


@pytest.mark.slow
def test_in_components_a_delay_may_vary_with_time() -> None:
    result = tg.simulate(Echo(), (0, 4), rtol=1e-9, sensitivities="all")
    # heard from w = 0 on, at t = a / (1 - b); the integral of sin(3 w(t))
    w = (1.0 - 0.25) * 4.0 - 0.4
    x = (1.0 - np.cos(3.0 * w)) / (3.0 * 0.75)
    assert result.final["x"] == pytest.approx(x, abs=1e-8)
    assert result.sensitivity("x", "a")[-1].item() == pytest.approx(-np.sin(3.0 * w) / 0.75, abs=1e-7)
    assert result.sensitivity("x", "b")[-1].item() == pytest.approx(-4.0 * np.sin(3.0 * w) / 0.75 + x / 0.75, abs=1e-7)


def test_a_discrete_delay_jumps_and_reads_another_piece_of_the_past() -> None:
    class Valve(tg.Component):
        x = tg.State(1.0)
        y = tg.State(0.0)
        tau = tg.Discrete(0.3)

        def equations(self) -> Any:
            yield tg.der(self.x) == -self.x
            yield tg.der(self.y) == tg.delay(self.x, self.tau, history=0.0)

        @tg.every(1.0, start=1.0)
        def switch(self) -> Any:
            return {self.tau: 1.3 - self.tau}

    result = tg.simulate(Valve(), (0, 3), rtol=1e-9)
    # exp(-s) seen from 0.3 to 1 with a delay of 0.3, to 2 with one of 1, to 3 with 0.3 again
    truth = (1.0 - np.exp(-0.7)) + (1.0 - np.exp(-1.0)) + (np.exp(-1.7) - np.exp(-2.7))
    assert result.final["y"] == pytest.approx(truth, abs=1e-8)


@pytest.mark.slow
def test_runs_in_pieces_and_copies_go_on_where_a_delay_varies() -> None:
    model = tg.ode(lambda t, y: [-tg.delay(y["x"], 0.3 + 0.6 * y["x"] ** 2, history=lambda s: 1.0 + 0.5 * s)], y0={"x": 1.3})
    truth = solve_varying(lambda t, x, old: -old[0], [1.3], lambda t: 1.0 + 0.5 * t, [lambda t, x: t - 0.3 - 0.6 * x[0] ** 2], 3.0)
    run = tg.Simulation(model, rtol=1e-9)
    run.advance(0.9)
    other = copy.deepcopy(run)
    run.advance(1.7)
    for one in (run, other):
        one.advance(3.0)
        assert one["x"] == pytest.approx(truth(3.0)[0], abs=1e-8)


@pytest.mark.slow
def test_a_delay_that_comes_to_nothing_is_named() -> None:
    for ago, when in ((lambda t, y: 1.0 - 0.5 * t, "t = 2"), (lambda t, y: y["x"] - 2.0, "t = 0")):
        with pytest.raises(tg.StepSizeError, match=r"delay\(x, .*\) would be of .* ago at " + when):
            tg.simulate(tg.ode(lambda t, y, ago=ago: [-tg.delay(y["x"], ago(t, y))], y0={"x": 1.0}), (0, 3))
