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
    n_sens : number of derivatives that are kept of each unknown.
    """

    def __init__(self, looks: LookBack, n: int, degree: int, n_sens: int) -> None:
        self._looks = looks
        self.n_sens = n_sens
        self._n_delays = len(looks.whens)
        self._width = past.ROW_START + n_sens + (n_sens + 1) * (degree + 1) * len(looks.unknowns)
        self.head: FloatArray = np.zeros(past.HEAD + (5 + n_sens) * self._n_delays + 2 * n_sens + n)
        self._steps: FloatArray = np.zeros((_STEPS_AT_FIRST, self._width))
        self._breaks: FloatArray = np.zeros((_BREAKS_AT_FIRST, past.BREAK_START + n_sens))
        self._older: list[FloatArray] = []  # nobody reads it any more, but in a call that is under way
        head = self.head
        head[past.N_KEPT], head[past.N_DELAYS], head[past.N_SENS], head[past.DEGREE] = len(looks.unknowns), self._n_delays, n_sens, degree
        head[past.KEEPS_ALL] = max(looks.whens) >= 0
        self._section(3)[:] = looks.whens
        slots = head[len(head) - n :]
        slots[:] = -1.0
        slots[list(looks.unknowns)] = np.arange(len(looks.unknowns))
        self._point()

    @property
    def address(self) -> int:
        """Where the head stands."""
        return self.head.ctypes.data

    def _section(self, number: int) -> FloatArray:
        """Section of the head with a number for each delay."""
        return self.head[past.HEAD + number * self._n_delays :][: self._n_delays]

    def _point(self) -> None:
        head = self.head
        look: Any = past.look_back
        head[past.LOOK], head[past.STEPS], head[past.BREAKS] = look.address, self._steps.ctypes.data, self._breaks.ctypes.data
        head[past.ROOM], head[past.WIDTH], head[past.BREAK_ROOM] = len(self._steps), self._width, len(self._breaks)

    def prepare(self, problem: Problem, levels: int) -> float:
        """Before the start of a run; how long a step may be.

        Raises
        ------
        UsageError : a delay is not positive.
        """
        head = self.head
        head[past.NOW] = head[past.START] = problem.t_start
        head[past.COUNT] = head[past.FIRST] = head[past.BREAK_COUNT] = head[past.LOCKED] = head[past.CROSSED] = 0.0
        head[past.LEVELS], head[past.TOLERANCE] = levels, problem.rtol
        rates = self._looks.rates(problem.p, problem.directions)
        head[past.HEAD + 5 * self._n_delays :][: rates.size] = rates.ravel()
        return self.set_times(problem.p, problem.step_max)

    def set_times(self, p: FloatArray, step_max: float) -> float:
        """The delays as parameters say; breaks that are ahead move with them. Returns how long a step may be."""
        times = self._looks.times(p)
        head = self.head
        constant = times[self._section(3) < 0.0]
        breaks = self._breaks[: int(head[past.BREAK_COUNT])]
        if len(breaks):
            breaks[:, 0] += (times - self._section(0))[breaks[:, 2].astype(int)]
            breaks[:] = breaks[np.argsort(breaks[:, 0], kind="stable")]
            gone = int(np.sum(breaks[:, 0] <= head[past.NOW]))
            breaks[: len(breaks) - gone] = breaks[gone:].copy()
            head[past.BREAK_COUNT] -= gone
        self._section(0)[:] = times
        head[past.STEP_MAX] = min([step_max, *constant.tolist()])
        return float(head[past.STEP_MAX])

    def make_room(self) -> None:
        """Twice as much, where there is hardly any left."""
        head = self.head
        count, first = int(head[past.COUNT]), int(head[past.FIRST])
        if count >= len(self._steps) - 2:
            kept = np.zeros((2 * len(self._steps), self._width))
            # derivatives of a step that is found but not yet counted are among it
            kept[: count + 1] = self._steps[(first + np.arange(count + 1)) % len(self._steps)]
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
        return {"past": self._standing.copy(), "past_steps": steps.ravel(), "past_breaks": breaks.ravel().copy()}

    @property
    def _standing(self) -> FloatArray:
        """Where the run stands: everything behind what says how much memory there is and what the problem wants, but for the slots of unknowns."""
        return self.head[past.START : past.HEAD + (5 + self.n_sens) * self._n_delays + 2 * self.n_sens]

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        """Go on with what ``state`` gave."""
        head = self.head
        steps, breaks = np.reshape(state["past_steps"], (-1, self._width)), np.reshape(state["past_breaks"], (-1, self._breaks.shape[1]))
        self._standing[:] = state["past"]
        self._steps = np.concatenate([steps, np.zeros((_STEPS_AT_FIRST, self._width))])
        self._breaks = np.concatenate([breaks, np.zeros((_BREAKS_AT_FIRST, self._breaks.shape[1]))])
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
    n_sens = len(problem.sensitivity_parameters)
    # it lives as long as the model's code, which may be called with its address
    spare: list[PastMemory] = vars(problem.model).setdefault("_spare_pasts", [])
    k = next((k for k, one in enumerate(spare) if one.n_sens == n_sens), None)
    found = PastMemory(looks, len(problem.model.layout.unknowns), degree, n_sens) if k is None else spare.pop(k)
    finalize(owner, spare.append, found).atexit = False
    return found
