"""The hybrid example as the draft of DSblock 4.0a prints it, against numbers derived in closed form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from examples.hybrid_1998 import Hybrid

import tidegate as tg
from engines import allowed

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[2] / "golden" / "components.json").read_text())["hybrid"]
NAMES = ("h", "v", "a", "u", "y1", "y2", "yL", "trigger")
RTOL = 1e-9
ITS_NAME = {"h < 0": "bounce", "sample(0, 0.5)": "tooth"}


def numbers(given: dict[str, Any]) -> list[float]:
    return [float(given[name]) for name in NAMES]


@pytest.fixture(scope="module")
def runs() -> dict[str, tg.Result]:
    return {}


def run(method: str, runs: dict[str, tg.Result]) -> tg.Result:
    if method not in runs:
        times = [float(t) for t in GOLDEN["values"] if float(t) > 0.0]
        runs[method] = tg.simulate(Hybrid(), (0.0, 5.0), outputs=times, rtol=RTOL, atol=1e-11, method=method)
    return runs[method]


def test_nineteen_instants(method: str, runs: dict[str, tg.Result]) -> None:
    result = run(method, runs)
    assert len(result.events) == GOLDEN["n_event_instants"] == 19
    assert [event.time for event in result.events] == pytest.approx([float(event["t"]) for event in GOLDEN["events"]], abs=5e-7)  # 1e-7 of the span
    for event, wanted in zip(result.events, GOLDEN["events"], strict=True):
        assert ITS_NAME[wanted["cause"]] in event.causes
        if "v_before" in wanted:
            pair = float(wanted["v_before"]), float(wanted["v_after"])
            assert (event.before["v"], event.after["v"]) == pytest.approx(pair, rel=allowed(method, 1e-6, RTOL, 4000))
        if "also" in wanted:
            assert len(event.causes) >= 3  # tooth, turn, and the relation that flips


@pytest.mark.slow
def test_values_between_events(method: str, runs: dict[str, tg.Result]) -> None:
    result = run(method, runs)
    for t, wanted in GOLDEN["values"].items():
        if float(t) > 0.0:
            found = [float(result[name].sel(time=float(t)).values) for name in NAMES]
            assert found == pytest.approx(numbers(wanted), rel=allowed(method, 1e-6, RTOL, 4000), abs=1e-9), t


@pytest.mark.parametrize("at", ["2.5", "5"])
def test_values_around_samples(method: str, runs: dict[str, tg.Result], at: str) -> None:
    event = next(item for item in run(method, runs).events if item.time == float(at))
    for found, wanted in ((event.before, GOLDEN[f"at_{at}"]["before"]), (event.after, GOLDEN[f"at_{at}"]["after"])):
        for name in ("h", "v", "y2", "yL", "trigger"):
            assert found[name] == pytest.approx(float(wanted[name]), rel=allowed(method, 1e-6, RTOL, 4000), abs=1e-9)


def test_after_the_start(method: str, runs: dict[str, tg.Result]) -> None:
    (first, *_) = run(method, runs).events
    assert first.time == 0.0
    assert [first.after[name] for name in ("h", "v", "y2", "yL", "trigger")] == [1.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.hunt
def test_both_engines_and_plain_python_agree() -> None:
    both = tg.cross_check(Hybrid(), (0.0, 5.0), rtol=1e-7, methods=("radau", "ida"))
    assert both.agrees, str(both)
    check = tg.verify(tg.simulate(Hybrid(), (0.0, 5.0), rtol=1e-7))
    assert check.ok, str(check)
