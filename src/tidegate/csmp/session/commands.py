"""Lines of commands of CSMP-10(ARL) taken apart (stage: the language's own method). In goes what was typed at the ``*``, out come commands."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from tidegate.names import close_names
from tidegate.quick_dataclass import dataclass

__all__ = ["NO_LONGER_VALID", "ChannelCommand", "Command", "Unreadable", "Word", "read_commands"]


class Word(StrEnum):
    """The commands; three letters of each are enough."""

    TITLE = "TITLE"
    CONFIGURATION = "CONFIGURATION"
    PARAMETER = "PARAMETER"
    FUNCTION = "FUNCTION"
    INTEGRATION = "INTEGRATION"
    OUTPUT = "OUTPUT"
    GOE = "GOE"
    RUN = "RUN"
    STORE = "STORE"
    LOOK = "LOOK"
    DEBUG = "DEBUG"
    RETAIN = "RETAIN"
    FILE = "FILE"
    PROGRAM = "PROGRAM"
    MANUAL = "MANUAL"
    EXIT = "EXIT"
    SORT = "SORT"
    HELP = "HELP"


# Words of the monitor and the loader, which set up the program of 1976 and its devices. The report does not name the commands of earlier versions.
NO_LONGER_VALID: Final = {
    "ASS": "name the file in a channel command: LOG6:folder/name<-M",
    "LOA": "name a module with user routines when you start: tidegate csmp --user MODULE.py",
    "SAV": "the model is stored by STO",
    "SIZ": "arrays grow as they need to; limits are set by: tidegate csmp --sizes",
}

_BY_LETTERS: Final = {word.value[:3]: word for word in Word}
_ARROW: Final = re.compile(r"<-|←")
_OLD_ARROW: Final = re.compile(r"_(?=[^_]*$)")  # ASCII of 1963 had an arrow there; a name may hold others before it
_DEVICE: Final = re.compile(r"\s*([A-Za-z]+)(\d*)\s*:")


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Parameters
    ----------
    word : which.
    text : as typed.
    rest : what is typed behind it; only HELP takes something.
    """

    word: Word
    text: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class ChannelCommand:
    """``LOGn:name<-channel``, or ``name<-channel``, or ``TTY:<-channel``, in parts; nothing is checked yet.

    Parameters
    ----------
    device : ``"LOG6"``, ``"TTY"`` or whatever stands before the colon; "" if nothing does.
    name : of the file.
    channel : what stands behind the arrow.
    text : as typed.
    """

    device: str
    name: str
    channel: str
    text: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No command.

    Parameters
    ----------
    key : of the diagnostic: ``"COMMAND ERROR"``, ``"COMMAND NO LONGER VALID"``, ``"SYNTAX ERROR"``.
    text : as typed.
    hint : what to try.
    """

    key: str
    text: str
    hint: str = ""


def read_commands(line: str) -> list[Command | ChannelCommand | Unreadable]:
    """The commands of a line, in turn.

    Parameters
    ----------
    line : commands separated by ``;``; what follows a ``$`` is a comment.

    Examples
    --------
    >>> [command.text for command in read_commands("int; out ;GOE $ once more")]
    ['int', 'out', 'GOE']
    >>> read_commands("LOG6:SPRNG<-M")[0]
    ChannelCommand(device='LOG6', name='SPRNG', channel='M', text='LOG6:SPRNG<-M')
    """
    pieces = (piece.strip() for piece in line.partition("$")[0].split(";"))
    return [_read(piece) for piece in pieces if piece]


def _read(text: str) -> Command | ChannelCommand | Unreadable:
    arrow = _ARROW.search(text) or _OLD_ARROW.search(text)
    first = re.match(r"[A-Za-z]*", text)
    letters = first[0].upper() if first else ""
    if arrow is not None:
        return _channel_command(text, text[: arrow.start()], text[arrow.end() :].strip())
    if text.startswith("?"):
        return Command(Word.HELP, text, text[1:].strip())
    rest = text[len(letters) :].strip()
    word = _BY_LETTERS.get(letters[:3])
    if word is Word.HELP:
        return Command(word, text, rest)
    if word is not None:
        if rest:
            return Unreadable("SYNTAX ERROR", text, f"{letters[:3]} alone; it asks for what it needs")
        return Command(word, text)
    if letters[:3] in NO_LONGER_VALID:
        return Unreadable("COMMAND NO LONGER VALID", text, NO_LONGER_VALID[letters[:3]])
    if _DEVICE.match(text):
        return Unreadable("SYNTAX ERROR", text, "LOGn:name<-channel, where the channel is I, O or M")
    return Unreadable("COMMAND ERROR", text, _close(letters))


def _channel_command(text: str, left: str, channel: str) -> ChannelCommand | Unreadable:
    device = _DEVICE.match(left)
    # a drive letter belongs to a path
    if device is not None and (device[2] or len(device[1]) > 1):
        return ChannelCommand(f"{device[1].upper()}{device[2]}", left[device.end() :].strip(), channel, text)
    if ":" in left and not re.match(r"\s*[A-Za-z]:[\\/]", left):
        return ChannelCommand(left.partition(":")[0].strip().upper(), left.partition(":")[2].strip(), channel, text)
    return ChannelCommand("", left.strip(), channel, text)


def _close(letters: str) -> str:
    found = close_names(letters, [word.value for word in Word], 0.5) or close_names(letters[:3], _BY_LETTERS)
    return found[0] if found else "? lists the commands"
