"""What a model says at its start: messages and the end of the run in the bodies of ``initially`` (when initial() in Modelica), as one first event.

New values are taken over with the start values, before consistent ones are computed; what is said under a condition is asked at these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.executive.initial import consistent, values_of
from tidegate.expressions import TRUE, as_real
from tidegate.expressions.evaluate import evaluate
from tidegate.integrators.interface import Integrator, Problem, Stop
from tidegate.model import Assignment, Message, Terminate
from tidegate.results import Event

__all__ = ["Opening", "open_run"]


@dataclass(frozen=True, eq=False)
class Opening:
    """What was said: sentences, and whether the run ends at once."""

    messages: tuple[str, ...]
    terminates: bool

    def event(self, compiled: CompiledModel, t: float, first: NDArray[np.float64]) -> Event:
        """The first event of the log; ``first`` is the first recorded row."""
        names = [s.data.name for s in (*compiled.layout.unknowns[: compiled.n_own], *compiled.layout.discretes)]
        values = dict(zip(names, first.tolist(), strict=False))
        origins = tuple(a.origin for a in compiled.model.initial_actions if isinstance(a, Assignment))
        return Event(
            index=0, time=t, kind="initial", causes=("start of the run",), origins=origins, before=values, after=values, messages=self.messages
        )


def open_run(problem: Problem, integrator: Integrator) -> Opening | None:
    """What the initial bodies say, conditions asked at the consistent start; None if they say nothing.

    Parameters
    ----------
    integrator : of the run, not started yet.
    """
    compiled = problem.model
    said = [action for action in compiled.model.initial_actions if isinstance(action, Message | Terminate)]
    if not said:
        return None
    held = said
    if any(action.condition is not TRUE for action in said):
        stop, row = consistent(problem, integrator)
        if stop is not Stop.LIMIT:
            return None  # the start of the run will say why
        asked = evaluate([as_real(action.condition) for action in said], values_of(problem, problem.t_start, row))
        held = [action for action, holds in zip(said, asked, strict=True) if holds]
    if not held:
        return None
    texts = [action.text if isinstance(action, Message) else action.message for action in held]
    return Opening(tuple(item for item in texts if item), any(isinstance(action, Terminate) for action in held))
