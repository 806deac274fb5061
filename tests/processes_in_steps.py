"""What an environment of tidegate does, by SimPy itself and small fixed steps of Runge and Kutta (1901): the truth for random programs of processes.

It knows nothing of events but how to ask: at the end of each step conditions are called, and where one begins to hold is halved for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import simpy

__all__ = ["SteppedEnvironment"]

_HALVINGS = 50


class _Member:
    """What can be started and stopped."""

    is_active = False

    def start(self) -> None:
        self.is_active = True

    def stop(self) -> None:
        self.is_active = False


class _Variable(_Member):
    def __init__(self, state: float) -> None:
        self.state, self.rate = float(state), 0.0


class _Body(_Member):
    def __init__(self, function: Callable[[], None]) -> None:
        self.function = function


class _Group(_Member):
    def __init__(self, *members: Any) -> None:
        self.members = members

    def start(self) -> None:
        for member in self.members:
            member.start()

    def stop(self) -> None:
        for member in self.members:
            member.stop()


class _Parameter:
    def __init__(self, value: float) -> None:
        self.value = value


class SteppedEnvironment(simpy.Environment):
    """SimPy's environment with variables, parameters and bodies.

    Parameters
    ----------
    step : the longest step.
    """

    Group = _Group

    def __init__(self, step: float = 4e-3) -> None:
        super().__init__()
        self._step, self._inside = step, math.nan
        self._variables: list[_Variable] = []
        self._bodies: list[_Body] = []
        self._waits: list[tuple[Callable[[], bool], simpy.Event]] = []

    @property
    def now(self) -> float:
        """The time, within a step too."""
        return self._now if math.isnan(self._inside) else self._inside

    def variable(self, state: float = 0.0, name: str = "") -> _Variable:
        """It has a name for the sake of the other environment."""
        self._variables.append(_Variable(state))
        return self._variables[-1]

    def parameter(self, value: float, name: str = "") -> _Parameter:
        """Likewise."""
        return _Parameter(value)

    def continuous(self, function: Callable[[], None]) -> _Body:
        """It sets rates."""
        self._bodies.append(_Body(function))
        return self._bodies[-1]

    def wait_until(self, condition: Callable[[], bool]) -> simpy.Event:
        """Triggered when the condition holds, at the earliest when all that is due now has happened."""
        event = simpy.Event(self)
        self._waits.append((condition, event))
        return event

    def _due(self) -> simpy.Event | None:
        """The first for whom a condition holds, of those whom somebody listens to."""
        self._waits = [wait for wait in self._waits if not wait[1].triggered]
        return next((event for condition, event in self._waits if event.callbacks and condition()), None)

    def run(self, until: float) -> None:  # type: ignore[override]
        """Up to a time, and no event at it."""
        while True:
            while self.peek() <= self._now and self._now < until:
                self.step()
            due = self._due()
            if due is not None:
                due.succeed()
                continue
            if self._now >= until:
                return
            self._move(min(self._now + self._step, until, self.peek()))

    def _move(self, end: float) -> None:
        begin = self._now
        active = [variable for variable in self._variables if variable.is_active]
        y = [variable.state for variable in active]

        def put(states: list[float]) -> None:
            for variable, state in zip(active, states, strict=True):
                variable.state = state

        def rates(time: float, states: list[float]) -> list[float]:
            put(states)
            self._inside = time
            for variable in self._variables:
                variable.rate = 0.0
            for body in self._bodies:
                if body.is_active:
                    body.function()
            return [variable.rate for variable in active]

        def moved(states: list[float], by: float, slopes: list[float]) -> list[float]:
            return [state + by * slope for state, slope in zip(states, slopes, strict=True)]

        def reached(length: float) -> bool:
            a = rates(begin, y)
            b = rates(begin + length / 2, moved(y, length / 2, a))
            c = rates(begin + length / 2, moved(y, length / 2, b))
            d = rates(begin + length, moved(y, length, c))
            put([s + length / 6 * (p + 2 * q + 2 * r + u) for s, p, q, r, u in zip(y, a, b, c, d, strict=True)])
            self._inside = begin + length
            return self._due() is not None

        length = end - begin
        if reached(length):
            short, long = 0.0, length
            for _ in range(_HALVINGS):
                middle = (short + long) / 2
                short, long = (short, middle) if reached(middle) else (middle, long)
            length = long
            reached(length)
            end = begin + length
        self._inside = math.nan
        self._now = end
