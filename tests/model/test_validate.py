"""Validation: a sound model passes; each problem is named with its place, and all of them at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tidegate.errors import InvalidModelError, Origin
from tidegate.expressions import ONE, ZERO, Expr, Role, constant, symbol
from tidegate.model import (
    Assignment,
    Bound,
    Branch,
    Definition,
    Equation,
    Form,
    Message,
    Model,
    TimeEvent,
    Variable,
    VariableRole,
    When,
)
from tidegate.model.validate import parameter_values, problems, validate

h, v = symbol(Role.UNKNOWN, "h"), symbol(Role.UNKNOWN, "v")
dh, dv = symbol(Role.DERIVATIVE, "h"), symbol(Role.DERIVATIVE, "v")
e, n = symbol(Role.PARAMETER, "e"), symbol(Role.DISCRETE, "n")
HERE = Origin("ball.py", 7)
STATE, PARAMETER, DISCRETE, OUTPUT, ALGEBRAIC = (
    VariableRole.STATE,
    VariableRole.PARAMETER,
    VariableRole.DISCRETE,
    VariableRole.OUTPUT,
    VariableRole.ALGEBRAIC,
)


def clause(label: str, target: Expr, value: Expr | float, line: int = 20) -> When:
    origin = Origin("ball.py", line)
    return When((Branch((h < 0,), (Assignment(target, ZERO + value, origin),), label, origin),), origin=origin)


def ball() -> Model:
    return Model(
        "Ball",
        Form.ODE,
        (
            Variable("h", STATE, start=(ONE,), unit="m"),
            Variable("v", STATE, start=(ZERO,)),
            Variable("e", PARAMETER, start=(constant(0.8),), minimum=Bound(0.0), maximum=Bound(1.0)),
            Variable("n", DISCRETE, start=(ZERO,), kind="integer"),
        ),
        (Equation(dh, v), Equation(dv, constant(-9.81))),
        whens=(clause("bounce", v, -e * v),),
        time_events=(TimeEvent(ONE, (Assignment(n, n + 1), Message("tick")), ONE, label="clock"),),
    )


def with_variable(variable: Variable) -> Model:
    model = ball()
    return replace(model, variables=(*model.variables, variable))


def sentences(model: Model) -> str:
    return "\n".join(sentence for sentence, _ in problems(model))


def test_a_sound_model_passes() -> None:
    validate(ball())


def test_every_problem_is_reported_at_once_with_its_place() -> None:
    model = with_variable(Variable("k", PARAMETER, start=(constant(float("nan")),), origin=HERE))
    model = replace(model, equations=model.equations[:1], time_events=(TimeEvent(ONE, (), ZERO, label="clock", origin=HERE),))
    with pytest.raises(InvalidModelError) as caught:
        validate(model)
    assert len(caught.value.problems) == 3
    assert "parameter k: its value nan is not a finite number\n      at ball.py:7" in str(caught.value)
    assert "state v has no equation for its derivative" in str(caught.value)
    assert "the period of clock is 0; it must be positive\n      at ball.py:7" in str(caught.value)


def test_an_empty_model_has_nothing_to_simulate() -> None:
    assert "nothing to simulate" in sentences(Model("void", Form.ODE, ()))


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        (Variable("h", PARAMETER, start=(ONE,)), "parameter h: this name is already taken by the state"),
        (Variable("h[0]", PARAMETER, start=(ONE,)), ""),
        (Variable("time", PARAMETER, start=(ONE,)), "kept for the simulated time"),
        (Variable("a", PARAMETER, (2,), start=(ONE,)), "parameter a has 2 element(s), but 1 start value(s)"),
        (Variable("a", PARAMETER, (1,) * 7, start=(ONE,)), "7 dimensions; at most 6"),
        (Variable("a", PARAMETER, (2, 0)), "every length must be at least 1"),
        (Variable("a", PARAMETER, start=(ONE,), nominal=-1.0), "nominal is -1; it must be a positive number"),
        (Variable("a", PARAMETER, start=(ONE,), minimum=Bound(2.0), maximum=Bound(1.0)), "no value lies between min 2 and max 1"),
        (Variable("a", PARAMETER, start=(ONE,), minimum=Bound(1.0, is_open=True)), "its value 1 must be more than 1"),
        (Variable("a", PARAMETER, start=(ONE,), minimum=Bound(1.0)), ""),
        (Variable("a", DISCRETE, start=(ONE,), maximum=Bound(0.5)), "discrete a: its start value 1 must be at most 0.5"),
        (Variable("a", DISCRETE, start=(constant(0.5),), kind="integer"), "0.5 is not an integer"),
        (Variable("a", DISCRETE, start=(constant(2.0),), kind="boolean"), "2 is neither true nor false"),
        (Variable("a", PARAMETER, start=(ONE / ZERO,)), "its value inf is not a finite number"),
        (Variable("a", PARAMETER, start=(h + 1,)), "its start value depends on h; only parameters may appear in it"),
        (Variable("a", PARAMETER, start=(symbol(Role.PARAMETER, "a") + 1,)), "parameter a: its value depends on itself"),
        (Variable("a", PARAMETER, start=(ONE,), unit="furlong"), "the unit 'furlong' in 'furlong' is not known"),
        (Variable("a", OUTPUT), "output a is defined by no expression and no equation"),
        (Variable("a", STATE), "state a has no equation for its derivative"),
    ],
)
def test_a_bad_variable_is_named(variable: Variable, said: str) -> None:
    found = sentences(with_variable(variable))
    assert said in found if said else not found


def test_elements_of_an_array_may_not_share_a_name_with_another_variable() -> None:
    model = ball()
    variables = (*model.variables, Variable("a", PARAMETER, (2,), start=(ONE, ONE)), Variable("a[1]", PARAMETER, start=(ONE,)))
    assert "parameter a[1]: this name is already taken by the parameter" in sentences(replace(model, variables=variables))


def test_a_parameter_may_follow_another_one() -> None:
    double = Variable("d", PARAMETER, start=(2 * e,))
    values = parameter_values(replace(ball(), variables=(double, *ball().variables)))
    assert values[symbol(Role.PARAMETER, "d")] == 1.6


def test_symbols_that_belong_to_no_variable_are_named_with_their_place() -> None:
    stranger = symbol(Role.PARAMETER, "mass")
    model = replace(ball(), equations=(Equation(dh, v), Equation(dv, -stranger, HERE, label="der(v) == -mass")))
    assert problems(model) == [("der(v) == -mass uses mass, which this model does not have", HERE)]


def test_strangers_in_conditions_bodies_and_definitions_are_found() -> None:
    stranger = symbol(Role.DISCRETE, "mode")
    model = with_variable(Variable("o", OUTPUT))
    branch = Branch((stranger > 0,), (Assignment(v, symbol(Role.PREVIOUS, "gone")),), "bounce")
    found = sentences(replace(model, whens=(When((branch,)),), definitions=(Definition("o", stranger),)))
    assert "bounce uses mode, pre(gone)" in found
    assert "the definition of o uses mode" in found


def test_an_ode_has_one_equation_for_each_derivative() -> None:
    model = replace(ball(), equations=(Equation(dh, v), Equation(dh, ONE, HERE), Equation(ZERO, h, label="h == 0")))
    found = sentences(model)
    assert "equation 2 is a second equation for der(h)" in found
    assert "h == 0 has 0 on its left side" in found
    assert "state v has no equation for its derivative" in found


def test_an_ode_uses_no_derivatives_on_right_sides() -> None:
    model = replace(ball(), equations=(Equation(dh, v), Equation(dv, dh)))
    assert "equation 2 uses der(h); in an ODE write what the derivative is equal to" in sentences(model)


def test_a_dae_needs_derivatives_of_states_and_of_nothing_else() -> None:
    w, dw = symbol(Role.UNKNOWN, "w"), symbol(Role.DERIVATIVE, "w")
    variables = (Variable("h", STATE), Variable("w", ALGEBRAIC))
    found = sentences(Model("mixed", Form.DAE, variables, (Equation(dw, h), Equation(w, h))))
    assert "state h: its derivative stands in no equation" in found
    assert "algebraic w: its derivative is used; make it a state" in found


def test_only_states_algebraic_and_discrete_variables_are_assigned() -> None:
    assert "bounce assigns to the parameter e" in sentences(replace(ball(), whens=(clause("bounce", e, 1.0),)))
    assert "bounce assigns to der(h)" in sentences(replace(ball(), whens=(clause("bounce", dh, 1.0),)))


def test_one_body_assigns_a_variable_once() -> None:
    branch = Branch((h < 0,), (Assignment(v, ZERO), Assignment(v, ONE)), "bounce")
    assert "bounce assigns 2 times to v" in sentences(replace(ball(), whens=(When((branch,)),)))


def test_two_writers_that_always_happen_together_are_refused_naming_both() -> None:
    model = replace(ball(), whens=(clause("bounce", v, 1.0, 20), clause("kick", v, 2.0, 30)))
    (found,) = problems(model)
    assert "v is assigned by both bounce and kick, which always happen together" in found[0]
    assert found[0].endswith("bounce stands at ball.py:20") or "bounce stands at ball.py:20:" in found[0]
    assert "one event (tg.event)" in found[0]
    assert "one chain with elsewhen (components)" in found[0]
    assert found[1] == Origin("ball.py", 30)


def test_two_writers_with_times_of_their_own_are_left_to_the_run() -> None:
    assert sentences(replace(ball(), whens=(clause("count", n, 0.0),))) == ""


def test_a_time_event_is_a_writer_like_any_other() -> None:
    clock = ball().time_events[0]
    again = replace(clock, actions=(Assignment(n, ZERO),), label="again")
    assert "n is assigned by both clock" in sentences(replace(ball(), time_events=(clock, again)))
    assert sentences(replace(ball(), time_events=(clock, replace(again, priority=10)))) == ""


def test_branches_of_one_chain_may_write_the_same_variable() -> None:
    chain = When((*clause("bounce", v, 1.0, 20).branches, *clause("kick", v, 2.0, 30).branches))
    assert not problems(replace(ball(), whens=(chain,)))


def test_one_body_with_several_triggers_is_one_writer() -> None:
    when = clause("reset", n, 0.0)
    event = TimeEvent(ONE, when.branches[0].actions, label="reset", origin=when.branches[0].origin)
    assert not problems(replace(ball(), whens=(when,), time_events=(event,)))


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (TimeEvent(constant(float("nan")), (), label="clock"), "the time of clock is nan; it must be a finite number"),
        (TimeEvent(ONE, (), constant(-1.0), label="clock"), "the period of clock is -1; it must be positive"),
        (TimeEvent(ONE, (), e - 0.8, label="clock"), "the period of clock is 0; it must be positive"),
        (TimeEvent(h, (), label="clock"), "the time of clock depends on h; only parameters and discrete variables"),
        (TimeEvent(ONE, (), n - 1, label="clock"), ""),
    ],
)
def test_times_and_periods_are_checked(event: TimeEvent, said: str) -> None:
    found = sentences(replace(ball(), time_events=(event,)))
    assert said in found if said else not found


def test_a_definition_belongs_to_an_output_and_is_given_once() -> None:
    model = replace(with_variable(Variable("o", OUTPUT)), definitions=(Definition("o", h), Definition("o", v), Definition("p", v)))
    found = sentences(model)
    assert "output o is defined 2 times" in found
    assert "the definition of p belongs to no output" in found
