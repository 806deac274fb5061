"""States of variables in the vectors of compiled code, and on demand as attributes of the variables (stage: front end).

Of two hundred variables an event touches one or two. The others stay asleep: their numbers are neither fetched nor put back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.processes.flows import Asleep, Variable

__all__ = ["Vectors"]

FloatArray = NDArray[np.float64]


class Vectors:
    """The states of one composition between its periods.

    Attributes
    ----------
    y : states where the compiled code stands, or will start.
    awake : variables whose own attributes count.
    """

    def __init__(self) -> None:
        self.y: FloatArray = np.zeros(0)
        self.awake: list[Variable] = []
        self._states: tuple[Variable, ...] = ()
        self._places: dict[Variable, int] = {}
        self._segments: Any = None
        self._rates: list[float] | None = None

    def take(self, states: tuple[Variable, ...], segments: Any) -> FloatArray:
        """Fetch what has changed; the states from which a period starts, in this order.

        Parameters
        ----------
        segments : what runs them, and is asked for rates.
        """
        if states is not self._states:
            self.wake_all()
            self._states, self._places = states, {variable: k for k, variable in enumerate(states)}
            self.y = np.array([variable.state for variable in states], dtype=float)
            self.awake = list(states)
        else:
            for variable in self.awake:
                self.y[self._places[variable]] = variable.state
        self._segments = segments
        return self.y

    def put_to_sleep(self, y: FloatArray) -> None:
        """The states are these; nobody has asked for any of them yet."""
        self.y, self._rates = y, None
        for variable in self.awake:
            variable.__class__ = Asleep  # type: ignore[assignment]
        self.awake = []

    def show(self, y: Iterable[float]) -> None:
        """For a while the states are these, for samples."""
        self.wake_all()
        for variable, state in zip(self._states, y, strict=True):
            variable.state = state

    def numbers_of(self, variable: Variable) -> tuple[float, float]:
        """State and rate of a variable that wakes."""
        k = self._places[variable]
        rates = self._rates
        if rates is None:
            rates = self._rates = [*map(float, self._segments.rates())]
        self.awake.append(variable)
        return float(self.y[k]), rates[k]

    def wake_all(self) -> None:
        """All of them are attributes of their own again."""
        if len(self.awake) < len(self._states):
            for variable in self._states:
                if isinstance(variable, Asleep):
                    variable.wake()
