"""Error of a step's sensitivities where equations have corners that are no events (``tg.no_event``), for every method whose S these are.

A corner inside a step bends the unknowns, by the square of the step, and makes S' jump: S is off by the step itself. The error of the unknowns does
not show that, so the defect d = M S'/h - J S - f_p of the polynomial through the stages of S is taken as that of the unknowns is (``inside``; Enright
1989), and filtered alike. It is also taken at the step's start: behind a corner before the first node all nodes agree.

In: a step with its stage values and factors. Out: the largest filtered defect, as a part of the tolerance of S.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import matrix
from tidegate.integrators.radau.sensitivities import put_change, stage_sensitivities
from tidegate.integrators.radau.tableau import INNER
from tidegate.linear.forced import put_forced_tangent
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import FIRST, solve_real
from tidegate.sensitivity.jump import set_direction

__all__ = ["error_of_sensitivities"]

_UNMOVED: Final = 1e-4  # tolerances: where no unknown moves by more, a defect is no corner between two smooth pieces, and shorter steps do not help
_SHORTEST: Final = 1e-11  # of the time gone by: no step need be shorter, ...
_SHORTEST_OF_RUN: Final = 1e-13  # ... nor than this part of the run, not even beside a place where derivatives are infinite
_BESIDE: Final = 30.0  # tolerances, of what is infinite at one place: a step that is somewhat shorter looks at others


@native
def _is_moving(run):
    """True if some unknown goes farther in this step than can be left out."""
    for i in range(run.stages):
        for q in range(run.n):
            if abs(run.z[i, q]) > _UNMOVED * (run.atol[q] + run.rtol * abs(run.y[q])):
                return True
    return False


@native
def _put_point(run, theta, step):
    """The polynomial through the stages at theta into run.scratch_1, its derivative by time into run.scratch_2."""
    put_change(run, run.z, theta, step, run.scratch_1, run.scratch_2)
    for q in range(run.n):
        run.scratch_1[q] += run.y[q]


@native
def _put_sensitivity(run, e, theta, step):
    """S of one parameter at theta into run.roundoff, its derivative by time into run.scratch_3."""
    n = run.n
    s = run.stages
    put_change(run, matrix(run.r, run.sens_new_at + e * s * n, s, n), theta, step, run.roundoff, run.scratch_3)
    for q in range(n):
        run.roundoff[q] += run.sens[e, q]


@native
def _largest(run, e, t, theta, step):
    """The largest filtered defect of S of one parameter at theta; the point and its rate are in run.scratch_1 and run.scratch_2."""
    n = run.n
    last = run.stages - 1
    change = run.f_stages[0]
    defect = run.error
    _put_sensitivity(run, e, theta, step)
    at = t + theta * step
    set_direction(run, e, True)
    call_tangent(run.f_residual_tangent, at, run.scratch_1, run.scratch_2, run.p, run.m, 0.0, run.roundoff, run.dp, run.dm, change)
    if run.n_forced > 0:
        put_forced_tangent(run, at, 0.0, run.scratch_1.ctypes, run.scratch_2.ctypes, change.ctypes)
    set_direction(run, e, False)
    times_mass(run, run.scratch_3, defect)
    for q in range(n):
        defect[q] = change[q] - defect[q]
    solve_real(run, FIRST, defect.ctypes)
    size = abs(run.p[run.sens_parameters[e]])
    size = size if size > 0.0 else 1.0
    largest = 0.0
    for q in range(n):
        before = abs(run.sens[e, q])
        behind = abs(run.sens[e, q] + run.sens_new[e, last * n + q])
        x = abs(defect[q]) / (run.rtol * max(before, behind) + run.atol[q] / size)
        if not x < np.inf:
            return _BESIDE if before < np.inf else 0.0
        largest = max(largest, x)
    return largest


@kernel_entry(NUMBER, NUMBER)
def error_of_sensitivities(run, t, step):
    """The largest error of S inside the step whose stages are in run.z, as a part of the tolerance, into run.sens_inside; 0 if nothing can be said.

    The factors of the step with Radau's matrices are in set ``FIRST``, or of the same with another factor before M.
    """
    run.sens_inside = 0.0
    if step < max(_SHORTEST * (t - run.t_start), _SHORTEST_OF_RUN * (run.t_end - run.t_start)):
        return 0
    if stage_sensitivities(run, t, step, run.z_at, FIRST) != 0:
        return 0
    is_moving = _is_moving(run)
    k = (run.stages - 3) // 2
    for i in range(INNER.shape[1] + 1):
        theta = 0.0 if i == 0 else INNER[k, i - 1]
        if i > 0 and theta == 0.0:
            break
        _put_point(run, theta, step)
        for e in range(run.n_sens):
            error = _largest(run, e, t, theta, step)
            if is_moving or error == _BESIDE:
                run.sens_inside = max(run.sens_inside, error)
    return 0
