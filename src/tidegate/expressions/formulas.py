"""Expressions as one function of columns of numbers (stage: expressions), which can be kept with a result and stored; no machine code is needed.

In a file they are a text, JSON: every node of the graph once, arguments before what uses them, then the places of the outputs and of the symbols.
Nothing that stands in such a text is carried out but arithmetic.
"""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any, Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions.evaluate_rows import evaluate_rows, is_known
from tidegate.expressions.node_data import NOT_ARITHMETIC, Role, Spline, Symbol
from tidegate.expressions.nodes import Expr, raw_node, walk
from tidegate.expressions.pickled import stored, unstored
from tidegate.quick_dataclass import dataclass

__all__ = ["Formulas", "formulas_in"]

FloatArray = NDArray[np.float64]

_PLACES: Final = ("parameters", "inputs", "modes")


@dataclass(frozen=True, eq=False)
class Formulas:
    """What the outputs of a model are; the same for all its runs.

    Parameters
    ----------
    names : of the outputs.
    values : one expression each, in which a symbol of a mode stands for every condition.
    symbols : time, what dense output holds, and constants and modes that are read, in the order of ``at``'s columns.
    parameters, inputs, modes : places of those that are read.
    """

    names: tuple[str, ...]
    values: tuple[Expr, ...]
    symbols: tuple[Expr, ...]
    parameters: tuple[int, ...]
    inputs: tuple[int, ...]
    modes: tuple[int, ...]

    def at(self, times: FloatArray, dense: FloatArray, constants: FloatArray, modes: FloatArray) -> FloatArray:
        """Values, (times, outputs), from those of the symbols, (times, symbols); ``constants`` are parameters, then inputs."""
        columns = (times, *dense.T, *constants.T, *modes.T)
        return evaluate_rows(self.values, dict(zip(self.symbols, columns, strict=True)), times.size)

    def only(self, names: Container[str]) -> Formulas:
        """Those of some outputs."""
        kept = [k for k, name in enumerate(self.names) if name in names]
        return replace(self, names=tuple(self.names[k] for k in kept), values=tuple(self.values[k] for k in kept))

    def as_text(self) -> str:
        """A text for files; empty where an output asks a function of the user, or looks back.

        Examples
        --------
        >>> from tidegate.expressions import Role, symbol
        >>> x = symbol(Role.UNKNOWN, "x")
        >>> formulas_in(Formulas(("twice",), (2 * x,), (x,), (), (), ()).as_text()).values[0] is 2 * x
        True
        """
        order = list(walk([*self.values, *self.symbols]))
        if any(item.op in NOT_ARITHMETIC for item in order):
            return ""
        places: dict[Expr, int] = {}
        splines: dict[int, tuple[int, Spline]] = {}
        nodes: list[Any] = []
        for item in order:
            places[item] = len(nodes)
            nodes.append([item.op, [places[argument] for argument in item.args], _plain(item.data, splines)])
        told = {name: list(getattr(self, name)) for name in _PLACES}
        told |= {"names": list(self.names), "values": [places[item] for item in self.values]}
        told |= {"symbols": [places[item] for item in self.symbols], "nodes": nodes}
        return json.dumps({**told, "splines": [[table.grid.tolist(), table.coefficients.tolist(), table.name] for _, table in splines.values()]})

    def __reduce__(self) -> tuple[Any, ...]:
        # an opaque function is the user's, and stays where it is
        if any(item.op == "call" for item in walk(self.values)):
            return tuple, ()
        return _formulas, stored(tuple(getattr(self, name) for name in self.__dataclass_fields__))


def _formulas(*parts: Any) -> Formulas:
    return Formulas(*unstored(*parts))


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
        if op in NOT_ARITHMETIC:
            raise ValueError(f"a formula asks for {op}")
        nodes.append(raw_node(str(op), _those(arguments, nodes), _data(data, splines)))
    names: list[Any] = told["names"]
    values, symbols = _those(told["values"], nodes), _those(told["symbols"], nodes)
    found = Formulas(tuple(map(str, names)), values, symbols, *(tuple(map(int, told[name])) for name in _PLACES))
    _try_out(found)
    return found


def _try_out(formulas: Formulas) -> None:
    """ValueError if they cannot be computed at all, whatever the numbers."""
    n_constants, n_modes = len(formulas.parameters) + len(formulas.inputs), len(formulas.modes)
    row = np.zeros((1, len(formulas.symbols) - 1))
    dense, constants, modes = np.split(row, [row.shape[1] - n_constants - n_modes, row.shape[1] - n_modes], axis=1)
    try:
        formulas.at(np.zeros(1), dense, constants, modes)
        unknown = next((item.op for item in walk(formulas.values) if not is_known(item)), "")
    except Exception as error:
        raise ValueError(f"a formula cannot be computed: {error}") from error
    if unknown:
        raise ValueError(f"a formula has the operation {unknown}, which there is not")


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
