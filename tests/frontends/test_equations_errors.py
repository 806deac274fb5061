"""What is wrong with a model of plain functions is said in the user's names, all at once where it can be."""

from __future__ import annotations

import math

import pytest

from tidegate.errors import InvalidModelError, UntraceableError, UsageError
from tidegate.frontends.equations import dae, event, ode
from tidegate.model.validate import validate

__all__: list[str] = []


def still(t, y):
    return 0.0 * y


def still_with_p(t, y, p):
    return 0.0 * y


class Measured:
    """A number with a unit, as libraries of units have it: it looks iterable, and says that it is not when it is asked."""

    def __iter__(self):
        raise TypeError("'int' object is not iterable")

    def __repr__(self):
        return "<60 1/min>"


def test_a_number_with_a_unit_is_named():
    with pytest.raises(InvalidModelError, match="p\\['k'\\] is <60 1/min>; a number"):
        ode(still_with_p, {"x": 1.0}, {"k": Measured()})


def test_all_bad_numbers_are_named_at_once():
    with pytest.raises(InvalidModelError) as caught:
        ode(still_with_p, {"x": math.nan, "v": "fast", "w": []}, {"k": math.inf, "m": None, 3: 1.0, "z": 1 + 2j})
    message = str(caught.value)
    for part in ("y['x'] is nan", "y['v'] is 'fast'", "y['w'] is empty", "p['k'] is inf", "p['m'] is None", "3 is not a name", "p['z'] is (1+2j)"):
        assert part in message
    assert len(caught.value.problems) == 7


def test_the_number_of_derivatives_is_compared_with_the_start_values():
    def three(t, y):
        return [1.0, 2.0, 3.0]

    with pytest.raises(UsageError, match=r"three returns 3 derivatives, but y0 has 2 values \(h, v\)"):
        ode(three, {"h": 1.0, "v": 0.0}).lower()
    with pytest.raises(UsageError, match="returns 1 residuals, but y0 has 2"):
        dae(lambda t, y, ydot: [ydot[0]], [1.0, 2.0]).lower()


def test_derivatives_by_name_must_be_those_of_the_start_values():
    with pytest.raises(UsageError, match=r"(?s)'hight' is not a variable; 'height' is missing.*did you mean 'height'"):
        ode(lambda t, y: {"hight": 1.0}, {"height": 1.0}).lower()
    with pytest.raises(UsageError, match="returns 3 derivatives for 'x', which has 2 elements"):
        ode(lambda t, y: {"x": [1.0, 2.0, 3.0]}, {"x": [1.0, 2.0]}).lower()


def test_a_forgotten_return_is_named():
    with pytest.raises(UsageError, match="still_nothing returns nothing"):
        ode(still_nothing, [1.0]).lower()


def still_nothing(t, y):
    pass


def test_a_value_that_is_no_number_is_named():
    with pytest.raises(UsageError, match="returns 'fast' among its values"):
        ode(lambda t, y: ["fast"], [1.0]).lower()


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda t: 0.0, r"takes 1 argument; tg\.ode calls f\(t, y\)"),
        (lambda t, y, p, q: 0.0, r"takes 4 arguments"),
        (still_with_p, "was given no p"),
        (3.0, "cannot be called"),
    ],
)
def test_a_function_with_other_arguments_is_refused(function, sentence):
    with pytest.raises(UsageError, match=sentence):
        ode(function, [1.0])


def test_missing_start_values_are_named():
    with pytest.raises(InvalidModelError, match="no start values"):
        ode(still, None)


def test_a_name_used_twice_is_named():
    with pytest.raises(InvalidModelError, match="the name 'k' is given to 2 quantities"):
        ode(still_with_p, {"k": 1.0}, {"k": 2.0}).lower()


def test_units_of_unknown_names_suggest_close_ones():
    with pytest.raises(InvalidModelError, match=r"units names 'levl'.*did you mean 'level'"):
        ode(still, {"level": 1.0}, units={"levl": "m"}).lower()


def test_derivative_starts_are_checked_against_the_start_values():
    def residual(t, y, ydot):
        return ydot + y

    with pytest.raises(InvalidModelError, match=r"ydot0 names 'hh'.*did you mean 'h'"):
        dae(residual, {"h": 1.0}, {"hh": 1.0}).lower()
    with pytest.raises(InvalidModelError, match="ydot0 has 3 values, but y0 has 2"):
        dae(residual, [1.0, 2.0], [1.0, 2.0, 3.0]).lower()
    with pytest.raises(InvalidModelError, match=r"ydot0\['x'\] has shape \(\)"):
        dae(residual, {"x": [1.0, 2.0]}, {"x": 1.0}).lower()


