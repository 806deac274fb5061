"""The first zero of a guard that is no polynomial: bounds on parts of the step and on its rate there (Park and Barton 1996).

Where a guard reads an opaque function there are no bounds, and signs at points must do.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_unit, call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    F_GUARDS,
    F_TAPE,
    I_RATE,
    I_USED,
    I_VALUE,
    MOST_PARTS_AT_ONCE,
    N_G,
    N_REG,
    N_USED,
    O_BERN,
    O_GT,
    O_HI,
    O_LO,
    O_M,
    O_NU,
    O_P,
    O_W,
    PART_WIDTH,
    N,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.events.guards import polynomial_point
from tidegate.events.illinois import narrowed, secant
from tidegate.events.polynomial_roots import NARROWEST, NO_ROOT

__all__ = ["interval_root", "sampled_root"]

_EPS: Final = 2.220446049250313e-16
_MOST_PARTS: Final = 4000
_SAMPLES: Final = 24


@native
def _fill_bounds(h, r, t, step, y, a, degree, low, high):
    """Bounds of time, the unknowns and their rates over a part of the step: Taylor expansion about its middle."""
    n_used = h[N_USED]
    used = integers(h, h[I_USED], n_used)
    lo = vector(r, h[O_LO], h[N_REG])
    hi = vector(r, h[O_HI], h[N_REG])
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low)
    c = vector(r, h[O_BERN], degree + 1)
    lo[0] = t + low * step
    hi[0] = t + high * step
    lo[1 + 2 * n_used] = step
    hi[1 + 2 * n_used] = step
    for u in range(n_used):
        q = used[u]
        c[0] = y[q]
        for k in range(degree):
            c[k + 1] = a[k, q]
        for level in range(degree):
            for k in range(degree - 1, level - 1, -1):
                c[k] += middle * c[k + 1]
        spread = 0.0
        rate_spread = 0.0
        for k in range(degree, 0, -1):
            spread = (spread + abs(c[k])) * half
            if k > 1:
                rate_spread = (rate_spread + k * abs(c[k])) * half
        slack = 4 * _EPS * (abs(c[0]) + spread)
        lo[1 + u] = c[0] - spread - slack
        hi[1 + u] = c[0] + spread + slack
        slack = 4 * _EPS * (abs(c[1]) + rate_spread)
        lo[1 + n_used + u] = c[1] - rate_spread - slack
        hi[1 + n_used + u] = c[1] + rate_spread + slack


@native
def _value_at(h, r, t, step, y, a, degree, j, theta):
    """The guard at one point of the step, through the guards' own function."""
    point = vector(r, h[O_W], h[N])
    values = vector(r, h[O_GT], h[N_G])
    polynomial_point(h[N], degree, y, a, theta, point)
    call_value(h[F_GUARDS], t + theta * step, point, tail(r, h[O_P]), tail(r, h[O_M]), values)
    return values[j]


@native
def _bracketed_root(h, r, t, step, y, a, degree, j, sign, nu, low, high):
    """Zero of sign*g + nu between low, where it is positive, and high, where it is not (Illinois)."""
    at_low = sign * _value_at(h, r, t, step, y, a, degree, j, low) + nu
    at_high = sign * _value_at(h, r, t, step, y, a, degree, j, high) + nu
    if at_low <= 0.0:
        return low
    side = 0
    for _ in range(100):
        if high - low <= 2 * _EPS * max(high, 1e-3) or at_high == 0.0:
            break
        theta = secant(low, at_low, high, at_high)
        value = sign * _value_at(h, r, t, step, y, a, degree, j, theta) + nu
        low, at_low, high, at_high, side = narrowed(low, at_low, high, at_high, side, theta, value)
    return high


@native
def interval_root(h, r, t, step, y, a, degree, j, sign, upper):
    """First zero in (0, upper] of sign*g + nu by bounds on parts of the step, leftmost first."""
    nu = vector(r, h[O_NU], h[N_G])[j]
    value = integers(h, h[I_VALUE], h[N_G])[j]
    rate = integers(h, h[I_RATE], h[N_G])[j]
    lo = vector(r, h[O_LO], h[N_REG])
    hi = vector(r, h[O_HI], h[N_REG])
    parts = matrix(r, h[O_BERN] + PART_WIDTH, MOST_PARTS_AT_ONCE, PART_WIDTH)
    parts[0, 0] = 0.0
    parts[0, 1] = upper
    top = 1
    visited = 0
    while top > 0:
        top -= 1
        low = parts[top, 0]
        high = parts[top, 1]
        visited += 1
        _fill_bounds(h, r, t, step, y, a, degree, low, high)
        call_unit(h[F_TAPE], h, r, j)
        smallest = lo[value] if sign > 0.0 else -hi[value]
        if smallest + nu > 0.0:
            continue
        slowest = lo[rate] if sign > 0.0 else -hi[rate]
        fastest = hi[rate] if sign > 0.0 else -lo[rate]
        if slowest > 0.0:
            continue
        if fastest < 0.0 or high - low < NARROWEST or top + 2 >= MOST_PARTS_AT_ONCE or visited > _MOST_PARTS:
            if sign * _value_at(h, r, t, step, y, a, degree, j, high) + nu <= 0.0:
                return _bracketed_root(h, r, t, step, y, a, degree, j, sign, nu, low, high)
            continue
        middle = 0.5 * (low + high)
        parts[top, 0] = middle
        parts[top, 1] = high
        parts[top + 1, 0] = low
        parts[top + 1, 1] = middle
        top += 2
    return NO_ROOT


@native
def sampled_root(h, r, t, step, y, a, degree, j, sign, upper):
    """For a guard that reads an opaque function nothing can be proved: signs at points, as everywhere else."""
    nu = vector(r, h[O_NU], h[N_G])[j]
    low = 0.0
    for k in range(1, _SAMPLES + 1):
        high = upper * k / _SAMPLES
        if sign * _value_at(h, r, t, step, y, a, degree, j, high) + nu <= 0.0:
            return _bracketed_root(h, r, t, step, y, a, degree, j, sign, nu, low, high)
        low = high
    return NO_ROOT
