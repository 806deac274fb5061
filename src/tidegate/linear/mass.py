"""The mass matrix M: values, products, and what it holds.

With E M = [U; 0] (row echelon form, U of full row rank) the differential part of y is U y, and the algebraic equations are the last rows of E f = 0.
Where M is diagonal E is the unit matrix, and rows are told apart by their diagonal element.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import kernel_entry, native
from tidegate.compiled.workspace import matrix

__all__ = ["DIAGONAL", "IDENTITY", "absolute_mass", "by_rows", "evaluate_mass", "is_held", "times_mass", "update_mass"]

IDENTITY, DIAGONAL = 0, 1  # values of run.mass_kind; everything else couples derivatives of several unknowns

_RANK_TOLERANCE: Final = 1e-12  # of the row's largest entry; mass matrices are given, not measured


@native
def _echelon(run):
    n = run.n
    mass = matrix(run.r, run.mass_at, n, n)
    e = run.row_operations
    u = run.echelon
    size = run.row_scale
    for i in range(n):
        size[i] = 1e-300
        for j in range(n):
            u[i, j] = mass[i, j]
            e[i, j] = 1.0 if i == j else 0.0
            size[i] = max(size[i], abs(mass[i, j]))
    rank = 0
    for column in range(n):
        if rank == n:
            break
        best = rank
        for i in range(rank + 1, n):
            if abs(u[i, column]) * size[best] > abs(u[best, column]) * size[i]:
                best = i
        if not abs(u[best, column]) > _RANK_TOLERANCE * size[best]:
            for i in range(rank, n):
                u[i, column] = 0.0
            continue
        if best != rank:
            held = size[rank]
            size[rank] = size[best]
            size[best] = held
            for j in range(n):
                held = u[rank, j]
                u[rank, j] = u[best, j]
                u[best, j] = held
                held = e[rank, j]
                e[rank, j] = e[best, j]
                e[best, j] = held
        for i in range(rank + 1, n):
            factor = u[i, column] / u[rank, column]
            if factor != 0.0:
                for j in range(n):
                    u[i, j] -= factor * u[rank, j]
                    e[i, j] -= factor * e[rank, j]
                u[i, column] = 0.0
        rank += 1
    return rank


@native
def update_mass(run):
    """Evaluate M and find its rank; where it is not diagonal, its row echelon form."""
    run.rank = run.n
    if run.mass_kind != IDENTITY:
        evaluate_mass(run)


@kernel_entry()
def evaluate_mass(run):
    """``update_mass`` where M is not the unit matrix."""
    n = run.n
    mass = run.mass
    run.knows_base = 0
    for q in range(run.n_mass):
        mass[q] = 0.0
    if run.f_mass != 0:
        call_value(run.f_mass, 0.0, run.zero, run.p, run.m, mass)
    if run.mass_kind == DIAGONAL:
        for q in range(n):
            if mass[q] == 0.0:
                run.rank -= 1
    else:
        run.rank = _echelon(run)
    return 0


@native
def is_held(run, i):
    """True if row i of E M y is held at an event; False if row i of E f = 0 is an algebraic equation."""
    return i < run.rank if run.mass_kind > DIAGONAL else run.mass_kind == IDENTITY or run.mass[i] != 0.0


@native
def times_mass(run, v, out):
    """out := M v."""
    n = run.n
    if run.mass_kind == IDENTITY:
        for q in range(n):
            out[q] = v[q]
    elif run.mass_kind == DIAGONAL:
        mass = run.mass
        for q in range(n):
            out[q] = mass[q] * v[q]
    else:
        full = matrix(run.r, run.mass_at, n, n)
        for q in range(n):
            x = 0.0
            for j in range(n):
                x += full[q, j] * v[j]
            out[q] = x


@native
def absolute_mass(run, v, out):
    """out_i := sum of |M_ij v_j|."""
    n = run.n
    if run.mass_kind <= DIAGONAL:
        for q in range(n):
            out[q] = abs(v[q]) if run.mass_kind == IDENTITY else abs(run.mass[q] * v[q])
        return
    full = matrix(run.r, run.mass_at, n, n)
    for q in range(n):
        x = 0.0
        for j in range(n):
            x += abs(full[q, j] * v[j])
        out[q] = x


@native
def by_rows(run, held, algebraic, out):
    """out := E held in rows that are held, E algebraic in the others; both are like f or M y', one element an equation."""
    n = run.n
    if run.mass_kind <= DIAGONAL:
        for i in range(n):
            out[i] = held[i] if is_held(run, i) else algebraic[i]
        return
    e = run.row_operations
    for i in range(n):
        x = 0.0
        for q in range(n):
            if e[i, q] != 0.0:
                x += e[i, q] * (held[q] if i < run.rank else algebraic[q])
        out[i] = x
