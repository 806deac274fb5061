"""A block of DSblock 3.3 as the text of one file in Fortran, free form (stage: source text)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tidegate.expressions.fortran_text import Fortran, fortran_declarations, fortran_helpers, fortran_interfaces, wrapped
from tidegate.expressions.straight_line import Tables
from tidegate.source_text.block_program import Program, places_of, program_of
from tidegate.source_text.dsblock import BlockText, ParameterText
from tidegate.source_text.translate import Dialect, Routine

__all__ = ["block_in_fortran"]

_LOGICALS: Final = frozenset({"lp", "luser"})
_INTEGERS: Final = frozenset(
    "ip ipt ipos ityp ndim dim ierr icall iopt hinfo hcross dimnew iprior iuser info sig njac n fault trouble asked sides held rests used taken"
    " carried_out crosses only bit keeps one_only"
    " changed starts ends priority due which".split()
)
_CHUNK: Final = 60  # characters of a text on one line


def _dialect(language: Fortran, prefix: str) -> Dialect:
    return Dialect(
        language=language,
        compare={">": ">", ">=": ">=", "<": "<", "<=": "<=", "==": "==", "!=": "/="},
        loop=lambda k, first, end: f"do {k} = {first}, {end} - 1",
        if_=lambda test: f"if {test} then",
        elif_=lambda test: f"else if {test} then",
        else_="else",
        end_loop="end do",
        end_if="end if",
        leave="exit",
        skip="cycle",
        back="return",
        call=lambda name, arguments: f"call {prefix}{name}({', '.join(arguments)})",
        functions={"whole": "int"},
    )


def block_in_fortran(block: BlockText, name: str) -> str:
    """The file.

    Parameters
    ----------
    block : what stands in it.
    name : what the names of the callbacks begin with.
    """
    prefix = f"{name.lower()}_"
    language = Fortran(prefix)
    program = program_of(block, _dialect(language, prefix), places_of(block, language), Tables("table"))
    lines = [
        f"! {name}: {block.name} as a block of DSblock 3.3, written by tidegate; a change belongs into the model.", "",
        *_formulas(program, prefix), *_routines(block, program, name, prefix), *_blockb(block, name, program, language),
    ]  # fmt: skip
    return "\n".join([*(part for line in lines for part in (wrapped(line) if "'" not in line else [line])), ""])


def _kind(name: str) -> str:
    return "logical" if name in _LOGICALS else "integer" if name in _INTEGERS else "double precision"


def _head(name: str, arguments: Sequence[str], comment: str) -> Iterator[str]:
    yield f"! {comment}"
    yield f"subroutine {name}({', '.join(arguments)})"
    yield "  implicit none"
    for kind in ("double precision", "integer", "logical"):
        several = [f"{argument}(0:*)" for argument in arguments if _kind(argument) == kind]
        if several:
            yield f"  {kind} :: {', '.join(several)}"


def _formulas(program: Program, prefix: str) -> Iterator[str]:
    called = frozenset(name for _, inside in program.formulas for name in inside.called)
    yield from (line for text in fortran_helpers(called, prefix) for line in text.split("\n"))
    for formula, inside in program.formulas:
        yield from _head(prefix + formula.name, formula.arguments, formula.comment)
        yield from (f"  {line}" for line in fortran_declarations(inside, program.tables))
        yield from (f"  {line}" for line in fortran_interfaces(inside.called, prefix))
        if formula.size > len(formula.outputs):
            yield f"  out(0:{formula.size - 1}) = 0d0"
        yield from (f"  {line}" for line in inside.statements)
        yield "end subroutine"
        yield ""


def _routines(block: BlockText, program: Program, name: str, prefix: str) -> Iterator[str]:
    if program.says:
        yield from _head(f"{prefix}say", ["which"], "what is said when something happens")
        for k, lines in block.said.items():
            yield f"  if (which(0) == {k}) then"
            for line in lines:
                yield from _text_call("blopri", [], line, "", "    ")
            yield "  end if"
        yield from ("end subroutine", "")
    if program.asks_end:
        yield from _head(f"{prefix}final_time", ["at"], "the final time; a very late one where it is not known")
        yield from ("  integer :: ierr", "  ierr = 0", "  call blosid(3, at, ierr)", "  if (ierr /= 0 .or. .not. at(0) < 1d300) at(0) = 1d301")
        yield from ("end subroutine", "")
    if program.complains:
        yield from _head(f"{prefix}complain", ["which"], "what went wrong")
        for k, line in block.complaints.items():
            yield f"  if (which(0) == {k}) then"
            yield from _text_call("bloerl", [str(k)], line, ", 1, ' '", "    ")
            yield "  end if"
        yield from ("end subroutine", "")
    letters = {routine.name: letter for letter, routine in program.callbacks.items()}
    for routine in (*program.routines, *program.callbacks.values()):
        letter = letters.get(routine.name)
        yield from _routine(block, routine, f"{name}{letter}".upper() if letter else prefix + routine.name, prefix)


def _routine(block: BlockText, routine: Routine, name: str, prefix: str) -> Iterator[str]:
    yield from _head(name, routine.arguments, routine.comment)
    for table in sorted(routine.tables):
        values = block.tables[table] or [0]
        yield f"  integer, parameter :: {table}(0:{len(values) - 1}) = (/ {', '.join(map(str, values))} /)"
    for item in routine.local:
        kind = "double precision" if item.kind == "real" else "integer"
        yield f"  {kind} :: {item.name}{f'(0:{item.size - 1})' if item.size else ''}"
    yield from (f"  {line}" for line in fortran_interfaces(routine.functions, prefix))
    yield from (f"  {line.replace('    ', '  ')}" for line in routine.lines)
    yield "end subroutine"
    yield ""


def _quoted(text: str) -> list[str]:
    """A text as pieces that are joined, each short enough for a line."""
    chunks = [text[k : k + _CHUNK] for k in range(0, len(text), _CHUNK)] or [" "]
    return ["'" + chunk.replace("'", "''") + "'" for chunk in chunks]


def _text_call(utility: str, before: Iterable[str], text: str, behind: str, indent: str) -> Iterator[str]:
    """A call whose long text is on lines of its own."""
    yield f"{indent}call {utility}({''.join(f'{item}, ' for item in before)}&"
    *first, last = _quoted(text)
    yield from (f"{indent}  {chunk} // &" for chunk in first)
    yield f"{indent}  {last}{behind})"


def _blockb(block: BlockText, name: str, program: Program, language: Fortran) -> Iterator[str]:
    counts = [block.count(letter) for letter in "XUYZW"]
    kinds = [len(block.kind(kind)) for kind in "dil"]
    arguments = "iopt info sig dim t0 x0 xd0 dp ip lp duser iuser luser ierr".split()
    yield from _head(f"{name.upper()}B", arguments, "description")
    if block.nominal:
        yield f"  double precision, parameter :: sizes({len(block.nominal)}) = (/ {', '.join(map(language.number, block.nominal))} /)"
    yield "  if (iopt(0) == 1) then"
    yield "    info(0) = 1"
    yield from _text_call("blo1dt", [], f"{block.name}, {block.text}"[:132], ", '1.0'", "    ")
    yield "  else if (iopt(0) == 2) then"
    for k, value in enumerate([block.form, 0, int("J" in program.callbacks)]):
        yield f"    info({k}) = {value}"
    yield from (f"    sig({k}) = {n}" for k, n in enumerate([*counts, len(block.parameters)]))
    yield from (f"    dim({k}) = {n}" for k, n in enumerate([*counts, *kinds, block.n_memory, 0, 0, *block.parts]))
    yield "  else"
    for signal in block.signals:
        yield from _text_call(f"blo3s{signal.letter.lower()}", [f"'{signal.name}'"], signal.text, "", "    ")
    places = {"d": 0, "i": 0, "l": 0}
    for parameter in block.parameters:
        yield from _text_call(f"blo3p{parameter.kind}", [f"'{parameter.name}'"], parameter.text, "", "    ")
        yield from _bounds(parameter, language)
        value = {"d": language.number(parameter.value), "i": str(int(parameter.value)), "l": language.truth(parameter.value != 0.0)}[parameter.kind]
        yield f"    {parameter.kind}p({places[parameter.kind]}) = {value}"
        places[parameter.kind] += 1
    yield from (f"    x0({k}) = {language.number(value)}" for k, value in enumerate(block.x0))
    if block.nominal:
        yield f"    call blo3de(1, sizes, {len(block.nominal)})"
    yield "    call blo3ux(1, dim, 0, 0)"
    yield from ("  end if", "end subroutine")


def _bounds(parameter: ParameterText, language: Fortran) -> Iterator[str]:
    low, high = parameter.minimum, parameter.maximum
    if parameter.kind == "l" or (low is None and high is None):
        return
    kinds = [0 if bound is None else 1 if bound.is_open else 2 for bound in (low, high)]
    numbers = [0.0 if bound is None else bound.value for bound in (low, high)]
    values = [language.number(value) if parameter.kind == "d" else str(int(value)) for value in numbers]
    yield f"    call blo3m{parameter.kind}({values[0]}, {values[1]}, {kinds[0]}, {kinds[1]})"
