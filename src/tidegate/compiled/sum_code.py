"""Machine code of sums of rows in vector registers (stage: compiled), by hand. Loaded where something is compiled."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types

from tidegate.compiled.schema import LANES
from tidegate.compiled.view_type import ViewType, data_of

__all__ = ["make_product", "make_product_plus", "make_signed_row", "make_signs", "make_sum_of_two", "make_weighted_sum"]

_WIDTH: Final = 8
_VECTOR: Final = ir.VectorType(ir.DoubleType(), _WIDTH)
_ZEROS: Final = ir.Constant(_VECTOR, [0.0] * _WIDTH)
_HALVES: Final = range(LANES // _WIDTH)
_BYTES: Final = 8


def _begin(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Pointer to the first element of a view, or of an array of numpy's."""
    if isinstance(kind, ViewType):
        return data_of(builder, value)
    array: Any = context.make_array(kind)(context, builder, value)
    return array.data


def _behind(builder: Any, pointer: Any, places: int) -> Any:
    return builder.gep(pointer, [ir.Constant(ir.IntType(64), places)])


def _everywhere(builder: Any, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(ir.VectorType(number.type, _WIDTH), ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return _chosen(builder, one, one, [0] * _WIDTH)


def _chosen(builder: Any, first: Any, second: Any, places: Sequence[int]) -> Any:
    """The elements at these places of two vectors, one behind the other."""
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), list(places)))


def _moved_up(builder: Any, before: Any, vector: Any, by: int) -> Any:
    """Every element so many places later, behind the last ones of the vector before."""
    return _chosen(builder, before, vector, range(_WIDTH - by, 2 * _WIDTH - by)) if by else vector


def _vector_at(builder: Any, pointer: Any, half: int) -> Any:
    return builder.bitcast(_behind(builder, pointer, _WIDTH * half), _VECTOR.as_pointer())


def _half(builder: Any, pointer: Any, half: int) -> Any:
    return builder.load(_vector_at(builder, pointer, half), align=_BYTES)


@cache
def _is_fused() -> bool:
    """Whether the processor multiplies and adds in one: what it does not have would be a call of a library."""
    return platform.machine() in ("arm64", "aarch64") or bool(get_host_cpu_features().get("fma"))


def _plus(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """``x * y + z``, rounded once where the processor can: said so, and not left to LLVM, which would do it or not by what else is in a function."""
    if not _is_fused():
        return builder.fadd(builder.fmul(x, y), z)
    name = "llvm.fma.v8f64" if x.type == _VECTOR else "llvm.fma.f64"
    return builder.call(builder.module.declare_intrinsic(name, (), ir.FunctionType(x.type, [x.type] * 3)), [x, y, z])


def make_product_plus(x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """A signature, and what generates the code."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _plus(builder, *(context.cast(builder, value, kind, types.float64) for value, kind in zip(values, signature.args, strict=True)))

    return types.float64(x, y, z), generate


def _store_both(builder: Any, sums: list[list[Any]], target: Any) -> None:
    """Two sums, added up."""
    for half in _HALVES:
        builder.store(builder.fadd(sums[0][half], sums[1][half]), _vector_at(builder, target, half), align=_BYTES)


def make_weighted_sum(weights: Any, rows: Any, first: Any, stride: Any, out: Any) -> tuple[Any, Any]:
    """Likewise."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        weight, row, target = (_begin(context, builder, signature.args[k], values[k]) for k in (0, 1, 4))
        start, step = (context.cast(builder, values[k], signature.args[k], types.intp) for k in (2, 3))
        # two sums, of which neither waits for the other
        sums = [[_ZEROS for _ in _HALVES] for _ in range(2)]
        for i in range(LANES):
            factor = _everywhere(builder, builder.load(_behind(builder, weight, i)))
            begin = builder.gep(row, [builder.add(start, builder.mul(step, ir.Constant(ir.IntType(64), i)))])
            own = sums[i % 2]
            for half in _HALVES:
                own[half] = _plus(builder, factor, _half(builder, begin, half), own[half])
        _store_both(builder, sums, target)
        return context.get_dummy_value()

    return types.none(weights, rows, first, stride, out), generate


def make_sum_of_two(x: Any, of_x: Any, y: Any, of_y: Any, out: Any) -> tuple[Any, Any]:
    """Likewise."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        first, second, target = (_begin(context, builder, signature.args[k], values[k]) for k in (0, 2, 4))
        factors = [_everywhere(builder, context.cast(builder, values[k], signature.args[k], types.float64)) for k in (1, 3)]
        products = [builder.fmul(factors[1], _half(builder, second, half)) for half in _HALVES]
        sums = [_plus(builder, factors[0], _half(builder, first, half), product) for half, product in zip(_HALVES, products, strict=True)]
        for half in _HALVES:
            builder.store(sums[half], _vector_at(builder, target, half), align=_BYTES)
        return context.get_dummy_value()

    return types.none(x, of_x, y, of_y, out), generate


def make_signs(row: Any) -> tuple[Any, Any]:
    """Likewise."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer, word = _begin(context, builder, signature.args[0], values[0]), ir.IntType(64)
        halves = [_half(builder, pointer, half) for half in _HALVES]
        bits = ir.Constant(word, 0)
        # not above zero may be no number
        compared = [builder.fcmp_ordered("<", half, _ZEROS) for half in halves] + [builder.fcmp_unordered("<=", half, _ZEROS) for half in halves]
        for place, one in enumerate(compared):
            mask = builder.zext(builder.bitcast(one, ir.IntType(_WIDTH)), word)
            bits = builder.or_(bits, builder.shl(mask, ir.Constant(word, _WIDTH * place)))
        return bits

    return types.int64(row), generate


def _up_to(builder: Any, pointer: Any, degree: Any) -> list[Any]:
    """The coefficients of a polynomial, zeros behind them."""
    last = _everywhere(builder, degree)
    halves: list[Any] = []
    for half in _HALVES:
        places = ir.Constant(last.type, [half * _WIDTH + k for k in range(_WIDTH)])
        there = builder.load(_vector_at(builder, pointer, half), align=_BYTES)
        halves.append(builder.select(builder.icmp_signed("<=", places, last), there, _ZEROS))
    return halves


def _sizes(builder: Any, halves: list[Any]) -> list[Any]:
    size = builder.module.declare_intrinsic("llvm.fabs.v8f64", (), ir.FunctionType(_VECTOR, [_VECTOR]))
    return [builder.call(size, [half]) for half in halves]


def _added_up(builder: Any, halves: list[Any]) -> Iterator[Any]:
    """One after the other, in every element those before it and itself."""
    before = _ZEROS
    for half in halves:
        total = half
        for by in (1, 2, 4):
            total = builder.fadd(total, _moved_up(builder, _ZEROS, total, by))
        before = builder.fadd(total, _chosen(builder, before, before, [_WIDTH - 1] * _WIDTH))
        yield before


def _total(builder: Any, halves: list[Any]) -> Any:
    """Of all elements, by halves."""
    total = builder.fadd(halves[0], halves[1])
    for by in (4, 2, 1):
        total = builder.fadd(total, _chosen(builder, total, total, [(k + by) % _WIDTH for k in range(_WIDTH)]))
    return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))


