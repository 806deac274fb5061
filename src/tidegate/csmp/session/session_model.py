"""Commands of a session of CSMP-10(ARL) that edit, read and write the model (stage: the language's own method): TIT CON PAR FUN STO SOR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from tidegate.csmp.execution.run_program import SEED
from tidegate.csmp.language import model_lines
from tidegate.csmp.language.block_kinds import KINDS
from tidegate.csmp.language.control import Control
from tidegate.csmp.language.diagnostics import Diagnostic, Notice, notice, say
from tidegate.csmp.language.fields import title_of
from tidegate.csmp.language.sections import Section, SectionKind
from tidegate.csmp.language.statements import ConfigurationReader, FunctionReader, Outcome, ParameterReader
from tidegate.csmp.session.dialogue import Dialogue, Refused
from tidegate.csmp.session.model_file import ModelFile, SectionMissing
from tidegate.csmp.session.session_channels import SessionChannel, is_there
from tidegate.csmp.session.session_state import SessionState
from tidegate.csmp.session.terminal import EndOfReplies
from tidegate.errors import Origin, UsageError
from tidegate.results import written_whole

__all__ = ["configurations", "functions", "may_overwrite", "parameters", "show_sorted", "store", "title"]

Reader = ConfigurationReader | ParameterReader | FunctionReader

_TITLE_PROMPT: Final = "TITLE (LIMIT 60 CHRS)"


def title(dialogue: Dialogue, state: SessionState) -> None:
    """TIT."""
    dialogue.head(_TITLE_PROMPT)
    state.program.title = title_of(dialogue.ask("", "title"))


def configurations(dialogue: Dialogue, state: SessionState) -> None:
    """CON: statements, then the checks and the sort."""
    reader = ConfigurationReader(state.program, state.limits)
    section = _section(dialogue, state, "CON")
    if section is not None:
        state.program.title = title_of(section.title)
    with _completing(dialogue, state):
        state.has_configurations = False
        is_good = _read(dialogue, state, reader, section, "blocks", list(KINDS))
        state.has_configurations = is_good and bool(state.program.blocks)
    if not state.has_configurations:
        raise Refused


def parameters(dialogue: Dialogue, state: SessionState) -> None:
    """PAR."""
    _need_configurations(dialogue, state)
    section = _section(dialogue, state, "PAR")
    with _completing(dialogue, state, is_last=not any(block.kind == "F" for block in state.program.blocks.values())):
        try:
            _read(dialogue, state, ParameterReader(state.program, state.limits), section, "parameters", _numbers(state))
        finally:
            state.has_parameters = True


def functions(dialogue: Dialogue, state: SessionState) -> None:
    """FUN."""
    _need_configurations(dialogue, state)
    section = _section(dialogue, state, "FUN")
    with _completing(dialogue, state, is_last=True):
        wanted = [str(number) for number in state.program.numbers if state.program.blocks[number].kind == "F"]
        _read(dialogue, state, FunctionReader(state.program, state.limits), section, "functions", wanted)


class _completing:  # noqa: N801, reads as a word behind `with`
    """Says MODEL COMPLETE if the last missing part arrives in the block, or ``is_last``: FUN, and PAR of a model without functions, end a model."""

    def __init__(self, dialogue: Dialogue, state: SessionState, *, is_last: bool = False) -> None:
        self._dialogue = dialogue
        self._state = state
        self._was_complete = state.is_complete and not is_last

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        if self._state.is_complete and not self._was_complete:
            self._dialogue.head(notice("MODEL COMPLETE").text)


def _need_configurations(dialogue: Dialogue, state: SessionState) -> None:
    if not state.has_configurations:
        raise dialogue.refuse(say("CONFIGS NOT COMPLETE"))


def _numbers(state: SessionState) -> list[str]:
    return [str(number) for number in state.program.numbers]


# -- a set of statements, from the terminal or from a file ----------------------------------------------------------------------------------


def _section(dialogue: Dialogue, state: SessionState, kind: SectionKind) -> Section | None:
    """The section of the model input file, None if statements come from the terminal."""
    channel = state.channels.model_input
    if channel.is_terminal:
        return None
    if state.input_file is None:
        state.input_file = open_model(dialogue, state, channel)
    try:
        return state.input_file.take(kind)
    except SectionMissing as missing:
        raise dialogue.refuse(say(missing.key)) from None


def open_model(dialogue: Dialogue, state: SessionState, channel: SessionChannel) -> ModelFile:
    """The file of the model input channel; refused if it is not there."""
    try:
        return ModelFile(channel.path(state.folder))
    except (UsageError, ValueError) as error:
        raise dialogue.refuse(replace(say("FATAL ATTEMPT", name=channel.name, extension=channel.suffix[1:]), hint=_why(error))) from None


def _why(error: Exception) -> str:
    """In words, without the number that the system gives to an error."""
    if isinstance(error, UsageError):
        return error.message
    return f"the file cannot be read or written: {error.strerror}" if isinstance(error, OSError) and error.strerror else str(error)


def _read(dialogue: Dialogue, state: SessionState, reader: Reader, section: Section | None, topic: str, choices: list[str]) -> bool:
    """Take a set of statements; whether nothing was found wrong at its end."""
    if section is None:
        _from_terminal(dialogue, reader, topic, choices)
    else:
        _from_file(dialogue, state, reader, section)
    problems = reader.finish()
    for problem in problems:
        dialogue.diagnose(problem)
    if section is not None and state.input_file is not None and state.input_file.is_at_end:
        channel = state.channels.model_input
        dialogue.head(f"{channel.status} COMPLETED")
        state.channels.to_terminal(channel)
        state.input_file = None
        dialogue.head(channel.status)
    return not problems


def _from_terminal(dialogue: Dialogue, reader: Reader, topic: str, choices: list[str]) -> None:
    for heading in reader.headings:
        dialogue.head(heading)
    while True:
        try:
            line = dialogue.ask(f"{reader.prompt} " if reader.prompt else "", topic, choices)
        except KeyboardInterrupt:
            if not dialogue.terminal.is_interactive:
                raise
            # what was typed so far counts: Ctrl-C ends the set as empty lines do
            _end(reader, dialogue)
            return
        except EndOfReplies:  # what was typed so far counts here, too, and nothing else is asked
            dialogue.is_over = True
            _end(reader, dialogue)
            return
        if _taken(dialogue, reader.take(line)):
            return


def _end(reader: Reader, dialogue: Dialogue) -> None:
    for _ in range(2):  # a function's pairs have an end of their own
        dialogue.recorder.reply("")
        if _taken(dialogue, reader.take("")):
            return


def _from_file(dialogue: Dialogue, state: SessionState, reader: Reader, section: Section) -> None:
    assert state.input_file is not None
    place = str(state.input_file.path)
    heading, *columns = reader.headings
    dialogue.head(heading)
    if section.kind == "CON":
        dialogue.head(section.title)
    for line in columns:
        dialogue.head(line.replace(",", ""))  # a person is told to type commas; a file has none
    is_refused = False  # a block number: its pairs would be taken for more of them
    for number, line in section.lines:
        if section.kind == "FUN" and isinstance(reader, FunctionReader) and not reader.block and line and not is_refused:
            dialogue.head(f"BLK NO. {line}")
            outcome = reader.take(line, Origin(place, number, line.strip()))
            is_refused = reader.block == 0
            _tell(dialogue, outcome.messages)
            continue
        dialogue.head(line)
        if is_refused:
            is_refused = bool(line)
        else:
            _tell(dialogue, reader.take(line, Origin(place, number, line.strip())).messages)
    for _ in range(2):
        if reader.take("").is_done:
            break


def _taken(dialogue: Dialogue, outcome: Outcome) -> bool:
    _tell(dialogue, outcome.messages)
    return outcome.is_done


def _tell(dialogue: Dialogue, messages: Sequence[Diagnostic | Notice]) -> None:
    for message in messages:
        if isinstance(message, Diagnostic):
            dialogue.diagnose(message)
        elif message.key == "COORD PAIRS":
            dialogue.head(message.text)
        else:
            dialogue.say(message.text)


# -- storing and showing --------------------------------------------------------------------------------------------------------------------

_Order = Literal["ascending", "sorted"]
_STORED: Final[dict[str, tuple[model_lines.Part, _Order]]] = {
    "CON": ("CON", "ascending"),
    "CS": ("CON", "sorted"),
    "PAR": ("PAR", "ascending"),
    "FUN": ("FUN", "ascending"),
    "ALL": ("ALL", "ascending"),
    "A": ("ALL", "ascending"),
    "AS": ("ALL", "sorted"),
}


def store(dialogue: Dialogue, state: SessionState) -> None:
    """STO."""
    _need_configurations(dialogue, state)
    reply = dialogue.ask("CON, PAR, FUN, OR ALL :", "store", list(_STORED)).partition("$")[0].strip().upper()
    found = _STORED.get(reply if len(reply) <= 2 else reply[:3])
    if found is None:
        raise dialogue.refuse(replace(say("SYNTAX ERROR"), hint="CON, PAR, FUN, ALL, CS or AS"))
    section, order = found
    if section in {"FUN", "ALL"} and state.functions_missing:
        raise dialogue.refuse(say("FUNCTS NOT COMPLETE"))
    if section == "ALL" and not state.is_complete:
        raise dialogue.refuse(say("MODEL NOT COMPLETE"))
    channel = state.channels.model_output
    if channel.is_terminal:
        for line in model_lines.write(state.program, headed=False, order=order, digits="five", sections=section, comments=False).splitlines():
            dialogue.say(line)
        return
    may_overwrite(dialogue, state, channel)
    if not channel.is_open:
        state.stored.clear()
    state.stored.add(section)
    if {"CON", "PAR", "FUN"} <= state.stored:
        state.stored.add("ALL")
    # sections that went to this file before stay in it
    parts: list[model_lines.Part] = ["ALL"] if "ALL" in state.stored else [part for part in ("CON", "PAR", "FUN") if part in state.stored]
    control = _control(state) if parts == ["ALL"] else None
    text = "".join(model_lines.write(state.program, order=order, control=control, sections=part) for part in parts)
    write_whole(dialogue, state, channel, lambda path: path.write_text(text, encoding="utf-8"))


def _control(state: SessionState) -> Control:
    """Integration and output control, for the section that the old reader skips."""
    control = Control()
    if state.integration is not None:
        control.update(lower=state.integration.lower, upper=state.integration.upper, interval=state.integration.interval)
    if state.output is not None:
        control.update(outputs=state.output.wanted, every=state.output.every, percent=state.output.percent)
    if state.seed != SEED:
        control.update(seed=state.seed)
    return control


def may_overwrite(dialogue: Dialogue, state: SessionState, channel: SessionChannel) -> None:
    """Ask before a file that this session has not opened is overwritten; a script is told only.

    Raises
    ------
    Refused
        If the person says no.
    """
    path = channel.path(state.folder)
    if channel.is_open or not is_there(path):
        return
    if not dialogue.terminal.is_interactive:
        dialogue.say(f"HAVE OVERWRITTEN FILE {channel.file} ON DSK")
        return
    dialogue.head(channel.status)
    dialogue.head(f"WILL OVERWRITE {channel.file} ON DSK")
    if not dialogue.is_yes("OK :", is_recorded=False):
        dialogue.head(notice("THEN CHANGE FILENAME").text)
        raise Refused(is_forgotten=True)


def write_whole(dialogue: Dialogue, state: SessionState, channel: SessionChannel, write: Callable[[Path], object]) -> Path:
    """Write the file of a channel, whole or not at all; where it is."""
    path = channel.path(state.folder)
    try:
        with written_whole(path) as draft:
            write(draft)
    except (UsageError, OSError, ValueError) as error:
        raise dialogue.refuse(replace(say("ILLEGAL DEVICE NAME"), hint=_why(error))) from None
    channel.is_open = True
    return path


def show_sorted(dialogue: Dialogue, state: SessionState) -> None:
    """SOR: the sort list."""
    _need_configurations(dialogue, state)
    dialogue.say(" ".join(map(str, state.program.sort_list())))
