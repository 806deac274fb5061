"""Blocks that a Python function describes, and blocks to look at signals (front end of blocks)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack, cast

import numpy as np

from tidegate.errors import ModelError
from tidegate.expressions import Expr, as_expr
from tidegate.expressions.tracing import Vector, VectorNames, function_origin
from tidegate.expressions.tracing.value_kinds import is_array, is_sequence
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.library.arithmetic import input_names
from tidegate.frontends.blocks.pen import Pen

__all__ = ["Scope", "UserBlock", "UserOutput"]


class UserBlock(Block):
    """``out = function(x1, x2, ...)``, followed on symbols like ``tg.ode``: what it compares is located, and it runs as machine code.

    Parameters
    ----------
    function : ``function(x1, ...)``, or ``function(x1, ..., p)`` if there are parameters; p answers to name. Returns one number, or a list with one
        an output. A function that cannot be followed goes through ``tg.opaque``.
    inputs : how many, or their names.
    outputs : how many, or their names; the first is ``out``, others ``out2``, ...
    p : parameters by name.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> UserBlock(lambda x1, p: p.k * x1**3, p={"k": 2.0})
    UserBlock(k=2)
    """

    code = "U1"

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: int | Sequence[str] = 1,
        outputs: int | Sequence[str] = 1,
        p: Mapping[str, float] | None = None,
        **about: Unpack[About],
    ) -> None:
        super().__init__(about, **(p or {}))
        self._function = function
        self.require(callable(function), f"function is {function!r}", "give a Python function of the inputs")
        names = input_names(inputs) if isinstance(inputs, int) else tuple(inputs)
        shown = ("out", *(f"out{k + 2}" for k in range(outputs - 1))) if isinstance(outputs, int) else tuple(outputs)
        twice = {name for name in (*names, *shown, *self._parameters) if (*names, *shown, *self._parameters).count(name) > 1}
        self.require(not twice, f"{', '.join(sorted(twice))} names two things", "choose different names")
        object.__setattr__(self, "inputs", names)
        object.__setattr__(self, "outputs", shown)

    def signals(self, pen: Pen) -> list[Expr]:
        """What the function computes."""
        arguments: list[Any] = [pen.x(port) for port in self.inputs]
        if self._parameters:
            arguments.append(self._vector(pen))
        followed = pen.follow(self._function, tuple(arguments))
        value: Any = followed.value
        values: list[Any]
        if isinstance(value, Mapping):
            by_name = cast("Mapping[str, Any]", value)
            values = [by_name[name] for name in self.outputs if name in by_name]
        else:
            values = [*value] if is_array(value) or is_sequence(value) else [value]
        if len(values) != len(self.outputs) or any(item is None for item in values):
            raise ModelError(
                f"the function of {pen.path} returns {value!r}, but the block has {len(self.outputs)} output(s): {', '.join(self.outputs)}",
                origin=function_origin(self._function),
                hint="return one number, or a list with one for each output",
            )
        return [as_expr(item) for item in values]

    def _vector(self, pen: Pen) -> Vector:
        """The parameters, as the function reads them."""
        symbols: list[Expr] = []
        places: dict[str, tuple[int, tuple[int, ...]]] = {}
        for name, value in self._parameters.items():
            places[name] = len(symbols), np.shape(value)
            symbols += pen.elements(name)
        return Vector(symbols, VectorNames("p", places))


class UserOutput(Block):
    """``out = x1``: one of the further outputs of a ``UserBlock`` under a name of its own (UO of CSMP-10(ARL)).

    Examples
    --------
    >>> UserOutput(name="flow")
    UserOutput(name='flow')
    """

    code = "UO"

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The input."""
        return pen.x()


class Scope(Block):
    """Shows signals together: what goes in is recorded as ``scope.label``, and ``result.plot(*scope.names)`` draws it.

    Parameters
    ----------
    labels : one an input; or how many there are, which are then called x1, x2, ...
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Scope(["level", "flow"], name="scope").names
    ['scope.level', 'scope.flow']
    """

    outputs = ()

    def __init__(self, labels: int | Sequence[str] = 1, **about: Unpack[About]) -> None:
        super().__init__(about)
        self._labels = input_names(labels) if isinstance(labels, int) else tuple(labels)
        self.require(bool(self._labels), "there is nothing to show", "give one label an input")
        self.require(len(set(self._labels)) == len(self._labels), f"labels are {list(self._labels)}", "every signal needs a label of its own")
        object.__setattr__(self, "inputs", input_names(len(self._labels)))

    @property
    def names(self) -> list[str]:
        """What its signals are called in results."""
        return [f"{self.path}.{label}" for label in self._labels]

    def signals(self, pen: Pen) -> tuple[Expr, ...]:  # noqa: ARG002 - it has none
        """Nothing comes out."""
        return ()

    def dynamics(self, pen: Pen) -> None:
        """What is shown."""
        for port, label in zip(self.inputs, self._labels, strict=True):
            pen.show(label, pen.x(port))
