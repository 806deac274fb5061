"""Formulas of outputs as a text for files, and back (stage: expressions). Nothing that stands in such a text is carried out but arithmetic.

The text is JSON: every node of the graph once, arguments before what uses them, then the places of the outputs and of the symbols.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, TypeGuard

import numpy as np

from tidegate.expressions.formulas import Formulas
from tidegate.expressions.node_data import OPAQUE, Role, Spline, Symbol
from tidegate.expressions.nodes import Expr, raw_node, walk

__all__ = ["formulas_in", "formulas_text"]

_OF_NO_FILE: Final = OPAQUE | {"past", "delay", "same"}  # what asks somebody
_PLACES: Final = ("parameters", "inputs", "modes")


def formulas_text(formulas: Formulas) -> str:
    """The text; empty where an output asks a function of the user, or looks back.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> formulas_in(formulas_text(Formulas(("twice",), (2 * x,), (x,), (), (), ()))).values[0] is 2 * x
    True
    """
    order = list(walk([*formulas.values, *formulas.symbols]))
    if any(item.op in _OF_NO_FILE for item in order):
        return ""
    places: dict[Expr, int] = {}
    splines: dict[int, tuple[int, Spline]] = {}
    nodes: list[Any] = []
    for item in order:
        places[item] = len(nodes)
        nodes.append([item.op, [places[argument] for argument in item.args], _plain(item.data, splines)])
    told = {name: list(getattr(formulas, name)) for name in _PLACES}
    told |= {"names": list(formulas.names), "values": [places[item] for item in formulas.values]}
    told |= {"symbols": [places[item] for item in formulas.symbols], "nodes": nodes}
    return json.dumps({**told, "splines": [[table.grid.tolist(), table.coefficients.tolist(), table.name] for _, table in splines.values()]})


def _plain(data: Any, splines: dict[int, tuple[int, Spline]]) -> Any:
    if isinstance(data, Symbol):
        return {"symbol": [data.role.value, data.name]}
    if isinstance(data, Spline):
        return {"spline": splines.setdefault(id(data), (len(splines), data))[0]}
    numbers: Any = data
    return {"numbers": list(numbers)} if isinstance(data, tuple) else data


def formulas_in(text: str) -> Formulas:
    """The formulas of a text.

    Raises
    ------
    ValueError, KeyError, TypeError, IndexError : it is damaged.
    """
    told: dict[str, Any] = json.loads(text)
    splines = [Spline(np.array(grid, dtype=float), np.array(coefficients, dtype=float), str(name)) for grid, coefficients, name in told["splines"]]
    nodes: list[Expr] = []
    for op, arguments, data in told["nodes"]:
        if op in _OF_NO_FILE:
            raise ValueError(f"a formula asks for {op}")
        nodes.append(raw_node(str(op), _those(arguments, nodes), _data(data, splines)))
    names: list[Any] = told["names"]
    values, symbols = _those(told["values"], nodes), _those(told["symbols"], nodes)
    return Formulas(tuple(map(str, names)), values, symbols, *(tuple(map(int, told[name])) for name in _PLACES))


def _those[T](places: Sequence[int], among: Sequence[T]) -> tuple[T, ...]:
    return tuple(among[k] for k in places)


def _data(told: Any, splines: list[Spline]) -> Any:
    if not _is_dict(told):
        return told
    kind, held = next(iter(told.items()))
    if kind == "symbol":
        return Symbol(Role(held[0]), str(held[1]))
    if kind == "spline":
        place: int = held
        return splines[place]
    numbers: list[Any] = held
    return tuple(map(float, numbers))


def _is_dict(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
