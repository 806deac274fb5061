"""Random nested discontinuous expressions are integrated, and their conditions counted, as Python has them (see ``expression_integrals``)."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import numpy as np
import pytest

import tidegate as tg
from expression_integrals import T_END, Unsure, integrals

__all__: list[str] = []

METHODS = ["taylor", "radau", "rodas5p", "bdf", "adams"]


def wrong(seeds: Iterable[int]) -> tuple[list[str], int]:
    """What differs by more than the errors of many steps and events may add up to, and how many runs there were."""
    found: list[str] = []
    count = 0
    for seed in seeds:
        try:
            made = integrals(seed)
        except Unsure:
            continue
        draw = Random(seed)
        method, rtol = draw.choice(METHODS), draw.choice([1e-6, 1e-8, 1e-10])
        count += 1
        try:
            result = tg.simulate(made.source, (0.0, T_END), method=method, rtol=rtol, atol=1e-2 * rtol)
        except tg.UntraceableError:  # refused aloud: `floor(x) % 0.4`, where 2 % 0.4 is 0.4 in floats and nearly 0 in numbers
            count -= 1
            continue
        for k, (text, value) in enumerate(zip(made.texts, made.values, strict=True)):
            if abs(result.final[f"q{k}"] - value) > max(2e3 * rtol, 3e-8) * (1.0 + abs(value)):
                found.append(f"{seed} {method} {rtol}: q{k} is {result.final[f'q{k}']} instead of {value}: {text}")
        if result.final["n"] != made.rises:
            found.append(f"{seed} {method} {rtol}: {result.final['n']} instead of {made.rises} times: {made.texts[2]}")
    return found, count


@pytest.mark.slow
def test_random_expressions_are_integrated_as_python_has_them() -> None:
    found, count = wrong(range(12))
    assert found == []
    assert count > 7


@pytest.mark.hunt
@pytest.mark.parametrize("first", [100])
def test_more_random_expressions_are_integrated_as_python_has_them(first: int) -> None:
    found, count = wrong(range(first, first + 50))
    assert found == []
    assert count > 30


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("product", [True, False])
def test_a_table_of_a_remainder_follows_it_through_zero(method: str, product: bool) -> None:
    """Whole parts of both signs, and the piece of the table of what is left, change at one instant, each seeing what the others were before."""

    def rates(t, y):
        s, c, d, _ = y
        u = s * d if product else np.sin(s)
        return [2.9 * c, -2.9 * s, -1.5 * d, np.interp(np.fmod(u, 0.943), [-0.7, -0.1, 0.4, 0.8], [0.1, -0.3, 0.5, 0.2])]

    def plain(t: float) -> float:
        u = np.sin(2.9 * t) * np.exp(-1.5 * t) if product else np.sin(np.sin(2.9 * t))
        return float(np.interp(np.fmod(u, 0.943), [-0.7, -0.1, 0.4, 0.8], [0.1, -0.3, 0.5, 0.2]))

    result = tg.simulate(tg.ode(rates, y0={"s": 0.0, "c": 1.0, "d": 1.0, "q": 0.0}), (0.0, 3.0), method=method, rtol=1e-8)
    middles = (np.arange(60000) + 0.5) * (3.0 / 60000)
    assert result.final["q"] == pytest.approx(float(np.mean([plain(t) for t in middles]) * 3.0), abs=1e-6)
