"""The function that gives the power series of states, as LLVM text (stage: compiled): a program of recurrences in, a module out.

The values themselves, coefficients of order zero, are computed by ``compiled.emit_llvm`` like every other function of the model, so that they agree
with it to the last bit. What follows is written out where that is short, and loops where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.emit_taylor.looped import SUMS, looped_functions, table_size
from tidegate.compiled.emit_taylor.recurrences import Program
from tidegate.compiled.emit_taylor.straight_line import straight_line_body
from tidegate.expressions import Expr

__all__ = ["Arguments", "SeriesText", "emit_series"]

_SHORT: Final = 20_000  # products of two coefficients, about, that are written out; LLVM takes some 20 microseconds for one
_OF_SUMS: Final = {"mul": 0.5, "div": 0.5, "sqrt": 0.25, "product": 0.5, "quotient": 0.5, "power": 1.0, "angle": 1.5}  # products, of order squared


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
    is_looped: bool


def emit_series(
    program: Program, arguments: Arguments, order: int, name: str, *, is_looped: bool | None = None, rests_at_zero: bool = False
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
    is_looped : whether it loops over the order; None: if it is large.
    rests_at_zero : roots and powers of zero stay what they are there, which is right only of a base that stays zero; for callers that compare the
        polynomial with the equations. Otherwise their coefficients are not finite.
    """
    n = len(program.states)
    begin = 1 + order * n
    places = {item: begin + k for k, item in enumerate(item for item in program.first if item.op != "const")}
    table = begin + len(places)
    start = FunctionSpec(f"{name}.start", arguments.names, arguments.by_value, arguments.positions, [(at, item) for item, at in places.items()])
    products = sum(_OF_SUMS.get(row.kind, 0.1) for row in program.rows) * order * order
    loops = products > _SHORT if is_looped is None else is_looped
    pieces = ""
    if loops:
        pieces, lines = looped_functions(program, places, table, order, name, rests_at_zero=rests_at_zero)
        pieces = f"{SUMS}\n{pieces}\n"
    else:
        lines = straight_line_body(program, places, order, rests_at_zero=rests_at_zero)
    given = [f"{'double' if argument in arguments.by_value else 'ptr'} %{argument}" for argument in arguments.names]
    declared = ", ".join([*given, *(["ptr %out"] if "out" not in arguments.names else [])])
    body = "\n".join([f"  call void @{name}.start({declared}) nounwind", *lines])
    function = f"define void @{name}({declared}) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"
    return SeriesText(f"{emit_module([start])}\n{pieces}{function}", table + loops * table_size(program, order), loops)
