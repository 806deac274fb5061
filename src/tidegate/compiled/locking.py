"""Locked evaluation: every relation of a model becomes a mode symbol, so that what is integrated is smooth.

In: the model's expressions. Out: the same expressions on mode symbols, the list of guards (discontinuity functions with what
they decide), and for every guard the condition under which it is looked at at all (its activity). Carver 1978; Park and Barton 1996
(discontinuity locking); Tolsma and Barton 2002 (guards of nested conditions).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import field
from operator import is_

from tidegate.expressions import FALSE, TRUE, Expr, Role, heard, is_quiet, lookup, makes_events, node, symbol, walk
from tidegate.quick_dataclass import dataclass

__all__ = ["Guard", "GuardKind", "Locking", "activities"]

_CONTINUOUS = frozenset({Role.TIME, Role.UNKNOWN, Role.DERIVATIVE})


class GuardKind(enum.Enum):
    """What a guard decides."""

    RELATION = "relation"  # a truth value
    LOWER = "lower"  # that a piece number is not too large
    UPPER = "upper"  # that a piece number is not too small


@dataclass(frozen=True, eq=False)
class Guard:
    """One discontinuity function.

    Parameters
    ----------
    function : locked expression; for a relation true where ``>= 0`` (``> 0`` if strict), for a piece's edge inside where ``> 0``.
    strict : the relation was ``>`` and is false where the function is zero.
    kind : what it decides.
    mode : the mode symbol it decides about.
    source : the user's own node, for messages.
    """

    function: Expr
    strict: bool
    kind: GuardKind
    mode: Expr
    source: Expr


@dataclass(eq=False)
class Locking:
    """Builds the guards of one model; ``lock`` may be called for one group of expressions after the other."""

    guards: list[Guard] = field(default_factory=list[Guard])
    modes: list[Expr] = field(default_factory=list[Expr])
    _mode_of: dict[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    _locked: dict[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    _known: set[Expr] = field(default_factory=set[Expr])
    _continuous: set[Expr] = field(default_factory=set[Expr])
    _holds_quiet: set[Expr] = field(default_factory=set[Expr])

    def lock(self, roots: Iterable[Expr], *, add_guards: bool = True) -> list[Expr]:
        """The expressions with every relation of time or unknowns replaced by its mode symbol, but those inside ``no_event``.

        Parameters
        ----------
        roots : expressions as the user wrote them.
        add_guards : False inside the bodies of events: what is only looked at there needs no guard and is evaluated
            directly; a relation that has a guard already still answers with its locked value.
        """
        wanted = list(roots)
        local = self._locked if add_guards else {}
        for item in walk(wanted):
            if is_quiet(item) or not self._holds_quiet.isdisjoint(item.args):
                self._holds_quiet.add(item)
            if item in self._locked:
                local[item] = self._locked[item]
            else:
                local[item] = self._replace(item, tuple([local[arg] for arg in item.args]), add_guards=add_guards) if item.args else item
        return [local[root] for root in wanted]

    def _replace(self, item: Expr, args: tuple[Expr, ...], *, add_guards: bool) -> Expr:
        if add_guards and makes_events(item) and item.args[0] in self._holds_quiet:
            args = tuple(self.lock([heard(item.args[0])]))  # a jump of what is compared has to be located, to find what comes of it
        known = self._mode_of.get(item)
        if known is not None:
            return node("nonzero", (known,)) if item.is_boolean else known
        if add_guards and makes_events(item) and self.varies(args[0]):
            return self._guarded(item, args[0])
        return item if all(map(is_, args, item.args)) else node(item.op, args, item.data)

    def varies(self, locked: Expr) -> bool:
        """True if the locked expression moves between events; one of modes only is decided by them, without a guard of its own."""
        if locked not in self._known:
            for item in walk([locked], self._known):
                if not self._continuous.isdisjoint(item.args) or (item.op == "symbol" and item.data.role in _CONTINUOUS):
                    self._continuous.add(item)
        return locked in self._continuous

    def _guarded(self, item: Expr, argument: Expr) -> Expr:
        if item.op == "nonzero":
            # x != 0 is the union of two relations; at zero itself neither holds
            above = self._relation(item, argument, strict=True)
            below = self._relation(item, -argument, strict=True)
            return above | below
        if item.op in ("ge", "gt"):
            if argument.is_constant:
                return TRUE if (argument.value > 0 or (item.op == "ge" and argument.value == 0)) else FALSE
            truth = self._relation(item, argument, strict=item.op == "gt")
            self._mode_of[item] = truth.args[0]
            return truth
        mode = self._new_mode()
        self._mode_of[item] = mode
        if item.op == "floor":
            lower, upper = mode, mode + 1.0
        else:
            grid = item.data
            lower = lookup(mode, (-1e300, *grid[1:-1]))
            upper = lookup(mode, (*grid[1:-1], 1e300))
        self.guards.append(Guard(argument - lower, False, GuardKind.LOWER, mode, item))
        self.guards.append(Guard(upper - argument, True, GuardKind.UPPER, mode, item))
        return mode

    def _relation(self, item: Expr, function: Expr, *, strict: bool) -> Expr:
        mode = self._new_mode()
        self.guards.append(Guard(function, strict, GuardKind.RELATION, mode, item))
        return node("nonzero", (mode,))

    def _new_mode(self) -> Expr:
        mode = symbol(Role.MODE, f"mode{len(self.modes)}")
        self.modes.append(mode)
        return mode


def activities(locking: Locking, roots: Sequence[Expr]) -> dict[Expr, Expr]:
    """For every node below the roots the condition (of modes and discrete variables) under which its value matters.

    A path of selects leads from the roots to a node; the conjunction of the conditions on it, or'ed over all paths, is the activity.
    The right side of ``and`` matters only where the left side holds, of ``or`` only where it does not. A mode symbol uses
    the functions of its guards. Nodes that are not reached are not in the answer; where there are no guards, none is, since nothing asks.
    """
    if not locking.guards:
        return {}
    guards_of: dict[Expr, list[int]] = {}
    for index, guard in enumerate(locking.guards):
        guards_of.setdefault(guard.mode, []).append(index)

    activity: dict[Expr, Expr] = dict.fromkeys(roots, TRUE)
    for item in reversed(_order_with_guards(locking, roots, guards_of)):
        here = activity.get(item, FALSE)
        for child, condition in _children(item, guards_of, locking):
            if activity.get(child) is not TRUE:
                activity[child] = activity.get(child, FALSE) | (here & condition)
    return activity


def _children(item: Expr, guards_of: dict[Expr, list[int]], locking: Locking) -> list[tuple[Expr, Expr]]:
    if item.op == "symbol":
        return [(locking.guards[index].function, TRUE) for index in guards_of.get(item, ())]
    if item.op in ("select", "and", "or") and locking.varies(item.args[0]):  # it holds no mode, and changes without an event
        return [(arg, TRUE) for arg in item.args]
    if item.op == "select":
        condition, a, b = item.args
        return [(condition, TRUE), (a, condition), (b, ~condition)]
    if item.op == "and":
        return [(item.args[0], TRUE), (item.args[1], item.args[0])]
    if item.op == "or":
        return [(item.args[0], TRUE), (item.args[1], ~item.args[0])]
    return [(arg, TRUE) for arg in item.args]


def _order_with_guards(locking: Locking, roots: Sequence[Expr], guards_of: dict[Expr, list[int]]) -> list[Expr]:
    """Arguments before users, where a mode symbol uses the functions of its guards."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(root, False) for root in roots]
    while stack:
        item, expanded = stack.pop()
        if expanded:
            order.append(item)
            continue
        if item in seen:
            continue
        seen.add(item)
        stack.append((item, True))
        children = _children(item, guards_of, locking)
        # the piece edges look up their own mode: that use is no path
        stack.extend((child, False) for child, _ in children if child not in seen)
    return order
