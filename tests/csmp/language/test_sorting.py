"""The sort list of section 3.2: the report's own, those of every model at hand, and the rule taken literally as a second truth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate as tg
from tidegate.csmp.language import BlockStatement, CsmpProgram, read
from tidegate.csmp.language.sorting import loop_of, sort_failure, store_order

GOLDEN = Path(__file__).parents[2] / "golden" / "csmp"
MODELS = {name: model for name, model in json.loads((GOLDEN / "expected.json").read_text())["models"].items() if "sort_list" in model}


def program_of(*statements: str) -> CsmpProgram:
    program = CsmpProgram()
    for statement in statements:
        number, kind, *inputs = statement.split()
        first, second, third = (*map(int, inputs), *(0,) * (3 - len(inputs)))
        program.configure(BlockStatement(int(number), kind, (first, second, third)))
    return program


def sorted_by_the_letter(program: CsmpProgram) -> list[int]:
    """Section 3.2 word by word: after every success the search begins again at the lowest number."""
    blocks = program.blocks
    order = [number for kind in "KU" for number in sorted(blocks) if blocks[number].kind == kind]

    def is_known(source: int) -> bool:
        if source in {0, 1, *order} or source not in blocks or blocks[source].kind in {"I", "T1"}:
            return True
        return blocks[source].kind == "UO" and (blocks[source].inputs[0] in order or blocks[blocks[source].inputs[0]].kind in {"I", "T1"})

    while True:
        for number in sorted(blocks):
            if number not in order and blocks[number].kind != "UO" and all(map(is_known, blocks[number].inputs)):
                order.append(number)
                break
        else:
            return order


@pytest.mark.parametrize("name", MODELS)
def test_models_sort_as_the_report_says(name: str) -> None:
    program, _ = read(GOLDEN / MODELS[name]["file"])
    assert program.sort_list() == MODELS[name]["sort_list"]
    assert store_order(program.blocks) == MODELS[name]["store_order_sorted"]


def test_a_loop_is_refused_and_named() -> None:
    with pytest.raises(tg.CsmpError) as raised:
        read(GOLDEN / "loop.mod")
    (said,) = raised.value.diagnostics
    assert (said.text, said.block, said.line, said.loop) == ("SORT FAILURE AT BLK 2", 2, 4, (2, 4))
    assert "2 -> 4 -> 2" in said.hint


def test_the_lowest_block_is_blamed_though_it_only_follows_the_loop() -> None:
    program = program_of("2 G 9", "7 G 9", "8 G 7", "9 G 8")
    said = sort_failure(program.blocks)
    assert said is not None
    assert (said.text, said.loop) == ("SORT FAILURE AT BLK 2", (7, 8, 9))


def test_a_block_that_reads_itself_is_a_loop_unless_it_is_an_integrator() -> None:
    assert loop_of(program_of("2 G 2").blocks) == (2,)
    assert loop_of(program_of("2 I 2").blocks) == ()


def test_a_user_output_is_known_with_its_user_block() -> None:
    program = program_of("2 G 5", "4 U1 1", "5 UO 4", "6 UO 4")
    assert program.sort_list() == [4, 2]
    assert store_order(program.blocks) == [4, 5, 6, 2]
    assert loop_of(program_of("2 G 5", "4 U1 2", "5 UO 4").blocks) == (2, 4, 5)


def test_an_input_that_is_not_configured_is_another_problem() -> None:
    assert program_of("2 G 9").sort_list() == [2]


@st.composite
def programs(draw: st.DrawFn) -> CsmpProgram:
    numbers = draw(st.lists(st.integers(2, 40), unique=True, min_size=1, max_size=14))
    program = CsmpProgram()
    sources = st.sampled_from([0, 1, *numbers])
    for number in numbers:
        kind = draw(st.sampled_from(["W", "W", "W", "I", "T1", "U", "K", "V", "G", "U1"]))
        count = {"K": 0, "V": 0, "G": 1, "U": 1}.get(kind, 3)
        inputs = [draw(sources) if place < count else 0 for place in range(3)]
        program.configure(BlockStatement(number, kind, (inputs[0], inputs[1], inputs[2])))
    users = [number for number in numbers if program.blocks[number].kind == "U1"]
    if users:
        program.configure(BlockStatement(50, "UO", (draw(st.sampled_from(users)), 0, 0)))
        reader = draw(st.sampled_from(users))
        program.configure(BlockStatement(reader, "U1", (50, 0, 0)) if draw(st.booleans()) else program.blocks[reader])
    return program


@pytest.mark.slow
@given(programs())
def test_the_order_is_that_of_the_report_by_the_letter(program: CsmpProgram) -> None:
    expected = sorted_by_the_letter(program)
    to_be_sorted = {number for number, block in program.blocks.items() if block.kind != "UO"}
    if set(expected) == to_be_sorted:
        assert program.sort_list() == expected
        assert sort_failure(program.blocks) is None
        return
    said = sort_failure(program.blocks)
    assert said is not None
    assert said.block == min(to_be_sorted - set(expected))
    # each block of the loop is an input of the next one
    for source, reader in zip(said.loop, (*said.loop[1:], said.loop[0]), strict=True):
        assert source in program.blocks[reader].inputs
        assert program.blocks[source].kind not in {"I", "T1", "K", "U"}
