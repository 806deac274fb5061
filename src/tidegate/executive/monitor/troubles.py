"""The numbered errors: what is wrong, with whom, when, and what may be changed so that the run goes on."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from tidegate.quick_dataclass import dataclass

__all__ = ["AFTERWARDS", "SENTENCES", "Afterwards", "Refused", "Stopped", "Trouble"]


class Afterwards(Enum):
    """What a numbered error allows."""

    NOTHING = "the run is left"
    REPAIR = "tolerances, method or limits may be changed; the step is tried again"
    LIMITS = "a new dtmin and dtmax are asked for; the period goes on"
    FREQUENCY = "a new frequency of the sample is asked for; the period goes on"
    SKIP = "the element is skipped; the run goes on"


SENTENCES: Final = {
    1: "the step cannot be made small enough for the error that is allowed",
    2: "the step is too small to advance time",
    3: "nothing is scheduled and nobody waits",
    4: "dtmin is negative",
    5: "dtmin is greater than dtmax",
    6: "the frequency of a sample is too small to advance its time",
    7: "time is at its maximum and no condition is true",
    8: "pause was called while time moves: only events may",
    9: "the cancelling of a wait was called while time moves: only events may",
    10: "waiting for a condition was called while time moves: only events may",
    11: "the priority of a continuous body was set while time moves: only events may",
    12: "a continuous body was started while time moves: only events may",
    13: "a continuous body was stopped while time moves: only events may",
    14: "the frequency of a sample was set while time moves: only events may",
    15: "a sample was started while time moves: only events may",
    16: "a sample was stopped while time moves: only events may",
    17: "something was scheduled while time moves: only events may schedule",
    18: "a process was made passive while time moves: only events may",
    19: "a process was held while time moves: only events may",
    20: "the process due next was cancelled while time moves: only events may",
    21: "the element cannot be started or stopped: it is no variable, continuous body or sample",
}

_NOT_FINITE: Final = "a step of fixed length leads to a state that is no finite number"

AFTERWARDS: Final = {
    1: Afterwards.REPAIR,
    4: Afterwards.LIMITS,
    5: Afterwards.LIMITS,
    6: Afterwards.FREQUENCY,
    21: Afterwards.SKIP,
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """One numbered error, as it was found.

    Attributes
    ----------
    number : 1 to 21.
    time, dt, dtmin, dtmax : when it happened, and the limits then.
    kind : of number 1: "rk", "pc", or "fixed" where a step of fixed length led to what is no finite number.
    culprit : the variable (1), continuous body (11-13), sample (6, 14-16) or element (21) it is about; else None.
    allowed, estimated : of number 1: the error the culprit may have, and the size of the one it has.
    state : of number 1: what the refused step would have led the culprit to.
    """

    number: int
    time: float
    dt: float
    dtmin: float
    dtmax: float
    kind: str = ""
    culprit: Any = None
    allowed: float | None = None
    estimated: float | None = None
    state: float | None = None

    @property
    def sentence(self) -> str:
        """What is wrong."""
        return _NOT_FINITE if self.kind == "fixed" else SENTENCES[self.number]

    @property
    def afterwards(self) -> Afterwards:
        """What may be done about it."""
        return AFTERWARDS.get(self.number, Afterwards.NOTHING)

    @property
    def can_go_on(self) -> bool:
        """Whether the run can go on after it."""
        return self.afterwards is not Afterwards.NOTHING

    @property
    def samples_run_at_leaving(self) -> bool:
        """Whether all samples look once more if the run is left: not after trouble with a sample's own time."""
        return self.number != 6

    def __str__(self) -> str:
        return f"{self.number}: {self.sentence}, at time {self.time} (dt {self.dt}, dtmin {self.dtmin}, dtmax {self.dtmax})"


class Stopped(Exception):  # noqa: N818 - the run stands still, and may go on
    """The monitor stands in front of a numbered error; it goes on where it stands if that is allowed.

    Attributes
    ----------
    trouble : what was found.
    """

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


class Refused(Stopped):
    """Something only events may do was done while time moves; the call had no effect and the period is over."""
