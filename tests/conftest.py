"""What every test relies on: hypothesis without deadlines, the same examples each time in continuous integration, every method, a result by hand."""

from __future__ import annotations

import os
import signal
from collections import Counter

import numpy as np
import pytest
from hypothesis import settings

from engines import DAE_METHODS, METHODS, with_others_later
from tidegate.errors import Origin
from tidegate.results import Column, Event, Interpolant, Result, Statistics

settings.register_profile("developer", deadline=None, print_blob=True)
# of the same examples every time; those who develop hunt with new ones
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=40)
settings.register_profile("quick", deadline=None, print_blob=True, max_examples=25)  # what `make check` asks for
settings.load_profile("ci" if os.environ.get("CI") else "developer")

# a shell that starts the suite in the background has Ctrl-C ignored, which tests send
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

GRAVITY = 9.81
RESTITUTION = 0.8


def bouncing_ball(bounces: int = 4, height: float = 1.0) -> Result:
    """Closed form of the ball that starts at rest; d/de of the speed after bounce k is k / e times it."""
    columns = [
        Column("h", unit="m", description="height"),
        Column("v", unit="m/s"),
        Column("x[0]"),
        Column("x[1]"),
        Column("n", role="discrete"),
        Column("energy", role="output", unit="J"),
    ]
    rows: list[list[float]] = []
    times: list[float] = []
    starts: list[float] = []
    widths: list[float] = []
    pieces: list[list[list[float]]] = []
    events: list[Event] = []

    def record(t: float, h: float, v: float, n: int) -> None:
        times.append(t)
        rows.append([h, v, 2 * h, 3 * h, float(n), v * v / 2 + GRAVITY * h])

    t, h, v = 0.0, height, 0.0
    record(t, h, v, 0)
    for k in range(bounces):
        width = float((v + np.sqrt(v * v + 2 * GRAVITY * h)) / GRAVITY)
        starts.append(t)
        widths.append(width)
        fall = [[h, v], [v * width, -GRAVITY * width], [-GRAVITY / 2 * width**2, 0.0]]
        pieces.append([[a, b, 2 * a, 3 * a] for a, b in fall])
        t, h, before = t + width, 0.0, v - GRAVITY * width
        v = -RESTITUTION * before
        record(t, h, before, k)
        record(t, h, v, k + 1)
        origin = Origin("ball.py", 12, "self.h < 0")
        changes = {"before": {"v": before, "n": float(k)}, "after": {"v": v, "n": k + 1.0}}
        events.append(Event(k, t, "state", ("h < 0",), (origin,), dt_dp={"e": k + 0.5, "g": -1.0}, messages=("click",), **changes))
    values = np.array(rows)
    sensitivities = np.stack([values * 2.0, values - 1.0], axis=1)
    return Result(
        "ball",
        columns,
        times,
        values,
        parameters={"e": RESTITUTION, "g": GRAVITY, "mass": 1.0},
        sensitivity_parameters=["e", "g"],
        sensitivities=sensitivities,
        events=events,
        statistics=Statistics(steps=9, events=bounces, seconds=0.0123, method="radau", extra={"stages": 3}),
        interpolant=Interpolant(starts, widths, pieces, ["h", "v", "x[0]", "x[1]"]),
        options={"rtol": 1e-6},
        message="end of the time span",
        parameter_units={"g": "m/s^2"},
    )


@pytest.fixture(params=with_others_later(METHODS))
def method(request: pytest.FixtureRequest) -> str:
    """An integration method: whoever takes it is run with each of them."""
    return str(request.param)


@pytest.fixture(params=with_others_later(DAE_METHODS))
def dae_method(request: pytest.FixtureRequest) -> str:
    """Likewise, of those that solve for algebraic unknowns too."""
    return str(request.param)


@pytest.fixture
def ball() -> Result:
    """Four bounces."""
    return bouncing_ball()


_SEEDS_AT_ONCE = 2  # of a random test; the others are for those who hunt
_SEEDS = ("seed", "share", "first", "deed", "index", "kick")  # what random tests call what they draw from
_UNLIKE = ("documentation", "golden", "example")  # tests whose variants do not repeat each other
_MANY, _EACH = 4, 3  # of a test with more variants than that, all others but each third are for those who hunt


@pytest.hookimpl(tryfirst=True)  # before any are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort what repeats other tests: of random models the first seeds, of many variants the first and each third are in every run of the tests."""
    numbers: Counter[str] = Counter()
    for item in items:
        if item.get_closest_marker("hunt"):
            item.add_marker(pytest.mark.slow)
        variant = getattr(item, "callspec", None)
        if variant is None:
            continue
        test = item.nodeid.partition("[")[0]
        number = numbers[test]
        numbers[test] += 1
        is_more = any(variant.indices.get(name, 0) >= _SEEDS_AT_ONCE for name in _SEEDS if isinstance(variant.params.get(name), int))
        is_later = number >= _MANY and number % _EACH > 0
        if is_more or is_later:
            item.add_marker(pytest.mark.slow)
        if is_more or (is_later and not any(word in test for word in _UNLIKE)):
            item.add_marker(pytest.mark.hunt)
