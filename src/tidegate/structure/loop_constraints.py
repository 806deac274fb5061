"""Constraints that no equation says alone (stage: structure; a neutral model goes in, the same with these constraints among its equations comes out).

Around a loop of capacitors that floats, ``v1 == a - b, v2 == b - c, v3 == c - a``, potentials cancel, and what is left ties states:
``v1 + v2 + v3 == 0``. Counting unknowns does not see it, since three equations have three potentials. Pantelides' algorithm (``pantelides``) looks at
nothing else, and would leave a system that is singular whatever the numbers are. So equations that are sums with two unknowns of their own, all other
terms being states or what is known beside them, are taken as edges of a graph whose nodes are these unknowns; each edge beside a spanning tree closes
a loop, and where the unknowns of the loop cancel its last equation gives way to the sum. Unknowns that are alone in such an equation are tied to a
node that is zero.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tidegate.expressions import ZERO, Expr, Role, constant, walk
from tidegate.model import Equation, Form, Model, VariableRole
from tidegate.quick_dataclass import dataclass
from tidegate.structure.passes import Passed
from tidegate.structure.plain_sums import plain_sum

__all__ = ["state_loops"]

_ROUNDING: Final = 1e-14  # of the factors that it is the sum of: a factor that is less is zero


@dataclass(frozen=True)
class _Row:
    """``a first + b second + the terms + number == 0``; second is None, and b nothing, for what is tied to zero."""

    index: int
    first: Expr
    a: float
    second: Expr | None
    b: float
    terms: dict[Expr, float]
    number: float

    def factor(self, node: Expr | None) -> float:
        """Of one of its two unknowns."""
        return self.a if node is self.first else self.b

    def other(self, node: Expr | None) -> Expr | None:
        """The other one of its two unknowns."""
        return self.second if node is self.first else self.first


def state_loops(model: Model, /) -> Passed:
    """The model with each constraint that a loop of plain sums puts on states, in place of one equation of the loop.

    Parameters
    ----------
    model : validated and structurally sound, without aliases.

    Examples
    --------
    >>> from tidegate.expressions import symbol
    >>> from tidegate.model import Variable
    >>> x, y, a, b = (symbol(Role.UNKNOWN, name) for name in "xyab")
    >>> roles = {"x": VariableRole.STATE, "y": VariableRole.STATE, "a": VariableRole.ALGEBRAIC, "b": VariableRole.ALGEBRAIC}
    >>> equations = (Equation(x, a - b), Equation(a - b, y), Equation(ZERO, a * b - 2), Equation(ZERO, a + b))
    >>> found = state_loops(Model("loop", Form.DAE, tuple(Variable(*item) for item in roles.items()), equations)).model
    >>> found.equations[1].label
    'y == x, which follows from 2 equations'
    """
    if model.form is not Form.DAE or any(part.role == "F" for part in model.opaque_parts):
        return Passed(model)
    states = {item for variable in model.by_role(VariableRole.STATE) for item in variable.symbols()}
    sums = [(row.index, found) for row, found in _loops(list(_rows(model, states))) if not states.isdisjoint(found.terms)]
    equations = list(model.equations)
    for index, found in sums:
        equations[index] = _equation(equations[index], found)
    return Passed(replace(model, equations=tuple(equations)) if sums else model)


def _rows(model: Model, states: set[Expr]) -> Iterator[_Row]:
    unknowns = {item for variable in model.unknowns for item in variable.symbols()}
    beside = states | _known(model, unknowns - states)
    for index, equation in enumerate(model.equations):
        found = plain_sum(equation.residual)
        if found is None or not found[0].keys() <= unknowns:
            continue
        terms = {item: factor for item, factor in found[0].items() if factor != 0.0}
        own = [item for item in terms if item not in beside]
        if len(own) == 1:
            (one,) = own
            yield _Row(index, one, terms.pop(one), None, 0.0, terms, found[1])
        elif len(own) == 2 and abs(terms[own[0]]) == abs(terms[own[1]]):
            one, other = own
            yield _Row(index, one, terms.pop(one), other, terms.pop(other), terms, found[1])


def _known(model: Model, algebraic: set[Expr]) -> set[Expr]:
    """Algebraic unknowns that an equation gives in terms of time, parameters and states."""
    found: set[Expr] = set()
    for equation in model.equations:
        for one, other in ((equation.left, equation.right), (equation.right, equation.left)):
            if one in algebraic and not any(
                item in algebraic or (item.op == "symbol" and item.data.role is Role.DERIVATIVE) for item in walk([other])
            ):
                found.add(one)
    return found


def _loops(rows: list[_Row]) -> Iterator[tuple[_Row, _Combined]]:
    """Rows that close loops in which all nodes cancel, each with the sum around its loop."""
    at: dict[Expr | None, list[_Row]] = {}
    for row in rows:
        at.setdefault(row.first, []).append(row)
        at.setdefault(row.second, []).append(row)
    tree: dict[Expr | None, tuple[_Row | None, int]] = {}
    for start in (None, *at):
        if start in tree or start not in at:
            continue
        tree[start] = (None, 0)
        waiting = deque([start])
        # breadth first, so that loops are short
        while waiting:
            node = waiting.popleft()
            for row in at[node]:
                other = row.other(node)
                if other not in tree:
                    tree[other] = (row, tree[node][1] + 1)
                    waiting.append(other)
    inside = {id(row) for row, _ in tree.values() if row is not None}
    for row in rows:
        if id(row) not in inside:
            combined = _around(row, tree)
            if combined is not None:
                yield row, combined


@dataclass(frozen=True)
class _Combined:
    """``the terms + number == 0``, of so many equations."""

    terms: dict[Expr, float]
    number: float
    count: int


def _around(closing: _Row, tree: dict[Expr | None, tuple[_Row | None, int]]) -> _Combined | None:
    """The sum around a loop; None if its nodes do not cancel."""
    terms, sizes, number, count = dict(closing.terms), {item: abs(factor) for item, factor in closing.terms.items()}, closing.number, 1
    ends: list[tuple[Expr | None, float]] = [(closing.first, closing.a), (closing.second, closing.b)]
    while ends[0][0] is not ends[1][0]:
        ends.sort(key=lambda end: tree[end[0]][1])
        node, factor = ends.pop()
        row = tree[node][0]
        assert row is not None, "the deeper one of two nodes is not the root"
        times = -factor / row.factor(node)
        for item, other in row.terms.items():
            terms[item] = terms.get(item, 0.0) + times * other
            sizes[item] = sizes.get(item, 0.0) + abs(times * other)
        number += times * row.number
        count += 1
        beyond = row.other(node)
        ends.append((beyond, times * row.factor(beyond)))
    if ends[0][0] is not None and abs(ends[0][1] + ends[1][1]) > _ROUNDING * abs(ends[0][1]):
        return None
    return _Combined({item: factor for item, factor in terms.items() if abs(factor) > _ROUNDING * sizes[item]}, number, count)


def _equation(before: Equation, combined: _Combined) -> Equation:
    sides = [ZERO, ZERO]
    for item, factor in combined.terms.items():
        side = factor < 0.0
        sides[side] = sides[side] + (item if abs(factor) == 1.0 else constant(abs(factor)) * item)
    if combined.number != 0.0:
        side = combined.number < 0.0
        sides[side] = sides[side] + constant(abs(combined.number))
    left, right = sides
    return replace(before, left=left, right=right, label=f"{left!r} == {right!r}, which follows from {combined.count} equations")
