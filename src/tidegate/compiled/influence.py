"""What depends on what, through equations and clauses (stage: compiled). In: a neutral model and a relation, or names; out: names."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.expressions import Expr, Role, dependencies, walk
from tidegate.model import Action, Assignment, Form, Model

__all__ = ["influenced"]


def influenced(model: Model, source: Expr | None, first: Iterable[str] = ()) -> set[str]:
    """Names of all unknowns, discrete variables and outputs that depend on a relation, or on variables named first, directly or through others."""
    names: set[str] = set(first)

    def depends(roots: Iterable[Expr]) -> bool:
        return any(
            item is source or (item.op == "symbol" and item.data.role is not Role.PARAMETER and item.data.name in names) for item in walk(roots)
        )

    def add_targets(actions: Iterable[Action], whole: bool) -> None:
        names.update(a.target.data.name for a in actions if isinstance(a, Assignment) and (whole or depends([a.value])))

    while True:
        before = len(names)
        for equation in model.equations:
            if depends([equation.residual]):
                names.update(_determined(model, equation.left, equation.residual))
        for when in model.whens:
            whole = depends(c for branch in when.branches for c in branch.conditions)
            for branch in when.branches:
                add_targets(branch.actions, whole)
        for event in model.time_events:
            add_targets(event.actions, depends(e for e in (event.first, event.period, event.condition) if e is not None))
        names.update(definition.name for definition in model.definitions if depends([definition.value]))
        if len(names) == before:
            return names


def _determined(model: Model, left: Expr, residual: Expr) -> set[str]:
    """What an equation may be solved for: the derivative on the left of an ODE's, else every derivative and algebraic unknown in it."""
    if model.form is Form.ODE:
        return {left.data.name}
    states = {name for variable in model.unknowns if variable.role.value == "state" for name in variable.names}
    roles = {s: s.data.role for s in dependencies(residual)}
    return {s.data.name for s, role in roles.items() if role is Role.DERIVATIVE or (role is Role.UNKNOWN and s.data.name not in states)}
