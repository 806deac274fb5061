"""Every way to write derivatives into equations is solved: M y' = f with any M, derivatives inside functions, conditions and outputs."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import tidegate as tg
from run_checks import central_differences, event_times, slopes

RTOL = 1e-9


def test_diagonal_masses_divide() -> None:
    model = tg.dae(lambda t, y, ydot, p: [p["m"] * ydot["x"] + y["x"], 3 * ydot["z"] - y["x"]], y0={"x": 1.0, "z": 0.0}, p={"m": 2.0})
    result = tg.simulate(model, (0.0, 1.0), rtol=RTOL, sensitivities="all")
    end = math.exp(-0.5)
    assert list(result.final.values()) == pytest.approx([end, 2 / 3 * (1 - end)], rel=1e-8)
    assert slopes(result, ["x"], "m") == pytest.approx([end / 4], rel=1e-7)


@cache
def coupled() -> Any:
    """A full mass matrix made of parameters."""
    return tg.dae(
        lambda t, y, ydot, p: [p["m1"] * ydot["x"] + p["m2"] * ydot["z"] + y["x"], p["m2"] * ydot["x"] + p["m3"] * ydot["z"] + y["z"]],
        y0={"x": 1.0, "z": 0.3},
        p={"m1": 2.0, "m2": 0.5, "m3": 1.0},
    )


def test_a_full_mass_matrix_is_solved_with() -> None:
    result = tg.simulate(coupled(), (0.0, 3.0), rtol=RTOL, sensitivities="all")
    mass = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert list(result.final.values()) == pytest.approx(expm(-3.0 * np.linalg.inv(mass)) @ [1.0, 0.3], rel=1e-8)
    for name in ("m1", "m2", "m3"):
        ends, _ = central_differences(coupled(), (0.0, 3.0), ["x", "z"], name, 1e-5)
        assert slopes(result, ["x", "z"], name) == pytest.approx(ends, rel=1e-6)


@pytest.mark.parametrize("small", [1e-14, 1e-9, 1.0, 1e9, 1e14])
def test_the_unit_of_an_equation_does_not_matter(small: float) -> None:
    """Both equations say a' = -a and b' = -b; one of them is multiplied by a number."""
    model = tg.dae(lambda t, y, ydot: [small * (ydot["a"] + ydot["b"] + y["a"] + y["b"]), 2 * ydot["a"] + 2 * y["a"]], y0={"a": 1.0, "b": 0.5})
    result = tg.simulate(model, (0.0, 1.0), rtol=1e-6)
    assert result.final["a"] == pytest.approx(math.exp(-1.0), rel=1e-4)
    assert result.final["b"] == pytest.approx(0.5 * math.exp(-1.0), rel=1e-4)


def test_an_implicit_derivative_is_solved_for() -> None:
    """y'^3 + y' = -y: with s = y', t = -integral of (3 s^2 + 1)/s ds."""
    model = tg.dae(lambda t, y, ydot: [ydot["y"] ** 3 + ydot["y"] + y["y"]], y0={"y": 2.0}, ydot0={"y": -0.9})
    result = tg.simulate(model, (0.0, 1.5), rtol=RTOL)
    end = result.final["y"]
    s = float(np.real(next(r for r in np.roots([1.0, 0.0, 1.0, end]) if abs(r.imag) < 1e-12)))
    # s = -1 at the start; dy = -(3 s^2 + 1) ds = s dt
    assert 1.5 * (s**2 - 1.0) + math.log(-s) == pytest.approx(-1.5, abs=1e-7)


class Oscillator(tg.Component):
    x = tg.State(1.0)
    v = tg.State(0.0)
    force = tg.Output(lambda self: 2 * tg.der(self.v))
    seen = tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.v
        yield 2 * tg.der(self.v) + tg.der(self.x) == -2 * self.x + self.v

    @tg.when(lambda self: tg.der(self.v) > 0.5)
    def pull(self) -> Any:
        return {self.seen: tg.der(self.v)}


def test_conditions_outputs_and_bodies_may_read_derivatives() -> None:
    result = tg.simulate(Oscillator(), (0.0, 5.0), rtol=RTOL)
    assert event_times(result) == pytest.approx([2 * math.pi / 3], rel=1e-8)
    assert result.final["seen"] == pytest.approx(0.5, rel=1e-8)
    assert np.asarray(result["force"]) == pytest.approx(-2 * np.cos(result.time), abs=1e-7)


def test_a_relation_of_an_explicit_derivative_switches() -> None:
    model = tg.dae(
        lambda t, y, ydot: [ydot["x"] - y["v"], ydot["v"] + y["x"], ydot["n"] - (1.0 if ydot["v"] > 0 else 0.0)], y0={"x": 1.0, "v": 0.0, "n": 0.0}
    )
    result = tg.simulate(model, (0.0, 7.0), rtol=RTOL)
    assert event_times(result) == pytest.approx([math.pi / 2, 3 * math.pi / 2], rel=1e-8)
    assert result.final["n"] == pytest.approx(math.pi, rel=1e-8)


