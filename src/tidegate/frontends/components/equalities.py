"""Equations as users yield them (front end of components: what ``equations`` yields goes in, pairs of sides come out).

The tracer hands over both sides of ``yield left == right``. Where there is no source to follow, ``left == right`` on symbols is a condition, both
``left >= right`` and ``right >= left``, and is read back as an equation. Branches of an ``if`` that yield equations are merged pairwise, so
that the number of equations is the same in every mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from tidegate.errors import ModelError, Origin
from tidegate.expressions import ZERO, Expr, Role, as_expr, as_real, dependencies, select
from tidegate.expressions.substitute import substitute
from tidegate.frontends.components.elements import flat, is_array
from tidegate.quick_dataclass import dataclass

__all__ = ["Equality", "equation_sides", "make_equality", "merge_equalities", "read_equalities", "replaced"]

_DETERMINED: Final = (Role.UNKNOWN, Role.DERIVATIVE, Role.INPUT)


@dataclass(frozen=True, eq=False)
class Equality:
    """Two sides that are equal, where that was written, and how messages name it if not by what stands there."""

    left: Expr
    right: Expr
    origin: Origin = field(default_factory=Origin)
    label: str = ""

    @property
    def residual(self) -> Expr:
        """``left - right``."""
        return self.left - self.right


def replaced(item: Equality, mapping: Mapping[Expr, Expr]) -> Equality:
    """The same with nodes replaced on both sides; itself where there are none of them."""
    if not mapping:  # of ten thousand equations of parts none has anything to be put in
        return item
    left, right = substitute([item.left, item.right], mapping)
    return item if left is item.left and right is item.right else replace(item, left=left, right=right)


def _oriented(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """A derivative, or else a plain unknown, goes to the left side."""
    if _rank(right) > _rank(left):
        return right, left
    return left, right


def _rank(side: Expr) -> int:
    if side.op != "symbol":
        return 0
    return {Role.DERIVATIVE: 2, Role.UNKNOWN: 1}.get(side.data.role, 0)


def equation_sides(condition: Expr) -> tuple[Expr, Expr] | None:
    """The sides of ``left == right`` from its node ``right - left >= 0 and left - right >= 0``, as simplification left them."""
    if condition.op != "and" or any(part.op != "ge" for part in condition.args):
        return None
    backward, forward = (part.args[0] for part in condition.args)
    candidates = [(forward, ZERO)]
    if forward.op == "sub":
        candidates.insert(0, (forward.args[0], forward.args[1]))
    elif forward.op == "add":
        candidates.insert(0, (forward.args[0], -forward.args[1]))
    elif forward.op == "neg":
        candidates.insert(0, (ZERO, forward.args[0]))
    for left, right in candidates:
        if right - left is backward:
            return _oriented(left, right)
    return None


def _refuse(item: object, origin: Origin) -> ModelError:
    if isinstance(item, bool | np.bool_):
        always = "always" if item else "never"
        return ModelError(
            f"an equation contains no variable: it {always} holds", origin=origin, hint="yield `left == right` with self.<variable> in it"
        )
    if isinstance(item, Expr) and item.is_constant:
        return ModelError("an equation says nothing: both sides are the same", origin=origin, hint="remove it, or correct one side")
    if isinstance(item, Expr) and item.is_boolean:
        return ModelError(
            f"`{item!r}` is a condition, not an equation",
            origin=origin,
            hint="yield `left == right` between real expressions; use a discrete variable for a truth value",
        )
    if item is None:
        return ModelError(
            "None is yielded, and an equation is expected",
            origin=origin,
            hint="what only says or ends something stands without `yield`, as tg.message(...) in a clause; an equation is `yield left == right`",
        )
    return ModelError(
        f"equations yields {item!r}; an equation is expected",
        origin=origin,
        hint="write `yield left == right`, e.g. `yield tg.der(self.h) == self.v`",
    )


def make_equality(left: Any, right: Any) -> Any:
    """Both sides of a yielded ``left == right``; of arrays by element. What is no equation of expressions is compared as Python does."""
    if is_array(left) or is_array(right):
        first, second = np.asarray(left, dtype=object), np.asarray(right, dtype=object)
        try:
            pairs = np.broadcast(first, second)
        except ValueError:
            raise ModelError(
                f"an equation has {first.shape} elements on its left side and {second.shape} on its right", hint="give both sides the same shape"
            ) from None
        return [make_equality(*pair) for pair in pairs]
    try:
        a, b = as_expr(left), as_expr(right)
    except TypeError:
        return left == right
    if (a.is_constant and b.is_constant) or a is b:
        return left == right
    if (a.is_boolean or b.is_boolean) and not _is_determined(b if a.is_boolean else a):
        return left == right
    return Equality(*_oriented(as_real(a), as_real(b)))  # a truth value is 1 or 0 where a number is to be equal to it


def _is_determined(side: Expr) -> bool:
    """Whether it is no condition either, and has something in it that an equation can give a value."""
    return not side.is_boolean and any(item.data.role in _DETERMINED for item in dependencies(side))


def read_equalities(item: Any, origin: Origin) -> list[Equality]:
    """Read what was yielded; an array of equalities counts element by element.

    Parameters
    ----------
    item : an equality, a condition ``left == right``, or an array of either.
    origin : where it was yielded.

    Raises
    ------
    ModelError : for anything that is no equation.
    """
    if is_array(item):
        return [equality for element in flat(item) for equality in read_equalities(element, origin)]
    if isinstance(item, Equality):
        return [item if item.origin.line else replace(item, origin=origin)]
    sides = equation_sides(item) if isinstance(item, Expr) else None
    if sides is None:
        raise _refuse(item, origin)
    return [Equality(*sides, origin)]


def _partners(first: Sequence[Equality], second: Sequence[Equality]) -> list[Equality]:
    """The second equations in the order of the first: those with the same left side together, the others as they come."""
    same: dict[int, Equality] = {}
    left_over = list(second)
    for place, item in enumerate(first):
        match = next((other for other in left_over if _rank(item.left) and other.left is item.left), None)
        if match is not None:
            same[place] = match
            left_over = [other for other in left_over if other is not match]
    return [same[place] if place in same else left_over.pop(0) for place in range(len(first))]


def merge_equalities(condition: Expr, first: Sequence[Equality], second: Sequence[Equality], place: Origin) -> list[Equality]:
    """The equations that hold in both branches of an ``if``, each choosing by its condition.

    Equal left sides stay: ``left == select(condition, r1, r2)``; otherwise ``0 == select(condition, residual1, residual2)``.

    Raises
    ------
    ModelError : for different numbers of equations.
    """
    if len(first) != len(second):
        lines = [", ".join(str(item.origin.line) for item in branch) or "none" for branch in (first, second)]
        raise ModelError(
            f"where `{condition!r}` there are {len(first)} equation(s) (lines: {lines[0]}), elsewhere {len(second)} (lines: {lines[1]})",
            origin=(*first, *second)[0].origin if first or second else place,
            hint="yield as many equations in each branch; a missing one may read `tg.der(self.x) == 0`",
        )
    merged: list[Equality] = []
    for item, other in zip(first, _partners(first, second), strict=True):
        if item.left is other.left:
            merged.append(Equality(item.left, select(condition, item.right, other.right), item.origin))
        else:
            merged.append(Equality(ZERO, select(condition, item.residual, other.residual), item.origin))
    return merged
