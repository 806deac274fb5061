"""``result.at``: outputs between the rows are what the formula gives on the dense states, in the mode that was held, on either side of an event."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import tidegate as tg


def written(t: Any, y: Any, p: Any) -> dict[str, Any]:
    """Outputs of the random models: this same function is followed by the library and called with numbers by the tests."""
    x, v = y["x"], y["v"]
    return {
        "side": 1.0 if x > p["limit"] else -1.0,
        "clipped": min(max(v, -0.5), 0.5),
        "pieces": np.floor(2.0 * x) + (x * v if v > 0.0 and x < p["limit"] else abs(x) * x),
        "mixed": np.sin(t) * x + y["w"][1],
    }


def random_model(chance: random.Random) -> Any:
    p = {"limit": chance.uniform(-0.6, 0.6), "rate": chance.uniform(1.0, 3.0)}

    def oscillator(t, y, p):
        pull = -p["rate"] * y["x"] if y["x"] > p["limit"] else 1.0 - y["x"]
        return {"x": y["v"], "v": pull, "w": [y["x"], -y["w"][1]]}

    kick = tg.event(lambda t, y, p: y["v"] > p["limit"], reset=lambda t, y, p: {"v": -0.7 * y["v"]})
    return tg.ode(oscillator, y0={"x": 1.0, "v": 0.0, "w": [0.0, 1.0]}, p=p, outputs=written, events=kick)


def assert_plain(result: tg.Result, times: np.ndarray) -> None:
    """At points that are no events every output is what plain Python makes of the states there."""
    dense = result.at(times)
    for k, t in enumerate(times.tolist()):
        y = {"x": float(dense["x"][k]), "v": float(dense["v"][k]), "w": dense["w"].values[k].tolist()}
        for name, value in written(t, y, result.parameters).items():
            assert float(dense[name][k]) == pytest.approx(float(value), abs=1e-12), (name, t)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_outputs_between_the_rows_are_what_plain_python_gives(seed: int, method: str) -> None:
    chance = random.Random(seed)
    result = tg.simulate(random_model(chance), (0, 3), method=method)
    assert len(result.events) > 2
    times = np.array([chance.uniform(0.0, 3.0) for _ in range(200)])
    assert_plain(result, times[np.min(np.abs(times[:, None] - result.events.times[None, :]), axis=1) > 1e-6])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_at_an_event_the_left_side_is_the_row_before_it_and_the_right_the_row_after(seed: int, method: str) -> None:
    result = tg.simulate(random_model(random.Random(seed)), (0, 3), method=method)
    for time in result.events.times.tolist():
        rows = np.flatnonzero(result.t == time)
        if len(rows) < 2:
            continue
        for side, row in (("left", rows[0]), ("right", rows[-1])):
            for name in ("side", "clipped", "pieces", "mixed"):
                # a step's polynomial ends at the point that was recorded to rounding
                assert float(result.at(time, name, side=side)) == pytest.approx(result[name].values[row], abs=1e-9), (name, time, side)


def test_outputs_at_recorded_times_are_the_recorded_ones() -> None:
    result = tg.simulate(random_model(random.Random(5)), (0, 3), outputs=np.linspace(0, 3, 41))
    dense = result.at(result.t)
    for name in result.names:
        # at an asked time the method has values of its own, which agree with its polynomial within the tolerance
        assert dense[name].values == pytest.approx(result[name].values, abs=2e-6), name


def test_outputs_of_a_run_in_pieces_follow_what_was_set(method: str) -> None:
    model = tg.ode(lambda t, y, p: [p["k"]], y0={"x": 0.0}, p={"k": 1.0}, outputs=lambda t, y, p: {"u": p["k"] * 10 + (1.0 if y["x"] > 0.5 else 0.0)})
    simulation = tg.Simulation(model, method=method)
    simulation.advance(1.0)
    simulation["k"] = 2.0
    simulation.advance(1.5)
    simulation["x"] = 0.0
    simulation["k"] = 3.0
    simulation.advance(2.0)
    u = simulation.result.at([0.25, 0.75, 1.25, 1.55, 1.9])["u"].values
    assert u.tolist() == [10.0, 11.0, 21.0, 30.0, 31.0]
    sides = [(float(simulation.result.at(t, "u", side="left")), float(simulation.result.at(t, "u"))) for t in (1.0, 1.5)]
    assert sides == [(11.0, 21.0), (21.0, 30.0)]


def test_an_output_of_an_implicit_derivative_is_known_everywhere(dae_method: str) -> None:
    class Coupled(tg.Component):
        x = tg.State(1.0)
        z = tg.Algebraic(1.0)
        rate = tg.Output()

        def equations(self):
            yield tg.der(self.x) + 0.1 * tg.der(self.x) ** 3 == -self.z
            yield self.z == self.x
            yield self.rate == tg.der(self.x)

    result = tg.simulate(Coupled(), (0, 2), method=dae_method, rtol=1e-8)
    rates = result.at(np.linspace(0.1, 1.9, 7))
    assert (rates["rate"] + 0.1 * rates["rate"] ** 3).values == pytest.approx(-rates["x"].values, abs=1e-5)


def test_an_opaque_function_in_an_output_is_called() -> None:
    doubled = tg.opaque(lambda x: 2.0 * x, n_outputs=1)
    result = tg.simulate(tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0}, outputs=lambda t, y: {"twice": doubled(y["x"])}), (0, 1))
    assert float(result.at(0.3, "twice")) == pytest.approx(2.0 * math.exp(-0.3), rel=1e-5)


@pytest.fixture(scope="module")
def arrays() -> tg.Result:
    return tg.simulate(tg.ode(lambda t, y: {"x": -y["x"], "s": 1.0}, y0={"x": [1.0, 2.0], "s": 0.0}), (0, 1))


def test_one_time_gives_scalars_and_one_name_its_values(arrays: tg.Result) -> None:
    assert arrays.at(0.5)["s"].shape == ()
    assert arrays.at(0.5)["x"].shape == (2,)
    assert float(arrays.at(0.5, "s")) == pytest.approx(0.5)
    assert arrays.at([0.5, 0.6], "s").shape == (2,)
    assert arrays.at([0.5], "x").shape == (1, 2)
    assert arrays.at([]).sizes["time"] == 0


def test_elements_of_arrays_have_names(arrays: tg.Result) -> None:
    assert float(arrays.at(0.5, "x[1]")) == pytest.approx(2 * math.exp(-0.5), rel=1e-5)
    assert arrays.at([0.0, 0.5], ["x[0]", "s"])["x[0]"].shape == (2,)
    assert arrays.at([0.0, 0.5])["x[1]"].values[0] == 2.0
    assert float(arrays.at(0.0)["x[1]"]) == 2.0


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda r: r.at(0.5)["y"], "no variable 'y' in these values\n  try: one of x, s"),
        (lambda r: r.at(0.5)["x[2]"], "no variable 'x\\[2\\]'"),
        (lambda r: r.at(0.5, "ss"), "try: s"),
        (lambda r: r.at(0.5, ["s", 3]), "names holds 3"),
        (lambda r: r.at("soon"), "a time or a list of times"),
        (lambda r: r.at(None), "lies outside the run|a time or a list"),
        (lambda r: r.at([[0.1, 0.2]]), "times of shape"),
        (lambda r: r.at(math.nan), "time nan lies outside"),
        (lambda r: r.at(0.5, side="middle"), "side is 'middle'"),
    ],
)
def test_what_cannot_be_had_is_said(arrays: tg.Result, ask: Any, sentence: str) -> None:
    with pytest.raises(tg.UsageError, match=sentence):
        ask(arrays)


def test_a_wrong_name_is_a_key_error_too(arrays: tg.Result) -> None:
    with pytest.raises(KeyError):
        arrays["z"]
    assert arrays.at(0.5).get("z") is None
