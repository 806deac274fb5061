"""Model files: those of 1976 are read and written to the letter, what we write reads back, and every problem of a file is said at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tidegate as tg
from tidegate.csmp.language import (
    BlockStatement,
    ConfigurationReader,
    Control,
    CsmpProgram,
    Diagnostic,
    FunctionReader,
    Notice,
    ParameterReader,
    read,
    write,
)
from tidegate.csmp.language.fields import title_of
from tidegate.csmp.language.model_lines import Part, read_statements, read_tolerantly
from tidegate.csmp.language.sections import HEADINGS, sections_of

GOLDEN = Path(__file__).parents[2] / "golden" / "csmp"
LISTING = json.loads((GOLDEN / "csmp.json").read_text())["spring"]["stored_AS_listing"]
HEADED = sorted(path for path in GOLDEN.glob("*.mod") if path.stem not in {"loop", "spring_listing"})
COMMENTED = """CONFIGURATIONS :
Decay of a table
BLK TYPE B1 B2 B3
2 T1 3 ; Level $ of the tank; in m
3 F 1

PARAMETERS :
BLK P1 P2 P3
2 0 0.1 $ time constant
3 $ linear

FUNCTIONS :
BLK NO. 3 $ inflow
COORD PAIRS :
0 0.3333333333333333 $ dry
1 1E-07


