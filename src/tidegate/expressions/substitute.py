"""Replacement of nodes (stage: expressions): expressions and a mapping of nodes in, rebuilt and simplified expressions out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import is_

from tidegate.expressions.nodes import Expr, as_boolean, as_real, node, select, walk

__all__ = ["Substitution", "substitute"]


def substitute(exprs: Iterable[Expr], mapping: Mapping[Expr, Expr]) -> list[Expr]:
    """The expressions with whole nodes replaced; any node may be a key, and what is put in is not searched again.

    Parameters
    ----------
    exprs : expressions.
    mapping : nodes (symbols, relations, anything) and what stands in their place; a condition may be replaced by a number and vice versa.

    Examples
    --------
    >>> from tidegate.expressions import Role, constant, symbol
    >>> x, k = symbol(Role.UNKNOWN, "x"), symbol(Role.PARAMETER, "k")
    >>> substitute([k * x + k], {k: constant(2.0)})
    [2*x + 2]
    """
    roots = list(exprs)
    new = dict(mapping)
    for item in walk(roots, set(new)) if new else ():
        new[item] = _rebuilt(item, new)
    return [new.get(root, root) for root in roots]


def _rebuilt(item: Expr, new: dict[Expr, Expr]) -> Expr:
    args = tuple([new[arg] for arg in item.args])
    if all(map(is_, args, item.args)):
        return item
    op = item.op
    if op == "select":
        return select(*args)
    if op in ("and", "or", "not"):
        return node(op, tuple(as_boolean(a) for a in args))
    if op in ("output", "slope"):
        return node(op, args, item.data)
    if op == "nonzero":
        condition = as_boolean(args[0])
        return node(op, condition.args, item.data) if item.data and condition.op == "nonzero" else condition
    return node(op, tuple(as_real(a) for a in args), item.data)


class Substitution:
    """Replacement that goes on: what was rebuilt once is not rebuilt again, so that many expressions that share parts cost little.

    A symbol must be put in before an expression that holds it is asked for.

    Examples
    --------
    >>> from tidegate.expressions import Role, constant, symbol
    >>> x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    >>> put_in = Substitution()
    >>> put_in[x] = constant(2.0)
    >>> put_in([x * y, x + 1])
    [2*y, 3]
    """

    def __init__(self) -> None:
        self._new: dict[Expr, Expr] = {}
        self._seen: set[Expr] = set()

    def __setitem__(self, item: Expr, value: Expr) -> None:
        assert item not in self._seen, f"{item!r} was read before it was replaced"
        self._new[item] = value
        self._seen.add(item)

    def __call__(self, exprs: Iterable[Expr]) -> list[Expr]:
        """The expressions with everything replaced that was put in."""
        roots, new = list(exprs), self._new
        for item in walk(roots, self._seen):
            new[item] = _rebuilt(item, new)
        return [new[root] for root in roots]
