"""Diagrams: building them by calls and by expressions, names and numbers, replacing and removing, nesting; and what is said of wrong ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidegate as tg
from tidegate.expressions import Role, evaluate, symbol
from tidegate.model.validate import parameter_values

b = tg.blocks


def oscillator(name: str = "oscillator") -> tg.Diagram:
    diagram = tg.Diagram(name)
    diagram.velocity = b.Integrator()
    diagram.position = b.Integrator(start=1.0)
    diagram.stiffness = b.Gain(-4.0)
    diagram.connect(diagram.velocity.out, diagram.position.x1)
    diagram.connect(diagram.position, diagram.stiffness)
    diagram.connect(diagram.stiffness.out, diagram.velocity.rate)
    return diagram


def test_calls_and_expressions_build_the_same() -> None:
    written = tg.Diagram("written")
    written.velocity = b.Integrator()
    written.position = b.Integrator(start=1.0)(written.velocity)
    written.velocity(-4.0 * written.position)
    for diagram in (oscillator(), written):
        result = tg.simulate(diagram, (0, 1), rtol=1e-10)
        assert result.final["position"] == pytest.approx(math.cos(2), rel=1e-8)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (lambda x, y: x + y, 5.0), (lambda x, y: x - y, 1.0), (lambda x, y: x * y, 6.0), (lambda x, y: x / y, 1.5), (lambda x, y: -x, -3.0),
        (lambda x, y: 2 + x, 5.0), (lambda x, y: 2 - x, -1.0), (lambda x, y: 2 * x, 6.0), (lambda x, y: 6 / x, 2.0), (lambda x, y: x / 4, 0.75),
        (lambda x, y: x - 1, 2.0), (lambda x, y: abs(-x), 3.0), (lambda x, y: x**3, 27.0), (lambda x, y: x**0.5, math.sqrt(3)),
        (lambda x, y: x > y, 1.0), (lambda x, y: x < y, 0.0), (lambda x, y: x >= 3, 1.0), (lambda x, y: x <= 2.5, 0.0),
        (lambda x, y: (x > 0) & (y > 5), 0.0), (lambda x, y: (x > 0) | (y > 5), 1.0), (lambda x, y: ~(x > 0), 0.0),
        (lambda x, y: np.float64(2.0) * x, 6.0), (lambda x, y: b.Switch()(x, y > 5, 7.0), 7.0),
    ],
)  # fmt: skip
def test_operators_build_blocks(expression, value: float) -> None:
    diagram = tg.Diagram("operators")
    diagram.x = b.Constant(3.0)
    diagram.y = b.Constant(2.0)
    diagram.z = expression(diagram.x, diagram.y)
    diagram.state = b.Integrator()(diagram.z)
    assert tg.simulate(diagram, (0, 1)).final["z"] == pytest.approx(value, rel=1e-15)


def test_signal_has_no_truth_value() -> None:
    diagram = oscillator()
    with pytest.raises(tg.UsageError, match="known only during the run"):
        bool(diagram.position > 0)


def test_results_know_blocks_outputs_and_parameters_by_name() -> None:
    result = tg.simulate(oscillator(), (0, 1), sensitivities=["stiffness.gain", "position.start"], rtol=1e-9, parameters={"stiffness.gain": -1.0})
    assert result.final["position"] == pytest.approx(math.cos(1), rel=1e-7)
    assert result.final["stiffness"] == pytest.approx(-math.cos(1), rel=1e-7)
    # position = cos(sqrt(-gain) t), so its derivative by gain is t sin(t) / 2 at gain = -1
    assert float(result.sensitivity("position", "stiffness.gain")[-1]) == pytest.approx(math.sin(1) / 2, rel=1e-6)


def test_diagrams_are_blocks_of_diagrams() -> None:
    def lag() -> tg.Diagram:
        inner = tg.Diagram("lag")
        u = inner.input("u")
        inner.y = b.Integrator()
        inner.y(b.Gain(2.0, name="speed")(u - inner.y))
        inner.output("out", inner.y)
        return inner

    outer = tg.Diagram("two lags")
    outer.first = lag()
    outer.second = outer.first.copy()
    outer.connect(b.Step(after=3.0, name="step"), outer.first.u)
    outer.second(outer.first)
    outer.gap = outer.first.out - outer.second.out
    result = tg.simulate(outer, (0, 1), rtol=1e-10)
    e = math.exp(-2.0)
    assert result.final["first.y"] == pytest.approx(3 * (1 - e), rel=1e-8)
    assert result.final["second.y"] == pytest.approx(3 * (1 - 3 * e), rel=1e-8)
    assert result.final["second.out"] == result.final["second.y"]
    assert outer["first.speed"].gain == 2.0
    outer["first.speed"].gain = 1.0
    assert outer["second.speed"].gain == 2.0
    assert result.final["gap"] == pytest.approx(6 * e, rel=1e-8)


def test_ports_of_a_diagram_are_known_inside_of_it() -> None:
    inner = tg.Diagram("inner")
    inner.input("u")
    inner.x = b.Integrator()(inner.u)
    inner.output("y", inner.x)
    inner.twice = b.Gain(2.0)(inner.y)
    outer = tg.Diagram("outer")
    outer.inner = inner
    outer.inner(1.5)
    assert tg.simulate(outer, (0, 1)).final["inner.twice"] == pytest.approx(3.0)


def test_inputs_of_the_outermost_diagram_are_the_models() -> None:
    diagram = tg.Diagram("filling")
    inflow = diagram.input("inflow", 2.0, unit="m")
    diagram.level = b.Integrator(unit="m.s")(inflow)
    diagram.output("twice", 2.0 * diagram.level)
    simulation = tg.Simulation(diagram)
    simulation.advance(1.0)
    simulation["inflow"] = -1.0
    simulation.advance(2.0)
    assert simulation["twice"] == pytest.approx(2.0, rel=1e-12)


def test_blocks_have_names_and_numbers() -> None:
    diagram = tg.Diagram("numbered")
    gain = diagram.add(b.Gain(2.0), number=17)
    assert diagram[17] is gain is diagram["gain1"] is diagram.gain1
    gain.name, gain.number = "doubled", 4
    assert diagram[4] is diagram.doubled is gain
    assert "doubled" in dir(diagram)
    assert "gain1" not in diagram
    assert 4 in diagram
    with pytest.raises(tg.UsageError, match="already has a block 'doubled'"):
        diagram.add(b.Offset(), "doubled")
    with pytest.raises(tg.UsageError, match="already has a block 4"):
        diagram.add(b.Offset(), number=4)
    with pytest.raises(tg.UnknownNameError, match="did you mean 'doubled'"):
        diagram.doubld  # noqa: B018
    with pytest.raises(tg.UnknownNameError, match="did you mean 'gain'"):
        gain.gian = 3.0


def test_replaced_block_hands_over_its_connections() -> None:
    diagram = oscillator()
    diagram.replace("stiffness", b.UserBlock(lambda x: -9.0 * x))
    result = tg.simulate(diagram, (0, 1), rtol=1e-10)
    assert result.final["position"] == pytest.approx(math.cos(3), rel=1e-8)
    assert [block.name for block in diagram] == ["velocity", "position", "stiffness"]
    with pytest.raises(tg.UsageError, match=r"stiffness.x1 is connected, but Constant has no port 'x1'"):
        diagram.replace("stiffness", b.Constant(1.0))
    assert diagram.stiffness.kind == "UserBlock"


def test_removed_block_leaves_its_readers_open() -> None:
    diagram = oscillator()
    del diagram["stiffness"]
    assert len(diagram.connections) == 1
    with pytest.raises(tg.InvalidModelError, match=r"velocity.x1 is not connected"):
        diagram.lower()


def test_all_wrong_connections_are_said_at_once() -> None:
    diagram = oscillator()
    diagram.sum = b.Multiplier()(diagram.position)
    diagram.connect(2.0, diagram.stiffness.x1)
    diagram.other = b.Limiter()
    with pytest.raises(tg.InvalidModelError) as caught:
        diagram.lower()
    assert len(caught.value.problems) == 3
    text = str(caught.value)
    assert "stiffness.x1 has 2 drivers, position.out and constant1.out" in text
    assert "sum.x2 is not connected" in text
    assert "other.x1 is not connected" in text
    assert "test_diagram.py:" in text


def test_parameters_are_checked_again_when_the_diagram_is_run() -> None:
    diagram = tg.Diagram("limits")
    diagram.limiter = b.Limiter(1.0, -1.0)(diagram.time)
    diagram.pulse = b.Pulse()
    diagram.limiter.lower = 2.0  # above the upper limit, which follows
    diagram.limiter.upper = 3.0
    diagram.lower()
    diagram.limiter.upper = -5.0
    diagram.pulse.width = 1.5
    with pytest.raises(tg.InvalidModelError) as caught:
        diagram.lower()
    assert "limiter (Limiter): lower is 2 and upper -5; the upper limit comes first" in str(caught.value)
    assert "pulse (Pulse): width is 1.5" in str(caught.value)


@pytest.mark.parametrize(("gain", "said"), [(None, r"a \(Gain\): gain is not given"), ([1.0, 2.0], r"a \(Gain\): gain is \[1. 2.\]")])
def test_parameter_that_is_not_one_number_is_named(gain: Any, said: str) -> None:
    diagram = tg.Diagram("numbers")
    diagram.a = b.Gain(gain)(diagram.time)
    with pytest.raises(tg.UsageError, match=said):
        diagram.lower()


def test_limit_that_is_an_array_is_named() -> None:
    with pytest.raises(tg.UsageError, match=r"upper is \[1. 2.\]"):
        b.Limiter([1.0, 2.0], 0.0)


@pytest.mark.parametrize(
    ("numerator", "denominator", "said"),
    [([], [1.0], "numerator is empty"), ("ab", [1.0], "numerator is 'ab'"), ([1.0], [1.0, float("nan")], "must be finite")],
)
def test_coefficients_that_are_none_are_refused(numerator: Any, denominator: Any, said: str) -> None:
    with pytest.raises(tg.UsageError, match=said):
        b.TransferFunction(numerator, denominator)


def test_wrong_uses_are_refused_where_they_are_written() -> None:
    diagram = oscillator()
    with pytest.raises(tg.UnknownNameError, match=r"has no port or parameter 'x7'[^$]*did you mean 'x3', 'x2', 'x1'"):
        diagram.connect(diagram.position.out, diagram.velocity.x7)
    with pytest.raises(tg.UsageError, match="the other way round"):
        diagram.connect(diagram.velocity.x1, diagram.position.out)
    with pytest.raises(tg.UsageError, match="is an output and takes no signal"):
        diagram.connect(diagram.velocity.out, diagram.position.out)
    with pytest.raises(tg.UsageError, match="takes 1 input, but 2 are given"):
        diagram.stiffness(1.0, 2.0)
    with pytest.raises(tg.UsageError, match=r"takes no 'gian'[^$]*did you mean 'gain'"):
        b.Gain(gian=2.0)
    with pytest.raises(tg.UsageError, match="numbers are expected"):
        b.Gain("two")
    with pytest.raises(tg.UsageError, match=r"A is 2 by 2, but B 3 by 1"):
        b.StateSpace(np.eye(2), [[1.0], [2.0], [3.0]], [1.0, 0.0])
    with pytest.raises(tg.UsageError, match="higher degree"):
        b.TransferFunction([1.0, 0.0, 0.0], [1.0, 1.0])
    with pytest.raises(tg.UsageError, match="is a word of diagrams"):
        diagram.connect = b.Gain()
    with pytest.raises(tg.UsageError, match=r"is in diagram other|already in diagram"):
        diagram.connect(oscillator("other").position, diagram.stiffness)
    with pytest.raises(tg.UsageError, match="cannot be called 'time'"):
        diagram.add(b.Gain(), "time")


def test_algebraic_loop_is_named_block_by_block() -> None:
    diagram = tg.Diagram("loop")
    diagram.sum = b.Summer("+-")
    diagram.g = b.Gain(2.0)(diagram.sum)
    diagram.sum(1.0, diagram.g)
    diagram.state = b.Integrator()(diagram.g)
    with pytest.raises(tg.StructureError, match=r"an algebraic loop:\s*- g\.out -> sum\.x2 -> sum\.out -> g\.x1 -> g\.out"):
        diagram.lower()


def test_algebraic_loops_are_solved_where_the_diagram_says_so() -> None:
    diagram = tg.Diagram("loops", algebraic_loops="solve")
    diagram.sum = b.Summer("+-")
    diagram.g = b.UserBlock(lambda x: x**3)(diagram.sum)
    diagram.sum(diagram.time, diagram.g)
    diagram.other = b.Summer("++")
    diagram.other(diagram.sum, b.Gain(0.5)(diagram.other))
    diagram.state = b.Integrator()(diagram.other)
    result = tg.simulate(diagram, (0, 2), rtol=1e-10)
    # s + s^3 = t; at t = 2, s = 1; the integral of 2 s is that of 2 s (1 + 3 s^2) ds from 0 to 1
    assert result.final["sum"] == pytest.approx(1.0, rel=1e-9)
    assert result.final["other"] == pytest.approx(2.0, rel=1e-9)
    assert result.final["state"] == pytest.approx(1 + 6 / 4, rel=1e-8)


def test_loop_through_a_sampled_block_needs_a_delay() -> None:
    diagram = tg.Diagram("sampled loop", algebraic_loops="solve")
    diagram.hold = b.ZeroOrderHold(0.1)
    diagram.hold(b.Gain(0.5)(diagram.hold))
    with pytest.raises(tg.StructureError, match="put a UnitDelay into it"):
        diagram.lower()


def test_sampling_what_ticks_are_solved_with_is_refused() -> None:
    diagram = tg.Diagram("sampled unknown")
    diagram.delay = b.UnitDelay(0.1)
    diagram.guess = b.Vacuous()
    diagram.y = b.Wye()(0.5 * diagram.guess + diagram.delay, diagram.guess)
    diagram.delay(diagram.y)
    with pytest.raises(tg.InvalidModelError, match=r"delay.x1 samples guess"):
        diagram.lower()


def named(start: np.ndarray) -> dict[str, float]:
    return {f"state{k}": float(x) for k, x in enumerate(start)}


@st.composite
def linear_diagrams(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, tg.Diagram]:
    """Integrators and linear blocks between them, with the matrix, the constant part and the start that they come to."""
    n = draw(st.integers(1, 4))
    numbers = st.integers(-3, 3).map(lambda k: k / 2)
    diagram = tg.Diagram("linear")
    start = np.array([draw(numbers) for _ in range(n)])
    states = [diagram.add(b.Integrator(x0), f"state{k}") for k, x0 in enumerate(start)]
    rows = [(np.eye(n)[k], 0.0, block.out) for k, block in enumerate(states)]
    for _ in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from("G O + - W K".split()))
        first, second, third = (rows[draw(st.integers(0, len(rows) - 1))] for _ in range(3))
        p, q, r = (draw(numbers) for _ in range(3))
        if kind == "G":
            row = p * first[0], p * first[1], b.Gain(p)(first[2])
        elif kind == "O":
            row = first[0], first[1] + p, first[2] + p
        elif kind == "-":
            row = -first[0], -first[1], -first[2]
        elif kind == "+":
            row = first[0] - second[0] + third[0], first[1] - second[1] + third[1], b.Summer("+-+")(first[2], second[2], third[2])
        elif kind == "W":
            signal = b.WeightedSummer(p, q, r)(first[2], second[2], third[2])
            row = p * first[0] + q * second[0] + r * third[0], p * first[1] + q * second[1] + r * third[1], signal
        else:
            row = np.zeros(n), p, diagram.add(b.Constant(p)).out
        rows.append(row)
    ends = [rows[draw(st.integers(0, len(rows) - 1))] for _ in range(n)]
    for block, end in zip(states, ends, strict=True):
        block(end[2])
    return np.array([end[0] for end in ends]), np.array([end[1] for end in ends]), start, diagram


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(linear_diagrams())
def test_random_linear_diagrams_equal_their_equations(made: tuple[np.ndarray, np.ndarray, np.ndarray, tg.Diagram]) -> None:
    matrix, constant, start, diagram = made
    rng = np.random.default_rng(1)
    direct = tg.ode(
        lambda t, y: [sum(a * x for a, x in zip(row, y, strict=True)) + c for row, c in zip(matrix, constant, strict=True)], y0=named(start)
    )
    # the same model written twice: right-hand sides agree at any point to rounding
    model, other = diagram.lower(), direct.lower()
    for _ in range(3):
        at = rng.uniform(-2, 2, len(start))
        values = {**parameter_values(model), **{symbol(Role.UNKNOWN, f"state{k}"): x for k, x in enumerate(at)}}
        mine = evaluate([equation.right for equation in model.equations], values)
        theirs = evaluate([equation.right for equation in other.equations], values)
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-10)


@pytest.mark.hunt
@settings(max_examples=15, deadline=None)
@given(linear_diagrams())
def test_runs_of_random_linear_diagrams_equal_those_of_their_equations(made: tuple[np.ndarray, np.ndarray, np.ndarray, tg.Diagram]) -> None:
    matrix, constant, start, diagram = made
    direct = tg.ode(
        lambda t, y: [sum(a * x for a, x in zip(row, y, strict=True)) + c for row, c in zip(matrix, constant, strict=True)], y0=named(start)
    )
    result, expected = tg.simulate(diagram, (0, 1), rtol=1e-9), tg.simulate(direct, (0, 1), rtol=1e-9)
    largest = max(abs(value) for value in expected.final.values())
    for name, want in expected.final.items():
        # a thousand times the tolerance, on the scale of what has grown most
        assert result.final[name] == pytest.approx(want, rel=1e-6, abs=1e-6 * (1 + largest))
