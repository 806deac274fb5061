"""Whether the matrix of a step's start still tells what a defect inside the step does to the unknowns; if not, that of the place itself does.

A filtered defect e = S^-1 d, S = gamma_0/h M - J, is Newton's correction of a point p of the step's polynomial. It is an error estimate only as far
as the correction explains the defect: gamma_0/h M e - (f(p + e) - f(p)) must be about d, equation by equation. It is not where J has changed, above
all where stiffness has gone: there S is far too large, e far too small, and a simplified Newton iteration converges at once to what is no solution
(Hairer and Wanner, Solving ODEs II, IV.8, take J for constant within a step). One evaluation of f tells; only in doubt is J evaluated at p.
Equations whose remainder would not move an unknown by its tolerance even without a filter need no explanation, nor do remainders that are rounding.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import NUMBER, kernel_entry
from tidegate.integrators.radau.newton import note_bearable
from tidegate.linear.forced import model_rates
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import SECOND, evaluate_jacobian, factor_real, is_finite, is_finite_jacobian, solve_real

__all__ = ["filter_anew", "is_explained"]

_UNEXPLAINED: Final = 0.5  # part of a defect


@kernel_entry(NUMBER, NUMBER, NUMBER)
def is_explained(run, at, step, size):
    """1 if the correction in run.error_inside explains the defect in run.error at the point in run.scratch_1, where f is in run.f_stages[0]; else 0.

    ``size`` is the largest correction in tolerances.
    """
    n = run.n
    if not size > 0.0:
        return 1
    gain = run.gain / step
    point = run.scratch_1
    probe = run.scratch_2
    defect = run.error
    err = run.error_inside
    values = run.f_stages[0]
    bearable = run.residuals[0]
    note_bearable(run, step, point, bearable)
    doubtful = 0
    for q in range(n):
        if abs(defect[q]) > bearable[q]:
            doubtful += 1
    if doubtful == 0:
        return 1
    # of the size of a tolerance: the difference is far above rounding, and the model about linear
    reach = 1.0 / size
    for q in range(n):
        probe[q] = point[q] + reach * err[q]
    moved = run.residuals[1]
    model_rates(run, at, probe, moved)
    if not is_finite(moved, n):
        # on this side the model may not be defined
        reach = -reach
        for q in range(n):
            probe[q] = point[q] + reach * err[q]
        model_rates(run, at, probe, moved)
        run.c_rhs += 1
    run.c_rhs += 1
    explained = run.residuals[2]
    times_mass(run, err, explained)
    for q in range(n):
        left = abs(defect[q] - gain * explained[q] + (moved[q] - values[q]) / reach)
        if not left <= max(bearable[q], _UNEXPLAINED * abs(defect[q])):
            return 0
    return 1


@kernel_entry(NUMBER, NUMBER)
def filter_anew(run, at, step):
    """The defect in run.error filtered by the matrix of its own point, in run.scratch_1, into run.error_inside; infinite where that is singular.

    Where J is infinite, as of a root at zero, the old one has to do: a stiffness beyond all numbers leaves no error.
    """
    n = run.n
    err = run.error_inside
    defect = run.error
    evaluate_jacobian(run, at, run.scratch_1)
    # of a point that is no step's start
    run.needs_jacobian = 1
    run.is_jacobian_fresh = 0
    if not is_finite_jacobian(run):
        return 0
    if factor_real(run, SECOND, run.gain / step, run.jacobian_at) != 0:
        for q in range(n):
            err[q] = np.inf
        return 0
    for q in range(n):
        err[q] = defect[q]
    solve_real(run, SECOND, err.ctypes)
    return 0
