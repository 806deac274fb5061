"""The three channels of a session of CSMP-10(ARL) (stage: the language's own method): where a model comes from, where it and the block output go.

The report's logical units are kept as names of what is in use; files are found by their paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Final

from tidegate.csmp.session.commands import ChannelCommand
from tidegate.quick_dataclass import dataclass

__all__ = ["DEBUG_UNIT", "ChannelRefused", "Channels", "SessionChannel", "is_there"]

RECORDING_UNIT: Final = 5  # BOMMP.OUT
DEBUG_UNIT: Final = 12  # DEBUG.OUT, once it is open
_HIGHEST_UNIT: Final = 12
_TERMINAL: Final = "TTY"


class ChannelRefused(Exception):  # noqa: N818, a refusal is answered by a diagnostic
    """A channel command that cannot be carried out.

    Parameters
    ----------
    key : of the diagnostic.
    hint : what to try.
    unit : the logical unit it is about.
    """

    def __init__(self, key: str, hint: str = "", unit: int = 0) -> None:
        super().__init__(key)
        self.key = key
        self.hint = hint
        self.unit = unit


@dataclass
class SessionChannel:
    """One of the three.

    Parameters
    ----------
    heading : how its status line begins.
    suffix : of its files.
    name : of its file, without the suffix; "" for the terminal.
    unit : logical unit, 0 if none was named.
    is_open : the file has been opened by this session, so that it may be written again without a question.
    """

    heading: str
    suffix: str
    name: str = ""
    unit: int = 0
    is_open: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether it is the terminal."""
        return not self.name

    @property
    def file(self) -> str:
        """Name of the file with its suffix."""
        return self.name + self.suffix

    @property
    def status(self) -> str:
        """``MODEL O/P TO LOG3:MODEL.MOD``."""
        if self.is_terminal:
            return f"{self.heading} {_TERMINAL}:"
        return f"{self.heading} LOG{self.unit}:{self.file}" if self.unit else f"{self.heading} {self.file}"

    def path(self, folder: Path) -> Path:
        """Where its file is: as typed, or with a suffix in small letters if only that is there."""
        typed = folder / self.file
        small = folder / (self.name + self.suffix.lower())
        return small if not is_there(typed) and is_there(small) else typed


def is_there(path: Path) -> bool:
    """Whether there is such a file; a name that no file can have is not there."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


@dataclass
class Channels:
    """The channels and the units in use.

    Examples
    --------
    >>> channels = Channels()
    >>> print(channels.change(ChannelCommand("LOG6", "SPRNG", "M", "")).status)
    MODEL O/P TO LOG6:SPRNG.MOD
    """

    model_input: SessionChannel = field(default_factory=lambda: SessionChannel("MODEL I/P FROM", ".MOD"))
    block_output: SessionChannel = field(default_factory=lambda: SessionChannel("BLOCK O/P TO", ".DAT", "OUTPT", 1))
    model_output: SessionChannel = field(default_factory=lambda: SessionChannel("MODEL O/P TO", ".MOD", "MODEL", 3))
    is_debug_open: bool = False

    def all(self) -> tuple[SessionChannel, SessionChannel, SessionChannel]:
        """In the order in which FIL shows them."""
        return self.model_input, self.block_output, self.model_output

    def change(self, command: ChannelCommand) -> SessionChannel:
        """Carry out a channel command; the channel that was changed.

        Raises
        ------
        ChannelRefused
            With the key of the diagnostic; nothing is changed then.
        """
        channel = self._named(command.channel)
        unit, is_terminal = _device(command.device)
        if is_terminal:
            if channel is self.block_output:
                raise ChannelRefused("BLK O/P CANNOT GO TO TTY", "it is no text; TRANS prints it")
            if command.name:
                raise ChannelRefused("SYNTAX ERROR", "TTY:<-I or TTY:<-M; a terminal has no file name")
            self._set(channel, "", 0)
            return channel
        if not command.name:
            raise ChannelRefused("SYNTAX ERROR", "LOGn:name<-channel: the name of the file is missing")
        if "." in Path(command.name).name:
            raise ChannelRefused("EXTENSIONS ALREADY SET", f"the name alone; {channel.suffix} is added")
        if "\0" in command.name or command.name.endswith(("/", "\\")):
            raise ChannelRefused("SYNTAX ERROR", "LOGn:name<-channel: a file has a name")
        if unit and (any(other is not channel and other.unit == unit for other in self.all()) or (unit == DEBUG_UNIT and self.is_debug_open)):
            raise ChannelRefused("LOGICAL UNIT ALREADY IN USE", "another number, or none: name<-channel", unit)
        self._set(channel, command.name, unit)
        return channel

    def to_terminal(self, channel: SessionChannel) -> None:
        """A channel reverts to the terminal."""
        self._set(channel, "", 0)

    def reserve_debug(self) -> None:
        """DEBUG.OUT is opened.

        Raises
        ------
        ChannelRefused
            If a channel has its unit.
        """
        if any(channel.unit == DEBUG_UNIT for channel in self.all()):
            raise ChannelRefused("LOGICAL UNIT ALREADY IN USE", "move that channel to another unit", DEBUG_UNIT)
        self.is_debug_open = True

    def _named(self, text: str) -> SessionChannel:
        by_letter: dict[str, Callable[[], SessionChannel]] = {
            "I": lambda: self.model_input,
            "O": lambda: self.block_output,
            "M": lambda: self.model_output,
        }
        found = by_letter.get(text[:1].upper())
        if found is None:
            raise ChannelRefused("SYNTAX ERROR", "the channel behind the arrow is I, O or M")
        return found()

    def read_from(self, path: Path) -> SessionChannel:
        """Take a file of any suffix as model input."""
        self._set(self.model_input, str(path.with_suffix("")), 0)
        self.model_input.suffix = path.suffix
        return self.model_input

    def _set(self, channel: SessionChannel, name: str, unit: int) -> None:
        channel.name, channel.unit, channel.is_open = name, unit, False
        channel.suffix = ".DAT" if channel is self.block_output else ".MOD"


def _device(text: str) -> tuple[int, bool]:
    """Unit, and whether it is the terminal."""
    if text == _TERMINAL:
        return 0, True
    if not text:
        return 0, False
    unit = re.fullmatch(r"LOG(\d{1,2})", text)
    if unit is None or not 1 <= int(unit[1]) <= _HIGHEST_UNIT or int(unit[1]) == RECORDING_UNIT:
        raise ChannelRefused("ILLEGAL DEVICE NAME", "LOG1 to LOG12 without LOG5, or TTY")
    return int(unit[1]), False
