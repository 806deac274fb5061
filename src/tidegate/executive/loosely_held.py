"""What is said of unknowns that are so small that a run holds them to less than its tolerance (stage: executive). In: a run at its end."""

from __future__ import annotations

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.integrators.interface import StepIntegrator
from tidegate.names import listed

__all__ = ["loosely_held"]


def loosely_held(model: CompiledModel, integrator: StepIntegrator) -> list[str]:
    """The sentence about them, which is the same for other values of parameters; none where all are held."""
    names = [model.layout.unknowns[k] for k in integrator.loosely_held]
    if not names:
        return []
    are, it, its = ("is", "it", "its") if len(names) == 1 else ("are", "them", "their")
    told = f"{listed(names)} {are} so small that what is computed of {it} is held to less than rtol, since so little may be rounding"
    return [f"{told}; say {its} tolerance, as in atol={{{names[0]!r}: 1e-20}}, give {its} nominal size, or take a smaller unit"]
