"""Problems of published comparisons with events, jumps and sensitivities, against closed forms and runs with 30 digits; see ``hybrid_testset``."""

from __future__ import annotations

import numpy as np
import pytest

import tidegate as tg
from hybrid_testset import BALLS, CUBIC, GOLDEN, LITHIUM, ClassE, Relay, RestingBall, SpiralsByLine, SpiralsByMode, falling, numbers
from run_checks import event_times, slopes

__all__: list[str] = []


@pytest.mark.parametrize("rtol", [1e-7, 1e-8, 1e-9, 3e-10, 1e-10, 3e-11, 1e-11])
@pytest.mark.parametrize("lf", list(GOLDEN["H01_lithium_C1"]["end_r_m_f"]))
def test_lithium_cluster_is_right_for_every_loss_of_f_centres(lf: str, rtol: float) -> None:
    result = tg.simulate(LITHIUM, (0.0, 10.0), rtol=rtol, atol=1e-3 * rtol, parameters={"lf": float(lf)})
    expected = numbers(GOLDEN["H01_lithium_C1"]["end_r_m_f"][lf])
    assert [result.final[name] for name in "rmf"] == pytest.approx(expected, rel=10 * rtol)


@pytest.mark.parametrize(("p", "key"), [(0.0, "p=0"), (1e4, "p=1e4, lf=1000")])
def test_lithium_cluster_comes_to_its_steady_state(p: float, key: str) -> None:
    result = tg.simulate(LITHIUM, (0.0, 1e4), rtol=1e-8, parameters={"p": p})
    assert [result.final[name] for name in "rmf"] == pytest.approx(GOLDEN["H01_lithium_C1"]["steady"][key], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize(("case", "on"), [("on_first", False), ("off_first", True)])  # the clock toggles at the start too
def test_class_e_amplifier_restarts_stiffly_at_every_half_period(case: str, on: bool, rtol: float) -> None:
    result = tg.simulate(ClassE(on=on), (0.0, 100e-6), rtol=rtol, outputs=[95e-6, 100e-6])
    for k, key in enumerate(("x(95us)", "x(100us)")):
        values = [float(np.asarray(result[name])[k]) for name in ("x1", "x2", "x3", "x4")]
        assert values == pytest.approx(numbers(GOLDEN["H02_classE_C3"][case][key]), rel=10 * rtol)


def test_two_state_relay_has_closed_form_switches_and_their_derivatives() -> None:
    golden = GOLDEN["H03_two_state_C5"]
    result = tg.simulate(Relay(), (0.0, 5.0), rtol=1e-10, sensitivities=["c3"])
    assert event_times(result) == pytest.approx(numbers(golden["t_switch"]), rel=1e-9)
    assert [event.dt_dp["c3"] for event in result.events] == pytest.approx(numbers(golden["dt_dc3"]), rel=1e-7)
    assert result.final["y2"] == pytest.approx(float(golden["y2_end"]), rel=1e-7)
    assert slopes(result, ["y2"], "c3") == pytest.approx([float(golden["dy2_dc3"])], rel=1e-6)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
def test_two_state_relay_in_its_fast_mode_switches_62_times(rtol: float) -> None:
    golden = GOLDEN["H04_two_state_fast"]
    result = tg.simulate(Relay(low=4.1, low_c2=-1.25, low_c4=4.33), (0.0, 5.0), rtol=rtol)
    times = event_times(result)
    assert len(times) == golden["n"]
    assert times[:3] == pytest.approx(numbers(golden["first"]), rel=100 * rtol)
    assert times[-1] == pytest.approx(float(golden["last"]), rel=100 * rtol)
    assert [result.final["y1"], result.final["y2"]] == pytest.approx([float(golden["y1_end"]), float(golden["y2_end"])], rel=100 * rtol)


@pytest.mark.parametrize("form", [SpiralsByMode, SpiralsByLine])
@pytest.mark.parametrize(("t_end", "key"), [(0.125, "t0125"), (0.2, "t02")])
def test_sensitivities_of_two_spirals_jump_at_their_lines(form: type[tg.Component], t_end: float, key: str) -> None:
    golden = GOLDEN["H07_hiskens_pai"][key]
    result = tg.simulate(form(), (0.0, t_end), rtol=1e-10, sensitivities="all")
    end = [result.final["x1"], result.final["x2"]]
    assert event_times(result) == pytest.approx(numbers(golden["t"]), rel=1e-10)
    assert end == pytest.approx(numbers(golden["x"]), rel=1e-9)
    for name, derivative in {"a": "d_x10", "b": "d_x20", "l1": "d_l1", "l2": "d_l2"}.items():
        assert slopes(result, ["x1", "x2"], name) == pytest.approx(numbers(golden[derivative]), rel=1e-8)
    assert [event.dt_dp["l1"] for event in result.events] == pytest.approx(numbers(golden["dt_dl1"]), rel=1e-9)
    assert slopes(result, ["x1", "x2"], "b") == pytest.approx(end, rel=1e-9)  # homogeneous of degree one, and x(0) = (0, 1)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("p", list(GOLDEN["H08_cubic"]["p"]))
def test_cubic_switch_has_its_derivative_on_both_sides_of_the_tangency(p: str, rtol: float) -> None:
    golden = GOLDEN["H08_cubic"]["p"][p]
    result = tg.simulate(CUBIC, (0.0, 2.0), rtol=rtol, parameters={"p": float(p)}, sensitivities="all")
    assert event_times(result) == pytest.approx(numbers(golden["t"]), abs=10 * rtol)
    assert [event.before["x"] for event in result.events] == pytest.approx(numbers(golden["x_at"]), abs=10 * rtol)
    assert result.final["x"] == pytest.approx(float(golden["x_end"]), rel=10 * rtol)
    assert slopes(result, ["x"], "p") == pytest.approx([float(golden["dx_dp"])], rel=10 * rtol)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-10])
