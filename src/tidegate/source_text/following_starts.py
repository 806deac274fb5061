"""Start values of states that follow from what is said to hold of others, as formulas (stage: source text).

In: a model of index one, and start values as they were given. Out: those that give way to ``fixed=True`` of a variable that is no state, in terms of
parameters, where they are solved for easily; BLOCKS solves the others (``start_and_end``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidegate.expressions import Expr, substitute
from tidegate.expressions.sparsity import dependencies
from tidegate.model import Model, VariableRole
from tidegate.structure.linear_solution import VanishingError, solved_together
from tidegate.structure.start_unknowns import StartUnknowns

__all__ = ["following_starts"]


def following_starts(model: Model, unknowns: StartUnknowns, starts: Mapping[Expr, Expr]) -> dict[Expr, Expr] | None:
    """Start values in terms of parameters, of states whose own gave way; None if what holds is not linear, or reads what is no state.

    Parameters
    ----------
    model : what is exported; unknowns : of its start.
    starts : of every unknown and discrete variable its start value as it was given.
    """
    if not unknowns.given_way:
        return {}
    algebraic = {item for variable in model.by_role(VariableRole.ALGEBRAIC) for item in variable.symbols()}
    if algebraic & dependencies(*(item.residual for item in unknowns.held)):
        return None
    known = {item: start for item, start in starts.items() if item not in set(unknowns.given_way)}
    return _solved(substitute([item.residual for item in unknowns.held], known), unknowns.given_way)


def _solved(residuals: Sequence[Expr], unknowns: Sequence[Expr]) -> dict[Expr, Expr] | None:
    """One after the other where an equation holds one unknown, the rest together; None if they are not linear."""
    found: dict[Expr, Expr] = {}
    rest = list(residuals)
    while rest:
        left = [item for item in unknowns if item not in found]
        alone = next((k for k, item in enumerate(rest) if len(dependencies(item) & set(left)) == 1), None)
        wanted = left if alone is None else [item for item in left if item in dependencies(rest[alone])]
        equations = rest if alone is None else [rest[alone]]
        try:
            solution = solved_together(equations, wanted, ())
        except VanishingError:
            return None
        if solution is None:
            return None
        new = dict(zip(wanted, solution.values, strict=True))
        found |= new
        rest = [] if alone is None else substitute([*rest[:alone], *rest[alone + 1 :]], new)
    return found
