"""Functions in guards: their models hold what the function is, and random guards made of them cross where plain Python has it."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest
from scipy.optimize import brentq
from tests.kernel_as_python import as_plain_python

import tidegate as tg
from tidegate.expressions.tape import COS, COSH, EXP, LOG, SIN, SINH, SQRT

__all__: list[str] = []

EPS: Final = 2.0**-52
FUNCTIONS: Final = {SIN: np.sin, COS: np.cos, SINH: np.sinh, COSH: np.cosh, EXP: np.exp, LOG: np.log, SQRT: np.sqrt}
POWER: Final = -1  # in the place of an operation


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    """The module as plain Python."""
    return as_plain_python("tidegate.events.function_models")


def _model(plain: ModuleType, operation: int, exponent: float, x: np.ndarray, degree: int) -> np.ndarray | None:
    out, scratch, larger = (np.full(degree + 5, np.nan) for _ in range(3))
    if operation == POWER:
        has_one = plain.put_real_power(x, exponent, degree, larger, out)
    else:
        has_one = plain.put_function(operation, x, degree, scratch, larger, out)
    return out if has_one else None


@pytest.mark.parametrize("seed", range(300))
def test_a_model_of_a_function_is_within_its_bound_of_the_function(plain: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    operation = int(rng.choice([*FUNCTIONS, POWER, POWER]))
    exponent = float(rng.choice([-1.0, -2.0, 0.5, 1.7, -0.3, 3.0]))
    degree = int(rng.integers(1, 22))
    x = rng.normal(size=degree + 5) * 10.0 ** rng.uniform(-2.0, 0.5) * float(rng.uniform(0.1, 0.9)) ** np.arange(degree + 5)
    x[rng.random(degree + 5) < rng.choice([0.0, 0.5, 0.9])] = 0.0
    x[0] = float(rng.normal()) * 10.0 ** rng.uniform(-1.0, 2.0 if operation in (SIN, COS) else 0.5)
    x[degree + 1], x[degree + 3] = (float(rng.choice([0.0, 10.0 ** rng.uniform(-14.0, -1.0)])) for _ in range(2))
    if operation in (LOG, SQRT) or (operation == POWER and exponent != round(exponent)):
        x[0] = abs(x[0])
    out = _model(plain, operation, exponent, x, degree)
    if out is None:
        assert operation in (LOG, SQRT, POWER)
        assert np.abs(x[1 : degree + 2]).sum() + x[degree + 3] >= abs(x[0]) * (1.0 - 1e-12)
        return
    of: Callable[[Any], Any] = FUNCTIONS.get(operation, lambda value: value**exponent)
    powers = np.arange(degree + 1)
    for theta in (0.0, 1e-6, 0.1, 0.35, 0.7, 0.95, 1.0):
        # with eleven bits more than the model has
        moved = np.longdouble(theta) ** powers
        polynomial, told = (np.sum(coefficients[: degree + 1].astype(np.longdouble) * moved) for coefficients in (x, out))
        for side in (-1.0, 0.0, 1.0):
            value = of(polynomial + np.longdouble(side) * (x[degree + 1] * np.longdouble(theta) + x[degree + 3] * np.longdouble(theta) ** degree))
            assert abs(told - value) <= out[degree + 1] * theta + out[degree + 3] * theta**degree + 4.0 * EPS * abs(out[0])
    assert out[degree + 2] >= np.abs(out[1 : degree + 1]).sum() * (1.0 - 16.0 * EPS)


def test_a_model_is_as_narrow_as_rounding_where_its_degree_says_all(plain: ModuleType) -> None:
    """An angle that moves by less than one, at degree 20: nothing is left out but what rounding leaves open."""
    for operation in (SIN, COS, EXP):
        x = np.zeros(25)
        x[:3] = 0.3, 0.5, 0.2
        out = _model(plain, operation, 0.0, x, 20)
        assert out is not None
        assert out[21] + out[23] < 1e-12


def test_what_may_pass_a_pole_or_an_end_has_no_model(plain: ModuleType) -> None:
    x = np.array([1.0, -0.6, -0.5, 0.0, 1.1, 0.0, 2.0])
    for operation, exponent in ((LOG, 0.0), (SQRT, 0.0), (POWER, -1.0)):
        assert _model(plain, operation, exponent, x, 2) is None


class Guarded:
    """``a' = b, b' = -a, c' = -k c`` and a relation of functions of them, drawn at random."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.k = float(rng.uniform(0.1, 1.0))
        self.t_end = float(rng.uniform(4.0, 12.0))
        self.term = [_term(rng) for _ in range(int(rng.integers(1, 4)))]
        grid = np.linspace(0.0, self.t_end, 20_001)
        values = np.array([self.plain(t) for t in grid])
        self.level = float(np.quantile(values, rng.uniform(0.1, 0.9)))
        values -= self.level
        before = np.flatnonzero(values[:-1] * values[1:] < 0.0)
        self.crossings = [brentq(lambda t: self.plain(t) - self.level, grid[i], grid[i + 1], xtol=1e-14) for i in before]
        inner = np.abs(values[1:-1])
        dips = (inner <= np.abs(values[:-2])) & (inner <= np.abs(values[2:])) & (values[:-2] * values[1:-1] > 0.0) & (values[1:-1] * values[2:] > 0.0)
        slopes = np.abs(np.diff(values)[before]) if len(before) else np.ones(1)
        size = np.abs(values).max()
        # whether it touches its level no tolerance tells, nor one that it passes slowly
        self.is_clear = bool((not dips.any() or inner[dips].min() > 1e-4 * size) and slopes.min() > 1e-6 * size)

    def value(self, t: Any, a: Any, b: Any, c: Any) -> Any:
        """What the relation compares with its level."""
        return sum((term(t, a, b, c) for term in self.term), 0.0)

    def plain(self, t: float) -> float:
        """The same along the trajectory."""
        return float(self.value(t, math.cos(t), -math.sin(t), math.exp(-self.k * t)))

    def model(self) -> Any:
        """For tidegate."""

        def f(_t: Any, y: Any) -> dict[str, Any]:
            return {"a": y["b"], "b": -y["a"], "c": -self.k * y["c"]}

        above = tg.event(lambda t, y: self.value(t, y["a"], y["b"], y["c"]) > self.level, name="up")
        below = tg.event(lambda t, y: self.value(t, y["a"], y["b"], y["c"]) < self.level, name="down")
        return tg.ode(f, y0={"a": 1.0, "b": 0.0, "c": 1.0}, events=[above, below])


