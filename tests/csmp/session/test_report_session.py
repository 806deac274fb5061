"""The sessions that the report shows: what is typed in sections 4 and 5 gives what is printed there."""

from __future__ import annotations

from typing import Any

import pytest

from csmp_sessions import DECAY, RUN_DECAY, Stage

SIZES = ["48", "2, 0, 1"]
RUN = ["INT", "0, 20, 0.1", "OUT", "9, 4, 48, 10", "", ".01, 1"]


def test_the_session_of_section_4_gives_its_messages_and_model(stage: Stage, spring_set_up: list[str], golden: dict[str, Any]) -> None:
    played = stage.script(*SIZES, *spring_set_up, "EXI", asks_sizes=True, is_echoed=True)
    messages = golden["session_4_1_4"]["messages"]
    assert [line for line in played.said if line in messages] == messages
    assert "MODEL COMPLETE" in played.said
    assert played.diagnostics == []
    program = played.state.program
    assert program.sort_list() == golden["spring"]["sort_list"]
    assert program.numbers == [4, 6, 9, 10, 17, 48]
    assert [program.blocks[number].label for number in program.numbers] == ["Y DBLE DOT", "", "Y", "", "", "Y DOT"]
    assert program.parameters == {6: (-5.0, 0.0, 0.0), 9: (-10.0, 0.0, 0.0), 17: (2.0, 1.0, 0.0)}
    assert program.functions[10] == [(float(x), float(x * abs(x))) for x in range(-10, 11, 2)]


def test_the_model_is_listed_as_the_report_lists_it(stage: Stage, spring_set_up: list[str], golden: dict[str, Any]) -> None:
    said = stage.script(*spring_set_up, "TTY:<-M", "STO", "AS").said
    listing = golden["spring"]["stored_AS_listing"]
    start = said.index(listing[0])
    assert said[start : start + len(listing)] == listing


def test_look_shows_the_reports_values(stage: Stage, spring_set_up: list[str], golden: dict[str, Any]) -> None:
    look = golden["spring"]["look"]
    said = stage.script(*spring_set_up, *RUN, "GOE", "LOO", *look, "").said
    assert [line for line in said if line.startswith("O/P")] == [f"O/P = {value}" for value in look.values()]


def test_debug_lists_the_reports_entries(stage: Stage, spring_set_up: list[str], golden: dict[str, Any]) -> None:
    said = stage.script(*spring_set_up, *RUN, "DEB", "0.2, 0.3", "Y", "GOE", "GOE").said
    expected = [
        [str(row[name]) for name in columns]
        for row in golden["spring"]["appendix_E"]["rows"]
        for columns in (("time", "B", "T", "X", "X1", "X2", "X3"), ("M", "P1", "P2", "P3"))
    ]
    first, second = (place for place, line in enumerate(said) if line == "**** RUNNING ****")
    listed = [line.split() for line in said[first + 1 : second] if line[:1] == " " and "X1" not in line and "P1" not in line]
    assert listed == expected
    assert len(said) - second == 4  # the second run lists nothing: RUNNING, CPU time and two lines of the end


def test_a_script_shows_title_runs_and_times_only(stage: Stage) -> None:
    said = stage.script(*SIZES, *DECAY, *RUN_DECAY, "EXI").said
    assert [line.split(":")[0] for line in said] == ["DECAY", "**** RUNNING ****", "RUN CPU TIME", "END OF EXECUTION", "CPU TIME"]


def test_a_dry_run_that_is_recorded_repeats_itself_as_a_script(stage: Stage, spring_set_up: list[str], golden: dict[str, Any]) -> None:
    typed = [*spring_set_up, "INT;OUT", "0, 20, 0.1", "9, 4, 48, 10", "", "0, 1", "GOE", "LOO", "4", "", "EXI"]
    dry = stage.person(*SIZES, *typed, asks_sizes=True)
    assert stage.replies_recorded() == [*SIZES, *typed]
    again = stage.script(*stage.replies_recorded(), asks_sizes=True)
    assert "HAVE OVERWRITTEN FILE OUTPT.DAT ON DSK" in again.said
    assert f"O/P = {golden['spring']['look']['4']}" in again.said
    assert again.state.last is not None
    assert dry.state.last is not None
    assert (again.state.last.rows == dry.state.last.rows).all()
    assert again.state.program.blocks == dry.state.program.blocks


@pytest.mark.parametrize("order", ["together", "apart"])
def test_a_stored_model_is_read_again(stage: Stage, spring_set_up: list[str], order: str) -> None:
    if order == "together":
        first = stage.script(*spring_set_up, "LOG6:SPRNG<-M", "STO", "ALL")
        said = stage.script("LOG2:SPRNG<-I", "CON", "PAR", "FUN", is_echoed=True)
        assert said.said.count("MODEL I/P FROM LOG2:SPRNG.MOD COMPLETED") == 1
    else:
        parts = ["LOG7:SPCON<-M", "STO", "CON", "LOG8:SPDAT<-M", "STO", "PAR", "LOG7:SPFUN<-M", "STO", "FUN"]
        first = stage.script(*spring_set_up, *parts)
        said = stage.script("LOG6:SPCON<-I", "CON", "LOG6:SPDAT<-I", "PAR", "LOG6:SPFUN<-I", "FUN", is_echoed=True)
        assert [line for line in said.said if line.endswith("COMPLETED")] == [
            f"MODEL I/P FROM LOG6:{name}.MOD COMPLETED" for name in ("SPCON", "SPDAT", "SPFUN")
        ]
    assert said.diagnostics == []
    end = said.said.index("MODEL COMPLETE")
    assert said.said[end - 1] == "MODEL I/P FROM TTY:"
    assert said.state.is_complete
    assert said.state.program.title == first.state.program.title
    assert said.state.program.parameters == first.state.program.parameters
    assert said.state.program.functions == first.state.program.functions
    assert said.state.program.sort_list() == first.state.program.sort_list()


def test_what_is_read_from_a_file_is_shown_under_the_same_headings(stage: Stage, spring_set_up: list[str]) -> None:
    stage.script(*spring_set_up, "STO", "ALL")
    said = stage.script("LOG2:MODEL<-I", "LOG2:MODEL<-I", "RUN", is_echoed=True).said
    for text in (
        "CONFIGURATIONS :",
        "NON-LINEAR SPRING WITH DASHPOT",
        "BLK TYPE B1 B2 B3",
        "BLK P1 P2 P3",
        "4 / 17 6 ; Y DBLE DOT",
        "PARAMETERS :",
        "6 -5",
        "BLK NO. 10",
        "COORD PAIRS :",
    ):
        assert said.count(text) == 1
