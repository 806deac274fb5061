"""Equations that hold at the start only (front end of components: what users yield to determine start values)."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from tidegate.errors import Origin, UsageError
from tidegate.expressions.tracing import written_at
from tidegate.frontends.components.equalities import Equality, read_equalities
from tidegate.frontends.components.statements import noted
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["InitialEquations", "initial_equations"]


@dataclass(frozen=True, eq=False)
class InitialEquations:
    """What ``tg.initial_equations`` gives: to be yielded among the equations."""

    equalities: tuple[Equality, ...]
    origin: Origin = field(default_factory=Origin)


@explained
def initial_equations(*items: Any) -> InitialEquations:
    """Equations that hold at the start, with all others; each determines the start value of one state that is not ``fixed=True``.

    Parameters
    ----------
    items : equations, ``left == right``; to be yielded by ``equations``. A method under ``@tg.initially`` may yield them too.

    Raises
    ------
    ModelError : for what is no equation.
    UsageError : without any.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, State, der
    >>> class Tank(Component):
    ...     h = State(0.5)
    ...     def equations(self):
    ...         yield der(self.h) == 2.0 - self.h
    ...         yield initial_equations(der(self.h) == 0)
    >>> Tank().lower().initial_equations[0].label
    'der(self.h) == 0'
    """
    place = written_at()
    if not items:
        raise UsageError("tg.initial_equations is given none", origin=place, hint="write e.g. yield tg.initial_equations(tg.der(self.x) == 0)")
    return noted(InitialEquations(tuple(found for item in items for found in read_equalities(item, place)), place), "tg.initial_equations", place)
