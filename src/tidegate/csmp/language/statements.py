"""Statements as they are typed or read: each line changes a program or is answered with a diagnostic; what stood before stays.

The three readers have one shape. A console prints ``headings`` once and ``prompt`` before each line, hands the line to ``take``, prints the messages,
and calls ``finish`` when a set is done. A model file does the same without printing.
"""

from __future__ import annotations

import bisect
from abc import ABC, abstractmethod
from dataclasses import field
from typing import Final, Protocol

from tidegate.csmp.fortran_numbers import five
from tidegate.csmp.language import written_numbers
from tidegate.csmp.language.block_kinds import KINDS, MOST_INPUTS, MOST_PARAMETERS, BlockKind, BlockStatement, Parameters
from tidegate.csmp.language.diagnostics import Diagnostic, Notice, notice, say
from tidegate.csmp.language.fields import Fields, split
from tidegate.csmp.language.program import CsmpProgram
from tidegate.errors import Origin
from tidegate.quick_dataclass import dataclass

__all__ = ["ConfigurationReader", "FunctionReader", "Limits", "Outcome", "ParameterReader", "StatementReader"]

_TIME: Final = 1
_PAIRS_FOR_EACH_FUNCTION: Final = 15


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes that the start-up asked for; None for no limit.

    Parameters
    ----------
    highest : block number allowed.
    integrators : how many I and T1 blocks together.
    delays : how many U blocks.
    functions : how many F blocks; also 15 coordinate pairs for each.
    """

    highest: int | None = None
    integrators: int | None = None
    delays: int | None = None
    functions: int | None = None

    @property
    def highest_number(self) -> int:
        """The highest block number, with or without a limit."""
        return written_numbers.HIGHEST_BLOCK if self.highest is None else min(self.highest, written_numbers.HIGHEST_BLOCK)


NO_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a line.

    Parameters
    ----------
    messages : diagnostics and notices, in order.
    is_done : whether the line ended the set.
    """

    messages: list[Diagnostic | Notice] = field(default_factory=list[Diagnostic | Notice])
    is_done: bool = False


class StatementReader(Protocol):
    """What the three readers have in common."""

    @property
    def headings(self) -> tuple[str, ...]:
        """Lines printed before the set."""
        ...

    @property
    def prompt(self) -> str:
        """What is asked before the next line; empty for nothing."""
        ...

    def take(self, line: str, origin: Origin | None = None) -> Outcome:
        """Apply a line to the program; never raises."""
        ...

    def finish(self) -> list[Diagnostic]:
        """What is wrong at the end of the set, all at once."""
        ...


class _LineReader(ABC):
    """What the readers share: a line is split, applied, and what is wrong with it knows where it stands."""

    def __init__(self, program: CsmpProgram, limits: Limits = NO_LIMITS) -> None:
        self.program = program
        self.limits = limits

    def take(self, line: str, origin: Origin | None = None) -> Outcome:
        """Apply a line to the program; never raises."""
        fields = split(line)
        if fields.is_empty:
            return Outcome(is_done=self._ends())
        answer = self._apply(line, fields, origin)
        if isinstance(answer, Diagnostic):
            answer = answer.at(origin)
        return Outcome([] if answer is None else [answer])

    def _ends(self) -> bool:
        """Whether an empty line ends the set."""
        return True

    @abstractmethod
    def _apply(self, line: str, fields: Fields, origin: Origin | None) -> Diagnostic | Notice | None: ...


