"""How well the polynomial of a Radau step fits the equations between its nodes, where neither Newton's iteration nor the end's error estimate looks.

The end's estimate is nearly blind for stiff and algebraic unknowns: it sees them through f at the step's start and at its nodes only, where they are
exact. So the defect d = M p'/h - f(t, p) is taken at points that are no nodes, and filtered by the matrix of the end's estimate,
(gamma_0/h M - J)^-1 d, which is the polynomial's error: J^-1 d where the equations are stiff or algebraic, h/gamma_0 d where they are not
(Enright 1989 on control of the defect; Hairer and Wanner, Solving ODEs II, IV.8, on the filter). The points lie at uneven distances, so that no
forcing with a period that divides the step vanishes at all of them. The largest component counts: an event may depend on one unknown among many.

The matrix is that of the step's start. Where the equations are stiff there and not later, it makes a small thing of any defect, and Newton's
iteration, which it filters too, sees none. So each defect is put to the proof (``filter_proof``), and filtered anew where it has to be.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.integrators.radau.filter_proof import filter_anew, is_explained
from tidegate.integrators.radau.tableau import INNER, INNER_RATE, INNER_VALUE, INVERSE, NODES
from tidegate.linear.forced import model_rates
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import FIRST, solve_real

__all__ = ["MOST_INHERITED", "error_inside", "judge"]

MOST_INHERITED: Final = 10.0  # tolerances of the largest values so far, up to which a step may be accepted for an error that its start has brought


@native
def _note_largest(run):
    """The largest filtered defect here, as a part of the tolerance at the step's values; infinite if one is not finite.

    The largest so far is noted, and the largest as a part of the tolerance of the largest values so far.
    """
    largest = 0.0
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
            return np.inf
        largest = max(largest, x)
        of_largest = abs(err[q]) / (run.atol[q] + run.rtol * max(size, run.y_max[q]) + rounding[q])
        run.inside_of_largest = max(run.inside_of_largest, of_largest)
    run.inside = max(run.inside, largest)
    return largest


@native
def _is_undefined(values, n):
    """True if one of n is no number; what has grown too large is not undefined."""
    for q in range(n):
        if values[q] != values[q]:
            return True
    return False


@native
def _largest_move(run):
    """How far any unknown goes in this step, as a part of its tolerance."""
    largest = 0.0
    for i in range(run.stages):
        for q in range(run.n):
            largest = max(largest, abs(run.z[i, q]) / (run.atol[q] + run.rtol * abs(run.y[q])))
    return largest


@native
def judge(run, at, step):
    """The defect at the point in run.scratch_1, where the polynomial's derivative by time is in run.scratch_2.

    The way from the step's start to its nodes is in run.z, its matrix gain/step M - J is factored.
    """
    defect = run.error
    err = run.error_inside
    values = run.f_stages[0]
    model_rates(run, at, run.scratch_1, values)
    run.c_rhs += 1
    if _is_undefined(values, run.n):
        # beside the model's domain by less than a tolerance, as where a tank has run empty, if the whole step moves nothing by more than that
        moved = _largest_move(run)
        run.inside = max(run.inside, moved) if moved < 1.0 else np.inf
        return
    times_mass(run, run.scratch_2, defect)
    for q in range(run.n):
        defect[q] = values[q] - defect[q]
        err[q] = defect[q]
    solve_real(run, FIRST, err.ctypes)
    largest = _note_largest(run)
    if run.inside_of_largest < MOST_INHERITED and not is_explained(run, at, step, largest):
        filter_anew(run, at, step)
        anew = _note_largest(run)
        if anew > largest > 0.0:
            # what has fallen so far from the start to here may be lower still between here and there
            run.inside = max(run.inside, anew * np.sqrt(anew / largest))


@kernel_entry(NUMBER, NUMBER)
def error_inside(run, t, step):
    """Largest error of the polynomial through the stages between its nodes, as a part of the tolerance asked for, into run.inside.

    In run.inside_of_largest it is left as a part of what was allowed of the largest values so far. After a doubtful iteration the nodes are
    looked at, too.
    """
    n = run.n
    s = run.stages
    k = (s - 3) // 2
    y = run.y
    z = run.z
    point = run.scratch_1
    rate = run.scratch_2
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
        judge(run, t + INNER[k, i] * step, step)
    if run.is_doubtful == 0:
        return 0
    for i in range(s):
        for q in range(n):
            v = 0.0
            for j in range(s):
                v += INVERSE[k, i, j] * z[j, q]
            point[q] = y[q] + z[i, q]
            rate[q] = v / step
        judge(run, t + NODES[k, i] * step, step)
    return 0
