"""One stretch of a simulation, from where it stands to a given time (stage: simulation). In: an integrator; out: rows, and a state to go on from.

A run that fails may do so in the middle of an event, with values that are neither those before nor those after it. The state to go on from is then
found by taking up the run again at the last visit and stopping it shortly before the failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import Said
from tidegate.errors import InterruptedRunError, RunError, TooManyStepsError
from tidegate.executive import Feed, Interrupts, Labelled, Meter, begin, drive, drop_rows_behind
from tidegate.integrators import choose
from tidegate.integrators.interface import Integrator, Records, Stop
from tidegate.results import Result
from tidegate.results.labels import number

__all__ = ["First", "Stretch", "run_stretch", "times_left"]

FloatArray = NDArray[np.float64]
State = Mapping[str, FloatArray]

# of the time since the last visit: so far before a failure the run is stopped, well clear of the noise of conditions; farther where that does not do
_SHORT_OF: Final = (1e-6, 1e-4, 1e-2)


@dataclass(frozen=True, eq=False)
class Stretch:
    """What came of it.

    Parameters
    ----------
    part : rows, events and polynomials that the run can go on from.
    state : to go on from; None if the integrator itself can.
    error : why it ended early, with everything that was computed as its result, and what caused it.
    """

    part: Result
    state: State | None = None
    error: BaseException | None = None
    cause: BaseException | None = None


@dataclass(frozen=True, eq=False)
class First:
    """What was written down at the start of a stretch, and what the model said if it is the start of the run."""

    records: Records
    opening: Said | None = None


def times_left(times: FloatArray, after: float) -> FloatArray:
    """The times that are still to be recorded."""
    return times[times > after]


class _Visits:
    """Remembers the run as it was when Python was last there, and hands new rows to the caller.

    Parameters
    ----------
    integrator, records : of the run.
    feed : the caller's function, if there is one.
    """

    def __init__(self, integrator: Integrator, records: Records, feed: Feed | None) -> None:
        self._integrator = integrator
        self._records = records
        self.feed = feed
        self.state = integrator.state()
        self.time = integrator.time
        self._counts = self._count()

    def _count(self) -> tuple[int, int, int]:
        return len(self._records.rows), len(self._records.log), len(self._records.polynomials)

    def __call__(self) -> None:
        self.state, self.time, self._counts = self._integrator.state(), self._integrator.time, self._count()
        if self.feed is not None:
            self.feed()

    def drop_what_came_since(self) -> None:
        """Leave in the records what was there at the last visit."""
        a, b, c = self._counts
        del self._records.rows[a:], self._records.log[b:], self._records.polynomials[c:]


def run_stretch(
    integrator: Integrator, labelled: Labelled, handed: Labelled, compile_seconds: float, first: First, interrupts: Interrupts
) -> Stretch:
    """Advance to the end of the problem.

    Parameters
    ----------
    integrator : started.
    labelled, handed : make the results, of the simulation and of what its user's function is given.
    first : what was written down at the start.
    interrupts : held for this integrator's calls.
    """
    problem, options, records = labelled.problem, labelled.options, first.records
    meter = Meter(integrator)
    feed = Feed(handed, integrator, records, interrupts, first.opening) if options.on_rows is not None else None
    visits = _Visits(integrator, records, feed)
    try:
        stop = drive(integrator, problem, options, records, interrupts, visits)
        if feed is not None:
            feed()
    except BaseException as problem_found:  # noqa: BLE001, whatever stops a run, the simulation keeps what it has
        error, cause = problem_found, problem_found.__cause__
    else:
        cost = meter.read(compile_seconds)
        if stop is Stop.TERMINATED:
            return Stretch(labelled.result(records, cost, "terminated", "", integrator, first.opening))
        part = labelled.result(records, cost, "unfinished", f"reached t = {number(integrator.time, 10)}", integrator, first.opening)
        part.status = "finished"
        return Stretch(part)
    if isinstance(error, KeyboardInterrupt):
        error, cause = InterruptedRunError(f"interrupted at t = {integrator.time:g}", time=integrator.time), error
    integrator.collect(records)
    is_ours = isinstance(error, RunError | InterruptedRunError)
    message = error.message if is_ours else f"{type(error).__name__}: {error}"
    cost = meter.read(compile_seconds)
    if is_ours:
        everything = Records([*records.rows], [*records.log], [*records.polynomials])
        error.result = Labelled(problem, options, labelled.doubts.copy()).result(everything, cost, "failed", message, integrator, first.opening)
    in_callback = cause is not None and cause is integrator.calls.stopped_by
    if isinstance(error, RunError) and not isinstance(error, TooManyStepsError):
        state = _shortly_before(integrator.time, visits, labelled, records, interrupts)
    elif in_callback:
        # the step in which the callback was interrupted may be half an event
        visits.drop_what_came_since()
        state = visits.state
    else:
        state = integrator.state()
        drop_rows_behind(integrator.time, records)
    if feed is not None and is_ours:
        try:
            feed()
        except KeyboardInterrupt as interrupt:
            late = InterruptedRunError(f"interrupted at t = {integrator.time:g}", time=integrator.time, result=error.result)
            error, cause = late, interrupt if isinstance(error, KeyboardInterrupt) else error
    return Stretch(labelled.result(records, cost, "failed", message, integrator, first.opening), state, error, cause)


def _shortly_before(failure: float, visits: _Visits, labelled: Labelled, records: Records, interrupts: Interrupts) -> State:
    """The state before a failure; the records afterwards end there, too."""
    problem, options = labelled.problem, labelled.options
    visits.drop_what_came_since()
    last = float(records.rows[-1]["time"][-1]) if records.rows else -np.inf
    left = times_left(problem.output_times, max(last, visits.time))
    for share in _SHORT_OF:
        end = failure - share * (failure - visits.time)
        if not end > visits.time:
            break
        again = replace(problem, resume=visits.state, t_end=end, output_times=left[left <= end])
        more = Records()
        try:
            integrator = choose(again, options.chosen_method)
            begin(integrator, again, more)
            drive(integrator, again, replace(options, progress=None, max_steps=None), more, interrupts)
            state = integrator.state()
            # the end of a step can lie on the wrong side of where the equations stop to be defined, by a rounding error
            begin(choose(replace(again, resume=state), options.chosen_method), again, Records())
        except RunError:
            continue
        except KeyboardInterrupt:  # the last visit will do
            break
        records.rows += more.rows
        records.log += more.log
        records.polynomials += more.polynomials
        return state
    return visits.state
