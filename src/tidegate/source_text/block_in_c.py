"""A block of DSblock 3.3 as the text of one C99 file (stage: source text)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tidegate.expressions.c_text import C, c_body, c_helpers, c_tables
from tidegate.expressions.straight_line import Tables
from tidegate.source_text.block_program import Program, is_read, places_of, program_of
from tidegate.source_text.dsblock import BlockText, ParameterText
from tidegate.source_text.translate import Dialect, Routine

__all__ = ["block_in_c"]

_DIALECT: Final = Dialect(
    language=C,
    compare={name: name for name in (">", ">=", "<", "<=", "==", "!=")},
    loop=lambda k, first, end: f"for ({k} = {first}; {k} < {end}; {k}++) {{",
    if_=lambda test: f"if {test} {{",
    elif_=lambda test: f"}} else if {test} {{",
    else_="} else {",
    end_loop="}",
    end_if="}",
    leave="break;",
    skip="continue;",
    back="return;",
    call=lambda name, arguments: f"{name}({', '.join(arguments)});",
    functions={"abs": "fabs", "max": "fmax", "min": "fmin", "whole": "(int)"},
)
_INTEGERS: Final = frozenset(
    "ip lp ipt ipos ityp ndim dim ierr icall iopt hinfo hcross dimnew iprior iuser luser info njac n fault trouble asked sides held rests used taken"
    " carried_out crosses only bit keeps one_only changed starts ends priority due which".split()
)
_UTILITIES: Final = """void cblo1dt(const char *text, const char *version);
void cblo2dt(const char *text, const char *version);
void cblo3pd(const char *name, const char *text);
void cblo3pi(const char *name, const char *text);
void cblo3pl(const char *name, const char *text);
void cblo3sx(const char *name, const char *text);
void cblo3su(const char *name, const char *text);
void cblo3sy(const char *name, const char *text);
void cblo3sz(const char *name, const char *text);
void cblo3sw(const char *name, const char *text);
void cblo3md(double lower, double upper, int minimum, int maximum);
void cblo3mi(int lower, int upper, int minimum, int maximum);
void cblo3de(int type, const double *values, int n);
void cblo3ux(int gu, const int *gui, int gxd, int kxd);
void cblopri(const char *text);
void cblosid(int type, double *value, int *ierr);
void cbloerl(int nr, const char *text, int type, const char *lib);"""


def block_in_c(block: BlockText, name: str) -> str:
    """The file.

    Parameters
    ----------
    block : what stands in it.
    name : what the names of the callbacks begin with.
    """
    program = program_of(block, _DIALECT, places_of(block, C), Tables("table"))
    return "\n".join([*_head(block, name), *_formulas(program), *_routines(block, program, name), *_blockb(block, name, program), ""])


def _head(block: BlockText, name: str) -> Iterator[str]:
    yield f"/* {name}: {block.name} as a block of DSblock 3.3, written by tidegate; a change belongs into the model. */"
    yield "#include <math.h>"
    yield ""
    yield "/* the utilities of the environment */"
    yield _UTILITIES
    yield ""


def _declared(name: str) -> str:
    return f"{'int' if name in _INTEGERS else 'double'} *{name}"


def _signature(name: str, arguments: Sequence[str], *, is_local: bool = True) -> str:
    return f"{'static ' if is_local else ''}void {name}({', '.join(map(_declared, arguments))}) {{"


def _formulas(program: Program) -> Iterator[str]:
    yield from c_tables(program.tables, frozenset(name for _, inside in program.formulas for name in inside.tables))
    called = frozenset(name for _, inside in program.formulas for name in inside.called)
    yield from c_helpers(called)
    for formula, inside in program.formulas:
        yield f"/* {formula.comment} */"
        yield _signature(formula.name, formula.arguments)
        body = c_body(inside)
        declarations = [line for line in body if line.startswith(("double ", "int "))]
        yield from (f"    {line}" for line in declarations)
        zeroed = formula.size > len(formula.outputs)
        if zeroed:
            yield "    int zero;"
        text = " ".join(body)
        unused = [f"(void){argument};" for argument in formula.arguments if not is_read(argument, text) and not (argument == "out" and zeroed)]
        if unused:
            yield f"    {' '.join(unused)}"
        if zeroed:
            yield f"    for (zero = 0; zero < {formula.size}; zero++) out[zero] = 0.0;"
        yield from (f"    {line}" for line in body if line not in declarations)
        yield "}"
        yield ""


def _routines(block: BlockText, program: Program, name: str) -> Iterator[str]:
    routines = [*program.routines, *program.callbacks.values()]
    for table in sorted({table for routine in routines for table in routine.tables}):
        values = block.tables[table]
        yield f"static const int {table}[{max(len(values), 1)}] = {{{', '.join(map(str, values)) or '0'}}};"
    yield ""
    if program.says:
        yield "/* what is said when something happens */"
        yield "static void say(int *which) {"
        for k, lines in block.said.items():
            yield f"    if (which[0] == {k}) {{"
            yield from (f"        cblopri({_quoted(line)});" for line in lines)
            yield "    }"
        yield "}"
        yield ""
    if program.asks_end:
        yield "/* the final time; a very late one where it is not known */"
        yield "static void final_time(double *at) {"
        yield "    int ierr = 0;"
        yield "    cblosid(3, at, &ierr);"
        yield "    if (ierr != 0 || !(at[0] < 1e300)) at[0] = 1e301;"
        yield "}"
        yield ""
    if program.complains:
        yield "/* what went wrong */"
        yield "static void complain(int *which) {"
        for k, line in block.complaints.items():
            yield f'    if (which[0] == {k}) cbloerl({k}, {_quoted(line)}, 1, "");'
        yield "}"
        yield ""
    letters = {routine.name: letter for letter, routine in program.callbacks.items()}
    for routine in routines:
        letter = letters.get(routine.name)
        yield from _routine(routine, f"{name}{letter.lower()}" if letter else routine.name, is_local=letter is None)


def _routine(routine: Routine, name: str, *, is_local: bool) -> Iterator[str]:
    yield f"/* {routine.comment} */"
    yield _signature(name, routine.arguments, is_local=is_local)
    for item in routine.local:
        kind = "double" if item.kind == "real" else "int"
        yield f"    {kind} {item.name}{f'[{item.size}]' if item.size else ''};"
    text = " ".join(routine.lines)
    unused = [f"(void){argument};" for argument in routine.arguments if not is_read(argument, text)]
    if unused:
        yield f"    {' '.join(unused)}"
    yield from (f"    {line}" for line in routine.lines)
    yield "}"
    yield ""


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return f'"{plain}"'


def _blockb(block: BlockText, name: str, program: Program) -> Iterator[str]:
    counts = [block.count(letter) for letter in "XUYZW"]
    kinds = [len(block.kind(kind)) for kind in "dil"]
    yield "/* description */"
    arguments = "iopt info sig dim t0 x0 xd0 dp ip lp duser iuser luser ierr".split()
    yield _signature(f"{name}b", [*arguments[:2], "sig", *arguments[3:]], is_local=False).replace("double *sig", "int *sig")
    yield "    (void)t0; (void)x0; (void)xd0; (void)dp; (void)ip; (void)lp; (void)duser; (void)iuser; (void)luser; (void)ierr;"
    yield "    if (*iopt == 1) {"
    yield "        info[0] = 1;"
    yield f'        cblo1dt({_quoted(f"{block.name}, {block.text}"[:132])}, "1.0");'
    yield "    } else if (*iopt == 2) {"
    yield f"        info[0] = {block.form}, info[1] = 0, info[2] = {int('J' in program.callbacks)};"
    yield "        " + " ".join(f"sig[{k}] = {n};" for k, n in enumerate([*counts, len(block.parameters)]))
    yield "        " + " ".join(f"dim[{k}] = {n};" for k, n in enumerate([*counts, *kinds, block.n_memory, 0, 0, *block.parts]))
    yield "    } else {"
    for signal in block.signals:
        yield f"        cblo3s{signal.letter.lower()}({_quoted(signal.name)}, {_quoted(signal.text)});"
    places = {"d": 0, "i": 0, "l": 0}
    for parameter in block.parameters:
        yield f"        cblo3p{parameter.kind}({_quoted(parameter.name)}, {_quoted(parameter.text)});"
        yield from _bounds(parameter)
        number = C.number(parameter.value) if parameter.kind == "d" else str(int(parameter.value))
        yield f"        {parameter.kind}p[{places[parameter.kind]}] = {number};"
        places[parameter.kind] += 1
    for k, value in enumerate(block.x0):
        yield f"        x0[{k}] = {C.number(value)};"
    if block.nominal:
        yield "        {"
        yield f"            const double sizes[{len(block.nominal)}] = {{{', '.join(map(C.number, block.nominal))}}};"
        yield f"            cblo3de(1, sizes, {len(block.nominal)});"
        yield "        }"
    yield "        cblo3ux(1, dim, 0, 0);"
    yield "    }"
    yield "}"


def _bounds(parameter: ParameterText) -> Iterator[str]:
    low, high = parameter.minimum, parameter.maximum
    if parameter.kind == "l" or (low is None and high is None):
        return
    kinds = [0 if bound is None else 1 if bound.is_open else 2 for bound in (low, high)]
    numbers = [0.0 if bound is None else bound.value for bound in (low, high)]
    values = [C.number(value) if parameter.kind == "d" else str(int(value)) for value in numbers]
    yield f"        cblo3m{parameter.kind}({values[0]}, {values[1]}, {kinds[0]}, {kinds[1]});"
