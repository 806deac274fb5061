"""Replacement of nodes (stage: expressions): expressions and a mapping of nodes in, rebuilt and simplified expressions out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidegate.expressions.nodes import Expr, as_boolean, as_real, node, select

__all__ = ["substitute"]


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
    new: dict[int, Expr] = {id(old): put for old, put in mapping.items()}
    pending = _walk_unreplaced(roots, new) if new else ()
    for item in pending:
        new[id(item)] = _rebuilt(item, new)
    return [new.get(id(root), root) for root in roots]


def _walk_unreplaced(roots: list[Expr], replaced: dict[int, Expr]) -> list[Expr]:
    """Nodes that are to be rebuilt, arguments first; replaced nodes and what only they use are left out."""
    order: list[Expr] = []
    seen = set(replaced)
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        item, expanded = stack.pop()
        if expanded:
            order.append(item)
        elif id(item) not in seen:
            seen.add(id(item))
            stack.append((item, True))
            stack.extend((arg, False) for arg in item.args)
    return order


def _rebuilt(item: Expr, new: dict[int, Expr]) -> Expr:
    if not item.args:
        return item
    args = tuple(new[id(arg)] for arg in item.args)
    if all(a is b for a, b in zip(args, item.args, strict=True)):
        return item
    op = item.op
    if op == "select":
        return select(*args)
    if op in ("and", "or", "not"):
        return node(op, tuple(as_boolean(a) for a in args))
    if op in ("output", "slope"):
        return node(op, args, item.data)
    if op == "nonzero":
        return as_boolean(args[0])
    return node(op, tuple(as_real(a) for a in args), item.data)
