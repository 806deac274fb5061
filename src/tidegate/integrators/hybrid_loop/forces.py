"""Forces of constraints where events are looked for: an HDAE's point on all its equations, a step's polynomial of unknowns of index two.

In: a step, or a point on it. Out: the same, with x1 on F4 = F5 = 0 and x2, x3 from F2 = F3 = 0, which are of index one whatever is integrated (Otter,
DSblock 3.3). What a form does not use drifts, and unknowns of index two come out of a step an order or two less exact than x1. A relation on a force
would see that: the body of an event that changes a coefficient of friction would move the force by the friction of a speed that is off its
constraint, back across the threshold, and cross it once more.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import NUMBER, NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import matrix, vector
from tidegate.events.constraints import move_onto
from tidegate.events.guards import polynomial_point
from tidegate.events.restart import consistent_point
from tidegate.linear.forced import integrated_form
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import algebraic_residual, evaluate_jacobian, factor_base, solve_base
from tidegate.sensitivity.jump import set_direction

__all__ = ["follow_forces", "force_sensitivities", "forces_here", "put_on_equations"]

_PART: Final = 0.01  # of the tolerances: what is recorded is as good as x1 lets it be
_FAST: Final = 0.3  # by how much a correction is smaller than the last, or other factors are needed
_MOST_ITERATIONS: Final = 12


@native
def put_on_equations(run, t, point, offset):
    """Move the point at offset ``offset`` of r onto the constraints, if it is that of an HDAE, then solve the algebraic equations; 0 or why not."""
    if run.n_constraints > 0:
        kept = run.noted_y
        for q in range(run.n):
            kept[q] = point[q]
        if move_onto(run, t, offset) != 0:
            for q in range(run.n):
                point[q] = kept[q]
    return consistent_point(run, t, offset)


@native
def _are_looked_at(run, t):
    """True if a guard reads an unknown of index two."""
    width = run.roundoff
    for q in range(run.n):
        width[q] = 1.0 if run.is_force[q] == 1 else 0.0
    nothing = run.zero
    reads = run.trial_g_full
    call_tangent(run.f_guard_scale, t, run.y, nothing, run.p, run.m, 0.0, width, nothing, nothing, reads)
    for j in range(run.n_guards):
        if reads[j] != 0.0:
            return True
    return False


@native
def _to_powers(run, degree, q):
    """In column q of the coefficients: values at theta = (k + 1)/degree, less that at 0, become coefficients of theta^(k+1).

    Forward differences, and Newton's form of the polynomial multiplied out from its highest factor (Hairer, Norsett and Wanner, III.1).
    """
    a = run.coefficients
    for order in range(1, degree + 1):
        for k in range(degree, max(order, 2) - 1, -1):
            a[k - 1, q] -= a[k - 2, q]
    scale = 1.0
    for k in range(1, degree + 1):
        scale *= degree / k  # the difference of order k by k!, for powers of theta
        a[k - 1, q] *= scale
    for k in range(degree - 1, 0, -1):
        for j in range(k, degree):
            a[j - 1, q] -= k * a[j, q] / degree


@native
def _has_any(run):
    for q in range(run.n):
        if run.is_force[q] == 1:
            return True
    return False


@native
def _factor(run, t, point):
    """Factors for ``_recorded_point``, which are kept from step to step; the Jacobian that the method goes on with stays."""
    for e in range(run.n_entries):
        run.jacobian_kept[e] = run.jacobian[e]
    bad = factor_base(run, t, point.ctypes)
    for e in range(run.n_entries):
        run.jacobian[e] = run.jacobian_kept[e]
    run.knows_forces = 1 if bad == 0 else 0
    return bad == 0


@native
def _recorded_point(run, t, point):
    """As ``consistent_point``, to a small part of the tolerance: by Newton's simplified method with factors of an earlier point while it is fast."""
    n = run.n
    f = run.scratch_1
    delta = run.scratch_2
    last = np.inf
    is_new = False
    if run.knows_forces == 0:
        if not _factor(run, t, point):
            return False
        is_new = True
    for _ in range(_MOST_ITERATIONS):
        if not algebraic_residual(run, t, point, f) < np.inf:
            return False
        for q in range(n):
            f[q] = -f[q]
        if not solve_base(run, run.zero, f, delta):
            return False
        norm = 0.0
        for q in range(n):
            point[q] += delta[q]
            if run.is_force[q] == 1:
                norm = max(norm, abs(delta[q]) / (_PART * (run.atol[q] + run.rtol * max(abs(point[q]), run.y_max[q]))))
        if norm <= 1.0 or (last < np.inf and norm * norm <= last and norm <= 1.0 / _FAST):
            return True
        if not norm <= _FAST * last:
            if is_new or not _factor(run, t, point):
                return False
            is_new = True
            last = np.inf
        else:
            last = norm
    return False


