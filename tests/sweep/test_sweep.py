"""A sweep is a loop of tg.simulate, to the last bit, whoever carries it out and in whatever order; what fails is a row of its own."""

from __future__ import annotations

import json
import signal
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import tidegate as tg
from random_models import Once, random_model
from sweep_checks import assert_is_the_loop, looped
from tidegate.sweep.gathered import segments


class Ball(tg.Component):
    h = tg.State(1.0, unit="m", description="height")
    v = tg.State(0.0, unit="m/s")
    hits = tg.Discrete(0)
    e = tg.Parameter(0.8, min=0.0, max=1.0)
    g = tg.Parameter(9.81, unit="m/s^2", min=tg.Bound(0.0, is_open=True))
    stop = tg.Parameter(100, kind="integer")

    def equations(self):
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -self.e * tg.pre(self.v), self.hits: tg.pre(self.hits) + 1}

    @tg.when(lambda self: self.hits >= self.stop)
    def enough(self):
        return tg.terminate("enough")


TIMES = [0.0, 0.4, 0.5, 1.0, 1.7, 2.0]
T_SPAN = (0.0, 2.0)


@pytest.fixture(scope="module")
def ball() -> Any:
    return Once(Ball())


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(
    rows=st.lists(st.tuples(*map(st.sampled_from, ([0.0, 0.3, 0.55, 0.8, 1.0], [1.0, 9.81, 20.0], [1, 4, 100]))), min_size=1, max_size=8),
    at_end=st.booleans(),
    workers=st.sampled_from([1, 2, 5]),
    sensitivities=st.sampled_from([None, ["g"], ["e", "g"]]),
)
def test_a_sweep_is_a_loop(ball: Any, rows: Any, at_end: bool, workers: int, sensitivities: Any) -> None:
    """Bouncing balls that finish, that are stopped, and that come to rest, which stops the run."""
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("e", "g", "stop"))}
    options: dict[str, Any] = {"sensitivities": sensitivities}
    found = tg.sweep(ball, T_SPAN, columns, outputs=None if at_end else TIMES, workers=workers, **options)
    results = looped(ball, [dict(zip(columns, row, strict=True)) for row in rows], T_SPAN, outputs=None if at_end else TIMES, **options)
    assert_is_the_loop(found, results, ["h", "v", "hits"])
    for name, column in columns.items():
        assert found[name].values.tolist() == column


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_sweeps_of_random_models_are_loops(seed: int) -> None:
    model = random_model(seed)
    source = Once(model.source, model.truth)
    rows = [model.values(run) for run in range(1, 9)]
    names = list(rows[0])
    found = tg.sweep(source, (0.0, model.t_end), {name: [row[name] for row in rows] for name in names}, workers=3, outputs=model.t_end / 20)
    results = looped(source, rows, (0.0, model.t_end), outputs=model.t_end / 20)
    assert_is_the_loop(found, results, [column.name for column in results[0].columns if column.name in found])


def test_a_grid_has_a_dimension_for_each_parameter(ball: Any) -> None:
    e, g = [0.8, 0.3, 1.0], [9.81, 1.0]
    found = tg.sweep(ball, T_SPAN, grid={"e": e, "g": g}, outputs=0.5, variables=["h"])
    assert found["h"].dims == ("e", "g", "time")
    assert "v" not in found
    assert found["h"].attrs["units"] == "m"
    assert found["g"].attrs["units"] == "m/s^2"
    for one in e:
        for other in g:
            result = looped(ball, [{"e": one, "g": other}], T_SPAN, outputs=0.5)[0]
            own = found["h"].sel(e=one, g=other).values
            assert own[: len(result.t)].tobytes() == result["h"].values.tobytes()
    assert int(found["event_count"].sum()) == found.sizes["event"]


def test_a_grid_and_a_table_together_and_what_all_share(ball: Any) -> None:
    found = tg.sweep(ball, T_SPAN, {"e": [0.8, 0.9], "stop": 2}, grid={"g": [9.81, 5.0, 3.0]})
    assert found["h"].dims == ("member", "g")
    assert json.loads(found.attrs["parameters"]) == {"stop": 2.0}
    result = tg.simulate(ball, T_SPAN, parameters={"e": 0.9, "stop": 2, "g": 5.0})
    assert float(found["h"].isel(member=1).sel(g=5.0)) == result.final["h"]


