"""What turns current into motion against closed forms: random linear drives by the exponential of their matrix, and what power goes through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import tidegate as tg
from tidegate.library import electrical as el
from tidegate.library import machines
from tidegate.library import rotational as ro
from tidegate.library import translational as tr


def linear(values: dict[str, float]) -> tg.Component:
    class Loudspeaker(tg.Component):
        source, ground = el.ConstantVoltage(V=values["V"]), el.Ground()
        R, L, coil = el.Resistor(R=values["R"]), el.Inductor(L=values["L"], i=values["i"]), machines.TranslationalEMF(k=values["k"])
        cone = tr.Mass(m=values["m"], s=values["x"], v=values["v"])
        holder, wall = tr.SpringDamper(c=values["c"], d=values["d"]), tr.Fixed()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.source.p, self.R.p)
            yield tg.connect(self.R.n, self.L.p)
            yield tg.connect(self.L.n, self.coil.p)
            yield tg.connect(self.coil.n, self.source.n, self.ground.p)
            yield tg.connect(self.coil.flange, self.cone.flange_a)
            yield tg.connect(self.cone.flange_b, self.holder.flange_b)
            yield tg.connect(self.holder.flange_a, self.wall.flange)

    return Loudspeaker()


def turning(values: dict[str, float]) -> tg.Component:
    class Motor(tg.Component):
        source, ground = el.ConstantVoltage(V=values["V"]), el.Ground()
        R, L, coil = el.Resistor(R=values["R"]), el.Inductor(L=values["L"], i=values["i"]), machines.RotationalEMF(k=values["k"])
        cone = ro.Inertia(J=values["m"], phi=values["x"], w=values["v"])
        holder, wall = ro.SpringDamper(c=values["c"], d=values["d"]), ro.Fixed()

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.source.p, self.R.p)
            yield tg.connect(self.R.n, self.L.p)
            yield tg.connect(self.L.n, self.coil.p)
            yield tg.connect(self.coil.n, self.source.n, self.ground.p)
            yield tg.connect(self.coil.flange, self.cone.flange_a)
            yield tg.connect(self.cone.flange_b, self.holder.flange_b)
            yield tg.connect(self.holder.flange_a, self.wall.flange)

    return Motor()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("made", "s", "v", "force"), [(linear, "s", "v", "f"), (turning, "phi", "w", "tau")])
def test_random_drives_move_as_the_exponential_of_their_matrix(made: Any, s: str, v: str, force: str, dae_method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = dict(zip("VRLkmcd", rng.uniform(0.3, 3.0, 7).tolist(), strict=True))
    a |= dict(zip("ixv", rng.normal(size=3).tolist(), strict=True))
    matrix = np.zeros((4, 4))  # of current, place, speed, 1
    matrix[0] = [-a["R"] / a["L"], 0.0, -a["k"] / a["L"], a["V"] / a["L"]]
    matrix[1, 2] = 1.0
    matrix[2] = [a["k"] / a["m"], -a["c"] / a["m"], -a["d"] / a["m"], 0.0]
    result = tg.simulate(made(a), (0.0, 2.0), rtol=1e-8, method=dae_method)
    current, place, speed, _ = expm(2.0 * matrix) @ [a["i"], a["x"], a["v"], 1.0]
    found = result.final
    assert [found["L.i"], found[f"cone.{s}"], found[f"cone.{v}"]] == pytest.approx([current, place, speed], rel=1e-5, abs=1e-5)
    assert found["coil.v"] == pytest.approx(a["k"] * speed, rel=1e-5, abs=1e-5)
    through = result["coil.v"] * result["coil.i"] + result[f"cone.{v}"] * result[f"coil.flange.{force}"]  # as much goes in as comes out
    assert np.max(np.abs(through.values)) < 1e-6


@pytest.mark.slow
def test_a_linear_drive_without_inductance_runs_up_exponentially() -> None:
    class Drive(tg.Component):
        source, ground, R = el.ConstantVoltage(V=6.0), el.Ground(), el.Resistor(R=1.5)
        coil, load = machines.TranslationalEMF(k=2.0), tr.Mass(m=0.8)

        def equations(self) -> Iterator[Any]:
            yield tg.connect(self.source.p, self.R.p)
            yield tg.connect(self.R.n, self.coil.p)
            yield tg.connect(self.coil.n, self.source.n, self.ground.p)
            yield tg.connect(self.coil.flange, self.load.flange_a)

    rate = 2.0**2 / (1.5 * 0.8)
    result = tg.simulate(Drive(), (0.0, 1.0), rtol=1e-9, sensitivities=["coil.k"])
    assert result.final["load.v"] == pytest.approx(6.0 / 2.0 * (1.0 - np.exp(-rate)), rel=1e-7)
    # v = V/k (1 - exp(-k^2 t / (R m)))
    by_k = -6.0 / 4.0 * (1.0 - np.exp(-rate)) + 3.0 * np.exp(-rate) * 2.0 * 2.0 / (1.5 * 0.8)
    assert result.sensitivity("load.v", "coil.k").values[-1] == pytest.approx(by_k, rel=1e-6)
