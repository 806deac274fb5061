"""IDAS under the loop: step, sensitivities, values and restart (header idas.h; Hindmarsh et al. 2005, Serban and Hindmarsh 2005)."""

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
    I_SUN_SDOT,
    I_SUN_SEND,
    I_SUN_SOUT,
    MASS_KIND,
    N_S,
    NOT_FINITE,
    O_F0,
    O_S,
    O_SDOT,
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
    SUN_YDOT,
    T_NEXT,
    N,
    T,
    matrix,
    vector,
)
from tidegate.events.restart import base_system
from tidegate.integrators.event import AT_START
from tidegate.integrators.sundials.library import CODE, HANDLE, native_function
from tidegate.integrators.sundials.library import NUMBER as C_NUMBER
from tidegate.integrators.sundials.model_functions import change_along, solve_base
from tidegate.integrators.sundials.polynomial import powers_from_derivatives, value_inside

__all__ = ["ida_restart", "ida_sensitivities_at", "ida_step", "ida_values"]

IDASolve = native_function("IDASolve", CODE, HANDLE, C_NUMBER, HANDLE, HANDLE, HANDLE, CODE)
IDAGetDky = native_function("IDAGetDky", CODE, HANDLE, C_NUMBER, CODE, HANDLE)
IDAGetLastOrder = native_function("IDAGetLastOrder", CODE, HANDLE, HANDLE)
IDAGetNumErrTestFails = native_function("IDAGetNumErrTestFails", CODE, HANDLE, HANDLE)
IDAGetNumLinSolvSetups = native_function("IDAGetNumLinSolvSetups", CODE, HANDLE, HANDLE)
IDAGetNumNonlinSolvConvFails = native_function("IDAGetNumNonlinSolvConvFails", CODE, HANDLE, HANDLE)
IDAGetNumNonlinSolvIters = native_function("IDAGetNumNonlinSolvIters", CODE, HANDLE, HANDLE)
IDAGetSensDky1 = native_function("IDAGetSensDky1", CODE, HANDLE, C_NUMBER, CODE, CODE, HANDLE)
IDAReInit = native_function("IDAReInit", CODE, HANDLE, C_NUMBER, HANDLE, HANDLE)
IDASensReInit = native_function("IDASensReInit", CODE, HANDLE, CODE, HANDLE, HANDLE)
IDASetInitStep = native_function("IDASetInitStep", CODE, HANDLE, C_NUMBER)
IDASetStopTime = native_function("IDASetStopTime", CODE, HANDLE, C_NUMBER)

ONE_STEP: Final = 2
STAGGERED: Final = 2
# the residual or that of the sensitivities failed for good, at the first call, or repeatedly
_NO_VALUES: Final = (-8, -9, -12, -41, -42)
_LINEAR_SOLVER: Final = (-5, -6, -7)


@native
def _reason(h, flag):
    """The loop's code for a flag of IDAS."""
    h[SUN_FLAG] = flag
    if flag >= 0:
        return 0
    if flag in _NO_VALUES:
        return NOT_FINITE
    return SINGULAR if flag in _LINEAR_SOLVER else STEP_TOO_SMALL


@unit(NUMBER, WHOLE)
def ida_step(h, r, _number, _whole):
    """One internal step, not beyond T_NEXT, and its polynomial."""
    memory = h[SUN_MEMORY]
    reached = h[ADDRESS_R] + 8 * REACHED
    IDASetStopTime(memory, r[T_NEXT])
    code = _reason(h, IDASolve(memory, r[T_NEXT], reached, h[SUN_END], h[SUN_YDOT], ONE_STEP))
    if code != 0:
        return code
    step = r[REACHED] - r[T]
    if not step > 0.0:
        return STEP_TOO_SMALL
    h[SUN_WORD] = 0
    IDAGetLastOrder(memory, h[ADDRESS_H] + 8 * SUN_WORD)
    h[DEGREE] = h[SUN_WORD]
    for k in range(h[DEGREE]):
        IDAGetDky(memory, r[REACHED], k + 1, h[h[I_SUN_A] + k])
    powers_from_derivatives(h, r, step)
    r[STEP] = step
    return 0


@native
def _sensitivities_to(h, t, place):
    for i in range(h[N_S]):
        code = _reason(h, IDAGetSensDky1(h[SUN_MEMORY], t, 0, i, h[place + i]))
        if code != 0:
            return code
    return 0


@unit(NUMBER, WHOLE)
def ida_sensitivities_at(h, r, _number, _whole):
    """S at the end of the step or at the event that cuts it."""
    return _sensitivities_to(h, min(r[T] + r[STEP], r[REACHED]), h[I_SUN_SEND])


@unit(NUMBER, WHOLE)
def ida_values(h, r, when, _whole):
    """Unknowns and S inside the step."""
    value_inside(h, r, when)
    return _sensitivities_to(h, when, h[I_SUN_SOUT])


@native
def _keep_counts(h):
    """Add up what a restart sets to zero."""
    memory = h[SUN_MEMORY]
    word = h[ADDRESS_H] + 8 * SUN_WORD
    h[SUN_WORD] = 0
    IDAGetNumErrTestFails(memory, word)
    h[C_REJECTED] += h[SUN_WORD]
    IDAGetNumLinSolvSetups(memory, word)
    h[C_FACTOR] += h[SUN_WORD]
    IDAGetNumNonlinSolvIters(memory, word)
    h[C_NEWTON] += h[SUN_WORD]
    IDAGetNumNonlinSolvConvFails(memory, word)
    h[C_NEWTON_FAILED] += h[SUN_WORD]


@native
def _sensitivity_rates(h, r, t):
    """S' for a start: exact for a regular M, without the second derivatives of the algebraic equations otherwise, which the first steps bear."""
    n = h[N]
    y = vector(r, h[O_Y], n)
    ydot = vector(r, h[O_YDOT], n)
    s = matrix(r, h[O_S], h[N_S], n)
    sdot = matrix(r, h[O_SDOT], h[N_S], n)
    rank = n
    if h[MASS_KIND] != 0:
        rank = h[RANK]
        if base_system(h, r, t, y) != 0:
            return SINGULAR
    for i in range(h[N_S]):
        change_along(h, r, t, y, ydot, s[i], i, sdot[i])
        if h[MASS_KIND] != 0:
            solve_base(h, r, sdot[i], rank)
    return 0


@unit(NUMBER, WHOLE)
def ida_restart(h, r, t, which):
    """Start afresh at order 1 from the current point, whose rates are in O_YDOT."""
    n = h[N]
    if n == 0:
        return 0
    memory = h[SUN_MEMORY]
    if which != AT_START:
        _keep_counts(h)
    for q in range(n):
        r[h[O_F0] + q] = r[h[O_YDOT] + q]
    IDASetInitStep(memory, r[STEP_NEW] if which == AT_START else 0.0)
    code = _reason(h, IDAReInit(memory, t, h[SUN_Y], h[SUN_YDOT]))
    if code == 0 and h[N_S] > 0:
        code = _sensitivity_rates(h, r, t)
        if code == 0:
            code = _reason(h, IDASensReInit(memory, STAGGERED, h[ADDRESS_H] + 8 * h[I_SUN_S], h[ADDRESS_H] + 8 * h[I_SUN_SDOT]))
    return code
