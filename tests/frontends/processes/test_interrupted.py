"""Ctrl-C that comes while a period of compiled code goes to its end: the run stops there, and goes on as if nothing had been."""

from __future__ import annotations

import signal
from collections.abc import Generator
from typing import Any

import pytest

import tidegate as tg
from tidegate.frontends.processes import Environment
from tidegate.frontends.processes.moved_number import plain
from tidegate.simulation import segments

__all__: list[str] = []

Gen = Generator[Any, Any, Any]


def filling(log: list[tuple[str, float, float]], sensitivities: str | None = None) -> tuple[Environment, Any]:
    """A tank that is watched, and emptied at a level and at a time."""
    env = Environment(method="radau", sensitivities=sensitivities)
    level, flow = env.variable(0.0, name="level"), env.parameter(1.0, name="flow")

    @env.continuous
    def fill() -> None:
        level.rate = flow.value

    def keeper() -> Gen:
        fill.start()
        level.start()
        yield env.wait_until(lambda: level.state >= 0.5)
        log.append(("full", plain(env.now), plain(level.state)))
        level.state = 0.25 * level.state
        yield env.timeout(0.75)
        log.append(("later", plain(env.now), plain(level.state)))

    env.process(keeper())
    return env, level


class Presses:
    """What runs a stretch, with Ctrl-C behind one of its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, which: int, error: Exception | None = None) -> None:
        self.calls, self.which, self.error = 0, which, error
        self._drive = segments.drive
        monkeypatch.setattr(segments, "drive", self)

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        stop = self._drive(*arguments)
        if self.calls == self.which:
            signal.raise_signal(signal.SIGINT)
            if self.error is not None:
                raise self.error
        return stop


@pytest.mark.parametrize("sensitivities", [None, "all"])
@pytest.mark.parametrize(("which", "stands"), [(1, 0.5), (2, 1.25), (3, 2.0)])
def test_ctrl_c_in_a_stretch_that_comes_to_its_end_is_not_lost(
    which: int, stands: float, sensitivities: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stretches end at a condition, at an event, and at the end of the run. All rates are constant: exact but for rounding."""
    undisturbed: list[tuple[str, float, float]] = []
    whole, _ = filling(undisturbed, sensitivities)
    whole.run(until=2.0)
    whole.run(until=3.0)
    log: list[tuple[str, float, float]] = []
    env, level = filling(log, sensitivities)
    Presses(monkeypatch, which)
    with pytest.raises(tg.InterruptedRunError) as caught:
        env.run(until=2.0)
    assert caught.value.time == plain(env.now) == pytest.approx(stands)
    env.run(until=3.0)
    assert log == [(what, pytest.approx(time), pytest.approx(value)) for what, time, value in undisturbed]
    assert plain(level.state) == pytest.approx(2.625)
    if sensitivities:
        expected = float(whole.result.sensitivity("level", "flow")[-1])
        assert float(env.result.sensitivity("level", "flow")[-1]) == pytest.approx(expected) == pytest.approx(3.0)


def test_ctrl_c_in_a_stretch_with_samples_ends_it_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    env, level = filling([])
    seen: list[float] = []
    env.sample(lambda: seen.append(level.state), every=1e-5).start()
    Presses(monkeypatch, 1)
    with pytest.raises(tg.InterruptedRunError):
        env.run(until=2.0)
    assert seen[-1] == pytest.approx(plain(env.now), abs=2e-5)
    assert env.now < 0.1


def test_ctrl_c_in_a_stretch_that_fails_counts_more_than_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guarded sweep would go on behind the failure."""
    env, _ = filling([])
    Presses(monkeypatch, 1, tg.StepSizeError("too small", time=0.5))
    with pytest.raises(tg.InterruptedRunError):
        env.run(until=2.0)
