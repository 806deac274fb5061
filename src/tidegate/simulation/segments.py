"""A compiled model run from event to event of an agenda that somebody else keeps (stage: simulation). In: vectors; out: rows.

Unlike a ``Simulation`` it makes no results and knows no names: whoever keeps the agenda sets values at every event, some ten thousand times.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callbacks import VALUE_FUNCTION
from tidegate.compiled.compiled_model import CompiledModel
from tidegate.executive import Interrupts, Options, drive, drop_rows_behind, failure, problem_of
from tidegate.integrators import choose
from tidegate.integrators.interface import Counters, Records, StepIntegrator, Stop

__all__ = ["Segments", "Stretch"]

FloatArray = NDArray[np.float64]
_NO_TIMES = np.zeros(0)
_LEAST: Final = 1e-280
_NUMBERS: Final = 2.0**17  # floating-point numbers within a run that is asked for
_POINTER = ctypes.POINTER(ctypes.c_double)


class Stretch(NamedTuple):
    """What happened between two visits of the agenda.

    Parameters
    ----------
    time : where it ended.
    fired : labels of the clauses that ended it; none where it reached the end asked for.
    dt_dp : derivatives of the time at which they happened; none where they happened as soon as values were set.
    rows, polynomials : what was written down, as in ``integrators.record_types``.
    """

    time: float
    fired: tuple[str, ...]
    dt_dp: FloatArray
    rows: list[NDArray[np.void]]
    polynomials: list[NDArray[np.void]]


class Segments:
    """A model that is run in segments.

    Parameters
    ----------
    compiled : a model whose discrete variables are set from outside only.
    states, discretes : names in the order in which values are given.
    options : those of ``tg.simulate`` that say how to step.

    Attributes
    ----------
    cut_off : what was passed before an exception ended a stretch.

    Raises
    ------
    UsageError : an option does not fit.
    """

    def __init__(self, compiled: CompiledModel, states: tuple[str, ...], discretes: tuple[str, ...], options: dict[str, Any]) -> None:
        self.compiled = compiled
        layout = compiled.layout
        self._options = Options(**options)
        self._order = np.array([layout.unknowns.index(name) for name in states], dtype=np.intp)
        self._discrete_order = np.array([layout.discretes.index(name) for name in discretes], dtype=np.intp)
        self._is_plain = _are_all_in_turn(self._order, len(layout.unknowns))
        self._are_plain = self._is_plain and _are_all_in_turn(self._discrete_order, len(layout.discretes))
        self._labels = [action.label for action in compiled.event_actions]
        self._integrator: StepIntegrator | None = None
        self._time = np.nan
        self._rates = VALUE_FUNCTION(self.compiled.addresses["rhs"]) if states else None
        self._out = np.zeros(len(layout.unknowns))
        self.cut_off = Stretch(np.nan, (), _NO_TIMES, [], [])

    @property
    def time(self) -> float:
        """Where it stands."""
        return self._time

    @property
    def y(self) -> FloatArray:
        """The states where it stands, in the order of ``states``."""
        assert self._integrator is not None
        return self._y if self._is_plain else self._y[self._order]

    def rates(self) -> FloatArray:
        """Their derivatives."""
        run = self._integrator
        assert run is not None
        if self._rates is not None:
            self._rates(self._time, *self._vectors)
        return self._out if self._is_plain else self._out[self._order]

    @property
    def counters(self) -> Counters | None:
        """What the method has done; None before the first segment."""
        return None if self._integrator is None else self._integrator.counters

    @property
    def sensitivities(self) -> FloatArray:
        """Derivatives of the states where it stands, (parameters, states)."""
        assert self._integrator is not None
        if not len(self._order):
            return np.zeros((len(self._problem.sensitivity_parameters), 0))
        return self._integrator.sensitivities[:, self._order]

    def set_sensitivities(self, states: FloatArray, discretes: FloatArray) -> None:
        """Derivatives where it stands are these, (parameters, values).

        Raises
        ------
        RunError : it is not possible to go on from there.
        """
        run, layout = self._integrator, self.compiled.layout
        assert run is not None
        if states.size:
            run.sensitivities[:, self._order] = states
        if discretes.size:
            run.discrete_sensitivities[:, self._discrete_order] = discretes
        # methods with a memory take derivatives from where they restart; what has happened there has happened already
        fired = run.fired.copy()
        stop = run.disturb(run.y.copy(), run.m[layout.first_discrete : layout.first_previous].copy(), run.p)
        run.discard()
        run.fired[:] = fired
        if stop is not Stop.LIMIT:
            raise failure(stop, self._problem, run, None, at_start=False)

    def begin(self, time: float, until: float, states: FloatArray, discretes: FloatArray) -> None:
        """Stand at a time with these values, and carry out the event that follows from them.

        Raises
        ------
        RunError : it is not possible.
        """
        run = self._integrator
        if run is None or self._time != time:
            run = self._started(time, until, states, discretes)
        y, d = states, discretes
        if not self._are_plain:
            # what nobody knows from outside, since it was put in for the sake of others, stays
            y, d = self._y.copy(), self._d.copy()
            y[self._order], d[self._discrete_order] = states, discretes
        if self._y.tobytes() == y.tobytes() and self._d.tobytes() == d.tobytes():
            return
        stop = run.disturb(y, d, self._p)
        run.discard()  # whoever keeps the agenda knows what was set; the buffers have no room for ten thousand events at one instant
        if stop is not Stop.LIMIT:
            raise failure(stop, self._problem, run, None, at_start=False)

    def _started(self, time: float, until: float, states: FloatArray, discretes: FloatArray) -> StepIntegrator:
        layout = self.compiled.layout
        problem = problem_of(self.compiled, (time, max(until, _resolved(time))), self._options, _NO_TIMES)
        y, m = problem.y.copy(), problem.m.copy()
        y[self._order] = states
        m[layout.first_discrete + self._discrete_order] = discretes
        m[layout.first_previous + self._discrete_order] = discretes
        self._problem = replace(problem, y=y, m=m, step_rows=True, event_rows=False)
        self._integrator = run = choose(self._problem, self._options.method)
        self._time = run.time
        self._interrupts = Interrupts(run.calls)
        self._fired = run.fired[: len(self._labels)]
        self._y, self._d, self._p = run.y, run.m[layout.first_discrete : layout.first_previous], run.p
        self._vectors = [vector.ctypes.data_as(_POINTER) for vector in (run.y, run.p, run.m, self._out)]
        stop = run.start()
        if stop is not Stop.LIMIT:
            raise failure(stop, self._problem, run, None, at_start=True)
        run.discard()
        return run

    def run(self, until: float, times: FloatArray = _NO_TIMES, *, with_steps: bool = True) -> Stretch:
        """Run to a time, or to the first clause that happens.

        Parameters
        ----------
        times : rows are wanted here too.
        with_steps : rows are wanted at steps.

        Raises
        ------
        RunError : the run stopped before; it stands where it stopped, and what it has passed is in ``cut_off``.
        KeyboardInterrupt : so did Ctrl-C. Where the stretch came to its end all the same, ``heed_interrupt`` raises it.
        """
        run = self._integrator
        assert run is not None
        interrupts = self._interrupts
        interrupts.wanted = False
        run.want_step_rows(with_steps)
        if run.is_terminated:  # setting values has made a clause happen
            return Stretch(self._time, self._reopened(run), _NO_TIMES, [], [])
        records = Records()
        run.set_end(until, times)
        try:
            with interrupts:
                first = 0 if self._options.max_steps is None else run.steps
                stop = drive(run, self._problem, self._options, records, interrupts, first)
        except BaseException as error:
            self._time = run.time
            drop_rows_behind(self._time, records)
            self.cut_off = Stretch(self._time, (), _NO_TIMES, records.rows, records.polynomials)
            if interrupts.wanted and isinstance(error, Exception):
                raise KeyboardInterrupt from error
            raise
        self._time = run.time
        fired = self._reopened(run) if stop is Stop.TERMINATED else ()
        dt_dp = records.log[-1]["dt_dp"][-1].copy() if fired and len(self._problem.sensitivity_parameters) else _NO_TIMES
        return Stretch(self._time, fired, dt_dp, records.rows, records.polynomials)

    def passed_over(self) -> tuple[str, ...]:
        """Labels of the clauses that setting values has made happen, where nobody runs on from them."""
        run = self._integrator
        return self._reopened(run) if run is not None and run.is_terminated else ()

    def heed_interrupt(self) -> None:
        """Ctrl-C that came while the last stretch went to its end counts now, when whoever keeps the agenda has taken in what was computed.

        Raises
        ------
        KeyboardInterrupt : it came.
        """
        if self._interrupts.wanted:
            self._interrupts.wanted = False
            raise KeyboardInterrupt

    def _reopened(self, run: StepIntegrator) -> tuple[str, ...]:
        labels = self._labels
        fired = tuple(labels[k] for k in np.flatnonzero(self._fired).tolist() if labels[k])
        run.reopen()
        return fired


def _resolved(time: float) -> float:
    """A time behind another, between which there are enough numbers for a run to be asked for."""
    return time + _NUMBERS * math.ulp(max(abs(time), _LEAST))


def _are_all_in_turn(order: NDArray[np.intp], n: int) -> bool:
    return len(order) == n and bool(np.all(order == np.arange(n)))
