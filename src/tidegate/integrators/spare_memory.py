"""Memory of runs that are over, for the next run of the same model (stage: integrators).

To lay out the memory of a run takes fifty times as long as a short run. So what a run leaves is kept for one that differs in values only: of
parameters, start values, tolerances of single unknowns, times. Kept are a few, whoever they belong to, and they keep no model alive.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final
from weakref import ref

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.integrators.choose import method_of
from tidegate.integrators.interface import Problem, StepIntegrator
from tidegate.quick_dataclass import dataclass

__all__ = ["put_away", "taken_up"]

_MOST: Final = 8


@dataclass(frozen=True, eq=False)
class _Spare:
    """What a run has left.

    Parameters
    ----------
    model : that it was a run of.
    kind : what the next run has to have in common with it.
    """

    model: ref[CompiledModel]
    kind: tuple[Any, ...]
    integrator: StepIntegrator


_spare: deque[_Spare] = deque(maxlen=_MOST)


def put_away(integrator: StepIntegrator, method: str) -> None:
    """Let another run have this memory; nobody may use it any more.

    Parameters
    ----------
    method : that was asked for.
    """
    if integrator.outlives_run:
        problem = integrator.problem
        del integrator.problem
        _spare.append(_Spare(ref(problem.model), _kind(problem, method), integrator))


def taken_up(problem: Problem, method: str) -> StepIntegrator | None:
    """Memory for a run, before ``start``, if one like it has been put away."""
    if not _spare or problem.resume is not None:
        return None
    kind = _kind(problem, method)
    for spare in (*_spare,):
        if spare.model() is problem.model and spare.kind == kind:
            try:
                _spare.remove(spare)
            except ValueError:  # another thread was faster
                continue
            spare.integrator.be(problem)
            return spare.integrator
    return None


def _kind(problem: Problem, method: str) -> tuple[Any, ...]:
    parameters, directions = problem.sensitivity_parameters.tobytes(), tuple(tuple(direction.items()) for direction in problem.directions)
    rows = problem.step_rows, problem.event_rows, problem.keep_polynomials
    return method_of(problem, method), problem.rtol, parameters, directions, *rows, problem.proves
