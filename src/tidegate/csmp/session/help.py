"""What ``?`` answers in a session of CSMP-10(ARL) (stage: the language's own method). In goes where the user is, out come a few lines."""

from __future__ import annotations

from typing import Final

from tidegate.csmp.language.block_kinds import KINDS
from tidegate.csmp.session.commands import Word

__all__ = ["help_on"]

_COMMANDS: Final = {
    Word.TITLE: "ask for the title",
    Word.CONFIGURATION: "read configuration statements: which blocks there are, and what goes into each",
    Word.PARAMETER: "read parameter statements",
    Word.FUNCTION: "read coordinate pairs of function blocks",
    Word.INTEGRATION: "ask for lower and upper limit of time and the interval of integration",
    Word.OUTPUT: "ask which blocks to store, and how often",
    Word.GOE: "run the model",
    Word.RUN: "all that is still missing of TIT;CON;PAR;FUN;INT;OUT, then GOE",
    Word.STORE: "write the model to the model output channel",
    Word.LOOK: "show the last value of a block",
    Word.DEBUG: "list every block at every half step of the next run",
    Word.RETAIN: "start the next run where the last one ended",
    Word.FILE: "show the three channels",
    Word.PROGRAM: "leave, and start another program: TRANS",
    Word.MANUAL: "in a script: let a person go on from here",
    Word.EXIT: "end the session",
    Word.SORT: "show the order in which blocks are computed",
    Word.HELP: "this text; ?CON tells about CON",
}

_TOPICS: Final = {
    "blocks": "a line `B, T, B1, B2, B3; label $ comment` for each block: its number, its type, the blocks it reads; a summer takes signs, as -3\n"
    "the number alone deletes a block; an empty line ends the set",
    "parameters": "a line `B, P1, P2, P3 $ comment` for each block; parameters that are left out are 0; an empty line ends the set",
    "functions": "the number of an F block, then a line `abscissa, ordinate` for each pair; an abscissa alone deletes; an empty line ends both",
    "title": "up to 60 characters",
    "integration": "three numbers, e.g. 0, 20, 0.1: first and last time, and the interval; every block is computed at each half of it",
    "output blocks": "numbers of blocks on one or more lines, an empty line behind them; or A for all, AS for all in sorted order",
    "output interval": "two numbers, e.g. 0, 1: how many per cent a value must change to be stored (0: every value), and the time between rows",
    "store": "CON, PAR, FUN or ALL; CS and AS are CON and ALL with the blocks in sorted order",
    "look": "number of a block; an empty line goes back",
    "debug": "two times, e.g. 0.2, 0.3: the first and the last to be listed",
    "yes": "Y for yes; anything else is no",
    "program": "TRANS prints and plots what GOE has stored; BOMMP begins anew",
    "sizes": "highest block number; an empty line: no limits",
    "counts": "three numbers: I and T1 blocks, U blocks, F blocks",
}

_CHANNELS: Final = (
    "name<-I   read the model from name.MOD by CON, PAR, FUN    TTY:<-I   from the terminal",
    "name<-M   store the model in name.MOD by STO               TTY:<-M   on the terminal",
    "name<-O   store block output in name.DAT by GOE",
    "a logical unit may stand before the name: LOG6:name<-M",
)


def help_on(topic: str) -> list[str]:
    """Lines about where the user is.

    Parameters
    ----------
    topic : what is asked for, e.g. ``"blocks"``; ``"command"`` for all commands, or a command's first letters.

    Examples
    --------
    >>> help_on("title")
    ['up to 60 characters']
    """
    if topic in _TOPICS:
        lines = _TOPICS[topic].split("\n")
        return [*lines, *_types()] if topic == "blocks" else lines
    for word, text in _COMMANDS.items():
        if topic[:3].upper() == word.value[:3]:
            return [f"{word.value}: {text}"]
    return [*(f"{word.value[:3]}  {text}" for word, text in _COMMANDS.items()), *_CHANNELS, "several commands may stand on a line: INT;OUT;GOE"]


def _types() -> list[str]:
    named = [f"{kind.kind} {kind.name}" for kind in KINDS.values() if kind.code <= 31]
    return ["types: " + ", ".join(named), "and U2 to U15 like U1"]
