"""The bipartite graph of equations and unknowns (stage: structure; from a neutral model to rows of column numbers).

An unknown stands in an equation where the equation, with all its conditions held, can vary with it. Within one mode conditions, ``floor`` and table
look-ups are constant, so what stands only in them determines nothing; the arms of a ``select`` count together, as the union of all modes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tidegate.expressions import Expr, Role, symbol
from tidegate.model import Equation, Model, VariableRole
from tidegate.quick_dataclass import dataclass

__all__ = ["Incidence", "incidence", "smooth_symbols", "variable_incidence"]

_LOCKED: Final = frozenset({"floor", "segment", "lookup"})


@dataclass(frozen=True, eq=False)
class Incidence:
    """Which unknown stands in which equation.

    Parameters
    ----------
    equations : one row each.
    columns : names of the unknowns, one column each; a derivative as ``der(x)``.
    rows : for each equation the columns of its unknowns, ascending.
    """

    equations: tuple[Equation, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]


def smooth_symbols(roots: Iterable[Expr]) -> set[Expr]:
    """The symbols that these expressions can vary with while every condition is held.

    Examples
    --------
    >>> from tidegate.expressions import Role, select, symbol
    >>> x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    >>> smooth_symbols([select(x > 0, y, 1.0)]) == {y}
    True
    """
    found: set[Expr] = set()
    seen: set[Expr] = set()
    stack = list(roots)
    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        if item.op == "symbol":
            found.add(item)
        elif not item.is_boolean and item.op not in _LOCKED:
            stack.extend(item.args)
    return found


def _rows(model: Model, column_of: Mapping[Expr, int]) -> tuple[tuple[int, ...], ...]:
    present = (smooth_symbols((equation.left, equation.right)) for equation in model.equations)
    return tuple(tuple(sorted({column_of[item] for item in items if item in column_of})) for items in present)


def incidence(model: Model) -> Incidence:
    """The unknowns that the equations must determine at one instant: derivatives of states, and algebraic variables.

    A system of index 0 or 1 has here a matching that covers every equation.
    """
    pairs = [(name, item, v.role is VariableRole.STATE) for v in model.unknowns for name, item in zip(v.names, v.symbols(), strict=True)]
    columns = tuple(f"der({name})" if is_state else name for name, _, is_state in pairs)
    column_of = {symbol(Role.DERIVATIVE, name) if is_state else item: k for k, (name, item, is_state) in enumerate(pairs)}
    return Incidence(model.equations, columns, _rows(model, column_of))


def variable_incidence(model: Model) -> Incidence:
    """Like ``incidence``, but a state counts where it or its derivative stands.

    Without a matching here the system is singular whatever is differentiated (Pantelides 1988, https://doi.org/10.1137/0909014).
    """
    columns = tuple(name for variable in model.unknowns for name in variable.names)
    column_of = {symbol(role, name): k for k, name in enumerate(columns) for role in (Role.UNKNOWN, Role.DERIVATIVE)}
    return Incidence(model.equations, columns, _rows(model, column_of))
