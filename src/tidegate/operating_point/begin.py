"""Where a search begins (stage: operating_point). In: a simulation at its start, values by name; out: it with these values, guesses of others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.errors import UsageError
from tidegate.executive import numbers_for
from tidegate.names import unknown_name
from tidegate.operating_point.steady_point import SteadyState
from tidegate.results.labels import FinalValues
from tidegate.simulation import NamedValues, Simulation

__all__ = ["begin", "refuse_what_is_not_covered"]


def refuse_what_is_not_covered(compiled: CompiledModel) -> None:
    """UsageError for what has no steady state and no linear model here."""
    if compiled.past is not None:
        raise UsageError(
            f"{compiled.name} has delays, and neither steady states nor linear models of it are computed", hint="a long run comes to rest"
        )
    if compiled.index_two is not None or compiled.layout.n_forms:
        raise UsageError(
            f"{compiled.name} keeps its constraints (tg.hdae), and neither a steady state nor a linear model of it is computed",
            hint="write it as tg.dae or as a component, whose index is reduced",
        )


def begin(simulation: Simulation, y0: Mapping[str, ArrayLike] | None) -> list[tuple[int, float]]:
    """Put the caller's values where the simulation begins; guesses of what the equations determine come back, by index in y."""
    if y0 is None:
        return []
    if not isinstance(y0, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise UsageError(f"y0 must be a dict by name, not {y0!r}", hint='y0={"level": 1.0}')
    quantities = NamedValues(simulation.compiled)
    is_whole = isinstance(y0, SteadyState | FinalValues)  # which hold what follows, too
    settable: dict[str, ArrayLike] = {}
    guesses: list[tuple[int, float]] = []
    for name, value in y0.items():
        if name not in simulation.compiled.located:
            known = [*quantities.names("state"), *quantities.names("algebraic"), *quantities.names("discrete")]
            raise unknown_name("variable", name, known, of=f"model {simulation.compiled.name}")
        located = quantities.located(name)
        role = located.quantity.role
        if role == "parameter":
            raise UsageError(f"{name} is a parameter", hint=f"parameters={{{name!r}: ...}}")
        if located.quantity.vector == "y" and not quantities.is_free(name):
            numbers = numbers_for(f"the guess of {name}", value, located.shape)
            signs = np.ones(len(numbers)) if located.signs is None else located.signs
            guesses += zip(located.indices.tolist(), (numbers * signs).tolist(), strict=True)
        elif quantities.is_free(name):
            settable[name] = value
        elif not is_whole:
            raise UsageError(f"{name} follows from other variables, and is no unknown to begin with", hint="give values of states")
    simulation.set(settable)
    return guesses
