"""A result answers to names, keeps both values at events, and says what is near when a name is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tidegate.errors import UsageError
from tidegate.results import Column, Event, Result


def test_trajectories_answer_to_their_names_and_carry_units(ball: Result) -> None:
    h = ball["h"]
    assert h.dims == ("time",)
    assert h.attrs["units"] == "m"
    assert h.attrs["long_name"] == "height"
    np.testing.assert_array_equal(h, ball.values[:, 0])
    np.testing.assert_array_equal(h["time"], ball.t)


def test_elements_gather_into_arrays_and_answer_alone(ball: Result) -> None:
    np.testing.assert_array_equal(ball["x"], ball.values[:, 2:4])
    np.testing.assert_array_equal(ball["x[1]"], ball["x"][:, 1])
    np.testing.assert_array_equal(ball.sensitivity("x", "g")[:, 1], ball.sensitivity("x[1]", "g"))
    np.testing.assert_array_equal(ball.sensitivity("x[1]")[:, 0], ball.sensitivity("x[1]", "e"))


def test_matrix_elements_keep_their_order() -> None:
    columns = [Column(f"A[{i},{j}]") for i in range(2) for j in range(3)]
    result = Result("matrix", columns[::-1], [0.0], [[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]])
    assert result["A"].values.tolist() == [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]


def test_elements_that_fill_no_array_stay_alone() -> None:
    result = Result("gap", [Column("x[0]"), Column("x[2]")], [0.0], [[1.0, 2.0]])
    assert result.names == ["x[0]", "x[2]"]
    assert float(result["x[2]"][0]) == 2.0


def test_an_event_has_two_rows_of_one_time(ball: Result) -> None:
    for event in ball.events:
        before, after = np.flatnonzero(ball.t == event.time)
        assert ball["v"].values[before] == event.before["v"]
        assert ball["v"].values[after] == event.after["v"]


def test_sensitivities_are_the_columns_of_their_parameter(ball: Result) -> None:
    assert ball.sensitivities is not None
    np.testing.assert_array_equal(ball.sensitivity("v", "g"), ball.sensitivities[:, 1, 1])
    assert ball.sensitivity("v").dims == ("time", "parameter")
    np.testing.assert_array_equal(ball.dataset["d_v"].sel(parameter="g"), ball.sensitivity("v", "g"))


def test_final_values_are_the_last_row(ball: Result) -> None:
    assert list(ball.final.values()) == ball.values[-1].tolist()


def test_dense_output_follows_the_closed_form(ball: Result) -> None:
    t = np.linspace(0.0, 0.4, 7)
    dense = ball.at(t)
    np.testing.assert_allclose(dense["h"], 1.0 - 9.81 / 2 * t**2, rtol=1e-12)
    np.testing.assert_allclose(dense["x"][:, 1], 3 * dense["h"])


def test_dense_output_gives_both_sides_of_an_event(ball: Result) -> None:
    time = ball.events[1].time
    after, before = ball.at(time, ["v", "n"]), ball.at(time, ["v", "n"], side="left")
    assert float(after["v"]) == pytest.approx(ball.events[1].after["v"])
    assert float(before["v"]) == pytest.approx(ball.events[1].before["v"])
    assert (float(before["n"]), float(after["n"])) == (1.0, 2.0)


def test_outputs_without_their_formulas_have_no_dense_output_and_say_so(ball: Result) -> None:
    assert "energy" not in ball.at(0.1)
    with pytest.raises(UsageError, match="output energy has no dense output"):
        ball.at(0.1, ["energy"])


@pytest.mark.parametrize("name", ["time", "parameter", "event_time", "d_h", "dense_start", "a/b"])
def test_names_that_the_dataset_needs_itself_still_answer(name: str) -> None:
    columns = [Column("h"), Column(name)]
    result = Result("clash", columns, [0.0, 1.0], [[1.0, 2.0], [3.0, 4.0]], sensitivity_parameters=["k"], sensitivities=np.arange(4.0))
    assert result[name].values.tolist() == [2.0, 4.0]
    assert result.sensitivity("h", "k").values.tolist() == [0.0, 2.0]
    assert result.sensitivity(name, "k").values.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda r: r["hh"], r"no variable 'hh' in the result of ball\n.*try: h"),
        (lambda r: r["zzz"], "one of h, v"),
        (lambda r: r.sensitivity("h", "E"), "try: e"),
        (lambda r: r.sensitivity("h", "mass"), "computed no sensitivities to mass"),
        (lambda r: r.sensitivity("hh", "e"), "try: h"),
        (lambda r: r.at(0.1, ["vv"]), "try: v"),
        (lambda r: r.at(99.0), "outside the run"),
        (lambda r: r.events[0].dt_dp["ee"], "try: e"),
    ],
)
def test_wrong_names_are_answered_with_the_close_ones(ball: Result, ask: object, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        ask(ball)  # type: ignore[operator]


def test_a_run_without_sensitivities_or_dense_output_says_so() -> None:
    result = Result("tank", [Column("h")], [0.0], [[1.0]], parameters={"k": 1.0})
    with pytest.raises(UsageError, match="computed no sensitivities"):
        result.sensitivity("h", "k")
    with pytest.raises(UsageError, match="keeps no dense output"):
        result.at(0.0)


def test_membership_and_iteration_are_those_of_a_mapping(ball: Result) -> None:
    assert list(ball) == ball.keys() == ["h", "v", "x", "n", "energy"]
    assert "x" in ball
    assert "x[0]" in ball
    assert "y" not in ball


def test_texts_name_model_events_and_values(ball: Result) -> None:
    assert "ball from 0" in repr(ball)
    for text in (str(ball), ball._repr_html_()):
        assert "h &lt; 0" in text or "h < 0" in text
        assert "radau" in text
        assert "m/s" in text


def test_html_escapes_what_the_user_wrote() -> None:
    result = Result("<b>", [Column("x", description="<script>")], [0.0], [[1.0]], message="a & b")
    assert "<script>" not in result._repr_html_()
    assert "<b> from" not in result._repr_html_()


@pytest.mark.slow
def test_results_load_no_heavy_library_before_it_is_needed() -> None:
    code = (
        "import sys; from tidegate.results import Column, Result; Result('m', [Column('x')], [0.0], [[1.0]]).final;"
        "sys.exit(' '.join({'xarray', 'matplotlib', 'pandas', 'numba', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "\n" or done.stderr == ""


@pytest.mark.slow
def test_the_unit_of_time_is_said_wherever_times_are_shown(tmp_path: Path) -> None:
    events = [Event(0, 0.5, "state", ("level > 1",))]
    result = Result("tank", [Column("level", unit="m")], [0.0, 1.0], [[2.0], [3.0]], events=events, time_unit="h")
    assert "from 0 to 1 h" in result.summary()
    assert "time (h)" in str(result)
    assert "time (h)" in str(result.events.of("state")[:1])
    assert "time (h)" in result._repr_html_()
    assert result["time"].attrs["units"] == "h"
    assert result.to_dataframe().attrs["units"] == {"time": "h", "level": "m"}
    assert result.plot().axes[-1].get_xlabel() == "time (h)"
    again = Result.load(result.to_netcdf(tmp_path / "tank.nc"))
    assert (again.time_unit, again.events.time_unit) == ("h", "h")
    assert again.dataset.identical(result.dataset)


@pytest.mark.parametrize("name", [3, None, ["h"], ("h", 0)])
def test_what_is_no_name_is_told_in_a_sentence(ball: Result, name: object) -> None:
    with pytest.raises(UsageError, match=r"a variable has a name, and .* is none"):
        ball[name]  # type: ignore[index]