def test_an_unknown_parameter_is_named_with_its_line():
    def decay(t, y, p):
        return [-p["kk"] * y[0]]

    with pytest.raises(UsageError, match=r"p has no entry 'kk'") as caught:
        ode(decay, [1.0], {"k": 1.0}).lower()
    assert caught.value.origin is not None
    assert caught.value.origin.line == decay.__code__.co_firstlineno + 1


@pytest.mark.slow
def test_a_data_dependent_loop_is_refused_with_its_line():
    def looping(t, y):
        x = y[0]
        while x > 1.0:
            x = x / 2.0
        return [x]

    with pytest.raises(UntraceableError, match=r"(?s)`while` loop.*tg\.opaque") as caught:
        ode(looping, [3.0]).lower()
    assert caught.value.origin is not None
    assert caught.value.origin.line == looping.__code__.co_firstlineno + 2


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        (event(lambda t, y: y[0]), "neither true nor false"),
        (event(lambda t, y: y[0] < 0, lambda t, y: {"hh": 1.0}, name="bounce"), "(?s)the reset of bounce names 'hh'.*did you mean 'h'"),
        (event(lambda t, y: y[0] < 0, lambda t, y: 3.0 if len(y) > 5 else None), "returns None"),
        (event(lambda t, y: y[0] < 0, lambda t, y: {"h": [1.0, 2.0]}), "gives 2 values to the 1 elements of 'h'"),
    ],
)
def test_events_are_checked(item, sentence):
    with pytest.raises(UsageError, match=sentence):
        ode(still, {"h": 1.0}, events=[item]).lower()


def test_events_are_made_by_event():
    with pytest.raises(UsageError, match=r"tg\.event"):
        ode(still, {"h": 1.0}, events=[lambda t, y: y[0]])  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="condition of an event"):
        event(3.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="priority"):
        event(lambda t, y: y[0] < 0, priority=0)


def test_outputs_must_have_names():
    with pytest.raises(UsageError, match="return a dict"):
        ode(still, {"h": 1.0}, outputs=lambda t, y: [y[0]]).lower()


def yields(t, y):
    yield y[0]
    yield -y[1]


@pytest.mark.parametrize("function", [yields, lambda t, y: (value for value in y)], ids=["yield", "generator expression"])
def test_a_generator_is_told_to_return_a_list(function):
    with pytest.raises(UsageError, match=r"(?s)is a generator.*return a list of 2 derivatives: return \[...\], without yield"):
        ode(function, [1.0, 2.0]).lower()


def test_two_events_that_always_happen_together_and_reset_one_variable_are_refused_before_the_run() -> None:
    # one line and one name for both, as a comprehension writes them
    events = [event(lambda t, y: y["h"] < 0.0, reset=lambda t, y, e=e: {"v": -e * y["v"]}, name="bounce") for e in (0.5, 1.0)]
    with pytest.raises(InvalidModelError, match=r"v is assigned by both bounce and bounce") as caught:
        validate(ode(lambda t, y: [y["v"], -9.81], y0={"h": 1.0, "v": 0.0}, events=events).lower())
    assert "one event (tg.event)" in str(caught.value)
    both = event(lambda t, y: [y["h"] < 0.0, y["h"] < 0.5], reset=lambda t, y: {"v": -y["v"]})
    validate(ode(lambda t, y: [y["v"], -9.81], y0={"h": 1.0, "v": 0.0}, events=both).lower())


def test_a_reset_that_returns_nothing_and_says_nothing_is_refused() -> None:
    silent = event(lambda t, y: y["h"] < 0, reset=lambda t, y: None)
    with pytest.raises(UsageError, match="the reset of event 1 returns None"):
        ode(lambda t, y: [1.0], y0={"h": 1.0}, events=silent).lower()


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        (lambda t, y, p: [y["held"]], r"held is a discrete variable of this model: d\['held'\]; let the function take d"),
        (lambda t, y, p: [p["level"]], r"level is a variable of this model: y\['level'\]"),
        (lambda t, y, p, d: [d.k], r"k is a parameter of this model: p\['k'\]"),
    ],
)
def test_a_name_that_stands_in_another_vector_is_found_there(function, hint):
    with pytest.raises(UsageError, match=hint):
        ode(function, {"level": 1.0}, {"k": 1.0}, discrete={"held": 0.0}).lower()
