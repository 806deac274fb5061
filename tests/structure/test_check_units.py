"""Units that contradict each other are refused with the place and the missing factor; what nobody told is held against nobody."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate as tg
from tidegate.errors import UnitError
from tidegate.expressions import Expr, Role, symbol
from tidegate.expressions import elementary as f
from tidegate.model import Definition, Equation, Form, Model, Variable, VariableRole
from tidegate.structure import check_units

UNITS = {
    "x": "m", "y": "m", "z": "mm", "w": "m/s", "t0": "s", "hour": "h", "mass": "kg", "force": "N", "spring": "N/m", "angle": "deg", "rad": "rad",
    "turns": "rev", "share": "%", "ratio": "1", "warm": "degC", "cold": "degC", "abs": "K", "loss": "kW/K", "heat": "kW", "work": "J", "free": "",
    "yards": "yd", "feet": "ft", "fahr": "degF", "freq": "Hz", "omega": "rad/s",
}  # fmt: skip
PARAMETERS = {name: symbol(Role.PARAMETER, name) for name in UNITS}


def model_of(left: Any, right: Any, *, time_unit: str = "", check: bool = True, unit: str = "m") -> Model:
    """A model with one equation; its state is called state."""
    variables = [Variable(name, VariableRole.PARAMETER, unit=unit) for name, unit in UNITS.items()]
    variables.append(Variable("state", VariableRole.STATE, unit=unit))
    zero = symbol(Role.PARAMETER, "free") * 0.0
    return Model("lab", Form.DAE, tuple(variables), (Equation(zero + left, zero + right, label="law"),), time_unit=time_unit, check_units=check)


def problems(left: Any, right: Any = 0.0, **keywords: Any) -> str:
    """What is said of an equation; empty if it is accepted."""
    try:
        check_units(model_of(left, right, **keywords))
    except UnitError as error:
        return error.message
    return ""


P = PARAMETERS
TIME = symbol(Role.TIME, "time")
RATE = symbol(Role.DERIVATIVE, "state")

FITS: list[Callable[[], tuple[Any, Any]]] = [
    lambda: (P["force"], P["spring"] * P["x"]),
    lambda: (P["work"], 0.5 * P["mass"] * P["w"] ** 2 + P["force"] * P["x"]),
    lambda: (P["work"], P["free"] * P["x"]),
    lambda: (P["x"], 9.81),
    lambda: (P["w"] / P["t0"], 9.81 * f.sin(P["rad"])),
    lambda: (P["x"], 2.0 * f.sin(P["omega"] * TIME)),
    lambda: (f.sin(2 * math.pi * TIME), P["ratio"]),
    lambda: (f.exp(-TIME / P["t0"]), f.sin(TIME)),
    lambda: (P["force"] * (1 - TIME / 5), P["force"]),
    lambda: (f.sqrt(P["x"] ** 2 + P["y"] ** 2), P["x"]),
    lambda: (f.hypot(P["x"], P["y"]), P["x"]),
    lambda: (f.cbrt(P["x"] ** 3), P["x"]),
    lambda: (P["x"] ** 1.5 / P["x"] ** 0.5, P["y"]),
    lambda: (f.atan2(P["x"], P["y"]), P["rad"]),
    lambda: (abs(P["x"]) + f.minimum(P["x"], P["y"]) + f.clip(P["x"], 0.0, 1.0), P["y"]),
    lambda: (f.sign(P["x"]) * P["force"], P["force"]),
    lambda: (P["x"] % P["y"] + f.floor(P["x"]), P["y"]),
    lambda: (f.where(P["t0"] > TIME, P["x"], 1.0), P["y"]),
    lambda: (2.0 ** (P["x"] / P["y"]), P["ratio"]),
    lambda: (P["ratio"] ** P["free"] + P["x"] ** P["free"], P["ratio"]),
    lambda: (f.interp(P["x"], [0.0, 1.0, 2.0], [5.0, 6.0, 9.0]), P["force"]),
    # a missing factor, once it is there
    lambda: (P["z"], 1000.0 * P["x"]),
    lambda: (P["z"], P["x"] / 1e-3),
    lambda: (P["hour"], P["t0"] / 3600.0),
    lambda: (P["feet"], 3.0 * P["yards"]),
    lambda: (P["yards"], P["feet"] / 3.0),
    lambda: (f.sin(f.radians(P["angle"])), P["ratio"]),
    lambda: (f.sin(2 * math.pi * P["turns"]), P["ratio"]),
    lambda: (P["force"] * P["share"] / 100.0, P["force"]),
    lambda: (f.degrees(f.asin(P["ratio"])), P["angle"]),
    # temperatures
    lambda: (P["heat"], P["loss"] * (P["warm"] - P["cold"])),
    lambda: (P["heat"], P["loss"] * (P["warm"] - P["abs"])),
    lambda: (P["heat"], P["loss"] * P["warm"]),
    lambda: (P["warm"], 0.5 * (P["warm"] + P["cold"])),
    lambda: (P["warm"], P["abs"] - 273.15),
    lambda: (P["abs"], P["warm"] + 273.15),
    lambda: (P["fahr"], 1.8 * P["warm"] + 32.0),
    lambda: (P["warm"], P["cold"] + (P["abs"] - P["abs"] / 2)),
    lambda: (0.0, f.where(P["warm"] > 20.0, P["warm"], P["cold"])),
]

CONTRADICTIONS: list[tuple[Callable[[], tuple[Any, Any]], list[str]]] = [
    (
        lambda: (P["force"], P["mass"]),
        ["`force` is in N", "`mass` is in kg", "both sides must be the same", "a factor in m/s^2 is missing from `mass`"],
    ),
    (lambda: (P["x"] + P["t0"], P["x"]), ["`x` is in m", "`t0` is in s", "added or compared", "m/s is missing"]),
    (lambda: (P["x"] + P["z"], P["x"]), ["`x` is in m", "`z` is in mm", "multiply `z` by 0.001"]),
    (lambda: (P["x"], f.where(P["x"] > P["t0"], 1.0, 2.0)), ["`x` is in m", "`t0` is in s"]),
    (lambda: (P["x"], f.where(P["x"] > 1.0, P["force"], P["mass"])), ["`force` is in N", "`mass` is in kg", "either may be taken"]),
    (lambda: (f.maximum(P["x"], P["t0"]), P["free"]), ["`x` is in m", "`t0` is in s"]),
    (lambda: (f.exp(P["x"]), P["ratio"]), ["argument of exp must be a pure number", "`x` is in m", "divide it by a quantity in m"]),
    (lambda: (f.sin(P["angle"]), P["ratio"]), ["argument of sin", "`angle` is in deg", "np.deg2rad(angle)"]),
    (lambda: (f.sin(2 * P["angle"]), P["ratio"]), ["argument of sin", "is in deg"]),
    (lambda: (f.log(P["share"]), P["ratio"]), ["argument of log", "`share` is in %", "multiply it by 0.01"]),
    (lambda: (f.exp(TIME / P["hour"]), P["ratio"]), ["argument of exp", "`time/hour`"]),
    (lambda: (P["ratio"] ** P["x"], P["ratio"]), ["exponent of `ratio` must be a pure number", "`x` is in m"]),
    (lambda: (f.atan2(P["x"], P["t0"]), P["rad"]), ["arguments of atan2", "`t0` is in s"]),
    (lambda: (f.sqrt(P["x"]), P["x"]), ["`sqrt(x)` is in m^(1/2)", "`x` is in m"]),
    (lambda: (P["x"], f.sin(P["rad"])), ["`x` is in m", "`sin(rad)` has no unit"]),
    (lambda: (2.0 * P["x"], P["force"]), ["`2*x` is in m", "`force` is in N"]),
    (lambda: (2.0 * P["x"], P["z"]), ["`2*x` is in m", "`z` is in mm", "0.001"]),
    (lambda: (P["t0"] % P["hour"], P["t0"]), ["how often one goes into the other", "`hour` is in h"]),
    (lambda: (P["warm"], P["abs"]), ["`warm` is in degC", "another zero", "273.15"]),
    (lambda: (P["warm"], P["warm"] - P["cold"]), ["`warm - cold` is in K", "another zero"]),
    (lambda: (P["warm"], P["warm"] + P["cold"]), ["another zero"]),
    (lambda: (0.0, P["warm"] - P["abs"]), ["another zero"]),
    (lambda: (f.where(P["warm"] > P["abs"], 1.0, 2.0), P["free"]), ["another zero", "what is compared"]),
    (lambda: (P["fahr"], P["warm"]), ["`fahr` is in degF", "`warm` is in degC", "1.8"]),
    (lambda: (RATE, P["x"]), ["`der(state)` is in m/s", "`x` is in m", "a factor in 1/s"]),
]


@pytest.mark.parametrize("sides", FITS)
def test_equations_whose_units_fit_or_are_not_told_pass(sides: Callable[[], tuple[Any, Any]]) -> None:
    assert problems(*sides()) == ""


@pytest.mark.parametrize(("sides", "words"), CONTRADICTIONS)
def test_a_contradiction_names_both_sides_their_units_and_what_is_missing(sides: Callable[[], tuple[Any, Any]], words: list[str]) -> None:
    said = problems(*sides())
    assert "equation 1 (law): " in said
    assert [word for word in words if word not in said] == [], said


def test_the_offered_factor_is_accepted() -> None:
    said = problems(P["z"], P["x"])
    factor = float(said.rpartition(" by ")[2])
    assert problems(P["z"], factor * P["x"]) == ""


# -- time


def test_derivatives_are_per_second_unless_the_model_says_otherwise() -> None:
    assert problems(RATE, P["x"] / P["t0"]) == ""
    said = problems(RATE, P["x"] / P["hour"])
    assert 'units={"time": "h"}' in said
    assert 'time_unit = "h"' in said
    assert problems(RATE, P["x"] / P["hour"], time_unit="h") == ""
    assert "multiply `x/t0` by 3600" in problems(RATE, P["x"] / P["t0"], time_unit="h")


def test_a_clock_runs_in_the_unit_of_time() -> None:
    class Clock(tg.Component):
        x = tg.State(0.0)
        period = tg.Parameter(0.25, unit="h")

        def equations(self):
            yield tg.der(self.x) == 1.0

        @tg.every(lambda self: self.period)
        def tick(self):
            return {self.x: 0.0}

    class Hours(Clock):
        time_unit = "h"

    with pytest.raises(UnitError, match=r"the time of tick .*`period` is in h"):
        check_units(Clock().lower())
    check_units(Hours().lower())


@pytest.mark.parametrize(("unit", "said"), [("m", "measures m"), ("fortnight", "'fortnight' .* is not known")])
def test_a_unit_of_time_that_is_none_is_refused(unit: str, said: str) -> None:
    with pytest.raises(tg.InvalidModelError, match=said):
        tg.simulate(tg.ode(lambda t, y: [-y[0]], y0=[1.0], units={"time": unit}), (0, 1))


# -- everything that holds expressions


class Tank(tg.Component):
    level = tg.State(lambda self: self.area, unit="m")
    area = tg.Parameter(2.0, unit="m^2")
    twice = tg.Parameter(lambda self: 2 * self.area, unit="m")
    inflow = tg.Parameter(0.1, unit="m/s")
    last = tg.Discrete(0.0, unit="min")
    volume = tg.Output(lambda self: self.level * self.inflow, unit="m^3")

    def equations(self):
        yield tg.der(self.level) == self.inflow

    @tg.initially
    def begin(self):
        return {self.level: self.area}

    @tg.when(lambda self: self.level > self.area)
    def full(self):
        return {self.level: self.inflow, self.last: tg.time}


def test_start_values_outputs_conditions_and_new_values_are_looked_at_and_told_all_at_once() -> None:
    with pytest.raises(UnitError) as caught:
        check_units(Tank().lower())
    found = caught.value.message
    for place in (
        "the start value of level", "the value of twice", "the definition of volume", "the condition of full", "the new value of level in full",
        "the new value of last in full", "the new value of level in the initial actions",
    ):  # fmt: skip
        assert place in found
    assert "equation 1" not in found
    assert "test_check_units.py:" in found
    assert "check_units=False" in caught.value.hint


def test_the_check_can_be_switched_off() -> None:
    class Trusted(Tank):
        check_units = False

    check_units(Trusted().lower())
    assert problems(P["force"], P["mass"], check=False) == ""

    def fall(t, y, p):
        return [y["v"], y["h"] * p["g"]]

    described: dict[str, Any] = {"y0": {"h": 1.0, "v": 0.0}, "p": {"g": 9.81}, "units": {"h": "m", "v": "m/s", "g": "m/s^2"}}
    with pytest.raises(UnitError, match=r"der\(v\)"):
        tg.simulate(tg.ode(fall, **described), (0, 1))
    assert tg.simulate(tg.ode(fall, **described, check_units=False), (0, 0.1)).success
    assert not tg.dae(lambda t, y, ydot: [ydot[0] - y[0]], y0=[1.0], check_units=False).lower().check_units


def test_a_model_without_units_is_not_looked_at() -> None:
    state = Variable("x", VariableRole.STATE)
    check_units(Model("bare", Form.DAE, (state,), (Equation(*2 * state.symbols()),)))


def test_array_elements_share_the_unit_and_a_long_list_is_cut() -> None:
    def chain(t, y):
        return [*(y["x"][k] for k in range(20))]

    with pytest.raises(UnitError, match="and 12 more"):
        check_units(tg.ode(chain, y0={"x": np.ones(20)}, units={"x": "m"}).lower())


def test_a_shared_subexpression_is_told_once() -> None:
    wrong = P["x"] + P["t0"]
    variables = model_of(0.0, 0.0).variables
    equations = (Equation(wrong, P["x"]), Equation(wrong * P["free"], P["x"]))
    with pytest.raises(UnitError) as caught:
        check_units(Model("lab", Form.DAE, variables, equations))
    assert caught.value.message.count("`t0`") == 2  # the unit, and the factor, of one sentence


def test_a_deep_graph_of_shared_nodes_is_done_at_once() -> None:
    # 2^300 paths lead through it; only a check that looks at each node once returns
    item: Expr = P["x"]
    for _ in range(300):
        item = f.where(item > 1.0, item + P["y"], item - P["y"] / 3)
    assert problems(item, P["x"]) == ""
    assert "`mass` is in kg" in problems(item, P["mass"])


def test_hundreds_of_written_factors_are_no_overflow() -> None:
    item: Expr = P["x"]
    for _ in range(900):
        item = item / 9.0
    assert problems(item, P["x"]) == ""
    assert problems(1.0 / item, 1.0 / P["x"]) == ""


def test_units_beyond_all_numbers_are_no_overflow() -> None:
    assert problems(P["x"] / P["z"] ** 60 / P["z"] ** 60, P["x"] ** 400) == ""


# -- laws, on random expressions built to be consistent

BASE = ["m", "kg", "s", "K", "mm", "kJ"]


def unless_zero(result: Expr, otherwise: Expr) -> Expr:
    """A sum, unless simplification left a zero, as of ``x - x``, which has no unit."""
    return otherwise if result.is_constant else result


def consistent(draw: Callable[[Any], Any], unit: str, depth: int) -> Expr:
    """A random expression in this unit."""
    leaf = symbol(Role.PARAMETER, f"{unit} {draw(st.integers(0, 2))}")
    if not depth:
        return leaf
    other = draw(st.sampled_from(BASE))
    pair = [consistent(draw, unit, depth - 1) for _ in range(2)]
    make = {
        "sum": lambda: unless_zero(pair[0] + pair[1], leaf),
        "difference": lambda: unless_zero(pair[0] - pair[1], leaf),
        "detour": lambda: pair[0] * consistent(draw, other, depth - 1) / consistent(draw, other, depth - 1),
        "root": lambda: f.sqrt(pair[0] * pair[1]),
        "factor": lambda: draw(st.sampled_from([2.0, 0.5, -1.0, 4 * math.pi / 3])) * pair[0],
        "choice": lambda: f.where(consistent(draw, other, depth - 1) > 1.0, pair[0], pair[1]),
        "function": lambda: pair[0] * f.cos(consistent(draw, other, 0) / symbol(Role.PARAMETER, f"{other} 0")),
        "number": lambda: pair[0] + 9.81,
    }
    return make[draw(st.sampled_from(sorted(make)))]()


@st.composite
def expressions(draw: st.DrawFn) -> tuple[str, Expr]:
    unit = draw(st.sampled_from(BASE))
    return unit, consistent(draw, unit, draw(st.integers(0, 4)))


def lab(right: Expr, unit: str) -> Model:
    variables = [Variable(f"{base} {k}", VariableRole.PARAMETER, unit=base) for base in BASE for k in range(3)]
    variables.append(Variable("out", VariableRole.OUTPUT, unit=unit))
    return Model("lab", Form.DAE, tuple(variables), definitions=(Definition("out", right),))


@pytest.mark.slow
@given(expressions())
def test_expressions_that_are_built_to_be_consistent_pass(made: tuple[str, Expr]) -> None:
    unit, expression = made
    check_units(lab(expression, unit))


@pytest.mark.slow
@given(expressions(), st.sampled_from(BASE), st.data())
def test_one_addend_times_a_unit_is_refused(made: tuple[str, Expr], other: str, data: st.DataObject) -> None:
    unit, expression = made
    second = consistent(data.draw, unit, 2)
    with pytest.raises(UnitError):
        check_units(lab(expression + second * symbol(Role.PARAMETER, f"{other} 1"), unit))


@pytest.mark.slow
@given(expressions())
def test_a_result_in_another_scale_is_refused_and_the_factor_named(made: tuple[str, Expr]) -> None:
    unit, expression = made
    with pytest.raises(UnitError, match=r"multiply `.*` by 0\.001"):
        check_units(lab(expression, f"1000 {unit}"))
