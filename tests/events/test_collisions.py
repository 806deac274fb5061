"""Collisions that accumulate: bodies on a line end in ``ZenoError`` or where the collisions, computed one after the other, put them.

Between collisions speeds are constant, so that plain Python knows every one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []

_MOST = 300  # collisions after which they are taken for endless
END = 3.0


def line(e: float, gaps: Sequence[float], speeds: Sequence[float], *, wall: bool, touching: bool) -> Any:
    """Three bodies, the first of which may be a wall, with a clause for each pair, in a chain."""

    def meets(gap: Any) -> Any:
        return gap <= 0 if touching else gap < 0

    class Line(tg.Component):
        x1 = tg.State(0.0)
        x2 = tg.State(gaps[0])
        x3 = tg.State(gaps[0] + gaps[1])
        v1 = tg.State(speeds[0])
        v2 = tg.State(speeds[1])
        v3 = tg.State(speeds[2])

        def equations(self) -> Any:
            for k in "123":
                yield tg.der(getattr(self, f"x{k}")) == getattr(self, f"v{k}")
                yield tg.der(getattr(self, f"v{k}")) == 0.0

        @tg.when(lambda self: meets(self.x2 - self.x1))
        def first(self) -> Any:
            if wall:
                return {self.v2: self.v1 - e * (self.v2 - self.v1)}
            common, half = 0.5 * (self.v1 + self.v2), 0.5 * e * (self.v1 - self.v2)
            return {self.v1: common - half, self.v2: common + half}

        @first.elsewhen(lambda self: meets(self.x3 - self.x2))
        def second(self) -> Any:
            common, half = 0.5 * (self.v2 + self.v3), 0.5 * e * (self.v2 - self.v3)
            return {self.v2: common - half, self.v3: common + half}

    return Line()


def by_hand(e: float, gaps: Sequence[float], speeds: Sequence[float], *, wall: bool) -> tuple[np.ndarray[Any, Any], float]:
    """Places at the end, and the smallest speed with which two bodies met; not finite where collisions do not end."""
    x = np.array([0.0, gaps[0], gaps[0] + gaps[1]])
    v = np.array(speeds, dtype=float)
    t, slowest = 0.0, np.inf
    for _ in range(_MOST):
        due = [((x[i + 1] - x[i]) / (v[i] - v[i + 1]), i) for i in (0, 1) if v[i] > v[i + 1]]
        if not due or t + min(due)[0] > END:
            return x + v * (END - t), slowest
        wait, i = min(due)
        x, t = x + v * wait, t + wait
        slowest = min(slowest, v[i] - v[i + 1])
        if wall and i == 0:
            v[1] = v[0] - e * (v[1] - v[0])
        else:
            common, half = 0.5 * (v[i] + v[i + 1]), 0.5 * e * (v[i] - v[i + 1])
            v[i], v[i + 1] = common - half, common + half
    return np.full(3, np.nan), slowest


def assert_seen_or_refused(e: float, gaps: Sequence[float], speeds: Sequence[float], *, wall: bool, touching: bool, method: str) -> None:
    expected, slowest = by_hand(e, gaps, speeds, wall=wall)
    try:
        result = tg.simulate(line(e, gaps, speeds, wall=wall, touching=touching), (0.0, END), method=method)
    except (tg.ZenoError, tg.ChatteringError):
        # refused: allowed only where bodies meet at speeds near the rounding of places and speeds
        assert slowest < 1e-9
        return
    found = np.array([result.final[name] for name in ("x1", "x2", "x3")])
    assert np.diff(found).min() > -1e-9  # no body inside another
    if np.isfinite(expected).all():
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("touching", [False, True])
@pytest.mark.parametrize("e", [0.0, 1e-3, 0.01, 0.06, 0.08, 0.5])
def test_three_spheres_are_never_inside_each_other(e: float, touching: bool, method: str) -> None:
    assert_seen_or_refused(e, (0.5, 0.4), (1.0, -0.1, -1.0), wall=False, touching=touching, method=method)


@pytest.mark.parametrize("e", [0.05, 0.12, 0.17, 0.18, 0.3])
def test_two_spheres_between_themselves_and_a_wall(e: float, method: str) -> None:
    assert_seen_or_refused(e, (0.4, 0.3), (0.0, -0.1, -1.0), wall=True, touching=False, method=method)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_lines_of_bodies(seed: int, method: str) -> None:
    random = np.random.default_rng(seed)
    wall = bool(random.random() < 0.5)
    e = float(random.choice([0.0, 1e-6, 10.0 ** random.uniform(-4, 0), random.uniform(0.05, 0.2)]))
    gaps = random.uniform(0.1, 0.6, 2)
    speeds = (0.0 if wall else 1.0, random.uniform(-0.3, 0.3), -1.0)
    assert_seen_or_refused(e, gaps, speeds, wall=wall, touching=bool(random.random() < 0.5), method=method)
