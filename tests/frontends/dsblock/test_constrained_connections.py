"""Connections with blocks of the form HDAE: pendulums with friction, pushed by what other blocks make of their angles; truth: angles, for SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import random_rings
import tidegate as tg
from constrained_systems import FORMS
from random_rings import MU, G


class Pendulum(random_rings.Pendulum):
    """The same with angle and speed for outputs."""

    shown = ("ANGLE", "SPEED")

    def outputs(self, t: float, x: Any, *rest: Any) -> Any:
        return [np.arctan2(x.P[0], -x.P[1]), super().outputs(t, x, *rest)]


class Spring(tg.DSblock):
    """``push = k (b - a)``."""

    def define(self, declare: Any) -> None:
        declare.input("A")
        declare.input("B")
        declare.output("PUSH")
        declare.real("K", 3.0)

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return p.K * (u.B - u.A)


class Lag(tg.DSblock):
    """``x' = u - x``, ``y = -2 x``."""

    def define(self, declare: Any) -> None:
        declare.state("X")
        declare.input("U")
        declare.output("Y")
        declare.outputs_depend_on(inputs=False)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U - x.X

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -2.0 * x.X


class Mean(tg.DSblock):
    """``y = (a + b) / 2``."""

    def define(self, declare: Any) -> None:
        declare.input("A")
        declare.input("B")
        declare.output("Y")

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return (u.A + u.B) / 2.0


def pushed(angle: float, speed: float, push: float) -> list[float]:
    force = speed**2 + G * math.cos(angle)
    return [speed, -G * math.sin(angle) - MU * force * speed + push]


def coupled() -> tuple[Any, Any]:
    """Two pendulums with a spring between their angles, which pushes both; and their angles."""
    blocks = {"left": Pendulum(1.0), "right": Pendulum(-0.3), "spring": Spring(), "back": Spring()}
    links = {"spring.A": "left.ANGLE", "spring.B": "right.ANGLE", "back.A": "right.ANGLE", "back.B": "left.ANGLE"}
    links |= {"left.U": "spring.PUSH", "right.U": "back.PUSH"}

    def rates(_: float, q: Any) -> list[float]:
        return [*pushed(q[0], q[1], 3 * (q[2] - q[0])), *pushed(q[2], q[3], 3 * (q[0] - q[2]))]

    q = solve_ivp(rates, (0, 2), [1.0, 0.0, -0.3, 0.0], method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    return tg.dsblock.join(blocks, links), {"left": (q[0], q[1]), "right": (q[2], q[3])}


def damped_through_a_loop() -> tuple[Any, Any]:
    """A pendulum that a lag of its speed pushes, through a loop ``u = (y + u) / 2``."""
    blocks = {"left": Pendulum(1.0), "lag": Lag(), "one": Mean(), "two": Mean()}
    links = {"lag.U": "left.SPEED", "one.A": "lag.Y", "one.B": "two.Y", "two.A": "one.Y", "two.B": "one.Y", "left.U": "two.Y"}
    q = solve_ivp(lambda _, q: [*pushed(q[0], q[1], -2 * q[2]), q[1] - q[2]], (0, 2), [1.0, 0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-12).y
    return tg.dsblock.join(blocks, links), {"left": (q[0, -1], q[1, -1])}


@pytest.mark.hunt
@pytest.mark.parametrize("make", [coupled, damped_through_a_loop])
def test_connected_pendulums_move_as_their_angles_do_in_every_form(make: Any) -> None:
    connection, truth = make()
    assert connection.form == "hdae"
    for form, method in [*((form, "radau") for form in FORMS), ("index1_stabilised", "ida"), ("index2_stabilised", "ida")]:
        result = tg.simulate(connection, (0, 2), rtol=1e-8, hdae=form, method=method, traced=True)
        for name, expected in truth.items():
            found = [result.final[f"{name}.ANGLE"], result.final[f"{name}.SPEED"]]
            assert found == pytest.approx(expected, abs=2e-5 if method == "ida" else 1e-6), (form, method, name)
        assert result.statistics.extra["drift of F5"] < 1e-4


@pytest.mark.slow
def test_a_connection_that_is_called_moves_as_one_that_is_followed() -> None:
    connection, _ = damped_through_a_loop()
    followed = tg.simulate(connection, (0, 0.2), rtol=1e-8)
    for form in ("index1", "index2"):
        called = tg.simulate(connection, (0, 0.2), rtol=1e-5, hdae=form, traced=False)
        for name in ("left.ANGLE", "left.SPEED", "lag.X", "one.B"):
            assert float(called.final[name]) == pytest.approx(float(followed.final[name]), abs=1e-4), (form, name)


@pytest.mark.slow
def test_a_connection_is_connected_again() -> None:
    inner, truth = coupled()
    result = tg.simulate(tg.dsblock.join({"both": inner, "lag": Lag()}, {"lag.U": "both.left.ANGLE"}), (0, 2), rtol=1e-8)
    assert float(result.final["both.right.ANGLE"]) == pytest.approx(truth["right"][0], abs=1e-6)


@pytest.mark.slow
def test_constraints_that_look_at_more_than_x1_through_an_input_are_refused() -> None:
    class Driven(Pendulum):
        def parts(self, which: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return {**super().parts(which, t, x, u, p, m), 5: (x.P[0] ** 2 + x.P[1] ** 2 - 1 - u.U) / 2}

    class Telling(Pendulum):
        def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return [x.FORCE, 0.0]

    whole = tg.dsblock.join({"one": Driven(0.5), "two": Telling(0.5)}, {"one.U": "two.ANGLE"})
    with pytest.raises(tg.TidegateError, match=r"F4 or F5 of the block one of the connection connection moves with two\.FORCE"):
        tg.simulate(whole, (0, 1), traced=False)
    with pytest.raises(tg.TidegateError, match=r"F5.* looks at two\.FORCE"):
        tg.simulate(whole, (0, 1))


def test_a_dae_whose_derivatives_cannot_be_unknowns_is_refused_beside_an_hdae() -> None:
    class Implicit(tg.DSblock):
        def define(self, declare: Any) -> None:
            declare.state("A")
            declare.state("B")
            declare.input("U")
            declare.form("dae")

        def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
            return [xdot.A + xdot.B - u.U, x.A - x.B]

    with pytest.raises(tg.UsageError, match=r"derivatives of lag, a DAE beside .* HDAE, enter its residuals through a singular matrix"):
        tg.dsblock.join({"left": Pendulum(1.0), "lag": Implicit()}, {"lag.U": "left.SPEED"})
