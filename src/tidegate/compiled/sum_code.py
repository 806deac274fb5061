"""Machine code of sums of rows in vector registers (stage: compiled), by hand. Loaded where something is compiled."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba import types

from tidegate.compiled.schema import LANES
from tidegate.compiled.view_type import ViewType, data_of

__all__ = ["make_sum_of_two", "make_weighted_sum"]

_VECTOR: Final = ir.VectorType(ir.DoubleType(), 8)
_HALVES: Final = range(LANES // 8)
_BYTES: Final = 8
_FUSED: Final = ("contract",)  # a product and the sum it goes into may be rounded once


def _begin(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Pointer to the first element of a view, or of an array of numpy's."""
    if isinstance(kind, ViewType):
        return data_of(builder, value)
    array: Any = context.make_array(kind)(context, builder, value)
    return array.data


def _everywhere(builder: Any, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8))


def _vector_at(builder: Any, pointer: Any, half: int) -> Any:
    return builder.bitcast(builder.gep(pointer, [ir.Constant(ir.IntType(64), 8 * half)]), _VECTOR.as_pointer())


def _times(builder: Any, factor: Any, pointer: Any, half: int) -> Any:
    return builder.fmul(factor, builder.load(_vector_at(builder, pointer, half), align=_BYTES), flags=_FUSED)


def make_weighted_sum(weights: Any, rows: Any, first: Any, stride: Any, out: Any) -> tuple[Any, Any]:
    """A signature, and what generates the code."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        weight, row, target = (_begin(context, builder, signature.args[k], values[k]) for k in (0, 1, 4))
        start, step = (context.cast(builder, values[k], signature.args[k], types.intp) for k in (2, 3))
        # two sums, of which neither waits for the other
        sums = [[ir.Constant(_VECTOR, [0.0] * 8) for _ in _HALVES] for _ in range(2)]
        for i in range(LANES):
            factor = _everywhere(builder, builder.load(builder.gep(weight, [ir.Constant(ir.IntType(64), i)])))
            begin = builder.gep(row, [builder.add(start, builder.mul(step, ir.Constant(ir.IntType(64), i)))])
            own = sums[i % 2]
            for half in _HALVES:
                own[half] = builder.fadd(own[half], _times(builder, factor, begin, half), flags=_FUSED)
        for half in _HALVES:
            builder.store(builder.fadd(sums[0][half], sums[1][half]), _vector_at(builder, target, half), align=_BYTES)
        return context.get_dummy_value()

    return types.none(weights, rows, first, stride, out), generate


def make_sum_of_two(x: Any, of_x: Any, y: Any, of_y: Any, out: Any) -> tuple[Any, Any]:
    """Likewise."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        first, second, target = (_begin(context, builder, signature.args[k], values[k]) for k in (0, 2, 4))
        factors = [_everywhere(builder, context.cast(builder, values[k], signature.args[k], types.float64)) for k in (1, 3)]
        sums = [builder.fadd(_times(builder, factors[0], first, half), _times(builder, factors[1], second, half), flags=_FUSED) for half in _HALVES]
        for half in _HALVES:
            builder.store(sums[half], _vector_at(builder, target, half), align=_BYTES)
        return context.get_dummy_value()

    return types.none(x, of_x, y, of_y, out), generate
