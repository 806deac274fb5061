"""What a model does once at the end of its run: the actions of ``finally_`` (when terminal() in Modelica), as one last event.

Algebraic unknowns and outputs follow from the new values as they do at every event; no clause happens any more.
Clauses that had no chance to happen are named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.compiled.workspace import FIRST_REMARK
from tidegate.executive.failures import failure
from tidegate.integrators.interface import Integrator, Problem, Stop
from tidegate.names import listed
from tidegate.results import Event

__all__ = ["Closing", "close", "idle_clauses"]

_SHOWN: Final = 3
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
    model = problem.model
    if not model.final.assigns and not model.final.says:
        return None
    said = model.final.said(integrator)
    row, sensitivities = last, last_sensitivities
    if model.final.assigns:
        row, sensitivities = _last_row(problem, integrator, last_sensitivities)
    names, places = model.layout.lasting_names, model.layout.lasting
    event = Event(
        index=index,
        time=integrator.time,
        kind="final",
        causes=("end of the run",),
        origins=model.final.origins,
        before=dict(zip(names, last[places].tolist(), strict=True)),
        after=dict(zip(names, row[places].tolist(), strict=True)),
        messages=said.messages,
    )
    return Closing(event, row, sensitivities)


def _last_row(problem: Problem, integrator: Integrator, slopes: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """The row, and its derivatives if those of the row before are given."""
    model, layout = problem.model, problem.model.layout
    n = len(layout.unknowns)
    new = model.final.assigned(integrator)
    n_s = len(problem.sensitivity_parameters)
    found: list[FloatArray] = []
    row = new
    for probe in _PROBES if slopes is not None and np.isnan(slopes).any() else _PROBES[:1]:
        moves = np.zeros((n_s, len(new)))
        if slopes is not None:
            moves[:, :n], moves[:, n:] = integrator.sensitivities, integrator.discrete_sensitivities
            layout.put(np.where(np.isnan(slopes), probe, slopes), moves)
            moves = model.final.moves(integrator, moves, problem.sensitivity_parameters.tolist())
        stop, record = integrator.conclude(new[:n], new[n:], moves[:, :n], moves[:, n:])
        if stop is not Stop.LIMIT:
            raise failure(stop, problem, integrator, None, at_start=False)
        row = layout.taken(record["values"])
        found.append(layout.taken(record["sensitivities"]))
    if slopes is None:
        return row, None
    return row, np.where(found[0] == found[-1], found[0], np.nan)


def idle_clauses(compiled: CompiledModel, held: FloatArray) -> str:
    """A sentence that names the clauses whose condition was true from the start to the end, so that it never became true; empty if there are none."""
    fires = [fire for fire in compiled.fires if 0 <= fire.chain < FIRST_REMARK]
    names = [fire.label or "a clause" for fire in fires if any(held[c] for c in fire.conditions)]
    if not names:
        return ""
    shown = listed(names, _SHOWN)
    return f"{shown} never happened: the condition was true from the start to the end, and a clause happens when its condition becomes true"
