"""From an isolated crossing to the event's point: step again to it, correct, and make the point lie on the zero.

The polynomial of a collocation step has order s inside the step and 2s - 1 at its end: good for finding out that there is a crossing, not for the
answer. So the step is taken again to the estimated time with the same Jacobian, and only the last small correction is made on the new step's
polynomial near its end. In between the new polynomial is searched like any other: it may show an earlier crossing, or none.

The last stage lies where the guard is zero. What the equations are there may be made of roundings, as ``(1 - cos(u)) / u**2`` is. That the new step
then ends elsewhere than the polynomial of the old one, which was found good, tells: so it ends a little earlier, and the correction does the rest.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, STEP_TOO_SMALL, UNDECIDED_GUARD, matrix
from tidegate.events.isolate import UNDECIDED, UNDEFINED, earliest_crossing
from tidegate.events.told import can_be_shorter
from tidegate.integrators.hybrid_loop.forces import follow_forces
from tidegate.integrators.hybrid_loop.polish import NEAR_END, distance_behind, end_point, polish, shorter
from tidegate.integrators.radau.newton import CONVERGED, factor_systems, newton, stage_polynomial
from tidegate.integrators.radau.step import renew_jacobian, update_scale
from tidegate.integrators.radau.tableau import NODES, POLYNOMIAL
from tidegate.linear.systems import FIRST

__all__ = ["locate", "restep"]

_MOST_RESTEPS: Final = 16
_ELSEWHERE: Final = 10.0  # tolerances of the inner measure
_EPS: Final = 2.220446049250313e-16


@native
def _keep_polynomial(run, degree):
    n = run.n
    for q in range(degree * n):
        run.r[run.coefficients_kept_at + q] = run.r[run.coefficients_at + q]


@native
def _ends_elsewhere(run, theta):
    """True if the end of the step taken again is not that of the polynomial kept, at a part of it, but for many times the tolerance."""
    n = run.n
    s = run.stages
    kept = matrix(run.r, run.coefficients_kept_at, s, n)
    for q in range(n):
        if run.is_algebraic[q] == 1:
            continue
        x = kept[s - 1, q]
        for d in range(s - 2, -1, -1):
            x = x * theta + kept[d, q]
        if abs(run.y_end[q] - run.y[q] - x * theta) > _ELSEWHERE * run.scale[q]:
            return True
    return False


@kernel_entry(NUMBER, INTEGER, NUMBER, INTEGER, INTEGER, INTEGER)
def restep(run, step, degree, old_step, offset, which, source):
    """Solve the step from the current point with another size; 1 if Newton's iteration converged.

    Started from the polynomial at offset ``source`` of r; the stages go to offset ``offset``, the factors to set ``which``.
    """
    n = run.n
    s = run.stages
    z = matrix(run.r, offset, s, n)
    k = (s - 3) // 2
    old = matrix(run.r, source, degree, n)
    run.c_resteps += 1
    if n == 0:
        return 1
    if factor_systems(run, step, which) != 0:
        return 0
    if run.n_forms > 0:
        update_scale(run, step)  # forces are weighed with their step
    ratio = step / old_step
    for attempt in range(2):
        for i in range(s):
            theta = NODES[k, i] * ratio
            for q in range(n):
                x = old[degree - 1, q]
                for d in range(degree - 2, -1, -1):
                    x = x * theta + old[d, q]
                z[i, q] = x * theta if attempt == 0 else 0.0
        kept = run.faccon
        run.faccon = 1.0
        status = newton(run, run.t, step, which, 1e-2 * run.newton_tol, offset)
        run.faccon = kept
        if status == CONVERGED:
            return 1
    return 0


@kernel_entry(NUMBER, INTEGER)
def locate(run, theta, crossed):
    """Find the point of the event at ``theta`` of the step just accepted; with ``crossed`` -1 end the step there.

    Returns 0 or the reason of failure. run.found_guard is the guard, with the event's time in run.step and its point in run.y_new; or -1 if the step,
    now shorter, ends before any event.
    """
    guard = crossed  # -1: nothing is known to be there, but the step is to be so short
    run.found_guard = guard
    n = run.n
    s = run.stages
    t = run.t
    y = run.y
    z = run.z
    a = run.coefficients
    point = run.y_new
    end = run.y_end
    full = run.step
    if theta <= 0.0 or t + theta * full <= t:
        run.step = 0.0
        run.length = 0.0
        for q in range(n):
            point[q] = y[q]
        return 0
    _keep_polynomial(run, s)
    old_step = full
    step = theta * full
    run.needs_factors = 1
    attempt = 0
    is_trusted = False
    while attempt < _MOST_RESTEPS:
        run.length = step
        if not t + step > t:
            run.step = 0.0
            run.length = 0.0
            for q in range(n):
                point[q] = y[q]
            run.found_guard = guard
            return 0
        if restep(run, step, s, old_step, run.z_at, FIRST, run.coefficients_kept_at) == 0:
            # the polynomial led astray: a shorter step from the same point, and look again from its end
            renew_jacobian(run)
            step *= 0.25
            attempt += 1
            if not step > 1e-15 * max(abs(t), 1e-290):
                return STEP_TOO_SMALL
            continue
        stage_polynomial(POLYNOMIAL[(s - 3) // 2], s, n, z, a)
        for q in range(n):
            end[q] = y[q] + z[s - 1, q]
        code = follow_forces(run) if run.n_forms > 0 else 0
        if code != 0:
            return code
        if not is_trusted and guard >= 0 and _ends_elsewhere(run, step / old_step):
            is_trusted = True
            attempt += 1
            step *= 1.0 - 0.5 * NEAR_END
            continue
        which = earliest_crossing(run, t, step)
        found = run.found_theta
        if which == UNDEFINED:
            return NOT_FINITE
        if which == UNDECIDED:
            if not can_be_shorter(run, step):
                return UNDECIDED_GUARD
            _keep_polynomial(run, s)
            old_step = step
            step *= shorter(run)
            guard = -1
            continue
        if found <= 1.0 - NEAR_END and attempt < _MOST_RESTEPS - 1 and found > 0.0:
            _keep_polynomial(run, s)
            old_step = step
            step = found * step
            guard = which
            attempt += 1
            continue
        if found > 1.0:
            # no crossing up to here: it lies just behind the end, or nowhere
            ahead = distance_behind(run, t, step, guard) if guard >= 0 else -1.0
            if 0.0 < ahead <= NEAR_END and step * (1.0 + ahead) <= full:
                found = 1.0 + ahead
                which = guard
            elif ahead > 0.0 and step * (1.0 + ahead) < full and attempt < _MOST_RESTEPS - 1:
                _keep_polynomial(run, s)
                old_step = step
                step = step * (1.0 + ahead)
                attempt += 1
                continue
            else:
                run.step = step
                end_point(run, 1.0, point)
                run.found_guard = -1
                return 0
        run.found_guard = which
        return polish(run, t, step, which, found, full)
    return STEP_TOO_SMALL
