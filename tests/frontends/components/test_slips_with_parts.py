# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnusedClass=false
"""Slips that newcomers make with parts: each ends in a sentence that names what they wrote, and none is lost without a word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tidegate as tg
from circuit_parts import Capacitor, Circuit, Ground, Pin, Resistor, Source, TwoPin


def whole(equations: Callable[[Any], Iterator[Any]], **parts: Any) -> Any:
    found: dict[str, Any] = {"s": Source(), "r": Resistor(), "c": Capacitor(), "g": Ground(), **parts}
    return type("Whole", (tg.Component,), {**found, "equations": equations})


class Mixer(tg.Component):
    c = tg.State(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.c) == 1 - self.c


def tank(statement: Callable[[Any], Any], is_yielded: bool = True) -> Any:
    def equations(self: Any) -> Iterator[Any]:
        yield tg.der(self.x) == 1.0
        said = statement(self)
        if is_yielded:
            yield said

    return type("Tank", (tg.Component,), {"x": tg.State(0.0), "mixer": Mixer(), "equations": equations})


outside = Resistor()


@pytest.mark.parametrize(
    ("statement", "words", "hint"),
    [
        (lambda self: tg.connect(self.r.pp, self.s.p), "Resistor has no 'pp'", "did you mean 'p'?"),
        (lambda self: self.r.v == self.r.p.I, "Pin has no 'I'", "did you mean 'i'?"),
        (lambda self: tg.connect(r.p, self.s.p), "the name r is not defined", "write self.r"),  # noqa: F821  # pyright: ignore[reportUndefinedVariable]
        (lambda self: tg.connect(Pin, self.s.p), "tg.connect is given <class", "tg.connect(self.R1.p, self.C.p)"),
        (lambda self: tg.connect(Resistor.p, self.s.p), "Whole connects Pin(), which belongs to no part of Whole", "attribute of the class"),
        (lambda self: tg.connect(outside.p, self.s.p), "Whole connects p (Pin), which belongs to no part of Whole", "`resistor = Resistor(...)`"),
        (lambda self: tg.connect([self.r.p, self.s.p]), "tg.connect is given a list", "with a star"),
        (lambda self: tg.connect(self.r, self.s), "r is a component; a connector is expected", "write self.r.p"),
        (lambda self: tg.connect(self.r.p.v, self.s.p.v), "r.p.v is a variable and no connector", "yield an equation"),
        (lambda self: self.r.p == self.s.p, "r.p (Pin) == s.p (Pin): parts are connected", "self.a.p.v == self.b.p.v"),
        (lambda self: self.r.p - self.r.n == self.r.v, "r.p (Pin) is a part; nothing can be computed with it", "v, i"),
        (lambda self: tg.der(self.c) == 1, "c (Capacitor) has no derivative", "take a variable of it"),
        (lambda self: tg.connect(Resistor().p, self.s.p), "a part, Resistor, is made while equations are read", "attribute of the class"),
        (lambda self: tg.connect(self.rs[3].p, self.s.p), "rs has the shape (3,), so that it has no place 3", "places count from 0"),
        (lambda self: tg.connect(self.rs.p, self.s.p), "arrays of different shapes are connected", "tg.connect(*self.rs.p, ...), with a star"),
        (lambda self: tg.connect(self.rs, self.rs), "rs[0] is a component; a connector is expected", "it has p, n"),
    ],
)
def test_what_cannot_be_said_of_parts_is_named_at_its_line(statement: Any, words: str, hint: str) -> None:
    def equations(self: Any) -> Iterator[Any]:
        yield statement(self)

    with pytest.raises((tg.UsageError, tg.ModelError)) as caught:
        whole(equations, rs=tg.Array(Resistor, 3))().lower()
    assert words in str(caught.value)
    assert hint in str(caught.value)
    assert "test_slips_with_parts.py" in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        (lambda self: tg.enable(self.mixer, when=self.x > 1), "tg.enable"),
        (lambda self: tg.initial_equations(self.x == 3), "tg.initial_equations"),
        (lambda self: tg.assertion(self.x < 3, "too far"), "tg.assertion"),
        (lambda self: tg.terminate(self.x > 3, "far enough"), "tg.terminate"),
        (lambda self: tg.connect(self.mixer.c, self.x), "tg.connect"),
    ],
)
def test_a_statement_that_is_not_yielded_is_told(statement: Any, name: str) -> None:
    with pytest.raises(tg.ModelError, match=re.escape(f"{name}(...) is not yielded")):
        tank(statement, is_yielded=False)().lower()


def test_one_of_two_connections_made_on_one_line_is_missed() -> None:
    def wire(*ends: Any) -> Any:
        return tg.connect(*ends)

    def equations(self: Any) -> Iterator[Any]:
        yield wire(self.s.p, self.r.p)
        wire(self.r.n, self.s.n, self.g.p)

    with pytest.raises(tg.ModelError, match=r"tg\.connect\(\.\.\.\) is not yielded"):
        whole(equations)().lower()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (lambda self: tg.enable(self, when=self.x > 1), "tg.enable is given Tank(), which is no part of this component"),
        (lambda self: tg.enable(self.mixer, when=self.x), "turns on whether `x` is exactly zero"),
        (lambda self: [tg.enable(self.mixer, self.x > 1), tg.enable(self.mixer, self.x < 2)], "tg.enable is said twice of mixer"),
    ],
)
def test_what_cannot_be_enabled_is_told(statement: Any, words: str) -> None:
    with pytest.raises((tg.UsageError, tg.ModelError), match=re.escape(words)):
        tank(statement)().lower()


def test_connections_may_be_yielded_as_a_list() -> None:
    def one_by_one(self: Any) -> Iterator[Any]:
        yield tg.connect(self.s.p, self.r.p)
        yield tg.connect(self.r.n, self.c.p)
        yield tg.connect(self.c.n, self.s.n, self.g.p)

    def together(self: Any) -> Iterator[Any]:
        yield [tg.connect(self.s.p, self.r.p), tg.connect(self.r.n, self.c.p), tg.connect(self.c.n, self.s.n, self.g.p)]

    first, second = (whole(equations)().lower() for equations in (one_by_one, together))
    assert [equation.label for equation in first.equations] == [equation.label for equation in second.equations]


def test_a_clause_connects_nothing() -> None:
    class Late(tg.Component):
        r, s, g = Resistor(), Source(), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.r.p, self.s.p)

        @tg.when(lambda self: self.s.v > 1)
        def later(self) -> Iterator[Any]:
            yield tg.connect(self.r.n, self.s.n, self.g.p)

    with pytest.raises(tg.ModelError, match="later yields a connection; a clause yields equations"):
        Late().lower()


def test_parts_stand_under_a_name_of_their_own() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"r": Resistor}, "W.r is the class Resistor, and no part"),
        ({"cells": [Resistor(), Resistor()]}, "W.cells holds parts in a list"),
        ({"cells": {"a": Resistor()}}, "W.cells holds parts in a dict"),
        ({"parts": {"a": 1}}, "W.parts: this name is kept"),
    ]
    for body, words in refused:
        with pytest.raises(tg.UsageError, match=re.escape(words)):
            type("W", (tg.Component,), body)
    with pytest.raises(tg.UsageError, match=r"Circuit\.cells holds parts in a list"):
        Circuit().cells = [Resistor()]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(tg.UsageError, match=r"Circuit.R1 is a part, and was given 5\.0"):
        Circuit().R1 = 5.0  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(tg.UsageError, match="a base class has a part of this name"):
        type("V", (Circuit,), {"R1": 3.0})


def test_a_class_of_parts_may_stand_in_a_component() -> None:
    class Own(tg.Component):
        class Inner(tg.Connector):
            v, i = tg.Potential(), tg.Flow()

        p = Inner()

        def equations(self) -> Iterator[Any]:
            yield self.p.v == 1.0

    assert tg.simulate(Own(), (0.0, 1.0)).final["p.v"] == 1.0


def test_values_are_given_by_name() -> None:
    with pytest.raises(tg.UsageError, match="Resistor takes values by their names") as caught:
        Resistor(10)
    assert "Resistor(R=10)" in str(caught.value)


def test_a_parameter_of_the_component_around_is_given_as_it_is_written() -> None:
    class Pair(tg.Component):
        R0 = tg.Parameter(5.0)
        a, b, s, g = Resistor(R=R0), tg.Array(Resistor, 2, R=R0), Source(), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.a.p, *self.b.p)
            yield tg.connect(self.s.n, self.a.n, *self.b.n, self.g.p)

    assert tg.simulate(Pair(), (0.0, 1.0)).final["s.p.i"] == pytest.approx(-3 * 10.0 / 5.0)
    assert tg.simulate(Pair(), (0.0, 1.0), parameters={"R0": 2.0}).final["s.p.i"] == pytest.approx(-3 * 10.0 / 2.0)


def test_an_expression_made_in_the_body_of_a_class_is_refused() -> None:
    # its name is that of another variable, here of the R of the component around
    with pytest.raises(tg.UsageError, match="R is given an expression of R, which is a variable of no instance yet"):

        class _Pair(tg.Component):
            R = tg.Parameter(3.0)
            a = Resistor(R=5.0)
            b = Resistor(R=a.R)

    with pytest.raises(tg.UsageError, match=r"@tg\.when is given an expression of v"):

        class _Seen(tg.Component):
            c = Capacitor()

            @tg.when(c.v > 0)
            def seen(self) -> Any:
                return {}


def test_an_element_of_an_array_is_modified_by_its_place() -> None:
    class Row(tg.Component):
        r, s, g = tg.Array(Resistor, 3, R=1.0), Source(), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, *self.r.p)
            yield tg.connect(self.s.n, *self.r.n, self.g.p)

    assert tg.simulate(Row(mods={"r[1].R": 4.0}), (0.0, 1.0)).final["s.p.i"] == pytest.approx(-10.0 * (1 + 0.25 + 1))
    with pytest.raises(tg.UsageError, match=r"r has the shape \(3,\), so that there is no r\[5\]"):
        Row(mods={"r[5].R": 4.0}).lower()


@pytest.mark.parametrize("name", ["w", "x"])
def test_the_shape_of_an_array_is_a_constant(name: str) -> None:
    class Row(tg.Component):
        n = tg.Constant(3)
        x = tg.Parameter(3)
        r = tg.Array(Resistor, name)

    with pytest.raises(tg.UsageError, match=f"the shape of r is '{name}', but Row has no tg.Constant of this name"):
        Row().lower()


def test_connectors_have_variables_of_connections_only() -> None:
    def equations(self: Any) -> Iterator[Any]:
        yield self.v == 0

    with pytest.raises(tg.UsageError, match=r"P\.equations: a connector has variables only"):
        type("P", (tg.Connector,), {"v": tg.Potential(), "equations": equations})
    with pytest.raises(tg.UsageError, match=r"P.v is a tg.State, which a connection says nothing about"):
        type("P", (tg.Connector,), {"v": tg.State(1.0)})


def test_equations_without_self_are_told() -> None:
    def equations() -> Iterator[Any]:
        yield 1

    with pytest.raises(tg.UsageError, match=r"P\.equations has no argument for the component"):
        type("P", (tg.Component,), {"equations": equations})


def test_a_component_in_itself_is_refused() -> None:
    class Ring(TwoPin):
        pass

    Ring.inner = Ring()  # pyright: ignore[reportAttributeAccessIssue]
    vars(Ring)["inner"].__set_name__(Ring, "inner")
    with pytest.raises(tg.UsageError, match=r"parts are in parts without end: inner\.inner"):
        Ring().lower()


def test_what_connects_nothing_has_a_class_of_its_own() -> None:
    class Plain(tg.Component):
        v = tg.Algebraic()

    def equations(self: Any) -> Iterator[Any]:
        yield tg.connect(self.a, self.b)

    with pytest.raises(tg.UsageError, match=r"a is a component; a connector is expected(.|\n)*class Plain\(tg\.Connector\)"):
        whole(equations, a=Plain(), b=Plain())().lower()


def test_a_variable_of_an_instance_that_is_no_part_is_refused() -> None:
    stranger = Resistor(R=3.0)

    class Wrong(tg.Component):
        v = tg.State(1.0)

        def equations(self) -> Any:
            yield tg.der(self.v) == -stranger.v

    with pytest.raises(tg.UsageError, match=r"v is asked of a Resistor that is no part of Wrong") as caught:
        Wrong().lower()
    assert "self.resistor.v" in str(caught.value)
