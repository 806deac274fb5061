"""Which start values equations of the start determine (stage: structure). In: a model with initial equations, what must hold. Out: unknowns.

A matching of the equations with derivatives and algebraic unknowns is extended by one state for each initial equation, by one whose start is a guess
where there is one, else by one whose start was not said to be fixed. A start value that must hold though its variable is no state (``held_starts``)
is one more such equation where a state may give way to it: a guess, else one without a start value, else a declared one that is not said to hold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import accumulate

from tidegate.errors import StructureError
from tidegate.expressions import Expr, Role, symbol
from tidegate.model import Equation, Model, VariableRole
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass
from tidegate.structure.held_starts import HeldStarts
from tidegate.structure.incidence import smooth_symbols
from tidegate.structure.matching import maximum_matching

__all__ = ["StartUnknowns", "start_unknowns"]


@dataclass(frozen=True, eq=False)
class StartUnknowns:
    """What is solved for at the start.

    Parameters
    ----------
    determined : derivatives and algebraic unknowns, which the model's equations determine.
    initial : states that initial equations determine.
    held : start values that take the place of those of states; the others that must hold find no state.
    given_way : these states, one each.
    """

    determined: tuple[Expr, ...]
    initial: tuple[Expr, ...]
    held: tuple[Equation, ...]
    given_way: tuple[Expr, ...]


def start_unknowns(model: Model, held: HeldStarts) -> StartUnknowns:
    """Unknowns of the start.

    Parameters
    ----------
    model : of index one.
    held : start values that must hold.

    Raises
    ------
    StructureError : there are more initial equations than start values that they could determine.
    """
    given = [*model.equations, *model.initial_equations]
    states = [(v, item) for v in model.by_role(VariableRole.STATE) for item in v.symbols()]
    algebraic = [item for v in model.by_role(VariableRole.ALGEBRAIC) for item in v.symbols()]
    determined = [*algebraic, *(symbol(Role.DERIVATIVE, item.data.name) for _, item in states)]
    # in the order in which they give way: guesses, values that nobody gave, those that were declared, those that are to hold
    giving_way: list[list[Expr]] = [[], [], [], []]
    for v, item in states:
        if v.fixed is None:
            giving_way[3 if item in held.pinned else 1 if not v.start or v.start_source == "default" else 2].append(item)
        elif not v.fixed:
            giving_way[0].append(item)
    columns = [*determined, *(item for several in giving_way for item in several)]
    ends = [len(determined) + n for n in accumulate(map(len, giving_way))]
    number = {item: k for k, item in enumerate(columns)}
    rows = [sorted(number[s] for s in smooth_symbols((item.left, item.right)) if s in number) for item in (*given, *held.equations)]
    matching = maximum_matching([[k for k in row if k < len(determined)] for row in rows[: len(model.equations)]], len(determined))
    row_of = {column: row for row, column in enumerate(matching.column_of_row) if column >= 0}
    initial: list[Expr] = []
    for k, item in enumerate(model.initial_equations, len(model.equations)):
        end = _first_path(rows, row_of, k, (ends[0], ends[-1]))
        if end is None:
            raise _too_many(model, item)
        initial.append(columns[end])
    found = [(item, _first_path(rows, row_of, k, ends[:3])) for k, item in enumerate(held.equations, len(given))]
    taken = [(item, columns[end]) for item, end in found if end is not None]
    return StartUnknowns(tuple(determined), tuple(initial), tuple(item for item, _ in taken), tuple(state for _, state in taken))


def _too_many(model: Model, item: Equation) -> StructureError:
    fixed = [name for v in model.by_role(VariableRole.STATE) if v.fixed for name in v.names]
    why = f"; fixed are {listed(fixed)}" if fixed else ""
    text = item.label or f"{item.left!r} == {item.right!r}"
    return StructureError(
        f"{model.name}: no start value is left for the initial equation `{text}` to determine{why}",
        origin=item.origin,
        hint="leave out one of them, or one fixed=True",
    )


def _first_path(rows: Sequence[Sequence[int]], row_of: dict[int, int], start: int, limits: Sequence[int]) -> int | None:
    """One more row matched, with a free column below the first of the limits that allows it."""
    return next((end for limit in limits if (end := _augmented(rows, row_of, start, limit)) is not None), None)


def _augmented(rows: Sequence[Sequence[int]], row_of: dict[int, int], start: int, below: int) -> int | None:
    """One more row matched; the column that it ends with, or None if there is no path to a free column with a number below the limit."""
    came: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        row = waiting.popleft()
        for column in (k for k in rows[row] if k < below and k not in came):
            came[column] = row
            if column not in row_of:
                _turned(row_of, came, start, column)
                return column
            waiting.append(row_of[column])
    return None


def _turned(row_of: dict[int, int], came: Mapping[int, int], start: int, column: int) -> None:
    """The matching with the path that led to a free column turned over."""
    column_of = {row: at for at, row in row_of.items()}
    while True:
        row = came[column]
        row_of[column] = row
        if row == start:
            return
        column = column_of[row]
