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
from tidegate.events.guards import size_of
from tidegate.events.not_tied import FORCES, IS_COUPLED, NOTHING, TOO_LARGE, VARIES
from tidegate.events.posterior import forced_point
from tidegate.events.tolerances import ROUNDING
from tidegate.linear.forced import given_jacobian, let_go
from tidegate.linear.mass import DIAGONAL, is_held
from tidegate.linear.systems import factor_base, is_finite_jacobian

__all__ = ["constrain"]

_NO_PIVOT: Final = 1e-13  # of a row's largest element
_SAME: Final = 1e-9  # relative difference of two weights that are one
_MOVED: Final = 10.0  # tolerances by which a state may be put where its constraint wants it
_SHORTEST: Final = 1e-10  # of the last step: in which states that are tied are taken to where they must be, and others stay
_ASIDE: Final = 0.37  # of the size of unknowns: there the weights are looked at again


@native
def _equations(run, jac):
    """E2 J, rows of size one, into run.forced_system, without what rows of M make of it; what they are made of into run.forced_elimination."""
    n = run.n
    a = run.forced_system
    w = run.forced_elimination
    is_used = run.forced_marks
    for i in range(n):
        is_used[i] = 1 if is_held(run, i) else 0
        for j in range(n):
            a[i, j] = 0.0
            w[i, j] = 0.0
        if is_used[i] == 1:
            continue
        largest = 0.0
        for q in range(n):
            part = (1.0 if q == i else 0.0) if run.mass_kind == DIAGONAL else run.row_operations[i, q]
            if part != 0.0:
                w[i, q] = part
                for j in range(n):
                    a[i, j] += part * jac[q, j]
        for j in range(n):
            largest = max(largest, abs(a[i, j]))
        if largest > 0.0:
            for j in range(n):
                a[i, j] /= largest
                w[i, j] /= largest
        _without_rates(run, a[i], w[i], False)


@native
def _without_rates(run, row, made_of, is_written):
    """Take rows of M from a row until no unknown that has a rate of its own is left in it; with ``is_written``, of which equations, less."""
    n = run.n
    if run.mass_kind == DIAGONAL:
        for j in range(n):
            if run.mass[j] != 0.0:
                if is_written:
                    made_of[j] += row[j] / run.mass[j]
                row[j] = 0.0
        return
    u = run.echelon
    for r in range(run.rank):
        pivot = 0
        while u[r, pivot] == 0.0:
            pivot += 1
        factor = row[pivot] / u[r, pivot]
        if factor != 0.0:
            for j in range(n):
                row[j] -= factor * u[r, j]
                if is_written:
                    made_of[j] += factor * run.row_operations[r, j]
            row[pivot] = 0.0


@native
def _eliminate(run, jac):
    """Combinations of algebraic equations that hold no algebraic unknown, by complete pivoting, into run.forced_algebraic; their number."""
    n = run.n
    a = run.forced_system
    w = run.forced_elimination
    is_used = run.forced_marks
    _equations(run, jac)
    while True:
        best_i = -1
        best_j = -1
        best = _NO_PIVOT
        for i in range(n):
            if is_used[i] == 0:
                for j in range(n):
                    if abs(a[i, j]) > best:
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
                run.forced_algebraic[count, j] = w[i, j]
            run.forced_rows[count] = i
            count += 1
    return count


@native
def _choose_equations(run, count):
    """Which equation of each combination gives way, in no other of which it stands; where M couples rates, any may be the one."""
    n = run.n
    a = run.forced_algebraic
    for k in range(count):
        row = 0
        for i in range(n):
            row = i if abs(a[k, i]) > abs(a[k, row]) else row
        run.forced_rows[k] = row
        scale = a[k, row]
        for i in range(n):
            a[k, i] /= scale
        for other in range(count):
            factor = a[other, row]
            if other != k and factor != 0.0:
                for i in range(n):
                    a[other, i] -= factor * a[k, i]
                a[other, row] = 0.0


@native
def _gradient(run, k, jac, i):
    """Of combination k by unknown i, and the size of its terms."""
    x = 0.0
    size = 0.0
    for r in range(run.n):
        if run.forced_algebraic[k, r] != 0.0:
            term = run.forced_algebraic[k, r] * jac[r, i]
            x += term
            size += abs(term)
    return x, size


@native
def _has_rate(run, i):
    """True for an unknown that stands in M y'."""
    if run.mass_kind == DIAGONAL:
        return run.mass[i] != 0.0
    for q in range(run.n):
        if run.mass[q * run.n + i] != 0.0:
            return True
    return False


