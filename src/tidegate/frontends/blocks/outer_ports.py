"""The ends of a diagram's own ports, inside of it (front end of blocks)."""

from __future__ import annotations

from tidegate.expressions import Expr, Role, as_expr, symbol
from tidegate.frontends.blocks.block import Block
from tidegate.frontends.blocks.pen import Pen
from tidegate.model import Variable, VariableRole

__all__ = ["Inlet", "Outlet"]


class Inlet(Block):
    """Where a signal comes into a diagram; of the outermost, an input of the model that holds its value.

    Parameters
    ----------
    name : of the diagram's port.
    value : held by the outermost diagram's input.
    unit, label : texts for results.
    """

    inputs = ()
    is_recorded = False

    def __init__(self, name: str, value: float = 0.0, unit: str = "", label: str = "") -> None:
        super().__init__({"name": name, "unit": unit, "label": label})
        self._value = float(value)

    def signals(self, pen: Pen) -> Expr:
        """The model's input."""
        start = (as_expr(self._value),)
        pen.ink.variables[pen.path] = Variable(pen.path, VariableRole.INPUT, (), self.unit, self.label, start, origin=pen.origin)
        return symbol(Role.INPUT, pen.path)


class Outlet(Block):
    """Where a signal leaves a diagram.

    Parameters
    ----------
    name : of the diagram's port.
    """

    outputs = ()
    is_recorded = False

    def __init__(self, name: str) -> None:
        super().__init__({"name": name})

    def signals(self, pen: Pen) -> tuple[Expr, ...]:  # noqa: ARG002 - it has none
        """Nothing: the signal is shown under the port's name."""
        return ()
