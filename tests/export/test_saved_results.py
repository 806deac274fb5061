"""Results of random models in files: what is read has everything that was written, between the rows too."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

import tidegate as tg
from random_models import random_model
from tidegate.results.frames import MAGIC
from tidegate.results.journal import JournalWriter

__all__: list[str] = []

_MOST_STEPS = 5000


def saved(result: tg.Result, folder: Path) -> tg.Result:
    return tg.Result.load(result.to_netcdf(folder / "saved.nc"))


def told_events(result: tg.Result) -> list[str]:
    fields = ("time", "kind", "causes", "messages", "priority", "rounds", "before", "after", "dt_dp", "origins")
    return [repr({name: getattr(event, name) for name in fields}) for event in result.events]


def assert_is_the_same(found: tg.Result, result: tg.Result) -> None:
    assert (found.status, found.message, found.columns, found.time_unit) == (result.status, result.message, result.columns, result.time_unit)
    assert np.array_equal(found.t, result.t)
    assert np.array_equal(found.values, result.values, equal_nan=True)
    assert (found.sensitivities is None) is (result.sensitivities is None)
    assert found.sensitivities is None or np.array_equal(found.sensitivities, result.sensitivities, equal_nan=True)
    assert told_events(found) == told_events(result)
    assert repr(found.final) == repr(result.final)
    assert found.parameters == result.parameters
    times = np.linspace(result.t[0], result.t[-1], 33)
    for side in ("left", "right"):
        here, there = result.at(times, side=side), found.at(times, side=side)
        assert list(here) == list(there)
        assert all(np.array_equal(here[name].values, there[name].values, equal_nan=True) for name in here)


def ran(seed: int, n_sensitivities: int = 1) -> tg.Result:
    """What a random model came to, be it chattering."""
    model = random_model(seed)
    result: Any
    try:
        result = tg.simulate(model.source, (0.0, model.t_end), sensitivities=list(model.ranges)[:n_sensitivities], max_steps=_MOST_STEPS)
    except tg.RunError as error:
        result = error.result
    return result


def compare(seed: int, folder: Path) -> None:
    result = ran(seed)
    assert_is_the_same(saved(result, folder), result)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(8), 119, 192, 258])
@pytest.mark.filterwarnings("ignore")
def test_a_saved_result_of_a_random_model_has_everything(seed: int, tmp_path: Path) -> None:
    compare(seed, tmp_path)


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(300, 320))
@pytest.mark.filterwarnings("ignore")
def test_more_saved_results_of_random_models_have_everything(seed: int, tmp_path: Path) -> None:
    compare(seed, tmp_path)


@pytest.mark.slow
def test_outputs_of_tables_and_lists_are_had_between_the_rows_of_a_file(tmp_path: Path) -> None:
    curve = tg.table([0.0, 1.0, 3.0, 4.0], [0.0, 2.0, -1.0, 5.0], kind="cubic")
    steps = [1.0, 4.0, 2.0, -3.0]
    outputs: Any = {
        "smooth": lambda t, y: curve(y["x"]),
        "chosen": lambda t, y: steps[min(int(y["x"]), 3)],
        "bent": lambda t, y: max(y["x"], 2.0) * math.sin(t),
    }
    result = tg.simulate(tg.ode(lambda t, y: {"x": 1.0}, y0={"x": 0.0}, outputs=outputs), (0.0, 4.0))
    found = saved(result, tmp_path)
    assert_is_the_same(found, result)
    assert float(found.at(2.5, "chosen")) == 2.0
    assert float(found.at(3.5, "bent")) == pytest.approx(3.5 * math.sin(3.5), rel=1e-6)


def test_an_output_that_is_called_is_had_at_the_rows_alone(tmp_path: Path) -> None:
    called = tg.opaque(lambda x: math.lgamma(x + 1.0))
    result = tg.simulate(tg.ode(lambda t, y: {"x": 1.0}, y0={"x": 0.0}, outputs={"g": lambda t, y: called(y["x"])}), (0.0, 2.0))
    found = saved(result, tmp_path)
    assert np.array_equal(found["g"].values, result["g"].values)
    with pytest.raises(tg.UsageError):
        found.at(0.5, "g")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore")
def test_rows_of_a_killed_run_have_outputs_between_them_too(seed: int, tmp_path: Path) -> None:
    result = ran(seed, 0)
    (tmp_path / "killed.nc.part").write_bytes(MAGIC + JournalWriter().frames_of(result))
    found = tg.Result.load(tmp_path / "killed.nc.part")
    assert found.status == "unfinished"
    found.status, found.message = result.status, result.message
    assert_is_the_same(found, result)


def test_a_saved_simulation_has_outputs_between_the_rows_too(tmp_path: Path) -> None:
    called = tg.opaque(lambda x: math.lgamma(x + 1.0))
    outputs: Any = {"g": lambda t, y: called(y["x"]), "twice": lambda t, y, p: p["k"] * y["x"]}
    model = tg.ode(lambda t, y: {"x": 1.0}, y0={"x": 0.0}, p={"k": 2.0}, outputs=outputs)
    simulation = tg.Simulation(model)
    simulation.advance(1.0)
    simulation["k"] = 5.0
    simulation.advance(2.0)
    again = tg.Simulation.load(simulation.save(tmp_path / "half.sim"), model)
    for one in (simulation, again):
        one.advance(3.0)
        assert one.result.at([0.5, 1.5, 2.5])["twice"].values == pytest.approx([1.0, 7.5, 12.5])
    assert list(again.result.at(0.5)) == list(simulation.result.at(0.5))


UNKNOWN = '{"nodes": [["symbol", [], {"symbol": ["time", "time"]}], ["bend", [0], null]], "splines": [], "names": ["twice"], "values": [1], '
UNKNOWN += '"symbols": [0], "parameters": [], "inputs": [], "modes": []}'


@pytest.mark.parametrize("text", ["", "{}", "not JSON", UNKNOWN, '{"nodes": [["call", [], null]], "splines": []}'])
def test_damaged_formulas_are_told(text: str, tmp_path: Path) -> None:
    result = tg.simulate(tg.ode(lambda t, y: {"x": 1.0}, y0={"x": 0.0}, outputs={"twice": lambda t, y: 2 * y["x"]}), (0.0, 2.0))
    path = result.to_netcdf(tmp_path / "damaged.nc")
    with netCDF4.Dataset(path, "a") as opened:
        opened["dense_formulas"][...] = text
    with pytest.raises(tg.UsageError, match="damaged: the formulas of its outputs cannot be read"):
        tg.Result.load(path)
