"""What a model does once at the end of its run: the actions of ``finally_`` (when terminal() in Modelica), as one last event.

Algebraic unknowns and outputs follow from the new values as they do at every event; no clause happens any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.executive.failures import failure
from tidegate.executive.initial import moves_of
from tidegate.expressions import Expr, Role, symbol
from tidegate.expressions.evaluate import evaluate
from tidegate.integrators.interface import Integrator, Problem, Stop
from tidegate.model import Assignment, Message
from tidegate.results import Event

__all__ = ["Closing", "close"]

_PROBES: Final = (0.0, 1.0)  # in place of derivatives that do not exist: what depends on which is chosen does not exist either

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

    Raises
    ------
    RunError : no values of the algebraic unknowns fit the new values.
    """
    compiled = problem.model
    actions = compiled.model.final_actions
    if not actions:
        return None
    values = _values(compiled, problem, integrator)
    assignments = [action for action in actions if isinstance(action, Assignment)]
    row, sensitivities = last, last_sensitivities
    if assignments:
        row, sensitivities = _last_row(problem, integrator, assignments, values, last_sensitivities)
    names = [s.data.name for s in (*compiled.layout.unknowns[: compiled.n_own], *compiled.layout.discretes)]
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


def _last_row(
    problem: Problem, integrator: Integrator, assignments: list[Assignment], values: dict[Expr, float], slopes: FloatArray | None
) -> tuple[FloatArray, FloatArray | None]:
    """The row, and its derivatives if those of the row before are given."""
    compiled = problem.model
    n, nd = len(compiled.layout.unknowns), len(compiled.layout.discretes)
    every = [*compiled.layout.unknowns, *compiled.layout.discretes]
    place = {s: k for k, s in enumerate(every)}
    new = np.array([values[s] for s in every])
    for action, value in zip(assignments, evaluate([a.value for a in assignments], values), strict=True):
        new[place[action.target]] = value
    n_s = len(problem.sensitivity_parameters)
    shown = np.r_[0 : compiled.n_own, n : n + nd]
    found: list[FloatArray] = []
    row = new
    for probe in _PROBES if slopes is not None and np.isnan(slopes).any() else _PROBES[:1]:
        moves = np.zeros((n_s, n + nd))
        if slopes is not None:
            moves[:, :n], moves[:, n:] = integrator.sensitivities, integrator.discrete_sensitivities
            moves[:, shown] = np.where(np.isnan(slopes[:, : len(shown)]), probe, slopes[:, : len(shown)])
            moves = moves_of(problem, assignments, values, moves)
        stop, record = integrator.conclude(new[:n], new[n:], moves[:, :n], moves[:, n:])
        if stop is not Stop.LIMIT:
            raise failure(stop, problem, integrator, np.zeros((0, 5)), at_start=False)
        width = n + nd + len(compiled.outputs)
        kept = np.r_[0 : compiled.n_own, n:width]
        row = record[2 : 2 + width][kept]
        found.append(record[2 + width :].reshape(n_s, width)[:, kept])
    if slopes is None:
        return row, None
    return row, np.where(found[0] == found[-1], found[0], np.nan)


def _values(compiled: CompiledModel, problem: Problem, integrator: Integrator) -> dict[Expr, float]:
    layout = compiled.layout
    values = {symbol(Role.TIME, "time"): integrator.time}
    values |= dict(zip(layout.unknowns, integrator.y.tolist(), strict=True))
    values |= dict(zip(layout.parameters, problem.p.tolist(), strict=True))
    return values | dict(zip(layout.m_symbols(), integrator.m.tolist(), strict=True))
