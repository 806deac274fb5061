"""Unknowns that follow from others: the system is solved without them, and nobody can tell from the results."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from tidegate.compiled import compile_model
from tidegate.executive import Options
from tidegate.executive import prepare as prepared
from tidegate.expressions import ZERO, Expr, OpaqueFunction, Role, opaque_call, select, symbol
from tidegate.model import Assignment, Branch, Definition, Equation, Form, Model, Variable, VariableRole, When
from tidegate.simulate import compiled_of
from tidegate.structure import reduced, solve_explicitly

exp, sin, sqrt = (cast(Callable[[Expr], Expr], function) for function in (np.exp, np.sin, np.sqrt))


def unknown(name: str) -> Expr:
    return symbol(Role.UNKNOWN, name)


def rate(name: str) -> Expr:
    return symbol(Role.DERIVATIVE, name)


def parameter(name: str) -> Expr:
    return symbol(Role.PARAMETER, name)


def dae(variables: list[Variable], *equations: tuple[Expr | float, Expr | float], **more: Any) -> Model:
    return Model("net", Form.DAE, tuple(variables), tuple(Equation(ZERO + left, ZERO + right) for left, right in equations), **more)


def algebraic(*names: str, **more: Any) -> list[Variable]:
    return [Variable(name, VariableRole.ALGEBRAIC, **more) for name in names]


def parameters(**values: float) -> list[Variable]:
    return [Variable(name, VariableRole.PARAMETER, start=(ZERO + value,)) for name, value in values.items()]


def unreduced(source: Any, t_span: tuple[float, float], **options: Any) -> tg.Result:
    """The run with every unknown solved for."""
    return prepared(compile_model(reduced(source.lower(), [])), t_span, Options(**options), source).run()


def left(model: Model) -> list[str]:
    return [name for variable in solve_explicitly(model).model.unknowns for name in variable.names]


x, a, b, c, d = (unknown(name) for name in "xabcd")
p, r = parameter("p"), parameter("r")
t = symbol(Role.TIME, "time")
state = Variable("x", VariableRole.STATE, start=(ZERO + 1.0,))
fixed = parameters(p=2.0, r=3.0)


# -- what goes


@pytest.mark.parametrize(("left", "right", "value"), [
    (a, x * x, "x*x"), (2.0 * a, x, "x/2"), (r * a, x, "x/r"), (x, r * a - p, "(x + p)/r"), (a, 2.0 * p, "2*p"), (a - sin(t), 0.0, "sin(time)"),
    (a + r * a, x, "x/(1 + r)"), (0.0, select(x > 0.5, a - x, a + x), None),
])  # fmt: skip
def test_what_an_equation_gives_alone_goes(left: Any, right: Any, value: str | None) -> None:
    passed = solve_explicitly(dae([state, *algebraic("a"), *fixed], (rate("x"), -a), (left, right)))
    assert passed.model.form is Form.ODE
    assert [variable.name for variable in passed.model.unknowns] == ["x"]
    if value is not None:
        assert repr(passed.replaced[a]) == value


@pytest.mark.parametrize(("left", "right"), [
    (a * a, x + 4.0), (x * a, 1.0), (t * a, 1.0), (a, select(a > 0.5, x, -x)), (a // 1.0 + a, x), (a + exp(a), x),
    (symbol(Role.DISCRETE, "n") * a, x),
])  # fmt: skip
def test_what_does_not_enter_linearly_or_by_what_may_vanish_stays(left: Any, right: Any) -> None:
    model = dae([state, *algebraic("a"), *fixed, Variable("n", VariableRole.DISCRETE, start=(ZERO + 1.0,))], (rate("x"), -a), (left, right))
    assert [variable.name for variable in solve_explicitly(model).model.unknowns] == ["x", "a"]


def test_chains_are_put_in_whatever_the_order() -> None:
    equations = [(d, c * c), (c, 2.0 * b), (b, a + 1.0), (a, x * p), (rate("x"), -d)]
    for order in (equations, equations[::-1]):
        passed = solve_explicitly(dae([*algebraic("d", "c", "b", "a"), state, *fixed], *order))
        assert repr(passed.replaced[c]) == "2*(x*p + 1)"
        assert passed.model.form is Form.ODE


def test_derivatives_are_solved_for_too() -> None:
    passed = solve_explicitly(dae([state, *algebraic("a"), *fixed], (p * rate("x") + a, 0.0), (a, r * rate("x") - x)))
    assert passed.model.form is Form.ODE  # both in one block: p x' + r x' - x = 0
    assert passed.demands[0].value is not None


def test_linear_blocks_go_with_their_determinant_as_divisor(method: str) -> None:
    equations = [(a + p * b, x), (r * b, a), (rate("x"), -b)]
    passed = solve_explicitly(dae([state, *algebraic("a", "b"), *fixed], *equations))
    assert passed.model.form is Form.ODE
    result = tg.simulate(dae([state, *algebraic("a", "b"), *fixed], *equations), (0.0, 1.0), method=method, rtol=1e-8)
    assert result.final["x"] == pytest.approx(math.exp(-0.2), rel=1e-5)  # b = x / (p + r); steps add up
    assert result.final["a"] == pytest.approx(3.0 * result.final["b"], rel=1e-12)


@pytest.mark.slow
def test_nonlinear_blocks_are_torn() -> None:
    equations = [(a, b + c), (b, 2.0 * d), (c, x - d), (d * d * d + a, x + 3.0), (rate("x"), -d)]
    model = dae([state, *algebraic("a", "b", "c", "d", start=(ZERO + 1.0,))], *equations)
    assert len(left(model)) == 2
    result, full = tg.simulate(model, (0.0, 1.0), rtol=1e-9), unreduced(model, (0.0, 1.0), rtol=1e-9)
    for name in "xabcd":
        assert result.final[name] == pytest.approx(full.final[name], rel=1e-7)
    assert tg.verify(result).ok


def test_what_clauses_set_or_must_start_exactly_stays() -> None:
    when = When((Branch((t > 0.5,), (Assignment(a, ZERO + 2.0),)),))
    assert left(dae([state, *algebraic("a"), *fixed], (rate("x"), -a), (a, p * x), whens=(when,))) == ["x", "a"]
    assert left(dae([state, *algebraic("a", fixed=True), *fixed], (rate("x"), -a), (a, p * x))) == ["x", "a"]


def test_bodies_read_what_was_before_the_event(dae_method: str) -> None:
    """A condition in what they read has changed by the time they are asked."""
    seen, n = symbol(Role.DISCRETE, "seen"), Variable("seen", VariableRole.DISCRETE)
    when = When((Branch((x < 0.5,), (Assignment(seen, a),), "half"),))
    model = dae([state, *algebraic("a"), n], (rate("x"), -x), (a, select(x < 0.5, x - 10.0, x + 10.0)), whens=(when,))
    assert left(model) == ["x", "a"]
    assert tg.simulate(model, (0.0, 1.0), method=dae_method, rtol=1e-8).final["seen"] == pytest.approx(10.5, abs=1e-6)
    calm = dae([state, *algebraic("a"), n], (rate("x"), -x), (a, x + 10.0), whens=(When((Branch((a < 10.5,), (Assignment(seen, a),), "half"),)),))
    assert left(calm) == ["x"]
    assert tg.simulate(calm, (0.0, 1.0), method=dae_method, rtol=1e-8).final["seen"] == pytest.approx(10.5, abs=1e-6)


def test_conditions_on_opaque_functions_keep_their_unknown() -> None:
    def square(y: float) -> tuple[float]:
        return (y * y,)

    (value,) = opaque_call(OpaqueFunction(square, 1, "square"), [x])
    when = When((Branch((a < 0.5,), (), "low"),))
    assert left(dae([state, *algebraic("a"), *fixed], (rate("x"), -p * x), (a, value), whens=(when,))) == ["x", "a"]
    assert left(dae([state, *algebraic("a"), *fixed], (rate("x"), -p * x), (a, value))) == ["x"]


def test_large_systems_keep_what_would_fill_their_jacobian() -> None:
    n = 200
    names = [f"x{k}" for k in range(n)]
    total: Expr = ZERO
    for name in names:
        total = total + unknown(name)
    variables = [Variable(name, VariableRole.STATE) for name in names]
    model = dae([*variables, *algebraic("mean")], (unknown("mean"), total / n), *((rate(name), unknown("mean") - unknown(name)) for name in names))
    assert left(model)[-1] == "mean"
    model = dae([*variables, *algebraic("mean")], (unknown("mean"), total / n), *((rate(name), -unknown(name)) for name in names))
    assert "mean" not in left(model)


# -- what the user sees


class Circuit(tg.Component):
    """A coil on a source through a resistor, with a switch's voltage asked for."""

    i = tg.State(0.0, unit="A")
    u_r = tg.Algebraic(unit="V", description="over the resistor")
    u_l = tg.Algebraic(unit="V")
    heat = tg.Algebraic(unit="W")
    level = tg.Algebraic()
    u = tg.Parameter(10.0, unit="V")
    r = tg.Parameter(2.0, unit="V/A")
    inductance = tg.Parameter(0.5, unit="V*s/A")
    seen = tg.Discrete(0.0, unit="V")
    twice = tg.Output(unit="V")

    def equations(self):
        yield self.i * self.r == self.u_r
        yield self.u == self.u_r + self.u_l
        yield self.inductance * tg.der(self.i) == self.u_l
        yield self.heat == self.u_r * self.i
        yield self.level == tg.where(self.u_l > 2.0, 1.0, 0.5)
        yield self.twice == 2 * self.u_l

    @tg.when(lambda self: self.u_l < 4.0)
    def four(self):
        return {self.seen: tg.pre(self.u_l)}


