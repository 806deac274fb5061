"""Memory for the past that a model looks back at (stage: integrators). In: a problem; out: memory whose address the run and the model's code know.

It belongs to the compiled model and is used again by later runs of it: values of the model may be asked for when the run that kept them is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import LookBack
from tidegate.integrators.hybrid_loop import past
from tidegate.integrators.interface import Problem

__all__ = ["PastMemory", "past_memory"]

FloatArray = NDArray[np.float64]
_STEPS_AT_FIRST: Final = 256
_BREAKS_AT_FIRST: Final = 128


class PastMemory:
    """What ``integrators.hybrid_loop.past`` works on.

    Parameters
    ----------
    looks : what is read of the past.
    n : number of unknowns.
    degree : largest degree of a step's polynomial.
    """

    def __init__(self, looks: LookBack, n: int, degree: int, n_delays: int) -> None:
        self._n_kept, self._n_delays, self._looks = len(looks.unknowns), n_delays, looks
        self._width = 4 + (degree + 1) * self._n_kept
        self.head: FloatArray = np.zeros(past.HEAD + n_delays + n)
        self._steps: FloatArray = np.zeros((_STEPS_AT_FIRST, self._width))
        self._breaks: FloatArray = np.zeros((_BREAKS_AT_FIRST, 2))
        self._older: list[FloatArray] = []  # nobody reads it any more, but in a call that is under way
        slots = np.full(n, -1.0)
        slots[list(looks.unknowns)] = np.arange(self._n_kept)
        self.head[past.DELAYS + n_delays :] = slots
        self._point()

    @property
    def address(self) -> int:
        """Where the head stands."""
        return self.head.ctypes.data

    def _point(self) -> None:
        head = self.head
        look: Any = past.look_back
        head[past.LOOK], head[past.STEPS], head[past.BREAKS] = look.address, self._steps.ctypes.data, self._breaks.ctypes.data
        head[past.ROOM], head[past.WIDTH], head[past.N_KEPT] = len(self._steps), self._width, self._n_kept
        head[past.BREAK_ROOM], head[past.N_DELAYS] = len(self._breaks), self._n_delays

    def prepare(self, problem: Problem, levels: int) -> float:
        """Before the start of a run; the shortest delay.

        Raises
        ------
        UsageError : a delay is not positive.
        """
        times = self._looks.times(problem.p)
        head = self.head
        head[past.DELAYS : past.DELAYS + self._n_delays] = np.concatenate([times, np.full(self._n_delays - len(times), times[-1])])
        head[past.NOW] = head[past.START] = problem.t_start
        head[past.COUNT] = head[past.FIRST] = head[past.BREAK_COUNT] = 0.0
        head[past.LEVELS] = levels
        return float(times[0])

    def make_room(self) -> None:
        """Twice as much, where there is hardly any left."""
        head = self.head
        count, first = int(head[past.COUNT]), int(head[past.FIRST])
        if count >= len(self._steps) - 2:
            kept = np.zeros((2 * len(self._steps), self._width))
            kept[:count] = self._steps[(first + np.arange(count)) % len(self._steps)]
            self._older = [self._steps]
            self._steps, head[past.FIRST] = kept, 0.0
        if head[past.BREAK_COUNT] >= len(self._breaks) - 4 * self._n_delays - 4:
            self._breaks = np.concatenate([self._breaks, np.zeros_like(self._breaks)])
        self._point()

    def state(self) -> dict[str, FloatArray]:
        """What another run needs to go on from where this one stands."""
        head, count, first = self.head, int(self.head[past.COUNT]), int(self.head[past.FIRST])
        steps = self._steps[(first + np.arange(count)) % len(self._steps)]
        breaks = self._breaks[: int(head[past.BREAK_COUNT])]
        return {"past": head[[past.NOW, past.START]], "past_steps": steps.ravel(), "past_breaks": breaks.ravel().copy()}

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        """Go on with what ``state`` gave."""
        head = self.head
        steps, breaks = np.reshape(state["past_steps"], (-1, self._width)), np.reshape(state["past_breaks"], (-1, 2))
        head[past.NOW], head[past.START] = state["past"]
        self._steps = np.concatenate([steps, np.zeros((_STEPS_AT_FIRST, self._width))])
        self._breaks = np.concatenate([breaks, np.zeros((_BREAKS_AT_FIRST, 2))])
        head[past.FIRST], head[past.COUNT], head[past.BREAK_COUNT] = 0.0, len(steps), len(breaks)
        self._point()


def past_memory(problem: Problem, degree: int, owner: object) -> PastMemory | None:
    """Memory that no run uses at the moment; None for a model that does not look back.

    Parameters
    ----------
    owner : the run that uses it; when that is gone, another run may.
    """
    looks = problem.model.past
    if looks is None:
        return None
    # it lives as long as the model's code, which may be called with its address
    spare: list[PastMemory] = vars(problem.model).setdefault("_spare_pasts", [])
    found = spare.pop() if spare else PastMemory(looks, len(problem.model.layout.unknowns), degree, looks.most_times)
    finalize(owner, spare.append, found).atexit = False
    return found