def make_signed_row(row: Any, sign: Any, first: Any, second: Any, degree: Any, out: Any) -> tuple[Any, Any]:
    """Likewise."""
    result = types.UniTuple(types.float64, 2)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        source, target = _begin(context, builder, signature.args[0], values[0]), _begin(context, builder, signature.args[5], values[5])
        factor, *given = (context.cast(builder, values[k], signature.args[k], types.float64) for k in (1, 2, 3))
        factors = _everywhere(builder, factor)
        halves = [builder.fmul(factors, half) for half in _up_to(builder, source, context.cast(builder, values[4], signature.args[4], types.int64))]
        for place, number in enumerate(given):
            halves[0] = builder.insert_element(halves[0], number, ir.Constant(ir.IntType(32), place))
        for half in _HALVES:
            builder.store(halves[half], _vector_at(builder, target, half), align=_BYTES)
        falling = [builder.select(builder.fcmp_ordered("<", half, _ZEROS), half, _ZEROS) for half in halves]
        # of all: its first is above zero, and counts in both
        return context.make_tuple(builder, result, [_total(builder, halves), builder.fadd(given[0], _total(builder, falling))])

    return result(row, sign, first, second, degree, out), generate


def make_product(x: Any, y: Any, degree: Any, room: Any, out: Any) -> tuple[Any, Any]:
    """Likewise."""
    result = types.UniTuple(types.float64, 3)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        first, second, space, target = (_begin(context, builder, signature.args[k], values[k]) for k in (0, 1, 3, 4))
        last = context.cast(builder, values[2], signature.args[2], types.int64)
        of_x, of_y = _up_to(builder, first, last), _up_to(builder, second, last)
        sizes_x, sizes_y = _sizes(builder, of_x), _sizes(builder, of_y)
        for half in _HALVES:
            builder.store(of_x[half], _vector_at(builder, space, half), align=_BYTES)
            backwards = _chosen(builder, sizes_y[half], sizes_y[half], range(_WIDTH - 1, -1, -1))
            builder.store(backwards, _vector_at(builder, _behind(builder, space, LANES + 1), 1 - half), align=_BYTES)
        # two sums, of which neither waits for the other
        sums = [[_ZEROS, _ZEROS] for _ in range(2)]
        for i in range(LANES):
            factor = _everywhere(builder, builder.load(_behind(builder, space, i)))
            own, by = sums[i % 2], i % _WIDTH
            halves = [_moved_up(builder, _ZEROS, of_y[0], by), _moved_up(builder, of_y[0], of_y[1], by)]
            for half in _HALVES[i // _WIDTH :]:
                own[half] = _plus(builder, factor, halves[half - i // _WIDTH], own[half])
        _store_both(builder, sums, target)
        # what of y comes behind the degree with x_i: its last i coefficients
        begin = builder.gep(space, [builder.sub(ir.Constant(ir.IntType(64), 2 * LANES - 1), last)])
        reached = [builder.load(_vector_at(builder, begin, half), align=_BYTES) for half in _HALVES]
        left_out = [builder.fmul(size, late) for size, late in zip(sizes_x, _added_up(builder, reached), strict=True)]
        return context.make_tuple(builder, result, [_total(builder, one) for one in (left_out, sizes_x, sizes_y)])

    return result(x, y, degree, room, out), generate
