"""CVODES under the loop: step, sensitivities, values and restart (header cvodes.h; Hindmarsh et al. 2005, Serban and Hindmarsh 2005)."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import SINGULAR
from tidegate.events.tolerances import IDLE_STEP, MOVES_TIME
from tidegate.integrators.hybrid_loop.event import AGAIN, AT_START
from tidegate.integrators.sundials.library import CODE, HANDLE, native_function
from tidegate.integrators.sundials.library import NUMBER as C_NUMBER
from tidegate.integrators.sundials.multistep import horizon, keep_counts, reason, sensitivities_to, take_in_step, value_inside
from tidegate.linear.systems import factor_base

__all__ = ["cvode_restart", "cvode_sensitivities_at", "cvode_step", "cvode_values"]

CVode = native_function("CVode", CODE, HANDLE, C_NUMBER, HANDLE, HANDLE, CODE)
CVodeGetDky = native_function("CVodeGetDky", CODE, HANDLE, C_NUMBER, CODE, HANDLE)
CVodeGetLastOrder = native_function("CVodeGetLastOrder", CODE, HANDLE, HANDLE)
CVodeGetNumErrTestFails = native_function("CVodeGetNumErrTestFails", CODE, HANDLE, HANDLE)
CVodeGetNumNonlinSolvConvFails = native_function("CVodeGetNumNonlinSolvConvFails", CODE, HANDLE, HANDLE)
CVodeGetNumNonlinSolvIters = native_function("CVodeGetNumNonlinSolvIters", CODE, HANDLE, HANDLE)
CVodeGetSensDky1 = native_function("CVodeGetSensDky1", CODE, HANDLE, C_NUMBER, CODE, CODE, HANDLE)
CVodeReInit = native_function("CVodeReInit", CODE, HANDLE, C_NUMBER, HANDLE)
CVodeSensReInit = native_function("CVodeSensReInit", CODE, HANDLE, CODE, HANDLE)
CVodeSetEtaMaxFirstStep = native_function("CVodeSetEtaMaxFirstStep", CODE, HANDLE, C_NUMBER)
CVodeSetInitStep = native_function("CVodeSetInitStep", CODE, HANDLE, C_NUMBER)
CVodeSetStopTime = native_function("CVodeSetStopTime", CODE, HANDLE, C_NUMBER)

ONE_STEP: Final = 2
STAGGERED: Final = 2
_USUAL_GROWTH: Final = 1e4  # at most, of the second step
_GROWTH: Final = 10.0
_SLIVER: Final = 1e-6  # of the step before: so short is one between two stops that close in on a jump, or behind a jump that was found hard


@native
def _begin(run, t, which):
    """At order 1 from the current point, at the start of a run or again."""
    memory = run.sun_memory
    if which != AT_START:
        keep_counts(run, CVodeGetNumErrTestFails, CVodeGetNumNonlinSolvIters, CVodeGetNumNonlinSolvConvFails)
    run.sun_step_before = -1.0  # there is none
    first = run.step_new if which == AT_START else 0.0
    if first == 0.0 and run.is_at_rest == 1:
        first = max(IDLE_STEP, MOVES_TIME * abs(t))  # nothing has moved, so that no tolerance tells what is long
    CVodeSetInitStep(memory, first)
    # behind the first step tolerances go by what has moved in it, so that one ten thousand times as long fails again and again
    CVodeSetEtaMaxFirstStep(memory, _GROWTH if run.is_at_rest == 1 or run.is_sized == 0 else _USUAL_GROWTH)
    code = reason(run, CVodeReInit(memory, t, run.sun_y))
    if code == 0 and run.n_sens > 0:
        code = reason(run, CVodeSensReInit(memory, STAGGERED, run.address_h + 8 * run.sun_sens_at))
    return code


@kernel_entry(NUMBER, INTEGER)
def cvode_step(run, _number, _whole):
    """One internal step, not beyond run.t_next, and its polynomial."""
    memory = run.sun_memory
    if run.sun_step_before > 0.0 and run.step < _SLIVER * run.sun_step_before:
        # a step across a jump in time, between two stops: its higher derivatives are none, and Adams' formulas would use them
        code = _begin(run, run.t, AGAIN)
        if code != 0:
            return code
    run.sun_step_before = run.step if run.sun_step_before >= 0.0 else 0.0
    reached = run.address_r + 8 * run.reached_at
    until = horizon(run)
    CVodeSetStopTime(memory, run.t_next)
    flag = CVode(memory, until, run.sun_end, reached, ONE_STEP)
    if flag < 0 and run.not_finite_at > run.t_end and run.t_next > run.t_end:
        # the model is not defined behind the end of the run
        run.t_next = run.t_end
        CVodeSetStopTime(memory, run.t_next)
        flag = CVode(memory, run.t_next, run.sun_end, reached, ONE_STEP)
    return take_in_step(run, flag, CVodeGetLastOrder, CVodeGetDky)


@kernel_entry(NUMBER, INTEGER)
def cvode_sensitivities_at(run, _number, _whole):
    """S at the end of the step or at the event that cuts it."""
    return sensitivities_to(run, min(run.t + run.step, run.reached), run.sun_sens_end_at, CVodeGetSensDky1)


@kernel_entry(NUMBER, INTEGER)
def cvode_values(run, when, _whole):
    """Unknowns and S inside the step."""
    value_inside(run, when, CVodeGetLastOrder, CVodeGetDky)
    return sensitivities_to(run, when, run.sun_sens_out_at, CVodeGetSensDky1)


@kernel_entry(NUMBER, INTEGER)
def cvode_restart(run, t, which):
    """Start afresh at order 1 from the current point."""
    n = run.n
    if n == 0:
        return 0
    if run.mass_kind != 0 and (run.rank < n or factor_base(run, t, run.y.ctypes) != 0):
        return SINGULAR
    for q in range(n):
        run.f0[q] = run.ydot[q]
    run.not_finite_at = np.nan
    return _begin(run, t, which)
