"""The power series of a model's unknowns as native functions, made when a method asks for them (stage: compiled)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Final

from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.emit_taylor.emit_members import emit_members
from tidegate.compiled.emit_taylor.emit_series import Arguments, Form, emit_series, form_by_size
from tidegate.compiled.emit_taylor.guard_ranges import NO_GUARDS, WatchedGuards
from tidegate.compiled.emit_taylor.recurrences import NoSeriesError, Program, series_program
from tidegate.compiled.emit_taylor.step_box import MANY, WATCHED
from tidegate.compiled.explicit_rates import ExplicitRates, explicit_rates
from tidegate.compiled.native import NativeModule, load
from tidegate.compiled.series_functions import MembersFunctions, SeriesFunctions
from tidegate.compiled.vector_symbols import Symbols, seed
from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role
from tidegate.expressions.differentiate import tangent
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass

__all__ = ["ExpressionSeries"]

_VALUE: Final = ("t", "y", "p", "m", "out")
_TANGENT: Final = ("t", "y", "v", "p", "m", "dt", "dy", "dp", "dm", "out")
_MOST_WATCHED: Final = 16  # divisors: with more of them others look after them, at a few points of each step
_MOST_EXPONENTS: Final = 40  # watched likewise
_MOST_PARTS, _MOST_ABOVE = 16, 64  # parts of guards, and what is made of them, the same
_HINT: Final = "method='radau' integrates it"
_MOST_ELIMINATED: Final = 30  # unknowns of a model whose derivatives are solved for by expressions without being asked: the time for it grows faster
_SHOWN: Final = 4  # names in a message


@dataclass(eq=False)
class ExpressionSeries:
    """Of a model made of expressions.

    Parameters
    ----------
    symbols : of the flat vectors.
    rhs, mass : the form M y' = f.
    labels : what messages call each row, and where it was written.
    divisors : what the right sides divide by and must not come to zero.
    guards : functions whose zeros are events, as far as steps can watch them.
    """

    symbols: Symbols
    rhs: tuple[Expr, ...]
    mass: Mapping[tuple[int, int], Expr]
    labels: Sequence[tuple[str, Origin | None]]
    divisors: tuple[Expr, ...] = ()
    guards: WatchedGuards | None = None
    _made: dict[tuple[int, bool], SeriesFunctions] = field(default_factory=dict[tuple[int, bool], SeriesFunctions])
    _made_for_many: dict[int, MembersFunctions | None] = field(default_factory=dict[int, "MembersFunctions | None"])

    @property
    def length(self) -> int | None:
        """How many recurrences the unknowns take; None where they have no series, or no expressions give the derivatives."""
        return self._length

    @cached_property
    def _length(self) -> int | None:
        if self._is_coupled and len(self.rhs) > _MOST_ELIMINATED:
            return None
        explicit = self._explicit
        if explicit is None:
            return None
        try:
            return len(series_program(self.symbols.unknowns, explicit.rates).rows)
        except NoSeriesError:
            return None

    def functions(self, order: int, *, with_tangent: bool) -> SeriesFunctions:
        """Machine code for series up to an order.

        Parameters
        ----------
        order : of the last coefficient.
        with_tangent : also for derivatives of the unknowns in a direction.

        Raises
        ------
        UsageError : a right side has no power series.
        """
        if (order, with_tangent) not in self._made:
            self._made[order, with_tangent] = self._make(order, with_tangent=with_tangent)
        return self._made[order, with_tangent]

    def members(self, order: int, *, may_be_made: bool) -> MembersFunctions | None:
        """Machine code for a step of several runs at once, of a model that has power series.

        Parameters
        ----------
        order : of the last coefficient.
        may_be_made : otherwise it is given only if somebody had it made before.

        Returns
        -------
        None also where the series is so long that it is not written out, or every step has to be looked into.
        """
        if order not in self._made_for_many and may_be_made:
            self._made_for_many[order] = self._make_for_many(order)
        return self._made_for_many.get(order)

    def _make_for_many(self, order: int) -> MembersFunctions | None:
        program = self._of_values
        if form_by_size(program, order) is not Form.STRAIGHT or len(program.exponents) > _MOST_EXPONENTS:
            return None
        watched = self._watched(program)
        made = emit_members(program, self._arguments, order, "series", divisors=watched, exponents=program.exponents, guards=self._guards)
        module = load(made.text)
        of_one, of_all = module.address("series.member"), module.address("series.step")
        return MembersFunctions(of_one, of_all, made.n_numbers, made.n_scratch, len(self._guards.roots), module)

    @property
    def _arguments(self) -> Arguments:
        return Arguments(_VALUE, frozenset({"t"}), self.symbols.positions)

    def _make(self, order: int, *, with_tangent: bool) -> SeriesFunctions:
        rates, at_points = self._form.rates, self._of_points
        unknowns = self.symbols.unknowns
        guards = self._guards
        program = self._of_values
        watched = self._watched(program)
        exponents = program.exponents
        values = emit_series(
            program, self._arguments, order, "series",
            rests_at_zero=True, with_step=True, divisors=watched, exponents=exponents[:_MOST_EXPONENTS], guards=guards,
        )  # fmt: skip
        module = load(values.first, values.behind)
        kept: list[NativeModule] = [module]
        address_of_tangent, n_numbers = 0, values.n_numbers
        if with_tangent:
            seeds = {s: direction for s, direction in self.symbols.seeds().items() if s.data.role is not Role.TIME}
            moves = tangent(list(rates), seeds)
            directions = [seed("dy", k) for k in range(len(unknowns))]
            arguments = Arguments(_TANGENT, frozenset({"t", "dt"}), self.symbols.positions | self.symbols.seed_positions())
            program = self._program([*unknowns, *directions], [*rates, *moves])
            both = emit_series(program, arguments, order, "series_tangent")
            kept.append(load(both.first, both.behind))
            address_of_tangent = kept[1].address("series_tangent")
            n_numbers = max(n_numbers, both.n_numbers)
        return SeriesFunctions(
            address=module.address("series"),
            address_of_step=module.address("series.step"),
            address_of_tangent=address_of_tangent,
            address_of_rates=0 if at_points is None else at_points.address("rates"),
            address_of_followers=at_points.address("followers") if at_points is not None and self._form.values else 0,
            n_numbers=n_numbers,
            n_watched=len(watched),
            n_guards=len(guards.roots),
            exponentials=0 if not exponents else WATCHED if len(exponents) <= _MOST_EXPONENTS else MANY,
            keep_alive=(*kept, at_points),
        )

    @cached_property
    def _guards(self) -> WatchedGuards:
        """Those that a whole step watches."""
        guards = self.guards
        is_little = guards is not None and len(guards.parts) <= _MOST_PARTS and len(guards.above) <= _MOST_ABOVE
        return guards if guards is not None and is_little else NO_GUARDS

    @cached_property
    def _of_values(self) -> Program:
        """The recurrences of the unknowns, and of what is watched; the same for all orders."""
        return self._program(self.symbols.unknowns, self._form.rates, self._guards)

    def _program(self, states: Sequence[Expr], rates: Sequence[Expr], guards: WatchedGuards = NO_GUARDS) -> Program:
        try:
            return series_program(states, rates, guards.parts, guards.firsts)
        except NoSeriesError as found:
            label, origin = self._where(states, rates)
            raise UsageError(f"method 'taylor' cannot integrate {label}: {found.why}", origin=origin, hint=_HINT) from None

    def _watched(self, program: Program) -> tuple[Expr, ...]:
        """The divisors, if the program has the series of them all."""
        known = {row.target for row in program.rows}
        return self.divisors if len(self.divisors) <= _MOST_WATCHED and known.issuperset(self.divisors) else ()

    def _where(self, states: Sequence[Expr], rates: Sequence[Expr]) -> tuple[str, Origin | None]:
        """The first equation that has no series."""
        for index, rate in enumerate(rates):
            try:
                series_program(states, [rate] * len(states))
            except NoSeriesError:
                return self.labels[index % len(self.labels)]
        return "the model", None

    @property
    def _is_coupled(self) -> bool:
        """Whether there are algebraic unknowns, or equations with several derivatives."""
        return len(self.mass) < len(self.rhs) or any(i != j for i, j in self.mass)

    @cached_property
    def _explicit(self) -> ExplicitRates | None:
        return explicit_rates(self.symbols.unknowns, self.rhs, self.mass)

    @cached_property
    def _form(self) -> ExplicitRates:
        """y' as expressions."""
        unknowns = self.symbols.unknowns
        if self._explicit is not None:
            return self._explicit
        moving = {j for _, j in self.mass}
        names = [s.data.name for k, s in enumerate(unknowns) if k not in moving]
        if names:
            kind = "is an algebraic unknown that follows" if len(names) == 1 else "are algebraic unknowns that follow"
            raise UsageError(f"method 'taylor' solves differential equations, and {listed(names, _SHOWN)} {kind} from no expression", hint=_HINT)
        row = next(i for i, j in self.mass if i != j)
        label, origin = self.labels[row]
        raise UsageError(
            f"method 'taylor' integrates equations that can be solved for each derivative, and {label} holds several", origin=origin, hint=_HINT
        )

    @cached_property
    def _of_points(self) -> NativeModule | None:
        """The functions of rates and followers, where the model's own right sides are not the rates."""
        form = self._form
        if not form.values and all(i == j for i, j in self.mass):
            return None
        places = {s: k for k, s in enumerate(self.symbols.unknowns)}
        outputs = {"rates": list(enumerate(form.rates)), "followers": [(places[s], value) for s, value in form.values.items()]}
        return load(emit_module([FunctionSpec(name, _VALUE, frozenset({"t"}), self.symbols.positions, of) for name, of in outputs.items()]))