def test_tables_and_datasets(ball: Any) -> None:
    frame = pd.DataFrame({"e": [0.8, 0.9], "g": [9.81, 5.0]}, index=["earth", "elsewhere"])
    found = tg.sweep(ball, T_SPAN, frame)
    assert found["h"].sel(member="elsewhere").values == tg.simulate(ball, T_SPAN, parameters={"e": 0.9, "g": 5.0}).final["h"]
    dataset = xr.Dataset(
        {"g": ("planet", [981.0, 500.0], {"units": "cm/s^2"}), "e": ("stuff", [0.8, 0.9])}, coords={"planet": ["earth", "elsewhere"]}
    )
    other = tg.sweep(ball, T_SPAN, dataset)
    assert set(other["h"].dims) == {"planet", "stuff"}
    assert float(other["h"].sel(planet="elsewhere").isel(stuff=1)) == float(found["h"].sel(member="elsewhere"))


def test_elements_of_arrays() -> None:
    model = tg.ode(lambda t, y, p: [p["k"][0] * y["x"][0], p["k"][1]], y0={"x": [1.0, 2.0]}, p={"k": [1.0, 2.0]})
    found = tg.sweep(model, (0.0, 1.0), grid={"k[1]": [3.0, 5.0]})
    assert found["x"].dims == ("k[1]", "x_0")
    assert found["x"].sel({"k[1]": 5.0}).values.tolist() == pytest.approx([np.e, 7.0], rel=1e-5)
    rows = tg.sweep(model, (0.0, 1.0), {"k": [[0.0, 3.0], [0.0, 5.0]]}, variables="x[1]")
    assert rows["x[1]"].values.tolist() == pytest.approx([5.0, 7.0])


def test_a_run_that_fails_is_a_row_of_its_own() -> None:
    """x' = x^2 has no solution behind t = 1/x0; what there was before is kept."""
    model = tg.ode(lambda t, y, p: [p["a"] * y["x"] ** 2], y0={"x": 1.0}, p={"a": 1.0})
    found = tg.sweep(model, (0.0, 1.0), {"a": [0.5, 2.0, 0.25]}, outputs=[0.0, 0.25, 0.75, 1.0], sensitivities="a", rtol=1e-9)
    assert found["status"].values.tolist() == ["finished", "failed", "finished"]
    truth = np.array([[1.0, 1 / (1 - 0.125), 1 / (1 - 0.375), 2.0], [1.0, 2.0, np.nan, np.nan], [1.0, 1 / (1 - 1 / 16), 1 / (1 - 3 / 16), 4 / 3]])
    np.testing.assert_allclose(found["x"].values, truth, rtol=1e-6)
    assert "x" in str(found["message"].values[1])
    assert 0.4 < float(found["end_time"][1]) <= 0.5001
    assert np.isnan(tg.sweep(model, (0.0, 1.0), {"a": [2.0]})["x"].values[0])


def test_values_that_do_not_go_together_are_told_before_anything_is_run(ball: Any) -> None:
    calls: list[int] = []
    with pytest.raises(tg.UsageError, match=r"its value 1.5 must be at least 0 and at most 1 \(run 2 of 3: e = 1.5\)"):
        tg.sweep(ball, T_SPAN, {"e": [0.5, 1.5, 0.7]}, progress=lambda done, total: calls.append(done))
    with pytest.raises(tg.UsageError, match="not an integer"):
        tg.sweep(ball, T_SPAN, grid={"stop": [1, 1.5]})
    assert not calls


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"grid": {"ee": [1.0]}}, "no parameter 'ee'"),
        ({"grid": {"h": [1.0]}}, "h is a variable of the model"),
        ({"parameters": {"e": [0.5, 0.6], "g": [1.0, 2.0, 3.0]}}, "different numbers of values: 2 of e, 3 of g"),
        ({"parameters": {"e": 0.5}}, "no parameter varies"),
        ({}, "no parameter varies"),
        ({"grid": {"e": []}}, "no value at all"),
        ({"parameters": {"e": []}}, "no value at all"),
        ({"grid": {"e": ["a"]}}, "e needs numbers"),
        ({"grid": {"e": [np.nan]}}, "must be finite"),
        ({"grid": {"e": [[0.1, 0.2]]}}, "needs a list of values of e"),
        ({"grid": [0.1]}, "grid must be a dict"),
        ({"parameters": [0.1]}, "must be a dict, a pandas DataFrame or an xarray Dataset"),
        ({"grid": {"e": [0.5]}, "parameters": {"e": [0.5]}}, "e is given twice"),
        ({"grid": {"e": [0.5]}, "parameters": {"e": 0.5}}, "e is given twice"),
        ({"grid": {"e": [0.5]}, "variables": "hh"}, "no variable 'hh'"),
        ({"grid": {"e": [0.5]}, "sensitivities": "ee"}, "no parameter 'ee'"),
        ({"grid": {"e": [0.5]}, "rtoll": 1e-3}, "no option 'rtoll'"),
        ({"grid": {"e": [0.5]}, "dense": True}, "a sweep has no option 'dense'"),
        ({"grid": {"e": [0.5]}, "workers": 0}, "workers is 0"),
        ({"grid": {"e": [0.5]}, "executor": "dask"}, "carries out nothing"),
        ({"grid": {"e": [0.5]}, "resume": True}, "no file is named"),
        ({"grid": {"e": [0.5]}, "out": "sweep.csv"}, "cannot save a sweep"),
        ({"grid": {"e": [0.5]}, "out": "nowhere/sweep.nc"}, "no folder nowhere"),
    ],
)
def test_slips_are_told(ball: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.UsageError, match=said) as raised:
        tg.sweep(ball, T_SPAN, **options)
    assert raised.value.hint or "must" in said or "limits" in said


