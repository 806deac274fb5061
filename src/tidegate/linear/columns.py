"""What like columns of L do to others, eight numbers at a time: sums of short columns, which no compiler's own vectors gain anything on.

Both read, and write, up to ``PADDING`` elements behind the end of a column: what is there must be memory, and must not matter.
"""

from __future__ import annotations

from typing import Any

from tidegate.compiled.workspace import intrinsic

__all__ = ["subtract_column", "sum_columns"]


@intrinsic
def sum_columns(_typing_context: Any, total: Any, lower: Any, begin: Any, x: Any, width: Any, height: Any) -> Any:  # noqa: ARG001, typed by words
    """``total[i] := sum over s of x[s] lower[q_s + i]`` for i < height: ``width`` like columns of L, one behind the other, each shorter by one.

    The first begins at ``begin``, its ``width - 1`` elements before that left out.
    """
    from tidegate.linear.column_code import make_sum_columns

    return make_sum_columns(total, lower, x)


@intrinsic
def subtract_column(_typing_context: Any, x: Any, s: Any, lower: Any, begin: Any, height: Any) -> Any:  # noqa: ARG001, the same
    """``x[s + 1 + i] -= x[s] lower[begin + i]`` for i < height."""
    from tidegate.linear.column_code import make_subtract_column

    return make_subtract_column(x, lower)
