"""What is known of guards at a point: which matter, how fast they move, on which side they must stay, and how much of their value is noise."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent, call_unit, call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    F_ACTIVITY,
    F_GUARDS_T,
    F_SCALE,
    F_TAPE,
    I_ALGEBRAIC,
    I_KIND,
    I_MODE,
    I_NROW,
    I_USED,
    I_VALUE,
    N_G,
    N_M,
    N_P,
    N_REG,
    N_USED,
    O_ACT,
    O_ATOL,
    O_HI,
    O_LO,
    O_M,
    O_NOISE,
    O_NU,
    O_NUSTART,
    O_P,
    O_YMAX,
    O_ZERO,
    RELATION,
    RTOL,
    N,
    integers,
    tail,
    vector,
)

__all__ = ["expected_sign", "guard_noise", "guard_slopes", "polynomial_point", "prepare_registers", "refresh_activity", "tape_rounding"]

_EPS: Final = 2.220446049250313e-16
_ROUNDING_AT_MOST: Final = 0.1  # of the largest term of a guard: bounds at a point that are wider do not come from rounding


@native
def refresh_activity(h, r):
    """Which guards matter in the current mode."""
    if h[N_G] > 0:
        call_value(h[F_ACTIVITY], 0.0, vector(r, h[O_ZERO], h[N]), tail(r, h[O_P]), tail(r, h[O_M]), vector(r, h[O_ACT], h[N_G]))


@native
def prepare_registers(h, r):
    """Parameters and modes as point intervals behind the unknowns and their rates."""
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
def tape_rounding(h, r, j):
    """Width of a guard's interval at a point, of which the tape was just run; 0 where that is no rounding but says that nothing is known."""
    lo = vector(r, h[O_LO], h[N_REG])
    hi = vector(r, h[O_HI], h[N_REG])
    value = integers(h, h[I_VALUE], h[N_G])[j]
    first = 2 + 3 * h[N_USED] + h[N_P] + h[N_M]
    largest = 0.0
    for k in range(first, first + integers(h, h[I_NROW], h[N_G])[j]):
        largest = max(largest, abs(lo[k]), abs(hi[k]))
    width = hi[value] - lo[value]
    return width if width <= _ROUNDING_AT_MOST * largest and largest < 1e300 else 0.0


@native
def _rounding_of_tapes(h, r, t, y):
    """Add to the noise of nonlinear guards the width of their intervals at a point, which bounds the rounding of everything inside them."""
    ng = h[N_G]
    n_used = h[N_USED]
    used = integers(h, h[I_USED], n_used)
    lo = vector(r, h[O_LO], h[N_REG])
    hi = vector(r, h[O_HI], h[N_REG])
    prepare_registers(h, r)
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
            width = tape_rounding(h, r, j)
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
