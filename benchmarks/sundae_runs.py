"""scikit-SUNDAE: SUNDIALS behind Python callbacks, compiled by Numba; events end a call, as in SciPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import njit

from benchmarks.outcome import Outcome, Run
from benchmarks.problems import Problem, Vector

__all__ = ["prepare"]


@cache
def _compiled(function: Any) -> Any:
    return njit(function)


def _options(problem: Problem, rtol: float) -> dict[str, Any]:
    return {"rtol": rtol, "atol": problem.atol(rtol), "max_num_steps": 10**7, "num_events": problem.n_guards}


def _guards(problem: Problem, implicit: bool, m: Vector) -> Any:
    compiled, p = _compiled(problem.guards), problem.p

    def explicit_guards(t: float, y: Vector, out: Vector) -> None:
        compiled(t, y, p, m, out)

    def implicit_guards(t: float, y: Vector, ydot: Vector, out: Vector) -> None:
        compiled(t, y, p, m, out)

    chosen: Any = implicit_guards if implicit else explicit_guards
    chosen.terminal = [True] * problem.n_guards
    chosen.direction = [1] * problem.n_guards
    return chosen


def _implicit(problem: Problem, rtol: float, m: Vector) -> Any:
    from sksundae.ida import IDA

    residual, jacobian, p = _compiled(problem.residual), _compiled(problem.residual_jacobian), problem.p

    def left_side(t: float, y: Vector, ydot: Vector, out: Vector) -> None:
        residual(t, y, ydot, p, m, out)

    def matrix(t: float, y: Vector, ydot: Vector, r: Vector, cj: float, out: Vector) -> None:
        jacobian(t, cj, y, ydot, p, m, out)

    options = _options(problem, rtol) | {"jacfn": matrix, "algebraic_idx": list(range(problem.n_differential, problem.y0.size))}
    if problem.guards is not None:
        options["eventsfn"] = _guards(problem, True, m)
    return IDA(left_side, **options)


def _explicit(problem: Problem, rtol: float, m: Vector) -> Any:
    from sksundae.cvode import CVODE

    rates, jacobian, p = _compiled(problem.rates), _compiled(problem.rates_jacobian), problem.p

    def right_side(t: float, y: Vector, out: Vector) -> None:
        rates(t, y, p, m, out)

    def matrix(t: float, y: Vector, ydot: Vector, out: Vector) -> None:
        jacobian(t, y, p, m, out)

    options = _options(problem, rtol) | {"jacfn": matrix, "method": "BDF" if problem.stiff else "Adams"}
    if problem.guards is not None:
        options["eventsfn"] = _guards(problem, False, m)
    return CVODE(right_side, **options)


def prepare(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """Its IDA where the problem is implicit, its CVODE where it is not. It has no sensitivities."""
    if sensitivities:
        raise NotImplementedError
    implicit, m = problem.residual is not None, problem.m.copy()
    solver = (_implicit if implicit else _explicit)(problem, rtol, m)
    transition = _compiled(problem.transition) if problem.transition is not None else None
    n = problem.y0.size

    def run() -> Outcome:
        m[:] = problem.m
        t, y, ydot, count = 0.0, problem.y0.copy(), problem.ydot0.copy(), 0
        while True:
            span = np.array([t, problem.t_end])
            solution = solver.solve(span, y, ydot) if implicit else solver.solve(span, y)
            if solution.status < 0:
                return Outcome(np.full(n, np.nan), count)
            t, y = float(solution.t[-1]), solution.y[-1].copy()
            ydot = solution.yp[-1].copy() if implicit else y
            # it says 2 after an event; one at the very end of the span is the end
            if solution.status != 2 or t >= problem.t_end:
                return Outcome(y, count)
            assert transition is not None
            transition(t, y, ydot, problem.p, m, 0)
            count += 1

    return run
