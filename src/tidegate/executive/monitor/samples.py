"""The active samples in three lists, and when those with an interval are due.

In each list the one started last runs first. Where all run: the ones with an interval, then those that look at events only, then those of every step.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.executive.monitor.interface import Sample

__all__ = ["Samples", "sign"]


def sign(frequency: float) -> int:
    """Which list a frequency belongs to: 1 for an interval, 0 for every step, -1 for events only."""
    return (frequency > 0) - (frequency < 0)


class Samples:
    """Who observes, and when."""

    def __init__(self) -> None:
        self._lists: dict[int, list[Sample]] = {1: [], -1: [], 0: []}

    def __len__(self) -> int:
        return sum(map(len, self._lists.values()))

    def __bool__(self) -> bool:
        lists = self._lists
        return bool(lists[1] or lists[-1] or lists[0])

    def __contains__(self, sample: Sample) -> bool:
        return any(one is sample for samples in self._lists.values() for one in samples)

    def __iter__(self) -> Iterator[Sample]:
        for samples in self._lists.values():
            yield from samples

    @property
    def timed(self) -> list[Sample]:
        """Those with an interval."""
        return self._lists[1]

    @property
    def at_events(self) -> list[Sample]:
        """Those of negative frequency."""
        return self._lists[-1]

    @property
    def at_steps(self) -> list[Sample]:
        """Those of frequency 0."""
        return self._lists[0]

    def start(self, sample: Sample, time: float) -> None:
        """A sample is due for the first time now; nothing happens if it is active."""
        if sample not in self:
            sample.sampletime = time
            self._lists[sign(sample.frequency)].insert(0, sample)

    def stop(self, sample: Sample) -> None:
        """A sample looks no more; nothing happens if it is not active."""
        for key, samples in self._lists.items():
            self._lists[key] = [one for one in samples if one is not sample]

    def set_frequency(self, sample: Sample, frequency: float, time: float) -> None:
        """A new frequency, counted from now; with another sign an active sample becomes the first of another list."""
        if sample in self and sign(frequency) != sign(sample.frequency):
            self.stop(sample)
            sample.frequency = frequency
            self.start(sample, time)
        else:
            sample.frequency = frequency
            sample.sampletime = time
