"""Parts, connectors, connections, modifiers, arrays: what a tree of components becomes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from circuit_parts import Capacitor, Circuit, Ground, Inductor, Pin, Resistor, Source, TwoPin
from tidegate.model import VariableRole

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "components.json").read_text())


def value_of(model: Any, name: str) -> float:
    (found,) = [variable for variable in model.variables if variable.name == name]
    return float(found.start[0].value)


def test_the_circuit_flattens_to_27_equations_for_27_unknowns() -> None:
    model = Circuit().lower()
    names = {name for variable in model.unknowns for name in variable.names}
    assert len(model.equations) == GOLDEN["circuit"]["flattening"]["equations"] == 27
    assert names == {name for name in GOLDEN["circuit"]["values"]["0"] if "der" not in name} - set()
    assert [variable.name for variable in model.by_role(VariableRole.STATE)] == ["C.v", "L.p.i"]


@pytest.mark.slow
def test_every_instance_has_parts_of_its_own() -> None:
    class Two(tg.Component):
        a, b = Resistor(R=1.0), Resistor(R=2.0)
        s, g = Source(), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.a.p)
            yield tg.connect(self.a.n, self.b.p)
            yield tg.connect(self.b.n, self.s.n, self.g.p)

    first, second = Two(a={"R": 5.0}, mods={"s.V": 12.0}), Two()
    assert (value_of(first.lower(), "a.R"), value_of(first.lower(), "s.V")) == (5.0, 12.0)
    assert (value_of(second.lower(), "a.R"), value_of(second.lower(), "s.V")) == (1.0, 10.0)
    result = tg.simulate(first, (0.0, 1.0))
    assert result.final["a.p.i"] == pytest.approx(12.0 / 7.0)


@pytest.mark.slow
def test_values_of_parts_follow_parameters_of_the_component_around() -> None:
    class Divider(tg.Component):
        total = tg.Parameter(100.0, unit="Ohm")
        ratio = tg.Parameter(0.25)
        upper = Resistor(R=lambda self: self.total * (1 - self.ratio))
        lower_one = Resistor(R=lambda self: self.total * self.ratio)
        s, g = Source(V=8.0), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.upper.p)
            yield tg.connect(self.upper.n, self.lower_one.p)
            yield tg.connect(self.lower_one.n, self.s.n, self.g.p)

    class Outer(tg.Component):
        share = tg.Parameter(0.5)
        d = Divider(ratio=lambda self: self.share / 2)

    assert tg.simulate(Divider(ratio=0.5), (0.0, 1.0)).final["lower_one.v"] == pytest.approx(4.0)
    assert tg.simulate(Outer(), (0.0, 1.0)).final["d.lower_one.v"] == pytest.approx(2.0)
    assert tg.simulate(Outer(), (0.0, 1.0), parameters={"share": 1.0}).final["d.lower_one.v"] == pytest.approx(4.0)


@pytest.mark.slow
def test_attributes_of_inner_variables_are_modified_by_path() -> None:
    class Box(tg.Component):
        c = Capacitor(C=1e-3, v=tg.start(2.0, nominal=10.0), mods={"p.v.nominal": 100.0})
        r, g = Resistor(R=1000.0), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.c.p, self.r.p)
            yield tg.connect(self.c.n, self.r.n, self.g.p)

    model = Box().lower()
    found = {variable.name: variable for variable in model.variables}
    assert (found["c.v"].nominal, found["c.p.v"].nominal, found["c.v"].start[0].value) == (10.0, 100.0, 2.0)
    assert tg.simulate(Box(), (0.0, 1.0), rtol=1e-9).final["c.v"] == pytest.approx(2.0 * math.exp(-1.0), rel=1e-6)
    assert tg.simulate(Box(mods={"c.v": 3.0}), (0.0, 1.0), rtol=1e-9).final["c.v"] == pytest.approx(3.0 * math.exp(-1.0), rel=1e-6)


class Ladder(tg.Component):
    n = tg.Constant(4)
    R = tg.Array(Resistor, lambda self: self.n, R=lambda self, k: 1.0 + k)
    C = tg.Array(Capacitor, "n", C=0.1)
    s, g = Source(V=1.0), Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.s.p, self.R[0].p)
        yield tg.connect(self.s.n, self.g.p)
        for k in range(self.n):
            yield tg.connect(self.R[k].n, self.C[k].p)
            yield tg.connect(self.C[k].n, self.g.p)
            if k + 1 < self.n:
                yield tg.connect(self.R[k].n, self.R[k + 1].p)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_an_array_of_cells_moves_as_its_matrix_does(n: int) -> None:
    from scipy.linalg import expm

    resistances = 1.0 + np.arange(n)
    a, b = np.zeros((n, n)), np.zeros(n)
    for k in range(n):  # 0.1 v_k' = current in - current out
        a[k, k] -= 1.0 / resistances[k]
        if k:
            a[k, k - 1] += 1.0 / resistances[k]
        else:
            b[0] += 1.0 / resistances[0]
        if k + 1 < n:
            a[k, k] -= 1.0 / resistances[k + 1]
            a[k, k + 1] += 1.0 / resistances[k + 1]
    truth = np.linalg.solve(a / 0.1, (expm(a / 0.1 * 0.7) - np.eye(n)) @ (b / 0.1))
    result = tg.simulate(Ladder(n=n), (0.0, 0.7), rtol=1e-9)
    assert [result.final[f"C[{k}].v"] for k in range(n)] == pytest.approx(truth.tolist(), rel=1e-6, abs=1e-9)


def test_an_array_of_parts_gives_arrays_of_its_variables() -> None:
    class Room(tg.Component):
        T = tg.State(20.0)
        on = tg.Discrete(True)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.T) == 2.0 * self.on - 1.0

    class House(tg.Component):
        room = tg.Array(Room, 3, T=[19.0, 20.0, 21.0])

        @tg.when(lambda self: self.room.T > 22.0)
        def off(self) -> Any:
            return {self.room.on: np.zeros(3)}

    result = tg.simulate(House(), (0.0, 4.0))
    # up at +1 until 22 is reached, after 3, 2 and 1, then down at -1
    assert [result.final[f"room[{k}].T"] for k in range(3)] == pytest.approx([21.0, 20.0, 19.0])
    assert [event.causes[0] for event in result.events] == ["off[2]", "off[1]", "off[0]"]


def test_hierarchy_counts_flows_of_own_connectors_from_inside() -> None:
    class Pair(tg.Component):
        p, n = Pin(), Pin()
        a, b = Resistor(R=2.0), Resistor(R=3.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.p, self.a.p)
            yield tg.connect(self.a.n, self.b.p)
            yield tg.connect(self.b.n, self.n)

    class Whole(tg.Component):
        x, y = Pair(), Pair(b={"R": 8.0})
        s, g = Source(V=30.0), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.x.p, self.y.p)
            yield tg.connect(self.s.n, self.x.n, self.y.n, self.g.p)

    final = tg.simulate(Whole(), (0.0, 1.0)).final
    assert (final["x.p.i"], final["y.p.i"], final["y.n.i"], final["s.p.i"]) == pytest.approx((6.0, 3.0, -3.0, -9.0))


def test_signals_go_one_way() -> None:
    class Gain(tg.Component):
        u, y = tg.InputSignal(), tg.OutputSignal()
        k = tg.Parameter(2.0)

        def equations(self) -> Iterator[Any]:
            yield self.y == self.k * self.u

    class Lag(tg.Component):
        u, y = tg.InputSignal(), tg.OutputSignal(lambda self: self.x)
        x = tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == self.u - self.x

    class Loop(tg.Component):
        r = tg.Input(1.0)
        gain, lag = Gain(k=3.0), Lag()

        def equations(self) -> Iterator[Any]:
            yield self.gain.u == self.r - self.lag.y
            yield tg.connect(self.gain.y, self.lag.u)

    result = tg.simulate(Loop(), (0.0, 2.0), rtol=1e-9)
    assert result.final["lag.y"] == pytest.approx(0.75 * (1.0 - math.exp(-8.0)), rel=1e-6)


def test_clauses_of_parts_are_named_by_their_paths() -> None:
    class Ball(tg.Component):
        h, v = tg.State(1.0), tg.State(0.0)
        e = tg.Parameter(0.8)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.h) == self.v
            yield tg.der(self.v) == -9.81

        @tg.when(lambda self: self.h < 0)
        def bounce(self) -> Any:
            return {self.v: -self.e * self.v}

    class Two(tg.Component):
        a, b = Ball(), Ball(h=2.0, e=0.5)
        bounces = tg.Discrete(0)

        @tg.when(lambda self: self.a.h < 0, lambda self: self.b.h < 0)
        def count(self) -> Any:
            return {self.bounces: self.bounces + 1}

    result = tg.simulate(Two(), (0.0, 1.0), rtol=1e-9)
    falls = [math.sqrt(2 / 9.81), math.sqrt(4 / 9.81)]
    assert [event.time for event in result.events] == pytest.approx(falls, rel=1e-7)
    assert {"a.bounce", "count"} <= set(result.events[0].causes)
    assert {"b.bounce", "count"} <= set(result.events[1].causes)
    assert result.final["bounces"] == 2


def test_parts_made_in_init_are_parts_too() -> None:
    class Row(tg.Component):
        s, g = Source(V=6.0), Ground()

        def __init__(self, **values: Any) -> None:
            super().__init__(**values)
            self.first = Resistor(R=1.0)
            self.second = Resistor(R=2.0)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.first.p)
            yield tg.connect(self.first.n, self.second.p)
            yield tg.connect(self.second.n, self.s.n, self.g.p)

    assert tg.simulate(Row(), (0.0, 1.0)).final["second.v"] == pytest.approx(4.0)


def test_a_part_can_be_replaced_by_another() -> None:
    class Load(tg.Component):
        load: TwoPin = Resistor(R=2.0)
        s, g = Source(V=6.0), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.load.p)
            yield tg.connect(self.load.n, self.s.n, self.g.p)

    assert tg.simulate(Load(load=Resistor(R=3.0)), (0.0, 1.0)).final["load.p.i"] == pytest.approx(2.0)
    assert tg.simulate(Load(load=Inductor(L=3.0)), (0.0, 1.0)).final["load.p.i"] == pytest.approx(2.0)


@pytest.mark.slow
def test_sensitivities_go_through_connections(dae_method: str) -> None:
    names = ["R1.R", "C.C", "AC.VA"]
    result = tg.simulate(Circuit(), (0.0, 0.02), sensitivities=names, rtol=1e-9, method=dae_method)
    defaults = {"R1.R": 10.0, "C.C": 0.01, "AC.VA": 220.0}
    for name in names:
        step = 1e-4 * defaults[name]
        ends = [tg.simulate(Circuit(), (0.0, 0.02), parameters={name: defaults[name] + s * step}, rtol=1e-11).final["C.v"] for s in (1, -1)]
        assert result.sensitivity("C.v", name)[-1] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4)


def test_elements_of_arrays_are_modified_one_by_one_or_together() -> None:
    class Row(tg.Component):
        r = tg.Array(Resistor, 3, R=2.0)
        s, g = Source(V=6.0), Ground()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.s.p, self.r[0].p)
            yield tg.connect(self.r[0].n, self.r[1].p)
            yield tg.connect(self.r[1].n, self.r[2].p)
            yield tg.connect(self.r[2].n, self.s.n, self.g.p)

    def resistances(row: tg.Component) -> list[float]:
        model = row.lower()
        return [value_of(model, f"r[{k}].R") for k in range(3)]

    assert resistances(Row()) == [2.0, 2.0, 2.0]
    assert resistances(Row(mods={"r[1].R": 5.0})) == [2.0, 5.0, 2.0]
    assert resistances(Row(r={"R": 7.0})) == [7.0, 7.0, 7.0]
    assert resistances(Row(r={"R": [1.0, 2.0, 3.0]})) == [1.0, 2.0, 3.0]
    with pytest.raises(tg.UsageError, match=r"r has the shape \(3,\), so that there is no r\[3\]"):
        Row(mods={"r[3].R": 5.0}).lower()
    with pytest.raises(tg.UsageError, match=r"r\[2\]\.R: the values that were given have the shape \(2,\)"):
        Row(r={"R": [1.0, 2.0]}).lower()
