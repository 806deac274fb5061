"""What CVODES and IDAS have in common under the loop: the polynomial of a step, values and sensitivities on it, the event on it, counts and flags.

CVODES and IDAS interpolate with the polynomial that the corrector has just determined; it goes through both ends of the step (Nordsieck arrays with
fixed leading coefficients: Byrne and Hindmarsh 1975; modified divided differences: Brenan, Campbell and Petzold 1996, section 5.2).
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE, SINGULAR, STEP_TOO_SMALL
from tidegate.events.guards import polynomial_point
from tidegate.events.time_scale import time_scale
from tidegate.events.tolerances import TINY_STEP
from tidegate.integrators.hybrid_loop.on_polynomial import end_on_polynomial
from tidegate.integrators.hybrid_loop.polish import slope_of_the_step
from tidegate.integrators.hybrid_loop.slow_motion import onto_slow_motion

__all__ = ["horizon", "keep_counts", "reason", "sensitivities_to", "sundials_accept", "sundials_locate", "take_in_step", "value_inside"]

# the model's functions failed for good, at the first call, or repeatedly (CV_RHSFUNC_FAIL ... IDA_FIRST_RES_FAIL, and those of sensitivities)
_NO_VALUES: Final = (-8, -9, -10, -11, -12, -41, -42, -43, -44)
_LINEAR_SOLVER: Final = (-5, -6, -7)
_JUST_AHEAD: Final = 1e-9  # of the time gone by: so near to the point values that are not finite are what stops a step
_FAR: Final = 10.0  # time scales
_MOST_TINY: Final = 100  # steps in a row that are no longer: so IDA nears a point that it cannot pass, for ever
_ROUNDINGS: Final = 1e-14  # of the time: nearer than a few of its last digits


@native
def reason(run, flag):
    """The loop's code for a flag of CVODES or IDAS."""
    run.sun_flag = flag
    if flag >= 0:
        return 0
    if flag in _NO_VALUES:
        return NOT_FINITE
    return SINGULAR if flag in _LINEAR_SOLVER else STEP_TOO_SMALL


@native
def _powers_from_derivatives(run, step):
    """Turn y^(k) at the end of the step, rows k = 1 ... degree of A, into coefficients of theta^k from its start."""
    n = run.n
    degree = run.degree
    a = run.coefficients
    y = run.y
    end = run.y_end
    factor = 1.0
    for k in range(degree):
        factor *= step / (k + 1.0)
        for q in range(n):
            a[k, q] *= factor
    # from powers of theta - 1 to powers of theta (Horner's scheme, repeated)
    for level in range(degree):
        for k in range(degree - 2, max(level - 1, 0) - 1, -1):
            for q in range(n):
                a[k, q] -= a[k + 1, q]
    for q in range(n):
        x = 0.0
        for k in range(degree):
            x += a[k, q]
        # both ends exactly, whatever rounding did to the rest
        a[0, q] += (end[q] - y[q]) - x


@native
def polynomial_of_step(run, get_order, get_derivative):
    """The polynomial of the step to run.reached."""
    memory = run.sun_memory
    run.sun_word = 0
    get_order(memory, run.address_h + 8 * run.sun_word_at)
    run.degree = run.sun_word
    for k in range(run.degree):
        get_derivative(memory, run.reached, k + 1, run.sun_coefficients[k])
    _powers_from_derivatives(run, run.reached - run.t)


@native
def take_in_step(run, flag, get_order, get_derivative):
    """Length of the step to run.reached, and its polynomial if something will be looked for on it; the reason of failure where time has not moved.

    Steps that shrink to nothing end in various flags, none of which tells those that error control shortens from those at the end of a domain.
    """
    code = reason(run, flag)
    run.step = run.reached - run.t
    run.tiny_steps = run.tiny_steps + 1 if run.step <= TINY_STEP * abs(run.t) else 0
    if code == 0 and (not run.step > 0.0 or run.tiny_steps > _MOST_TINY):
        code = STEP_TOO_SMALL
    if code == STEP_TOO_SMALL and abs(run.not_finite_at - run.t) <= max(_JUST_AHEAD * (run.t - run.t_start), _ROUNDINGS * abs(run.t)):
        return NOT_FINITE
    if code != 0:
        return code
    run.degree = 0
    if run.n_guards > 0 or run.n_peaks > 0 or run.keeps_polynomials == 1:
        polynomial_of_step(run, get_order, get_derivative)
    return 0


@native
def horizon(run):
    """Where the method is told to go, which only the first step asks: some way, never as near as the time where it stops.

    The first step is a part of that way; if it were one of what is left, a model that starts afresh behind every step would never arrive.
    """
    if run.not_finite_at > run.t_end:
        run.t_next = min(run.t_next, run.t_end)
    return run.t + _FAR * time_scale(run, run.f0_at)


@native
def sensitivities_to(run, t, offset, get):
    """S at a time in the last step, into the vectors whose handles are at ``offset``."""
    for i in range(run.n_sens):
        code = reason(run, get(run.sun_memory, t, 0, i, run.h[offset + i]))
        if code != 0:
            return code
    return 0


@native
def keep_counts(run, get_rejected, get_iterations, get_failures):
    """Add up what a restart sets to zero, of what is not counted where it happens."""
    memory = run.sun_memory
    word = run.address_h + 8 * run.sun_word_at
    run.sun_word = 0
    get_rejected(memory, word)
    run.c_rejected += run.sun_word
    get_iterations(memory, word)
    run.c_newton += run.sun_word
    get_failures(memory, word)
    run.c_newton_failed += run.sun_word


@kernel_entry(NUMBER, INTEGER)
def sundials_locate(run, theta, crossed):
    """The event's point lies on the polynomial, and where the model is stiff on the slow motion beside it."""
    code = end_on_polynomial(run, theta, crossed, False)
    if code != 0 or run.found_guard < 0 or not run.step > 0.0:
        return code
    return onto_slow_motion(run, run.found_guard)


@kernel_entry(NUMBER, INTEGER)
def sundials_accept(run, _number, _whole):
    """The rate at the new point, where guards may ask for it."""
    if run.degree > 0:
        slope_of_the_step(run, run.f0_at)
    return 0


@native
def value_inside(run, when, get_order, get_derivative):
    """The unknowns at a time inside the step, into run.y_old."""
    n = run.n
    if run.degree == 0:
        polynomial_of_step(run, get_order, get_derivative)
    degree = run.degree
    point = run.y_old
    polynomial_point(n, degree, run.y, run.coefficients, (when - run.t) / run.length, point)
