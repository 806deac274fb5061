"""Dry friction with its modes (library of components): what clutches, brakes and bearings have in common, whatever moves.

A contact that slides carries what its law of friction gives, against the motion; one that is stuck has no relative acceleration, and carries what
that takes, up to its limit. Which of both holds is a discrete variable, and each change an event (Otter, Elmqvist and Mattsson 1999).
"""

from __future__ import annotations

from typing import Any, Final

from tidegate.expressions.elementary import maximum, where
from tidegate.frontends.components import Component, Discrete, InputSignal, Parameter, initially, time, when

__all__ = ["BACKWARD", "FORWARD", "FREE", "STUCK", "PressedContact", "StickSlip", "a_moment_later"]

STUCK: Final = 0
FORWARD: Final = 1
BACKWARD: Final = -1
FREE: Final = 2
_A_MOMENT: Final = 1e-9  # after the start, of its time or of 1: when a contact at rest that does not hold begins to slide


def a_moment_later() -> Any:
    """A time that is just after the present one, at any size of it.

    Examples
    --------
    >>> from tidegate.expressions import Expr
    >>> isinstance(a_moment_later(), Expr)
    True
    """
    return time + _A_MOMENT * maximum(1.0, abs(time))


class StickSlip(Component):
    """Base of contacts with dry friction: the discrete variable ``mode`` is 1 forward, -1 backward, 0 stuck, 2 free.

    A subclass says what moves by the methods ``slip``, ``friction``, ``sliding`` and ``limit``, and yields ``self.friction_law(...) == 0``.

    Examples
    --------
    >>> FORWARD, STUCK
    (1, 0)
    """

    mode = Discrete(STUCK, description="1 forward, -1 backward, 0 stuck, 2 free")
    settled = Discrete(0.0, description="when what is at rest at the start can begin to slide")
    slow = Parameter(1e-8, min=0.0, description="speed up to which one that changes its sign comes to rest; a faster one was turned round by a shock")

    def slip(self) -> Any:
        """The relative speed."""
        raise NotImplementedError

    def friction(self) -> Any:
        """What the contact carries, positive while it slides forward."""
        raise NotImplementedError

    def sliding(self) -> Any:
        """The size of it while it slides."""
        raise NotImplementedError

    def limit(self) -> Any:
        """The size of it up to which it sticks."""
        raise NotImplementedError

    def friction_law(self, acceleration: Any, size: Any) -> Any:
        """What is zero: while stuck the relative acceleration, times a size that gives it the unit of friction; else what the friction differs by."""
        direction = where(self.mode == FREE, 0.0, self.mode)
        return where(self.mode == STUCK, size * acceleration, self.friction() - direction * self.sliding())

    def found(self) -> Any:
        """The mode by the speed; whether it holds at rest is found out after it."""
        return where(self.slip() > 0, FORWARD, where(self.slip() < 0, BACKWARD, STUCK))

    @initially
    def find_mode(self) -> Any:
        """As it moves at the start."""
        return {self.mode: self.found(), self.settled: a_moment_later()}

    @when(lambda self: (self.mode == FORWARD) & (self.slip() < 0), lambda self: (self.mode == BACKWARD) & (self.slip() > 0))
    def stick(self) -> Any:
        """It has come to rest, or a shock has turned it round."""
        return {self.mode: where(abs(self.slip()) > self.slow, self.found(), STUCK)}

    # which of several contacts hold that are at rest can only be found out one after the other, and a condition that holds at the start is no event
    @when(lambda self: (self.mode == STUCK) & (self.friction() > self.limit()) & (time > self.settled))
    def slide_forward(self) -> Any:
        """It holds no longer."""
        return {self.mode: FORWARD}

    @when(lambda self: (self.mode == STUCK) & (self.friction() < -self.limit()) & (time > self.settled))
    def slide_backward(self) -> Any:
        """It holds no longer."""
        return {self.mode: BACKWARD}


class PressedContact(StickSlip):
    """A contact that carries as much as its signal ``capacity`` says, times ``peak`` while stuck; at 0 and below it is free.

    Examples
    --------
    >>> class Pad(PressedContact):
    ...     pass
    >>> Pad().peak
    peak
    """

    mode = Discrete(FREE, description="1 forward, -1 backward, 0 stuck, 2 free")
    capacity = InputSignal(description="friction while it slides")
    peak = Parameter(1.0, min=1.0, description="friction while stuck, relative to that while it slides")

    def sliding(self) -> Any:
        """As the signal says."""
        return self.capacity

    def limit(self) -> Any:
        """A multiple of it."""
        return self.peak * self.capacity

    @initially
    def find_mode(self) -> Any:
        """As it moves at the start."""
        return {self.mode: where(self.capacity > 0, self.found(), FREE), self.settled: a_moment_later()}

    # whatever else would happen to it at that moment
    @when(lambda self: (self.mode != FREE) & (self.capacity <= 0), priority=10)
    def release(self) -> Any:
        """Nothing presses any more."""
        return {self.mode: FREE}

    @when(lambda self: (self.mode == FREE) & (self.capacity > 0))
    def engage(self) -> Any:
        """It is pressed again."""
        return {self.mode: self.found()}
