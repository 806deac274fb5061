"""Wherever a variable or parameter of a part is named by its path, a slip is answered with the path that was meant: one table of all these places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tidegate as tg
from tidegate.cli.app import app
from tidegate.library import electrical as el


class Circuit(tg.Component):
    source, R1, C1, ground = el.ConstantVoltage(V=5.0), el.Resistor(R=10.0), el.Capacitor(C=0.01), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.R1.p)
        yield tg.connect(self.R1.n, self.C1.p)
        yield tg.connect(self.C1.n, self.source.n, self.ground.p)

    @tg.when(lambda self: self.C1.v > 2)
    def reached(self) -> Any:
        return {}


MODEL = Circuit().lower()


@pytest.fixture(scope="module")
def result() -> tg.Result:
    return tg.simulate(MODEL, (0.0, 1.0), sensitivities=["R1.R"])


def run(**options: Any) -> Any:
    return tg.simulate(MODEL, (0.0, 1.0), **options)


def with_equation(equation: Callable[[Any], Any]) -> Any:
    class Wrong(Circuit):
        def equations(self) -> Iterator[Any]:
            yield equation(self)

    return Wrong().lower()


def with_output(value: Callable[[Any], Any]) -> Any:
    class Wrong(Circuit):
        shown = tg.Output(value)

    return Wrong().lower()


# what is done with a result, and what must stand in the answer
PLACES: dict[str, tuple[Callable[[tg.Result], Any], str]] = {
    "a parameter in small letters": (lambda r: run(parameters={"R1.r": 5.0}), "R1.R"),
    "a part in small letters": (lambda r: run(parameters={"r1.R": 5.0}), "R1.R"),
    "a parameter without its path": (lambda r: run(parameters={"R": 5.0}), "R1.R"),
    "a part for its parameter": (lambda r: run(parameters={"R1": 5.0}), "R1.R"),
    "a sensitivity": (lambda r: run(sensitivities=["R1.r"]), "R1.R"),
    "a tolerance": (lambda r: run(atol={"C1.V": 1e-9}), "C1.v"),
    "a trajectory": (lambda r: r["C1.V"], "C1.v"),
    "a trajectory of a part": (lambda r: r["C1"], "C1.v"),
    "a trajectory of a parameter": (lambda r: r["R1.R"], "result.parameters['R1.R']"),
    "dense output": (lambda r: r.at(0.5, "c1.v"), "C1.v"),
    "a column": (lambda r: r.column("C1.V"), "C1.v"),
    "a derivative of a variable": (lambda r: r.sensitivity("C1.V", "R1.R"), "C1.v"),
    "a derivative by a parameter": (lambda r: r.sensitivity("C1.v", "R1.r"), "R1.R"),
    "a final value": (lambda r: r.final["C1.V"], "C1.v"),
    "a value of a parameter": (lambda r: r.parameters["R1.r"], "R1.R"),
    "a picture": (lambda r: r.plot("C1.V"), "C1.v"),
    "a value before an event": (lambda r: r.events[0].before["C1.V"], "C1.v"),
    "a value after an event": (lambda r: r.events[0].after["C1.V"], "C1.v"),
    "the derivative of an event's time": (lambda r: r.events[0].dt_dp["R1.r"], "R1.R"),
    "a value of a simulation": (lambda r: tg.Simulation(MODEL)["C1.V"], "C1.v"),
    "a value that is set": (lambda r: tg.Simulation(MODEL).set({"R1.r": 5.0}), "R1.R"),
    "a part that is given values": (lambda r: Circuit(r1={"R": 5.0}), "'R1'"),
    "a value of a part": (lambda r: Circuit(R1={"r": 5.0}).lower(), "'R'"),
    "a path of a part": (lambda r: Circuit(mods={"R1.r": 5.0}).lower(), "'R'"),
    "an attribute": (lambda r: Circuit(mods={"C1.v.nominl": 5.0}).lower(), "'nominal'"),
    "an equation": (lambda r: with_equation(lambda self: self.R1.V == 1), "'v'"),
    "an equation of a connector": (lambda r: with_equation(lambda self: self.R1.p.V == 1), "'v'"),
    "an output": (lambda r: with_output(lambda self: self.R1.V), "'v'"),
    "a picture of a part": (lambda r: tg.show(Circuit()).picture("connections", part="r1"), "'R1'"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_slip_in_a_path_is_answered_with_the_path(place: str, result: tg.Result) -> None:
    do, meant = PLACES[place]
    with pytest.raises(tg.TidegateError) as caught:
        do(result)
    assert meant in f"{caught.value.hint}", str(caught.value)


COMMANDS = {
    "--set R1.r=5": "R1.R",
    "--set r1.R=5": "R1.R",
    "--set R=5": "R1.R",
    "--set R1=5": "R1.R",
    "--sensitivity R1.r": "R1.R",
    "--sensitivity r1.R": "R1.R",
}


@pytest.mark.parametrize("options", COMMANDS)
def test_on_the_command_line_too(options: str, tmp_path: Path) -> None:
    lines = Path(__file__).read_text(encoding="utf-8").split("MODEL = ")[0].replace("from typer.testing import CliRunner\n", "")
    file = tmp_path / "circuit.py"
    file.write_text(lines, encoding="utf-8")
    found = CliRunner().invoke(app, ["run", f"{file}:Circuit", "--until", "1", *options.split()])
    assert found.exit_code != 0
    assert COMMANDS[options] in found.output.partition("try: ")[2], found.output


def test_units_causes_and_contradictions_are_told_by_path(result: tg.Result) -> None:
    units = {column.name: column.unit for column in result.columns}
    assert (units["C1.v"], units["R1.p.i"], result.parameter_units["R1.R"]) == ("V", "A", "Ohm")
    assert result.events[0].causes == ("reached", "C1.v > 2")
    with pytest.raises(tg.UnitError) as caught:
        tg.simulate(with_output(lambda self: self.R1.v + self.R1.i), (0.0, 1.0))
    assert "R1.i" in str(caught.value)
    assert "R1.v" in str(caught.value)
