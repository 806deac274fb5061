"""What became of a model's unknowns, as plain data for whoever shows a model (stage: structure). In: a neutral model; out: names and texts.

Aliases with the unknown that stays for them, the blocks in the order in which they are solved, with their tearing variables, the states and why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from tidegate.expressions import Expr, Role
from tidegate.model import Model, VariableRole
from tidegate.names import listed, shortened
from tidegate.quick_dataclass import dataclass
from tidegate.structure.aliases import eliminate_aliases
from tidegate.structure.held_starts import held_starts
from tidegate.structure.incidence import incidence
from tidegate.structure.passes import Reduced, reduced
from tidegate.structure.reduce_index import chosen_states, reduce_index
from tidegate.structure.solve_explicitly import explicit_blocks, solve_explicitly
from tidegate.structure.start_unknowns import start_unknowns
from tidegate.structure.state_report import StateReport

__all__ = ["AliasSet", "Block", "StructureReport", "structure_report"]

_MOST: Final = 12
_GUESSES: Final = "guesses, for what is solved for"
_UNUSED: Final = "not used, since these follow from others"


@dataclass(frozen=True, slots=True)
class AliasSet:
    """Unknowns that are one.

    Parameters
    ----------
    stays : the one that is solved for; "" if all are numbers.
    equal, opposite : the others, with the same and with the other sign.
    number : that those in ``equal`` are, where none stays.
    """

    stays: str
    equal: tuple[str, ...] = ()
    opposite: tuple[str, ...] = ()
    number: float | None = None

    def __str__(self) -> str:
        first = self.stays if self.number is None else f"{self.number:g}"
        return " = ".join([first, *shortened(self.equal, _MOST), *shortened([f"-{name}" for name in self.opposite], _MOST)])


@dataclass(frozen=True, slots=True)
class Block:
    """Equations that are solved together, behind all that they need.

    Parameters
    ----------
    equations : as the user counts them, or by their labels.
    unknowns : names, a derivative as ``der(x)``.
    tearing : of these the tearing variables, where there are several.
    remaining : of these what is solved for in a run; the others are expressions of what was before.
    uses : for each equation the unknowns that stand in it, also those of other blocks.
    """

    equations: tuple[str, ...]
    unknowns: tuple[str, ...]
    tearing: tuple[str, ...]
    remaining: tuple[str, ...]
    uses: tuple[tuple[str, ...], ...] = ()

    @property
    def size(self) -> int:
        """Number of its equations."""
        return len(self.equations)

    def __str__(self) -> str:
        given = "" if self.remaining else " (by an expression)" if self.size == 1 else " (by expressions)"
        torn = f", torn at {listed(self.tearing, _MOST)}" if self.tearing else ""
        solved = f", solved for {listed(self.remaining, _MOST)}" if self.remaining and self.size > 1 else ""
        return f"{listed(self.unknowns, _MOST)} from {listed(self.equations, _MOST)}{given}{torn}{solved}"


@dataclass(frozen=True, slots=True)
class StructureReport:
    """What the passes make of a model.

    Parameters
    ----------
    n_unknowns : of the model as it was given; n_solved : of what is solved in its place.
    is_ode : whether that is a system of explicit differential equations.
    aliases : sets of unknowns that are one.
    states : which there are, and why.
    blocks : in the order in which they are solved.
    starts : what becomes of start values of declared states, where not all are states.
    """

    n_unknowns: int
    n_solved: int
    is_ode: bool
    aliases: tuple[AliasSet, ...]
    states: StateReport
    blocks: tuple[Block, ...]
    starts: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        """How much there is, in one line."""
        kind = "explicit differential equations" if self.is_ode else "differential and algebraic equations"
        verb = "is" if self.n_solved == 1 else "are"
        return f"{self.n_unknowns} unknown{'s' * (self.n_unknowns != 1)}, of which {self.n_solved} {verb} solved for, by {kind}"

    def lines(self) -> Iterator[str]:
        """The report as text."""
        yield self.head
        yield from (f"alias: {item}" for item in self.aliases)
        yield from self.states.lines()
        yield from (f"start values {line}" for line in self.starts)
        yield from (f"block {k + 1}: {block}" for k, block in enumerate(self.blocks))


def structure_report(model: Model) -> StructureReport:
    r"""What became of the unknowns of a valid model.

    Raises
    ------
    StructureError : the model cannot be solved.

    Examples
    --------
    >>> from tidegate.expressions import symbol
    >>> from tidegate.model import Equation, Form, Variable, VariableRole
    >>> x, i, j = (symbol(Role.UNKNOWN, name) for name in "xij")
    >>> variables = Variable("x", VariableRole.STATE), *(Variable(name, VariableRole.ALGEBRAIC) for name in "ij")
    >>> model = Model("rc", Form.DAE, variables, (Equation(2 * i, x), Equation(symbol(Role.DERIVATIVE, "x"), j), Equation(i, -j)))
    >>> print(*structure_report(model).lines(), sep="\n")
    3 unknowns, of which 1 is solved for, by explicit differential equations
    alias: i = -j
    1 state: x
    block 1: i from equation 1 (by an expression)
    block 2: der(x) from equation 2 (by an expression)
    """
    aliased = reduced(model, [eliminate_aliases])
    low = aliased.then(reduce_index)
    solved = low.then(solve_explicitly)
    labels = [equation.label or f"equation {k + 1}" for k, equation in enumerate(low.model.equations)]
    graph = incidence(low.model)
    uses = [tuple(graph.columns[column] for column in row) for row in graph.rows]
    blocks = [
        Block(tuple(labels[k] for k in block.equations), block.unknowns, block.tearing, block.remaining, tuple(uses[k] for k in block.equations))
        for block in explicit_blocks(low.model)
    ]
    counts = [sum(variable.size for variable in given.unknowns) for given in (model, solved.model)]
    is_ode = solved.model.form.name == "ODE"
    starts = tuple(_starts(aliased.model, solved))
    hidden = {name for variable in model.variables if variable.is_hidden for name in variable.names}
    return StructureReport(
        counts[0], counts[1], is_ode, tuple(_alias_sets(aliased.replaced, hidden)), chosen_states(aliased.model), tuple(blocks), starts
    )


def _starts(model: Model, solved: Reduced) -> Iterator[str]:
    """Which start values of declared states hold, which are guesses, and which say nothing."""
    followers = {item.name: item for item in solved.followers}
    held = held_starts(solved)
    if not followers and not solved.held:
        return
    given_way = {item.data.name for item in start_unknowns(solved.model, held).given_way} if held.equations else set[str]()
    unknowns = {item for variable in solved.model.unknowns for item in variable.symbols()}
    groups: dict[str, list[str]] = {"hold": [], _GUESSES: [], _UNUSED: []}
    for variable in (item for item in model.by_role(VariableRole.STATE) if not item.is_hidden):
        for name, start in zip(variable.names, variable.starts(), strict=True):
            item = followers.get(name)
            if name in given_way:
                kind = _GUESSES
            elif item is None or item.is_held:
                kind = "hold"
            else:
                kind = _GUESSES if item.value in unknowns else _UNUSED
            groups[kind].append(f"{name} = {start!r}")
    groups["hold"] += [f"{item.name} = {item.start!r}" for item in solved.held if item.name not in followers]
    for what, names in groups.items():
        if names:
            yield f"{what}: {listed(names, _MOST)}"


def _alias_sets(replaced: Mapping[Expr, Expr], hidden: Collection[str]) -> Iterator[AliasSet]:
    """In the order of the first of each, without what no user asks for."""
    equal: dict[Expr, list[str]] = {}
    opposite: dict[Expr, list[str]] = {}
    for item, value in replaced.items():
        if item.data.role is Role.UNKNOWN and item.data.name not in hidden:
            stays = value.args[0] if value.op == "neg" else value
            equal.setdefault(stays, [])
            (opposite if value.op == "neg" else equal).setdefault(stays, []).append(item.data.name)
    for stays, names in equal.items():
        if stays.is_constant:
            yield AliasSet("", tuple(names), (), stays.value)
        else:
            yield AliasSet(stays.data.name, tuple(names), tuple(opposite.get(stays, ())))
