"""The output program obeys the commands of the report's Table 2b."""

from __future__ import annotations

from pathlib import Path

import pytest

from printed_spring import TABLE, Script, Session
from tidegate.csmp.trans import OutputProgram
from tidegate.results import Column, Result


def test_the_heading_of_the_report_is_printed(spring: Result, tmp_path: Path) -> None:
    script = Script(["EXIT"])
    OutputProgram(spring, script, tmp_path / "spring.nc").run()
    assert script.said[:4] == [
        "NON-LINEAR SPRING WITH DASHPOT",
        "I/P FILE RECORDED ON 21-APR-76 AT 16:57",
        "INTEGN INT = 1.0000E-01; RUN CPU TIME = 1.25 SEC.",
        "TIME FROM 0.0000E-01 TO 2.0000E+01 IN STEPS OF 1.0000E+00",
    ]


def test_the_table_of_the_report_is_printed_on_the_terminal(session: Session) -> None:
    said = session("PRC", "A", "Y", "GOE", "EXI")
    assert said[:4] == ["PRINTING IN COLUMNS:", "BLKS", "IS O/P TO TTY REQRD:", "**** RUNNING ****"]
    assert [line.split() for line in said[4:]] == [line.replace("\t", " ").split() for line in TABLE.read_text().splitlines()]


def test_a_list_takes_several_lines_and_ends_with_an_empty_one(session: Session) -> None:
    said = session("prcolumn", "9, 4", "48 $ speed", "", "y", "goe")
    assert said[4].split() == "TIME BLK# 9 BLK# 4 BLK# 48".split()


def test_the_plot_of_the_report_shows_its_scales_first(session: Session) -> None:
    said = session("PRP", "9, 4", "", "Y", "GOE")
    assert said[0] == "PRINTER PLOTS:"
    assert said[4] == "SCALES"
    assert [line.split()[:3] for line in said[5:7]] == [["*", "BLK#", "9"], ["+", "BLK#", "4"]]
    assert len(said) == 7 + 2 + 21 + 1


