"""Elimination of aliases (stage: structure; a neutral model goes in, the same without unknowns that only repeat others comes out).

Equations ``a == b``, ``a == -b`` and ``a + b == 0`` between two unknowns, as connections of parts make them, and ``a == number``, as a ground does,
leave the system, and with them an unknown each; whatever reads ``a`` reads ``b``, ``-b`` or the number. An equation may become one of these when what
is known by others is put in: ``p - n == v`` where ``n`` is zero. What remains is equivalent whatever the parameters: nothing is divided by one, no
mode is chosen, and no equation with a condition in it is taken.

Two states may be one: the derivative of the one that goes is that of the one that stays. Of several the one that stays is a state rather than an
algebraic unknown, then the one with the shorter path, then the one declared first. An unknown stays if a clause gives it a value, or if it is
algebraic and its start value must hold exactly. What start value, limits and nominal size it has then says ``merged_unknowns``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

from tidegate.expressions import ZERO, Expr, Role, constant, symbol, walk
from tidegate.model import Action, Assignment, Equation, Form, Model, Variable, VariableRole
from tidegate.model.rewriting import expressions_of, rewritten
from tidegate.structure.merged_unknowns import Member, merged
from tidegate.structure.passes import Passed
from tidegate.structure.plain_sums import plain_sum

__all__ = ["eliminate_aliases"]

_ROUNDING: Final = 1e-14  # of the factors that it is the sum of: a factor that is less is zero

Known = tuple[Expr | None, float]  # an unknown and its sign, or none and a number


def eliminate_aliases(model: Model, /) -> Passed:
    """The model without the unknowns that are another unknown, its negative, or a number, by an equation that says no more.

    Parameters
    ----------
    model : validated and structurally sound.

    Raises
    ------
    StructureError : two of one value have start values, or limits, that exclude each other.

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
    if not found.taken:
        return Passed(model)
    kept = tuple(_numbered(equation, k) for k, equation in enumerate(model.equations) if k not in found.taken)
    replaced = _replaced(model, found)
    variables, demands = merged(model, found.groups())
    starts = _derivative_starts(model, found.all())
    new = rewritten(replace(model, equations=kept, derivative_starts=starts), replaced)
    return Passed(replace(new, variables=variables), replaced, demands)


def _numbered(equation: Equation, index: int) -> Equation:
    """The equation with the number that the user counts."""
    return equation if equation.label else replace(equation, label=f"equation {index + 1}")


def _replaced(model: Model, found: _Aliases) -> dict[Expr, Expr]:
    moving = {item for item in walk(expressions_of(model)) if item.op == "symbol" and item.data.role is Role.DERIVATIVE}
    replaced: dict[Expr, Expr] = {}
    for item, known in found.all().items():
        replaced[item] = _as(known, Role.UNKNOWN)
        replaced[symbol(Role.PREVIOUS, item.data.name)] = _as(known, Role.PREVIOUS)
        slope = symbol(Role.DERIVATIVE, item.data.name)
        if slope in moving:
            replaced[slope] = _as(known, Role.DERIVATIVE)
    return replaced


def _as(known: Known, role: Role) -> Expr:
    """What stands for an unknown, its derivative, or its value before."""
    stays, number = known
    if stays is None:
        return ZERO if role is Role.DERIVATIVE else constant(number)
    other = symbol(role, stays.data.name)
    return other if number > 0.0 else -other


def _derivative_starts(model: Model, gone: Mapping[Expr, Known]) -> dict[str, Expr]:
    """Guesses of derivatives, those of states that go given to those that stay."""
    starts = dict(model.derivative_starts)
    for item, (stays, sign) in gone.items():
        guess = starts.pop(item.data.name, None)
        if guess is not None and stays is not None:
            starts.setdefault(stays.data.name, guess if sign > 0.0 else -guess)
    return starts


