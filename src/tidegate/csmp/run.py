"""Running a program by the language's own method (stage: csmp). In: program, control, user routines. Out: a ``CsmpRun``, also after a failure."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from types import FrameType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.native import NativeModule
from tidegate.csmp import storage
from tidegate.csmp.callbacks import CalledRoutine, Failure, call_back
from tidegate.csmp.context import Context, RunFacts
from tidegate.csmp.control import RunControl, control_problems, output_blocks
from tidegate.csmp.listing import DebugEntry, debug_entries
from tidegate.csmp.machine import places as m
from tidegate.csmp.machine.machine import Machine, Schedule
from tidegate.csmp.routines import Routine, Routines, routines_of
from tidegate.csmp.traced import compile_traced, trace_interpolation, trace_user
from tidegate.errors import CsmpError, UsageError
from tidegate.fortran_numbers import five
from tidegate.frontends.blocks.language.diagnostics import Diagnostic, notice, say
from tidegate.frontends.blocks.language.kinds import is_user_kind
from tidegate.frontends.blocks.language.program import CsmpProgram, Parameters
from tidegate.results import Result

__all__ = ["SEED", "CsmpRun", "Remark", "RunStatus", "Surroundings", "run", "run_program"]

FloatArray = NDArray[np.float64]
RunStatus = Literal["complete", "quit", "error", "interrupted"]

SEED: Final = 524287  # of jitter, what the PDP-10's FORTRAN library began with
_LARGEST_SEED: Final = 2**31 - 2
_RETAINED: Final = ("I", "T1", "U", "Z")
_ERRORS: Final = {
    m.STOP_DIVISION: "ATTEMPT TO DIVIDE BY ZERO",
    m.STOP_ROOT: "ATTEMPT TO TAKE SQRT",
    m.STOP_PERIOD: "PERIOD FOR T BLK",
    m.STOP_NOT_LOADED: "USER-DEFINED SUBROUTINE NOT LOADED",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """Something a run said.

    Parameters
    ----------
    text : the message, as the report words it.
    is_diagnostic : the console prints ``! `` before it.
    block : which it is about; 0 for none.
    hint : what to try.
    """

    text: str
    is_diagnostic: bool = False
    block: int = 0
    hint: str = ""


@dataclass(frozen=True)
class Surroundings:
    """The session that a run belongs to, as user routines may ask for it; see ``RunFacts``."""

    sizes: tuple[int, ...] = ()
    is_batch: bool = False
    files: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(eq=False)
class CsmpRun:
    """What a run computed, up to its end or to what stopped it.

    Parameters
    ----------
    program, control : what was run.
    times : of the stored rows.
    rows : (times, output blocks).
    final : output of every block when the run ended, as LOOK shows them; never the stored values.
    remarks : everything that was said, in order.
    status : "complete"; "quit" by a Q block; "error"; "interrupted".
    stop_time : the time that was reached.
    stopped_by : the block that ended the run; 0 for none.
    debug : the debug listing.
    cpu_seconds, seconds : processor time, and time on the clock.
    half_steps : done.
    native, called : blocks whose routines were compiled, and those whose routines were called.
    recorded : date and time of the run's start.
    error : exception of a user routine, if one ended the run.
    """

    program: CsmpProgram
    control: RunControl
    times: FloatArray
    rows: FloatArray
    final: dict[int, float]
    remarks: list[Remark]
    status: RunStatus
    stop_time: float
    stopped_by: int
    debug: list[DebugEntry]
    cpu_seconds: float
    seconds: float
    half_steps: int
    native: tuple[int, ...]
    called: tuple[int, ...]
    recorded: datetime
    error: BaseException | None = None

    @property
    def messages(self) -> list[str]:
        """Texts of everything that was said."""
        return [remark.text for remark in self.remarks]

    @property
    def success(self) -> bool:
        """True if the run came to its end, or to one that the model set."""
        return self.status in ("complete", "quit")

    @cached_property
    def result(self) -> Result:
        """The rows as a result of tidegate: ``run.result.save("outpt.nc")``, ``run.result.plot("Y")``."""
        return storage.result_of(self)

    def __getitem__(self, block: int | str) -> FloatArray:
        """Stored values of a block, by its number or label."""
        (number,) = output_blocks(self.program, [block])
        if number not in self.control.outputs:
            raise UsageError(f"block {number} was not stored", hint=f"ask for it: out={[*self.control.outputs, number]}")
        return self.rows[:, self.control.outputs.index(number)]

    def retained(self) -> dict[int, Parameters]:
        """Parameters with which the next run goes on where this one ended: P1 of every I, T1, U and Z block is its output.

        What a U block behind another one keeps inside is not among them.
        """
        new: dict[int, Parameters] = {}
        for number in self.program.numbers:
            if self.program.blocks[number].kind in _RETAINED:
                _, p2, p3 = self.program.parameter(number)
                new[number] = (self.final[number], p2, p3)
        return new

    def retain(self) -> None:
        """Put ``retained`` into the program: the command RETAIN."""
        self.program.parameters.update(self.retained())

    def __repr__(self) -> str:
        return f"<CsmpRun of {self.program.title or 'a program'} to {self.stop_time:g}, {len(self.times)} rows, {self.status}>"


def run(  # noqa: PLR0913, options are keywords, and help and editors show them with their defaults
    program: CsmpProgram,
    *,
    to: float,
    h: float,
    out: str | int | Sequence[int | str] = "A",
    every: float | None = None,
    start: float = 0.0,
    percent: float = 0.0,
    user: object = None,
    debug: tuple[float, float] | None = None,
    seed: int = SEED,
    progress: Callable[[float], bool | None] | None = None,
) -> CsmpRun:
    """Run a program by the language's own method: the mid-point rule, every block at every half step.

    Parameters
    ----------
    program : from ``csmp.load``, or put together.
    to : final time.
    h : integration interval.
    out : output blocks by number or label; "A" for all ascending, "AS" for all in sorted order.
    every : output interval; by default ``h``. Below ``h``, every half step is stored.
    start : initial time.
    percent : store a value only if it changed by more than so much; see ``RunControl``.
    user : user routines: a module, a Python file, a mapping as ``{"user1": f}``, or marked functions; see ``csmp.user``.
    debug : limits of time between which every block's execution is listed in ``run.debug``.
    seed : of jitter.
    progress : called about ten times a second with the time reached; if it returns True, the run ends at the next output time.

    Returns
    -------
    CsmpRun, also when an error or Ctrl-C stopped the run; its ``status`` tells.

    Raises
    ------
    CsmpError : the program cannot be run; every reason at once.
    UsageError : an option does not fit.

    Examples
    --------
    >>> from tidegate import csmp
    >>> from tidegate.frontends.blocks.language.program import BlockStatement, CsmpProgram
    >>> decay = CsmpProgram("DECAY", {2: BlockStatement(2, "T1")}, {2: (1.0, 0.5, 0.0)})
    >>> done = csmp.run(decay, to=1, h=0.1, out=[2], every=0.5)
    >>> done.status, [f"{value:.4f}" for value in done[2]]
    ('complete', ['1.0000', '0.3708', '0.1374'])
    """
    control = RunControl(start, to, h, (), h if every is None else every, percent)
    try:
        control = replace(control, outputs=output_blocks(program, out))
    except CsmpError as error:
        raise CsmpError([*program.problems(), *control_problems(program, control), *error.diagnostics]) from None
    return run_program(program, control, user=user, debug=debug, seed=seed, progress=progress)


def run_program(
    program: CsmpProgram,
    control: RunControl,
    *,
    user: object = None,
    debug: tuple[float, float] | None = None,
    seed: int = SEED,
    progress: Callable[[float], bool | None] | None = None,
    surroundings: Surroundings | None = None,
) -> CsmpRun:
    """The same as ``run``, with the control in one piece.

    Parameters
    ----------
    program, user, debug, seed, progress : as for ``run``.
    control : limits, interval, output.
    surroundings : what user routines are told of the session.

    Raises
    ------
    CsmpError : the program or its control cannot be run; every reason at once.
    UsageError : an option does not fit.
    """
    problems = [*program.problems(), *control_problems(program, control)]
    if problems:
        raise CsmpError(problems)
    if not 1 <= seed <= _LARGEST_SEED:
        raise UsageError(f"the seed of jitter is {seed!r}; a whole number from 1 to {_LARGEST_SEED} is expected")
    schedule = Schedule(control.lower, control.upper, control.interval, control.outputs, control.every, control.percent, debug, seed)
    machine = Machine(program, schedule)
    facts = _facts(program, control, debug, surroundings or Surroundings())
    loaded = _load_routines(machine, routines_of(user), facts)
    recorded = datetime.now(UTC).astimezone()
    began, cpu = time.perf_counter(), time.process_time()
    interrupted: BaseException | None = None
    code = m.STOP_INTERRUPTED
    with _interruptible(machine):
        try:
            code = machine.run(None if progress is None else partial(_show, machine, progress))
        except KeyboardInterrupt as error:  # the second Ctrl-C does not wait for the next output time
            interrupted = error
    remarks, status = _ending(machine, code, loaded.failure, interrupted)
    table = machine.records.table()
    return CsmpRun(
        program=program,
        control=control,
        times=table[:, 0],
        rows=table[:, 1:],
        final=machine.outputs,
        remarks=remarks,
        status=status,
        stop_time=machine.time,
        stopped_by=machine.stopped_at,
        debug=debug_entries(program, machine.records.listed),
        cpu_seconds=time.process_time() - cpu,
        seconds=time.perf_counter() - began,
        half_steps=machine.half_steps,
        native=loaded.native,
        called=loaded.called,
        recorded=recorded,
        error=loaded.failure.error,
    )


def _facts(program: CsmpProgram, control: RunControl, debug: tuple[float, float] | None, surroundings: Surroundings) -> RunFacts:
    kinds = [block.kind for block in program.blocks.values()]
    return RunFacts(
        title=program.title,
        lower=control.lower,
        upper=control.upper,
        interval=control.interval,
        every=control.every,
        percent=control.percent,
        n_blocks=len(kinds),
        n_integrators=kinds.count("I") + kinds.count("T1"),
        n_delays=kinds.count("U"),
        n_functions=kinds.count("F"),
        n_constants=kinds.count("K"),
        sizes=surroundings.sizes,
        is_batch=surroundings.is_batch,
        debug=debug,
        files=surroundings.files,
    )


@dataclass(frozen=True, eq=False)
class _Loaded:
    """Routines of a run; the pointers must live as long as the machine runs."""

    native: tuple[int, ...]
    called: tuple[int, ...]
    failure: Failure
    keep_alive: tuple[CalledRoutine | NativeModule | None, ...]


def _load_routines(machine: Machine, routines: Routines, facts: RunFacts) -> _Loaded:
    program, failure = machine.program, Failure()
    found = [(block, routine) for block in program.blocks.values() if (routine := routines.of(block, program.parameter(block.number)))]
    traced = [
        one
        for block, routine in found
        if (one := (trace_user if is_user_kind(block.kind) else trace_interpolation)(routine, block, program, facts)) is not None
    ]
    module, addresses = compile_traced(traced)
    for one in traced:
        machine.load(one.block, addresses[one.block], hands_back=len(one.extras))
    pointers: list[CalledRoutine] = []
    for block, routine in found:
        if block.number not in addresses:
            call = _bound(routine, block.number, machine, facts)
            pointers.append(call_back(call, block.number, machine.memory, failure))
            machine.load(block.number, pointers[-1].address)
    called = tuple(block.number for block, _ in found if block.number not in addresses)
    return _Loaded(tuple(addresses), called, failure, (module, *pointers))


def _bound(routine: Routine, block: int, machine: Machine, facts: RunFacts) -> Callable[[float], Any]:
    context = Context(block, machine.program, machine.memory, facts)
    if is_user_kind(machine.program.blocks[block].kind):
        return lambda _: routine(context, block)
    pairs = tuple(machine.program.functions.get(block, ()))
    return lambda x: routine(x, pairs, context)


def _show(machine: Machine, progress: Callable[[float], bool | None]) -> None:
    if progress(machine.time):
        machine.interrupt()


@contextmanager
def _interruptible(machine: Machine) -> Generator[None]:
    """The first Ctrl-C asks the machine to stop at the next output time; the second is Python's."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(_signal: int, _frame: FrameType | None) -> None:
        machine.interrupt()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ending(machine: Machine, code: int, failure: Failure, interrupted: BaseException | None) -> tuple[list[Remark], RunStatus]:
    """What the run has to say, and how it ended."""
    remarks = [
        _diagnostic(say("ITERATION LIMIT", limit=int(limit), v=int(v), n=int(y), t=five(t)))
        for part in machine.records.notes
        for limit, v, y, t in part.tolist()
    ]
    block = machine.stopped_at
    if code == m.STOP_DONE:
        return remarks, "complete"
    if code == m.STOP_QUIT:
        said = notice("RUN TERMINATED BY A Q BLOCK").text
        reason = f"block {block} ended the run at time {machine.time:g}"
        return [*remarks, Remark(said, block=block, hint=reason)], "quit"
    if code == m.STOP_INTERRUPTED or interrupted is not None or isinstance(failure.error, KeyboardInterrupt):
        return [*remarks, Remark(notice("RUN TERMINATED BY A ^").text)], "interrupted"
    if code == m.STOP_ROUTINE:
        remarks += _faults_of(failure)
    else:
        remarks.append(_diagnostic(say(_ERRORS[code], n=block)))
    return [*remarks, _diagnostic(say("ERROR DURING MODEL EXECUTION"))], "error"


def _diagnostic(said: Diagnostic) -> Remark:
    return Remark(said.text, is_diagnostic=True, block=said.block, hint=said.hint)


def _faults_of(failure: Failure) -> list[Remark]:
    error = failure.error
    if isinstance(error, CsmpError):
        return [_diagnostic(one) for one in error.diagnostics]
    text = f"USER-DEFINED SUBROUTINE OF BLK {failure.block} FAILED: {type(error).__name__}: {error}"
    return [Remark(text, is_diagnostic=True, block=failure.block, hint="run.error is the exception, with its traceback")]
