"""A session of CSMP-10(ARL) from the first question to EXIT (stage: the language's own method): lines of commands, carried out in turn.

Sources: the CSMP-10(ARL) report, ARL/Aero. Note 362, sections 4.1 and 5. In go replies of a terminal, out come lines on it and files.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from tidegate.csmp.fortran_numbers import clock
from tidegate.csmp.language.diagnostics import notice, say
from tidegate.csmp.language.model_lines import read_tolerantly
from tidegate.csmp.language.statements import Limits
from tidegate.csmp.language.written_numbers import whole
from tidegate.csmp.session import session_model as modelling
from tidegate.csmp.session import session_run as runs
from tidegate.csmp.session.commands import ChannelCommand, Command, Unreadable, Word, read_commands
from tidegate.csmp.session.dialogue import Dialogue, Refused, incorrect
from tidegate.csmp.session.help import help_on
from tidegate.csmp.session.session_channels import ChannelRefused, is_there
from tidegate.csmp.session.session_state import SessionState
from tidegate.csmp.session.terminal import EndOfReplies, Recorder, Terminal
from tidegate.quick_dataclass import dataclass

__all__ = ["CsmpSession", "Ended"]

_PROMPT: Final = "*"
_SIZE_PROMPT: Final = "MAX BLK NO. = "
_COUNTS_PROMPT: Final = "NO. OF: I & T1 BLKS, U BLKS, F BLKS = "
# Numbers that the arrays of 1976 took, by what the user asked for; a machine of today has room for this many.
_MOST_NUMBERS: Final = 10**9
_PROGRAMS: Final = ("TRANS", "BOMMP")
_MANUAL_RECORD: Final = "FROMAN.OUT"
# What RUN says where a file ended without the section; the report goes back to the commands then, section 5.5.1.
_NOT_IN_FILE: Final = {Word.CONFIGURATION: "NO CONFIGS", Word.PARAMETER: "NO PARAMS", Word.FUNCTION: "NO FUNCTS"}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended.

    Parameters
    ----------
    n_diagnostics : how many errors were said.
    program : what PROGRAM asked for, "" for nothing.
    is_fatal : a script named a model file that is not there.
    """

    n_diagnostics: int
    program: str = ""
    is_fatal: bool = False


class _Leave(Exception):  # noqa: N818, EXIT is no error
    """The session ends."""

    def __init__(self, program: str = "", *, is_fatal: bool = False) -> None:
        super().__init__()
        self.program = program
        self.is_fatal = is_fatal