def test_a_mass_that_depends_on_the_mode_switches_with_it() -> None:
    model = tg.dae(lambda t, y, ydot, p: [(p["a"] if y["x"] > 0.5 else p["b"]) * ydot["x"] + y["x"]], y0={"x": 1.0}, p={"a": 1.0, "b": 2.0})
    result = tg.simulate(model, (0.0, 2.0), rtol=RTOL, sensitivities="all")
    switch = math.log(2.0)
    end = 0.5 * math.exp(-(2.0 - switch) / 2.0)
    assert result.final["x"] == pytest.approx(end, rel=1e-8)
    assert slopes(result, ["x"], "a") == pytest.approx([end * switch / 2.0], rel=1e-7)
    assert slopes(result, ["x"], "b") == pytest.approx([end * (2.0 - switch) / 4.0], rel=1e-7)
    assert result.events[0].dt_dp["a"] == pytest.approx(switch, rel=1e-7)


def test_an_algebraic_loop_is_solved_inside() -> None:
    model = tg.dae(lambda t, y, ydot, p: [ydot["x"] + y["z"], y["z"] + np.sin(y["z"]) - y["x"] * p["a"]], y0={"x": 1.0, "z": 0.0}, p={"a": 1.0})
    result = tg.simulate(model, (0.0, 1.0), rtol=RTOL, sensitivities="all")
    x, z = result.final["x"], result.final["z"]
    assert z + math.sin(z) == pytest.approx(x, abs=1e-9)
    ends, _ = central_differences(model, (0.0, 1.0), ["x", "z"], "a", 1e-5)
    assert slopes(result, ["x", "z"], "a") == pytest.approx(ends, rel=1e-6)


def transistor_amplifier(t: Any, y: Any, d: Any) -> Any:
    c = [0.0, 1e-6, 2e-6, 3e-6, 4e-6, 5e-6]
    y1, y2, y3, y4, y5, y6, y7, y8 = y
    d1, d2, d3, d4, d5, d6, d7, d8 = d

    def g(u: Any) -> Any:
        return 1e-6 * (np.exp(u / 0.026) - 1)

    return [
        c[1] * (d2 - d1) - (y1 - 0.1 * np.sin(200 * np.pi * t)) / 1000,
        c[1] * (d1 - d2) - (y2 / 9000 + (y2 - 6) / 9000 + 0.01 * g(y2 - y3)),
        -c[2] * d3 - (y3 / 9000 - g(y2 - y3)),
        c[3] * (d5 - d4) - ((y4 - 6) / 9000 + 0.99 * g(y2 - y3)),
        c[3] * (d4 - d5) - (y5 / 9000 + (y5 - 6) / 9000 + 0.01 * g(y5 - y6)),
        -c[4] * d6 - (y6 / 9000 - g(y5 - y6)),
        c[5] * (d8 - d7) - ((y7 - 6) / 9000 + 0.99 * g(y5 - y6)),
        c[5] * (d7 - d8) - y8 / 9000,
    ]


# test set for initial value problem solvers (Mazzia and Magherini 2008), problem TRANSAMP
AMPLIFIER_END = [
    -0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1, 0.2926422536206241e1,
    0.2704617865010554e1, 0.2761837778393145e1, 0.4770927631616772e1, 0.1236995868091548e1,
]  # fmt: skip


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_hidden_algebraic_equations_of_a_singular_mass_matrix_are_kept(rtol: float) -> None:
    result = tg.simulate(tg.dae(transistor_amplifier, y0=[0, 3, 3, 6, 3, 3, 6, 0]), (0.0, 0.2), rtol=rtol)
    assert list(result.final.values()) == pytest.approx(AMPLIFIER_END, rel=0, abs=100 * rtol * 5)


def test_an_index_two_system_without_any_state_is_solved() -> None:
    model = tg.dae(lambda t, y, ydot: [ydot["x"] - y["z"], y["x"] - np.sin(t)], y0={"x": 0.0, "z": 1.0})
    final = tg.simulate(model, (0.0, 1.0)).final
    assert final == pytest.approx({"x": np.sin(1.0), "z": np.cos(1.0)}, rel=1e-9)  # Newton's tolerance


def test_a_structurally_singular_system_is_refused_by_name() -> None:
    model = tg.dae(lambda t, y, ydot: [ydot["x"] + y["x"], ydot["x"] + y["x"] - 1], y0={"x": 0.0, "z": 1.0})
    with pytest.raises(tg.StructureError, match=r"(?s)structurally singular.*\bz\b"):
        tg.simulate(model, (0.0, 1.0))


def test_derivatives_that_are_constant_need_no_jacobian() -> None:
    assert tg.simulate(tg.ode(lambda t, y: [2.0, -1.0], y0=[0.0, 1.0]), (0.0, 3.0)).final == pytest.approx({"y[0]": 6.0, "y[1]": -2.0})


def test_an_unknown_at_zero_may_begin_to_move_at_an_event() -> None:
    model = tg.ode(lambda t, y: [1.0, 1.0 if y[0] > 1 else 0.0], y0=[0.0, 0.0])
    assert tg.simulate(model, (0.0, 3.0)).final["y[1]"] == pytest.approx(2.0, rel=1e-9)
