"""Values at the start of a run, and their derivatives by parameters (stage: compiled): parameters, start expressions, first guesses of modes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import Contradiction, Direction, Point, StartValues
from tidegate.compiled.initial_system import InitialSystem
from tidegate.compiled.locking import Guard, GuardKind
from tidegate.compiled.vector_symbols import Symbols
from tidegate.errors import Origin
from tidegate.expressions import Expr, Role, as_expr, dependencies, differentiate, evaluate, substitute, symbol, walk
from tidegate.model import Assignment, VariableRole
from tidegate.model.validate import problems_with
from tidegate.structure import Reduced
from tidegate.structure.linear_solution import is_rounding
from tidegate.structure.passes import Follower

__all__ = ["ExpressionStart"]

FloatArray = NDArray[np.float64]
_SAME = 1e-12  # of two start values: so far apart they are one
_ONE_IS_FREE = "give start values that satisfy the constraint, or say where one is a guess: fixed=False, for a part tg.start(0.2, fixed=False)"
_ROUNDED = 1e-3  # of a start value: whoever writes 0.866 for a half of the root of 3 means that
_STARTED = (VariableRole.STATE, VariableRole.ALGEBRAIC, VariableRole.DISCRETE, VariableRole.INPUT)


class ExpressionStart:
    """Start values of a model made of expressions.

    Parameters
    ----------
    reduced, symbols, guards : of it.
    derivatives : unknowns that stand for derivatives, with these.
    asks_solution : whether an initial action reads an algebraic unknown.
    """

    def __init__(self, reduced: Reduced, symbols: Symbols, guards: Sequence[Guard], derivatives: Mapping[Expr, Expr], *, asks_solution: bool) -> None:
        self._given, self._model, self._symbols, self._derivatives = reduced.given, reduced.model, symbols, derivatives
        self._demands = reduced.demands
        self.asks_parameters = bool(reduced.demands)
        self._guessed = [(guard.source, guard.mode) for guard in guards if guard.kind is not GuardKind.UPPER]
        self.asks_solution = asks_solution
        self._held = [item for item in reduced.followers if item.is_held]
        # what is assigned or solved for at the start is no longer what was declared
        is_as_declared = not self._given.initial_equations and not any(isinstance(item, Assignment) for item in self._given.initial_actions)
        unknowns = {item for variable in reduced.model.unknowns for item in variable.symbols()}
        self._doubted = [
            item for item in reduced.followers if item.is_doubted and is_as_declared and not (item.is_beside_held and item.value in unknowns)
        ]
        self.compares = bool(self._held or self._doubted)

    def parameters(self, given: Mapping[int, float]) -> FloatArray:
        """Values of all parameters, some given by index; a default may follow from others."""
        values: dict[Expr, float] = {}
        # a default may be an expression of parameters before it
        for k, (parameter, default) in enumerate(zip(self._symbols.parameters, self._defaults, strict=True)):
            values[parameter] = given[k] if k in given else evaluate([default], values)[0]
        return np.array(list(values.values()), dtype=float)

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
        found = problems_with(self._given, known, has_started=has_started)
        if found:
            return found[0]
        # a run begins with a model that was made for its parameters
        asked = [demand for demand in self._demands if not (demand.is_zero if has_started else demand.is_choice)]
        for demand, value in zip(asked, evaluate([demand.value for demand in asked], known), strict=True):
            if abs(value) > _SAME if demand.is_zero else is_rounding(demand.value, known):
                return demand.sentence, demand.origin
        return None

    def periods(self, p: FloatArray) -> FloatArray:
        """Of every time event its constant period; NaN where it has none."""
        values = self._known(p)
        periods = np.full(len(self._model.time_events), math.nan)
        for k, event in enumerate(self._model.time_events):
            if event.period is not None and all(item.op != "symbol" or item in values for item in walk([event.period])):
                (periods[k],) = evaluate([event.period], values)
        return periods

    def values(self, p: FloatArray, t: float, directions: Sequence[Direction], *, with_actions: bool) -> StartValues:
        """Declared start values, or with the initial actions carried out on these, and their derivatives in directions."""
        symbols, layout = self._symbols, self._symbols.layout
        starts = self._acted_on if with_actions else self._declared
        values = self._known(p)
        values[symbol(Role.TIME, "time")] = t
        values |= dict(zip(starts, evaluate(starts.values(), values), strict=True))
        m = np.zeros(layout.n_m)
        discretes = [values[s] for s in symbols.discretes]
        m[layout.first_discrete : layout.first_input] = discretes * 2
        m[layout.first_input : layout.first_action] = [values[s] for s in symbols.inputs]
        m[layout.first_form :] = 1.0
        values |= {symbol(Role.PREVIOUS, s.data.name): values[s] for s in symbols.discretes}
        dy, dd = (self._slopes(starts, targets, directions, values) for targets in (symbols.unknowns, symbols.discretes))
        if self._initial is not None:
            self._solve_initially(values, dy, dd, directions)
        self._guess_modes(values, m)
        return StartValues(np.array([values[s] for s in symbols.unknowns]), m, dy, dd)

    @cached_property
    def _initial(self) -> InitialSystem | None:
        return InitialSystem(self._model) if self._model.initial_equations else None

    def _solve_initially(self, values: dict[Expr, float], dy: FloatArray, dd: FloatArray, directions: Sequence[Direction]) -> None:
        """Start values as initial equations determine them, in place."""
        assert self._initial is not None
        symbols = self._symbols
        values |= self._initial.solve(values)
        values |= {extra: values[rate] for extra, rate in self._derivatives.items() if rate in values}
        if directions:
            given = {s: dy[:, k] for k, s in enumerate(symbols.unknowns)} | {s: dd[:, k] for k, s in enumerate(symbols.discretes)}
            moving = [{symbols.parameters[index]: rate for index, rate in direction.items()} for direction in directions]
            slopes = self._initial.derivatives(values, moving, given)
            slopes |= {extra: slopes[rate] for extra, rate in self._derivatives.items() if rate in slopes}
            for k, item in enumerate(symbols.unknowns):
                if item in slopes:
                    dy[:, k] = slopes[item]

    def contradiction(self, at: Point, rtol: float) -> Contradiction | None:
        """Why the consistent start is not what was asked for: a start value that must hold, but that others determine, comes out different."""
        for item, start, found in self._differing(self._held, at, rtol):
            sentence = f"the start value {start:g} of {item.name} is to hold, but comes out as {found:.9g}: {item.reason}"
            way_out = "" if item.is_beside_held else f"; or give up fixed=True and write `yield tg.initial_equations(self.{item.name} == {start:g})`"
            return Contradiction(sentence, item.origin, _ONE_IS_FREE + way_out)
        return None

    def unused(self, at: Point) -> list[str]:
        """Start values that were given and that the consistent start has not, as sentences."""
        return [
            f"the start value {start:g} of {item.name} is not used: it starts at {found:.6g}, since {item.reason}"
            for item, start, found in self._differing(self._doubted, at, _ROUNDED)
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
    def _acted_on(self) -> dict[Expr, Expr]:
        """The same in terms of parameters and time, initial actions carried out."""
        assignments = [action for action in self._model.initial_actions if isinstance(action, Assignment)]
        previous = {symbol(Role.PREVIOUS, s.data.name): self._declared[s] for s in self._symbols.discretes}
        changed = substitute([action.value for action in assignments], self._declared | previous)
        return self._declared | {action.target: value for action, value in zip(assignments, changed, strict=True)}

    def _guess_modes(self, values: dict[Expr, float], m: FloatArray) -> None:
        """First values of modes from the user's own relations; the consistent start corrects them."""
        for name, value in self._model.derivative_starts.items():
            values.setdefault(symbol(Role.DERIVATIVE, name), evaluate([value], values)[0])
        for unknown in self._symbols.unknowns:
            values.setdefault(symbol(Role.DERIVATIVE, unknown.data.name), 0.0)
        positions = self._symbols.positions
        for (_, mode), number in zip(self._guessed, evaluate([source for source, _ in self._guessed], values), strict=True):
            m[positions[mode][1]] = number if math.isfinite(number) else 0.0
