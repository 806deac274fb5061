"""Jumps of sensitivities at events: event-time derivatives, transition functions, the new mode's equations.

Galan, Feehery and Barton 1999 (equations 12 and 14 of the DSL48SE manual), in total derivatives: with tau' = dt*/dp the total derivative of y just
before the event is sigma = S + y' tau'; bodies and algebraic equations map sigma; afterwards S = sigma - y'(new) tau'. Discrete variables carry their
derivative D. Several rounds chain. Where tau' does not exist it is NaN, and nothing jumps by it: what it would have moved is struck out of the
result.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import native
from tidegate.compiled.linear import solve
from tidegate.compiled.workspace import (
    F_BODIES_T,
    F_GUARDS_T,
    F_RESIDUAL_T,
    F_TIMES_T,
    FIRST_DISCRETE,
    I_PARAM,
    I_PIVB,
    L_DGETRS,
    MASS_KIND,
    N_D,
    N_G,
    N_M,
    N_S,
    N_TIMES,
    O_BASE,
    O_BODY,
    O_D,
    O_DM,
    O_DP,
    O_DTDP,
    O_ECHELON,
    O_GT,
    O_M,
    O_NOISE,
    O_NU,
    O_P,
    O_S,
    O_SCALEROW,
    O_SIGMA,
    O_TIMES,
    O_W,
    O_W2,
    O_W3,
    O_YDOT,
    O_YDOTM,
    O_ZERO,
    RANK,
    N,
    integers,
    matrix,
    tail,
    vector,
)

__all__ = ["body_jump", "event_time_derivatives", "finish_jump", "restart_jump", "set_direction", "start_jump", "time_event_derivatives"]


@native
def set_direction(h, r, i, on):
    """Put parameter i's unit vector and its discrete derivatives into the directions dp and dm, or take the unit vector out again."""
    dp = tail(r, h[O_DP])
    dp[integers(h, h[I_PARAM], h[N_S])[i]] = 1.0 if on else 0.0
    if on:
        nd = h[N_D]
        first = h[FIRST_DISCRETE]
        d = matrix(r, h[O_D], max(h[N_S], 1), nd)
        dm = tail(r, h[O_DM])
        for k in range(nd):
            dm[first + k] = d[i, k]
            dm[first + nd + k] = d[i, k]


