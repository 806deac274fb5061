"""One step of a method of fixed step; also how models without variables move from evaluation to evaluation."""

from __future__ import annotations

from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.settings import FIXED_STEP

__all__ = ["fixed_step"]


def fixed_step(motion: Motion) -> None:
    """Take a step: it is as long as it is set, and always accepted."""
    method = FIXED_STEP.get(motion.settings.method, FIXED_STEP["euler"])
    is_same = motion.step == motion.last_fixed
    for track in motion.variables:
        track.begin_step()
        track.k1 = motion.step * track.variable.rate
        increment = method.predicted(track.k1, track.b, is_same)
        track.b = 0.5 * track.k1
        track.add(increment)
    motion.evaluate_at(motion.end, motion.step)
    if len(motion.variables) and method.is_corrected(is_same):
        motion.counters.corrections += 1
        for track in motion.variables:
            track.add(method.corrected(track.k1, motion.step * track.variable.rate))
        motion.evaluate()
    motion.counters.fixed_steps += 1
    motion.last = "fixed"
    motion.last_fixed = motion.step
