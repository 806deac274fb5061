"""A start in a mode that forces states (stage: executive). In: a run that would move one at its start. Out: the run begun, if that was a guess.

A coil behind an open ideal switch starts without current, whatever its start value; one that was given, or is said to be fixed, must hold, and the
run is refused. So it is where the structure of the equations determines a state (Modelica's specification 3.6, section 8.6); here a mode does.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Final

from tidegate.compiled.compiled_model import Said
from tidegate.errors import SingularSystemError, StartValueWarning
from tidegate.events.not_tied import FORCES
from tidegate.executive.drive import begin
from tidegate.executive.initial_actions import open_run
from tidegate.integrators.interface import Problem, Records, StepIntegrator

__all__ = ["begin_from_guesses"]

_PACKAGE: Final = str(Path(__file__).parents[1])


def begin_from_guesses(problem: Problem, integrator: StepIntegrator, records: Records) -> Said | None:
    """Begin a run; what the initial bodies say.

    Parameters
    ----------
    integrator : of the run, not started yet; told where a model with a memory of its own begins.

    Raises
    ------
    RunError : there is no consistent start that has the values that must hold.
    """
    words = open_run(problem, integrator)
    try:
        begin(integrator, problem, records)
    except SingularSystemError as error:
        return _begin_elsewhere(problem, integrator, records, error)
    return words


def _begin_elsewhere(problem: Problem, integrator: StepIntegrator, records: Records, error: SingularSystemError) -> Said | None:
    """The same, with other values of what was guessed, where the run has just refused to begin."""
    guesses, y = problem.model.start.guesses, problem.y.copy()
    moved: set[int] = set()
    while True:
        why, unknown, value = integrator.not_tied
        if why != FORCES or unknown not in guesses or unknown in moved or problem.model.constraint_parts:
            raise error
        moved.add(unknown)
        y[unknown] = value
        integrator.reset()
        integrator.y[:] = y
        now = replace(problem, y=y)
        words = open_run(now, integrator)
        try:
            begin(integrator, now, records)
        except SingularSystemError as another:
            error = another
        else:
            _warn(problem, now, [k for k in moved if guesses[k]])
            return words


def _warn(problem: Problem, now: Problem, written: list[int]) -> None:
    names = problem.model.layout.unknowns
    told = "; ".join(f"the start value {problem.y[k]:g} of {names[k]} is not used: it starts at {now.y[k]:.6g}" for k in written)
    if told:
        reason = "since the mode at the start forces it; say which must hold (fixed=True) or is a guess (fixed=False)"
        warnings.warn(f"{told}, {reason}", StartValueWarning, skip_file_prefixes=(_PACKAGE,))
