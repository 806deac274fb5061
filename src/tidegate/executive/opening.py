"""What a model says at its start: messages and the end of the run in the bodies of ``initially`` (when initial() in Modelica), as one first event.

New values are taken over with the start values, before consistent ones are computed; what is said under a condition is asked at these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel, Said
from tidegate.executive.initial import consistent
from tidegate.integrators.interface import Integrator, Problem, Stop
from tidegate.results import Event

__all__ = ["open_run", "opening_event"]


def opening_event(model: CompiledModel, said: Said, t: float, first: NDArray[np.float64]) -> Event:
    """The first event of the log; ``first`` is the first recorded row."""
    values = dict(zip(model.layout.lasting_names, first[model.layout.lasting].tolist(), strict=True))
    origins = model.initial.origins
    return Event(index=0, time=t, kind="initial", causes=("start of the run",), origins=origins, before=values, after=values, messages=said.messages)


def open_run(problem: Problem, integrator: Integrator) -> Said | None:
    """What the initial bodies say, conditions asked at the consistent start; None if they say nothing.

    Parameters
    ----------
    integrator : of the run, not started yet.
    """
    actions = problem.model.initial
    if not actions.says:
        return None
    if not actions.asks:
        return actions.said(None)
    stop, begun = consistent(problem, integrator)
    if stop is not Stop.LIMIT:
        return None  # the start of the run will say why
    said = actions.said(begun)
    return said if said.messages or said.terminates else None