@native
def _weights(run, count, jac):
    """Gradients, and the weights of equations that stand for them; False if one ties no state: it speaks of nothing, or of time alone."""
    n = run.n
    rest = run.forced_scratch
    for k in range(count):
        ties = False
        for i in range(n):
            run.forced_weights[k, i] = 0.0
            x, size = _gradient(run, k, jac, i)
            tied = _has_rate(run, i) and abs(x) > _NO_PIVOT * size
            ties = ties or tied
            run.forced_gradient[k, i] = x if tied else 0.0
            rest[i] = -run.forced_gradient[k, i]
        if not ties:
            return False
        _without_rates(run, rest, run.forced_weights[k], True)
        for i in range(n):
            x, size = _gradient(run, k, jac, i)
            if abs(rest[i]) > _SAME * size:
                return False
        if run.mass_kind > DIAGONAL:
            _take_from_itself(run, k, count)
    return True


@native
def _take_from_itself(run, k, count):
    """The weights without the equations that give way, and less the combination itself: see ``linear.forced``."""
    w = run.forced_weights
    a = run.forced_algebraic
    for other in range(count):
        factor = w[k, run.forced_rows[other]]
        if factor != 0.0:
            for i in range(run.n):
                w[k, i] -= factor * a[other, i]
            w[k, run.forced_rows[other]] = 0.0
    for i in range(run.n):
        if i != run.forced_rows[k]:
            w[k, i] -= a[k, i]


@native
def _are_constant(run, count, t):
    """True if the combinations are the same elsewhere, at another time and for other values."""
    n = run.n
    y = run.trial_stage
    jac = matrix(run.r, run.jacobian_at, n, n)
    later = run.step_before_event if run.step_before_event > 0.0 else 1.0
    for side in range(3):
        for q in range(n):
            size = size_of(run, q, run.y[q])
            y[q] = run.y[q] + (0.0 if side == 2 else _ASIDE * size * (1.0 if (q + side) % 2 == 0 else -0.7))
        given_jacobian(run, t + (later if side > 0 else 0.0), y, run.jacobian)
        if not is_finite_jacobian(run):
            return False
        for k in range(count):
            for i in range(n):
                x, size = _gradient(run, k, jac, i)
                slope = run.forced_gradient[k, i]
                if _has_rate(run, i) and abs(x - slope) > _SAME * (size + abs(slope)):
                    return False
    return True


@native
def _hold(run, count, t):
    """True if the states are already where the combinations want them."""
    n = run.n
    f = run.forced_scratch
    call_value(run.f_rhs, t, run.y, run.p, run.m, f)
    for k in range(count):
        x = 0.0
        allowed = 0.0
        for q in range(n):
            if run.forced_algebraic[k, q] != 0.0:
                x += run.forced_algebraic[k, q] * f[q]
            if run.forced_gradient[k, q] != 0.0:
                allowed += abs(run.forced_gradient[k, q]) * (run.atol[q] + run.rtol * max(run.y_max[q], abs(run.y[q])))
        if not abs(x) <= _MOVED * allowed:
            return False
    return True


@native
def _constrain(run, t):
    n = run.n
    jac = matrix(run.r, run.jacobian_at, n, n)
    given_jacobian(run, t, run.y, run.jacobian)
    if not is_finite_jacobian(run):
        return IS_COUPLED
    count = _eliminate(run, jac)
    if run.mass_kind > DIAGONAL:
        _choose_equations(run, count)
    if count == 0 or not _weights(run, count, jac):
        return IS_COUPLED
    length = run.step_before_event if run.step_before_event > 0.0 else 1.0
    if forced_point(run, t, _SHORTEST * length) != 0:
        return IS_COUPLED
    wanted = run.trial_end
    hold = _hold(run, count, t)  # then what moves in that step moves freely
    for q in range(n):
        if not hold and _has_rate(run, q):
            allowed = _MOVED * (run.atol[q] + run.rtol * max(run.y_max[q], abs(run.y[q])))
            if not abs(wanted[q] - run.y[q]) <= allowed:
                run.forced_unknown = q
                run.forced_value = wanted[q]
                return FORCES
    if not _are_constant(run, count, t):
        return VARIES
    for q in range(n):
        for k in range(count):
            size = size_of(run, q, run.y[q])
            if run.forced_gradient[k, q] != 0.0 and abs(wanted[q] - run.y[q]) > ROUNDING * size:
                run.y[q] = wanted[q]
    run.n_forced = count
    return NOTHING if factor_base(run, t, run.y.ctypes) == 0 else IS_COUPLED


@kernel_entry(NUMBER)
def constrain(run, t):
    """Integrate the constraints of this mode in their differentiated form from here on; NOTHING, or what is in the way of that."""
    run.n_forced = 0
    if run.mass_kind < DIAGONAL:
        return IS_COUPLED
    if run.n_tied == 0:
        return TOO_LARGE
    run.is_sparse = 0
    why = _constrain(run, t)
    if why != NOTHING:
        let_go(run)
    return why
