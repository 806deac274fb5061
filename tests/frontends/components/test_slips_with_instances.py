"""Variables of other instances, parts without end, values that would be lost, constants at run time: each in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg


class Decay(tg.Component):
    v = tg.State(1.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.v) == -self.v


class Pair(tg.Component):
    a, b = Decay(), Decay(v=2.0)


OUTSIDE, PAIR = Decay(), Pair()


class Nested(tg.Component):
    a = Decay()
    x = tg.State(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == PAIR.a.v


class OfTheSameClass(Decay):
    x = tg.State(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == OTHER.v


class OfABaseClass(Decay):
    x = tg.State(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == OUTSIDE.v


class InAPart(tg.Component):
    inner = OfABaseClass()


class InAValue(tg.Component):
    inner = Decay(v=lambda self: OUTSIDE.v)


OTHER = OfTheSameClass(v=3.0)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (Nested, "a.v is asked of a Pair that is no part of Nested"),
        (OfTheSameClass, "v is asked of another OfTheSameClass that is no part"),
        (OfABaseClass, "v is asked of a Decay that is no part of OfABaseClass"),
        (InAPart, "v is asked of a Decay that is no part of OfABaseClass"),
        (InAValue, "v is asked of a Decay that is no part of InAValue"),
    ],
)
def test_a_variable_of_another_instance_is_not_read_as_ones_own(made: type[tg.Component], says: str) -> None:
    with pytest.raises(tg.UsageError) as caught:
        made().lower()
    assert says in str(caught.value)
    assert "make it a part" in str(caught.value)


def test_parts_without_end() -> None:
    class Doll(tg.Component):
        def __init__(self, **values: Any) -> None:
            super().__init__(**values)
            self.inner = Doll()

    with pytest.raises(tg.UsageError, match="Doll makes a Doll when it is made, and so without end"):
        Doll()


def test_a_tree_that_ends_is_no_slip() -> None:
    class Tree(tg.Component):
        v = tg.State(1.0)

        def __init__(self, depth: int = 2, **values: Any) -> None:
            super().__init__(**values)
            if depth:
                self.left, self.right = Tree(depth - 1), Tree(depth - 1)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.v) == -self.v

    assert len(tg.simulate(Tree(), (0.0, 1.0)).final) == 7


class Algebraics(tg.Component):
    x, y, z = tg.State(1.0), tg.Algebraic(), tg.Algebraic()

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == -self.y
        yield self.y == 2 * self.x
        yield self.z**3 + self.z == self.x


class Assigned(Algebraics):
    @tg.when(lambda self: self.x < 0.5)
    def change(self) -> Any:
        return {self.y: 7.0}


class AssignedByAClock(Algebraics):
    @tg.every(0.5)
    def change(self) -> Any:
        return {self.z: 7.0}


class AroundIt(tg.Component):
    inner = Assigned()


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (Assigned, "change gives y a value, but y is what the equations say"),
        (AssignedByAClock, "change gives z a value, but z is what the equations say"),
        (AroundIt, "inner.change gives inner.y a value, but inner.y is what the equations say"),
    ],
)
def test_a_clause_gives_no_value_to_what_equations_determine(made: type[tg.Component], says: str) -> None:
    with pytest.raises(tg.UsageError, match=says):
        made().lower()


def test_a_guess_at_the_start_is_no_such_value() -> None:
    class Guessed(Algebraics):
        @tg.initially
        def begin(self) -> Any:
            return {self.z: 0.5}

    assert tg.simulate(Guessed(), (0.0, 0.1)).values[0][2] == pytest.approx(0.6823278038)


class Sized(tg.Component):
    n, k, x = tg.Constant(2), tg.Parameter(1.0), tg.State(1.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == -self.n * self.k * self.x


class Around(tg.Component):
    inner = Sized()


def test_a_constant_is_set_when_the_instance_is_made() -> None:
    with pytest.raises(tg.UsageError, match="n is a constant, which is set when the model is made") as caught:
        tg.simulate(Sized(), (0.0, 1.0), parameters={"n": 4})
    assert "Sized(n=...)" in str(caught.value)
    with pytest.raises(tg.UsageError, match="n is a constant"):
        tg.simulate(Sized(), (0.0, 1.0), sensitivities=["n"])
    with pytest.raises(tg.UsageError, match=r"inner\.n is a constant") as caught:
        tg.simulate(Around(), (0.0, 1.0), parameters={"inner.n": 4})
    assert 'Around(mods={"inner.n": ...})' in str(caught.value)


class Filled(tg.Component):
    x, level = tg.State(1.0), tg.State(np.ones(2))
    double = tg.Output(lambda self: 2.0 * self.x)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == -self.x
        yield tg.der(self.level) == -self.level


@pytest.mark.parametrize(("name", "start"), [("x", "x(0)"), ("level", "level(0)"), ("level[1]", "level(0)[1]"), ("double", "")])
@pytest.mark.parametrize(
    "asked",
    [
        lambda name: tg.simulate(Filled(), (0.0, 1.0), parameters={name: 4.0}),
        lambda name: tg.simulate(Filled(), (0.0, 1.0), sensitivities=[name]),
        lambda name: tg.sweep(Filled(), (0.0, 1.0), grid={name: [4.0, 5.0]}),
        lambda name: tg.fit(Filled(), {"x": ([1.0, 2.0], [0.3, 0.1])}, [name]),
    ],
    ids=["parameters", "sensitivities", "sweep", "fit"],
)
def test_a_variable_where_a_parameter_is_wanted_is_told_the_name_of_its_start_value(asked: Any, name: str, start: str) -> None:
    with pytest.raises(tg.UsageError, match=f"{re.escape(name)} is a variable of the model, and no parameter") as caught:
        asked(name)
    assert caught.value.hint == (
        f"its start value is a parameter by the name '{start}'" if start else "it is computed from others; name a parameter that it is made of"
    )
    if name == "x":
        asked(start)  # which is so


def test_a_connector_with_more_potentials_than_flows_is_told_by_itself() -> None:
    class Port(tg.Connector):
        v, w, i = tg.Potential(), tg.Potential(shape=2), tg.Flow()

    class End(tg.Component):
        port = Port()

        def equations(self) -> Iterator[Any]:
            yield self.port.v == 1.0

    class Two(tg.Component):
        a, b = End(), End()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.a.port, self.b.port)

    with pytest.raises(tg.StructureError, match=r"its connector b\.port \(Port\) has 3 potentials and 1 flow, where as many of each are expected"):
        Two().lower()
