"""Every block of Table 1 of CSMP-10(ARL) does what its formula says, at located events where it has corners."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import tidegate as tg

b = tg.blocks

# the input below goes through -1.5 ... 1.5, so that every piece of every block is visited; it crosses no corner at a recorded time
TIMES = np.linspace(0.013, 1.987, 28)


def wave(t: np.ndarray) -> np.ndarray:
    return 1.5 * np.sin(2 * math.pi * 0.5 * t)


def recorded(block: tg.blocks.Gain, *others: float) -> np.ndarray:
    """What a block makes of the wave, and of constants at its other inputs."""
    diagram = tg.Diagram("one block")
    diagram.x = b.Sine(frequency=0.5, amplitude=1.5)
    diagram.y = block(diagram.x, *others)
    diagram.state = b.Integrator()(diagram.y)
    return np.asarray(tg.simulate(diagram, (0, 2), outputs=[0, *TIMES, 2], rtol=1e-9)["y"])[1:-1]


FORMULAS: dict[str, tuple[object, tuple[float, ...], Callable[[np.ndarray], np.ndarray]]] = {
    "B": (b.BangBang(), (), lambda x: np.where(x >= 0, 1.0, -1.0)),
    "D": (b.DeadSpace(0.7, -0.4), (), lambda x: np.where(x > 0.7, x - 0.7, np.where(x < -0.4, x + 0.4, 0.0))),
    "G": (b.Gain(-2.5), (), lambda x: -2.5 * x),
    "L": (b.Limiter(0.7, -0.4), (), lambda x: np.clip(x, -0.4, 0.7)),
    "M": (b.Magnitude(), (), np.abs),
    "N": (b.NegativeClipper(), (), lambda x: np.maximum(x, 0.0)),
    "O": (b.Offset(0.3), (), lambda x: x + 0.3),
    "P": (b.PositiveClipper(), (), lambda x: np.minimum(x, 0.0)),
    "R": (b.Relay(), (2.0, 3.0), lambda x: np.where(x >= 0, 2.0, 3.0)),
    "W": (b.WeightedSummer(2.0, -3.0, 0.5), (1.0, 4.0), lambda x: 2 * x - 3 + 2),
    "X": (b.Multiplier(), (-3.0,), lambda x: -3 * x),
    "+": (b.Summer("-+-"), (1.0, 4.0), lambda x: -x + 1 - 4),
    "-": (b.Inverter(), (), lambda x: -x),
    "/": (b.Divider(), (-4.0,), lambda x: x / -4),
    "UO": (b.UserOutput(), (), lambda x: x),
    "U1": (b.UserBlock(lambda x, p: p["k"] * x * abs(x), p={"k": 2.0}), (), lambda x: 2 * x * abs(x)),
}


@pytest.mark.parametrize("code", FORMULAS)
def test_block_computes_its_formula(code: str) -> None:
    block, others, formula = FORMULAS[code]
    assert block.code == code
    # formulas of one signal that is known exactly: rounding only
    np.testing.assert_allclose(recorded(block.copy(), *others), formula(wave(TIMES)), rtol=1e-12, atol=1e-12)


def test_all_of_table_1_has_a_class() -> None:
    codes = {getattr(b, name).code for name in b.__all__ if getattr(b, name).code}
    assert codes == set("B D F G H I J K L M N O P Q R T T1 U UO U1 V W X Y Z + - /".split())


def test_half_power_is_the_square_root() -> None:
    diagram = tg.Diagram("root")
    diagram.y = b.HalfPower()(b.Offset(1.0)(diagram.time))
    diagram.area = b.Integrator()(diagram.y)
    result = tg.simulate(diagram, (0, 3), rtol=1e-10)
    assert result.final["y"] == pytest.approx(2.0, rel=1e-14)
    assert result.final["area"] == pytest.approx(2 / 3 * (8 - 1), rel=1e-9)  # ten times the tolerance


@pytest.mark.slow
def test_function_block_interpolates_by_straight_lines_and_continues_the_end_pieces() -> None:
    got = recorded(b.Function([-1.0, 0.0, 0.5, 1.0], [1.0, 0.0, 2.0, -1.0]))
    x = wave(TIMES)
    inside = np.interp(x, [-1.0, 0.0, 0.5, 1.0], [1.0, 0.0, 2.0, -1.0])
    np.testing.assert_allclose(got, np.where(x < -1, -x, np.where(x > 1, -1 - 6 * (x - 1), inside)), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("degree", [2, 3, *(pytest.param(k, marks=pytest.mark.slow) for k in (4, 5))])
def test_function_block_of_higher_degree_goes_through_the_nearest_points(degree: int) -> None:
    xs = np.array([-1.4, -1.0, -0.5, -0.1, 0.4, 0.9, 1.3])
    ys = np.cos(3 * xs)
    got = recorded(b.Function(xs, ys, degree))
    for x, value in zip(wave(TIMES), got, strict=True):
        left = int(np.searchsorted(xs, x, side="right")) - 1 - degree // 2 if degree % 2 else int(np.argmin(np.abs(xs - x))) - degree // 2
        k = min(max(left, 0), len(xs) - degree - 1)
        polynomial = np.polyfit(xs[k : k + degree + 1], ys[k : k + degree + 1], degree)
        assert value == pytest.approx(np.polyval(polynomial, x), rel=1e-9, abs=1e-9)  # rounding of polyfit


def test_integrator_scales_drifts_and_starts() -> None:
    diagram = tg.Diagram("integrator")
    diagram.y = b.Integrator(start=2.0, gain_error=0.5, drift=-0.2)(1.0)
    assert tg.simulate(diagram, (0, 4)).final["y"] == pytest.approx(2 + 4 * (1.5 - 0.2), rel=1e-9)


def test_integrator_is_held_while_its_second_input_is_not_zero() -> None:
    diagram = tg.Diagram("held")
    diagram.y = b.Integrator()(1.0, hold=b.Compare(">")(b.Sine(frequency=0.25), 0.5))
    # sin(pi t / 2) > 0.5 from 1/3 to 5/3
    result = tg.simulate(diagram, (0, 3), rtol=1e-9)
    assert result.final["y"] == pytest.approx(3 - 4 / 3, rel=1e-8)
    assert [round(event.time, 6) for event in result.events] == [round(1 / 3, 6), round(5 / 3, 6)]


def test_integrator_stands_at_its_start_while_its_third_input_is_not_zero() -> None:
    diagram = tg.Diagram("reset")
    diagram.y = b.Integrator(start=0.25)(1.0, reset=b.Compare(">")(b.Sine(frequency=0.25), 0.5))
    result = tg.simulate(diagram, (0, 3), rtol=1e-9)
    assert result.at(1.0)["y"] == pytest.approx(0.25)
    assert result.final["y"] == pytest.approx(0.25 + 3 - 5 / 3, rel=1e-8)


def test_lag_relaxes_to_the_sum_of_its_inputs() -> None:
    diagram = tg.Diagram("lag")
    diagram.y = b.FirstOrderLag(start=1.0, time_constant=0.5)(1.0, 2.0, 3.0)
    assert tg.simulate(diagram, (0, 1), rtol=1e-10).final["y"] == pytest.approx(6 - 5 * math.exp(-2), rel=1e-9)


def test_quit_ends_the_run_at_the_crossing() -> None:
    diagram = tg.Diagram("quit")
    diagram.y = b.Integrator()(1.0)
    diagram.stop = b.Quit()(diagram.y, 0.7)
    result = tg.simulate(diagram, (0, 3))
    assert result.time[-1] == pytest.approx(0.7, rel=1e-12)
    assert result.final["stop"] == 0


def test_quit_that_is_due_at_the_start_ends_the_run_there() -> None:
    diagram = tg.Diagram("quit")
    diagram.y = b.Integrator(start=2.0)(1.0)
    diagram.stop = b.Quit()(diagram.y, 0.7)
    assert tg.simulate(diagram, (0, 3)).time[-1] == 0


def test_jitter_is_uniform_and_the_same_in_every_run() -> None:
    def run(seed: int) -> np.ndarray:
        diagram = tg.Diagram("jitter")
        diagram.noise = b.Jitter(period=0.01, seed=seed)
        diagram.sum = b.Integrator()(diagram.noise)
        return np.asarray(tg.simulate(diagram, (0, 20), outputs=np.arange(0.005, 20, 0.01))["noise"])

    first = run(524287)
    assert np.array_equal(first, run(524287))
    assert not np.array_equal(first, run(1))
    assert len(np.unique(first)) == len(first)
    # 2000 numbers: mean within four standard errors 4 / sqrt(3 * 2000), variance likewise
    assert abs(first.mean()) < 0.052
    assert first.var() == pytest.approx(1 / 3, abs=0.027)
    x = 524287
    for value in first[:50]:
        x = 14**29 * x % (2**31 - 1)
        assert value == 2.0 * x / (2**31 - 1) - 1.0


@pytest.mark.parametrize("kind", [b.Jitter, b.Noise])
@pytest.mark.parametrize("seeds", [(1, 2), (2, 4), (2, 3), (100, 200)])
def test_noise_of_different_seeds_is_independent(kind: type[tg.blocks.Noise | tg.blocks.Jitter], seeds: tuple[int, int]) -> None:
    diagram = tg.Diagram("two")
    for k, seed in enumerate(seeds):
        diagram.add(kind(period=0.01, seed=seed), f"noise{k}")
    result = tg.simulate(diagram, (0, 20), outputs=np.arange(0.005, 20, 0.01))
    first, second = (np.asarray(result[f"noise{k}"]) for k in range(2))
    # 2000 pairs: the correlation of independent numbers has a standard deviation of 0.022, and that of their squares too
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1
    assert abs(np.corrcoef(first**2, second**2)[0, 1]) < 0.1


def test_noise_is_normal() -> None:
    diagram = tg.Diagram("noise")
    diagram.noise = b.Noise(period=0.01, deviation=2.0, seed=7)
    diagram.sum = b.Integrator()(diagram.noise)
    values = np.asarray(tg.simulate(diagram, (0, 20), outputs=np.arange(0.005, 20, 0.01))["noise"])
    assert abs(values.mean()) < 0.18  # four standard errors
    assert values.std() == pytest.approx(2.0, abs=0.13)
    assert np.mean(np.abs(values) < 2.0) == pytest.approx(0.6827, abs=0.042)


def test_time_pulses_begin_when_the_input_is_no_longer_negative() -> None:
    diagram = tg.Diagram("pulses")
    diagram.pulse = b.TimePulse(period=1.0)(diagram.time - 0.3)
    diagram.high = b.Integrator()(diagram.pulse)
    result = tg.simulate(diagram, (0, 3), outputs=[0, 0.2, 0.4, 0.7, 0.9, 1.2, 1.4, 1.7, 1.9, 3])
    assert list(np.asarray(result["pulse"])) == [0, 0, 1, 1, 0, 0, 1, 1, 0, 0]
    assert result.final["high"] == pytest.approx(1.5, rel=1e-9)


def test_time_pulses_begin_anew_when_the_input_was_negative() -> None:
    diagram = tg.Diagram("pulses")
    diagram.gate = b.TableSource([0.0, 0.3, 0.4, 1.1, 1.2, 9.0], [1.0, 1.0, -1.0, -1.0, 1.0, 1.0])
    diagram.pulse = b.TimePulse(period=0.5)(diagram.gate)
    diagram.high = b.Integrator()(diagram.pulse)
    result = tg.simulate(diagram, (0, 2))
    # high from 0 to 0.25; negative from 0.35 to 1.15; high from 1.15 to 1.4 and from 1.65 to 1.9
    assert result.final["high"] == pytest.approx(0.75, abs=1e-9)
    assert [round(event.time, 9) for event in result.events][-3:] == [1.4, 1.65, 1.9]


def test_unit_delay_shows_what_was_at_the_tick_before() -> None:
    diagram = tg.Diagram("delay")
    diagram.one = b.UnitDelay(0.5, start=-1.0)(diagram.time)
    diagram.two = b.UnitDelay(0.5, start=-2.0)(diagram.one)
    diagram.state = b.Integrator()(diagram.two)
    result = tg.simulate(diagram, (0, 2.4), outputs=[0.2, 0.7, 1.2, 1.7, 2.2])
    assert list(np.asarray(result["one"]))[-5:] == [-1.0, 0.0, 0.5, 1.0, 1.5]
    assert list(np.asarray(result["two"]))[-5:] == [-2.0, -1.0, 0.0, 0.5, 1.0]


def test_hold_with_a_clock_samples_while_its_second_input_is_positive() -> None:
    diagram = tg.Diagram("hold")
    diagram.all = b.ZeroOrderHold(0.5)(diagram.time)
    diagram.some = b.ZeroOrderHold(0.5, start=9.0)(diagram.time, diagram.time > 0.8)
    diagram.state = b.Integrator()(diagram.all)
    result = tg.simulate(diagram, (0, 2.4), outputs=[0.2, 0.7, 1.2, 1.7])
    assert list(np.asarray(result["all"]))[-4:] == [0.0, 0.5, 1.0, 1.5]
    assert list(np.asarray(result["some"]))[-4:] == [9.0, 9.0, 1.0, 1.5]


def test_hold_without_a_clock_tracks_and_holds() -> None:
    diagram = tg.Diagram("track and hold")
    diagram.out = b.ZeroOrderHold()(diagram.time, b.Sine(frequency=0.5))  # positive from 0 to 1
    diagram.state = b.Integrator()(diagram.out)
    result = tg.simulate(diagram, (0, 3), outputs=[0.3, 0.6, 1.5, 1.9, 2.5])
    np.testing.assert_allclose(np.asarray(result["out"])[-5:], [0.3, 0.6, 1.0, 1.0, 2.5], rtol=1e-12)


def test_implicit_equation_is_solved() -> None:
    diagram = tg.Diagram("implicit")
    diagram.guess = b.Vacuous(guess=1.0)
    diagram.f = b.HalfPower()(diagram.guess + diagram.time + 2.0)
    diagram.y = b.Wye()(diagram.f, diagram.guess)
    diagram.area = b.Integrator()(diagram.y)
    result = tg.simulate(diagram, (0, 4), rtol=1e-9)
    # y^2 = y + t + 2
    assert result.final["y"] == pytest.approx((1 + math.sqrt(1 + 4 * 6)) / 2, rel=1e-8)


@pytest.mark.parametrize("period", [1.0, 0.1, 0.05, 0.25, 0.33, 0.02])
def test_time_pulses_with_ticks_follow_the_algorithm_of_the_language(period: float) -> None:
    """Section 13 of the specification, written out; the input is negative in the middle of the run."""
    h = 0.1
    times = 0.05 * np.arange(61) + 0.02
    diagram = tg.Diagram("pulses")
    diagram.gate = b.Step(at=1.01, before=1.0, after=-2.0) + b.Step(at=1.53, after=3.0)
    diagram.pulse = b.TimePulse(period, sampling=h / 2)(diagram.gate)
    diagram.state = b.Integrator()(diagram.pulse)
    got = np.asarray(tg.simulate(diagram, (0, 3.1), outputs=times)["pulse"])
    x, m, p2 = 0.0, 0, 0.0
    for k, value in enumerate(got):
        gate = -1.0 if 1.01 <= 0.05 * k < 1.53 else 1.0
        if gate < 0:
            x, m = 0.0, 0
        elif m != 1:
            x, m = 1.0, 1
            p2 = (h - period) / 2 + 0.0001 * min(h, period)
        else:
            while p2 >= 0:
                x, p2 = 1.0 - x, p2 - period / 2
            p2 += h / 2
        assert value == x, f"at tick {k}"
