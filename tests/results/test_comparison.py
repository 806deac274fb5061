"""Two results side by side: deviations are those that were put in, events are matched by cause, and what only one has is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.results import Column, Result

__all__: list[str] = []


def wave(times: Any, off: float = 0.0, at: float = 1.0) -> Result:
    values = np.array([np.sin(times), np.full(len(times), 3.0)]).T
    values[np.asarray(times) == at, 0] += off
    return Result("wave", [Column("x"), Column("c")], times, values)


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_deviation_is_the_one_that_was_put_in(seed: int) -> None:
    random = np.random.default_rng(seed)
    times = np.linspace(0.0, 2.0, 21)
    off, at = float(random.uniform(1e-6, 1e-2)), float(random.choice(times[1:-1]))
    found = wave(times).compare(wave(times, off, at), rtol=1e-9)
    assert (found["x"].largest, found["x"].time) == (pytest.approx(off, rel=1e-6), at)
    assert not found.agrees
    assert found["c"].largest == 0.0
    assert found.deviations[0].name == "x"
    assert wave(times).compare(wave(times, off, at), rtol=0.0, atol=off * 1.001).agrees
    assert wave(times).compare(wave(times, off, at), rtol=0.0, atol={"x": off * 1.001}).agrees
    assert not wave(times).compare(wave(times, off, at), rtol=0.0, atol=off * 0.999).agrees


BOUNCE = tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]}, name="bounce")
BALL = tg.ode(lambda t, y, p: [y["v"], -9.81], y0={"h": 1.0, "v": 0.0}, p={"e": 0.8}, events=BOUNCE)


@pytest.mark.slow
def test_two_methods_agree_between_their_rows_and_across_events(tmp_path: Path) -> None:
    first = tg.simulate(BALL, (0, 2), rtol=1e-9)
    found = first.compare(tg.simulate(BALL, (0, 2), method="bdf", rtol=1e-9))
    assert found.agrees, found
    assert [pair.cause for pair in found.events] == ["bounce, h < 0"] * 3
    first.to_netcdf(tmp_path / "r.nc")
    assert first.compare(Result.load(tmp_path / "r.nc"), rtol=0.0).agrees
    assert "the results agree" in str(found)
    assert "<table>" in found._repr_html_()


def test_an_event_that_is_elsewhere_is_told_with_the_values_around_it() -> None:
    first, second = tg.simulate(BALL, (0, 2)), tg.simulate(BALL, (0, 2), parameters={"e": 0.7})
    found = first.compare(second)
    late = np.sqrt(2.0 / 9.81)
    flight = 2.0 * np.sqrt(2.0 * 9.81) / 9.81
    assert [pair.first for pair in found.events][:2] == pytest.approx([late, late + 0.8 * flight])
    assert [pair.second for pair in found.events][:2] == pytest.approx([late, late + 0.7 * flight])
    assert "2 of 3 events are at another time" in repr(found)
    assert found["v"].largest > 1.0
    assert any(sentence.startswith("only the second has bounce") for sentence in found.problems)


def test_what_only_one_has_is_told() -> None:
    times = np.linspace(0.0, 2.0, 21)
    other = Result("wave", [Column("x"), Column("z")], times[:11], np.array([np.sin(times[:11]), times[:11]]).T)
    found = wave(times).compare(other)
    assert found.problems == ("only the first has c", "only the second has z", "the first is from 0 to 2, the second from 0 to 1")
    assert not found.agrees
    assert found["x"].largest == 0.0


def test_wrong_words_are_answered() -> None:
    times = np.linspace(0.0, 2.0, 21)
    here = wave(times)
    for other, options, sentence in (
        (3.0, {}, "is compared with a result"), (here, {"rtol": -1.0}, "rtol must be a number"), (here, {"atol": {"y": 1.0}}, "no variable"),
        (wave(times + 5.0), {}, "no time in common"), (wave(times + 1e-3), {}, "recorded at other times"), (here, {"atol": "x"}, "atol must be"),
    ):  # fmt: skip
        with pytest.raises(tg.UsageError, match=sentence):
            wave(times).compare(other, **options)  # pyright: ignore[reportArgumentType] - as users do
