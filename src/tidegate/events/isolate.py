"""The earliest zero of any guard on the polynomial of a step: proved by bounds, never by signs at points.

A guard with the sign it must keep is s*g > 0; it is isolated where s*g falls to -nu, nu being its noise, so that a guard that starts at zero or
rests at zero does not fire. Guards affine in time and unknowns are polynomials: a Horner lower bound excludes most, Descartes' rule on Bernstein
coefficients with de Casteljau subdivision isolates the rest (Lane and Riesenfeld 1981). Other guards go through interval arithmetic on parts of the
step and on its rate (Park and Barton 1996): a part is dropped if the bounds exclude zero or if the guard rises, holds one zero if the guard falls,
and is halved otherwise.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent, call_unit, call_value
from tidegate.compiled.jit import NUMBER, native, unit
from tidegate.compiled.workspace import (
    DEGREE,
    F_ACTIVITY,
    F_GUARDS,
    F_GUARDS_T,
    F_RHS,
    F_SCALE,
    F_TAPE,
    FAILED_GUARD,
    FOUND_THETA,
    I_ALGEBRAIC,
    I_KIND,
    I_LINEAR,
    I_MODE,
    I_NROW,
    I_OPAQUE,
    I_RATE,
    I_TIME,
    I_USED,
    I_VALUE,
    MASS_KIND,
    MOST_PARTS_AT_ONCE,
    N_G,
    N_M,
    N_P,
    N_REG,
    N_S,
    N_USED,
    O_A,
    O_ACT,
    O_ATOL,
    O_BERN,
    O_G,
    O_GC,
    O_GT,
    O_HI,
    O_LO,
    O_M,
    O_NOISE,
    O_NU,
    O_NUSTART,
    O_P,
    O_W,
    O_Y,
    O_YDOT,
    O_YEND,
    O_YMAX,
    O_ZERO,
    PART_WIDTH,
    RELATION,
    RTOL,
    SPAN,
    N,
    T,
    integers,
    matrix,
    tail,
    vector,
)
from tidegate.events.touch import note_contacts

__all__ = [
    "NO_ROOT",
    "UNDEFINED",
    "earliest_crossing",
    "expected_sign",
    "guard_at_the_end",
    "guard_noise",
    "guard_slopes",
    "polynomial_point",
    "refresh_activity",
]

NO_ROOT: Final = 2.0
UNDEFINED: Final = -2  # instead of a guard: an active one, noted in FAILED_GUARD, is NaN
_EPS: Final = 2.220446049250313e-16
_TIME_ROUNDING: Final = 8 * _EPS
_AT_THE_END: Final = 1e-6  # of the run: a guard that does not pass its noise within that rests
_NARROWEST: Final = 1e-12  # parts of a step below this are not divided further: a touching zero, or rounding
_MOST_PARTS: Final = 4000
_SAMPLES: Final = 24


@native
def refresh_activity(h, r):
    """Which guards matter in the current mode."""
    if h[N_G] > 0:
        call_value(h[F_ACTIVITY], 0.0, vector(r, h[O_ZERO], h[N]), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_ACT], h[N_G]))


@native
def _prepare_registers(h, r):
    """Parameters and modes as point intervals behind the unknowns."""
    n_used = h[N_USED]
    lo = vector(r, h[O_LO], h[N_REG])
    hi = vector(r, h[O_HI], h[N_REG])
    place = 2 + 2 * n_used
    for k in range(h[N_P]):
        lo[place + k] = r[h[O_P] + k]
        hi[place + k] = r[h[O_P] + k]
    place += h[N_P]
    for k in range(h[N_M]):
        lo[place + k] = r[h[O_M] + k]
        hi[place + k] = r[h[O_M] + k]


@native
def _rounding_of_tapes(h, r, t, y):
    """Add to the noise of nonlinear guards the width of their intervals at a point, which bounds the rounding of everything inside them."""
    ng = h[N_G]
    n_used = h[N_USED]
    used = integers(h, h[I_USED], n_used)
    lo = vector(r, h[O_LO], h[N_REG])
    hi = vector(r, h[O_HI], h[N_REG])
    _prepare_registers(h, r)
    lo[0] = t
    hi[0] = t
    lo[1 + 2 * n_used] = 0.0
    hi[1 + 2 * n_used] = 0.0
    for u in range(n_used):
        lo[1 + u] = y[used[u]]
        hi[1 + u] = y[used[u]]
        lo[1 + n_used + u] = 0.0
        hi[1 + n_used + u] = 0.0
    for j in range(ng):
        if integers(h, h[I_NROW], ng)[j] > 0:
            call_unit(h[F_TAPE], h, r, j)
            value = integers(h, h[I_VALUE], ng)[j]
            width = hi[value] - lo[value]
            if width < 1e300:
                r[h[O_NU] + j] += width
                r[h[O_NUSTART] + j] += width


@native
def guard_noise(h, r, t, y):
    """nu of every guard: rounding of what it reads, at its size so far (O_NUSTART), and with what Newton leaves in algebraic unknowns (O_NU)."""
    n = h[N]
    ng = h[N_G]
    noise = vector(r, h[O_NOISE], n)
    size = vector(r, h[O_YMAX], n)
    atol = vector(r, h[O_ATOL], n)
    algebraic = integers(h, h[I_ALGEBRAIC], n)
    nothing = tail(r, h[O_ZERO])
    for q in range(n):
        size[q] = max(size[q], abs(y[q]))
        # algebraic unknowns come out of a linear system, with its rounding
        noise[q] = (128 if algebraic[q] == 1 else 16) * _EPS * max(size[q], atol[q] / r[RTOL])
    zero = vector(r, h[O_ZERO], n)
    now = 16 * _EPS * abs(t)
    call_tangent(h[F_SCALE], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), now, noise, nothing, nothing, vector(r, h[O_NUSTART], ng))
    has_algebraic = False
    for q in range(n):
        if algebraic[q] == 1:
            noise[q] = 1e-2 * (atol[q] + r[RTOL] * size[q])
            has_algebraic = True
    if has_algebraic:
        call_tangent(h[F_SCALE], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), now, noise, nothing, nothing, vector(r, h[O_NU], ng))
    else:
        for j in range(ng):
            r[h[O_NU] + j] = r[h[O_NUSTART] + j]
    if h[F_TAPE] != 0:
        _rounding_of_tapes(h, r, t, y)


@native
def guard_slopes(h, r, t, y, ydot, slopes):
    """dg/dt of every guard at a point that moves with ``ydot``."""
    nothing = tail(r, h[O_ZERO])
    call_tangent(h[F_GUARDS_T], t, y, nothing, tail(r, h[O_P]), tail(r, h[O_M]), 1.0, ydot, nothing, nothing, slopes)


@native
def expected_sign(h, r, guard):
    """+1 if the guard must stay positive in the current mode, -1 if negative."""
    if integers(h, h[I_KIND], h[N_G])[guard] != RELATION:
        return 1.0
    return 1.0 if r[h[O_M] + integers(h, h[I_MODE], h[N_G])[guard]] != 0.0 else -1.0


@native
def polynomial_point(n, degree, y, a, theta, out):
    """Value of y + sum a[k] theta^(k+1)."""
    for q in range(n):
        x = a[degree - 1, q]
        for k in range(degree - 2, -1, -1):
            x = x * theta + a[k, q]
        out[q] = y[q] + x * theta


# --- polynomials -------------------------------------------------------------------------------------------------------------------


@native
def _polynomial_value(c, degree, theta):
    x = c[degree]
    for k in range(degree - 1, -1, -1):
        x = x * theta + c[k]
    return x


@native
def _falling_root(c, degree, low, high):
    """Zero in [low, high] of a polynomial that is positive at low and not at high."""
    at_low = _polynomial_value(c, degree, low)
    at_high = _polynomial_value(c, degree, high)
    if at_low <= 0.0:
        return low
    side = 0
    for _ in range(100):
        if high - low <= 2 * _EPS * max(high, 1e-3) or at_high == 0.0:
            break
        theta = high - at_high * (high - low) / (at_high - at_low)
        if not (low < theta < high):
            theta = 0.5 * (low + high)
        value = _polynomial_value(c, degree, theta)
        if value > 0.0:
            low = theta
            at_low = value
            if side == 1:
                at_high *= 0.5
            side = 1
        else:
            high = theta
            at_high = value
            if side == -1:
                at_low *= 0.5
            side = -1
    return high


@native
def _polynomial_root(h, r, start, sign, j, degree, upper):
    """First zero in (0, upper] of start + sum sign c_k theta^k, start > 0."""
    ng = h[N_G]
    width = degree + 1
    c = vector(r, h[O_BERN], width)
    coefficients = matrix(r, h[O_GC], degree, ng)
    c[0] = start
    for k in range(degree):
        c[k + 1] = sign * coefficients[k, j]
    pool = matrix(r, h[O_BERN] + PART_WIDTH, MOST_PARTS_AT_ONCE, PART_WIDTH)
    # Bernstein coefficients on [0, upper]: b_i = sum_k C(i, k) / C(degree, k) c_k upper^k
    row = pool[0]
    power = 1.0
    binomial = 1.0
    for k in range(width):
        row[k] = c[k] * power / binomial
        power *= upper
        binomial = binomial * (degree - k) / (k + 1.0)
    for level in range(degree):
        for i in range(degree, level, -1):
            row[i] += row[i - 1]
    row[PART_WIDTH - 2] = 0.0
    row[PART_WIDTH - 1] = upper
    top = 1
    while top > 0:
        top -= 1
        row = pool[top]
        low = row[PART_WIDTH - 2]
        high = row[PART_WIDTH - 1]
        changes = 0
        last = 1.0
        for i in range(width):
            if row[i] != 0.0 and (row[i] > 0.0) != (last > 0.0):
                changes += 1
                last = row[i]
        if changes == 0:
            continue
        if changes == 1:
            return _falling_root(c, degree, low, high)
        if high - low < _NARROWEST or top + 2 >= MOST_PARTS_AT_ONCE:
            if row[degree] < 0.0:
                return high
            continue
        # de Casteljau at the middle: left half above, so that it is looked at first
        middle = 0.5 * (low + high)
        right = pool[top]
        left = pool[top + 1]
        for i in range(width):
            left[i] = right[0]
            for k in range(width - 1 - i):
                right[k] = 0.5 * (right[k] + right[k + 1])
        right[PART_WIDTH - 2] = middle
        right[PART_WIDTH - 1] = high
        left[PART_WIDTH - 2] = low
        left[PART_WIDTH - 1] = middle
        top += 2
    return NO_ROOT


# --- intervals ---------------------------------------------------------------------------------------------------------------------


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
        theta = high - at_high * (high - low) / (at_high - at_low)
        if not (low < theta < high):
            theta = 0.5 * (low + high)
        value = sign * _value_at(h, r, t, step, y, a, degree, j, theta) + nu
        if value > 0.0:
            low = theta
            at_low = value
            if side == 1:
                at_high *= 0.5
            side = 1
        else:
            high = theta
            at_high = value
            if side == -1:
                at_low *= 0.5
            side = -1
    return high


@native
def _interval_root(h, r, t, step, y, a, degree, j, sign, upper):
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
        if fastest < 0.0 or high - low < _NARROWEST or top + 2 >= MOST_PARTS_AT_ONCE or visited > _MOST_PARTS:
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
def _sampled_root(h, r, t, step, y, a, degree, j, sign, upper):
    """For a guard that reads an opaque function nothing can be proved: signs at points, as everywhere else."""
    nu = vector(r, h[O_NU], h[N_G])[j]
    low = 0.0
    for k in range(1, _SAMPLES + 1):
        high = upper * k / _SAMPLES
        if sign * _value_at(h, r, t, step, y, a, degree, j, high) + nu <= 0.0:
            return _bracketed_root(h, r, t, step, y, a, degree, j, sign, nu, low, high)
        low = high
    return NO_ROOT


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
        if towards * _AT_THE_END * r[SPAN] > noise and abs(g[j]) <= noise + _TIME_ROUNDING * abs(t) * towards:
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

    Leaves theta in [0, 1] in r[FOUND_THETA], or NO_ROOT.
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
        if linear[j] == 1:
            low = 0.0
            for k in range(degree - 1, -1, -1):
                low = sign * coefficients[k, j] + min(low, 0.0)
            if start + min(low, 0.0) > 0.0:
                continue
            root = _polynomial_root(h, r, start, sign, j, degree, upper)
        elif opaque[j] == 1:
            root = _sampled_root(h, r, t, step, y, a, degree, j, sign, upper)
        else:
            if not prepared:
                _prepare_registers(h, r)
                prepared = True
            root = _interval_root(h, r, t, step, y, a, degree, j, sign, upper)
        if root < best:
            best = root
            found = j
    if found < 0 and _is_undefined_at_the_end(h, r, t + step):
        return UNDEFINED
    if h[N_S] > 0:
        note_contacts(h, r, t, step, y, min(best, 1.0), found)
    r[FOUND_THETA] = best
    return found
