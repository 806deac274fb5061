"""What keeps a program from being sorted or run is said all at once."""

import pytest

from tidegate.csmp.language import CsmpProgram
from tidegate.csmp.language.model_lines import read_statements


def program_of(configurations: str, parameters: str = "", functions: str = "") -> CsmpProgram:
    reading = read_statements(
        f"TITLE\n{configurations}\n\n{parameters}\n\n{functions}\n\n" if parameters else f"TITLE\n{configurations}\n\n\n{functions}"
    )
    assert reading.diagnostics == []
    return reading.program


def said_of(program: CsmpProgram) -> list[str]:
    return [one.text for one in program.problems()]


@pytest.mark.parametrize(
    ("configurations", "text"),
    [
        ("2 G 7", "I/P (BLK 7) TO BLK 2 IS NOT DEFINED"),
        ("2 G 1\n3 Y 2 2", "I/P B2 FOR Y BLK 3 IS NOT A V BLK"),
        ("2 G 1\n3 Y 2", "I/P B2 FOR Y BLK 3 IS NOT A V BLK"),
        ("2 G 1\n3 UO 2", "I/P B1 FOR UO BLK 3 IS NOT THE ASSOCIATED USER-DEFINED BLK 2"),
        ("2 U 1\n3 UO 2", "I/P B1 FOR UO BLK 3 IS NOT THE ASSOCIATED USER-DEFINED BLK 2"),
        ("2 G 3\n3 G 2", "SORT FAILURE AT BLK 2"),
    ],
)
def test_the_end_of_a_configuration_is_checked(configurations: str, text: str) -> None:
    program = program_of(configurations)
    assert [one.text for one in program.configuration_problems()] == [text]
    assert not program.is_configured


def test_two_wyes_on_one_vacuous_block_are_refused_and_both_are_named() -> None:
    (problem,) = program_of("2 V\n3 G 2\n4 Y 3 2\n5 Y 3 2").configuration_problems()
    assert problem.text == "ERROR IN BLK 5"
    assert problem.hint == "V block 2 already serves Y block 4; Y block 5 needs a V block of its own"


def test_all_problems_are_said_at_once() -> None:
    program = program_of("2 + 7 8 7\n3 Y 2\n4 UO 9\n5 G 6\n6 G 5")
    assert [one.text for one in program.configuration_problems()] == [
        "I/P (BLK 7) TO BLK 2 IS NOT DEFINED",
        "I/P (BLK 8) TO BLK 2 IS NOT DEFINED",
        "I/P B2 FOR Y BLK 3 IS NOT A V BLK",
        "I/P (BLK 9) TO BLK 4 IS NOT DEFINED",
        "SORT FAILURE AT BLK 5",
    ]


def test_wyes_and_user_outputs_that_fit_are_accepted() -> None:
    assert program_of("2 V\n3 G 2\n4 Y 3 2\n5 U15 4\n6 UO 5\n7 G 6").is_complete


def test_a_model_without_blocks_is_not_complete() -> None:
    assert said_of(CsmpProgram()) == ["CONFIGS NOT COMPLETE"]
    assert not CsmpProgram().is_configured


def test_a_function_needs_pairs() -> None:
    program = program_of("2 F 1")
    assert program.is_configured
    assert not program.is_complete
    assert said_of(program) == ["FUNCTS NOT COMPLETE"]


@pytest.mark.parametrize(
    ("configurations", "parameters", "functions"),
    [
        ("2 T1 1", "2 1", ""),
        ("2 F 1", "2 1.5", "2\n0 0\n1 1\n"),
        ("2 F 1", "2 -4", "2\n0 0\n1 1\n"),
        ("2 F 1", "2 1", "2\n0 0\n"),
        ("2 F 1", "2 2", "2\n0 0\n1 1\n"),
    ],
)
def test_values_that_no_run_can_use_are_improper(configurations: str, parameters: str, functions: str) -> None:
    assert said_of(program_of(configurations, parameters, functions)) == ["IMPROPER PARAM SPECIFICATION"]


@pytest.mark.parametrize(
    ("configurations", "parameters", "functions"),
    [("2 T1 1", "2 0 1", ""), ("2 F 1", "2 2", "2\n0 0\n1 1\n2 3\n"), ("2 F 1", "2 -3", "2\n0 0\n"), ("2 F 1", "2 0", "2\n0 0\n1 1\n")],
)
def test_values_that_a_run_can_use_are_not(configurations: str, parameters: str, functions: str) -> None:
    assert said_of(program_of(configurations, parameters, functions)) == []


def test_numbers_that_python_put_in_must_be_finite() -> None:
    program = program_of("2 F 1", "2 1", "2\n0 0\n1 1\n")
    program.parameters[2] = (float("nan"), 0.0, 0.0)
    assert said_of(program) == ["IMPROPER PARAM SPECIFICATION"]
