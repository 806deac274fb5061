"""What others call the parts of a result (stage: results). In: a name that a result does not have; out: what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tidegate.results.columns import Column

__all__ = ["no_attribute"]

_INSTEAD: Final = {
    "y": 'result["x"] is a variable by its name, result.final all last values; solve_ivp gives results in SciPy\'s words',
    "sol": "result.at(0.5) is the dense solution at a time",
    "values": 'result["x"].values are those of a variable',
    "data": 'result["x"] is a variable by its name',
    "columns": "result.names are the variables",
    "variables": "result.names are the variables",
    "t_events": "result.events.times are the times of events",
    "y_events": "result.events[0].before and .after are the values around an event",
}


def no_attribute(result: object, name: str, columns: Iterable[Column]) -> AttributeError:
    """What is said of a name that is no attribute, which may be a variable's."""
    if any(column.name == name for column in columns):
        said = f'a result has no attribute {name!r}; the variable is result["{name}"]'
    else:
        said = f"{type(result).__name__!r} object has no attribute {name!r}" + (f"; {_INSTEAD[name]}" if name in _INSTEAD else "")
    return AttributeError(said, name=name, obj=result)
