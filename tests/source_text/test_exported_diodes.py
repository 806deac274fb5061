"""Circuits of ideal diodes as compiled blocks: modes that tie the currents of coils are kept by the block, and found by it at events."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.twelve_pulse import Rectifier

import tidegate as tg
from library.test_random_diodes import TIMES, component, network
from source_text_checks import differences, exported
from tidegate.library import electrical as el


class HalfWave(tg.Component):
    """A coil behind a diode: while this is off the coil is tied to no current, and the voltage of the diode is none that an equation gives."""

    source, diode, coil, load, ground = el.SineVoltage(V=100.0, f=50.0), el.IdealDiode(), el.Inductor(L=1e-2), el.Resistor(R=5.0), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.diode.p)
        yield tg.connect(self.diode.n, self.coil.p)
        yield tg.connect(self.coil.n, self.load.p)
        yield tg.connect(self.load.n, self.source.n, self.ground.p)


class FreeWheel(HalfWave):
    """A second diode takes the current over."""

    wheel = el.IdealDiode()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.wheel.n, self.diode.n)
        yield tg.connect(self.wheel.p, self.ground.p)


class Charger(tg.Component):
    """Two coils side by side charge a capacitor through one diode, which ties their sum."""

    source, diode, ground = el.SineVoltage(V=100.0, f=50.0), el.IdealDiode(), el.Ground()
    first, second, wire = el.Inductor(L=1e-3), el.Inductor(L=3e-3), el.Resistor(R=0.4)
    capacitor, load = el.Capacitor(C=1e-3, v=tg.start(0.0)), el.Resistor(R=50.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.first.p, self.wire.p)
        yield tg.connect(self.wire.n, self.second.p)
        yield tg.connect(self.first.n, self.second.n, self.diode.p)
        yield tg.connect(self.diode.n, self.capacitor.p, self.load.p)
        yield tg.connect(self.load.n, self.capacitor.n, self.source.n, self.ground.p)


@pytest.mark.hunt
@pytest.mark.parametrize(("circuit", "language"), [(HalfWave, "c"), (FreeWheel, "fortran"), (Charger, "c")])
def test_a_diode_that_ties_coils_comes_back(circuit: Callable[[], Any], language: str, tmp_path: Path) -> None:
    model = circuit()
    block, names = exported(model, f"tied_{circuit.__name__.lower()}", tmp_path, language)  # type: ignore[attr-defined]
    assert differences(model, (0.0, 0.045), block, names) == []


def apart(model: Any, name: str, end: float, times: Any, folder: Path) -> dict[str, float]:
    """How far currents of coils and voltages of capacitors are apart, which are determined also where potentials or divided currents are not."""
    written = tg.dsblock.export(model, name, folder=folder)
    block = tg.dsblock.build(written, prefix=name, options=["-O0"])
    options: dict[str, Any] = {"outputs": times, "rtol": 1e-9, "method": "radau"}
    own, other = tg.simulate(model, (0.0, end), **options), tg.simulate(block, (0.0, end), **options)
    states = [name for name in written.names if re.fullmatch(r"L\d+\.i|.*coil\[\d\]\.i|C\.v", name)]
    gaps = {name: np.abs(own[name].values - other[written.names[name]].values) for name in states}
    return {name: float(gap.max() / (1.0 + np.abs(own[name].values).max())) for name, gap in gaps.items()}


@pytest.mark.hunt
def test_bridges_that_float_come_back_in_what_is_determined(tmp_path: Path) -> None:
    found = apart(Rectifier(n=2), "twelve", 0.02, np.linspace(0.0, 0.02, 41), tmp_path)
    assert len(found) == 7
    assert max(found.values()) < 1e-6


@pytest.mark.hunt
@pytest.mark.parametrize("share", range(2))
def test_random_networks_come_back_or_end_aloud(share: int, tmp_path: Path) -> None:
    times, solved = sorted({0.0, *TIMES, 0.3}), 0
    for seed in (2, 13, 24, 93, 71)[share::2]:  # raise it to search on
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tg.TidegateWarning)
            try:
                found = apart(component(*network(seed)), f"net{seed}", 0.3, times, tmp_path)
            except tg.TidegateError:
                continue
        solved += 1
        assert max(found.values(), default=0.0) < 1e-6, seed
    assert solved


@pytest.mark.slow
def test_a_circuit_whose_currents_nothing_divides_ends_aloud(tmp_path: Path) -> None:
    """A diode beside a closed switch: seed 25."""
    written = tg.dsblock.export(component(*network(25)), "shared", folder=tmp_path)
    block = tg.dsblock.build(written, prefix="shared", options=["-O0"])
    with pytest.raises(tg.CallbackError, match="singular; where ideal parts share what nothing divides, give one a resistance Ron or a leak Goff"):
        tg.simulate(block, (0.0, 0.3), rtol=1e-9)
