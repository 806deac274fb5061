"""A model of the language as data: what statements edit, files hold, and the language's own method and ``lower`` read; and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from tidegate.csmp.language.block_kinds import NO_PARAMETERS, BlockStatement, Parameters, is_user_kind
from tidegate.csmp.language.diagnostics import Diagnostic, say
from tidegate.csmp.language.sorting import sort_failure, sort_list
from tidegate.later_stages import later
from tidegate.model import Model
from tidegate.quick_dataclass import dataclass

__all__ = ["CsmpProgram", "Routine", "RoutineOf"]

Routine = Callable[..., Any]
RoutineOf = Callable[[BlockStatement, Parameters], Routine | None]

_TIME: Final = 1
_LOWEST_METHOD: Final = -3  # P1 of a function block: INTRP3


@dataclass(eq=False)
class CsmpProgram:
    """Title, blocks, parameters and functions, by block number.

    Parameters
    ----------
    title : of the model.
    blocks : configuration statements.
    parameters : P1, P2, P3 as the user gave them; a block that is not there has zeros.
    functions : coordinate pairs of function blocks, abscissae ascending.
    parameter_comments : comments of parameter statements.
    function_comments : comments behind the block numbers of functions.
    pair_comments : comments of coordinate pairs, by block and abscissa.
    """

    title: str = ""
    blocks: dict[int, BlockStatement] = field(default_factory=dict[int, BlockStatement])
    parameters: dict[int, Parameters] = field(default_factory=dict[int, Parameters])
    functions: dict[int, list[tuple[float, float]]] = field(default_factory=dict[int, list[tuple[float, float]]])
    parameter_comments: dict[int, str] = field(default_factory=dict[int, str])
    function_comments: dict[int, str] = field(default_factory=dict[int, str])
    pair_comments: dict[tuple[int, float], str] = field(default_factory=dict[tuple[int, float], str])

    @property
    def numbers(self) -> list[int]:
        """Numbers of all blocks, ascending."""
        return sorted(self.blocks)

    def parameter(self, number: int) -> Parameters:
        """P1, P2, P3 of a block."""
        return self.parameters.get(number, NO_PARAMETERS)

    def configure(self, statement: BlockStatement) -> bool:
        """Put a block in, in the place of an earlier one of its number, and say whether there was one.

        Parameters stay if the type is the same, and coordinate pairs if both are function blocks (decision R6).
        """
        before = self.blocks.get(statement.number)
        if before is not None and before.kind != statement.kind:
            self._forget_values(statement.number)
        self.blocks[statement.number] = statement
        return before is not None

    def delete(self, number: int) -> bool:
        """Take a block out, with its parameters and coordinate pairs, and say whether it was there."""
        self._forget_values(number)
        return self.blocks.pop(number, None) is not None

    def _forget_values(self, number: int) -> None:
        self.parameters.pop(number, None)
        self.parameter_comments.pop(number, None)
        self.functions.pop(number, None)
        self.function_comments.pop(number, None)
        for place in [place for place in self.pair_comments if place[0] == number]:
            del self.pair_comments[place]

    def sort_list(self) -> list[int]:
        """Numbers of the blocks in the order of their execution.

        Raises
        ------
        CsmpError : SORT FAILURE, with the loop.
        """
        return sort_list(self.blocks)

    # -- what is wrong with it: at the end of the configuration, and before a run; all at once

    def configuration_problems(self) -> list[Diagnostic]:
        """What is wrong with the configuration at its end: inputs that do not exist, wrong V and Y and UO blocks, and a loop."""
        found = [one.at(block.origin) for _, block in sorted(self.blocks.items()) for one in _problems_of(self.blocks, block)]
        failure = sort_failure(self.blocks)
        return [*found, failure] if failure else found

    def problems(self) -> list[Diagnostic]:
        """Everything that keeps the model from being run."""
        if not self.blocks:
            return [say("CONFIGS NOT COMPLETE")]
        found = self.configuration_problems()
        for number in self._functions_without_pairs():
            found.append(say("FUNCTS NOT COMPLETE", n=number, hint=f"give coordinate pairs for block {number}").at(self.blocks[number].origin))
        return found + self._improper_values()

    def _functions_without_pairs(self) -> list[int]:
        return [number for number in self.numbers if self.blocks[number].kind == "F" and not self.functions.get(number)]

    def _improper_values(self) -> list[Diagnostic]:
        """Parameters that no run can use (decision R11): a lag without time constant, a function's method, too few pairs for its degree."""
        found: list[Diagnostic] = []
        for number in self.numbers:
            block = self.blocks[number]
            p1, p2, _ = self.parameter(number)
            hint = ""
            if not all(map(math.isfinite, self.parameter(number))):
                hint = f"the parameters of block {number} must be finite numbers"
            elif block.kind == "T1" and p2 == 0.0:
                hint = f"give the time constant of block {number} as P2; it is 0"
            elif block.kind == "F":
                hint = _fault_of_method(number, p1, len(self.functions.get(number, ())))
            if hint:
                found.append(say("IMPROPER PARAM SPECIFICATION", n=number, hint=hint).at(block.origin))
        return found

    @property
    def is_configured(self) -> bool:
        """Whether there is a configuration and nothing is wrong with it; what PAR and FUN ask for."""
        return bool(self.blocks) and not self.configuration_problems()

    @property
    def is_complete(self) -> bool:
        """Whether the configuration is good and every function block has coordinate pairs."""
        return self.is_configured and not self._functions_without_pairs()

    # -- as a model

    def to_diagram(self, interval: float | None = None, start: float = 0.0, routine_of: RoutineOf | None = None) -> Any:
        """The diagram that the program describes, for runs with located events instead of half steps.

        Parameters
        ----------
        interval : the integration interval, which clocks of U, J, Z and T blocks follow; None if the program has neither U nor J blocks.
        start : time of the program's first step, from which clocks count.
        routine_of : knows the routines of user blocks: ``csmp.routines_of(module).of``.

        Returns
        -------
        Diagram

        Raises
        ------
        CsmpError : the program cannot be run.
        UsageError : it needs an interval.
        """
        return later("to_diagram")(self, interval, start, routine_of)

    def lower(self) -> Model:
        """The neutral model, so that ``tg.simulate(program, ...)`` runs it with located events.

        Raises
        ------
        CsmpError : the program cannot be run.
        UsageError : it has blocks that act at half steps; ``to_diagram(interval)`` says what these are.
        """
        return self.to_diagram().lower()


