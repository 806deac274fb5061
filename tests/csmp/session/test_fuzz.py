"""Whatever is typed, a session answers with the language's own diagnostics, and never loses a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from csmp_sessions import INTERRUPT, Stage
from tidegate.csmp.language.diagnostics import DIAGNOSTICS

WORDS = ["TIT", "CON", "PAR", "FUN", "INT", "OUT", "GOE", "STO", "LOO", "DEB", "RET", "FIL", "RUN", "MAN", "PRO", "EXI", "SOR", "?"]
CHANNELS = ["A<-M", "A<-I", "LOG6:B<-I", "LOG1:B<-O", "TTY:<-M", "TTY:<-I", "TTY:<-O", "LOG5:B<-M", "A.B<-M", "LOG12:A<-O", "_", "<-"]
KINDS = ["K", "G", "I", "T1", "F", "+", "/", "U", "Z", "V", "Y", "Q", "UO", "U1", "T", "J", "H", "QQ", ""]
NUMBERS = ["0", "1", "2", "3", "4", "-3", "0.5", "1E3", "1D-2", "1E999", "ten", "", "2.5", "99999999999"]
SEPARATORS = [" ", ",", " , ", ",,"]

numbers = st.sampled_from(NUMBERS)
statements = st.builds(
    lambda items, separator, label, comment: separator.join(items) + label + comment,
    st.lists(st.one_of(numbers, st.sampled_from(KINDS)), min_size=0, max_size=6),
    st.sampled_from(SEPARATORS),
    st.sampled_from(["", "; LABEL", "; a very long label indeed"]),
    st.sampled_from(["", "$ comment"]),
)
# short runs only: limits of time are given by a line of their own
commands = st.lists(st.sampled_from([*WORDS, *CHANNELS]), min_size=1, max_size=3).map(";".join)
lines = st.one_of(commands, statements, st.just(""), st.sampled_from(["0 1 .5", "A", "ALL", "AS", "CS", "Y", "N", "0 0 0"]), st.text(max_size=12))
sessions = st.lists(lines, max_size=40)
EXPLAINED = tuple(kind.text.partition("{")[0] for kind in DIAGNOSTICS.values())
# any number of steps may be typed; those are left out, for the run would be as long as it was asked to be
TOO_LONG = ("1E3", "99999999999")


def is_short(line: str) -> bool:
    return not any(number in line for number in TOO_LONG)


@pytest.mark.hunt
@pytest.mark.parametrize("is_person", [False, True], ids=["script", "person"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(replies=sessions.map(lambda lines: [line for line in lines if is_short(line)]))
def test_a_session_answers_anything_with_diagnostics_only(is_person: bool, replies: list[str]) -> None:
    with TemporaryDirectory() as folder:
        stage = Stage(Path(folder))
        played = stage.person(*replies) if is_person else stage.script(*replies)
    for text in played.diagnostics:
        assert text.startswith(EXPLAINED)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(replies=st.lists(st.one_of(st.sampled_from([*WORDS, *CHANNELS, INTERRUPT]), numbers, st.text(max_size=8)), max_size=25))
def test_a_model_survives_everything_but_its_own_statements(replies: list[str]) -> None:
    """Lines that hold at most one field cannot configure a block, and no deletion names block 77 or 78."""
    model = ["TIT", "KEPT", "CON", "77 G 78 ; KEPT $ for good", "78 K", "", "PAR", "78 4.25", ""]
    harmless = [line for line in replies if len(line.replace(",", " ").split()) <= 1 and "77" not in line and "78" not in line and is_short(line)]
    with TemporaryDirectory() as folder:
        stage = Stage(Path(folder))
        played = stage.person(*model, *harmless)
        recorded = (Path(folder) / "BOMMP.OUT").read_text(encoding="utf-8").split("\n")
    program = played.state.program
    assert replace(program.blocks[77], origin=None).label == "KEPT"
    assert program.blocks[78].kind == "K"
    assert program.parameters[78] == (4.25, 0.0, 0.0)
    assert recorded[: len(model)] == model
