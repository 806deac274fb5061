"""A model of the language as data: what statements edit, files hold, and the language's own method and ``lower`` read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tidegate.errors import Origin
from tidegate.frontends.blocks.language import checks, sorting
from tidegate.frontends.blocks.language.diagnostics import Diagnostic
from tidegate.model import Model

if TYPE_CHECKING:
    from tidegate.frontends.blocks.diagram import Diagram
    from tidegate.frontends.blocks.language.to_diagram import RoutineOf

__all__ = ["NO_PARAMETERS", "BlockStatement", "CsmpProgram", "Parameters"]

Parameters = tuple[float, float, float]

NO_PARAMETERS: Final[Parameters] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class BlockStatement:
    """A configuration statement.

    Parameters
    ----------
    number : of the block, from 2 on; block 1 is time.
    kind : its type, as Table 1 writes it: ``"I"``, ``"T1"``, ``"U"``, ``"U3"``, ``"UO"``, ``"+"``, ...
    inputs : numbers of the blocks it reads; 0 for none.
    signs : of the inputs; only a summer has a -1.
    label, comment : the user's.
    origin : where the statement stands.
    """

    number: int
    kind: str
    inputs: tuple[int, int, int] = (0, 0, 0)
    signs: tuple[int, int, int] = (1, 1, 1)
    label: str = ""
    comment: str = ""
    origin: Origin | None = None


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
        return sorting.sort_list(self)

    def configuration_problems(self) -> list[Diagnostic]:
        """What is wrong with the configuration at its end: inputs, V and Y, UO blocks, loops."""
        return checks.configuration_problems(self)

    def problems(self) -> list[Diagnostic]:
        """Everything that keeps the model from being run; see ``checks``."""
        return checks.problems(self)

    def to_diagram(self, interval: float | None = None, start: float = 0.0, routine_of: RoutineOf | None = None) -> Diagram:
        """The diagram that the program describes, for runs with located events instead of half steps.

        Parameters
        ----------
        interval : the integration interval, which clocks of U, J, Z and T blocks follow; None if the program has neither U nor J blocks.
        start : time of the program's first step, from which clocks count.
        routine_of : knows the routines of user blocks: ``csmp.routines_of(module).of``.

        Raises
        ------
        CsmpError : the program cannot be run.
        UsageError : it needs an interval.
        """
        from tidegate.frontends.blocks.language.to_diagram import to_diagram  # reads programs

        return to_diagram(self, interval, start, routine_of) if routine_of else to_diagram(self, interval, start)

    def lower(self) -> Model:
        """The neutral model, so that ``tg.simulate(program, ...)`` runs it with located events.

        Raises
        ------
        CsmpError : the program cannot be run.
        UsageError : it has blocks that act at half steps; ``to_diagram(interval)`` says what these are.
        """
        return self.to_diagram().lower()

    @property
    def is_configured(self) -> bool:
        """Whether there is a configuration and nothing is wrong with it; what PAR and FUN ask for."""
        return bool(self.blocks) and not self.configuration_problems()

    @property
    def is_complete(self) -> bool:
        """Whether the configuration is good and every function block has coordinate pairs."""
        return self.is_configured and not checks.functions_without_pairs(self)
