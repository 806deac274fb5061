"""What every competitor returns from one run, and how far it is from the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.problems import Problem, Vector

__all__ = ["Outcome", "Prepare", "Run", "error"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """End of a run.

    Parameters
    ----------
    y : the unknowns at the end, in the problem's order.
    events : how many events were found.
    sensitivities : (n_unknowns, n_parameters), where they were asked for.
    is_as_given : whether the unknowns are those of ``Problem.as_given``.
    """

    y: Vector
    events: int = 0
    sensitivities: Vector | None = None
    is_as_given: bool = False


Run = Callable[[], Outcome]
Prepare = Callable[[Problem, float, bool], Run]  # problem, rtol, with sensitivities


def error(problem: Problem, outcome: Outcome) -> float:
    """Largest error of the unknowns, absolute, or relative where the problem says so; of sensitivities relative to the parameter's largest one."""
    if problem.scored:
        places = list(problem.scored)
        y = outcome.y if problem.back is None or outcome.is_as_given else problem.back @ outcome.y
        return float(np.max(np.abs(y[places] / problem.end[places] - 1.0)))
    if outcome.sensitivities is None:
        return float(np.max(np.abs(outcome.y - problem.end)))
    exact = problem.end_sensitivities
    return float(np.max(np.abs(outcome.sensitivities - exact) / np.max(np.abs(exact), axis=0)))
