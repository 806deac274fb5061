"""Models of which nothing is known but Python functions, or an address: events, clocks and actions at both ends, against closed forms."""

from __future__ import annotations

import ctypes
import pickle
from dataclasses import replace
from math import ceil, exp, sqrt
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled.callbacks import VALUE_FUNCTION
from tidegate.model.callables import At, CallableClause, CallableModel, Completed, Threshold, Tick

GRAVITY = 9.81
FIRST = sqrt(2.0 / GRAVITY)  # fall from height 1
OPAQUE = 100.0  # tolerances: derivatives by differences, some hundred steps


def ball_rates(at: At) -> list[float]:
    return [at.y[1], -GRAVITY]


def bounce(at: At) -> dict[str, float]:
    return {"v": -at.p[0] * at.y[1], "bounces": at.d[0] + 1.0}


BALL = CallableModel(
    "ball",
    states={"h": 2.0, "v": 0.0},
    rhs=ball_rates,
    parameters={"e": 0.8},
    discretes={"bounces": 0.0, "ticks": 0.0},
    outputs=["energy"],
    output=lambda at: [GRAVITY * at.y[0] + 0.5 * at.y[1] ** 2],
    thresholds=[Threshold("h < 0", lambda at: -at.y[0], strict=True, decides=False)],
    clauses=[CallableClause("bounce", [0], bounce)],
    ticks=[Tick("sample", 0.3, 0.3, lambda at: {"ticks": at.d[1] + 1.0})],
    at_start=lambda at: {"h": 1.0},
    at_end=lambda at: {"ticks": -at.d[1]},
)


def bounce_times(e: float, end: float) -> list[float]:
    times, interval = [FIRST], 2.0 * e * FIRST
    while times[-1] + interval < end:
        times.append(times[-1] + interval)
        interval *= e
    return times


@pytest.mark.slow
def test_a_ball_of_functions_bounces_is_sampled_and_is_acted_on_at_both_ends(method: str) -> None:
    end, rtol = 1.6, 1e-7
    result = tg.simulate(BALL, (0.0, end), method=method, rtol=rtol, sensitivities="all")
    expected = bounce_times(0.8, end)
    bounces = [event for event in result.events if "bounce" in event.causes]
    assert np.allclose([event.time for event in bounces], expected, rtol=0.0, atol=OPAQUE * rtol)
    # the k-th bounce is at T (1 + 2 e + ... + 2 e**k)
    moved = [2.0 * FIRST * sum(i * 0.8 ** (i - 1) for i in range(1, k + 1)) for k in range(len(expected))]
    assert np.allclose([event.dt_dp["e"] for event in bounces], moved, rtol=1e-5, atol=1e-5)
    samples = [event.time for event in result.events if "sample" in event.causes]
    assert np.allclose(samples, 0.3 * np.arange(1, ceil(end / 0.3)), atol=1e-12)
    assert (result.final["bounces"], result.final["ticks"]) == (len(expected), -len(samples))
    assert [(event.kind, event.before["ticks"]) for event in result.events][-1] == ("final", len(samples))
    assert result.at(1.0, "energy") == pytest.approx(0.64 * GRAVITY, abs=1e-5)


@pytest.mark.slow
def test_equations_look_at_thresholds_and_at_algebraic_unknowns(dae_method: str) -> None:
    # x' = 1 until it is 1, then x' = -z with 0 = z - k x
    model = CallableModel(
        "bend",
        states={"x": 0.0},
        algebraic={"z": 0.0},
        parameters={"k": 2.0},
        rhs=lambda at: [-at.y[1] if at.d[0] else 1.0, at.y[1] - at.p[0] * at.y[0]],
        discretes={"down": 0.0},
        thresholds=[Threshold("x >= 1", lambda at: at.y[0] - 1.0)],
        clauses=[CallableClause("turn", lambda at: bool(at.holds[0]), lambda at: {"down": 1.0}, message="down it goes")],
    )
    result = tg.simulate(model, (0.0, 2.0), method=dae_method, rtol=1e-8, sensitivities="all")
    turn = next(event for event in result.events if event.messages)
    assert (turn.time, turn.messages) == (pytest.approx(1.0, abs=1e-6), ("down it goes",))
    assert result.final["x"] == pytest.approx(exp(-2.0), rel=1e-5)
    assert result.final["z"] == pytest.approx(2.0 * exp(-2.0), rel=1e-5)
    assert result.sensitivity("x", "k")[-1] == pytest.approx(-exp(-2.0), rel=1e-4)


def test_a_relation_that_only_the_equations_look_at_is_an_event(method: str) -> None:
    # x' = 1 below 1, 3 above
    above = Threshold("x > 1", lambda at: at.y[0] - 1.0, strict=True)
    model = CallableModel("kink", states={"x": 0.0}, rhs=lambda at: [3.0 if at.holds[0] else 1.0], thresholds=[above])
    result = tg.simulate(model, (0.0, 2.0), method=method, rtol=1e-8)
    assert [event.causes for event in result.events] == [("x > 1",)]
    assert result.final["x"] == pytest.approx(4.0, abs=1e-6)


