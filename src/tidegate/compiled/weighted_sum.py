"""Sums of short rows of numbers in vector registers (stage: compiled): products of polynomials, and what else is a matrix times a vector.

Loops as short as that are not worth LLVM's while to take several elements at a time; written out by hand they are a sixth of the instructions.
"""

from __future__ import annotations

from typing import Any

from tidegate.compiled.workspace import intrinsic

__all__ = ["product_of_two", "product_plus", "signed_row", "signs", "sum_of_two", "weighted_sum"]


@intrinsic
def product_plus(_typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """``x * y + z``, rounded once instead of twice where the processor can: chains of these take half the time."""
    from tidegate.compiled.sum_code import make_product_plus

    return make_product_plus(x, y, z)


@intrinsic
def signed_row(_typing_context: Any, row: Any, sign: Any, first: Any, second: Any, degree: Any, out: Any) -> Any:
    """``out[k] = sign * row[k]`` up to a degree below LANES, and zeros up to there, but for the first two numbers, which are given.

    Two sums: of all, and of the first with all others that are negative.
    """
    from tidegate.compiled.sum_code import make_signed_row

    return make_signed_row(row, sign, first, second, degree, out)


@intrinsic
def signs(_typing_context: Any, row: Any) -> Any:
    """A bit for each of LANES numbers, the first the lowest: 1 for one below zero; above these likewise, 1 for one not above zero."""
    from tidegate.compiled.sum_code import make_signs

    return make_signs(row)


@intrinsic
def weighted_sum(_typing_context: Any, weights: Any, rows: Any, first: Any, stride: Any, out: Any) -> Any:
    """``out[k] = sum(weights[i] * rows[first + i * stride + k])``, i and k below LANES; what is read may be what is written."""
    from tidegate.compiled.sum_code import make_weighted_sum

    return make_weighted_sum(weights, rows, first, stride, out)


@intrinsic
def sum_of_two(_typing_context: Any, x: Any, of_x: Any, y: Any, of_y: Any, out: Any) -> Any:
    """``out[k] = of_x * x[k] + of_y * y[k]``, k below LANES."""
    from tidegate.compiled.sum_code import make_sum_of_two

    return make_sum_of_two(x, of_x, y, of_y, out)


@intrinsic
def product_of_two(_typing_context: Any, x: Any, y: Any, degree: Any, room: Any, out: Any) -> Any:
    """``out[k] = sum(x[i] * y[k - i])``, up to a degree below LANES; numbers follow there, whatever they are, and are written.

    Three sums: of |x[i] y[j]|, i + j being larger than the degree; of |x[i]|; of |y[j]|. The room has 4 LANES places, which are zero at first.
    """
    from tidegate.compiled.sum_code import make_product

    return make_product(x, y, degree, room, out)
