"""What some runs of a sweep have come to, as plain arrays (stage: sweep): it goes from workers to whoever gathers it, and into files as one frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.quick_dataclass import dataclass
from tidegate.results.frames import FileFrame, packed

__all__ = ["FAILED", "FINISHED", "KINDS", "NOT_RUN", "STATUS", "TERMINATED", "Batch", "Outcome", "batch_of", "from_frame", "joined", "to_frame"]

FloatArray = NDArray[np.float64]
STATUS: Final = ("not run", "finished", "terminated", "failed")
NOT_RUN, FINISHED, TERMINATED, FAILED = range(4)
KINDS: Final = ("state", "time", "step", "set", "initial", "final")
FRAME: Final = "batch"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one run has come to.

    Parameters
    ----------
    member : its number.
    status : place in STATUS.
    message : why it ended, "" at the end of the time span.
    end_time, steps : where it ended, and after how many steps.
    values : (times, columns), or (columns,) at the end; NaN behind a failure.
    slopes : (times, parameters, columns), or (parameters, columns), or nothing.
    event_times, event_kinds, event_causes, event_dt_dp : of its events; kinds are places in KINDS.
    """

    member: int
    status: int
    message: str
    end_time: float
    steps: int
    values: FloatArray
    slopes: FloatArray
    event_times: FloatArray
    event_kinds: Sequence[int]
    event_causes: Sequence[str]
    event_dt_dp: FloatArray


@dataclass(frozen=True, eq=False)
class Batch:
    """Some runs; every array has one entry a run, or one an event, the events of the first run first.

    Parameters
    ----------
    causes : every cause once; ``event_causes`` are places in it.
    """

    members: NDArray[np.int64]
    status: NDArray[np.int64]
    messages: tuple[str, ...]
    end_time: FloatArray
    steps: NDArray[np.int64]
    values: FloatArray
    slopes: FloatArray
    counts: NDArray[np.int64]
    event_times: FloatArray
    event_kinds: NDArray[np.int64]
    event_causes: NDArray[np.int64]
    event_dt_dp: FloatArray
    causes: tuple[str, ...]


def batch_of(outcomes: Sequence[Outcome]) -> Batch:
    """These runs, one or more, as one."""
    causes = tuple(dict.fromkeys(cause for outcome in outcomes for cause in outcome.event_causes))
    places = {cause: k for k, cause in enumerate(causes)}
    return Batch(
        members=np.array([outcome.member for outcome in outcomes], dtype=np.int64),
        status=np.array([outcome.status for outcome in outcomes], dtype=np.int64),
        messages=tuple(outcome.message for outcome in outcomes),
        end_time=np.array([outcome.end_time for outcome in outcomes], dtype=np.float64),
        steps=np.array([outcome.steps for outcome in outcomes], dtype=np.int64),
        values=np.stack([outcome.values for outcome in outcomes]),
        slopes=np.stack([outcome.slopes for outcome in outcomes]),
        counts=np.array([len(outcome.event_times) for outcome in outcomes], dtype=np.int64),
        event_times=np.concatenate([outcome.event_times for outcome in outcomes]),
        event_kinds=np.array([kind for outcome in outcomes for kind in outcome.event_kinds], dtype=np.int64),
        event_causes=np.array([places[cause] for outcome in outcomes for cause in outcome.event_causes], dtype=np.int64),
        event_dt_dp=np.concatenate([outcome.event_dt_dp for outcome in outcomes]),
        causes=causes,
    )


def joined(parts: Sequence[Batch]) -> Batch:
    """These batches as one, in the order of the runs."""
    if len(parts) == 1:
        return parts[0]
    causes = tuple(dict.fromkeys(cause for part in parts for cause in part.causes))
    places = {cause: k for k, cause in enumerate(causes)}
    of_parts = [np.array([places[cause] for cause in part.causes], dtype=np.int64)[part.event_causes] for part in parts]
    members = np.concatenate([part.members for part in parts])
    order = np.argsort(members, kind="stable")
    of_events = np.argsort(np.concatenate([np.repeat(part.members, part.counts) for part in parts]), kind="stable")

    def sorted_by(order: NDArray[np.int64], name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])[order]

    messages: list[str] = [message for part in parts for message in part.messages]
    return Batch(
        members=members[order],
        messages=tuple(messages[int(k)] for k in order),
        event_causes=np.concatenate(of_parts)[of_events],
        causes=causes,
        **{name: sorted_by(order, name) for name in ("status", "end_time", "steps", "values", "slopes", "counts")},
        **{name: sorted_by(of_events, name) for name in ("event_times", "event_kinds", "event_dt_dp")},
    )


_INTEGERS: Final = ("members", "status", "steps", "counts", "event_kinds", "event_causes")
_NUMBERS: Final = ("end_time", "values", "slopes", "event_times", "event_dt_dp")


def to_frame(batch: Batch) -> bytes:
    """As bytes for a file that grows."""
    numbers = [getattr(batch, name) for name in _NUMBERS]
    facts: dict[str, Any] = {name: getattr(batch, name).tolist() for name in _INTEGERS}
    facts |= {"messages": batch.messages, "causes": batch.causes, "shapes": [list(array.shape) for array in numbers]}
    return packed(FRAME, facts, np.concatenate([array.ravel() for array in numbers]))


def from_frame(frame: FileFrame) -> Batch | None:
    """What ``to_frame`` wrote; nothing for a frame of another kind."""
    facts = frame.facts
    if facts.get("is") != FRAME:
        return None
    found: dict[str, Any] = {name: np.array(facts[name], dtype=np.int64) for name in _INTEGERS}
    start = 0
    for name, shape in zip(_NUMBERS, facts["shapes"], strict=True):
        size = int(np.prod(shape, dtype=np.int64))
        found[name] = frame.numbers[start : start + size].reshape(shape)
        start += size
    return Batch(**found, messages=tuple(facts["messages"]), causes=tuple(facts["causes"]))
