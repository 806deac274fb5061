"""Guards of which rounding leaves nothing where a step begins, as right behind a pole of theirs (stage: events).

The search for events takes the round-off level of a guard at the start of a step for all of it. Behind ``1 / (t - 1)`` that is infinite, and whatever
the guard does within the step would be less than its rounding. So a step that begins where a guard is little more than its rounding ends where that
has become a great part less: from a pole on the next ones are longer and longer.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.compiled.workspace import matrix
from tidegate.events.guards import polynomial_point
from tidegate.events.told import can_be_shorter
from tidegate.events.tolerances import ROUNDING

__all__ = ["is_any_unresolved", "is_unresolved", "resolved_up_to"]

_SURE: Final = 1e-13  # of its size: a guard that rounding makes no more of is what it seems
_LESS: Final = 1e-3  # of the round-off level at the start: less than this at the end, and the step is shorter
_SHORTER: Final = 0.125
_LOOKS: Final = 2  # at the end of the step, and ...
_APART: Final = 0.37  # ... so great a part of it before
_ROOM: Final = 1 / 16  # of a step that can be made shorter at all: so far behind the start no more is asked


@native
def is_unresolved(run, j):
    """True of a guard that is little more than its rounding, where that is much more than it was at some place where the guard was more."""
    if run.is_linear[j] == 1 or run.active[j] == 0.0 or run.is_opaque[j] == 1:
        return False
    # at a pole both are infinite, or rounding is no number
    if run.nu[j] <= _SURE * abs(run.g[j]) < np.inf:
        run.nu_least[j] = run.nu[j] if run.nu_least[j] == 0.0 else min(run.nu[j], run.nu_least[j])
        return False
    return run.nu_least[j] == 0.0 or not _LESS * run.nu[j] <= run.nu_least[j]


@native
def _put_rounding(run, t, point, out):
    """What the rounding of time and unknowns, whose widths are known, makes of guards."""
    zero = run.zero
    call_tangent(run.f_guard_scale, t, point, zero, run.p, run.m, ROUNDING * abs(t), run.roundoff, zero, zero, out)


@kernel_entry(NUMBER, NUMBER)
def resolved_up_to(run, t, step):
    """Put the part of the step from the current point on over which guards have one round-off level about into run.found_theta."""
    run.found_theta = 1.0
    before, after = run.late_scratch, run.reach_scratch
    point = run.scratch_1
    a = matrix(run.r, run.coefficients_at, run.degree, run.n)
    theta = 1.0
    _put_rounding(run, t, run.y, before)
    for j in range(run.n_guards):
        if not is_unresolved(run, j):
            continue
        while can_be_shorter(run, _ROOM * theta * step):
            # the end may be beside another pole
            is_like_the_start = True
            for look in range(_LOOKS):
                part = theta * (1.0 - look * _APART)
                polynomial_point(run.n, run.degree, run.y, a, part, point)
                _put_rounding(run, t + part * step, point, after)
                is_like_the_start = is_like_the_start and _LESS * before[j] <= after[j]
            if is_like_the_start:
                break
            theta *= _SHORTER
            run.failed_guard = j
    run.found_theta = theta
    run.is_unresolved = 1 if theta < 1.0 else 0
    return 0


@native
def is_any_unresolved(run):
    """True if there is such a guard."""
    found = False
    for j in range(run.n_guards):
        found = is_unresolved(run, j) or found
    return found
