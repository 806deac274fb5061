"""Parameters, inputs and start values of exported blocks do what they do in the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from source_text_checks import exported

__all__: list[str] = []

LANGUAGES = ("c", "fortran")


class Tank(tg.Component):
    """Every kind of parameter, one that follows from another, an array, a start value that follows, an input, an output, words, an end."""

    area = tg.Parameter(2.0, unit="m2", min=tg.Bound(0.0, is_open=True))
    first = tg.Parameter(0.5)
    stages = tg.Parameter(2, min=1, max=4)
    is_open = tg.Parameter(True)
    half = tg.Parameter(lambda self: 0.5 * self.area)
    rates = tg.Parameter([0.1, 0.3])
    level = tg.State(lambda self: self.first + 1.0, unit="m")
    inflow = tg.Input(0.25)
    passed = tg.Discrete(0.0)
    double = tg.Output()

    def equations(self) -> Any:
        opening = tg.where(self.is_open, 1.0, 0.5)
        yield self.area * tg.der(self.level) == self.inflow - self.stages * opening * self.rates[1] * self.level * self.half + self.rates[0]
        yield self.double == 2.0 * self.level

    @tg.when(lambda self: self.level < 1.0)
    def low(self) -> Any:
        tg.message("it is low")
        return {self.passed: self.passed + self.level}

    @tg.when(lambda self: self.level < 0.6)
    def empty(self) -> Any:
        tg.terminate("it is empty")


GIVEN: list[dict[str, float]] = [{}, {"area": 3.0, "first": 0.75}, {"stages": 3, "is_open": False}, {"rates[1]": 0.2, "first": 2.0, "area": 1.5}]
MODEL = Tank()


@pytest.mark.parametrize("language", LANGUAGES)
def test_parameters_and_inputs_mean_the_same(language: str, tmp_path: Path) -> None:
    block, names = exported(MODEL, f"tank_{language[0]}", tmp_path, language)
    for given in GIVEN:
        own = tg.simulate(MODEL, (0.0, 6.0), rtol=1e-11, parameters=given, method="radau")
        theirs = {names[name]: value for name, value in given.items()}
        other = tg.simulate(block, (0.0, 6.0), rtol=1e-11, parameters=theirs, inputs={"INFLOW": 0.25}, method="radau")
        for name in ("level", "passed", "double"):
            assert np.asarray(other[names[name]])[-1] == pytest.approx(own.final[name], rel=1e-9), (given, name)
        assert other.time[-1] == pytest.approx(own.time[-1], rel=1e-10), given
    for wrong in ({"area": 0.0}, {"stages": 5}):
        with pytest.raises(tg.TidegateError):
            tg.simulate(block, (0.0, 1.0), parameters={names[name]: value for name, value in wrong.items()}, inputs={"INFLOW": 0.25})