@native
def forces_here(run, t, point):
    """Unknowns of index two at a time inside the step, as they follow from x1 there; from the step's polynomial where they cannot be computed."""
    if _has_any(run):
        put_forces(run, t, point.ctypes)


@kernel_entry(NUMBER, NUMBERS)
def put_forces(run, t, place):
    """The same of a model that has some."""
    point = vector(place, 0, run.n)
    theta = (t - run.t) / run.length
    for q in range(run.n):
        if run.is_force[q] == 1:
            x = 0.0
            for k in range(run.degree - 1, -1, -1):
                x = (x + run.coefficients[k, q]) * theta
            point[q] = run.y[q] + x
            run.noted_ydot[q] = point[q]
    integrated_form(run, 0.0)
    is_found = _recorded_point(run, t, point)
    integrated_form(run, 1.0)
    for q in range(run.n):
        if run.is_force[q] == 1 and not is_found:
            point[q] = run.noted_ydot[q]
    return 0


@native
def force_sensitivities(run, t, point, s):
    """Derivatives by parameters of unknowns of index two at a point, as they follow from those of x1; they stay where that is singular."""
    if _has_any(run):
        put_force_sensitivities(run, t, point.ctypes, s.ctypes)


@kernel_entry(NUMBER, NUMBERS, NUMBERS)
def put_force_sensitivities(run, t, place, place_of_derivatives):
    """The same of a model that has some."""
    n = run.n
    point = vector(place, 0, n)
    s = matrix(place_of_derivatives, 0, run.n_sens, n)
    right = run.scratch_1
    change = run.scratch_2
    found = run.scratch_3
    integrated_form(run, 0.0)
    if _factor(run, t, point):
        for i in range(run.n_sens):
            set_direction(run, i, True)
            call_tangent(run.f_residual_tangent, t, point, run.zero, run.p, run.m, 0.0, run.zero, run.dp, run.dm, change)
            set_direction(run, i, False)
            times_mass(run, s[i], right)
            for q in range(n):
                change[q] = -change[q]
            if solve_base(run, right, change, found):
                for q in range(n):
                    if run.is_force[q] == 1:
                        s[i, q] = found[q]
    integrated_form(run, 1.0)
    return 0


@kernel_entry()
def follow_forces(run):
    """Lay the polynomial of the step just found through unknowns of index two as they follow from x1; 0 or why not.

    What is recorded needs that, too: collocation leaves them with one order inside a step less than its stages have, and they are what loads are
    read from. Where relations look at them they are as exact as rounding allows.
    """
    if run.degree == 0 or not run.step > 0.0 or not _has_any(run):
        return 0
    are_looked_at = run.n_guards > 0 and _are_looked_at(run, run.t)
    if not are_looked_at and run.stages == 0:
        return 0  # of several steps: all derivatives at the step's end are as exact as the unknowns
    n = run.n
    degree = run.degree
    a = run.coefficients
    y = run.y
    point = run.y_new
    last = run.noted_ydot
    for q in range(n):
        last[q] = y[q]
    is_changed = False
    for k in range(degree):
        theta = (k + 1.0) / degree
        if k == degree - 1:
            for q in range(n):
                point[q] = run.y_end[q]
        else:
            polynomial_point(n, degree, y, a, theta, point)
        for q in range(n):
            if run.is_force[q] == 1:
                point[q] = last[q]  # the nearest known: these columns are being written
        time = run.t + theta * run.length
        is_found = False
        if not are_looked_at:
            integrated_form(run, 0.0)
            is_found = _recorded_point(run, time, point)
            integrated_form(run, 1.0)
        if not is_found:
            code = consistent_point(run, time, run.y_new_at)
            if code != 0:
                return code
            is_changed = True
        for q in range(n):
            if run.is_force[q] == 1:
                last[q] = point[q]
                a[k, q] = point[q] - y[q]
    for q in range(n):
        if run.is_force[q] == 1:
            run.y_end[q] = point[q]
            _to_powers(run, degree, q)
    if is_changed:  # that of the equations that are integrated again, which the method goes on with
        evaluate_jacobian(run, run.t, y)
    return 0
