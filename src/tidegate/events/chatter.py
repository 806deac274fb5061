"""Zeno behaviour and chattering: events that pile up although each of them is settled.

Intervals between events that shrink by a steady factor accumulate at a finite time, t + interval * q / (1 - q); events without time between them,
or thousands within a vanishing part of the run, are chattering.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import native
from tidegate.compiled.workspace import (
    CHATTERING,
    LAST_EVENT,
    LAST_INTERVAL,
    SAME_TIME,
    SHRINKING,
    SPAN,
    STILL_EVENTS,
    ZENO,
    ZENO_TIME,
)
from tidegate.events.schedule import is_same_time

__all__ = ["note_event_time"]

_MOST_AT_ONE_TIME: Final = 100
_STEADY: Final = 12  # shrinking intervals in a row before their factor is believed
_ZENO_PART: Final = 1e-7  # of the run: an accumulation nearer than this is there
_CHATTER_PART: Final = 1e-9
_MOST_IN_A_ROW: Final = 2000


@native
def note_event_time(h, r, t):
    """Account for an event at t; 0, CHATTERING or ZENO."""
    interval = t - r[LAST_EVENT]
    if is_same_time(t, r[LAST_EVENT]):
        h[SAME_TIME] += 1
        return CHATTERING if h[SAME_TIME] > _MOST_AT_ONE_TIME else 0
    h[SAME_TIME] = 0
    last = r[LAST_INTERVAL]
    code = 0
    if last > 0.0 and interval < 0.999 * last:
        h[SHRINKING] += 1
        factor = interval / last
        r[ZENO_TIME] = t + interval * factor / (1.0 - factor)
        if h[SHRINKING] > _STEADY and r[ZENO_TIME] - t < _ZENO_PART * r[SPAN]:
            code = ZENO
    else:
        h[SHRINKING] = 0
    if interval < _CHATTER_PART * r[SPAN]:
        h[STILL_EVENTS] += 1
        if h[STILL_EVENTS] > _MOST_IN_A_ROW:
            code = CHATTERING
    else:
        h[STILL_EVENTS] = 0
    r[LAST_EVENT] = t
    r[LAST_INTERVAL] = interval
    return code
