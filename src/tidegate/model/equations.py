"""Equations and definitions of the neutral model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Literal

from tidegate.errors import Origin
from tidegate.expressions import Expr
from tidegate.quick_dataclass import dataclass

__all__ = ["Definition", "Equation", "OpaquePart"]


@dataclass(frozen=True, eq=False)
class Equation:
    """``left == right``; an explicit ODE has the symbol of a derivative on the left, a residual has zero there.

    Parameters
    ----------
    left, right : real expressions.
    origin : where the user wrote it.
    label : how messages name it, e.g. ``"equation 3"`` or ``"der(h) == v"``.
    part : which of the HDAE's f1..f5 it belongs to (DSblock 3.3, section 1); 0 in the other forms.
    """

    left: Expr
    right: Expr
    origin: Origin = field(default_factory=Origin)
    label: str = ""
    part: int = 0

    @property
    def residual(self) -> Expr:
        """``right - left``, zero where the equation holds."""
        return self.right - self.left


@dataclass(frozen=True, eq=False)
class Definition:
    """An output, indicator or auxiliary variable: ``name := value`` for one element."""

    name: str
    value: Expr
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True, eq=False)
class OpaquePart:
    """A piece of a model that only can be called: Python, a C function's address, or an FMU.

    Parameters
    ----------
    role : what it computes: derivatives or residual (DSblock's F), outputs (G), indicators (H), Jacobian (J),
        the event function (V), or one of the hooks start (S), communication point (K), parameter change (P),
        termination (T), closing (C).
    call : a Python callable, or the address of a C function.
    arguments : names of the vectors it is given, in order.
    """

    role: Literal["F", "G", "H", "J", "V", "S", "K", "P", "T", "C"]
    call: Callable[..., Any] | int
    arguments: tuple[str, ...]
    origin: Origin = field(default_factory=Origin)
