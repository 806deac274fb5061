"""Systems of linear equations of a run: assembled from M and J, factored, solved; dense or sparse as the model's compiler has chosen.

A system has a number. Real ones are the method's two sets, and ``BASE``; complex ones, with Radau's eigenvalues, have a pair's number in each set.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, NUMBERS, kernel_entry, native
from tidegate.compiled.schema import REAL_SYSTEMS
from tidegate.compiled.workspace import matrix, vector
from tidegate.linear import dense, sparse
from tidegate.linear.forced import model_jacobian, model_rates, n_in_jacobian
from tidegate.linear.mass import DIAGONAL, IDENTITY, by_rows, is_held

__all__ = [
    "BASE",
    "FIRST",
    "SECOND",
    "absolute_rows",
    "algebraic_residual",
    "evaluate_jacobian",
    "factor_base",
    "factor_complex",
    "factor_real",
    "is_finite",
    "is_finite_jacobian",
    "is_rounding",
    "solve_base",
    "solve_complex",
    "solve_real",
]

FIRST, SECOND, BASE = range(REAL_SYSTEMS)
_ROUNDING: Final = 64 * 2.220446049250313e-16  # of what adds up to nothing
_KNOWN_DENSE: Final = 1  # whose factors there are; one more if they are sparse
_NO_PIVOT: Final = 1e14  # reciprocal of one at rounding level of rows of size one


@native
def evaluate_jacobian(run, t, y):
    """J at a point, into run.jacobian."""
    model_jacobian(run, t, y, run.jacobian)
    run.c_jacobian += 1


@native
def is_finite(values, n):
    """True if every one of n is a number, and not too large for sums and products of it."""
    for q in range(n):
        if not abs(values[q]) < 1e300:
            return False
    return True


@native
def is_finite_jacobian(run):
    """The same of every element of J."""
    n = n_in_jacobian(run)
    return is_finite(vector(run.r, run.jacobian_at, n), n)


@native
def absolute_rows(run, y, out):
    """out_i := sum of |J_ij y_j|."""
    n = run.n
    for i in range(n):
        out[i] = 0.0
    if run.is_sparse == 1:
        first = run.column_first
        row = run.entry_row
        jac = run.jacobian
        for j in range(n):
            for e in range(first[j], first[j + 1]):
                out[row[e]] += abs(jac[e] * y[j])
    else:
        full = matrix(run.r, run.jacobian_at, n, n)
        for i in range(n):
            for j in range(n):
                out[i] += abs(full[i, j] * y[j])


@native
def _assemble_dense(run, shift, jac, out):
    """out := shift M - J."""
    n = run.n
    for i in range(n):
        for j in range(n):
            out[i, j] = -jac[i, j]
    if run.mass_kind == IDENTITY:
        for i in range(n):
            out[i, i] += shift
    elif run.mass_kind == DIAGONAL:
        mass = run.mass
        for i in range(n):
            out[i, i] += shift * mass[i]
    else:
        full = matrix(run.r, run.mass_at, n, n)
        for i in range(n):
            for j in range(n):
                out[i, j] += shift * full[i, j]


@native
def _assemble_sparse(run, shift, jac, out):
    """The same, entry by entry."""
    for e in range(run.n_sparse_entries):
        out[e] = -jac[e]
    diagonal = run.diagonal
    mass = run.mass
    for q in range(run.n):
        out[diagonal[q]] += shift if run.mass_kind == IDENTITY else shift * mass[q]


# Sparse ones are entries of their own: a model whose matrices are dense does without their machine code.


@kernel_entry(INTEGER, NUMBER, INTEGER)
def factor_real_sparse(run, system, shift, offset):
    """``factor_real`` of sparse matrices."""
    entries = run.entries_scratch
    _assemble_sparse(run, shift, vector(run.r, offset, run.n_sparse_entries), entries)
    return sparse.factor(
        run, system, entries, run.lower[system], run.upper[system], run.reciprocals[system], run.column_scratch, run.together_scratch,
        sparse.real_quotient,
    )  # fmt: skip


@kernel_entry(INTEGER, NUMBERS)
def solve_real_sparse(run, system, right):
    """``solve_real`` of sparse matrices."""
    sparse.solve(
        run, system, run.lower[system], run.upper[system], run.reciprocals[system],
        run.column_scratch, run.alike_scratch, run.together_scratch, vector(right, 0, run.n),
    )  # fmt: skip
    return 0


@kernel_entry(INTEGER, INTEGER, NUMBER, NUMBER)
def factor_complex_sparse(run, which, pair, real, imaginary):
    """``factor_complex`` of sparse matrices."""
    entries = run.complex_entries_scratch
    _assemble_sparse(run, complex(real, imaginary), run.jacobian, entries)
    return sparse.factor(
        run, REAL_SYSTEMS + which * run.n_pairs + pair, entries,
        run.complex_lower[which, pair], run.complex_upper[which, pair], run.complex_reciprocals[which, pair],
        run.complex_column_scratch, run.complex_together_scratch, sparse.complex_quotient,
    )  # fmt: skip


@kernel_entry(INTEGER, INTEGER)
def solve_complex_sparse(run, which, pair):
    """``solve_complex`` of sparse matrices."""
    sparse.solve(
        run, REAL_SYSTEMS + which * run.n_pairs + pair, run.complex_lower[which, pair], run.complex_upper[which, pair],
        run.complex_reciprocals[which, pair],
        run.complex_column_scratch, run.complex_alike_scratch, run.complex_together_scratch, run.pairs[pair],
    )  # fmt: skip
    return 0


@kernel_entry(INTEGER, NUMBER, INTEGER)
def factor_real(run, system, shift, offset):
    """LU of shift M - J with J at offset ``offset`` of r; 0 if regular."""
    n = run.n
    run.c_factor += 1
    if run.is_sparse == 1:
        return factor_real_sparse(run, system, shift, offset)
    a = run.real_factors[system]
    _assemble_dense(run, shift, matrix(run.r, offset, n, n), a)
    return dense.factor_real(a, n, run.real_pivots[system], run.dgetrf)


@kernel_entry(INTEGER, NUMBERS)
def solve_real(run, system, right):
    """Solve with the factors of ``factor_real``; the right side is overwritten."""
    if run.is_sparse == 1:
        return solve_real_sparse(run, system, right)
    dense.solve(run.real_factors[system], run.n, run.real_pivots[system], vector(right, 0, run.n), run.dgetrs)
    return 0


@kernel_entry(INTEGER, INTEGER, NUMBER, NUMBER)
def factor_complex(run, which, pair, real, imaginary):
    """LU of (real + i imaginary) M - J with run.jacobian; 0 if regular."""
    n = run.n
    if run.is_sparse == 1:
        return factor_complex_sparse(run, which, pair, real, imaginary)
    a = run.complex_factors[which, pair]
    _assemble_dense(run, complex(real, imaginary), matrix(run.r, run.jacobian_at, n, n), a)
    return dense.factor_complex(a, n, run.complex_pivots[which, pair], run.zgetrf)


@kernel_entry(INTEGER, INTEGER)
def solve_complex(run, which, pair):
    """Solve with the factors of ``factor_complex`` for run.pairs[pair], which is overwritten."""
    if run.is_sparse == 1:
        return solve_complex_sparse(run, which, pair)
    dense.solve(run.complex_factors[which, pair], run.n, run.complex_pivots[which, pair], run.pairs[pair], run.zgetrs)
    return 0


@native
def _assemble_base_dense(run, base):
    """[U; E2 J], not yet scaled."""
    n = run.n
    jac = matrix(run.r, run.jacobian_at, n, n)
    if run.mass_kind == DIAGONAL:
        mass = run.mass
        for i in range(n):
            for j in range(n):
                base[i, j] = jac[i, j] if mass[i] == 0.0 else mass[i] if i == j else 0.0
        return
    e = run.row_operations
    u = run.echelon
    for i in range(n):
        for j in range(n):
            x = 0.0
            if i < run.rank:
                x = u[i, j]
            else:
                for q in range(n):
                    if e[i, q] != 0.0:
                        x += e[i, q] * jac[q, j]
            base[i, j] = x


@native
def _scale_dense(run, base):
    """Rows to size one; False if one cannot be."""
    n = run.n
    row_scale = run.row_scale
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(base[i, j]))
        if not largest > 0.0 or not largest < 1e300:
            return False
        row_scale[i] = 1.0 / largest
        for j in range(n):
            base[i, j] *= row_scale[i]
    return True


@native
def _assemble_base_sparse(run, entries):
    """Rows of M or of J, scaled to size one; False if one cannot be."""
    n = run.n
    row = run.entry_row
    diagonal = run.diagonal
    jac = run.jacobian
    row_scale = run.row_scale
    for i in range(n):
        row_scale[i] = 0.0
    for e in range(run.n_sparse_entries):
        i = row[e]
        entries[e] = 0.0 if is_held(run, i) else jac[e]
        if not abs(entries[e]) <= row_scale[i]:
            row_scale[i] = abs(entries[e])
    for i in range(n):
        if is_held(run, i):
            entries[diagonal[i]] = run.mass[i]
            row_scale[i] = abs(run.mass[i])
        if not row_scale[i] > 0.0 or not row_scale[i] < 1e300:
            return False
        row_scale[i] = 1.0 / row_scale[i]
    for e in range(run.n_sparse_entries):
        entries[e] *= row_scale[row[e]]
    return True


@native
def _is_factored(run):
    """True if the factors left by the last ``factor_base`` are those of J as it is now: many a point lies in a mode whose equations are linear."""
    if run.knows_base != _KNOWN_DENSE + run.is_sparse:
        return False
    jac = run.jacobian
    of_base = run.jacobian_of_base
    for e in range(n_in_jacobian(run)):
        if jac[e] != of_base[e]:
            return False
    return True


@kernel_entry(NUMBER, NUMBERS)
def factor_base(run, t, point):
    """Factor [U; E2 J] at a point, rows scaled to size one; 0 if regular, where a pivot at rounding level means the same as zero."""
    evaluate_jacobian(run, t, vector(point, 0, run.n))
    if _is_factored(run):
        return 0
    bad = _factor_base(run)
    run.knows_base = _KNOWN_DENSE + run.is_sparse if bad == 0 else 0
    if bad == 0:
        for e in range(n_in_jacobian(run)):
            run.jacobian_of_base[e] = run.jacobian[e]
    return bad


@kernel_entry()
def factor_base_sparse(run):
    """``factor_base`` of a sparse matrix, from J."""
    entries = run.entries_scratch
    if not _assemble_base_sparse(run, entries):
        return 1
    reciprocals = run.reciprocals[BASE]
    bad = sparse.factor(
        run, BASE, entries, run.lower[BASE], run.upper[BASE], reciprocals, run.column_scratch, run.together_scratch, sparse.real_quotient
    )
    for i in range(run.n):
        if bad == 0 and abs(reciprocals[i]) > _NO_PIVOT:
            bad = i + 1
    return bad


@native
def _factor_base(run):
    n = run.n
    if run.is_sparse == 1:
        return factor_base_sparse(run)
    base = run.real_factors[BASE]
    _assemble_base_dense(run, base)
    if not _scale_dense(run, base):
        return 1
    bad = dense.factor_real(base, n, run.real_pivots[BASE], run.dgetrf)
    if bad == 0:
        for i in range(n):
            pivot = abs(base[i, i])
            # own code stores its reciprocal
            if (pivot > _NO_PIVOT) if n <= dense.OWN_LIMIT else (pivot < 1.0 / _NO_PIVOT):
                return 1
    return bad


@native
def solve_base(run, held, algebraic, out):
    """out := [U; E2 J]^-1 [E1 held; E2 algebraic] with the factors of ``factor_base``; False if a right side is not finite."""
    row_scale = run.row_scale
    by_rows(run, held, algebraic, out)
    finite = True
    for i in range(run.n):
        finite = finite and abs(out[i]) < 1e300
        out[i] *= row_scale[i]
    solve_real(run, BASE, out.ctypes)
    return finite


@native
def _algebraic_equation(run, i, f):
    """Row i of E2 f."""
    if run.mass_kind <= DIAGONAL:
        return f[i]
    e = run.row_operations
    x = 0.0
    for q in range(run.n):
        if e[i, q] != 0.0:
            x += e[i, q] * f[q]
    return x


@native
def algebraic_residual(run, t, y, f):
    """The largest of the algebraic equations E2 f = 0 at a point, in the scale of ``factor_base``; f is left in ``f``."""
    model_rates(run, t, y, f)
    run.c_rhs += 1
    row_scale = run.row_scale
    worst = 0.0
    for i in range(run.n):
        if is_held(run, i):
            continue
        x = _algebraic_equation(run, i, f)
        if not abs(x) <= 1e300:
            return np.inf
        worst = max(worst, abs(x * row_scale[i]))
    return worst


@native
def is_rounding(run, y, f, rows):
    """True if the algebraic equations, whose values are in ``f``, hold to within the rounding of their terms, which are left in ``rows``."""
    absolute_rows(run, y, rows)
    e = run.row_operations
    for i in range(run.n):
        if is_held(run, i):
            continue
        size = rows[i]
        if run.mass_kind > DIAGONAL:
            size = 0.0
            for q in range(run.n):
                size += abs(e[i, q]) * rows[q]
        if not abs(_algebraic_equation(run, i, f)) <= _ROUNDING * size:
            return False
    return True
