"""What goes on beside a run (stage: executive): how much was done in it, and new rows for the caller's function."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidegate.compiled.interface import Said
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.recorder import Cost
from tidegate.integrators.interface import Integrator, Records
from tidegate.results import Result

__all__ = ["Feed", "Meter"]


class Meter:
    """Counts what an integrator does from one reading to the next.

    Parameters
    ----------
    integrator : of the run.
    """

    def __init__(self, integrator: Integrator) -> None:
        self._integrator = integrator
        self._before = (integrator.counters, time.perf_counter(), integrator.calls.count)

    def read(self, compile_seconds: float = 0.0) -> Cost:
        """What was done since the last reading."""
        old, self._before = self._before, (self._integrator.counters, time.perf_counter(), self._integrator.calls.count)
        new = self._before
        return Cost(old[0], new[0], new[1] - old[1], new[2] - old[2], compile_seconds)


class Feed:
    """Hands what is new in the records to the caller's function.

    Parameters
    ----------
    receive : the caller's function.
    label : makes a result of records, their cost, and what the model said at the start if they begin there.
    integrator : of the run.
    records : of the run, which only grow.
    interrupts : Ctrl-C is raised at once in the caller's function.
    opening : what the model said at the start, if the records begin there.
    """

    def __init__(
        self,
        receive: Callable[[Result], None],
        label: Callable[[Records, Cost, Said | None], Result],
        integrator: Integrator,
        records: Records,
        interrupts: Interrupts,
        opening: Said | None,
    ) -> None:
        self._receive, self._label, self._records, self._interrupts, self._opening = receive, label, records, interrupts, opening
        self._meter = Meter(integrator)
        self._given = (0, 0, 0)

    def __call__(self) -> None:
        """Hand over what came since the last call, if anything did."""
        records = self._records
        a, b, c = self._given
        self._given = (len(records.rows), len(records.log), len(records.polynomials))
        new = Records(records.rows[a:], records.log[b:], records.polynomials[c:])
        if new.rows or new.log or new.polynomials:
            opening, self._opening = self._opening, None
            part = self._label(new, self._meter.read(), opening)
            with self._interrupts.in_user_code():
                self._receive(part)
