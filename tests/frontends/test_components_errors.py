"""Components: what is said of mistakes, with the user's names and lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate.frontends.components as tg
from tidegate.errors import ModelError, TidegateError, UntraceableError, UsageError


class Point(tg.Component):
    x = tg.State(0.0)
    y = tg.State(0.0)
    k = tg.Parameter(1.0)
    seen = tg.Discrete(False)
    out = tg.Output(lambda self: self.x)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1
        yield tg.der(self.y) == 1


def with_equations(function: Any) -> tg.Component:
    return type("Bad", (Point,), {"equations": function})()


def case(function: Callable[[Any], Any], said: str) -> tuple[Callable[[Any], Any], str]:
    return function, said


def line_of(function: Any, offset: int) -> int:
    return function.__code__.co_firstlineno + offset


def test_an_unknown_keyword_offers_what_looks_alike() -> None:
    with pytest.raises(UsageError, match="Point has no variable 'sen'") as caught:
        Point(sen=True)
    assert "seen" in caught.value.hint


def test_an_output_takes_no_value() -> None:
    with pytest.raises(UsageError, match=r"Point\.out is an output"):
        Point(out=1.0)


def test_a_variable_is_not_assigned_in_python() -> None:
    with pytest.raises(UsageError, match=r"Point\.x stands for a variable") as caught:
        Point().x = 3.0
    assert "return {self.x: ...}" in caught.value.hint


def test_a_method_may_not_hide_a_variable() -> None:
    with pytest.raises(UsageError, match=r"Hiding\.x is <function"):
        type("Hiding", (Point,), {"x": with_equations})


def test_a_name_of_the_component_itself_is_kept() -> None:
    with pytest.raises(UsageError, match=r"Taken\.lower: this name is kept"):
        type("Taken", (tg.Component,), {"lower": tg.State(0.0)})


def test_one_declaration_has_one_name() -> None:
    shared = tg.State(0.0)
    with pytest.raises(UsageError, match=r"Twice\.b is the same declaration as Twice\.a"):
        type("Twice", (tg.Component,), {"a": shared, "b": shared})


def test_a_bound_is_a_number() -> None:
    with pytest.raises(UsageError, match="min is 'zero'; a number is expected") as caught:
        tg.State(0.0, min="zero")
    assert caught.value.origin is not None
    assert caught.value.origin.file.endswith("test_components_errors.py")


def test_branches_with_different_numbers_of_equations_name_their_lines() -> None:
    def equations(self: Any) -> Any:
        yield tg.der(self.y) == 0
        if self.x > 0:
            yield tg.der(self.x) == 1
        else:
            yield tg.der(self.x) == 2
            yield tg.der(self.y) == 3

    with pytest.raises(ModelError, match=r"where `x > 0` there are 1 equation\(s\)") as caught:
        with_equations(equations).lower()
    assert f"(lines: {line_of(equations, 3)})" in caught.value.message
    assert f"{line_of(equations, 5)}, {line_of(equations, 6)}" in caught.value.message


@pytest.mark.parametrize(
    ("item", "said"),
    [
        case(lambda self: self.x - self.y, "equations yields x - y; an equation is expected"),
        case(lambda self: self.x <= self.y, "is a condition, not an equation"),
        case(lambda self: self.seen == (self.x > 0), "equation is expected|is a condition, not an equation"),
        case(lambda self: 1 == 1, "contains no variable: it always holds"),
        case(lambda self: self.k == self.k, "says nothing"),
        case(lambda self: "x' = 1", 'equations yields "x\' = 1"; an equation is expected'),
        case(lambda self: None, "None is yielded, and an equation is expected"),
    ],
)
def test_what_is_no_equation_is_refused(item: Any, said: str) -> None:
    def equations(self: Any) -> Any:
        yield tg.der(self.x) == 1
        yield item(self)

    with pytest.raises(ModelError, match=said) as caught:
        with_equations(equations).lower()
    assert caught.value.origin is not None
    assert caught.value.origin.line == line_of(equations, 2)


def test_arrays_of_different_length_are_not_equal() -> None:
    class Arrays(tg.Component):
        a = tg.State([0.0, 0.0])
        b = tg.Parameter([1.0, 2.0, 3.0])

        def equations(self) -> Any:
            yield tg.der(self.a) == self.b

    with pytest.raises(TidegateError, match=r"2.*3"):
        Arrays().lower()


def test_an_output_that_depends_on_itself_is_refused() -> None:
    class Circle(tg.Component):
        a = tg.Output(lambda self: self.b + 1)
        b = tg.Output(lambda self: self.a - 1)

    with pytest.raises(UsageError, match=r"the output [ab] depends on itself, through [ab]"):
        Circle().lower()


def test_a_start_value_of_another_shape_is_refused() -> None:
    class Shaped(tg.Component):
        a = tg.State([1.0, 2.0], shape=3)

    with pytest.raises(UsageError, match=r"the value of Shaped.a has 2 elements, but its shape is \(3,\)"):
        Shaped().lower()


def test_a_start_value_that_is_no_number_is_refused() -> None:
    class Text(tg.Component):
        a = tg.Parameter({"size": "big"})

    with pytest.raises(UsageError, match=r"the value of Text.a is \{'size': 'big'\}; numbers"):
        Text().lower()


def test_a_start_value_that_is_a_text_says_which_others_there_are() -> None:
    with pytest.raises(UsageError, match="the value 'big' is a text, and it is not said which others there are"):

        class Text(tg.Component):
            a = tg.Parameter("big")


@pytest.mark.parametrize(
    ("decorate", "said"),
    [
        (tg.when, "@tg.when has no condition"),
        (lambda: tg.when(True), "@tg.when is given True, which never changes"),
        (lambda: tg.when(lambda self: self.x > 0, priority=0), "priority is 0; an integer from 1"),
        (lambda: tg.every(0.0), "@tg.every has the period 0; it must be positive"),
        (tg.at, "@tg.at has no time"),
    ],
)
def test_a_bad_decorator_is_named_with_its_line(decorate: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        decorate()
    assert caught.value.origin is not None
    assert caught.value.origin.file.endswith("test_components_errors.py")


def test_elsewhen_follows_a_when() -> None:
    @tg.every(1.0)
    def tick(self: Any) -> Any:
        return {}

    with pytest.raises(UsageError, match=r"tick is no @tg.when clause"):
        tick.elsewhen(lambda self: self.x > 0)


def test_a_condition_that_cannot_change_is_refused() -> None:
    class Fixed(Point):
        @tg.when(lambda self: 1 < 2)
        def never(self) -> None:
            tg.message("no")

    with pytest.raises(UsageError, match="the condition of never is always true"):
        Fixed().lower()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        case(lambda self: 3.0, "act returns 3.0; a dictionary is expected"),
        case(lambda self: {self.x + 1: 2.0}, r"act assigns to `x \+ 1`, which is no variable"),
        case(lambda self: {3: 2.0}, "act assigns to `3`, which is no variable"),
        case(lambda self: {"z": 2.0}, "has no variable 'z'"),
        case(lambda self: {self.x: "far"}, "the new value of x in act is 'far'; numbers or expressions"),
        case(lambda self: {self.x: [1.0, 2.0]}, "act gives 2 values to the 1 elements of x"),
    ],
)
def test_what_a_body_cannot_return_is_named(body: Any, said: str) -> None:
    def act(self: Any) -> Any:
        return body(self)

    component = type("Acting", (Point,), {"act": tg.when(lambda self: self.x > 0)(act)})()
    with pytest.raises(TidegateError, match=said):
        component.lower()


def test_messages_belong_to_bodies() -> None:
    with pytest.raises(UsageError, match=r"tg.message is called outside the body of an event"):
        tg.message("alone")


def test_names_in_decorators_are_looked_up_with_an_offer() -> None:
    class Named(Point):
        @tg.every("perod")
        def tick(self) -> None:
            tg.message("tick")

        period = tg.Parameter(1.0)

    with pytest.raises(UsageError, match="Named has no variable 'perod'") as caught:
        Named().lower()
    assert "period" in caught.value.hint


def test_the_derivative_of_an_input_is_not_known() -> None:
    class Driven(tg.Component):
        u = tg.Input(1.0)
        x = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == tg.der(self.u)

    with pytest.raises(TidegateError, match=r"der\(u\) needs the derivative of u, which is not known"):
        Driven().lower()


@pytest.mark.slow
def test_a_body_that_cannot_be_followed_is_named_with_its_line() -> None:
    class Loop(Point):
        @tg.when(lambda self: self.x > 1)
        def spin(self) -> Any:
            y = self.y
            while y > 0:
                y = y - 1
            return {self.y: y}

    with pytest.raises(UntraceableError, match="while") as caught:
        Loop().lower()
    assert caught.value.origin is not None
    assert caught.value.origin.line > 0


def class_with(make: Callable[[Any, Any], Any]) -> None:
    """A class whose body does something with two of its variables."""

    class Bad(tg.Component):
        x = tg.State([0.0, 1.0])
        on = tg.Discrete(True)
        made = make(x, on)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        case(lambda x, on: tg.when(x < 0.5), "self.x < 0.5"),
        case(lambda x, on: tg.when(x > 0.5), "self.x > 0.5"),
        case(lambda x, on: tg.when(np.float64(0.5) < x), "np.less(0.5, self.x)"),
        case(lambda x, on: tg.when(x == 0.5), "self.x == 0.5"),
        case(lambda x, on: tg.when(x >= on), "self.x >= self.on"),
        case(lambda x, on: tg.when(not on), "self.on, with and, or, not inside of it"),
        case(lambda x, on: tg.Output(2.0 * x), "2.0 * self.x"),
        case(lambda x, on: tg.Output(x**2), "self.x ** 2"),
        case(lambda x, on: tg.Output(-x), "-self.x"),
        case(lambda x, on: tg.Output(abs(x)), "abs(self.x)"),
        case(lambda x, on: tg.Output(x[1]), "self.x[1]"),
        case(lambda x, on: tg.Output(np.maximum(x, 0.5)), "np.maximum(self.x, 0.5)"),
        case(lambda x, on: tg.Output(float(x)), "float(self.x)"),
    ],
)
def test_computing_in_the_body_of_a_class_is_answered_with_the_function_to_write(make: Any, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        class_with(make)
    assert caught.value.hint.removeprefix("give a function of the component: ").startswith(f"lambda self: {said}")
    assert caught.value.origin is not None
    assert caught.value.origin.file.endswith("test_components_errors.py")


def test_declarations_are_still_the_same_only_as_themselves() -> None:
    assert Point.x == Point.x
    assert Point.x != Point.y
    assert {Point.x: 1}[Point.x] == 1


def test_time_is_not_called() -> None:
    with pytest.raises(UsageError, match=r"tg\.time is a value and is not called"):
        tg.when(tg.time() > 3)

    def equations(self: Any) -> Any:
        yield tg.der(self.x) == tg.time()
        yield tg.der(self.y) == 1

    with pytest.raises(UsageError, match=r"(?s)tg.time is a value.*write tg.time without the parentheses") as caught:
        with_equations(equations).lower()
    assert caught.value.origin is not None
    assert caught.value.origin.line == line_of(equations, 1)


def test_a_variable_is_not_called() -> None:
    with pytest.raises(UsageError, match="k is a value and is not called"):
        with_equations(lambda self: [tg.der(self.x) == self.k(), tg.der(self.y) == 1]).lower()
