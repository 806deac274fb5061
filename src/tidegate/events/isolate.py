"""The earliest zero of any guard on the polynomial of a step: proved by bounds, never by signs at points.

A guard with the sign it must keep is s*g > 0; it is isolated where s*g falls to -nu, nu being its noise, so that a guard that starts at zero or
rests at zero does not fire. Guards affine in time and unknowns are polynomials: a Horner lower bound excludes most, Descartes' rule on Bernstein
coefficients with de Casteljau subdivision isolates the rest (Lane and Riesenfeld 1981). Other guards go through interval arithmetic on parts of the
step (``interval_roots``), and where that takes too many parts the step is to be made shorter.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import NUMBER, native, unit
from tidegate.compiled.workspace import (
    DECIDED_TO,
    DEGREE,
    F_GUARDS,
    F_GUARDS_T,
    F_RHS,
    FAILED_GUARD,
    FOUND_THETA,
    I_LINEAR,
    I_OPAQUE,
    I_TIME,
    MASS_KIND,
    N_G,
    N_S,
    O_A,
    O_ACT,
    O_G,
    O_GC,
    O_GT,
    O_M,
    O_NU,
    O_NUSTART,
    O_P,
    O_Y,
    O_YDOT,
    O_YEND,
    O_ZERO,
    N,
    T,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.events.guards import expected_sign, guard_noise, guard_slopes, prepare_registers
from tidegate.events.interval_roots import interval_root, sampled_root
from tidegate.events.polynomial_roots import NO_ROOT, UNKNOWN_ROOT, polynomial_root
from tidegate.events.time_scale import time_scale
from tidegate.events.touch import note_contacts

__all__ = ["UNDECIDED", "UNDEFINED", "earliest_crossing", "guard_at_the_end"]

UNDEFINED: Final = -2  # instead of a guard: an active one, noted in FAILED_GUARD, is NaN
UNDECIDED: Final = -3  # or nobody knows whether one is across beyond FOUND_THETA
_EPS: Final = 2.220446049250313e-16
_TIME_ROUNDING: Final = 8 * _EPS
_AT_THE_END: Final = 1e-6  # of the time scale: a guard that does not pass its noise within that rests


@native
def guard_at_the_end(h, r):
    """A guard that reaches zero just where the run ends, which no step behind it will show; -1 if there is none, UNDEFINED if one is NaN."""
    ng = h[N_G]
    if ng == 0:
        return -1
    n = h[N]
    t = r[T]
    y = vector(r, h[O_Y], n)
    g = vector(r, h[O_G], ng)
    slopes = vector(r, h[O_GT], ng)
    ydot = vector(r, h[O_YDOT], n)
    guard_noise(h, r, t, y)
    call_value(h[F_GUARDS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), g)
    known = h[MASS_KIND] == 0
    if known:
        call_value(h[F_RHS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), ydot)
        guard_slopes(h, r, t, y, ydot, slopes)
    for j in range(ng):
        if r[h[O_ACT] + j] == 0.0 or integers(h, h[I_TIME], ng)[j] == 1:
            continue
        if g[j] != g[j]:
            h[FAILED_GUARD] = j
            return UNDEFINED
        sign = expected_sign(h, r, j)
        towards = -sign * slopes[j] if known else 0.0
        noise = r[h[O_NUSTART] + j]
        if sign * g[j] < -noise:
            return j  # across already, by less than the last step could show
        if towards * _AT_THE_END * time_scale(h, r, h[O_YDOT]) > noise and abs(g[j]) <= noise + _TIME_ROUNDING * abs(t) * towards:
            return j
    return -1


@native
def _is_undefined_at_the_end(h, r, t):
    """True if an active guard is NaN at the end of the step."""
    g = vector(r, h[O_GT], h[N_G])
    call_value(h[F_GUARDS], t, vector(r, h[O_YEND], h[N]), tail(r, h[O_P]), tail(r, h[O_M]), g)
    for j in range(h[N_G]):
        if g[j] != g[j] and r[h[O_ACT] + j] != 0.0 and integers(h, h[I_TIME], h[N_G])[j] == 0:
            h[FAILED_GUARD] = j
            return True
    return False


@unit(NUMBER, NUMBER)
def earliest_crossing(h, r, t, step):
    """The active guard that is across earliest on the step from the current point with the polynomial in A; -1 if there is none.

    Leaves theta in [0, 1] in r[FOUND_THETA], or NO_ROOT. UNDECIDED if the search for a guard, noted in FAILED_GUARD, took too many parts.
    """
    ng = h[N_G]
    n = h[N]
    r[FOUND_THETA] = NO_ROOT
    if ng == 0:
        return -1
    degree = h[DEGREE]
    y = vector(r, h[O_Y], n)
    a = matrix(r, h[O_A], degree, n)
    g = vector(r, h[O_G], ng)
    call_value(h[F_GUARDS], t, y, tail(r, h[O_P]), tail(r, h[O_M]), g)
    guard_noise(h, r, t, y)
    nu = vector(r, h[O_NU], ng)
    active = vector(r, h[O_ACT], ng)
    linear = integers(h, h[I_LINEAR], ng)
    of_time = integers(h, h[I_TIME], ng)
    opaque = integers(h, h[I_OPAQUE], ng)
    coefficients = matrix(r, h[O_GC], degree, ng)
    zero = vector(r, h[O_ZERO], n)
    nothing = tail(r, h[O_ZERO])
    for k in range(degree):
        call_tangent(h[F_GUARDS_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), step if k == 0 else 0.0, a[k], nothing, nothing, coefficients[k])
    best = NO_ROOT
    found = -1
    prepared = False
    for j in range(ng):
        if active[j] == 0.0 or of_time[j] == 1:
            continue
        sign = expected_sign(h, r, j)
        start = sign * g[j] + nu[j]
        if g[j] != g[j]:
            h[FAILED_GUARD] = j
            return UNDEFINED
        if start < 0.0:
            returns = sign * coefficients[0, j]
            if not -start <= _TIME_ROUNDING * abs(t) / step * returns:
                if h[N_S] > 0:
                    note_contacts(h, r, t, step, y, 0.0, j)
                r[FOUND_THETA] = 0.0
                return j
            # an event put it there within the rounding of time, and it is on its way back
            nu[j] = 1e-3 * nu[j] - sign * g[j]
            start = sign * g[j] + nu[j]
        upper = min(best, 1.0)
        if not upper > 0.0:
            continue
        if linear[j] == 1:
            low = 0.0
            for k in range(degree - 1, -1, -1):
                low = sign * coefficients[k, j] + min(low, 0.0)
            if start + min(low, 0.0) > 0.0:
                continue
            root = polynomial_root(h, r, start, sign, j, degree, upper)
        elif opaque[j] == 1:
            root = sampled_root(h, r, t, step, y, a, degree, j, sign, upper)
        else:
            if not prepared:
                prepare_registers(h, r)
                prepared = True
            root = interval_root(h, r, t, step, y, a, degree, j, sign, upper)
            if root == UNKNOWN_ROOT and r[DECIDED_TO] < best:
                best = r[DECIDED_TO]
                found = UNDECIDED
                h[FAILED_GUARD] = j
        if root < best:
            best = root
            found = j
    if found == UNDECIDED:
        r[FOUND_THETA] = best
        return UNDECIDED
    if found < 0 and _is_undefined_at_the_end(h, r, t + step):
        return UNDEFINED
    if h[N_S] > 0:
        note_contacts(h, r, t, step, y, min(best, 1.0), found)
    r[FOUND_THETA] = best
    return found
