"""Machine code of sums of columns of L (stage: linear), by hand: eight numbers at a time. Loaded where something is compiled."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils

from tidegate.compiled.schema import PADDING
from tidegate.compiled.view_type import data_of

__all__ = ["make_subtract_column", "make_sum_columns"]

_WORD: Final = ir.IntType(64)
_INDEX: Final = ir.IntType(32)
_DOUBLE: Final = ir.DoubleType()
_VECTOR: Final = ir.VectorType(_DOUBLE, PADDING)
_ALIGNED: Final = 8  # bytes


class _Numbers:
    """A view of real or complex numbers as one of doubles, and its elements in vectors."""

    def __init__(self, builder: Any, kind: Any, value: Any) -> None:
        self.builder = builder
        self.is_complex = kind.item == types.complex128
        self.size = _WORD(2 if self.is_complex else 1)
        self.data = builder.bitcast(data_of(builder, value), _DOUBLE.as_pointer())

    def at(self, index: Any) -> Any:
        """Pointer to a vector that begins at a double of this number."""
        return self.builder.bitcast(self.builder.gep(self.data, [index]), _VECTOR.as_pointer())

    def load(self, index: Any) -> Any:
        return self.builder.load(self.at(index), align=_ALIGNED)

    def spread(self, index: Any) -> tuple[Any, ...]:
        """An element everywhere in a vector; its imaginary part in another one, with the signs that a product asks for."""
        first = self.builder.mul(index, self.size)
        real = self._everywhere(first)
        if not self.is_complex:
            return (real,)
        signs = ir.Constant(_VECTOR, [-1.0, 1.0] * (PADDING // 2))
        return real, self.builder.fmul(self._everywhere(self.builder.add(first, _WORD(1))), signs)

    def _everywhere(self, index: Any) -> Any:
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        one = self.builder.insert_element(nothing, self.builder.load(self.builder.gep(self.data, [index])), _INDEX(0))
        return self.builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INDEX, PADDING), [0] * PADDING))

    def add_product(self, column: Any, factor: tuple[Any, ...], total: Any) -> Any:
        """total + column * factor."""
        multiply_add = cgutils.get_or_insert_function(self.builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), f"llvm.fmuladd.v{PADDING}f64")
        total = self.builder.call(multiply_add, [column, factor[0], total])
        if not self.is_complex:
            return total
        swapped = ir.Constant(ir.VectorType(_INDEX, PADDING), [i ^ 1 for i in range(PADDING)])
        turned = self.builder.shuffle_vector(column, ir.Constant(_VECTOR, ir.Undefined), swapped)
        return self.builder.call(multiply_add, [turned, factor[1], total])


def make_sum_columns(total: Any, lower: Any, x: Any) -> Any:
    """``columns.sum_columns`` of arrays of these types."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        out, columns, factors = (_Numbers(builder, signature.args[i], values[i]) for i in (0, 1, 3))
        size = out.size
        first, rows = builder.mul(values[2], size), builder.mul(values[5], size)
        longest = builder.sub(builder.add(values[5], values[4]), _WORD(2))
        with cgutils.for_range_slice(builder, _WORD(0), rows, _WORD(PADDING), inc=True) as (i, _):
            sum_ = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, None))
            place = cgutils.alloca_once_value(builder, builder.add(first, i))
            stride = cgutils.alloca_once_value(builder, builder.mul(longest, size))
            with cgutils.for_range(builder, values[4]) as loop:
                here, further = builder.load(place), builder.load(stride)
                builder.store(out.add_product(columns.load(here), factors.spread(loop.index), builder.load(sum_)), sum_)
                builder.store(builder.add(here, further), place)
                builder.store(builder.sub(further, size), stride)
            builder.store(builder.load(sum_), out.at(i), align=_ALIGNED)
        return context.get_dummy_value()

    return types.void(total, lower, types.int64, x, types.int64, types.int64), generate


def make_subtract_column(x: Any, lower: Any) -> Any:
    """``columns.subtract_column`` of arrays of these types."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        column, unknowns = (_Numbers(builder, signature.args[i], values[i]) for i in (2, 0))
        size = unknowns.size
        factor = tuple(builder.fneg(part) for part in unknowns.spread(values[1]))
        below = builder.mul(builder.add(values[1], _WORD(1)), size)
        first, rows = builder.mul(values[3], size), builder.mul(values[4], size)
        with cgutils.for_range_slice(builder, _WORD(0), rows, _WORD(PADDING), inc=True) as (i, _):
            there = builder.add(below, i)
            rest = unknowns.add_product(column.load(builder.add(first, i)), factor, unknowns.load(there))
            builder.store(rest, unknowns.at(there), align=_ALIGNED)
        return context.get_dummy_value()

    return types.void(x, types.int64, lower, types.int64, types.int64), generate
