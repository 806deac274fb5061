"""Components in files: the class that comes out does the same as the one that went in, to the last bit, and nothing else is read."""

from __future__ import annotations

import hashlib
import inspect
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tidegate as tg
from golden_components import MODELS
from tidegate.library import electrical, fluid, rotational, thermal, translational


def again(component: Any, folder: Path) -> Any:
    """The class that a file of this component holds."""
    return tg.load_component(tg.precompile(component, folder / "component.tgm"))


class Filter(tg.Component):
    """A resistor and a capacitor between two pins."""

    p = electrical.Pin()
    n = electrical.Pin()
    k = tg.Parameter(3.0)
    R = electrical.Resistor(R=lambda self: 2.0 * self.k)
    C = electrical.Capacitor(C=0.1)

    def equations(self) -> Any:
        """In series."""
        yield tg.connect(self.p, self.R.p)
        yield tg.connect(self.R.n, self.C.p)
        yield tg.connect(self.C.n, self.n)


def network(kind: Any) -> Any:
    """Two of them behind a source."""

    class Network(tg.Component):
        first = kind()
        second = kind(k=5.0, C={"C": 0.3, "v": tg.start(0.25)})
        source = electrical.SineVoltage(V=1.0, f=2.0)
        ground = electrical.Ground()
        seen = tg.Output()

        def equations(self) -> Any:
            yield tg.connect(self.source.p, self.first.p)
            yield tg.connect(self.first.n, self.second.p)
            yield tg.connect(self.second.n, self.source.n, self.ground.p)
            yield self.seen == self.first.C.v + self.second.R.v

    return Network()


def same(a: tg.Result, b: tg.Result) -> None:
    """Every variable at every time, bit by bit."""
    assert a.final == b.final
    assert np.array_equal(a.t, b.t)
    assert [event.time for event in a.events] == [event.time for event in b.events]


@pytest.mark.slow
def test_a_network_of_stored_parts_gives_the_same_bits(tmp_path: Path) -> None:
    stored = again(Filter(), tmp_path)
    a, b = (tg.simulate(network(kind), (0.0, 1.0), rtol=1e-8, sensitivities="all") for kind in (Filter, stored))
    same(a, b)
    assert np.array_equal(a.sensitivity("seen", "first.k"), b.sensitivity("seen", "first.k"))
    other = {"second.R.R": 7.0, "first.k": 4.0}
    same(*(tg.simulate(network(kind), (0.0, 1.0), rtol=1e-8, parameters=other) for kind in (Filter, stored)))


@pytest.mark.slow
def test_stored_parts_can_be_in_stored_parts_and_in_arrays(tmp_path: Path) -> None:
    def ladder(kind: Any) -> Any:
        class Ladder(tg.Component):
            p = electrical.Pin()
            n = electrical.Pin()
            cell = tg.Array(kind, 3)

            def equations(self) -> Any:
                yield tg.connect(self.p, self.cell[0].p)
                yield tg.connect(self.cell[0].n, self.cell[1].p)
                yield tg.connect(self.cell[1].n, self.cell[2].p)
                yield tg.connect(self.cell[2].n, self.n)

        return Ladder

    def driven(kind: Any) -> Any:
        class Driven(tg.Component):
            ladder = kind()
            source = electrical.ConstantVoltage(V=1.0)
            ground = electrical.Ground()

            def equations(self) -> Any:
                yield tg.connect(self.source.p, self.ladder.p)
                yield tg.connect(self.ladder.n, self.source.n, self.ground.p)

        return Driven()

    inner = again(Filter(), tmp_path)
    outer = again(ladder(inner)(), tmp_path)
    same(*(tg.simulate(driven(kind), (0.0, 1.0), rtol=1e-8) for kind in (ladder(Filter), outer)))


