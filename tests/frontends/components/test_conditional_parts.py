"""Parts that are there or not, by constants: with their connections; and signals inside connectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tidegate as tg
from circuit_parts import Ground, Pin, Resistor, Source


class Network(tg.Component):
    """A source with a resistor, and another beside it if there is one."""

    has_second = tg.Constant(True)
    n = tg.Constant(0)
    s, g = Source(V=12.0), Ground()
    a = Resistor(R=4.0)
    b = tg.conditional(Resistor(R=2.0), has_second)
    more = tg.conditional(tg.Array(Resistor, 3, R=6.0), lambda self: self.n > 2)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.s.p, self.a.p, self.b.p)
        yield tg.connect(self.a.n, self.b.n, self.s.n, self.g.p)
        if self.more:
            yield tg.connect(self.s.p, *self.more.p)
            yield tg.connect(self.s.n, *self.more.n)


def current(model: tg.Component) -> float:
    return -tg.simulate(model, (0.0, 1.0)).final["s.p.i"]


@pytest.mark.slow
def test_a_part_that_is_not_there_takes_its_connections_away() -> None:
    assert current(Network()) == pytest.approx(3.0 + 6.0)
    assert current(Network(has_second=False)) == pytest.approx(3.0)
    assert current(Network(n=3)) == pytest.approx(9.0 + 6.0)
    assert not [v for v in Network(has_second=False).lower().variables if v.name.startswith("b.")]


@pytest.mark.slow
def test_in_parts_of_parts_and_by_modifiers() -> None:
    class Outer(tg.Component):
        has = tg.Constant(False)
        inner = Network(has_second=has)
        other = Network(b={"R": 1.0})

    assert -tg.simulate(Outer(), (0.0, 1.0)).final["inner.s.p.i"] == pytest.approx(3.0)
    result = tg.simulate(Outer(has=True, mods={"other.has_second": True, "inner.b.R": 3.0}), (0.0, 1.0))
    assert (-result.final["inner.s.p.i"], -result.final["other.s.p.i"]) == pytest.approx((3.0 + 4.0, 3.0 + 12.0))
    # a value for what is not there says nothing
    assert current(Network(has_second=False, b={"R": 7.0})) == pytest.approx(3.0)


def test_a_series_is_interrupted() -> None:
    class Series(tg.Component):
        closed = tg.Constant(True)
        s, g, r = Source(V=12.0), Ground(), Resistor(R=4.0)
        fuse = tg.conditional(Resistor(R=2.0), closed)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.fuse.p)
            yield tg.connect(self.fuse.n, self.r.p)
            yield tg.connect(self.r.n, self.s.n, self.g.p)

    assert current(Series()) == pytest.approx(2.0)
    result = tg.simulate(Series(closed=False), (0.0, 1.0))
    assert (result.final["s.p.i"], result.final["r.p.v"]) == pytest.approx((0.0, 0.0))


class Cell(tg.Component):
    k = tg.Constant(0)
    p = Pin()
    g = Ground()
    load = tg.conditional(Resistor(R=4.0), lambda self: self.k % 2 == 0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.p, self.load.p)
        yield tg.connect(self.load.n, self.g.p)


def test_in_arrays_of_parts() -> None:
    class Row(tg.Component):
        s, g = Source(V=12.0), Ground()
        cell = tg.Array(Cell, 4, k=lambda self, j: j)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, *self.cell.p)
            yield tg.connect(self.s.n, self.g.p)

    assert current(Row()) == pytest.approx(6.0)


class Timer(tg.Component):
    T = tg.State(0.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.T) == 1.0


def test_what_is_not_there_is_enabled_by_nothing() -> None:
    class House(tg.Component):
        has = tg.Constant(True)
        heater = tg.conditional(Timer(), has)

        def equations(self) -> Iterator[Any]:
            yield tg.enable(self.heater, when=tg.time > 1.0)
            if self.has:
                yield tg.assertion(self.heater.T < 5.0, "hot")

    assert tg.simulate(House(), (0.0, 3.0)).final["heater.T"] == pytest.approx(2.0)


def test_nothing_else_may_be_asked_of_what_is_not_there() -> None:
    class House(tg.Component):
        has = tg.Constant(False)
        T = tg.Algebraic()
        heater = tg.conditional(Timer(), has)

        def equations(self) -> Iterator[Any]:
            yield self.T == 2 * self.heater.T

    with pytest.raises(tg.UsageError, match=r"heater\.T is asked for, but this House has no heater") as caught:
        House().lower()
    assert "if self.heater:" in str(caught.value)

    class Alone(House):
        @tg.replaces
        def equations(self) -> Iterator[Any]:
            yield self.T == self.heater.T

    with pytest.raises(tg.TidegateError, match=r"heater\.T is asked for"):
        Alone().lower()


def test_the_condition_is_known_when_the_instance_is_made() -> None:
    class House(tg.Component):
        has = tg.Parameter(1.0)
        heater = tg.conditional(Timer(), lambda self: self.has > 0)

    with pytest.raises(tg.UsageError, match=r"whether House has heater depends on `?has > 0`?, which is known only in a run"):
        House().lower()
    with pytest.raises(tg.UsageError, match=r"tg.conditional is given 5; a part is expected"):
        tg.conditional(5, True)


# -- signals in connectors


class Bus(tg.Connector):
    v, i = tg.Potential(unit="V"), tg.Flow(unit="A")
    demand = tg.InputSignal(unit="A")
    n = tg.OutputSignal()


class Facing(tg.Connector):
    """The other side, in another order."""

    n = tg.InputSignal()
    demand = tg.OutputSignal(unit="A")
    i, v = tg.Flow(unit="A"), tg.Potential(unit="V")


class Machine(tg.Component):
    bus = Bus()
    x = tg.State(0.0)

    def equations(self) -> Iterator[Any]:
        yield self.bus.i == self.bus.demand
        yield tg.der(self.x) == self.bus.v
        yield self.bus.n == 2 * self.x


class Controller(tg.Component):
    bus = Facing()

    def equations(self) -> Iterator[Any]:
        yield self.bus.v == 5.0
        yield self.bus.demand == 1.0 + self.bus.n


class Box(tg.Component):
    bus = Bus()
    machine = Machine()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.bus, self.machine.bus)


def test_signals_in_connectors_go_from_output_to_input(dae_method: str) -> None:
    class Plant(tg.Component):
        box, controller = Box(), Controller()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.box.bus, self.controller.bus)

    final = tg.simulate(Plant(), (0.0, 2.0), rtol=1e-8, method=dae_method).final
    assert final["box.machine.x"] == pytest.approx(10.0, rel=1e-6)
    assert final["controller.bus.n"] == pytest.approx(20.0, rel=1e-6)
    assert [final["box.machine.bus.i"], -final["controller.bus.i"]] == pytest.approx([21.0, 21.0], rel=1e-6)


def test_the_inputs_of_the_whole_are_given_from_outside() -> None:
    class Alone(tg.Component):
        bus = Bus()
        machine = Machine()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.bus, self.machine.bus)

    model = Alone().lower()
    assert [v.name for v in model.variables if v.role.name == "INPUT"] == ["bus.demand"]


def test_signals_without_one_source_are_refused() -> None:
    class Two(tg.Component):
        a, b = Machine(), Machine()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.a.bus, self.b.bus)

    with pytest.raises(tg.ModelError, match=r"connect\(a\.bus\.demand, b\.bus\.demand\) has no single source: none of them gives a value"):
        Two().lower()

    class Loose(tg.Component):
        a = Machine()

    with pytest.raises(tg.ModelError, match=r"a\.bus\.demand is not connected"):
        Loose().lower()


class Reversed(tg.Connector):
    i, v = tg.Flow(unit="A"), tg.Potential(unit="V")


def test_connectors_of_two_classes_are_matched_by_name_and_not_by_order() -> None:
    class Load(tg.Component):
        p = Reversed()
        R = tg.Parameter(4.0, unit="Ohm")

        def equations(self) -> Iterator[Any]:
            yield self.p.v == self.R * self.p.i

    class Both(tg.Component):
        s, g, load = Source(V=12.0), Ground(), Load()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.load.p)
            yield tg.connect(self.s.n, self.g.p)

    assert current(Both()) == pytest.approx(3.0)
