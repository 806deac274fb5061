"""CVODE with compiled callbacks in a compiled loop: the strongest form in which SUNDIALS can be used on an ODE with events."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types

from benchmarks.outcome import Outcome, Run
from benchmarks.problems import Problem
from benchmarks.sundials_native import ADAMS, BDF, NORMAL, ROOT, VECTOR, context, new_vector, sundials, view

__all__ = ["prepare_adams", "prepare_bdf"]

_DATA = types.CPointer(types.float64)


@cache
def _callbacks(problem: Problem) -> tuple[Any, Any, Any]:
    """Right-hand side, Jacobian and guards as C functions; the user data are p and m behind each other."""
    n, n_p, n_m, n_guards = problem.y0.size, problem.p.size, problem.m.size, problem.n_guards
    rates, jacobian = njit(problem.rates), njit(problem.rates_jacobian)
    guards = njit(problem.guards) if problem.guards is not None else None

    @cfunc(types.int32(types.float64, VECTOR, VECTOR, _DATA))
    def right_side(t, y, ydot, data):  # type: ignore[no-untyped-def]
        user = carray(data, (n_p + n_m,))
        rates(t, carray(y[0][2], (n,)), user[:n_p], user[n_p:], carray(ydot[0][2], (n,)))
        return 0

    @cfunc(types.int32(types.float64, VECTOR, VECTOR, VECTOR, _DATA, VECTOR, VECTOR, VECTOR))
    def matrix(t, y, ydot, out, data, a, b, c):  # type: ignore[no-untyped-def]
        user = carray(data, (n_p + n_m,))
        jacobian(t, carray(y[0][2], (n,)), user[:n_p], user[n_p:], carray(out[0][2], (n, n)).T)  # SUNMatrix goes by columns
        return 0

    if guards is None:
        return right_side, matrix, None

    @cfunc(types.int32(types.float64, VECTOR, _DATA, _DATA))
    def roots(t, y, out, data):  # type: ignore[no-untyped-def]
        user = carray(data, (n_p + n_m,))
        guards(t, carray(y[0][2], (n,)), user[:n_p], user[n_p:], carray(out, (n_guards,)))
        return 0

    return right_side, matrix, roots


@cache
def _loop(problem: Problem) -> Any:
    """The run from 0 to the end with all its restarts, compiled."""
    library = sundials()
    solve, restart, stop_at, root_info = library.CVode, library.CVodeReInit, library.CVodeSetStopTime, library.CVodeGetRootInfo
    t_end, n_p = problem.t_end, problem.p.size

    @njit
    def nothing(t, y, ydot, p, m, k):  # type: ignore[no-untyped-def]
        pass

    transition = njit(problem.transition) if problem.transition is not None else nothing

    @njit
    def run(memory, vector, y, y0, user, found, reached):  # type: ignore[no-untyped-def]
        y[:] = y0
        restart(memory, 0.0, vector)
        stop_at(memory, t_end)
        events = 0
        while True:
            flag = solve(memory, t_end, vector, reached.ctypes.data, NORMAL)
            if flag != ROOT:
                return events if flag >= 0 else flag
            root_info(memory, found.ctypes.data)
            for k in range(found.size):
                if found[k] != 0:
                    transition(reached[0], y, y, user[:n_p], user[n_p:], k)
            events += 1
            restart(memory, reached[0], vector)
            stop_at(memory, t_end)

    return run


def _prepare(problem: Problem, rtol: float, sensitivities: bool, family: int) -> Run:
    if sensitivities or problem.rates is None:
        raise NotImplementedError
    library, n = sundials(), problem.y0.size
    right_side, matrix, roots = _callbacks(problem)
    loop = _loop(problem)
    vector = new_vector(n)
    y = view(vector, n)
    y[:] = problem.y0
    user = np.concatenate([problem.p, problem.m])
    memory = library.CVodeCreate(family, context())
    library.CVodeInit(memory, right_side.address, 0.0, vector)
    library.CVodeSetUserData(memory, user.ctypes.data)
    library.CVodeSStolerances(memory, rtol, problem.atol(rtol))
    dense = library.SUNDenseMatrix(n, n, context())
    library.CVodeSetLinearSolver(memory, library.SUNLinSol_Dense(vector, dense, context()), dense)
    library.CVodeSetJacFn(memory, matrix.address)
    library.CVodeSetMaxNumSteps(memory, 10**8)
    rising, found, reached = np.ones(max(problem.n_guards, 1), np.int32), np.zeros(problem.n_guards, np.int32), np.zeros(1)
    if roots is not None:
        library.CVodeRootInit(memory, problem.n_guards, roots.address)
        library.CVodeSetRootDirection(memory, rising.ctypes.data)

    def run() -> Outcome:
        user[problem.p.size :] = problem.m
        events = int(loop(memory, vector, y, problem.y0, user, found, reached))
        return Outcome(y.copy() if events >= 0 else np.full(n, np.nan), events)

    return run


def prepare_bdf(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """CVODE's BDF with its dense Newton."""
    return _prepare(problem, rtol, sensitivities, BDF)


def prepare_adams(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """CVODE's Adams with its dense Newton."""
    if problem.stiff:
        raise NotImplementedError
    return _prepare(problem, rtol, sensitivities, ADAMS)
