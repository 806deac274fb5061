"""Whether a mode, or a run, ends at a pole, or begins with one: it is left where the pole would be, so that no step sees it.

Of ``1 / u if u < 0 else 0.0`` the integral up to the event is infinite, but no time that can be told from that of the event is so near that it
shows. It shows in the rate: within a rounding of the time it moves an unknown by many tolerances, and it grows towards the event. That of
``1 / sqrt(-u)`` grows too, but what is left of its integral within a rounding is small.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, native
from tidegate.events.tolerances import EPS
from tidegate.integrators.hybrid_loop.rates_beside import put_rates_beside

__all__ = ["is_pole_at_event"]

_ROUNDINGS: Final = 4.0  # of the time
_TOLERANCES: Final = 1e3
_AWAY: Final = 64.0 * EPS  # of the time: so far from the event its rate is compared ...
_FARTHER: Final = 16.0  # ... with that so many times as far away, ...
_GROWS: Final = 4.5  # ... from which a root in a divisor grows to four times as much


@native
def _is_lost(run, size, q, rate):
    """True if a rate moves an unknown by many tolerances within a rounding of the time."""
    return abs(rate) * _ROUNDINGS * EPS * size > _TOLERANCES * (run.atol[q] + run.rtol * abs(run.y[q]))


@kernel_entry(NUMBER, INTEGER, INTEGER)
def is_pole_at_event(run, t, side, rates):
    """1 if explicit equations have a pole at the current point, before the event (side -1) or behind it (1); run.failed_divisor is the divisor.

    Their rates at the point are at offset ``rates`` of r.
    """
    n = run.n
    if run.n_divisors == 0 or run.mass_kind != 0:
        return 0
    size = max(abs(t), run.time_size)
    known = run.scratch_1
    is_any = False
    for q in range(n):
        rate = run.r[rates + q]
        is_lost = _is_lost(run, size, q, rate)
        known[q] = 0.0 if is_lost else rate  # nobody knows from where it comes
        is_any = is_any or is_lost
    if not is_any:
        return 0
    near = run.scratch_3
    far = known
    put_rates_beside(run, t, side * _AWAY * size, known, near)
    put_rates_beside(run, t, side * _FARTHER * _AWAY * size, known, far)
    for q in range(n):
        if _is_lost(run, size, q, run.r[rates + q]) and abs(near[q]) > _GROWS * abs(far[q]):
            divisors = run.divisor_scratch
            call_value(run.f_divisors, t, run.y, run.p, run.m, divisors)
            for k in range(run.n_divisors):
                if k == 0 or abs(divisors[k]) < abs(divisors[run.failed_divisor]):
                    run.failed_divisor = k
            run.pole_time = t
            return 1
    return 0