def test_the_equations_may_be_an_address(method: str) -> None:
    @VALUE_FUNCTION
    def decay(t: float, y: Any, p: Any, m: Any, out: Any) -> None:
        out[0] = -p[0] * y[0]

    address = ctypes.cast(decay, ctypes.c_void_p).value
    model = CallableModel("decay", states={"x": 1.0}, rhs=address, parameters={"k": 2.0})
    result = tg.simulate(model, (0.0, 1.0), method=method, rtol=1e-8, sensitivities="all")
    assert result.final["x"] == pytest.approx(exp(-2.0), rel=1e-5)
    assert result.sensitivity("x", "k")[-1] == pytest.approx(-exp(-2.0), rel=1e-4)


def test_two_clauses_that_disagree_and_a_function_that_raises_are_told(method: str) -> None:
    ticks = [Tick("one", 1.0, change=lambda at: {"n": 1.0}), Tick("other", 1.0, change=lambda at: {"n": 2.0})]
    model = CallableModel("two", states={"x": 0.0}, rhs=lambda at: [1.0], discretes={"n": 0.0}, ticks=ticks)
    with pytest.raises(tg.ConflictError, match="one and other happen together and give n different values: 1 and 2"):
        tg.simulate(model, (0.0, 2.0), method=method)
    broken = CallableModel("broken", states={"x": 0.0}, rhs=lambda at: [1.0 + sqrt(0.5 - at.y[0])])
    with pytest.raises(tg.CallbackError, match="rhs of broken raised ValueError"):
        tg.simulate(broken, (0.0, 2.0), method=method)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"parameters": {"x": 1.0}}, "the name x is taken twice"),
        ({"states": {"x": float("nan")}}, "x starts at nan"),
        ({"ticks": [Tick("back", 0.5, -1.0)]}, "the period of back is -1.0; it must be positive"),
        ({"clauses": [CallableClause("none", [3])]}, "there is no threshold 3"),
        ({"outputs": ["y"]}, "outputs have names and no function"),
    ],
)
def test_what_no_run_can_be_made_of_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tg.InvalidModelError, match=sentence):
        tg.simulate(CallableModel("wrong", **{"states": {"x": 1.0}, "rhs": lambda at: [0.0], **wrong}), (0.0, 1.0))


def test_numbers_too_many_or_too_few_are_no_rates(method: str) -> None:
    for rates in ([], [1.0, 2.0]):
        with pytest.raises(tg.CallbackError, match=f"{len(rates)} numbers where 1 were expected"):
            tg.simulate(CallableModel("wrong", states={"x": 1.0}, rhs=lambda at, rates=rates: rates), (0.0, 1.0), method=method)


def test_an_opaque_function_that_gives_more_numbers_than_it_said_is_told(method: str) -> None:
    function = tg.opaque(lambda x: [-x, x], n_outputs=1)
    with pytest.raises(tg.CallbackError, match="2 numbers where 1 were expected"):
        tg.simulate(tg.ode(lambda t, y: [function(y["x"])], y0={"x": 1.0}), (0.0, 1.0), method=method)


@pytest.mark.slow
def test_a_simulation_of_functions_is_set_and_goes_on_and_its_result_is_stored() -> None:
    simulation = tg.Simulation(BALL, rtol=1e-8)
    simulation.advance(0.2)
    simulation["v"] = 0.0
    simulation["h"] = 1.0
    result = simulation.advance(0.2 + FIRST + 0.1)
    assert next(event.time for event in result.events if "bounce" in event.causes) == pytest.approx(0.2 + FIRST, abs=1e-6)
    other = pickle.loads(pickle.dumps(simulation.result))
    assert [event.causes for event in other.events] == [event.causes for event in simulation.result.events]


def turning(at: At) -> list[float]:
    return [at.y[1], -at.y[0]]


def test_a_step_event_happens_at_the_end_of_the_steps_that_ask_for_it_and_nowhere_else() -> None:
    """A point on a circle is put back onto it at the end of every third completed step; another event waits for the first step beyond an angle."""
    model = CallableModel(
        "circle",
        states={"x": 1.0, "v": 0.0},
        rhs=turning,
        discretes={"seen": 0.0, "beyond": 0.0},
        completed=[
            Completed("count", lambda at: True, lambda at: {"seen": at.d[0] + 1.0}),
            Completed("put back", lambda at: at.d[0] % 3 == 2, lambda at: {"x": at.y[0] / np.hypot(*at.y), "v": at.y[1] / np.hypot(*at.y)}),
            Completed("beyond", lambda at: at.y[0] < 0.0 and at.d[1] == 0.0, lambda at: {"beyond": at.time}, message="half way"),
        ],
    )
    # by Radau only: multistep methods start afresh at order one behind every event, and take a hundred thousand steps
    result = tg.simulate(model, (0.0, 3.0), method="radau", rtol=1e-6)
    steps = [event for event in result.events if event.kind == "step"]
    assert len(steps) == len(result.events) == int(result.final["seen"])
    assert len({event.time for event in steps}) == len(steps)
    back = [(k, event) for k, event in enumerate(steps) if "put back" in event.causes]
    assert [k for k, _ in back] == list(range(2, len(steps), 3))
    for _, event in back:
        assert np.hypot(event.after["x"], event.after["v"]) == pytest.approx(1.0, abs=1e-15)
    ((place, beyond),) = [(k, event) for k, event in enumerate(steps) if "beyond" in event.causes]
    assert float(result.final["beyond"]) == beyond.time
    assert beyond.before["x"] < 0.0 <= steps[place - 1].before["x"]
    assert beyond.messages == ("half way",)
    assert float(result.final["x"]) == pytest.approx(np.cos(3.0), abs=2e-4)
    assert result.statistics.steps >= len(steps)


