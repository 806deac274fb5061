"""Derivatives that are unknowns of a connection with a block of the form HDAE. In: a ``Wiring`` and its ``Order``; out: of each part, which.

A connection with an HDAE is one (Otter, DSblock 3.3, connection). What is a DAE beside it, or lies on a circle through derivatives, gives
``x1' = v`` to F1, and its equations with v in the place of derivatives to F2, whose unknowns are v and what is algebraic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.block import Entry
from tidegate.frontends.dsblock.description import Description, ParameterKind, SignalKind
from tidegate.frontends.dsblock.join.order import Order
from tidegate.frontends.dsblock.join.wiring import Part, Wiring
from tidegate.frontends.dsblock.probed_form import probed_form
from tidegate.model import Form
from tidegate.quick_dataclass import dataclass

__all__ = ["Unknowns", "unknowns"]

IndexArray = NDArray[np.intp]
_INPUT: Final = 0.37  # in place of inputs that nobody knows yet, so that a factor of a derivative is not zero by chance


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Of a part.

    Parameters
    ----------
    states : which of its x are among x1, x2 and x3 of the connection.
    rates : of which x derivatives are unknowns too, among x2.
    equations : sizes of what it gives to F1 ... F5.
    """

    states: tuple[IndexArray, IndexArray, IndexArray]
    rates: IndexArray
    equations: tuple[int, int, int, int, int]


def unknowns(wired: Wiring, ordered: Order) -> tuple[Unknowns, ...]:
    """Of all parts.

    Raises
    ------
    UsageError : a DAE whose derivatives enter through a singular matrix, beside an HDAE.
    """
    return tuple(_of(part, ordered) for part in wired.parts)


def _of(part: Part, ordered: Order) -> Unknowns:
    described, none = part.described, np.zeros(0, dtype=np.intp)
    n, is_constrained = len(described.x0), ordered.form is Form.HDAE
    every = np.arange(n, dtype=np.intp)
    is_unknown = is_constrained and not ordered.is_explicit
    if described.form is Form.HDAE:
        n1, n2, n3, n4, n5 = described.parts
        rates = every[:n1] if is_unknown and described.dependence.outputs_need_rates else none
        return Unknowns((every[:n1], every[n1 : n1 + n2], every[n1 + n2 :]), rates, (n1, n2 + len(rates), n3, n4, n5))
    if described.form is Form.DAE and is_constrained:
        algebraic = _algebraic(part)
        differential = np.setdiff1d(every, algebraic)
        return Unknowns((differential, algebraic, none), differential, (len(differential), n, 0, 0, 0))
    rates = every if is_unknown and described.dependence.outputs_need_rates else none
    return Unknowns((every, none, none), rates, (n, len(rates), 0, 0, 0))


def _algebraic(part: Part) -> IndexArray:
    """x of a DAE whose derivatives enter nowhere, found by probing it near its start where nothing says so."""
    described = part.described
    if described.algebraic is not None:
        return np.array(described.algebraic, dtype=np.intp)
    x0, xd0 = np.array(described.x0), np.array(described.xd0 or [0.0] * len(described.x0))
    at = Entry(described.t0, x0, xd0, np.full(described.size(SignalKind.INPUT), _INPUT), np.array(_parameters(described)))
    found = probed_form(part.block, at)
    if found.mass is not None:
        raise UsageError(
            f"join: derivatives of {part.name}, a DAE beside a block of the form HDAE, enter its residuals through a singular matrix",
            hint="state it with algebraic variables of their own, whose derivatives enter nowhere",
        )
    return np.array(found.algebraic, dtype=np.intp)


def _parameters(described: Description) -> Sequence[float]:
    return [value for kind in ParameterKind for entry in described.parameters if entry.kind is kind for value in entry.default]
