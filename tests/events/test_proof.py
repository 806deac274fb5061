"""Proofs of steps: never given where a guard is across in exact arithmetic, given where it is clear; runs are the same with them and without."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.executive.options import Options
from tidegate.executive.problem import problem_of
from tidegate.integrators.choose import choose
from tidegate.integrators.kernel_cache import kernel
from tidegate.simulate import compiled_of

__all__: list[str] = []

_LEVEL = 16 * 2.0**-52


def _law(t: Any, y: Any, p: Any) -> list[Any]:
    curved = y["x"] * y["y"] - y["x"] ** 3 / (1.0 + y["y"] ** 2)
    return [1.0 if y["x"] > p["c"] else 2.0, 1.0 if curved > p["c"] else 2.0]


class _Step:
    """A step put into the memory of a run by hand: its guards are x, and xy - x^3 / (1 + y^2)."""

    def __init__(self) -> None:
        model = compiled_of(tg.ode(_law, y0={"x": 1.0, "y": 1.0}, p={"c": 0.0}))
        self.run: Any = choose(problem_of(model, (0.0, 1.0), Options(events="proved", rtol=1e-10)), "taylor")
        self.run.start()
        self.work = self.run._work
        prove = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        self.prove = prove(kernel("tidegate.events.proof").prove_step.address)
        self.degree = int(self.work["max_degree"])

    def is_proved(self, x: np.ndarray, y: np.ndarray, end: float, guard: int, is_true: bool, level: float, quiet: int = 0) -> bool:
        """Whether the proof succeeds for one guard, which was true or not when the step was taken."""
        work, n = self.work, self.degree
        for name, value in (("t", 0.0), ("length", 1.0), ("step", end), ("degree", n)):
            work[name] = value
        polynomials = np.zeros((n + 1, 2))
        polynomials[: len(x), 0], polynomials[: len(y), 1] = x, y
        work.numbers("y")[:] = polynomials[0]
        work.numbers("coefficients")[: 2 * n] = polynomials[1:].ravel()
        work.numbers("active")[:] = np.arange(2) == guard
        work.numbers("m")[work.integers("guard_mode")[guard]] = float(is_true)
        work.numbers("nu")[:] = work.numbers("nu_start")[:] = level
        before = work["c_proved"]
        self.prove(work.h.ctypes.data, work.r.ctypes.data, quiet)
        return bool(work["c_proved"] > before)


@pytest.fixture(scope="module")
def step() -> _Step:
    return _Step()


def _at(c: np.ndarray, theta: Fraction) -> Fraction:
    value = Fraction(0)
    for a in c[::-1]:
        value = value * theta + Fraction(float(a))
    return value


def _polynomial(rng: np.random.Generator, degree: int) -> np.ndarray:
    """With roots in and beside the step and pairs of them close to it, or of any kind."""
    if rng.integers(3):
        return rng.normal(size=degree) * 10.0 ** rng.uniform(-4, 0, degree)
    c = np.ones(1)
    for _ in range(int(rng.integers(1, 4))):
        real, imaginary = rng.uniform(-0.5, 1.5), float(rng.choice([0.0, 0.0, 10.0 ** rng.uniform(-9, 0)]))
        c = np.convolve(c, [1.0, -2.0 * real, real**2 + imaginary**2] if imaginary else [1.0, -real])
    return c[::-1].copy()


def _exact_guards(x: np.ndarray, y: np.ndarray) -> tuple[Callable[[Fraction], Fraction], ...]:
    def curved(theta: Fraction) -> Fraction:
        a, b = _at(x, theta), _at(y, theta)
        return a * b - a**3 / (1 + b * b)

    return lambda theta: _at(x, theta), curved


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_no_proof_is_given_where_a_guard_is_across_and_one_is_where_it_is_clear(step: _Step, seed: int) -> None:
    rng = np.random.default_rng(seed)
    proved = across = 0
    for _ in range(150):
        x = _polynomial(rng, int(rng.integers(2, step.degree + 1))) * 10.0 ** rng.integers(-6, 7)
        y = rng.normal(size=4)
        end = float(rng.choice([1.0, rng.uniform(0.05, 1.0)]))
        places = np.linspace(0.0, end, 2001)
        a, b = np.polyval(x[::-1], places), np.polyval(y[::-1], places)
        shapes = (a, a * b - a**3 / (1 + b * b))
        sizes = (np.max(np.abs(x)), np.max(np.abs(a * b)) + np.max(np.abs(a**3 / (1 + b * b))))
        for guard, (exact, shape, size) in enumerate(zip(_exact_guards(x, y), shapes, sizes, strict=True)):
            is_true = bool(shape[0] > 0.0)
            sign = 1 if is_true else -1
            level = _LEVEL * size
            least = min(sign * exact(Fraction(float(places[k]))) for k in np.argsort(sign * shape)[:3])
            given = step.is_proved(x, y, end, guard, is_true, level)
            # a guard within rounding of its zero may or may not be proved
            if least < -level:
                across += 1
                assert not given
            elif least > 1e-3 * size:
                assert given
            proved += given
    assert min(proved, across) > 50


def test_a_step_that_is_cut_where_a_guard_crosses_is_proved_and_one_that_goes_on_is_not(step: _Step) -> None:
    x, y = np.array([1.0, -1.0 / 0.6]), np.zeros(1)
    assert step.is_proved(x, y, 0.6, 0, is_true=True, level=_LEVEL)
    assert not step.is_proved(x, y, 0.6 + 1e-12, 0, is_true=True, level=_LEVEL)
    assert not step.is_proved(x, y, 0.6, 0, is_true=False, level=_LEVEL)


def test_a_pair_of_roots_a_millionth_apart_is_never_proved_away(step: _Step) -> None:
    for place in np.linspace(0.1, 0.9, 17):
        x = np.convolve([1.0, -place], [1.0, -place - 1e-6])[::-1].copy()
        assert not step.is_proved(x, np.zeros(1), 1.0, 0, is_true=True, level=_LEVEL)
        assert step.is_proved(x + np.array([1e-12, 0.0, 0.0]), np.zeros(1), 1.0, 0, is_true=True, level=_LEVEL)


def test_nothing_is_proved_of_a_step_in_which_relations_flipped_quietly(step: _Step) -> None:
    assert step.is_proved(np.array([1.0]), np.zeros(1), 1.0, 0, is_true=True, level=_LEVEL)
    assert not step.is_proved(np.array([1.0]), np.zeros(1), 1.0, 0, is_true=True, level=_LEVEL, quiet=1)


def _hidden() -> Any:
    """Three crossings of sin(3 t) + 1 below 3 - p, two of them close together; and a product that is no affine guard."""
    return tg.ode(
        lambda t, y: [y["v"], -9.0 * y["x"] - (0.5 if y["x"] * y["v"] > 0.7 else 0.0)],
        y0={"x": 1.0, "v": 0.0},
        events=tg.event(lambda t, y: y["x"] < -0.999, reset=lambda t, y: {"v": 0.9 * y["v"]}),
    )


@pytest.mark.parametrize("method", ["radau", "taylor", "rodas5p", "bdf", "rke"])
def test_a_run_that_is_proved_is_the_same_run(method: str) -> None:
    fast, proved = (tg.simulate(_hidden(), (0.0, 5.0), method=method, events=events) for events in ("fast", "proved"))
    assert len(fast.events) > 8
    assert np.array_equal(fast.t, proved.t)
    assert np.array_equal(fast.values, proved.values)
    assert proved.statistics.proved == proved.statistics.examined >= proved.statistics.steps
    assert fast.statistics.examined == 0
    examined = proved.statistics.examined
    assert f"no event of the numerical solution missed: proved for {examined} of {examined} steps" in str(proved.statistics)


def test_what_an_opaque_function_decides_is_not_proved() -> None:
    looked_up = tg.opaque(lambda x: math.floor(3.0 * x) - 1.5)
    model = tg.ode(lambda t, y: [1.0 if looked_up(y["x"]) > 0.0 else 2.0], y0={"x": 0.0})
    result = tg.simulate(model, (0.0, 1.0), events="proved")
    assert result.statistics.proved < result.statistics.examined


def test_other_values_of_events_are_told() -> None:
    model = tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0})
    with pytest.raises(tg.UsageError, match="events is 'prooved'") as told:
        tg.simulate(model, (0.0, 1.0), events="prooved")
    assert '"proved"' in str(told.value)
    with pytest.raises(tg.UsageError, match=r"the events belong to the model: tg\.ode"):
        tg.simulate(model, (0.0, 1.0), events=lambda t, y: y[0])  # pyright: ignore[reportArgumentType]
