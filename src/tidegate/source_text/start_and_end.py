"""What an exported block does at the start and the end of a run (stage: source text). In: a flat system. Out: formulas, and tables for the rules.

Start values are known from parameters, follow from initial actions, or are solved for in BLOCKS: initial equations, and start values that must hold
of variables that are no states, determine as many states, together with derivatives and algebraic unknowns (``structure.start_unknowns``). Final
actions are carried out by BLOCKV at the final time, or where the model ends the run itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tidegate.compiled.locking import GuardKind
from tidegate.expressions import ONE, TRUE, ZERO, Expr, Role, as_expr, as_real, jacobian, select, substitute, symbol
from tidegate.expressions.sparsity import dependencies
from tidegate.model import Action, Assignment, Message, Terminate
from tidegate.quick_dataclass import dataclass
from tidegate.source_text.block_formulas import ARGUMENTS, Formula, formula, shortened
from tidegate.source_text.flat_system import FlatSystem, initial_values

__all__ = ["StartAndEnd"]

_AT_START = ("t", "dp", "ip", "lp")
_WITH_RATES = ("t", "x", "xd", *ARGUMENTS[2:])


@dataclass(eq=False)
class StartAndEnd:
    """Of a system.

    Parameters
    ----------
    places : the vector and index of every symbol.
    complaints : errors by number; those of checks are added.
    """

    system: FlatSystem
    places: dict[Expr, tuple[str, int]]
    complaints: dict[int, str]

    @cached_property
    def solved(self) -> tuple[Expr, ...]:
        """What is solved for at the start; nothing where formulas give it."""
        unknowns = self.system.start_unknowns
        return (*unknowns.determined, *unknowns.initial, *unknowns.given_way) if self.system.solves_start else ()

    @cached_property
    def _extra(self) -> list[tuple[int, int]]:
        """Unknowns that stand for derivatives, and of which."""
        form = self.system.form
        number = {symbol(Role.DERIVATIVE, s.data.name): k for k, s in enumerate(form.unknowns)}
        return [(form.unknowns.index(extra), number[rate]) for extra, rate in form.derivatives.items()] if self.solved else []

    def numbers(self) -> dict[str, int]:
        """Sizes."""
        memory, final = self.system.memory, self.system.model.final_actions
        return {
            "N_START": len(self.solved), "N_SOLVE": max(len(self.solved), len(self.system.form.unknowns)), "N_EXTRA": len(self._extra),
            "MUST_SOLVE": int(bool(self.system.model.initial_equations)),
            "HAS_FINAL": int(bool(final)), "FINAL_TIME": memory.ending, "FINISHED": memory.ending + 1,
            "ASKS_SOLUTION": int(self._asks_solution()), "N_FIRST_WORDS": len(self.said(self.system.model.initial_actions)),
            "N_LAST_WORDS": len(self.said(final)),
        }  # fmt: skip

    def tables(self) -> dict[str, list[int]]:
        """Where what is solved for stands."""
        found = [self.places[item] for item in self.solved]
        return {
            "start_place": [k for _, k in found],
            "start_is_rate": [int(vector == "xd") for vector, _ in found],
            "extra_place": [k for k, _ in self._extra],
            "extra_rate": [k for _, k in self._extra],
        }

    def _asks_solution(self) -> bool:
        """Whether an action at the start reads what only a consistent start determines."""
        unknowns, assigned = self.system.form.unknowns, [a for a in self.system.model.initial_actions if isinstance(a, Assignment)]
        solved = {unknowns[k] for k in self.system.algebraic} | {symbol(Role.DERIVATIVE, s.data.name) for s in unknowns}
        return bool({s for action in assigned for s in dependencies(action.value)} & solved)

    @staticmethod
    def said(actions: Sequence[Action]) -> list[tuple[str, Expr]]:
        """Sentences, and the conditions under which they are said."""
        found = [(a.text if isinstance(a, Message) else a.message, a.condition) for a in actions if isinstance(a, (Message, Terminate))]
        return [(shortened(text), condition) for text, condition in found if text]

    def formulas(self) -> list[Formula]:
        """All of them."""
        return [*self._start_formulas(), *self._system(), *self._end_formulas()]

    def _start_formulas(self) -> list[Formula]:
        system, memory = self.system, self.system.memory
        starts = initial_values(system)
        unknowns, place = list(system.form.unknowns), self.places
        following = [(k, starts[s]) for k, s in enumerate(unknowns) if dependencies(starts[s])]
        remembered = [(place[s][1], starts[s]) for s in system.discretes]
        remembered += [(memory.previous + k, starts[s]) for k, s in enumerate(system.discretes)]
        now = {symbol(Role.DERIVATIVE, s.data.name): system.model.derivative_starts.get(s.data.name, ZERO) for s in unknowns}
        sources = [(place[g.mode][1], g.source) for g in system.locking.guards if g.kind is not GuardKind.UPPER]
        guesses = substitute([as_real(source) for _, source in sources], now | {_previous(s): s for s in unknowns})
        return [
            formula("states_at_start", "start values that follow from parameters", following, _AT_START),
            formula("memory_at_start", "discrete variables", remembered, _AT_START),
            formula("actions_at_start", "what is done once at the start", self._assigned(system.model.initial_actions), _WITH_RATES),
            formula("modes_at_start", "what relations say of start values", [(k, v) for (k, _), v in zip(sources, guesses, strict=True)]),
            formula("words_at_start", "which sentences are said there", self._asked(system.model.initial_actions), _WITH_RATES),
            self._checks("check_parameters", self._demands(), _AT_START),
            self._checks("check_start", self._held(), ARGUMENTS),
        ]

    def _assigned(self, actions: Sequence[Action]) -> list[tuple[int, Expr]]:
        """New values of unknowns and discrete variables by index."""
        assigned = [action for action in actions if isinstance(action, Assignment)]
        unknowns = self.system.form.unknowns
        values = substitute([as_real(action.value) for action in assigned], {_previous(s): s for s in unknowns})
        index = {s: k for k, s in enumerate((*unknowns, *self.system.discretes))}
        return [(index[action.target], v) for action, v in zip(assigned, values, strict=True) if action.target in index]

    def _asked(self, actions: Sequence[Action]) -> list[tuple[int, Expr]]:
        conditions = [condition for _, condition in self.said(actions)]
        if all(condition is TRUE for condition in conditions):
            return list(enumerate([ONE] * len(conditions)))
        return list(enumerate(substitute([as_real(condition) for condition in conditions], {_previous(s): s for s in self.system.form.unknowns})))

    def _system(self) -> list[Formula]:
        """Equations of the start, and their derivatives."""
        model, n = self.system.model, len(self.solved)
        if not n:
            return [formula("start_residuals", "", []), formula("start_slopes", "", [])]
        residuals = [item.residual for item in (*model.equations, *model.initial_equations, *self.system.start_unknowns.held)]
        slopes = [(i * n + j, v) for (i, j), v in jacobian(residuals, list(self.solved)).items()]
        return [
            formula("start_residuals", "equations that hold at the start", enumerate(map(as_real, residuals)), _WITH_RATES),
            formula("start_slopes", "their derivatives by what is solved for, by rows", slopes, _WITH_RATES, n * n),
        ]

    def _end_formulas(self) -> list[Formula]:
        final = self.system.model.final_actions
        return [
            formula("actions_at_end", "what is done once at the end", self._assigned(final), _WITH_RATES),
            formula("words_at_end", "which sentences are said there", self._asked(final), _WITH_RATES),
        ]

    # -- checks

    def _checks(self, name: str, checks: Sequence[tuple[Expr, str]], arguments: tuple[str, ...]) -> Formula:
        """A number of a complaint, or nothing: the first that is due."""
        value: Expr = ZERO
        for holds, sentence in reversed(checks):
            number = len(self.complaints) + 1
            self.complaints[number] = shortened(sentence)
            value = select(holds, value, as_expr(float(number)))
        return formula(name, "the number of what is wrong", [(0, value)] if checks else [], arguments)

    def _demands(self) -> list[tuple[Expr, str]]:
        found: list[tuple[Expr, str]] = []
        for demand in self.system.reduced.demands:
            size = select(demand.value >= 0.0, demand.value, -demand.value)
            found.append((size <= 1e-12 if demand.is_zero else size > 0.0, demand.sentence))
        periods = [(event.period, event.label) for event in self.system.model.time_events if event.period is not None]
        found += [
            (period > 0.0, f"the period of {label or 'a time event'} is not positive")
            for period, label in periods
            if all(s.data.role is Role.PARAMETER for s in dependencies(period))
        ]
        return found

    def _held(self) -> list[tuple[Expr, str]]:
        found: list[tuple[Expr, str]] = []
        for item in self.system.reduced.held:
            value, start = substitute([item.value, item.start], self.system.form.derivative_values)
            gap, size = value - start, select(start >= 0.0, start, -start)
            near = (gap <= 1e-6 * size + 1e-8) & (-gap <= 1e-6 * size + 1e-8)
            found.append((near, f"the start value of {item.name} does not hold: {item.reason}"))
        return found


def _previous(s: Expr) -> Expr:
    return symbol(Role.PREVIOUS, s.data.name)
