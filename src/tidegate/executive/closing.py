"""What a model does once at the end of its run: the actions of ``finally_`` (when terminal() in Modelica), as one last event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.expressions import Expr, Role, constant, symbol
from tidegate.expressions.differentiate import tangent
from tidegate.expressions.evaluate import evaluate
from tidegate.integrators.interface import Integrator, Problem
from tidegate.model import Assignment, Message
from tidegate.results import Event

__all__ = ["Closing", "close"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Closing:
    """The last event, and the row after it: values and (parameters, columns) sensitivities of unknowns and discrete variables."""

    event: Event
    values: FloatArray
    sensitivities: FloatArray | None


def close(problem: Problem, integrator: Integrator, last: FloatArray, last_sensitivities: FloatArray | None, index: int) -> Closing | None:
    """Carry out the final actions on the last recorded row; None if the model has none.

    Parameters
    ----------
    last : the last row, columns as in the result.
    last_sensitivities : (parameters, columns) of it, or None.
    index : number of the event in the log.
    """
    compiled = problem.model
    actions = compiled.model.final_actions
    if not actions:
        return None
    shown = [*compiled.layout.unknowns[: compiled.n_own], *compiled.layout.discretes]
    place = {s: k for k, s in enumerate(shown)}
    values = _values(compiled, problem, integrator)
    assignments = [action for action in actions if isinstance(action, Assignment)]
    new = evaluate([a.value for a in assignments], values)
    row = last.copy()
    for action, value in zip(assignments, new, strict=True):
        row[place[action.target]] = value
    sensitivities = None
    if last_sensitivities is not None:
        sensitivities = last_sensitivities.copy()
        for i, parameter in enumerate(problem.sensitivity_parameters):
            seeds = {s: constant(float(last_sensitivities[i, k])) for s, k in place.items()}
            seeds[compiled.layout.parameters[int(parameter)]] = constant(1.0)
            moves = evaluate(tangent([a.value for a in assignments], seeds), values)
            for action, move in zip(assignments, moves, strict=True):
                sensitivities[i, place[action.target]] = move
    names = [s.data.name for s in shown]
    event = Event(
        index=index,
        time=integrator.time,
        kind="final",
        causes=("end of the run",),
        origins=tuple(a.origin for a in assignments),
        before=dict(zip(names, last.tolist(), strict=False)),
        after=dict(zip(names, row.tolist(), strict=False)),
        messages=tuple(a.text for a in actions if isinstance(a, Message) and evaluate([a.condition], values)[0]),
    )
    return Closing(event, row, sensitivities)


def _values(compiled: CompiledModel, problem: Problem, integrator: Integrator) -> dict[Expr, float]:
    layout = compiled.layout
    values = {symbol(Role.TIME, "time"): integrator.time}
    values |= dict(zip(layout.unknowns, integrator.y.tolist(), strict=True))
    values |= dict(zip(layout.parameters, problem.p.tolist(), strict=True))
    return values | dict(zip(layout.m_symbols(), integrator.m.tolist(), strict=True))
