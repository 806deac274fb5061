"""DSblocks of the form HDAE: the same systems as blocks, whose callbacks are followed or called."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import tidegate as tg
from callbacks_by_python import by_python
from constrained_systems import FORMS


class Pendulum(tg.DSblock):
    """Let go at the height of its bearing; at the bottom there is a wall, if ``wall`` says so."""

    def define(self, declare: Any) -> None:
        for name, start in (("PX", 1.0), ("PY", 0.0), ("VX", 0.0), ("VY", 0.0), ("FORCE", 0.0)):
            declare.state(name, start=start)
        declare.real("G", 9.81)
        declare.output("ANGLE")
        declare.indicator("DISTANCE")
        declare.form("hdae", parts=(4, 0, 1, 1, 1))

    def parts(self, which: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        assert which <= {1, 2, 3, 4, 5}
        px, py, vx, vy, force = x
        given = {
            1: [vx, vy, -force * px, -force * py - p.G],
            3: vx**2 + vy**2 - force * (px**2 + py**2) - p.G * py,
            4: [px * vx + py * vy],
            5: (px**2 + py**2 - 1) / 2,
        }
        return {k: given[k] for k in which if k in given}

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"ANGLE": np.arctan2(x.PY, x.PX)}

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"DISTANCE": x.PX}

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return tg.dsblock.EventAction(x={"VX": -0.5 * x.VX, "VY": -0.5 * x.VY})


def traced() -> Any:
    """The same as functions, whose gradients are exact."""
    wall = tg.event(lambda t, y: y["PX"] < 0, lambda t, y: {"VX": -0.5 * y["VX"], "VY": -0.5 * y["VY"]})
    return tg.hdae(
        f1=lambda t, y: [y["VX"], y["VY"], -y["FORCE"] * y["PX"], -y["FORCE"] * y["PY"] - 9.81],
        f3=lambda t, y: y["VX"] ** 2 + y["VY"] ** 2 - y["FORCE"] * (y["PX"] ** 2 + y["PY"] ** 2) - 9.81 * y["PY"],
        f4=lambda t, y: y["PX"] * y["VX"] + y["PY"] * y["VY"],
        f5=lambda t, y: (y["PX"] ** 2 + y["PY"] ** 2 - 1) / 2,
        x1={"PX": 1.0, "PY": 0.0, "VX": 0.0, "VY": 0.0},
        x3={"FORCE": 0.0},
        events=wall,
    )


@pytest.mark.hunt
@pytest.mark.parametrize(("form", "is_traced"), [*((form, True) for form in FORMS), ("index1_stabilised", False), ("index2_stabilised", False)])
def test_a_block_moves_as_the_same_functions_do_events_included(form: str, is_traced: bool) -> None:
    block = tg.simulate(Pendulum(), (0, 0.7), rtol=1e-8 if is_traced else 1e-4, hdae=form, traced=is_traced)
    other = tg.simulate(traced(), (0, 0.7), rtol=1e-9)
    for name in ("PX", "PY", "VX", "VY"):
        assert block.final[name] == pytest.approx(other.final[name], abs=1e-6 if is_traced else 2e-3), name
    assert [event.time for event in block.events] == pytest.approx([event.time for event in other.events], abs=1e-7 if is_traced else 1e-3)
    assert block.final["ANGLE"] == pytest.approx(np.arctan2(block.final["PY"], block.final["PX"]), abs=1e-12)
    assert "(mu5)[0]" not in block


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_derivatives_by_parameters_of_a_block_are_those_of_differences(method: str) -> None:
    h = 1e-4
    result = tg.simulate(Pendulum(), (0, 0.7), rtol=1e-9, method=method, sensitivities=["G"])
    ends = [tg.simulate(Pendulum(), (0, 0.7), rtol=1e-10, parameters={"G": 9.81 + s * h}).final for s in (1, -1)]
    for name in ("PX", "PY", "VX", "VY"):
        assert result.sensitivity(name, "G")[-1] == pytest.approx((ends[0][name] - ends[1][name]) / (2 * h), abs=1e-5), name


def test_a_start_off_the_constraints_is_refused_or_moved() -> None:
    class Off(Pendulum):
        def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
            return tg.dsblock.Start(x={"PX": 1.1})

    with pytest.raises(tg.InitializationError, match=r"the start values do not satisfy the equations of Off: F5 = 0\.105 "):
        tg.simulate(Off(), (0, 0.1))
    assert tg.simulate(Off(), (0, 0.01), make_consistent=True)["PX"][0] == pytest.approx(1.0, abs=1e-9)


def test_what_cannot_be_is_said() -> None:
    class Lacks(Pendulum):
        def parts(self, which: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return {1: [0.0, 0.0, 0.0, 0.0]}

    class Plain(tg.DSblock):
        def define(self, declare: Any) -> None:
            declare.state("X")

        def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return [1.0]

    with pytest.raises(tg.TidegateError, match="parts of DSblock Lacks lack F3, which was asked for"):
        tg.simulate(Lacks(), (0, 1))
    with pytest.raises(tg.UsageError, match="hdae is chosen for DSblock Plain, which is of the form ODE"):
        tg.simulate(Plain(), (0, 1), hdae="index2")
    with pytest.raises(tg.UsageError, match="did you mean 'index1'"):
        tg.simulate(Pendulum(), (0, 1), hdae="index_1")


class Rates(Pendulum):
    """The derivative of the force, which is in no equation."""

    def define(self, declare: Any) -> None:
        super().define(declare)
        declare.auxiliary("RATE")
        declare.outputs_depend_on(auxiliaries_xdot=True)

    def communication(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return {"RATE": xdot.FORCE}


@pytest.mark.slow
@pytest.mark.parametrize("is_traced", [True, False])
def test_derivatives_of_x2_and_x3_follow_from_the_constraints(is_traced: bool) -> None:
    result = tg.simulate(Rates(), (0.0, 0.3), rtol=1e-8, outputs=0.1, traced=None if is_traced else False)
    # on the circle the speed is that of the fall, and the force -3 G PY
    assert result["RATE"].values == pytest.approx(-3 * 9.81 * result["VY"].values, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_a_compiled_pendulum_is_on_the_other_side_after_half_its_period(method: str) -> None:
    block = tg.dsblock.build(Path(__file__).parent / "blocks" / "pend.c", prefix="pend")
    half = 2 * math.sqrt(1 / 9.81) * ellipk(0.5)
    for form in ("index1", "index2", "index2_stabilised"):
        result = tg.simulate(block, (0, half), rtol=1e-4, hdae=form, method=method)
        assert result.final["PX"] == pytest.approx(-1.0, abs=5e-3), form
        assert result.statistics.extra["drift of F5"] < 1e-2


@pytest.mark.hunt
@pytest.mark.parametrize("engine", ["radau", "ida"])
@pytest.mark.parametrize("hdae", ["index1", "index1_partly_stabilised", "index1_stabilised", "index2", "index2_stabilised"])
@pytest.mark.parametrize("name", ["pend", "ring"])
def test_a_compiled_pendulum_moves_without_python_as_it_does_with_it(name: str, hdae: str, engine: str) -> None:
    block = tg.dsblock.build(Path(__file__).parent / "blocks" / f"{name}.c", prefix=name)
    options = {"rtol": 1e-8, "hdae": hdae, "method": engine, "outputs": 0.1}
    natively = tg.simulate(block, (0.0, 0.5), **options)
    with by_python():
        called = tg.simulate(block, (0.0, 0.5), **options)
    assert natively.statistics.steps == called.statistics.steps
    assert natively.names == called.names
    assert natively.values == pytest.approx(called.values, rel=1e-8, abs=1e-8)


@pytest.mark.slow
def test_no_python_is_called_between_the_points_of_a_compiled_ring() -> None:
    block = tg.dsblock.build(Path(__file__).parent / "blocks" / "ring.c", prefix="ring")
    calls: dict[float, int] = {}
    for end in (0.5, 4.0):
        run = tg.prepare(block, (0.0, end), hdae="index2_stabilised", rtol=1e-8, outputs=end)
        run.run()
        calls[end] = 0

        def count(_frame: Any, kind: str, _what: Any, end: float = end) -> None:
            calls[end] += kind == "call"

        sys.setprofile(count)
        try:
            run.run()
        finally:
            sys.setprofile(None)
    assert calls[4.0] < calls[0.5] + 100  # eight times as far; memory for rows may be asked for


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["radau", "ida"])
@pytest.mark.parametrize("hdae", ["index1", "index1_partly_stabilised", "index1_stabilised", "index2", "index2_stabilised"])
def test_friction_of_a_compiled_block_depends_on_the_constraint_force(hdae: str, engine: str) -> None:
    """v' = -MU v^2, so that the angle is log(1 + 2 MU t) / MU."""
    block = tg.dsblock.build(Path(__file__).parent / "blocks" / "ring.c", prefix="ring")
    result = tg.simulate(block, (0.0, 2.0), rtol=1e-8, hdae=hdae, method=engine)
    angle, speed = math.log(1 + 4 * 0.3) / 0.3, 2.0 / (1 + 4 * 0.3)
    expected = [math.cos(angle), math.sin(angle), speed**2, 0.3 * speed**2, -2.0 * (0.3 * speed) ** 2 * speed, -speed * math.sin(angle)]
    assert [result.final[name] for name in ("PX", "PY", "FORCE", "FRICTION", "WEAKENS", "SPEED")] == pytest.approx(expected, abs=2e-5)
