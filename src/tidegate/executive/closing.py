"""What a model does once at the end of its run: the actions of ``finally_`` (when terminal() in Modelica), as one last event.

Algebraic unknowns and outputs follow from the new values as they do at every event; no clause happens any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.executive.failures import failure
from tidegate.executive.recorder import Recording
from tidegate.integrators.interface import Integrator, Problem, Stop
from tidegate.results import Event

__all__ = ["Last", "close"]

_PROBES: Final = (0.0, 1.0)  # in place of derivatives that do not exist: what depends on which is chosen does not exist either

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Last:
    """The last row: values, and (parameters, columns) sensitivities or None."""

    values: FloatArray
    sensitivities: FloatArray | None


def close(problem: Problem, integrator: Integrator, recording: Recording, last: Last | None = None) -> None:
    """Carry out the final actions, if the model has any, and add what follows from them to a recording.

    Parameters
    ----------
    last : where they begin, if that is not the last row of the recording; where there is no row either, nothing is done.

    Raises
    ------
    RunError : no values of the algebraic unknowns fit the new values.
    """
    model = problem.model
    if not model.final.assigns and not model.final.says:
        return
    if last is None:
        if not len(recording.t):
            return
        last = Last(recording.values[-1], None if recording.sensitivities is None else recording.sensitivities[-1])
    said = model.final.said(integrator)
    new = _last_row(problem, integrator, last.sensitivities) if model.final.assigns else last
    names, places = model.layout.lasting_names, model.layout.lasting
    event = Event(
        index=recording.n_events,
        time=integrator.time,
        kind="final",
        causes=("end of the run",),
        origins=model.final.origins,
        before=dict(zip(names, last.values[places].tolist(), strict=True)),
        after=dict(zip(names, new.values[places].tolist(), strict=True)),
        messages=said.messages,
    )
    recording.add_final(event, new.values, new.sensitivities)


def _last_row(problem: Problem, integrator: Integrator, slopes: FloatArray | None) -> Last:
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
    return Last(row, None if slopes is None else np.where(found[0] == found[-1], found[0], np.nan))
