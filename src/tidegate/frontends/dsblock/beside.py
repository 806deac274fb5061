"""Runs beside a run of a block, each with one parameter a little different: from them come derivatives that functions alone do not tell.

In: a block whose memory nobody knows. Out: differences. A block may keep in its memory what it has made of its parameters (BLOCKP, BLOCKS), of time
and of states at events (BLOCKV). So a run with p + h goes beside the run with p through all its events, there at the times and with the states that
p + h leads to by the derivatives known so far; d f / d p is then (f with p + h and its memory - f with p - h and its) / 2 h, for whatever f is asked
for. Steps of differences are as usual for central ones, the cube root of the rounding unit times the value (Dennis and Schnabel 1983, section 5.6);
they grow where a trial at the start says that the block's numbers carry more noise than rounding.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import CallbackError, DSblockWarning, SensitivityWarning, TidegateError, UsageError
from tidegate.frontends.dsblock.block import BeginsBeside, Block, Entry, Reply, Run
from tidegate.frontends.dsblock.description import Description
from tidegate.frontends.dsblock.kept import REACH
from tidegate.model.callables import At, Variant
from tidegate.quick_dataclass import dataclass

__all__ = ["Beside", "Happens", "Lowered"]

FloatArray = NDArray[np.float64]
_STEP: Final = float(np.cbrt(np.finfo(float).eps))
_LONGER: Final = (1.0, 10.0, 100.0, 1000.0)  # steps that are tried, as multiples of the usual one
_ROUNDINGS: Final = 8 * np.finfo(float).eps  # of a value that some operations lead to
_AGREE: Final = 1e-6  # derivatives by two steps, relative to the larger: the shorter one will do
_DISAGREE: Final = 1e-3  # then it is said
_PACKAGE: Final = str(Path(__file__).parents[2])
_CENTRAL: Final = ((1.0, 0.5), (-1.0, -0.5))  # places and weights, as parts of a step and of its inverse
_FORWARD: Final = ((0.0, -1.5), (1.0, 2.0), (2.0, -0.5))
_BACKWARD: Final = tuple((-place, -weight) for place, weight in _FORWARD)


class Lowered(Protocol):
    """The functions that call a block (``lower``)."""

    block: Block
    described: Description
    runs: dict[int, Run]
    parameter_names: tuple[str, ...]
    differentiated: frozenset[str]

    def refusal(self, p: FloatArray) -> str:
        """Why parameters cannot have these values."""
        ...

    def new_number(self) -> int:
        """Of a run."""
        ...

    def begun(self, run: Run, reply: Reply, at: At) -> Mapping[str, float]:
        """What a reply at the start gives."""
        ...

    def happened(self, run: Run, at: At, what: Happens) -> Mapping[str, float]:
        """What an event gives."""
        ...


@dataclass(frozen=True, slots=True)
class Happens:
    """A time event, state events with a truth value an indicator, a step event."""

    time: bool
    crossed: NDArray[np.bool_]
    step: bool


@dataclass(frozen=True, eq=False)
class _Begun:
    """Runs of one parameter, one a point of the difference; None where that is the run itself. ``new`` is what each gives at the start."""

    step: float
    points: tuple[tuple[float, float], ...]
    runs: tuple[Run | None, ...]
    new: tuple[Mapping[str, float], ...]
    numbers: tuple[int, ...] = ()

    @property
    def variants(self) -> list[Variant]:
        """The points with the numbers of their runs."""
        return [Variant(place * self.step, weight / self.step, n) for (place, weight), n in zip(self.points, self.numbers, strict=True)]


@dataclass(frozen=True, slots=True)
class _Slope:
    """A derivative by differences, and what rounding may be in it."""

    value: FloatArray
    rounding: FloatArray


@dataclass(eq=False)
class _Family:
    """A run and those beside it: where it began and what it gave there; what happened last and what that gave, None for nothing."""

    number: int
    run: Run
    at: At
    entry: Entry
    new: Mapping[str, float]
    by: dict[int, _Begun] = field(default_factory=dict[int, _Begun])
    last: tuple[Happens, Mapping[str, float]] | None = None


class Beside:
    """See ``model.callables.Beside``.

    Parameters
    ----------
    place : of the number of the run among the discrete variables.
    tell : is told of the runs of a parameter that have begun beside another.
    """

    def __init__(self, lowered: Lowered, place: int, tell: Callable[[Run, int, Sequence[tuple[float, float, Run]]], None]) -> None:
        self._lowered, self.place, self._tell = lowered, place, tell
        self._families: dict[int, _Family] = {}

    # -- what ``lower`` tells -------------------------------------------------------------------------------------------------------------------

    def began(self, number: int, run: Run, at: At, entry: Entry, new: Mapping[str, float]) -> None:
        """A run has begun."""
        self._families[number] = _Family(number, run, at, entry, new)

    def happens(self, number: int, what: Happens | None, new: Mapping[str, float]) -> None:
        """Something has happened in it, or nothing."""
        family = self._families.get(number)
        if family is not None:
            family.last = None if what is None else (what, new)

    def step_begins(self, number: int) -> Iterator[Run]:
        """The runs beside it."""
        family = self._families.get(number)
        return (run for begun in family.by.values() for run in begun.runs if run is not None) if family is not None else iter(())

    def ended(self, number: int, entry: Entry) -> None:
        """It is over."""
        family = self._families.pop(number, None)
        for k, begun in family.by.items() if family is not None else ():
            for (place, _), one, run in zip(begun.points, begun.numbers, begun.runs, strict=True):
                if run is not None:
                    self._lowered.runs.pop(one, None)
                    run.end(replace(entry, p=_moved(entry.p, k, place * begun.step)), is_well=True)

    # -- what derivatives are made of -----------------------------------------------------------------------------------------------------------

    def variants(self, number: float, k: int) -> Sequence[Variant]:
        """Runs with another parameter k; none where the run did not begin here."""
        family = self._families.get(round(number))
        begun = None if family is None else family.by.get(k)
        return () if begun is None else begun.variants

    def opened(self, number: float, k: int) -> Sequence[tuple[float, Mapping[str, float]]]:
        """They begin; what each gives at the start, with its weight."""
        family = self._families[round(number)]
        if k not in family.by:
            found = self._chosen(family, k)
            numbers = tuple(family.number if run is None else self._lowered.new_number() for run in found.runs)
            found = family.by[k] = replace(found, numbers=numbers)
            self._lowered.runs.update({n: run for n, run in zip(numbers, found.runs, strict=True) if run is not None})
            entries = zip(found.variants, found.runs, strict=True)
            self._tell(family.run, k, [(variant.offset, variant.weight, run or family.run) for variant, run in entries])
        begun = family.by[k]
        return [(weight / begun.step, self._of_derivatives(new)) for (_, weight), new in zip(begun.points, begun.new, strict=True)]

    def happened(self, number: float, k: int, along: Callable[[Variant], At]) -> Sequence[tuple[float, At, Mapping[str, float]]]:
        """What the last event gives in each of them, with its weight and point; nothing if nothing has happened."""
        family = self._families[round(number)]
        if family.last is None:
            return ()
        what, new = family.last
        found: list[tuple[float, At, Mapping[str, float]]] = []
        for variant, run in zip(family.by[k].variants, family.by[k].runs, strict=True):
            at = along(variant)
            gives = new if run is None else self._lowered.happened(run, at, what)
            self._require_same(k, at.time, new, gives)
            found.append((variant.weight, at, self._of_derivatives(gives)))
        return found

    def _of_derivatives(self, new: Mapping[str, float]) -> dict[str, float]:
        return {name: value for name, value in new.items() if name in self._lowered.differentiated}

    def _require_same(self, k: int, time: float, new: Mapping[str, float], other: Mapping[str, float]) -> None:
        """Refuse derivatives where another value of the parameter leads to another decision at an event."""
        kept = self._lowered.differentiated
        decided = {name for name in (*new, *other) if name not in kept and name != REACH and new.get(name) != other.get(name)}
        lost = {name for name in kept if math.isfinite(new.get(name, 0.0)) != math.isfinite(other.get(name, 0.0))}
        if decided or lost:
            name = self._lowered.parameter_names[k]
            raise CallbackError(
                f"at t = {time:.9g} DSblock {self._lowered.described.name} decides otherwise where {name} is a little different "
                f"({', '.join(sorted(decided | lost))}), so that there is no derivative by it", time=time,
                hint=f"another value of {name}, or none of it in sensitivities=",
            )  # fmt: skip

    # -- how far the differences go ---------------------------------------------------------------------------------------------------------------

    def _chosen(self, family: _Family, k: int) -> _Begun:
        """Runs of parameter k, with the step whose derivatives at the start agree best with those of the next longer one."""
        p, name = family.entry.p, self._lowered.parameter_names[k]
        tried: list[_Begun] = []
        slopes: list[_Slope] = []
        for longer in _LONGER:
            begun = self._with_step(family, k, longer * _STEP * (abs(float(p[k])) or 1.0))
            if begun is None:
                break
            tried.append(begun)
            slopes.append(self._slope(family, begun, k))
            if len(tried) > 1 and _apart(*slopes[-2:]) <= _AGREE:
                break
        if not tried:
            raise UsageError(
                f"DSblock {self._lowered.described.name} allows no value of {name} a little larger or smaller than {p[k]:g}, so that there is no "
                "derivative by it", hint="leave it out of sensitivities=",
            )  # fmt: skip
        apart = [_apart(*pair) for pair in itertools.pairwise(slopes)] or [0.0]
        best = int(np.argmin(apart))
        if apart[best] > _DISAGREE:
            warnings.warn(
                f"derivatives of DSblock {self._lowered.described.name} by {name} are differences, and those with two steps differ by "
                f"{apart[best]:.1g} of their value", SensitivityWarning, skip_file_prefixes=(_PACKAGE,),
            )  # fmt: skip
        for j, begun in enumerate(tried):
            if j != best:
                self._give_up(family, k, begun.step, zip(begun.points, begun.runs, strict=True))
        return tried[best]

    def _with_step(self, family: _Family, k: int, wanted: float) -> _Begun | None:
        p = family.entry.p
        step = float((p[k] + wanted) - p[k])
        for points in (_CENTRAL, _FORWARD, _BACKWARD):
            if any(self._lowered.refusal(_moved(p, k, place * step)) for place, _ in points):
                continue
            runs: list[Run | None] = []
            new: list[Mapping[str, float]] = []
            try:
                for place, _ in points:
                    run, gives = self._one(family, _moved(p, k, place * step)) if place else (None, family.new)
                    runs.append(run)
                    new.append(gives)
            except UsageError:  # the block refuses it
                self._give_up(family, k, step, zip(points, runs, strict=False))
                continue
            return _Begun(step, points, tuple(runs), tuple(new))
        return None

    def _one(self, family: _Family, p: FloatArray) -> tuple[Run, Mapping[str, float]]:
        block, entry = self._lowered.block, replace(family.entry, p=p)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DSblockWarning)  # the run itself has said it
            run, reply = block.begin_beside(entry) if isinstance(block, BeginsBeside) else block.begin(entry)
        return run, self._lowered.begun(run, reply, replace(family.at, p=p))

    def _slope(self, family: _Family, begun: _Begun, k: int) -> _Slope:
        """The derivative of what is computed at the start."""
        found: FloatArray = np.zeros(0)
        rounding: FloatArray = np.zeros(0)
        for (place, weight), run in zip(begun.points, begun.runs, strict=True):
            entry = replace(family.entry, p=_moved(family.entry.p, k, place * begun.step))
            try:
                value = self._at_start(run or family.run, entry)
            except TidegateError:
                return _Slope(np.zeros(0), np.zeros(0))  # the run will say what is wrong
            if not len(found):
                found, rounding = np.zeros(len(value)), np.zeros(len(value))
            found = found + weight / begun.step * value
            rounding = rounding + _ROUNDINGS * abs(weight) / begun.step * np.abs(value)
        return _Slope(found, rounding)

    def _at_start(self, run: Run, entry: Entry) -> FloatArray:
        described = self._lowered.described
        parts = tuple(size > 0 for size in described.parts)
        found = [run.equations(entry, parts) if any(parts) else run.equations(entry)] if len(entry.x) else []
        if entry.n_indicators:
            found.append(run.indicators(entry)[: entry.n_indicators])
        return np.concatenate([*found, np.zeros(0)])

    def _give_up(self, family: _Family, k: int, step: float, runs: Iterator[tuple[tuple[float, float], Run | None]]) -> None:
        for (place, _), run in runs:
            if run is not None:
                run.end(replace(family.entry, p=_moved(family.entry.p, k, place * step)), is_well=True)


def _moved(p: FloatArray, k: int, offset: float) -> FloatArray:
    """Parameters with another k."""
    new = p.copy()
    new[k] += offset
    return new


def _apart(one: _Slope, other: _Slope) -> float:
    """How far two derivatives are apart, relative to the larger; what rounding explains does not count."""
    if one.value.shape != other.value.shape or not len(one.value):
        return 0.0
    size = float(np.max(np.maximum(np.abs(one.value), np.abs(other.value))))
    apart = np.abs(one.value - other.value) - one.rounding - other.rounding
    return max(float(np.max(apart)), 0.0) / size if 0.0 < size < math.inf else 0.0
