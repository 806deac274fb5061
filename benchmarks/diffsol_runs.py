"""diffsol through ``pydiffsol``: its BDF on the DiffSL form of Robertson's reactions, compiled by its own LLVM.

Its sensitivities have one absolute tolerance for all parameters, so the model is written in parameters relative to their values.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from benchmarks.outcome import Outcome, Run
from benchmarks.problems import Problem

__all__ = ["prepare"]

ROBERTSON_TEXT: Final = """
in_i { q1 = 1, q2 = 1, q3 = 1 }
u_i { y1 = 1, y2 = 0, y3 = 0 }
dudt_i { y1dot = -0.04, y2dot = 0.04, y3dot = 0 }
M_i { y1dot, y2dot, 0 }
F_i {
    10000 * q2 * y2 * y3 - 0.04 * q1 * y1,
    0.04 * q1 * y1 - 10000 * q2 * y2 * y3 - 30000000 * q3 * y2 * y2,
    1 - y1 - y2 - y3
}
"""


def prepare(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """Its BDF with dense matrices; forward sensitivities under error control."""
    import pydiffsol

    if problem.key != "P6":
        raise NotImplementedError
    solver: Any = pydiffsol.Ode(
        ROBERTSON_TEXT, matrix_type=pydiffsol.nalgebra_dense, ode_solver=pydiffsol.bdf, linear_solver=pydiffsol.lu
    )  # fmt: skip
    solver.rtol, solver.atol = rtol, problem.atol(rtol)
    if sensitivities:
        solver.sens_rtol, solver.sens_atol = rtol, problem.atol(rtol)
    span, ones = np.array([0.0, problem.t_end]), np.ones(problem.p.size)

    def run() -> Outcome:
        if not sensitivities:
            return Outcome(np.asarray(solver.solve(ones, problem.t_end).ys)[:, -1])
        solution = solver.solve_fwd_sens(ones, span)
        slopes = np.column_stack([np.asarray(one)[:, -1] for one in solution.sens])
        return Outcome(np.asarray(solution.ys)[:, -1], 0, slopes / problem.p)

    return run
