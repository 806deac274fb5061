"""SciPy's ``solve_ivp``: every event ends a call, the loop around it changes modes and calls again. Callbacks are compiled by Numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit
from scipy.integrate import solve_ivp

from benchmarks.outcome import Outcome, Prepare, Run
from benchmarks.problems import Problem, Vector

__all__ = ["prepare_with"]

IMPLICIT = frozenset({"Radau", "BDF", "LSODA"})
MOST_EVALUATIONS = 200_000  # LSODA may stand still at tolerances near rounding, and solve_ivp keeps every step of that


@cache
def _compiled(problem: Problem) -> tuple[Any, Any, Any, Any]:
    def optional(function: Any) -> Any:
        return njit(function) if function is not None else None

    return njit(problem.rates), njit(problem.rates_jacobian), optional(problem.guards), optional(problem.transition)


def _guard(guards: Any, k: int, count: int, p: Vector, m: Vector) -> Callable[[float, Vector], float]:
    values = np.zeros(count)

    def guard(t: float, y: Vector) -> float:
        guards(t, y, p, m, values)
        return float(values[k])

    guard.terminal = True  # type: ignore[attr-defined]
    guard.direction = 1.0  # type: ignore[attr-defined]
    return guard


@cache
def _extended(problem: Problem) -> tuple[Any, Vector]:
    """Robertson's rates with their variational equations behind them, as a SciPy user writes them by hand."""
    rates, jacobian, _, _ = _compiled(problem)
    n, n_p, p, m = problem.y0.size, problem.p.size, problem.p, problem.m

    @njit
    def extended(t, w, out):  # type: ignore[no-untyped-def]
        y = w[:n]
        matrix = np.zeros((n, n))
        rates(t, y, p, m, out[:n])
        jacobian(t, y, p, m, matrix)
        for k in range(n_p):
            out[n * (k + 1) : n * (k + 2)] = np.dot(matrix, np.ascontiguousarray(w[n * (k + 1) : n * (k + 2)]))
        out[n] -= y[0]
        out[n + 1] += y[0]
        out[2 * n] += y[1] * y[2]
        out[2 * n + 1] -= y[1] * y[2]
        out[3 * n + 1] -= y[1] * y[1]
        out[3 * n + 2] += y[1] * y[1]

    start = np.zeros(n * (n_p + 1))
    start[:n] = problem.y0
    return extended, start


def _prepare_sensitivities(problem: Problem, rtol: float, method: str) -> Run:
    extended, start = _extended(problem)
    n, n_p = problem.y0.size, problem.p.size
    atol = np.concatenate([np.full(n, problem.atol(rtol)), *(np.full(n, problem.atol(rtol) / scale) for scale in np.abs(problem.p))])

    def right_side(t: float, w: Vector) -> Vector:
        out = np.empty(w.size)
        extended(t, w, out)
        return out

    def run() -> Outcome:
        solution = solve_ivp(right_side, (0.0, problem.t_end), start, method=method, rtol=rtol, atol=atol)
        end = solution.y[:, -1]
        return Outcome(end[:n], 0, end[n:].reshape(n_p, n).T)

    return run


def _prepare(problem: Problem, rtol: float, sensitivities: bool, method: str) -> Run:
    if problem.rates is None or (sensitivities and problem.sensitivity_residual is None):
        raise NotImplementedError
    if problem.stiff and method not in IMPLICIT:
        raise NotImplementedError
    if sensitivities:
        return _prepare_sensitivities(problem, rtol, method)
    rates, jacobian, guards, transition = _compiled(problem)
    n, p, m = problem.y0.size, problem.p, problem.m.copy()

    left = MOST_EVALUATIONS

    def right_side(t: float, y: Vector) -> Vector:
        nonlocal left
        left -= 1
        if left < 0:
            raise RuntimeError(f"no end after {MOST_EVALUATIONS} evaluations, at t = {t:g}")
        out = np.empty(n)
        rates(t, y, p, m, out)
        return out

    def matrix(t: float, y: Vector) -> Vector:
        out = np.empty((n, n))
        jacobian(t, y, p, m, out)
        return out

    events = [_guard(guards, k, problem.n_guards, p, m) for k in range(problem.n_guards)]
    options: dict[str, Any] = {"jac": matrix} if method in IMPLICIT else {}

    def run() -> Outcome:
        nonlocal left
        left = MOST_EVALUATIONS
        m[:] = problem.m
        t, y, count = 0.0, problem.y0.copy(), 0
        while True:
            solution = solve_ivp(
                right_side, (t, problem.t_end), y, method=method, rtol=rtol, atol=problem.atol(rtol), events=events, **options
            )  # fmt: skip
            t, y = float(solution.t[-1]), solution.y[:, -1].copy()
            if solution.status != 1:
                return Outcome(y if solution.status == 0 else np.full(n, np.nan), count)
            fired = next(k for k, times in enumerate(solution.t_events) if len(times))
            transition(t, y, y, p, m, fired)
            count += 1

    return run


def prepare_with(method: str) -> Prepare:
    """One of ``solve_ivp``'s methods as a competitor."""

    def prepare(problem: Problem, rtol: float, sensitivities: bool) -> Run:
        return _prepare(problem, rtol, sensitivities, method)

    return prepare