class _Aliases:
    """Which unknowns are others, their negatives, or numbers.

    Parameters
    ----------
    model : with these.

    Attributes
    ----------
    taken : numbers of the equations that say no more than that.
    """

    def __init__(self, model: Model) -> None:
        pairs = [(item, variable) for variable in model.unknowns for item in variable.symbols()]
        self._place = {item: k for k, (item, _) in enumerate(pairs)}
        assigned = {action.target for action in _actions(model) if isinstance(action, Assignment)}
        self._rank = {item: _rank(variable, is_assigned=item in assigned) for item, variable in pairs}
        self._next: dict[Expr, tuple[Expr, int]] = {}
        self._number: dict[Expr, tuple[float, int]] = {}
        self._because: dict[Expr, list[int]] = {}
        self.taken: dict[int, Expr] = {}
        self._equations = model.equations
        self._sums: dict[int, tuple[dict[Expr, float], float]] = {}
        self._readers: dict[Expr, list[int]] = {}
        for index, equation in enumerate(model.equations):
            terms = plain_sum(equation.residual)
            if terms is not None and all(item in self._place for item in terms[0]):
                self._sums[index] = terms
                for item in terms[0]:
                    self._readers.setdefault(item, []).append(index)
        # those that are short as they stand come first, so that what they say does not depend on the order in which it was found
        waiting = sorted(self._sums, key=lambda k: -k)
        while waiting:
            index = waiting.pop()
            if index not in self.taken:
                waiting += reversed(self._look(index))

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

    def _look(self, index: int) -> list[int]:
        """Take an equation if it says only that one unknown is another or a number; the equations that may now say as much."""
        terms, number = self._sums[index]
        rest: dict[Expr, float] = {}
        sizes: dict[Expr, float] = {}
        for item, factor in terms.items():
            end, sign = self._end(item)
            if end in self._number:
                number += factor * sign * self._number[end][0]
            else:
                rest[end] = rest.get(end, 0.0) + factor * sign
                sizes[end] = sizes.get(end, 0.0) + abs(factor)
        rest = {item: factor for item, factor in rest.items() if abs(factor) > _ROUNDING * sizes[item]}
        if len(rest) == 1:
            ((item, factor),) = rest.items()
            return self._is_number(index, item, -number / factor) if self._rank[item] > _HELD else []
        if len(rest) != 2 or number != 0.0:
            return []
        (one, first), (other, second) = rest.items()
        return self._are_one(index, one, other, -1 if first == second else 1) if abs(first) == abs(second) else []

    def _is_number(self, index: int, item: Expr, number: float) -> list[int]:
        self._number[item] = (number + 0.0, index)
        self.taken[index] = item
        return self._readers.pop(item, [])

    def _are_one(self, index: int, one: Expr, other: Expr, sign: int) -> list[int]:
        stays, goes = sorted((one, other), key=lambda item: (self._rank[item], item.data.name.count("."), self._place[item]))
        if not _may_go(self._rank[goes], self._rank[stays]):
            return []
        self._next[goes] = (stays, sign)
        self.taken[index] = goes
        # the shorter list is looked at again: equations of both may have become shorter
        shorter, longer = sorted((self._readers.pop(goes, []), self._readers.pop(stays, [])), key=len)
        longer.extend(shorter)
        self._readers[stays] = longer
        return [k for k in shorter if k not in self.taken]

    def all(self) -> dict[Expr, Known]:
        """Every unknown that goes, with what it is."""
        return dict(self._known)

    @cached_property
    def _known(self) -> dict[Expr, Known]:
        found: dict[Expr, Known] = {}
        for item in self._place:
            end, sign = self._end(item)
            if end in self._number:
                found[item] = (None, sign * self._number[end][0] + 0.0)
            elif end is not item:
                found[item] = (end, float(sign))
        return found

    def groups(self) -> list[list[Member]]:
        """Unknowns that are one or a number, in the user's order, each with the equation that says so."""
        found: dict[Expr, list[Member]] = {}
        equation_of = {item: self._equations[index] for index, item in self.taken.items()}
        for item in self._place:
            end, sign = self._end(item)
            number = self._number[end][0] if end in self._number else None
            found.setdefault(end, []).append(Member(item, sign, item is end and number is None, number, equation_of.get(item)))
        return [group for group in found.values() if len(group) > 1 or group[0].number is not None]


_HELD: Final = 1  # of an algebraic unknown that stays; below it states that a clause gives a value


def _rank(variable: Variable, *, is_assigned: bool) -> int:
    """Who stays before whom: states that clauses set, what else is held, states, the rest."""
    if variable.role is VariableRole.STATE:
        return 0 if is_assigned else 2
    return _HELD if is_assigned or variable.fixed is True else 3


def _may_go(goes: int, stays: int) -> bool:
    return goes == 3 or (goes == 2 and stays != _HELD)


def _actions(model: Model) -> Iterator[Action]:
    for branch in (branch for when in model.whens for branch in when.branches):
        yield from branch.actions
    for event in (*model.time_events, *model.step_events):
        yield from event.actions
    yield from (*model.initial_actions, *model.final_actions)
