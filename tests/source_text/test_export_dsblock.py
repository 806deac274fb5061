"""Exported blocks, built and loaded, have the events and values of the models that they come from; what cannot be exported is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from reference_problems import problem
from source_text_checks import differences, exported

__all__: list[str] = []

LANGUAGES = ("c", "fortran")


class Ticking(tg.Component):
    """Falls, bounces, is kicked by a clock, and counts."""

    h = tg.State(1.0, unit="m", description="height above the ground")
    v = tg.State(0.0, unit="m/s")
    n = tg.Discrete(0)
    e = tg.Parameter(0.8, min=0.0, max=1.0, description="of the speed that remains")

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81

    @tg.when(lambda self: self.h < 0)
    def bounce(self) -> Any:
        return {self.v: -self.e * self.v, self.n: tg.pre(self.n) + 1}

    @tg.every(0.3)
    def tick(self) -> Any:
        return {self.v: self.v + 0.1}


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bounce_and_a_clock_come_back_from_the_text(language: str, tmp_path: Path) -> None:
    block, names = exported(Ticking(), "ticking", tmp_path, language)
    assert differences(Ticking(), (0.0, 2.0), block, names) == []
    entry = block.parameters["E"]
    assert (entry.text, entry.limits.lower, entry.limits.upper) == ("of the speed that remains", 0.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stiff_relay_comes_back_from_the_text(language: str, tmp_path: Path) -> None:
    chosen = problem("P4")
    block, names = exported(chosen.model, "relay", tmp_path, language)
    # not to 5.0: the last switch is 0.35 microseconds before, and y1 moves there by 1e-9 of its size within one rounding of the time
    assert differences(chosen.model, (0.0, 4.95), block, names) == []


def test_what_calls_python_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    @tg.opaque
    def measured(x: float) -> float:
        return x

    model = tg.ode(lambda t, y: [measured(y[0])], y0=[1.0])
    with pytest.raises(tg.UsageError, match="measured"):
        tg.dsblock.export(model, "gauge", folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_looks_back_in_time_is_refused(tmp_path: Path) -> None:
    model = tg.ode(lambda t, y: [-tg.delay(y[0], 1.0)], y0=[1.0])
    with pytest.raises(tg.UsageError, match="cannot be exported: it looks back in time"):
        tg.dsblock.export(model, "past", folder=tmp_path)
    assert not list(tmp_path.iterdir())