def current(t: float, r: float = 2.0) -> float:
    return 10.0 / r * (1.0 - math.exp(-r * t / 0.5))


@pytest.mark.hunt
def test_everything_has_its_name_and_unit(method: str) -> None:
    assert compiled_of(Circuit()).layout.unknowns == ("i",)
    result = tg.simulate(Circuit(), (0.0, 1.0), sensitivities=["r"], method=method, rtol=1e-8)
    assert result["u_r"].attrs == {"role": "unknown", "units": "V", "long_name": "over the resistor"}
    assert [column.name for column in result.columns] == ["i", "u_r", "u_l", "heat", "level", "seen", "twice"]
    half, two = (event for event in result.events)
    assert half.cause == "four, u_l < 4"
    assert half.time == pytest.approx(-math.log(0.4) / 4.0, abs=1e-6)  # a few tolerances
    assert two.cause == "u_l <= 2"
    assert two.time == pytest.approx(-math.log(0.2) / 4.0, abs=1e-6)
    assert half.before["u_l"] == pytest.approx(4.0, abs=1e-6)
    assert half.before["heat"] == pytest.approx(18.0, abs=1e-5)
    assert (two.before["level"], two.after["level"]) == (1.0, 0.5)
    assert result.final["seen"] == pytest.approx(4.0, abs=1e-6)
    assert result.final["u_l"] == pytest.approx(10.0 - 2.0 * current(1.0), rel=1e-4)  # steps add up, and 0.18 is left of 10
    step = 1e-6
    exact = (current(1.0, 2.0 + step) - current(1.0, 2.0 - step)) / (2.0 * step)
    assert result.sensitivity("i", "r").values[-1] == pytest.approx(exact, rel=1e-4)
    assert result.sensitivity("u_r", "r").values[-1] == pytest.approx(current(1.0) + 2.0 * exact, rel=1e-3)
    dense = result.at([0.1, 0.7])
    assert dense["u_r"].values == pytest.approx([2.0 * current(0.1), 2.0 * current(0.7)], rel=1e-6)
    assert dense["heat"].values == pytest.approx([2.0 * current(0.1) ** 2, 2.0 * current(0.7) ** 2], rel=1e-6)
    assert dense["level"].values.tolist() == [1.0, 0.5]
    assert dense["twice"].values == pytest.approx(2.0 * dense["u_l"].values, rel=1e-12)
    assert result.at(two.time, "level", side="left") == 1.0
    assert result.at(two.time, "level") == 0.5
    assert tg.verify(result).ok


