"""Unknowns that are others, or their negatives: the system is solved without them, and nobody can tell from the results."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled import compile_model
from tidegate.executive import Options
from tidegate.executive import prepare as prepared
from tidegate.expressions import ZERO, Expr, Role, symbol
from tidegate.model import Assignment, Bound, Branch, Definition, Equation, Form, Model, Variable, VariableRole, When
from tidegate.simulate import compiled_of
from tidegate.structure import eliminate_aliases, reduced


def unknown(name: str) -> Expr:
    return symbol(Role.UNKNOWN, name)


def rate(name: str) -> Expr:
    return symbol(Role.DERIVATIVE, name)


def unreduced(source: Any, t_span: tuple[float, float], **options: Any) -> tg.Result:
    """The run with every unknown solved for."""
    return prepared(compile_model(reduced(source.lower(), [])), t_span, Options(**options), source).run()


def solved_for(source: Any) -> tuple[str, ...]:
    return compiled_of(source).layout.unknowns


def dae(variables: list[Variable], *equations: tuple[Expr | float, Expr | float], **more: Any) -> Model:
    return Model("net", Form.DAE, tuple(variables), tuple(Equation(ZERO + left, ZERO + right) for left, right in equations), **more)


def algebraic(*names: str, **more: Any) -> list[Variable]:
    return [Variable(name, VariableRole.ALGEBRAIC, **more) for name in names]


x, a, b, c, d = (unknown(name) for name in "xabcd")
state = Variable("x", VariableRole.STATE, start=(ZERO + 1.0,))


# -- what is an alias


@pytest.mark.parametrize(("left", "right", "value"), [
    (a, x, x), (x, a, x), (a, -x, -x), (-a, x, -x), (a + x, 0.0, -x), (0.0, x - a, x), (0.0, -(a + x), -x), (-a, -x, x), (a - x, 0.0, x),
])  # fmt: skip
def test_an_equation_of_two_unknowns_and_signs_is_an_alias(left: Expr | float, right: Expr | float, value: Expr) -> None:
    passed = eliminate_aliases(dae([state, *algebraic("a")], (rate("x"), -a), (left, right)))
    assert passed.replaced[a] is value
    assert [variable.name for variable in passed.model.variables] == ["x"]
    assert len(passed.model.equations) == 1


@pytest.mark.parametrize(("left", "right"), [(a, 2.0 * x), (a, x + 1.0), (a, x * x), (a + b, x), (a, symbol(Role.PARAMETER, "p")), (a + a, x)])
def test_anything_else_stays(left: Expr, right: Expr) -> None:
    model = dae([state, *algebraic("a", "b"), Variable("p", VariableRole.PARAMETER)], (rate("x"), -a), (left, right), (b, 3.0 * x))
    assert eliminate_aliases(model).model is model


def test_chains_end_in_the_state_with_the_product_of_the_signs() -> None:
    model = dae([*algebraic("a", "b", "c"), state], (a, -b), (c, -b), (c, x), (rate("x"), a))
    assert eliminate_aliases(model).replaced == {
        a: x, b: -x, c: x, **{symbol(Role.PREVIOUS, n): v for n, v in (("a", symbol(Role.PREVIOUS, "x")), ("c", symbol(Role.PREVIOUS, "x")))},
        symbol(Role.PREVIOUS, "b"): -symbol(Role.PREVIOUS, "x"),
    }  # fmt: skip


def test_of_two_algebraic_unknowns_the_first_stays() -> None:
    model = dae([state, *algebraic("a", "b")], (rate("x"), b), (b, -a), (a, x * x))
    assert [variable.name for variable in eliminate_aliases(model).model.unknowns] == ["x", "a"]


def test_equations_that_say_the_same_twice_are_not_lost() -> None:
    """One of them must go on saying that the system is singular."""
    model = dae([state, *algebraic("a", "b")], (rate("x"), b), (b, -a), (a, -b))
    assert len(eliminate_aliases(model).model.equations) == 2
    with pytest.raises(tg.RunError, match="do not determine a"):
        tg.simulate(model, (0.0, 1.0))


def test_a_contradiction_of_signs_determines_the_value() -> None:
    model = dae([state, *algebraic("a", "b")], (rate("x"), b), (b, -a), (a, b))
    assert tg.simulate(model, (0.0, 1.0)).final == {"x": 1.0, "a": 0.0, "b": 0.0}


def test_what_a_clause_gives_a_value_stays() -> None:
    when = When((Branch((symbol(Role.TIME, "time") > 0.5,), (Assignment(a, ZERO + 2.0),)),))
    model = dae([state, *algebraic("a", "b")], (rate("x"), b), (b, -a), (a * a, x + 1.0), whens=(when,))
    assert [variable.name for variable in eliminate_aliases(model).model.unknowns] == ["x", "a"]
    both = dae([state, *algebraic("a")], (rate("x"), -a), (a, x), whens=(When((Branch((x < 0.5,), (Assignment(a, ZERO),)),)),))
    assert eliminate_aliases(both).model is both


def test_what_must_start_exactly_stays() -> None:
    model = dae([state, *algebraic("a", fixed=True)], (rate("x"), -a), (a, x))
    assert eliminate_aliases(model).model is model


def test_elements_of_arrays_are_looked_at_one_by_one() -> None:
    z = [unknown(f"z[{k}]") for k in range(3)]
    variables = [state, Variable("z", VariableRole.ALGEBRAIC, (3,), unit="m", start=(ZERO + 1.0, ZERO + 2.0, ZERO + 3.0))]
    model = dae(variables, (rate("x"), -z[0] - z[2]), (z[0], x), (z[1] * z[1], x + 4.0), (z[2], -z[1]))
    assert [(v.name, [s.value for s in v.start]) for v in eliminate_aliases(model).model.unknowns] == [("x", [1.0]), ("z[1]", [2.0])]
    result = tg.simulate(model, (0.0, 1.0), rtol=1e-8)
    assert result["z"].shape == (result.t.size, 3)
    np.testing.assert_allclose(result["z"].values[:, 2], -np.sqrt(result["x"].values + 4.0), rtol=1e-7)  # Newton's tolerance at the rows
    np.testing.assert_array_equal(result["z"].values[:, 0], result["x"].values)
    assert result["z"].attrs["units"] == "m"


# -- what the one that stays takes over


def test_the_guess_that_somebody_gave_is_kept_and_leads_to_the_same_solution() -> None:
    for guess, solution in ((3.0, 2.0), (-3.0, -2.0)):
        given = Variable("b", VariableRole.ALGEBRAIC, start=(ZERO + guess,))
        model = dae([state, *algebraic("a"), given], (rate("x"), -x), (a, -b), (b * b, 4.0))
        assert solved_for(model) == ("x", "a")
        assert tg.simulate(model, (0.0, 1.0)).final["b"] == pytest.approx(solution, rel=1e-9)


def test_the_smallest_nominal_size_and_the_smallest_tolerance_count() -> None:
    variables = [state, *algebraic("a", nominal=5.0), *algebraic("b", nominal=1e-3), *algebraic("c")]
    model = dae(variables, (rate("x"), -x), (a, -b), (c, a), (a * a, x + 4.0))
    compiled = compiled_of(model)
    assert compiled.layout.unknowns == ("x", "a")
    assert compiled.nominal.tolist() == [0.0, 1e-3]

    def tolerances(atol: Any) -> list[float]:
        return prepared(compiled, (0.0, 1.0), Options(atol=atol), model).problem.atol.tolist()

    assert tolerances(None) == pytest.approx([1e-8, 1e-11])
    assert tolerances(1e-5) == [1e-5, 1e-5]
    assert tolerances({"b": 1e-12}) == pytest.approx([1e-8, 1e-12])
    assert tolerances({"a": 1e-3, "b": 1e-4, "c": 1e-2}) == pytest.approx([1e-8, 1e-4])
    assert tolerances([1e-1, 1e-2, 1e-3, 1e-4]) == [1e-1, 1e-4]
    for wrong in ({"b": math.nan}, {"b": -1.0}, [1.0, 1.0, math.nan, 1.0]):
        with pytest.raises(tg.UsageError, match="positive everywhere"):
            tolerances(wrong)
    with pytest.raises(tg.UsageError, match="4 unknowns"):
        tolerances([1e-1, 1e-2])


# -- what the user sees


class Loop(tg.Component):
    """A coil on a source, as connections of parts write it down."""

    i = tg.State(0.0, unit="A")
    i_r = tg.Algebraic(0.0, unit="A", description="through the resistor")
    i_s = tg.Algebraic(0.0, unit="A", description="into the source")
    u_r = tg.Algebraic(0.0, unit="V")
    u = tg.Parameter(10.0, unit="V")
    r = tg.Parameter(2.0, unit="V/A")
    inductance = tg.Parameter(0.5, unit="V*s/A")
    passed = tg.Discrete(0)
    seen = tg.Discrete(0.0, unit="A")
    power = tg.Output(unit="V*A")

    def equations(self):
        yield self.i_r == self.i
        yield self.i_s + self.i_r == 0
        yield self.u_r == self.r * self.i_r
        yield self.inductance * tg.der(self.i) == self.u - self.u_r
        yield self.power == self.u * self.i_s

    @tg.when(lambda self: self.i_s < -3.0)
    def three(self):
        return {self.passed: self.passed + 1, self.seen: tg.pre(self.i_s)}

    @tg.finally_
    def cut(self):
        return {self.i: 0.5 * self.i_r}


def current(t: float) -> float:
    return 5.0 * (1.0 - math.exp(-4.0 * t))


@pytest.mark.slow
def test_results_events_and_derivatives_have_every_name(dae_method: str) -> None:
    assert solved_for(Loop()) == ("i",)
    result = tg.simulate(Loop(), (0.0, 1.0), sensitivities=["r"], method=dae_method, rtol=1e-8)
    assert result["i_s"].attrs == {"role": "unknown", "units": "A", "long_name": "into the source"}
    crossing, last = result.events
    assert crossing.time == pytest.approx(-math.log(0.4) / 4.0, abs=1e-6)  # a few tolerances
    assert crossing.cause == "three, i_s < -3"
    assert set(crossing.before) == {"i", "i_r", "i_s", "u_r", "passed", "seen"}
    assert crossing.before["i_s"] == -crossing.before["i_r"] == -crossing.before["i"]
    assert result.final["seen"] == pytest.approx(-3.0, abs=1e-6)
    assert last.before["i_r"] == pytest.approx(current(1.0), rel=1e-6)
    assert last.after["i_s"] == -last.after["i"] == pytest.approx(-0.5 * current(1.0), rel=1e-6)
    slope = result.sensitivity("i", "r").values
    np.testing.assert_array_equal(result.sensitivity("i_r", "r").values, slope)
    np.testing.assert_array_equal(result.sensitivity("i_s", "r").values, -slope)
    # d/dr of u/r (1 - exp(-r t / L)) at t = 1; the last row is after the halving
    exact = -10.0 / 4.0 * (1.0 - math.exp(-4.0)) + 5.0 * 2.0 * math.exp(-4.0)
    assert slope[-2] == pytest.approx(exact, rel=1e-5)
    assert slope[-1] == pytest.approx(0.5 * exact, rel=1e-5)
    dense = result.at([0.1, 0.7])
    assert dense["i_s"].values == pytest.approx([-current(0.1), -current(0.7)], rel=1e-6)
    assert dense["power"].values == pytest.approx([-10 * current(0.1), -10 * current(0.7)], rel=1e-6)
    assert tg.verify(result).ok


@pytest.mark.slow
def test_stored_results_have_every_name(tmp_path: Any) -> None:
    result = tg.simulate(Loop(), (0.0, 1.0))
    for name in ("loop.nc", "loop.csv"):
        again = tg.Result.load(result.save(tmp_path / name))
        np.testing.assert_array_equal(again["i_s"].values, result["i_s"].values)


def test_a_simulation_reads_every_name_and_lets_none_be_set() -> None:
    simulation = tg.Simulation(Loop())
    assert simulation["i_s"] == 0.0
    assert math.copysign(1.0, simulation["i_s"]) == 1.0  # no zero is shown as -0
    simulation.advance(0.5)
    assert simulation["i_s"] == -simulation["i"] == pytest.approx(-current(0.5), rel=1e-5)
    for name in ("i_r", "i_s", "u_r"):
        with pytest.raises(tg.UsageError, match=f"{name} is an algebraic variable"):
            simulation.set({name: 1.0})
    simulation.set({"i": 1.0})
    assert simulation["i_s"] == -1.0


def test_a_saved_simulation_goes_on(tmp_path: Any) -> None:
    simulation = tg.Simulation(Loop())
    simulation.advance(0.5)
    again = tg.Simulation.load(simulation.save(tmp_path / "loop.sim"), Loop())
    again.advance(1.0)
    assert again["i_s"] == pytest.approx(-current(1.0), rel=1e-5)


def test_what_only_connections_made_algebraic_is_for_methods_of_differential_equations_too(method: str) -> None:
    model = dae([state, *algebraic("a", "b")], (rate("x"), b), (a + x, 0.0), (b, a))
    assert tg.simulate(model, (0.0, 1.0), method=method, rtol=1e-8).final["b"] == pytest.approx(-math.exp(-1.0), rel=1e-5)  # steps add up


def test_failures_speak_of_the_equations_as_they_were_written() -> None:
    class Root(tg.Component):
        level = tg.State(1.0)
        seen = tg.Algebraic(0.0)

        def equations(self):
            yield self.seen == self.level
            yield tg.der(self.level) == -1.0 - np.sqrt(self.seen) * 0.0001

    with pytest.raises(tg.RunError) as caught:
        tg.simulate(Root(), (0.0, 2.0))
    assert "np.sqrt(self.seen)" in str(caught.value)


def test_start_values_out_of_their_limits_are_refused_all_the_same() -> None:
    limited = Variable("a", VariableRole.ALGEBRAIC, start=(symbol(Role.PARAMETER, "p"),), minimum=Bound(0.0))
    parameter = Variable("p", VariableRole.PARAMETER, start=(ZERO + 1.0,))
    model = dae([state, limited, parameter], (rate("x"), -a), (a, x))
    with pytest.raises(tg.UsageError, match="algebraic a: its start value -1"):
        tg.simulate(model, (0.0, 1.0), parameters={"p": -1.0})


# -- random models with a closed form


class Random:
    """Independent decays, a square of each, and under many names both of them; one decay is reset where one of its names falls to a threshold.

    Of every state x = s exp(-k t), behind its reset (w + j) / w times that, where w is the threshold and j what is added.
    """

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.n = draw.randint(1, 3)
        self.start, self.k = [draw.uniform(1.0, 3.0) for _ in range(self.n)], [draw.uniform(0.5, 2.0) for _ in range(self.n)]
        self.sign: dict[str, tuple[float, str]] = {}
        variables = [Variable(f"x{i}", VariableRole.STATE, start=(ZERO + self.start[i],)) for i in range(self.n)] + [
            Variable(f"k{i}", VariableRole.PARAMETER, start=(ZERO + self.k[i],)) for i in range(self.n)
        ]
        equations: list[Equation] = []
        for i in range(self.n):
            group = [f"x{i}"]
            variables += self._names(draw, group, f"x{i}", equations)
            square = [f"q{i}"]
            variables += algebraic(f"q{i}", start=(ZERO + 1.0,))
            self.sign[f"q{i}"] = (1.0, f"q{i}")
            more = self._names(draw, square, f"q{i}", equations)
            variables += more
            one, other, of_square = draw.choice(group), draw.choice(group), draw.choice(square)
            k = symbol(Role.PARAMETER, f"k{i}")
            equations.append(Equation(rate(f"x{i}"), -k * self._as(one)))
            equations.append(Equation(self._as(of_square), self._as(one) * self._as(other)))
        draw.shuffle(variables)
        draw.shuffle(equations)
        self.lowest, self.more = draw.uniform(0.5, 0.9) * self.start[0], draw.uniform(0.2, 1.0)
        asked = draw.choice([name for name, (_, of) in self.sign.items() if of == "x0"])
        read = draw.choice([name for name, (_, of) in self.sign.items() if of == "x0"])
        reset = Assignment(unknown("x0"), self._as(read) + self.more)
        counted = Assignment(symbol(Role.DISCRETE, "seen"), symbol(Role.PREVIOUS, read) * self.sign[read][0])
        condition = (self._as(asked) < self.lowest) & (symbol(Role.DISCRETE, "seen") < 0.0)
        when = When((Branch((condition,), (reset, counted), "fallen"),))
        shown = draw.choice([*self.sign])
        self.model = Model(
            f"random{seed}",
            Form.DAE,
            (*variables, Variable("seen", VariableRole.DISCRETE, start=(ZERO - 1.0,)), Variable("twice", VariableRole.OUTPUT)),
            tuple(equations),
            (Definition("twice", 2.0 * self._as(shown)),),
            whens=(when,),
        )

    def _as(self, name: str) -> Expr:
        """What the name stands for, in terms of it."""
        return unknown(name) if self.sign[name][0] > 0 else -unknown(name)

    def _names(self, draw: random.Random, group: list[str], first: str, equations: list[Equation]) -> list[Variable]:
        self.sign.setdefault(first, (1.0, first))
        for k in range(draw.randint(0, 4)):
            name, known, sign = f"{first}_{k}", draw.choice(group), draw.choice([1.0, -1.0])
            new, old = unknown(name), unknown(known)
            value = old if sign > 0 else -old
            sides = [(new, value), (value, new), (new - value, ZERO), (ZERO, value - new), (-new, -value)]
            equations.append(Equation(*draw.choice(sides)))
            self.sign[name] = (sign * self.sign[known][0], first)
            group.append(name)
        return algebraic(*group[1:])

    def exact(self, name: str, t: float) -> float:
        """The value at a time behind the reset."""
        sign, first = self.sign[name]
        i = int(first[1:])
        value = self.start[i] * math.exp(-self.k[i] * t) * ((self.lowest + self.more) / self.lowest if i == 0 else 1.0)
        return sign * (value if first[0] == "x" else value * value)

    def slope(self, name: str, t: float) -> float:
        """Its derivative by its own k."""
        return -t * self.exact(name, t) * (1.0 if self.sign[name][1][0] == "x" else 2.0)


def check(seed: int, method: str) -> None:
    case = Random(seed)
    t, end = -math.log(case.lowest / case.start[0]) / case.k[0], 2.0
    names = [name for name in case.sign if name[0] in "xq"]
    options: dict[str, Any] = {"sensitivities": "all", "method": method, "rtol": 1e-8, "atol": 1e-10}
    result, full = tg.simulate(case.model, (0.0, end), **options), unreduced(case.model, (0.0, end), **options)
    assert len(solved_for(case.model)) == case.n
    for run in (result, full):
        assert [column.name for column in run.columns] == [column.name for column in full.columns]
        assert [event.time for event in run.events] == [pytest.approx(t, abs=1e-6)]
        assert run.events[0].cause == full.events[0].cause
        assert run.final["seen"] == pytest.approx(case.lowest, abs=1e-6)
        for name in names:
            # rtol adds up over some hundred steps of a multistep method, and the derivatives by half as many digits
            assert run.final[name] == pytest.approx(case.exact(name, end), rel=2e-5), (seed, name)
            own = f"k{case.sign[name][1][1:]}"
            assert run.sensitivity(name, own).values[-1] == pytest.approx(case.slope(name, end), rel=2e-4), (seed, name)
            assert run.events[0].after[name] == pytest.approx(case.exact(name, t), rel=2e-5)
            assert float(run.at(1.9 * end / 2.0, name)) == pytest.approx(case.exact(name, 1.9 * end / 2.0), rel=2e-5)
    assert tg.verify(result).ok


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_models_with_aliases_keep_their_closed_form(seed: int, dae_method: str) -> None:
    check(seed, dae_method)


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(2, 16))
def test_many_random_models_with_aliases_keep_their_closed_form(seed: int) -> None:
    check(seed, "radau" if seed % 4 else "ida")