def _problems_of(blocks: Mapping[int, BlockStatement], block: BlockStatement) -> list[Diagnostic]:
    def kind(number: int) -> str:
        return blocks[number].kind if number in blocks else ""

    missing = [source for source in block.inputs if source not in {0, _TIME} and source not in blocks]
    found = [say("I/P NOT DEFINED", i=source, n=block.number) for source in dict.fromkeys(missing)]
    first, second, _ = block.inputs
    if block.kind == "Y" and second not in missing and kind(second) != "V":
        found.append(say("I/P B2 FOR Y BLK", n=block.number))
    elif block.kind == "Y":
        others = [other for other in sorted(blocks) if other < block.number and blocks[other].kind == "Y" and blocks[other].inputs[1] == second]
        if others:
            hint = f"V block {second} already serves Y block {others[0]}; Y block {block.number} needs a V block of its own"
            found.append(say("ERROR IN BLK", n=block.number, hint=hint))
    if block.kind == "UO" and first not in missing and not is_user_kind(kind(first)):
        found.append(say("I/P B1 FOR UO BLK", n=block.number, m=first))
    return found


def _fault_of_method(number: int, method: float, n_pairs: int) -> str:
    if not method.is_integer() or method < _LOWEST_METHOD:
        return f"P1 of block {number} is {method:g}: 0 or 1 is linear, n a polynomial of degree n, -1 to -3 a routine of yours"
    n_needed = max(int(method), 1) + 1 if method >= 0 else 1
    # a table without any pair is another diagnostic
    if 0 < n_pairs < n_needed:
        return f"block {number} needs at least {n_needed} coordinate pairs for degree {max(int(method), 1)}, and has {n_pairs}"
    return ""