@pytest.mark.slow
def test_two_engines_agree_on_it() -> None:
    assert tg.cross_check(Circuit(), (0.0, 1.0)).agrees


def test_a_picture_shows_it_as_smooth_as_what_is_solved_for() -> None:
    from tidegate.plot.curves import Times

    result = tg.simulate(Circuit(), (0.0, 1.0))
    times = Times(result)
    found = {name: times.points(cast(Any, SimpleNamespace(parameter=-1, column=result.column(name)))) for name in ("i", "u_r")}
    assert found["u_r"][0].size == found["i"][0].size > 1000
    np.testing.assert_allclose(found["u_r"][1], 2.0 * found["i"][1], rtol=1e-9)


def test_a_simulation_reads_it_lets_nobody_set_it_and_goes_on_from_a_file(tmp_path: Any) -> None:
    simulation = tg.Simulation(Circuit())
    assert simulation["u_l"] == 10.0
    simulation.advance(0.5)
    assert simulation["u_r"] == pytest.approx(2.0 * current(0.5), rel=1e-5)
    with pytest.raises(tg.UsageError, match="u_r is an algebraic variable"):
        simulation.set({"u_r": 1.0})
    simulation.set({"r": 4.0})
    assert simulation["u_r"] == pytest.approx(4.0 * current(0.5), rel=1e-5)
    again = tg.Simulation.load(simulation.save(tmp_path / "circuit.sim"), Circuit())
    assert again["u_r"] == simulation["u_r"]
    for one in (simulation, again):
        one.advance(1.0)
    assert again["u_r"] == simulation["u_r"]
    # a series begins anew where a run goes on, with the same numbers but for rounding
    assert again.result["u_l"].values == pytest.approx(simulation.result["u_l"].values, rel=1e-13)


