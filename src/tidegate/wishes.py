"""What a function of the user may raise to ask something of the run that calls it; neither is an error, and neither leaves the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["RetryStep", "StopRun"]


class RetryStep(Exception):  # noqa: N818, a wish
    """``raise tg.RetryStep(reason)``: the function has no value here; the step is to be tried again, and smaller.

    Where no step is small enough the run ends with a ``StepSizeError`` that says the reason.
    """


class StopRun(BaseException):
    """``raise tg.StopRun(reason)``: the run ends here, and well. The result has the status "terminated" and the reason as its message.

    It is no ``Exception``, so that ``except Exception`` in a callback does not swallow it.

    Parameters
    ----------
    reason : why.
    values : what the function would have returned, for the last row that is recorded; without it these numbers are missing there.
    """

    def __init__(self, reason: str = "", values: Any = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.values = values
        self.numbers: Sequence[float] | None = None  # all that the run is waiting for where it was raised
        self.time: float | None = None  # of a communication point; None if the run ends with the last completed step
