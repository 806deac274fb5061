"""What a model does once at the end of its run: the actions of ``finally_`` (when terminal() in Modelica), as one last event.

Algebraic unknowns and outputs follow from the new values as they do at every event; no clause happens any more.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callbacks import OpaqueCalls, value_at
from tidegate.executive.failures import callback_error, failure
from tidegate.executive.recorder import Recording
from tidegate.integrators.interface import Problem, StepIntegrator, Stop
from tidegate.results import Event

__all__ = ["close"]

_PROBES: Final = (0.0, 1.0)  # in place of derivatives that do not exist: what depends on which is chosen does not exist either

FloatArray = NDArray[np.float64]


def close(problem: Problem, integrator: StepIntegrator, recording: Recording, lost: NDArray[np.bool_] | None) -> None:
    """Carry out the final actions, if the model has any, and add what follows from them to a recording.

    Parameters
    ----------
    lost : (parameters, columns), true where a derivative does not exist any more; None if all exist.

    Raises
    ------
    RunError : no values of the algebraic unknowns fit the new values.
    """
    model = problem.model
    if not model.final.assigns and not model.final.says:
        return
    values, slopes = _values(problem, integrator), None
    if recording.kept_sensitivities is not None:
        # the last row may lie before the end, or before what was set
        is_now = len(recording.t) and recording.t[-1] == integrator.time and np.array_equal(recording.kept[-1], values, equal_nan=True)
        slopes = recording.kept_sensitivities[-1] if is_now else _slopes(problem, integrator, lost)
    said = model.final.said(integrator)
    row, new_slopes = _last_row(problem, integrator, slopes) if model.final.assigns else (values, slopes)
    names, indices = model.layout.lasting_names, model.layout.lasting
    event = Event(
        index=recording.n_events,
        time=integrator.time,
        kind="final",
        causes=("end of the run",),
        origins=model.final.origins,
        before=dict(zip(names, values[indices].tolist(), strict=True)),
        after=dict(zip(names, row[indices].tolist(), strict=True)),
        messages=said.messages,
    )
    recording.add_final(event, row, new_slopes)


def _values(problem: Problem, integrator: StepIntegrator) -> FloatArray:
    """What holds now, as a row; conditions stay what they are."""
    model, layout, calls = problem.model, problem.model.layout, OpaqueCalls()
    outputs = value_at(model, "outputs", layout.n_outputs, integrator, calls) if layout.n_outputs else np.zeros(0)
    error = callback_error(calls, integrator.time)
    if error is not None:
        raise error from error.__cause__
    return layout.taken(np.concatenate([integrator.y, integrator.m[layout.first_discrete : layout.first_previous], outputs]))


def _slopes(problem: Problem, integrator: StepIntegrator, lost: NDArray[np.bool_] | None) -> FloatArray:
    """Sensitivities of what holds now; NaN where they do not exist, or are of outputs and not found."""
    layout, states, discretes = problem.model.layout, integrator.sensitivities, integrator.discrete_sensitivities
    outputs = np.full((len(states), layout.n_outputs), np.nan)
    if layout.n_outputs:
        now = integrator.m[layout.first_discrete : layout.first_previous]
        stop, record = integrator.conclude(integrator.y.copy(), now.copy(), states.copy(), discretes.copy())
        if stop is Stop.LIMIT:
            outputs = record["sensitivities"][:, states.shape[1] + discretes.shape[1] :]
    found = layout.taken(np.concatenate([states, discretes, outputs], axis=1), are_slopes=True)
    return found if lost is None else np.where(lost, np.nan, found)


def _last_row(problem: Problem, integrator: StepIntegrator, slopes: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
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
            moves = model.final.moves(integrator, moves, problem.directions)
        stop, record = integrator.conclude(new[:n], new[n:], moves[:, :n], moves[:, n:])
        if stop is not Stop.LIMIT:
            raise failure(stop, problem, integrator, None, at_start=False)
        row = layout.taken(record["values"])
        found.append(layout.taken(record["sensitivities"], are_slopes=True))
    return row, None if slopes is None else np.where(found[0] == found[-1], found[0], np.nan)
