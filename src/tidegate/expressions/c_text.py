"""Expressions as C99 (stage: expressions): what ``straight_line`` needs to know of the language, and the two functions that its texts call.

The texts need ``math.h`` and nothing else, so that they can stand in whatever is exported as C.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from tidegate.expressions.straight_line import StraightLine, Tables

__all__ = ["C", "c_body", "c_helpers", "c_tables"]

_TABLE_FUNCTIONS: Final = {
    "tg_segment": """/* the piece of an increasing grid that holds x; end pieces reach to infinity, NaN counts as left */
static int tg_segment(double x, const double *grid, int size) {
    int low = 0, high = size - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (x >= grid[middle]) low = middle;
        else high = middle;
    }
    return low;
}
""",
    "tg_index": """/* a whole number as an index that is certainly inside */
static int tg_index(double x, int size) {
    if (!(x > 0.0)) return 0;
    return x < size - 1 ? (int)x : size - 1;
}
""",
}


class _C:
    """See ``straight_line.Language``."""

    operators: Mapping[str, str] = {
        "add": "({0} + {1})",
        "sub": "({0} - {1})",
        "mul": "({0} * {1})",
        "div": "({0} / {1})",
        "neg": "(-{0})",
        "ge": "({0} >= 0.0)",
        "gt": "({0} > 0.0)",
        "nonzero": "({0} != 0.0)",
        "and": "({0} && {1})",
        "or": "({0} || {1})",
        "not": "(!{0})",
    }

    def number(self, value: float) -> str:
        """A literal."""
        if math.isnan(value):
            return "NAN"
        if math.isinf(value):
            return "INFINITY" if value > 0 else "(-INFINITY)"
        return repr(value) if math.copysign(1.0, value) > 0.0 else f"({value!r})"

    def truth(self, value: bool) -> str:
        """A literal condition."""
        return "1" if value else "0"

    def choice(self, condition: str, a: str, b: str) -> str:
        """One of two numbers."""
        return f"({condition} ? {a} : {b})"

    def called(self, function: str, arguments: Sequence[str]) -> str:
        """A function."""
        return f"(double){arguments[0]}" if function == "tg_real" else f"{function}({', '.join(arguments)})"

    def element(self, array: str, index: str) -> str:
        """An element of an array."""
        return f"{array}[{index}]"

    def assigned(self, target: str, value: str) -> str:
        """A statement."""
        return f"{target} = {value};"


C: Final = _C()


def c_body(block: StraightLine) -> list[str]:
    """Declarations and statements of a function, one line each, without indentation."""
    declared = [(kind, names) for kind, names in (("double", block.reals), ("int", (*block.integers, *block.conditions))) if names]
    return [*(f"{kind} {', '.join(names)};" for kind, names in declared), *block.statements]


def c_helpers(called: frozenset[str]) -> list[str]:
    """The functions of tables among those that are called, as text."""
    return [text for name, text in _TABLE_FUNCTIONS.items() if name in called]


def c_tables(tables: Tables, read: frozenset[str]) -> list[str]:
    """The arrays of constants that are read."""
    several = [(name, values) for values, name in tables.names.items() if name in read]
    return [f"static const double {name}[{len(values)}] = {{{', '.join(map(C.number, values))}}};" for name, values in several]
