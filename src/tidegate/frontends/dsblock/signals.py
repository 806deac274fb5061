"""Inputs of a run: ``inputs={"FORCE": f}`` with a function of time, a number, or samples (times, values). In: what the caller gave; out: u(t)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.description import Description, SignalEntry, SignalKind
from tidegate.frontends.dsblock.followed_inputs import FollowedInputs, followed_inputs
from tidegate.model.samples import samples, told
from tidegate.names import suggestion

__all__ = ["InputSignals"]

FloatArray = NDArray[np.float64]
_MARGIN: Final = 1e-4
_HOW: Final = "a function of time, a number, samples: (times, values), a pandas Series over times, or a column of a result"
Function = Callable[[float], Any]


class InputSignals:
    """The input vector of a block as a function of time.

    Parameters
    ----------
    given : by name of an input: a function of time, a number or an array, or times and values to draw lines between; others are zero.

    Attributes
    ----------
    corners : times at which the lines have corners.

    Raises
    ------
    UsageError : an input is unknown, or what is given for it cannot be one.
    """

    def __init__(self, described: Description, given: Mapping[str, Any]) -> None:
        self._name = described.name
        self._size = described.size(SignalKind.INPUT)
        entries = {entry.name.upper(): entry for entry in described.of_kind(SignalKind.INPUT)}
        self._functions: list[tuple[SignalEntry, Function]] = []
        self._constants: dict[str, Any] = {}
        self._corners = corners = list[FloatArray]()
        self._called: set[str] = set()
        for name, value in given.items():
            entry = entries.get(name.upper())
            if entry is None:
                known = [each.name for each in entries.values()]
                hint = suggestion(name, known, f"its inputs are {', '.join(known)}" if known else "it has no inputs")
                raise UsageError(f"DSblock {described.name} has no input {name!r}", hint=hint)
            function, times = _function(f"input {entry.name} of DSblock {described.name}", entry, value)
            self._functions.append((entry, function))
            if callable(value):
                self._called.add(entry.name)
            elif not len(times):
                self._constants[entry.name] = function(0.0)
            corners.append(times)
        self.corners = np.unique(np.concatenate(corners)) if corners else np.zeros(0)

    def given(self) -> Iterator[tuple[SignalEntry, Any, Function]]:
        """Every input that was given: its entry, its value where that is constant, else None, and the function."""
        for entry, function in self._functions:
            yield entry, self._constants.get(entry.name), function

    def functions(self) -> list[tuple[SignalEntry, Function]]:
        """Those that were given as functions of time."""
        return [(entry, function) for entry, function in self._functions if entry.name in self._called]

    @cached_property
    def followed(self) -> FollowedInputs | None:
        """Functions of time as expressions; None where there is none, or one of them can only be called."""
        return followed_inputs(self.functions())

    @property
    def jumps(self) -> FloatArray:
        """The corners, and where functions are known to jump: machine code of traced equations finds that by itself."""
        return self.corners if self.followed is None else np.concatenate([self.corners, self.followed.jumps])

    def lines(self) -> list[tuple[FloatArray, FloatArray]]:
        """Of every element of U the times and values of samples, a constant having one, and a function of time none."""
        nothing, none = np.zeros(1), np.zeros(0)
        found = [(nothing, nothing)] * self._size
        for (entry, function), corners in zip(self._functions, self._corners, strict=True):
            if entry.name in self._called:
                found[entry.places] = [(none, none)] * entry.size
                continue
            times = corners if len(corners) else nothing
            values = np.array([np.asarray(function(time), dtype=float).ravel(order="F") for time in times.tolist()])
            for k in range(entry.size):
                found[entry.first + k] = times, np.ascontiguousarray(values[:, k])
        return found

    def at(self, time: float) -> FloatArray:
        """U at a time."""
        u = np.zeros(self._size)
        for entry, function in self._functions:
            value = np.asarray(function(time), dtype=float)
            if value.shape not in (entry.shape, (), (1,) if not entry.shape else ()):
                raise UsageError(
                    f"input {entry.name} of DSblock {self._name} has the shape {entry.shape}; at t = {time:g} it was given {value.shape}"
                )
            shaped = value.reshape(()) if not entry.shape else value
            u[entry.places] = np.broadcast_to(shaped, entry.shape).ravel(order="F")
        return u


def _function(what: str, entry: SignalEntry, value: Any) -> tuple[Function, FloatArray]:
    none = np.zeros(0)
    if callable(value):
        return value, none
    is_constant = isinstance(value, list) and np.shape(cast("Any", value)) == entry.shape
    found = None if is_constant else samples(value, what)
    if found is not None:
        times, values = found
        if values.shape[1:] != entry.shape or len(times) < 2:
            raise UsageError(f"{what} has the shape {entry.shape}, and samples give {len(times)} values of the shape {values.shape[1:]}")
        return _lines(what, times, values), times
    try:
        number = np.broadcast_to(np.asarray(cast("Any", value), dtype=float), entry.shape)
    except (TypeError, ValueError):
        raise UsageError(f"{what} cannot be {told(value)}", hint=_HOW) from None
    return lambda _: number, none


def _lines(what: str, times: FloatArray, values: FloatArray) -> Function:
    def lines(time: float) -> FloatArray:
        # derivatives are taken by differences, also at both ends, where the outer lines go on for that
        margin = _MARGIN * max(abs(time), 1.0)
        if not times[0] - margin <= time <= times[-1] + margin:
            raise UsageError(f"{what} has samples from t = {times[0]:g} to {times[-1]:g}, and is asked for at {time:g}")
        k = int(np.clip(np.searchsorted(times, time) - 1, 0, len(times) - 2))
        part = (time - times[k]) / (times[k + 1] - times[k])
        return (1.0 - part) * values[k] + part * values[k + 1]

    return lines
