"""An event put where the step's polynomial says, for methods whose polynomial is as good inside the step as the method is at its end."""

from __future__ import annotations

from tidegate.compiled.jit import native
from tidegate.compiled.workspace import NOT_FINITE, UNDECIDED_GUARD
from tidegate.events.guards import polynomial_point
from tidegate.events.isolate import UNDECIDED, UNDEFINED, earliest_crossing
from tidegate.events.told import can_be_shorter
from tidegate.integrators.hybrid_loop.polish import polish, shorter

__all__ = ["end_on_polynomial"]


@native
def _cut(run, theta):
    """Leave of the step its part up to theta, with its polynomial from there back."""
    n = run.n
    end = run.y_end
    a = run.coefficients
    polynomial_point(n, run.degree, run.y, a, theta, end)
    factor = 1.0
    for k in range(run.degree):
        factor *= theta
        for q in range(n):
            a[k, q] *= factor
    run.step *= theta
    run.length = run.step


@native
def end_on_polynomial(run, theta, crossed, is_long):
    """What ``hook_locate`` is to do; 0 or the reason of failure.

    With ``is_long`` the step may be so long that the event is near its start: the polynomial is cut there before the last correction, which looks at
    it from its end.
    """
    guard = crossed
    while guard < 0:
        _cut(run, theta)
        run.is_cut = 1
        guard = earliest_crossing(run, run.t, run.step)
        theta = run.found_theta
        if guard == UNDEFINED:
            return NOT_FINITE
        if guard == UNDECIDED:
            if not can_be_shorter(run, run.step):
                return UNDECIDED_GUARD
            theta = shorter(run)
        elif guard < 0:
            run.found_guard = -1
            for q in range(run.n):
                run.y_new[q] = run.y_end[q]
            return 0
    full = run.step
    run.found_guard = guard
    if theta > 0.0 and run.t + theta * full > run.t:
        if is_long:
            _cut(run, theta)
            return polish(run, run.t, run.step, guard, 1.0, full)
        return polish(run, run.t, full, guard, theta, full)
    run.step = 0.0
    run.length = 0.0
    for q in range(run.n):
        run.y_new[q] = run.y[q]
    return 0
