"""Expressions as Fortran, free form (stage: expressions): what ``straight_line`` needs to know of the language, and the functions that it calls.

What C's mathematical library has and Fortran has not (``expm1``, ``log1p``, ``cbrt``, ``floor`` as a real number) is taken from there, so that both
languages, and our own machine code, call the same functions.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Final

from tidegate.expressions.straight_line import StraightLine, Tables

__all__ = ["FORTRAN", "fortran_declarations", "fortran_helpers", "fortran_interfaces", "wrapped"]

_FROM_C: Final = ("expm1", "log1p", "cbrt", "floor")
_WIDTH: Final = 100  # of a line; free form allows 132
_TABLE_FUNCTIONS: Final = {
    "tg_segment": """! the piece of an increasing grid that holds x; end pieces reach to infinity, NaN counts as left
integer function {prefix}segment(x, grid, size)
  implicit none
  integer, intent(in) :: size
  double precision, intent(in) :: x, grid(0:size - 1)
  integer :: low, high, middle
  low = 0
  high = size - 1
  do while (high - low > 1)
    middle = (low + high) / 2
    if (x >= grid(middle)) then
      low = middle
    else
      high = middle
    end if
  end do
  {prefix}segment = low
end function
""",
    "tg_index": """! a whole number as an index that is certainly inside
integer function {prefix}index(x, size)
  implicit none
  integer, intent(in) :: size
  double precision, intent(in) :: x
  {prefix}index = 0
  if (x > 0d0) {prefix}index = size - 1
  if (x > 0d0 .and. x < size - 1) {prefix}index = int(x)
end function
""",
}


class Fortran:
    """See ``straight_line.Language``.

    Parameters
    ----------
    prefix : what the names of the functions of tables begin with, since Fortran's functions are seen by all others.
    """

    operators: Mapping[str, str] = {
        "add": "({0} + {1})",
        "sub": "({0} - {1})",
        "mul": "({0} * {1})",
        "div": "({0} / {1})",
        "neg": "(-{0})",
        "ge": "({0} >= 0d0)",
        "gt": "({0} > 0d0)",
        "nonzero": "({0} /= 0d0)",
        "and": "({0} .and. {1})",
        "or": "({0} .or. {1})",
        "not": "(.not. {0})",
    }

    def __init__(self, prefix: str = "tg_") -> None:
        self.prefix = prefix

    def number(self, value: float) -> str:
        """A literal; what is none in the language by its bits."""
        if not math.isfinite(value):
            return f"transfer({struct.unpack('>q', struct.pack('>d', value))[0]}_8, 0d0)"
        digits = repr(value)
        text = digits.replace("e", "d") if "e" in digits else f"{digits}d0"
        return text if math.copysign(1.0, value) > 0.0 else f"({text})"

    def truth(self, value: bool) -> str:
        """A literal condition."""
        return ".true." if value else ".false."

    def choice(self, condition: str, a: str, b: str) -> str:
        """One of two numbers."""
        return f"merge({a}, {b}, {condition})"

    def called(self, function: str, arguments: Sequence[str]) -> str:
        """A function."""
        if function == "pow":
            return f"({arguments[0]} ** {arguments[1]})"
        if function == "tg_real":
            return f"dble({arguments[0]})"
        if function in _TABLE_FUNCTIONS:
            return f"{self.prefix}{function.removeprefix('tg_')}({', '.join(arguments)})"
        return f"{f'c_{function}' if function in _FROM_C else function}({', '.join(arguments)})"

    def element(self, array: str, index: str) -> str:
        """An element of an array."""
        return f"{array}({index})"

    def assigned(self, target: str, value: str) -> str:
        """A statement."""
        return f"{target} = {value}"


FORTRAN: Final = Fortran()


def fortran_interfaces(called: frozenset[str], prefix: str = "tg_") -> list[str]:
    """Declarations of the functions that are called and are not of the language."""
    lines = [f"integer, external :: {prefix}{name.removeprefix('tg_')}" for name in _TABLE_FUNCTIONS if name in called]
    known = [name for name in _FROM_C if name in called]
    if not known:
        return lines
    lines.append("interface")
    for name in known:
        lines += [
            f"  pure function c_{name}(x) bind(c, name='{name}')",
            "    use, intrinsic :: iso_c_binding, only: c_double",
            "    real(c_double), value :: x",
            f"    real(c_double) :: c_{name}",
            "  end function",
        ]
    return [*lines, "end interface"]


def fortran_declarations(block: StraightLine, tables: Tables) -> list[str]:
    """Declarations of local variables and of the arrays of constants that are read."""
    kinds = (("double precision", block.reals), ("integer", block.integers), ("logical", block.conditions))
    lines = [f"{kind} :: {', '.join(names[k : k + 12])}" for kind, names in kinds for k in range(0, len(names), 12)]
    for values, name in tables.names.items():
        if name in block.tables:
            numbers = ", ".join(map(FORTRAN.number, values))
            lines.append(f"double precision, parameter :: {name}(0:{len(values) - 1}) = (/ {numbers} /)")
    return lines


def fortran_helpers(called: frozenset[str], prefix: str = "tg_") -> list[str]:
    """The functions of tables among those that are called, as text."""
    return [text.replace("{prefix}", prefix) for name, text in _TABLE_FUNCTIONS.items() if name in called]


def wrapped(line: str) -> list[str]:
    """A statement on lines that are short enough, broken at blanks."""
    indent = line[: len(line) - len(line.lstrip())]
    lines: list[str] = []
    while len(line) > _WIDTH:
        cut = line.rfind(" ", len(indent) + 8, _WIDTH)
        if cut < 0:
            cut = line.find(" ", _WIDTH)
        if cut < 0:
            break
        is_comment = line.lstrip().startswith("!")
        lines.append(line[:cut] + ("" if is_comment else " &"))
        line = f"{indent}{'! ' if is_comment else '  '}{line[cut + 1 :]}"
    return [*lines, line]
