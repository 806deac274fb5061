"""A run that ends inside a step (stage: integrators): it stands there, and may take up the step again, as one that was not stopped."""

from __future__ import annotations

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native
from tidegate.compiled.workspace import STEP_ROW
from tidegate.events.kept_sides import hold_sides
from tidegate.events.restart import consistent_point
from tidegate.events.schedule import is_same_time
from tidegate.integrators.hybrid_loop.past import come_to_here, give_up_last_step, keep_step
from tidegate.integrators.hybrid_loop.record import record_polynomial, record_row

__all__ = ["end_here", "go_on_inside", "happens_here", "hold_back", "is_beyond", "stand_inside"]


@native
def is_beyond(run):
    """True if the step just found leads behind the end of the run."""
    end = run.t + run.step
    return end > run.t_end and not is_same_time(run, end, run.t_end)


@native
def happens_here(run):
    """True if the guard at the end of the step is zero already, but for rounding, where the run ends, the unknowns being in run.y_old."""
    guard = run.last_guard
    if guard < 0:
        return False
    g = run.g
    call_value(run.f_guards, run.t_end, run.y_old, run.p, run.m, g)
    return abs(g[guard]) <= run.nu_start[guard]


@native
def end_here(run):
    """Let the step end with the run, the unknowns there being in run.y_old, S in run.sens_out."""
    run.step = run.t_end - run.t
    for q in range(run.n):
        run.y_new[q] = run.y_old[q]
    for q in range(run.n_sens * run.n):
        run.r[run.sens_end_at + q] = run.r[run.sens_out_at + q]


@native
def hold_back(run):
    """Let the step just found end where the run does, a place inside it, and keep what it was."""
    run.t_held = run.t
    run.step_held = run.step
    run.step = run.t_end - run.t


@native
def stand_inside(run, rows, polynomials):
    """Stand there, with what that step is going to need held back."""
    n = run.n
    record_polynomial(run, polynomials)
    if run.past != 0:
        keep_step(run)
    hold_sides(run, run.y_old)
    for q in range(n):
        run.y_held[q] = run.y[q]
        run.y[q] = run.y_old[q]
    for q in range(run.n_sens * n):
        run.r[run.sens_held_at + q] = run.r[run.sens_at + q]
        run.r[run.sens_at + q] = run.r[run.sens_out_at + q]
    run.t = run.t_end
    run.t_shown = run.t_end
    come_to_here(run)
    if run.mass_kind != 0 and consistent_point(run, run.t, run.y_at) != 0:
        for q in range(n):
            run.y[q] = run.y_old[q]
    if run.wants_step_rows == 1:
        record_row(run, rows, run.t, run.y_at, run.sens_at, STEP_ROW)


@native
def go_on_inside(run):
    """Take up the step again at the end of which the run was not stopped."""
    n = run.n
    run.t = run.t_held
    run.step = run.step_held
    give_up_last_step(run)
    for q in range(n):
        run.y[q] = run.y_held[q]
    for q in range(run.n_sens * n):
        run.r[run.sens_at + q] = run.r[run.sens_held_at + q]
