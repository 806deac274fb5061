"""A resampled result has each time once, on either side of its events, and is as accurate as dense output between its rows."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.errors import UsageError
from tidegate.results import Column, Result


def test_recorded_times_each_once_can_be_selected_and_interpolated(ball: Result) -> None:
    with pytest.raises(Exception, match=r"unique|duplicate"):
        ball.dataset[["h"]].sel(time=0.2, method="nearest")
    unique = ball.resample()
    assert np.all(np.diff(unique["time"]) > 0.0)
    assert float(unique["v"].sel(time=ball.events[1].time + 1e-6, method="nearest")) == ball.events[1].after["v"]
    assert float(ball.resample(side="left")["v"].sel(time=ball.events[1].time, method="nearest")) == ball.events[1].before["v"]
    assert float(unique["energy"].interp(time=0.0)) == ball["energy"].values[0]  # known at rows only
    assert unique["d_v"].dims == ("time", "parameter")


def test_between_rows_values_follow_the_closed_form_and_not_the_chord(ball: Result) -> None:
    first = ball.events[0].time
    falling = ball.resample(0.01, "h").sel(time=slice(0.0, first))
    times = falling["time"].to_numpy()
    np.testing.assert_allclose(times, 0.01 * np.arange(times.size), rtol=1e-12)
    np.testing.assert_allclose(falling["h"], 1.0 - 9.81 / 2 * times**2, rtol=1e-12)
    assert list(ball.resample(0.01, ["x[1]"])["x[1]"].dims) == ["time"]
    np.testing.assert_array_equal(ball.resample(None, "x[1]")["x[1]"], ball.resample()["x"][:, 1])


def test_times_come_in_the_order_of_the_run_and_end_where_it_ends(ball: Result) -> None:
    assert ball.resample([0.3, 0.1, 0.3])["time"].values.tolist() == [0.1, 0.3]
    back = Result("back", [Column("x")], [1.0, 0.5, 0.5, 0.0], [[4.0], [3.0], [2.0], [1.0]])
    assert back.resample()["x"].values.tolist() == [4.0, 2.0, 1.0]
    end = float(ball.t[-1])
    assert float(ball.resample(end / 3)["time"][-1]) == end


@pytest.mark.parametrize(("times", "said"), [(0.0, "positive"), (1e-12, "times"), ("soon", "distance"), ([9e9], "run")])
def test_times_that_cannot_be_are_refused(ball: Result, times: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ball.resample(times)  # type: ignore[arg-type]


def test_a_side_or_a_name_that_is_none_is_refused(ball: Result) -> None:
    with pytest.raises(UsageError, match="side"):
        ball.resample(side="above")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="try: h"):
        ball.resample(None, "hh")
