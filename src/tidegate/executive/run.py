"""The loop around an integrator: budgets, progress, Ctrl-C, and the result whatever happens."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.compiled.opaque import opaque_calls
from tidegate.errors import (
    InterruptedRunError,
    NotFiniteWarning,
    RunError,
    SensitivityWarning,
    TooManyStepsError,
    UsageError,
)
from tidegate.executive.closing import close
from tidegate.executive.contacts import Recorded, strike_out
from tidegate.executive.failures import failure
from tidegate.executive.opening import open_run
from tidegate.executive.options import Options, check_options, output_times
from tidegate.executive.recorder import RecordedEvents, columns, interpolant, not_finite, rows
from tidegate.executive.start_values import find_parameters, parameter_vector, start_values
from tidegate.integrators import choose
from tidegate.integrators.interface import Integrator, Problem, Records, Stop
from tidegate.results import EventLog, Result, Statistics

__all__ = ["Prepared", "prepare"]

_VISIT: Final = 0.05  # seconds between visits of Python: Ctrl-C and progress wait no longer
_FIRST_BUDGET: Final = 200  # steps
_WARNED: Final = 3  # sentences in a warning
_LARGEST_BUDGET: Final = 10_000_000


def prepare(compiled: CompiledModel, t_span: tuple[float, float], options: Options) -> Prepared:
    """Check everything the caller chose and set up the run.

    Raises
    ------
    UsageError : an option or a name that does not fit.
    """
    start, end = check_options(options, t_span)
    layout = compiled.layout
    names = [s.data.name for s in layout.parameters]
    chosen = _chosen(options, names)
    p = parameter_vector(compiled, options.parameters)
    values = start_values(compiled, p, start, chosen)
    times = output_times(options, start, end)
    every_step = times is None
    problem = Problem(
        model=compiled,
        t_start=start,
        t_end=end,
        y=values.y,
        m=values.m,
        p=p,
        rtol=options.rtol,
        atol=_absolute_tolerances(compiled, options),
        step_max=options.max_step or np.inf,
        first_step=options.first_step or 0.0,
        sensitivity_parameters=np.array(chosen, dtype=np.int64),
        dy_dp=values.dy_dp,
        dd_dp=values.dd_dp,
        output_times=np.zeros(0) if times is None else times,
        step_rows=every_step,
        event_rows=every_step if options.event_rows is None else options.event_rows,
        keep_polynomials=options.dense,
    )
    return Prepared(problem, options)


def _warn(kind: type[Warning], sentences: list[str]) -> None:
    """One warning a run, however many things there are to say."""
    if not sentences:
        return
    more = f" (and {len(sentences) - _WARNED} more)" if len(sentences) > _WARNED else ""
    # the caller of tg.simulate or of Prepared.run, whichever was called
    warnings.warn("; ".join(sentences[:_WARNED]) + more, kind, stacklevel=5)


def _chosen(options: Options, names: list[str]) -> list[int]:
    wanted = options.sensitivities
    if wanted is None:
        return []
    if isinstance(wanted, str):
        return list(range(len(names))) if wanted == "all" else find_parameters(names, [wanted])
    return list(dict.fromkeys(find_parameters(names, list(wanted))))


def _absolute_tolerances(compiled: CompiledModel, options: Options) -> NDArray[np.float64]:
    names = [s.data.name for s in compiled.layout.unknowns]
    nominal = [v.nominal or 1.0 for v in compiled.model.unknowns for _ in range(v.size)] + [1.0] * (len(names) - compiled.n_own)
    usual = 0.01 * options.rtol * np.array(nominal)
    given = options.atol
    if given is None:
        return usual
    if isinstance(given, Mapping):
        for name, value in given.items():
            places = [k for k, known in enumerate(names) if known == name or known.startswith(f"{name}[")]
            if not places:
                raise UsageError(f"atol names {name!r}, which is no unknown of the model", hint=f"the unknowns are {', '.join(names[:12])}")
            usual[places] = _numbers(value)
        result = usual
    else:
        array = _numbers(given)
        if array.ndim == 0:
            result = np.full(len(names), float(array))
        elif array.shape == (compiled.n_own,):
            result = usual
            result[: compiled.n_own] = array
        else:
            raise UsageError(f"atol has {array.size} values for {compiled.n_own} unknowns", hint="a number, one number an unknown, or a dict by name")
    if not np.all(np.isfinite(result)) or np.any(result <= 0):
        raise UsageError("atol must be positive everywhere", hint="a small number, e.g. 1e-12, where a variable may be exactly zero")
    return result


def _numbers(given: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"atol must be made of numbers, not {given!r}", hint="a number, one number an unknown, or a dict by name") from None


@dataclass(frozen=True)
class _Cost:
    """Seconds of the run and of loading the integrator before it, which the first time ever compiles it; calls into Python."""

    running: float
    loading: float
    opaque_calls: int


class Prepared:
    """A run set up and ready; ``run`` may be called any number of times and starts afresh every time.

    Parameters
    ----------
    problem : what to run.
    options : what the caller chose.
    """

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem = problem
        self.options = options
        self.method = "radau" if options.method == "auto" else options.method

    def integrator(self) -> Integrator:
        """A fresh integrator at the start of the run."""
        return choose(self.problem, self.method)

    def run(self) -> Result:
        """Run to the end.

        Raises
        ------
        RunError : the run stopped before; ``.result`` holds what was computed.
        """
        records = Records()
        began = time.perf_counter()
        integrator = self.integrator()
        loading = time.perf_counter() - began
        calls = opaque_calls(self.problem.model.keep_alive)
        before = calls.count if calls is not None else 0
        if calls is not None:
            calls.error = None  # one that an earlier run got over by a shorter step
        began = time.perf_counter()
        status: Literal["finished", "terminated", "failed"] = "failed"
        error: RunError | None = None
        cause: BaseException | None = None
        try:
            stop = self._loop(integrator, records)
            if stop is Stop.TARGET:
                status = "finished"
            elif stop is Stop.TERMINATED:
                status = "terminated"
        except RunError as problem:
            error, cause = problem, problem.__cause__
        except KeyboardInterrupt as interrupt:
            error, cause = InterruptedRunError(f"interrupted at t = {integrator.time:g}", time=integrator.time), interrupt
        integrator.collect(records)
        cost = _Cost(time.perf_counter() - began, loading, (calls.count - before) if calls is not None else 0)
        result = self._result(integrator, records, status, cost)
        if error is not None:
            result.message = error.message
            error.result = result
            raise error from cause
        return result

    def _loop(self, integrator: Integrator, records: Records) -> Stop:
        budget = 1 if self.problem.model.has_opaque else _FIRST_BUDGET
        progress = self.options.progress
        calls = opaque_calls(self.problem.model.keep_alive)
        stop = integrator.start()
        integrator.collect(records)
        if stop is not Stop.LIMIT:
            raise failure(stop, self.problem, integrator, np.zeros((0, 5)), at_start=True)
        opening = open_run(self.problem)
        if opening is not None and opening.terminates:
            return Stop.TERMINATED
        shown = time.perf_counter()
        while True:
            began = time.perf_counter()
            before = integrator.counters.steps
            limit = self.options.max_steps
            stop = integrator.advance(budget if limit is None else min(budget, limit - before))
            now = time.perf_counter()
            integrator.collect(records)
            if stop is not Stop.LIMIT:
                break
            if calls is not None and isinstance(calls.error, KeyboardInterrupt):
                raise calls.error  # Ctrl-C inside a callback, which the integrator took for a value that is not finite
            done = integrator.counters.steps
            self._check_steps(done, integrator)
            # so many steps as fit between two visits, whatever a step costs
            pace = (now - began) / max(done - before, 1)
            budget = int(min(max(_VISIT / max(pace, 1e-9), 1), 4 * budget, _LARGEST_BUDGET))
            if progress is not None and now - shown > 2 * _VISIT:
                shown = now
                progress(integrator.time)
        if stop not in (Stop.TARGET, Stop.TERMINATED):
            recent = np.concatenate([entry[-12:, :5] for entry in records.log[-3:]]) if records.log else np.zeros((0, 5))
            raise failure(stop, self.problem, integrator, recent, at_start=False)
        if progress is not None:
            progress(integrator.time)
        return stop

    def _check_steps(self, done: int, integrator: Integrator) -> None:
        limit = self.options.max_steps
        if limit is not None and done >= limit:
            raise TooManyStepsError(
                f"the run took {done} steps and is only at t = {integrator.time:g} of {self.problem.t_end:g}",
                time=integrator.time,
                hint="raise max_steps, loosen rtol, or look at where the steps are small: result.t",
            )

    def _result(self, integrator: Integrator, records: Records, status: Literal["finished", "terminated", "failed"], cost: _Cost) -> Result:
        problem, compiled = self.problem, self.problem.model
        times, values, sensitivities = rows(problem, records)
        events = RecordedEvents(problem, records, values)
        opening = open_run(problem)
        if opening is not None and len(times):
            events.prepend(opening.event(compiled, problem.t_start, values[0]))
        counters = integrator.counters
        doubts: list[str] = []
        if sensitivities is not None:
            names = [column.name for column in columns(compiled)]
            doubts = strike_out(problem, integrator, Recorded(names, times, sensitivities, events.table))
        if status != "failed":
            _warn(SensitivityWarning, doubts)
            _warn(NotFiniteWarning, not_finite(problem, times, values))
        closing = None
        if status != "failed" and len(times):
            closing = close(problem, integrator, values[-1], sensitivities[-1] if sensitivities is not None else None, len(events))
        if closing is not None:
            events.append(closing.event)
            times = np.append(times, integrator.time)
            values = np.vstack([values, closing.values])
            if sensitivities is not None and closing.sensitivities is not None:
                sensitivities = np.concatenate([sensitivities, closing.sensitivities[None]])
        message = "reached the end of the time span" if status == "finished" else ""
        if status == "terminated" and len(events):
            stopped = events[-1 if closing is None else -2]
            message = "; ".join(stopped.messages) or f"terminated by {stopped.cause}"
        names = [s.data.name for s in compiled.layout.parameters]
        units = {name: v.unit for v in compiled.model.parameters for name in v.names if v.unit}
        return Result(
            compiled.model.name,
            columns(compiled),
            times,
            values,
            parameters=dict(zip(names, problem.p.tolist(), strict=True)),
            sensitivity_parameters=[names[k] for k in problem.sensitivity_parameters],
            sensitivities=sensitivities,
            events=EventLog(events, events.times, compiled.model.time_unit),
            statistics=Statistics(
                steps=counters.steps,
                rejected=counters.rejected,
                evaluations=counters.evaluations,
                jacobians=counters.jacobians,
                factorizations=counters.factorizations,
                newton_iterations=counters.newton_iterations,
                newton_failures=counters.newton_failures,
                events=len(events),
                flips=counters.flips,
                opaque_calls=cost.opaque_calls,
                seconds=cost.running,
                compile_seconds=compiled.seconds + cost.loading,
                method=self.method,
                extra={"resteps": counters.resteps},
            ),
            interpolant=interpolant(problem, records),
            options=self.options.shown(),
            status=status,
            message=message,
            parameter_units=units,
            time_unit=compiled.model.time_unit,
        )

    def with_parameters(self, **values: float) -> Prepared:
        """The same run with other parameter values."""
        changed = {**dict(self.options.parameters), **values}
        return prepare(self.problem.model, (self.problem.t_start, self.problem.t_end), replace(self.options, parameters=changed))
