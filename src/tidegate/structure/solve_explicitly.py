"""Unknowns that follow from others leave the system (stage: structure; a neutral model of index one at most goes in, a smaller one comes out).

In block lower triangular order an unknown that its own equation gives, linearly and with a divisor that is a number or made of parameters, leaves
the system together with the equation; whatever read it reads its expression. The graph of expressions shares what is common, so this costs nothing
later. A block of several equations is torn (``tearing``): the inner unknowns leave in terms of the tearing variables, and these too where up to three
of them enter linearly. What remains as ``der(x) == expression`` alone is an ODE.

An unknown stays if a clause gives it a value, if its start value must hold exactly, if its own equation holds a condition on it, and wherever putting
it in would change what is computed or make that worse:

* bodies of clauses see values from before the event, and conditions have changed by then: what a body reads holds no condition;
* a condition on what only an opaque function gives could not be searched with bounds;
* where a DAE remains, conditions go on watching an unknown rather than an expression that is not affine in unknowns and time;
* an expression of many unknowns that stands in many equations would fill the Jacobian.

A divisor made of parameters is a demand on their values. Where a run has others the pass is repeated with that divisor avoided.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from tidegate.expressions import Expr, Role, symbol, text, walk
from tidegate.expressions.node_data import OPAQUE
from tidegate.expressions.sparsity import is_affine
from tidegate.expressions.substitute import Substitution
from tidegate.model import Action, Assignment, Equation, Form, Model, Variable, VariableRole, expression_of
from tidegate.model.rewriting import rewritten
from tidegate.quick_dataclass import dataclass
from tidegate.structure.blt import blocks_in_order
from tidegate.structure.delays import kept_for_the_past
from tidegate.structure.incidence import Incidence, incidence
from tidegate.structure.linear_solution import LARGEST, Solution, VanishingError, hidden_symbols, solved, solved_together
from tidegate.structure.matching import maximum_matching
from tidegate.structure.passes import Demand, Passed
from tidegate.structure.tearing import tear

__all__ = ["SolvedBlock", "explicit_blocks", "solve_explicitly"]

_FEW: Final = 100  # unknowns, of which a full Jacobian costs nothing
_SPARSE: Final = 3  # unknowns in an expression that may stand anywhere
_WIDE: Final = 24  # unknowns in an expression that stands in several equations
_FILL: Final = 4  # entries of the Jacobian for one that goes
_LONGEST: Final = 300  # nodes of an expression that is not affine and stands in a condition
_ALWAYS: Final = frozenset({"ge", "gt", "nonzero", "floor", "segment"})
_CONDITION, _CALL, _SLOPE = 1, 2, 4  # what an expression may hold


@dataclass(frozen=True, eq=False)
class SolvedBlock:
    """One block of the block lower triangular form.

    Parameters
    ----------
    equations : numbers of its equations in the model that the pass was given.
    unknowns : names, a derivative as ``der(x)``.
    tearing : of these the tearing variables, if there are several unknowns.
    remaining : of these what is solved for in a run: unknowns that stay, and derivatives that no equation gives alone.
    """

    equations: tuple[int, ...]
    unknowns: tuple[str, ...]
    tearing: tuple[str, ...]
    remaining: tuple[str, ...]


def solve_explicitly(model: Model, /, *, avoided: Collection[Expr] = frozenset()) -> Passed:
    """The model without the unknowns that follow from others by an expression.

    Parameters
    ----------
    model : of index one at most; one that is structurally singular is left as it is.
    avoided : expressions of parameters that must not be divided by.

    Examples
    --------
    >>> from tidegate.expressions import ONE
    >>> from tidegate.model import Variable
    >>> x, i, r = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "i"), symbol(Role.PARAMETER, "r")
    >>> variables = Variable("x", VariableRole.STATE), Variable("i", VariableRole.ALGEBRAIC), Variable("r", VariableRole.PARAMETER, start=(ONE,))
    >>> passed = solve_explicitly(Model("rc", Form.DAE, variables, (Equation(r * i, x), Equation(symbol(Role.DERIVATIVE, "x"), -i))))
    >>> passed.replaced[i], passed.model.equations[0].right, passed.model.form.name
    (x/r, -(x/r), 'ODE')
    """
    found = _solved_model(model, avoided)
    return Passed(model) if found is None else found.passed()


def explicit_blocks(model: Model, avoided: Collection[Expr] = frozenset()) -> tuple[SolvedBlock, ...]:
    """The blocks of a model as ``solve_explicitly`` sees it, in their order; none where it does nothing."""
    found = _solved_model(model, avoided)
    return () if found is None else tuple(found.blocks)


def _is_affine(value: Expr) -> bool:
    """Whether it is, in everything that moves."""
    return is_affine(value, [part for part in walk([value]) if part.op == "symbol" and part.data.role in (Role.UNKNOWN, Role.TIME)])


def _is_long(value: Expr) -> bool:
    """Whether bounds of it are neither cheap nor sharp."""
    return sum(1 for _ in walk([value])) > _LONGEST


def _solved_model(model: Model, avoided: Collection[Expr]) -> _Solving | None:
    if model.form is not Form.DAE or any(part.role == "F" for part in model.opaque_parts):
        return None
    graph = incidence(model)
    matching = maximum_matching(graph.rows, len(graph.columns))
    if not matching.is_perfect:
        return None
    solving = _Solving(model, graph, avoided)
    blocks = blocks_in_order(solving.reads, matching.row_of_column)
    for block in blocks:
        solving.take(block, [matching.column_of_row[row] for row in block])
    if solving.is_ode or not solving.bends_conditions:
        return solving
    straight = _Solving(model, graph, avoided, is_straight=True)
    for block in blocks:
        straight.take(block, [matching.column_of_row[row] for row in block])
    return straight


class _Solving:
    """The pass while it goes on.

    Parameters
    ----------
    model, graph, avoided : what is solved, its incidence, what must not be divided by.
    is_straight : whether what a condition reads goes only where its expression is affine.

    Attributes
    ----------
    reads : for each equation the columns that stand in it, be it in a condition.
    blocks : what was found.
    bends_conditions : whether a condition reads an expression now that is not affine.
    """

    def __init__(self, model: Model, graph: Incidence, avoided: Collection[Expr], *, is_straight: bool = False) -> None:
        self._is_straight, self.bends_conditions = is_straight, False
        self._model, self._avoided, self._graph = model, avoided, graph
        self._items = [
            symbol(Role.DERIVATIVE, name) if variable.role is VariableRole.STATE else item
            for variable in model.unknowns
            for name, item in zip(variable.names, variable.symbols(), strict=True)
        ]
        column_of = {item: k for k, item in enumerate(self._items)}
        self._read = [[item for item in walk((e.left, e.right)) if item.op == "symbol"] for e in model.equations]
        self.reads = [sorted({column_of[item] for item in items if item in column_of}) for items in self._read]
        self._is_large = len(self._items) > _FEW
        self._put_in = Substitution()
        self._gone: dict[Expr, Expr] = {}
        self._slopes: dict[int, tuple[Expr, Expr]] = {}
        self._dropped: set[int] = set()
        self._demands: dict[Expr, Demand] = {}
        self._holds: dict[Expr, int] = {}
        self._seen: set[Expr] = set()
        self._needs: dict[Expr, frozenset[Expr]] = {}
        self.blocks: list[SolvedBlock] = []

    # -- one block after the other

    def take(self, rows: list[int], columns: list[int]) -> None:
        """Solve a block, as far as that is possible; ``columns`` are matched to ``rows``."""
        tearing: tuple[int, ...] = ()
        if len(rows) > 1:
            tearing = self._take_several(rows, columns)
        elif self._items[columns[0]] not in self._held:
            solution = solved(self._model.equations[rows[0]], self._items[columns[0]], self._avoided)
            if solution is not None:
                self._accept(rows[0], self._items[columns[0]], self._put_in(solution.values)[0], solution.divisor)
        names = self._graph.columns
        remaining = tuple(names[column] for column in columns if self._items[column] not in self._needs)
        self.blocks.append(SolvedBlock(tuple(rows), tuple(names[c] for c in columns), tuple(names[c] for c in tearing), remaining))

    def _take_several(self, rows: list[int], columns: list[int]) -> tuple[int, ...]:
        solutions: dict[tuple[int, int], Solution | None] = {}

        def gives(row: int, column: int) -> int:
            if (row, column) not in solutions:
                solutions[row, column] = solved(self._model.equations[row], self._items[column], self._avoided)
            found = solutions[row, column]
            return 0 if found is None else 2 if found.divisor.is_constant else 1

        held = {column for column in columns if self._items[column] in self._held}
        torn = tear(rows, set(columns), self.reads.__getitem__, gives, held)
        chain = [(row, self._items[column], found) for row, column in torn.inner if (found := solutions[row, column]) is not None]
        if not held and len(torn.tearing) <= LARGEST:
            try:
                self._close([self._items[column] for column in torn.tearing], torn.residual, chain)
            except VanishingError:
                return ()  # whole, it can be told from one that has a solution
        for row, item, solution in chain:
            self._accept(row, item, self._put_in(solution.values)[0], solution.divisor)
        return torn.tearing

    def _close(self, tearing: Sequence[Expr], rows: Sequence[int], chain: Sequence[tuple[int, Expr, Solution]]) -> None:
        """Solve for the tearing variables themselves, if they enter linearly, in terms of what is known before the block."""
        inside = Substitution()
        for _, item, solution in chain:
            (inside[item],) = inside(solution.values)
        together = solved_together(inside(self._model.equations[row].residual for row in rows), tearing, self._avoided)
        if together is None:
            return
        found = list(zip(rows, tearing, self._put_in(together.values), strict=True))
        if all(self._is_fit(row, item, value) for row, item, value in found):
            for row, item, value in found:
                self._accept(row, item, value, together.divisor)

    # -- what may go

    def _accept(self, row: int, item: Expr, value: Expr, divisor: Expr) -> None:
        """An unknown is this: it goes, or its equation is said so, or nothing is done."""
        if not self._is_fit(row, item, value):
            return
        if not divisor.is_constant:
            self._demands.setdefault(divisor, self._demand(divisor, row, item))
        if item.data.role is Role.DERIVATIVE:
            self._slopes[row] = (item, value)
        else:
            self._gone[item] = value
            self._dropped.add(row)
        self._needs[item] = self._needed(row, item)
        self._put_in[item] = value

    def _demand(self, divisor: Expr, row: int, item: Expr) -> Demand:
        equation = self._model.equations[row]
        name = f"der({item.data.name})" if item.data.role is Role.DERIVATIVE else item.data.name
        shown = " ".join(equation.origin.text.split()) or f"{equation.left!r} == {equation.right!r}"
        what = f"parameter {divisor.data.name} is 0" if divisor.op == "symbol" else f"{text(divisor)} is 0 with these parameters"
        sentence = f"{what}, by which `{shown}` was divided for {name}; a run can begin with such values, but not come to them"
        return Demand(divisor, sentence, origin=equation.origin, is_choice=True)

    def _is_fit(self, row: int, item: Expr, value: Expr) -> bool:
        """Whether an expression may stand wherever an unknown, or a derivative, stands."""
        holds = self._held_by(value)
        if item.data.role is Role.DERIVATIVE or holds & _SLOPE:
            return not holds & _SLOPE
        if holds & _CONDITION and item in self._read_by_bodies:
            return False
        if item in self._asked:
            bends = not _is_affine(value)
            if holds & _CALL or (bends and (self._is_straight or _is_long(value))):
                return False
            self.bends_conditions |= bends
        return not self._is_large or self._is_sparse(row, item)

    def _held_by(self, value: Expr) -> int:
        for part in walk([value], self._seen):
            own = 0
            if part.op == "symbol":
                own = _SLOPE if part.data.role is Role.DERIVATIVE else 0
            elif part.op in _ALWAYS or part.is_boolean:
                own = _CONDITION
            elif part.op in OPAQUE:
                own = _CALL
            for arg in part.args:
                own |= self._holds[arg]
            self._holds[part] = own
        return self._holds[value]

    def _needed(self, row: int, item: Expr) -> frozenset[Expr]:
        """Unknowns that stay and that the expression of one reads; of a large system only."""
        if not self._is_large:
            return frozenset()
        found: set[Expr] = set()
        for other in self._read[row]:
            if other is not item and other.data.role in (Role.UNKNOWN, Role.DERIVATIVE):
                found |= self._needs.get(other, {other})
        return frozenset(found)

    def _is_sparse(self, row: int, item: Expr) -> bool:
        """Whether the Jacobian has not many more entries where the equation is put in for the unknown."""
        readers = self._readers.get(item, 1) - 1
        if readers <= 1:
            return True
        needs = len(self._needed(row, item))
        return needs <= _SPARSE or (needs <= _WIDE and needs * readers <= _FILL * (needs + readers))

    @cached_property
    def _readers(self) -> dict[Expr, int]:
        found: dict[Expr, int] = {}
        for items in self._read:
            for item in items:
                found[item] = found.get(item, 0) + 1
        return found

    @cached_property
    def _bodies(self) -> list[Action]:
        model = self._model
        actions = [action for when in model.whens for branch in when.branches for action in branch.actions]
        actions += [action for event in (*model.time_events, *model.step_events) for action in event.actions]
        return [*actions, *model.initial_actions, *model.final_actions]

    @cached_property
    def _held(self) -> set[Expr]:
        """Unknowns that stay whatever their equations are."""
        assigned = {action.target for action in self._bodies if isinstance(action, Assignment)}
        moving = {item.data.name for items in self._read for item in items if item.data.role is Role.DERIVATIVE}
        found: set[Expr] = set(kept_for_the_past(self._model))
        for variable in self._model.by_role(VariableRole.ALGEBRAIC):
            for item in variable.symbols():
                if variable.fixed is True or item in assigned or item.data.name in moving:
                    found.add(item)
        return found

    @cached_property
    def _read_by_bodies(self) -> set[Expr]:
        """Unknowns that bodies of clauses read, now or as they were."""
        return {symbol(Role.UNKNOWN, item.data.name) for item in walk(map(expression_of, self._bodies)) if item.op == "symbol"}

    @cached_property
    def _asked(self) -> set[Expr]:
        """Symbols that conditions read directly."""
        model = self._model
        roots = [side for equation in model.equations for side in (equation.left, equation.right)]
        roots += [definition.value for definition in model.definitions]
        roots += [condition for when in model.whens for branch in when.branches for condition in branch.conditions]
        roots += [event.condition for event in model.time_events if event.condition is not None]
        return hidden_symbols(roots)

    # -- the model that remains

    @property
    def is_ode(self) -> bool:
        """Whether every equation that is left gives a derivative."""
        return len(self._slopes) + len(self._dropped) == len(self._model.equations)

    def passed(self) -> Passed:
        """What the pass gives."""
        model = self._model
        if not self._gone and not self._slopes:
            return Passed(model)
        numbered = [replace(equation, label=equation.label or f"equation {row + 1}") for row, equation in enumerate(model.equations)]
        rows = [row for row in range(len(numbered)) if row not in self._dropped]
        before = {symbol(Role.PREVIOUS, item.data.name): value for item, value in self._gone.items()}
        replaced = {**self._gone, **before}
        # derivatives in what remains stay: with the equations that give them they are entries of the mass matrix
        new = rewritten(replace(model, equations=tuple(numbered[row] for row in rows)), replaced)
        equations = [self._said(row, equation) for row, equation in zip(rows, new.equations, strict=True)]
        variables = [part for variable in model.variables for part in self._remaining(variable)]
        form = Form.ODE if self.is_ode else Form.DAE
        new = replace(new, equations=tuple(equations), variables=tuple(variables), form=form)
        return Passed(new, replaced, tuple(self._demands.values()))

    def _said(self, row: int, equation: Equation) -> Equation:
        """The equation of a derivative as it was solved for it."""
        if row not in self._slopes:
            return equation
        item, value = self._slopes[row]
        return replace(equation, left=item, right=value)

    def _remaining(self, variable: Variable) -> list[Variable]:
        items = variable.symbols() if variable.role is VariableRole.ALGEBRAIC else []
        if not any(item in self._gone for item in items):
            return [variable]
        starts = zip(items, variable.starts(), strict=True)
        return [replace(variable, name=item.data.name, shape=(), start=(start,)) for item, start in starts if item not in self._gone]
