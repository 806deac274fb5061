"""What is done between two visits of native code (stage: executive): new rows go to the caller, and the run is remembered as it is.

From there it is taken up again after a failure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import Said
from tidegate.errors import RunError
from tidegate.executive.drive import begin, drive
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.options import Options
from tidegate.executive.recorder import NONE_DONE, Cost
from tidegate.integrators import choose
from tidegate.integrators.interface import Problem, Records, StepIntegrator

__all__ = ["Hand", "Meter", "State", "Visits", "shortly_before"]

State = Mapping[str, NDArray[np.float64]]
Hand = Callable[[Records, Cost, Said | None], None]

# of the time since the last visit: so far before a failure the run is stopped, well clear of the round-off level of conditions; farther where that
# does not do
_SHORT_OF: Final = (1e-6, 1e-4, 1e-2)


class Meter:
    """Counts what an integrator does from one reading to the next.

    Parameters
    ----------
    integrator : of the run.
    has_started : otherwise what it counts now may be of the run before it in the same memory.
    """

    def __init__(self, integrator: StepIntegrator, *, has_started: bool = True) -> None:
        self._integrator = integrator
        self._before = (integrator.counters if has_started else NONE_DONE, time.perf_counter(), integrator.calls.count)

    def read(self, compile_seconds: float = 0.0) -> Cost:
        """What was done since the last reading."""
        old, new = self._before, (self._integrator.counters, time.perf_counter(), self._integrator.calls.count)
        self._before = new
        integrator = self._integrator
        drift = tuple(integrator.drift.tolist()) if integrator.problem.model.layout.n_constraints else ()
        return Cost(old[0], new[0], new[1] - old[1], new[2] - old[2], compile_seconds, drift)


class Visits:
    """Visits of one run.

    Parameters
    ----------
    integrator, records : of the run; records only grow.
    initial_words : what the model said at the start, if the records begin there.
    hand : gives new records, what they cost, and the opening if it is among them to the caller's function, if there is one.
    state : the integrator's, where the run may have to go on from the last visit.
    """

    def __init__(self, integrator: StepIntegrator, records: Records, initial_words: Said | None, hand: Hand | None, *, state: State | None) -> None:
        self._integrator, self._records, self._initial_words, self._hand = integrator, records, initial_words, hand
        self.remembers = state is not None
        self._meter = None if hand is None else Meter(integrator)
        self._given = (0, 0, 0)
        self.state: State = {} if state is None else state
        self.time, self._counts = integrator.time, self._count()
        self._is_new = True

    def _remember(self) -> None:
        if self.remembers:
            self.state, self.time, self._counts = self._integrator.state(), self._integrator.time, self._count()

    def _count(self) -> tuple[int, int, int]:
        return len(self._records.rows), len(self._records.log), len(self._records.polynomials)

    def __call__(self) -> None:
        """Remember the run as it is, and hand over what is new."""
        if self._is_new:  # nothing has moved since it was made, but rows may have come
            self._is_new, self._counts = False, self._count()
        else:
            self._remember()
        self.hand_over()

    def hand_over(self) -> None:
        """Give what came since the last time to the caller, if anything did."""
        if self._hand is None or self._meter is None:
            return
        records, (a, b, c) = self._records, self._given
        self._given = self._count()
        new = Records(records.rows[a:], records.log[b:], records.polynomials[c:])
        if new.rows or new.log or new.polynomials:
            initial_words, self._initial_words = self._initial_words, None
            self._hand(new, self._meter.read(), initial_words)

    def drop_what_came_since(self) -> None:
        """Leave in the records what was there at the last visit."""
        a, b, c = self._counts
        del self._records.rows[a:], self._records.log[b:], self._records.polynomials[c:]


def shortly_before(failure: float, visits: Visits, problem: Problem, options: Options, records: Records, interrupts: Interrupts) -> State:
    """The state shortly before a failure; the records afterwards end there, too.

    A run that fails may do so in the middle of an event, with values that are neither those before nor those after it. So it is taken up again at
    the last visit and stopped shortly before the failure.
    """
    visits.drop_what_came_since()
    last = float(records.rows[-1]["time"][-1]) if records.rows else -np.inf
    left = problem.output_times[problem.output_times > max(last, visits.time)]
    for share in _SHORT_OF:
        end = failure - share * (failure - visits.time)
        if not end > visits.time:
            break
        again = replace(problem, resume=visits.state, t_end=end, output_times=left[left <= end])
        more = Records()
        try:
            integrator = choose(again, options.method)
            begin(integrator, again, more)
            drive(integrator, again, replace(options, progress=None, max_steps=None), more, interrupts, integrator.steps)
            state = integrator.state()
            # the end of a step can lie on the wrong side of where the equations stop to be defined, by a rounding error
            begin(choose(replace(again, resume=state), options.method), again, Records())
        except RunError:
            continue
        except KeyboardInterrupt:  # the last visit will do
            break
        records.rows += more.rows
        records.log += more.log
        records.polynomials += more.polynomials
        return state
    return visits.state
