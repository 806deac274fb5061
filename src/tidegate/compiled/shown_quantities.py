"""What of a model has a name and a value, and what of it results show (stage: compiled). In: a neutral model; out: plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from tidegate.compiled.compiled_model import Quantity
from tidegate.compiled.layout import Layout, Shown
from tidegate.expressions import Expr, Role, symbol
from tidegate.model import Model, Variable, VariableRole
from tidegate.model.validate import value_problem
from tidegate.results import Column

__all__ = ["quantities_of", "shown_of"]

_DEFINED = (VariableRole.OUTPUT, VariableRole.INDICATOR, VariableRole.AUXILIARY)


def quantities_of(model: Model, layout: Layout, replaced: Mapping[Expr, Expr]) -> tuple[Quantity, ...]:
    """Every variable with the indices of its elements; of outputs every element by itself.

    Parameters
    ----------
    model : as the user wrote it.
    layout : of what is solved.
    replaced : unknowns of the model that are not solved for, with those that they are, or their negatives.
    """
    found: list[Quantity] = []
    for variables, vector, names, first in (
        (model.unknowns, "y", layout.unknowns, 0),
        (model.discretes, "m", layout.discretes, layout.first_discrete),
        (model.by_role(VariableRole.INPUT), "m", layout.inputs, layout.first_input),
        (model.parameters, "p", layout.parameters, 0),
    ):
        index_of = {name: (first + k, 1.0) for k, name in enumerate(names)}
        if vector == "y":
            index_of |= {name: _alias(replaced[item], index_of) for name in _names_of(variables) if (item := symbol(Role.UNKNOWN, name)) in replaced}
        found += [_quantity(v, v.name, v.names, vector, [index_of[name] for name in v.names], v.shape) for v in variables]
    owner = {name: variable for variable in model.by_role(*_DEFINED) for name in variable.names}
    outputs = enumerate(definition.name for definition in model.definitions)
    return (*found, *(_quantity(owner[name], name, [name], "outputs", [(k, 1.0)], ()) for k, name in outputs))


def _names_of(variables: Iterable[Variable]) -> Iterator[str]:
    return (name for variable in variables for name in variable.names)


def _alias(item: Expr, index_of: Mapping[str, tuple[int, float]]) -> tuple[int, float]:
    """Where the unknown is that another one is, and the sign."""
    sign = -1.0 if item.op == "neg" else 1.0
    stays = item.args[0] if item.op == "neg" else item
    return index_of[stays.data.name][0], sign


def _quantity(
    variable: Variable, name: str, names: Sequence[str], vector: str, indices: list[tuple[int, float]], shape: tuple[int, ...]
) -> Quantity:
    signs = np.array([sign for _, sign in indices])
    return Quantity(
        name=name,
        names=tuple(names),
        role=variable.role.value,
        vector=vector,
        indices=np.array([index for index, _ in indices], dtype=np.intp),
        shape=shape,
        unit=variable.unit,
        description=variable.description,
        kind=variable.kind,
        origin=variable.origin,
        nominal=variable.nominal,
        problem=partial(value_problem, variable),
        signs=signs if np.any(signs < 0.0) else None,
    )


def shown_of(quantities: Sequence[Quantity], layout: Layout) -> Iterator[Shown]:
    """What a result has a column of: the model's own unknowns, its discrete variables, its outputs."""
    for quantity in quantities:
        if quantity.vector == "p" or quantity.role == "input":
            continue
        role = "unknown" if quantity.vector == "y" else "discrete" if quantity.vector == "m" else "output"
        first = layout.first_discrete if role == "discrete" else 0
        signs = np.ones(len(quantity.names)) if quantity.signs is None else quantity.signs
        for name, index, sign in zip(quantity.names, quantity.indices.tolist(), signs.tolist(), strict=True):
            yield Shown(Column(name, role, quantity.unit, quantity.description), index - first, sign)