def test_a_ball_with_a_rule_for_rest_has_eleven_impacts_and_rests(rtol: float) -> None:
    result = tg.simulate(RestingBall(), (0.0, 3.0), rtol=rtol)
    assert event_times(result) == pytest.approx(numbers(BALLS["fmi_reference_ball_impacts"]), rel=1e-9)
    assert result.final["h"] == 0.0
    assert result.final["v"] == 0.0


@pytest.mark.parametrize("e", [0.8, 0.7])
def test_a_ball_without_a_rule_for_rest_stops_the_run_where_its_bounces_accumulate(e: float) -> None:
    with pytest.raises(tg.ZenoError, match="h < 0") as caught:
        tg.simulate(falling(1.0, 0.0, 9.81, e), (0.0, 6.0))
    assert caught.value.time == pytest.approx(float(BALLS["zeno_time"][f"e={e}"]), rel=1e-5)


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_a_ball_has_its_derivatives_after_nine_bounces(rtol: float) -> None:
    golden = BALLS["P1_at_3_5"]
    result = tg.simulate(falling(1.0, 0.0, 9.81, 0.8), (0.0, 3.5), rtol=rtol, sensitivities=["e"])
    assert len(event_times(result)) == golden["n"]
    assert [result.final["h"], result.final["v"]] == pytest.approx([float(golden["h"]), float(golden["v"])], rel=1e-9)
    assert slopes(result, ["h", "v"], "e") == pytest.approx([float(golden["dh_de"]), float(golden["dv_de"])], rel=1e-9)


def test_a_ball_thrown_from_the_floor_does_not_bounce_at_the_start() -> None:
    result = tg.simulate(falling(0.0, 20.0, 9.8, 0.9), (0.0, 27.0), rtol=1e-8)
    assert event_times(result) == pytest.approx(numbers(BALLS["ballode_impacts"]), rel=1e-9)
