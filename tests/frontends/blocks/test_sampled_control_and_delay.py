"""A sampled controller against its difference equations in plain Python, and an exact delay in a loop against the method of steps."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

import tidegate as tg
from delayed_truth import solve

__all__: list[str] = []
b = tg.blocks


@pytest.mark.parametrize("seed", range(3))
def test_a_sampled_controller_does_what_its_difference_equations_say(seed: int) -> None:
    random = np.random.default_rng(seed)
    kp, ki, kd, lag, tracking = (float(v) for v in random.uniform((0.5, 0.5, 0.05, 0.02, 0.2), (5.0, 4.0, 0.5, 0.2, 2.0)))
    lower, upper, period, a = (float(v) for v in random.uniform((-1.0, 0.6, 0.05, 0.3), (-0.2, 1.5, 0.3, 2.0)))
    loop = tg.Diagram("loop")
    loop.pid = b.PID(kp, ki, kd, filter_time=lag, lower=lower, upper=upper, tracking_time=tracking, start=0.1, period=period)
    loop.plant = b.FirstOrderLag(time_constant=a)(1.5 * loop.pid)
    loop.pid(1.0 - loop.plant)
    result = tg.simulate(loop, (0, 40.5 * period), rtol=1e-9)
    x, integral, slope, last, out = 0.0, 0.1, 0.0, 0.0, 0.0
    for k in range(41):
        e = 1.0 - x
        slope, last = (lag * slope + kd * (e - last)) / (lag + period), e
        u = kp * e + integral + slope
        out = min(max(u, lower), upper)
        integral += period * (ki * e + (out - u) / tracking)
        assert result.at((k + 0.5) * period, "pid").item() == pytest.approx(out, abs=1e-7)
        x = 1.5 * out + (x - 1.5 * out) * exp(-period / a)
    assert any(abs(value - upper) < 1e-12 for value in result["pid"].values), "the limit was reached, and left"


def test_a_controller_without_a_clock_is_as_before() -> None:
    assert not b.PID(2.0).is_sampled
    with pytest.raises(tg.TidegateError, match="period"):
        b.PID(2.0, period=0.0)


@pytest.mark.slow
def test_a_transport_delay_in_a_loop_is_exact() -> None:
    loop = tg.Diagram("loop")
    loop.x = b.Integrator(start=1.0)
    loop.old = b.TransportDelay(0.7, start=0.2)(loop.x)
    loop.x(-1.5 * loop.old)
    result = tg.simulate(loop, (0, 3), rtol=1e-8)
    truth = solve(lambda t, x, past: -1.5 * past(0.7), [1.0], lambda t: 0.2, [0.7], 3.0, longest=0.35)
    times = np.linspace(0.02, 3.0, 40)
    assert result.at(times, "x").values == pytest.approx([truth(t)[0] for t in times], abs=1e-8)
    assert result.at(times, "old").values == pytest.approx([truth(t - 0.7)[0] if t > 0.7 else 0.2 for t in times], abs=1e-8)
    assert len(result.events) == 0
    assert b.TransportDelay(0.7, samples=20).samples == 20


@pytest.mark.slow
def test_a_belt_whose_speed_changes_delays_what_lies_on_it() -> None:
    belt = tg.Diagram("belt")
    belt.ago = b.Sine(frequency=0.25, amplitude=0.3, offset=0.8)
    belt.fed = b.Sine(frequency=0.5)
    belt.out = b.VariableDelay(start=0.5)(belt.fed, belt.ago)
    belt.sum = b.Integrator()(belt.out)
    times = np.linspace(0.02, 4.0, 60)
    result = tg.simulate(belt, (0, 4), rtol=1e-9, sensitivities=["ago.offset"], outputs=times)
    then = times - 0.8 - 0.3 * np.sin(0.5 * np.pi * times)
    assert result.at(times, "out").values == pytest.approx(np.where(then < 0.0, 0.5, np.sin(np.pi * then)), abs=1e-8)
    late = then[-1] > 0.0
    assert late
    assert result.sensitivity("out", "ago.offset")[-1].item() == pytest.approx(-np.pi * np.cos(np.pi * then[-1]), abs=1e-6)
