"""What the monitor counts; from these the number of evaluations can be accounted for."""

from __future__ import annotations

from tidegate.quick_dataclass import dataclass

__all__ = ["Counters"]


@dataclass(slots=True)
class Counters:
    """Counts since the start.

    Attributes
    ----------
    evaluations : runs of all active continuous bodies.
    periods : from the end of an event to the start of the next.
    rk_accepted, rk_rejected, rk_regrids : steps by Runge-Kutta-England; first steps of two that were put on the finer grid of the second.
    pc_accepted, pc_rejected : steps by the predictor-corrector.
    refinements, doublings, discontinuities : its starts, its doubled grids, and discontinuities it recognised.
    fixed_steps : of a method of fixed step, or of a model without variables.
    corrections : steps of those that took a second evaluation.
    interpolated_samples, steps_with_samples : times inside steps at which samples looked, and steps with such times.
    probes : evaluations in search of a state event.
    state_events : conditions found true.
    """

    evaluations: int = 0
    periods: int = 0
    rk_accepted: int = 0
    rk_rejected: int = 0
    rk_regrids: int = 0
    pc_accepted: int = 0
    pc_rejected: int = 0
    refinements: int = 0
    doublings: int = 0
    discontinuities: int = 0
    fixed_steps: int = 0
    corrections: int = 0
    interpolated_samples: int = 0
    steps_with_samples: int = 0
    probes: int = 0
    state_events: int = 0
