"""Expressions as one function of columns of numbers (stage: expressions), which can be kept with a result and stored; no machine code is needed."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions.evaluate_rows import evaluate_rows
from tidegate.expressions.nodes import Expr, walk
from tidegate.expressions.pickled import stored, unstored
from tidegate.quick_dataclass import dataclass

__all__ = ["Formulas"]

FloatArray = NDArray[np.float64]


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

    def __reduce__(self) -> tuple[Any, ...]:
        # an opaque function is the user's, and stays where it is
        if any(item.op == "call" for item in walk(self.values)):
            return tuple, ()
        return _formulas, stored(tuple(getattr(self, name) for name in self.__dataclass_fields__))


def _formulas(*parts: Any) -> Formulas:
    return Formulas(*unstored(*parts))