def test_tolerances_may_name_it_and_have_to_be_positive() -> None:
    assert tg.simulate(Circuit(), (0.0, 1.0), atol={"u_r": 1e-9, "i": 1e-9}).status == "finished"
    assert tg.simulate(Circuit(), (0.0, 1.0), atol=[1e-9] * 5).status == "finished"
    with pytest.raises(tg.UsageError, match="positive"):
        tg.simulate(Circuit(), (0.0, 1.0), atol={"u_r": -1.0})


def test_what_is_not_finite_is_told_where_nobody_reads_it() -> None:
    model = dae([state, *algebraic("a")], (rate("x"), ZERO - 1.0), (a, sqrt(x)))
    with pytest.warns(tg.NotFiniteWarning, match="the unknown a is nan"):
        result = tg.simulate(model, (0.0, 2.0))
    assert result.final["x"] == pytest.approx(-1.0)


def test_nothing_but_what_follows_from_time_can_be_run() -> None:
    model = dae(algebraic("a", "b"), (a, sin(t)), (b, 2.0 * a))
    result = tg.simulate(model, (0.0, 1.0), outputs=0.25)
    np.testing.assert_allclose(result["b"].values, 2.0 * np.sin(result.t), rtol=1e-14)
    assert result.at(0.4, "a") == pytest.approx(math.sin(0.4), rel=1e-14)


# -- divisors that vanish


def discharge() -> Model:
    """Two capacitors' worth of charge x over p + r, where p may be a short circuit."""
    return dae([state, *algebraic("a", "b"), *fixed], (p * a, b), (r * a, x - b), (rate("x"), -a))


