"""Reduction of the index (stage: structure; a neutral model goes in, one that can be solved for its derivatives and algebraic unknowns comes out).

Constraints between states are differentiated until every equation has an unknown of its own (``pantelides``), and as many states as there are
constraints become algebraic unknowns, with their derivatives (``dummy_derivatives``); where which ones depends on where the model stands, the
choice is made while it runs (``open_states``). The constraints themselves stay, so that nothing drifts away from them. What was a state keeps its
name and its start value, which is then a guess; if it was to hold exactly, the start is compared with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.model import Form, Model, VariableRole
from tidegate.structure.analyse import refuse_singular
from tidegate.structure.incidence import incidence
from tidegate.structure.matching import maximum_matching
from tidegate.structure.passes import Passed

if TYPE_CHECKING:
    from tidegate.structure.reduction import Reduction
    from tidegate.structure.state_report import StateReport

__all__ = ["chosen_states", "reduce_index"]


def reduce_index(model: Model, /) -> Passed:
    """The model with an index of at most one: itself, or what can be solved in its place.

    Parameters
    ----------
    model : validated and structurally sound.

    Raises
    ------
    StructureError
        for constraints that cannot be differentiated, or depend on each other, and for wishes and events that want a state where there is none.

    Examples
    --------
    Two masses, of which one moves as the other does:

    >>> from tidegate.expressions import Role, symbol
    >>> from tidegate.model import Equation, Form, Model, Variable, VariableRole
    >>> a, b, force = (symbol(Role.UNKNOWN, name) for name in ("a", "b", "force"))
    >>> der_a, der_b = (symbol(Role.DERIVATIVE, name) for name in "ab")
    >>> states = [Variable(name, VariableRole.STATE) for name in "ab"]
    >>> equations = (Equation(der_a, 1.0 - force), Equation(2.0 * der_b, force), Equation(2.0 * a, 3.0 * b))
    >>> model = Model("masses", Form.DAE, (*states, Variable("force", VariableRole.ALGEBRAIC)), equations)
    >>> passed = reduce_index(model)
    >>> [(variable.name, variable.role.value) for variable in passed.model.unknowns]
    [('a', 'state'), ('b', 'algebraic'), ('force', 'algebraic'), ('der(b)', 'algebraic')]
    >>> passed.replaced[der_b]
    der(b)
    """
    reduction = _reduction_of(model)
    return Passed(model) if reduction is None else reduction.passed()


def chosen_states(model: Model, /) -> StateReport:
    """Which states a model has once its index is reduced, and why.

    Parameters
    ----------
    model : as for ``reduce_index``.
    """
    reduction = _reduction_of(model)
    if reduction is None:
        from tidegate.structure.state_report import StateReport

        return StateReport(tuple(name for variable in model.by_role(VariableRole.STATE) for name in variable.names))
    return reduction.report


def _reduction_of(model: Model) -> Reduction | None:
    """None where there is nothing to do; most models do without what there would be to do it."""
    if any(part.role == "F" for part in model.opaque_parts):
        return None
    never = [variable.name for variable in model.by_role(VariableRole.STATE) if variable.state_select == "never"]
    always = [variable.name for variable in model.by_role(VariableRole.ALGEBRAIC) if variable.state_select == "always"]
    if model.form is Form.DAE:
        graph = incidence(model)
        if len(graph.rows) == len(graph.columns) and not maximum_matching(graph.rows, len(graph.columns)).is_perfect:
            refuse_singular(model)
            from tidegate.structure.reduction import Reduction

            return Reduction(model)
    if never or always:
        from tidegate.structure.reduction import not_honoured

        raise not_honoured(model, (never or always)[0], "never" if never else "always")
    return None
