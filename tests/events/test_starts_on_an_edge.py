"""Runs that start where a whole part, a remainder or a table is about to change: the piece counts that the solution moves into."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import tidegate as tg
from written_source import space_of

__all__: list[str] = []

METHODS: Final = ("auto", "taylor", "radau", "bdf", "adams", "rodas5p", "ida")
EDGES: Final = {
    "floor, falling": (lambda t, y: {"x": -0.25 - 0.05 * np.floor(y["x"])}, 1.0, 0.75),
    "floor, rising": (lambda t, y: {"x": 0.25 + 0.05 * np.floor(y["x"])}, 1.0, 1.3),
    "ceil, rising": (lambda t, y: {"x": 0.25 + 0.05 * math.ceil(y["x"])}, 1.0, 1.35),
    "int, falling": (lambda t, y: {"x": -0.25 - 0.05 * int(y["x"])}, 2.0, 1.7),
    "a tie, falling": (lambda t, y: {"x": -0.25 - 0.05 * round(y["x"])}, 1.5, 1.2),
    "a tie, rising": (lambda t, y: {"x": 0.25 + 0.05 * np.rint(y["x"])}, 0.5, 0.8),
    "halves, falling": (lambda t, y: {"x": -0.25 - 0.05 * (y["x"] // 0.5)}, 1.0, 0.7),
    "against the time": (lambda t, y: {"x": -0.25 - np.floor(y["x"] - t)}, 1.0, 0.95),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("edge", EDGES)
def test_a_run_that_starts_on_an_edge_is_in_the_piece_that_it_moves_into(edge: str, method: str) -> None:
    rates, start, end = EDGES[edge]
    result = tg.simulate(tg.ode(rates, y0={"x": start}), (0.0, 1.0), method=method, rtol=1e-9)
    assert result.final["x"] == pytest.approx(end, abs=1e-8)


HEAD: Final = """import math
import numpy as np
import tidegate as tg
curve = tg.table([-1, 0, 1, 2, 3], [0, 0.5, 0.2, 0.9, 0.1])
"""
FORMS: Final = (
    "math.tanh(np.floor({}))",
    "math.tanh(math.ceil({}))",
    "math.tanh(int({}))",
    "math.tanh(round({}))",
    "math.tanh(np.rint({}))",
    "({} % 1.0)",
    "curve({})",
    "math.tanh(np.digitize({}, [0.0, 1.0, 2.0]))",
    "math.tanh(np.floor({} - t))",
    "math.tanh({} // 0.5)",
    "[0.0, 1.0, 0.5, 2.0][min(max(int({}), 0), 3)]",
)


def written(rng: random.Random) -> tuple[Callable[..., Any], dict[str, float], dict[str, int]]:
    """Rates that keep their signs, start values on edges, and the signs."""
    names = [f"x{k}" for k in range(rng.randint(1, 3))]
    signs = {name: rng.choice([-1, 1]) for name in names}
    start = {name: float(rng.choice([0, 1, 2, -1, 0.5, 1.5, 3])) for name in names}
    rates: list[str] = []
    for name in names:
        terms = [rng.choice(FORMS).format(f"({rng.choice([1, 2, 1, 0.5])} * y['{rng.choice(names)}'])") for _ in range(rng.randint(1, 2))]
        rates.append(f"'{name}': {signs[name] * rng.uniform(0.5, 2.0):.4f} * (1.0 + 0.1 * ({' + '.join(terms)}))")
    text = f"{HEAD}def f(t, y):\n    return {{{', '.join(rates)}}}\n"
    return space_of(text, f"<on an edge {rng.random()}>")["f"], start, signs


def check(seed: int) -> None:
    """The run ends where one ends that starts a trifle ahead of it, clear of all edges; rates are about one, so a trifle makes a trifle."""
    rng = random.Random(seed)
    rates, start, signs = written(rng)
    span, options = (0.0, rng.choice([0.3, 1.7])), {"method": rng.choice(METHODS), "rtol": 1e-9, "atol": 1e-11}
    ahead = {name: value + 1e-9 * signs[name] for name, value in start.items()}
    ends = [tg.simulate(tg.ode(rates, y0=values), span, **options).final for values in (start, ahead)]
    for name in start:
        assert ends[0][name] == pytest.approx(ends[1][name], abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_random_rates_started_on_their_edges_are_those_of_a_moment_later(seed: int) -> None:
    check(seed)


@pytest.mark.hunt
@pytest.mark.parametrize("part", range(2))  # 1 300 were tried once
def test_many_random_rates_started_on_their_edges_are_those_of_a_moment_later(part: int) -> None:
    for seed in range(1000 + 20 * part, 1020 + 20 * part):
        check(seed)
