"""What a model is made of, told before it is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tidegate as tg
from circuit_parts import Circuit

GOLDEN = json.loads((Path(__file__).parent / "golden" / "components.json").read_text())["circuit"]


def test_the_tree_of_parts_is_shown_with_classes() -> None:
    lines = str(tg.show(Circuit())).splitlines()
    assert lines[:4] == ["parts", "  R1: Resistor", "    p: Pin", "    n: Pin"]
    assert tg.show(Circuit())._repr_html_().startswith("<pre>parts")


def test_functions_are_shown_without_parts() -> None:
    shown = str(tg.show(tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0})))
    assert "parts" not in shown
    assert "1 state: x" in shown


def test_a_model_that_cannot_be_solved_is_refused_as_in_a_run() -> None:
    class Twice(tg.Component):
        x, y = tg.State(1.0), tg.Algebraic()

        def equations(self):
            yield tg.der(self.x) == 1.0
            yield self.x == 1.0

    with pytest.raises(tg.StructureError):
        tg.show(Twice())


def test_a_part_that_needs_connections_is_shown_by_itself() -> None:
    shown = tg.show(tg.library.electrical.IdealSwitch())
    text = str(shown)
    for line in (
        "how it is solved depends on what its connectors p, n will be connected with",
        "  control: closed above 0.5",
        "  Ron [Ohm]: resistance while closed",
        "  self.p.i + self.n.i == 0",
    ):
        assert line in text.splitlines(), text
    assert "is not connected" not in text
    assert "<svg" in shown._repr_html_()
    assert "IdealSwitch" in shown.picture().svg
    with pytest.raises(tg.UsageError, match="depends on what it is connected with"):
        shown.picture("equations")


def test_equations_of_parts_in_such_a_part_have_their_paths() -> None:
    el = tg.library.electrical

    class Filter(tg.Component):
        p, n, r, c = el.Pin(), el.Pin(), el.Resistor(R=2.0), el.Capacitor()

        def equations(self):
            yield tg.connect(self.p, self.r.p)
            yield tg.connect(self.r.n, self.c.p)
            yield tg.connect(self.c.n, self.n)

    lines = str(tg.show(Filter())).splitlines()
    assert "  r: self.v == self.R * self.i" in lines
    assert "  connect(p, r.p): p.v == r.p.v" in lines
    assert "<svg" in tg.show(Filter())._repr_html_()


def test_a_class_is_answered_with_its_instance() -> None:
    with pytest.raises(tg.UsageError) as caught:
        tg.show(tg.library.electrical.Resistor)  # pyright: ignore[reportArgumentType]
    assert caught.value.hint == "tg.show(Resistor())"


@pytest.mark.slow
def test_a_printed_model_is_what_the_command_line_shows_of_it() -> None:
    circuit = Circuit()
    told = str(circuit)
    assert told.startswith("Circuit: DAE, ")
    for heading in ("parts", "states", "variables", "parameters", "sparsity"):
        assert f"\n{heading}" in told
    decay = tg.ode(lambda t, y, p: {"x": -p["k"] * y["x"] if y["x"] > 0.5 else -1.0}, {"x": 1.0}, {"k": 2.0})
    assert str(decay).splitlines()[0] == "model: ODE, 1 state, 1 parameter"
    assert "x > 0.5" in str(decay)
    assert str(decay.lower()) == str(decay)
    assert "\n" not in repr(decay)
    assert "\n" not in repr(circuit)


def test_what_is_no_model_yet_says_so_when_it_is_printed() -> None:
    class Twice(tg.Component):
        x, y = tg.State(1.0), tg.Algebraic()

        def equations(self):
            yield tg.der(self.x) == -self.x

    assert str(Twice()).startswith("Twice()\n")
