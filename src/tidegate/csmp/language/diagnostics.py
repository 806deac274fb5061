"""What the language has to say: the fifty diagnostics of Appendix B and the messages that are no errors, as data.

A diagnostic's text is the report's, without the ``! `` that a console prints before it; what to try is ours.
"""

from __future__ import annotations

from typing import Final

from tidegate.errors import Diagnostic
from tidegate.quick_dataclass import dataclass

__all__ = ["DIAGNOSTICS", "NOTICES", "Diagnostic", "DiagnosticKind", "Notice", "notice", "say"]


@dataclass(frozen=True, slots=True)
class DiagnosticKind:
    """One of the fifty.

    Parameters
    ----------
    text : the message; names in braces stand for what it is about.
    when : the condition.
    hint : what to try.
    """

    text: str
    when: str
    hint: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A message that is no error.

    Parameters
    ----------
    key : its name in ``NOTICES``.
    text : the message.
    """

    key: str
    text: str


_UNDONE: Final = "the statements given so far are kept"
_ONCE: Final = "sections are read in the order of the file; name the file again with a channel command to read it from its start"

DIAGNOSTICS: Final[dict[str, DiagnosticKind]] = {
    "ATTEMPT TO DIVIDE BY ZERO": DiagnosticKind(
        "ATTEMPT TO DIVIDE BY ZERO IN BLK {n}", "run: a divider whose X2 is 0", "an empty B2 counts as 0; look at the block that B2 names"
    ),
    "ATTEMPT TO TAKE SQRT": DiagnosticKind(
        "ATTEMPT TO TAKE SQRT OF A -VE NO. IN BLK {n}", "run: a half power block with X1 < 0", "put a magnitude (M) or negative clipper (N) before it"
    ),
    "BLK O/P CANNOT GO TO TTY": DiagnosticKind("BLK O/P CANNOT GO TO TTY", "channel command `TTY:<-O`", "name a file, e.g. LOG1:OUTPT<-O"),
    "BLK 1 RESERVED FOR TIME": DiagnosticKind(
        "BLK 1 RESERVED FOR TIME", "CON: block number 1", "block 1 is the time and may only be an input; number blocks from 2 on"
    ),
    "ILLEGAL BLK TYPE": DiagnosticKind(
        'BLK {n} HAS AN ILLEGAL BLK TYPE ("{type}")',
        "CON: a type that is not in Table 1",
        "the types are B D F G H I J K L M N O P Q R T T1 U U1 to U15 UO V W X Y Z + - /",
    ),
    "NOT A UO BLK": DiagnosticKind(
        "BLK {n} IS NOT A UO BLK",
        "run: a routine sets an additional output that is no UO block",
        "configure it as `{n} UO` and the user block's number",
    ),
    "NOT AN F BLK": DiagnosticKind("BLK {n} IS NOT AN F BLK", "FUN: the block number", "only function blocks (type F) have coordinate pairs"),
    "BLK NOT USED": DiagnosticKind("BLK {n} NOT USED", "OUT and LOO: no such block", "name a block of the configuration, or 1 for the time"),
    "CODE PRIOR TO CALL TO EXPAND": DiagnosticKind(
        "CODE PRIOR TO CALL TO EXPAND UNRECOGNISED", "a fault of the 1976 loader; it cannot occur today", "nothing of yours is wrong"
    ),
    "COMMAND ERROR": DiagnosticKind("COMMAND ERROR", "an unknown command", "three letters of a command are enough; ? lists them"),
    "COMMAND NO LONGER VALID": DiagnosticKind("COMMAND NO LONGER VALID", "a command of an earlier version", "? lists the commands"),
    "CONFIGS ALREADY READ": DiagnosticKind(
        "CONFIGS ALREADY READ FROM MODEL I/P FILE", "CON: the section lies before the reading point of the file", _ONCE
    ),
    "CONFIGS NOT COMPLETE": DiagnosticKind(
        "CONFIGS NOT COMPLETE", "PAR, FUN, STO or OUT before a good CON", "configure the model first; CON goes on where it was left"
    ),
    "ERROR DURING MODEL EXECUTION": DiagnosticKind(
        "ERROR DURING MODEL EXECUTION", "after an error in a run", "the rows up to there are kept; in the console LOO shows the last values"
    ),
    "ERROR IN BLK": DiagnosticKind("ERROR IN BLK {n}", "CON: an invalid statement; it is ignored", "write B, T, B1, B2, B3; label $ comment"),
    "EXTENSIONS ALREADY SET": DiagnosticKind(
        "EXTENSIONS ALREADY SET", "channel command: a period in the name", "leave the extension out: it is .MOD for models and .DAT for block output"
    ),
    "FATAL ATTEMPT": DiagnosticKind(
        'FATAL ATTEMPT TO READ NON-EXISTENT DSK FILE "{name}"."{extension}"',
        "a model file is missing in a run that nobody watches; it ends the program",
        "look at the channel command that names the file, and at the folder you are in",
    ),
    "FINAL TIME": DiagnosticKind("FINAL TIME MUST NOT BE LESS THAN INITIAL TIME", "INT", "give lower limit, upper limit, interval in this order"),
    "FUNCTS ALREADY READ": DiagnosticKind("FUNCTS ALREADY READ FROM MODEL I/P FILE", "FUN: as for CON", _ONCE),
    "FUNCTS NOT COMPLETE": DiagnosticKind(
        "FUNCTS NOT COMPLETE", "STO FUN, STO ALL or GOE with a function block that has no pairs", "give coordinate pairs with FUN"
    ),
    "ILLEGAL DEVICE NAME": DiagnosticKind(
        "ILLEGAL DEVICE NAME", "channel command: neither LOG1 to LOG12 nor TTY; LOG5 is reserved", "write e.g. LOG3:NAME<-M, or TTY:<-I"
    ),
    "IMPROPER PARAM SPECIFICATION": DiagnosticKind(
        "IMPROPER PARAM SPECIFICATION", "PAR: text, or more than three values; GOE: values that cannot be used", "write B, P1, P2, P3 $ comment"
    ),
    "INCORRECT RECORD": DiagnosticKind(
        'INCORRECT RECORD "{record}" ****',
        "a line of numbers that cannot be read; it is asked for again",
        "give numbers with commas or blanks between",
    ),
    "INTEGN CONTROL PARAMS NEEDED": DiagnosticKind("INTEGN CONTROL PARAMS NEEDED", "GOE before INT", "give the limits and the interval with INT"),
    "INTEGN INTERVAL": DiagnosticKind(
        "INTEGN INTERVAL MUST NOT BE GREATER THAN TIME RANGE", "INT", "give lower limit, upper limit, interval in this order"
    ),
    "INVALID BLK NO.": DiagnosticKind(
        "INVALID BLK NO.",
        "a number that is not whole, below 1 or above the highest one",
        "block numbers are whole, from 2 to the highest that the start-up allows; 1 is the time",
    ),
    "ITERATION LIMIT": DiagnosticKind(
        "ITERATION LIMIT OF {limit} EXCEEDED FOR V & Y BLKS {v} & {n} AT TIME {t}",
        "run: an implicit loop does not settle; a warning, the run goes on",
        "give the wye a larger tolerance (P1) or limit (P2), or the vacuous block a better first guess (P1)",
    ),
    "I/P NOT DEFINED": DiagnosticKind("I/P (BLK {i}) TO BLK {n} IS NOT DEFINED", "end of CON", "configure block {i}, or change the input"),
    "I/P B1 FOR UO BLK": DiagnosticKind(
        "I/P B1 FOR UO BLK {n} IS NOT THE ASSOCIATED USER-DEFINED BLK {m}",
        "end of CON: B1 is no user-defined block; run: it is another one than the routine's",
        "B1 of a UO block is the number of the user-defined block (U1 to U15) that sets it",
    ),
    "I/P B2 FOR Y BLK": DiagnosticKind(
        "I/P B2 FOR Y BLK {n} IS NOT A V BLK", "end of CON", "B1 of a wye is the block that computes f, B2 the vacuous block (type V) that f reads"
    ),
    "LOGICAL UNIT ALREADY IN USE": DiagnosticKind(
        "LOGICAL UNIT {unit} ALREADY IN USE", "channel command", "take another unit; FIL shows those in use"
    ),
    "MAX OF FUNCTS": DiagnosticKind(
        "MAX OF {limit} FUNCTS EXCEEDED", "FUN: more functions than the start-up was told", "start with more F blocks, or without sizes"
    ),
    "MAX OF F BLKS": DiagnosticKind(
        "MAX OF {limit} F BLKS EXCEEDED", "CON: more F blocks than the start-up was told", "start with more F blocks, or without sizes"
    ),
    "MAX OF I & T1 BLKS": DiagnosticKind(
        "MAX OF {limit} I & T1 BLKS EXCEEDED", "CON: more than the start-up was told", "start with more I and T1 blocks, or without sizes"
    ),
    "MAX OF U BLKS": DiagnosticKind(
        "MAX OF {limit} U BLKS EXCEEDED", "CON: more than the start-up was told", "start with more U blocks, or without sizes"
    ),
    "MAX OF COORD PAIRS": DiagnosticKind(
        "MAX OF {limit}*15 COORD PAIRS EXCEEDED",
        "FUN: more than 15 pairs for each function of the start-up",
        "start with more F blocks, or without sizes",
    ),
    "MODEL NOT COMPLETE": DiagnosticKind("MODEL NOT COMPLETE", "GOE or STO ALL before CON, PAR and FUN are done", "RUN asks for what is missing"),
    "MORE WORK TO DO": DiagnosticKind("MORE WORK TO DO", "GOE with INT or OUT missing", "RUN asks for what is missing"),
    "NO CORRESPONDING CONFIG STATEMENT": DiagnosticKind(
        "NO CORRESPONDING CONFIG STATEMENT", "PAR: a block that is not configured", "configure the block first, or look at its number"
    ),
    "NO CONFIGS": DiagnosticKind(
        "NO CONFIGS IN MODEL I/P FILE", "CON: the file has no such section", "the section begins with the line `CONFIGURATIONS :`"
    ),
    "NO FUNCTS": DiagnosticKind("NO FUNCTS IN MODEL I/P FILE", "FUN: the file has no such section", "the section begins with the line `FUNCTIONS :`"),
    "NO PARAMS": DiagnosticKind(
        "NO PARAMS IN MODEL I/P FILE", "PAR: the file has no such section", "the section begins with the line `PARAMETERS :`"
    ),
    "NOT ENOUGH CORE": DiagnosticKind(
        "NOT ENOUGH CORE TO SET UP ARRAYS", "start-up: sizes beyond all memory", "give smaller sizes, or none: arrays grow"
    ),
    "O/P CONTROL PARAMS NEEDED": DiagnosticKind("O/P CONTROL PARAMS NEEDED", "GOE before OUT", "name the output blocks with OUT"),
    "PARAMS ALREADY READ": DiagnosticKind("PARAMS ALREADY READ FROM MODEL I/P FILE", "PAR: as for CON", _ONCE),
    "PERIOD FOR T BLK": DiagnosticKind(
        "PERIOD (P1) FOR T BLK {n} MUST BE GREATER THAN ZERO", "run: a T block starts a pulse", "give the period as P1 of the block"
    ),
    "PNT WITH ABSCISSA": DiagnosticKind(
        "PNT WITH ABSCISSA '{x}' DOES NOT EXIST", "FUN: a pair that is not there cannot be deleted", "an ordinate of zero must be typed as 0"
    ),
    "SORT FAILURE": DiagnosticKind(
        "SORT FAILURE AT BLK {n}",
        "end of CON: blocks need each other's output of the same instant",
        "break the loop with an integrator (I), a lag (T1) or a delay (U), or solve it with V and Y blocks",
    ),
    "SYNTAX ERROR": DiagnosticKind("SYNTAX ERROR", "a malformed command or reply", _UNDONE),
    "USER-DEFINED SUBROUTINE NOT LOADED": DiagnosticKind(
        "USER-DEFINED SUBROUTINE NOT LOADED FOR BLK {n}",
        "run: the routine of a user-defined block or interpolation is missing",
        "name the Python file with its function: --user MODULE.py, or user= in Python",
    ),
}

NOTICES: Final[dict[str, str]] = {
    "PREV BLK DELETED": "PREV BLK {n} DELETED",
    "COORD PAIR DELETED": "COORD PAIR ({x}, {y}) DELETED",
    "COORD PAIRS": "COORD PAIRS :",
    "MODEL COMPLETE": "MODEL COMPLETE",
    "THEN CHANGE FILENAME": "THEN CHANGE FILENAME",
    "RUN TERMINATED BY A Q BLOCK": "RUN TERMINATED BY A Q BLOCK",
    "RUN TERMINATED BY A ^": 'RUN TERMINATED BY A "^"',
}


def say(key: str, *, hint: str = "", loop: tuple[int, ...] = (), **about: object) -> Diagnostic:
    """A diagnostic in words.

    Parameters
    ----------
    key : one of ``DIAGNOSTICS``.
    hint : what to try, where more is known than the usual.
    loop : the blocks of a loop.
    about : what stands in the braces of its text; ``n`` is the number of the block it is about.

    Raises
    ------
    KeyError : if there is no such diagnostic, or a piece of its text is not given.

    >>> say("ERROR IN BLK", n=4, hint="a gain has one input").text
    'ERROR IN BLK 4'
    """
    kind = DIAGNOSTICS[key]
    block = about.get("n", 0)
    return Diagnostic(key, kind.text.format(**about), block if isinstance(block, int) else 0, hint=hint or kind.hint.format(**about), loop=loop)


def notice(key: str, **about: object) -> Notice:
    """A message that is no error, in words.

    Raises
    ------
    KeyError : if there is no such message, or a piece of its text is not given.

    >>> notice("PREV BLK DELETED", n=5).text
    'PREV BLK 5 DELETED'
    """
    return Notice(key, NOTICES[key].format(**about))
