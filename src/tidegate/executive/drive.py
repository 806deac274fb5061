"""The loop around an integrator (stage: executive): budgets between two visits of Python, progress, Ctrl-C, limits. Out: why it ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np

from tidegate.errors import TooManyStepsError
from tidegate.executive.failures import failure
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.options import Options
from tidegate.integrators.interface import Problem, Records, StepIntegrator, Stop

__all__ = ["begin", "drive", "drop_rows_behind"]

_VISIT: Final = 0.05  # seconds between visits of Python: Ctrl-C, progress and new rows wait no longer
_FIRST_BUDGET: Final = 200  # steps
_LARGEST_BUDGET: Final = 10_000_000
_ROUNDING: Final = 1e-14  # of a time: an asked time and the end of a step so close are one

Visit = Callable[[], None]


def begin(integrator: StepIntegrator, problem: Problem, records: Records) -> None:
    """Consistent start values and the first row, or the state that the problem is to be resumed from; what is written down waits to be collected.

    Raises
    ------
    RunError : there is no consistent start.
    """
    stop = integrator.start()
    if stop is not Stop.LIMIT:
        integrator.collect(records)
        raise failure(stop, problem, integrator, None, at_start=True)


def drive(
    integrator: StepIntegrator, problem: Problem, options: Options, records: Records, interrupts: Interrupts, first: int, visit: Visit | None = None
) -> Stop:
    """Advance a started integrator to the end of the run, and collect what it writes down.

    Parameters
    ----------
    options : ``progress`` and ``max_steps`` are heeded here.
    interrupts : Ctrl-C is looked for here after each visit of native code.
    first : number of steps made before.
    visit : called about twenty times a second, after new records were collected.

    Returns
    -------
    Stop.TARGET or Stop.TERMINATED.

    Raises
    ------
    RunError : the run stopped before.
    KeyboardInterrupt : Ctrl-C stopped it.
    """
    budget = 1 if problem.model.has_opaque else _FIRST_BUDGET
    progress, limit = options.progress, options.max_steps
    before = first
    began = shown = visited = time.perf_counter()
    if visit is not None:
        integrator.collect(records)
        visit()
    while True:
        stop = integrator.advance(budget if limit is None else min(budget, limit - (before - first)))
        now = time.perf_counter()
        integrator.collect(records)
        if integrator.calls.stopped_by is not None:
            raise integrator.calls.stopped_by  # Ctrl-C inside a callback, which the integrator took for a value that is not finite
        if stop is not Stop.LIMIT:
            break
        if interrupts.wanted:
            raise KeyboardInterrupt
        done = integrator.counters.steps
        if limit is not None and done - first >= limit:
            raise TooManyStepsError(
                f"the run took {done - first} steps and is only at t = {integrator.time:g} of {problem.t_end:g}",
                time=integrator.time,
                hint="raise max_steps, loosen rtol, or look at where the steps are small: result.t",
            )
        # so many steps as fit between two visits, whatever a step costs
        pace = (now - began) / max(done - before, 1)
        budget = int(min(max(_VISIT / max(pace, 1e-9), 1), 4 * budget, _LARGEST_BUDGET))
        if progress is not None and now - shown > 2 * _VISIT:
            shown = now
            with interrupts.in_user_code():
                progress(integrator.time)
        # full buffers bring Python here more often than a file needs to be written to
        if visit is not None and now - visited > 0.5 * _VISIT:
            visited = now
            visit()
        began, before = time.perf_counter(), done
    if stop not in (Stop.TARGET, Stop.TERMINATED):
        recent = np.concatenate([entries[-12:] for entries in records.log[-3:]]) if records.log else None
        raise failure(stop, problem, integrator, recent, at_start=False)
    if progress is not None:
        with interrupts.in_user_code():
            progress(integrator.time)
    return stop


def drop_rows_behind(now: float, records: Records) -> None:
    """A run that is stopped within a step, since the buffers were full, has rows of that step already, but neither its end nor its polynomial."""
    limit = now + _ROUNDING * abs(now)
    while records.rows and records.rows[-1]["time"][-1] > limit:
        kept = records.rows.pop()
        kept = kept[kept["time"] <= limit]
        if len(kept):
            records.rows.append(kept)
