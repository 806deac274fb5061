"""Where ``M y' = f(y)`` comes to rest (stage: operating_point). In: equations at one instant, a guess; out: y with f(y) = 0, modes that agree.

Newton's method with Deuflhard's damping (Deuflhard 2004, algorithm NLEQ-ERR, restricted monotonicity test), modes following the iterates; where it
does not arrive, or the Jacobian leaves directions open, pseudo-transient continuation (Kelley and Keyes 1998): linearly implicit Euler steps
``(M - h J) d = h f`` whose length grows while unknowns change little. These keep what the equations conserve, so that of many resting places that
one is found to which the start values belong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from tidegate.operating_point.equations_at import EquationsAt, FloatArray, Matrix
from tidegate.quick_dataclass import dataclass

__all__ = ["Rest", "Unrest", "come_to_rest"]

_SPARSE: Final[Any] = scipy.sparse  # which has no types
_LINEAR: Final[Any] = scipy.sparse.linalg
_LAPACK: Final[Any] = scipy.linalg.lapack
_RTOL: Final = 1e-9  # of an unknown: a correction below it is none; the last one is some orders smaller, since Newton converges quadratically
_ATOL: Final = 1e-2  # of the size of an unknown, where it is zero
_MOST_ITERATIONS: Final = 60
_LEAST_DAMPING: Final = 1e-3
_SINGULAR: Final = 1e-13  # reciprocal condition of the scaled Jacobian
_STAGNATES: Final = 1e3  # tolerances: rounding of an ill-conditioned model may leave so much
_MOST_STEPS: Final = 600
_FIRST_STEP: Final = 1e-3  # of the time in which the fastest unknown changes by its size
_LARGE: Final = 0.5  # relative change in a step of the continuation, beyond which it is taken back
_LONGEST: Final = 1e7  # times the fastest time scale: beyond it nothing is left of what is conserved
_ENDLESS: Final = 1e20  # times its size: an unknown that has grown so far grows on
_SHORTEST: Final = 1e-20
_RESTLESS: Final = 20  # changes of one mode on the way: it switches back and forth


@dataclass(frozen=True, eq=False)
class Rest:
    """A place at which nothing changes.

    Parameters
    ----------
    y, m : unknowns, and modes that agree with them.
    how : "newton" or "continuation".
    iterations : of Newton's method and steps of the continuation.
    is_isolated : False where the equations leave directions open, and the place follows from the start values.
    """

    y: FloatArray
    m: FloatArray
    how: str
    iterations: int
    is_isolated: bool = True


@dataclass(frozen=True, eq=False)
class Unrest:
    """None was found.

    Parameters
    ----------
    y, m : where the search ended.
    unknown : index of the unknown that changes most there.
    rate : at which it does.
    guards : that contradict their modes there, or changed them again and again on the way.
    """

    y: FloatArray
    m: FloatArray
    unknown: int
    rate: float
    guards: tuple[int, ...]


def come_to_rest(equations: EquationsAt, y: FloatArray, m: FloatArray) -> Rest | Unrest:
    """From a guess to a resting place."""
    with np.errstate(all="ignore"):
        found, count = _newton(equations, y, m)
        if found is not None:
            return Rest(*found, "newton", count)
        return _continued(equations, y, m, count)


def _weights(equations: EquationsAt, y: FloatArray) -> FloatArray:
    return _RTOL * (np.abs(y) + _ATOL * equations.sizes)


def _newton(equations: EquationsAt, y: FloatArray, m: FloatArray) -> tuple[tuple[FloatArray, FloatArray] | None, int]:
    last = np.inf
    for count in range(1, _MOST_ITERATIONS + 1):
        m = equations.following(y, m)
        f = equations.residual(y, m)
        solve = _solver(equations.jacobian(y, m), np.abs(y) + equations.sizes)
        if solve is None or not np.all(np.isfinite(f)):
            return None, count
        step = -solve(f)
        size = _norm(step, _weights(equations, y))
        if not np.isfinite(size):
            return None, count
        if size <= 1.0 or (size <= _STAGNATES and size >= 0.5 * last):
            y = y + step
            settled = equations.following(y, m)
            if np.array_equal(settled, m) and not equations.contradictions(y, m):
                return (y, m), count
            m = settled
            continue
        damped = _damped(equations, y, m, step, solve)
        if damped is None:
            return None, count
        y, last = damped, size
    return None, _MOST_ITERATIONS


def _damped(equations: EquationsAt, y: FloatArray, m: FloatArray, step: FloatArray, solve: Callable[[FloatArray], FloatArray]) -> FloatArray | None:
    """A part of the step after which the next one, by the same Jacobian, is shorter."""
    weights, part = _weights(equations, y), 1.0
    size = _norm(step, weights)
    while part >= _LEAST_DAMPING:
        trial = y + part * step
        f = equations.residual(trial, equations.following(trial, m))
        if np.all(np.isfinite(f)) and _norm(solve(f), weights) <= (1.0 - part / 4.0) * size:
            return trial
        part /= 2.0
    return None


def _continued(equations: EquationsAt, y: FloatArray, m: FloatArray, done: int) -> Rest | Unrest:
    m = equations.following(y, m)
    h, tried, step = 0.0, 0, np.zeros(equations.n)
    states, restless = ~equations.compiled.algebraic, np.zeros(len(m), dtype=np.int64)
    for count in range(done + 1, done + _MOST_STEPS + 1):
        f, jacobian, mass = equations.residual(y, m), equations.jacobian(y, m), equations.mass(y, m)
        fastest = _largest(jacobian, np.abs(y) + equations.sizes)
        if np.any(np.abs(y) > _ENDLESS * equations.sizes):
            break
        if h == 0.0:
            h = _FIRST_STEP / max(fastest, _SHORTEST)
        h = min(h, _LONGEST / fastest) if fastest > 0.0 else h
        solve = _solver(mass - h * jacobian, np.abs(y) + equations.sizes, _SHORTEST)
        step = solve(h * f) if solve is not None and np.all(np.isfinite(f)) else np.full(equations.n, np.nan)
        change = _norm(step[states], (np.abs(y) + equations.sizes)[states]) if states.any() else 0.0
        trial = y + step
        is_there = np.all(np.isfinite(trial)) and np.all(np.isfinite(equations.residual(trial, equations.following(trial, m))))
        if not is_there or change > _LARGE:
            h /= 4.0
            if h * max(fastest, 1.0) < _SHORTEST:
                break
            continue
        before, y, m = m, trial, equations.following(trial, m)
        restless += before != m
        is_long = fastest == 0.0 or h * fastest >= 0.99 * _LONGEST
        if is_long and _norm(step, _weights(equations, y)) <= 1.0 and not equations.contradictions(y, m):
            return Rest(y, m, "continuation", count, is_isolated=False)
        if change < 1e-2 and count >= tried:
            found, more = _newton(equations, y, m)
            if found is not None:
                return Rest(*found, "continuation", count + more)
            tried = count + 10
        h *= 4.0 if change < 0.1 else 1.5 if change < 0.25 else 1.0
    return _unrest(equations, y, m, states, restless >= _RESTLESS)


def _unrest(equations: EquationsAt, y: FloatArray, m: FloatArray, states: Any, restless: Any) -> Unrest:
    f = equations.residual(y, m)
    mass = equations.mass(y, m)
    dense: FloatArray = mass.toarray() if _SPARSE.issparse(mass) else mass
    rates: FloatArray = np.linalg.lstsq(dense, np.nan_to_num(f), rcond=None)[0]
    relative = np.where(states, np.abs(rates), np.abs(f)) / (np.abs(y) + equations.sizes)
    unknown = int(np.argmax(np.nan_to_num(relative, nan=np.inf)))
    guards = equations.contradictions(y, m) or np.flatnonzero(restless[equations.compiled.guards.mode]).tolist()
    return Unrest(y, m, unknown, float(rates[unknown]), tuple(guards))


def _norm(values: FloatArray, weights: FloatArray) -> float:
    return float(np.max(np.abs(values) / weights, initial=0.0))


def _largest(matrix: Matrix, sizes: FloatArray) -> float:
    """How fast the fastest unknown changes by its size: the largest row sum of the scaled Jacobian."""
    scaled = abs(matrix) @ sizes / sizes
    return float(np.max(np.nan_to_num(scaled), initial=0.0))


def _solver(matrix: Matrix, sizes: FloatArray, least: float = _SINGULAR) -> Callable[[FloatArray], FloatArray] | None:
    """What solves systems with a matrix; None where it is singular once rows and columns are scaled."""
    n = len(sizes)
    if not n:
        return lambda f: f
    scaled = matrix @ _SPARSE.diags(sizes) if _SPARSE.issparse(matrix) else matrix * sizes
    rows = _row_sizes(scaled)
    if not np.all(np.isfinite(rows)) or np.any(rows == 0.0):
        return None
    return _sparse(scaled, rows, sizes, least) if _SPARSE.issparse(scaled) else _dense(scaled, rows, sizes, least)


def _row_sizes(matrix: Matrix) -> FloatArray:
    largest = abs(matrix).max(axis=1)
    return largest.toarray().ravel() if _SPARSE.issparse(matrix) else largest


def _dense(scaled: FloatArray, rows: FloatArray, sizes: FloatArray, least: float) -> Callable[[FloatArray], FloatArray] | None:
    matrix = scaled / rows[:, None]
    factors, pivots, info = _LAPACK.dgetrf(matrix)
    if info != 0:
        return None
    reciprocal, _ = _LAPACK.dgecon(factors, float(np.max(np.sum(np.abs(matrix), axis=0))))
    return None if reciprocal < least else lambda f: sizes * _LAPACK.dgetrs(factors, pivots, f / rows)[0]


def _sparse(scaled: Matrix, rows: FloatArray, sizes: FloatArray, least: float) -> Callable[[FloatArray], FloatArray] | None:
    matrix = (_SPARSE.diags(1.0 / rows) @ scaled).tocsc()
    try:
        factors = _LINEAR.splu(matrix)
    except RuntimeError:  # what SuperLU says of a singular matrix
        return None
    n = len(sizes)
    inverse = _LINEAR.LinearOperator((n, n), matvec=factors.solve, rmatvec=partial(factors.solve, trans="T"), dtype=float)
    reciprocal = 1.0 / max(float(_LINEAR.onenormest(inverse)) * float(np.max(abs(matrix).sum(axis=0))), 1e-300)
    return None if not reciprocal >= least else lambda f: sizes * factors.solve(f / rows)
