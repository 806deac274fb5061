"""A diagram can be drawn, and written as a program of CSMP-10(ARL) where it is made of that language's blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidegate as tg
from tidegate.csmp.language import read

b = tg.blocks
GOLDEN = Path(__file__).parents[2] / "golden" / "csmp"


def nested() -> tg.Diagram:
    inner = tg.Diagram("plant")
    inner.lag = b.FirstOrderLag(time_constant=0.5)(inner.input("u"))
    inner.output("speed", inner.lag)
    outer = tg.Diagram("loop")
    outer.plant = inner
    outer.error = b.Summer("+-")
    outer.error(1.0, outer.plant)
    outer.gain = b.Gain(2.5, number=7)(outer.error)
    outer.connect(outer.gain.out, outer.plant.u)
    outer.output("seen", outer.plant)
    return outer


def test_picture_shows_every_block_with_its_values() -> None:
    svg = nested().draw()
    assert svg.startswith(("<svg", "<?xml"))
    for text in ("2.5", "error", "gain", "plant", "speed", "seen"):
        assert text in svg
    assert nested()._repr_svg_() == svg


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_picture_goes_into_a_file(tmp_path: Path, suffix: str) -> None:
    nested().draw(tmp_path / f"loop{suffix}")
    assert (tmp_path / f"loop{suffix}").stat().st_size > 500


@pytest.mark.parametrize("name", "spring vdp ball fgen3 quit hold_reset diff2 divzero jitter".split())
def test_program_made_a_diagram_and_back_is_the_same(name: str) -> None:
    program = read(GOLDEN / f"{name}.mod")[0]
    back = program.to_diagram(0.1).to_program()
    assert back.numbers == program.numbers
    for number in program.numbers:
        mine, its = back.blocks[number], program.blocks[number]
        assert (mine.kind, mine.inputs, mine.signs) == (its.kind, its.inputs, its.signs)
        assert its.label in ("", mine.label)
        assert back.parameter(number) == program.parameter(number)
    assert back.functions == program.functions
    assert back.sort_list() == program.sort_list()


def test_nested_diagram_becomes_a_flat_program() -> None:
    program = nested().to_program()
    kinds = {statement.label: (statement.kind, statement.inputs) for statement in program.blocks.values()}
    assert kinds == {"lag": ("T1", (7, 0, 0)), "error": ("+", (4, 2, 0)), "gain": ("G", (3, 0, 0)), "constant1": ("K", (0, 0, 0))}
    assert program.problems() == []


def test_blocks_without_a_counterpart_are_named_all_at_once() -> None:
    diagram = nested()
    diagram.noise = b.Noise()
    diagram.pid = b.PID(1.0)(diagram.noise)
    with pytest.raises(tg.InvalidModelError, match=r"noise \(Noise\) has no counterpart") as caught:
        diagram.to_program()
    assert len(caught.value.problems) == 2
