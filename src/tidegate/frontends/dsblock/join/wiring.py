"""Which signal drives which input of a connection. In: blocks by name, links as they were written; out: a ``Wiring``, or every problem at once.

Source: Otter, DSblock 3.3 (DLR 1994), BLO3UX and the rules for signals: outputs alone can be connected, auxiliary variables are only stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import InvalidModelError, UsageError
from tidegate.frontends.dsblock.block import Block
from tidegate.frontends.dsblock.checks import MAX_NAME, is_name
from tidegate.frontends.dsblock.description import Description, SignalEntry, SignalKind, element_names
from tidegate.names import listed, suggestion
from tidegate.quick_dataclass import dataclass

__all__ = ["OUTSIDE", "Outer", "Part", "Wiring", "wiring"]

OUTSIDE: Final = -1  # the place of a part where an input comes from outside
_NO_DRIVER: Final = -2
_A_NAME: Final = f"a letter, then letters, digits and underscores, at most {MAX_NAME} in all"
_WORDS: Final = {
    SignalKind.STATE: "a state", SignalKind.INPUT: "an input", SignalKind.OUTPUT: "an output", SignalKind.INDICATOR: "an indicator",
    SignalKind.AUXILIARY: "an auxiliary variable, which is only recorded",
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One block of a connection under its name there."""

    name: str
    block: Block

    @property
    def described(self) -> Description:
        """What it says of itself."""
        return self.block.description


@dataclass(frozen=True)
class Outer:
    """A signal that a connection shows: its name, and an entry whose text, unit and shape it has."""

    name: str
    like: SignalEntry
    part: int = OUTSIDE
    elements: tuple[int, ...] = ()  # in the outputs of that part


@dataclass(frozen=True)
class Wiring:
    """Where every element of every input comes from.

    Parameters
    ----------
    driver : a part each, for every element of its U the part whose output it is; ``OUTSIDE`` where it comes from outside.
    element : likewise, the element of Y there, or of the connection's U.
    inputs : of the connection.
    outputs : of the connection; of these other blocks can be driven in turn.
    """

    parts: tuple[Part, ...]
    driver: tuple[NDArray[np.intp], ...]
    element: tuple[NDArray[np.intp], ...]
    inputs: tuple[Outer, ...]
    outputs: tuple[Outer, ...]

    def input_name(self, part: int, element: int) -> str:
        """What an element of an input is called."""
        one = self.parts[part]
        return f"{one.name}.{one.described.names(SignalKind.INPUT)[element]}"

    def link(self, part: int, element: int) -> str:
        """A link as it was written."""
        source = self.parts[int(self.driver[part][element])]
        return f"{self.input_name(part, element)} = {source.name}.{source.described.names(SignalKind.OUTPUT)[int(self.element[part][element])]}"


def wiring(parts: Sequence[Part], links: Mapping[str, str], inputs: Mapping[str, Any] | None, outputs: Any) -> Wiring:
    """Every input with what drives it.

    Parameters
    ----------
    links : by input the output that drives it: ``{"two.U": "one.Y"}``; of arrays also single elements, ``"two.U[1]"``.
    inputs : inputs of the connection by name, each with one or several inputs that it drives. Others that nothing drives stay inputs.
    outputs : outputs of the connection, by new names or a list; None for all of them.

    Raises
    ------
    InvalidModelError : naming every problem.
    """
    return _Wired(parts).of(links, inputs or {}, outputs)


@dataclass(frozen=True)
class _Found:
    """What a name stands for."""

    name: str
    part: int
    entry: SignalEntry
    elements: tuple[int, ...]
    shape: tuple[int, ...]


