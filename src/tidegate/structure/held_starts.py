"""Start values that must hold though their variables are no states (stage: structure). In: a model and what passes made of it. Out: equations.

What is said to be fixed and became algebraic, since a constraint determines it, is an equation of the start: it takes the place of the start value of
a state that was not said to hold (``start_unknowns``), as ``fixed=true`` does in Modelica (specification 3.6, section 8.6).
"""

from __future__ import annotations

from dataclasses import field

from tidegate.expressions import Expr, substitute
from tidegate.model import Equation, Model, VariableRole
from tidegate.quick_dataclass import dataclass
from tidegate.structure.passes import Reduced

__all__ = ["HeldStarts", "held_starts"]


@dataclass(frozen=True, eq=False)
class HeldStarts:
    """What is asked of the start besides its equations.

    Parameters
    ----------
    equations : a start value each.
    pinned : states whose own start values are to hold.
    """

    equations: tuple[Equation, ...] = ()
    pinned: frozenset[Expr] = field(default_factory=frozenset[Expr])


def held_starts(reduced: Reduced) -> HeldStarts:
    """Start values that must hold; no equations where states have them all.

    Parameters
    ----------
    reduced : a model of index one, and the one it was made of.
    """
    model = reduced.model
    states = {item for variable in model.by_role(VariableRole.STATE) for item in variable.symbols()}
    open_ones = [item for item in reduced.held if item.is_candidate]
    others = [item for item in reduced.held if not item.is_candidate and _unsigned(item.value) not in states]
    if not others:
        return HeldStarts()  # of candidates the first choice keeps what must hold
    # with candidates the states are sums of them: what must hold among these is an equation too
    equations = tuple(Equation(item.value, item.start, item.origin, f"the start value of {item.name}") for item in (*open_ones, *others))
    return HeldStarts(equations, frozenset(_said_to_hold(reduced.given, reduced, states)))


def _said_to_hold(given: Model, reduced: Reduced, states: set[Expr]) -> set[Expr]:
    """States that are what the user said must hold, or gave a value."""
    items = [
        item
        for variable in given.by_role(VariableRole.STATE, VariableRole.ALGEBRAIC)
        if variable.fixed is True or (variable.fixed is None and variable.role is VariableRole.STATE and variable.start_source == "given")
        for item in variable.symbols()
    ]
    return {_unsigned(value) for value in substitute(items, reduced.replaced)} & states


def _unsigned(value: Expr) -> Expr:
    return value.args[0] if value.op == "neg" else value
