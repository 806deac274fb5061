"""A whole run, from its options to its result, as often as it is wanted (stage: executive). In: a compiled model, a time span, options."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from html import escape
from time import perf_counter
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.errors import UsageError
from tidegate.executive.at_once import is_plain, read, stopped
from tidegate.executive.options import Options
from tidegate.executive.problem import problem_of, with_parameters
from tidegate.executive.recorder import Legend
from tidegate.executive.session import Session
from tidegate.integrators import choose
from tidegate.integrators.interface import Problem, StepIntegrator, Stop
from tidegate.integrators.packed_run import PackedRuns
from tidegate.integrators.spare_memory import put_away, taken_up
from tidegate.later_stages import later
from tidegate.results import Result
from tidegate.results.labels import number
from tidegate.wrong_calls import explained
from tidegate.wrong_names import answering

__all__ = ["Prepared", "prepare"]


def prepare(compiled: CompiledModel, t_span: tuple[float, float], options: Options, source: Any = None) -> Prepared:
    """Check everything the caller chose and set up the run.

    Raises
    ------
    UsageError : an option or a name that does not fit.
    """
    return Prepared(problem_of(compiled, t_span, options), options, source)


_RUNS: Final = "prepared.run() makes a run and returns its result"
_WORDS: Final = {
    "simulate": _RUNS, "solve": _RUNS, "result": _RUNS, "final": _RUNS, "events": _RUNS, "plot": _RUNS,
    "parameters": "prepared.with_parameters(k=3.0) prepares a run with other values",
    "set": "prepared.with_parameters(k=3.0) prepares a run with other values",
    "sweep": "tg.sweep(prepared, parameters={...}) makes many runs",
}  # fmt: skip


@answering("prepared", _WORDS)
@partial(explained, instead_of_call="prepared.run() makes a run, prepared.with_parameters(k=3.0) prepares another")
class Prepared:
    """A run set up and ready; ``run`` may be called any number of times and starts afresh every time.

    Parameters
    ----------
    problem : what to run.
    options : what the caller chose.
    source : what the caller gave as the model; results keep it for those who judge them.
    spare : memory of runs that are over, shared with the same run for other values of parameters.
    """

    def __init__(self, problem: Problem, options: Options, source: Any = None, spare: list[StepIntegrator] | None = None) -> None:
        self.problem = problem
        self.options = options
        self.source = source
        self.method = options.method
        # memory of runs that are over, for the next ones; as many as there were at once
        self._spare: list[StepIntegrator] = [] if spare is None else spare

    def __getstate__(self) -> dict[str, Any]:
        # memory of a run holds addresses, which mean nothing in a copy
        return {name: value for name, value in vars(self).items() if name not in ("_legend", "_read")} | {"_spare": []}

    def __repr__(self) -> str:
        problem, options = self.problem, self.options
        changed = "".join(f", {name} = {value!r}" for name, value in dict(options.parameters).items())
        span = f"from {number(problem.t_start, 10)} to {number(problem.t_end, 10)}"
        return f"<Prepared run of {problem.model.name} {span}, method {self.method}, rtol {number(problem.rtol)}{changed}: .run()>"

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(repr(self))}</b></p>" + ("" if self.source is None else later("as_html")(self.source))

    @cached_property
    def _legend(self) -> Legend:
        return Legend(self.problem, self.options)

    def integrator(self) -> StepIntegrator:
        """A fresh integrator at the start of the run."""
        return choose(self.problem, self.method)

    @cached_property
    def _is_plain(self) -> bool:
        return is_plain(self.problem, self.options, self._legend)

    @cached_property
    def _read(self) -> Callable[..., Any]:
        """What a result takes up of a run that was one call, when it is looked at."""
        return partial(read, self._legend, self.problem.model.seconds, self.source)

    def _memory(self) -> StepIntegrator:
        """Of a run that is over, as it has left it, else new."""
        try:
            integrator = self._spare.pop()
        except IndexError:  # also where another thread took the last
            return taken_up(self.problem, self.method) or self.integrator()
        return integrator if integrator.problem is self.problem or integrator.take(self.problem) else self.integrator()

    def _packed(self, integrator: StepIntegrator) -> PackedRuns | None:
        """Runs in this memory as one call each, if they can be."""
        return integrator.packed_runs or integrator.pack_runs() if integrator.may_pack and self._is_plain else None

    def put_away(self) -> None:
        """Let the next run of the model have the memory of this one, which is not to be run again."""
        while self._spare:
            put_away(self._spare.pop(), self.method)

    def watched(self, progress: Callable[[float], object]) -> Prepared:
        """The same run in the same memory, of which somebody is told how far it has come."""
        return Prepared(self.problem, replace(self.options, progress=progress), None, self._spare)

    def recorded_at(self, times: list[float], *, event_rows: bool) -> Prepared:
        """The same run of which rows are kept at these times only, and before and after events if wanted."""
        options = replace(self.options, outputs=times, event_rows=event_rows)
        return Prepared(self.problem.altered(output_times=np.array(times), step_rows=False, event_rows=event_rows), options)

    @contextmanager
    def lent(self) -> Generator[StepIntegrator]:
        """The memory of a run in this block, not started."""
        integrator = self._memory()
        integrator.reset()
        try:
            yield integrator
        finally:
            integrator.reset()
            self._spare.append(integrator)

    @partial(explained, hint="other values of parameters: prepared.with_parameters(k=3.0).run(); all else is said to tg.prepare")
    def run(self) -> Result:
        """Run to the end.

        Raises
        ------
        RunError : the run stopped before; ``.result`` holds what was computed.
        InterruptedRunError : Ctrl-C; likewise.
        """
        began = perf_counter()
        integrator = self._memory()
        packed_runs = self._packed(integrator)
        if packed_runs is None:
            return self._run_in(integrator, perf_counter() - began + self.problem.model.seconds)
        try:
            answer = packed_runs.run()
            if not isinstance(answer, int):
                result = Result.recorded(self._read, answer, packed_runs.kinds, perf_counter() - began)
                self._spare.append(integrator)
                return result
        except KeyboardInterrupt:
            # what there was of the result is made again
            return self._run_in(self._memory(), self.problem.model.seconds, is_interrupted=True)
        stop = stopped(answer)
        if stop is None:
            integrator.may_pack, integrator.packed_runs = False, None  # so it would be the next time
        return self._run_in(integrator, self.problem.model.seconds, stop)

    def _run_in(self, integrator: StepIntegrator, loading: float, stop: Stop | None = None, *, is_interrupted: bool = False) -> Result:
        """Run in this memory, from where it has stopped if it has."""
        try:
            if stop is None:
                integrator.reset()
            return Session(self.problem, self.options, self.source, whole=(integrator, self._legend, loading)).advance(stop, is_interrupted)
        finally:
            integrator.reset()
            if integrator.may_pack is None:
                integrator.may_pack = True
            self._spare.append(integrator)

    def compile(self) -> Self:
        """Make machine code for this model alone, in which its sizes are constants and its equations part of the integrator.

        It takes some seconds, in a process of its own, and is kept on disk. Runs by it give the same numbers, to the last bit, in half the time where
        they are as short as some microseconds a step. After a second of runs it is made in the background without being asked for.

        Returns
        -------
        The same run.

        Raises
        ------
        UsageError : something looks at the runs while they last, so that Python takes part in them.
        TidegateError : it could not be made.

        Examples
        --------
        >>> import tidegate as tg
        >>> prepared = tg.prepare(tg.ode(lambda t, y: -y, y0=[1.0]), (0.0, 1.0)).compile()
        >>> round(float(prepared.run()["y[0]"][-1]), 6)
        0.367879
        """
        self.run()  # what runs of this kind come to is known afterwards
        integrator = self._memory()
        try:
            packed_runs = self._packed(integrator)
            if packed_runs is None:
                raise UsageError(
                    "these runs are not one call of machine code each, so that there is nothing to compile",
                    hint="there is with method 'taylor', 'radau' or 'rodas5p', without progress, on_rows, max_steps, functions of Python and delays",
                )
            packed_runs.run()
            packed_runs.use_own_code()
        finally:
            self._spare.append(integrator)
        return self

    def with_parameters(self, **values: ArrayLike) -> Prepared:
        """The same run with other parameter values."""
        options = self.options.with_parameters({**self.options.parameters, **values})
        other = Prepared(with_parameters(self.problem, options), options, self.source, self._spare)
        if other.problem.model is self.problem.model:
            vars(other).update(_legend=self._legend.with_values(other.problem), _is_plain=self._is_plain)
        return other
