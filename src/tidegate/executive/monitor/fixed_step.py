"""One step of a method of fixed step; also how models without variables move from evaluation to evaluation."""

from __future__ import annotations

from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.settings import FIXED_STEP
from tidegate.integrators.classical.euler import EULER
from tidegate.integrators.classical.trapezoid import corrected

__all__ = ["fixed_step"]


def fixed_step(motion: Motion) -> None:
    """Take a step: it is as long as it is set, and always accepted."""
    method = FIXED_STEP.get(motion.settings.method, EULER)
    extrapolated = method.extrapolated if motion.step == motion.last_fixed else None
    for track in motion.variables:
        track.begin_step()
        track.k1 = motion.step * track.variable.rate
        increment = track.k1 if extrapolated is None else extrapolated(track.k1, track.b)
        track.b = 0.5 * track.k1
        track.add(increment)
    motion.evaluate_at(motion.end, motion.step)
    corrects = method.corrects_first if extrapolated is None else method.corrects
    if corrects and motion.variables:
        motion.counters.corrections += 1
        for track in motion.variables:
            track.add(corrected(track.k1, motion.step * track.variable.rate))
        motion.evaluate()
    motion.counters.fixed_steps += 1
    motion.last = "fixed"
    motion.last_fixed = motion.step
