"""The loop around an integrator (stage: executive): budgets between two visits of Python, progress, Ctrl-C, limits. Out: why it ended."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from tidegate.errors import SlowRunWarning, TidegateWarning, TooManyStepsError
from tidegate.executive.failures import failure
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.options import Options
from tidegate.executive.progress_bar import ProgressBar
from tidegate.integrators.interface import Problem, Records, StepIntegrator, Stop
from tidegate.wishes import RetryStep

__all__ = ["begin", "drive", "drop_behind", "drop_rows_behind", "drop_rows_without"]

_VISIT: Final = 0.05  # seconds between visits of Python: Ctrl-C, progress and new rows wait no longer
_PACKAGE: Final = str(Path(__file__).parents[1])
_MANY_STEPS: Final = 5000  # before anybody speaks of crawling
_IN_VAIN: Final = 0.15  # of the steps: so many are tried in vain where noise is above the tolerance
_HARDLY_ENDS: Final = 1e6  # steps that the run would take at this pace
_MANY_EVENTS: Final = 20_000
_FASTER: Final = 0.2  # of what lies between two events of the run: as near to each other are those that multiply
_FIRST_BUDGET: Final = 200  # steps
_LARGEST_BUDGET: Final = 10_000_000
_MUCH: Final = 1e9  # bytes that a result takes: whoever has not meant that wants to know
_STEP: Final = 2  # where the length of the next step stands in the progress of a run
_SHORTER: Final = 0.25
_PART: Final = 0.01  # of what is left of a run
_SHORTEST: Final = 1e-12  # of the times of a run
_ROUNDING: Final = 1e-14  # of a time: an asked time and the end of a step so close are one

Visit = Callable[[], None]


def begin(integrator: StepIntegrator, problem: Problem, records: Records) -> None:
    """Consistent start values and the first row, or the state that the problem is to be resumed from; what is written down waits to be collected.

    Raises
    ------
    RunError : there is no consistent start.
    """
    stop = integrator.start()
    calls = integrator.calls
    if calls.error is not None and calls.stopped_by is not None:
        integrator.collect(records)
        raise calls.stopped_by
    if stop is not Stop.LIMIT:
        integrator.collect(records)
        raise failure(stop, problem, integrator, None, at_start=True)


def drive(
    integrator: StepIntegrator, problem: Problem, options: Options, records: Records, interrupts: Interrupts, first: int,
    visit: Visit | None = None, stopped: Stop | None = None,
) -> Stop:  # fmt: skip
    """Advance a started integrator to the end of the run, and collect what it writes down.

    Parameters
    ----------
    options : ``progress`` and ``max_steps`` are heeded here; with True for ``progress`` a bar is shown.
    interrupts : Ctrl-C is looked for here after each visit of native code.
    first : number of steps made before.
    visit : called about twenty times a second, after new records were collected.
    stopped : why it has stopped before.

    Returns
    -------
    Stop.TARGET or Stop.TERMINATED.

    Raises
    ------
    RunError : the run stopped before.
    KeyboardInterrupt : Ctrl-C stopped it.
    """
    if options.progress is not True:
        return _driven(integrator, problem, options, records, interrupts, first, visit, stopped)
    with ProgressBar((integrator.time, problem.t_end)) as bar:
        return _driven(integrator, problem, replace(options, progress=bar), records, interrupts, first, visit, stopped)


def _driven(
    integrator: StepIntegrator, problem: Problem, options: Options, records: Records, interrupts: Interrupts, first: int,
    visit: Visit | None, stopped: Stop | None,
) -> Stop:  # fmt: skip
    budget = 1 if problem.model.has_opaque else _FIRST_BUDGET
    progress, limit, before = options.progress if callable(options.progress) else None, options.max_steps, first
    began = shown = visited = time.perf_counter()
    if visit is not None:
        integrator.collect(records)
        visit()
    again: _Again | None = None
    # a whole run has made no steps before: what is known of its start is not asked for
    start, may_crawl, may_multiply = integrator.time if first else problem.t_start, True, True
    recent, kept = _Stretch(start, integrator.events if first else 0), _Kept()
    while True:
        taken = before - first
        budget = min(budget, _MANY_STEPS - taken) if taken < _MANY_STEPS else budget
        stop, stopped = stopped or integrator.advance(budget if limit is None else min(budget, limit - taken)), None
        now = time.perf_counter()
        integrator.collect(records)
        calls = integrator.calls
        if stop is Stop.NOT_FINITE and isinstance(calls.error, RetryStep):
            again = again or _Again()
            if again.with_a_shorter_step(integrator, problem):
                continue
        if calls.error is not None and calls.stopped_by is not None:
            raise calls.stopped_by  # Ctrl-C inside a callback, which the integrator took for a value that is not finite
        if stop is not Stop.LIMIT:
            break
        if interrupts.wanted:
            raise KeyboardInterrupt
        done = integrator.steps
        if may_multiply and done - before >= _MANY_STEPS // 10:
            may_multiply = not _warned_of_ever_more_events(integrator, problem, start, recent)
            recent = _Stretch(integrator.time, integrator.events)
        if limit is not None and done - first >= limit:
            raise TooManyStepsError(
                f"the run took {done - first} steps and is only at t = {integrator.time:g} of {problem.t_end:g}",
                time=integrator.time,
                hint="raise max_steps, loosen rtol, or look at where the steps are small: result.t",
            )
        may_crawl = may_crawl and not _warned_of_crawling(integrator, problem, start, done - first)
        kept.announce(integrator, problem, records)
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
        last = np.concatenate([entries[-12:] for entries in records.log[-3:]]) if records.log else None
        raise failure(stop, problem, integrator, last, at_start=False)
    if progress is not None:
        with interrupts.in_user_code():
            progress(integrator.time)
    return stop


class _Kept:
    """How much a run has written down; once, when it is much, the user is told of it."""

    def __init__(self) -> None:
        self._bytes, self._looked_at, self._is_told = 0, [0, 0, 0], False

    def announce(self, integrator: StepIntegrator, problem: Problem, records: Records) -> None:
        """Look at what is new, and speak if that makes it much."""
        if self._is_told:
            return
        for k, blocks in enumerate((records.rows, records.log, records.polynomials)):
            self._bytes += sum(block.nbytes for block in blocks[self._looked_at[k] :])
            self._looked_at[k] = len(blocks)
        if self._bytes < _MUCH:
            return
        self._is_told = True
        warnings.warn(
            f"the result of {problem.model.name} has grown to {self._bytes / 1e9:.2g} GB at t = {integrator.time:.9g} of {problem.t_end:g}: "
            f"{integrator.steps} steps, {integrator.events} events; outputs= at fewer times, dense=False, which keeps no polynomials of steps, and "
            "tg.no_event(...) make it smaller, max_steps= ends such a run",
            TidegateWarning,
            skip_file_prefixes=(_PACKAGE,),
        )


def _warned_of_crawling(integrator: StepIntegrator, problem: Problem, start: float, steps: int) -> bool:
    """True once the user was told that steps are so short, and so often in vain, that the run will hardly end."""
    if steps < _MANY_STEPS:
        return False
    gone, counters = integrator.time - start, integrator.counters
    in_vain = counters.rejected + counters.newton_failures
    if in_vain < _IN_VAIN * steps or gone > (problem.t_end - start) * steps / _HARDLY_ENDS:
        return False
    warnings.warn(
        f"{problem.model.name} crawls: {steps} steps to t = {integrator.time:.9g} of {problem.t_end:g}, and {in_vain} more in vain; something in it "
        "changes faster than steps can follow, as noise that is another at every call does, or rounding above the tolerance; tg.noise(t, seed=1, "
        "every=0.1) is noise that steps end at, tg.event tells of jumps, a larger rtol ignores what is small, max_steps= ends such a run",
        SlowRunWarning,
        skip_file_prefixes=(_PACKAGE,),
    )
    return True


class _Stretch(NamedTuple):
    """Where a stretch of a run began."""

    time: float
    events: int


def _warned_of_ever_more_events(integrator: StepIntegrator, problem: Problem, start: float, stretch: _Stretch) -> bool:
    """True once the user was told that events come faster and faster, so that the run will hardly end, and fills memory meanwhile."""
    t, events = integrator.time, integrator.events
    fresh = events - stretch.events
    if events < _MANY_EVENTS or fresh <= 0:
        return False
    apart = (t - stretch.time) / fresh
    if apart > _FASTER * (t - start) / events or problem.t_end - t < _HARDLY_ENDS * apart:
        return False
    warnings.warn(
        f"{problem.model.name} hardly ends: {events} events to t = {t:.9g} of {problem.t_end:g}, which come faster and faster, now {apart:.2g} "
        "apart; each is kept in memory; result.events of a shorter run says which they are, as of a floor or remainder of something that grows "
        "without bound; tg.no_event(...) steps over them, max_steps= ends such a run",
        SlowRunWarning,
        skip_file_prefixes=(_PACKAGE,),
    )
    return True


class _Again:
    """Takes up a run again where a condition has no value at the end of a step that was taken, with shorter and shorter steps."""

    def __init__(self) -> None:
        self._time, self._step = -np.inf, 0.0

    def with_a_shorter_step(self, integrator: StepIntegrator, problem: Problem) -> bool:
        """True if the run goes on from the end of the last complete step; False if no step is short enough."""
        state = dict(integrator.state())
        progress = state["progress"].copy()
        left = problem.t_end - integrator.time
        proposed = min(max(float(progress[_STEP]), _PART * left), problem.step_max, left)  # not every method has one
        self._step = _SHORTER * (self._step if integrator.time == self._time else proposed)
        self._time = integrator.time
        if not self._step > _SHORTEST * max(abs(self._time), problem.t_end - problem.t_start):
            return False
        progress[_STEP] = self._step
        calls = integrator.calls
        error, name = calls.error, calls.name
        fresh, integrator.problem = integrator.problem, replace(problem, resume={**state, "progress": progress})
        stop = integrator.start()
        integrator.problem = fresh
        if stop is not Stop.LIMIT:
            calls.error, calls.name = error, name
        return stop is Stop.LIMIT


def drop_rows_behind(now: float, records: Records) -> None:
    """A run that is stopped within a step, since the buffers were full, has rows of that step already, but neither its end nor its polynomial."""
    limit = now + _ROUNDING * abs(now)
    while records.rows and records.rows[-1]["time"][-1] > limit:
        kept = records.rows.pop()
        kept = kept[kept["time"] <= limit]
        if len(kept):
            records.rows.append(kept)


def drop_behind(now: float, records: Records) -> None:
    """Forget everything behind a time; of a polynomial that reaches over it, what is behind is not looked at."""
    drop_rows_behind(now, records)
    limit = now + _ROUNDING * abs(now)
    for name, entries in (("time", records.log), ("start", records.polynomials)):
        entries[:] = [kept for block in entries if len(kept := block[block[name] <= limit])]


def drop_rows_without(n_outputs: int, records: Records) -> None:
    """Forget rows at the end that have none of their outputs: they were written when nobody answered any more."""
    while records.rows and n_outputs:
        last = records.rows[-1]
        has_any = ~np.isnan(last["values"][:, last["values"].shape[1] - n_outputs :]).all(axis=1)
        if has_any.any():
            records.rows[-1] = last[: int(np.flatnonzero(has_any)[-1]) + 1]
            return
        records.rows.pop()
