"""How well the polynomial of a Radau step fits the equations between its nodes, where neither Newton's iteration nor the end's error estimate looks.

The end's estimate is nearly blind for stiff and algebraic unknowns: it sees them through f at the step's start and at its nodes only, where they are
exact. So the defect d = M p'/h - f(t, p) is taken at points that are no nodes, and filtered by the matrix of the end's estimate,
(gamma_0/h M - J)^-1 d, which is the polynomial's error: J^-1 d where the equations are stiff or algebraic, h/gamma_0 d where they are not
(Enright 1989 on control of the defect; Hairer and Wanner, Solving ODEs II, IV.8, on the filter). The points lie at uneven distances, so that no
forcing with a period that divides the step vanishes at all of them. The largest component counts: an event may depend on one unknown among many.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.integrators.radau.tableau import INNER, INNER_RATE, INNER_VALUE
from tidegate.linear.forced import model_rates
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import FIRST, solve_real

__all__ = ["error_inside"]


@native
def _note_largest(run):
    """The largest filtered defect, as a part of the tolerance at the step's values, and at the largest ones so far; infinite if one is not finite."""
    n = run.n
    y = run.y
    end = run.z[run.stages - 1]
    point = run.scratch_1
    rounding = run.rounding
    err = run.error_inside
    for q in range(n):
        if run.n_forms > 0 and run.index_two[q] == 1:
            continue  # of index two: of a lower order inside the step, which the others do not see
        size = max(abs(y[q]), abs(point[q]), abs(y[q] + end[q]))
        x = abs(err[q]) / (run.atol[q] + run.rtol * size + rounding[q])
        if not x < 1e300:
            run.inside = np.inf
            return
        run.inside = max(run.inside, x)
        of_largest = abs(err[q]) / (run.atol[q] + run.rtol * max(size, run.y_max[q]) + rounding[q])
        run.inside_of_largest = max(run.inside_of_largest, of_largest)


@kernel_entry(NUMBER, NUMBER)
def error_inside(run, t, step):
    """Largest error of the polynomial through the stages between its nodes, as a part of the tolerance asked for, into run.inside.

    In run.inside_of_largest it is left as a part of what was allowed of the largest values so far.
    """
    n = run.n
    s = run.stages
    k = (s - 3) // 2
    y = run.y
    z = run.z
    point = run.scratch_1
    rate = run.scratch_2
    moved = run.error
    err = run.error_inside
    run.inside = 0.0
    run.inside_of_largest = 0.0
    for i in range(INNER.shape[1]):
        if INNER[k, i] == 0.0:
            break
        for q in range(n):
            x = 0.0
            v = 0.0
            for j in range(s):
                x += INNER_VALUE[k, i, j] * z[j, q]
                v += INNER_RATE[k, i, j] * z[j, q]
            point[q] = y[q] + x
            rate[q] = v / step
        model_rates(run, t + INNER[k, i] * step, point, err)
        run.c_rhs += 1
        times_mass(run, rate, moved)
        for q in range(n):
            err[q] -= moved[q]
        solve_real(run, FIRST, err.ctypes)
        _note_largest(run)
    return 0
