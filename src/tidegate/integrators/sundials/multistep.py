"""What CVODES and IDAS have in common under the loop: the polynomial of a step, values and sensitivities on it, the event on it, counts and flags.

CVODES and IDAS interpolate with the polynomial that the corrector has just determined; it goes through both ends of the step (Nordsieck arrays with
fixed leading coefficients: Byrne and Hindmarsh 1975; modified divided differences: Brenan, Campbell and Petzold 1996, section 5.2).
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    ADDRESS_H,
    C_FACTOR,
    C_NEWTON,
    C_NEWTON_FAILED,
    C_REJECTED,
    DEGREE,
    FOUND_GUARD,
    FOUND_THETA,
    I_SUN_A,
    IS_CUT,
    KEEP_POLYNOMIALS,
    LENGTH,
    N_G,
    N_S,
    NEVER,
    NOT_FINITE,
    NOT_FINITE_AT,
    O_A,
    O_F0,
    O_Y,
    O_YEND,
    O_YNEW,
    O_YOLD,
    REACHED,
    SINGULAR,
    STEP,
    STEP_TOO_SMALL,
    SUN_FLAG,
    SUN_MEMORY,
    SUN_WORD,
    T_END,
    T_NEXT,
    T_START,
    UNDECIDED_GUARD,
    N,
    T,
    matrix,
    vector,
)
from tidegate.events.guards import polynomial_point
from tidegate.events.isolate import UNDECIDED, UNDEFINED, earliest_crossing
from tidegate.events.time_scale import time_scale
from tidegate.integrators.polish import can_be_shorter, polish, shorter, slope_of_the_step
from tidegate.integrators.sundials.slow_motion import onto_slow_motion

__all__ = ["horizon", "keep_counts", "reason", "sensitivities_to", "sundials_accept", "sundials_locate", "take_in_step", "value_inside"]

# the model's functions failed for good, at the first call, or repeatedly (CV_RHSFUNC_FAIL ... IDA_FIRST_RES_FAIL, and those of sensitivities)
_NO_VALUES: Final = (-8, -9, -10, -11, -12, -41, -42, -43, -44)
_LINEAR_SOLVER: Final = (-5, -6, -7)
_JUST_AHEAD: Final = 1e-9  # of the time gone by: so near to the point values that are not finite are what stops a step
_FAR: Final = 10.0  # time scales
_ROUNDINGS: Final = 1e-14  # of the time: nearer than a few of its last digits


@native
def reason(h, flag):
    """The loop's code for a flag of CVODES or IDAS."""
    h[SUN_FLAG] = flag
    if flag >= 0:
        return 0
    if flag in _NO_VALUES:
        return NOT_FINITE
    return SINGULAR if flag in _LINEAR_SOLVER else STEP_TOO_SMALL


@native
def _powers_from_derivatives(h, r, step):
    """Turn y^(k) at the end of the step, rows k = 1 ... degree of A, into coefficients of theta^k from its start."""
    n = h[N]
    degree = h[DEGREE]
    a = matrix(r, h[O_A], degree, n)
    y = vector(r, h[O_Y], n)
    end = vector(r, h[O_YEND], n)
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
def polynomial_of_step(h, r, get_order, get_derivative):
    """The polynomial of the step to REACHED."""
    memory = h[SUN_MEMORY]
    h[SUN_WORD] = 0
    get_order(memory, h[ADDRESS_H] + 8 * SUN_WORD)
    h[DEGREE] = h[SUN_WORD]
    for k in range(h[DEGREE]):
        get_derivative(memory, r[REACHED], k + 1, h[h[I_SUN_A] + k])
    _powers_from_derivatives(h, r, r[REACHED] - r[T])


@native
def take_in_step(h, r, flag, get_order, get_derivative):
    """Length of the step to REACHED, and its polynomial if something will be looked for on it; the reason of failure where time has not moved.

    Steps that shrink to nothing end in various flags, none of which tells those that error control shortens from those at the end of a domain.
    """
    code = reason(h, flag)
    r[STEP] = r[REACHED] - r[T]
    if code == 0 and not r[STEP] > 0.0:
        code = STEP_TOO_SMALL
    if code == STEP_TOO_SMALL and abs(r[NOT_FINITE_AT] - r[T]) <= max(_JUST_AHEAD * (r[T] - r[T_START]), _ROUNDINGS * abs(r[T])):
        return NOT_FINITE
    if code != 0:
        return code
    h[DEGREE] = 0
    if h[N_G] > 0 or h[KEEP_POLYNOMIALS] == 1:
        polynomial_of_step(h, r, get_order, get_derivative)
    return 0


