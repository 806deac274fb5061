"""Start values that a run chooses or is differentiated by (stage: model). In: a neutral model and names. Out: the same with a parameter for each.

The start value of ``x`` becomes the parameter ``x(0)``, whose own value is what the model says; so it is set, swept, fitted and differentiated by as
any other. What follows from it at the start follows as before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from tidegate.errors import UsageError
from tidegate.expressions import Role, symbol
from tidegate.model.events import Assignment
from tidegate.model.model import Model
from tidegate.model.variables import Variable, VariableRole
from tidegate.names import listed, suggestion

__all__ = ["SUFFIX", "started_variables", "with_start_parameters"]

SUFFIX: Final = "(0)"
_STARTED: Final = (VariableRole.STATE, VariableRole.ALGEBRAIC, VariableRole.DISCRETE)


def started_variables(model: Model) -> dict[str, Variable]:
    """Variables that have a start value, by name."""
    return {variable.name: variable for variable in model.by_role(*_STARTED) if not variable.is_hidden}


def with_start_parameters(model: Model, names: Iterable[str]) -> Model:
    """The model with parameters for the start values of these variables.

    Raises
    ------
    UsageError : there is no such variable, or what the model does at its start gives it its value.
    """
    known = started_variables(model)
    there = {variable.name for variable in model.parameters}
    wanted = [name for name in dict.fromkeys(names) if f"{name}{SUFFIX}" not in there]
    for name in wanted:
        if name not in known:
            raise UsageError(f"the model has no start value of {name!r}", hint=suggestion(name, known, f"variables with one are {listed(known)}"))
    chosen = {name: known[name] for name in wanted}
    _refuse_assigned(model, chosen.values())
    parameters = [_parameter(variable) for variable in chosen.values()]
    given = {
        variable.name: replace(variable, start=tuple(symbol(Role.PARAMETER, item) for item in parameter.names), start_source="given")
        for variable, parameter in zip(chosen.values(), parameters, strict=True)
    }
    for variable in chosen.values():
        for name, start in zip(variable.held_by, given[variable.name].start, strict=False):
            given[name] = replace(next(item for item in model.discretes if item.name == name), start=(start,), start_source="given")
    return replace(model, variables=(*(given.get(variable.name, variable) for variable in model.variables), *parameters))


def _parameter(variable: Variable) -> Variable:
    return Variable(
        f"{variable.name}{SUFFIX}",
        VariableRole.PARAMETER,
        variable.shape,
        unit=variable.unit,
        description=f"start value of {variable.name}",
        start=variable.starts(),
        nominal=variable.nominal,
        kind=variable.kind,
        origin=variable.origin,
        display_unit=variable.display_unit,
        quantity=variable.quantity,
        texts=variable.texts,
    )


def _refuse_assigned(model: Model, variables: Collection[Variable]) -> None:
    targets = {action.target.data.name: action for action in model.initial_actions if isinstance(action, Assignment)}
    for variable in variables:
        action = next((targets[name] for name in variable.names if name in targets), None)
        if action is not None:
            raise UsageError(
                f"the model itself gives {variable.name} its value at the start of a run, so another would have no effect",
                origin=action.origin,
                hint="change what is assigned there, or the parameters that it is made of",
            )
