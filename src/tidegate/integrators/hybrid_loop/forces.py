"""Forces of constraints where events are looked for: an HDAE's point on all its equations, a step's polynomial of unknowns of index two.

In: a step, or a point on it. Out: the same, with x1 on F4 = F5 = 0 and x2, x3 from F2 = F3 = 0, which are of index one whatever is integrated (Otter,
DSblock 3.3). What a form does not use drifts, and unknowns of index two come out of a step an order or two less exact than x1. A relation on a force
would see that: the body of an event that changes a coefficient of friction would move the force by the friction of a speed that is off its
constraint, back across the threshold, and cross it once more.
"""

from __future__ import annotations

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import kernel_entry, native
from tidegate.events.constraints import move_onto
from tidegate.events.guards import polynomial_point
from tidegate.events.restart import consistent_point
from tidegate.linear.systems import evaluate_jacobian

__all__ = ["follow_forces", "put_on_equations"]


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
        width[q] = 1.0 if run.index_two[q] == 1 else 0.0
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


@kernel_entry()
def follow_forces(run):
    """Lay the polynomial of the step just found through unknowns of index two as they follow from x1, where relations look at them; 0 or why not."""
    if run.degree == 0 or not run.step > 0.0 or not _are_looked_at(run, run.t):
        return 0
    n = run.n
    degree = run.degree
    a = run.coefficients
    y = run.y
    point = run.y_new
    last = run.noted_ydot
    for q in range(n):
        last[q] = y[q]
    for k in range(degree):
        theta = (k + 1.0) / degree
        if k == degree - 1:
            for q in range(n):
                point[q] = run.y_end[q]
        else:
            polynomial_point(n, degree, y, a, theta, point)
        for q in range(n):
            if run.index_two[q] == 1:
                point[q] = last[q]  # the nearest known: these columns are being written
        code = consistent_point(run, run.t + theta * run.length, run.y_new_at)
        if code != 0:
            return code
        for q in range(n):
            if run.index_two[q] == 1:
                last[q] = point[q]
                a[k, q] = point[q] - y[q]
    for q in range(n):
        if run.index_two[q] == 1:
            run.y_end[q] = point[q]
            _to_powers(run, degree, q)
    # that of the equations that are integrated again, which the method goes on with
    evaluate_jacobian(run, run.t, y)
    return 0