def test_a_step_event_that_ends_the_run_ends_it_at_the_end_of_a_step(method: str) -> None:
    model = CallableModel(
        "decay", states={"x": 1.0}, rhs=lambda at: [-at.y[0]], completed=[Completed("low", lambda at: at.y[0] < 0.5, terminates=True)],
    )  # fmt: skip
    result = tg.simulate(model, (0.0, 50.0), method=method, rtol=1e-6)
    assert result.events[-1].kind == "step"
    assert np.log(2.0) < result.t[-1] < 50.0
    assert float(result.final["x"]) == pytest.approx(exp(-float(result.t[-1])), rel=1e-4)


def hooked(told: list[tuple[float, float]], closed: list[float], **others: Any) -> CallableModel:
    return CallableModel(
        "tank",
        states={"x": 1.0},
        rhs=lambda at: [-at.p[0] * at.y[0]],
        parameters={"k": 1.0},
        discretes={"changes": 0.0},
        thresholds=[Threshold("x < 0.5", lambda at: 0.5 - at.y[0], strict=True, decides=False)],
        clauses=[CallableClause("fill", [0], lambda at: {"x": 1.0})],
        at_communication=lambda at: told.append((at.time, at.y[0])),
        at_parameters=lambda at: {"changes": at.d[0] + 1.0, "x": 0.75},
        at_close=lambda at, _: closed.append(at.time),
        **others,
    )


def test_a_model_is_told_of_every_communication_point_with_the_values_of_its_row_and_of_the_end(method: str) -> None:
    told: list[tuple[float, float]] = []
    closed: list[float] = []
    result = tg.simulate(hooked(told, closed), (0.0, 2.0), outputs=np.linspace(0.0, 2.0, 41), method=method)
    assert [time for time, _ in told] == np.linspace(0.0, 2.0, 41).tolist()
    rows = dict(zip(result.t.tolist(), np.asarray(result["x"]).tolist(), strict=True))
    assert all(x == rows[time] for time, x in told)
    assert closed == [2.0]


def test_a_hook_that_raises_ends_the_run_at_its_communication_point_and_the_model_is_closed(method: str) -> None:
    closed: list[float] = []

    def refuse(at: At) -> None:
        if at.time > 1.0:
            raise RuntimeError("no paper")

    with pytest.raises(tg.CallbackError, match=r"hook at communication points of tank.*no paper") as caught:
        tg.simulate(replace(hooked([], closed), at_communication=refuse), (0.0, 2.0), outputs=np.linspace(0.0, 2.0, 41), method=method)
    assert caught.value.result is not None
    assert 0.5 < caught.value.result.t[-1] <= 1.0  # the step in which it happened does not count
    assert len(closed) == 1


def test_a_model_answers_to_parameters_set_from_outside() -> None:
    told: list[tuple[float, float]] = []
    closed: list[float] = []
    simulation = tg.Simulation(hooked(told, closed))
    simulation.advance(0.25)
    simulation["x"] = 0.9
    assert simulation["changes"] == 0.0
    simulation["k"] = 2.0
    assert (simulation["changes"], simulation["x"]) == (1.0, 0.75)
    simulation.advance(0.35)
    assert simulation["x"] == pytest.approx(0.75 * exp(-0.2), rel=1e-5)
    assert closed == []
    simulation.finish()
    assert closed == [0.35]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida", "adams"])
def test_a_run_whose_last_steps_all_begin_afresh_arrives_at_its_end(method: str) -> None:
    """A first step is no part of what is left of a run: such steps would shrink with it for ever. (By bdf they are very many, and arrive.)"""
    model = CallableModel(
        "decay", states={"x": 1.0}, rhs=lambda at: [-at.y[0]], discretes={"seen": 0.0},
        completed=[Completed("late", lambda at: at.time > 0.9, lambda at: {"seen": at.d[0] + 1.0})],
    )  # fmt: skip
    result = tg.simulate(model, (0.0, 1.0), method=method, rtol=1e-4)
    assert result.t[-1] == 1.0
    assert result.final["seen"] == sum(event.kind == "step" for event in result.events)
    assert float(result.final["x"]) == pytest.approx(exp(-1.0), rel=1e-3)
    assert len(result.events) < 2000
