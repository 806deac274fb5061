"""Resets of states that constraints tie (stage: structure): where values do not fit, the run ends and says what they miss; nothing is projected.

In: a model whose index has been reduced, and the constraints, the given ones and their derivatives. Out: the same with a question in each body that
gives values to what they tie, asked of these values and of those that the body leaves alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidegate.expressions import ZERO, Expr, Role, differentiate, no_event, substitute
from tidegate.expressions.sparsity import dependencies
from tidegate.model import Action, Assignment, Model, Terminate
from tidegate.model.rewriting import with_actions
from tidegate.names import listed

__all__ = ["with_fitting_resets"]

_UNFIT: Final = 1e-4  # of the terms of a constraint; a run's own error in what a body leaves alone is less
_MOST_NAMED: Final = 4


def with_fitting_resets(model: Model, constraints: Sequence[tuple[Expr, str]]) -> Model:
    """The model with these questions.

    Parameters
    ----------
    model : of index one.
    constraints : what is zero by each, and what messages call it.
    """
    needs = [[item for item in dependencies(residual) if item.data.role is Role.UNKNOWN] for residual, _ in constraints]
    held_by: dict[Expr, list[int]] = {}
    for k, unknowns in enumerate(needs):
        for item in unknowns:
            held_by.setdefault(item, []).append(k)

    def change(actions: tuple[Action, ...]) -> tuple[Action, ...]:
        given = {action.target: action.value for action in actions if isinstance(action, Assignment)}
        more: list[Action] = []
        for k in sorted({k for item in given for k in held_by.get(item, ())}):
            residual, name = constraints[k]
            reset = [item.data.name for item in needs[k] if item in given]
            terms = [differentiate(residual, item) * item for item in needs[k]]
            value, *sizes = substitute([residual, *terms], given)
            size = sum((one * one for one in sizes), ZERO)
            text = f"the values that {listed(sorted(reset), _MOST_NAMED)} are reset to do not fit {name}"
            more.append(Terminate(text, no_event(value * value > _UNFIT**2 * size), is_failure=True))
        return (*actions, *more) if more else actions

    return with_actions(model, change)
