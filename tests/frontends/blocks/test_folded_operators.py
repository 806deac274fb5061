"""Operators with numbers are put together with their neighbours; what the signals are does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []

b = tg.blocks


def test_a_sum_with_factors_is_one_block_and_an_offset() -> None:
    d = tg.Diagram("oscillator")
    d.x, d.v = b.Integrator(1.0), b.Integrator()
    d.x(d.v)
    d.v(1.0 - 2.0 * d.x - 0.5 * d.v * 3.0 + 2.0 - (-d.x) / 4)
    assert [block.kind for block in d] == ["Integrator", "Integrator", "WeightedSummer", "Offset"]
    assert [block.name for block in d][2:] == ["weightedSummer1", "offset1"]
    assert (d["weightedSummer1"].weight1, d["weightedSummer1"].weight2, d["offset1"].offset) == (-1.75, -1.5, 3.0)


def test_what_is_used_twice_or_has_a_name_stays() -> None:
    d = tg.Diagram("kept")
    d.x = b.Integrator(1.0)(0.0)
    twice = 2.0 * d.x
    d.one = b.Gain(1.0)(twice)
    d.two = b.Gain(1.0)(3.0 * twice + 1.0)
    d.named = 5.0 * d.x
    d.three = b.Gain(1.0)(2.0 * d.named)
    d.back = b.Gain(1.0)(twice)  # still there to be used
    loose = d.x + 7.0
    d.four = b.Gain(1.0)(loose - 1.0)
    d.five = b.Gain(1.0)(loose)  # gone for a while, and back
    result = tg.simulate(d, (0, 1))
    assert [result.final[name] for name in ("one", "two", "named", "three", "back", "four", "five")] == [2.0, 7.0, 5.0, 10.0, 2.0, 7.0, 8.0]
    assert d["named"].kind == "Gain"


def test_a_parameter_that_is_set_keeps_its_block() -> None:
    d = tg.Diagram("set")
    d.x = b.Integrator(1.0)(0.0)
    doubled = 2.0 * d.x
    doubled.block.gain = 5.0
    d.y = b.Gain(1.0)(doubled + 1.0)
    assert tg.simulate(d, (0, 1)).final["y"] == 6.0


@pytest.mark.parametrize("is_read", [False, True], ids=["gone", "read by another block"])
def test_a_parameter_of_what_was_put_into_another_block_is_refused_by_name(is_read: bool) -> None:
    d = tg.Diagram("set")
    d.x = b.Integrator(1.0)(0.0)
    doubled = 2.0 * d.x
    if is_read:
        d.z = b.Gain(1.0)(doubled)
    d.y = b.Gain(1.0)(doubled + 1.0)
    with pytest.raises(tg.UsageError, match=r"(?s)gain of .* has no effect on offset1.*give the block a name first"):
        doubled.block.gain = 5.0
    with pytest.raises(tg.UsageError, match="has no effect"):
        doubled.block.disconnect("x1")
    d.late = doubled  # a name comes too late: the model has no parameter that would change one of the two
    assert tg.simulate(d, (0, 1)).final["late"] == 2.0
    with pytest.raises(tg.UsageError, match=r"no parameter 'late\.gain'"):
        tg.simulate(d, (0, 1), parameters={"late.gain": 5.0})
    assert tg.simulate(d, (0, 1), parameters={"y.gain": 2.0}).final["y"] == 6.0


def combined(kind: int, c: float, p: Any, q: Any) -> Any:
    """One of nine ways to write it."""
    ways = (
        lambda: p + q, lambda: p - q, lambda: c * p, lambda: p / c, lambda: -p, lambda: c - p, lambda: p + c, lambda: p * q / 3.0,
        lambda: 2.0 * p - q * c,
    )  # fmt: skip
    return ways[kind]()


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions_have_the_values_that_python_gives_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.uniform(-2, 2, 4)
    d = tg.Diagram("random")
    signals: list[Any] = []
    for k, value in enumerate(values):
        setattr(d, f"x{k}", b.Constant(float(value)))
        signals.append(getattr(d, f"x{k}"))
    pairs = list(zip(signals, values.tolist(), strict=True))
    for k in range(30):
        (s, x), (u, y) = (pairs[int(i)] for i in rng.integers(0, len(pairs), 2))
        c = float(np.round(rng.uniform(-3, 3), 1)) or 1.0
        kind = int(rng.integers(0, 9))
        pairs.append((combined(kind, c, s, u), combined(kind, c, x, y)))
        if k % 4 == 0:
            setattr(d, f"y{k}", b.Gain(1.0)(pairs[-1][0]))
            signals.append((f"y{k}", pairs[-1][1]))
    found = tg.simulate(d, (0, 1)).final
    for name, value in signals[4:]:
        assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name
