"""Connectors: where a part meets others (front end of components; their variables have a role in a connection).

Potentials are equal where connectors meet, flows add up to zero, positive into the component (DSblock 4.0a, sections 4 and 8; Modelica 3, chapter 9).
A signal has a direction: one output, or an input of the component around, gives its value to inputs.
"""

from __future__ import annotations

from typing import Any, Never, Unpack

from tidegate.errors import Origin, UsageError
from tidegate.frontends.components.clauses import Clause
from tidegate.frontends.components.declarations import UNSET, Algebraic, Constant, Declaration, Input, Output, Parameter, Texts
from tidegate.frontends.components.part import Part

__all__ = ["Connector", "Flow", "InputSignal", "OutputSignal", "Potential"]


class Potential(Algebraic):
    """A connector's variable that is equal in all connectors of a connection: voltage, position, temperature, pressure.

    Examples
    --------
    >>> v = Potential(unit="V")
    """


class Flow(Algebraic):
    """A connector's variable whose sum over a connection is zero, positive into the component: current, force, heat flow.

    Examples
    --------
    >>> i = Flow(unit="A")
    """


class InputSignal(Input):
    """A signal that a component needs: it must be connected, or be given by an equation of the component around.

    Examples
    --------
    >>> u = InputSignal(unit="V")
    """

    def __init__(self, *unnamed: Never, shape: tuple[int, ...] | int | None = None, **texts: Unpack[Texts]) -> None:
        super().__init__(0.0, *unnamed, shape=shape, **texts)


class OutputSignal(Output):
    """A signal that a component gives.

    Examples
    --------
    >>> y = OutputSignal(unit="V")
    """

    def __init__(self, value: object = UNSET, *unnamed: Never, shape: tuple[int, ...] | int | None = None, **texts: Unpack[Texts]) -> None:
        super().__init__(value, *unnamed, shape=shape, **texts)


class Connector(Part):
    """Variables by which a component is connected with others: as many flows as potentials.

    Examples
    --------
    >>> class Pin(Connector):
    ...     v = Potential(unit="V")
    ...     i = Flow(unit="A")
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name, item in vars(cls).items():
            if name == "equations" or isinstance(item, Clause):
                place = item.origin if isinstance(item, Clause) else Origin(file=item.__code__.co_filename, line=item.__code__.co_firstlineno)
                raise UsageError(
                    f"{cls.__name__}.{name}: a connector has variables only",
                    origin=place,
                    hint="equations and clauses belong to the component around it",
                )
            if isinstance(item, Declaration) and not isinstance(item, Potential | Flow | Input | Output | Parameter | Constant):
                raise UsageError(
                    f"{cls.__name__}.{name} is a tg.{type(item).__name__}, which a connection says nothing about",
                    origin=item.origin,
                    hint="declare tg.Potential, tg.Flow, tg.InputSignal or tg.OutputSignal",
                )
