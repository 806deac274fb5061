"""The function that gives the power series of states, as LLVM text (stage: compiled): a program of recurrences in, a module out.

The values themselves, coefficients of order zero, are computed by ``compiled.emit_llvm`` like every other function of the model, so that they agree
with it to the last bit. What follows is written out where that is short, and loops where it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final

from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.emit_taylor.lanes import LanePlan, lane_functions
from tidegate.compiled.emit_taylor.packed_line import packed_series
from tidegate.compiled.emit_taylor.recurrences import Program
from tidegate.compiled.emit_taylor.straight_line import StraightSeries, stores, straight_series
from tidegate.compiled.emit_taylor.whole_step import step_declarations, whole_step
from tidegate.expressions import Expr
from tidegate.quick_dataclass import dataclass

__all__ = ["Arguments", "Form", "SeriesText", "emit_series"]

_SHORT: Final = 20_000  # products of two coefficients, about, that are written out; LLVM takes some 20 microseconds for one
_MIDDLE: Final = 200_000  # the same, up to eight of which are one instruction
_FEW: Final = 40  # rows that are written out one by one; more of them are faster side by side
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
    """A module with one function, and how many numbers it needs behind ``out``."""

    text: str
    n_numbers: int
    form: Form


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
    """
    n = len(program.states)
    begin = -(-(1 + order * n) // _LINE) * _LINE
    moving = [item for item in program.first if item.op != "const"]
    chosen = form or _form_by_size(program, order)
    plan = None if chosen is Form.STRAIGHT else LanePlan(program)
    places = {item: begin + (k if plan is None else plan.slots[item]) for k, item in enumerate(moving)}
    start = FunctionSpec(f"{name}.start", arguments.names, arguments.by_value, arguments.positions, [(at, item) for item, at in places.items()])
    given = [f"{'double' if argument in arguments.by_value else 'ptr'} %{argument}" for argument in arguments.names]
    declared = ", ".join([*given, *(["ptr %out"] if "out" not in arguments.names else [])])
    rates = [float(rate.value) if rate.op == "const" else places[rate] for rate in program.rates]
    n_numbers = begin + (len(moving) if plan is None else plan.width * (order + 1 if chosen is Form.LOOPED else 1))
    module = emit_module([start])
    declarations = step_declarations(n, module) if with_step else ""
    pieces = ""
    if plan is not None and chosen is Form.LOOPED:
        pieces, lines = lane_functions(program, plan, begin, order, name, rests_at_zero=rests_at_zero)
        pieces = f"{pieces}\n"
        watched = [_places_of(item, places, plan) for item in (*divisors, *exponents)]
        step = whole_step(name, n, order, rates, watched, n_exponents=len(exponents), is_affine=program.is_affine) if with_step else ""
    else:
        made = _written_out(program, plan, places, order, (*divisors, *exponents), rests_at_zero=rests_at_zero)
        if with_step:
            function = whole_step(name, n, order, rates, made, n_exponents=len(exponents), is_affine=program.is_affine)
            nothing = ", ".join(["ptr null"] * 4)
            calls = f"  %done = call i64 @{name}.step({declared}, {nothing}) nounwind"
            function += f"define void @{name}({declared}) nounwind {{\nentry:\n{calls}\n  ret void\n}}\n"
            return SeriesText(f"{module}\n{declarations}{function}", n_numbers, chosen)
        lines, step = [*made.lines, *stores(made)], ""
    body = "\n".join(lines)
    function = f"define internal void @{name}.rest(ptr %out) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"
    calls = f"  call void @{name}.start({declared}) nounwind\n  call void @{name}.rest(ptr %out) nounwind"
    function += f"define void @{name}({declared}) nounwind {{\nentry:\n{calls}\n  ret void\n}}\n{step}"
    return SeriesText(f"{module}\n{declarations}{pieces}{function}", n_numbers, chosen)


def _form_by_size(program: Program, order: int) -> Form:
    products = sum(_OF_SUMS.get(row.kind, 0.1) for row in program.rows) * order * order
    if products <= _SHORT and len(program.rows) <= _FEW:
        return Form.STRAIGHT
    return Form.PACKED if products <= _MIDDLE else Form.LOOPED


def _written_out(
    program: Program, plan: LanePlan | None, places: Mapping[Expr, int], order: int, others: Sequence[Expr], *, rests_at_zero: bool
) -> StraightSeries:
    if plan is None:
        return straight_series(program, places, order, others, rests_at_zero=rests_at_zero)
    return packed_series(program, plan, places, order, others, rests_at_zero=rests_at_zero)


def _places_of(item: Expr, places: Mapping[Expr, int], plan: LanePlan) -> Callable[[int], int]:
    """Where the coefficient of each order of a watched row stands."""
    first = places[item]
    return lambda k: first + k * plan.width
