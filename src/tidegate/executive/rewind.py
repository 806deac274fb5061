"""The state shortly before a failure (stage: executive). In: the run as it was at the last visit of Python, and the time of the failure.

A run that fails may do so in the middle of an event, with values that are neither those before nor those after it. The state to go on from is then
found by taking up the run again at the last visit and stopping it shortly before the failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import RunError
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.loop import begin, drive
from tidegate.executive.options import Options
from tidegate.integrators import choose
from tidegate.integrators.interface import Integrator, Problem, Records

__all__ = ["State", "Visits", "shortly_before"]

State = Mapping[str, NDArray[np.float64]]

# of the time since the last visit: so far before a failure the run is stopped, well clear of the noise of conditions; farther where that does not do
_SHORT_OF: Final = (1e-6, 1e-4, 1e-2)


class Visits:
    """Remembers the run as it was when Python was last there.

    Parameters
    ----------
    integrator, records : of the run.
    then : what else is done at a visit.
    """

    def __init__(self, integrator: Integrator, records: Records, then: Callable[[], None] | None) -> None:
        self._integrator, self._records, self._then = integrator, records, then
        self._remember()

    def _remember(self) -> None:
        records = self._records
        self.state, self.time = self._integrator.state(), self._integrator.time
        self._counts = len(records.rows), len(records.log), len(records.polynomials)

    def __call__(self) -> None:
        """Remember the run as it is now."""
        self._remember()
        if self._then is not None:
            self._then()

    def drop_what_came_since(self) -> None:
        """Leave in the records what was there at the last visit."""
        a, b, c = self._counts
        del self._records.rows[a:], self._records.log[b:], self._records.polynomials[c:]


def shortly_before(failure: float, visits: Visits, problem: Problem, options: Options, records: Records, interrupts: Interrupts) -> State:
    """The state before a failure; the records afterwards end there, too."""
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