class Bouncer(tg.Component):
    """Clauses of every kind."""

    h = tg.State(1.0, unit="m", fixed=True)
    v = tg.State(0.0, unit="m/s")
    e = tg.Parameter(0.8, min=0.0, max=1.0)
    bounces = tg.Discrete(0)
    sampled = tg.Discrete(0.0)
    load = tg.Input(0.0)
    high = tg.Output()

    def equations(self) -> Any:
        """Falls."""
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81 + self.load
        yield self.high == tg.where(self.h > 0.5, 1.0, 0.0)
        yield tg.terminate(self.bounces > 3, "often enough")

    @tg.when(lambda self: self.h < 0)
    def bounce(self) -> Any:
        """Back."""
        return {self.v: -self.e * self.v, self.bounces: self.bounces + 1}

    @tg.every(0.1)
    def look(self) -> Any:
        """The height now and then."""
        return {self.sampled: self.h}


@pytest.mark.slow
def test_clauses_clocks_and_ends_of_runs_are_stored_too(tmp_path: Path) -> None:
    stored = again(Bouncer(), tmp_path)

    def whole(kind: Any) -> Any:
        class Whole(tg.Component):
            ball = kind(e=0.9)

        return Whole()

    a, b = (tg.simulate(whole(kind), (0.0, 5.0), rtol=1e-8) for kind in (Bouncer, stored))
    same(a, b)
    assert a.status == b.status == "terminated"
    alone = tg.simulate(stored(e=0.9), (0.0, 5.0), rtol=1e-8)
    assert alone.final["h"] == a.final["ball.h"]
    with pytest.raises(tg.InvalidModelError, match="at most 1"):
        tg.simulate(stored(e=2.0), (0.0, 1.0))


# of other classes, without equations enough
BASES = {"OnePort", "TwoPort", "FlowElement", "Compliant", "ThermalElement", "Body", "_OnShaft", "_OnRod"}
_LIBRARY = [
    (kind.__name__, kind)
    for module in (electrical, fluid, rotational, thermal, translational)
    for kind in vars(module).values()
    if inspect.isclass(kind)
    and issubclass(kind, tg.Component)
    and kind.__module__ == module.__name__
    and not issubclass(kind, tg.Connector)
    and kind.__name__ not in BASES
]


@pytest.mark.parametrize(("name", "kind"), _LIBRARY, ids=[name for name, _ in _LIBRARY])
def test_every_part_of_the_library_can_be_stored(name: str, kind: Any, tmp_path: Path) -> None:
    part = kind()
    stored = again(part, tmp_path)
    assert stored.__name__ == name
    assert stored().parts().keys() == part.parts().keys()
    assert {k: v.unit for k, v in part.declarations().items() if isinstance(v, tg.Parameter)} == {
        k: v.unit for k, v in stored.declarations().items() if isinstance(v, tg.Parameter)
    }


def test_a_connector_keeps_all_that_is_said_of_its_variables(tmp_path: Path) -> None:
    class Rail(tg.Connector):
        v = tg.Potential(3.0, unit="V", display_unit="mV", nominal=100.0, min=-500.0, max=500.0, description="voltage")
        i = tg.Flow(unit="A", quantity="current")

    class Load(tg.Component):
        rail = Rail()
        R = tg.Parameter(2.0, unit="Ohm")

        def equations(self) -> Any:
            yield self.rail.v == self.R * self.rail.i

    stored = again(Load(), tmp_path)
    told = ("name", "role", "unit", "display_unit", "quantity", "nominal", "minimum", "maximum", "description", "fixed", "start", "start_source")
    written, read = ([tuple(getattr(v, name) for name in told) for v in kind().lower().variables] for kind in (Load, stored))
    assert written == read


def test_files_are_written_whole_with_the_rights_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(tg.UsageError, match="is a folder"):
        tg.precompile(Filter(), tmp_path / "folder")
    with pytest.raises(tg.UsageError, match="there is no folder"):
        tg.precompile(Filter(), tmp_path / "missing" / "filter.tgm")
    (tmp_path / "plain").write_text("")
    file = tg.precompile(Filter(), tmp_path / "filter.tgm")
    assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert sorted(item.name for item in tmp_path.iterdir()) == ["filter.tgm", "folder", "plain"]


