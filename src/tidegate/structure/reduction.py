"""The reduction of one model's index (stage: structure), where there are constraints between states: what is differentiated, chosen, refused.

``reduce_index`` tells whether there is anything to do, and what it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from tidegate.errors import StructureError
from tidegate.expressions import Expr, Role, jacobian, substitute, walk
from tidegate.model import Action, Assignment, Model, VariableRole
from tidegate.model.rewriting import expressions_of
from tidegate.names import listed, shortened
from tidegate.quick_dataclass import dataclass
from tidegate.structure.aliases import eliminate_aliases
from tidegate.structure.analyse import equation_name
from tidegate.structure.derived_equations import derivatives_in_time, opaque_in, own_symbol, value_symbol, without_rests
from tidegate.structure.dummy_derivatives import Constraints, Dummies, choose_dummies
from tidegate.structure.fitting_resets import with_fitting_resets
from tidegate.structure.incidence import smooth_symbols
from tidegate.structure.pantelides import Orders, differentiations
from tidegate.structure.passes import Demand, Follower, Passed, Reduced
from tidegate.structure.reduced_model import Element, StartsOf, reduced_model
from tidegate.structure.state_report import Demoted, OpenGroup, StateReport

__all__ = ["Reduction", "not_honoured"]

_RANK: Final = {"never": -2, "avoid": -1, "default": 0, "prefer": 1, "always": 2}
_MOST_NAMED: Final = 4


def not_honoured(model: Model, name: str, wish: str, why: str = "") -> StructureError:
    """What is said where a wish about a state cannot be fulfilled."""
    origin = next((v.origin for v in model.unknowns if name in (v.name, *v.names)), model.origin)
    if wish == "never":
        what = f'{name} has state_select="never", but no constraint determines it: it is a state'
    else:
        what = f'{name} has state_select="always", but {why or "it is determined without a derivative"}'
    return StructureError(what, origin=origin, hint='"avoid" and "prefer" are wishes that may go unfulfilled')


@dataclass(eq=False)
class Reduction:
    """Everything about the reduction of one model, made when it is asked for."""

    model: Model

    @cached_property
    def elements(self) -> list[Element]:
        """The unknowns."""
        return [
            Element(name, variable, start) for variable in self.model.unknowns for name, start in zip(variable.names, variable.starts(), strict=True)
        ]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {element.name: j for j, element in enumerate(self.elements)}

    @cached_property
    def starts(self) -> StartsOf:
        """Start values."""
        return StartsOf(self.model)

    @cached_property
    def orders(self) -> Orders:
        """How often equations are differentiated."""
        column_of = {value_symbol(element.name, order): (j, order) for j, element in enumerate(self.elements) for order in (0, 1)}
        rows: list[dict[int, int]] = []
        for equation in self.model.equations:
            row: dict[int, int] = {}
            for item in smooth_symbols((equation.left, equation.right)):
                if item in column_of:
                    j, order = column_of[item]
                    row[j] = max(order, row.get(j, 0))
            rows.append(row)
        highest = [0] * len(self.elements)
        for item in walk(expressions_of(self.model)):
            if item.op == "symbol" and item.data.role is Role.DERIVATIVE and item in column_of:
                highest[column_of[item][0]] = 1
        return differentiations(rows, highest)

    @cached_property
    def constraints(self) -> list[int]:
        """Equations that are differentiated."""
        return [k for k, times in enumerate(self.orders.equations) if times]

    @cached_property
    def _assigned(self) -> set[str]:
        return {action.target.data.name for _, action in self._assignments()}

    def _assignments(self) -> Iterator[tuple[tuple[Action, ...], Assignment]]:
        model = self.model
        bodies = [branch.actions for when in model.whens for branch in when.branches]
        bodies += [event.actions for event in (*model.time_events, *model.step_events)]
        for actions in bodies:
            yield from ((actions, action) for action in actions if isinstance(action, Assignment) and action.target.data.role is Role.UNKNOWN)

    @cached_property
    def dummies(self) -> Dummies:
        """What becomes algebraic."""
        self._refuse_what_is_opaque()
        c, d = self.orders.equations, self.orders.unknowns
        residuals = [self.model.equations[k].residual for k in self.constraints]
        symbols = [value_symbol(element.name, order) for element in self.elements for order in (0, 1)]
        slopes: dict[int, dict[int, Expr]] = {k: {} for k in self.constraints}
        entries = jacobian(residuals, symbols)
        for (row, column), plain in zip(entries, without_rests(list(entries.values()), residuals), strict=True):
            k, j, order = self.constraints[row], column // 2, column % 2
            if c[k] + order == d[j]:
                slopes[k][j] = plain
        constraints = Constraints(
            self.orders, slopes, self._rank, self._may_be_dummy, self._must_be_dummy, self.starts.numbers, self.starts.parameters
        )
        found = choose_dummies(constraints)
        self._refuse_what_does_not_fit(found)
        return found

    def _rank(self, j: int, order: int) -> Any:
        """The less, the rather the derivative is a dummy: the wish, then what is lost if the unknown below is no state."""
        if order > 1:
            return (min(_RANK.values()), 0)  # what the user has no name for
        element = self.elements[j]
        is_declared = element.variable.role is VariableRole.STATE
        loss = 4 * (element.name in self._assigned) + 3 * element.is_held if is_declared else 0
        # what was given counts before what was declared, and that before the default of a part
        worth = {"default": 0, "declared": 1, "given": 2}[element.variable.start_source] if element.variable.fixed is not False else 0
        return (_RANK[element.variable.state_select], 1 + worth + loss if is_declared else 0)

    def _may_be_dummy(self, j: int, order: int) -> bool:
        return order > 1 or self.elements[j].variable.state_select != "always"

    def _must_be_dummy(self, j: int, _order: int) -> bool:
        return self.elements[j].variable.state_select == "never"

    # -- refusals -----------------------------------------------------------------------------------------------------------------------------------

    def _name(self, k: int) -> str:
        return equation_name(self.model, k)

    def _refuse_what_is_opaque(self) -> None:
        for k in self.constraints:
            function = opaque_in(self.model.equations[k].residual)
            if function:
                raise StructureError(
                    f"{self._name(k)} constrains states and would have to be differentiated, but of the function `{function}` in it "
                    "only values are known",
                    origin=self.model.equations[k].origin,
                    hint="write the function so that it can be traced, or replace the constraint by its derivative with respect to time",
                )

    def _refuse_what_does_not_fit(self, found: Dummies) -> None:
        model, d = self.model, self.orders.unknowns
        if found.refused:
            k = found.refused[0]
            held = [e for e in self._in(k) if d[self._place[e.name]] and e.variable.state_select == "always"]
            raise not_honoured(model, held[0].name if held else self.elements[0].name, "always", f"{self._name(k)} leaves it no freedom")
        if found.dependent:
            named = "\n".join(f"  - {name}" for name in shortened(map(self._name, self.constraints), _MOST_NAMED))
            raise StructureError(
                f"the constraints of {model.name} are not independent: {self._name(found.dependent[0])} follows from the others, or contradicts "
                f"them\n{named}",
                origin=model.equations[found.dependent[0]].origin,
                hint="leave one of them out, with one of the forces or flows that hold them",
            )
        for j, element in enumerate(self.elements):
            wish = element.variable.state_select
            if wish == "never" and d[j] and (j, 1) not in found.because:
                raise not_honoured(model, element.name, wish)
            if wish == "always" and not d[j]:
                raise not_honoured(model, element.name, wish)
        self._refuse_resets(found)

    def _in(self, k: int) -> list[Element]:
        """The unknowns that stand in an equation, themselves or with their derivatives, in the order of the model."""
        equation = self.model.equations[k]
        items = smooth_symbols((equation.left, equation.right))
        present = {self._place[item.data.name] for item in items if item.data.role in (Role.UNKNOWN, Role.DERIVATIVE)}
        return [self.elements[j] for j in sorted(present)]

    def _refuse_resets(self, found: Dummies) -> None:
        """An event cannot give a value to what a constraint determines; of states that are chosen while the model runs it must give all."""
        place = self._place
        groups = {j: choice for choice in found.open for j, order in choice.order.items() if order == 1}
        for actions, action in self._assignments():
            j = place[action.target.data.name]
            if self.elements[j].variable.role is not VariableRole.STATE:
                continue
            if (j, 1) in found.because:
                others = [e.name for e in self._in(found.because[j, 1]) if e is not self.elements[j]]
                raise StructureError(
                    f"{self.elements[j].name} is reset by an event, but it is determined by {self._name(found.because[j, 1])}",
                    origin=action.origin,
                    hint=f"reset {listed(others, _MOST_NAMED) or 'a state'} instead" + ", or what these depend on",
                )
            if j in groups:
                given = {a.target.data.name for a in actions if isinstance(a, Assignment)}
                missing = [self.elements[i].name for i in groups[j].columns if self.elements[i].name not in given]
                if missing:
                    raise StructureError(
                        f"{self.elements[j].name} is reset by an event that leaves {listed(missing, _MOST_NAMED)} alone, but "
                        f"{self._name(groups[j].rows[0])} ties them together, and which of them are states changes while the model runs",
                        origin=action.origin,
                        hint=f"reset {listed(missing, _MOST_NAMED)} too, to values that fit the constraint",
                    )

    # -- the result ---------------------------------------------------------------------------------------------------------------------------------

    def passed(self) -> Passed:
        """The new model, without the aliases that the reduction has made of equations der(x) == v."""
        found = reduced_model(self.model, self.elements, self.orders, self.dummies, self.starts)
        followers = tuple(replace(item, reason=self._reason(item), is_beside_held=self._is_beside_held(item)) for item in found.followers)
        before = Reduced(self.model, found.model, found.replaced, tuple(self._demands()), followers=followers)
        after = before.then(eliminate_aliases)
        # where states are chosen while the model runs bodies give values to all that are tied; else to what is free, and the rest follows
        whole = with_fitting_resets(after.model, self._ties(after)) if self.dummies.open else after.model
        return Passed(whole, after.replaced, after.demands, followers=after.followers)

    def _ties(self, after: Reduced) -> list[tuple[Expr, str]]:
        """Constraints between unknowns of the new model, and what they are called."""
        times = self.orders.equations
        derived = derivatives_in_time([equation.residual for equation in self.model.equations], times)
        several = [(k, order, residual) for k, found in enumerate(derived) for order, residual in enumerate(found) if order < times[k]]
        own = {value_symbol(e.name, order): own_symbol(e.name, order) for e in self.elements for order in range(1, max(times, default=0) + 1)}
        residuals = substitute(substitute([residual for *_, residual in several], own), after.replaced)
        called = [("", "the derivative of ", "the second derivative of ")[min(order, 2)] + self._name(k) for k, order, _ in several]
        return list(zip(residuals, called, strict=True))

    def _demands(self) -> Iterator[Demand]:
        for (j, k), pivot in self.dummies.demanded.items():
            name = self.elements[j].name
            sentence = f"{self._name(k)} determines {name} only while {pivot!r} is not zero; for the model's own parameters that is so"
            yield Demand(pivot, sentence, origin=self.model.equations[k].origin)

    def _is_beside_held(self, follower: Follower) -> bool:
        row = self.dummies.because.get((self._place[follower.name], 1), follower.row)
        return row >= 0 and any(element.is_held for element in self._in(row) if element.name != follower.name)

    def _reason(self, follower: Follower) -> str:
        report = self.report
        row = self.dummies.because.get((self._place[follower.name], 1), follower.row)
        among = self._in(row) if row >= 0 else []
        present = [e.name for e in among if e.name != follower.name]
        others = [name for name in present if name in report.states] or present
        if not others:
            return f"it is determined by {self._name(row)}"
        too = {element.name for element in among if element.is_held}
        named = listed((f"{name}, whose start value is to hold too," if name in too else name for name in others), _MOST_NAMED)
        return f"it follows from {named} by {self._name(row)}"

    @cached_property
    def report(self) -> StateReport:
        """What was chosen, and why."""
        found, d = self.dummies, self.orders.unknowns
        frozen = {(row, j) for rows, columns in found.frozen for row in rows for j in columns}
        open_at = {j for choice in found.open for j in choice.order}
        declared = [j for j, element in enumerate(self.elements) if element.variable.role is VariableRole.STATE]
        demoted = [
            Demoted(self.elements[j].name, self._name(row), (row, j) in frozen) for j in declared if (row := found.because.get((j, 1))) is not None
        ]
        groups = [
            OpenGroup(
                tuple(self.elements[j].name for j in choice.columns),
                len(choice.columns) - len(choice.rows),
                tuple(map(self._name, choice.rows)),
            )
            for choice in reversed(found.open)
        ]
        states = [element.name for j, element in enumerate(self.elements) if d[j] and (j, 1) not in found.because and j not in open_at]
        return StateReport(tuple(states), tuple(demoted), tuple(groups), tuple((self._name(k), self.orders.equations[k]) for k in self.constraints))
