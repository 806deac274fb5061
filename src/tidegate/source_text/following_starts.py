"""Start values of states that follow from what is said to hold of others, as formulas (stage: source text).

In: a model of index one, and start values as they were given. Out: those that give way to ``fixed=True`` of a variable that is no state; a run solves
for them, a block has them as formulas of parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidegate.errors import UsageError
from tidegate.expressions import Expr, substitute
from tidegate.expressions.sparsity import dependencies
from tidegate.model import Equation, VariableRole
from tidegate.names import listed
from tidegate.structure import Reduced
from tidegate.structure.held_starts import held_starts
from tidegate.structure.linear_solution import VanishingError, solved_together
from tidegate.structure.start_unknowns import start_unknowns

__all__ = ["following_starts"]


def following_starts(reduced: Reduced, starts: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """Start values in terms of parameters, of states whose own gave way.

    Parameters
    ----------
    reduced : what is exported.
    starts : of every unknown and discrete variable its start value as it was given.

    Raises
    ------
    UsageError : they cannot be solved for, since what holds is not linear, or reads what is no state.
    """
    model = reduced.model
    unknowns = start_unknowns(model, held_starts(reduced))
    if not unknowns.given_way:
        return {}
    found = None
    algebraic = {item for variable in model.by_role(VariableRole.ALGEBRAIC) for item in variable.symbols()}
    if not algebraic & dependencies(*(item.residual for item in unknowns.held)):
        known = {item: start for item, start in starts.items() if item not in set(unknowns.given_way)}
        found = _solved(substitute([item.residual for item in unknowns.held], known), unknowns.given_way)
    if found is None:
        raise _refusal(model.name, unknowns.given_way, unknowns.held)
    return found


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


def _refusal(name: str, unknowns: Sequence[Expr], held: Sequence[Equation]) -> UsageError:
    names = listed([item.data.name for item in unknowns])
    what = f"{name} cannot be exported: the start value of {names} is solved for at its start, so that {listed([item.label for item in held])} holds"
    return UsageError(what, hint=f"give {names} the start value that comes out, and leave out fixed=True", origin=held[0].origin)