def test_what_a_file_cannot_hold_is_told(tmp_path: Path) -> None:
    class Called(tg.Component):
        x = tg.State(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == tg.opaque(lambda x: -x, self.x)

    with pytest.raises(tg.TidegateError):
        tg.precompile(Called(), tmp_path / "called.tgm")
    with pytest.raises(tg.UsageError, match="no instance of a component"):
        tg.precompile(Filter, tmp_path / "class.tgm")  # pyright: ignore[reportArgumentType]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(place=st.integers(0, 3000), change=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_file_is_refused_in_one_sentence_or_is_what_it_was(tmp_path: Path, place: int, change: int, cut: bool) -> None:
    file = tmp_path / "filter.tgm"
    if not file.exists():
        tg.precompile(Filter(), file)
    whole = file.read_bytes()
    place %= len(whole)
    damaged = tmp_path / "damaged.tgm"
    damaged.write_bytes(whole[:place] if cut else whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
    try:
        found = tg.load_component(damaged)
    except tg.UsageError as error:
        refused = str(error)
    else:  # a byte that says nothing, as the time of an entry
        refused = "damaged" if network(found).lower().equations else ""
    assert "damaged" in refused or "holds no component" in refused


def test_foreign_files_are_refused_and_no_code_is_run(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.tgm"
    for content in (b"", b"CDF\x01", b"{}", pickle.dumps(print)):
        foreign.write_bytes(content)
        with pytest.raises(tg.UsageError, match="holds no component"):
            tg.load_component(foreign)
    with pytest.raises(tg.UsageError, match="there is no file"):
        tg.load_component(tmp_path)
    tg.precompile(Filter(), foreign)
    with zipfile.ZipFile(foreign) as archive:
        content = json.loads(archive.read("component.json"))
    less = {name: item for name, item in content.items() if name != "connectors"}
    for wrong in ({**content, "format": "other"}, {**content, "model": {}}, less, [1, 2], {**content, "version": 3}):
        body = json.dumps(wrong).encode()
        with zipfile.ZipFile(foreign, "w") as archive:
            archive.writestr("component.json", body)
            archive.writestr("sha256", hashlib.sha256(body).hexdigest())
        with pytest.raises(tg.UsageError, match=r"holds no component|is of version 3"):
            tg.load_component(foreign)


def test_connectors_of_another_kind_are_refused(tmp_path: Path) -> None:
    stored = again(electrical.Resistor(), tmp_path)

    class Wrong(tg.Component):
        r = stored()
        mass = translational.Mass(m=1.0)

        def equations(self) -> Any:
            yield tg.connect(self.r.p, self.mass.flange_a)

    with pytest.raises(tg.ModelError):
        Wrong().lower()


class Wire(tg.Connector):
    v, i = tg.Potential(unit="V"), tg.Flow(unit="A")


class Bus(tg.Connector):
    """Two wires, a request and an answer."""

    plus, minus = Wire(), Wire()
    wanted = tg.InputSignal(unit="A")
    level = tg.OutputSignal()


class Charger(tg.Component):
    """What is asked for goes into each of several outlets, as far as the share of each goes."""

    bus = Bus()
    outlets = tg.Array(Wire, 3)
    share = tg.Parameter([0.5, 0.3, 0.2])
    charge = tg.State(0.0)

    def equations(self) -> Any:
        yield tg.der(self.charge) == self.bus.wanted
        yield self.bus.level == 2.0 * self.charge
        for outlet, share in zip(self.outlets, self.share, strict=True):
            yield outlet.i == -share * self.bus.wanted + 0.01 * (outlet.v - self.bus.minus.v)
        yield self.bus.plus.i == self.bus.wanted + 0.1 * (self.bus.plus.v - self.bus.minus.v)
        yield self.bus.plus.i + self.bus.minus.i + sum(outlet.i for outlet in self.outlets) == 0


class Control(tg.Component):
    """The other side of a bus."""

    class Side(tg.Connector):
        plus, minus = Wire(), Wire()
        wanted = tg.OutputSignal(unit="A")
        level = tg.InputSignal()

    bus = Side()

    def equations(self) -> Any:
        yield self.bus.wanted == 1.0 - 0.25 * self.bus.level
        yield self.bus.plus.v == 12.0
        yield self.bus.minus.v == 0.0


def charged(kind: Any) -> Any:
    class Plant(tg.Component):
        charger = kind(share=[0.6, 0.3, 0.1])
        control = Control()
        loads = tg.Array(electrical.Resistor, 3, R=[1.0, 2.0, 3.0])
        ground = electrical.Ground()

        def equations(self) -> Any:
            yield tg.connect(self.charger.bus, self.control.bus)
            for k in range(3):
                yield tg.connect(self.charger.outlets[k], self.loads[k].p)
            yield tg.connect(self.ground.p, *(self.loads[k].n for k in range(3)))

    return Plant()


@pytest.mark.slow
def test_connectors_with_signals_with_connectors_and_arrays_of_them_are_stored(tmp_path: Path, dae_method: str) -> None:
    whole, stored = charged(Charger), charged(again(Charger(), tmp_path))
    assert [variable.name for variable in stored.lower().variables] == [variable.name for variable in whole.lower().variables]
    a, b = (tg.simulate(plant, (0.0, 3.0), rtol=1e-8, method=dae_method) for plant in (whole, stored))
    same(a, b)
    assert b.final["charger.charge"] == pytest.approx(2.0 * (1.0 - np.exp(-1.5)), rel=1e-6)  # x' = 1 - x / 2
    assert b.final["loads[1].i"] == pytest.approx(0.3 * np.exp(-1.5) / (1.0 + 0.01 * 2.0), rel=1e-6)


def test_a_signal_of_a_stored_connector_must_be_given(tmp_path: Path) -> None:
    kind = again(Charger(), tmp_path)

    class Alone(tg.Component):
        charger = kind()

    with pytest.raises(tg.TidegateError, match=r"charger\.bus\.wanted"):
        Alone().lower()


def from_files(kind: type[tg.Component], folder: Path) -> Any:
    """The same component, each part of which comes from a file."""
    parts = {}
    for name, part in vars(kind).items():
        if isinstance(part, tg.Component):
            parts[name] = tg.load_component(tg.precompile(part, folder / f"{name}.tgm"))()
    return type(kind.__name__, (kind,), parts)()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["circuit", "D03_half_wave_rectifier", "D06_tank_with_mixer", "D09_friction_clutch"])
def test_golden_models_of_stored_parts_are_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    golden = MODELS[name]
    stored = from_files(golden.make, tmp_path)  # pyright: ignore[reportArgumentType]
    a, b = (tg.simulate(model, (0.0, golden.end), rtol=1e-8) for model in (golden.make(), stored))
    same(a, b)
    assert len(a.events) == len(b.events)
    whole = tg.load_component(tg.precompile(golden.make(), tmp_path / "whole.tgm"))()
    same(a, tg.simulate(whole, (0.0, golden.end), rtol=1e-8))


def sealed(component: Any, folder: Path, **what: Any) -> Any:
    """The class that a sealed file of this component holds."""
    return tg.load_component(tg.precompile(component, folder / "sealed.tgm", grade="sealed", **what))


def unpacked(file: Path) -> str:
    """What can be read in a file."""
    with zipfile.ZipFile(file) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist()) + file.read_bytes().decode("latin-1")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["circuit", "D03_half_wave_rectifier", "D06_tank_with_mixer", "D09_friction_clutch"])
