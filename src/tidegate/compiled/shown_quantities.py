"""What of a model has a name and a value, and what of it results show (stage: compiled). In: a neutral model; out: plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Literal

import numpy as np

from tidegate.compiled.layout import Layout, Shown
from tidegate.compiled.quantities import Quantity
from tidegate.expressions import ONE, ZERO, Expr, Role
from tidegate.model import Model, Variable, VariableRole
from tidegate.model.validate import value_problem
from tidegate.results import Column

__all__ = ["computed_unknowns", "quantities_of", "shown_of"]

_DEFINED: Final = (VariableRole.OUTPUT, VariableRole.INDICATOR, VariableRole.AUXILIARY)
_SOURCES: Final[dict[str, Literal["unknown", "discrete", "output", "number"]]] = {
    "y": "unknown", "m": "discrete", "outputs": "output", "numbers": "number",
}  # fmt: skip


def computed_unknowns(model: Model, replaced: Mapping[Expr, Expr]) -> dict[str, Expr]:
    """Unknowns of the model that are neither solved for nor the same as one that is, nor a number, and what they are.

    An array has all of its elements among them, or none.
    """
    found: dict[str, Expr] = {}
    for variable in model.unknowns:
        items = variable.symbols()
        values = [replaced.get(item, item) for item in items]
        are_numbers = all(value.is_constant for value in values)
        if not are_numbers and any(_same(value) is None for value in values):
            found |= {item.data.name: value for item, value in zip(items, values, strict=True)}
    return found


def _same(value: Expr) -> tuple[Expr, float] | None:
    """The symbol that a value is, and the sign; None for anything else."""
    sign = -1.0 if value.op == "neg" else 1.0
    stays = value.args[0] if value.op == "neg" else value
    return (stays, sign) if stays.op == "symbol" and stays.data.role is Role.UNKNOWN else None


def quantities_of(model: Model, layout: Layout, replaced: Mapping[Expr, Expr], computed: Mapping[str, Expr]) -> tuple[Quantity, ...]:
    """Every variable with the indices of its elements; of outputs every element by itself.

    Parameters
    ----------
    model : as the user wrote it.
    layout : of what is solved.
    replaced : unknowns of the model that are not solved for, and what they are.
    computed : those that follow the model's outputs.
    """
    found: list[Quantity] = []
    first_computed = {name: len(model.definitions) + k for k, name in enumerate(computed)}
    index_of = {name: k for k, name in enumerate(layout.unknowns)}
    truths = {item for variable in (*model.discretes, *model.parameters) if variable.kind == "boolean" for item in variable.symbols()}
    for unknown in model.unknowns:
        values = [replaced.get(item, item) for item in unknown.symbols()]
        variable = replace(unknown, kind="boolean") if truths and all(_is_truth(value, truths) for value in values) else unknown
        if variable.names[0] in first_computed:
            found.append(_quantity(variable, variable.name, variable.names, "outputs", [first_computed[name] for name in variable.names]))
        elif values[0].is_constant:
            places, numbers = range(len(values)), np.array([value.value for value in values])
            found.append(replace(_quantity(variable, variable.name, variable.names, "numbers", places), numbers=numbers))
        else:
            same = [pair for pair in map(_same, values) if pair is not None]
            signs = np.array([sign for _, sign in same])
            places = [index_of[stays.data.name] for stays, _ in same]
            found.append(replace(_quantity(variable, variable.name, variable.names, "y", places), signs=signs if np.any(signs < 0.0) else None))
    for variables, vector, names, first in (
        (model.discretes, "m", layout.discretes, layout.first_discrete),
        (model.by_role(VariableRole.INPUT), "m", layout.inputs, layout.first_input),
        (model.parameters, "p", layout.parameters, 0),
    ):
        index_of = {name: first + k for k, name in enumerate(names)}
        found += [_quantity(v, v.name, v.names, vector, [index_of[name] for name in v.names]) for v in variables]
    owner = {name: variable for variable in model.by_role(*_DEFINED) for name in variable.names}
    for k, definition in enumerate(model.definitions):
        own = owner[definition.name]
        variable = replace(own, kind="boolean") if _is_truth(definition.value, truths) else own
        found.append(_quantity(variable, definition.name, [definition.name], "outputs", [k], is_alone=True))
    return tuple(found)


def _is_truth(value: Expr, truths: set[Expr]) -> bool:
    """Whether it is one of these symbols, or a choice like ``on and x > 0``, whose value is one of them, 0 or 1."""
    arms = [value]
    found: set[Expr] = set()
    while arms:
        arm = arms.pop()
        if arm.op == "select":
            arms += arm.args[1:]
        else:
            found.add(arm)
    return not truths.isdisjoint(found) and found - truths <= {ZERO, ONE}


def _quantity(variable: Variable, name: str, names: Sequence[str], vector: str, indices: Sequence[int], *, is_alone: bool = False) -> Quantity:
    return Quantity(
        name=name,
        names=tuple(names),
        role=variable.role.value,
        vector=vector,
        indices=np.array(indices, dtype=np.intp),
        shape=() if is_alone else variable.shape,
        unit=variable.unit,
        description=variable.description,
        kind=variable.kind,
        origin=variable.origin,
        nominal=variable.nominal,
        problem=partial(value_problem, variable),
        display_unit=variable.display_unit,
        measures=variable.quantity,
        present_while=variable.present_while,
        is_hidden=variable.is_hidden,
        texts=variable.texts,
        held_by=variable.held_by,
    )


def shown_of(quantities: Sequence[Quantity], layout: Layout) -> Iterator[Shown]:
    """What a result has a column of: the model's own unknowns, its discrete variables, its outputs."""
    for quantity in quantities:
        if quantity.vector == "p" or quantity.role == "input":
            continue
        role = "unknown" if quantity.role in ("state", "algebraic") else "discrete" if quantity.vector == "m" else "output"
        source = _SOURCES[quantity.vector]
        first = layout.first_discrete if source == "discrete" else 0
        signs = np.ones(len(quantity.names)) if quantity.signs is None else quantity.signs
        numbers = np.zeros(len(quantity.names)) if quantity.numbers is None else quantity.numbers
        elements = zip(quantity.names, quantity.indices.tolist(), signs.tolist(), numbers.tolist(), strict=True)
        for name, index, sign, number in elements:
            told = quantity.unit, quantity.description, quantity.display_unit, quantity.measures
            column = Column(name, role, *told, quantity.present_while, quantity.is_hidden, quantity.meanings)
            yield Shown(column, index - first, sign, source, number)
