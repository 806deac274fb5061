"""The structural check (stage: structure; a neutral model goes in, silence or a named complaint comes out).

A system ``0 = F(t, x, x', y)`` can be solved for ``x'`` and ``y`` almost everywhere only if equations and unknowns can be paired off. If that
fails for ``x'`` and ``y`` but succeeds with ``x`` standing for ``x'``, the index is above one (Pantelides 1988, https://doi.org/10.1137/0909014).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tidegate.errors import Origin, StructureError
from tidegate.model import Equation, Model
from tidegate.names import listed, shortened
from tidegate.structure.incidence import Incidence, incidence, variable_incidence
from tidegate.structure.matching import Parts, dulmage_mendelsohn, maximum_matching
from tidegate.structure.missing_connections import what_is_missing

__all__ = ["check_structure", "equation_name", "refuse_singular"]

_MAX_LISTED: Final = 8
_MAX_TEXT: Final = 100


def equation_name(model: Model, index: int) -> str:
    """How messages name an equation: its number, its text, and where it was written."""
    equation: Equation = model.equations[index]
    shown = " ".join(equation.origin.text.split()) or f"{equation.left!r} == {equation.right!r}"
    number = f"equation {index + 1}"
    if re.fullmatch(r"equation \d+", equation.label):
        number = equation.label  # by which the user counts, where others have gone
    elif equation.label:
        shown = equation.label
    shown = shown if len(shown) <= _MAX_TEXT else shown[: _MAX_TEXT - 3] + "..."
    place = f", {equation.origin}" if str(equation.origin) else ""
    return f"{number} ({shown}{place})"


def _equations(model: Model, rows: Sequence[int], most: int) -> str:
    return "".join(f"\n  - {name}" for name in shortened([equation_name(model, row) for row in rows], most))


def _origin(model: Model, rows: Sequence[int]) -> Origin:
    return model.equations[rows[0]].origin if rows else model.origin


def _is_checkable(model: Model) -> bool:
    # an opaque right-hand side or residual can only be judged by calling it
    return not any(part.role == "F" for part in model.opaque_parts)


def _lost(model: Model, graph: Incidence, parts: Parts, most: int = _MAX_LISTED) -> str:
    """Which equations are too many, and which unknowns are left over."""
    sentences: list[str] = []
    if parts.over_rows:
        known = listed((graph.columns[column] for column in parts.over_columns), _MAX_LISTED)
        wanted = f"only {known}" if known else "no unknown at all"
        sentences.append(f"these {len(parts.over_rows)} equations determine {wanted}:{_equations(model, parts.over_rows, most)}")
    if parts.under_columns:
        names = listed((graph.columns[column] for column in parts.under_columns), _MAX_LISTED)
        given = f"these {len(parts.under_rows)} equations:{_equations(model, parts.under_rows, most)}" if parts.under_rows else "no equation"
        sentences.append(f"{names} {'stand' if len(parts.under_columns) > 1 else 'stands'} in {given}")
    return "\n".join(sentences).replace("these 1 equations determine", "this equation determines").replace("these 1 equations", "this equation")


def _check_count(model: Model, graph: Incidence) -> None:
    n_equations, n_unknowns = len(graph.equations), len(graph.columns)
    if n_equations == n_unknowns:
        return
    whole = variable_incidence(model)
    parts = dulmage_mendelsohn(whole.rows, len(whole.columns))
    difference = abs(n_equations - n_unknowns)
    kind = "equation" if n_equations < n_unknowns else "unknown"
    counts = f"{n_equations} equation{'s' * (n_equations != 1)} for {n_unknowns} unknown{'s' * (n_unknowns != 1)}"
    raise StructureError(
        f"{model.name} has {counts} ({listed(whole.columns, _MAX_LISTED)})\n{_lost(model, whole, parts)}",
        origin=_origin(model, parts.over_rows),
        hint=f"add {difference} {kind}{'s' * (difference > 1)}, or take away as many {'unknowns' if kind == 'equation' else 'equations'}",
    )


def refuse_singular(model: Model) -> None:
    """Refuse equations that cannot determine the unknowns whatever is differentiated."""
    whole = variable_incidence(model)
    matching = maximum_matching(whole.rows, len(whole.columns))
    if matching.is_perfect:
        return
    parts = dulmage_mendelsohn(whole.rows, len(whole.columns), matching)
    missing = what_is_missing(model, [whole.columns[column] for column in parts.under_columns], parts.over_rows)
    raise StructureError(
        f"the equations of {model.name} are structurally singular\n{_lost(model, whole, parts)}",
        origin=_origin(model, parts.over_rows),
        hint=missing or "replace one of the equations that are too many by one that contains an unknown that is left over",
    )


def check_structure(model: Model) -> None:
    """Refuse a system whose equations cannot determine its unknowns, whatever is differentiated.

    Parameters
    ----------
    model : validated neutral model; nothing is checked where its equations are opaque.

    Raises
    ------
    StructureError : naming the equations and unknowns, for a wrong number of equations, or a structurally singular system.

    Examples
    --------
    >>> from tidegate.expressions import ONE, ZERO, Role, symbol
    >>> from tidegate.model import Equation, Form, Model, Variable, VariableRole
    >>> x, der_x = symbol(Role.UNKNOWN, "x"), symbol(Role.DERIVATIVE, "x")
    >>> check_structure(Model("decay", Form.ODE, (Variable("x", VariableRole.STATE),), (Equation(der_x, -x),)))
    """
    if not _is_checkable(model):
        return
    graph = incidence(model)
    _check_count(model, graph)
    if not maximum_matching(graph.rows, len(graph.columns)).is_perfect:
        refuse_singular(model)
