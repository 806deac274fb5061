"""IDAS under the loop: step, sensitivities, values and restart (header idas.h; Hindmarsh et al. 2005, Serban and Hindmarsh 2005)."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.compiled.workspace import SINGULAR
from tidegate.events.constraints import derivatives_onto
from tidegate.events.tolerances import IDLE_STEP, MOVES_TIME
from tidegate.integrators.hybrid_loop.event import AT_START
from tidegate.integrators.hybrid_loop.forces import force_sensitivities, forces_here
from tidegate.integrators.sundials.library import CODE, HANDLE, native_function
from tidegate.integrators.sundials.library import NUMBER as C_NUMBER
from tidegate.integrators.sundials.model_functions import change_along, explicit_rates
from tidegate.integrators.sundials.multistep import horizon, keep_counts, reason, sensitivities_to, take_in_step, value_inside
from tidegate.linear.forced import integrated_form
from tidegate.linear.systems import factor_base

__all__ = ["ida_restart", "ida_sensitivities_at", "ida_step", "ida_values"]

IDASolve = native_function("IDASolve", CODE, HANDLE, C_NUMBER, HANDLE, HANDLE, HANDLE, CODE)
IDAGetDky = native_function("IDAGetDky", CODE, HANDLE, C_NUMBER, CODE, HANDLE)
IDAGetLastOrder = native_function("IDAGetLastOrder", CODE, HANDLE, HANDLE)
IDAGetNumErrTestFails = native_function("IDAGetNumErrTestFails", CODE, HANDLE, HANDLE)
IDAGetNumNonlinSolvConvFails = native_function("IDAGetNumNonlinSolvConvFails", CODE, HANDLE, HANDLE)
IDAGetNumNonlinSolvIters = native_function("IDAGetNumNonlinSolvIters", CODE, HANDLE, HANDLE)
IDAGetSensDky1 = native_function("IDAGetSensDky1", CODE, HANDLE, C_NUMBER, CODE, CODE, HANDLE)
IDAReInit = native_function("IDAReInit", CODE, HANDLE, C_NUMBER, HANDLE, HANDLE)
IDASensReInit = native_function("IDASensReInit", CODE, HANDLE, CODE, HANDLE, HANDLE)
IDASetInitStep = native_function("IDASetInitStep", CODE, HANDLE, C_NUMBER)
IDASetStopTime = native_function("IDASetStopTime", CODE, HANDLE, C_NUMBER)

ONE_STEP: Final = 2
_ABSURD: Final = 1e3  # steps before the event
STAGGERED: Final = 2


@kernel_entry(NUMBER, INTEGER)
def ida_step(run, _number, _whole):
    """One internal step, not beyond run.t_next, and its polynomial."""
    memory = run.sun_memory
    reached = run.address_r + 8 * run.reached_at
    until = horizon(run)
    IDASetStopTime(memory, run.t_next)
    flag = IDASolve(memory, until, reached, run.sun_end, run.sun_ydot, ONE_STEP)
    if flag < 0 and run.not_finite_at > run.t_end and run.t_next > run.t_end:
        # the model is not defined behind the end of the run
        run.t_next = run.t_end
        IDASetStopTime(memory, run.t_next)
        flag = IDASolve(memory, run.t_next, reached, run.sun_end, run.sun_ydot, ONE_STEP)
    return take_in_step(run, flag, IDAGetLastOrder, IDAGetDky)


@kernel_entry(NUMBER, INTEGER)
def ida_sensitivities_at(run, _number, _whole):
    """S at the end of the step or at the event that cuts it."""
    end = min(run.t + run.step, run.reached)
    code = sensitivities_to(run, end, run.sun_sens_end_at, IDAGetSensDky1)
    if code == 0 and run.n_forms > 0:
        force_sensitivities(run, end, run.y_new, run.sens_end)
    return code


@kernel_entry(NUMBER, INTEGER)
def ida_values(run, when, _whole):
    """Unknowns and S inside the step."""
    value_inside(run, when, IDAGetLastOrder, IDAGetDky)
    if run.n_forms > 0:
        forces_here(run, when, run.y_old)
    code = sensitivities_to(run, when, run.sun_sens_out_at, IDAGetSensDky1)
    if code == 0 and run.n_forms > 0:
        force_sensitivities(run, when, run.y_old, run.sens_out)
    return code


@native
def _sensitivity_rates(run, t):
    """S' for a start: exact for a regular M, without the second derivatives of the algebraic equations otherwise, which the first steps bear."""
    y = run.y
    ydot = run.ydot
    s = run.sens
    sdot = run.sens_dot
    integrated_form(run, 0.0)
    bad = 0
    if run.mass_kind != 0:
        bad = factor_base(run, t, y.ctypes)
    if bad == 0:
        for i in range(run.n_sens):
            change_along(run, t, y, ydot, s[i], i, sdot[i])
            explicit_rates(run, sdot[i])
    integrated_form(run, 1.0)
    return 0 if bad == 0 else SINGULAR


@native
def _first_step(run, t):
    """0 for IDA's own choice, half a tolerance by the rate; the least step that moves time where that is longer, as CVODE takes care of by itself.

    Where next to nothing moves, a rate that is rounding says nothing: then the step before the event.
    """
    least = MOVES_TIME * abs(t)
    if run.is_at_rest == 1:
        return max(least, IDLE_STEP)  # nothing has moved, so that no tolerance tells what is long
    fastest = 0.0
    for q in range(run.n):
        fastest = max(fastest, abs(run.ydot[q]) / (run.rtol * abs(run.y[q]) + run.atol[q]))
    if least * fastest > 0.5:
        return least
    return max(least, run.step_before_event) if 0.0 < _ABSURD * run.step_before_event * fastest < 0.5 else 0.0


@kernel_entry(NUMBER, INTEGER)
def ida_restart(run, t, which):
    """Start afresh at order 1 from the current point, whose rates are in run.ydot."""
    n = run.n
    if n == 0:
        return 0
    memory = run.sun_memory
    if which != AT_START:
        keep_counts(run, IDAGetNumErrTestFails, IDAGetNumNonlinSolvIters, IDAGetNumNonlinSolvConvFails)
    for q in range(n):
        run.f0[q] = run.ydot[q]
    run.not_finite_at = np.nan
    IDASetInitStep(memory, max(run.step_new, MOVES_TIME * abs(t)) if which == AT_START and run.is_at_rest == 0 else _first_step(run, t))
    code = reason(run, IDAReInit(memory, t, run.sun_y, run.sun_ydot))
    if code == 0 and run.n_sens > 0:
        if run.n_constraints > 0:
            derivatives_onto(run, t)
        code = _sensitivity_rates(run, t)
        if code == 0:
            code = reason(run, IDASensReInit(memory, STAGGERED, run.address_h + 8 * run.sun_sens_at, run.address_h + 8 * run.sun_sens_dot_at))
    return code
