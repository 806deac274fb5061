"""An event's point of a multistep method, put onto the slow motion of a stiff model, where the equations tell which way a guard goes on.

In: the point on the step's polynomial, just across the guard, and the time. It lies beside the solution within the tolerances; the equations multiply
that by the fastest rate, and the sign of dg/dt is noise: the guard seems to turn back, and the event happens over and over. So where the equations
and the polynomial disagree about dg/dt, the point follows (M/sigma - J) d = f - M p' a few times: what is fast goes to where the equations agree with
the polynomial's slope, what is slow stays; sigma is a small part of the step (implicit Euler, as in ``pre_event_rate``). Then the guard's zero is
looked for once more. Where it is not found next to the first one, or the two still disagree, the first one stands.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.events.guards import expected_sign, guard_slopes
from tidegate.events.restart import consistent_point, derivatives
from tidegate.events.tolerances import ACROSS
from tidegate.integrators.hybrid_loop.polish import end_point, slope_of_the_step
from tidegate.linear.forced import model_rates
from tidegate.linear.mass import times_mass
from tidegate.linear.systems import SECOND, evaluate_jacobian, factor_real, solve_real

__all__ = ["onto_slow_motion"]

_SIGMA: Final = 0.01  # of the step: what decays within that is fast
_AGREE: Final = 0.25  # relative difference of two slopes that mean the same
_ROUNDS: Final = 4
_MOST: Final = 100.0  # tolerances: a point that has to go farther is not beside the solution by the method's error
_WIDTH: Final = 1e-5


@native
def _agree(run, guard):
    """True if the equations at the event's point give the guard about the slope that the polynomial gives it."""
    t = run.t + run.step
    point = run.y_new
    slopes = run.slopes
    guard_slopes(run, t, point, run.motion_slopes, slopes)
    expected = slopes[guard]
    if derivatives(run, t, run.y_new_at, run.motion_rate_at) != 0:
        return True
    guard_slopes(run, t, point, run.motion_rate, slopes)
    return abs(slopes[guard] - expected) <= _AGREE * abs(expected)


@native
def _way_to_slow_motion(run):
    """The way from the event's point into run.error; False where there is none, or too long a one. The point is moved."""
    n = run.n
    t = run.t + run.step
    point = run.y_new
    way = run.motion_rate
    moved = run.motion_moved
    f = run.scratch_1
    evaluate_jacobian(run, t, point)
    if factor_real(run, SECOND, 1.0 / (_SIGMA * run.length), run.jacobian_at) != 0:
        return False
    times_mass(run, run.motion_slopes, moved)
    for q in range(n):
        way[q] = 0.0
    for _ in range(_ROUNDS):
        model_rates(run, t, point, f)
        run.c_rhs += 1
        for q in range(n):
            f[q] -= moved[q]
        solve_real(run, SECOND, f.ctypes)
        for q in range(n):
            point[q] += f[q]
            way[q] += f[q]
    for q in range(n):
        if not abs(way[q]) <= _MOST * (run.atol[q] + run.rtol * max(abs(point[q]), run.y_max[q])):
            return False
    return True


@native
def _beyond(run, guard, theta):
    """How far the guard still is from half its round-off level across, at a part of the step; the point, on the slow motion, in run.y_new."""
    point = run.y_new
    values = run.g
    end_point(run, theta, point)
    for q in range(run.n):
        point[q] += run.motion_rate[q]
    call_value(run.f_guards, run.t + theta * run.length, point, run.p, run.m, values)
    return expected_sign(run, guard) * values[guard] + ACROSS * run.nu_start[guard]


@native
def onto_slow_motion(run, guard):
    """Move the event of ``guard``, as ``polish`` has left it in run.step and run.y_new; 0 or the reason of failure."""
    n = run.n
    if not run.length > 0.0:
        return 0
    slope_of_the_step(run, run.motion_slopes_at)
    if _agree(run, guard):
        return 0
    kept = run.motion_kept
    for q in range(n):
        kept[q] = run.y_new[q]
    step = run.step
    first = step / run.length
    theta = first
    found = False
    if _way_to_slow_motion(run):
        slope = (_beyond(run, guard, theta) - _beyond(run, guard, theta - _WIDTH)) / _WIDTH
        for _ in range(6):
            value = _beyond(run, guard, theta)
            if -ACROSS * run.nu_start[guard] <= value <= 0.25 * run.nu_start[guard]:
                found = True
                break
            if not slope < 0.0:
                break
            theta -= value / slope
            if not 0.0 < theta <= 1.0:
                break
    if found:
        run.step = theta * run.length
        if _agree(run, guard):
            return consistent_point(run, run.t + run.step, run.y_new_at)
    # nothing fast was to blame: a coarse polynomial, say
    run.step = step
    for q in range(n):
        run.y_new[q] = kept[q]
    return 0
