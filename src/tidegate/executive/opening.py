"""What a model says at its start: messages and the end of the run in the bodies of ``initially`` (when initial() in Modelica), as one first event.

New values are taken over with the start values, before consistent ones are computed; here is only what goes beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.executive.start_values import declared_starts
from tidegate.expressions import Role, as_real, symbol
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.substitute import substitute
from tidegate.integrators.interface import Problem
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


def open_run(problem: Problem) -> Opening | None:
    """What the initial bodies say, conditions asked on the declared start values; None if they say nothing."""
    compiled = problem.model
    said = [action for action in compiled.model.initial_actions if isinstance(action, Message | Terminate)]
    if not said:
        return None
    starts = declared_starts(compiled)
    starts |= {symbol(Role.PREVIOUS, s.data.name): starts[s] for s in compiled.layout.discretes}
    values = dict(zip(compiled.layout.parameters, problem.p.tolist(), strict=True)) | {symbol(Role.TIME, "time"): problem.t_start}
    asked = evaluate(substitute([as_real(action.condition) for action in said], starts), values)
    held = [action for action, holds in zip(said, asked, strict=True) if holds]
    if not held:
        return None
    texts = [action.text if isinstance(action, Message) else action.message for action in held]
    return Opening(tuple(item for item in texts if item), any(isinstance(action, Terminate) for action in held))
