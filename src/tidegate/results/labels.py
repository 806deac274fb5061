"""Names and numbers as people read them (stage: results). In go names and values, out come sentences and short texts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from tidegate.names import Spelling, unknown_name

__all__ = ["FinalValues", "ParameterValues", "number", "seconds"]


class _Values(dict[str, float]):
    """Values by name; truth values are ``True`` and ``False``."""

    def with_truths(self, names: Iterable[str]) -> Self:
        """The same, where what has one of these names is a truth value; NaN, of what is not there, stays."""
        for name in names:
            if self.get(name) in (0.0, 1.0):
                self[name] = bool(self[name])
        return self


class FinalValues(_Values):
    """Values by name, of an array by element or as a whole; a name which is not there is answered with those that are.

    Examples
    --------
    >>> FinalValues({"x": 1.0, "on": 0.0}).with_truths(["on"])
    {'x': 1.0, 'on': False}
    """

    spelled = Spelling(())

    def __missing__(self, name: str) -> Any:
        spelled = self.spelled(name)
        if spelled != name:
            return self[spelled]
        elements = [key for key in self if isinstance(name, str) and key.startswith(f"{name}[") and key.endswith("]")]  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        if not elements:
            raise unknown_name("variable", name, list(self))
        places = [tuple(map(int, key[len(name) + 1 : -1].split(","))) for key in elements]
        are_truths = all(isinstance(self[key], bool) for key in elements)
        whole = np.empty([1 + max(axis) for axis in zip(*places, strict=True)], dtype=bool if are_truths else float)
        for key, place in zip(elements, places, strict=True):
            whole[place] = self[key]
        return whole


class ParameterValues(_Values):
    """Values of parameters by name, likewise."""

    def __missing__(self, name: str) -> float:
        raise unknown_name("parameter", name, list(self))


def number(value: float, digits: int = 6) -> str:
    """A number in few characters: ``12`` for 12.0, ``1e-9`` for 1e-09, ``True`` for a truth value.

    Examples
    --------
    >>> number(12.0), number(1e-9), number(0.1 + 0.2)
    ('12', '1e-9', '0.3')
    """
    if isinstance(value, bool) or not math.isfinite(value):
        return str(value)
    text = f"{value + 0.0:.{digits}g}"  # a zero has no sign
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent)}"


def seconds(duration: float) -> str:
    """A duration with the unit that suits it.

    Examples
    --------
    >>> seconds(0.0123), seconds(75.0)
    ('12.3 ms', '75 s')
    """
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if duration < limit:
            return f"{number(duration * factor, 3)} {unit}"
    return f"{number(duration, 3)} s"
