"""What of a model has a name and a value, and what of it results show (stage: compiled). In: a neutral model; out: plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tidegate.compiled.interface import Quantity
from tidegate.compiled.layout import Layout, Shown
from tidegate.model import Model, Variable, VariableRole
from tidegate.model.validate import value_problem
from tidegate.results import Column

__all__ = ["quantities_of", "shown_of"]

_DEFINED = (VariableRole.OUTPUT, VariableRole.INDICATOR, VariableRole.AUXILIARY)


def quantities_of(model: Model, layout: Layout) -> tuple[Quantity, ...]:
    """Every variable with the places of its elements; of outputs every element by itself."""
    found: list[Quantity] = []
    for variables, vector, names, first in (
        (model.unknowns, "y", layout.unknowns, 0),
        (model.discretes, "m", layout.discretes, layout.first_discrete),
        (model.by_role(VariableRole.INPUT), "m", layout.inputs, layout.first_input),
        (model.parameters, "p", layout.parameters, 0),
    ):
        place = {name: first + k for k, name in enumerate(names)}
        found += [_quantity(v, v.name, v.names, vector, [place[name] for name in v.names], v.shape) for v in variables]
    owner = {name: variable for variable in model.by_role(*_DEFINED) for name in variable.names}
    outputs = enumerate(definition.name for definition in model.definitions)
    return (*found, *(_quantity(owner[name], name, [name], "outputs", [k], ()) for k, name in outputs))


def _quantity(variable: Variable, name: str, names: Sequence[str], vector: str, places: list[int], shape: tuple[int, ...]) -> Quantity:
    return Quantity(
        name=name,
        names=tuple(names),
        role=variable.role.value,
        vector=vector,
        places=np.array(places, dtype=np.intp),
        shape=shape,
        unit=variable.unit,
        description=variable.description,
        kind=variable.kind,
        origin=variable.origin,
        nominal=variable.nominal,
        problem=partial(value_problem, variable),
    )


def shown_of(quantities: Sequence[Quantity], layout: Layout) -> Iterator[Shown]:
    """What a result has a column of: the model's own unknowns, its discrete variables, its outputs."""
    for quantity in quantities:
        if quantity.vector == "p" or quantity.role == "input":
            continue
        role = "unknown" if quantity.vector == "y" else "discrete" if quantity.vector == "m" else "output"
        first = layout.first_discrete if role == "discrete" else 0
        for name, place in zip(quantity.names, quantity.places.tolist(), strict=True):
            yield Shown(Column(name, role, quantity.unit, quantity.description), place - first)
