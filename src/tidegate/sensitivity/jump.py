"""Jumps of sensitivities at events: event-time derivatives, transition functions, the new mode's equations.

Galan, Feehery and Barton 1999 (equations 12 and 14 of the DSL48SE manual), in total derivatives: with tau' = dt*/dp the total derivative of y just
before the event is sigma = S + y' tau'; bodies and algebraic equations map sigma; afterwards S = sigma - y'(new) tau'. Discrete variables carry their
derivative D. Several rounds chain. Where tau' does not exist it is NaN, and nothing jumps by it: what it would have moved is struck out of the
result.
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.linear.forced import integrated_form, put_forced_tangent
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import solve_base

__all__ = [
    "body_jump",
    "event_time_derivatives",
    "finish_jump",
    "follow_ties",
    "restart_jump",
    "set_direction",
    "start_jump",
    "time_event_derivatives",
    "time_moved",
]


@native
def set_direction(run, i, on):
    """Put what moves with parameter i and its discrete derivatives into the directions dp and dm, or take what moves out again."""
    dp = run.dp
    for k in range(run.moving_first[i], run.moving_first[i + 1]):
        dp[run.moving[k]] = run.moving_rate[k] if on else 0.0
    if on:
        nd = run.n_discrete
        first = run.first_discrete
        d = run.sens_discrete
        dm = run.dm
        for k in range(nd):
            dm[first + k] = d[i, k]
            dm[first + nd + k] = d[i, k]
    if run.past != 0:
        # what the past moves by is asked of it by the number of the parameter
        run.dm[run.first_past] = i + 1.0 if on else 0.0


@native
def event_time_derivatives(run, t, y, guard, scale):
    """tau' of the zero of a guard, in the mode before the event: -(g_y S + g_p) / (g_t + g_y y'); ``scale`` is the model's own time."""
    gt = run.slopes
    nu = run.nu
    s = run.sens
    zero = run.zero
    nothing = run.zero
    dp = run.dp
    dm = run.dm
    tau = run.dt_dp
    call_tangent(run.f_guards_tangent, t, y, zero, run.p, run.m, 1.0, run.ydot_before, nothing, nothing, gt)
    run.slopes_before_at = np.nan  # they are written over by derivatives
    slope = gt[guard]
    # a guard that does not leave its own round-off level within the model's own time has no event time to differentiate
    tiny = nu[guard] / scale
    # what the slope must be for a crossing to be certain was noted where it was found
    tangent = slope * slope <= run.grazing[2]
    for i in range(run.n_sens):
        set_direction(run, i, True)
        call_tangent(run.f_guards_tangent, t, y, zero, run.p, run.m, 0.0, s[i], dp, dm, gt)
        change = gt[guard]
        set_direction(run, i, False)
        if change == 0.0:
            tau[i] = 0.0
        elif tangent or abs(slope) <= tiny:
            tau[i] = np.nan
        else:
            tau[i] = -change / slope


@native
def time_event_derivatives(run, t, y, index, target):
    """tau' of a scheduled time, for every parameter, to offset ``target`` of r."""
    zero = run.zero
    dp = run.dp
    dm = run.dm
    times = run.times_scratch
    for i in range(run.n_sens):
        set_direction(run, i, True)
        call_tangent(run.f_times_tangent, t, y, zero, run.p, run.m, 0.0, zero, dp, dm, times)
        set_direction(run, i, False)
        run.r[target + i] = times[index]


@native
def time_moved(tau):
    """The derivative of the event's time, zero where there is none."""
    return tau if abs(tau) > 0.0 else 0.0


@kernel_entry()
def start_jump(run):
    """sigma = S + y' tau' with the derivatives before the event."""
    n = run.n
    s = run.sens
    sigma = run.sigma
    tau = run.dt_dp
    ydot = run.ydot_before
    for i in range(run.n_sens):
        for q in range(n):
            sigma[i, q] = s[i, q]
            if abs(tau[i]) > 0.0:
                sigma[i, q] += ydot[q] * tau[i]
    return 0


