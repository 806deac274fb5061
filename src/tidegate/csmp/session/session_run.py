"""Commands of a session of CSMP-10(ARL) about runs (stage: the language's own method): INT OUT GOE LOO DEB RET."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Final, Literal

from tidegate.csmp.execution.check_control import control_problems, integration_problems, output_blocks
from tidegate.csmp.execution.execution import Surroundings
from tidegate.csmp.execution.listing import debug_text
from tidegate.csmp.execution.run_program import run_program
from tidegate.csmp.fortran_numbers import five
from tidegate.csmp.language.control import Control, RunControl
from tidegate.csmp.language.diagnostics import Diagnostic, say
from tidegate.csmp.language.fields import split
from tidegate.csmp.language.written_numbers import exact, whole
from tidegate.csmp.session.dialogue import Dialogue, Refused, incorrect, numbers_of
from tidegate.csmp.session.session_channels import ChannelRefused
from tidegate.csmp.session.session_model import may_overwrite, title, write_whole
from tidegate.csmp.session.session_state import DebugWanted, Integration, SessionOutput, SessionState
from tidegate.csmp.session.terminal import EndOfReplies
from tidegate.errors import CsmpError

__all__ = ["ProgressFactory", "debug", "execute", "integration", "look", "no_progress", "output", "retain", "take_control"]

_ALL: Final = ("A", "ALL", "AS")
_WARNING: Final = "ITERATION LIMIT"  # how the only diagnostic begins that a run goes on after
DEBUG_FILE: Final = "DEBUG.OUT"


def integration(dialogue: Dialogue, state: SessionState) -> None:
    """INT."""
    lower, upper, interval = dialogue.numbers("INTEGN PARAMS; LOWER, UPPER, INTERVAL = ", "integration", 3, least=2)
    problems = integration_problems(lower, upper, interval)
    if problems:
        raise dialogue.refuse(*problems)
    state.integration = Integration(lower, upper, interval)


def output(dialogue: Dialogue, state: SessionState) -> None:
    """OUT."""
    if not state.has_configurations:
        raise dialogue.refuse(say("CONFIGS NOT COMPLETE"))
    titled_before = state.program.title
    try:
        if not titled_before:
            title(dialogue, state)
        blocks = _output_blocks(dialogue, state)
        _take_output(dialogue, state, blocks)
    except (KeyboardInterrupt, EndOfReplies):  # the command is cancelled as a whole
        state.program.title = titled_before
        raise


def _take_output(dialogue: Dialogue, state: SessionState, blocks: tuple[int, ...] | str) -> None:
    percent, every = dialogue.numbers("O/P PARAMS; % CHANGE REQD, INTERVAL = ", "output interval", 2, least=1)
    if percent < 0.0 or every < 0.0:
        raise dialogue.refuse(replace(say("IMPROPER PARAM SPECIFICATION"), hint="neither number is below zero"))
    if not blocks:
        raise dialogue.refuse(say("O/P CONTROL PARAMS NEEDED"))
    state.output = SessionOutput(blocks, every, percent)


def _output_blocks(dialogue: Dialogue, state: SessionState) -> tuple[int, ...] | str:
    dialogue.head("O/P BLKS")
    found: list[int] = []
    choices = ["A", "AS", *map(str, state.program.numbers)]
    while True:
        line = dialogue.ask("", "output blocks", choices)
        fields = split(line)
        if fields.is_empty:
            return tuple(found)
        order = (fields.values[0] or "").upper()
        if order in _ALL and len(fields.values) == 1:
            return "AS" if order == "AS" else "A"
        for text in fields.values:
            if text is None:
                continue
            problem = _problem_of(state, text, line)
            if problem is not None:
                dialogue.diagnose(problem)
            elif (number := whole(text)) is not None and number not in found:
                found.append(number)


def _problem_of(state: SessionState, text: str, line: str) -> Diagnostic | None:
    """What is wrong with the number of a block to be shown or stored."""
    read = numbers_of(text, 1)
    if read is None:
        return incorrect(line)
    number = whole(text)
    highest = state.limits.highest_number
    if number is None or not 1 <= number <= highest:
        return say("INVALID BLK NO.", highest=highest)
    if number != 1 and number not in state.program.blocks:
        return say("BLK NOT USED", n=number)
    return None


def _several(line: str) -> Diagnostic:
    return say("INCORRECT RECORD", record=line.strip(), hint="give one block a line; an empty line ends the command")


def look(dialogue: Dialogue, state: SessionState) -> None:
    """LOO."""
    if state.last is None:
        raise dialogue.refuse(say("MORE WORK TO DO" if state.is_complete else "MODEL NOT COMPLETE"))
    final = state.last.final
    while True:
        line = dialogue.ask("BLK = ", "look", list(map(str, sorted(final))))
        fields = split(line)
        text = fields.values[0] if fields.values else None
        if text is None or whole(text) == 0:
            return
        problem = _several(line) if len(fields.values) > 1 else _problem_of(state, text, line)
        number = whole(text)
        if problem is None and number not in final:
            problem = say("BLK NOT USED", n=number, hint="the last run did not have it")
        if problem is not None:
            dialogue.diagnose(problem)
        elif number is not None:
            dialogue.say(f"O/P = {five(final[number])}")


def debug(dialogue: Dialogue, state: SessionState) -> None:
    """DEB."""
    lower, upper = dialogue.numbers("TIME LIMITS: LOWER, UPPER = ", "debug", 2, least=1)
    is_on_terminal = dialogue.is_yes("IS O/P TO TTY REQ'D : ")
    if not is_on_terminal and not state.channels.is_debug_open:
        try:
            state.channels.reserve_debug()
        except ChannelRefused as refusal:
            raise dialogue.refuse(say(refusal.key, unit=refusal.unit, hint=refusal.hint)) from None
        _write_listing(dialogue, state, [], "w")
    state.debug = DebugWanted(lower, upper, is_on_terminal)


# -- GOE ------------------------------------------------------------------------------------------------------------------------------------

# A context in which a run happens, given its limits of time. It gives a function that is told the time reached, and says whether to stop.
ProgressFactory = Callable[[tuple[float, float]], AbstractContextManager[Callable[[float], bool | None]]]


@contextmanager
def no_progress(limits: tuple[float, float]) -> Generator[Callable[[float], bool | None]]:  # noqa: ARG001, nobody looks at it
    """Show nothing."""
    yield lambda _now: None


def execute(dialogue: Dialogue, state: SessionState, progress: ProgressFactory) -> None:
    """GOE: run the model, and write its rows to the block output file."""
    control = _control(dialogue, state)
    channel = state.channels.block_output
    may_overwrite(dialogue, state, channel)
    if state.program.title and not dialogue.terminal.shows_dialogue:
        dialogue.say(state.program.title)
    dialogue.say("**** RUNNING ****")
    wanted = state.debug
    try:
        with progress((control.lower, control.upper)) as show:
            done = run_program(
                state.program,
                control,
                user=state.routines,
                debug=None if wanted is None else (wanted.lower, wanted.upper),
                seed=state.seed,
                progress=show,
                surroundings=_surroundings(dialogue, state),
            )
    except CsmpError as error:
        raise dialogue.refuse(*error.diagnostics) from None
    state.last, state.debug = done, None
    if wanted is not None:
        _list(dialogue, state, wanted, debug_text(done.debug))
    for remark in done.remarks:
        if remark.is_diagnostic:
            dialogue.diagnose(Diagnostic(remark.text, remark.text, remark.block, hint=remark.hint), is_warning=remark.text.startswith(_WARNING))
        else:
            dialogue.say(remark.text)
            if remark.hint:
                dialogue.terminal.explain(f"  {remark.hint}")
    dialogue.say(f"RUN CPU TIME: {done.cpu_seconds:.2f} SEC.")
    write_whole(dialogue, state, channel, done.result.to_netcdf)
    if done.status in {"error", "interrupted"}:
        raise Refused


def _control(dialogue: Dialogue, state: SessionState) -> RunControl:
    """What the run is asked for; refused while something is missing or cannot be run."""
    if state.has_configurations and state.has_parameters and state.functions_missing:
        raise dialogue.refuse(say("FUNCTS NOT COMPLETE"))
    if not state.is_complete:
        raise dialogue.refuse(say("MODEL NOT COMPLETE"))
    integration, output = state.integration, state.output
    if integration is None or output is None:
        missing = [say("MORE WORK TO DO")]
        missing += [say("INTEGN CONTROL PARAMS NEEDED")] if integration is None else []
        missing += [say("O/P CONTROL PARAMS NEEDED")] if output is None else []
        raise dialogue.refuse(*missing)
    blocks = output_blocks(state.program, output.wanted) if isinstance(output.wanted, str) else output.wanted
    control = RunControl(integration.lower, integration.upper, integration.interval, blocks, output.every, output.percent)
    problems = [*state.program.problems(), *control_problems(state.program, control)]
    if problems:
        raise dialogue.refuse(*problems)
    return control


def _surroundings(dialogue: Dialogue, state: SessionState) -> Surroundings:
    limits, channels = state.limits, state.channels
    sizes = (limits.highest, limits.integrators, limits.delays, limits.functions)
    files = {"model input": channels.model_input.file, "block output": channels.block_output.file, "model output": channels.model_output.file}
    return Surroundings(tuple(size for size in sizes if size is not None), not dialogue.terminal.is_interactive, files)


def _list(dialogue: Dialogue, state: SessionState, wanted: DebugWanted, lines: list[str]) -> None:
    if wanted.is_on_terminal:
        for line in lines:
            dialogue.say(line)
    else:
        _write_listing(dialogue, state, lines, "a")


def _write_listing(dialogue: Dialogue, state: SessionState, lines: list[str], mode: Literal["w", "a"]) -> None:
    try:
        with (state.folder / DEBUG_FILE).open(mode, encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise dialogue.refuse(say("ILLEGAL DEVICE NAME", hint=f"{DEBUG_FILE} cannot be written: {error.strerror or error}")) from None


def take_control(state: SessionState, control: Control) -> list[str]:
    """Let a file's control section answer INT and OUT; the replies that say the same. What it does not say, or says wrongly, is still to be asked."""
    replies: list[str] = []
    limits = [control.get(name) for name in ("lower", "upper", "interval")]
    given = [float(value) for value in limits if isinstance(value, float | int)]
    if len(given) == 3 and not integration_problems(*given):
        state.integration = Integration(*given)
        replies += ["INT", ", ".join(map(exact, given))]
    blocks = control.get("outputs", ())
    every, percent = control.get("every"), control.get("percent", 0.0)
    listed = () if isinstance(blocks, str) else blocks
    is_known = all(number == 1 or number in state.program.blocks for number in listed)
    if state.has_configurations and blocks and is_known and every is not None and every >= 0.0 and percent >= 0.0:
        state.output = SessionOutput(blocks, every, percent)
        # one number a line, since a line has 72 characters
        chosen = [blocks] if isinstance(blocks, str) else [*map(str, listed), ""]
        replies += ["OUT", *([] if state.program.title else [""]), *chosen, f"{exact(percent)}, {exact(every)}"]
    state.seed = control.get("seed", state.seed)
    return replies


def retain(dialogue: Dialogue, state: SessionState) -> None:
    """RET."""
    if state.last is None:
        raise dialogue.refuse(
            say("MORE WORK TO DO" if state.is_complete else "MODEL NOT COMPLETE", hint="RET keeps what a run has reached: GOE first")
        )
    program = state.program
    for number, values in state.last.retained().items():
        before, now = state.last.program.blocks[number], program.blocks.get(number)
        if now is not None and now.kind == before.kind:
            program.parameters[number] = (values[0], *program.parameter(number)[1:])
