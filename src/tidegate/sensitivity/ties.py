"""Whether derivatives by parameters go on in a mode that ties states (``linear.forced``): where they begin, and what moves the constraints."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent
from tidegate.compiled.jit import NUMBER, kernel_entry, native
from tidegate.linear.forced import change_of_slope
from tidegate.linear.mass import DIAGONAL
from tidegate.sensitivity.jump import set_direction, time_moved

__all__ = ["ties_are_differentiable", "ties_hold"]

_TIED: Final = 1e-4  # of what adds up to nothing: rounding, and what sensitivities are wrong by
_STEPS: Final = 4.0  # before the event, from which distances are tried; or
_PART: Final = 0.02  # of the rest of the run
_LESS: Final = 0.125
_MOST_DISTANCES: Final = 16
_ELSEWHERE: Final = 3.3  # distances: where a slope passes zero, it is measured by the one there
_SAME_SLOPE: Final = 1e-9
_SAME: Final = 1e-9  # of what adds up to nothing, in M


@native
def _moves_no_mass(run, t):
    """True if no parameter moves what the combinations hold of M y', which is nothing."""
    n = run.n
    change = run.forced_scratch
    still = run.scratch_1
    for e in range(run.n_sens):
        set_direction(run, e, True)
        call_tangent(run.f_residual_tangent, t, run.y, run.ydot, run.p, run.m, 0.0, run.zero, run.dp, run.dm, change)
        call_tangent(run.f_residual_tangent, t, run.y, run.zero, run.p, run.m, 0.0, run.zero, run.dp, run.dm, still)
        set_direction(run, e, False)
        for k in range(run.n_forced):
            x = 0.0
            size = 0.0
            for r in range(n):
                term = run.forced_algebraic[k, r] * (change[r] - still[r])
                x += term
                size += abs(term)
            if abs(x) > _SAME * size:
                return False
    return True


@native
def _find_distance(run, t):
    """Into run.forced_short a distance over which differences tell how constraints move with parameters; False if there is none.

    Where no step has been made yet nothing is known of how fast things go: half the distance must give the same.
    """
    short = _STEPS * run.step_before_event if run.step_before_event > 0.0 else _PART * (run.t_end - run.t)
    for _ in range(_MOST_DISTANCES):
        agrees = True
        for e in range(run.n_sens):
            set_direction(run, e, True)
            for k in range(run.n_forced):
                x = change_of_slope(run, t, time_moved(run.dt_dp[e]), run.y, run.ydot, k, short)
                half = change_of_slope(run, t, time_moved(run.dt_dp[e]), run.y, run.ydot, k, 0.5 * short)
                away = change_of_slope(run, t + _ELSEWHERE * short, time_moved(run.dt_dp[e]), run.y, run.ydot, k, 0.5 * short)
                agrees = agrees and abs(x - half) <= _SAME_SLOPE * max(abs(x), abs(half), abs(away))
            set_direction(run, e, False)
        if agrees:
            run.forced_short = 0.5 * short
            return True
        short *= _LESS
    return False


@native
def _hold(run, t, y):
    n = run.n
    tau = run.dt_dp
    ydot = run.ydot_before
    zero = run.zero
    change = run.scratch_1
    for i in range(run.n_sens):
        set_direction(run, i, True)
        call_tangent(run.f_residual_tangent, t, y, zero, run.p, run.m, time_moved(tau[i]), zero, run.dp, run.dm, change)
        set_direction(run, i, False)
        parameter = abs(run.p[run.sens_parameters[i]])
        parameter = parameter if parameter > 0.0 else 1.0
        for k in range(run.n_forced):
            x = 0.0
            size = 0.0
            allowed = 0.0
            for q in range(n):
                moved = run.forced_algebraic[k, q] * change[q]
                slope = run.forced_gradient[k, q]
                x += moved + slope * run.sigma[i, q]
                size += abs(moved)
                if slope != 0.0:
                    size += abs(slope) * (abs(run.sigma[i, q]) + abs(run.sens[i, q]) + abs(ydot[q] * time_moved(tau[i])))
                    allowed += abs(slope) * (run.atol[q] + run.rtol * max(run.y_max[q], abs(y[q]))) / parameter
            if not abs(x) <= _TIED * size + allowed:
                return False
    return True


@kernel_entry(NUMBER)
def ties_are_differentiable(run, t):
    """1 if parameters move the constraints in a way that can be integrated; y' of the mode must be known."""
    return 1 if (run.mass_kind <= DIAGONAL or _moves_no_mass(run, t)) and _find_distance(run, t) else 0


@kernel_entry(NUMBER)
def ties_hold(run, t):
    """1 if sigma is where the constraints of the mode want it, as it is where the event is that they begin to hold."""
    return 1 if _hold(run, t, run.y) else 0
