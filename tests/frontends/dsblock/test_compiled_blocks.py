"""Blocks compiled from C and Fortran against closed forms, and against the same systems stated in Python (DSblock 3.3, calling convention)."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import tidegate as tg
from callbacks_by_python import by_python
from tidegate.frontends.dsblock import CompiledDSblock

BLOCKS = Path(__file__).parent / "blocks"
G, E = 9.81, 0.8
FIRST = math.sqrt(2.0 / G)
BOUNCES = [FIRST, FIRST * (1 + 2 * E), FIRST * (1 + 2 * E + 2 * E * E)]


@pytest.fixture(scope="module")
def ball() -> CompiledDSblock:
    return tg.dsblock.build(BLOCKS / "ball.c", prefix="ball")


@pytest.mark.slow
def test_a_compiled_ball_bounces_when_its_height_falls_through_zero(ball: CompiledDSblock, method: str) -> None:
    result = tg.simulate(ball, rtol=1e-8, method=method)
    assert [event.time for event in result.events] == pytest.approx(BOUNCES, abs=2e-7)
    assert result["ENERGY"].values[-1] == pytest.approx(G * E**6, rel=1e-6)
    assert result["BOUNCES"].values[-1] == 3.0


@pytest.mark.slow
def test_nothing_of_a_compiled_block_is_asked_of_python_within_steps(ball: CompiledDSblock) -> None:
    few, many = (tg.simulate(ball, (0.0, 0.4), rtol=1e-8, max_step=step, outputs=[0.0, 0.4]).statistics for step in (0.1, 0.001))
    assert many.steps > 300
    assert many.opaque_calls <= few.opaque_calls


@pytest.mark.slow
def test_changed_parameters_come_to_the_block_and_its_own_end_of_the_run(ball: CompiledDSblock) -> None:
    result = tg.simulate(ball, (0.0, 9.0), parameters={"STOPS": 2, "G": 2.0, "E": 0.5}, rtol=1e-8)
    assert result.status == "terminated"
    assert [event.time for event in result.events] == pytest.approx([1.0, 2.0], abs=1e-6)
    assert "BLOCKV (ballv) of DSblock ball ends the run" in result.message
    # and the next run has its own again
    assert len(tg.simulate(ball, (0.0, 2.0)).events) == 3


@pytest.mark.parametrize("change", [{"G": 0.0}, {"E": 1.5}, {"STOPS": -1}, {"STOPS": 0.5}])
def test_values_outside_of_the_bounds_of_a_parameter_are_refused(ball: CompiledDSblock, change: dict[str, float]) -> None:
    with pytest.raises(tg.UsageError, match=next(iter(change))):
        tg.simulate(ball, (0.0, 1.0), parameters=change)


@pytest.mark.slow
def test_a_block_can_be_joined_and_several_of_one_library_run_at_once(ball: CompiledDSblock) -> None:
    both = tg.dsblock.join({"one": ball, "two": ball}, links={})
    result = tg.simulate(both, (0.0, 1.0), rtol=1e-8, parameters={"two.G": 2 * G})
    assert [event.time for event in result.events] == pytest.approx(sorted([FIRST, FIRST / math.sqrt(2), FIRST / math.sqrt(2) * 2.6]), abs=2e-7)
    assert np.isfinite(result["one.HEIGHT"].values).all()


# -- Fortran ----------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vdp() -> CompiledDSblock:
    return tg.dsblock.build(BLOCKS / "vdp.f", prefix="vdp", data_file="data of vdp")


def van_der_pol(t_end: float, mu: float = 1.5, power: int = 2, force: Callable[[float], float] = lambda t: 0.0) -> NDArray[np.float64]:
    """Another program's solution."""

    def rates(t: float, x: NDArray[np.float64]) -> list[float]:
        return [x[1], mu * (1 - x[0] ** power) * x[1] - x[0] + force(t)]

    return solve_ivp(rates, (0.0, t_end), [2.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.slow
def test_a_fortran_block_with_its_jacobian_and_all_kinds_of_parameters(vdp: CompiledDSblock) -> None:
    result = tg.simulate(vdp, rtol=1e-9)
    x = van_der_pol(20.0)
    assert result["YARR"].values[-1] == pytest.approx(x, abs=1e-6)
    assert result["ENERGY"].values[-1] == pytest.approx(np.sum(x**2) / 2, abs=1e-6)
    assert result["RATE"].values[-1] == pytest.approx(1.5 * (1 - x[0] ** 2) * x[1] - x[0], abs=1e-6)
    assert len(result.time) == 41
    assert {name: entry.default for name, entry in vdp.parameters.items()} == {
        "MU": (1.5,), "POWER": (2.0,), "DARRAY": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), "IARRAY": (11.0, 12.0), "DNUM2": (-1.0,), "LINEAR": (0.0,),
        "QUIET": (1.0,),
    }  # fmt: skip
    assert vdp.parameters["DARRAY"].shape == (2, 3)
    assert (vdp.declared.text, vdp.declared.version) == ("van der Pol's equation", "3.3")


@pytest.mark.parametrize("given", [lambda t: 0.3 * math.sin(t), 0.25, ([0.0, 1.0, 4.0, 5.0], [0.0, 0.5, -0.5, 0.0])])
def test_inputs_reach_a_compiled_block(vdp: CompiledDSblock, given: Any) -> None:
    force = given if callable(given) else (lambda t: given) if isinstance(given, float) else (lambda t: float(np.interp(t, *given)))
    result = tg.simulate(vdp, (0.0, 5.0), inputs={"FORCE": given}, rtol=1e-9)
    x = solve_in_pieces(force, (0.0, 1.0, 4.0, 5.0))
    assert result["YARR"].values[-1] == pytest.approx(x, abs=1e-6)


def solve_in_pieces(force: Callable[[float], float], ends: tuple[float, ...], start: Any = (2.0, 0.0)) -> NDArray[np.float64]:
    x = np.array(start)
    for pair in pairwise(ends):
        x = solve_ivp(lambda t, x: [x[1], 1.5 * (1 - x[0] ** 2) * x[1] - x[0] + force(t)], pair, x, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    return x


@pytest.mark.hunt
def test_blockp_refuses_warns_changes_the_start_or_does_not_mind(vdp: CompiledDSblock) -> None:
    with pytest.raises(tg.UsageError, match=r"refuses POWER = 3: POWER \(= 3\) has to be even\."):
        tg.simulate(vdp, (0.0, 1.0), parameters={"POWER": 3})
    with pytest.warns(tg.DSblockWarning, match="MU = 150 makes\nthe equation stiff"):
        tg.simulate(vdp, (0.0, 0.1), parameters={"MU": 150.0})
    array = np.arange(6.0).reshape(2, 3) / 4
    assert tg.simulate(vdp, (0.0, 0.1), parameters={"DARRAY": array})["X1"].values[0] == array[1, 1]
    assert tg.simulate(vdp, (0.0, 0.1), parameters={"DNUM2": 4.0})["X1"].values[0] == 2.0
    result = tg.simulate(vdp, (0.0, 5.0), parameters={"POWER": 4, "MU": 0.5}, rtol=1e-9)
    assert result["YARR"].values[-1] == pytest.approx(van_der_pol(5.0, 0.5, 4), abs=1e-6)
    assert tg.simulate(vdp, (0.0, math.pi), parameters={"LINEAR": True}, rtol=1e-9).final["X1"] == pytest.approx(-2.0, abs=1e-7)


def test_a_dae_warns_once_though_it_begins_twice() -> None:
    block = tg.dsblock.build(BLOCKS / "implicit.f", prefix="imp")
    with pytest.warns(tg.DSblockWarning, match="with K < 0 X1 grows") as warned:
        tg.simulate(block, (0.0, 0.1), parameters={"K": -1.0})
    assert len(warned) == 1


@pytest.mark.hunt
def test_what_a_block_prints_comes_to_the_log(vdp: CompiledDSblock, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="tidegate.dsblock"):
        tg.simulate(vdp, (0.0, 0.1), parameters={"QUIET": False})
    assert "DSblock vdp: begins with data of vdp" in caplog.messages


@pytest.mark.hunt
@pytest.mark.parametrize("isolate", [False, True])
def test_an_implicit_dae_in_fortran_with_parameters_that_it_judges(method: str, isolate: bool) -> None:
    if isolate and method != "radau":
        return
    method = method if method in ("radau", "ida") else "radau"
    block = tg.dsblock.build(BLOCKS / "implicit.f", prefix="imp", isolate=isolate)
    for start, cubed in ((1.0, 0.0), (2.0, 0.0), (2.0, 0.5)):
        result = tg.simulate(block, (0.0, 1.0), parameters={"YSTART": start, "A": cubed}, rtol=1e-9, method=method)

        def rate(y: float, cubed: float = cubed) -> float:
            right = y - 2 * (y + y**3)
            return right if cubed == 0.0 else float(brentq(lambda s: s + cubed * s**3 - right, -abs(right) - 1, abs(right) + 1, xtol=1e-14))

        y = solve_ivp(lambda t, y: [rate(y[0]) / (1 + 3 * y[0] ** 2)], (0.0, 1.0), [start], rtol=1e-11, atol=1e-12).y[0, -1]
        assert result.final["Y"] == pytest.approx(y, abs=1e-7)
        assert result.final["X1"] == pytest.approx(y + y**3, abs=1e-7)
        assert result.final["RATE"] == pytest.approx(rate(y), abs=1e-6)
    with pytest.raises(tg.UsageError, match=r"refuses A = -1\.0: with A < 0 there are several X1D"):
        tg.simulate(block, (0.0, 1.0), parameters={"A": -1.0}, method=method)
    with pytest.warns(tg.DSblockWarning, match="with K < 0 X1 grows"):
        tg.simulate(block, (0.0, 0.1), parameters={"K": -0.1}, method=method)


@pytest.mark.slow
def test_time_step_and_state_events_of_one_instant_are_one_call() -> None:
    block = tg.dsblock.build(BLOCKS / "clock.f", prefix="clock")
    result = tg.simulate(block, (0.0, 1.1), rtol=1e-8)
    assert [event.time for event in result.events] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert [result.final[name] for name in ("TICKS", "STEPS", "TOGETHER")] == [4.0, 1.0, 2.0]
    assert result.final["X"] == pytest.approx(0.25 * (1 + 2 + 3 + 4) + 0.1 * 5)
    # a step event can be asked for behind each step: the first that ends beyond X = 1
    fine = tg.simulate(block, (0.0, 1.1), rtol=1e-8, max_step=0.01)
    assert fine.final["STEPS"] == 1.0
    assert 0.5 + 0.25 / 3 < min(set(np.round([event.time for event in fine.events], 9)) - {0.25, 0.5, 0.75, 1.0}) < 0.5 + 0.25 / 3 + 0.011


@pytest.mark.slow
def test_the_structure_of_a_compiled_block_varies() -> None:
    block = tg.dsblock.build(BLOCKS / "varying.f", prefix="vary")
    result = tg.simulate(block, (0.0, 4.0), outputs=[0.25, 1.5, 2.5, 3.5], rtol=1e-9)
    assert [event.time for event in result.events] == pytest.approx([0.5, 1.0, 1.0 + math.log(5 / 4), 2.0, 3.0], abs=1e-8)
    inside = [result.time.tolist().index(t) for t in (0.25, 1.5, 2.5, 3.5)]
    np.testing.assert_allclose(result["A"].values[inside], [0.25, 1.5, np.nan, 10.5], atol=1e-8)
    np.testing.assert_allclose(result["B"].values[inside], [np.nan, 5 * math.exp(-0.5), np.nan, np.nan], atol=1e-7)


@pytest.mark.hunt
def test_static_data_allow_one_model_and_one_run_at_a_time(vdp: CompiledDSblock) -> None:
    with pytest.raises(tg.UsageError, match=r"there is another model of libvdp.*, and its data are static"):
        tg.dsblock.build(BLOCKS / "vdp.f", prefix="vdp")
    with pytest.raises(tg.UsageError, match="is in a run, and its data are static"):
        tg.simulate(tg.dsblock.join({"one": vdp, "two": vdp}, links={}), (0.0, 1.0))
    assert tg.simulate(vdp, (0.0, 1.0), rtol=1e-9)["YARR"].values[-1] == pytest.approx(van_der_pol(1.0), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "f"])
@pytest.mark.parametrize(("method", "is_called"), [("auto", False), ("auto", True), ("bdf", False)])
def test_what_callbacks_store_for_each_other_is_used_as_long_as_it_holds(language: str, method: str, is_called: bool) -> None:
    block = tg.dsblock.build(BLOCKS / f"told.{language}", prefix="told")
    for stiffness in (1.0, 2.0):
        with by_python(wanted=is_called):
            result = tg.simulate(block, (0.0, 1.0), rtol=1e-9, inputs={"U": 0.5}, parameters={"P": stiffness}, outputs=0.1, method=method)
        x, v, rest = 1.0, 0.0, math.nan
        for m in (stiffness, 4.0 * stiffness):  # half a time unit each
            rest, w = -0.5 / m, math.sqrt(m)
            x, v = (rest + (x - rest) * math.cos(0.5 * w) + v / w * math.sin(0.5 * w), v * math.cos(0.5 * w) - (x - rest) * w * math.sin(0.5 * w))
        assert result.final["X1"] == pytest.approx(x, abs=1e-6)
        assert result.final["Y"] == pytest.approx(4.0 * stiffness * x + 0.5, abs=1e-5)
        calls, computed, wrong = (float(result[name].values[-1]) for name in ("CALLS", "COMPUTED", "WRONG"))
        assert wrong == 0.0
        assert 0.0 < computed < calls


@pytest.mark.hunt
@pytest.mark.parametrize("isolate", [False, True])
def test_names_of_a_block_are_found_in_any_letter_case(isolate: bool, tmp_path: Path) -> None:
    ball = tg.dsblock.build(BLOCKS / "ball.c", prefix="ball", isolate=isolate)
    options: dict[str, Any] = {"atol": {"height": 1e-9}, "sensitivities": ["g"], "rtol": 1e-8}
    state, parameter = "HEIGHT", "G"
    result = tg.simulate(ball, (0.0, 0.3), parameters={"g": 2.0}, y0={"height": 3.0}, **options)
    file = tmp_path / "ball.nc"
    result.to_netcdf(file)
    for known in (result, tg.Result.load(file)):
        assert known[state.lower()].name == state
        assert "height" in known
        assert known.final["height"] == pytest.approx(3.0 - 0.3**2, rel=1e-6)
        assert known.at(0.1)["Height"] == pytest.approx(3.0 - 0.1**2, rel=1e-6)
        assert known.sensitivity("height", "g")[-1] == pytest.approx(-(0.3**2) / 2, rel=1e-5)
        assert next(iter(known.parameters)) == parameter
    with pytest.raises(tg.UsageError, match="no parameter 'h'"):
        tg.simulate(ball, (0.0, 0.3), parameters={"h": 2.0})


@pytest.mark.slow
def test_an_input_that_is_a_function_of_time_is_native_as_long_as_nothing_that_it_reads_has_changed(vdp: CompiledDSblock) -> None:
    size = 0.3
    prepared = tg.prepare(vdp, (0.0, 5.0), inputs={"FORCE": lambda t: size * math.sin(t)}, rtol=1e-9)
    for size in (0.3, 0.6, 0.3):
        by_hand = solve_in_pieces(lambda t, size=size: size * math.sin(t), (0.0, 5.0))
        assert prepared.run()["YARR"].values[-1] == pytest.approx(by_hand, abs=1e-6)
    calls = list[float]()

    def counted(t: float) -> float:
        calls.append(t)
        return 0.3 * math.sin(t)

    tg.simulate(vdp, (0.0, 5.0), inputs={"FORCE": counted}, rtol=1e-9)
    assert len(calls) > 100  # what has effects is called


@pytest.mark.hunt
@pytest.mark.parametrize("isolate", [False, True])
def test_a_short_pulse_of_an_input_that_is_a_function_is_not_stepped_over(vdp: CompiledDSblock, isolate: bool, method: str) -> None:
    block = tg.dsblock.build(BLOCKS / "vdp.f", prefix="vdp", isolate=True) if isolate else vdp

    def pulse(t: float) -> float:
        return 1000.0 if 2.5 < t < 2.501 else 0.0

    result = tg.simulate(block, (0.0, 5.0), inputs={"FORCE": pulse}, rtol=1e-8, method=method)
    x = solve_in_pieces(lambda t: 0.0, (0.0, 2.5))
    x = solve_in_pieces(lambda t: 1000.0, (2.5, 2.501), x)
    by_hand = solve_in_pieces(lambda t: 0.0, (2.501, 5.0), x)
    assert result["YARR"].values[-1] == pytest.approx(by_hand, abs=1e-5)


def test_what_python_says_of_an_input_without_a_value_is_told(vdp: CompiledDSblock) -> None:
    with pytest.raises(tg.RunError, match="math domain error"):
        tg.simulate(vdp, (0.0, 5.0), inputs={"FORCE": lambda t: math.sqrt(2.0 - t)})
