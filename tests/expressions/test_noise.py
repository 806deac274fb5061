"""Noise: the same number for the same interval however it is asked for, of the distribution it is said to have, streams independent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.expressions import Role, evaluate, symbol
from tidegate.expressions.noise import random_integers

__all__: list[str] = []

KEPT = ((1198638147, 337828743), (1238262155, 370069146), (1367223136, 796025298))


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_expressions_and_plain_numbers_give_the_same(kind: str) -> None:
    time = symbol(Role.TIME, "time")
    expr = tg.noise(time, seed=7, every=0.25, deviation=2.0, kind=kind, stream=3)
    for t in (-3.1, 0.0, 0.1, 0.25, 17.3, 4.0e6):
        assert evaluate([expr], {time: t})[0] == pytest.approx(tg.noise(t, seed=7, every=0.25, deviation=2.0, kind=kind, stream=3), rel=1e-14)


def test_numbers_are_those_written_down_once() -> None:
    # whoever changes them changes every run that was ever made with noise
    assert random_integers(1, 0, 0) == pytest.approx(KEPT[0])
    assert random_integers(1, 0, 123456789) == pytest.approx(KEPT[1])
    assert random_integers(2, 5, -1) == pytest.approx(KEPT[2])


@pytest.mark.slow
def test_the_distribution_is_normal_and_neighbours_and_streams_are_independent() -> None:
    n = 5_000
    z = np.array([[tg.noise(float(k), seed=5, stream=s) for k in range(n)] for s in (0, 1)])
    # five standard errors of each
    assert np.abs(z.mean(axis=1)) == pytest.approx(0.0, abs=5.0 / n**0.5)
    assert z.var(axis=1) == pytest.approx(1.0, abs=5.0 * (2.0 / n) ** 0.5)
    assert (z**4).mean(axis=1) == pytest.approx(3.0, abs=5.0 * (96.0 / n) ** 0.5)
    for a, b in ((z[0, 1:], z[0, :-1]), (z[0], z[1]), (z[0, 2:] ** 2 - 1.0, z[0, :-2] ** 2 - 1.0)):
        assert abs(np.mean(a * b)) < 5.0 * 2.0 / n**0.5
    u = np.array([random_integers(5, 0, k)[0] for k in range(n)]) / 2.0**31
    counts = np.histogram(u, 50, (0.0, 1.0))[0]
    assert ((counts - n / 50) ** 2 / (n / 50)).sum() < 49 + 5.0 * 98**0.5


class Shaken(tg.Component):
    x = tg.State(0.0)
    T = tg.Parameter(0.1)

    def equations(self) -> Any:
        yield tg.der(self.x) == tg.noise(tg.time, seed=3, every=self.T, deviation=0.5) - self.x


@pytest.mark.slow
def test_a_run_sees_the_numbers_that_plain_python_sees() -> None:
    function = tg.ode(lambda t, y: [-y["x"] + tg.noise(t, seed=3, every=0.1, deviation=0.5)], y0={"x": 0.0})
    x, truth = 0.0, []
    for k in range(20):
        u = tg.noise((k + 0.5) * 0.1, seed=3, every=0.1, deviation=0.5)
        x = u + (x - u) * np.exp(-0.1)
        truth.append(x)
    times = 0.1 * np.arange(1, 21)
    for model, method in ((function, "radau"), (function, "taylor"), (Shaken(), "auto")):
        result = tg.simulate(model, (0, 2), rtol=1e-9, method=method)
        assert result.at(times, "x").values == pytest.approx(truth, abs=1e-9)
        assert method != "taylor" or tg.verify(result).ok  # by numbers, not by expressions


def test_wrong_words_are_answered() -> None:
    for arguments, sentence in (
        ({"seed": 1.5}, "seed is 1.5"),
        ({"seed": 1, "kind": "red"}, "kind is 'red'"),
        ({"seed": 1, "every": 0.0}, "every is 0.0"),
    ):
        with pytest.raises(tg.UsageError, match=sentence):
            tg.noise(0.0, **arguments)
