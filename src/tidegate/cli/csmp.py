"""``tidegate csmp``: the console of CSMP-10(ARL), and single runs (stage: command line). In go files and options, out come rows, files, a status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from threading import Event
from typing import Final, TextIO, cast

import typer

from tidegate.cache_folder import cache_directory
from tidegate.cli.told_errors import FAILED, INTERRUPTED
from tidegate.csmp import SEED, CsmpRun, RunControl, output_blocks, routines_of, run_program
from tidegate.csmp.language.control import Control
from tidegate.csmp.language.model_lines import read
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.session.console import ConsoleTerminal, watched
from tidegate.csmp.session.csmp_session import CsmpSession
from tidegate.csmp.session.session_state import SessionState
from tidegate.csmp.session.terminal import Recorder, ScriptTerminal, Terminal
from tidegate.csmp.trans import choose, csv_table, teletype_table
from tidegate.errors import UsageError
from tidegate.executive.progress_bar import ProgressBar
from tidegate.names import close_names
from tidegate.quick_dataclass import dataclass
from tidegate.results.files import tried

__all__ = ["ConsoleRequest", "RunRequest", "console", "run"]

_SCRIPT: Final = "BOMMP.IN"
_RECORD: Final = "BOMMP.OUT"
_HISTORY: Final = "csmp_history"
_STANDARD: Final = "-"
_BANNER: Final = "CSMP-10(ARL): ? lists the commands, and at any other question says what it asks for; EXI or Ctrl-D leaves"


@dataclass(frozen=True, slots=True)
class ConsoleRequest:
    """Options of the console.

    Parameters
    ----------
    model : file to begin with.
    script : file of replies; ``-`` for the standard input.
    is_echoed : show prompts and replies of a script.
    asks_sizes : ask for highest block number and counts.
    user : module with user routines.
    is_recorded : write replies to BOMMP.OUT.
    seed : of jitter.
    """

    model: Path | None = None
    script: Path | None = None
    is_echoed: bool = False
    asks_sizes: bool = False
    user: Path | None = None
    is_recorded: bool = True
    seed: int = SEED


def console(request: ConsoleRequest) -> int:
    """Hold a session; its exit status.

    Raises
    ------
    UsageError
        If the model, the script or the user routines are not there.
    """
    model = None if request.model is None else _model_file(request.model, "a model file, e.g. spring.mod; or none, to type a model")
    replies = _replies(request)
    is_typed = replies is None
    # a pipe that is itself the script has nobody behind it: MANUAL in it goes on with what comes
    by_hand = None if replies is not None and replies.is_standard else _by_hand
    while True:
        state = SessionState(routines=routines_of(request.user), seed=request.seed)
        if replies is None:
            terminal: Terminal = _person()
            asks_sizes = request.asks_sizes
            recorder = Recorder(Path(_RECORD) if request.is_recorded else None)
        else:
            terminal = ScriptTerminal(replies.lines, typer.echo, is_echoed=request.is_echoed or replies.is_piped, name=replies.name, explain=_aside)
            asks_sizes = request.asks_sizes or replies.answers_sizes
            recorder = Recorder(None)
        session = CsmpSession(terminal, state, recorder=recorder, asks_sizes=asks_sizes, model=model, by_hand=by_hand, progress=_progress)
        ended = session.run()
        replies = None
        if ended.program != "BOMMP" or not is_typed:
            break
    is_good = not ended.n_diagnostics
    if ended.program == "TRANS":
        from tidegate.cli.trans import WantedOutput, trans

        is_good = trans(None, WantedOutput()) and is_good
    if is_typed:
        return 0
    if state.last is not None and state.last.status == "interrupted":
        return INTERRUPTED
    return 0 if is_good else FAILED


@dataclass(frozen=True)
class _Replies:
    """Lines of a script.

    Parameters
    ----------
    lines, name : of the script.
    answers_sizes : the first line is a number, which is no command.
    is_piped : it is the standard input, and nobody has said so.
    is_standard : it is the standard input.
    """

    lines: Iterable[str]
    name: str
    answers_sizes: bool
    is_piped: bool
    is_standard: bool = False


def _replies(request: ConsoleRequest) -> _Replies | None:
    """The script, None if a person types."""
    script = request.script
    if script is None and request.model is None and Path(_SCRIPT).is_file():
        script = Path(_SCRIPT)
    if str(script) == _STANDARD or (script is None and not sys.stdin.isatty()):
        source: TextIO = sys.stdin
        if isinstance(source, TextIOWrapper):
            source.reconfigure(errors="replace")  # whatever is piped is a script; its faults are the language's to name
        lines: Iterator[str] = iter(cast(TextIO, source))
        first = next(lines, None)
        return _Replies(_with_first(first, lines), "standard input", _is_number(first or ""), script is None, is_standard=True)
    if script is None:
        return None
    try:
        text = script.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"the script {script} cannot be read: {error.strerror}", hint="a file of replies, as BOMMP.OUT is") from error
    replies = text.splitlines()
    return _Replies(replies, str(script), bool(replies) and _is_number(replies[0]), False)


def _with_first(first: str | None, rest: Iterator[str]) -> Iterator[str]:
    if first is not None:
        yield first
        yield from rest


def _is_number(text: str) -> bool:
    return text.partition("$")[0].strip().isdecimal()


def _person() -> ConsoleTerminal:
    terminal = ConsoleTerminal(cache_directory() / _HISTORY)
    terminal.say(_BANNER)
    return terminal


def _by_hand() -> Terminal:
    """Who goes on where a script says MANUAL: a person, or what is piped in."""
    if sys.stdin.isatty():
        return _person()
    return ScriptTerminal(sys.stdin, typer.echo, is_echoed=True, name="standard input", explain=_aside)


def _model_file(path: Path, hint: str) -> Path:
    """The file of a model, which may be named without its suffix, as in a channel command."""
    if path.is_file():
        return path
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint=hint)
    if not path.suffix:
        names = dict.fromkeys(stem + suffix for stem in (path.name, path.name.upper()) for suffix in (".mod", ".MOD"))
        for name in names:
            if path.with_name(name).is_file():
                return path.with_name(name)
    there = [file.name for pattern in ("*.mod", "*.MOD") for file in sorted(path.parent.glob(pattern))]
    close = close_names(path.name if path.suffix else f"{path.name}.mod", there)
    raise UsageError(f"there is no file {path}", hint=" or ".join(str(path.with_name(name)) for name in close) or hint)


def _aside(text: str) -> None:
    typer.echo(text, err=True)


@contextmanager
def _progress(limits: tuple[float, float]) -> Generator[Callable[[float], bool]]:
    """A bar on long runs, and ``^`` to end them."""
    asked = Event()

    with watched(asked.set), ProgressBar(limits) as bar:

        def show(now: float) -> bool:
            bar(now)
            return asked.is_set()

        yield show


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Options of a single run. What is not given is taken from the file's control section.

    Parameters
    ----------
    model : its file.
    start, to, h : limits of time, and the integration interval.
    out : output blocks by number or label, separated by commas; ``A`` or ``AS`` for all.
    every, percent : output interval, and the change in per cent below which a value is not stored.
    csv, netcdf : files to write; ``-`` is the standard output.
    user : module with user routines.
    seed : of jitter.
    is_quiet : print nothing but errors.
    """

    model: Path
    start: float | None = None
    to: float | None = None
    h: float | None = None
    out: str | None = None
    every: float | None = None
    percent: float | None = None
    csv: Path | None = None
    netcdf: Path | None = None
    user: Path | None = None
    seed: int | None = None
    is_quiet: bool = False


