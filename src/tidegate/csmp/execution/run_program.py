"""Running a program by the language's own method (stage: csmp). In: program, control, user routines. Out: a ``CsmpRun``, also after a failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from tidegate.csmp.execution.check_control import block_problems, control_problems, output_blocks
from tidegate.csmp.execution.csmp_run import CsmpRun
from tidegate.csmp.execution.execution import Execution, Surroundings
from tidegate.csmp.execution.routines import routines_of
from tidegate.csmp.language.control import RunControl
from tidegate.csmp.language.program import CsmpProgram
from tidegate.errors import CsmpError, UsageError
from tidegate.wrong_calls import explained

__all__ = ["SEED", "run", "run_program"]

SEED: Final = 524287  # of jitter, what the PDP-10's FORTRAN library began with
_LARGEST_SEED: Final = 2**31 - 2


@explained
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
    >>> from tidegate.csmp.language.program import BlockStatement, CsmpProgram
    >>> decay = CsmpProgram("DECAY", {2: BlockStatement(2, "T1")}, {2: (1.0, 0.5, 0.0)})
    >>> done = csmp.run(decay, to=1, h=0.1, out=[2], every=0.5)
    >>> done.status, [f"{value:.4f}" for value in done[2]]
    ('complete', ['1.0000', '0.3707', '0.1374'])
    """
    control = RunControl(start, to, h, (), h if every is None else every, percent)
    try:
        control = replace(control, outputs=output_blocks(program, out))
    except CsmpError as error:
        raise CsmpError([*program.problems(), *control_problems(program, control), *error.diagnostics]) from None
    return run_program(program, control, user=user, debug=debug, seed=seed, progress=progress)


@explained
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
    problems = block_problems(program) or [*program.problems(), *control_problems(program, control)]
    if problems:
        raise CsmpError(problems)
    if not 1 <= seed <= _LARGEST_SEED:
        raise UsageError(f"the seed of jitter is {seed!r}; it is from 1 to {_LARGEST_SEED}", hint="an integer in these limits")
    return Execution(program, control, routines_of(user), debug, seed, surroundings or Surroundings()).proceed(progress)
