"""CVODES under the loop: step, sensitivities, values and restart (header cvodes.h; Hindmarsh et al. 2005, Serban and Hindmarsh 2005)."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import NUMBER, WHOLE, unit
from tidegate.compiled.workspace import (
    ADDRESS_H,
    ADDRESS_R,
    I_SUN_S,
    I_SUN_SEND,
    I_SUN_SOUT,
    MASS_KIND,
    N_S,
    NOT_FINITE_AT,
    O_F0,
    O_Y,
    O_YDOT,
    RANK,
    REACHED,
    SINGULAR,
    STEP,
    STEP_NEW,
    SUN_END,
    SUN_MEMORY,
    SUN_Y,
    T_END,
    T_NEXT,
    N,
    T,
    vector,
)
from tidegate.events.restart import base_system
from tidegate.integrators.event import AT_START
from tidegate.integrators.sundials.library import CODE, HANDLE, native_function
from tidegate.integrators.sundials.library import NUMBER as C_NUMBER
from tidegate.integrators.sundials.multistep import horizon, keep_counts, reason, sensitivities_to, take_in_step, value_inside

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


@unit(NUMBER, WHOLE)
def cvode_step(h, r, _number, _whole):
    """One internal step, not beyond T_NEXT, and its polynomial."""
    memory = h[SUN_MEMORY]
    reached = h[ADDRESS_R] + 8 * REACHED
    until = horizon(h, r)
    CVodeSetStopTime(memory, r[T_NEXT])
    flag = CVode(memory, until, h[SUN_END], reached, ONE_STEP)
    if flag < 0 and r[NOT_FINITE_AT] > r[T_END] and r[T_NEXT] > r[T_END]:
        # the model is not defined behind the end of the run
        r[T_NEXT] = r[T_END]
        CVodeSetStopTime(memory, r[T_NEXT])
        flag = CVode(memory, r[T_NEXT], h[SUN_END], reached, ONE_STEP)
    return take_in_step(h, r, flag, CVodeGetLastOrder, CVodeGetDky)


@unit(NUMBER, WHOLE)
def cvode_sensitivities_at(h, r, _number, _whole):
    """S at the end of the step or at the event that cuts it."""
    return sensitivities_to(h, min(r[T] + r[STEP], r[REACHED]), h[I_SUN_SEND], CVodeGetSensDky1)


@unit(NUMBER, WHOLE)
def cvode_values(h, r, when, _whole):
    """Unknowns and S inside the step."""
    value_inside(h, r, when, CVodeGetLastOrder, CVodeGetDky)
    return sensitivities_to(h, when, h[I_SUN_SOUT], CVodeGetSensDky1)


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
        keep_counts(h, CVodeGetNumErrTestFails, CVodeGetNumLinSolvSetups, CVodeGetNumNonlinSolvIters, CVodeGetNumNonlinSolvConvFails)
    for q in range(n):
        r[h[O_F0] + q] = r[h[O_YDOT] + q]
    r[NOT_FINITE_AT] = np.nan
    CVodeSetInitStep(memory, r[STEP_NEW] if which == AT_START else 0.0)
    code = reason(h, CVodeReInit(memory, t, h[SUN_Y]))
    if code == 0 and h[N_S] > 0:
        code = reason(h, CVodeSensReInit(memory, STAGGERED, h[ADDRESS_H] + 8 * h[I_SUN_S]))
    return code
