"""Values that an unknown never crosses, as the equations say (stage: compiled). In: right sides and guards, locked; out: guards with a zero there.

If the right side of ``x' = f`` is zero wherever x = c is, whatever everything else is, and smooth there, then x = c is a solution of its own. No
other solution meets it (Picard-Lindeloef): what is above stays above, however near it comes. A population that dies out, a current that decays, what
is left of a substance have such a value at zero, a temperature that goes to that outside has it there, at whatever rate that may vary. A guard that
is zero where x = c is has no event there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Final

import numpy as np

from tidegate.compiled.compiled_model import KeptSides
from tidegate.compiled.divisors import divided_by
from tidegate.compiled.locking import Guard, Locking
from tidegate.compiled.mass_form import MassForm
from tidegate.expressions import ONE, ZERO, Expr, Role, walk
from tidegate.expressions.nodes import constant
from tidegate.expressions.sparsity import dependencies
from tidegate.expressions.substitute import substitute
from tidegate.expressions.zeros import may_be_zero
from tidegate.quick_dataclass import dataclass

__all__ = ["keeps_its_side", "kept_sides"]

# what has a bounded derivative wherever it is finite; divisors and exponents are looked at by themselves
_SMOOTH: Final = frozenset("symbol add sub mul neg div pow select sin cos exp expm1 sinh cosh tanh atan erf".split())
_LEVELS: Final = (Role.PARAMETER, Role.DISCRETE)
_MOST_READ: Final = 6  # unknowns of a guard: a sum of many is zero where none of them is
_MOST_PARTS: Final = 100  # of an expression that is looked through for values


def keeps_its_side(x: Expr, level: Expr, rate: Expr, varies: Callable[[Expr], bool]) -> bool:
    """True if the locked right side of an unknown vanishes where it has this value, and is smooth there.

    Parameters
    ----------
    level : what does not move between events.
    varies : whether a locked expression moves between events.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x, y, c = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y"), symbol(Role.PARAMETER, "c")
    >>> keeps_its_side(x, c, (c - x) * (1.0 + y), lambda part: part is not c)
    True
    >>> keeps_its_side(x, c, 0.1 - x, lambda part: part is not c)
    False
    """
    if x not in dependencies(rate) or not _is_zero(_at(rate, x, [level])[0]):
        return False
    with_x = {x}
    for item in walk([rate]):
        if not with_x.isdisjoint(item.args):
            with_x.add(item)
            if item.op not in _SMOOTH or not _is_smooth(item, with_x):
                return False
    divisors = [factor for item in walk([rate]) for factor in divided_by(item) if factor in with_x or varies(factor)]
    return not any(may_be_zero(divisors))


def _at(expr: Expr, x: Expr, levels: Sequence[Expr]) -> list[Expr]:
    return [substitute([expr], {x: level})[0] for level in levels]


def _is_smooth(item: Expr, with_x: set[Expr]) -> bool:
    """Whether an operation of what has x in it is smooth, if its divisors are not zero."""
    if item.op == "select":
        return item.args[0] not in with_x
    if item.op == "pow":
        exponent = item.args[1]
        return exponent.is_constant and exponent.value == int(exponent.value) and exponent.value >= 1.0
    return True


def _is_zero(expr: Expr) -> bool:
    return expr.is_constant and expr.value == 0.0


@dataclass(eq=False)
class _Kept:
    """The values of a model's unknowns that are not crossed, as far as guards ask for them."""

    form: MassForm
    locking: Locking
    _known: dict[tuple[int, Expr], bool] = field(default_factory=dict[tuple[int, Expr], bool])

    def of(self, guard: Guard) -> list[tuple[int, Expr]]:
        """Unknowns and their values at which a guard has a zero."""
        source = guard.source
        argument = self.locking.lock([source.args[0]])[0]
        read = sorted(self._place[s] for s in dependencies(argument) if s in self._place)
        found: list[tuple[int, Expr]] = []
        for k in read if len(read) <= _MOST_READ else ():
            written = _values_in(self.form.rhs[k] if source.op in ("floor", "segment") else argument)
            at_levels = zip(written, _at(argument, self.form.unknowns[k], written), strict=True)
            found += [(k, level) for level, value in at_levels if _is_edge(source, value) and self._keeps(k, level)]
        return found

    @cached_property
    def _place(self) -> dict[Expr, int]:
        return {x: k for k, x in enumerate(self.form.unknowns)}

    def _keeps(self, k: int, level: Expr) -> bool:
        if (k, level) not in self._known:
            x, rate = self.form.unknowns[k], self.form.rhs[k]
            self._known[k, level] = keeps_its_side(x, level, rate, self.locking.varies) and self._is_plain(k)
        return self._known[k, level]

    def _is_plain(self, k: int) -> bool:
        """Whether it is the derivative of this unknown alone that an equation gives, which reads no algebraic ones."""
        mass = self.form.mass
        if (k, k) not in mass or mass[k, k] is not ONE or any((i == k) != (j == k) for i, j in mass):
            return False
        differential = {self.form.unknowns[j] for _, j in mass}
        return all(s in differential for s in dependencies(self.form.rhs[k]) if s.data.role is Role.UNKNOWN)


def _values_in(expr: Expr) -> list[Expr]:
    """Zero, and the numbers, parameters and discrete variables that are written there."""
    parts = list(walk([expr]))
    if len(parts) > _MOST_PARTS:
        return [ZERO]
    numbers = {0.0, *(sign * item.value for item in parts if item.is_constant for sign in (1.0, -1.0))}
    symbols = [item for item in parts if item.op == "symbol" and item.data.role in _LEVELS]
    return [*map(constant, sorted(numbers)), *symbols]


def _is_edge(source: Expr, value: Expr) -> bool:
    """Whether the argument of a relation, a floor or a table has this value where something changes."""
    if not value.is_constant:
        return False
    if source.op == "floor":
        return value.value == np.floor(value.value)
    return value.value in source.data if source.op == "segment" else value.value == 0.0


def kept_sides(form: MassForm, locking: Locking, positions: Mapping[Expr, tuple[str, int]]) -> KeptSides:
    """What the guards of a model have to do with values that are not crossed.

    Parameters
    ----------
    positions : vector and index of parameters and discrete variables.
    """
    kept = _Kept(form, locking)
    of_guards = [kept.of(guard) for guard in locking.guards]
    entries = list(dict.fromkeys(pair for pairs in of_guards for pair in pairs))
    numbers = {pair: number for number, pair in enumerate(entries)}
    places = [positions.get(level, ("", -1)) for _, level in entries]
    return KeptSides(
        unknown=np.array([k for k, _ in entries], dtype=np.int64),
        level=np.array([level.value if level.is_constant else 0.0 for _, level in entries]),
        parameter=np.array([index if vector == "p" else -1 for vector, index in places], dtype=np.int64),
        discrete=np.array([index if vector == "m" else -1 for vector, index in places], dtype=np.int64),
        first=np.cumsum([0, *map(len, of_guards)]),
        of_guards=np.array([numbers[pair] for pairs in of_guards for pair in pairs], dtype=np.int64),
    )
