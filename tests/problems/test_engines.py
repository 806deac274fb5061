"""The problems with known answers by the engines of SUNDIALS: end values, times of events and their derivatives, sensitivities.

Each is held to ``engines.allowed``; where more or less is allowed, the reason stands there. Where an engine cannot do a problem, that it says so is
tested. Those with algebraic unknowns are for IDA alone.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest

import tidegate as tg
from engines import ADDED_UP, COARSE_METHODS, SUNDIALS_METHODS, allowed, unseen_time
from hybrid_testset import BALLS, CUBIC, LITHIUM, ClassE, Relay, RestingBall, SpiralsByLine, SpiralsByMode, falling
from hybrid_testset import GOLDEN as HYBRID
from ivp_testset import MODELS, significant_digits
from reference_problems import GOLDEN, happened, numbers, problem, relay_after
from run_checks import event_times, slopes

pytestmark = pytest.mark.slow  # the same problems by our own engine are in the files beside

__all__: list[str] = []

# Tolerances, where a rate of 2.7e6 has to be waited for: BDF and IDA take 3 000 to 5 000 steps over the five switches, Adams, whose steps are bound
# to the fast rate, 20 000, and a derivative divides their sum by slopes below one. What Adams adds up to there is chance: over seven tolerances from
# 1e-7 to 1e-10 it was 100 to 90 000 of them
THROUGH_A_STIFF_RELAY: Final = {"ida": 1_000.0, "bdf": 1_000.0, "adams": 100_000.0}
ON_PARABOLAS: Final = 1.0  # tolerances: only the steps of order one are off there, and there are few of them after each bounce


@pytest.fixture(params=SUNDIALS_METHODS)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def close(expected: list[float], engine: str, rtol: float, tolerances: float = ADDED_UP, **more: Any) -> Any:
    return pytest.approx(expected, rel=allowed(engine, 0.0, rtol, tolerances), **more)


# --- hybrid test set


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
@pytest.mark.parametrize("lf", list(HYBRID["H01_lithium_C1"]["end_r_m_f"]))
def test_lithium_cluster_for_every_loss_of_f_centres(lf: str, rtol: float, engine: str) -> None:
    result = tg.simulate(LITHIUM, (0.0, 10.0), rtol=rtol, atol=1e-3 * rtol, parameters={"lf": float(lf)}, method=engine)
    assert [result.final[name] for name in "rmf"] == close(numbers(HYBRID["H01_lithium_C1"]["end_r_m_f"][lf]), engine, rtol)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
@pytest.mark.parametrize(("case", "on"), [("on_first", False), ("off_first", True)])
def test_class_e_amplifier_restarts_stiffly_at_every_half_period(case: str, on: bool, rtol: float, engine: str) -> None:
    result = tg.simulate(ClassE(on=on), (0.0, 100e-6), rtol=rtol, outputs=[95e-6, 100e-6], method=engine)
    for k, key in enumerate(("x(95us)", "x(100us)")):
        values = [float(np.asarray(result[name])[k]) for name in ("x1", "x2", "x3", "x4")]
        assert values == close(numbers(HYBRID["H02_classE_C3"][case][key]), engine, rtol)


@pytest.mark.parametrize("rtol", [1e-9, 1e-10])  # at 1e-8 BDF is too late at the fifth switch, which lies 3.5e-7 before the end
def test_two_state_relay_has_its_switches_and_their_derivatives(rtol: float, engine: str) -> None:
    golden = HYBRID["H03_two_state_C5"]
    many = THROUGH_A_STIFF_RELAY[engine]
    result = tg.simulate(Relay(), (0.0, 5.0), rtol=rtol, sensitivities=["c3"], method=engine)
    assert event_times(result) == close(numbers(golden["t_switch"]), engine, rtol, many)
    assert [event.dt_dp["c3"] for event in result.events] == close(numbers(golden["dt_dc3"]), engine, rtol, many)
    assert [result.final["y2"], *slopes(result, ["y2"], "c3")] == close(numbers([golden["y2_end"], golden["dy2_dc3"]]), engine, rtol, many)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_two_state_relay_in_its_fast_mode_switches_62_times(rtol: float, engine: str) -> None:
    golden = HYBRID["H04_two_state_fast"]
    result = tg.simulate(Relay(low=4.1, low_c2=-1.25, low_c4=4.33), (0.0, 5.0), rtol=rtol, method=engine)
    times = event_times(result)
    assert len(times) == golden["n"]
    many = THROUGH_A_STIFF_RELAY[engine]
    assert [*times[:3], times[-1]] == close(numbers([*golden["first"], golden["last"]]), engine, rtol, many)
    assert [result.final["y1"], result.final["y2"]] == close(numbers([golden["y1_end"], golden["y2_end"]]), engine, rtol, many)


@pytest.mark.parametrize("form", [SpiralsByMode, SpiralsByLine])
@pytest.mark.parametrize(("t_end", "key"), [(0.125, "t0125"), (0.2, "t02")])
def test_sensitivities_of_two_spirals_jump_at_their_lines(form: type[tg.Component], t_end: float, key: str, engine: str) -> None:
    golden, rtol = HYBRID["H07_hiskens_pai"][key], 1e-8
    result = tg.simulate(form(), (0.0, t_end), rtol=rtol, sensitivities="all", method=engine)
    assert event_times(result) == close(numbers(golden["t"]), engine, rtol)
    assert [result.final["x1"], result.final["x2"]] == close(numbers(golden["x"]), engine, rtol)
    for name, derivative in {"a": "d_x10", "b": "d_x20", "l1": "d_l1", "l2": "d_l2"}.items():
        assert slopes(result, ["x1", "x2"], name) == close(numbers(golden[derivative]), engine, rtol)
    assert [event.dt_dp["l1"] for event in result.events] == close(numbers(golden["dt_dl1"]), engine, rtol)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("p", list(HYBRID["H08_cubic"]["p"]))
def test_cubic_switch_on_both_sides_of_the_tangency(p: str, rtol: float, engine: str) -> None:
    golden = HYBRID["H08_cubic"]["p"][p]
    result = tg.simulate(CUBIC, (0.0, 2.0), rtol=rtol, parameters={"p": float(p)}, sensitivities="all", method=engine)
    assert event_times(result) == close(numbers(golden["t"]), engine, rtol)
    assert [result.final["x"], *slopes(result, ["x"], "p")] == close(numbers([golden["x_end"], golden["dx_dp"]]), engine, rtol)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_a_ball_with_a_rule_for_rest_has_eleven_impacts_and_rests(rtol: float, engine: str) -> None:
    result = tg.simulate(RestingBall(), (0.0, 3.0), rtol=rtol, method=engine)
    assert event_times(result) == close(numbers(BALLS["fmi_reference_ball_impacts"]), engine, rtol, ON_PARABOLAS)
    assert (result.final["h"], result.final["v"]) == (0.0, 0.0)


@pytest.mark.parametrize("e", [0.8, 0.7])
def test_a_ball_without_a_rule_for_rest_stops_the_run_where_its_bounces_accumulate(e: float, engine: str) -> None:
    end = float(BALLS["zeno_time"][f"e={e}"])
    with pytest.raises(tg.ZenoError, match="h < 0") as caught:
        tg.simulate(falling(1.0, 0.0, 9.81, e), (0.0, 6.0), method=engine)
    assert caught.value.time == pytest.approx(end, abs=1e-5 * end + unseen_time(engine, 1e-6, 9.81, e))


def test_a_ball_thrown_from_the_floor_does_not_bounce_at_the_start(engine: str) -> None:
    result = tg.simulate(falling(0.0, 20.0, 9.8, 0.9), (0.0, 27.0), rtol=1e-8, method=engine)
    assert event_times(result) == close(numbers(BALLS["ballode_impacts"]), engine, 1e-8, ON_PARABOLAS)


# --- Test Set for IVP Solvers


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
@pytest.mark.parametrize(
    ("name", "solver"),
    [*(("hires", method) for method in SUNDIALS_METHODS), ("pollution", "ida"), ("pollution", "bdf"), ("chemical_akzo", "ida")],
)
def test_smooth_problems_have_nearly_as_many_digits_as_were_asked_for(name: str, solver: str, rtol: float) -> None:
    assert significant_digits(name, rtol, rtol * 1e-4, solver) > -math.log10(ADDED_UP * rtol)


def test_adams_finds_the_stiff_pollution_too_long() -> None:
    with pytest.raises(tg.TooManyStepsError, match="10000 steps"):
        tg.simulate(MODELS["pollution"], (0.0, 60.0), rtol=1e-8, method="adams", max_steps=10_000)


def test_ida_does_the_transistor_amplifier_as_given_where_its_voltages_need_not_be_found_at_zero() -> None:
    # Derivatives are coupled, so that IDA's formula differentiates algebraic voltages too, and loses more to rounding the shorter a step is. With an
    # absolute tolerance far below the relative one it takes hundreds of thousands of steps and gains no digits.
    assert significant_digits("transistor_amplifier", 1e-6, 1e-6, "ida") > -math.log10(ADDED_UP * 1e-6)


@pytest.mark.parametrize("solver", COARSE_METHODS)
def test_equations_that_hide_algebraic_ones_are_refused(solver: str) -> None:
    with pytest.raises(tg.UsageError, match=r"3 of the 8 equations are algebraic in hiding[\s\S]*method='ida'"):
        tg.simulate(MODELS["transistor_amplifier"], (0.0, 0.2), method=solver)


# --- reference problems


def run(key: str, engine: str, rtol: float, atol: float, **options: Any) -> Any:
    return tg.simulate(problem(key).model, problem(key).t_span, rtol=rtol, atol=atol, method=engine, **options)


def assert_end(result: Any, key: str, engine: str, rtol: float) -> None:
    """Errors relative to the size of each unknown over the run."""
    for name, text in GOLDEN[key]["end"].items():
        size = float(np.max(np.abs(np.asarray(result[name]))))
        assert result.final[name] == pytest.approx(float(text), rel=0.0, abs=allowed(engine, 0.0, rtol) * size), name


def assert_derivatives(result: Any, key: str, engine: str, rtol: float) -> None:
    for pair, text in GOLDEN[key]["sens"].items():
        if pair != "dt_dp":
            variable, parameter = pair[1:].split("_d")
            # those that are zero are computed from some of size one
            assert slopes(result, [variable], parameter) == close([float(text)], engine, rtol, abs=1e-12), pair


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize(("key", "parameter"), [("P1", "e"), ("P2", "p")])
def test_ball_and_hidden_crossing_match_their_closed_forms(key: str, parameter: str, rtol: float, engine: str) -> None:
    result = run(key, engine, rtol, 0.01 * rtol, sensitivities=[parameter])
    assert [event.time for event in happened(result)] == close(numbers(GOLDEN[key]["event_times"]), engine, rtol)
    assert_end(result, key, engine, rtol)
    assert_derivatives(result, key, engine, rtol)
    if key == "P2":
        assert [event.dt_dp["p"] for event in happened(result)] == close(numbers(GOLDEN["P2"]["sens"]["dt_dp"]), engine, rtol)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
def test_carver_circuit_matches_the_closed_form_with_ida(rtol: float) -> None:
    result = run("P3", "ida", rtol, 0.01 * rtol, sensitivities=["a5"])
    assert [event.time for event in happened(result)] == close(numbers(GOLDEN["P3"]["event_times"]), "ida", rtol)
    assert_end(result, "P3", "ida", rtol)
    assert_derivatives(result, "P3", "ida", rtol)


@pytest.mark.parametrize("rtol", [1e-9, 1e-10])  # at 1e-8 BDF and IDA are too late at the fifth switch, which lies 3.5e-7 before the end
def test_stiff_relay_switches_five_times(rtol: float, engine: str) -> None:
    result = run("P4", engine, rtol, 0.01 * rtol)
    many = THROUGH_A_STIFF_RELAY[engine]
    times = [event.time for event in happened(result)]
    assert times == close(numbers(GOLDEN["P4"]["event_times"]), engine, rtol, many)
    assert result.final["y2"] == close(float(GOLDEN["P4"]["end"]["y2"]), engine, rtol, many)
    # y1 has come down from the switch by exp(-2.7e6 elapsed), whose error is that of the last time that was found
    assert result.final["y1"] == close(relay_after(times[-1]), engine, rtol, many)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_robertson_has_its_end_values_and_derivatives_with_ida(rtol: float) -> None:
    result = run("P6", "ida", rtol, 1e-6 * rtol, sensitivities="all")
    assert_end(result, "P6", "ida", rtol)
    assert_derivatives(result, "P6", "ida", rtol)


@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-8])
def test_buck_converter_has_every_one_of_its_events(rtol: float, engine: str) -> None:
    expected = GOLDEN["P8"]
    result = run("P8", engine, rtol, 0.01 * rtol)
    inside = [event for event in happened(result) if 0.0 < event.time < problem("P8").t_span[1]]
    empty = [event.time for event in inside if event.kind == "state"]
    assert (len(inside), len(empty)) == (expected["n_events"], expected["n_zero_current_events"])
    assert [empty[0], empty[-1]] == close(numbers([expected["first_zero_current"], expected["last_zero_current"]]), engine, rtol)
    assert_end(result, "P8", engine, rtol)
