"""Machine code that nobody needs any more serves models that differ in numbers only, and never two at once."""

from __future__ import annotations

import copy
import gc
import threading

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled import native
from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.native import load
from tidegate.expressions import Role, symbol

pytestmark = pytest.mark.skipif(not native._HAS_LIBRARIES, reason="engines elsewhere are not kept")


def scaled(factor: float) -> native.NativeModule:
    x = symbol(Role.UNKNOWN, "x")
    return load(emit_module([FunctionSpec("scaled", ("x", "out"), frozenset(["x"]), {x: ("x", 0)}, [(0, factor * x)])]))


def value(module: native.NativeModule) -> float:
    import ctypes

    out = ctypes.c_double()
    ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.POINTER(ctypes.c_double))(module.address("scaled"))(1.0, out)
    return out.value


def test_code_is_taken_over_with_other_numbers() -> None:
    first = scaled(3.1)
    where = first.address("scaled")
    assert value(first) == 3.1
    del first
    second = scaled(3.7)
    assert second.is_from_cache
    assert (second.address("scaled"), value(second)) == (where, 3.7)


@pytest.mark.slow
def test_code_is_taken_over_from_what_the_collector_finds() -> None:
    first = scaled(3.3)
    where = first.address("scaled")
    circle: list[object] = [first]
    circle.append(circle)
    del first, circle
    gc.collect()
    second = scaled(3.9)
    assert (second.address("scaled"), value(second)) == (where, 3.9)


def test_a_copy_is_the_same() -> None:
    first = scaled(2.3)
    other = copy.deepcopy(copy.copy(first))
    del first
    third = scaled(2.9)
    assert (value(other), value(third)) == (2.3, 2.9)


def test_code_that_is_in_use_is_not_taken() -> None:
    first, second = scaled(5.1), scaled(5.3)
    assert first.address("scaled") != second.address("scaled")
    assert (value(first), value(second)) == (5.1, 5.3)


@pytest.mark.hunt
def test_no_more_is_kept_than_a_few() -> None:
    modules = [scaled(1.0 + k / 7) for k in range(2 * native._MOST_SPARE)]
    modules.clear()
    gc.collect()
    assert len(native._spare) <= native._MOST_SPARE


def test_code_with_memory_of_its_own_is_not_kept() -> None:
    text = "@count = global i64 3\ndefine void @nothing() nounwind {\nentry:\n  ret void\n}"
    before = len(native._spare)
    module = load(text)
    key = module._key
    del module
    assert key == ""
    assert len(native._spare) == before


def decay(rate: float) -> tg.Result:
    def f(t: float, y: list[float]) -> list[float]:
        return [-rate * y[0] if y[0] > 0.3 else -2.0 * rate * y[0]]

    return tg.simulate(tg.ode(f, {"x": 1.0}), (0.0, 2.0), rtol=1e-9)


def solved(rate: float) -> float:
    crossed = np.log(1.0 / 0.3) / rate
    return float(np.exp(-2.0 * rate)) if crossed > 2.0 else 0.3 * float(np.exp(-2.0 * rate * (2.0 - crossed)))


@pytest.mark.slow
def test_models_with_other_closures_have_results_of_their_own() -> None:
    rates = [0.1 + 0.037 * k for k in range(40)]
    assert [decay(rate).final["x"] for rate in rates] == pytest.approx([solved(rate) for rate in rates], rel=1e-7)


@pytest.mark.slow
def test_threads_do_not_share_code_that_was_left_over() -> None:
    rates = [0.11 + 0.031 * k for k in range(30)]
    found: dict[float, float] = {}

    def work(own: list[float]) -> None:
        for rate in own:
            found[rate] = decay(rate).final["x"]

    threads = [threading.Thread(target=work, args=(rates[k::3],)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[rate] for rate in rates] == pytest.approx([solved(rate) for rate in rates], rel=1e-7)