def test_sealed_golden_models_are_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    golden = MODELS[name]
    whole = tg.load_component(tg.precompile(golden.make(), tmp_path / "whole.tgm"))()
    hidden = sealed(golden.make(), tmp_path)()
    a, b = (tg.simulate(model, (0.0, golden.end), rtol=1e-8, sensitivities="all") for model in (whole, hidden))
    assert np.array_equal(a.t, b.t)
    assert np.array_equal(a.values, b.values)
    assert [event.time for event in a.events] == [event.time for event in b.events]
    assert all(np.array_equal(a.sensitivities[k], b.sensitivities[k], equal_nan=True) for k in range(len(a.t)))


class Motor(tg.Component):
    """A secret of somebody."""

    p, n = electrical.Pin(), electrical.Pin()
    shaft = rotational.Flange()
    winding, rotor_inductance = electrical.Resistor(R=2.0), electrical.Inductor(L=0.05)
    rotor = rotational.Inertia(J=0.01)
    k = tg.Parameter(0.3, unit="N m/A", min=0.0, description="torque by current")
    friction = tg.Parameter(lambda self: 0.01 * self.k, unit="N m s/rad")
    poles = tg.Constant(7)
    strokes = tg.Discrete(0, description="how often it was hot")
    state = tg.Discrete("cold", values=("cold", "warm"))
    losses = tg.Algebraic(unit="W", description="what warms it")
    seen_speed = tg.Output(lambda self: self.rotor.w * self.poles, unit="rad/s")
    torque = rotational.SignalTorque()

    def equations(self) -> Any:
        yield tg.connect(self.p, self.winding.p)
        yield tg.connect(self.winding.n, self.rotor_inductance.p)
        yield tg.connect(self.rotor_inductance.n, self.n)
        yield self.torque.tau == self.k * self.winding.i - self.friction * self.rotor.w
        yield self.losses == self.winding.R * self.winding.i**2 * tg.table([0.0, 10.0], [1.0, 1.5], name="hysteresis")(self.rotor.w)
        yield tg.connect(self.torque.flange, self.rotor.flange_a)
        yield tg.connect(self.rotor.flange_b, self.shaft)
        yield tg.assertion(self.losses < 1e4, "burnt out")

    @tg.when(lambda self: self.losses > 20.0)
    def overheats(self) -> Any:
        return {self.strokes: self.strokes + 1, self.state: "warm"}


