"""Model files (section 19 of our reading of the report): read and written, with headings or bare. In goes text, out comes a program, or back.

What the old program wrote is read. What we write it could read: comments stand behind ``$``, and integration and output control behind the last
empty line, where it never looks. Numbers have as many digits as they need; the report's five are an option.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable
from dataclasses import field, replace
from pathlib import Path
from typing import Final, Literal

from tidegate.csmp.fortran_numbers import five
from tidegate.csmp.language import sorting, written_numbers
from tidegate.csmp.language.block_kinds import BlockStatement
from tidegate.csmp.language.control import Control, control_lines, take_control
from tidegate.csmp.language.diagnostics import Diagnostic, Notice, say
from tidegate.csmp.language.fields import split, title_of
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.language.sections import Section, sections_of
from tidegate.csmp.language.statements import ConfigurationReader, FunctionReader, ParameterReader
from tidegate.errors import CsmpError, Origin, UsageError
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Part", "Reading", "load", "read", "read_statements", "read_tolerantly", "text_of", "write"]

Part = Literal["ALL", "CON", "PAR", "FUN"]

_TEXT: Final = "<text>"
_MORE_THAN_ONCE: Final = {"CON": "CONFIGS ALREADY READ", "PAR": "PARAMS ALREADY READ", "FUN": "FUNCTS ALREADY READ"}
_FOLLOWS_FROM_ANOTHER: Final = ("NO CORRESPONDING CONFIG STATEMENT", "NOT AN F BLK")


@dataclass(slots=True)
class Reading:
    """What a model file holds, and what is wrong with it.

    Parameters
    ----------
    program : all that could be read.
    control : integration and output control, as far as the file has it.
    diagnostics : every problem, with file and line.
    """

    program: CsmpProgram = field(default_factory=CsmpProgram)
    control: Control = field(default_factory=Control)
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])


def read(source: str | Path) -> tuple[CsmpProgram, Control]:
    r"""A model file as a program.

    Parameters
    ----------
    source : path of the file, or its text; what has a line break is a text.

    Returns
    -------
    tuple
        The program, and the integration and output control that the file may have.

    Raises
    ------
    CsmpError : all problems of the file at once, each with its line.
    UsageError : if there is no such file.

    Examples
    --------
    >>> program, control = read("DECAY\n2 T1 3 ; LEVEL\n3 K\n\n2 1 .5\n\n")
    >>> program.title, program.sort_list()
    ('DECAY', [3, 2])
    """
    reading = read_tolerantly(source)
    if reading.diagnostics:
        raise CsmpError(reading.diagnostics)
    return reading.program, reading.control


@explained
def load(source: str | Path) -> CsmpProgram:
    r"""Read a model file, with headings or without.

    Parameters
    ----------
    source : path of the file, or its text.

    Raises
    ------
    CsmpError : with every line that cannot be read.

    Examples
    --------
    >>> from tidegate import csmp
    >>> decay = csmp.load("DECAY\n2 T1 ; LEVEL\n\n2 1 .5\n\n")
    >>> decay.title, decay.blocks[2].label
    ('DECAY', 'LEVEL')
    """
    return read(source)[0]


def read_tolerantly(source: str | Path) -> Reading:
    """A model file as far as it can be read, with all that is wrong.

    Parameters
    ----------
    source : path of the file, or its text; what has a line break is a text.

    Raises
    ------
    UsageError : if there is no such file.
    """
    is_text = isinstance(source, str) and "\n" in source
    reading = read_statements(str(source) if is_text else text_of(Path(source)), _TEXT if is_text else str(source))
    reading.diagnostics += reading.program.configuration_problems()
    return reading


def read_statements(text: str, file: str = _TEXT) -> Reading:
    """The statements of a text, whether or not they make a configuration.

    Parameters
    ----------
    text : of a model file.
    file : the name that diagnostics give it.
    """
    sections = sections_of(text)
    reading = Reading()
    found: dict[str, Section] = {}
    for section in sections:
        if section.kind in found and section.kind in _MORE_THAN_ONCE:
            hint = f"the first one, from line {found[section.kind].line} on, was taken"
            reading.diagnostics.append(say(_MORE_THAN_ONCE[section.kind], hint=hint).at(Origin(file, section.line)))
        found.setdefault(section.kind, section)
    if "CON" not in found:
        reading.diagnostics.append(say("NO CONFIGS").at(Origin(file, 1)))
    else:
        _take_sections(reading, found, file)
    return reading


def text_of(path: Path) -> str:
    """The text of a model file.

    Raises
    ------
    UsageError : there is no such file, or it holds no text.
    """
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise UsageError(f"the model file {path} cannot be read: {fault.strerror}", hint="look at its name, and at the folder you are in") from fault
    if b"\0" in content:
        raise UsageError(f"{path} is no model file: it holds no text", hint="a file that STO has written, or a text of statements")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _take_sections(reading: Reading, found: dict[str, Section], file: str) -> None:
    reading.program.title = title_of(found["CON"].title)
    configurations = ConfigurationReader(reading.program)
    for number, line in found["CON"].lines:
        _keep(reading, configurations.take(line, Origin(file, number, line.strip())).messages)
    faulty = {one.block for one in reading.diagnostics}
    if "PAR" in found:
        parameters = ParameterReader(reading.program)
        for number, line in found["PAR"].lines:
            _keep(reading, parameters.take(line, Origin(file, number, line.strip())).messages, faulty)
    if "FUN" in found:
        _take_functions(reading, found["FUN"], file, faulty)
    if "CONTROL" in found:
        for number, line in found["CONTROL"].lines:
            fault = take_control(reading.control, line, Origin(file, number, line.strip()))
            _keep(reading, [fault] if fault else [])


def _take_functions(reading: Reading, section: Section, file: str, faulty: set[int]) -> None:
    functions = FunctionReader(reading.program)
    is_skipping = False
    for number, line in section.lines:
        if is_skipping:
            # pairs of a block that cannot have any: they would be taken for block numbers
            is_skipping = bool(line)
            continue
        was_number = functions.block == 0
        _keep(reading, functions.take(line, Origin(file, number, line.strip())).messages, faulty)
        is_skipping = was_number and functions.block == 0


def _keep(reading: Reading, messages: Iterable[Diagnostic | Notice], faulty: Container[int] = ()) -> None:
    """Note diagnostics, but not what only follows from a statement that was refused."""
    reading.diagnostics += [one for one in messages if isinstance(one, Diagnostic) and not (one.key in _FOLLOWS_FROM_ANOTHER and one.block in faulty)]


def write(
    program: CsmpProgram,
    *,
    headed: bool = True,
    order: Literal["ascending", "sorted"] = "ascending",
    digits: Literal["exact", "five"] = "exact",
    control: Control | None = None,
    sections: Part = "ALL",
    comments: bool = True,
) -> str:
    r"""A program as the text of a model file.

    Parameters
    ----------
    program : to be written.
    headed : with headings, as in files; without, as on the terminal.
    order : of the configurations; ``"sorted"`` is what CS and AS give, UO blocks behind their user block.
    digits : the shortest text that reads back exactly, or five digits as in 1976.
    control : integration and output control, for the extended section.
    sections : which to write; the title goes with the configurations.
    comments : whether to keep them.

    Raises
    ------
    CsmpError : if the program could not be read back: a label of more than ten characters, a line break in a comment, a number that is
        not finite, abscissae that are the same with five digits; or SORT FAILURE where sorted order is asked for.

    Examples
    --------
    >>> program, _ = read("DECAY\n2 T1 3 ; LEVEL\n3 K\n\n2 1 .5\n\n")
    >>> print(write(program, digits="five"))
    CONFIGURATIONS :
    DECAY
    BLK TYPE B1 B2 B3
    2 T1 3 ; LEVEL
    3 K
    <BLANKLINE>
    PARAMETERS :
    BLK P1 P2 P3
    2 1.0000E+00 5.0000E-01
    <BLANKLINE>
    <BLANKLINE>
    """
    form = _LineForm(headed, five if digits == "five" else written_numbers.exact, comments)
    _refuse_what_is_lost(program, form)
    numbers_in_order = sorting.store_order(program.blocks) if order == "sorted" else program.numbers
    return _text(program, form, numbers_in_order, control, sections)


@dataclass(frozen=True, slots=True)
class _LineForm:
    """How a text is written."""

    is_headed: bool
    digits: Callable[[float], str]
    has_comments: bool

    def line(self, *fields: str, label: str = "", comment: str = "") -> str:
        """A statement."""
        parts = [*fields, *(("; " + label,) if label else ()), *(("$ " + comment,) if comment and self.has_comments else ())]
        return " ".join(parts)

    def headings(self, *lines: str) -> list[str]:
        """Lines that only files have."""
        return list(lines) if self.is_headed else []


def _text(program: CsmpProgram, form: _LineForm, order: list[int], control: Control | None, sections: Part) -> str:
    lines: list[str] = []
    if sections in {"ALL", "CON"}:
        lines += [*form.headings("CONFIGURATIONS :"), program.title, *form.headings("BLK TYPE B1 B2 B3")]
        lines += [_configuration(program.blocks[number], form) for number in order]
        lines.append("")
    if sections in {"ALL", "PAR"}:
        lines += [*form.headings("PARAMETERS :", "BLK P1 P2 P3"), *_parameters(program, form), ""]
    if sections in {"ALL", "FUN"} and program.functions:
        lines += [*form.headings("FUNCTIONS :"), *_functions(program, form), ""]
    control_section = control_lines(control) if control else []
    if control_section:
        lines += ["", "CONTROL :", *control_section, ""]
    return "\n".join(lines) + "\n"


def _configuration(block: BlockStatement, form: _LineForm) -> str:
    inputs = [f"{'-' if sign < 0 else ''}{source}" for source, sign in zip(block.inputs, block.signs, strict=True)]
    while inputs and inputs[-1] == "0":
        inputs.pop()
    return form.line(str(block.number), block.kind, *inputs, label=block.label, comment=block.comment)


def _parameters(program: CsmpProgram, form: _LineForm) -> list[str]:
    lines: list[str] = []
    for number in sorted(program.parameters.keys() | program.parameter_comments.keys()):
        given = [*program.parameter(number)]
        while given and given[-1] == 0.0:
            given.pop()
        comment = program.parameter_comments.get(number, "")
        if given or (comment and form.has_comments):
            lines.append(form.line(str(number), *map(form.digits, given), comment=comment))
    return lines


def _functions(program: CsmpProgram, form: _LineForm) -> list[str]:
    lines: list[str] = []
    for number, pairs in sorted(program.functions.items()):
        name = (*form.headings("BLK NO."), str(number))
        lines += [form.line(*name, comment=program.function_comments.get(number, "")), *form.headings("COORD PAIRS :")]
        lines += [form.line(form.digits(x), form.digits(y), comment=program.pair_comments.get((number, x), "")) for x, y in pairs]
        lines.append("")
    return lines


def _refuse_what_is_lost(program: CsmpProgram, form: _LineForm) -> None:
    """Read back what would be written. Statements that were read are safe; a program put together in Python may hold anything."""
    for number, values in [*program.parameters.items(), *((n, pair) for n, pairs in program.functions.items() for pair in pairs)]:
        if not all(map(math.isfinite, values)):
            raise CsmpError([say("IMPROPER PARAM SPECIFICATION", n=number, hint=f"block {number} has a number that is not finite")])
    complete = _LineForm(form.is_headed, form.digits, has_comments=True)
    again = read_statements(_text(program, complete, program.numbers, None, "ALL"))
    # an empty model without headings is a few empty lines: nothing is lost
    faults = [one for one in again.diagnostics if one.key != "NO CONFIGS" or program.blocks]
    refused = {one.block for one in faults}
    if again.program.title != program.title:
        faults.append(say("SYNTAX ERROR", hint="a title is one line of at most 60 characters, without blanks around it, and no heading of a section"))
    for number in sorted(program.blocks.keys() | again.program.blocks.keys()):
        before, after = program.blocks.get(number), again.program.blocks.get(number)
        if number not in refused and (before is None or after is None or not _is_same(before, after)):
            hint = f"block {number} cannot be written: a label has at most ten characters, and neither label nor comment holds line breaks"
            faults.append(say("ERROR IN BLK", n=number, hint=hint))
    if any(split("$" + comment).comment != comment.strip() for comment in _comments_on_values(program)):
        faults.append(say("SYNTAX ERROR", hint="a comment is one line"))
    for number, pairs in sorted(program.functions.items()):
        if number not in refused and len(again.program.functions.get(number, ())) != len(pairs):
            hint = f"abscissae of block {number} become the same number or are not ascending; write all digits"
            faults.append(say("IMPROPER PARAM SPECIFICATION", n=number, hint=hint))
    if faults:
        raise CsmpError([replace(one, line=0, file="") for one in faults])


def _comments_on_values(program: CsmpProgram) -> Iterable[str]:
    return (*program.parameter_comments.values(), *program.function_comments.values(), *program.pair_comments.values())


def _is_same(before: BlockStatement, after: BlockStatement) -> bool:
    return replace(before, origin=None, comment=before.comment.strip()) == replace(after, origin=None)
