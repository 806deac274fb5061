"""A model file taken to sections. In goes the text of a file, with headings or bare; out come the lines of each section with their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from tidegate.csmp.language.fields import split
from tidegate.quick_dataclass import dataclass

__all__ = ["HEADINGS", "Section", "SectionKind", "sections_of"]

SectionKind = Literal["CON", "PAR", "FUN", "CONTROL"]

# The old reader looks for the first three and skips everything else, so that CONTROL is ours alone.
HEADINGS: Final[dict[str, SectionKind]] = {"CONFIGURATIONS": "CON", "PARAMETERS": "PAR", "FUNCTIONS": "FUN", "CONTROL": "CONTROL"}

_HEADING: Final = re.compile(r"\s*(CONFIGURATIONS|PARAMETERS|FUNCTIONS|CONTROL)\s*:\s*", re.IGNORECASE)
_COLUMNS: Final = re.compile(r"\s*BLK\s*,?\s*(TYPE|P1)\b.*", re.IGNORECASE)
_BLOCK: Final = re.compile(r"\s*BLK\s*NO\.?\s*=?\s*(.*)", re.IGNORECASE)
_PAIRS: Final = re.compile(r"\s*COORD\s*PAIRS\s*:\s*", re.IGNORECASE)

type Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a model file.

    Parameters
    ----------
    kind : whose statements it holds.
    line : number of the line where it begins, from 1.
    lines : its statements with their line numbers, as they are typed; functions with the empty lines that end them.
    title : that stands with the configurations.
    """

    kind: SectionKind
    line: int
    lines: tuple[Line, ...]
    title: str = ""


def sections_of(text: str) -> list[Section]:
    r"""The sections of a model file, in the order of the file.

    A file without headings has title, configurations, parameters and functions one behind the other, each set ended by an empty line.

    >>> [section.kind for section in sections_of("DECAY\n2 T1\n\n2 1 .5\n\n")]
    ['CON', 'PAR']
    """
    lines = list(enumerate(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").split("\n"), start=1))
    main = [_heading(content) for _, content in lines]
    if any(kind in {"CON", "PAR", "FUN"} for kind in main):
        return list(_headed(lines))
    return list(_bare(lines))


def _heading(content: str) -> SectionKind | None:
    found = _HEADING.fullmatch(content)
    return HEADINGS[found[1].upper()] if found else None


def _headed(lines: list[Line]) -> Iterator[Section]:
    place = 0
    while place < len(lines):
        number, content = lines[place]
        kind = _heading(content)
        place += 1
        if kind is None:
            continue
        title = ""
        if kind == "CON" and place < len(lines) and not _has_no_title(lines, place):
            # whatever stands here is the title, even if it looks like a heading
            title = lines[place][1].strip()
            place += 1
        if kind in {"CON", "PAR"} and place < len(lines) and _COLUMNS.fullmatch(lines[place][1]):
            place += 1
        taken = _function_lines(lines, place) if kind == "FUN" else _set_of_lines(lines, place)
        place = taken.after
        yield Section(kind, number, tuple(taken.lines), title)


def _has_no_title(lines: list[Line], place: int) -> bool:
    """Whether the line of column names stands where the title should be."""
    following = lines[place + 1][1] if place + 1 < len(lines) else ""
    return bool(_COLUMNS.fullmatch(lines[place][1])) and not _COLUMNS.fullmatch(following)


def _bare(lines: list[Line]) -> Iterator[Section]:
    if not any(content.strip() for _, content in lines):
        return
    configurations = _set_of_lines(lines, 1)
    yield Section("CON", 1, tuple(configurations.lines), lines[0][1].strip())
    if configurations.after >= len(lines):
        return
    parameters = _set_of_lines(lines, configurations.after)
    yield Section("PAR", configurations.after + 1, tuple(parameters.lines))
    functions = _function_lines(lines, parameters.after)
    if functions.lines:
        yield Section("FUN", parameters.after + 1, tuple(functions.lines))
    for place in range(functions.after, len(lines)):
        if _heading(lines[place][1]) == "CONTROL":
            yield Section("CONTROL", place + 1, tuple(_set_of_lines(lines, place + 1).lines))
            return


@dataclass(frozen=True, slots=True)
class _Taken:
    """Lines of a set, and the place behind it."""

    lines: list[Line]
    after: int


def _set_of_lines(lines: list[Line], place: int) -> _Taken:
    """Lines up to the one that ends the set, or up to a heading where that is missing."""
    taken: list[Line] = []
    while place < len(lines) and _heading(lines[place][1]) is None:
        if split(lines[place][1]).is_empty:
            return _Taken(taken, place + 1)
        taken.append(lines[place])
        place += 1
    return _Taken(taken, place)


def _function_lines(lines: list[Line], place: int) -> _Taken:
    """Lines of functions as they are typed: number, pairs, an empty line, and again."""
    taken: list[Line] = []
    is_number_next = True
    while place < len(lines) and _heading(lines[place][1]) is None:
        number, content = lines[place]
        named = _BLOCK.fullmatch(content)
        statement = named[1] if named else content
        place += 1
        if _PAIRS.fullmatch(content):
            continue
        if split(statement).is_empty:
            if is_number_next:
                return _Taken(taken, place)
            taken.append((number, ""))
            is_number_next = True
            continue
        if named and not is_number_next:
            taken.append((number, ""))
        taken.append((number, statement))
        is_number_next = False
    return _Taken(taken, place)
