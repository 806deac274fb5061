"""Pictures of models: equations in the order in which they are solved, parts and what connects them, icons of the library."""

from __future__ import annotations

import importlib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tidegate as tg
from circuit_parts import Circuit
from tidegate import library
from tidegate.frontends.blocks.drawing.scene import Line, Text
from tidegate.library import electrical as el
from tidegate.library import machines
from tidegate.library import rotational as rot
from tidegate.pictures import icon_of


class Armature(tg.Component):
    p, n = el.Pin(), el.Pin()
    R, L = el.Resistor(R=0.5), el.Inductor(L=0.05)

    def equations(self) -> Any:
        yield tg.connect(self.p, self.R.p)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.L.n, self.n)


class Drive(tg.Component):
    source, armature, ground = el.SignalVoltage(), Armature(), el.Ground()
    emf, rotor, sensor = machines.RotationalEMF(k=0.3), rot.Inertia(J=0.02), rot.SpeedSensor()
    pid, error, wish = tg.blocks.PID(0.4, 1.5), tg.blocks.WeightedSummer(1.0, -1.0), tg.blocks.Step(0.1, after=20.0)

    def equations(self) -> Any:
        yield tg.connect(self.source.p, self.armature.p)
        yield tg.connect(self.armature.n, self.emf.p)
        yield tg.connect(self.emf.n, self.source.n, self.ground.p)
        yield tg.connect(self.emf.flange, self.rotor.flange_a)
        yield tg.connect(self.rotor.flange_b, self.sensor.flange)
        yield tg.connect(self.wish.y, self.error.x1)
        yield tg.connect(self.sensor.y, self.error.x2)
        yield tg.connect(self.error.y, self.pid.u)
        yield tg.connect(self.pid.y, self.source.u)


def words(picture: Any) -> list[str]:
    return [item.text for item in picture.scene.things if isinstance(item, Text)]


def filled(picture: Any, tint: str) -> int:
    return sum(isinstance(item, Line) and item.fill == tint and len(item.points) == 4 for item in picture.scene.things)


def test_every_class_of_the_library_has_an_icon_within_its_square() -> None:
    for domain in library.__all__:
        module = importlib.import_module(f"tidegate.library.{domain}")
        for name in module.__all__:
            kind = getattr(module, name)
            if not issubclass(kind, tg.Connector):
                look = icon_of(kind)
                assert look is not None, f"{domain}.{name}"
                assert all(abs(x) <= 1.25 and abs(y) <= 1.15 for curve in look.curves for x, y in curve), f"{domain}.{name}"


def test_a_class_of_ones_own_has_the_icon_of_its_base_class() -> None:
    class Warm(el.Resistor):
        pass

    assert icon_of(Warm) == icon_of(el.Resistor)
    assert icon_of(Armature) is None


@pytest.mark.slow
def test_the_connection_diagram_shows_every_part_and_is_the_same_each_time() -> None:
    picture = tg.show(Drive()).picture()
    assert {"source", "armature", "ground", "emf", "rotor", "sensor", "pid", "error", "wish", "Armature"} <= set(words(picture))
    assert picture.svg == tg.show(Drive()).picture("connections").svg
    assert ET.fromstring(picture.svg).tag.endswith("svg")
    arrows = sum(isinstance(item, Line) and item.fill == "ink" and len(item.points) == 3 for item in picture.scene.things)
    assert arrows == 4  # signals have a direction, pins and flanges none


@pytest.mark.slow
def test_every_level_has_a_picture() -> None:
    shown = tg.show(Drive())
    pictures = shown.pictures()
    assert list(pictures) == ["", "armature"]
    assert {"R", "L", "p", "n"} <= set(words(pictures["armature"]))
    assert shown.picture(part="armature").svg == pictures["armature"].svg
    assert shown._repr_html_().count("<svg") == 3