@native
def event_time_derivatives(h, r, t, y, guard, scale):
    """tau' of the zero of a guard, in the mode before the event: -(g_y S + g_p) / (g_t + g_y y'); ``scale`` is the model's own time."""
    n = h[N]
    gt = vector(r, h[O_GT], h[N_G])
    nu = vector(r, h[O_NU], h[N_G])
    s = matrix(r, h[O_S], h[N_S], n)
    zero = vector(r, h[O_ZERO], n)
    nothing = tail(r, h[O_ZERO])
    dp = tail(r, h[O_DP])
    dm = tail(r, h[O_DM])
    tau = vector(r, h[O_DTDP], h[N_S])
    call_tangent(h[F_GUARDS_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), 1.0, vector(r, h[O_YDOTM], n), nothing, nothing, gt)
    slope = gt[guard]
    # a guard that does not leave its own rounding noise within the model's own time has no event time to differentiate
    tiny = nu[guard] / scale
    # what the slope must be for a crossing to be certain was noted where it was found
    tangent = slope * slope <= r[h[O_M] + h[N_M] - 1]
    for i in range(h[N_S]):
        set_direction(h, r, i, True)
        call_tangent(h[F_GUARDS_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, s[i], dp, dm, gt)
        change = gt[guard]
        set_direction(h, r, i, False)
        if change == 0.0:
            tau[i] = 0.0
        elif tangent or abs(slope) <= tiny:
            tau[i] = np.nan
        else:
            tau[i] = -change / slope


@native
def time_event_derivatives(h, r, t, y, index):
    """tau' of a scheduled time."""
    n = h[N]
    zero = vector(r, h[O_ZERO], n)
    dp = tail(r, h[O_DP])
    dm = tail(r, h[O_DM])
    times = vector(r, h[O_TIMES] + h[N_TIMES], h[N_TIMES])
    tau = vector(r, h[O_DTDP], h[N_S])
    for i in range(h[N_S]):
        set_direction(h, r, i, True)
        call_tangent(h[F_TIMES_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, zero, dp, dm, times)
        set_direction(h, r, i, False)
        tau[i] = times[index]


@native
def _moved(tau):
    """The derivative of the event's time, zero where there is none."""
    return tau if abs(tau) > 0.0 else 0.0


@native
def start_jump(h, r):
    """sigma = S + y' tau' with the derivatives before the event."""
    n = h[N]
    s = matrix(r, h[O_S], h[N_S], n)
    sigma = matrix(r, h[O_SIGMA], h[N_S], n)
    tau = vector(r, h[O_DTDP], h[N_S])
    ydot = vector(r, h[O_YDOTM], n)
    for i in range(h[N_S]):
        for q in range(n):
            sigma[i, q] = s[i, q]
            if abs(tau[i]) > 0.0:
                sigma[i, q] += ydot[q] * tau[i]


@native
def body_jump(h, r, t, y):
    """sigma and D through the bodies of the flags that are set in m, before the bodies are carried out."""
    n = h[N]
    nd = h[N_D]
    sigma = matrix(r, h[O_SIGMA], h[N_S], n)
    d = matrix(r, h[O_D], h[N_S], nd)
    tau = vector(r, h[O_DTDP], h[N_S])
    zero = vector(r, h[O_ZERO], n)
    out = vector(r, h[O_BODY] + n + nd, n + nd)
    for i in range(h[N_S]):
        for q in range(n):
            out[q] = sigma[i, q]
        for q in range(nd):
            out[n + q] = d[i, q]
        set_direction(h, r, i, True)
        call_tangent(h[F_BODIES_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), _moved(tau[i]), sigma[i], tail(r, h[O_DP]), tail(r, h[O_DM]), out)
        set_direction(h, r, i, False)
        for q in range(n):
            sigma[i, q] = out[q]
        for q in range(nd):
            d[i, q] = out[n + q]


@native
def restart_jump(h, r, t, y, place_before):
    """Algebraic part of sigma from the equations of the mode just entered; the base system must be factored at y and y' known.

    What is held is M y. Where M moves with a parameter and y has jumped, from where it stands at ``place_before``, U sigma is not held, but
    U sigma + M_p (y - y before) is.
    """
    n = h[N]
    rank = h[RANK]
    if h[MASS_KIND] == 0 or rank == n:
        return
    sigma = matrix(r, h[O_SIGMA], h[N_S], n)
    tau = vector(r, h[O_DTDP], h[N_S])
    ydot = vector(r, h[O_YDOT], n)
    zero = vector(r, h[O_ZERO], n)
    e = matrix(r, h[O_ECHELON], n, n)
    u = matrix(r, h[O_ECHELON] + n * n, n, n)
    row_scale = vector(r, h[O_SCALEROW], n)
    change = vector(r, h[O_W], n)
    right = vector(r, h[O_W2], n)
    jump = vector(r, h[O_W3], n)
    held = vector(r, h[O_NOISE], n)
    jumps = False
    for q in range(n):
        jump[q] = y[q] - r[place_before + q]
        jumps = jumps or jump[q] != 0.0
    for i in range(h[N_S]):
        set_direction(h, r, i, True)
        call_tangent(h[F_RESIDUAL_T], t, y, ydot, tail(r, h[O_P]), tail(r, h[O_M]), _moved(tau[i]), zero, tail(r, h[O_DP]), tail(r, h[O_DM]), change)
        if jumps:
            # -M_p (y - y before): what is left of the derivative of f - M v if v is the jump, without that for v = 0
            call_tangent(h[F_RESIDUAL_T], t, y, jump, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, zero, tail(r, h[O_DP]), tail(r, h[O_DM]), held)
            call_tangent(h[F_RESIDUAL_T], t, y, zero, tail(r, h[O_P]), tail(r, h[O_M]), 0.0, zero, tail(r, h[O_DP]), tail(r, h[O_DM]), right)
            for q in range(n):
                held[q] -= right[q]
        set_direction(h, r, i, False)
        for a in range(n):
            x = 0.0
            if a < rank:
                for q in range(n):
                    x += u[a, q] * sigma[i, q]
                    if jumps:
                        x += e[a, q] * held[q]
            else:
                for q in range(n):
                    if e[a, q] != 0.0:
                        x -= e[a, q] * change[q]
            right[a] = x * row_scale[a]
        solve(matrix(r, h[O_BASE], n, n), n, integers(h, h[I_PIVB], n), right, h[L_DGETRS])
        for q in range(n):
            sigma[i, q] = right[q]


@native
def finish_jump(h, r):
    """S = sigma - y' tau' with the derivatives after the event."""
    n = h[N]
    s = matrix(r, h[O_S], h[N_S], n)
    sigma = matrix(r, h[O_SIGMA], h[N_S], n)
    tau = vector(r, h[O_DTDP], h[N_S])
    ydot = vector(r, h[O_YDOT], n)
    for i in range(h[N_S]):
        for q in range(n):
            s[i, q] = sigma[i, q]
            if abs(tau[i]) > 0.0:
                s[i, q] -= ydot[q] * tau[i]