def run(request: RunRequest) -> int:
    """Run a model file once by the language's method; the exit status.

    Raises
    ------
    CsmpError
        With all that is wrong in the model, each with its line.
    UsageError
        If an option is missing or does not fit.
    """
    for path in (request.csv, request.netcdf):
        if path is not None and str(path) != _STANDARD:
            tried(path)
    program, control = read(_model_file(request.model, "a model file, e.g. spring.mod"))
    asked = _asked(request, program, control)
    seed = request.seed if request.seed is not None else control.get("seed", SEED)
    with ProgressBar((asked.lower, asked.upper), is_quiet=request.is_quiet) as bar:

        def show(now: float) -> None:
            bar(now)

        done = run_program(program, asked, user=request.user, seed=seed, progress=show)
    for remark in done.remarks:
        if remark.is_diagnostic or not request.is_quiet:
            _aside(f"! {remark.text}" if remark.is_diagnostic else remark.text)
            if remark.hint:
                _aside(f"  {'try: ' if remark.is_diagnostic else ''}{remark.hint}")
    _hand_over(request, done)
    return {"complete": 0, "quit": 0, "interrupted": INTERRUPTED, "error": FAILED}[done.status]


def _asked(request: RunRequest, program: CsmpProgram, control: Control) -> RunControl:
    start = control.get("lower", 0.0) if request.start is None else request.start
    to = control.get("upper") if request.to is None else request.to
    h = control.get("interval") if request.h is None else request.h
    if h is None and to == start:
        h = 0.0  # the initial stage alone has no interval
    listed = control.get("outputs") if request.out is None else _listed(request.out)
    out = None if listed is None else output_blocks(program, listed)
    missing = [name for name, value in (("--to T", to), ("--h H", h), ("--out LIST", out)) if value is None]
    if to is None or h is None or out is None:
        raise UsageError(
            f"it is not said how to run {request.model}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            hint=f"tidegate csmp run {request.model} --to 20 --h 0.1 --out A",
        )
    every = control.get("every", h) if request.every is None else request.every
    percent = control.get("percent", 0.0) if request.percent is None else request.percent
    return RunControl(start, to, h, out, every, percent)


def _listed(text: str) -> str | list[int | str]:
    if text.strip().upper() in {"A", "ALL", "AS"}:
        return text.strip()
    items = [item.strip() for item in text.split(",")]
    if "" in items:
        raise UsageError(f"cannot read --out {text!r}", hint="numbers of blocks with commas between: --out 9,4,48,10; or A for all")
    return [int(item) if item.isdecimal() else item for item in items]


def _hand_over(request: RunRequest, done: CsmpRun) -> None:
    """Rows to files, or as a table."""
    if request.netcdf is not None:
        done.result.to_netcdf(request.netcdf)
    if request.csv is not None and str(request.csv) != _STANDARD:
        done.result.to_csv(request.csv)
    elif not done.result.t.size:
        return  # what stopped it before the first row is said
    elif request.csv is not None:
        sys.stdout.write(csv_table(choose(done.result)))
    if request.csv is None and request.netcdf is None and not request.is_quiet:
        typer.echo(teletype_table(choose(done.result)))
