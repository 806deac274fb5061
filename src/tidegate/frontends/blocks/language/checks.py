"""What is wrong with a program as a whole: at the end of the configuration, and before a run. In goes a program, out come all diagnostics at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tidegate.frontends.blocks.language import sorting
from tidegate.frontends.blocks.language.diagnostics import Diagnostic, say
from tidegate.frontends.blocks.language.kinds import is_user_kind

if TYPE_CHECKING:
    from tidegate.frontends.blocks.language.program import BlockStatement, CsmpProgram

__all__ = ["configuration_problems", "functions_without_pairs", "improper_values", "problems"]

_TIME: Final = 1
_LOWEST_METHOD: Final = -3  # P1 of a function block: INTRP3


def configuration_problems(program: CsmpProgram) -> list[Diagnostic]:
    """What is wrong at the end of CON: inputs that do not exist, wrong V and Y and UO blocks, and a loop."""
    found = [one.at(block.origin) for _, block in sorted(program.blocks.items()) for one in _problems_of(program, block)]
    failure = sorting.sort_failure(program)
    return [*found, failure] if failure else found


def _problems_of(program: CsmpProgram, block: BlockStatement) -> list[Diagnostic]:
    missing = [source for source in block.inputs if source not in {0, _TIME} and source not in program.blocks]
    found = [say("I/P NOT DEFINED", i=source, n=block.number) for source in dict.fromkeys(missing)]
    first, second, _ = block.inputs
    if block.kind == "Y" and second not in missing and _kind(program, second) != "V":
        found.append(say("I/P B2 FOR Y BLK", n=block.number))
    if block.kind == "UO" and first not in missing and not is_user_kind(_kind(program, first)):
        found.append(say("I/P B1 FOR UO BLK", n=block.number, m=first))
    return found


def _kind(program: CsmpProgram, number: int) -> str:
    return program.blocks[number].kind if number in program.blocks else ""


def functions_without_pairs(program: CsmpProgram) -> list[int]:
    """Function blocks that have no coordinate pairs yet."""
    return [number for number in program.numbers if program.blocks[number].kind == "F" and not program.functions.get(number)]


def improper_values(program: CsmpProgram) -> list[Diagnostic]:
    """Parameters that no run can use (decision R11): a lag without time constant, a function's method, too few pairs for its degree."""
    found: list[Diagnostic] = []
    for number in program.numbers:
        block = program.blocks[number]
        p1, p2, _ = program.parameter(number)
        hint = ""
        if not all(map(math.isfinite, program.parameter(number))):
            hint = f"the parameters of block {number} must be finite numbers"
        elif block.kind == "T1" and p2 == 0.0:
            hint = f"give the time constant of block {number} as P2; it is 0"
        elif block.kind == "F":
            hint = _fault_of_method(number, p1, len(program.functions.get(number, ())))
        if hint:
            found.append(say("IMPROPER PARAM SPECIFICATION", n=number, hint=hint).at(block.origin))
    return found


def _fault_of_method(number: int, method: float, n_pairs: int) -> str:
    if not method.is_integer() or method < _LOWEST_METHOD:
        return f"P1 of block {number} is {method:g}: 0 or 1 is linear, n a polynomial of degree n, -1 to -3 a routine of yours"
    n_needed = max(int(method), 1) + 1 if method >= 0 else 1
    # a table without any pair is another diagnostic
    if 0 < n_pairs < n_needed:
        return f"block {number} needs at least {n_needed} coordinate pairs for degree {max(int(method), 1)}, and has {n_pairs}"
    return ""


def problems(program: CsmpProgram) -> list[Diagnostic]:
    """Everything that keeps a program from being run, all at once."""
    if not program.blocks:
        return [say("CONFIGS NOT COMPLETE")]
    found = configuration_problems(program)
    for number in functions_without_pairs(program):
        found.append(say("FUNCTS NOT COMPLETE", n=number, hint=f"give coordinate pairs for block {number}").at(program.blocks[number].origin))
    return found + improper_values(program)
