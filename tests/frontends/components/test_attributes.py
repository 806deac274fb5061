"""Attributes of variables that say what people are shown: display_unit and quantity; computing stays in the unit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.description import describe


class Plate(tg.Connector):
    T = tg.Potential(293.15, unit="K", display_unit="degC", quantity="Temperature")
    Q = tg.Flow(unit="W", display_unit="kW")


class Wheel(tg.Component):
    plate = Plate()
    phi = tg.State(np.pi, unit="rad", display_unit="deg", quantity="Angle")
    w = tg.Parameter(2 * np.pi, unit="rad/s", display_unit="rpm")
    E = tg.Output(lambda self: 2.0 * self.phi, unit="rad", display_unit="rev")

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.phi) == self.w
        yield self.plate.T == 300.0


@pytest.fixture(scope="module")
def result() -> tg.Result:
    return tg.simulate(Wheel(), (0.0, 1.0), outputs=[0.0, 1.0], rtol=1e-8)


def test_what_is_printed_is_in_the_display_unit(result: tg.Result) -> None:
    lines = {line.split()[0]: line.split()[1:] for line in str(result).splitlines()[1:] if len(line.split()) == 3}
    assert lines["phi"] == ["540", "deg"]
    assert lines["plate.T"] == ["26.85", "degC"]
    assert lines["E"] == ["3", "rev"]
    assert "<td>540</td><td>deg</td>" in result._repr_html_()
    described = describe(Wheel())
    shown = {item.name: (item.start, item.unit) for item in (*described.variables, *described.parameters)}
    assert shown["phi"] == ("180", "deg")
    assert shown["w"] == ("60", "rpm")
    assert shown["plate.T"] == ("20", "degC")


def test_what_is_computed_is_in_the_unit(result: tg.Result, tmp_path: Path) -> None:
    assert result.final["phi"] == pytest.approx(3 * np.pi)
    attributes = result["phi"].attrs
    assert attributes["units"] == "rad"
    assert (attributes["display_units"], attributes["quantity"]) == ("deg", "Angle")
    result.to_netcdf(tmp_path / "wheel.nc")
    assert tg.Result.load(tmp_path / "wheel.nc").columns == result.columns
    assert result.final["plate.T"] == 300.0


def test_curves_are_drawn_in_the_display_unit(result: tg.Result) -> None:
    axes = result.plot("phi", "E").axes
    assert [each.get_ylabel() for each in axes] == ["phi (deg)", "E (rev)"]
    assert axes[0].lines[0].get_ydata()[[0, -1]] == pytest.approx([180.0, 540.0])


def test_a_display_unit_measures_what_the_unit_measures() -> None:
    class Wrong(tg.Component):
        x = tg.State(1.0, unit="m", display_unit="kg")

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.x

    with pytest.raises(tg.InvalidModelError, match="its unit is m, and cannot be shown in kg"):
        tg.simulate(Wrong(), (0.0, 1.0))
    with pytest.raises(tg.InvalidModelError, match="furlongs"):
        tg.simulate(Wheel(mods={"phi.display_unit": "furlongs"}), (0.0, 1.0))


def test_a_part_is_shown_as_it_is_told_to_be() -> None:
    class Whole(tg.Component):
        wheel = Wheel(phi=tg.start(display_unit="rev"), mods={"w.quantity": "Speed"})

    model = Whole().lower()
    found = {variable.name: variable for variable in model.variables}
    assert (found["wheel.phi"].display_unit, found["wheel.w"].quantity, found["wheel.w"].display_unit) == ("rev", "Speed", "rpm")
