"""Events of the simple kind are carried out as all others are: with the shortcut and without it every run is the same, bit for bit.

The generator is after what the shortcut must not take for simple: quantities put on a threshold or left at rest there, thresholds shared by two
clauses, clocks that tick where something crosses, clauses that answer to other clauses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import TidegateError
from tidegate.integrators.kernel_cache import kernel

__all__: list[str] = []

_N = 3
_LEVELS = (-0.5, 0.0, 0.0, 0.25, 0.5)


def _condition(random: np.random.Generator) -> Any:
    i, other, level, count = int(random.integers(_N)), int(random.integers(_N)), float(random.choice(_LEVELS)), int(random.integers(3))
    kinds: list[Any] = [
        lambda self: self.x[i] < level,
        lambda self: self.x[i] >= level,
        lambda self: (self.x[i] > level) & (self.k < count),
        lambda self: self.x[i] + self.x[other] > level,
        lambda self: self.k > tg.pre(self.k),
        lambda self: self.x[i] * self.x[other] < level,
    ]
    return kinds[int(random.integers(len(kinds)))]


def _body(random: np.random.Generator) -> Any:
    i, level, factor = int(random.integers(_N)), float(random.choice(_LEVELS)), float(random.uniform(-0.9, 0.9))
    kinds: list[Any] = [
        lambda self: {self.v[i]: factor * self.v[i]},
        lambda self: {self.v[i]: -0.8 * self.v[i], self.k: self.k + 1},
        lambda self: {self.x[i]: level, self.v[i]: 0.0},
        lambda self: {self.k: self.k + 1},
        lambda self: {self.k: 0, self.x[i]: self.x[i] + factor},
        lambda self: {self.held: ~self.held},
    ]
    return kinds[int(random.integers(len(kinds)))]


def _made(random: np.random.Generator) -> Any:
    stiffness, damping = random.uniform(0.5, 9.0, _N), random.choice([0.0, 0.0, 0.3], _N)
    push, level = random.uniform(-2.0, 2.0, _N), float(random.choice(_LEVELS))

    class Made(tg.Component):
        x = tg.State(np.zeros(_N))
        v = tg.State(np.zeros(_N))
        k = tg.Discrete(0)
        held = tg.Discrete(False)

        def equations(self) -> Any:
            for i in range(_N):
                yield tg.der(self.x[i]) == (0.0 if self.held else self.v[i])
                pull = push[i] if self.x[0] < level else -0.5
                free = -stiffness[i] * self.x[i] - damping[i] * self.v[i] + (pull if i == 1 else push[i])
                yield tg.der(self.v[i]) == (0.0 if self.held else free)

    last: Any = None
    for at in range(int(random.integers(1, 5))):
        kind = int(random.integers(4))
        if kind == 0:
            clause = tg.every(float(random.choice([0.5, 0.75, 1.0])), start=0.5)(_body(random))
        elif kind == 1 and last is not None:
            clause = last = last.elsewhen(_condition(random))(_body(random))
        else:
            clause = last = tg.when(_condition(random))(_body(random))
        setattr(Made, f"c{at}", clause)
    return Made(x=random.choice([-0.6, 0.0, 0.3, 0.5], _N), v=random.choice([-1.0, 0.0, 2.0], _N))


def _run(model: Any, method: str) -> tuple[Any, str]:
    try:
        return tg.simulate(model, (0.0, 4.0), method=method, rtol=1e-8, max_steps=3000), ""
    except TidegateError as error:
        return getattr(error, "result", None), str(error)


def _simple_or_not(model: Any, method: str, patch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many times the right side was evaluated, with the shortcut and without it."""
    ours, why = _run(model, method)
    with patch.context() as without:
        without.setattr(kernel(f"tidegate.integrators.{method}.{method}_method"), "may_be_simple", lambda model: False)
        other, reason = _run(model, method)
    assert why == reason
    if ours is None or other is None:
        assert ours is other
        return 0, 0
    assert np.array_equal(ours.time, other.time)
    assert np.array_equal(ours.values, other.values, equal_nan=True)
    assert list(map(repr, ours.events)) == list(map(repr, other.events))
    return ours.statistics.evaluations, other.statistics.evaluations


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["taylor", "radau"])
@pytest.mark.parametrize("seed", range(3))
def test_random_models_run_alike_with_the_shortcut_and_without(seed: int, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    saved = 0
    for _ in range(10):
        with_it, without = _simple_or_not(_made(random), method, monkeypatch)
        saved += without - with_it
    assert saved > 0
