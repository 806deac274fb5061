"""The two newcomers' examples with random parameters, against plain Python from switching to switching; and the judge finds nothing in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from examples.small_house import House
from examples.tank_farm import TankFarm
from scipy.integrate import solve_ivp

import tidegate as tg

SEEDS = 2  # raise it to search on


def reaching(level: float, direction: int) -> Any:
    def event(t: float, y: Any, *_: Any) -> Any:
        return y[0] - level

    event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
    return event


def heated(p: dict[str, float], room: float, wall: float, end: float) -> tuple[list[float], int]:
    """Temperatures, energy, and how often the heater was switched on."""

    def rates(t: float, y: Any, on: bool) -> list[float]:
        weather = p["mean"] - p["swing"] * np.cos(2.0 * np.pi * t / 86400.0)
        into_wall, power = 150.0 * (y[0] - y[1]), p["power"] if on else 0.0
        return [(power - into_wall - p["window.G"] * (y[0] - weather)) / p["room.C"], (into_wall - 120.0 * (y[1] - weather)) / p["wall.C"], power]

    on, t, y = room < p["low"], 0.0, [room, wall, 0.0]
    count = int(on)
    while t < end:
        ends = [reaching(p["low"], -1), reaching(p["high"], 1)]
        part = solve_ivp(rates, (t, end), y, args=(on,), events=ends, rtol=1e-9, atol=1e-8, max_step=3600.0)
        t, y = part.t[-1], part.y[:, -1]
        if part.status == 1:
            on = bool(len(part.t_events[0]))
            count += on
    return list(y), count


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_houses_are_as_warm_as_in_plain_python(seed: int) -> None:
    r = np.random.default_rng(seed)
    ranges = {
        "room.C": (1e6, 4e6),
        "wall.C": (8e6, 2e7),
        "window.G": (10, 60),
        "power": (4e3, 9e3),
        "low": (288, 294),
        "mean": (265, 280),
        "swing": (0, 9),
    }
    p = {name: float(r.uniform(*ends)) for name, ends in ranges.items()}
    p["high"] = p["low"] + float(r.uniform(0.5, 3.0))
    room, wall, end = (float(r.uniform(*ends)) for ends in ((284, 300), (280, 294), (2e4, 6e4)))
    result = tg.simulate(House(room={"T": room}, wall={"T": wall}), (0.0, end), rtol=1e-9, parameters=p)
    y, count = heated(p, room, wall, end)
    assert [result.final[name] for name in ("room.T", "wall.T", "energy")] == pytest.approx(y, rel=1e-6)
    assert result.final["starts"] == count
    assert tg.verify(result).ok


def filled(p: dict[str, float], levels: list[float], end: float) -> tuple[list[float], int]:
    """Levels, what was drawn, and how often the pump was started."""

    def through(K: float, h: float) -> float:
        return K * float(np.sqrt(max(9810.0 * h, 0.0)))

    def rates(t: float, y: Any, on: bool, is_open: bool) -> list[float]:
        pumped = p["pump.q_max"] * (1.0 - 2e4 / 1.5e5) if on else 0.0
        a, b, c = through(p["first.K"], y[0]), through(0.7 * p["second.K"], y[1]), through(p["tap.K"] * (1.0 if is_open else 0.05), y[2])
        return [(pumped - a) / 15.0, (a - b) / 25.0, (b - c) / 20.0, c]

    on, is_open, count, t, y = True, False, 1, 0.0, [*levels, 0.0]
    while t < end:
        until = min(end, *(tick for tick in (21600.0, 64800.0, end) if tick > t))
        ends = [reaching(p["empty"], -1), reaching(p["full"], 1)]
        part = solve_ivp(rates, (t, until), y, args=(on, is_open), events=ends, rtol=1e-9, atol=1e-10, max_step=1800.0)
        t, y = part.t[-1], part.y[:, -1]
        if part.status == 1:
            on = bool(len(part.t_events[0]))
            count += on
        elif t in (21600.0, 64800.0):
            is_open = not is_open
    return list(y), count


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_tank_farms_are_as_full_as_in_plain_python(seed: int) -> None:
    r = np.random.default_rng(seed)
    ranges = {
        "pump.q_max": (3e-3, 6e-3),
        "first.K": (5e-6, 2e-5),
        "second.K": (5e-6, 2e-5),
        "tap.K": (5e-6, 2e-5),
        "full": (2, 3),
        "empty": (0.3, 1.2),
    }
    p = {name: float(r.uniform(*ends)) for name, ends in ranges.items()}
    levels = [float(r.uniform(*ends)) for ends in ((1.3, 1.9), (1.0, 3.0), (1.0, 3.0))]
    end = float(r.uniform(3e4, 8e4))
    model = TankFarm(high={"h": levels[0]}, middle={"h": levels[1]}, low={"h": levels[2]})
    result = tg.simulate(model, (0.0, end), rtol=1e-9, parameters=p)
    y, count = filled(p, levels, end)
    assert [result.final[name] for name in ("high.h", "middle.h", "low.h", "drawn")] == pytest.approx(y, rel=1e-5)
    assert result.final["runs"] == count


@pytest.mark.hunt
def test_the_judge_allows_for_what_moves_while_two_times_are_one() -> None:
    result = tg.simulate(House(room={"T": 295.0}), (0.0, 5e3), rtol=1e-9)
    check = tg.verify(result)
    assert check.ok, check
