"""``no_event`` (stage: expressions): an expression in, the same with relations that are no events out.

A relation made so is a node of its own, with ``QUIET`` as its data. Whatever computes values, derivatives, bounds or code treats it as the relation
that it is; only locked evaluation (``compiled.locking``) leaves it alone, so that it says at every evaluation what is true there: Modelica's
``noEvent``.
"""

from __future__ import annotations

from typing import Any, Final

from tidegate.expressions.elementwise import elementwise
from tidegate.expressions.lookup_tables import Grid, QuietGrid
from tidegate.expressions.node_data import QUIET
from tidegate.expressions.nodes import Expr, node, walk
from tidegate.expressions.substitute import Substitution
from tidegate.wrong_calls import explained

__all__ = ["heard", "is_quiet", "makes_events", "no_event", "without_own_event"]

_RELATIONS: Final = frozenset({"ge", "gt", "nonzero", "floor", "segment"})  # what a discontinuity comes of


def is_quiet(item: Expr) -> bool:
    """Whether this is a relation, a ``floor`` or a table's piece inside ``no_event``."""
    return item.data == QUIET if item.op != "segment" else getattr(item.data, "is_quiet", False)


def makes_events(item: Expr) -> bool:
    """Whether this node is one whose changes are events, where what it reads moves."""
    return item.op in _RELATIONS and not is_quiet(item)


@explained
def no_event(expr: Any) -> Any:
    """An expression whose relations make no events: ``where``, ``min``, ``abs``, ``floor`` and tables are what they are at each evaluation.

    For what is continuous where the relation changes, or must never be evaluated on its other side: ``tg.no_event(tg.where(x > 0, sqrt(x), 0))``.
    The integrator then passes the place without stopping there, and sees a corner or a jump as it sees any other function: a jump costs many
    small steps, and its time is not located. What a clause waits for is located all the same, and so is a relation around ``no_event``: inside
    of these it has no effect. The equations of variables that stand in the expression are not concerned. Derivatives by parameters are those of
    what is taken at each time: right where the expression is continuous, and without the share of a jump where it jumps.

    Parameters
    ----------
    expr : an expression, a condition, a number, or an array of these.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> no_event(abs(x) + 1)
    no_event(abs(x)) + 1
    """
    return elementwise(_quiet, expr)


def _quiet(expr: Any) -> Any:
    if not isinstance(expr, Expr):
        return expr
    put_in = Substitution()
    for item in walk([expr]):
        if makes_events(item):
            put_in[item] = node(item.op, tuple(put_in(item.args)), QuietGrid(item.data) if item.op == "segment" else QUIET)
    return put_in([expr])[0]


def without_own_event(test: Expr) -> Expr:
    """A comparison, or ``and`` and ``or`` of some, that makes no event, while relations inside of what is compared go on to make theirs.

    For comparisons of what changes at events only, or beyond which there is an error.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> makes_events(without_own_event(x > 0))
    False
    """
    if test.op in ("and", "or", "not"):
        return node(test.op, tuple(map(without_own_event, test.args)))
    return node(test.op, test.args, QUIET) if test.op in ("ge", "gt") else test


def heard(expr: Expr) -> Expr:
    """The expression with its relations making events again, as whatever is waited for needs.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> heard(no_event(x > 0)) is (x > 0)
    True
    """
    put_in = Substitution()
    for item in walk([expr]):
        if is_quiet(item):
            put_in[item] = node(item.op, tuple(put_in(item.args)), Grid(item.data, item.data.name) if item.op == "segment" else None)
    return put_in([expr])[0]
