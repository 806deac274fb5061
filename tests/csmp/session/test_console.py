"""The console of a person: what is typed arrives, is completed and remembered; Ctrl-C and Ctrl-D do what they do in a shell."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from csmp_sessions import DECAY
from tidegate.cli import csmp as csmp_command
from tidegate.csmp.session.console import ConsoleTerminal, watched
from tidegate.csmp.session.csmp_session import CsmpSession
from tidegate.csmp.session.session_state import SessionState
from tidegate.csmp.session.terminal import EndOfReplies

CTRL_C, CTRL_D, UP, TAB = "\x03", "\x04", "\x1b[A", "\t"


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as source:
        yield source


def terminal(keys: PipeInput, history: Path | None = None) -> ConsoleTerminal:
    return ConsoleTerminal(history, source=keys, sink=DummyOutput())


@pytest.mark.slow
def test_a_model_is_typed_at_the_console(keys: PipeInput, tmp_path: Path) -> None:
    keys.send_text("".join(f"{line}\r" for line in [*DECAY, "EXI"]))
    session = CsmpSession(terminal(keys), SessionState(folder=tmp_path))
    assert session.run().n_diagnostics == 0
    assert session.state.is_complete


def test_a_reply_can_be_edited_and_completed(keys: PipeInput) -> None:
    keys.send_text(f"INX\x7fT\rGO{TAB}\r")
    console = terminal(keys)
    assert console.ask("*") == "INT"
    assert console.ask("*", ("GOE", "RUN")) == "GOE"


def test_replies_of_earlier_sessions_are_remembered(keys: PipeInput, tmp_path: Path) -> None:
    history = tmp_path / "cache" / "history"
    keys.send_text("9, I, 48\r")
    assert terminal(keys, history).ask("") == "9, I, 48"
    keys.send_text(f"{UP}; Y\r")
    assert terminal(keys, history).ask("") == "9, I, 48; Y"


def test_a_history_that_cannot_be_kept_is_done_without(keys: PipeInput, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    keys.send_text("FIL\r")
    assert terminal(keys, tmp_path / "file" / "history").ask("*") == "FIL"


def test_ctrl_d_ends_and_ctrl_c_interrupts(keys: PipeInput) -> None:
    console = terminal(keys)
    keys.send_text(CTRL_C)
    with pytest.raises(KeyboardInterrupt):
        console.ask("*")
    keys.send_text(CTRL_D)
    with pytest.raises(EndOfReplies):
        console.ask("*")


@pytest.mark.slow
def test_a_circumflex_typed_during_a_run_interrupts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pty = pytest.importorskip("pty")
    near, far = pty.openpty()
    pressed: list[bool] = []
    with os.fdopen(far) as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        with watched(lambda: pressed.append(True)):
            os.write(near, b"a^")
            end = time.monotonic() + 10.0
            while not pressed and time.monotonic() < end:
                time.sleep(0.01)
    os.close(near)
    assert pressed == [True]


@pytest.mark.slow
def test_what_is_typed_during_a_run_answers_the_next_questions(keys: PipeInput, monkeypatch: pytest.MonkeyPatch) -> None:
    pty = pytest.importorskip("pty")
    near, far = pty.openpty()
    pressed: list[bool] = []
    with os.fdopen(far) as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        os.write(near, b"LO")  # before the run begins
        with watched(lambda: pressed.append(True), keys):
            os.write(near, b"X\x7fO\n9^\nG\xc3\xb6")
            end = time.monotonic() + 10.0
            while not pressed and time.monotonic() < end:
                time.sleep(0.01)
    os.close(near)
    console = terminal(keys)
    keys.send_text("E\r")
    assert [console.ask("*"), console.ask("BLK = "), console.ask("*")] == ["LOO", "9", "GöE"]
    assert pressed == [True]


def test_the_banner_says_how_to_get_help_and_how_to_leave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    said: list[str] = []
    monkeypatch.setattr(ConsoleTerminal, "say", lambda _self, text: said.append(text))
    monkeypatch.setattr(ConsoleTerminal, "ask", lambda *_: "EXI")
    csmp_command.console(csmp_command.ConsoleRequest(is_recorded=False))
    assert "? lists the commands" in said[0]
    assert "EXI or Ctrl-D leaves" in said[0]


def test_where_there_is_no_keyboard_nothing_is_watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "replies"
    path.write_text("^^^")
    pressed: list[bool] = []
    with path.open() as replies:
        monkeypatch.setattr(sys, "stdin", replies)
        with watched(lambda: pressed.append(True)):
            pass
        assert replies.read() == "^^^"
    assert pressed == []
