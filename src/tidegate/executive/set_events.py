"""The event of values that the user has set, put into words when it is looked at (stage: executive). In: what was recorded, and what was set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import override

import numpy as np
from numpy.typing import NDArray

from tidegate.executive.recorder import Recording
from tidegate.results import Event
from tidegate.results.event_log import LazyEvents

__all__ = ["SetEvents"]


class SetEvents(LazyEvents):
    """Events of a recording, each of which the user's hand has led to.

    Parameters
    ----------
    recording : of the event.
    causes : a text for each value that was set.
    before, after : values, by name, that an event of the model has not: parameters and inputs.
    """

    def __init__(self, recording: Recording, causes: tuple[str, ...], before: Mapping[str, float], after: Mapping[str, float]) -> None:
        self._recording, self._causes, self._before, self._after = recording, causes, before, after

    def __len__(self) -> int:
        return self._recording.n_events

    @property
    @override
    def times(self) -> NDArray[np.float64]:
        """Of all of them."""
        return self._recording.events.times

    def made(self, position: int) -> Event:
        """The event at this place, put into words."""
        event = self._recording.events[position]
        before, after = {**event.before, **self._before}, {**event.after, **self._after}
        return replace(event, kind="set", causes=self._causes + event.causes, before=before, after=after)
