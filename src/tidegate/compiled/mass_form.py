"""The form every integrator gets: ``M y' = f(t, y)`` with M constant between events.

In: locked residuals that may hold derivatives anywhere. Out: M and f as expressions, with an extra unknown ``z = y'`` for every derivative
that does not enter linearly with constant coefficients (study of the integrators, section "Design to use", item 1).
"""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.expressions import ONE, ZERO, Expr, Role, constant, symbol
from tidegate.expressions.differentiate import jacobian
from tidegate.expressions.sparsity import dependencies
from tidegate.expressions.substitute import substitute
from tidegate.quick_dataclass import dataclass

__all__ = ["MassForm", "mass_form"]

_VARYING = frozenset({Role.TIME, Role.UNKNOWN, Role.DERIVATIVE})


@dataclass(frozen=True, eq=False)
class MassForm:
    """``mass @ y' = rhs``.

    Parameters
    ----------
    unknowns : symbols of y: the model's own, then the extra ones.
    rhs : f, one expression an equation.
    mass : entries of M that are not structurally zero, by row and column.
    derivative_values : what a derivative symbol is equal to, in terms of unknowns.
    derivatives : extra unknowns, at the end, with the derivatives that they stand for.
    equations : for each row the number of the model's equation it came from; -1 for the rows of extra unknowns.
    """

    unknowns: tuple[Expr, ...]
    rhs: tuple[Expr, ...]
    mass: dict[tuple[int, int], Expr]
    derivative_values: dict[Expr, Expr]
    derivatives: dict[Expr, Expr]
    equations: tuple[int, ...]

    @property
    def is_identity(self) -> bool:
        """True for a plain ODE, equation i giving y'[i]."""
        return all(entry is ONE and i == j for (i, j), entry in self.mass.items()) and len(self.mass) == len(self.unknowns)

    @property
    def is_diagonal(self) -> bool:
        """True if every row of M has at most its diagonal entry."""
        return all(i == j for i, j in self.mass)


def mass_form(unknowns: Sequence[Expr], residuals: Sequence[Expr], wanted: Sequence[Expr]) -> MassForm:
    """Split residuals into M and f.

    Parameters
    ----------
    unknowns : symbols of the unknowns.
    residuals : locked expressions, zero where the equations hold: ``right - left``.
    wanted : derivative symbols that guards, outputs or event bodies read.
    """
    derivatives = {symbol(Role.DERIVATIVE, unknown.data.name): k for k, unknown in enumerate(unknowns)}
    split = _split(residuals, derivatives)
    # an equation's derivative that is not linear with constant coefficients becomes an unknown of its own
    extras = {d for _, entries in split for d, coefficient in entries.items() if coefficient is None}
    explicit = _explicit(split, extras)
    extras |= {d for d in wanted if d not in explicit}
    names: dict[Expr, Expr] = {}
    if extras:
        order = [d for d in derivatives if d in extras]
        names = {d: symbol(Role.UNKNOWN, f"der({d.data.name})") for d in order}
        replaced = substitute(residuals, names)
        split = _split(replaced, derivatives)
        explicit = {**_explicit(split, set()), **names}
        columns = [*unknowns, *names.values()]
        rhs = [f for f, _ in split] + [names[d] for d in order]
        mass = _mass(split, derivatives) | {(len(split) + k, derivatives[d]): ONE for k, d in enumerate(order)}
    else:
        columns = list(unknowns)
        rhs = [f for f, _ in split]
        mass = _mass(split, derivatives)
    equations = [*range(len(residuals)), *[-1] * len(extras)]
    rhs, mass, order = _explicit_rows_first(rhs, mass, len(columns))
    return MassForm(tuple(columns), tuple(rhs), mass, explicit, {z: d for d, z in names.items()}, tuple(equations[i] for i in order))


def _split(residuals: Sequence[Expr], derivatives: dict[Expr, int]) -> list[tuple[Expr, dict[Expr, Expr | None]]]:
    """For each residual F = f + sum c_j y'_j: f and the c_j; None for a c_j that is not constant."""
    symbols = list(derivatives)
    entries: list[dict[Expr, Expr | None]] = [{} for _ in residuals]
    for (row, column), coefficient in jacobian(residuals, symbols).items():
        varies = any(s.data.role in _VARYING for s in dependencies(coefficient))
        entries[row][symbols[column]] = None if varies else coefficient
    without = substitute(residuals, dict.fromkeys(symbols, ZERO))
    return list(zip(without, entries, strict=True))


def _mass(split: Sequence[tuple[Expr, dict[Expr, Expr | None]]], derivatives: dict[Expr, int]) -> dict[tuple[int, int], Expr]:
    mass: dict[tuple[int, int], Expr] = {}
    for row, (_, entries) in enumerate(split):
        for d, coefficient in entries.items():
            if coefficient is not None and coefficient is not ZERO:
                mass[row, derivatives[d]] = -coefficient
    return mass


def _explicit(split: Sequence[tuple[Expr, dict[Expr, Expr | None]]], extras: set[Expr]) -> dict[Expr, Expr]:
    """Derivatives that one equation gives alone: ``c y'_j = -f`` with a literal number c."""
    values: dict[Expr, Expr] = {}
    for f, entries in split:
        if len(entries) == 1:
            ((d, coefficient),) = entries.items()
            if coefficient is not None and coefficient.op == "const" and coefficient.value != 0.0 and d not in extras:
                values.setdefault(d, f if coefficient.value == -1.0 else -f / coefficient)
    return values


def _explicit_rows_first(rhs: list[Expr], mass: dict[tuple[int, int], Expr], n: int) -> tuple[list[Expr], dict[tuple[int, int], Expr], list[int]]:
    """Sign and order of rows such that M is diagonal, or the unit matrix, where no row has two entries, whatever order they were written in."""
    rows: dict[int, list[tuple[int, Expr]]] = {}
    for (i, j), entry in mass.items():
        rows.setdefault(i, []).append((j, entry))
    minus_one = constant(-1.0)
    for i, entries in rows.items():
        if len(entries) == 1 and entries[0][1] is minus_one:
            rhs[i] = -rhs[i]
            rows[i] = [(entries[0][0], ONE)]
    target = {entries[0][0]: i for i, entries in rows.items() if len(entries) == 1}
    order = list(range(len(rhs)))
    if len(target) == len(rows) and len(rhs) == n:
        others = iter(i for i in order if i not in rows)
        order = [target[j] if j in target else next(others) for j in range(n)]
        rhs = [rhs[i] for i in order]
        rows = {k: rows[i] for k, i in enumerate(order) if i in rows}
    return rhs, {(i, j): entry for i, entries in rows.items() for j, entry in entries}, order