class CsmpSession:
    """Speaks the commands of the language.

    Parameters
    ----------
    terminal : who answers.
    state : the model to begin with; an empty one if not given.
    recorder : of replies; none are kept if not given.
    asks_sizes : begin with the questions for the highest block number and the counts of blocks. Without it they are not asked, but a script that
        begins with a number has answered them.
    model : file to be read before the first command, as channel command, CON, PAR and FUN would; its control section stands for INT and OUT.
    by_hand : the terminal of a person, for MANUAL in a script.
    progress : context in which a run happens, given limits of time; it gives a function of the time reached.

    Examples
    --------
    >>> from tidegate.csmp.session.terminal import ScriptTerminal
    >>> lines = ["TIT", "DECAY", "CON", "2 T1 3 ; LEVEL", "3 K", "", "PAR", "2 1 .5", "", "SOR", "EXI"]
    >>> session = CsmpSession(ScriptTerminal(lines, lambda text: None))
    >>> session.run().n_diagnostics, session.state.program.numbers, session.state.is_complete
    (0, [2, 3], True)
    """

    def __init__(
        self,
        terminal: Terminal,
        state: SessionState | None = None,
        *,
        recorder: Recorder | None = None,
        asks_sizes: bool = False,
        model: Path | None = None,
        by_hand: Callable[[], Terminal] | None = None,
        progress: runs.ProgressFactory = runs.no_progress,
    ) -> None:
        self.dialogue = Dialogue(terminal, recorder or Recorder(None))
        self.state = state or SessionState()
        self._asks_sizes = asks_sizes
        self._model = model
        self._by_hand = by_hand
        self._progress = progress
        self._began = (time.process_time(), time.monotonic())
        self._carried_out_by: dict[Word, Callable[[Dialogue, SessionState], None]] = {
            Word.TITLE: modelling.title,
            Word.CONFIGURATION: modelling.configurations,
            Word.PARAMETER: modelling.parameters,
            Word.FUNCTION: modelling.functions,
            Word.STORE: modelling.store,
            Word.SORT: modelling.show_sorted,
            Word.INTEGRATION: runs.integration,
            Word.OUTPUT: runs.output,
            Word.LOOK: runs.look,
            Word.DEBUG: runs.debug,
            Word.RETAIN: runs.retain,
            Word.GOE: self._goe,
            Word.RUN: self._run_all,
            Word.FILE: _show_channels,
            Word.PROGRAM: _leave_for_program,
            Word.MANUAL: self._go_on_by_hand,
            Word.EXIT: _leave,
        }

    def run(self) -> Ended:
        """From the first question to the end."""
        leave = _Leave()
        try:
            self._begin()
            while True:
                self._line()
        except EndOfReplies:
            pass
        except _Leave as asked:
            leave = asked
        self._say_goodbye()
        return Ended(self.dialogue.n_diagnostics, leave.program, leave.is_fatal)

    # -- start and end ----------------------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Sizes, if they are asked for or the first reply tells them; then the model that was named."""
        try:
            if self._asks_sizes or self._model is None:
                self._sizes()
        except KeyboardInterrupt:
            self.dialogue.recorder.forget()  # half an answer would not be understood when it is replayed
        if self._model is not None:
            self._read_model(self._model)

    def _read_model(self, path: Path) -> None:
        """What a person would have typed to read it; a script that repeats the session does the same."""
        state, recorder = self.state, self.dialogue.recorder
        channel = state.channels.read_from(path)
        is_repeatable = path.suffix in {".mod", ".MOD"} and not set(channel.name) & set(".;$")
        recorder.reply(f"{channel.name}<-I" if is_repeatable else f"$ {path} is read here, but its name cannot be typed: replace this line")
        self.dialogue.head(channel.status)
        self._carry_out("CON;PAR")
        if state.has_configurations and state.functions_missing:
            self._carry_out("FUN")
        if not channel.is_terminal:
            recorder.reply("TTY:<-I")
            state.channels.to_terminal(channel)
            state.input_file = None
            self.dialogue.head(channel.status)
        for reply in runs.take_control(state, read_tolerantly(state.folder / path).control):
            recorder.reply(reply)

    def _sizes(self) -> None:
        while True:
            reply = self.dialogue.ask(_SIZE_PROMPT if self._asks_sizes else _PROMPT, "sizes" if self._asks_sizes else "command", is_recorded=False)
            number = whole(reply.partition("$")[0].strip())
            if number is None and not self._asks_sizes:
                self._carry_out(reply)
                return
            self.dialogue.recorder.reply(reply)
            if not reply.strip():
                return
            if number is None:
                self.dialogue.diagnose(incorrect(reply))
                continue
            limits = Limits(highest=number)
            if not 2 <= number <= Limits().highest_number:
                self.dialogue.diagnose(say("NOT ENOUGH CORE") if number > 2 else say("INVALID BLK NO.", highest=Limits().highest_number))
                continue
            counts = self.dialogue.numbers(_COUNTS_PROMPT, "counts", 3, least=0)
            if any(count < 0 or not count.is_integer() for count in counts):
                self.dialogue.diagnose(say("SYNTAX ERROR"))
                continue
            integrators, delays, functions = (int(count) for count in counts)
            if 13 * number + 4 * integrators + delays + 31 * functions > _MOST_NUMBERS:
                self.dialogue.diagnose(say("NOT ENOUGH CORE"))
                continue
            self.state.limits = replace(limits, integrators=integrators, delays=delays, functions=functions)
            return

    def _say_goodbye(self) -> None:
        cpu, elapsed = time.process_time() - self._began[0], time.monotonic() - self._began[1]
        self.dialogue.say("END OF EXECUTION")
        self.dialogue.say(f"CPU TIME: {cpu:.2f} ELAPSED TIME: {clock(elapsed)}")

    # -- a line of commands -----------------------------------------------------------------------------------------------------------------

    def _line(self) -> None:
        try:
            reply = self.dialogue.ask(_PROMPT, "command", self._choices(), is_recorded=False)
        except KeyboardInterrupt:
            return
        self._carry_out(reply)

    def _carry_out(self, reply: str) -> None:
        recorder = self.dialogue.recorder
        commands = read_commands(reply)
        if not commands:
            return
        if not all(isinstance(command, Command) and command.word is Word.HELP for command in commands):
            recorder.command_line(reply)
        for command in commands:
            try:
                self._do(command)
            except Refused as refused:
                if refused.is_forgotten:
                    recorder.take_back()
                return
            except (KeyboardInterrupt, EndOfReplies) as left:
                if not self.dialogue.terminal.is_interactive:
                    raise
                recorder.take_back()
                if isinstance(left, EndOfReplies):
                    raise
                return
            recorder.done(command.text)

    def _do(self, command: Command | ChannelCommand | Unreadable) -> None:
        if isinstance(command, Unreadable):
            raise self.dialogue.refuse(say(command.key, hint=command.hint))
        if isinstance(command, ChannelCommand):
            self._change_channel(command)
        elif command.word is Word.HELP:
            for line in help_on(command.rest or "command"):
                self.dialogue.say(line)
        else:
            self._carried_out_by[command.word](self.dialogue, self.state)

    def _choices(self) -> list[str]:
        words = [word.value[:3] for word in Word]
        found = sorted({path.stem for pattern in ("*.mod", "*.MOD") for path in self.state.folder.glob(pattern)})
        return [*words, *(f"{name}<-I" for name in found if not name.startswith("."))]

    # -- commands about the session itself --------------------------------------------------------------------------------------------------

    def _change_channel(self, command: ChannelCommand) -> None:
        channels = self.state.channels
        before, file_before = replace(channels.model_input), self.state.input_file
        try:
            channel = channels.change(command)
        except ChannelRefused as refusal:
            raise self.dialogue.refuse(say(refusal.key, hint=refusal.hint, unit=refusal.unit)) from None
        if channel is channels.model_input:
            self.state.input_file = None
        self.dialogue.head(channel.status)
        if channel is not channels.model_input or channel.is_terminal or is_there(channel.path(self.state.folder)):
            return
        if not self.dialogue.terminal.is_interactive:
            self.dialogue.diagnose(say("FATAL ATTEMPT", name=channel.name, extension=channel.suffix[1:]))
            raise _Leave(is_fatal=True)
        self.dialogue.head(f"{channel.file} NOT ON DSK")
        is_elsewhere = False
        try:
            is_elsewhere = self.dialogue.is_yes("IS IT ELSEWHERE : ", is_recorded=False)
        finally:
            if not is_elsewhere:  # Ctrl-C is a no, too
                channels.model_input, self.state.input_file = before, file_before
        if not is_elsewhere:
            self.dialogue.head(notice("THEN CHANGE FILENAME").text)
            raise Refused(is_forgotten=True)

    def _goe(self, dialogue: Dialogue, state: SessionState) -> None:
        runs.execute(dialogue, state, self._progress)

    def _run_all(self, dialogue: Dialogue, state: SessionState) -> None:
        """RUN: what is still missing, then GOE. Of what is to be read from a file nothing is asked for instead."""
        comes_from_file = not state.channels.model_input.is_terminal
        wanted: dict[Word, Callable[[], object]] = {
            Word.TITLE: lambda: not state.program.title and not comes_from_file,
            Word.CONFIGURATION: lambda: not state.has_configurations,
            Word.PARAMETER: lambda: not state.has_parameters,
            Word.FUNCTION: lambda: state.functions_missing,
            Word.INTEGRATION: lambda: state.integration is None,
            Word.OUTPUT: lambda: state.output is None,
        }
        for word, is_missing in wanted.items():
            if state.last is None and is_missing():
                if comes_from_file and word in _NOT_IN_FILE and state.channels.model_input.is_terminal:
                    raise dialogue.refuse(
                        say(_NOT_IN_FILE[word], hint="name the file that has them in a channel command, e.g. name<-I, then RUN again")
                    )
                self._carried_out_by[word](dialogue, state)
                dialogue.recorder.done(word.value[:3])
        self._goe(dialogue, state)

    def _go_on_by_hand(self, dialogue: Dialogue, state: SessionState) -> None:
        """MANUAL: a person goes on where the script is."""
        if dialogue.terminal.is_interactive or self._by_hand is None:
            return
        dialogue.terminal = self._by_hand()
        dialogue.recorder = Recorder(state.folder / _MANUAL_RECORD)


def _show_channels(dialogue: Dialogue, state: SessionState) -> None:
    for channel in state.channels.all():
        dialogue.say(channel.status)


def _leave_for_program(dialogue: Dialogue, state: SessionState) -> None:  # noqa: ARG001, all commands are called alike
    name = dialogue.ask("PROGRAM NAME = ", "program", _PROGRAMS).partition("$")[0].strip().upper()
    if name not in _PROGRAMS:
        raise dialogue.refuse(say("SYNTAX ERROR", hint="TRANS or BOMMP; other programs start from the shell"))
    raise _Leave(name)


def _leave(dialogue: Dialogue, state: SessionState) -> None:  # noqa: ARG001, all commands are called alike
    raise _Leave
