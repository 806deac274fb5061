"""Files of a session: questions before overwriting, channels that revert, records, and scripts that hand over to a person."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from csmp_sessions import DECAY, RUN_DECAY, Person, Played, Stage
from tidegate.csmp.session.csmp_session import CsmpSession
from tidegate.csmp.session.session_state import SessionState
from tidegate.csmp.session.terminal import Recorder, ScriptTerminal


def test_a_person_is_asked_once_before_a_file_is_overwritten(stage: Stage) -> None:
    (stage.folder / "MODEL.MOD").write_text("precious")
    played = stage.person(*DECAY, "STO", "ALL", "N", "STO", "ALL", "Y", "STO", "CON", "FIL")
    start = played.said.index("MODEL O/P TO LOG3:MODEL.MOD")
    assert played.said[start + 1 : start + 4] == ["WILL OVERWRITE MODEL.MOD ON DSK", "OK :N", "THEN CHANGE FILENAME"]
    assert sum(line.startswith("OK :") for line in played.said) == 2


def test_a_file_that_is_not_to_be_overwritten_stays(stage: Stage) -> None:
    (stage.folder / "MODEL.MOD").write_text("precious")
    stage.person(*DECAY, "STO", "ALL", "")
    assert (stage.folder / "MODEL.MOD").read_text() == "precious"


def test_what_was_refused_is_not_in_the_record_so_that_a_script_does_not_do_it(stage: Stage) -> None:
    (stage.folder / "MODEL.MOD").write_text("precious")
    stage.person(*DECAY, "FIL;INT;STO;SOR", "0 1 .1", "ALL", "N", "LOG3:OTHER<-M;STO", "ALL")
    assert stage.replies_recorded() == [*DECAY, "FIL;INT", "0 1 .1", "LOG3:OTHER<-M;STO", "ALL"]
    again = stage.script(*stage.replies_recorded())
    assert "HAVE OVERWRITTEN FILE OTHER.MOD ON DSK" in again.said
    assert (stage.folder / "MODEL.MOD").read_text() == "precious"


def test_a_script_overwrites_and_says_so_once(stage: Stage) -> None:
    stage.script(*DECAY, *RUN_DECAY)
    said = stage.script(*DECAY, *RUN_DECAY, "GOE").said
    assert said.count("HAVE OVERWRITTEN FILE OUTPT.DAT ON DSK") == 1


def test_sections_stored_one_by_one_in_one_file_are_all_there(stage: Stage) -> None:
    stage.script(*DECAY, "STO", "CON", "STO", "PAR")
    played = stage.script("MODEL<-I", "CON;PAR")
    assert played.diagnostics == []
    assert played.state.is_complete


def test_exact_numbers_and_comments_survive_storing(stage: Stage) -> None:
    stage.script("TIT", "THIRDS", "CON", "2 K ; THIRD $ of a whole", "", "PAR", "2 0.3333333333333333 $ nearly", "", "STO", "ALL")
    program = stage.script("MODEL<-I", "CON;PAR").state.program
    assert program.parameters[2][0] == 0.3333333333333333
    assert program.blocks[2].comment == "of a whole"
    assert program.parameter_comments[2] == "nearly"


def test_a_missing_model_file_is_told_to_a_person(stage: Stage) -> None:
    played = stage.person("LOG2:GONE<-I", "N", "FIL", "LOG2:GONE<-I", "Y", "CON")
    start = played.said.index("MODEL I/P FROM LOG2:GONE.MOD")
    assert played.said[start : start + 4] == ["MODEL I/P FROM LOG2:GONE.MOD", "GONE.MOD NOT ON DSK", "IS IT ELSEWHERE : N", "THEN CHANGE FILENAME"]
    assert "MODEL I/P FROM TTY:" in played.said
    assert played.diagnostics == ['FATAL ATTEMPT TO READ NON-EXISTENT DSK FILE "GONE"."MOD"']
    assert stage.replies_recorded() == ["FIL", "LOG2:GONE<-I", "CON"]


def test_a_section_that_is_skipped_cannot_be_read_later(stage: Stage) -> None:
    stage.script(*DECAY, "STO", "ALL")
    played = stage.script("LOG2:MODEL<-I", "CON", "PAR", "LOG2:MODEL<-I", "PAR", "CON")
    # the file ends behind PAR, so that CON is asked of the terminal
    assert played.diagnostics == []
    assert played.state.channels.model_input.is_terminal


def test_a_mistake_in_a_file_leaves_the_reading_point_and_the_model(stage: Stage) -> None:
    (stage.folder / "A.MOD").write_text("CONFIGURATIONS :\nA\nBLK TYPE B1 B2 B3\n2 G 9\n3 K\n\nPARAMETERS :\nBLK P1 P2 P3\n3 1\n\n")
    played = stage.script("A<-I", "CON;PAR", "FUN", "PAR")
    assert played.diagnostics == ["I/P (BLK 9) TO BLK 2 IS NOT DEFINED", "CONFIGS NOT COMPLETE", "CONFIGS NOT COMPLETE"]
    assert played.state.program.numbers == [2, 3]
    assert not played.state.channels.model_input.is_terminal


def test_pairs_of_a_block_that_has_none_are_skipped(stage: Stage) -> None:
    (stage.folder / "A.MOD").write_text("A\n2 K\n3 F 2\n\n\n2\n3 4\n5 6\n\n3\n0 0\n1 1\n\n\n")
    played = stage.script("A<-I", "CON;PAR;FUN")
    assert played.diagnostics == ["BLK 2 IS NOT AN F BLK"]
    assert played.state.program.functions == {3: [(0.0, 0.0), (1.0, 1.0)]}


def test_a_folder_that_is_not_there_is_told_and_the_session_goes_on(stage: Stage) -> None:
    played = stage.script(*DECAY, "nowhere/MODEL<-M", "STO", "ALL", "nowhere/OUT<-O", *RUN_DECAY, "SOR")
    assert played.diagnostics == ["ILLEGAL DEVICE NAME"] * 2
    assert played.state.last is not None
    assert played.said[-3] == "3 2"


@pytest.mark.parametrize("reply", ["EXI", None], ids=["exit", "end of replies"])
def test_manual_hands_a_script_over_to_a_person(stage: Stage, reply: str | None) -> None:
    replies: Iterator[str] = iter(["PAR", "2 3 .5", "", *([reply] if reply else [])])
    person = Person(replies)
    said: list[str] = []
    session = CsmpSession(ScriptTerminal([*DECAY, "MAN", "XYZ"], said.append), SessionState(folder=stage.folder), by_hand=lambda: person)
    played = Played(person.said, session.state, session.run())
    assert played.state.program.parameters[2] == (3.0, 0.5, 0.0)
    assert played.ended.n_diagnostics == 0
    assert stage.replies_recorded("FROMAN.OUT") == ["PAR", "2 3 .5", "", *([reply] if reply else [])]


def test_manual_at_a_terminal_is_only_recorded(stage: Stage) -> None:
    played = stage.person("MANUAL", "EXI")
    assert played.said[:2] == ["*MANUAL", "*EXI"]
    assert stage.replies_recorded() == ["MANUAL", "EXI"]


def test_a_recorded_session_keeps_the_record_of_the_one_before(stage: Stage) -> None:
    stage.person("FIL", "EXI")
    stage.person("SOR", "EXI")
    assert stage.replies_recorded() == ["SOR", "EXI"]
    assert stage.replies_recorded("BOMMP.OUT.1") == ["FIL", "EXI"]


def test_every_statement_is_on_disk_before_the_next_is_asked_for(stage: Stage) -> None:
    seen: list[list[str]] = []

    class Watching(Person):
        def ask(self, prompt: str, choices: object = ()) -> str:
            path = stage.folder / "BOMMP.OUT"
            seen.append(path.read_text().splitlines() if path.exists() else [])
            return super().ask(prompt, ())

    recorder = Recorder(stage.folder / "BOMMP.OUT")
    CsmpSession(Watching(iter(DECAY)), SessionState(folder=stage.folder), recorder=recorder).run()
    assert seen == [DECAY[:k] for k in range(len(DECAY) + 1)]


@pytest.mark.parametrize("name", ["TRANS", "trans", "BOMMP"])
def test_program_leaves_for_another_one(stage: Stage, name: str) -> None:
    assert stage.script("PRO", name, "XYZ").ended.program == name.upper()


def test_program_starts_nothing_else(stage: Stage) -> None:
    played = stage.script("PRO", "rm", "SOR")
    assert played.ended.program == ""
    assert played.diagnostics == ["SYNTAX ERROR", "CONFIGS NOT COMPLETE"]


def test_a_question_mark_helps_anywhere_and_is_not_recorded(stage: Stage) -> None:
    played = stage.person("?", "?sto", "CON", "?", "2 K", "", "INT", "?", "0 1 .1", "EXI")
    assert "STORE: write the model to the model output channel" in played.said
    assert any(line.startswith("types: B bang-bang") for line in played.said)
    assert stage.replies_recorded() == ["CON", "2 K", "", "INT", "0 1 .1", "EXI"]


def test_an_error_drops_the_rest_of_a_string(stage: Stage) -> None:
    played = stage.script("FIL;GOE;FIL")
    assert played.diagnostics == ["MODEL NOT COMPLETE"]
    assert sum(line.startswith("MODEL I/P") for line in played.said) == 1


def test_sizes_are_asked_for_again_until_they_can_be_read(stage: Stage) -> None:
    played = stage.script("many", "1", "48", "2, none", "2, 0, 1", asks_sizes=True)
    assert played.diagnostics == ['INCORRECT RECORD "many" ****', "INVALID BLK NO.", 'INCORRECT RECORD "2, none" ****']
    limits = played.state.limits
    assert (limits.highest, limits.integrators, limits.delays, limits.functions) == (48, 2, 0, 1)


def test_no_sizes_are_no_limits(stage: Stage) -> None:
    assert stage.script("", "CON", "9999 K", "", asks_sizes=True).diagnostics == []


def test_a_record_that_cannot_be_written_is_told_once_and_the_session_goes_on(stage: Stage) -> None:
    played = stage.person(*DECAY, recorder=Recorder(stage.folder / "nowhere" / "BOMMP.OUT"))
    assert sum(line.startswith("replies are not recorded") for line in played.said) == 1
    assert played.state.is_complete


def test_a_name_that_no_file_can_have_is_told(stage: Stage) -> None:
    name = "A" * 5000  # no file system takes more than some hundred
    played = stage.script(*DECAY, f"{name}<-M", "STO", "ALL", "SOR", f"{name}<-I", "SOR")
    assert played.diagnostics == ["ILLEGAL DEVICE NAME", f'FATAL ATTEMPT TO READ NON-EXISTENT DSK FILE "{name}"."MOD"']
    assert played.ended.is_fatal


def test_a_debug_file_that_cannot_be_written_is_told(stage: Stage) -> None:
    (stage.folder / "DEBUG.OUT").mkdir()
    assert stage.script("DEB", "0 1", "N").diagnostics == ["ILLEGAL DEVICE NAME"]


def test_out_asks_for_the_title_where_a_file_has_none(stage: Stage) -> None:
    (stage.folder / "A.MOD").write_text("CONFIGURATIONS :\n\nBLK TYPE B1 B2 B3\n2 K\n\nPARAMETERS :\nBLK P1 P2 P3\n2 1\n\n")
    played = stage.script("A<-I", "CON;PAR;OUT", "NAMED NOW", "A", "0 1")
    assert played.diagnostics == []
    assert played.state.program.title == "NAMED NOW"
