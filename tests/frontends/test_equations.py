"""Plain functions become models whose equations, evaluated, are what the functions compute."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate as tg
from tidegate.expressions import ZERO, Expr, Role, evaluate, symbol
from tidegate.frontends.equations import dae, event, ode, opaque
from tidegate.model import Assignment, Form, Lowerable, Model, Terminate, VariableRole
from tidegate.model.validate import validate

__all__: list[str] = []

TIME = symbol(Role.TIME, "time")


def state(name: str) -> Expr:
    return symbol(Role.UNKNOWN, name)


def derivative(name: str) -> Expr:
    return symbol(Role.DERIVATIVE, name)


def parameter(name: str) -> Expr:
    return symbol(Role.PARAMETER, name)


def point(model: Model, t: float, y: list[float], ydot: list[float] | None = None) -> dict[Expr, float]:
    """Values of all symbols: the parameters have theirs."""
    values = {TIME: t}
    for variable in model.parameters:
        values.update(zip(variable.symbols(), evaluate(variable.starts(), {}), strict=True))
    names = [name for variable in model.unknowns for name in variable.names]
    values.update(zip(map(state, names), y, strict=True))
    values.update(zip(map(derivative, names), ydot or [0.0] * len(names), strict=True))
    return values


def right_sides(model: Model, t: float, y: list[float], ydot: list[float] | None = None) -> list[float]:
    return evaluate([equation.right for equation in model.equations], point(model, t, y, ydot))


def tank(t, y, p):
    (level,) = y
    outflow = p["k"] * (level - 1.0) if level > 1.0 else 0.0
    return [p["inflow"] - outflow]


@pytest.mark.slow
@given(st.floats(-3, 3))
def test_an_ode_s_equations_have_the_function_s_values(level):
    model = ode(tank, y0={"level": 0.0}, p={"inflow": 0.2, "k": 3.0}).lower()
    assert right_sides(model, 0.0, [level]) == tank(0.0, [level], {"inflow": 0.2, "k": 3.0})


def test_an_ode_is_lowerable_and_lowers_once():
    described = ode(tank, y0={"level": 0.0}, p={"inflow": 0.2, "k": 3.0})
    assert isinstance(described, Lowerable)
    assert described.lower() is described.lower()
    assert "tank" in repr(described)


def test_an_ode_has_states_parameters_and_their_origins():
    model = ode(tank, y0={"level": 0.5}, p={"inflow": 0.2, "k": 3.0}, units={"level": "m", "k": "1/s"}, name="reservoir").lower()
    validate(model)
    assert (model.name, model.form) == ("reservoir", Form.ODE)
    assert [(item.name, item.role, item.unit) for item in model.variables] == [
        ("level", VariableRole.STATE, "m"),
        ("inflow", VariableRole.PARAMETER, ""),
        ("k", VariableRole.PARAMETER, "1/s"),
    ]
    (equation,) = model.equations
    assert equation.left is derivative("level")
    assert equation.label == "der(level)"
    assert equation.origin.line == tank.__code__.co_firstlineno + 3
    (condition,) = model.condition_origins
    assert condition is (state("level") > 1.0)
    assert model.condition_origins[condition].text == "level > 1.0"
    assert model.origin.text == "def tank(t, y, p):"


MATRIX = np.array([[0.0, 1.0], [-2.0, -0.1]])


@pytest.mark.parametrize(
    ("function", "y0", "names"),
    [
        (lambda t, y: MATRIX @ y, [1.0, 2.0], ["y[0]", "y[1]"]),
        (lambda t, y: tuple(MATRIX @ y), (1.0, 2.0), ["y[0]", "y[1]"]),
        (lambda t, y: (MATRIX @ y).tolist(), np.array([1.0, 2.0]), ["y[0]", "y[1]"]),
        (lambda t, y: MATRIX @ y, {"x": 1.0, "v": 2.0}, ["x", "v"]),
        (lambda t, y: {"v": -2.0 * y.x - 0.1 * y.v, "x": y.v}, {"x": 1.0, "v": 2.0}, ["x", "v"]),
        (lambda t, y: {"z": MATRIX @ y.z}, {"z": [1.0, 2.0]}, ["z[0]", "z[1]"]),
        (lambda t, y: [y["z"][1], MATRIX[1] @ y["z"]], {"z": [1.0, 2.0]}, ["z[0]", "z[1]"]),
    ],
)
def test_states_come_as_dicts_lists_and_arrays(function, y0, names):
    model = ode(function, y0).lower()
    assert [name for variable in model.unknowns for name in variable.names] == names
    np.testing.assert_allclose(right_sides(model, 0.0, [1.0, 2.0]), MATRIX @ [1.0, 2.0])


def test_one_number_is_one_state():
    model = ode(lambda t, y: -3.0 * y + math.sin(t), 2.0).lower()
    assert [variable.name for variable in model.unknowns] == ["y"]
    assert right_sides(model, 0.5, [2.0]) == [-6.0 + math.sin(0.5)]


def test_a_matrix_of_states_keeps_its_shape():
    model = ode(lambda t, y: y @ MATRIX, np.eye(2)).lower()
    assert model.unknowns[0].shape == (2, 2)
    np.testing.assert_allclose(right_sides(model, 0.0, [1.0, 2.0, 3.0, 4.0]), (np.array([[1.0, 2.0], [3.0, 4.0]]) @ MATRIX).ravel())


def test_arrays_of_parameters_answer_as_arrays():
    model = ode(lambda t, y, p: p["A"] @ y + p.b, [1.0, 2.0], {"A": MATRIX, "b": 1}).lower()
    assert [(item.name, item.shape) for item in model.parameters] == [("A", (2, 2)), ("b", ())]
    np.testing.assert_allclose(right_sides(model, 0.0, [1.0, 2.0]), MATRIX @ [1.0, 2.0] + 1.0)


def test_parameters_in_a_list_are_elements_of_p():
    model = ode(lambda t, y, p: -p[1] * y, [1.0], [2.0, 3.0]).lower()
    assert model.parameters[0].names == ["p[0]", "p[1]"]
    assert right_sides(model, 0.0, [1.0]) == [-3.0]


def test_parameters_keep_their_kind():
    model = ode(lambda t, y, p: [y[0] if p.on else p.n * p.k], [1.0], {"on": True, "n": 3, "k": 2.0}).lower()
    assert [item.kind for item in model.parameters] == ["boolean", "integer", "real"]
    assert right_sides(model, 0.0, [7.0]) == [7.0]


def test_start_values_may_depend_on_parameters():
    model = ode(lambda t, y, p: [y.v, -p.g], lambda p: {"h": p.h0, "v": math.sqrt(2 * p.g * p.h0)}, {"g": 9.81, "h0": 2.0}).lower()
    assert model.unknowns[0].start == (parameter("h0"),)
    assert evaluate(model.unknowns[1].start, {parameter("g"): 2.0, parameter("h0"): 1.0}) == [2.0]


def test_outputs_are_named_expressions():
    model = ode(
        lambda t, y, p: [y.v, -p.g],
        {"h": 1.0, "v": 0.0},
        {"g": 9.81},
        outputs=lambda t, y, p: {"energy": p.g * y.h + y.v**2 / 2, "pair": [y.h, t]},
        units={"energy": "J"},
    ).lower()
    validate(model)
    energy, pair = model.by_role(VariableRole.OUTPUT)
    assert (energy.name, energy.unit, pair.shape) == ("energy", "J", (2,))
    assert [item.name for item in model.definitions] == ["energy", "pair[0]", "pair[1]"]
    assert evaluate([item.value for item in model.definitions], point(model, 4.0, [2.0, 3.0])) == [9.81 * 2 + 4.5, 2.0, 4.0]


class Plant:
    def __init__(self, k):
        self.k = k

    def derivatives(self, t, y):
        return [-self.k * y[0] if y[0] > 0 else self.k]

    def __call__(self, t, y):
        return self.derivatives(t, y)


@pytest.mark.parametrize("function", [Plant(2.0).derivatives, Plant(2.0)])
def test_methods_and_callable_objects_are_functions_too(function):
    model = ode(function, [1.0]).lower()
    assert right_sides(model, 0.0, [3.0]) == [-6.0]
    assert right_sides(model, 0.0, [-3.0]) == [2.0]


def test_a_right_hand_side_may_be_opaque():
    def steps(t, y, p):
        count = 0
        while y["x"] > count:
            count += 1
        return [p.k * count, -y[1]]

    model = ode(opaque(steps), {"x": 0.5, "v": 1.0}, {"k": 2.0}).lower()
    assert model.name == "steps"
    assert right_sides(model, 0.0, [2.5, 4.0]) == [6.0, -4.0]


# -- differential-algebraic equations


def reactions(t, y, ydot, p):
    y1, y2, y3 = y
    slow, back, fast = p["p1"] * y1, p["p2"] * y2 * y3, p["p3"] * y2**2
    return [ydot["y1"] + slow - back, ydot["y2"] - slow + back + fast, y1 + y2 + y3 - 1.0]


RATES = {"p1": 0.04, "p2": 1e4, "p3": 3e7}


def test_a_dae_has_residuals_and_finds_its_algebraic_unknowns():
    model = dae(reactions, {"y1": 1.0, "y2": 0.0, "y3": 0.0}, {"y1": -0.04, "y2": 0.04, "y3": 0.0}, RATES).lower()
    validate(model)
    assert model.form is Form.DAE
    assert [item.role for item in model.unknowns] == [VariableRole.STATE, VariableRole.STATE, VariableRole.ALGEBRAIC]
    assert all(equation.left is ZERO for equation in model.equations)
    assert [equation.label for equation in model.equations] == ["equation 1", "equation 2", "equation 3"]
    assert {name: value.value for name, value in model.derivative_starts.items()} == {"y1": -0.04, "y2": 0.04}
    y, ydot = [0.5, 0.25, 0.125], [1.0, 2.0, 3.0]
    expected = reactions(0.0, y, dict(zip(["y1", "y2", "y3"], ydot, strict=True)), RATES)
    assert right_sides(model, 0.0, y, ydot) == pytest.approx(expected, rel=1e-14)


def test_an_array_that_is_algebraic_in_part_becomes_single_variables():
    def pendulum_like(t, y, ydot):
        return [ydot[0] - y[1], y[0] + y[1] - t]

    model = dae(pendulum_like, [0.0, 0.0], [0.0, 0.0]).lower()
    assert [(item.name, item.shape, item.role.value) for item in model.unknowns] == [("y[0]", (), "state"), ("y[1]", (), "algebraic")]
    assert list(model.derivative_starts) == ["y[0]"]


def test_residuals_may_have_names():
    model = dae(lambda t, y, ydot: {"motion": ydot.x - y.v, "law": y.v + y.x}, {"x": 1.0, "v": 0.0}).lower()
    assert [equation.label for equation in model.equations] == ["equation 'motion'", "equation 'law'"]


# -- events

BOUNCE = event(lambda t, y, p: y["h"] < 0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]}, name="bounce")


def falling(t, y, p):
    return [y["v"], -9.81]


def test_an_event_has_its_condition_and_its_reset():
    model = ode(falling, {"h": 1.0, "v": 0.0}, {"e": 0.8}, events=[BOUNCE]).lower()
    validate(model)
    (when,) = model.whens
    (branch,) = when.branches
    assert branch.label == "bounce"
    assert branch.conditions == (state("h") < 0,)
    (action,) = branch.actions
    assert isinstance(action, Assignment)
    assert action.target is state("v")
    assert action.value is -parameter("e") * state("v")
    assert branch.origin.text.startswith("lambda t, y, p: y[")


def test_an_event_may_end_the_run_and_have_several_conditions():
    stop = event(lambda t, y: [y[0] > 1, t >= 5], terminal=True, priority=10)
    (when,) = ode(lambda t, y: [1.0], [0.0], events=stop).lower().whens
    assert when.priority == 10
    assert len(when.branches[0].conditions) == 2
    assert when.branches[0].actions == (Terminate("event 1"),)


@pytest.mark.parametrize(
    "reset", [lambda t, y: {"z": [7.0, y.w]}, lambda t, y: {"z[0]": 7.0, "z[1]": y.w}, lambda t, y: {0: 7.0, 1: y.w}, lambda t, y: [7.0, y.w, y.w]]
)
def test_resets_name_variables_elements_or_everything(reset):
    (when,) = ode(lambda t, y: y, {"z": [1.0, 2.0], "w": 3.0}, events=[event(lambda t, y: y.w > 4, reset)]).lower().whens
    assigned = {action.target: action.value for action in when.branches[0].actions if isinstance(action, Assignment)}
    assert evaluate([assigned[state("z[0]")]], {}) == [7.0]
    assert assigned[state("z[1]")] is state("w")


# -- the reference problems in function form


def switching(t, y, p):
    (x,) = y
    if x**3 - 5.0 * x**2 + 7.0 * x <= p["p"]:
        return [4.0 - x]
    return [10.0 - 2.0 * x]


@pytest.mark.slow
@given(st.floats(0, 4))
def test_a_switching_equation_has_its_plain_values_and_one_condition(x):
    model = ode(switching, {"x": 0.0}, {"p": 2.9}).lower()
    assert right_sides(model, 0.0, [x]) == pytest.approx(switching(0.0, [x], {"p": 2.9}), rel=1e-14)
    (condition,) = model.condition_origins
    assert condition.op == "ge"


def converter(t, y, p):
    i, v = y
    if (t / p["T"]) % 1.0 < p["duty"]:
        slope = (p["Vin"] - v) / p["L"]
    elif i > 0:
        slope = -v / p["L"]
    else:
        slope = 0.0
    return {"i": slope, "v": (i - v / p["R"]) / p["C"]}


CONVERTER = {"T": 5e-5, "duty": 0.5, "Vin": 24.0, "L": 100e-6, "C": 100e-6, "R": 40.0}


@pytest.mark.slow
@given(st.floats(0, 1e-3), st.floats(-1, 1), st.floats(-1, 30))
def test_a_converter_with_a_clock_has_its_plain_values(t, i, v):
    model = ode(converter, {"i": 0.0, "v": 0.0}, CONVERTER).lower()
    phase = (t / CONVERTER["T"]) % 1.0
    if min(abs(phase - 0.5), phase, 1 - phase) > 1e-9:
        assert right_sides(model, t, [i, v]) == pytest.approx(list(converter(t, [i, v], CONVERTER).values()), rel=1e-12)


def test_names_survive_in_functions_whose_source_cannot_be_read() -> None:
    scope: dict[str, Any] = {}
    exec("def f(t, y, p):\n    return [p['k'] * abs(y['x'])]", scope)
    model = ode(scope["f"], {"x": 1.0}, {"k": 2.0}).lower()
    (equation,) = model.equations
    x, k = symbol(Role.UNKNOWN, "x"), symbol(Role.PARAMETER, "k")
    assert evaluate([equation.right], {x: -3.0, k: 2.0}) == [6.0]


def test_a_model_is_followed_again_when_what_its_functions_read_has_changed():
    class Settings:
        rate = 1.0

    settings, table = Settings(), {"rate": 1.0}
    factor = 1.0

    def helper(x):
        return factor * x

    described = ode(lambda t, y: [-helper(y[0]) * settings.rate * table["rate"]], y0=lambda: [2.0 * factor])
    before = described.lower()
    assert described.lower() is before
    assert right_sides(before, 0.0, [1.0]) == [-1.0]
    settings.rate = 3.0
    assert right_sides(described.lower(), 0.0, [1.0]) == [-3.0]
    table["rate"] = 2.0
    assert right_sides(described.lower(), 0.0, [1.0]) == [-6.0]
    factor = 5.0
    model = described.lower()
    assert right_sides(model, 0.0, [1.0]) == [-30.0]
    assert evaluate(model.unknowns[0].starts(), {}) == [10.0]
    assert described.lower() is model


@pytest.mark.slow
def test_outputs_may_be_functions_by_name() -> None:
    outputs = {"energy": lambda t, y, p: 0.5 * p["m"] * y["v"] ** 2, "twice": lambda t, y: [2.0 * y["v"], t]}
    model = tg.ode(lambda t, y, p: [-y["v"] / p["m"]], y0={"v": 1.0}, p={"m": 2.0}, outputs=outputs)
    result = tg.simulate(model, (0.0, 1.0), rtol=1e-9)
    assert result.final["energy"] == pytest.approx(math.exp(-1.0), rel=1e-8)
    assert result["twice"][-1].values == pytest.approx([2.0 * math.exp(-0.5), 1.0], rel=1e-8)
    assert tg.verify(result).ok


@pytest.mark.parametrize("outputs", [3, "energy", {"energy": 3.0}])
def test_outputs_that_are_no_functions_are_told(outputs: Any) -> None:
    with pytest.raises(tg.ModelError, match="cannot be called; outputs=lambda t, y"):
        tg.ode(lambda t, y: [-y["v"]], y0={"v": 1.0}, outputs=outputs)


@dataclasses.dataclass
class Numbers:
    k: float = 2.0
    gains: tuple[float, ...] = (1.0, 3.0)


class Level(NamedTuple):
    x: float


@pytest.mark.parametrize("p", [Numbers(), SimpleNamespace(k=2.0, gains=[1.0, 3.0]), {"k": 2.0, "gains": (1.0, 3.0)}], ids=["class", "space", "dict"])
@pytest.mark.parametrize("y0", [Level(1.0), {"x": 1.0}, lambda p: Level(p.k - 1.0)], ids=["named tuple", "dict", "function"])
def test_what_has_names_in_python_gives_names(p, y0):
    model = tg.ode(lambda t, y, p: {"x": -p.k * p.gains[1] * y.x}, y0=y0, p=p)
    result = tg.simulate(model, (0.0, 1.0), rtol=1e-9, sensitivities=["k"])
    assert result.final["x"] == pytest.approx(np.exp(-6.0), rel=1e-7)
    assert set(result.parameters) == {"k", "gains[0]", "gains[1]"}
