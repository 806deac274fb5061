"""Programs of CSMP-10(ARL) run by tg.simulate agree with tight runs of the same equations written directly."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.csmp.language import CsmpProgram, read

GOLDEN = Path(__file__).parents[2] / "golden" / "csmp"
EXPECTED: dict[str, Any] = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))["models"]


def program(name: str) -> CsmpProgram:
    return read(GOLDEN / f"{name}.mod")[0]


def by_program(name: str, interval: float | None = None, **options: Any) -> tuple[tg.Diagram, tg.Result]:
    control = EXPECTED[name]["integration"]
    diagram = program(name).to_diagram(interval, control["lower"])
    times = [row[0] for row in EXPECTED[name]["rows"]]
    return diagram, tg.simulate(diagram, (control["lower"], control["upper"]), outputs=times, **{"rtol": 1e-10, **options})


def spring(t, y, p):
    table = tg.table(np.linspace(-10, 10, 11), np.linspace(-10, 10, 11) * abs(np.linspace(-10, 10, 11)))
    return [y["velocity"], (p["damping"] * y["velocity"] + table(y["position"])) / p["mass"]]


@pytest.mark.slow
def test_spring_agrees_with_its_equations() -> None:
    diagram, result = by_program("spring")
    direct = tg.simulate(
        tg.ode(spring, y0={"position": -10.0, "velocity": 0.0}, p={"damping": 2.0, "mass": -5.0}),
        (0, 20), outputs=result.time, sensitivities=["damping"], rtol=1e-12,
    )  # fmt: skip
    # a hundred times the looser tolerance, for a damped motion
    np.testing.assert_allclose(result["Y"], direct["position"], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(result["Y DOT"], direct["velocity"], rtol=1e-8, atol=1e-8)
    assert diagram[4].name == "Y DBLE DOT"
    # the corners of the function block's table are events
    assert [str(event.causes[0]) for event in result.events[:2]] == ["Y >= -8", "Y >= -6"]
    assert result.events[0].origins[0].path == "block 10"


def test_spring_has_sensitivities_to_parameters_of_its_blocks() -> None:
    direct = tg.simulate(
        tg.ode(spring, y0={"position": -10.0, "velocity": 0.0}, p={"damping": 2.0, "mass": -5.0}), (0, 20), sensitivities=["damping"], rtol=1e-11
    )
    result = tg.simulate(program("spring"), (0, 20), sensitivities=["block 17.weight1"], rtol=1e-11)
    got, want = result.sensitivity("Y", "block 17.weight1"), direct.sensitivity("position", "damping")
    assert float(got[-1]) == pytest.approx(float(want[-1]), rel=1e-7)


def test_van_der_pol_agrees_with_its_equations() -> None:
    _, result = by_program("vdp")
    direct = tg.simulate(
        tg.ode(lambda t, y, p: [y["v"], p["mu"] * (1 - y["x"] ** 2) * y["v"] - y["x"]], y0={"x": 0.5, "v": 0.0}, p={"mu": 1.5}),
        (result.time[0], result.time[-1]), outputs=result.time, rtol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(result["X"], direct["x"], rtol=1e-7, atol=1e-7)  # errors of phase grow along the cycle
    np.testing.assert_allclose(result["X DOT"], direct["v"], rtol=1e-7, atol=1e-7)


def test_ball_bounces_where_its_equations_say() -> None:
    """The program resets while the height is negative and a pulse of full steps is high, that is in the first half of every hundredth."""
    _, result = by_program("ball", rtol=1e-9)
    period = EXPECTED["ball"]["integration"]["interval"]
    assert program("ball").parameter(5)[0] == period

    def is_below(t, y):
        return y["h"] < 0 and t - period * math.floor(t / period + 1e-9) < period / 2

    ball = tg.ode(
        lambda t, y: [y["v"], -9.81],
        y0={"h": 0.0, "v": 5.0},
        events=tg.event(is_below, reset=lambda t, y: {"h": 0.0, "v": 5.0}, name="bounce"),
    )
    direct = tg.simulate(ball, (result.time[0], result.time[-1]), outputs=result.time, rtol=1e-11)
    np.testing.assert_allclose(result["HEIGHT"], direct["h"], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(result["VELOCITY"], direct["v"], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["diff2", "fgen3"])
def test_discrete_and_algebraic_programs_equal_the_language_itself(name: str) -> None:
    diagram, result = by_program(name, EXPECTED[name]["integration"]["interval"])
    for k, number in enumerate(EXPECTED[name]["output"]["blocks"]):
        if number != 1:
            want = [row[k + 1] for row in EXPECTED[name]["rows"]]
            np.testing.assert_allclose(result[diagram[number].name], want, rtol=1e-12, atol=1e-12)  # rounding: another order of operations


@pytest.mark.parametrize(
    ("name", "interval", "distance"), [("spring", None, 0.006), ("vdp", None, 0.005), ("implicit", None, 1e-5), ("quit", None, 1e-4)]
)
def test_programs_are_as_far_from_the_language_as_its_half_steps_make_them(name: str, interval: float | None, distance: float) -> None:
    """The mid-point rule is off by its order times the square of the interval: a bound on the whole way there, not a tolerance of ours."""
    diagram, result = by_program(name, interval)
    for k, number in enumerate(EXPECTED[name]["output"]["blocks"]):
        want = np.array([row[k + 1] for row in EXPECTED[name]["rows"]])
        assert np.max(np.abs(np.asarray(result[diagram[number].name]) - want)) <= distance * np.max(np.abs(want))


def test_unit_delays_in_a_row_delay_by_half_a_step_each() -> None:
    delay = read("DELAYS\n2 O 1\n3 U 2\n4 U 3\n5 U 4\n\n3 -1\n4 -2\n5 -3\n\n\n")[0]
    result = tg.simulate(delay.to_diagram(0.2), (0, 1), outputs=[0.05, 0.15, 0.25, 0.35, 0.45])
    np.testing.assert_allclose(result["block 3"], [-1.0, 0.0, 0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_allclose(result["block 4"], [-2.0, -1.0, 0.0, 0.1, 0.2], atol=1e-15)
    np.testing.assert_allclose(result["block 5"], [-3.0, -2.0, -1.0, 0.0, 0.1], atol=1e-15)


def test_routines_of_user_blocks_are_followed_with_their_additional_outputs() -> None:
    def user1(ctx, block):
        s = ctx.p2 * ctx.x1 + ctx.out[10]
        ctx.set_uo(block + 1, s)
        return -s / ctx.p1

    diagram = program("spring_u1").to_diagram(routine_of=lambda statement, parameters: user1)
    times = np.arange(21.0)
    result = tg.simulate(diagram, (0, 20), outputs=times, rtol=1e-10)
    same = tg.simulate(program("spring"), (0, 20), outputs=times, rtol=1e-10)
    np.testing.assert_allclose(result["Y"], same["Y"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(result["block 5"], same["block 17"], rtol=1e-9, atol=1e-8)


def test_routine_that_reads_what_is_no_input_is_refused() -> None:
    diagram = program("spring_u1").to_diagram(routine_of=lambda statement, parameters: lambda ctx, block: ctx.out[9])
    with pytest.raises(tg.ModelError, match="reads the output of block 9"):
        diagram.lower()


def test_missing_routine_is_the_languages_own_diagnostic() -> None:
    with pytest.raises(tg.CsmpError, match="USER-DEFINED SUBROUTINE NOT LOADED FOR BLK 4"):
        program("spring_u1").lower()


def test_labels_that_cannot_be_names_leave_the_number() -> None:
    odd = read("LABELS\n2 K ; block 3\n3 K\n4 K ; NO. 1\n5 K ; TWICE\n6 K ; TWICE\n7 I 2 ; LEVEL\n\n2 1\n\n\n")[0]
    names = [block.name for block in odd.to_diagram()]
    assert names == ["block 2", "block 3", "block 4", "block 5", "block 6", "LEVEL"]
    assert tg.simulate(odd, (0, 1)).final["LEVEL"] == pytest.approx(1.0)


def test_program_with_a_loop_is_refused_with_the_languages_diagnostic() -> None:
    with pytest.raises(tg.CsmpError, match="SORT FAILURE AT BLK 2"):
        program("loop").lower()


def test_program_with_delays_asks_for_its_interval() -> None:
    with pytest.raises(tg.UsageError, match=r"block 12 \(type U\).*half steps"):
        program("diff2").lower()


def test_limits_the_wrong_way_round_are_refused_at_their_statement() -> None:
    swapped = read("SWAPPED\n3 L 1\n\n3 -1 1\n\n")[0]
    with pytest.raises(tg.UsageError, match="lower is 1 and upper -1") as caught:
        swapped.lower()
    assert caught.value.origin is not None
    assert caught.value.origin.text == "3 L 1"
