"""A mode that ties states, and holds: which combinations of its equations do so, and what they leave of the states (stage: events).

In: a point at which ``events.posterior`` has found that the mode says of itself that it holds, though its algebraic equations do not determine the
algebraic unknowns: a diode that is off, in series with a coil. Out: the combinations in the form that ``linear.forced`` integrates; or why not. No
state is moved by more than tolerances, since what an impulse does to it nobody has said.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import matrix
from tidegate.events.not_tied import FORCES, IS_COUPLED, NOTHING, VARIES
from tidegate.events.posterior import forced_point
from tidegate.events.tolerances import ROUNDING
from tidegate.linear.mass import DIAGONAL
from tidegate.linear.systems import factor_base, is_finite

__all__ = ["constrain"]

_NO_PIVOT: Final = 1e-13  # of a row's largest element
_SAME: Final = 1e-9  # relative difference of two weights that are one
_MOVED: Final = 10.0  # tolerances by which a state may be put where its constraint wants it
_SHORTEST: Final = 1e-10  # of the last step: in which states that are tied are taken to where they must be, and others stay
_ASIDE: Final = 0.37  # of the size of unknowns: there the weights are looked at again


@native
def _eliminate(run, jac):
    """Combinations of algebraic equations that hold no algebraic unknown, by complete pivoting, into run.forced_weights; their number."""
    n = run.n
    a = run.forced_system
    w = run.forced_elimination
    is_used = run.forced_marks
    mass = run.mass
    for i in range(n):
        is_used[i] = 0 if mass[i] == 0.0 else 1
        largest = 0.0
        for j in range(n):
            a[i, j] = jac[i, j] if mass[i] == 0.0 else 0.0
            w[i, j] = 0.0
            largest = max(largest, abs(a[i, j]))
        if largest > 0.0:
            for j in range(n):
                a[i, j] /= largest
            w[i, i] = 1.0 / largest
        else:
            w[i, i] = 1.0
    while True:
        best_i = -1
        best_j = -1
        best = _NO_PIVOT
        for i in range(n):
            if is_used[i] == 0:
                for j in range(n):
                    if mass[j] == 0.0 and abs(a[i, j]) > best:
                        best = abs(a[i, j])
                        best_i = i
                        best_j = j
        if best_i < 0:
            break
        is_used[best_i] = 1
        for i in range(n):
            if is_used[i] == 0 and a[i, best_j] != 0.0:
                factor = a[i, best_j] / a[best_i, best_j]
                for j in range(n):
                    a[i, j] -= factor * a[best_i, j]
                    w[i, j] -= factor * w[best_i, j]
                a[i, best_j] = 0.0
    count = 0
    for i in range(n):
        if is_used[i] == 0:
            for j in range(n):
                run.forced_weights[count, j] = w[i, j]
            run.forced_rows[count] = i
            count += 1
    return count


@native
def _gradient(run, k, jac, i):
    """Of combination k by unknown i, and the size of its terms."""
    x = 0.0
    size = 0.0
    for r in range(run.n):
        if run.mass[r] == 0.0:
            term = run.forced_weights[k, r] * jac[r, i]
            x += term
            size += abs(term)
    return x, size


@native
def _weights_of_states(run, count, jac):
    """What belongs to the states in each combination; False if one ties none, and says something about nothing or about time alone."""
    n = run.n
    for k in range(count):
        ties = False
        for i in range(n):
            if run.mass[i] != 0.0:
                x, size = _gradient(run, k, jac, i)
                tied = abs(x) > _NO_PIVOT * size
                ties = ties or tied
                run.forced_weights[k, i] = -x / run.mass[i] if tied else 0.0
        if not ties:
            return False
    return True


@native
def _are_constant(run, count, t):
    """True if the combinations are the same elsewhere, at another time and for other values."""
    n = run.n
    y = run.trial_stage
    jac = matrix(run.r, run.jacobian_at, n, n)
    later = run.step_before_event if run.step_before_event > 0.0 else 1.0
    for side in range(3):
        for q in range(n):
            size = max(run.y_max[q], abs(run.y[q]), run.atol[q] / run.rtol)
            y[q] = run.y[q] + (0.0 if side == 2 else _ASIDE * size * (1.0 if (q + side) % 2 == 0 else -0.7))
        call_value(run.f_jacobian, t + (later if side > 0 else 0.0), y, run.p, run.m, run.jacobian)
        if not is_finite(run.jacobian):
            return False
        for k in range(count):
            for i in range(n):
                x, size = _gradient(run, k, jac, i)
                if run.mass[i] != 0.0:
                    x += run.forced_weights[k, i] * run.mass[i]
                    size += abs(run.forced_weights[k, i] * run.mass[i])
                if abs(x) > _SAME * size:
                    return False
    return True


@kernel_entry(NUMBER)
def constrain(run, t):
    """Integrate the constraints of this mode in their differentiated form from here on; NOTHING, or what is in the way of that."""
    n = run.n
    run.n_forced = 0
    if run.mass_kind != DIAGONAL or run.is_sparse == 1:
        return IS_COUPLED
    jac = matrix(run.r, run.jacobian_at, n, n)
    call_value(run.f_jacobian, t, run.y, run.p, run.m, run.jacobian)
    if not is_finite(run.jacobian):
        return IS_COUPLED
    count = _eliminate(run, jac)
    if count == 0 or not _weights_of_states(run, count, jac):
        return IS_COUPLED
    length = run.step_before_event if run.step_before_event > 0.0 else 1.0
    if forced_point(run, t, _SHORTEST * length) != 0:
        return IS_COUPLED
    wanted = run.trial_end
    for q in range(n):
        if run.mass[q] != 0.0:
            allowed = _MOVED * (run.atol[q] + run.rtol * max(run.y_max[q], abs(run.y[q])))
            if not abs(wanted[q] - run.y[q]) <= allowed:
                run.forced_unknown = q
                run.forced_value = wanted[q]
                return FORCES
    if not _are_constant(run, count, t):
        return VARIES
    for q in range(n):
        for k in range(count):
            size = max(run.y_max[q], abs(run.y[q]), run.atol[q] / run.rtol)
            if run.mass[q] != 0.0 and run.forced_weights[k, q] != 0.0 and abs(wanted[q] - run.y[q]) > ROUNDING * size:
                run.y[q] = wanted[q]
    run.n_forced = count
    if factor_base(run, t, run.y.ctypes) != 0:
        run.n_forced = 0
        return IS_COUPLED
    return NOTHING
