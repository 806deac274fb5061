"""When samples look: after events, at due times inside and at the end of steps, at the end of steps, before events."""

from __future__ import annotations

from collections.abc import Generator

from tidegate.executive.monitor.inside import build, go_to_end, look_at
from tidegate.executive.monitor.interface import Sample
from tidegate.executive.monitor.motion import Motion
from tidegate.executive.monitor.troubles import Trouble

__all__ = ["run_due", "sample_after_event", "sample_at_end_of_step", "sample_before_event"]

_Troubles = Generator[Trouble, None, None]


def sample_after_event(motion: Motion) -> _Troubles:
    """All of them, first thing in a period."""
    yield from _run_timed(motion, is_after_event=True)
    _run(motion.samples.at_events)
    _run(motion.samples.at_steps)


def sample_at_end_of_step(motion: Motion) -> _Troubles:
    """Those with an interval at their times in the step, then those of every step."""
    if motion.samples.timed and motion.next_sample <= motion.time:
        if motion.next_sample == motion.time:
            yield from run_due(motion)
        else:
            yield from _run_inside(motion)
    _run(motion.samples.at_steps)


def sample_before_event(motion: Motion) -> None:
    """Those of negative frequency, if time has passed since the event before."""
    if motion.dt > 0:
        _run(motion.samples.at_events)


def _run(samples: list[Sample]) -> None:
    for sample in samples:
        sample.observe()


def _run_inside(motion: Motion) -> _Troubles:
    """All times that are due before the end of the step, on its polynomial."""
    motion.counters.steps_with_samples += 1
    if motion.bodies:
        build(motion)
    while motion.next_sample < motion.end:
        motion.counters.interpolated_samples += 1
        look_at(motion, motion.next_sample)
        yield from run_due(motion)
    go_to_end(motion)
    if motion.next_sample == motion.time:
        yield from run_due(motion)


def run_due(motion: Motion) -> _Troubles:
    """Those with an interval that are due now."""
    motion.next_sample = motion.event
    yield from _run_timed(motion, is_after_event=False)


def _run_timed(motion: Motion, *, is_after_event: bool) -> _Troubles:
    """Each that is due, and all of them around events; then the time when the next one is."""
    for sample in motion.samples.timed:
        if is_after_event or sample.sampletime <= motion.time or motion.time >= motion.event:
            sample.observe()
            if sample.sampletime <= motion.time:
                yield from _advance(motion, sample)
        motion.next_sample = min(motion.next_sample, sample.sampletime)


def _advance(motion: Motion, sample: Sample) -> _Troubles:
    """The next time of a sample, by repeated addition; a sample that cannot pass the present time needs another frequency."""
    due = sample.sampletime
    sample.sampletime = due + sample.frequency
    while sample.sampletime <= motion.time:
        yield motion.trouble(6, sample)
        sample.sampletime = due + sample.frequency
