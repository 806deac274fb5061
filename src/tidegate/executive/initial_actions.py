"""What is done and said at the start (stage: executive). In: a problem with start values. Out: the same, acted on; what is said.

Most initial actions read states, discrete variables and parameters; these are known from their declarations, and the start values hold them. An
algebraic unknown is known only when the algebraic equations have been solved with the declared start values. What is said under a condition is
asked at consistent ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import CompiledModel, Point, Said
from tidegate.errors import InitializationError, StartValueWarning
from tidegate.executive.failures import failure
from tidegate.integrators import choose
from tidegate.integrators.interface import Problem, StepIntegrator, Stop
from tidegate.names import shortened
from tidegate.quick_dataclass import dataclass

__all__ = ["acted_on", "begin_model", "open_run", "taken_up"]

FloatArray = NDArray[np.float64]
_SAY_WHICH: Final = "give values that fit the equations; in a component say which is a guess (fixed=False) and which must hold (fixed=True)"
_PACKAGE: Final = str(Path(__file__).parents[1])
_WARNED: Final = 3  # sentences in one warning


@dataclass(frozen=True, eq=False)
class _Begun:
    """A consistent start: where it is, and derivatives of unknowns and discrete variables, (parameters, values)."""

    time: float
    y: FloatArray
    p: FloatArray
    m: FloatArray
    moves: FloatArray


def _consistent(problem: Problem, integrator: StepIntegrator) -> tuple[Stop, _Begun]:
    """Unknowns and discrete variables at the start, the algebraic ones solved for; found if there is Stop.LIMIT."""
    layout = problem.model.layout
    n, nd = len(layout.unknowns), len(layout.discretes)
    stop, row = integrator.conclude(problem.y, problem.m[layout.first_discrete : layout.first_previous], problem.dy_dp, problem.dd_dp)
    numbers, slopes = row["values"][: n + nd], row["sensitivities"][:, : n + nd]
    return stop, _Begun(problem.t_start, numbers[:n], problem.p, _with_discretes(problem, numbers[n:]), slopes)


def _with_discretes(problem: Problem, values: FloatArray) -> FloatArray:
    layout = problem.model.layout
    m = problem.m.copy()
    m[layout.first_discrete : layout.first_input] = np.tile(values, 2)
    return m


def acted_on(problem: Problem) -> Problem:
    """The problem with the initial actions carried out on the consistent start that its declared start values lead to.

    Raises
    ------
    RunError : there is no consistent start.
    """
    n, actions = len(problem.model.layout.unknowns), problem.model.initial
    integrator = choose(problem, "radau")
    stop, begun = _consistent(problem, integrator)
    if stop is not Stop.LIMIT:
        raise failure(stop, problem, integrator, None, at_start=True)
    new = actions.assigned(begun)
    moves = actions.moves(begun, begun.moves, problem.directions)
    return replace(problem, y=new[:n], m=_with_discretes(problem, new[n:]), dy_dp=moves[:, :n].copy(), dd_dp=moves[:, n:].copy())


def begin_model(problem: Problem, integrator: StepIntegrator) -> None:
    """Tell a model with a memory of its own that a run begins, and put its values where the integrator, which is not started yet, begins."""
    model = problem.model
    if model.opening is None:
        return
    layout, n = model.layout, len(model.layout.unknowns)
    new = model.opening.assigned(integrator)
    integrator.y[:] = new[:n]
    integrator.m[layout.first_discrete : layout.first_input] = np.tile(new[n:], 2)
    if problem.directions and model.knows_memory:
        moves = model.opening.moves(integrator, np.concatenate([problem.dy_dp, problem.dd_dp], axis=1), problem.directions)
        integrator.sensitivities[:, :n], integrator.discrete_sensitivities[:] = moves[:, :n], moves[:, n:]


def taken_up(model: CompiledModel, state: Mapping[str, FloatArray], where: Point) -> Mapping[str, FloatArray]:
    """A saved state with what a model with a memory of its own sets when it is told of it: the run that it had begun is not known here.

    Raises
    ------
    UsageError : the model cannot go on without its memory.
    """
    if model.resuming is None:
        return state
    layout, modes = model.layout, state["modes"].copy()
    modes[layout.first_discrete : layout.first_input] = np.tile(model.resuming.assigned(where)[len(layout.unknowns) :], 2)
    return {**state, "modes": modes}


def open_run(problem: Problem, integrator: StepIntegrator) -> Said | None:
    """What the initial bodies say, conditions asked at the consistent start; None if they say nothing.

    Parameters
    ----------
    integrator : of the run, not started yet.

    Raises
    ------
    InitializationError : a start value that must hold does not.
    """
    actions, start = problem.model.initial, problem.model.start
    if not actions.says and not start.compares:
        return None
    if not actions.asks and not start.compares:
        return actions.said(None)
    stop, begun = _consistent(problem, integrator)
    if stop is not Stop.LIMIT:
        return None  # the start of the run will say why
    wrong = start.contradiction(begun, problem.rtol) if start.compares else None
    if wrong is not None:
        raise InitializationError(wrong.sentence, time=problem.t_start, origin=wrong.origin, hint=wrong.hint)
    unused = start.unused(begun) if start.compares else []
    if unused:
        warnings.warn(f"{'; '.join(shortened(unused, _WARNED))}; {_SAY_WHICH}", StartValueWarning, skip_file_prefixes=(_PACKAGE,))
    if not actions.says:
        return None
    said = actions.said(begun)
    return said if said.messages or said.terminates else None
