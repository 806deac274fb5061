"""Logic (front end of blocks): signals that are not zero are true; what comes out is a truth value, 1 or 0 in
computations, and changes at located events.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Final, Unpack

from tidegate.expressions import Expr, select
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.library.arithmetic import input_names
from tidegate.frontends.blocks.pen import Pen, truth

__all__ = ["And", "Compare", "Not", "Or", "Switch"]

_RELATIONS: Final[dict[str, Callable[[Expr, Expr], Expr]]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


class _Junction(Block):
    """What And and Or share: any number of inputs."""

    def __init__(self, n_inputs: int = 2, **about: Unpack[About]) -> None:
        super().__init__(about)
        self.require(n_inputs >= 1, f"n_inputs is {n_inputs}", "one input is the least")
        object.__setattr__(self, "inputs", input_names(n_inputs))


class And(_Junction):
    """``out = 1`` where every input is not zero, else 0.

    Parameters
    ----------
    n_inputs : how many.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> And(3).inputs
    ('x1', 'x2', 'x3')
    """

    def signals(self, pen: Pen) -> Expr:
        """Whether all are true."""
        return reduce(lambda a, b: a & b, [truth(pen.x(port)) for port in self.inputs])


class Or(_Junction):
    """``out = 1`` where one of the inputs is not zero, or more, else 0.

    Parameters
    ----------
    n_inputs : how many.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Or().inputs
    ('x1', 'x2')
    """

    def signals(self, pen: Pen) -> Expr:
        """Whether one is true."""
        return reduce(lambda a, b: a | b, [truth(pen.x(port)) for port in self.inputs])


class Not(Block):
    """``out = 1`` where x1 is zero, else 0.

    Examples
    --------
    >>> Not(name="closed")
    Not(name='closed')
    """

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """Whether it is false."""
        return ~truth(pen.x())


class Compare(Block):
    """``out = 1`` where ``x1 > x2``, or another relation, holds, else 0.

    Parameters
    ----------
    relation : ``">"``, ``">="``, ``"<"`` or ``"<="``.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Compare("<=").relation
    '<='
    """

    inputs = ("x1", "x2")

    def __init__(self, relation: str = ">", **about: Unpack[About]) -> None:
        super().__init__(about)
        self.require(relation in _RELATIONS, f"the relation is {relation!r}", f"write one of {', '.join(_RELATIONS)}")
        self._relation = relation

    @property
    def relation(self) -> str:
        """Which relation is asked."""
        return self._relation

    @property
    def inscription(self) -> str:
        """The relation."""
        return self._relation

    def signals(self, pen: Pen) -> Expr:
        """Whether it holds."""
        return _RELATIONS[self._relation](pen.x("x1"), pen.x("x2"))


class Switch(Block):
    """``out = x1`` where x2 is not zero, else ``x3``. Ports are also called ``then``, ``control`` and ``otherwise``.

    Examples
    --------
    >>> Switch().control
    a Switch.x2
    """

    inputs = ("x1", "x2", "x3")
    aliases = {"then": "x1", "control": "x2", "otherwise": "x3"}  # noqa: RUF012 - a mapping nobody writes to

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The chosen input."""
        return select(truth(pen.x("x2")), pen.x("x1"), pen.x("x3"))
