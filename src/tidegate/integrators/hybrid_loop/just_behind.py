"""Where equations have no value at the very point of an event but have one just behind it.

Of ``sin(u) / u if u > 0 else 1.0`` Python never asks for the quotient at zero; but an event there ends at zero, and the quotient holds from there on.
So what has no value is taken from just behind, to where the rates of the others lead, and the run goes on from there: some roundings of the time
later. What grows towards the point, as ``1 / u`` does, is a pole: it has no value there, and no run goes on.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import NOT_FINITE
from tidegate.events.tolerances import EPS
from tidegate.integrators.hybrid_loop.rates_beside import are_known, is_known, put_known, put_rates_beside

__all__ = ["rates_just_behind"]

_NEAREST: Final = 4.0 * EPS  # of the time: so far behind equations are asked first, ...
_FARTHER: Final = 16.0  # ... then so many times as far, ...
_FARTHEST: Final = 1e-12  # ... up to here
_GROWS: Final = 1.5  # times as large as that much farther behind: a pole


@native
def _rates_on_a_side(run, t, known, side):
    """The nearest y' that has a value, into scratch_3; how far behind that is, or before if that is negative, 0 if there is none."""
    size = max(abs(t), run.time_size)
    behind = _NEAREST * size
    while behind <= _FARTHEST * size:
        put_rates_beside(run, t, side * behind, known, run.scratch_3)
        if are_known(run.scratch_3, run.n):
            return side * behind
        behind *= _FARTHER
    return 0.0


@kernel_entry(NUMBER)
def rates_just_behind(run, t):
    """Fill in run.ydot, just computed from explicit equations, where they had no value; run.behind says how far behind. 0 or NOT_FINITE.

    While other relations still say what held before the event, as that of ``abs(u)`` may do, there is a value before the point only; run.behind is
    negative then.
    """
    n = run.n
    if run.mass_kind != 0 or not t > run.t_start:
        return NOT_FINITE
    rate = run.ydot
    known = run.scratch_1
    put_known(rate, known, n)
    run.behind = _rates_on_a_side(run, t, known, 1.0)
    if run.behind == 0.0:
        run.behind = _rates_on_a_side(run, t, known, -1.0)
    if run.behind == 0.0:
        return NOT_FINITE
    near = run.scratch_3
    far = known
    put_rates_beside(run, t, _FARTHER * run.behind, known, far)
    for q in range(n):
        if not is_known(rate[q]):
            if not abs(near[q]) <= _GROWS * abs(far[q]):
                return NOT_FINITE
            rate[q] = near[q]
    return 0
