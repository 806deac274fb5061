"""One program being executed (stage: csmp): the machine with its routines, gone on with until it ends, as a ``CsmpRun`` each time."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import partial
from types import FrameType

from tidegate.csmp.execution.check_control import integration_problems
from tidegate.csmp.execution.context import RunFacts
from tidegate.csmp.execution.csmp_run import CsmpRun
from tidegate.csmp.execution.listing import debug_entries
from tidegate.csmp.execution.load_routines import load_routines
from tidegate.csmp.execution.routines import Routines
from tidegate.csmp.execution.run_messages import ending
from tidegate.csmp.language.control import RunControl
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.machine import offsets as m
from tidegate.csmp.machine.machine import Machine
from tidegate.errors import CsmpError
from tidegate.quick_dataclass import dataclass

__all__ = ["Execution", "Surroundings"]

Progress = Callable[[float], bool | None]


@dataclass(frozen=True)
class Surroundings:
    """The session that a run belongs to, as user routines may ask for it; see ``RunFacts``."""

    sizes: tuple[int, ...] = ()
    is_batch: bool = False
    files: Mapping[str, str] = field(default_factory=dict[str, str])


class Execution:
    """A machine that has not ended.

    Parameters
    ----------
    program, control : what is run, without problems.
    routines : of its user blocks.
    debug : time limits of the debug listing, if there is one.
    seed : of jitter.
    surroundings : the session.
    """

    def __init__(
        self,
        program: CsmpProgram,
        control: RunControl,
        routines: Routines,
        debug: tuple[float, float] | None,
        seed: int,
        surroundings: Surroundings,
    ) -> None:
        self._source = program
        self._program = _copy(program)
        self._control = control
        self._machine = Machine(self._program, control, debug, seed)
        self._routines = load_routines(self._machine, routines, _facts(self._program, control, debug, surroundings))

    def proceed(self, progress: Progress | None) -> CsmpRun:
        """Run to the end, or to what stops the machine before."""
        machine, routines = self._machine, self._routines
        recorded = datetime.now(UTC).astimezone()
        began, cpu, half_steps = time.perf_counter(), time.process_time(), machine.half_steps
        code = m.STOP_INTERRUPTED
        with _interruptible(machine), suppress(KeyboardInterrupt):  # the second Ctrl-C does not wait for the next output time
            code = machine.run(None if progress is None else partial(_show, machine, progress))
        remarks, status = ending(machine, code, routines.failure)
        table = machine.records.table()
        return CsmpRun(
            program=self._program,
            source=self._source,
            control=self._control,
            times=table[:, 0],
            rows=table[:, 1:],
            final=machine.outputs,
            remarks=remarks,
            status=status,
            stop_time=machine.time,
            stopped_by=machine.stopped_at,
            debug=debug_entries(self._program, machine.records.listed),
            cpu_seconds=time.process_time() - cpu,
            seconds=time.perf_counter() - began,
            half_steps=machine.half_steps - max(half_steps, 0),
            native=routines.native,
            called=tuple(routines.called),
            why_called=routines.called,
            recorded=recorded,
            error=routines.failure.error,
            proceed=self._go_on,
        )

    def _go_on(self, to: float, progress: Progress | None) -> CsmpRun:
        control = replace(self._control, upper=to)
        if problems := integration_problems(control.lower, control.upper, control.interval):
            raise CsmpError(problems)
        self._control = control
        self._routines.failure.error = None
        self._machine.extend(to)
        return self.proceed(progress)


def _copy(program: CsmpProgram) -> CsmpProgram:
    """The program as it is now: what the user changes while or after it runs is another matter."""
    functions = {number: list(pairs) for number, pairs in program.functions.items()}
    return CsmpProgram(program.title, dict(program.blocks), dict(program.parameters), functions)


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
