"""The function that gives the power series of states, as LLVM text (stage: compiled): a program of recurrences in, a module out.

The values themselves, coefficients of order zero, are computed by ``compiled.emit_llvm`` like every other function of the model, so that they agree
with it to the last bit. What follows is written out where that is short, and loops where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final

from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.emit_taylor.guard_ranges import NO_GUARDS, WatchedGuards
from tidegate.compiled.emit_taylor.lanes import LanePlan, lane_functions
from tidegate.compiled.emit_taylor.packed_line import packed_series
from tidegate.compiled.emit_taylor.recurrences import Program
from tidegate.compiled.emit_taylor.straight_line import StraightSeries, fused_declarations, stores, straight_series
from tidegate.compiled.emit_taylor.whole_step import step_declarations, whole_step
from tidegate.compiled.native import KeptText
from tidegate.compiled.number_table import NumberTable, is_written
from tidegate.expressions import Expr
from tidegate.quick_dataclass import dataclass

__all__ = ["Arguments", "Form", "SeriesText", "emit_series", "form_by_size"]

_SHORT: Final = 20_000  # products of two coefficients, about, that are written out; LLVM takes some 20 microseconds for one
_MIDDLE: Final = 5_000  # the same, up to eight of which are one instruction, ...
_NOT_MANY: Final = 100  # ... in so many rows; loops take as long from there on, and a third of the time to compile
_FEW: Final = 40  # rows that are written out one by one; more of them are faster side by side
_MOST_TEXTS: Final = 16  # that are kept
_LINE: Final = 8  # numbers in a line of the cache
_OF_SUMS: Final = {"mul": 0.5, "div": 0.5, "sqrt": 0.25, "product": 0.5, "quotient": 0.5, "power": 1.0, "angle": 1.5}  # products, of order squared


class Form(Enum):
    """How the recurrences are written."""

    STRAIGHT = "straight"
    PACKED = "packed"
    LOOPED = "looped"


@dataclass(frozen=True, eq=False)
class Arguments:
    """What a function is given: names in order, which are passed as numbers, and where each symbol stands in them."""

    names: tuple[str, ...]
    by_value: frozenset[str]
    positions: dict[Expr, tuple[str, int]]


@dataclass(frozen=True, eq=False)
class SeriesText:
    """A module with one function, of which the second part is kept for others, and how many numbers it needs behind ``out``."""

    first: str
    behind: KeptText
    n_numbers: int
    form: Form

    @property
    def text(self) -> str:
        """Both parts."""
        return self.first + self.behind.text


def emit_series(
    program: Program,
    arguments: Arguments,
    order: int,
    name: str,
    *,
    form: Form | None = None,
    rests_at_zero: bool = False,
    with_step: bool = False,
    divisors: Sequence[Expr] = (),
    exponents: Sequence[Expr] = (),
    guards: WatchedGuards = NO_GUARDS,
) -> SeriesText:
    """The function ``name(..., out)`` of the coefficients of all states.

    The caller puts the unit of time into out[0]: coefficients belong to powers of (t - t_0) / unit. Coefficient k = 1 ... order of state q comes to
    out[1 + (k - 1) n + q]. What is behind belongs to the function.

    Parameters
    ----------
    program : the recurrences.
    arguments : of the function, the last, ``out``, being the array of numbers.
    order : of the last coefficient.
    name : its symbol.
    form : written out number by number, or vector by vector, or in loops over the order; None: by its size.
    rests_at_zero : roots and powers of zero stay what they are there, which is right only of a base that stays zero; for callers that compare the
        polynomial with the equations. Otherwise their coefficients are not finite.
    with_step : also the function of a whole step (``whole_step``), for the arguments t, y, p, m, out.
    divisors, exponents : rows of the program that such a step watches: whether they keep clear of zero, and how far they move.
    guards : what it watches of guards, of whose parts there are rows.
    """
    n = len(program.states)
    begin = -(-(1 + order * n) // _LINE) * _LINE
    moving = [item for item in program.first if item.op != "const"]
    chosen = form or form_by_size(program, order)
    plan = None if chosen is Form.STRAIGHT else LanePlan(program)
    places = {item: begin + (k if plan is None else plan.slots[item]) for k, item in enumerate(moving)}
    start = FunctionSpec(f"{name}.start", arguments.names, arguments.by_value, arguments.positions, [(at, item) for item, at in places.items()])
    given = [f"{'double' if argument in arguments.by_value else 'ptr'} %{argument}" for argument in arguments.names]
    declared = ", ".join([*given, *(["ptr %out"] if "out" not in arguments.names else [])])
    n_numbers = begin + (len(moving) if plan is None else plan.width * (order + 1 if chosen is Form.LOOPED else 1))
    task = _Behind(program, plan, places, begin, order, name, declared, chosen, rests_at_zero, with_step, divisors, exponents, guards)
    functions, values = _kept_text(task)
    numbers = NumberTable(values)
    module = emit_module([start], numbers=numbers)
    declarations = step_declarations(n, module) if with_step else ""
    return SeriesText(f"{numbers.definition()}{module}\n{declarations}", functions, n_numbers, chosen)


@dataclass(frozen=True, eq=False)
class _Behind:
    """What the functions behind the one of first coefficients are made from."""

    program: Program
    plan: LanePlan | None
    places: Mapping[Expr, int]
    begin: int
    order: int
    name: str
    declared: str
    form: Form
    rests_at_zero: bool
    with_step: bool
    divisors: Sequence[Expr]
    exponents: Sequence[Expr]
    guards: WatchedGuards

    def text(self, numbers: NumberTable) -> str:
        """These functions."""
        program, name, order = self.program, self.name, self.order
        watched = (*self.divisors, *self.exponents, *self.guards.parts)
        pieces, step = "", ""
        if self.plan is not None and self.form is Form.LOOPED:
            pieces, lines = lane_functions(program, self.plan, self.begin, order, name, numbers, rests_at_zero=self.rests_at_zero)
            if self.with_step:
                step = self._step([_places_of(item, self.places, self.plan) for item in watched], numbers)
        else:
            made = _written_out(program, self.plan, self.places, order, numbers, watched, rests_at_zero=self.rests_at_zero)
            if self.with_step:
                nothing = ", ".join(["ptr null"] * 4)
                return self._step(made, numbers) + self._outer(f"  %done = call i64 @{name}.step({self.declared}, {nothing}) nounwind")
            lines = [*made.lines, *stores(made)]
        body = "\n".join(lines)
        rest = f"{pieces}\ndefine internal void @{name}.rest(ptr %out) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"
        calls = f"  call void @{name}.start({self.declared}) nounwind\n  call void @{name}.rest(ptr %out) nounwind"
        return f"{rest}{self._outer(calls)}{step}"

    def _outer(self, calls: str) -> str:
        return f"define void @{self.name}({self.declared}) nounwind {{\nentry:\n{calls}\n  ret void\n}}\n"

    def _step(self, series: StraightSeries | Sequence[Callable[[int], int]], numbers: NumberTable) -> str:
        program = self.program
        rates = [float(rate.value) if rate.op == "const" else self.places[rate] for rate in program.rates]
        return whole_step(
            self.name, len(program.states), self.order, rates, series, numbers,
            n_exponents=len(self.exponents), is_affine=program.is_affine, guards=self.guards, places=self.places,
        )  # fmt: skip

    def shape(self) -> tuple[tuple[object, ...], dict[float, int]]:
        """All that the text depends on, in which numbers of the table are only told apart; and these numbers in order."""
        known: dict[Expr, int] = {}
        values: dict[float, int] = {}

        def told(item: Expr | None) -> object:
            if item is None:
                return None
            if item.op != "const":
                return known.setdefault(item, len(known))
            value = float(item.value)
            return (value, math.copysign(1.0, value)) if is_written(value) else ("number", values.setdefault(value, len(values)))

        program = self.program
        groups = (program.first, program.states, program.rates, self.divisors, self.exponents, self.guards.parts, self.guards.roots)
        nodes = [tuple(map(told, group)) for group in groups]
        rows = [(row.kind, row.sign, told(row.target), *map(told, row.operands)) for row in program.rows]
        above = [(item.op, *map(told, (item, *item.args))) for item in self.guards.above]
        how = (len(program.states), self.order, self.name, self.declared, self.form, self.rests_at_zero, self.with_step)
        return (how, tuple(nodes), tuple(rows), tuple(above)), values


_texts: dict[tuple[object, ...], tuple[KeptText, list[int]]] = {}  # of the last models: a text, and which number stands where


def _kept_text(behind: _Behind) -> tuple[KeptText, list[float]]:
    """The text of functions, and the numbers of its table; what differs from an earlier one in numbers only is not written again."""
    key, ordinals = behind.shape()
    if key not in _texts:
        numbers = NumberTable()
        text = behind.text(numbers)
        if len(_texts) >= _MOST_TEXTS:
            _texts.pop(next(iter(_texts)), None)
        _texts[key] = KeptText(fused_declarations(text) + text), [ordinals[value] for value in numbers.values]
    kept, places = _texts[key]
    values = list(ordinals)
    return kept, [values[place] for place in places]


def form_by_size(program: Program, order: int) -> Form:
    """How series are written where nobody says it."""
    products = sum(_OF_SUMS.get(row.kind, 0.1) for row in program.rows) * order * order
    if products <= _SHORT and len(program.rows) <= _FEW:
        return Form.STRAIGHT
    return Form.PACKED if products <= _MIDDLE and len(program.rows) < _NOT_MANY else Form.LOOPED


def _written_out(
    program: Program,
    plan: LanePlan | None,
    places: Mapping[Expr, int],
    order: int,
    numbers: NumberTable,
    others: Sequence[Expr],
    *,
    rests_at_zero: bool,
) -> StraightSeries:
    if plan is None:
        return straight_series(program, places, order, numbers, others, rests_at_zero=rests_at_zero)
    return packed_series(program, plan, places, order, numbers, others, rests_at_zero=rests_at_zero)


def _places_of(item: Expr, places: Mapping[Expr, int], plan: LanePlan) -> Callable[[int], int]:
    """Where the coefficient of each order of a watched row stands."""
    first = places[item]
    return lambda k: first + k * plan.width
