"""The set of variables that are integrated, and what the methods remember of each of them."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.executive.monitor.interface import Variable
from tidegate.integrators.classical import error_test
from tidegate.integrators.classical.polynomial import Coefficients, value

__all__ = ["Track", "VariableSet"]

_NONE = Coefficients(0.0, 0.0, 0.0, 0.0, 0.0)


class Track:
    """One variable under integration.

    Attributes
    ----------
    variable : whose state and rate are followed.
    old : state at the start of the step, to which `increment` leads on.
    remainder : what adding the increments so far has lost by rounding.
    k1 to k8, d, err : stages of the step, its first half, its estimated error.
    b : half the rate at the start of the last fixed step, times its length.
    y, f : values and rates at equidistant times; position 0 is number -2, position 5 number 3, the newest.
    p, c, pc : prediction, correction, and the difference of the two in the step before.
    polynomial : of the step.
    """

    __slots__ = (
        *("variable", "old", "remainder", "increment", "polynomial"),
        *("k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "d", "err", "b"),
        *("y", "f", "p", "c", "pc"),
    )

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.old = variable.state
        self.remainder = self.increment = self.err = self.d = self.b = 0.0
        self.k1 = self.k2 = self.k3 = self.k4 = self.k5 = self.k6 = self.k7 = self.k8 = 0.0
        self.p = self.c = self.pc = 0.0
        self.y = [0.0] * 6
        self.f = [0.0] * 6
        self.polynomial = _NONE

    def begin_period(self) -> None:
        """An event may have set the state; then what was lost before it is lost."""
        state = self.variable.state
        if self.increment != 0:
            whole = self.remainder + self.increment
            self.remainder = whole - (state - self.old) if state == self.old + whole else 0.0
        self._begin(state)
        self.variable.rate = 0.0
        self.increment = 0.0

    def begin_step(self) -> None:
        """The state is where the step starts; what adding the increment before has lost is kept."""
        state = self.variable.state
        if self.increment != 0:
            self.remainder = (self.remainder + self.increment) - (state - self.old)
        self._begin(state)

    def _begin(self, state: float) -> None:
        self.old = self.variable.laststate = state

    def restart(self) -> None:
        """As before the step that begins a history: nothing is to be added."""
        self.increment = 0.0

    def allowed(self, state: float) -> float:
        """What the error may be where the variable has this state."""
        return error_test.allowed(self.variable.abserror, self.variable.relerror, state)

    def is_beyond(self, allowed: float) -> bool:
        """Whether the estimated error is not as small as that; one that is no number is not small."""
        return error_test.is_beyond(self.err, allowed)

    def lesser(self, quotient: float, allowed: float) -> float:
        """The quotient of allowed and estimated error, if it is less than one found before."""
        return error_test.lesser(quotient, self.err, allowed)

    def add(self, increment: float) -> None:
        """The state is so much further than at the step's start."""
        self.increment = increment
        self.variable.state = self.old + (self.remainder + increment)

    def go_inside(self, s: float) -> None:
        """The state is what the polynomial says at a fraction of the step; the step keeps its increment."""
        self.variable.state = self.old + (self.remainder + value(self.polynomial, s))

    def end_inside(self, s: float) -> None:
        """The step ends at a fraction of what it was."""
        self.add(value(self.polynomial, s))


class VariableSet:
    """The integrated variables in their order: the one started last first, unless one has failed since.

    The order decides which variable is looked at first; the sooner one fails, the less is computed in vain.
    """

    def __init__(self) -> None:
        self._tracks: list[Track] = []
        self._ids: set[int] = set()
        self.changes = 0  # so far, of which variables are in the set

    def __iter__(self) -> Iterator[Track]:
        return iter(self._tracks)

    def __len__(self) -> int:
        return len(self._tracks)

    def __contains__(self, variable: Variable) -> bool:
        return id(variable) in self._ids

    def start(self, variable: Variable) -> None:
        """Put a variable first; nothing happens if it is in the set."""
        if variable not in self:
            self._tracks.insert(0, Track(variable))
            self._ids.add(id(variable))
            self.changes += 1

    def stop(self, variable: Variable) -> None:
        """Take a variable out; its rate is 0 then, its state stays. Nothing happens if it is not in the set."""
        if variable in self:
            self._tracks = [track for track in self._tracks if track.variable is not variable]
            self._ids.discard(id(variable))
            self.changes += 1
            variable.rate = 0.0

    def bring_forward(self, track: Track) -> None:
        """Look at this one first from now on."""
        if self._tracks[0] is not track:
            self._tracks.remove(track)
            self._tracks.insert(0, track)
