"""What is said when parts, connectors and connections do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import tidegate as tg
from circuit_parts import Capacitor, Circuit, Ground, Pin, Resistor, Source, TwoPin


class Flange(tg.Connector):
    s = tg.Potential(unit="m")
    f = tg.Flow(unit="N")


class MilliPin(tg.Connector):
    v = tg.Potential(unit="mV")
    i = tg.Flow(unit="A")


class Bus(tg.Connector):
    v = tg.Potential(unit="V", shape=3)
    i = tg.Flow(unit="A", shape=3)


class Odd(tg.Component):
    p, flange, milli, bus = Pin(), Flange(), MilliPin(), Bus()


def connecting(connection: Any, **parts: Any) -> tg.Component:
    def equations(self: Any) -> Iterator[Any]:
        yield connection(self)

    return type("Whole", (tg.Component,), {**parts, "equations": equations})()


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        (lambda self: tg.connect(self.r.p, self.o.flange), "r.p (Pin) and o.flange (Flange) do not fit: one has v, i, the other s, f"),
        (lambda self: tg.connect(self.r.p, self.r.p), "r.p is connected with itself"),
        (lambda self: tg.connect(self.r.p, self.o.milli), "v has the unit V in one and mV in the other"),
        (lambda self: tg.connect(self.r.p, self.o.bus), "v has 1 elements in one, 3 in the other"),
        (lambda self: tg.connect(self.r.p), "tg.connect is given 1 connector; two or more are expected"),
        (lambda self: tg.connect(self.r, self.o.p), "r is a component; a connector is expected"),
        (lambda self: tg.connect(self.r.p, "o.p"), "tg.connect is given 'o.p'; a connector is expected"),
    ],
)
def test_ends_that_do_not_fit_are_both_named(connection: Any, words: str) -> None:
    with pytest.raises((tg.ModelError, tg.UsageError), match=re.escape(words)) as caught:
        connecting(connection, r=Resistor(), o=Odd()).lower()
    assert "test_parts_errors.py" in str(caught.value)


def test_a_connector_inside_a_part_of_a_part_is_out_of_reach() -> None:
    class Inner(tg.Component):
        r = Resistor()

    with pytest.raises(tg.ModelError, match=r"connects a\.r\.p, which is inside a") as caught:
        connecting(lambda self: tg.connect(self.a.r.p, self.b.p), a=Inner(), b=Resistor()).lower()
    assert "give Inner a connector of its own" in str(caught.value)


def test_a_part_without_one_of_its_equations_is_named() -> None:
    class Half(tg.Component):
        p, n = Pin(), Pin()
        v = tg.Algebraic(unit="V")

        def equations(self) -> Iterator[Any]:
            yield self.v == self.p.v - self.n.v
            yield self.v == 2.0 * self.p.i

    class Whole(tg.Component):
        r, c, g = Half(), Capacitor(), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.r.p, self.c.p)
            yield tg.connect(self.r.n, self.c.n, self.g.p)

    with pytest.raises(tg.StructureError, match=r"r \(Half\) has 2 equations where 3 are needed, 1 is missing"):
        Whole().lower()


def test_an_own_connector_that_nothing_inside_names_is_told() -> None:
    class Open(tg.Component):
        p, n = Pin(), Pin()
        r, g = Resistor(R=1.0), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.p, self.r.p)
            yield tg.connect(self.r.n, self.g.p)

    class Whole(tg.Component):
        part_a, s, g = Open(), Source(V=1.0), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.part_a.p)
            yield tg.connect(self.s.n, self.g.p, self.part_a.n)

    with pytest.raises(tg.StructureError, match=r"no equation of Open names n: connect it inside, .* `yield self\.n\.i == 0`"):
        tg.simulate(Whole(), (0.0, 1.0))


def test_what_the_component_around_determines_is_to_be_an_input() -> None:
    class Body(tg.Component):
        v, force = tg.State(0.0), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.v) == self.force

    class Pushed(tg.Component):
        body = Body()

        def equations(self) -> Iterator[Any]:
            yield self.body.force == 1.0

    with pytest.raises(tg.StructureError, match=r"body \(Body\) has 1 equation where 2 are needed, 1 is missing") as caught:
        Pushed().lower()
    assert "what the component around is to determine is a tg.InputSignal: force?" in str(caught.value.hint)


def test_the_draft_without_sums_of_currents_lacks_an_equation_in_each_part() -> None:
    class Open(tg.Component):
        p, n = Pin(), Pin()
        v = tg.Algebraic(unit="V")

        def equations(self) -> Iterator[Any]:
            yield self.v == self.p.v - self.n.v

    class Wrong(Circuit):
        R1 = Open()

    with pytest.raises(tg.StructureError, match=r"R1 \(Open\) has 1 equation where 3 are needed, 2 are missing"):
        Wrong().lower()


def test_a_part_with_an_equation_too_many_is_named() -> None:
    class Twice(Resistor):
        def equations(self) -> Iterator[Any]:
            yield self.p.i == self.v / self.R

    class Whole(tg.Component):
        r, s, g = Twice(), Source(), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.r.p, self.s.p)
            yield tg.connect(self.r.n, self.s.n, self.g.p)

    with pytest.raises(tg.StructureError, match=r"r \(Twice\) has 4 equations where 3 are needed, 1 is too many") as caught:
        Whole().lower()
    assert "base classes apply too" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"R9": 1.0}, "Circuit has no variable or part 'R9'"),
        ({"R1": 5.0}, "Circuit.R1 is a part, and was given 5.0"),
        ({"mods": {"R1.Q": 5.0}}, "Resistor has no variable or part 'Q'"),
        ({"mods": {"R1.p.v.nominl": 5.0}}, "Pin.v has no attribute 'nominl'"),
        ({"R1": {"S": 5.0}}, "Resistor has no variable or part 'S'"),
    ],
)
def test_modifiers_of_what_is_not_there_are_refused(values: Any, words: str) -> None:
    with pytest.raises(tg.UsageError, match=re.escape(words)):
        Circuit(**values).lower()


def test_one_part_under_two_names_is_refused() -> None:
    with pytest.raises((tg.UsageError, RuntimeError), match=r"is the same part as"):

        class _Same(tg.Component):
            a = b = Resistor()


def test_a_signal_without_source_or_with_two_is_refused() -> None:
    class Block(tg.Component):
        u, y = tg.InputSignal(), tg.OutputSignal()

        def equations(self) -> Iterator[Any]:
            yield self.y == self.u

    with pytest.raises(tg.ModelError, match=r"connect\(a\.u, b\.u\) has no single source: none of them gives a value"):
        connecting(lambda self: tg.connect(self.a.u, self.b.u), a=Block(), b=Block()).lower()
    with pytest.raises(tg.ModelError, match=r"no single source: a\.y, b\.y give a value"):
        connecting(lambda self: tg.connect(self.a.y, self.b.y), a=Block(), b=Block()).lower()
    with pytest.raises(tg.ModelError, match=r"b\.u is not connected, and nothing else gives it a value"):
        connecting(lambda self: tg.connect(self.b.y, self.a.u), a=Block(), b=Block()).lower()


def test_a_connection_that_depends_on_a_variable_is_refused() -> None:
    class Whole(tg.Component):
        r, s, g = Resistor(), Source(), Ground()

        def equations(self) -> Iterator[Any]:
            if tg.time > 1.0:
                yield tg.connect(self.r.p, self.s.p)
            yield tg.connect(self.r.n, self.s.n, self.g.p)

    with pytest.raises(tg.ModelError, match=r"a connection depends on"):
        Whole().lower()


def test_a_missing_ground_is_told_by_the_potentials_that_nothing_determines() -> None:
    class Floating(tg.Component):
        r, s = Resistor(), Source()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.r.p, self.s.p)
            yield tg.connect(self.r.n, self.s.n)

    with pytest.raises(tg.StructureError, match=r"structurally singular(.|\n)*r\.p\.v"):
        tg.simulate(Floating(), (0.0, 1.0))


def test_an_attribute_that_is_not_there_is_named_with_what_is() -> None:
    class Wrong(TwoPin):
        R = tg.Parameter(1.0)

        def equations(self) -> Iterator[Any]:
            yield self.v == self.r * self.p.i

    with pytest.raises((tg.ModelError, AttributeError), match=r"Wrong has no 'r'"):
        Wrong().lower()


def test_parameters_made_of_each_other_are_refused() -> None:
    class Round(tg.Component):
        a = tg.Parameter(lambda self: self.r.R)
        r = Resistor(R=lambda self: 2 * self.a)
        s, g = Source(), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.r.p, self.s.p)
            yield tg.connect(self.r.n, self.s.n, self.g.p)

    with pytest.raises(tg.UsageError, match=r"parameters are made of each other: a -> r\.R -> a"):
        Round().lower()
