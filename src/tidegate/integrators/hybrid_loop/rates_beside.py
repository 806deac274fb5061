"""y' a little before or behind a point, to where the rates at it lead. For what the point itself does not tell."""

from __future__ import annotations

from tidegate.compiled.calls import call_value
from tidegate.compiled.jit import native

__all__ = ["are_known", "is_known", "put_known", "put_rates_beside"]


@native
def is_known(rate):
    """True if the equations gave a number."""
    return abs(rate) < 1e300


@native
def are_known(rates, n):
    """True if they gave nothing but numbers."""
    for q in range(n):
        if not is_known(rates[q]):
            return False
    return True


@native
def put_known(rates, known, n):
    """Rates as far as the equations gave numbers, and zeros."""
    for q in range(n):
        known[q] = rates[q] if is_known(rates[q]) else 0.0


@native
def put_rates_beside(run, t, away, known, rates):
    """y' of explicit equations so far behind the current point, or before it, to where ``known`` leads; run.scratch_2 is used.

    ``rates`` may be the memory of ``known``, which is read before.
    """
    point = run.scratch_2
    for q in range(run.n):
        point[q] = run.y[q] + away * known[q]
    call_value(run.f_rhs, t + away, point, run.p, run.m, rates)
