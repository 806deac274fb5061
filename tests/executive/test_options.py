"""Options that make no sense are refused with a sentence before anything runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg

MODEL = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 1.0})


@pytest.mark.parametrize(
    "options",
    [
        {"rtol": 0},
        {"rtol": -1e-6},
        {"rtol": 2.0},
        {"rtol": math.nan},
        {"rtol": "small"},
        {"rtol": True},
        {"atol": -1.0},
        {"atol": 0.0},
        {"atol": math.inf},
        {"atol": [1e-6, 1e-6]},
        {"atol": {"q": 1e-6}},
        {"atol": "small"},
        {"atol": {"x": "small"}},
        {"max_step": 0},
        {"max_step": math.nan},
        {"max_step": "long"},
        {"first_step": -1.0},
        {"max_steps": 0},
        {"max_steps": -5},
        {"outputs": []},
        {"outputs": [1.0, 0.5]},
        {"outputs": [0.5, 0.5]},
        {"outputs": [5.0]},
        {"outputs": [-1.0, 0.5]},
        {"outputs": [0.0, math.nan]},
        {"outputs": "often"},
        {"outputs": -0.1},
        {"outputs": 0},
        {"outputs": 1e-30},
        {"outputs": [[0.1, 0.2], [0.3, 0.4]]},
        {"method": "bdf2"},
        {"method": 3},
        {"sensitivities": ["q"]},
        {"sensitivities": 5},
        {"parameters": {"q": 1.0}},
        {"parameters": {"k": "fast"}},
        {"parameters": {"k": math.inf}},
        {"parameters": 3},
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(tg.UsageError):
        tg.simulate(MODEL, (0.0, 1.0), **options)


@pytest.mark.parametrize("t_span", [(1.0, 0.0), (0.0, math.inf), (math.nan, 1.0), (0.0,), (0.0, 1.0, 2.0), ("a", 1.0), 5, None], ids=str)
def test_spans_that_make_no_sense_are_refused(t_span: Any) -> None:
    with pytest.raises(tg.UsageError):
        tg.simulate(MODEL, t_span)


def test_a_near_miss_of_a_name_is_offered() -> None:
    model = tg.ode(lambda t, y, p: [-p["speed"] * y["x"]], y0={"x": 1.0}, p={"speed": 1.0})
    with pytest.raises(tg.UsageError, match="did you mean 'speed'"):
        tg.simulate(model, (0.0, 1.0), sensitivities=["sped"])


def test_a_span_without_length_gives_the_start() -> None:
    assert tg.simulate(MODEL, (1.0, 1.0)).final == {"x": 1.0}


def test_tolerances_are_taken_in_all_forms() -> None:
    for atol in (1e-9, [1e-9], {"x": 1e-9}, np.array([1e-9]), np.float32(1e-9)):
        assert tg.simulate(MODEL, (0.0, 1.0), rtol=1e-8, atol=atol).final["x"] == pytest.approx(math.exp(-1.0), rel=1e-6)


def test_parameters_replace_the_models() -> None:
    assert tg.simulate(MODEL, (0.0, 1.0), rtol=1e-8, parameters={"k": 2.0}).final["x"] == pytest.approx(math.exp(-2.0), rel=1e-7)
    assert tg.simulate(MODEL, (0.0, 1.0), rtol=1e-8).final["x"] == pytest.approx(math.exp(-1.0), rel=1e-7)


ARRAY = tg.ode(lambda t, y, p: [p["k"][0], p["k"][1]], y0={"a": 0.0, "b": 0.0}, p={"k": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("value", "both"),
    [({"k": 5.0}, (5.0, 5.0)), ({"k": [5.0, 6.0]}, (5.0, 6.0)), ({"k": np.array([5, 6])}, (5.0, 6.0)), ({"k[1]": 6.0}, (1.0, 6.0))],
)
def test_an_array_of_parameters_is_replaced_whole_or_by_element(value: dict[str, Any], both: tuple[float, float]) -> None:
    for end in (tg.simulate(ARRAY, (0.0, 1.0), parameters=value), tg.Simulation(ARRAY, parameters=value).advance(1.0)):
        assert (end.final["a"], end.final["b"]) == pytest.approx(both, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"k": [1.0, 2.0, 3.0]}, r"parameter k needs an array of shape \(2,\), not one of shape \(3,\)"),
        ({"k[0]": [1.0, 2.0]}, r"parameter k\[0\] needs a number, not one of shape \(2,\)"),
        ({"k[0]": "3"}, r"parameter k\[0\] needs a number, not '3'"),
        ({"k": [1.0, math.nan]}, "parameter k must be finite, not"),
        ({"k[2]": 1.0}, r"no parameter 'k\[2\]'"),
    ],
)
def test_numbers_that_fit_no_parameter_are_refused(value: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tg.UsageError, match=sentence):
        tg.simulate(ARRAY, (0.0, 1.0), parameters=value)


class Sampled(tg.Component):
    x = tg.State(lambda self: self.level, min=0.0)
    level = tg.Parameter(1.0)
    share = tg.Parameter(0.5, min=0.0, max=1.0)
    period = tg.Parameter(0.5)
    ticks = tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.share * self.x

    @tg.every(lambda self: self.period)
    def tick(self) -> Any:
        return {self.ticks: self.ticks + 1}


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"period": 0.0}, "the period of tick is 0; it must be positive"),
        ({"share": 1.5}, "parameter share: its value 1.5 must be at least 0 and at most 1"),
        ({"level": -1.0}, "state x: its start value -1 must be at least 0"),
    ],
)
def test_parameters_of_a_call_keep_the_models_limits(parameters: dict[str, float], sentence: str) -> None:
    with pytest.raises(tg.UsageError, match=sentence):
        tg.simulate(Sampled(), (0.0, 1.0), parameters=parameters)
    assert tg.simulate(Sampled(), (0.0, 1.0), parameters={"period": 0.25, "share": 1.0}).final["ticks"] == 5


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("t_eval", "outputs=times"),
        ("dense_output", "result.at(t)"),
        ("args", "p={...}"),
        ("jac", "nothing: derivatives"),
        ("sensitivity", "sensitivities"),
        ("x0", "y0={"),
        ("dt", "outputs=0.1"),
        ("sens", "sensitivities=["),
        ("max_stp", "max_step"),
        ("Rtol", "rtol"),
        ("colour", "one of outputs, sensitivities"),
    ],
)
def test_a_name_that_no_option_has_is_answered_with_the_one_meant(name: str, said: str) -> None:
    for run in (tg.simulate, tg.prepare):
        with pytest.raises(tg.UsageError, match=f"no option '{name}'") as caught:
            run(MODEL, (0.0, 1.0), **{name: 1.0})
        assert caught.value.hint.startswith(said) or said in caught.value.hint


@pytest.mark.parametrize("steps", [1.5, float("inf")])
def test_a_number_of_steps_is_whole(steps: float) -> None:
    """A budget of half a step would be none, and the run would never end."""
    with pytest.raises(tg.UsageError, match="max_steps must be an integer"):
        tg.prepare(tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0}), (0, 1), max_steps=steps)


def test_tolerances_by_name_fit_their_variable() -> None:
    model = tg.ode(lambda t, y: {"x": -y["x"]}, y0={"x": [1.0, 2.0, 3.0]})
    with pytest.raises(tg.UsageError, match="atol has 2 values for x, which has 3"):
        tg.prepare(model, (0, 1), atol={"x": [1e-8, 1e-9]})


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("progress", 3, "progress must be True or a function of the time, not 3"),
        ("on_rows", "rows", "on_rows must be a function"),
        ("dense", "no", "dense must be True or False, not 'no'"),
        ("event_rows", "yes", "event_rows must be True or False"),
        ("sensitivities", [3], "a parameter has a name, and 3 is none"),
        ("parameters", {0: 1.0}, "a parameter has a name, and 0 is none"),
    ],
)
def test_options_of_the_wrong_kind_are_told_in_a_sentence(option: str, value: Any, sentence: str) -> None:
    with pytest.raises(tg.UsageError, match=sentence):
        tg.prepare(tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 1.0}), (0, 1), **{option: value})
