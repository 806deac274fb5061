"""The first zero of random polynomials, against the exact one: Sturm's chain in whole numbers of any size, of the same coefficients."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from types import ModuleType, SimpleNamespace
from typing import Final

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial
from tests.kernel_as_python import as_plain_python

from tidegate.compiled.schema import LANES, MOST_PARTS_AT_ONCE

__all__: list[str] = []

EPS: Final = 2.0**-52
HALVINGS: Final = 80  # of the interval in which a zero is: far below what a double tells
NO_ROOT: Final = 2.0
SAMPLES: Final = 65
Exact = list[Fraction]


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    """The module as plain Python."""
    return as_plain_python("tidegate.events.polynomial_roots", "tidegate.events.illinois")


def _value(c: Exact, x: Fraction) -> Fraction:
    total = Fraction(0)
    for one in reversed(c):
        total = total * x + one
    return total


def _rest(a: Exact, b: Exact) -> Exact:
    """Of the division of one polynomial by another, from the lowest power on, without zeros at the end."""
    a = list(a)
    while len(a) >= len(b):
        factor = a[-1] / b[-1]
        for k, one in enumerate(b):
            a[len(a) - len(b) + k] -= factor * one
        a.pop()
        while a and a[-1] == 0:
            a.pop()
    return a


def _chain(c: Exact) -> list[Exact]:
    chain = [c, [k * one for k, one in enumerate(c)][1:]]
    while len(chain[-1]) > 1:
        rest = [-one for one in _rest(chain[-2], chain[-1])]
        if not rest:
            break
        largest = max(map(abs, rest))
        chain.append([one / largest for one in rest])
    return chain


def _changes(chain: list[Exact], x: Fraction) -> int:
    signs = [value > 0 for value in (_value(one, x) for one in chain) if value != 0]
    return sum(a != b for a, b in pairwise(signs))


def _first(c: Exact, upper: Fraction) -> Fraction | None:
    """The first zero in (0, upper], to within rounding of a double; None if there is none."""
    chain = _chain(c)
    at_zero = _changes(chain, Fraction(0))
    low, high = Fraction(0), upper
    if at_zero == _changes(chain, upper):
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if at_zero == _changes(chain, middle):
            low = middle
        else:
            high = middle
    return high


def _random(rng: np.random.Generator) -> np.ndarray:
    """Positive at zero: made of zeros, as many of them in reach as there may be; or a series that converges; or with a first term as of rounding; or
    with waves.
    """
    kind = int(rng.integers(4))
    degree = int(rng.integers(1, LANES + 4))
    if kind == 0:
        n_real = int(rng.integers(0, min(degree, 6) + 1))
        roots = [complex(x) for x in rng.uniform(0.0, 1.6, n_real)]
        if n_real >= 2 and rng.random() < 0.7:
            # a pair in front of what follows
            roots[0] = complex(10.0 ** rng.uniform(-3.0, 0.0))
            roots[1] = roots[0] * (1.0 + 10.0 ** rng.uniform(-4.0, 0.5))
        while len(roots) + 2 <= degree:
            pair = complex(rng.uniform(-2.0, 2.0), rng.uniform(0.05, 2.0))
            roots += [pair, pair.conjugate()]
        c = np.real(np.poly(roots))[::-1] if roots else np.ones(1)
        return c if c[0] > 0.0 else -c
    if kind == 3:
        # a parabola with waves on it
        waves = Chebyshev.basis(int(rng.integers(5, 13)), domain=[0.0, 1.0]).convert(kind=Polynomial).coef
        c = float(rng.uniform(0.0, 1.0)) * waves
        c[:3] += [float(rng.uniform(0.0, 1.0)), float(rng.normal(0.0, 3.0)), float(rng.normal(0.0, 3.0))]
        c[0] = abs(c[0])
        return c
    c = rng.normal(size=degree + 1) * float(rng.uniform(0.1, 2.0)) ** np.arange(degree + 1)
    if kind == 2:
        c[0] = 10.0 ** rng.uniform(-17.0, -8.0)
    c[0] = abs(c[0])
    c[rng.random(degree + 1) < rng.choice([0.0, 0.3])] *= 0.0
    c[0] = c[0] or 1e-15
    return c


def _found(plain: ModuleType, c: np.ndarray, upper: float, finest: float, near: float = 0.0) -> float:
    degree = len(c) - 1
    width = max(degree + 1, LANES) + 2
    scratch = np.zeros(width)
    scratch[: degree + 1] = c
    run = SimpleNamespace(bernstein_scratch=scratch, parts_scratch=np.zeros((MOST_PARTS_AT_ONCE, width)), part_width=width)
    return float(plain.first_root(run, degree, upper, finest, near))


@pytest.mark.slow
def test_a_zero_in_front_of_the_one_that_newtons_method_comes_to_is_found(plain: ModuleType) -> None:
    c = np.array([1e-9, 0.456, -0.467, -0.207, -1.332, -0.022, 0.873, 1.092, 1.826, 1.279, -0.714, 1.123, 0.574, -0.104, -1.693, -4.531, -0.101])
    exact = _first([Fraction(float(one)) for one in c], Fraction(1))
    assert exact is not None
    assert float(exact) == pytest.approx(0.594, abs=1e-3)  # Newton's method comes to 0.92
    assert _found(plain, c, 1.0, 0.0) == pytest.approx(float(exact), abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_the_first_zero_is_that_of_the_chain_of_sturm(plain: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    looked_at = 0
    for _ in range(15):
        c = _random(rng)
        degree = len(c) - 1
        upper = float(rng.choice([1.0, 1.0, 0.3, 0.9]))
        finest = float(rng.choice([0.0, 2e-10]))
        if degree < 1 or not c[0] > 0.0:
            continue
        found = _found(plain, c, upper, finest)
        # whatever is guessed, it is the first; a little in front of it most often
        for guess in (found * (1.0 - 10.0 ** rng.uniform(-12.0, -1.0)), rng.uniform(0.0, upper)):
            assert _found(plain, c, upper, finest, float(guess)) == pytest.approx(found, abs=1.5 * finest + 1e-15, rel=1e-7)
        # what a sum of so many terms has of rounding, at most: where the polynomial comes no farther below zero, or above, nobody can tell
        noise = 8.0 * degree * EPS * float(np.sum(np.abs(c) * upper ** np.arange(degree + 1)))
        exact = [Fraction(float(one)) for one in c]
        while exact[-1] == 0:
            exact.pop()
        first = _first(exact, Fraction(upper)) if len(exact) > 1 else None
        end = upper if first is None else float(first)
        before = np.polyval(c[::-1], np.linspace(0.0, end, SAMPLES))
        if first is None:
            if before.min() > 4.0 * noise:
                assert found == NO_ROOT
                looked_at += 1
            continue
        slope = abs(np.polyval(np.polyder(c[::-1]), end))
        if not slope > 0.0 or noise / slope > 1e-7:
            continue  # nearly two at once
        looked_at += 1
        near_end = abs(end - upper) * slope <= 4.0 * noise
        assert (near_end and found == NO_ROOT) or abs(found - end) <= 4.0 * noise / slope + 1.5 * max(finest, 2.0 * EPS * max(end, 1e-3)) + EPS * end
    assert looked_at > 4
