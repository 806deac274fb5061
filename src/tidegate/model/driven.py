"""Inputs that a run gives as signals (stage: model). In: a neutral model, and functions of time, numbers or samples by name. Out: one without them.

In place of the symbol of an input stands the signal as an expression of time, so that its corners are found and events see it as anything else that
depends on time. A parameter becomes a signal likewise, unless start values or times of events need it as a number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role, as_real, dependencies, substitute, symbol, table
from tidegate.expressions.tracing import at_start, function_origin, numeric, require_agreement, trace
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.model.equations import Definition
from tidegate.model.model import Model
from tidegate.model.rewriting import rewritten
from tidegate.model.samples import samples, told
from tidegate.model.variables import Variable, VariableRole
from tidegate.names import listed, suggestion

__all__ = ["driven"]

_TIME: Final = symbol(Role.TIME, "time")
_HOW: Final = "a function of time, a number, a tg.table, samples: (times, values), a pandas Series over times, or a column of a result"


def driven(model: Model, inputs: Mapping[str, Any]) -> Model:
    """The model with signals for some of its inputs and parameters; they are recorded as outputs.

    Raises
    ------
    UsageError : there is no such input, or what is given for it cannot be one.
    """
    known = {variable.name: variable for variable in model.by_role(VariableRole.INPUT, VariableRole.PARAMETER)}
    own = [variable.name for variable in model.by_role(VariableRole.INPUT)]
    mapping: dict[Expr, Expr] = {}
    definitions: list[Definition] = []
    outputs: dict[str, Variable] = {}
    origins: dict[Expr, Origin] = {}
    for name, given in inputs.items():
        variable = known.get(name)
        if variable is None:
            said = f"its inputs are {listed(own)}" if own else f"it has no inputs; its parameters are {listed(known) or '(none)'}"
            raise UsageError(f"the model has no input {name!r}", hint=suggestion(name, known, said))
        if variable.role is VariableRole.PARAMETER:
            _refuse_needed_as_number(model, variable)
        values, place = _signal(variable, given, origins)
        mapping |= dict(zip(variable.symbols(), values, strict=True))
        definitions += [Definition(item, value, place) for item, value in zip(variable.names, values, strict=True)]
        outputs[name] = replace(variable, role=VariableRole.OUTPUT, start=(), fixed=None, minimum=None, maximum=None, kind="real", texts=())
    new = rewritten(model, mapping)
    keys = substitute(list(model.condition_origins), mapping)
    return replace(
        new,
        variables=tuple(outputs.get(variable.name, variable) for variable in new.variables),
        definitions=(*new.definitions, *definitions),
        condition_origins={**origins, **dict(zip(keys, model.condition_origins.values(), strict=True))},
    )


def _refuse_needed_as_number(model: Model, variable: Variable) -> None:
    own = set(variable.symbols())
    starts = [(f"the start value of {item.name}", item.start) for item in model.variables if item is not variable]
    times = [
        (f"the time of {event.label or 'an event'}", tuple(x for x in (event.first, event.period) if x is not None)) for event in model.time_events
    ]
    for what, expressions in (*starts, *times):
        if own & dependencies(*expressions):
            raise UsageError(f"parameter {variable.name} cannot be a signal: {what} needs it as a number", hint="give it in parameters={...}")


def _signal(variable: Variable, given: Any, origins: dict[Expr, Origin]) -> tuple[list[Expr], Origin]:
    """A value for each element as an expression of time, and where it was written."""
    what = f"input {variable.name}"
    if is_function(given):
        value, origin = _followed(given, what, origins), _origin_of(given)
    else:
        value, origin = _read(given, what), Origin()
    try:
        values = [as_real(item) for item in np.asarray(value, dtype=object).ravel().tolist()]
    except TypeError:
        raise UsageError(f"{what} is {value!r}", origin=origin, hint=_HOW) from None
    if len(values) not in (1, variable.size):
        expected = f"an array of shape {variable.shape}" if variable.shape else "a number"
        raise UsageError(f"{what} needs {expected} at each time, and is given {len(values)} values", origin=origin)
    return values * (variable.size // len(values)), origin


def _origin_of(function: Callable[..., Any]) -> Origin:
    return function_origin(function) if hasattr(function, "__code__") else Origin()


def _followed(function: Callable[..., Any], what: str, origins: dict[Expr, Origin]) -> Any:
    if not _takes_one(function):
        raise UsageError(f"{what} is a function that cannot be called with the time alone", origin=_origin_of(function), hint="lambda t: 2.0 * t")
    found = trace(function, (_TIME,))
    start = at_start((_TIME,), {_TIME: 0.0})
    require_agreement(what, _origin_of(function), found.value, lambda point: function(*numeric((_TIME,), point)), start)
    origins |= found.condition_origins
    return found.value


def _takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function can be called with one argument; True where it does not say."""
    try:
        inspect.signature(function).bind(0.0)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _read(given: Any, what: str) -> Any:
    """A number, or lines between samples."""
    if isinstance(given, Expr | int | float | np.number):
        return as_real(given)
    found = samples(given, what)
    if found is None:
        raise UsageError(f"{what} is {told(given)}", hint=_HOW)
    return _lines(*found, what)


def _lines(times: NDArray[np.float64], values: NDArray[np.float64], what: str) -> list[Any]:
    columns: Iterable[NDArray[np.float64]] = values.reshape(len(times), -1).T
    return [table(times, column, name=what)(_TIME) for column in columns]
