"""State events: the time in the step at which a condition has become true, by bisection to `dtmin`, on the true side."""

from __future__ import annotations

from tidegate.executive.monitor.inside import build, go_to_probe
from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.waiting import Wait

__all__ = ["search"]


def search(motion: Motion) -> None:
    """If a condition holds at the end of the step, end the step where it begins to; the period ends there as well, unless a time event comes first.

    A condition that becomes true and false again within one step is missed.
    """
    if not motion.waiting:
        return
    if motion.dt > motion.settings.dtmin or motion.time < motion.event:
        hit = motion.waiting.first_true()
        if hit is not None:
            motion.is_pc, motion.is_first = False, motion.is_first or motion.last == "pc"
            if motion.step <= motion.settings.dtmin:
                motion.event, motion.hit = motion.time, hit
            else:
                _bisect(motion, hit)
            motion.next_sample = min(motion.next_sample, motion.event)


def _bisect(motion: Motion, found: Wait) -> None:
    build(motion)
    motion.full = full = motion.step
    motion.is_searched = True
    lower, upper, end = 0.0, full, motion.end
    # closer than roundings of the step there is nothing to find; where a condition holds from the very start, bisection would go on to the
    # least number there is
    near = max(motion.settings.dtmin, full * 2.0**-52)
    dt = 0.5 * full
    while True:
        go_to_probe(motion, dt, motion.lasttime + (motion.remainder + dt))
        hit = motion.waiting.first_true()
        if hit is None:
            lower = dt
        else:
            found, upper, end = hit, dt, motion.time
        middle = 0.5 * lower + 0.5 * upper
        if upper - lower <= near or not lower < middle < upper:
            break
        dt = middle
    if dt != upper:
        go_to_probe(motion, upper, end)
    motion.step, motion.end = upper, end
    motion.time, motion.dt = end, upper
    if not motion.time < motion.event:
        return  # the time event comes first; the condition is tested again after it
    if upper == full and motion.bodies:
        # nowhere before the end: there the polynomial has the last word, which may differ from the step's own by a rounding
        last_word = motion.waiting.first_true()
        if last_word is None:
            return
        found = last_word
    motion.event, motion.hit = motion.time, found
