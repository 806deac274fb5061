"""Numbers beside machine code: models that differ in nothing else share what LLVM made, and each computes with its own."""

from __future__ import annotations

import ctypes
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate as tg
from tidegate.compiled import native
from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.emit_taylor import emit_series as series_module
from tidegate.compiled.emit_taylor.emit_series import Arguments, Form, emit_series
from tidegate.compiled.emit_taylor.recurrences import series_program
from tidegate.compiled.number_table import NumberTable, apart, is_written
from tidegate.expressions import Expr, Role, constant, node, symbol, table

__all__: list[str] = []

T, X, Y, Z = symbol(Role.TIME, "time"), *(symbol(Role.UNKNOWN, name) for name in "xyz")


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=8), st.lists(st.floats(allow_nan=False), max_size=8))
def test_a_text_comes_apart_into_itself_and_its_numbers(first: list[float], second: list[float]) -> None:
    numbers = NumberTable()
    places = [(numbers.place(values), values) for values in (first, second, first)]
    text = f"before\n{numbers.definition()}after\n"
    rest, found = apart(text)
    assert found is not None
    for place, values in places:
        assert struct.pack(f"{len(values)}d", *found[place : place + len(values)]) == struct.pack(f"{len(values)}d", *values)
    assert rest == f"before\n@tidegate.numbers = global [{found.size} x double] zeroinitializer\nafter\n"


def test_a_text_without_numbers_stays_as_it_is() -> None:
    assert apart("define void @f() {}\n") == ("define void @f() {}\n", None)


@pytest.mark.parametrize(("value", "written"), [(0.0, True), (-0.0, True), (1.0, True), (-2.0, True), (0.125, True), (3.0, False), (0.1, False)])
def test_zero_and_powers_of_two_stay_in_the_code(value: float, *, written: bool) -> None:
    assert is_written(value) is written
    assert is_written(math.inf)
    assert is_written(math.nan)


def _value(expr: Expr, x: float) -> float:
    module = native.load(emit_module([FunctionSpec("f", ("x", "out"), frozenset(["x"]), {X: ("x", 0)}, [(0, expr)])]))
    out = ctypes.c_double()
    ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p)(module.address("f"))(x, ctypes.addressof(out))
    return out.value


def test_modules_that_share_code_keep_their_own_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_CACHE_DIR", str(tmp_path))
    gains = (3.0, 0.7, -11.5)
    modules = [
        native.load(emit_module([FunctionSpec("f", ("x", "out"), frozenset(["x"]), {X: ("x", 0)}, [(0, constant(gain) * X)])])) for gain in gains
    ]
    assert [module.is_from_cache for module in modules] == [False, True, True]
    for module, gain in zip(modules, gains, strict=True):
        out = ctypes.c_double()
        ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p)(module.address("f"))(2.0, ctypes.addressof(out))
        assert out.value == gain * 2.0


def test_tables_with_other_values_share_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_CACHE_DIR", str(tmp_path))
    for values in ([3.0, 5.0, 9.0], [0.1, 0.3, -7.0]):
        assert _value(table([0, 1, 2], values)(X), 1.5) == pytest.approx(0.5 * (values[1] + values[2]), rel=1e-15)
    assert len(list((tmp_path / "native").glob("*.o"))) == 1


def _random_rates(seed: int, numbers: list[float]) -> list[Expr]:
    """Rates of three states whose form is the seed's and whose numbers are given."""
    random = np.random.default_rng(seed)
    given = iter(numbers)

    def number() -> Expr:
        return constant(next(given))

    def term() -> Expr:
        a, b = (X, Y, Z)[random.integers(3)], (X, Y, Z, T)[random.integers(4)]
        return [
            lambda: number() * a,
            lambda: number() * a * b,
            lambda: a / (number() + b * b),
            lambda: node("sin", (number() * b,)),
            lambda: node("exp", (number() * a,)) * number(),
            lambda: node("sqrt", (number() + a * a,)),
            number,
        ][random.integers(7)]()

    return [term() + term() - term() for _ in range(3)]


def _emitted(rates: list[Expr], form: Form) -> str:
    positions = {T: ("t", 0), X: ("y", 0), Y: ("y", 1), Z: ("y", 2)}
    arguments = Arguments(("t", "y", "p", "m", "out"), frozenset({"t"}), positions)
    program = series_program([X, Y, Z], rates)
    return emit_series(program, arguments, 6, "series", form=form, rests_at_zero=True, with_step=True, exponents=program.exponents).text


@pytest.mark.hunt
@pytest.mark.parametrize("form", list(Form))
def test_a_series_written_once_serves_other_numbers(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text that is kept, with new numbers, is what is written when nothing is kept: for random forms, numbers that coincide, 2 and 1."""
    kept: dict[tuple[object, ...], tuple[str, list[int]]] = {}
    shared = 0
    for seed in range(40):
        random = np.random.default_rng(1000 + seed)
        for _ in range(4):
            pool = [2.0, *np.round(random.uniform(0.2, 4.0, 5), 2).tolist(), *([1.0, 0.5] if random.random() < 0.5 else [])]
            rates = _random_rates(seed, random.choice(pool, 40).tolist())
            before = len(kept)
            monkeypatch.setattr(series_module, "_texts", kept)
            found = _emitted(rates, form)
            shared += len(kept) == before
            monkeypatch.setattr(series_module, "_texts", {})
            assert found == _emitted(rates, form)
    assert shared > 0


@pytest.mark.slow
def test_a_changed_closure_changes_the_result_and_not_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """x' = -k x: exp(-k), and as many object files for five values of k as for one."""
    monkeypatch.setenv("TIDEGATE_CACHE_DIR", str(tmp_path))
    counts: list[int] = []
    for k in (0.3, 0.7, 1.1, 1.9, 3.0):
        result = tg.simulate(tg.ode(lambda t, y, k=k: {"x": -k * y["x"]}, {"x": 1.0}), (0, 1), rtol=1e-10)
        assert result.final["x"] == pytest.approx(math.exp(-k), rel=1e-8)
        counts.append(len(list((tmp_path / "native").glob("*.o"))))
    assert len(set(counts)) == 1
