"""Clauses that happen at the start of a run too, where their condition is true there (stage: model). In: what they do; out: initial actions.

A clause happens when its condition becomes true, and at the start nothing has become so (Modelica, section 8.3.5.2). Who wants it says
``at_start=True``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tidegate.expressions import Expr, select
from tidegate.model.events import Action, Assignment, Branch

__all__ = ["with_starts_of"]


def with_starts_of(initial: Sequence[Action], branches: Iterable[Branch]) -> list[Action]:
    """Initial actions with what those of these branches that happen at the start do; of two that give one variable a value the later counts.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> T, on = symbol(Role.UNKNOWN, "T"), symbol(Role.DISCRETE, "on")
    >>> with_starts_of([], [Branch((T < 18.0,), (Assignment(on, on + 1.0),), at_start=True)])[0].value
    on + 1 if T < 18 else on
    """
    assigned: dict[Expr, Assignment] = {action.target: action for action in initial if isinstance(action, Assignment)}
    said: list[Action] = [action for action in initial if not isinstance(action, Assignment)]
    for branch in (item for item in branches if item.at_start):
        holds = branch.conditions[0]
        for condition in branch.conditions[1:]:
            holds |= condition
        for action in branch.actions:
            if isinstance(action, Assignment):
                before = assigned[action.target].value if action.target in assigned else action.target
                assigned[action.target] = replace(action, value=select(holds, action.value, before))
            else:
                said.append(replace(action, condition=action.condition & holds))
    return [*assigned.values(), *said]
