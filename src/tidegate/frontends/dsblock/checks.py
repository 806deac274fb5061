"""What a description must keep, all of it reported together (DSblock 3.3, the rules for names, shapes, mapping and bounds)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import InvalidModelError
from tidegate.frontends.dsblock.description import Description, ParameterEntry, ParameterKind, SignalKind
from tidegate.model import Form

__all__ = ["MAX_NAME", "MAX_TEXT", "check", "is_name", "problems", "value_problems", "vector_problems"]

MAX_NAME: Final = 31
MAX_TEXT: Final = 132
_MAX_DIMENSIONS: Final = 6
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


def is_name(text: str) -> bool:
    """Whether a signal, a parameter or a block of a connection can be called so."""
    return bool(_NAME.match(text)) and len(text) <= MAX_NAME


def check(described: Description, others: Sequence[str] = ()) -> None:
    """Refuse a description that cannot be.

    Parameters
    ----------
    others : problems that were found already.

    Raises
    ------
    InvalidModelError : naming every problem.
    """
    found = [*others, *problems(described)]
    if found:
        raise InvalidModelError([(f"DSblock {described.name}: {problem}", None) for problem in found])


def problems(described: Description) -> Iterator[str]:
    """Everything that cannot be, a sentence each."""
    entries = (*described.signals, *described.parameters)
    for entry in entries:
        if not is_name(entry.name):
            yield f"{entry.name!r} is no name: a letter, then letters, digits and underscores, at most {MAX_NAME} in all"
        if len(entry.shape) > _MAX_DIMENSIONS or any(length < 1 for length in entry.shape):
            yield f"{entry.name} has the shape {entry.shape}; up to {_MAX_DIMENSIONS} dimensions of at least 1 are possible"
        if len(entry.text) > MAX_TEXT:
            yield f"the text of {entry.name} has {len(entry.text)} letters; at most {MAX_TEXT} are possible"
    for name, count in Counter(entry.name.upper() for entry in entries).items():
        if count > 1:
            yield f"the name {name} is taken {count} times; signals and parameters need different ones, capital letters do not count"
    yield from _parameters(described)
    yield from _sizes(described)


def _parameters(described: Description) -> Iterator[str]:
    for entry in described.parameters:
        limits = entry.limits
        if limits.lower > limits.upper or (limits.lower == limits.upper and (limits.lower_open or limits.upper_open)):
            yield f"{entry.name} has the limits {limits}, between which there is nothing"
            continue
        yield from value_problems(entry, entry.default)


def value_problems(entry: ParameterEntry, values: Sequence[float]) -> Iterator[str]:
    """Why a parameter cannot have these values."""
    for value in values:
        if not math.isfinite(value):
            yield f"{entry.name} = {value}, which is not finite"
        elif entry.kind is ParameterKind.INTEGER and value != int(value):
            yield f"{entry.name} = {value:g}, but it is an integer"
        elif entry.kind is ParameterKind.LOGICAL and value not in (0.0, 1.0):
            yield f"{entry.name} = {value:g}, but it is true or false"
        elif not entry.limits.allow(value):
            yield f"{entry.name} = {value:g}, but {entry.limits} is asked for"


def vector_problems(described: Description, p: Sequence[float] | NDArray[np.float64]) -> Iterator[str]:
    """The same of all parameters: real ones first, then integers, then logical ones."""
    first = 0
    for kind in ParameterKind:
        for entry in described.parameters:
            if entry.kind is kind:
                yield from value_problems(entry, [float(value) for value in p[first : first + entry.size]])
                first += entry.size


def _sizes(described: Description) -> Iterator[str]:
    n_states = described.size(SignalKind.STATE)
    for what, values in (("start values", described.x0), ("start derivatives", described.xd0)):
        if len(values) not in ((n_states,) if what == "start values" else (0, n_states)):
            yield f"{len(values)} {what} for {n_states} states"
        for name, value in zip(described.names(SignalKind.STATE), values, strict=False):
            if not math.isfinite(value):
                yield f"{name} starts with {value}, which is not finite"
    if described.form is not Form.HDAE:
        return
    first, second, third, fourth, fifth = described.parts
    if min(described.parts) < 0 or first + second + third != n_states:
        yield f"F1, F2 and F3 of an HDAE are as many as its {n_states} states, but parts={described.parts} say {first + second + third}"
    if fourth not in (0, third):
        yield f"F4 has {fourth} equations; it has as many as F3, {third}, or none"
    if fifth > fourth and fourth:
        yield f"F5 has {fifth} equations, more than F4"
