"""Roots that are vertical at zero and change their sign there make no events (stage: structure).

In: a model; out: the same, with expressions like ``sign(d) * sqrt(abs(d))`` as functions without events, and with a finite slope.

Such an expression, Torricelli's law between two levels, is continuous and infinitely steep where ``d`` is zero. An event there would have to go on
from the one point at which no derivative is finite, and where levels rest at each other, from one event to the next without end. As a function
without events it is only stiff: implicit methods go through the place. So that they may rest there, too, an odd cubic, which joins in value and
slope, stands for what is nearer to zero than a small part of the tolerance of what is compared: nearer than the run can tell it from zero.

What is taken for such a root is found by numbers: around zero of what is compared, its values change their sign, and fall by one power below 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import Final

from tidegate.expressions import ZERO, Expr, Role, constant, differentiate, evaluate, makes_events, no_event, node, select, symbol, walk
from tidegate.expressions.no_event import without_own_event
from tidegate.expressions.substitute import Substitution, substitute
from tidegate.model import Model, Variable, VariableRole
from tidegate.model.rewriting import rewritten
from tidegate.quick_dataclass import dataclass
from tidegate.structure.passes import Passed

__all__ = ["TOLERANCE", "steep_roots"]

TOLERANCE: Final = "relative tolerance of the run"  # name of the hidden variable that holds it

_WHOLE: Final = frozenset({"mul", "div", "select"})  # what such an expression may be
_UNKNOWN_CALLS: Final = frozenset({"call", "output", "slope", "delay", "past"})
_LARGEST: Final = 100  # nodes of one, without those of what is compared
_NEARER: Final = 1e-4
_DISTANCES: Final = (1e-8, 1e-8 * _NEARER, 1e-8 * _NEARER**2)  # from zero
_FLAT: Final = 0.02  # powers up to here are as good as jumps
_SHALLOW: Final = 0.95  # powers from here on are as good as straight
_ALIKE: Final = 1e-6  # of powers on both sides and at all distances: so much may they differ
_TRIALS: Final = 3
_SPREAD: Final = 0.6180339887498949  # multiples of it, without their whole part, lie evenly
_MOST: Final = 8  # different things compared, below an expression that is looked at
_PART: Final = 0.1  # of the tolerance
_DISTANCE: Final = symbol(Role.UNKNOWN, " distance from zero")


def steep_roots(model: Model) -> Passed:
    """The model with what is vertical at zero, and changes its sign there, as a function without events.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> from tidegate.expressions.elementary import sign, sqrt
    >>> from tidegate.model import Equation, Form, Variable, VariableRole
    >>> x, rate = symbol(Role.UNKNOWN, "x"), symbol(Role.DERIVATIVE, "x")
    >>> model = Model("leak", Form.ODE, (Variable("x", VariableRole.STATE),), (Equation(rate, -sign(x) * sqrt(abs(x))),))
    >>> any(makes_events(item) for item in walk([steep_roots(model).model.equations[0].right]))
    False
    """
    search = _Search(model)
    search.look([side for item in model.equations for side in (item.left, item.right)] + [item.value for item in model.definitions])
    if not search.found:
        return Passed(model)
    tolerance = Variable(TOLERANCE, VariableRole.DISCRETE, start=(constant(1e-6),), is_hidden=True)
    new = rewritten(model, search.found)
    return Passed(replace(new, variables=(*new.variables, tolerance)))


@dataclass(eq=False)
class _Search:
    """Expressions of a model and what stands for them; of every node, what is compared in relations below it, and whether a root is."""

    model: Model
    found: dict[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    compared: dict[Expr, tuple[Expr, ...]] = field(default_factory=dict[Expr, tuple[Expr, ...]])
    is_steep: dict[Expr, bool] = field(default_factory=dict[Expr, bool])

    def look(self, roots: Iterable[Expr]) -> None:
        """Go through the graph, arguments first."""
        nodes = list(walk(roots))
        if not any(map(_is_root, nodes)):
            return
        for item in nodes:
            below = dict.fromkeys(one for arg in item.args for one in self.compared[arg])
            if len(below) > _MOST:
                below.clear()
            if makes_events(item) and item.op in ("ge", "gt"):
                below[item.args[0]] = None
            self.is_steep[item] = _is_root(item) or any(self.is_steep[arg] for arg in item.args)
            if item.op in _WHOLE and self.is_steep[item]:
                for one in below:
                    power = _power(item, one)
                    if power is not None:
                        self.found[item] = _stiff(substitute([item], self.found)[0], one, power, self._width(one))
                        below = {other: None for other in below if other is not one and other is not -one}
                        break
            self.compared[item] = tuple(below)

    def _width(self, compared: Expr) -> Expr:
        """How far from zero the cubic goes."""
        total: Expr = ZERO
        for item in _unknowns(compared):
            total = total + abs(differentiate(compared, item)) * (abs(item) + 0.01 * self._nominal.get(item, 1.0))
        return no_event(_PART * symbol(Role.DISCRETE, TOLERANCE) * total)

    @cached_property
    def _nominal(self) -> dict[Expr, float]:
        return {s: v.nominal or 1.0 for v in self.model.by_role(VariableRole.STATE, VariableRole.ALGEBRAIC) for s in v.symbols()}


def _is_root(item: Expr) -> bool:
    """Whether the node itself may be vertical somewhere."""
    if item.op == "pow":
        exponent = item.args[1]
        return not exponent.is_constant or 0.0 < exponent.value < 1.0
    return item.op == "sqrt"


def _unknowns(compared: Expr) -> list[Expr]:
    return [item for item in walk([compared]) if item.op == "symbol" and item.data.role is Role.UNKNOWN]


def _power(whole: Expr, compared: Expr) -> float | None:
    """With which power of the distance the expression falls to zero, where what is compared is zero; None if it is no such root."""
    if not _unknowns(compared):
        return None
    inside = list(islice(walk([whole], {compared, -compared}), _LARGEST + 1))
    if len(inside) > _LARGEST or any(item.op in _UNKNOWN_CALLS for item in inside):
        return None
    own = _at(whole, compared, _DISTANCE)
    at_zero = substitute([own], {_DISTANCE: ZERO})[0]
    if not (at_zero.is_constant and at_zero.value == 0.0):
        return None
    symbols = [item for item in walk([own]) if item.op == "symbol" and item is not _DISTANCE]
    trials = (_fall(own, {item: 0.5 + (k + 1) * trial * _SPREAD % 1.0 for k, item in enumerate(symbols)}) for trial in range(1, _TRIALS + 1))
    return next((power for power in trials if power is not None), None)


def _fall(own: Expr, values: dict[Expr, float]) -> float | None:
    above, below = ([evaluate([own], values | {_DISTANCE: side * distance})[0] for distance in _DISTANCES] for side in (1.0, -1.0))
    if not all(map(math.isfinite, (*above, *below))) or not all(a * b < 0.0 for a, b in zip(above, below, strict=True)):
        return None
    powers = [math.log(abs(near / far)) / math.log(_NEARER) for side in (above, below) for far, near in pairwise(side)]
    return round(powers[0], 4) if max(powers) - min(powers) < _ALIKE and _FLAT < powers[0] < _SHALLOW else None


def _at(whole: Expr, compared: Expr, value: Expr) -> Expr:
    """The expression where what is compared has this value."""
    put_in = Substitution()
    put_in[compared] = value
    if -compared is not compared:
        put_in[-compared] = -value
    return put_in([whole])[0]


def _stiff(whole: Expr, compared: Expr, power: float, width: Expr) -> Expr:
    """The expression without its events, and with the cubic in the midst."""
    put_in = Substitution()
    for item in walk([whole]):
        if makes_events(item) and item.op in ("ge", "gt"):
            at = _at(item.args[0], compared, ZERO)
            if at.is_constant and at.value == 0.0:
                put_in[item] = without_own_event(node(item.op, tuple(put_in(item.args))))
    quiet = put_in([whole])[0]
    part = compared / width
    height = select(without_own_event(compared >= 0), _at(quiet, compared, width), -_at(quiet, compared, -width))
    cubic = height * part * ((3.0 - power) + (power - 1.0) * part * part) / 2.0
    return select(without_own_event((compared > -width) & (compared < width)), cubic, quiet)