def test_a_divisor_that_vanishes_in_a_run_is_not_divided_by(dae_method: str) -> None:
    run = tg.prepare(discharge(), (0.0, 1.0), method=dae_method, rtol=1e-8)
    for value in (2.0, 0.0, 1.0, 0.0):
        assert run.with_parameters(p=value).run().final["x"] == pytest.approx(math.exp(-1.0 / (value + 3.0)), rel=1e-6)
    model = dae([state, *algebraic("a"), *fixed], (p * a, x), (rate("x"), -a))
    assert solve_explicitly(model).model.form is Form.ODE
    with pytest.warns(tg.StartValueWarning, match="x is not used: it starts at 0"):  # 0 = x
        result = tg.simulate(model, (0.0, 1.0), parameters={"p": 0.0}, method=dae_method)
    assert (result.final["x"], result.final["a"]) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_a_capacity_of_zero_makes_its_state_algebraic(dae_method: str) -> None:
    """r y' = x - 2 y: without a capacity y = x / 2."""
    y = Variable("y", VariableRole.STATE, start=(ZERO + 0.5,), fixed=False)
    model = dae([state, y, *fixed], (rate("x"), -x), (r * rate("y"), x - 2.0 * unknown("y")))
    assert solve_explicitly(model).model.form is Form.ODE
    result = tg.simulate(model, (0.0, 1.0), parameters={"r": 0.0}, method=dae_method, rtol=1e-8)
    assert result.final["y"] == pytest.approx(0.5 * math.exp(-1.0), rel=1e-6)


def test_a_run_under_way_cannot_come_to_a_divisor_of_zero() -> None:
    simulation = tg.Simulation(dae([state, *algebraic("a"), *fixed], (p * a, x), (rate("x"), -a)))
    simulation.advance(0.5)
    with pytest.raises(tg.UsageError, match=r"parameter p is 0, by which `.*` was divided for a"):
        simulation.set({"p": 0.0})
    simulation.set({"p": 1.0})
    simulation.advance(1.0)
    assert simulation["a"] == pytest.approx(simulation["x"], rel=1e-12)


def test_a_saved_run_with_a_vanishing_divisor_goes_on(tmp_path: Any) -> None:
    simulation = tg.Simulation(discharge(), parameters={"p": 0.0})
    simulation.advance(0.5)
    again = tg.Simulation.load(simulation.save(tmp_path / "short.sim"), discharge())
    again.advance(1.0)
    assert again["x"] == pytest.approx(math.exp(-1.0 / 3.0), rel=1e-5)


# -- random systems


