"""What may be chosen for the monitor, before a run and in the middle of it: the method, its limits, and what the source leaves undecided."""

from __future__ import annotations

from typing import Final, Literal

from tidegate.integrators.classical.adams import ADAMS
from tidegate.integrators.classical.euler import EULER
from tidegate.integrators.classical.fixed_step import FixedStep
from tidegate.integrators.classical.heun import HEUN
from tidegate.integrators.classical.trapezoid import TRAPEZOID
from tidegate.quick_dataclass import dataclass

__all__ = ["DISC_HALVINGS", "FIXED_STEP", "LATEST", "MAX_HALVINGS", "METHODS", "Method", "Settings"]

Method = Literal["rke", "pc", "euler", "adams2", "trapezoid", "heun"]
METHODS: Final = ("rke", "pc", "euler", "adams2", "trapezoid", "heun")
FIXED_STEP: Final[dict[str, FixedStep]] = {"euler": EULER, "adams2": ADAMS, "trapezoid": TRAPEZOID, "heun": HEUN}
MAX_HALVINGS: Final = 30
DISC_HALVINGS: Final = 10
LATEST: Final = 1.7014118e38  # the largest real of the source's machine: the time of the next event where none is scheduled


@dataclass(slots=True)
class Settings:
    """How the monitor steps; read again at every step, so that it may be changed during a run.

    Attributes
    ----------
    method : "rke" Runge-Kutta-England, "pc" Hamming's predictor-corrector, or one of fixed step: "euler", "adams2", "trapezoid", "heun".
    dtmin : the least step of "rke"; how closely the time of a state event is found.
    dtmax : the longest step; *the* step of the methods of fixed step and of models without variables.
    max_halvings : how many halvings of its step "pc" may have ahead of its doublings.
    disc_halvings : how many "pc" must have before an easy step tells that a discontinuity was passed.
    retry : the step that is tried after a refused one was repaired: "limited" to the dtmax that holds now, or the "same" as was refused. The printed
        dialogue of the source was run with the same step, though its listing says otherwise.
    latest : when the run ends, with number 7, if nothing is scheduled and no condition becomes true.
    """

    method: Method = "rke"
    dtmin: float = 0.0
    dtmax: float = 0.0
    max_halvings: int = MAX_HALVINGS
    disc_halvings: int = DISC_HALVINGS
    retry: Literal["limited", "same"] = "limited"
    latest: float = LATEST

    @property
    def limits_retry(self) -> bool:
        """Whether a step tried again is dtmax at most: always by a method of fixed step, which would not notice that it is too long."""
        return self.retry == "limited" or self.method in FIXED_STEP
