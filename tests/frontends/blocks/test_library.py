"""Blocks beyond Table 1 do what their descriptions say; the truth comes from closed forms, scipy.signal, or plain recurrences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import signal

import tidegate as tg

b = tg.blocks


def run(block: Any, driven_by: Any, times: Any, **options: Any) -> tg.Result:
    """The block ``y`` behind a source ``x``."""
    diagram = tg.Diagram("one block")
    diagram.x = driven_by
    diagram.y = block(diagram.x)
    diagram.state = b.Integrator()(diagram.y)
    return tg.simulate(diagram, (times[0], times[-1]), outputs=times, **{"rtol": 1e-9, **options})


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [([2.0], [1.0, 0.4, 3.0]), ([1.0, 0.5], [2.0, 0.8, 3.0]), ([1.0, -1.0, 2.0], [2.0, 0.8, 3.0]), ([3.0], [4.0]), ([1.0], [0.5, 1.0, 2.0, 1.5])],
)
def test_transfer_function_has_the_step_response_of_its_poles_and_zeros(numerator: list[float], denominator: list[float]) -> None:
    times = np.linspace(0, 5, 26)
    result = run(b.TransferFunction(numerator, denominator), b.Constant(1.0), times)
    if len(denominator) == 1:
        want = np.full(26, numerator[0] / denominator[0])
    else:
        _, want = signal.step((numerator, denominator), T=times)
    np.testing.assert_allclose(result["y"], want, rtol=1e-6, atol=1e-7)  # scipy's is exact; ours a hundred times the tolerance


def test_transfer_function_has_sensitivities_to_its_coefficients() -> None:
    diagram = tg.Diagram("lag")
    diagram.y = b.TransferFunction([2.0], [0.5, 1.0])(1.0)
    result = tg.simulate(diagram, (0, 1), sensitivities=["y.denominator[0]"], rtol=1e-10)
    # y = 2 (1 - exp(-t / T)), dy/dT = -2 t / T^2 exp(-t / T)
    assert float(result.sensitivity("y", "y.denominator[0]")[-1]) == pytest.approx(-8 * math.exp(-2), rel=1e-7)


def test_state_space_of_several_inputs_and_outputs() -> None:
    A, B = np.array([[0.0, 1.0], [-3.0, -0.4]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    C, D = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([[0.0, 0.0], [0.0, 0.5], [1.0, 0.0]])
    diagram = tg.Diagram("state space")
    diagram.plant = b.StateSpace(A, B, C, D, start=[0.5, -1.0])(1.0, 2.0).block
    diagram.sum = diagram.plant.y1 + diagram.plant.y3
    times = np.linspace(0, 4, 21)
    result = tg.simulate(diagram, (0, 4), outputs=times, rtol=1e-10)
    _, want, _ = signal.lsim((A, B, C, D), np.tile([1.0, 2.0], (21, 1)), times, [0.5, -1.0])
    got = np.column_stack([result["plant"], result["plant.y2"], result["plant.y3"]])
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-8)


def test_pid_without_limits_is_the_sum_of_its_parts() -> None:
    times = np.linspace(0, 2, 11)
    result = run(b.PID(kp=2.0, ki=0.5, kd=0.3, filter_time=0.1, start=0.2), b.Ramp(1.0), times)
    want = 2 * times + 0.2 + 0.25 * times**2 + 0.3 * (1 - np.exp(-times / 0.1))
    np.testing.assert_allclose(result["y"], want, rtol=1e-7, atol=1e-8)


@pytest.mark.slow
def test_pid_under_limits_does_not_wind_up() -> None:
    def loop(**limits: float) -> tg.Result:
        diagram = tg.Diagram("loop")
        diagram.plant = b.Integrator()
        diagram.pid = b.PID(2.0, 1.0, **limits)(b.Step(after=5.0) - diagram.plant)
        diagram.plant(b.Limiter(1.0, -1.0, name="actuator")(diagram.pid))
        return tg.simulate(diagram, (0, 40), rtol=1e-8)

    wound, unwound = loop(), loop(lower=-1.0, upper=1.0, tracking_time=1.0)
    assert np.max(np.asarray(unwound["pid"])) <= 1.0
    assert float(np.max(unwound["plant"])) < 5.6 < 7.0 < float(np.max(wound["plant"]))
    assert unwound.final["plant"] == pytest.approx(5.0, abs=1e-3)


def test_rate_limiter_climbs_and_falls_at_its_rates() -> None:
    times = np.array([0.0, 0.5, 1.0, 2.5, 3.5, 3.75, 5.0])
    result = run(b.RateLimiter(2.0, 4.0, time_constant=1e-4), b.Pulse(period=6.0, width=0.5, height=3.0), times)
    np.testing.assert_allclose(result["y"], [0.0, 1.0, 2.0, 3.0, 1.0, 0.0, 0.0], atol=1e-3)  # a few time constants times the rates


def test_hysteresis_switches_at_both_its_ends() -> None:
    diagram = tg.Diagram("thermostat")
    diagram.cold = b.Hysteresis(low=-1.0, high=2.0, off=1.0, on=-1.0)
    diagram.level = b.Integrator()(diagram.cold)
    diagram.cold(diagram.level)
    result = tg.simulate(diagram, (0, 9))
    np.testing.assert_allclose([event.time for event in result.events], [2.0, 5.0, 8.0], rtol=1e-12)
    assert result.final["level"] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(("start", "is_on"), [(3.0, True), (-2.0, False), (0.0, False)])
def test_hysteresis_starts_as_its_input_says(start: float, is_on: bool) -> None:
    diagram = tg.Diagram("hysteresis")
    diagram.level = b.Integrator(start)(0.0)
    diagram.switch = b.Hysteresis(low=-1.0, high=2.0)(diagram.level)
    assert tg.simulate(diagram, (0, 1)).final["switch"] == is_on


@pytest.mark.slow
def test_transport_delay_of_a_smooth_signal_is_off_by_the_square_of_its_sampling() -> None:
    times = np.linspace(0, 4, 41)
    late = np.sin(2 * math.pi * 0.25 * np.maximum(times - 0.7, 0))
    for samples in (10, 40):
        result = run(b.TransportDelay(0.7, samples), b.Sine(frequency=0.25), times)
        bound = (0.5 * math.pi) ** 2 / 8 * (0.7 / samples) ** 2  # max |x''| h^2 / 8
        assert np.max(np.abs(np.asarray(result["y"]) - late)) <= 1.001 * bound


def test_transport_delay_of_straight_lines_is_exact() -> None:
    times = np.array([0.0, 0.3, 0.7, 1.0, 2.0, 3.05])
    result = run(b.TransportDelay(0.5, 5, start=-1.0), b.Ramp(2.0), times)
    # between the start value and the ramp there is one sample's line from -1 to 0
    want = [-1.0, -1.0, 0.4, 1.0, 3.0, 5.1]
    np.testing.assert_allclose(result["y"], want, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_sources_are_what_they_say() -> None:
    diagram = tg.Diagram("sources")
    diagram.step = b.Step(at=1.0, before=-1.0, after=2.0)
    diagram.ramp = b.Ramp(slope=3.0, start=0.5)
    diagram.sine = b.Sine(frequency=0.5, amplitude=2.0, phase=0.3, offset=1.0)
    diagram.pulse = b.Pulse(period=1.0, width=0.25, height=3.0, start=0.5)
    diagram.table = b.TableSource([0.0, 1.0, 2.0], [0.0, 2.0, 1.0])
    diagram.sum = b.Integrator()(b.WeightedSummer(1.0, 1.0, 1.0)(diagram.step, diagram.pulse, diagram.table))
    times = np.array([0.0, 0.4, 0.6, 0.9, 1.1, 1.6, 1.8, 2.0])
    result = tg.simulate(diagram, (0, 2), outputs=times, rtol=1e-9)
    np.testing.assert_allclose(result["step"], [-1, -1, -1, -1, 2, 2, 2, 2])
    np.testing.assert_allclose(result["ramp"], 3 * np.maximum(times - 0.5, 0))
    np.testing.assert_allclose(result["sine"], 1 + 2 * np.sin(math.pi * times + 0.3))
    np.testing.assert_allclose(result["pulse"], [0, 0, 3, 0, 0, 3, 0, 0])
    np.testing.assert_allclose(result["table"], np.interp(times, [0, 1, 2], [0, 2, 1]))
    assert result.final["sum"] == pytest.approx((-1 + 2) + 2 * 0.75 + 2.5, rel=1e-12)


def test_pulses_go_on_where_a_run_begins_late() -> None:
    diagram = tg.Diagram("late")
    diagram.pulse = b.Pulse(period=1.0, width=0.5)
    diagram.sum = b.Integrator()(diagram.pulse)
    result = tg.simulate(diagram, (10.25, 12.75), outputs=[10.3, 10.6, 12.3, 12.75])
    assert result.final["sum"] == pytest.approx(0.25 + 0.5 + 0.5, rel=1e-12)
    np.testing.assert_allclose(result["pulse"], [1, 0, 1, 0])


def test_sensitivity_to_the_width_of_a_pulse() -> None:
    diagram = tg.Diagram("width")
    diagram.sum = b.Integrator()(b.Pulse(period=1.0, width=0.3, height=2.0, name="pulse"))
    result = tg.simulate(diagram, (0, 2.9), sensitivities=["pulse.width"])
    assert float(result.sensitivity("sum", "pulse.width")[-1]) == pytest.approx(3 * 2.0, rel=1e-9)  # three pulses


@pytest.mark.parametrize(
    ("numerator", "denominator"), [([1.0], [1.0, -0.5]), ([0.3, 0.2], [1.0, -0.5]), ([1.0, 0.5, 0.25], [2.0, -1.0, 0.5]), ([1.0], [1.0, 0.0, 0.0])]
)
def test_sampled_transfer_function_follows_its_recurrence(numerator: list[float], denominator: list[float]) -> None:
    times = np.arange(0.05, 2, 0.1)
    diagram = tg.Diagram("sampled")
    diagram.y = b.DiscreteTransferFunction(numerator, denominator, period=0.1)(b.Sine(frequency=0.4, name="x"))
    diagram.state = b.Integrator()(diagram.y)
    result = tg.simulate(diagram, (0, 2), outputs=times)
    padded = [0.0] * (len(denominator) - len(numerator)) + numerator
    want = signal.lfilter(padded, denominator, np.sin(2 * math.pi * 0.4 * 0.1 * np.arange(20)))
    np.testing.assert_allclose(result["y"], want, rtol=1e-11, atol=1e-12)


def test_sampled_blocks_of_one_instant_act_along_the_signals() -> None:
    """A sampled proportional controller with computation delay, written as a recurrence."""
    diagram = tg.Diagram("loop")
    diagram.plant = b.Integrator(start=1.0)
    diagram.measured = b.ZeroOrderHold(0.25)(diagram.plant)
    diagram.control = b.DiscreteTransferFunction([-1.5], [1.0], period=0.25)(diagram.measured)
    diagram.late = b.UnitDelay(0.25)(diagram.control)
    diagram.plant(diagram.late)
    result = tg.simulate(diagram, (0, 2), rtol=1e-10)
    y, waiting = 1.0, 0.0
    for _ in range(8):
        control = -1.5 * y
        y, waiting = y + 0.25 * waiting, control
    assert result.final["plant"] == pytest.approx(y, rel=1e-9)


def test_scope_records_its_signals_under_labels() -> None:
    diagram = tg.Diagram("seen")
    diagram.x = b.Integrator()(1.0)
    diagram.scope = b.Scope(["level", "twice"])(diagram.x, 2.0 * diagram.x)
    result = tg.simulate(diagram, (0, 1))
    assert diagram.scope.names == ["scope.level", "scope.twice"]
    assert [result.final[name] for name in diagram.scope.names] == pytest.approx([1.0, 2.0])


def test_user_block_of_several_outputs_and_parameters() -> None:
    def polar(x, y, p):
        return {"radius": p.scale * math.hypot(x, y), "angle": math.atan2(y, x)}

    diagram = tg.Diagram("user")
    diagram.polar = b.UserBlock(polar, ["x", "y"], ["radius", "angle"], {"scale": 2.0})(3.0, 4.0).block
    diagram.angle = b.UserOutput()(diagram.polar.angle)
    diagram.state = b.Integrator()(diagram.polar)
    result = tg.simulate(diagram, (0, 1), sensitivities=["polar.scale"])
    assert result.final["state"] == pytest.approx(10.0)
    assert result.final["angle"] == pytest.approx(math.atan2(4, 3))
    assert float(result.sensitivity("state", "polar.scale")[-1]) == pytest.approx(5.0)


def test_conditions_of_user_blocks_are_located() -> None:
    def dry(v):
        if v > 0.5:
            return -1.0
        return -0.5

    diagram = tg.Diagram("friction")
    diagram.v = b.Integrator(start=1.0)
    diagram.v(b.UserBlock(dry)(diagram.v))
    result = tg.simulate(diagram, (0, 1))
    assert [event.time for event in result.events] == pytest.approx([0.5])


def test_user_block_of_an_opaque_function_runs() -> None:
    diagram = tg.Diagram("opaque")
    diagram.v = b.Integrator(start=1.0)
    diagram.v(b.UserBlock(tg.opaque(lambda v: -2.0 * v))(diagram.v))
    assert tg.simulate(diagram, (0, 1), rtol=1e-9).final["v"] == pytest.approx(math.exp(-2), rel=1e-7)
