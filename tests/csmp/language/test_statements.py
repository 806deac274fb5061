"""Statements change a program line by line, and what is wrong is answered in the report's words, leaving the program as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tidegate.csmp.language import (
    BlockStatement,
    ConfigurationReader,
    CsmpProgram,
    Diagnostic,
    FunctionReader,
    Limits,
    ParameterReader,
    StatementReader,
)
from tidegate.csmp.language.block_kinds import KINDS, is_user_kind
from tidegate.errors import Origin

SESSION = json.loads((Path(__file__).parents[2] / "golden" / "csmp" / "csmp.json").read_text())["session_4_1_4"]


def say_to(reader: StatementReader, *lines: str) -> list[str]:
    return [one.text for line in lines for one in reader.take(line).messages]


def configured(*lines: str) -> CsmpProgram:
    program = CsmpProgram()
    assert say_to(ConfigurationReader(program), *lines) == []
    return program


class TestTheSessionOfTheReport:
    def test_gives_the_same_messages_and_model(self) -> None:
        program = CsmpProgram(title=SESSION["title"])
        configurations, parameters, functions = ConfigurationReader(program), ParameterReader(program), FunctionReader(program)
        said = say_to(configurations, *SESSION["configurations"])
        assert configurations.take("").is_done
        assert configurations.finish() == []
        said += say_to(parameters, *SESSION["parameters"])
        said += [text for text in say_to(functions, "10", *SESSION["pairs_of_block_10"], "") if text != "COORD PAIRS :"]
        assert not program.problems()
        assert functions.take("").is_done
        assert said == SESSION["messages"]
        assert program.blocks[4] == BlockStatement(4, "/", (17, 6, 0), label="Y DBLE DOT")
        assert program.numbers == [4, 6, 9, 10, 17, 48]
        assert program.parameters == {6: (-5.0, 0.0, 0.0), 9: (-10.0, 0.0, 0.0), 17: (2.0, 1.0, 0.0)}
        xs = [-10, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10]
        assert program.functions == {10: [(x, x * abs(x)) for x in xs]}

    def test_asks_as_the_report_does(self) -> None:
        program = configured("10 F 1")
        reader = FunctionReader(program)
        assert (ConfigurationReader.headings, ParameterReader.headings) == (
            ("CONFIGURATIONS :", "BLK, TYPE, B1, B2, B3"),
            ("PARAMETERS :", "BLK, P1, P2, P3"),
        )
        assert (reader.headings, reader.prompt) == (("FUNCTIONS :",), "BLK NO. =")
        assert say_to(reader, "10") == ["COORD PAIRS :"]
        assert reader.prompt == ""
        reader.take("")
        assert reader.prompt == "BLK NO. ="


class TestConfigurations:
    @pytest.mark.parametrize("kind", KINDS)
    def test_each_type_takes_as_many_inputs_as_its_table_says(self, kind: str) -> None:
        allowed = KINDS[kind].n_inputs
        program = CsmpProgram()
        reader = ConfigurationReader(program)
        assert say_to(reader, " ".join(["2", kind.lower(), *("1",) * allowed])) == []
        assert program.blocks[2].kind == kind
        assert say_to(reader, " ".join(["3", kind, *("1",) * (allowed + 1)])) == ["ERROR IN BLK 3"]
        assert 3 not in program.blocks

    def test_there_are_42_types_with_codes_of_their_own(self) -> None:
        assert len(KINDS) == 42
        assert len({kind.code for kind in KINDS.values()}) == 42
        assert [kind for kind in KINDS if is_user_kind(kind)] == [f"U{m}" for m in range(1, 16)]

    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ("1 K", "BLK 1 RESERVED FOR TIME"),
            ("0 K", "INVALID BLK NO."),
            ("-4 K", "INVALID BLK NO."),
            ("4.5 K", "INVALID BLK NO."),
            ("A K", "INVALID BLK NO."),
            ("100000 K", "INVALID BLK NO."),
            ("4 Q1 3", 'BLK 4 HAS AN ILLEGAL BLK TYPE ("Q1")'),
            ("4 U16", 'BLK 4 HAS AN ILLEGAL BLK TYPE ("U16")'),
            ("4 U0 3", 'BLK 4 HAS AN ILLEGAL BLK TYPE ("U0")'),
            ("4 | 17 6", 'BLK 4 HAS AN ILLEGAL BLK TYPE ("|")'),
            ("4 gain 3", 'BLK 4 HAS AN ILLEGAL BLK TYPE ("gain")'),
            ("4 G 3 2", "ERROR IN BLK 4"),
            ("4 G,,2", "ERROR IN BLK 4"),
            ("4 I 1 1 1 1", "ERROR IN BLK 4"),
            ("4 G -3", "ERROR IN BLK 4"),
            ("4 W 1 +3", "ERROR IN BLK 4"),
            ("4 + 3 2.5", "ERROR IN BLK 4"),
            ("4 + 3 B", "ERROR IN BLK 4"),
            ("4", "ERROR IN BLK 4"),
            ("4,,3", "ERROR IN BLK 4"),
            ("4; LABEL", "ERROR IN BLK 4"),
        ],
    )
    def test_a_faulty_statement_is_ignored_and_said(self, line: str, text: str) -> None:
        program = configured("5 K")
        outcome = ConfigurationReader(program).take(line, Origin("spring.mod", 3, line))
        (said,) = outcome.messages
        assert isinstance(said, Diagnostic)
        assert (said.text, said.file, said.line, said.statement) == (text, "spring.mod", 3, line)
        assert said.hint
        assert not outcome.is_done
        assert program.numbers == [5]

    def test_an_illegal_type_is_answered_with_the_type_that_may_be_meant(self) -> None:
        program = CsmpProgram()
        hints = {line: ConfigurationReader(program).take(line).messages[0] for line in ("4 GAIN 3", "4 U0 3", "4 U16", "4 | 1", "4 INTEGRATOR")}
        said = {line: one.hint for line, one in hints.items() if isinstance(one, Diagnostic)}
        assert "the gain is G" in said["4 GAIN 3"]
        assert "UO with the letter O" in said["4 U0 3"]
        assert "U1 to U15" in said["4 U16"]
        assert "the divider is /" in said["4 | 1"]
        assert "the integrator is I" in said["4 INTEGRATOR"]

    def test_summers_have_signs(self) -> None:
        program = configured("4 + 3 -9 +1", "5 +,-1,,-3")
        assert (program.blocks[4].inputs, program.blocks[4].signs) == ((3, 9, 1), (1, -1, 1))
        assert (program.blocks[5].inputs, program.blocks[5].signs) == ((1, 0, 3), (-1, 1, -1))

    def test_an_input_of_zero_is_none(self) -> None:
        assert configured("4 I 0 0 3").blocks[4] == configured("4 I,,,3").blocks[4]
        assert configured("4 G 3 0 0").blocks[4].inputs == (3, 0, 0)

    def test_a_number_alone_deletes_with_all_values(self) -> None:
        program = configured("10 F 1")
        say_to(ParameterReader(program), "10 2 $ parabola")
        say_to(FunctionReader(program), "10 $ table", "0 0 $ origin")
        assert say_to(ConfigurationReader(program), "10") == ["PREV BLK 10 DELETED"]
        assert (program.blocks, program.parameters, program.functions, program.parameter_comments) == ({}, {}, {}, {})
        assert (program.function_comments, program.pair_comments) == ({}, {})

    def test_a_new_statement_keeps_the_values_of_its_type_only(self) -> None:
        program = configured("10 F 1", "11 G 1")
        say_to(ParameterReader(program), "10 1", "11 3")
        say_to(FunctionReader(program), "10", "0 0", "1 1")
        assert say_to(ConfigurationReader(program), "10 F 11", "11 G 10") == ["PREV BLK 10 DELETED", "PREV BLK 11 DELETED"]
        assert program.parameters == {10: (1.0, 0.0, 0.0), 11: (3.0, 0.0, 0.0)}
        assert program.functions == {10: [(0.0, 0.0), (1.0, 1.0)]}
        say_to(ConfigurationReader(program), "10 G 11", "11 O 10")
        assert (program.parameters, program.functions) == ({}, {})

    def test_sizes_of_the_start_up_are_held(self) -> None:
        program = CsmpProgram()
        reader = ConfigurationReader(program, Limits(highest=9, integrators=2, delays=1, functions=1))
        said = say_to(reader, "2 I 1", "3 T1 1", "4 I 1", "5 U 1", "6 U 1", "7 F 1", "8 F 1", "10 K", "9 G 10", "2 T1 1")
        assert said == [
            "MAX OF 2 I & T1 BLKS EXCEEDED",
            "MAX OF 1 U BLKS EXCEEDED",
            "MAX OF 1 F BLKS EXCEEDED",
            "INVALID BLK NO.",
            "ERROR IN BLK 9",
            "PREV BLK 2 DELETED",
        ]
        assert program.numbers == [2, 3, 5, 7]


class TestParameters:
    def test_a_statement_replaces_all_three(self) -> None:
        program = configured("17 W 1 1 1")
        say_to(ParameterReader(program), "17, 2, 3, 4", "17,,1.5D0")
        assert program.parameter(17) == (0.0, 1.5, 0.0)
        say_to(ParameterReader(program), "17")
        assert program.parameters == {}

    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ("3 1", "NO CORRESPONDING CONFIG STATEMENT"),
            ("1 1", "NO CORRESPONDING CONFIG STATEMENT"),
            ("17 1 2 3 4", "IMPROPER PARAM SPECIFICATION"),
            ("17 A", "IMPROPER PARAM SPECIFICATION"),
            ("17 1E999", "IMPROPER PARAM SPECIFICATION"),
            ("17 1; LABEL", "IMPROPER PARAM SPECIFICATION"),
            ("0 1", "INVALID BLK NO."),
            ("P1 1", "INVALID BLK NO."),
        ],
    )
    def test_a_faulty_statement_is_ignored_and_said(self, line: str, text: str) -> None:
        program = configured("17 W 1 1 1")
        say_to(ParameterReader(program), "17 7")
        (said,) = ParameterReader(program).take(line, Origin("spring.mod", 3, line)).messages
        assert isinstance(said, Diagnostic)
        assert (said.text, said.line) == (text, 3)
        assert said.hint
        assert program.parameters == {17: (7.0, 0.0, 0.0)}

    def test_an_empty_line_ends_the_set(self) -> None:
        reader = ParameterReader(configured("2 K"))
        assert reader.take("").is_done
        assert reader.finish() == []


class TestFunctions:
    def test_pairs_are_edited_later(self) -> None:
        program = configured("10 F 1")
        say_to(FunctionReader(program), "10", "1 1", "0 0")
        assert say_to(FunctionReader(program), "10", "1 2", "-1 5", "0", "", "") == [
            "COORD PAIRS :",
            "COORD PAIR (1.0000E+00, 1.0000E+00) DELETED",
            "COORD PAIR (0.0000E-01, 0.0000E-01) DELETED",
        ]
        assert program.functions == {10: [(-1.0, 5.0), (1.0, 2.0)]}

    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ("3", "BLK 3 IS NOT AN F BLK"),
            ("2", "BLK 2 IS NOT AN F BLK"),
            ("0", "INVALID BLK NO."),
            ("2.5", "INVALID BLK NO."),
            ("A", 'INCORRECT RECORD "A" ****'),
            ("10 3", 'INCORRECT RECORD "10 3" ****'),
        ],
    )
    def test_a_faulty_block_number_is_asked_for_again(self, line: str, text: str) -> None:
        reader = FunctionReader(configured("2 K", "10 F 2"))
        assert say_to(reader, line) == [text]
        assert reader.prompt == "BLK NO. ="

    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ("1 2 3", 'INCORRECT RECORD "1 2 3" ****'),
            ("1 A", 'INCORRECT RECORD "1 A" ****'),
            ("X 1", 'INCORRECT RECORD "X 1" ****'),
            ("1 2; LABEL", 'INCORRECT RECORD "1 2; LABEL" ****'),
            ("5", "PNT WITH ABSCISSA '5.0000E+00' DOES NOT EXIST"),
        ],
    )
    def test_a_faulty_pair_is_asked_for_again(self, line: str, text: str) -> None:
        program = configured("10 F 1")
        reader = FunctionReader(program)
        assert say_to(reader, "10", "0 0", line) == ["COORD PAIRS :", text]
        assert reader.block == 10
        assert program.functions == {10: [(0.0, 0.0)]}

    def test_without_any_pair_a_function_has_no_table(self) -> None:
        program = configured("10 F 1")
        say_to(FunctionReader(program), "10", "0 0", "0")
        assert program.functions == {}

    def test_sizes_of_the_start_up_are_held(self) -> None:
        program = configured("10 F 1", "11 F 1")
        reader = FunctionReader(program, Limits(functions=1))
        pairs = [f"{x} 0" for x in range(15)]
        assert say_to(reader, "10", *pairs) == ["COORD PAIRS :"]
        # a sixteenth is too many; one in the place of another is not
        assert say_to(reader, "15 0", "14 1") == ["MAX OF 1*15 COORD PAIRS EXCEEDED", "COORD PAIR (1.4000E+01, 0.0000E-01) DELETED"]
        assert say_to(reader, "", "11") == ["MAX OF 1 FUNCTS EXCEEDED"]
