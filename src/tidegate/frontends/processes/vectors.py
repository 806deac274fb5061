"""States of variables in the vectors of compiled code, and on demand as attributes of the variables (stage: front end).

Of two hundred variables an event touches one or two. The others stay asleep: their numbers are neither fetched nor put back.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.processes.flows import Asleep, Variable
from tidegate.frontends.processes.moved_number import moved, moves_of, plain

__all__ = ["Vectors"]

FloatArray = NDArray[np.float64]


class Vectors:
    """The states of one composition between its periods.

    Attributes
    ----------
    y : states where the compiled code stands, or will start.
    slopes : their derivatives by parameters at a fixed time, (parameters, states).
    names : of these parameters.
    moves : derivatives of the time of the present event.
    awake : variables whose own attributes count.
    """

    def __init__(self) -> None:
        self.y: FloatArray = np.zeros(0)
        self.slopes: FloatArray = np.zeros((0, 0))
        self.names: tuple[str, ...] = ()
        self.moves: Mapping[str, float] = {}
        self._is_plain = False
        self.awake: list[Variable] = []
        self._states: tuple[Variable, ...] = ()
        self._places: dict[Variable, int] = {}
        self._segments: Any = None
        self._rates: FloatArray | None = None

    def take(self, states: tuple[Variable, ...], segments: Any) -> FloatArray:
        """Fetch what has changed; the states from which a period starts, in this order.

        Parameters
        ----------
        segments : what runs them, and is asked for rates.
        """
        if states is not self._states:
            self.wake_all()
            self._states, self._places = states, {variable: k for k, variable in enumerate(states)}
            self.y = np.array([plain(variable.state) for variable in states], dtype=float)
            self.slopes = np.zeros((len(self.names), len(states)))
            self.awake = list(states)
        else:
            for variable in self.awake:
                self.y[self._places[variable]] = plain(variable.state)
        self._segments = segments
        return self.y

    def total_slopes(self) -> FloatArray:
        """Derivatives of the states as events leave them: those that an event has set are what it has computed; to be asked after ``take``."""
        names = self.names
        total = np.zeros((len(names), len(self._states)))
        if len(self.awake) < len(self._states):
            total[: len(self.slopes)] = self.slopes + np.outer(self._instant()[: len(self.slopes)], self._all_rates())
        for variable in self.awake:
            moves = moves_of(variable.state)
            total[:, self._places[variable]] = [moves.get(name, 0.0) for name in names]
        return total

    def _instant(self) -> FloatArray:
        """Derivatives of the time of the present event."""
        return np.array([self.moves.get(name, 0.0) for name in self.names])

    def fixed_slopes(self, total: FloatArray) -> FloatArray:
        """The same at a fixed time, behind the event: the states go on with the rates that they have now."""
        return np.subtract(total, np.outer(self._instant(), self._segments.rates()), dtype=np.float64)

    def put_to_sleep(self, y: FloatArray, slopes: FloatArray | None = None) -> None:
        """The states are these; nobody has asked for any of them yet."""
        self.y, self._rates = y, None
        if slopes is not None:
            self.slopes = slopes
        for variable in self.awake:
            variable.__class__ = Asleep  # type: ignore[assignment]
        self.awake = []

    def show(self, y: Iterable[float]) -> None:
        """For a while the states are these, for samples."""
        self.wake_all()
        for variable, state in zip(self._states, y, strict=True):
            variable.state = state

    def numbers_of(self, variable: Variable) -> tuple[Any, float]:
        """State and rate of a variable that wakes."""
        k, rates = self._places[variable], self._all_rates()
        self.awake.append(variable)
        state, rate = float(self.y[k]), float(rates[k])
        if self.names and not self._is_plain:
            slopes = zip(self.names, self.slopes[:, k].tolist(), strict=False)
            state = moved(state, {name: slope + rate * self.moves.get(name, 0.0) for name, slope in slopes})
        return state, rate

    def _all_rates(self) -> FloatArray:
        """Rates where the compiled code stands, asked for once."""
        rates = self._rates
        if rates is None:
            rates = self._rates = np.array(self._segments.rates())
        return rates

    @contextmanager
    def as_plain(self) -> Generator[None]:
        """While this lasts, variables that wake have plain numbers; what is put into them counts, and they sleep again behind it."""
        self._is_plain = True
        try:
            yield
        finally:
            self._is_plain = False
            if self.names:
                for variable in self.awake:
                    self.y[self._places[variable]] = plain(variable.state)
                    variable.__class__ = Asleep  # type: ignore[assignment]
                self.awake = []

    def wake_all(self) -> None:
        """All of them are attributes of their own again."""
        if len(self.awake) < len(self._states):
            for variable in self._states:
                if isinstance(variable, Asleep):
                    variable.wake()