class Triangular:
    """Random equations of block lower triangular structure, shuffled: single unknowns, blocks of 2 to 5, linear or nonlinear with one solution.

    The truth is plain Python: blocks one after the other, by Newton. Every state decays by itself: x = exp(-k t).
    """

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.k = [draw.uniform(0.3, 2.0) for _ in range(2)]
        self.blocks: list[tuple[list[str], NDArray[np.float64], list[dict[str, float]], list[float], list[float]]] = []
        known = ["x0", "x1"]
        equations = [Equation(rate(f"x{i}"), -k * unknown(f"x{i}")) for i, k in enumerate(self.k)]
        names: list[str] = []
        for number in range(draw.randint(2, 7)):
            size = draw.choice([1, 1, 2, 3, 5])
            own = [f"z{number}_{i}" for i in range(size)]
            matrix = np.array([[draw.choice([0.0, draw.uniform(-1.0, 1.0)]) for _ in own] for _ in own]) + np.eye(size) * 4.0
            matrix[range(size), [(i + 1) % size for i in range(size)]] += 1.0
            reads = [{name: draw.uniform(-2.0, 2.0) for name in draw.sample(known, min(len(known), 2))} for _ in own]
            cubic = [draw.choice([0.0, 0.0, 0.5]) for _ in own]
            jump = [draw.choice([0.0, 0.0, 1.0]) for _ in own]
            self.blocks.append((own, matrix, reads, cubic, jump))
            for row, several, cube, height in zip(range(size), reads, cubic, jump, strict=True):
                z = unknown(own[row])
                left: Expr = ZERO + 0.0
                for factor, name in zip(matrix[row].tolist(), own, strict=True):
                    left = left + factor * unknown(name) if factor else left
                right: Expr = ZERO + 0.0
                for name, factor in several.items():
                    right = right + factor * unknown(name)
                right = right + height * select(unknown("x0") > 0.5, 1.0, -1.0) if height else right
                equations.append(Equation(left + cube * z * z * z if cube else left, right))
            names += own
            known += own
        draw.shuffle(equations)
        order = ["x0", "x1", *names]
        draw.shuffle(order)
        roles = {name: VariableRole.STATE if name[0] == "x" else VariableRole.ALGEBRAIC for name in order}
        variables = [Variable(name, role, start=(ZERO + float(name[0] == "x"),)) for name, role in roles.items()]
        self.asked = draw.choice(names)
        low = When((Branch((unknown(self.asked) > self.at(0.7, above=True)[self.asked],), (), "passed"),))
        self.names = names
        shown = Definition("shown", 2.0 * unknown(names[-1]))
        self.model = Model(f"random{seed}", Form.DAE, (*variables, Variable("shown", VariableRole.OUTPUT)), tuple(equations), (shown,), whens=(low,))

    def at(self, time: float, *, above: bool | None = None) -> dict[str, float]:
        values = {f"x{i}": math.exp(-k * time) for i, k in enumerate(self.k)}
        side = 1.0 if (values["x0"] > 0.5 if above is None else above) else -1.0
        for own, matrix, reads, cubic, jump in self.blocks:
            right = np.array([sum(f * values[n] for n, f in several.items()) + h * side for several, h in zip(reads, jump, strict=True)])
            z = np.zeros(len(own))
            for _ in range(60):
                residual = matrix @ z + np.array(cubic) * z**3 - right
                z = z - np.linalg.solve(matrix + np.diag(3.0 * np.array(cubic) * z**2), residual)
            values |= dict(zip(own, z.tolist(), strict=True))
        return values


def check(seed: int, method: str) -> None:
    case = Triangular(seed)
    result = tg.simulate(case.model, (0.0, 1.5), method=method, rtol=1e-9, atol=1e-11)
    full = unreduced(case.model, (0.0, 1.5), method=method if method == "ida" else "radau", rtol=1e-9, atol=1e-11)
    crossing = math.log(2.0) / case.k[0]
    assert [e.time for e in result.events] == pytest.approx([e.time for e in full.events], abs=1e-6), seed  # some hundred tolerances of IDA
    assert [e.cause for e in result.events] == [e.cause for e in full.events], seed
    for time in (0.0, 0.31, 0.97, 1.5):
        if abs(time - crossing) < 1e-3:
            continue
        exact, dense = case.at(time), result.at(time)
        for name in case.names:
            # the states are within some hundred tolerances, and what follows from them multiplies that by factors of order ten
            assert float(dense[name]) == pytest.approx(exact[name], rel=1e-5, abs=1e-6), (seed, name, time)
        assert float(dense["shown"]) == pytest.approx(2.0 * exact[case.names[-1]], rel=1e-5, abs=1e-6)
    for event, other in zip(result.events, full.events, strict=True):
        for name in case.names:
            assert event.before[name] == pytest.approx(other.before[name], rel=1e-5, abs=1e-6), (seed, name)
            assert event.after[name] == pytest.approx(other.after[name], rel=1e-5, abs=1e-6), (seed, name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_systems_of_blocks_have_the_solution_of_their_blocks(seed: int) -> None:
    check(seed, "radau")


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(3, 40))
def test_many_random_systems_of_blocks_have_the_solution_of_their_blocks(seed: int) -> None:
    check(seed, "radau" if seed % 3 else "ida")
