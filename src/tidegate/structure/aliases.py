"""Elimination of aliases (stage: structure; a neutral model goes in, the same without unknowns that only repeat others comes out).

Equations ``a == b``, ``a == -b`` and ``a + b == 0`` between two unknowns, as connections of parts make them, and with them an algebraic unknown each,
leave the system; whatever reads ``a`` reads ``b`` or ``-b``. What remains is equivalent whatever the numbers: nothing is divided, no mode is chosen.

An unknown stays if it is a state, if its start value must hold exactly, or if a clause gives it a value. The one that stays for several has the
first start value among theirs that is not zero, if it is a guess, and the smallest nominal size, so that none of them is solved with less accuracy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from tidegate.expressions import ZERO, Expr, Role, symbol
from tidegate.model import Action, Assignment, Equation, Form, Model, Variable, VariableRole
from tidegate.model.rewriting import rewritten
from tidegate.structure.passes import Passed

__all__ = ["eliminate_aliases"]

_DEEPEST: Final = 4  # operations in each other: -(a - b) == 0 is an alias, and longer sums are looked at no further


def eliminate_aliases(model: Model, /) -> Passed:
    """The model without the algebraic unknowns that are another unknown, or its negative, by an equation of their own.

    Parameters
    ----------
    model : validated and structurally sound.

    Examples
    --------
    >>> from tidegate.model import Model
    >>> a, b = (symbol(Role.UNKNOWN, name) for name in "ab")
    >>> variables = tuple(Variable(name, VariableRole.ALGEBRAIC) for name in "ab")
    >>> passed = eliminate_aliases(Model("pipe", Form.DAE, variables, (Equation(a, -b), Equation(ZERO, b * b - 2))))
    >>> [variable.name for variable in passed.model.variables], passed.replaced[b]
    (['a'], -a)
    """
    if model.form is not Form.DAE or any(part.role == "F" for part in model.opaque_parts):
        return Passed(model)
    found = _Aliases(model)
    kept = tuple(equation for equation in model.equations if not found.takes(equation))
    if len(kept) == len(model.equations):
        return Passed(model)
    new = {item: stays if sign > 0 else -stays for item, (stays, sign) in found.all().items()}
    before = {symbol(Role.PREVIOUS, item.data.name): _before(stays, sign) for item, (stays, sign) in found.all().items()}
    variables = tuple(part for variable in model.variables for part in found.remaining(variable))
    replaced = {**new, **before}
    return Passed(replace(rewritten(replace(model, equations=kept), replaced), variables=variables), replaced)


def _before(stays: Expr, sign: int) -> Expr:
    previous = symbol(Role.PREVIOUS, stays.data.name)
    return previous if sign > 0 else -previous


@dataclass(frozen=True, eq=False)
class _Element:
    """One element of a variable that is solved for."""

    variable: Variable
    start: Expr
    place: int


class _Aliases:
    """Which unknowns are others, or their negatives.

    Parameters
    ----------
    model : with these.
    """

    def __init__(self, model: Model) -> None:
        elements = [
            (item, variable, start) for variable in model.unknowns for item, start in zip(variable.symbols(), variable.starts(), strict=True)
        ]
        self._elements = {item: _Element(variable, start, place) for place, (item, variable, start) in enumerate(elements)}
        assigned = {action.target for action in _actions(model) if isinstance(action, Assignment)}
        self._free = {
            item
            for item, element in self._elements.items()
            if element.variable.role is VariableRole.ALGEBRAIC and element.variable.fixed is not True and item not in assigned
        }
        self._next: dict[Expr, tuple[Expr, int]] = {}

    def _end(self, item: Expr) -> tuple[Expr, int]:
        """The unknown that one stands for so far, and its sign."""
        path: list[tuple[Expr, int]] = []
        sign = 1
        while item in self._next:
            path.append((item, sign))
            item, step = self._next[item]
            sign *= step
        for passed, before in path:
            self._next[passed] = (item, sign * before)
        return item, sign

    def takes(self, equation: Equation) -> bool:
        """Whether the equation says no more than that one unknown is another; it is then noted, and not needed any more."""
        terms = _terms(equation.right - equation.left, 1, _DEEPEST)
        if terms is None or len(terms) != 2 or any(item not in self._elements for item, _ in terms):
            return False
        ends = [self._end(item) for item, _ in terms]
        sign = -terms[0][1] * terms[1][1] * ends[0][1] * ends[1][1]
        stays, goes = sorted((end for end, _ in ends), key=lambda item: (item in self._free, self._elements[item].place))
        if stays is goes or goes not in self._free:
            return False
        self._next[goes] = (stays, sign)
        return True

    def all(self) -> dict[Expr, tuple[Expr, int]]:
        """Every unknown that goes, with what it is."""
        return {item: self._end(item) for item in self._elements if item in self._next}

    def remaining(self, variable: Variable) -> Iterable[Variable]:
        """The variable as it is, or by themselves those of its elements that stay, if some of them go or stand for others."""
        items = variable.symbols() if variable.role in (VariableRole.STATE, VariableRole.ALGEBRAIC) else []
        if not any(item in self._next or item in self._standing for item in items):
            return (variable,)
        stay = [(item, name) for item, name in zip(items, variable.names, strict=True) if item not in self._next]
        return [self._element(item, replace(variable, name=name, shape=(), start=(self._elements[item].start,))) for item, name in stay]

    @cached_property
    def _standing(self) -> dict[Expr, list[tuple[Expr, int]]]:
        """For unknowns that stay those that go for their sake, in the user's order."""
        found: dict[Expr, list[tuple[Expr, int]]] = {}
        for item, (stays, sign) in self.all().items():
            found.setdefault(stays, []).append((item, sign))
        return found

    def _element(self, item: Expr, alone: Variable) -> Variable:
        """An unknown that stays, with what it takes over from those that go."""
        group = sorted([(item, 1), *self._standing.get(item, ())], key=lambda pair: self._elements[pair[0]].place)
        sizes = [size for other, _ in group if (size := self._elements[other].variable.nominal) is not None]
        starts = [self._elements[other].start if sign > 0 else -self._elements[other].start for other, sign in group]
        is_guess = alone.role is VariableRole.ALGEBRAIC and alone.fixed is not True
        start = next((start for start in starts if start is not ZERO), ZERO) if is_guess else alone.start[0]
        return replace(alone, start=(start,), nominal=min(sizes, default=None))


def _actions(model: Model) -> Iterator[Action]:
    for branch in (branch for when in model.whens for branch in when.branches):
        yield from branch.actions
    for event in (*model.time_events, *model.step_events):
        yield from event.actions
    yield from (*model.initial_actions, *model.final_actions)


def _terms(item: Expr, sign: int, deepest: int) -> list[tuple[Expr, int]] | None:
    """The symbols that are added and subtracted, with their signs; None for anything else than a short sum."""
    if item is ZERO:
        return []
    if item.op == "symbol":
        return [(item, sign)]
    if item.op not in ("add", "sub", "neg") or not deepest:
        return None
    first = _terms(item.args[0], -sign if item.op == "neg" else sign, deepest - 1)
    second = [] if item.op == "neg" else _terms(item.args[1], -sign if item.op == "sub" else sign, deepest - 1)
    return None if first is None or second is None else first + second
