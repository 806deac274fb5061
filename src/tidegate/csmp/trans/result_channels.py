"""Which columns of a result are wanted (stage: output program). In go numbers, names or labels, out come channels with what is written above them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from tidegate.errors import UsageError
from tidegate.names import unknown_name
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result

__all__ = ["EVERY", "TIME", "ResultChannel", "channels_of", "chosen_channels", "listed"]

EVERY: Final = ("A", "ALL")  # stands for all columns
TIME: Final = -1  # the column of a channel that shows the time itself; block 1 of a block diagram

_BLOCK: Final = re.compile(r"^block ?(?P<number>\d+)\b")  # in a description, or as the name of a block without a label
_SEPARATOR: Final = re.compile(r"\s*,\s*(?![^\[\]]*\])")  # no comma inside A[1,2]


@dataclass(frozen=True, slots=True)
class ResultChannel:
    """One column of a table, or one curve.

    Parameters
    ----------
    column : index in the result's columns; ``TIME`` for time.
    name : of the column.
    label : what people call it; the name unless it was given another.
    number : of the block that gave it; 0 where there is none.
    unit : "" where there is none.
    """

    column: int
    name: str
    label: str
    number: int = 0
    unit: str = ""

    @property
    def heading(self) -> str:
        """As on the terminal: a block by its number, anything else by its label."""
        return f"BLK# {self.number}" if self.number else self.label

    @property
    def full_label(self) -> str:
        """As in pictures and in tables for other programs: the label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


def channels_of(result: Result, labels: Mapping[int, str] | None = None) -> list[ResultChannel]:
    """All columns of a result as channels.

    Parameters
    ----------
    result : of any run. A column whose description begins with ``block 9``, or whose name is ``block9``, is block 9 of a
        block diagram.
    labels : other labels, by the index of the column.
    """
    channels: list[ResultChannel] = []
    for i, column in enumerate(result.columns):
        if column.is_hidden:
            continue
        block = _BLOCK.match(column.description) or _BLOCK.fullmatch(column.name)
        channels.append(ResultChannel(i, column.name, (labels or {}).get(i, column.name), int(block["number"]) if block else 0, column.unit))
    return channels


def listed(text: str) -> list[str]:
    """The items of a list that commas separate, as an option of the command line has it.

    Examples
    --------
    >>> listed("9, Y DOT,A[1,2]")
    ['9', 'Y DOT', 'A[1,2]']
    """
    return [item for item in _SEPARATOR.split(text.strip()) if item]


def chosen_channels(result: Result, wanted: Sequence[str], labels: Mapping[int, str] | None = None) -> list[ResultChannel]:
    """The channels that somebody asked for, in that order.

    Parameters
    ----------
    result : of any run.
    wanted : numbers of blocks, names of variables (of an array all its elements) or labels; in whatever case if that is not ambiguous. An item of
        several words that is none of these is taken word by word. ``A`` or ``ALL`` alone stands for
        every column, unless one is called so.
    labels : other labels, by the index of the column.

    Raises
    ------
    UsageError
        For what is not there; ``BLK 7 NOT USED`` for a number.

    Examples
    --------
    >>> from tidegate.results import Column
    >>> result = Result("spring", [Column("Y", description="block 9"), Column("Y DOT", description="block 48")], [0.0], [[1.0, 2.0]])
    >>> [channel.heading for channel in chosen_channels(result, ["48", "y"])]
    ['BLK# 48', 'BLK# 9']
    """
    every = channels_of(result, labels)
    found: list[ResultChannel] = []
    for item in wanted:
        if len(wanted) == 1 and item.upper() in EVERY and not any(item in (channel.name, channel.label) for channel in every):
            return every
        whole = _matching(result, every, item)
        if not whole:
            words = item.split()
            for word in words:
                channels = _matching(result, every, word) if len(words) > 1 else []
                if not channels:
                    raise _unknown(result, every, word)
                found.extend(channels)
        found.extend(whole)
    return found


def _matching(result: Result, every: Sequence[ResultChannel], item: str) -> list[ResultChannel]:
    if item.isdecimal():
        numbered = [channel for channel in every if channel.number == int(item)]
        if numbered:
            return numbered[:1]
        if int(item) == 1 and any(channel.number for channel in every):
            return [ResultChannel(TIME, "time", "TIME", 1, result.time_unit)]
    groups = {group.name: group.columns for group in result.groups}
    if item in groups:
        return [channel for channel in every if channel.column in groups[item]]
    exact = [channel for channel in every if item in (channel.name, channel.label)]
    if exact:
        return exact[:1]
    folded = [channel for channel in every if item.casefold() in (channel.name.casefold(), channel.label.casefold())]
    if len(folded) == 1:
        return folded
    return [ResultChannel(TIME, "time", "TIME", 0, result.time_unit)] if item.casefold() == "time" else []


def _unknown(result: Result, every: Sequence[ResultChannel], item: str) -> UsageError:
    numbers = [channel.number for channel in every if channel.number]
    if item.isdecimal() and numbers:
        return UsageError(f"BLK {item} NOT USED", hint=f"one of {', '.join(map(str, numbers))}, or A for all")
    return unknown_name(
        "variable", item, [text for channel in every for text in (channel.name, channel.label)], of=f"the result of {result.model_name}"
    )
