"""The record of a session is a script that repeats it: what was cancelled is not in it, and what was done is, whatever was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from csmp_random import facts, held_and_replayed
from csmp_sessions import DECAY, INTERRUPT, RUN_DECAY, Stage

ELSEWHERE = "IS IT ELSEWHERE : Y"  # a script ends where a file is missing


@pytest.mark.parametrize(
    "cancelled",
    [
        ["INT", INTERRUPT],
        ["OUT", INTERRUPT],
        ["OUT", "2", INTERRUPT],
        ["OUT", "2", "", INTERRUPT],
        ["LOO", INTERRUPT],
        ["STO", INTERRUPT],
        ["TIT", INTERRUPT],
        ["DEB", "0 1", INTERRUPT],
        ["PRO", INTERRUPT],
        ["SPARE<-I", INTERRUPT],
    ],
    ids=" ".join,
)
def test_a_command_that_ctrl_c_cancels_is_not_recorded(stage: Stage, cancelled: list[str]) -> None:
    held = stage.person(*DECAY, *RUN_DECAY, *cancelled, "SOR", *["FIL"])
    assert stage.replies_recorded() == [*DECAY, *RUN_DECAY, "SOR", "FIL"]
    again = stage.script(*stage.replies_recorded())
    assert again.diagnostics == []
    assert facts(again)["control"] == facts(held)["control"]
    assert facts(again)["channels"] == facts(held)["channels"]


def test_of_a_line_that_ctrl_c_cuts_the_commands_done_before_are_recorded(stage: Stage) -> None:
    stage.person(*DECAY, "INT;OUT;GOE", "0 1 .1", "2", INTERRUPT, "SOR")
    assert stage.replies_recorded() == [*DECAY, "INT", "0 1 .1", "SOR"]


def test_a_run_that_is_cancelled_at_a_question_keeps_what_it_has_asked_before(stage: Stage) -> None:
    stage.person("RUN", "DECAY", "2 T1 3", "3 K", "", "2 1 .5", "", INTERRUPT, "SOR")
    assert stage.replies_recorded() == ["TIT;CON;PAR", "DECAY", "2 T1 3", "3 K", "", "2 1 .5", "", "SOR"]
    assert stage.script(*stage.replies_recorded()).state.is_complete


def test_sizes_that_are_cancelled_are_not_recorded(stage: Stage) -> None:
    stage.person("48", INTERRUPT, *DECAY, asks_sizes=True)
    assert stage.replies_recorded() == DECAY


def test_a_file_that_is_not_there_leaves_the_reading_point_where_it_was(stage: Stage) -> None:
    stage.script(*DECAY, "STO", "ALL")
    played = stage.person("MODEL<-I", "CON", "GONE<-I", "N", "PAR")
    assert played.diagnostics == []
    assert played.state.is_complete


@pytest.mark.parametrize("seed", range(30))
def test_a_random_session_is_repeated_by_its_record(tmp_path: Path, seed: int) -> None:
    held, replayed = held_and_replayed(seed, tmp_path)
    assert ELSEWHERE in held.said or facts(replayed) == facts(held)