def driven(kind: Any) -> Any:
    class Drive(tg.Component):
        motor = kind(k=0.4)
        source, ground = electrical.ConstantVoltage(V=24.0), electrical.Ground()
        fan = rotational.Inertia(J=0.02)
        air, wall = rotational.Damper(d=0.02), rotational.Fixed()

        def equations(self) -> Any:
            yield tg.connect(self.source.p, self.motor.p)
            yield tg.connect(self.source.n, self.motor.n, self.ground.p)
            yield tg.connect(self.motor.shaft, self.fan.flange_a)
            yield tg.connect(self.fan.flange_b, self.air.flange_a)
            yield tg.connect(self.air.flange_b, self.wall.flange)

    return Drive()


@pytest.mark.slow
def test_a_sealed_file_has_none_of_the_inner_names_texts_or_lines(tmp_path: Path) -> None:
    kind = sealed(Motor(), tmp_path, public=["k"])
    inside = [
        "winding", "rotor", "inductance", "losses", "strokes", "overheats", "burnt", "hysteresis", "secret", "poles", "warm", "friction", "Resistor",
        "Inertia", "torque.", "how often", "test_precompiled", "yield", str(tmp_path),
    ]  # fmt: skip
    assert all(word in unpacked(tg.precompile(Motor(), tmp_path / "graph.tgm")) for word in inside[:-1])
    assert [word for word in inside if word in unpacked(tmp_path / "sealed.tgm")] == []
    assert sorted(kind().parts()) == ["n", "p", "shaft"]
    assert {name for name in dir(kind()) if "sealed" in name or name in inside} == set()
    with pytest.raises(tg.UnknownNameError):
        kind(**{"sealed 3": 1.0})
    with pytest.raises(tg.UsageError, match="no variable or part 'winding'") as found:
        kind(winding={"R": 1.0})
    assert "sealed" not in str(found.value)
    with pytest.raises(tg.UnknownNameError, match="no 'losses'") as found:
        _ = kind().losses
    assert "sealed" not in str(found.value)