def _term(rng: np.random.Generator) -> Callable[..., Any]:
    p, q, r = rng.uniform(0.3, 3.0), rng.uniform(-1.0, 1.0), rng.uniform(1.2, 3.0)
    weight = rng.uniform(-2.0, 2.0)
    kinds: list[Callable[..., Any]] = [
        lambda t, a, _b, _c: weight * np.sin(p * t + q * a),
        lambda t, _a, _b, c: weight * c * np.cos(p * t),
        lambda _t, a, b, _c: weight * np.exp(q * a + 0.3 * b),
        lambda _t, a, b, _c: weight * (q + b) / (r + a),
        lambda _t, a, b, c: weight * np.sqrt(r + a * b + c),
        lambda _t, a, _b, _c: weight * np.log(r + a),
        lambda _t, a, b, _c: weight * (r + a) ** (p - 2.0) * b,
        lambda _t, a, b, _c: weight * np.cosh(q * a) * np.sinh(b),
        lambda _t, _a, b, c: weight / (r - b * c),
    ]
    return kinds[int(rng.integers(len(kinds)))]


def _check(seed: int, method: str) -> bool:
    source = Guarded(seed)
    if not source.is_clear:
        return False
    result = tg.simulate(source.model(), (0.0, source.t_end), method=method, rtol=1e-9)
    times = [event.time for event in result.events if not event.cause.startswith("start")]
    assert len(times) == len(source.crossings), (seed, method)
    assert np.allclose(times, source.crossings, rtol=0.0, atol=1e-6), (seed, method)
    return True


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["taylor", "radau"])
def test_every_crossing_of_a_guard_of_functions_is_found(method: str) -> None:
    assert sum(_check(seed, method) for seed in range(25)) > 15


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p", "bdf"])
def test_every_method_finds_the_crossings_of_guards_of_functions(method: str) -> None:
    assert sum(_check(seed, method) for seed in range(1000, 1040)) > 26