class ConfigurationReader(_LineReader):
    """Configuration statements ``B, T, B1, B2, B3; label $ comment``.

    Parameters
    ----------
    program : that is changed.
    limits : of numbers and counts.

    Examples
    --------
    >>> program = CsmpProgram()
    >>> reader = ConfigurationReader(program)
    >>> reader.take("4, /, 17, 6; Y DBLE DOT").messages
    []
    >>> program.blocks[4].label
    'Y DBLE DOT'
    >>> [one.text for one in reader.take("4, G, 17, 6").messages]
    ['ERROR IN BLK 4']
    """

    headings: Final = ("CONFIGURATIONS :", "BLK, TYPE, B1, B2, B3")
    prompt: Final = ""

    def _apply(self, line: str, fields: Fields, origin: Origin | None) -> Diagnostic | Notice | None:  # noqa: ARG002
        number, fault = _block_number(fields, self.limits)
        if fault is None and number == _TIME:
            fault = say("BLK 1 RESERVED FOR TIME")
        if fault is not None:
            return fault
        is_deletion = len(fields.values) < 2 or fields.values[1] is None
        return self._delete(number, fields) if is_deletion else self._configure(number, fields, origin)

    def finish(self) -> list[Diagnostic]:
        """Inputs that do not exist, wrong V, Y and UO blocks, and a loop; all at once."""
        return self.program.configuration_problems()

    def _delete(self, number: int, fields: Fields) -> Diagnostic | Notice:
        if len(fields.values) > 1 or fields.has_label:
            return say("ERROR IN BLK", n=number, hint=f"give block {number} a type; only the number alone deletes it")
        if not self.program.delete(number):
            return say("ERROR IN BLK", n=number, hint=f"there is no block {number} to delete")
        return notice("PREV BLK DELETED", n=number)

    def _configure(self, number: int, fields: Fields, origin: Origin | None) -> Diagnostic | Notice | None:
        written = fields.values[1] or ""
        kind = KINDS.get(written.upper())
        if kind is None:
            return say("ILLEGAL BLK TYPE", n=number, type=written, hint=_hint_for_type(written.upper()))
        inputs: list[int] = []
        signs: list[int] = []
        for text in fields.values[2:]:
            source = 0 if text is None else integer_input(text, self.limits)
            if source is None:
                return say("ERROR IN BLK", n=number, hint=f"input {text!r} is no block number; write 0 or nothing for no input")
            if text is not None and text[0] in "+-" and kind.kind != "+":
                return say("ERROR IN BLK", n=number, hint=f"only a summer (type +) has signs; put an inverter (type -) before block {number}")
            inputs.append(abs(source))
            signs.append(-1 if source < 0 else 1)
        if len(inputs) > MOST_INPUTS or any(inputs[kind.n_inputs :]):
            return say("ERROR IN BLK", n=number, hint=_hint_for_inputs(kind))
        missing = MOST_INPUTS - len(inputs)
        first, second, third = (*inputs, *(0,) * missing)
        sign1, sign2, sign3 = (*signs, *(1,) * missing)
        fault = self._beyond_limits(number, kind.kind)
        if fault is not None:
            return fault
        statement = BlockStatement(number, kind.kind, (first, second, third), (sign1, sign2, sign3), fields.label, fields.comment, origin)
        return notice("PREV BLK DELETED", n=number) if self.program.configure(statement) else None

    def _beyond_limits(self, number: int, kind: str) -> Diagnostic | None:
        for kinds, limit, key in (
            (("I", "T1"), self.limits.integrators, "MAX OF I & T1 BLKS"),
            (("U",), self.limits.delays, "MAX OF U BLKS"),
            (("F",), self.limits.functions, "MAX OF F BLKS"),
        ):
            if limit is not None and kind in kinds:
                others = sum(block.kind in kinds for block in self.program.blocks.values() if block.number != number)
                if others >= limit:
                    return say(key, limit=limit)
        return None


class ParameterReader(_LineReader):
    """Parameter statements ``B, P1, P2, P3 $ comment``; a statement replaces all three.

    Parameters
    ----------
    program : that is changed.
    limits : of numbers.
    """

    headings: Final = ("PARAMETERS :", "BLK, P1, P2, P3")
    prompt: Final = ""

    def _apply(self, line: str, fields: Fields, origin: Origin | None) -> Diagnostic | None:  # noqa: ARG002
        number, fault = _block_number(fields, self.limits)
        return self._set(number, fields) if fault is None else fault

    def finish(self) -> list[Diagnostic]:
        """Nothing: any parameters make a set."""
        return []

    def _set(self, number: int, fields: Fields) -> Diagnostic | None:
        if number not in self.program.blocks:
            return say("NO CORRESPONDING CONFIG STATEMENT", n=number, hint=f"configure block {number} first, or look at its number")
        texts = fields.values[1:]
        if len(texts) > MOST_PARAMETERS or fields.has_label:
            what = "labels stand in configuration statements" if fields.has_label else f"a block has at most three parameters, not {len(texts)}"
            return say("IMPROPER PARAM SPECIFICATION", n=number, hint=what)
        try:
            values = [0.0 if text is None else written_numbers.parse(text) for text in texts]
        except ValueError as fault:
            return say("IMPROPER PARAM SPECIFICATION", n=number, hint=f"{fault}; write e.g. {number}, -1.5, 2E3")
        p1, p2, p3 = (*values, *(0.0,) * (MOST_PARAMETERS - len(values)))
        given: Parameters = (p1, p2, p3)
        if any(given):
            self.program.parameters[number] = given
        else:
            self.program.parameters.pop(number, None)
        _keep_comment(self.program.parameter_comments, number, fields.comment)
        return None


