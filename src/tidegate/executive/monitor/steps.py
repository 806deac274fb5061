"""How long the next step shall be, and by which method it is taken."""

from __future__ import annotations

from collections.abc import Generator

from tidegate.executive.monitor.england_step import england_step
from tidegate.executive.monitor.fixed_step import fixed_step
from tidegate.executive.monitor.hamming_step import hamming_step
from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.settings import FIXED_STEP
from tidegate.executive.monitor.troubles import Trouble

__all__ = ["take_step"]


def take_step(motion: Motion) -> Generator[Trouble, None, None]:
    """One accepted step from the present time, to the next event at most. Where an exception or the end of the run comes, all is as at its start."""
    motion.begin_step()
    try:
        yield from _take_step(motion)
    except BaseException:
        motion.retreat()
        raise


def _take_step(motion: Motion) -> Generator[Trouble, None, None]:
    rest = (motion.event - motion.lasttime) - motion.remainder
    if not motion.bodies:
        _jump(motion, rest)
        return
    _choose_length(motion, rest)
    while True:
        if motion.settings.method in FIXED_STEP or not motion.variables:
            if (yield from fixed_step(motion)):
                return
            _choose_length(motion, rest)
            continue
        step = hamming_step(motion) if motion.is_pc else england_step(motion)
        if (yield from step):
            return


def _jump(motion: Motion, rest: float) -> None:
    """Nothing flows: to the event at once, or as far as conditions are to be tested again."""
    motion.step, motion.end = rest, motion.event
    if motion.waiting and rest > motion.settings.dtmax:
        motion.step = motion.settings.dtmax
        motion.end = motion.end_after(motion.step)
    motion.time, motion.dt, motion.last = motion.end, motion.step, ""


def _choose_length(motion: Motion, rest: float) -> None:
    settings = motion.settings
    if settings.method in FIXED_STEP or not motion.variables:
        motion.proposal = settings.dtmax
    elif max(motion.proposal, motion.spacing) > settings.dtmax:
        motion.limit()
    if motion.is_pc and rest >= motion.spacing:
        motion.step = motion.spacing
        motion.end = motion.end_after(motion.step)
    elif not motion.is_pc and rest > motion.proposal:
        motion.step = motion.proposal
        motion.end = motion.end_after(motion.step)
    else:
        motion.is_pc, motion.is_first = False, True
        motion.step, motion.end = rest, motion.event
