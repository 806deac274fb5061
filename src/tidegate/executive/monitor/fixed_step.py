"""One step of a method of fixed step; also how models without variables move from evaluation to evaluation."""

from __future__ import annotations

from collections.abc import Generator

from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.settings import FIXED_STEP
from tidegate.executive.monitor.troubles import Trouble
from tidegate.integrators.classical.euler import EULER
from tidegate.integrators.classical.trapezoid import corrected

__all__ = ["fixed_step"]


def fixed_step(motion: Motion) -> Generator[Trouble, None, bool]:
    """Take a step: it is as long as it is set, and accepted if it leads to numbers; False if the user had to repair something."""
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
    lost = next((track for track in motion.variables if track.variable.state - track.variable.state != 0), None)
    if lost is not None:  # not a number, or not finite
        yield motion.step_too_long("fixed", lost, abs(lost.variable.abserror))
        for track in motion.variables:
            track.variable.state = track.old
            track.restart()
        motion.evaluate_at(motion.lasttime, 0.0)  # the rates may have been no numbers either
        motion.last_fixed = 0.0
        return False
    motion.counters.fixed_steps += 1
    motion.last = "fixed"
    motion.last_fixed = motion.step
    return True
