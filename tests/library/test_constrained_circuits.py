"""Golden circuits whose capacitors are tied together, or to a source; and one whose diode has to save a coil's current."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from tidegate.library import electrical as el

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "components.json").read_text())
RTOL = 1e-8


def assert_golden(model: tg.Component, name: str, method: str, scale: float) -> tg.Result:
    golden = GOLDEN[name]
    times = sorted(map(float, golden["values"]))
    result = tg.simulate(model, (0.0, float(golden["t_end"])), outputs=times, rtol=RTOL, method=method)
    for text, values in golden["values"].items():
        for variable, value in values.items():
            found = result[variable][times.index(float(text))]
            assert found == pytest.approx(float(value), rel=1e-6, abs=1e-6 * scale), (variable, text)  # 100 tolerances of the run
    return result


class Loop(tg.Component):
    V, G, R = el.ConstantVoltage(V=10.0), el.Ground(), el.Resistor(R=1000.0)
    C1, C2 = el.Capacitor(C=1e-3, v=tg.start(2.0, fixed=True)), el.Capacitor(C=2e-3, v=tg.start(0.0, fixed=False))

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.V.p, self.R.p)
        yield tg.connect(self.R.n, self.C1.p, self.C2.p)
        yield tg.connect(self.V.n, self.C1.n, self.C2.n, self.G.p)


class Across(tg.Component):
    source, G, C, R = el.SineVoltage(V=5.0), el.Ground(), el.Capacitor(C=1e-3, v=tg.start(0.0, fixed=False)), el.Resistor(R=10.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.C.p, self.R.p)
        yield tg.connect(self.source.n, self.C.n, self.R.n, self.G.p)


class Freewheeling(tg.Component):
    V, G, R, L = el.ConstantVoltage(V=12.0), el.Ground(), el.Resistor(R=4.0), el.Inductor(L=0.1)
    switch, diode = el.IdealSwitch(), el.IdealDiode()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.V.p, self.switch.p)
        yield tg.connect(self.switch.n, self.R.p, self.diode.n)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.V.n, self.L.n, self.diode.p, self.G.p)
        yield self.switch.control == tg.where(tg.time < 0.1, 1.0, 0.0)


def test_two_capacitors_side_by_side_have_the_golden_values(dae_method: str) -> None:
    assert_golden(Loop(), "D02_capacitor_loop", dae_method, 1.0)


def test_two_capacitors_side_by_side_that_must_start_apart_are_refused() -> None:
    with pytest.raises(tg.TidegateError, match=r"(?s)C1.*C2"):
        tg.simulate(Loop(mods={"C2.v": tg.start(3.0, fixed=True)}), (0.0, 1.0))


def test_a_capacitor_across_a_source_has_the_golden_values(dae_method: str) -> None:
    assert_golden(Across(), "D12_capacitor_across_source", dae_method, 1.0)


def test_a_mode_that_would_force_a_current_to_zero_is_only_passed_through(dae_method: str) -> None:
    """Switch open and diode off (golden D13) leave the coil's current no way: it starts behind the event from what it was before."""
    result = assert_golden(Freewheeling(), "D13_freewheeling_diode", dae_method, 12.0)
    (event,) = (item for item in result.events if item.time > 0.0)
    golden = float(GOLDEN["D13_freewheeling_diode"]["i_at_switching"])
    assert event.before["L.i"] == pytest.approx(golden, rel=1e-6)
    assert event.after["L.i"] == event.before["L.i"]  # to the last bit: what is held is not touched


def test_a_start_value_that_was_given_counts_before_the_default_of_another_part(dae_method: str) -> None:
    from tidegate.library import translational

    class Joined(tg.Component):
        first, second, lever = translational.Mass(), translational.Mass(s=0.2, v=-1.0), translational.Lever(ratio=-2.0)

        def equations(self) -> Any:
            yield tg.connect(self.first.flange_b, self.lever.flange_a)
            yield tg.connect(self.second.flange_a, self.lever.flange_b)

    result = tg.simulate(Joined(), (0.0, 1.0), method=dae_method, rtol=1e-9)
    assert [result[name].values[0] for name in ("second.s", "second.v", "first.s")] == pytest.approx([0.2, -1.0, -0.4])
    assert result.final["second.s"] == pytest.approx(-0.8)

    class Rigid(tg.Component):
        first, second = translational.Mass(), translational.Mass(s=0.2)

        def equations(self) -> Any:
            yield tg.connect(self.first.flange_b, self.second.flange_a)

    assert tg.simulate(Rigid(), (0.0, 1.0), method=dae_method).final["first.s"] == pytest.approx(0.2)


def test_two_given_start_values_that_exclude_each_other_are_refused() -> None:
    from tidegate.library import translational

    class Joined(tg.Component):
        first, second, lever = translational.Mass(s=0.5), translational.Mass(s=0.2), translational.Lever(ratio=-2.0)

        def equations(self) -> Any:
            yield tg.connect(self.first.flange_b, self.lever.flange_a)
            yield tg.connect(self.second.flange_a, self.lever.flange_b)

    with pytest.raises(tg.InitializationError, match=r"the start value .* of (first|second)\.s is to hold, but comes out as"):
        tg.simulate(Joined(), (0.0, 1.0))