@pytest.mark.slow
def test_output_that_is_not_for_the_terminal_goes_to_files(session: Session, tmp_path: Path) -> None:
    said = session("PRC", "A", "", "PRP", "9", "", "N", "PLS", "9,4", "", "PLO", "A", "GOE")
    assert said[-4:] == [f"O/P TO {tmp_path / name}" for name in ("spring_table.txt", "spring_plot.txt", "spring_strip.png", "spring_overlay.png")]
    assert "Y DBLE DOT" in (tmp_path / "spring_table.txt").read_text()
    assert "SCALES" in (tmp_path / "spring_plot.txt").read_text()
    assert (tmp_path / "spring_strip.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_picture_may_be_given_a_name(session: Session, tmp_path: Path) -> None:
    assert session(f"PLO {tmp_path / 'both.svg'}", "9 4", "", "GOE")[-1] == f"O/P TO {tmp_path / 'both.svg'}"
    assert session(f"PLO {tmp_path / 'both.svg'}", "9 4", "", "GOE")[-1] == f"HAVE OVERWRITTEN FILE {tmp_path / 'both.svg'}"
    assert any(line.startswith("! cannot save a picture") for line in session("PLO both.doc", "9 4", "", "GOE"))


def test_a_form_asked_for_again_replaces_itself_before_goe_and_is_new_after_it(session: Session, tmp_path: Path) -> None:
    said = session("PRC", "A", "N", "PRC", "9", "", "N", "GOE", "PRC", "4", "", "N", "GOE")
    assert [line for line in said if line.startswith("O/P TO")] == [
        f"O/P TO {tmp_path / name}" for name in ("spring_table.txt", "spring_table_2.txt")
    ]
    assert "DBLE" not in (tmp_path / "spring_table.txt").read_text()
    assert "DBLE" in (tmp_path / "spring_table_2.txt").read_text()


@pytest.mark.slow
def test_run_asks_for_three_forms_and_skips_what_gets_no_blocks(session: Session, tmp_path: Path) -> None:
    said = session("RUN", "9", "", "Y", "", "4", "")
    assert [line for line in said if line.endswith(":") and "TTY" not in line] == ["PRINTING IN COLUMNS:", "PRINTER PLOTS:", "STRIP PLOTS:"]
    assert said.count("**** RUNNING ****") == 1
    assert said[-1] == f"O/P TO {tmp_path / 'spring_strip.png'}"


def test_labels_and_titles_can_be_replaced(session: Session, tmp_path: Path) -> None:
    session("LABEL", "SPRING", "9, POSITION", "4 ACCELERATION", "", "LAB 48, SPEED", "PRC", "A", "N", "GOE")
    lines = (tmp_path / "spring_table.txt").read_text().splitlines()
    assert lines[0] == "SPRING"
    assert lines[6].split() == "TIME POSITION ACCELERATION SPEED F(Y)".split()


def test_scales_can_be_replaced_and_made_automatic_again(session: Session) -> None:
    plot = ("PRP", "9", "", "Y", "GOE")
    assert session("SCALE", "9, -20, 20", "", *plot)[-25].split()[-3:] == ["-2.00E+01", "TO", "2.00E+01"]
    assert session("SCA 9 -20 20", "SCA 9", *plot)[-25].split()[-3:] == ["-1.00E+01", "TO", "8.00E+00"]


def test_time_limits_and_step_can_be_replaced(session: Session) -> None:
    said = session("TIME", "10, 20, 5", "PRC", "9", "", "Y", "GOE")
    assert said[1] == "TIME FROM 1.0000E+01 TO 2.0000E+01 IN STEPS OF 5.0000E+00"
    assert [line.split()[0] for line in said[-3:]] == ["1.00E+01", "1.50E+01", "2.00E+01"]
    assert session("TIM 10,20", "TIM", "")[-1] == "TIME FROM 0.0000E-01 TO 2.0000E+01 IN STEPS OF 1.0000E+00"


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        (["FOO"], "! COMMAND ERROR"),
        (["GOE"], "! MORE WORK TO DO"),
        (["PRC", "7", ""], "! BLK 7 NOT USED"),
        (["PRC", "A", "Y", "PRP", "A", "Y"], "! A TABLE AND A PLOT CANNOT BOTH GO TO THE TTY IN ONE GOE"),
        (["TIME 0, 30"], "! time from 0 to 30 is not inside the file's, which goes from 0 to 20"),
        (["TIME X"], "! SYNTAX ERROR"),
        (["SCALE 9, 1"], "! SYNTAX ERROR"),
        (["SCALE 9, 1, 1"], "! no scale goes from 1 to 1"),
        (["SCALE", "A, 1, 2", ""], "! SYNTAX ERROR"),
        (["LABEL", "", "7, X", ""], "! BLK 7 NOT USED"),
    ],
)
def test_mistakes_are_answered_and_the_session_goes_on(session: Session, replies: list[str], message: str) -> None:
    said = session(*replies, "TIME 0, 1")
    assert message in said
    assert said[-1] == "TIME FROM 0.0000E-01 TO 1.0000E+00 IN STEPS OF 1.0000E+00"


def test_at_most_a_hundred_blocks_go_by_number_and_any_number_as_all(session: Session) -> None:
    many = Result(
        "m", [Column(f"b{i}", description=f"block {i}") for i in range(2, 112)], [0.0, 1.0], [[1.0] * 110] * 2, options={"recorded": "2026-01-01"}
    )
    numbers = [f"{i} {i + 1}" for i in range(2, 112, 2)]
    assert "! MAX OF 100 BLKS EXCEEDED" in session("PRC", *numbers, "", "Y", result=many)
    assert "! MAX OF 8 BLKS EXCEEDED" in session("PLO", "A", result=many)
    assert not any(line.startswith("!") for line in session("PRC", "A", "Y", "GOE", result=many))


def test_help_names_every_command(session: Session) -> None:
    names = {line.split()[0] for line in session("?") if line and line.split()[0].isupper()}
    assert {"PRCOLUMN", "PRPLOT", "PLSTRIP", "PLOVERLAY", "LABEL", "SCALE", "TIME", "GOE", "RUN", "EXIT"} <= names


def test_replies_that_end_in_the_middle_of_a_question_end_the_session(session: Session) -> None:
    assert session("PRC", "9")[-1] == "BLKS"
