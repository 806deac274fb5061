"""Initial actions that ask for what only a consistent start tells (stage: executive). In: a problem with declared starts. Out: the same, acted on.

Most actions read states, discrete variables and parameters; these are known from their declarations, and ``start_values`` puts them in. An algebraic
unknown is known only when the algebraic equations have been solved with the declared start values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.executive.failures import failure
from tidegate.expressions import Expr, Role, constant, dependencies, symbol
from tidegate.expressions.differentiate import tangent
from tidegate.expressions.evaluate import evaluate
from tidegate.integrators import choose
from tidegate.integrators.interface import Integrator, Problem, Stop
from tidegate.model import Assignment

__all__ = ["acted_on", "consistent", "moves_of", "reads_solution", "values_of"]

FloatArray = NDArray[np.float64]


def reads_solution(compiled: CompiledModel) -> bool:
    """Whether an initial action assigns what depends on an algebraic unknown."""
    unknown = {s for s, is_algebraic in zip(compiled.layout.unknowns, compiled.algebraic, strict=True) if is_algebraic}
    values = [action.value for action in compiled.model.initial_actions if isinstance(action, Assignment)]
    return any(dependencies(value) & unknown for value in values)


def consistent(problem: Problem, integrator: Integrator) -> tuple[Stop, FloatArray]:
    """Unknowns and discrete variables at the start, the algebraic ones solved for, and what follows as in ``integrators.record.record_row``."""
    layout = problem.model.layout
    discretes = problem.m[layout.first_discrete : layout.first_previous]
    stop, row = integrator.conclude(problem.y, discretes, problem.dy_dp, problem.dd_dp)
    return stop, row[2:]


def values_of(problem: Problem, t: float, numbers: FloatArray) -> dict[Expr, float]:
    """What the model's symbols stand for, from unknowns and discrete variables."""
    layout = problem.model.layout
    values: dict[Expr, float] = {symbol(Role.TIME, "time"): t}
    values |= dict(zip((*layout.unknowns, *layout.discretes), numbers.tolist(), strict=False))
    values |= dict(zip(layout.parameters, problem.p.tolist(), strict=True))
    values |= dict(zip(layout.inputs, problem.m[layout.first_input : layout.first_fire].tolist(), strict=True))
    return values | {symbol(Role.PREVIOUS, s.data.name): values[s] for s in layout.discretes}


def moves_of(problem: Problem, assignments: list[Assignment], values: dict[Expr, float], moves: FloatArray) -> FloatArray:
    """Derivatives of unknowns and discrete variables after assignments, (parameters, values), from those before."""
    layout = problem.model.layout
    place = {s: k for k, s in enumerate((*layout.unknowns, *layout.discretes))}
    result = moves.copy()
    for i, parameter in enumerate(problem.sensitivity_parameters):
        seeds: dict[Expr, Any] = {s: constant(float(moves[i, k])) for s, k in place.items()}
        seeds[layout.parameters[int(parameter)]] = constant(1.0)
        for action, move in zip(assignments, evaluate(tangent([a.value for a in assignments], seeds), values), strict=True):
            result[i, place[action.target]] = move
    return result


def acted_on(problem: Problem) -> Problem:
    """The problem with the initial actions carried out on the consistent start that its declared start values lead to.

    Raises
    ------
    RunError : there is no consistent start.
    """
    compiled = problem.model
    layout = compiled.layout
    n, nd, n_s = len(layout.unknowns), len(layout.discretes), len(problem.sensitivity_parameters)
    integrator = choose(problem, "radau")
    stop, row = consistent(problem, integrator)
    if stop is not Stop.LIMIT:
        raise failure(stop, problem, integrator, np.zeros((0, 5)), at_start=True)
    width = n + nd + len(compiled.outputs)
    numbers, moves = row[: n + nd].copy(), row[width:].reshape(n_s, width)[:, : n + nd]
    values = values_of(problem, problem.t_start, numbers)
    assignments = [action for action in compiled.model.initial_actions if isinstance(action, Assignment)]
    place = {s: k for k, s in enumerate((*layout.unknowns, *layout.discretes))}
    moves = moves_of(problem, assignments, values, moves)
    for action, value in zip(assignments, evaluate([a.value for a in assignments], values), strict=True):
        numbers[place[action.target]] = value
    m = problem.m.copy()
    m[layout.first_discrete : layout.first_input] = np.tile(numbers[n:], 2)
    return replace(problem, y=numbers[:n], m=m, dy_dp=moves[:, :n].copy(), dd_dp=moves[:, n:].copy())
