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
