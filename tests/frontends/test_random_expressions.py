"""Outputs are what Python makes of the same text at the values that the run has, but for numbers within rounding of a jump."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from random_expressions import RandomText
from written_source import space_of

__all__: list[str] = []

_OUTPUTS = 4


def written(texts: list[str], seed: int) -> Any:
    """A function of x, y, w, n, k that gives the values of these texts."""
    lines = ["import math", "import numpy as np", "def values(x, y, w, n, k):", *(f"    e{i} = {text}" for i, text in enumerate(texts))]
    text = "\n".join([*lines, f"    return [{', '.join(f'e{i}' for i in range(len(texts)))}]", ""])
    return space_of(text, f"<random expressions {seed}>")["values"]


def is_near(got: float, expected: float) -> bool:
    return abs(got - expected) <= 1e-6 * (1 + abs(expected))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 22))])
def test_outputs_are_what_python_makes_of_the_same_text(seed: int) -> None:
    writer = RandomText(seed)
    values = written([writer.number(writer.random.randint(1, 3)) for _ in range(_OUTPUTS)], seed)
    k = writer.random.choice([-3.0, 1.0, 2.0, 3.0, 2.5])

    def outputs(t: Any, y: Any, p: Any, d: Any) -> dict[str, Any]:
        return {f"o{i}": value for i, value in enumerate(values(y["x"], y["y"], y["w"], d["n"], p["k"]))}

    model = tg.ode(
        lambda t, y, p, d: [1.0, -0.5, 0.25], y0={"x": -1.3, "y": 0.8, "w": 0.1}, p={"k": k}, discrete={"n": 0.0}, outputs=outputs,
        events=[tg.event(every=0.5, reset=lambda t, y, p, d: {"n": d["n"] + 1})],
    )  # fmt: skip
    result = tg.simulate(model, (0, 3.01), outputs=0.0371, method="radau", rtol=1e-9)
    for row in range(len(result.t)):
        x, y, w, n = (float(result[name].values[row]) for name in "xywn")
        beside = (values(x + s, y - s / 2, w + s / 4, n, k) for s in (0.0, 1e-7, -1e-7))
        expected = np.array([[float(value) for value in each] for each in beside])
        for i in range(_OUTPUTS):
            got = float(result[f"o{i}"].values[row])
            assert any(is_near(got, value) for value in expected[:, i]), (row, i, got, expected[:, i])


def test_halves_are_rounded_to_what_is_even() -> None:
    halves = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]
    model = tg.ode(
        lambda t, y, d: [0.0], y0={"x": 0.0}, discrete={"n": -6.0},
        outputs=lambda t, y, d: {"a": round(d["n"] / 2), "b": np.rint(d["n"] / 2), "c": round(d["n"] / 20, 1)},
        events=[tg.event(every=1.0, reset=lambda t, y, d: {"n": d["n"] + 1})],
    )  # fmt: skip
    result = tg.simulate(model, (0, 12.5), outputs=[0.5 + 2 * k for k in range(7)])
    assert (result["n"].values / 2).tolist() == halves
    assert result["a"].values.tolist() == result["b"].values.tolist() == [round(half) for half in halves]
    assert result["c"].values.tolist() == pytest.approx([round(half) / 10 for half in halves])


def test_remainders_of_what_only_events_change_are_known_to_searches() -> None:
    # six times -1.5 fits into -9 to rounding, and bounds of the remainder reach from 0 to 1.5
    model = tg.ode(
        lambda t, y, d: [1.0], y0={"w": 0.1}, discrete={"n": 0.0},
        outputs=lambda t, y, d: {"o": min(math.fmod(d["n"], -1.5) if d["n"] != 3 else math.sin(y["w"]), 1.5)},
        events=[tg.event(every=0.5, reset=lambda t, y, d: {"n": d["n"] + 1})],
    )  # fmt: skip
    result = tg.simulate(model, (0, 5.2), outputs=0.5, event_rows=False)
    expected = [math.sin(w) if n == 3 else math.fmod(n, -1.5) for w, n in zip(result["w"].values, result["n"].values, strict=True)]
    assert result["o"].values.tolist() == pytest.approx(expected, abs=1e-6)
