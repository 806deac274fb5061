"""Machine code gives what plain evaluation gives: to the last bit for arithmetic, to the library's for functions."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import RATIONAL, SYMBOLS, WILD, graphs, points, same
from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.native import NativeModule, load
from tidegate.errors import UsageError
from tidegate.expressions import Expr, OpaqueFunction, Role, constant, differentiate, evaluate, lookup, node, opaque_call, segment, symbol, table
from tidegate.expressions.nodes import UNARY_FUNCTIONS

x, y, z = SYMBOLS
POINTER = ctypes.POINTER(ctypes.c_double)
SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_double, POINTER, POINTER)
OPAQUE = ctypes.CFUNCTYPE(None, POINTER, POINTER)


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGATE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def specification(exprs: list[Expr], name: str = "f") -> FunctionSpec:
    """x by value, y and z in an array."""
    return FunctionSpec(name, ("t", "v", "out"), frozenset(["t"]), {x: ("t", 0), y: ("v", 0), z: ("v", 1)}, list(enumerate(exprs)))


def run(module: NativeModule, n_outputs: int, at: dict[Expr, float], name: str = "f") -> list[float]:
    vector, out = np.array([at.get(y, 0.0), at.get(z, 0.0)]), np.full(n_outputs, 99.0)
    SIGNATURE(module.address(name))(at.get(x, 0.0), vector.ctypes.data_as(POINTER), out.ctypes.data_as(POINTER))
    return out.tolist()


def native(exprs: list[Expr], at: dict[Expr, float]) -> list[float]:
    return run(load(emit_module([specification(exprs)])), len(exprs), at)


@pytest.mark.hunt
@settings(max_examples=60)
@given(graphs(RATIONAL, size=15), graphs(RATIONAL, size=5), points())
def test_arithmetic_agrees_to_the_last_bit(first: Expr, second: Expr, at: dict[Expr, float]) -> None:
    exprs = [first, second, first > second]
    for found, expected in zip(native(exprs, at), evaluate(exprs, at), strict=True):
        assert same(found, expected)


@pytest.mark.slow
@settings(max_examples=60)
@given(graphs(WILD, size=8), points())
def test_functions_agree_with_evaluation(expr: Expr, at: dict[Expr, float]) -> None:
    assert native([expr], at) == pytest.approx(evaluate([expr], at), rel=1e-10, nan_ok=True)


def test_every_function_agrees_with_evaluation_at_special_values() -> None:
    exprs = [node(name, (x,)) for name in sorted(UNARY_FUNCTIONS | {"floor"})]
    exprs += [node("atan2", (x, y)), x**y, x**0.5, x**-1, x**16, x**17, x**2.5, x / y]
    module = load(emit_module([specification(exprs)]))
    for a in (0.3, -0.7, 0.0, 2.5, -1.0, 1.0, 1e300, -1e300, math.inf, -math.inf, math.nan, 710.0):
        for b in (0.0, 1.5, -2.0, 3.0, math.inf, math.nan):
            at = {x: a, y: b}
            assert run(module, len(exprs), at) == pytest.approx(evaluate(exprs, at), rel=1e-14, nan_ok=True)


@pytest.mark.slow
@given(st.one_of(st.floats(-2, 7), st.sampled_from([0.0, 1.0, 2.0, 4.0, 4.5, math.inf, -math.inf, math.nan])))
def test_tables_agree_with_evaluation(at: float) -> None:
    grid, values = [0.0, 1.0, 2.0, 4.0, 4.5], [0.0, 1.0, 4.0, 2.0, 2.0]
    line, curve = table(grid, values)(x), table(grid, values, "cubic")(x)
    exprs = [line, curve, differentiate(curve, x), segment(x, grid), lookup(x, values), lookup(node("floor", (x,)), values)]
    for found, expected in zip(native(exprs, {x: at}), evaluate(exprs, {x: at}), strict=True):
        assert same(found, expected)


def test_products_and_sums_are_not_fused() -> None:
    at = {x: 1 + 2.0**-30, y: 1 - 2.0**-30, z: -1.0}
    assert native([x * y + z], at) == [0.0] != [-(2.0**-60)]


def test_outputs_that_are_not_listed_are_left_alone() -> None:
    spec = FunctionSpec("f", ("t", "v", "out"), frozenset(["t"]), {x: ("t", 0)}, [(2, x + 1)])
    assert run(load(emit_module([spec])), 4, {x: 1.0}) == [99.0, 99.0, 2.0, 99.0]


@pytest.mark.parametrize("beside", [0, pytest.param(4000, marks=pytest.mark.slow)], ids=["one piece", "several pieces"])
def test_numbers_side_by_side_are_written_to_the_last_bit_and_nothing_between_them(beside: int) -> None:
    numbers = {k: k / 7.0 - 3.0 for k in range(100) if k not in (50, 51)} | {20: math.inf, 21: -math.inf, 22: 5e-324}
    outputs = [*((k, constant(value)) for k, value in numbers.items()), (51, x), *((100 + k, x + float(k)) for k in range(beside))]
    spec = FunctionSpec("f", ("t", "v", "out"), frozenset(["t"]), {x: ("t", 0)}, outputs[::-1])
    found = run(load(emit_module([spec])), 100 + beside, {x: 7.0})
    assert found == [numbers.get(k, {50: 99.0, 51: 7.0}.get(k)) for k in range(100)] + [7.0 + k for k in range(beside)]


def test_a_module_holds_several_functions() -> None:
    module = load(emit_module([specification([x + y], "f"), specification([table([0, 1, 2], [3, 5, 6])(z), x], "g")]))
    assert run(module, 1, {x: 1.0, y: 2.0}, "f") == [3.0]
    assert run(module, 2, {x: 1.0, z: 0.5}, "g") == [4.0, 1.0]
    with pytest.raises(UsageError, match="`h`"):
        module.address("h")


def test_equal_subexpressions_are_computed_once() -> None:
    shared = node("sin", (x * y,))
    text = emit_module([specification([shared + 1, shared * shared, differentiate(shared, z) + shared])])
    assert text.count("call double @sin") == 1


def test_opaque_functions_are_called_once_and_differenced() -> None:
    calls: list[tuple[float, float]] = []

    def callback(given: ctypes.Array[ctypes.c_double], returned: ctypes.Array[ctypes.c_double]) -> None:
        calls.append((given[0], given[1]))
        returned[0], returned[1] = given[0] * given[1], math.exp(given[0])

    pointer = OPAQUE(callback)
    function = OpaqueFunction(lambda a, b: [a * b, math.exp(a)], 2, "black_box")
    product, growth = opaque_call(function, [x + 1, y])
    address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
    at = {x: 0.5, y: 3.0}

    module = load(emit_module([specification([product, growth, product * growth])], {function: address}))
    assert run(module, 3, at) == evaluate([product, growth, product * growth], at)
    assert calls == [(1.5, 3.0)]

    calls.clear()
    slopes = [differentiate(growth, x), differentiate(product, x)]
    module = load(emit_module([specification(slopes)], {function: address}))
    assert run(module, 2, at) == evaluate(slopes, at)
    assert len(calls) == 2
    assert not module.is_from_cache


def test_missing_inputs_and_addresses_are_named() -> None:
    with pytest.raises(UsageError, match="`f` has no input for `k`"):
        emit_module([specification([symbol(Role.PARAMETER, "k") * x])])
    (only,) = opaque_call(OpaqueFunction(lambda a: [a], 1, "black_box"), [x])
    with pytest.raises(UsageError, match="`black_box` has no machine address"):
        emit_module([specification([only])])


def test_text_does_not_depend_on_where_nodes_lie_in_memory() -> None:
    texts = [emit_module([specification([(x * y + node("exp", (z,))) ** 3 > x, abs(x)])]) for _ in range(2)]
    assert texts[0] == texts[1]


def test_code_seen_before_comes_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_CACHE_DIR", str(tmp_path))
    expr = node("sin", (x,)) * table([0, 1, 2], [3, 5, 6])(z) + y**2
    at = {x: 0.5, y: 2.0, z: 1.5}
    text = emit_module([specification([expr])])
    first, second = load(text), load(text)
    assert (first.is_from_cache, second.is_from_cache) == (False, True)
    assert run(first, 1, at) == run(second, 1, at) == evaluate([expr], at)


def test_damaged_cache_entries_are_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_CACHE_DIR", str(tmp_path))
    text = emit_module([specification([x - 1])])
    kept = [load(text)]  # or what is left over would be taken
    (entry,) = tmp_path.glob("native/*.o")
    whole = entry.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1] + bytes([whole[-1] ^ 1])):
        entry.write_bytes(damaged)
        module = load(text)
        kept.append(module)
        assert not module.is_from_cache
        assert run(module, 1, {x: 3.0}) == [2.0]
        assert entry.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("TIDEGATE_CACHE_DIR", str(blocked))
    assert run(load(emit_module([specification([x + 41])])), 1, {x: 1.0}) == [42.0]
