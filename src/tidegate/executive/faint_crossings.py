"""What is said of relations that change by motion within the tolerances (stage: executive). In: a run at its end. Out: a sentence for each."""

from __future__ import annotations

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.integrators.interface import StepIntegrator

__all__ = ["faint_crossings"]


def faint_crossings(model: CompiledModel, integrator: StepIntegrator) -> list[str]:
    """How often a relation has changed since when, where nobody can say whether the equations have it so."""
    found = {model.words.relation(guard): (count, since) for guard, count, since in integrator.faint_crossings}
    return [_sentence(relation, *what) for relation, what in found.items()]


def _sentence(relation: str, count: int, since: float) -> str:
    told = f"`{relation}` has {count} events from t = {since:.9g} on that come of motion within the tolerances, which do not tell whether they happen"
    return f"{told}, nor when; smaller ones do (rtol, atol), or let the condition begin farther from its zero"