class FunctionReader(_LineReader):
    """Function statements: a block number, then ``abscissa, ordinate`` on each line up to an empty one; and again.

    Parameters
    ----------
    program : that is changed.
    limits : of numbers, functions and pairs.

    Attributes
    ----------
    block : whose pairs are being read; 0 while a block number is asked for.
    """

    headings: Final = ("FUNCTIONS :",)

    def __init__(self, program: CsmpProgram, limits: Limits = NO_LIMITS) -> None:
        super().__init__(program, limits)
        self.block = 0

    @property
    def prompt(self) -> str:
        """What is asked before the next line; empty while pairs are read."""
        return "" if self.block else "BLK NO. ="

    def _ends(self) -> bool:
        is_done = self.block == 0
        self.block = 0
        return is_done

    def _apply(self, line: str, fields: Fields, origin: Origin | None) -> Diagnostic | Notice | None:  # noqa: ARG002
        return self._take_pair(line, fields) if self.block else self._take_block(line, fields)

    def finish(self) -> list[Diagnostic]:
        """Nothing: functions may be completed later."""
        return []

    def _take_block(self, line: str, fields: Fields) -> Diagnostic | Notice:
        if len(fields.values) > 1 or fields.has_label or not _is_number(fields.values[0]):
            return say("INCORRECT RECORD", record=line.strip(), hint="give the number of one function block, or an empty line to end")
        number, fault = _block_number(fields, self.limits)
        if fault is not None:
            return fault
        block = self.program.blocks.get(number)
        if block is None or block.kind != "F":
            known = [str(one) for one in self.program.numbers if self.program.blocks[one].kind == "F"]
            return say("NOT AN F BLK", n=number, hint=f"function blocks are {', '.join(known)}" if known else "there is no function block (type F)")
        if self.limits.functions is not None and number not in self.program.functions and len(self.program.functions) >= self.limits.functions:
            return say("MAX OF FUNCTS", limit=self.limits.functions)
        self.block = number
        if fields.comment:
            self.program.function_comments[number] = fields.comment
        return notice("COORD PAIRS")

    def _take_pair(self, line: str, fields: Fields) -> Diagnostic | Notice | None:
        try:
            values = [None if text is None else written_numbers.parse(text) for text in fields.values]
        except ValueError as fault:
            return say("INCORRECT RECORD", record=line.strip(), hint=f"{fault}; give abscissa, ordinate")
        x, y = values[0], values[1] if len(values) > 1 else None
        if len(values) > 2 or fields.has_label or x is None:
            return say("INCORRECT RECORD", record=line.strip(), hint="give abscissa, ordinate; the abscissa alone deletes its pair")
        pairs = self.program.functions.get(self.block, [])
        place = bisect.bisect_left(pairs, x, key=_abscissa)
        before = pairs[place] if place < len(pairs) and pairs[place][0] == x else None
        if y is None:
            return self._delete_pair(x, before)
        limit = self.limits.functions
        if before is None and limit is not None and sum(map(len, self.program.functions.values())) >= limit * _PAIRS_FOR_EACH_FUNCTION:
            return say("MAX OF COORD PAIRS", limit=limit)
        self.program.functions[self.block] = [*pairs[:place], (x, y), *pairs[place + (before is not None) :]]
        _keep_comment(self.program.pair_comments, (self.block, x), fields.comment)
        return _pair_deleted(before) if before else None

    def _delete_pair(self, x: float, before: tuple[float, float] | None) -> Diagnostic | Notice:
        if before is None:
            return say("PNT WITH ABSCISSA", x=five(x))
        left = [pair for pair in self.program.functions[self.block] if pair[0] != x]
        if left:
            self.program.functions[self.block] = left
        else:
            del self.program.functions[self.block]
        self.program.pair_comments.pop((self.block, x), None)
        return _pair_deleted(before)


def integer_input(text: str, limits: Limits) -> int | None:
    """A field of a configuration statement as an input: block number with its sign, or None if it is none."""
    number = written_numbers.whole(text)
    return None if number is None or abs(number) > limits.highest_number else number


def _block_number(fields: Fields, limits: Limits) -> tuple[int, Diagnostic | None]:
    text = fields.values[0] or ""
    number = written_numbers.whole(text)
    if number is None or not 1 <= number <= limits.highest_number:
        hint = f"block numbers are whole, from 2 to {limits.highest_number}; {text!r} is none"
        return 0, say("INVALID BLK NO.", hint=hint)
    return number, None


def _is_number(text: str | None) -> bool:
    try:
        written_numbers.parse(text or "")
    except ValueError:
        return False
    return True


def _abscissa(pair: tuple[float, float]) -> float:
    return pair[0]


def _pair_deleted(pair: tuple[float, float]) -> Notice:
    return notice("COORD PAIR DELETED", x=five(pair[0]), y=five(pair[1]))


def _keep_comment[Place](comments: dict[Place, str], place: Place, comment: str) -> None:
    if comment:
        comments[place] = comment
    else:
        comments.pop(place, None)


def _hint_for_inputs(kind: BlockKind) -> str:
    if not kind.n_inputs:
        return f"type {kind.kind} ({kind.name}) has no inputs"
    return f"type {kind.kind} ({kind.name}) has at most {kind.n_inputs} input{'s' if kind.n_inputs > 1 else ''}"


def _hint_for_type(written: str) -> str:
    if written == "U0":
        return "write UO with the letter O for a user output"
    if written[0] == "U" and written[1:].isdecimal():
        return "user-defined types are U1 to U15"
    if written in {"*", "|"}:
        return "the multiplier is X" if written == "*" else "the divider is /"
    named = [kind for kind in KINDS.values() if kind.name.upper().startswith(written) or written.startswith(kind.name.upper())]
    return f"the {named[0].name} is {named[0].kind}" if named else ""
