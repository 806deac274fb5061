"""Runs of a session: what is stored, what stops them, what they leave, and what goes on from them."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

import numpy as np
import pytest
from typer.testing import CliRunner

from csmp_sessions import DECAY, INTERRUPT, RUN_DECAY, Stage
from tidegate.cli.app import app
from tidegate.csmp.execution.routines import Routines
from tidegate.results import Result

OSCILLATOR = ["TIT", "SWING", "CON", "2 I 3 ; X", "3 I 4 ; V", "4 - 2", "", "PAR", "2 1", ""]


def test_goe_writes_a_result_that_can_be_read(stage: Stage) -> None:
    played = stage.script(*DECAY, "INT", "0, 2, .1", "OUT", "2 3", "1", "", "0, .5", "GOE")
    result = Result.load(stage.folder / "OUTPT.DAT")
    assert result.model_name == "DECAY"
    assert [column.description for column in result.columns] == ["block 2", "block 3", "block 1"]
    assert list(result.t) == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert played.state.last is not None
    assert (result.values == played.state.last.rows).all()


def test_rows_of_a_run_that_an_error_ended_are_kept(stage: Stage) -> None:
    # 1/(t - 1) cannot be computed at t = 1
    model = ["TIT", "POLE", "CON", "2 O 1", "3 K", "4 / 3 2", "", "PAR", "2 -1", "3 1", ""]
    played = stage.script(*model, "INT", "0, 2, .5", "OUT", "4", "", "0, .5", "GOE", "LOO", "2", "", "SOR")
    assert played.diagnostics == ["ATTEMPT TO DIVIDE BY ZERO IN BLK 4", "ERROR DURING MODEL EXECUTION"]
    result = Result.load(stage.folder / "OUTPT.DAT")
    assert result.status == "failed"
    assert list(result.t) == [0.0, 0.5]
    assert "O/P = 0.0000E-01" in played.said
    assert played.state.program.numbers == [2, 3, 4]


@pytest.mark.slow
def test_rows_and_model_survive_an_exception_in_a_user_routine(stage: Stage) -> None:
    def routine(ctx: object, block: int) -> float:
        if ctx.time > 0.7:
            raise RuntimeError("the pump has burst")
        return ctx.time

    replies = ["TIT", "PUMP", "CON", "2 U1 1", "", "PAR", "", "INT", "0 2 .5", "OUT", "A", "0 .5", "GOE", "INT", "0 .5 .5", "GOE"]
    played = stage.script(*replies, routines=Routines({1: routine}))
    assert any("the pump has burst" in text for text in played.diagnostics)
    assert "ERROR DURING MODEL EXECUTION" in played.diagnostics
    # the second run, within what the pump bears, has written its rows
    assert list(Result.load(stage.folder / "OUTPT.DAT").t) == [0.0, 0.5]
    assert played.state.program.numbers == [2]


@pytest.mark.parametrize("how", ["signal", "key"])
def test_an_interrupted_run_keeps_its_rows_up_to_the_next_output_time(stage: Stage, how: str) -> None:
    def routine(ctx: object, block: int) -> float:
        if how == "signal" and ctx.time > 2.2 and not ctx.is_interrupted:
            os.kill(os.getpid(), signal.SIGINT)
        return 2.0 * ctx.time

    @contextmanager
    def pressed(limits: tuple[float, float]) -> object:
        assert limits == (0.0, 1e6)
        yield lambda _now: how == "key"

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        replies = ["TIT", "LONG", "CON", "2 U1 1", "", "PAR", "", "INT", "0 1000000 .1", "OUT", "A", "0 1", "GOE", "LOO", "2", "", "SOR"]
        played = stage.person(*replies, routines=Routines({1: routine}), progress=pressed)
    finally:
        signal.signal(signal.SIGINT, before)
    assert 'RUN TERMINATED BY A "^"' in played.said
    assert played.diagnostics == []
    result = Result.load(stage.folder / "OUTPT.DAT")
    assert len(result.t) >= (4 if how == "signal" else 1)
    assert list(result.t) == list(range(len(result.t)))
    # the session goes on
    assert played.said[-3] == "2"


def test_a_quit_block_ends_the_run_and_the_session_goes_on(stage: Stage) -> None:
    model = ["TIT", "STOP", "CON", "2 K", "3 Q 1 2", "", "PAR", "2 1.2", ""]
    played = stage.script(*model, "INT", "0, 2, .5", "OUT", "1", "", "0, .5", "GOE;SOR")
    assert played.ended.n_diagnostics == 0
    assert "RUN TERMINATED BY A Q BLOCK" in played.said
    assert list(Result.load(stage.folder / "OUTPT.DAT").t) == [0.0, 0.5, 1.0]
    assert "2 3" in played.said


def test_a_run_in_two_parts_with_retain_equals_one_in_one(stage: Stage) -> None:
    control = ["OUT", "A", "0 1"]
    whole = stage.script(*OSCILLATOR, "INT", "0 20 .1", *control, "GOE").state.last
    parts = stage.script(*OSCILLATOR, "INT", "0 10 .1", *control, "GOE;RET;INT", "10 20 .1", "GOE").state.last
    assert whole is not None
    assert parts is not None
    assert list(parts.times) == list(range(10, 21))
    # times are t0 + k h/2 from another t0: a last digit of difference in each of them
    assert parts.rows == pytest.approx(whole.rows[10:], rel=1e-12, abs=1e-13)


def test_a_retained_model_goes_on_in_another_session(stage: Stage) -> None:
    first = stage.script(*OSCILLATOR, "INT", "0 10 .1", "OUT", "A", "0 1", "GOE;RET;STO", "ALL").state
    second = stage.script("MODEL<-I", "CON;PAR;INT", "10 20 .1", "OUT", "A", "0 1", "GOE").state
    again = stage.script(*OSCILLATOR, "INT", "0 20 .1", "OUT", "A", "0 1", "GOE").state
    assert first.program.parameters == second.program.parameters
    assert second.last is not None
    assert again.last is not None
    assert second.last.rows == pytest.approx(again.last.rows[10:], rel=1e-12, abs=1e-13)


def test_retain_before_a_run_changes_nothing(stage: Stage) -> None:
    played = stage.script(*DECAY, "RET", "LOO")
    assert played.diagnostics == ["MORE WORK TO DO"] * 2
    assert played.state.program.parameters == {2: (1.0, 0.5, 0.0)}


def test_run_asks_for_what_is_missing_and_then_runs_at_once(stage: Stage) -> None:
    replies = ["RUN", "DECAY", "2 T1 3 ; LEVEL", "3 K", "", "2 1 .5", "", "0, 2, .1", "A", "0, .5", "RUN", "PAR", "3 1", "", "RUN"]
    played = stage.person(*replies)
    assert played.diagnostics == []
    assert played.said.count("**** RUNNING ****") == 3
    assert played.said.count("MODEL COMPLETE") == 2  # behind each PAR, which ends a model without functions


def test_run_goes_on_where_a_mistake_has_stopped_it(stage: Stage) -> None:
    replies = ["RUN", "DECAY", "2 T1 3", "", "RUN", "3 K", "", "2 1 .5", "", "0, 2, .1", "A", "0, .5"]
    played = stage.script(*replies)
    assert played.diagnostics == ["I/P (BLK 3) TO BLK 2 IS NOT DEFINED"]
    assert "**** RUNNING ****" in played.said


def test_an_initial_run_needs_no_interval(stage: Stage) -> None:
    played = stage.script(*DECAY, "INT", "3, 3", "OUT", "A", "0, .5", "GOE")
    assert played.diagnostics == []
    assert list(Result.load(stage.folder / "OUTPT.DAT").t) == [3.0]


def test_debug_goes_to_its_file_run_after_run(stage: Stage) -> None:
    stage.script(*DECAY, *RUN_DECAY, "DEB", "0 0", "N", "GOE", "DEB", ".05 .1", "N", "GOE;GOE", "LOG12:A<-M")
    lines = (stage.folder / "DEBUG.OUT").read_text().splitlines()
    # headings of two lines, and two for the one block that is not constant, at each time
    assert len(lines) == (2 + 2) + (2 + 4)


def test_a_change_in_per_cent_repeats_the_stored_value(stage: Stage) -> None:
    played = stage.script(*DECAY, "INT", "0, 2, .1", "OUT", "2", "", "50, .1", "GOE")
    assert played.state.last is not None
    values = played.state.last.rows[:, 0]
    assert len(values) == 21
    changes = np.flatnonzero(np.diff(values))
    assert 0 < len(changes) < 10


def test_a_value_can_be_looked_at_after_the_model_has_changed(stage: Stage) -> None:
    played = stage.script(*DECAY, *RUN_DECAY, "CON", "4 K", "5 G 4", "", "LOO", "3", "4", "ten", "2.5", "0")
    assert "O/P = 0.0000E-01" in played.said
    assert played.diagnostics == ["BLK 4 NOT USED", 'INCORRECT RECORD "ten" ****', "INVALID BLK NO."]


def test_an_output_block_that_was_deleted_is_named_at_goe(stage: Stage) -> None:
    played = stage.script(*DECAY, *RUN_DECAY, "CON", "4 K", "", "OUT", "4", "", "0 1", "CON", "4", "", "GOE")
    assert played.diagnostics == ["BLK 4 NOT USED"]


def test_ctrl_c_at_a_prompt_goes_back_to_the_commands_and_keeps_every_statement(stage: Stage) -> None:
    played = stage.person("CON", "2 K", "3 G 2", INTERRUPT, "INT", INTERRUPT, "PAR", "2 1", INTERRUPT, INTERRUPT, "SOR", "EXI")
    assert played.diagnostics == []
    assert played.state.program.numbers == [2, 3]
    assert played.state.program.parameters == {2: (1.0, 0.0, 0.0)}
    assert played.state.is_complete


@pytest.mark.parametrize(("order", "blocks"), [("A", (2, 3, 4)), ("AS", (3, 4, 2))])
def test_all_blocks_stay_all_when_blocks_come_and_go(stage: Stage, order: str, blocks: tuple[int, ...]) -> None:
    played = stage.script(*DECAY, "INT", "0 1 .1", "OUT", order, "0 1", "CON", "4 K", "5 K", "", "CON", "5", "", "GOE;STO", "ALL")
    assert played.diagnostics == []
    assert played.state.last is not None
    assert played.state.last.control.outputs == blocks
    assert f"OUTPUTS {order}\n" in (stage.folder / "MODEL.MOD").read_text()
    # a block that comes after the file has been read is among them, too
    again = stage.script("GOE;CON", "6 K", "", "GOE", model=stage.folder / "MODEL.MOD").state
    assert again.last is not None
    assert sorted(again.last.control.outputs) == [2, 3, 4, 6]


def test_run_goes_back_to_the_commands_where_a_file_lacks_a_section_and_goes_on_with_another(stage: Stage) -> None:
    stage.script(*DECAY, "BLKS<-M", "STO", "CON", "PARS<-M", "STO", "PAR")
    replies = ["BLKS<-I", "RUN", "SOR", "PARS<-I", "RUN", "0 1 .1", "A", "0 1"]
    played = stage.script(*replies)
    assert played.diagnostics == ["NO PARAMS IN MODEL I/P FILE"]
    assert "3 2" in played.said
    assert played.state.last is not None
    assert played.state.last.rows[0].tolist() == [1.0, 0.0]


def test_a_changed_model_is_said_to_be_complete_behind_fun(stage: Stage) -> None:
    # section 7 of the report: CON, PAR and FUN once more, and the message behind the last of them
    model = ["TIT", "TABLE", "CON", "2 F 1", "", "PAR", "", "FUN", "2", "0 0", "1 1", "", ""]
    said = stage.person(*model, "CON", "3 G 2", "", "PAR", "3 2", "", "FUN", "").said
    assert [said[place - 1] for place, line in enumerate(said) if line == "MODEL COMPLETE"] == ["BLK NO. =", "BLK NO. ="]
    assert said.index("BLK NO. =", said.index("3 2")) == len(said) - 4


def test_debug_shows_the_first_guess_and_the_iterates_of_an_implicit_equation(stage: Stage) -> None:
    # y = 0.5 y + t + 1; a line, so that Wegstein's second step is exact: 2 (t + 1)
    model = ["TIT", "WYE", "CON", "2 V", "3 G 2", "4 + 3 1 5", "5 K", "6 Y 4 2", "", "PAR", "2 .25", "3 .5", "5 1", "6 1E-6", ""]
    played = stage.script(*model, "INT", "0 1 1", "OUT", "6", "", "0 1", "DEB", "0 1", "N", "GOE")
    assert played.state.last is not None
    listed = {kind: [entry for entry in played.state.last.debug if entry.kind == kind] for kind in ("V", "Y")}
    assert {entry.p1 for entry in listed["V"]} == {0.25}
    for v, y, after in zip(listed["V"], listed["Y"], listed["V"][1:], strict=False):
        assert y.m == 0 or v.m == listed["V"][0].m
        assert y.x1 == 0.5 * v.x + y.time + 1.0
        assert after.time > v.time or (after.x, after.p2, after.p3) == (y.x, v.x, y.x1)
    for v, y in zip(listed["V"], listed["Y"], strict=True):
        assert y.m or (v.p2, v.p3) == (0.0, 0.0)
    assert [entry.x for entry in listed["Y"] if entry.m == max(one.m for one in listed["Y"] if one.time == entry.time)] == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("command", [["show"], ["plot"], ["trans", "--table", "A"]], ids=lambda command: command[0])
def test_a_file_without_rows_says_why_it_has_none(stage: Stage, command: list[str]) -> None:
    # 1/t cannot be computed at the start
    stage.script("TIT", "POLE", "CON", "3 K", "4 / 3 1", "", "PAR", "3 1", "", "INT", "0 1 .1", "OUT", "A", "0 .5", "GOE")
    told = CliRunner().invoke(app, [command[0], str(stage.folder / "OUTPT.DAT"), *command[1:]])
    assert "no rows" in told.output
    assert "ATTEMPT TO DIVIDE BY ZERO IN BLK 4" in told.output
    assert told.exit_code == (0 if command == ["show"] else 2)