"""


def same(one: CsmpProgram, other: CsmpProgram) -> bool:
    def content(program: CsmpProgram) -> object:
        blocks = [(block.number, block.kind, block.inputs, block.signs, block.label, block.comment) for block in program.blocks.values()]
        comments = program.parameter_comments, program.function_comments, program.pair_comments
        return program.title, sorted(blocks), program.parameters, program.functions, *comments

    return content(one) == content(other)


@pytest.mark.parametrize("path", HEADED, ids=lambda path: path.stem)
def test_files_of_five_digits_are_written_as_they_were_read(path: Path) -> None:
    program, control = read(path)
    assert control == {}
    assert program.is_complete
    assert write(program, digits="five") == path.read_text()


def test_the_listing_in_sorted_order_is_the_reports() -> None:
    program, _ = read(GOLDEN / "spring.mod")
    listing = write(program, headed=False, order="sorted", digits="five")
    assert listing.rstrip("\n").split("\n") == LISTING
    assert listing == (GOLDEN / "spring_listing.mod").read_text()


def test_both_forms_hold_the_same_model() -> None:
    assert same(read(GOLDEN / "spring.mod")[0], read(GOLDEN / "spring_listing.mod")[0])


def test_comments_and_all_digits_are_kept() -> None:
    program, _ = read(COMMENTED)
    assert program.blocks[2].comment == "of the tank; in m"
    assert program.pair_comments == {(3, 0.0): "dry"}
    assert write(program) == COMMENTED
    assert "$" not in write(program, comments=False)


def test_control_stands_behind_the_last_empty_line() -> None:
    control: Control = {"lower": 0.0, "upper": 20.0, "interval": 0.1, "outputs": tuple(range(2, 60)), "every": 1.0, "percent": 0.01, "seed": 524287}
    for name in ("spring.mod", "ball.mod"):
        program, _ = read(GOLDEN / name)
        for headed in (True, False):
            text = write(program, control=control, headed=headed)
            before, after = text.split("\nCONTROL :\n")
            # the old reader sees the two empty lines that end a file, and stops
            assert before.endswith("\n\n")
            assert max(map(len, after.split("\n"))) <= 72
            again, kept = read(text)
            assert kept == control
            assert same(again, program)


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("UPER 20", "did you mean 'UPPER'?"),
        ("UPPER", "one number"),
        ("UPPER X", "not a number"),
        ("SEED 1.5", "integer"),
        ("OUTPUTS 0", "block numbers"),
    ],
)
def test_a_faulty_line_of_control_is_said(line: str, hint: str) -> None:
    with pytest.raises(tg.CsmpError) as raised:
        read(f"{COMMENTED}\nCONTROL :\nLOWER 0\n{line}\n")
    (said,) = raised.value.diagnostics
    assert said.text == f'INCORRECT RECORD "{line}" ****'
    assert hint in said.hint
    assert said.line == COMMENTED.count("\n") + 4


@pytest.mark.parametrize(("part", "kinds"), [("ALL", ["CON", "PAR", "FUN"]), ("CON", ["CON"]), ("PAR", ["PAR"]), ("FUN", ["FUN"])])
def test_sections_can_be_written_one_by_one(part: Part, kinds: list[str]) -> None:
    program, _ = read(COMMENTED)
    sections = sections_of(write(program, sections=part))
    assert [section.kind for section in sections] == kinds
    assert [section.title for section in sections if section.kind == "CON"] == ["Decay of a table"] * (part in {"ALL", "CON"})


def test_functions_come_as_they_are_typed() -> None:
    (functions,) = (section for section in sections_of(COMMENTED) if section.kind == "FUN")
    assert functions.line == 12
    assert functions.lines == ((13, "3 $ inflow"), (15, "0 0.3333333333333333 $ dry"), (16, "1 1E-07"), (17, ""))


@pytest.mark.parametrize(
    "text",
    [
        COMMENTED.replace("\n", "\r\n"),
        COMMENTED.lower().replace("decay of", "Decay of").replace("level", "Level"),
        COMMENTED.replace("BLK TYPE B1 B2 B3", "BLK, TYPE, B1, B2, B3").replace(" :", ":"),
        COMMENTED.replace("BLK NO. 3", "BLK NO. = 3"),
        "written long ago\n\n" + COMMENTED,
        COMMENTED.rstrip("\n"),
        COMMENTED.replace("\n\nFUNCTIONS", "\nFUNCTIONS"),
        COMMENTED.replace("BLK TYPE B1 B2 B3\n", ""),
        COMMENTED.replace("\n\nPARAMETERS", "\n\nmore words, which nobody reads\n\nPARAMETERS"),
    ],
    ids=["carriage returns", "lower case", "commas", "as typed", "preface", "no end", "no empty line", "no columns", "words between"],
)
def test_files_that_people_edited_are_read(text: str) -> None:
    assert same(read(text)[0], read(COMMENTED)[0])


def test_a_file_without_a_title_is_read() -> None:
    program, _ = read(COMMENTED.replace("Decay of a table\n", ""))
    assert (program.title, program.numbers) == ("", [2, 3])


def test_sections_may_come_in_any_order() -> None:
    parameters, functions = COMMENTED.index("PARAMETERS"), COMMENTED.index("FUNCTIONS")
    turned = COMMENTED[functions:] + COMMENTED[parameters:functions] + COMMENTED[:parameters]
    assert same(read(turned)[0], read(COMMENTED)[0])


def test_all_problems_of_a_file_are_said_at_once_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "faulty.mod"
    file.write_text(
        "CONFIGURATIONS :\nFAULTY\nBLK TYPE B1 B2 B3\n2 G 3 4\n3 QQ 2\n4 G 9\n5 G 6\n6 G 5\n\n"
        "PARAMETERS :\nBLK P1 P2 P3\n2 1\n4 1 2 3 4\n7 1\n\n"
        "FUNCTIONS :\nBLK NO. 4\nCOORD PAIRS :\n0 0\n1 1\n\n\n"
    )
    with pytest.raises(tg.CsmpError) as raised:
        read(file)
    # block 2 has no parameters because its statement was refused: that is no second problem
    assert [(one.text, one.line) for one in raised.value.diagnostics] == [
        ("ERROR IN BLK 2", 4),
        ('BLK 3 HAS AN ILLEGAL BLK TYPE ("QQ")', 5),
        ("IMPROPER PARAM SPECIFICATION", 13),
        ("NO CORRESPONDING CONFIG STATEMENT", 14),
        ("BLK 4 IS NOT AN F BLK", 17),
        ("I/P (BLK 9) TO BLK 4 IS NOT DEFINED", 6),
        ("SORT FAILURE AT BLK 5", 7),
    ]
    assert {one.file for one in raised.value.diagnostics} == {str(file)}
    assert str(raised.value).startswith(f"the model has 7 problems:\n  - ERROR IN BLK 2 (at {file}:4); type G (gain) has at most 1 input")
    assert read_tolerantly(file).program.numbers == [4, 5, 6]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n", "NO CONFIGS IN MODEL I/P FILE"),
        ("PARAMETERS :\nBLK P1 P2 P3\n2 1\n\n", "NO CONFIGS IN MODEL I/P FILE"),
        (COMMENTED + COMMENTED[COMMENTED.index("FUNCTIONS") :], "FUNCTS ALREADY READ FROM MODEL I/P FILE"),
        (COMMENTED + COMMENTED[COMMENTED.index("PARAMETERS") : COMMENTED.index("FUNCTIONS")], "PARAMS ALREADY READ FROM MODEL I/P FILE"),
        (COMMENTED + COMMENTED[: COMMENTED.index("PARAMETERS")], "CONFIGS ALREADY READ FROM MODEL I/P FILE"),
    ],
)
def test_sections_that_are_missing_or_there_twice_are_said(text: str, said: str) -> None:
    with pytest.raises(tg.CsmpError) as raised:
        read(text)
    assert [one.text for one in raised.value.diagnostics] == [said]


def test_a_file_that_is_not_there_is_a_slip_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(tg.UsageError, match="cannot be read"):
        read(tmp_path / "missing.mod")


def test_files_of_other_encodings_are_read(tmp_path: Path) -> None:
    file = tmp_path / "old.mod"
    file.write_bytes(COMMENTED.replace("Decay", "D\u00e9cay").encode("latin-1"))
    assert read(file)[0].title == "D\u00e9cay of a table"


@pytest.mark.parametrize(
    "block",
    [
        BlockStatement(4, "G", (1, 0, 0), label="ELEVEN CHARS"),
        BlockStatement(4, "G", (1, 0, 0), label="A$B"),
        BlockStatement(4, "G", (1, 0, 0), comment="one\ntwo"),
        BlockStatement(4, "G", (1, 2, 0)),
        BlockStatement(4, "GAIN", (1, 0, 0)),
        BlockStatement(1, "K"),
    ],
)
def test_a_program_that_would_not_read_back_is_not_written(block: BlockStatement) -> None:
    program = CsmpProgram(blocks={block.number: block})
    with pytest.raises(tg.CsmpError):
        write(program)


def test_values_that_would_not_read_back_are_not_written() -> None:
    for change in (
        lambda program: program.parameters.update({2: (float("inf"), 0.0, 0.0)}),
        lambda program: program.parameters.update({9: (1.0, 0.0, 0.0)}),
        lambda program: program.parameter_comments.update({2: "one\ntwo"}),
        lambda program: program.functions.update({3: [(0.0, 1.0), (0.0, 2.0)]}),
        lambda program: program.functions.update({2: [(0.0, 1.0)]}),
        lambda program: setattr(program, "title", "one\ntwo"),
    ):
        program, _ = read(COMMENTED)
        change(program)
        with pytest.raises(tg.CsmpError):
            write(program)


def test_a_pair_that_five_digits_would_lose_is_not_lost() -> None:
    program = read(COMMENTED)[0]
    program.functions[3] = [(1.0, 1.0), (1.000001, 2.0)]
    write(program)
    with pytest.raises(tg.CsmpError, match="write all digits"):
        write(program, digits="five")


def test_sorted_order_needs_a_sort() -> None:
    program = read_tolerantly(GOLDEN / "loop.mod").program
    assert read_statements(write(program)).program.numbers == [2, 3, 4]
    with pytest.raises(tg.CsmpError, match="SORT FAILURE AT BLK 2"):
        write(program, order="sorted")


# what fingers do: pieces of statements, put together well or badly
NUMBERS = ["2", "3", "10", "1", "0", "-3", "+4", "4.5", "1E3", "2D-1", "1E999"]
TYPES = ["G", "I", "F", "K", "+", "-", "/", "T1", "U", "U3", "UO", "V", "Y", "QQ"]
OTHERS = [
    ",",
    ",,",
    " ",
    ";",
    "; Label",
    "$",
    "$ why",
    "\t",
    "\0",
    "\r",
    "\n",
    "BLK NO. 3",
    "COORD PAIRS :",
    "PARAMETERS :",
    "BLK TYPE B1",
    "B",
    "\u00e9",
]
pieces = st.sampled_from([*NUMBERS, *TYPES, *OTHERS])
lines = st.lists(pieces, max_size=7).map(" ".join) | st.text(max_size=30)


@pytest.mark.slow
@given(st.text(max_size=80), st.lists(lines, max_size=25), st.lists(lines, max_size=10), st.lists(lines, max_size=15))
@example("CONFIGURATIONS :", ["2 K"], ["2 1"], [])
@example("BLK TYPE", ["2 K"], ["2 1"], [])
@example("", ["10 F 1 ; PAR $ :"], ["10 $ why"], ["10 $ a", "0 0 $ b", "", "10", "1 -0.0"])
def test_no_statement_raises_or_loses_the_model(title: str, configurations: list[str], parameters: list[str], functions: list[str]) -> None:
    program = CsmpProgram(title=title_of(title))
    for reader, typed in (
        (ConfigurationReader(program), configurations),
        (ParameterReader(program), parameters),
        (FunctionReader(program), functions),
    ):
        for line in typed:
            assert all(isinstance(one, Diagnostic | Notice) for one in reader.take(line).messages)
        assert all(isinstance(one, Diagnostic) for one in reader.finish())
    assert all(isinstance(one, Diagnostic) for one in program.problems())
    if program.is_configured:
        assert len(program.sort_list()) == sum(block.kind != "UO" for block in program.blocks.values())
    # comments of functions that have no pairs yet have no place in a file
    for number in set(program.function_comments) - set(program.functions):
        del program.function_comments[number]
    for headed in (True, False):
        try:
            again = read_statements(write(program, headed=headed))
        except tg.CsmpError:
            # without headings a title must not look like one
            assert not headed
            assert program.title.rstrip(" :").upper() in HEADINGS
        else:
            assert same(again.program, program)


@pytest.mark.slow
@given(st.lists(lines, max_size=40).map("\n".join))
def test_no_text_raises_anything_but_the_diagnostics_of_the_language(text: str) -> None:
    reading = read_tolerantly(text + "\n")
    if reading.diagnostics:
        with pytest.raises(tg.CsmpError) as raised:
            read(text + "\n")
        assert raised.value.diagnostics == reading.diagnostics
    else:
        program, control = read(text + "\n")
        assert same(read(write(program, control=control))[0], reading.program)