@pytest.mark.slow
def test_a_sealed_part_shows_its_connectors_outputs_and_what_is_public_only(tmp_path: Path) -> None:
    open_, hidden = (
        tg.simulate(driven(kind), (0.0, 0.5), rtol=1e-8) for kind in (Motor, sealed(Motor(), tmp_path, public=["k", "losses", "winding"]))
    )
    kept = {"motor.losses", "motor.seen_speed"}
    kept |= {f"motor.{end}" for end in ("p.v", "p.i", "n.v", "n.i", "shaft.phi", "shaft.tau")}
    kept |= {f"motor.winding.{own}" for own in ("p.v", "p.i", "n.v", "n.i", "v", "i")}
    assert {name for name in hidden.names if name.startswith("motor.")} == kept
    assert set(hidden.parameters.keys()) >= {"motor.k", "motor.winding.R"}
    assert len(hidden.events) == len(open_.events) == 1  # it gets hot
    assert "sealed part" in str(hidden.events)
    assert "overheats" not in str(hidden.events)
    for name in hidden.names:
        np.testing.assert_allclose(hidden.at(0.4, name), open_.at(0.4, name), rtol=1e-9, atol=1e-12)
    told = str(tg.show(driven(sealed(Motor(), tmp_path, public=["k"]))))
    assert "inside the sealed part motor, equation" in told
    assert "inside the sealed part motor, output seen_speed" in told
    assert [word for word in ("losses", "winding", "*7") if word in told] == []


class Divides(tg.Component):
    """Something comes to nothing in it."""

    p, n = electrical.Pin(), electrical.Pin()
    secret, sum = tg.State(1.0, fixed=True), tg.State(0.0)
    share = tg.Parameter(2.0, min=1.0)

    def equations(self) -> Any:
        yield self.p.i + self.n.i == 0
        yield tg.der(self.secret) == -self.share
        yield tg.der(self.sum) == 0.5 / (self.secret - 1.0)
        yield self.p.i == (self.p.v - self.n.v) / self.secret


@pytest.mark.slow
def test_an_error_in_a_sealed_part_says_that_it_is_inside(tmp_path: Path) -> None:
    def circuit(kind: Any) -> Any:
        class Circuit(tg.Component):
            own, source, ground = kind(), electrical.ConstantVoltage(V=1.0), electrical.Ground()

            def equations(self) -> Any:
                yield tg.connect(self.source.p, self.own.p)
                yield tg.connect(self.source.n, self.own.n, self.ground.p)

        return Circuit()

    with pytest.raises(tg.RunError, match=r"inside the sealed part own, equation \d+ gives inf .*: what is sealed") as found:
        tg.simulate(circuit(sealed(Divides(), tmp_path)), (0.0, 1.0))
    assert [word for word in ("secret", "0.5") if word in str(found.value)] == []
    with pytest.raises(tg.UnknownNameError, match="'secrets'"):
        sealed(Divides(), tmp_path, public=["secrets"])
    with pytest.raises(tg.UsageError, match="no grade"):
        tg.precompile(Divides(), tmp_path / "x.tgm", grade="closed")  # pyright: ignore[reportArgumentType]
    with pytest.raises(tg.UsageError, match="everything is public"):
        tg.precompile(Divides(), tmp_path / "x.tgm", public=["share"])

    class Halved(Divides):
        half = tg.Parameter(4.0)
        share = tg.Parameter(lambda self: self.half / 2.0, min=1.0)

    with pytest.raises(tg.UsageError, match="share has limits"):
        sealed(Halved(), tmp_path, public=["half"])
    with pytest.raises(tg.UsageError, match="at least 1"):
        sealed(Divides(share=0.5), tmp_path, public=[])