def test_equations_have_a_mark_for_each_that_is_given_and_a_square_for_those_solved_together() -> None:
    class Bridge(tg.Component):
        source, ground = el.SineVoltage(V=1.0), el.Ground()
        a, b, c, d, e = (el.Resistor(R=r) for r in (1.0, 2.0, 3.0, 5.0, 7.0))

        def equations(self) -> Any:
            yield tg.connect(self.source.p, self.a.p, self.b.p)
            yield tg.connect(self.a.n, self.c.p, self.e.p)
            yield tg.connect(self.b.n, self.d.p, self.e.n)
            yield tg.connect(self.c.n, self.d.n, self.source.n, self.ground.p)

    shown = tg.show(Bridge())
    report = shown.report
    together = [block for block in report.blocks if block.size > 1]
    assert together
    picture = shown.picture("equations")
    n = sum(block.size for block in report.blocks)
    torn = sum(len(block.tearing) for block in report.blocks)
    assert filled(picture, "shade") == len(together)
    assert filled(picture, "ink") + filled(picture, "curve") == n + 2  # and those that the legend shows
    assert filled(picture, "curve") == torn + 1
    assert all(unknown in words(picture) for block in report.blocks for unknown in block.unknowns)


@pytest.mark.hunt
def test_the_picture_of_a_model_of_many_unknowns_fits_a_screen() -> None:
    class Ladder(tg.Component):
        source, ground = el.ConstantVoltage(V=1.0), el.Ground()
        r, c = tg.Array(el.Resistor, 150), tg.Array(el.Capacitor, 150)

        def equations(self) -> Any:
            yield tg.connect(self.source.p, self.r[0].p)
            for k in range(150):
                yield tg.connect(self.r[k].n, self.c[k].p, *([self.r[k + 1].p] if k < 149 else []))
            yield tg.connect(*self.c.n, self.source.n, self.ground.p)

    shown = tg.show(Ladder())
    picture = shown.picture("equations")
    assert picture.scene.width < 1200
    with pytest.raises(tg.UsageError, match="302 parts"):
        shown.picture()


def test_what_cannot_be_drawn_is_said() -> None:
    shown = tg.show(Circuit())
    with pytest.raises(tg.UnknownNameError, match="no part 'R9'"):
        shown.picture(part="R9")
    assert "R1 (Resistor)" in shown.picture(part="R1").svg  # by itself
    with pytest.raises(tg.UsageError, match="has no parts that could be drawn"):
        shown.picture(part="R1.p")
    with pytest.raises(tg.UsageError, match="there is no picture of 'circle'"):
        shown.picture("circle")  # pyright: ignore[reportArgumentType]
    with pytest.raises(tg.UsageError, match="cannot save a picture"):
        shown.picture().save("circuit.gif")


@pytest.mark.parametrize(("more", "word"), [([], "source"), (["--equations"], "der(C.v)"), (["--part", "inner"], "R")])
def test_the_command_line_draws_a_model(tmp_path: Path, more: list[str], word: str) -> None:
    from tidegate.cli.app import app

    file = tmp_path / "charging.py"
    file.write_text(
        "import tidegate as tg\nfrom tidegate.library import electrical as el\n\n\n"
        "class Inner(tg.Component):\n    p, n = el.Pin(), el.Pin()\n    R = el.Resistor(R=5.0)\n\n"
        "    def equations(self):\n        yield tg.connect(self.p, self.R.p)\n        yield tg.connect(self.R.n, self.n)\n\n\n"
        "class Charging(tg.Component):\n    source, inner, C, ground = el.ConstantVoltage(V=1.0), Inner(), el.Capacitor(), el.Ground()\n\n"
        "    def equations(self):\n        yield tg.connect(self.source.p, self.inner.p)\n        yield tg.connect(self.inner.n, self.C.p)\n"
        "        yield tg.connect(self.C.n, self.source.n, self.ground.p)\n\n\nmodel = Charging()\n"
    )
    out = tmp_path / "out.svg"
    said = CliRunner().invoke(app, ["show", f"{file}:model", "--picture", str(out), *more])
    assert said.exit_code == 0, said.output
    texts = [element.text for element in ET.fromstring(out.read_text()).iter("{http://www.w3.org/2000/svg}text")]
    assert word in texts