def test_a_prepared_run_is_swept(ball: Any) -> None:
    prepared = tg.prepare(ball, T_SPAN, outputs=TIMES, rtol=1e-9, parameters={"g": 5.0})
    found = tg.sweep(prepared, grid={"e": [0.5, 0.9]})
    assert_is_the_loop(found, looped(ball, [{"e": 0.5, "g": 5.0}, {"e": 0.9, "g": 5.0}], T_SPAN, outputs=TIMES, rtol=1e-9), ["h", "v"])
    with pytest.raises(tg.UsageError, match="rtol is given, but the run is prepared"):
        tg.sweep(prepared, grid={"e": [0.5]}, rtol=1e-3)


def test_python_of_the_user_is_called_by_one_thread() -> None:
    threads: set[int] = set()

    def pull(x: float) -> float:
        threads.add(threading.get_ident())
        return -x

    outside = tg.opaque(pull)
    model = tg.ode(lambda t, y, p: [p["k"] * outside(y["x"])], y0={"x": 1.0}, p={"k": 1.0})
    found = tg.sweep(model, (0.0, 1.0), grid={"k": [0.5, 1.0, 2.0]}, workers=3)
    np.testing.assert_allclose(found["x"].values, np.exp([-0.5, -1.0, -2.0]), rtol=1e-5)
    assert threads == {threading.get_ident()}


def test_many_threads_with_many_events(ball: Any) -> None:
    """The same runs many times over, by more threads than there are processors."""
    e = np.tile([0.9, 0.95, 0.99, 1.0], 8)
    found = tg.sweep(ball, (0.0, 6.0), {"e": e}, workers=8, sensitivities="e", outputs=1.0)
    alone = tg.sweep(ball, (0.0, 6.0), {"e": e[:4]}, workers=1, sensitivities="e", outputs=1.0)
    for k in range(0, 32, 4):
        same = found.isel(member=slice(k, k + 4))
        for name in ("h", "v", "d_h", "d_v", "event_count", "steps", "end_time"):
            np.testing.assert_array_equal(same[name].values, alone[name].values)
    assert found["event_time"].values.tobytes() == np.tile(alone["event_time"].values, 8).tobytes()


def test_progress_is_told(ball: Any) -> None:
    told: list[tuple[int, int]] = []
    tg.sweep(ball, T_SPAN, grid={"e": [0.8, 0.9, 1.0]}, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)
    assert sorted(told) == told


@pytest.mark.hunt
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_gives_what_is_there(workers: int) -> None:
    """Runs of which the later ones would take for ever."""
    model = tg.ode(lambda t, y, p: [p["w"] * y[1], -p["w"] * y[0]], y0=[1.0, 0.0], p={"w": 1.0})
    tg.sweep(model, (0.0, 1.0), {"w": [1.0]})  # the kernel is loaded
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(2.0, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(tg.InterruptedRunError, match="2 of 6 runs were done") as stopped:
            tg.sweep(model, (0.0, 1.0), {"w": [1.0, 2.0, 1e12, 1e12, 1e12, 1e12]}, workers=workers)
    finally:
        signal.signal(signal.SIGINT, before)
    found = stopped.value.result
    assert found["status"].values.tolist() == ["finished"] * 2 + ["not run"] * 4
    np.testing.assert_allclose(found["y"].values[:2, 0], np.cos([1.0, 2.0]), atol=1e-4)
    assert np.isnan(found["y"].values[2:]).all()


@pytest.mark.slow
@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    draw=st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_blocks_cover_exactly_the_members(shape: list[int], draw: Any) -> None:
    count = int(np.prod(shape))
    members = np.array(draw.sample(range(count), draw.randint(1, count)))
    if draw.random() < 0.7:
        members.sort()
    array = np.full(shape, -1)
    for where, runs, block in segments(members, shape):
        assert (array[where] == -1).all()
        array[where] = members[runs].reshape(block)
    expected = np.full(count, -1)
    expected[members] = members
    assert array.ravel().tolist() == expected.tolist()