@native
def horizon(h, r):
    """Where the method is told to go: the next time event, or, as far as the first step needs to know, some way beyond what is in sight."""
    if r[NOT_FINITE_AT] > r[T_END]:
        r[T_NEXT] = min(r[T_NEXT], r[T_END])
    return r[T_NEXT] if r[T_NEXT] < NEVER else r[T] + _FAR * time_scale(h, r, h[O_F0])


@native
def sensitivities_to(h, t, place, get):
    """S at a time in the last step, into the vectors whose handles are at ``place``."""
    for i in range(h[N_S]):
        code = reason(h, get(h[SUN_MEMORY], t, 0, i, h[place + i]))
        if code != 0:
            return code
    return 0


@native
def keep_counts(h, get_rejected, get_setups, get_iterations, get_failures):
    """Add up what a restart sets to zero."""
    memory = h[SUN_MEMORY]
    word = h[ADDRESS_H] + 8 * SUN_WORD
    h[SUN_WORD] = 0
    get_rejected(memory, word)
    h[C_REJECTED] += h[SUN_WORD]
    get_setups(memory, word)
    h[C_FACTOR] += h[SUN_WORD]
    get_iterations(memory, word)
    h[C_NEWTON] += h[SUN_WORD]
    get_failures(memory, word)
    h[C_NEWTON_FAILED] += h[SUN_WORD]


@native
def _cut(h, r, theta):
    """Leave of the step its part up to theta, with its polynomial."""
    n = h[N]
    end = vector(r, h[O_YEND], n)
    a = matrix(r, h[O_A], h[DEGREE], n)
    polynomial_point(n, h[DEGREE], vector(r, h[O_Y], n), a, theta, end)
    factor = 1.0
    for k in range(h[DEGREE]):
        factor *= theta
        for q in range(n):
            a[k, q] *= factor
    r[STEP] *= theta
    r[LENGTH] = r[STEP]
    h[IS_CUT] = 1


@unit(NUMBER, WHOLE)
def sundials_locate(h, r, theta, crossed):
    """The event's point lies on the polynomial, and where the model is stiff on the slow motion beside it."""
    guard = crossed
    while guard < 0:
        _cut(h, r, theta)
        guard = earliest_crossing(h, r, r[T], r[STEP])
        theta = r[FOUND_THETA]
        if guard == UNDEFINED:
            return NOT_FINITE
        if guard == UNDECIDED:
            if not can_be_shorter(r, r[STEP]):
                return UNDECIDED_GUARD
            theta = shorter(h, r)
        elif guard < 0:
            h[FOUND_GUARD] = -1
            for q in range(h[N]):
                r[h[O_YNEW] + q] = r[h[O_YEND] + q]
            return 0
    whole = r[STEP]
    h[FOUND_GUARD] = guard
    if theta > 0.0 and r[T] + theta * whole > r[T]:
        code = polish(h, r, r[T], whole, guard, theta, whole)
        return code if code != 0 else onto_slow_motion(h, r, guard)
    r[STEP] = 0.0
    r[LENGTH] = 0.0
    for q in range(h[N]):
        r[h[O_YNEW] + q] = r[h[O_Y] + q]
    return 0


@unit(NUMBER, WHOLE)
def sundials_accept(h, r, _number, _whole):
    """The rate at the new point, where guards may ask for it."""
    if h[DEGREE] > 0:
        slope_of_the_step(h, r, h[O_F0])
    return 0


@native
def value_inside(h, r, when, get_order, get_derivative):
    """The unknowns at a time inside the step, into O_YOLD."""
    n = h[N]
    if h[DEGREE] == 0:
        polynomial_of_step(h, r, get_order, get_derivative)
    degree = h[DEGREE]
    point = vector(r, h[O_YOLD], n)
    polynomial_point(n, degree, vector(r, h[O_Y], n), matrix(r, h[O_A], degree, n), (when - r[T]) / r[LENGTH], point)
