"""IDAS with compiled callbacks in a compiled loop, with staggered sensitivities where they are asked for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types

from benchmarks.outcome import Outcome, Run
from benchmarks.problems import Problem, Vector
from benchmarks.sundials_native import NORMAL, ROOT, STAGGERED, VECTOR, VECTORS, context, new_vector, sundials, view

__all__ = ["prepare", "prepare_suppressed"]

_DATA = types.CPointer(types.float64)


@cache
def _callbacks(problem: Problem) -> tuple[Any, Any, Any]:
    """Residual, Jacobian and guards as C functions; the user data are p and m behind each other."""
    n, n_p, n_m, n_guards = problem.y0.size, problem.p.size, problem.m.size, problem.n_guards
    residual, jacobian = njit(problem.residual), njit(problem.residual_jacobian)

    @cfunc(types.int32(types.float64, VECTOR, VECTOR, VECTOR, _DATA))
    def left_side(t, y, ydot, out, data):  # type: ignore[no-untyped-def]
        user = carray(data, (n_p + n_m,))
        residual(t, carray(y[0][2], (n,)), carray(ydot[0][2], (n,)), user[:n_p], user[n_p:], carray(out[0][2], (n,)))
        return 0

    @cfunc(types.int32(types.float64, types.float64, VECTOR, VECTOR, VECTOR, VECTOR, _DATA, VECTOR, VECTOR, VECTOR))
    def matrix(t, cj, y, ydot, r, out, data, a, b, c):  # type: ignore[no-untyped-def]
        user = carray(data, (n_p + n_m,))
        by_columns = carray(out[0][2], (n, n)).T
        jacobian(t, cj, carray(y[0][2], (n,)), carray(ydot[0][2], (n,)), user[:n_p], user[n_p:], by_columns)
        return 0

    if problem.guards is None:
        return left_side, matrix, None
    guards = njit(problem.guards)

    @cfunc(types.int32(types.float64, VECTOR, VECTOR, _DATA, _DATA))
    def roots(t, y, ydot, out, data):  # type: ignore[no-untyped-def]
        user = carray(data, (n_p + n_m,))
        guards(t, carray(y[0][2], (n,)), user[:n_p], user[n_p:], carray(out, (n_guards,)))
        return 0

    return left_side, matrix, roots


@cache
def _sensitivity_callback(problem: Problem) -> Any:
    n, n_p = problem.y0.size, problem.p.size
    derivative = njit(problem.sensitivity_residual)

    @cfunc(
        types.int32(
            types.int32, types.float64, VECTOR, VECTOR, VECTOR, VECTORS, VECTORS, VECTORS, _DATA, VECTOR, VECTOR, VECTOR
        )
    )  # fmt: skip
    def left_sides(count, t, y, ydot, r, s, sdot, out, data, a, b, c):  # type: ignore[no-untyped-def]
        p, states, slopes = carray(data, (n_p,)), carray(y[0][2], (n,)), carray(ydot[0][2], (n,))
        for k in range(n_p):
            derivative(t, states, slopes, carray(s[k][0][2], (n,)), carray(sdot[k][0][2], (n,)), p, k, carray(out[k][0][2], (n,)))
        return 0

    return left_sides


@cache
def _loop(problem: Problem, sensitivities: bool) -> Any:
    """The run from 0 to the end with all its restarts, compiled."""
    library = sundials()
    solve, restart, stop_at, root_info = library.IDASolve, library.IDAReInit, library.IDASetStopTime, library.IDAGetRootInfo
    restart_sensitivities, get_sensitivities = library.IDASensReInit, library.IDAGetSens
    t_end, n_p = problem.t_end, problem.p.size

    @njit
    def nothing(t, y, ydot, p, m, k):  # type: ignore[no-untyped-def]
        pass

    transition = njit(problem.transition) if problem.transition is not None else nothing

    @njit
    def run(memory, vectors, y, ydot, start, slopes, user, found, reached, handles):  # type: ignore[no-untyped-def]
        y[:] = start
        ydot[:] = slopes
        restart(memory, 0.0, vectors[0], vectors[1])
        if sensitivities:
            restart_sensitivities(memory, STAGGERED, handles[0].ctypes.data, handles[1].ctypes.data)
        stop_at(memory, t_end)
        events = 0
        while True:
            flag = solve(memory, t_end, reached.ctypes.data, vectors[0], vectors[1], NORMAL)
            if flag != ROOT:
                break
            root_info(memory, found.ctypes.data)
            for k in range(found.size):
                if found[k] != 0:
                    transition(reached[0], y, ydot, user[:n_p], user[n_p:], k)
            events += 1
            restart(memory, reached[0], vectors[0], vectors[1])
            stop_at(memory, t_end)
        if sensitivities:
            get_sensitivities(memory, reached.ctypes.data, handles[0].ctypes.data)
        return events if flag >= 0 else flag

    return run


def _create(problem: Problem, rtol: float, vectors: Any, user: Vector, test_all: bool) -> int:
    """An IDA memory with everything set but sensitivities."""
    library, n = sundials(), problem.y0.size
    left_side, matrix, roots = _callbacks(problem)
    memory = int(library.IDACreate(context()))
    library.IDAInit(memory, left_side.address, 0.0, vectors[0], vectors[1])
    library.IDASetUserData(memory, user.ctypes.data)
    library.IDASStolerances(memory, rtol, problem.atol(rtol))
    dense = library.SUNDenseMatrix(n, n, context())
    library.IDASetLinearSolver(memory, library.SUNLinSol_Dense(int(vectors[0]), dense, context()), dense)
    library.IDASetJacFn(memory, matrix.address)
    library.IDASetMaxNumSteps(memory, 10**8)
    if not test_all:
        kinds = new_vector(n)
        view(kinds, n)[:] = np.arange(n) < problem.n_differential
        library.IDASetId(memory, kinds)
        library.IDASetSuppressAlg(memory, 1)
    if roots is not None:
        library.IDARootInit(memory, problem.n_guards, roots.address)
        library.IDASetRootDirection(memory, np.ones(problem.n_guards, np.int32).ctypes.data)  # copied by IDA
    return memory


def _prepare(problem: Problem, rtol: float, sensitivities: bool, test_all: bool) -> Run:
    if problem.residual is None or (sensitivities and problem.sensitivity_residual is None):
        raise NotImplementedError
    library, n, n_p = sundials(), problem.y0.size, problem.p.size
    loop = _loop(problem, sensitivities)
    vectors = np.array([new_vector(n), new_vector(n)])
    y, ydot = view(vectors[0], n), view(vectors[1], n)
    y[:], ydot[:] = problem.y0, problem.ydot0
    user = np.concatenate([problem.p, problem.m])
    memory = _create(problem, rtol, vectors, user, test_all)
    found, reached = np.zeros(problem.n_guards, np.int32), np.zeros(1)
    handles = np.array([[new_vector(n) for _ in range(n_p)] for _ in range(2)])
    values = [[view(handle, n) for handle in row] for row in handles]
    slopes0 = problem.sensitivity_ydot0 if problem.sensitivity_ydot0 is not None else np.zeros((n_p, n))
    if sensitivities:
        own = problem.atol(rtol) / np.abs(problem.p)
        for k in range(n_p):
            values[0][k][:], values[1][k][:] = 0.0, slopes0[k]
        callback = _sensitivity_callback(problem).address
        library.IDASensInit(memory, n_p, STAGGERED, callback, handles[0].ctypes.data, handles[1].ctypes.data)
        library.IDASensSStolerances(memory, rtol, own.ctypes.data)
        library.IDASetSensErrCon(memory, 1)

    def run() -> Outcome:
        user[n_p:] = problem.m
        if sensitivities:
            for k in range(n_p):
                values[0][k][:], values[1][k][:] = 0.0, slopes0[k]
        events = int(loop(memory, vectors, y, ydot, problem.y0, problem.ydot0, user, found, reached, handles))
        end = y.copy() if events >= 0 else np.full(n, np.nan)
        return Outcome(end, events, np.column_stack(values[0]) if sensitivities else None)

    return run


def prepare(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """IDA (IDAS with sensitivities, each with its own absolute tolerance and under error control)."""
    return _prepare(problem, rtol, sensitivities, test_all=True)


def prepare_suppressed(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """The same with algebraic variables left out of the error test: fewer steps, larger errors."""
    if sensitivities or problem.n_differential == problem.y0.size:
        raise NotImplementedError
    return _prepare(problem, rtol, sensitivities, test_all=False)
