"""Where a method finds no step: what that is a sign of. A guard whose side the equations have no value on, or a time event at which they have none.

In: the reason of failure. Out: a step of no length, or of none that a method could take, to the event; or the reason.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import native
from tidegate.compiled.workspace import NOT_FINITE, POLE, SINGULAR, STEP_TOO_SMALL
from tidegate.events.blocked import blocked_guard
from tidegate.events.schedule import mark_due
from tidegate.events.tolerances import EPS

__all__ = ["LAST_GAP", "at_a_block"]

LAST_GAP: Final = 16.0 * EPS  # of the time: no method takes a step as short
_GAP_TO_A_POLE: Final = 256.0 * EPS  # likewise; whether there is one is seen at the event


@native
def _stand_still(run):
    """A step of no length, or of none that a method could take, at whose end an event happens."""
    run.step = run.blocked_step
    run.length = run.blocked_step
    if run.blocked_step > 0.0:
        run.is_cut = 1
        for q in range(run.n):
            run.coefficients[0, q] = run.y_new[q] - run.y[q]
            for k in range(1, run.degree):
                run.coefficients[k, q] = 0.0
    # the step size that led here says nothing about what comes
    run.step_new = 0.0
    for q in range(run.n_sens * run.n):
        run.r[run.sens_end_at + q] = run.r[run.sens_at + q]


@native
def _comes_to_time_event(run, code):
    """True if a step that no method could take leads to a time event: equations that hold up to it need not have a value just there."""
    gap = run.t_next - run.t
    most = _GAP_TO_A_POLE if code == POLE else LAST_GAP
    is_near = run.mass_kind == 0 and 0.0 < gap <= most * max(abs(run.t), run.time_size)
    if not is_near or not run.t_next < run.t_end or mark_due(run, run.t_next, False) < 0:
        return False
    for q in range(run.n):
        run.y_new[q] = run.y[q] + gap * run.f0[q]
    run.blocked_step = gap
    return True


@native
def at_a_block(run, code):
    """Where no step is possible: 0 with a guard in run.last_guard that explains it, or -1 at a time event, else the reason."""
    if code in (NOT_FINITE, STEP_TOO_SMALL, SINGULAR, POLE):
        run.last_guard = blocked_guard(run) if run.n_guards > 0 else -1
        if run.last_guard >= 0 or _comes_to_time_event(run, code):
            _stand_still(run)
            return 0
    return code
