"""From an isolated crossing to the event's point: step again to it, correct, and make the point lie on the zero.

The polynomial of a collocation step has order s inside the step and 2s - 1 at its end: good for finding out that there is a crossing, not for the
answer. So the step is taken again to the estimated time with the same Jacobian, and only the last small correction is made on the new step's
polynomial near its end. In between the new polynomial is searched like any other: it may show an earlier crossing, or none.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    C_RESTEPS,
    FACCON,
    FOUND_GUARD,
    FOUND_THETA,
    LENGTH,
    NEEDS_FACTORS,
    NEWTON_TOL,
    NOT_FINITE,
    O_A,
    O_AB,
    O_Y,
    O_YEND,
    O_YNEW,
    O_Z,
    STAGES,
    STEP,
    STEP_TOO_SMALL,
    UNDECIDED_GUARD,
    N,
    T,
    matrix,
    vector,
)
from tidegate.events.isolate import UNDECIDED, UNDEFINED, earliest_crossing
from tidegate.integrators.polish import NEAR_END, can_be_shorter, distance_behind, end_point, polish, shorter
from tidegate.integrators.radau.newton import CONVERGED, factor_systems, newton, stage_polynomial
from tidegate.integrators.radau.step import evaluate_jacobian
from tidegate.integrators.radau.tableau import NODES, POLYNOMIAL

__all__ = ["locate", "restep"]

_MOST_RESTEPS: Final = 16
_EPS: Final = 2.220446049250313e-16


@native
def _keep_polynomial(h, r, degree):
    n = h[N]
    for q in range(degree * n):
        r[h[O_AB] + q] = r[h[O_A] + q]


@unit(NUMBER, WHOLE, NUMBER, WHOLE, WHOLE, WHOLE)
def restep(h, r, step, degree, old_step, place, which, source):
    """Solve the step from the current point with another size; 1 if Newton's iteration converged.

    Started from the polynomial at offset ``source`` of r; the stages go to offset ``place``, the factors to set ``which``.
    """
    n = h[N]
    s = h[STAGES]
    z = matrix(r, place, s, n)
    k = (s - 3) // 2
    old = matrix(r, source, degree, n)
    h[C_RESTEPS] += 1
    if n == 0:
        return 1
    if factor_systems(h, r, step, which) != 0:
        return 0
    ratio = step / old_step
    for attempt in range(2):
        for i in range(s):
            theta = NODES[k, i] * ratio
            for q in range(n):
                x = old[degree - 1, q]
                for d in range(degree - 2, -1, -1):
                    x = x * theta + old[d, q]
                z[i, q] = x * theta if attempt == 0 else 0.0
        kept = r[FACCON]
        r[FACCON] = 1.0
        status = newton(h, r, r[T], step, which, 1e-2 * r[NEWTON_TOL], place)
        r[FACCON] = kept
        if status == CONVERGED:
            return 1
    return 0


@unit(NUMBER, WHOLE)
def locate(h, r, theta, crossed):
    """Find the point of the event at ``theta`` of the step just accepted; with ``crossed`` -1 end the step there.

    Returns 0 or the reason of failure. h[FOUND_GUARD] is the guard, with the event's time in r[STEP] and its point in O_YNEW; or -1 if the step, now
    shorter, ends before any event.
    """
    guard = crossed  # -1: nothing is known to be there, but the step is to be so short
    h[FOUND_GUARD] = guard
    n = h[N]
    s = h[STAGES]
    t = r[T]
    y = vector(r, h[O_Y], n)
    z = matrix(r, h[O_Z], s, n)
    a = matrix(r, h[O_A], s, n)
    point = vector(r, h[O_YNEW], n)
    end = vector(r, h[O_YEND], n)
    whole = r[STEP]
    if theta <= 0.0 or t + theta * whole <= t:
        r[STEP] = 0.0
        r[LENGTH] = 0.0
        for q in range(n):
            point[q] = y[q]
        return 0
    _keep_polynomial(h, r, s)
    old_step = whole
    step = theta * whole
    h[NEEDS_FACTORS] = 1
    attempt = 0
    while attempt < _MOST_RESTEPS:
        r[LENGTH] = step
        if not t + step > t:
            r[STEP] = 0.0
            r[LENGTH] = 0.0
            for q in range(n):
                point[q] = y[q]
            h[FOUND_GUARD] = guard
            return 0
        if restep(h, r, step, s, old_step, h[O_Z], 0, h[O_AB]) == 0:
            # the polynomial led astray: a shorter step from the same point, and look again from its end
            evaluate_jacobian(h, r)
            step *= 0.25
            attempt += 1
            if not step > 1e-15 * max(abs(t), 1e-290):
                return STEP_TOO_SMALL
            continue
        stage_polynomial(POLYNOMIAL[(s - 3) // 2], s, n, z, a)
        for q in range(n):
            end[q] = y[q] + z[s - 1, q]
        which = earliest_crossing(h, r, t, step)
        found = r[FOUND_THETA]
        if which == UNDEFINED:
            return NOT_FINITE
        if which == UNDECIDED:
            if not can_be_shorter(r, step):
                return UNDECIDED_GUARD
            _keep_polynomial(h, r, s)
            old_step = step
            step *= shorter(h, r)
            guard = -1
            continue
        if found <= 1.0 - NEAR_END and attempt < _MOST_RESTEPS - 1 and found > 0.0:
            _keep_polynomial(h, r, s)
            old_step = step
            step = found * step
            guard = which
            attempt += 1
            continue
        if found > 1.0:
            # no crossing up to here: it lies just behind the end, or nowhere
            ahead = distance_behind(h, r, t, step, guard) if guard >= 0 else -1.0
            if 0.0 < ahead <= NEAR_END and step * (1.0 + ahead) <= whole:
                found = 1.0 + ahead
                which = guard
            elif ahead > 0.0 and step * (1.0 + ahead) < whole and attempt < _MOST_RESTEPS - 1:
                _keep_polynomial(h, r, s)
                old_step = step
                step = step * (1.0 + ahead)
                attempt += 1
                continue
            else:
                r[STEP] = step
                end_point(h, r, 1.0, point)
                h[FOUND_GUARD] = -1
                return 0
        h[FOUND_GUARD] = which
        return polish(h, r, t, step, which, found, whole)
    return STEP_TOO_SMALL