@kernel_entry(NUMBER)
def body_jump(run, t):
    """sigma and D through the bodies of the flags that are set in m, before the bodies are carried out."""
    n = run.n
    nd = run.n_discrete
    sigma = run.sigma
    d = run.sens_discrete
    tau = run.dt_dp
    zero = run.zero
    out = run.body_tangent
    for i in range(run.n_sens):
        for q in range(n):
            out[q] = sigma[i, q]
        for q in range(nd):
            out[n + q] = d[i, q]
        set_direction(run, i, True)
        call_tangent(run.f_bodies_tangent, t, run.y, zero, run.p, run.m, time_moved(tau[i]), sigma[i], run.dp, run.dm, out)
        set_direction(run, i, False)
        for q in range(n):
            sigma[i, q] = out[q]
        for q in range(nd):
            d[i, q] = out[n + q]
    return 0


@kernel_entry(NUMBER, INTEGER)
def restart_jump(run, t, place_before):
    """Algebraic part of sigma from the equations of the mode just entered; the base system must be factored at y and y' known.

    What is held is M y. Where M moves with a parameter and y has jumped, from where it stands at ``place_before``, U sigma is not held, but
    U sigma + M_p (y - y before) is.
    """
    n = run.n
    if run.mass_kind == 0 or run.rank == n:
        return 0
    y = run.y
    sigma = run.sigma
    tau = run.dt_dp
    ydot = run.ydot
    zero = run.zero
    change = run.scratch_1
    right = run.scratch_2
    jump = run.scratch_3
    held = run.roundoff
    jumps = False
    integrated_form(run, 0.0)
    for q in range(n):
        jump[q] = y[q] - run.r[place_before + q]
        jumps = jumps or jump[q] != 0.0
    for i in range(run.n_sens):
        set_direction(run, i, True)
        call_tangent(run.f_residual_tangent, t, y, ydot, run.p, run.m, time_moved(tau[i]), zero, run.dp, run.dm, change)
        if run.n_forced > 0:
            put_forced_tangent(run, t, time_moved(tau[i]), y.ctypes, ydot.ctypes, change.ctypes)
        if jumps:
            # -M_p (y - y before): what is left of the derivative of f - M v if v is the jump, without that for v = 0
            call_tangent(run.f_residual_tangent, t, y, jump, run.p, run.m, 0.0, zero, run.dp, run.dm, held)
            call_tangent(run.f_residual_tangent, t, y, zero, run.p, run.m, 0.0, zero, run.dp, run.dm, right)
            for q in range(n):
                held[q] -= right[q]
        set_direction(run, i, False)
        times_mass(run, sigma[i], right)
        for q in range(n):
            right[q] += held[q] if jumps else 0.0
            change[q] = -change[q]
        solve_base(run, right, change, sigma[i])
    integrated_form(run, 1.0)
    return 0


@native
def _fit(run, t, i):
    """Algebraic part of S_i as it follows from the rest."""
    change = run.scratch_1
    right = run.scratch_2
    set_direction(run, i, True)
    call_tangent(run.f_residual_tangent, t, run.y, run.ydot, run.p, run.m, 0.0, run.zero, run.dp, run.dm, change)
    if run.n_forced > 0:
        put_forced_tangent(run, t, 0.0, run.y.ctypes, run.ydot.ctypes, change.ctypes)
    set_direction(run, i, False)
    times_mass(run, run.sens[i], right)
    for q in range(run.n):
        change[q] = -change[q]
    solve_base(run, right, change, run.sens[i])


@kernel_entry(NUMBER)
def finish_jump(run, t):
    """S = sigma - y' tau' with the derivatives after the event.

    Of algebraic unknowns y' is known less well than what follows from S of the others: differences may have given it.
    """
    n = run.n
    s = run.sens
    sigma = run.sigma
    tau = run.dt_dp
    ydot = run.ydot
    integrated_form(run, 0.0)
    for i in range(run.n_sens):
        moves = abs(tau[i]) > 0.0
        for q in range(n):
            s[i, q] = sigma[i, q]
            if moves:
                s[i, q] -= ydot[q] * tau[i]
        if moves and run.mass_kind != 0 and run.rank < n:
            _fit(run, t, i)
    integrated_form(run, 1.0)
    return 0


@native
def follow_ties(run, t):
    """Where states were put back to what ties them and nothing happened: what follows from that for algebraic unknowns."""
    if run.n_forced > 0:
        for i in range(run.n_sens):
            _fit(run, t, i)
