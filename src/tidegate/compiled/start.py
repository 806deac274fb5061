"""Values at the start of a run, and their derivatives by parameters (stage: compiled): parameters, start expressions, first guesses of modes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import Contradiction, Direction, Point, StartValues
from tidegate.compiled.initial_system import InitialSystem
from tidegate.compiled.locking import Guard, GuardKind
from tidegate.compiled.many_starts import ManyStarts
from tidegate.compiled.start_together import StartTogether
from tidegate.compiled.vector_symbols import Symbols
from tidegate.errors import InitializationError, Origin
from tidegate.expressions import Evaluation, Expr, Role, as_expr, as_real, dependencies, differentiate, evaluate, substitute, symbol, walk
from tidegate.model import Assignment, Variable, VariableRole
from tidegate.model.validate import checked_starts, checked_times, problems_with, value_problem
from tidegate.structure import Reduced
from tidegate.structure.held_starts import held_starts
from tidegate.structure.linear_solution import is_rounding
from tidegate.structure.passes import Follower

__all__ = ["ExpressionStart"]

FloatArray = NDArray[np.float64]
_TIME = symbol(Role.TIME, "time")
_SAME = 1e-12  # of two start values: so far apart they are one
_ONE_IS_FREE = "give start values that satisfy the constraint, or say where one is a guess: fixed=False, for a part tg.start(0.2, fixed=False)"
_ROUNDED = 1e-3  # of a start value: whoever writes 0.866 for a half of the root of 3 means that
_OF_DEFAULTS = frozenset(["_defaults", "_following", "_together"])  # what is kept that depends on the model's own values
_STARTED = (VariableRole.STATE, VariableRole.ALGEBRAIC, VariableRole.DISCRETE, VariableRole.INPUT)


class ExpressionStart:
    """Start values of a model made of expressions.

    Parameters
    ----------
    reduced, symbols, guards : of it.
    derivatives : unknowns that stand for derivatives, with these.
    asks_solution : whether an initial action reads an algebraic unknown.
    """

    asks_a_block = False

    def __init__(self, reduced: Reduced, symbols: Symbols, guards: Sequence[Guard], derivatives: Mapping[Expr, Expr], *, asks_solution: bool) -> None:
        self._given, self._model, self._symbols, self._derivatives = reduced.given, reduced.model, symbols, derivatives
        self._demands = reduced.demands
        self.asks_parameters = bool(reduced.demands)
        self._guessed = [(guard.source, guard.mode) for guard in guards if guard.kind is not GuardKind.UPPER]
        self.asks_solution = asks_solution
        self._held = reduced.held
        self._held_starts = held_starts(reduced)
        # what is assigned or solved for at the start is no longer what was declared
        is_as_declared = not self._given.initial_equations and not any(isinstance(item, Assignment) for item in self._given.initial_actions)
        unknowns = {item for variable in reduced.model.unknowns for item in variable.symbols()}
        self._doubted = [
            item for item in reduced.followers if item.is_doubted and is_as_declared and not (item.is_beside_held and item.value in unknowns)
        ]
        self.compares = bool(self._held or self._doubted)

    @property
    def guesses(self) -> Mapping[int, bool]:
        """States whose start values give way to a mode that forces them, by place; whether somebody wrote one down."""
        return self._guesses

    @cached_property
    def _guesses(self) -> Mapping[int, bool]:
        states = {item: v for v in self._model.by_role(VariableRole.STATE) for item in v.symbols()}
        found = {k: states[item] for k, item in enumerate(self._symbols.unknowns) if item in states}
        return {
            k: v.fixed is None and bool(v.start) and v.start_source == "declared"
            for k, v in found.items()
            if v.fixed is False or (v.fixed is None and v.start_source != "given")
        }

    def parameters(self, given: Mapping[int, float]) -> FloatArray:
        """Values of all parameters, some given by index; a default may follow from others."""
        values: dict[Expr, float] = {}
        # a default may be an expression of parameters before it
        for k, (parameter, default) in enumerate(zip(self._symbols.parameters, self._defaults, strict=True)):
            values[parameter] = given[k] if k in given else float(default.data) if default.op == "const" else evaluate([default], values)[0]
        return np.array(list(values.values()), dtype=float)

    def standing_at(self, p: FloatArray) -> ExpressionStart:
        """The same with these values as the model's own, which a run has that is given none; no default follows from another any more."""
        other = object.__new__(ExpressionStart)
        vars(other).update({name: value for name, value in vars(self).items() if name not in _OF_DEFAULTS})
        vars(other)["_defaults"] = [as_real(value) for value in p.tolist()]
        return other

    def directions(self, chosen: Sequence[int], given: Collection[int], p: FloatArray) -> list[Direction]:
        """How all parameters move with each chosen one: those that are not given follow by their defaults."""
        places = {parameter: k for k, parameter in enumerate(self._symbols.parameters)}
        following = {k: needs for k, needs in self._following.items() if k not in given}
        known = self._known(p) if following and chosen else {}
        found: list[Direction] = []
        for first in chosen:
            direction = {first: 1.0}
            for k, needs in following.items():  # each behind those that it follows from
                moving = [item for item in needs if places[item] in direction] if k != first else []
                if moving:
                    slopes = evaluate([differentiate(self._defaults[k], item) for item in moving], known)
                    direction[k] = sum(slope * direction[places[item]] for slope, item in zip(slopes, moving, strict=True))
            found.append(direction)
        return found

    @cached_property
    def _following(self) -> dict[int, list[Expr]]:
        """Parameters whose defaults are made of others, and of which."""
        own = set(self._symbols.parameters)
        needs = ([item for item in dependencies(default) if item in own] for default in self._defaults)
        return {k: found for k, found in enumerate(needs) if found}

    @cached_property
    def _defaults(self) -> list[Expr]:
        return [start for v in self._model.parameters for start in v.starts()]

    def _known(self, p: FloatArray) -> dict[Expr, float]:
        return dict(zip(self._symbols.parameters, p.tolist(), strict=True))

    def problem(self, p: FloatArray, *, has_started: bool = False) -> tuple[str, Origin | None] | None:
        """Why the model cannot have these parameters: one is outside its limits, or a clock would have no period."""
        known = self._known(p)
        if not (self._demands or (self._has_times if has_started else self._may_be_wrong(known))):
            return None
        found = problems_with(self._given, known, has_started=has_started)
        if found:
            return found[0]
        # a run begins with a model that was made for its parameters
        asked = [demand for demand in self._demands if not (demand.is_zero if has_started else demand.is_choice)]
        for demand, value in zip(asked, evaluate([demand.value for demand in asked], known), strict=True):
            if abs(value) > _SAME if demand.is_zero else is_rounding(demand.value, known):
                return demand.sentence, demand.origin
        return None

    @cached_property
    def _checked(self) -> tuple[list[Variable], Evaluation]:
        """Variables whose values or start values parameters decide, and these numbers."""
        starts = [(v, item if v.role is VariableRole.PARAMETER else start) for v, item, start in checked_starts(self._given)]
        starts = [(v, start) for v, start in starts if not start.is_constant]
        return [v for v, _ in starts], Evaluation([start for _, start in starts])

    def _may_be_wrong(self, known: Mapping[Expr, float]) -> bool:
        """Whether something is to be said of parameters; with clocks that is looked at in any case."""
        variables, numbers = self._checked
        return self._has_times or any(value_problem(variable, "", number) for variable, number in zip(variables, numbers(known), strict=True))

    @cached_property
    def _has_times(self) -> bool:
        return any(not time.is_constant for _, time in checked_times(self._given))

    def periods(self, p: FloatArray) -> FloatArray:
        """Of every time event its constant period; NaN where it has none."""
        if not self._model.time_events:
            return np.zeros(0)
        values = self._known(p)
        periods = np.full(len(self._model.time_events), math.nan)
        for k, event in enumerate(self._model.time_events):
            if event.period is not None and all(item.op != "symbol" or item in values for item in walk([event.period])):
                (periods[k],) = evaluate([event.period], values)
        return periods

    def values(self, p: FloatArray, t: float, directions: Sequence[Direction], *, with_actions: bool) -> StartValues:
        """Declared start values, or with the initial actions carried out on these, and their derivatives in directions."""
        symbols, layout = self._symbols, self._symbols.layout
        starts, numbers = self._starts_acted_on if with_actions else self._starts_declared
        values = self._known(p)
        values[_TIME] = t
        values |= dict(zip(starts, numbers(values), strict=True))
        m = np.zeros(layout.n_m)
        discretes = [values[s] for s in symbols.discretes]
        m[layout.first_discrete : layout.first_input] = discretes * 2
        m[layout.first_input : layout.first_action] = [values[s] for s in symbols.inputs]
        m[layout.first_form : layout.first_past] = 1.0
        values |= {previous: values[s] for previous, s in self._previous} | dict.fromkeys(symbols.drops, 0.0)
        dy, dd = (self._slopes(starts, targets, directions, values) for targets in (symbols.unknowns, symbols.discretes))
        self._solve_initially(values, dy, dd, directions)
        self._guess_modes(values, m)
        return StartValues(np.array([values[s] for s in symbols.unknowns]), m, dy, dd)

    def together(self, given: Mapping[int, FloatArray | float], count: int, t: float, directions: Sequence[Direction]) -> ManyStarts | None:
        """The same for many runs at once, if nothing has to be solved for or called for them."""
        return None if self._together is None else self._together.at(given, count, t, directions)

    def doubtful(self, given: Mapping[int, FloatArray | float], count: int) -> NDArray[np.bool_] | None:
        """Those that the model may have something against, if nothing has to be solved for or called to tell."""
        return None if self._together is None else self._together.doubtful(given, count)

    @cached_property
    def _together(self) -> StartTogether | None:
        if self.asks_solution or self._initial is not None or self._initial_and_held is not None:
            return None
        found = StartTogether(
            given=self._given,
            symbols=self._symbols,
            defaults=self._defaults,
            starts=self._acted_on,
            rates=self._model.derivative_starts,
            guessed=self._guessed,
            demands=self._demands,
            smallest=_SAME,
        )
        return found if found.is_possible else None

    @cached_property
    def _initial(self) -> InitialSystem | None:
        return InitialSystem(self._model) if self._model.initial_equations else None

    @cached_property
    def _initial_and_held(self) -> InitialSystem | None:
        """With start values that must hold in place of others, if there are any that may give way."""
        found = InitialSystem(self._model, self._held_starts) if self._held_starts.equations else None
        return found if found is not None and found.held else None

    def _solve_initially(self, values: dict[Expr, float], dy: FloatArray, dd: FloatArray, directions: Sequence[Direction]) -> None:
        """Start values as initial equations and those that must hold determine them, in place."""
        symbols, solved, found = self._symbols, self._initial, None
        if self._initial_and_held is not None:
            # where no start has what must hold, or a state has its value already but not to first order, the comparison decides
            with suppress(InitializationError):
                solved, found = self._initial_and_held, self._initial_and_held.solve(values)
        if found is None:
            solved = self._initial
            found = None if solved is None else solved.solve(values)
        if solved is None or found is None:
            return
        values |= found
        values |= {extra: values[rate] for extra, rate in self._derivatives.items() if rate in values}
        if directions:
            given = {s: dy[:, k] for k, s in enumerate(symbols.unknowns)} | {s: dd[:, k] for k, s in enumerate(symbols.discretes)}
            moving = [{symbols.parameters[index]: rate for index, rate in direction.items()} for direction in directions]
            slopes = solved.derivatives(values, moving, given)
            slopes |= {extra: slopes[rate] for extra, rate in self._derivatives.items() if rate in slopes}
            for k, item in enumerate(symbols.unknowns):
                if item in slopes:
                    dy[:, k] = slopes[item]

    def contradiction(self, at: Point, rtol: float) -> Contradiction | None:
        """Why the consistent start is not what was asked for: a start value that must hold, but that others determine, comes out different."""
        for item, start, found in self._differing(self._held, at, rtol):
            if self._gives_way_to(item):
                reason = "no start was found that has it, with what else holds there"
                hint = "give a value that the equations allow, and start values closer to the solution; they are where the search begins"
            else:
                reason, hint = item.reason, _ONE_IS_FREE
            return Contradiction(f"the start value {start:g} of {item.name} is to hold, but comes out as {found:.9g}: {reason}", item.origin, hint)
        return None

    def _gives_way_to(self, item: Follower) -> bool:
        """Whether a state was there whose start value could give way."""
        solved = self._initial_and_held
        return solved is not None and any(equation.left is item.value for equation in solved.held)

    def unused(self, at: Point) -> list[str]:
        """Start values that were given and that the consistent start has not, as sentences."""
        return [
            f"the start value {start:g} of {item.name} is not used: it starts at {found:.6g}, since {item.reason}"
            for item, start, found in self._differing([*self._doubted, *self._given_way], at, _ROUNDED)
        ]

    @cached_property
    def _given_way(self) -> list[Follower]:
        """States with start values of their own that gave way to some that must hold, as if they followed from these."""
        solved = self._initial_and_held
        if solved is None:
            return []
        declared = {
            item: (v.origin, start)
            for v in self._model.by_role(VariableRole.STATE)
            if v.fixed is None and v.start and v.start_source == "declared"
            for item, start in zip(v.symbols(), v.starts(), strict=True)
        }
        own = {name for v in self._given.unknowns for name in v.names}
        return [
            Follower(item.data.name, item, declared[item][1], False, origin=declared[item][0], reason=f"{equation.label} is to hold")
            for item, equation in zip(solved.given_way, solved.held, strict=True)
            if item in declared and item.data.name in own
        ]

    def _differing(self, followers: Sequence[Follower], at: Point, rtol: float) -> Iterator[tuple[Follower, float, float]]:
        """Those whose start value comes out different, with what was wanted and what was found."""
        values = self._symbols.values(at) | {symbol(Role.DERIVATIVE, s.data.name): 0.0 for s in self._symbols.unknowns}
        wanted, given = (evaluate([getattr(item, name) for item in followers], values) for name in ("start", "value"))
        for item, start, found in zip(followers, wanted, given, strict=True):
            if not abs(found - start) <= rtol * (max(abs(start), abs(found)) + 0.01):
                yield item, start, found

    def _slopes(
        self, starts: Mapping[Expr, Expr], targets: Sequence[Expr], directions: Sequence[Direction], values: Mapping[Expr, float]
    ) -> FloatArray:
        slopes = np.zeros((len(directions), len(targets)))
        for k, target in enumerate(targets if directions else ()):
            needs = dependencies(starts[target])
            for row, direction in enumerate(directions):
                for index, rate in direction.items():
                    parameter = self._symbols.parameters[index]
                    if parameter in needs:
                        slopes[row, k] += rate * evaluate([differentiate(starts[target], parameter)], values)[0]
        return slopes

    @cached_property
    def _declared(self) -> dict[Expr, Expr]:
        """For every unknown, discrete variable and input its start value in terms of parameters, before the initial actions."""
        starts = {s: start for v in self._model.by_role(*_STARTED) for s, start in zip(v.symbols(), v.starts(), strict=True)}
        slopes = self._model.derivative_starts
        starts |= {extra: slopes.get(derivative.data.name, as_expr(0.0)) for extra, derivative in self._derivatives.items()}
        return {s: starts[s] for s in (*self._symbols.unknowns, *self._symbols.discretes, *self._symbols.inputs)}

    @cached_property
    def _starts_declared(self) -> tuple[dict[Expr, Expr], Evaluation]:
        return self._declared, Evaluation(self._declared.values())

    @cached_property
    def _starts_acted_on(self) -> tuple[dict[Expr, Expr], Evaluation]:
        return self._acted_on, Evaluation(self._acted_on.values())

    @cached_property
    def _previous(self) -> list[tuple[Expr, Expr]]:
        return [(symbol(Role.PREVIOUS, s.data.name), s) for s in self._symbols.discretes]

    @cached_property
    def _acted_on(self) -> dict[Expr, Expr]:
        """The same in terms of parameters and time, initial actions carried out."""
        assignments = [action for action in self._model.initial_actions if isinstance(action, Assignment)]
        previous = {symbol(Role.PREVIOUS, s.data.name): self._declared[s] for s in self._symbols.discretes}
        changed = substitute([action.value for action in assignments], self._declared | previous)
        return self._declared | {action.target: value for action, value in zip(assignments, changed, strict=True)}

    def _guess_modes(self, values: dict[Expr, float], m: FloatArray) -> None:
        """First values of modes from the user's own relations; the consistent start corrects them."""
        if not self._guessed:
            return
        for name, value in self._model.derivative_starts.items():
            values.setdefault(symbol(Role.DERIVATIVE, name), evaluate([value], values)[0])
        places, numbers, derivatives = self._guesses_of_modes
        for derivative in derivatives:
            values.setdefault(derivative, 0.0)
        for place, number in zip(places, numbers(values), strict=True):
            m[place] = number if math.isfinite(number) else 0.0

    @cached_property
    def _guesses_of_modes(self) -> tuple[list[int], Evaluation, list[Expr]]:
        """Where the modes are, the relations that they are guessed from, and the derivatives that these may read."""
        positions = self._symbols.positions
        derivatives = [symbol(Role.DERIVATIVE, unknown.data.name) for unknown in self._symbols.unknowns]
        return [positions[mode][1] for _, mode in self._guessed], Evaluation([source for source, _ in self._guessed]), derivatives