class _Wired:
    """Collects links and problems."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        self.problems: list[str] = []
        sizes = [part.described.size(SignalKind.INPUT) for part in parts]
        self.driver = [np.full(size, _NO_DRIVER, dtype=np.intp) for size in sizes]
        self.element = [np.zeros(size, dtype=np.intp) for size in sizes]
        self.said = [[""] * size for size in sizes]  # what drives an element, as it was written

    def of(self, links: Any, inputs: Any, outputs: Any) -> Wiring:
        self._check_part_names()
        for what, given in (("links", links), ("inputs", inputs)):
            if not isinstance(given, Mapping):
                raise UsageError(f"{what} are {type(given).__name__}, not a dict", hint='by input what drives it: {"two.U": "one.Y"}')
        for target, source in links.items():
            self._link(target, source)
        outer = self._named_inputs(inputs)
        shown = self._outputs(outputs)
        outer += self._left_over(sum(one.like.size for one in outer))
        if self.problems:
            raise InvalidModelError([(f"connection: {problem}", None) for problem in self.problems])
        return Wiring(self.parts, tuple(self.driver), tuple(self.element), tuple(outer), tuple(shown))

    def _check_part_names(self) -> None:
        seen: set[str] = set()
        for part in self.parts:
            if not is_name(part.name):
                self.problems.append(f"{part.name!r} is no name of a block: {_A_NAME}")
            if part.name.upper() in seen:
                self.problems.append(f"two blocks are called {part.name}; capital letters do not count")
            seen.add(part.name.upper())

    # -- names ------------------------------------------------------------------------------------------------------------------------------------

    def _find(self, written: object, wanted: SignalKind, where: str) -> _Found | None:
        """The signal of this name; a problem is noted, unless it is a signal of the wanted kind."""
        if not isinstance(written, str) or "." not in written:
            self.problems.append(f"{where}: {written!r} is no signal of a block; write block.SIGNAL, as {self._an_example(wanted)}")
            return None
        owner, name = written.split(".", 1)
        number = next((k for k, part in enumerate(self.parts) if part.name.upper() == owner.upper()), None)
        if number is None:
            known = [part.name for part in self.parts]
            self.problems.append(f"{where}: there is no block {owner!r}; {suggestion(owner, known, f'there is {listed(known)}')}")
            return None
        described = self.parts[number].described
        name = name.replace(" ", "")
        bare = name.split("[", 1)[0] if name.endswith("]") else name
        entry = described.by_name.get(name.upper()) or described.by_name.get(bare.upper())
        if entry is None:
            known = [f"{owner}.{one.name}" for one in described.of_kind(wanted)]
            there = f"{owner} has {listed(known)}" if known else f"{owner} has no {wanted.name.lower()}s"
            self.problems.append(f"{where}: {owner} has no signal {name!r}; {suggestion(f'{owner}.{bare}', known, there)}")
            return None
        if not isinstance(entry, SignalEntry) or entry.kind is not wanted:
            what = _WORDS[entry.kind] if isinstance(entry, SignalEntry) else "a parameter"
            self.problems.append(f"{where}: {written} is {what}; {_WORDS[wanted]} is wanted")
            return None
        if name.upper() == entry.name.upper():
            return _Found(f"{self.parts[number].name}.{entry.name}", number, entry, tuple(range(entry.first, entry.first + entry.size)), entry.shape)
        elements = element_names(entry.name.upper(), entry.shape)
        if name.upper() not in elements:
            self.problems.append(f"{where}: {entry.name} has the shape {entry.shape}, and no element {name[len(bare) :]}; indices begin at 0")
            return None
        place = elements.index(name.upper())
        return _Found(f"{self.parts[number].name}.{entry.name}{name[len(bare) :]}", number, entry, (entry.first + place,), ())

    def _an_example(self, wanted: SignalKind) -> str:
        for part in self.parts:
            for entry in part.described.of_kind(wanted):
                return f"{part.name}.{entry.name}"
        return "block.SIGNAL"

    # -- links ------------------------------------------------------------------------------------------------------------------------------------

    def _link(self, target: object, source: object) -> None:
        where = f"link {target!s} = {source!s}"
        before = len(self.problems)
        driven, driving = self._find(target, SignalKind.INPUT, where), self._find(source, SignalKind.OUTPUT, where)
        if driven is None or driving is None:
            if len(self.problems) == before + 2:
                self._turned_round(target, source, before)
            return
        if driven.shape != driving.shape:
            self.problems.append(f"{where}: {driven.name} has the shape {driven.shape}, {driving.name} has {driving.shape}")
            return
        self._drive(driven, driving.part, driving.elements, driving.name)

    def _turned_round(self, target: object, source: object, before: int) -> None:
        """A link whose sides were exchanged is one problem."""
        noted = self.problems[before:]
        del self.problems[before:]
        where = f"link {target!s} = {source!s}"
        if self._find(source, SignalKind.INPUT, where) and self._find(target, SignalKind.OUTPUT, where):
            noted = [f"{where}: {target} is an output; a link is written {{input: output}}, here {{{source!r}: {target!r}}}"]
        self.problems[before:] = noted

    def _drive(self, driven: _Found, part: int, elements: Sequence[int], source: str) -> None:
        drivers, said = self.driver[driven.part], self.said[driven.part]
        taken = sorted({said[k] for k in driven.elements if drivers[k] != _NO_DRIVER})
        if taken:
            self.problems.append(f"{driven.name} is driven by {listed(taken)} and by {source}; an input has one driver")
            return
        drivers[list(driven.elements)] = part
        self.element[driven.part][list(driven.elements)] = elements
        for k in driven.elements:
            said[k] = source

    # -- what a connection shows ------------------------------------------------------------------------------------------------------------------

    def _named_inputs(self, inputs: Mapping[str, Any]) -> list[Outer]:
        outer: list[Outer] = []
        first, seen = 0, set[str]()
        for name, targets in inputs.items():
            if not self._is_new(name, seen, "input"):
                continue
            wanted = [targets] if isinstance(targets, str) else list(targets)
            found = [one for target in wanted if (one := self._find(target, SignalKind.INPUT, f"input {name}"))]
            if not wanted:
                self.problems.append(f"input {name} drives nothing")
            if not found:
                continue
            if len({one.shape for one in found}) > 1:
                self.problems.append(f"input {name} drives inputs of several shapes: {listed(f'{one.name} {one.shape}' for one in found)}")
                continue
            size = len(found[0].elements)
            for one in found:
                self._drive(one, OUTSIDE, range(first, first + size), f"the input {name}")
            first += size
            like = found[0].entry
            outer.append(Outer(name, SignalEntry(name, SignalKind.INPUT, found[0].shape, 0, like.text, like.unit)))
        return outer

    def _is_new(self, name: str, seen: set[str], what: str) -> bool:
        if not is_name(name):
            self.problems.append(f"{name!r} is no name of an {what}: {_A_NAME}")
            return False
        if name.upper() in seen:
            self.problems.append(f"two {what}s are called {name}; capital letters do not count")
            return False
        seen.add(name.upper())
        return True

    def _left_over(self, first: int) -> list[Outer]:
        """Inputs that nothing drives: whole ones under their names, else element by element."""
        outer: list[Outer] = []
        for number, part in enumerate(self.parts):
            for entry in part.described.of_kind(SignalKind.INPUT):
                free = np.flatnonzero(self.driver[number][entry.places] == _NO_DRIVER)
                if not len(free):
                    continue
                names = element_names(entry.name, entry.shape)
                whole = len(free) == entry.size
                for name, shape, places in [(entry.name, entry.shape, free)] if whole else [(names[k], (), [k]) for k in free]:
                    like = SignalEntry(f"{part.name}.{name}", SignalKind.INPUT, shape, 0, entry.text, entry.unit)
                    outer.append(Outer(like.name, like))
                    where = entry.first + np.asarray(places)
                    self.driver[number][where] = OUTSIDE
                    self.element[number][where] = first + np.arange(len(places))
                    first += len(places)
        return outer

    def _outputs(self, outputs: Any) -> list[Outer]:
        if outputs is None:
            every = [(number, part, entry) for number, part in enumerate(self.parts) for entry in part.described.of_kind(SignalKind.OUTPUT)]
            return [_shown(f"{part.name}.{entry.name}", number, entry) for number, part, entry in every]
        shown: list[Outer] = []
        seen: set[str] = set()
        for name, written in _pairs(outputs):
            if name is not None and not self._is_new(name, seen, "output"):
                continue
            found = self._find(written, SignalKind.OUTPUT, f"output {written if name is None else name}")
            if found is not None:
                like = SignalEntry(name or found.name, SignalKind.OUTPUT, found.shape, 0, found.entry.text, found.entry.unit)
                shown.append(Outer(like.name, like, found.part, found.elements))
        repeated = {one.name for one in shown if [other.name.upper() for other in shown].count(one.name.upper()) > 1}
        self.problems += [f"output {name} is named twice" for name in sorted(repeated)]
        return shown


def _pairs(outputs: Any) -> list[tuple[str | None, object]]:
    """New names and outputs, or outputs alone."""
    if isinstance(outputs, Mapping):
        return [(str(name), written) for name, written in cast("Mapping[object, object]", outputs).items()]
    return [(None, written) for written in ([outputs] if isinstance(outputs, str) else cast("Sequence[object]", outputs))]


def _shown(name: str, part: int, entry: SignalEntry) -> Outer:
    like = SignalEntry(name, SignalKind.OUTPUT, entry.shape, 0, entry.text, entry.unit)
    return Outer(name, like, part, tuple(range(entry.first, entry.first + entry.size)))
