"""Implicit equations (front end of blocks): V and Y of CSMP-10(ARL); here an algebraic unknown and its equation, solved with everything else."""

from __future__ import annotations

from collections.abc import Collection
from typing import Unpack

from tidegate.errors import UsageError
from tidegate.expressions import Expr
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.pen import Pen
from tidegate.model.ports import OpenModel

__all__ = ["Vacuous", "Wye"]


class _Half(Block):
    """Each of the two has half of an equation and its unknown."""

    def open_model(self, connected: Collection[str] | None = None) -> OpenModel:  # noqa: ARG002 - it is none
        """Refused: neither is a part by itself."""
        raise UsageError(
            f"a {self.kind} is no part by itself: a Vacuous has an unknown without an equation, and its Wye the equation",
            origin=self.origin,
            hint="declare the unknown in the component, x = tg.Algebraic(), and yield the equation; or make a tg.Diagram of both the part",
        )


class Vacuous(_Half):
    """``out`` is what makes both inputs of a ``Wye`` equal.

    Parameters
    ----------
    guess : of its first value.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Vacuous(guess=1.0)
    Vacuous(guess=1)
    """

    code = "V"
    inputs = ()
    table_parameters = ("guess",)

    def __init__(self, guess: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, guess=guess)

    def signals(self, pen: Pen) -> Expr:
        """The unknown."""
        return pen.unknown(guess=pen.p("guess"))


class Wye(_Half):
    """``out = x2``, a ``Vacuous`` block made such that ``x1 = x2``; x1 is computed from it. Ports are also called ``value`` and ``vacuous``.

    The integrator solves the equation to its own tolerance; a tolerance and a limit of iterations, P1 and P2 of the language, have no meaning here.

    Examples
    --------
    >>> Wye().vacuous
    a Wye.x2
    """

    code = "Y"
    inputs = ("x1", "x2")
    aliases = {"value": "x1", "vacuous": "x2"}  # noqa: RUF012 - a mapping nobody writes to

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The unknown."""
        return pen.x("x2")

    def dynamics(self, pen: Pen) -> None:
        """The equation."""
        pen.equation(pen.x("x2"), pen.x("x1"))
