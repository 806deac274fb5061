"""CVODES under the loop: step, sensitivities, values and restart (header cvodes.h; Hindmarsh et al. 2005, Serban and Hindmarsh 2005)."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    ADDRESS_H,
    ADDRESS_R,
    C_FACTOR,
    C_NEWTON,
    C_NEWTON_FAILED,
    C_REJECTED,
    DEGREE,
    I_SUN_A,
    I_SUN_S,
    I_SUN_SEND,
    I_SUN_SOUT,
    MASS_KIND,
    N_S,
    NOT_FINITE,
    O_F0,
    O_Y,
    O_YDOT,
    RANK,
    REACHED,
    SINGULAR,
    STEP,
    STEP_NEW,
    STEP_TOO_SMALL,
    SUN_END,
    SUN_FLAG,
    SUN_MEMORY,
    SUN_WORD,
    SUN_Y,
    T_NEXT,
    N,
    T,
    vector,
)
from tidegate.events.restart import base_system
from tidegate.integrators.event import AT_START
from tidegate.integrators.sundials.library import CODE, HANDLE, native_function
from tidegate.integrators.sundials.library import NUMBER as C_NUMBER
from tidegate.integrators.sundials.polynomial import powers_from_derivatives, value_inside

__all__ = ["cvode_restart", "cvode_sensitivities_at", "cvode_step", "cvode_values"]

CVode = native_function("CVode", CODE, HANDLE, C_NUMBER, HANDLE, HANDLE, CODE)
CVodeGetDky = native_function("CVodeGetDky", CODE, HANDLE, C_NUMBER, CODE, HANDLE)
CVodeGetLastOrder = native_function("CVodeGetLastOrder", CODE, HANDLE, HANDLE)
CVodeGetNumErrTestFails = native_function("CVodeGetNumErrTestFails", CODE, HANDLE, HANDLE)
CVodeGetNumLinSolvSetups = native_function("CVodeGetNumLinSolvSetups", CODE, HANDLE, HANDLE)
CVodeGetNumNonlinSolvConvFails = native_function("CVodeGetNumNonlinSolvConvFails", CODE, HANDLE, HANDLE)
CVodeGetNumNonlinSolvIters = native_function("CVodeGetNumNonlinSolvIters", CODE, HANDLE, HANDLE)
CVodeGetSensDky1 = native_function("CVodeGetSensDky1", CODE, HANDLE, C_NUMBER, CODE, CODE, HANDLE)
CVodeReInit = native_function("CVodeReInit", CODE, HANDLE, C_NUMBER, HANDLE)
CVodeSensReInit = native_function("CVodeSensReInit", CODE, HANDLE, CODE, HANDLE)
CVodeSetInitStep = native_function("CVodeSetInitStep", CODE, HANDLE, C_NUMBER)
CVodeSetStopTime = native_function("CVodeSetStopTime", CODE, HANDLE, C_NUMBER)

ONE_STEP: Final = 2
STAGGERED: Final = 2
# the right-hand side or that of the sensitivities failed for good, at the first call, or repeatedly
_NO_VALUES: Final = (-8, -9, -10, -11, -41, -42, -43, -44)
_LINEAR_SOLVER: Final = (-5, -6, -7)


@native
def _reason(h, flag):
    """The loop's code for a flag of CVODES."""
    h[SUN_FLAG] = flag
    if flag >= 0:
        return 0
    if flag in _NO_VALUES:
        return NOT_FINITE
    return SINGULAR if flag in _LINEAR_SOLVER else STEP_TOO_SMALL


@unit(NUMBER, WHOLE)
def cvode_step(h, r, _number, _whole):
    """One internal step, not beyond T_NEXT, and its polynomial."""
    memory = h[SUN_MEMORY]
    reached = h[ADDRESS_R] + 8 * REACHED
    CVodeSetStopTime(memory, r[T_NEXT])
    code = _reason(h, CVode(memory, r[T_NEXT], h[SUN_END], reached, ONE_STEP))
    if code != 0:
        return code
    step = r[REACHED] - r[T]
    if not step > 0.0:
        return STEP_TOO_SMALL
    h[SUN_WORD] = 0
    CVodeGetLastOrder(memory, h[ADDRESS_H] + 8 * SUN_WORD)
    h[DEGREE] = h[SUN_WORD]
    for k in range(h[DEGREE]):
        CVodeGetDky(memory, r[REACHED], k + 1, h[h[I_SUN_A] + k])
    powers_from_derivatives(h, r, step)
    r[STEP] = step
    return 0


@native
def _sensitivities_to(h, t, place):
    for i in range(h[N_S]):
        code = _reason(h, CVodeGetSensDky1(h[SUN_MEMORY], t, 0, i, h[place + i]))
        if code != 0:
            return code
    return 0


@unit(NUMBER, WHOLE)
def cvode_sensitivities_at(h, r, _number, _whole):
    """S at the end of the step or at the event that cuts it."""
    return _sensitivities_to(h, min(r[T] + r[STEP], r[REACHED]), h[I_SUN_SEND])


@unit(NUMBER, WHOLE)
def cvode_values(h, r, when, _whole):
    """Unknowns and S inside the step."""
    value_inside(h, r, when)
    return _sensitivities_to(h, when, h[I_SUN_SOUT])


@native
def _keep_counts(h):
    """Add up what a restart sets to zero."""
    memory = h[SUN_MEMORY]
    word = h[ADDRESS_H] + 8 * SUN_WORD
    h[SUN_WORD] = 0
    CVodeGetNumErrTestFails(memory, word)
    h[C_REJECTED] += h[SUN_WORD]
    CVodeGetNumLinSolvSetups(memory, word)
    h[C_FACTOR] += h[SUN_WORD]
    CVodeGetNumNonlinSolvIters(memory, word)
    h[C_NEWTON] += h[SUN_WORD]
    CVodeGetNumNonlinSolvConvFails(memory, word)
    h[C_NEWTON_FAILED] += h[SUN_WORD]


@unit(NUMBER, WHOLE)
def cvode_restart(h, r, t, which):
    """Start afresh at order 1 from the current point."""
    n = h[N]
    if n == 0:
        return 0
    if h[MASS_KIND] != 0 and (h[RANK] < n or base_system(h, r, t, vector(r, h[O_Y], n)) != 0):
        return SINGULAR
    memory = h[SUN_MEMORY]
    if which != AT_START:
        _keep_counts(h)
    for q in range(n):
        r[h[O_F0] + q] = r[h[O_YDOT] + q]
    CVodeSetInitStep(memory, r[STEP_NEW] if which == AT_START else 0.0)
    code = _reason(h, CVodeReInit(memory, t, h[SUN_Y]))
    if code == 0 and h[N_S] > 0:
        code = _reason(h, CVodeSensReInit(memory, STAGGERED, h[ADDRESS_H] + 8 * h[I_SUN_S]))
    return code
