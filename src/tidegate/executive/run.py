"""A run from its options to its result, whatever happens (stage: executive). In: a compiled model, a time span, options."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.errors import InterruptedRunError, RunError, UsageError
from tidegate.executive.doubts import warn
from tidegate.executive.initial import acted_on, open_run
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.labelled import Feed, Labelled, Meter
from tidegate.executive.loop import begin, drive, drop_rows_behind
from tidegate.executive.options import Options, check_options, numbers_given, output_times
from tidegate.executive.parameters import find_parameters, parameter_vector, refuse_clocks_too_fast
from tidegate.integrators import choose
from tidegate.integrators.interface import Integrator, Problem, Records, Stop
from tidegate.names import listed, suggestion
from tidegate.results import Result, RunStatus

__all__ = ["Prepared", "prepare"]


def prepare(compiled: CompiledModel, t_span: tuple[float, float], options: Options, source: Any = None) -> Prepared:
    """Check everything the caller chose and set up the run.

    Raises
    ------
    UsageError : an option or a name that does not fit.
    """
    start, end = check_options(options, t_span)
    chosen = _chosen(compiled, options.sensitivities)
    p = parameter_vector(compiled, options.parameters)
    refuse_clocks_too_fast(compiled, p, start, end)
    waits = compiled.start.asks_solution
    values = compiled.start.values(p, start, chosen, with_actions=not waits)
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
    return Prepared(acted_on(problem) if waits else problem, options, source)


def _chosen(compiled: CompiledModel, wanted: str | Sequence[str] | None) -> list[int]:
    if wanted == "all":
        return list(range(len(compiled.layout.parameters)))
    names = [] if wanted is None else [wanted] if isinstance(wanted, str) else wanted
    return list(dict.fromkeys(find_parameters(compiled, names)))


def _absolute_tolerances(compiled: CompiledModel, options: Options) -> NDArray[np.float64]:
    usual = 0.01 * options.rtol * np.where(compiled.nominal > 0.0, compiled.nominal, 1.0)
    if options.atol is None:
        return usual
    if isinstance(options.atol, Mapping):
        result = _named_tolerances(compiled, options.atol, usual)
    else:
        array, own = _numbers(options.atol), [shown for shown in compiled.layout.shown if shown.column.role == "unknown"]
        if array.ndim == 0:
            result = np.full(len(usual), float(array))
        elif array.shape == (len(own),):
            result = _named_tolerances(compiled, {shown.column.name: value for shown, value in zip(own, array.tolist(), strict=True)}, usual)
        else:
            raise UsageError(f"atol has {array.size} values for {len(own)} unknowns", hint="a number, one number an unknown, or a dict by name")
    if not np.all(np.isfinite(result)) or np.any(result <= 0):
        raise UsageError("atol must be positive everywhere", hint="a small number, e.g. 1e-12, where a variable may be exactly zero")
    return result


def _named_tolerances(compiled: CompiledModel, given: Mapping[str, ArrayLike], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """One an unknown of the system; of several names for one the most accurate counts."""
    # what the compiler added has a name too
    indices = {name: k for k, name in enumerate(compiled.layout.unknowns)}
    indices |= {shown.column.name: shown.index for shown in compiled.layout.shown if shown.column.role == "unknown"}
    by_name = {name: float(usual[k]) for name, k in indices.items()}
    for name, value in given.items():
        place = compiled.places.get(name)
        elements = [name] if place is None else place.names
        if any(element not in indices for element in elements):
            hint = suggestion(name, list(indices), f"the unknowns are {listed(indices)}")
            raise UsageError(f"atol names {name!r}, which is no unknown of the model", hint=hint)
        numbers = _numbers(value)
        if numbers.size not in (1, len(elements)):
            raise UsageError(f"atol has {numbers.size} values for {name}, which has {len(elements)}", hint="a number, or one for each element")
        by_name |= dict(zip(elements, np.broadcast_to(numbers.ravel(), len(elements)).tolist(), strict=True))
    result = np.full(len(usual), np.inf)
    for name, value in by_name.items():
        result[indices[name]] = np.minimum(result[indices[name]], value)  # a NaN stays one, and is refused
    return result


def _numbers(given: ArrayLike) -> NDArray[np.float64]:
    try:
        return numbers_given(given)
    except (TypeError, ValueError):
        raise UsageError(f"atol must be made of numbers, not {given!r}", hint="a number, one number an unknown, or a dict by name") from None


@dataclass(frozen=True, eq=False)
class _Ended:
    """How a run ended.

    Parameters
    ----------
    result : what was computed.
    doubtful : sentences about derivatives that do not exist.
    error, cause : why it ended early, if it did, and what caused that.
    """

    result: Result
    doubtful: list[str]
    error: RunError | InterruptedRunError | None = None
    cause: BaseException | None = None


class Prepared:
    """A run set up and ready; ``run`` may be called any number of times and starts afresh every time.

    Parameters
    ----------
    problem : what to run.
    options : what the caller chose.
    source : what the caller gave as the model; results keep it for those who judge them.
    """

    def __init__(self, problem: Problem, options: Options, source: Any = None) -> None:
        self.problem = problem
        self.options = options
        self.source = source
        self.method = options.chosen_method
        # memory of runs that are over, for the next ones; as many as there were at once
        self._spare: list[Integrator] = []

    def __getstate__(self) -> dict[str, Any]:
        # memory of a run holds addresses, which mean nothing in a copy
        return {**self.__dict__, "_spare": []}

    def integrator(self) -> Integrator:
        """A fresh integrator at the start of the run."""
        return choose(self.problem, self.method)

    def run(self) -> Result:
        """Run to the end.

        Raises
        ------
        RunError : the run stopped before; ``.result`` holds what was computed.
        InterruptedRunError : Ctrl-C; likewise.
        """
        began = time.perf_counter()
        integrator = self._spare.pop() if self._spare else self.integrator()
        loading = time.perf_counter() - began
        try:
            return self._told(integrator, loading)
        finally:
            integrator.reset()
            self._spare.append(integrator)

    def _told(self, integrator: Integrator, loading: float) -> Result:
        """The result, with all there is to say about it said."""
        interrupts = Interrupts()
        with interrupts.held(integrator.calls):
            ended = self._run(integrator, interrupts, loading)
        if interrupts.wanted and not isinstance(ended.error, InterruptedRunError):
            late = f"interrupted at t = {integrator.time:g}, when the run had come to its end"
            ended = replace(ended, error=InterruptedRunError(late, time=integrator.time), cause=ended.error)
        if ended.error is not None:
            ended.error.result = ended.result
            raise ended.error from ended.cause
        warn(self.problem, ended.result, ended.doubtful)
        return ended.result

    def _run(self, integrator: Integrator, interrupts: Interrupts, loading: float) -> _Ended:
        records = Records()
        meter = Meter(integrator)
        opening = open_run(self.problem, integrator)
        feed = Feed(Labelled(self.problem, self.options), integrator, records, interrupts, opening) if self.options.on_rows is not None else None
        status: RunStatus = "failed"
        error: RunError | InterruptedRunError | None = None
        cause: BaseException | None = None
        try:
            begin(integrator, self.problem, records)
            ends_at_once = opening is not None and opening.terminates
            stop = Stop.TERMINATED if ends_at_once else drive(integrator, self.problem, self.options, records, interrupts, feed)
            status = "terminated" if stop is Stop.TERMINATED else "finished"
        except RunError as problem:
            error, cause = problem, problem.__cause__
        except KeyboardInterrupt as interrupt:
            error, cause = InterruptedRunError(f"interrupted at t = {integrator.time:g}", time=integrator.time), interrupt
        integrator.collect(records)
        if error is not None:
            drop_rows_behind(integrator.time, records)
        if feed is not None:
            try:
                feed()
            except KeyboardInterrupt as interrupt:
                cause = error or interrupt
                status, error = "failed", InterruptedRunError(f"interrupted at t = {integrator.time:g}", time=integrator.time)
        message = error.message if error is not None else "reached the end of the time span" if status == "finished" else ""
        cost = meter.read(self.problem.model.seconds + loading)
        labelled = Labelled(self.problem, self.options)
        try:
            result = labelled.result(records, cost, status, message, integrator, opening)
        except RunError as problem:  # of the final actions
            if problem.result is None:
                raise
            error, result = problem, problem.result
        result.source = self.source
        return _Ended(result, labelled.doubts.untold(), error, cause)

    def with_parameters(self, **values: ArrayLike) -> Prepared:
        """The same run with other parameter values."""
        changed = {**dict(self.options.parameters), **values}
        return prepare(self.problem.model, (self.problem.t_start, self.problem.t_end), replace(self.options, parameters=changed), self.source)
