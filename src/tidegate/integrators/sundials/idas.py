"""IDAS under the loop: step, sensitivities, values and restart (header idas.h; Hindmarsh et al. 2005, Serban and Hindmarsh 2005)."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import NUMBER, WHOLE, native, unit
from tidegate.compiled.workspace import (
    ADDRESS_H,
    ADDRESS_R,
    I_SUN_S,
    I_SUN_SDOT,
    I_SUN_SEND,
    I_SUN_SOUT,
    MASS_KIND,
    N_S,
    NOT_FINITE_AT,
    O_ATOL,
    O_F0,
    O_S,
    O_SDOT,
    O_Y,
    O_YDOT,
    RANK,
    REACHED,
    RTOL,
    SINGULAR,
    STEP,
    STEP_NEW,
    SUN_END,
    SUN_MEMORY,
    SUN_Y,
    SUN_YDOT,
    T_END,
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
from tidegate.integrators.sundials.multistep import horizon, keep_counts, reason, sensitivities_to, take_in_step, value_inside

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
_LEAST: Final = 100 * 2.0**-52  # of the time: a step that moves it
STAGGERED: Final = 2


@unit(NUMBER, WHOLE)
def ida_step(h, r, _number, _whole):
    """One internal step, not beyond T_NEXT, and its polynomial."""
    memory = h[SUN_MEMORY]
    reached = h[ADDRESS_R] + 8 * REACHED
    until = horizon(h, r)
    IDASetStopTime(memory, r[T_NEXT])
    flag = IDASolve(memory, until, reached, h[SUN_END], h[SUN_YDOT], ONE_STEP)
    if flag < 0 and r[NOT_FINITE_AT] > r[T_END] and r[T_NEXT] > r[T_END]:
        # the model is not defined behind the end of the run
        r[T_NEXT] = r[T_END]
        IDASetStopTime(memory, r[T_NEXT])
        flag = IDASolve(memory, r[T_NEXT], reached, h[SUN_END], h[SUN_YDOT], ONE_STEP)
    return take_in_step(h, r, flag, IDAGetLastOrder, IDAGetDky)


@unit(NUMBER, WHOLE)
def ida_sensitivities_at(h, r, _number, _whole):
    """S at the end of the step or at the event that cuts it."""
    return sensitivities_to(h, min(r[T] + r[STEP], r[REACHED]), h[I_SUN_SEND], IDAGetSensDky1)


@unit(NUMBER, WHOLE)
def ida_values(h, r, when, _whole):
    """Unknowns and S inside the step."""
    value_inside(h, r, when, IDAGetLastOrder, IDAGetDky)
    return sensitivities_to(h, when, h[I_SUN_SOUT], IDAGetSensDky1)


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


@native
def _first_step(h, r, t):
    """0 for IDA's own choice, half a tolerance by the rate; the least step that moves time where that is longer, as CVODE takes care of by itself."""
    fastest = 0.0
    for q in range(h[N]):
        fastest = max(fastest, abs(r[h[O_YDOT] + q]) / (r[RTOL] * abs(r[h[O_Y] + q]) + r[h[O_ATOL] + q]))
    least = _LEAST * abs(t)
    return least if least * fastest > 0.5 else 0.0


@unit(NUMBER, WHOLE)
def ida_restart(h, r, t, which):
    """Start afresh at order 1 from the current point, whose rates are in O_YDOT."""
    n = h[N]
    if n == 0:
        return 0
    memory = h[SUN_MEMORY]
    if which != AT_START:
        keep_counts(h, IDAGetNumErrTestFails, IDAGetNumLinSolvSetups, IDAGetNumNonlinSolvIters, IDAGetNumNonlinSolvConvFails)
    for q in range(n):
        r[h[O_F0] + q] = r[h[O_YDOT] + q]
    r[NOT_FINITE_AT] = np.nan
    IDASetInitStep(memory, max(r[STEP_NEW], _LEAST * abs(t)) if which == AT_START else _first_step(h, r, t))
    code = reason(h, IDAReInit(memory, t, h[SUN_Y], h[SUN_YDOT]))
    if code == 0 and h[N_S] > 0:
        code = _sensitivity_rates(h, r, t)
        if code == 0:
            code = reason(h, IDASensReInit(memory, STAGGERED, h[ADDRESS_H] + 8 * h[I_SUN_S], h[ADDRESS_H] + 8 * h[I_SUN_SDOT]))
    return code
