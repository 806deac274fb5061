"""Initial actions that ask for what only a consistent start tells (stage: executive). In: a problem with declared starts. Out: the same, acted on.

Most actions read states, discrete variables and parameters; these are known from their declarations, and the start values hold them. An algebraic
unknown is known only when the algebraic equations have been solved with the declared start values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tidegate.executive.failures import failure
from tidegate.integrators import choose
from tidegate.integrators.interface import Integrator, Problem, Stop

__all__ = ["Begun", "acted_on", "consistent"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Begun:
    """A consistent start: where it is, and derivatives of unknowns and discrete variables, (parameters, values)."""

    time: float
    y: FloatArray
    p: FloatArray
    m: FloatArray
    moves: FloatArray


def consistent(problem: Problem, integrator: Integrator) -> tuple[Stop, Begun]:
    """Unknowns and discrete variables at the start, the algebraic ones solved for; found if there is Stop.LIMIT."""
    layout = problem.model.layout
    n, nd, n_s = len(layout.unknowns), len(layout.discretes), len(problem.sensitivity_parameters)
    stop, row = integrator.conclude(problem.y, problem.m[layout.first_discrete : layout.first_previous], problem.dy_dp, problem.dd_dp)
    numbers, slopes = row[2 : 2 + n + nd], row[2 + layout.n_recorded :].reshape(n_s, layout.n_recorded)[:, : n + nd]
    return stop, Begun(problem.t_start, numbers[:n], problem.p, _with_discretes(problem, numbers[n:]), slopes)


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
    stop, begun = consistent(problem, integrator)
    if stop is not Stop.LIMIT:
        raise failure(stop, problem, integrator, np.zeros((0, 5)), at_start=True)
    new = actions.assigned(begun)
    moves = actions.moves(begun, begun.moves, problem.sensitivity_parameters.tolist())
    return replace(problem, y=new[:n], m=_with_discretes(problem, new[n:]), dy_dp=moves[:, :n].copy(), dd_dp=moves[:, n:].copy())
