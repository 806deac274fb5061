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


@pytest.mark.hunt
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


class Gears(tg.Component):
    """Two wheels of which the second follows, and says where both start."""

    ratio, torque = tg.Parameter(2.0), tg.Parameter(0.7)
    phi, w = (tg.State(0.0, fixed=False, state_select="always") for _ in "ab")
    phi2, w2 = tg.State(0.6, fixed=True), tg.State(lambda self: 3.0 * self.torque, fixed=True)
    inner, gone = tg.Algebraic(), tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.phi) == self.w
        yield tg.der(self.phi2) == self.w2
        yield tg.der(self.w) == self.torque - self.ratio * self.inner
        yield 0.5 * tg.der(self.w2) == self.inner - 0.2 * self.w2
        yield self.phi2 == self.ratio * self.phi

    @tg.when(lambda self: self.phi > 1.0)
    def turn(self) -> Any:
        return {self.gone: self.w2}


class Bent(Gears):
    """Where it starts follows from no linear equation."""

    start_of = tg.Algebraic(1.0, fixed=True)

    def equations(self) -> Any:
        yield self.start_of == np.exp(self.phi)


@pytest.mark.slow
def test_start_values_that_give_way_to_fixed_ones_are_formulas_of_a_block(tmp_path: Path) -> None:
    block, names = exported(Gears(), "gears", tmp_path)
    for given in ({}, {"ratio": 0.8, "torque": 0.4}):
        own = tg.simulate(Gears(), (0.0, 2.0), rtol=1e-11, parameters=given)
        other = tg.simulate(block, (0.0, 2.0), rtol=1e-11, parameters={names[name]: value for name, value in given.items()})
        assert own["w2"].values[0] == pytest.approx(3.0 * given.get("torque", 0.7))
        for name in ("phi", "w", "w2", "gone"):
            assert np.asarray(other[names[name]])[[0, -1]] == pytest.approx(own[name].values[[0, -1]], rel=1e-9), (given, name)


@pytest.mark.slow
def test_start_values_that_give_way_by_an_equation_that_is_not_linear_are_solved_for_by_a_block(tmp_path: Path) -> None:
    model = Bent(phi2=tg.start(0.6, fixed=False), start_of=tg.start(1.5, fixed=True))
    block, names = exported(model, "bent", tmp_path)
    own, other = (tg.simulate(source, (0.0, 2.0), rtol=1e-11) for source in (model, block))
    assert other[names["phi"]].values[0] == pytest.approx(np.log(1.5), rel=1e-12)
    for name in ("phi", "w", "w2", "gone"):
        assert np.asarray(other[names[name]])[[0, -1]] == pytest.approx(own[name].values[[0, -1]], rel=1e-9), name
