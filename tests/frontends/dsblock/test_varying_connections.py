"""A DAE that loses and gets back a state or an algebraic variable, in a ring with an ODE; truth: the equations of each piece, for SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tidegate as tg

__all__: list[str] = []


class Varying(tg.DSblock):
    """``a A' = -A + B`` with B a state or algebraic, and ``a A' = -A + U`` without B; it comes and goes."""

    def __init__(self, numbers: Any, *, is_algebraic: bool) -> None:
        self.numbers, self.is_algebraic = numbers, is_algebraic

    def define(self, declare: Any) -> None:
        declare.state("A", start=1.0)
        declare.state("B", start=0.5)
        declare.input("U")
        declare.output("Y")
        declare.form("dae")
        declare.outputs_depend_on(inputs=False)
        declare.discrete("there", 2.0)

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        m.there = 2.0
        return tg.dsblock.Start(next_event=self.numbers[3])

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        a, b, c, _ = self.numbers
        if m.there == 1.0:
            return [a * xdot.A + x.A - u.U]
        return [a * xdot.A + x.A - x.B, x.B - u.U - c * x.A if self.is_algebraic else b * xdot.B + c * xdot.A + x.B - u.U]

    def outputs(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return x.A + (x.B if m.there == 2.0 else 0.0)

    def event(self, happening: Any, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        m.there = 3.0 - m.there
        x_new = [x.A, 0.25] if m.there == 2.0 else [x.A]
        return tg.dsblock.EventAction(action="restart", n_states=int(m.there), x=x_new, next_event=t + self.numbers[3])


class Lag(tg.DSblock):
    """``x' = u - 2 x``, ``y = cos x``."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=0.2)
        declare.input("U")
        declare.output("Y")
        declare.outputs_depend_on(inputs=False)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U - 2.0 * x.X

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return np.cos(x.X)


def truth(numbers: Any, pieces: int, *, is_algebraic: bool) -> Any:
    """A, and X, when a piece less a tenth is over."""
    a, b, c, length = numbers
    q = np.array([1.0, 0.5, 0.2])
    for piece in range(pieces):
        if piece and piece % 2 == 0:
            q[1] = 0.25

        def rates(_: float, q: Any, there: bool = piece % 2 == 0) -> Any:
            u = np.cos(q[2])
            if not there:
                return [(u - q[0]) / a, 0.0, q[0] - 2.0 * q[2]]
            second = u + c * q[0] if is_algebraic else q[1]
            slope = (second - q[0]) / a
            return [slope, 0.0 if is_algebraic else (u - second - c * slope) / b, q[0] + second - 2.0 * q[2]]

        end = length * (0.9 if piece == pieces - 1 else 1.0)
        q = solve_ivp(rates, (0.0, end), q, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    return q


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("seed", range(4))
def test_a_dae_among_others_may_change_its_number_of_states(seed: int, method: str) -> None:
    numbers = np.random.default_rng(seed).uniform([0.5, 0.5, -0.5, 0.4], [2.0, 2.0, 0.5, 0.8]).tolist()
    whole = tg.dsblock.join({"v": Varying(numbers, is_algebraic=bool(seed % 2)), "lag": Lag()}, {"v.U": "lag.Y", "lag.U": "v.Y"})
    for pieces in (2, 3):
        expected = truth(numbers, pieces, is_algebraic=bool(seed % 2))
        result = tg.simulate(whole, (0.0, numbers[3] * (pieces - 0.1)), rtol=1e-8, method=method)
        assert [result.final["v.A"], result.final["lag.X"]] == pytest.approx(expected[[0, 2]], abs=3e-6 if method == "ida" else 1e-7)
        assert bool(np.isnan(result.final["v.B"])) == (pieces == 2)
        if pieces == 3 and not seed % 2:
            assert result.final["v.B"] == pytest.approx(expected[1], abs=3e-6)


@pytest.mark.hunt
def test_beside_an_hdae_the_number_of_states_is_kept() -> None:
    class Pendulum(tg.DSblock):
        def define(self, declare: Any) -> None:
            declare.state("P", shape=(2,), start=(1.0, 0.0))
            declare.state("V", shape=(2,))
            declare.state("FORCE")
            declare.form("hdae", parts=(4, 0, 1, 1, 1))

        def parts(self, which: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            (px, py), (vx, vy), force = x.P, x.V, x.FORCE
            return {
                1: {"P": [vx, vy], "V": [-force * px, -force * py - 9.81]}, 3: vx**2 + vy**2 - force * (px**2 + py**2) - 9.81 * py,
                4: px * vx + py * vy, 5: (px**2 + py**2 - 1) / 2,
            }  # fmt: skip

    whole = tg.dsblock.join({"p": Pendulum(), "v": Varying((1.0, 1.0, 0.0, 0.5), is_algebraic=False), "lag": Lag()}, {"v.U": "lag.Y", "lag.U": "v.Y"})
    with pytest.raises(tg.CallbackError, match=r"block v of the connection connection changes, beside .* HDAE, its number of states from 2 to 1"):
        tg.simulate(whole, (0.0, 1.0))
