"""Runs that are carried out natively, many in one call, are those of ``tg.simulate`` to the last bit; what is more than numbers is found, too."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tidegate as tg
from random_models import Once, random_model
from sweep_checks import assert_is_the_loop, looped
from tidegate.executive import CarriedOut, ManyRuns, RecordedRuns


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[RecordedRuns]]:
    """What was carried out together."""
    seen: list[RecordedRuns] = []
    real = ManyRuns.recorded

    def recorded(self: ManyRuns, parts: Sequence[CarriedOut]) -> RecordedRuns:
        seen.append(real(self, parts))
        return seen[-1]

    monkeypatch.setattr(ManyRuns, "recorded", recorded)
    yield seen
    assert seen, "nothing was carried out together"


def counts(seen: list[RecordedRuns]) -> tuple[int, int]:
    return sum(len(found.runs) for found in seen), sum(len(found.alone) for found in seen)


class Machine(tg.Component):
    """A bit of everything: a clock, a latch, a sampled value, forcing by time, values that follow from others, an end that the model chooses."""

    k, heat, limit = tg.Parameter(1.0, min=0.0), tg.Parameter(1.0), tg.Parameter(1.2)
    double = tg.Parameter(lambda self: 2.0 * self.k)
    period = tg.Parameter(0.3, min=0.01)
    sharp = tg.Parameter(30.0)
    patience = tg.Parameter(3, kind="integer")
    x, v = tg.State(lambda self: 0.3 * self.k), tg.State(0.0)
    sampled, hot, cycles = tg.Discrete(lambda self: 0.1 * self.k), tg.Discrete(False), tg.Discrete(0)
    power = tg.Output()

    def equations(self):
        pulse = np.exp(-((self.sharp * (tg.time - 1.1)) ** 2))
        yield tg.der(self.x) == self.v
        push = self.heat if self.k > 1.0 and self.x > self.sampled else 0.0
        yield tg.der(self.v) == pulse + push - self.double * self.x - 0.2 * self.v + (0.4 if self.hot else 0.0)
        yield self.power == (self.v**2 if self.v > 0.1 else self.v)

    @tg.every(lambda self: self.period)
    def sample(self):
        return {self.sampled: self.x, self.cycles: self.cycles + 1}

    @tg.when(lambda self: self.x > self.limit * 0.2)
    def warm(self):
        return {self.hot: True}

    @tg.when(lambda self: self.x < -self.limit * 0.1)
    def cool(self):
        return {self.hot: False, self.v: 0.5 * self.v}

    @tg.when(lambda self: self.cycles > self.patience)
    def stop(self):
        return tg.terminate("long enough")


@pytest.fixture(scope="module")
def machine() -> Any:
    return Once(Machine())


def rows_of(draw: random.Random, names: list[str], count: int) -> list[dict[str, float]]:
    ranges = {"k": (0.4, 2.0), "heat": (0.2, 1.5), "limit": (0.5, 2.0), "double": (0.5, 3.0), "period": (0.12, 0.6), "sharp": (1.0, 60.0)}
    return [{name: draw.randint(2, 20) if name == "patience" else round(draw.uniform(*ranges[name]), 4) for name in names} for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_runs_together_are_runs_alone(machine: Any, together: list[RecordedRuns], seed: int) -> None:
    draw = random.Random(seed)
    names = draw.sample(["k", "heat", "limit", "double", "period", "sharp", "patience"], 3)
    rows = rows_of(draw, names, 12)
    options: dict[str, Any] = {"method": ("auto", "taylor", "rodas5p", "radau")[seed], "outputs": (None, 0.07, 0.5, None)[seed], "rtol": 1e-7}
    found = tg.sweep(machine, (0.0, 2.0), {name: [row[name] for row in rows] for name in names}, workers=1 + seed % 2, **options)
    results = looped(machine, rows, (0.0, 2.0), **options)
    assert_is_the_loop(found, results, ["x", "v", "sampled", "hot", "power"])
    assert found["message"].values.tolist() == [result.message if result.status == "terminated" else "" for result in results]
    assert counts(together)[0] >= 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_machines_with_derivatives_are_runs_alone(machine: Any, together: list[RecordedRuns], seed: int) -> None:
    draw = random.Random(100 + seed)
    names = draw.sample(["k", "heat", "limit", "double", "period", "sharp", "patience"], draw.randint(1, 4))
    rows = rows_of(draw, names, 15)
    by = draw.sample([name for name in ("k", "heat", "limit", "double", "period") if name in names] or ["k"], 1)
    options: dict[str, Any] = {"method": draw.choice(["auto", "taylor", "rodas5p"]), "sensitivities": by, "rtol": 1e-8}
    options |= draw.choice([{}, {"outputs": 0.1}, {"max_steps": 120}, {"max_step": 0.05}])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.SensitivityWarning)
        found = tg.sweep(machine, (0.0, 2.0), {name: [row[name] for row in rows] for name in names}, workers=1, **options)
        results = looped(machine, rows, (0.0, 2.0), **options)
    assert_is_the_loop(found, results, ["x", "v", "sampled", "hot", "power"])
    assert sum(counts(together)) == 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 5, 7, 13, 24, 26])
def test_random_models_are_runs_alone(together: list[RecordedRuns], seed: int) -> None:
    model = random_model(seed)
    source, rows = Once(model.source, model.truth), [model.values(run) for run in range(1, 13)]
    names = list(rows[0])
    options: dict[str, Any] = {"outputs": None if seed % 2 else model.t_end / 30, "sensitivities": names[:1] if seed % 3 else None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.SensitivityWarning)
        found = tg.sweep(source, (0.0, model.t_end), {name: [row[name] for row in rows] for name in names}, **options)
        results = looped(source, rows, (0.0, model.t_end), **options)
    assert_is_the_loop(found, results, [column.name for column in results[0].columns if column.name in found])
    assert counts(together)[0] > 0


@pytest.mark.slow
def test_more_rows_and_events_than_a_buffer_holds(together: list[RecordedRuns]) -> None:
    """Ten thousand rows and five thousand events: runs stop in the middle, so that buffers can be emptied."""
    model = Once(
        tg.ode(
            lambda t, y, p: {"x": 1.0, "y": np.sin(p["w"] * t)},
            y0={"x": 0.0, "y": 0.0},
            p={"w": 1.0},
            events=[tg.event(lambda t, y: y["x"] > 0.001, reset=lambda t, y: {"x": 0.0})],
        )
    )
    rows = [{"w": w} for w in (1.0, 2.0, 3.0)]
    found = tg.sweep(model, (0.0, 1.7), {"w": [1.0, 2.0, 3.0]}, outputs=0.0005, workers=1)
    assert int(found["event_count"].sum()) >= 3 * 1699
    assert_is_the_loop(found, looped(model, rows, (0.0, 1.7), outputs=0.0005), ["y"])


def test_a_run_that_fails_among_others(together: list[RecordedRuns]) -> None:
    """x' = a x^2 has no solution behind t = 1 / a; nothing of a run that fails stays in the next."""
    model = Once(tg.ode(lambda t, y, p: [p["a"] * y["x"] ** 2], y0={"x": 1.0}, p={"a": 1.0}))
    values = [0.5, 2.0, 0.25, 7.0, 0.9]
    found = tg.sweep(model, (0.0, 1.0), {"a": values}, outputs=0.1, workers=1)
    assert_is_the_loop(found, looped(model, [{"a": value} for value in values], (0.0, 1.0), outputs=0.1), ["x"])
    assert found["status"].values.tolist() == ["finished", "failed", "finished", "failed", "finished"]
    assert counts(together) == (3, 2)


def test_values_that_are_not_finite_are_warned_of_as_alone(together: list[RecordedRuns]) -> None:
    model = tg.ode(lambda t, y, p: [p["a"]], y0={"x": 1.0}, p={"a": 1.0}, outputs=lambda t, y, p: {"root": np.sqrt(y["x"])})
    with pytest.warns(tg.NotFiniteWarning, match="root is nan at t = 1"):
        found = tg.sweep(model, (0.0, 1.0), {"a": [1.0, -2.0, 0.5]}, workers=1)
    np.testing.assert_allclose(found["root"].values, np.sqrt([2.0, np.nan, 1.5]))
    assert counts(together) == (2, 1)


@pytest.mark.slow
def test_start_values_that_are_solved_for(together: list[RecordedRuns]) -> None:
    """Each run is made ready alone, and carried out with the others."""

    class Rest(tg.Component):
        k, x, v = tg.Parameter(2.0), tg.State(0.5, fixed=False), tg.State(0.0)

        def equations(self):
            yield tg.der(self.x) == self.v
            yield tg.der(self.v) == 1.0 - self.k * self.x - self.v
            yield tg.initial_equations(tg.der(self.v) == 0.25)

    model = Once(Rest())
    values = [0.5, 1.0, 4.0]
    found = tg.sweep(model, (0.0, 1.0), {"k": values}, sensitivities="k", workers=1)
    assert_is_the_loop(found, looped(model, [{"k": value} for value in values], (0.0, 1.0), sensitivities="k"), ["x", "v"])
    np.testing.assert_allclose(tg.sweep(model, (0.0, 0.0), {"k": values})["x"].values, 0.75 / np.array(values), rtol=1e-9)
    assert counts(together)[0] == 6


@pytest.mark.slow
def test_a_condition_that_a_parameter_switches_off_is_no_cause(together: list[RecordedRuns]) -> None:
    """Whether a relation mattered depends on a parameter that differs from run to run; so does what an event is said to come of."""

    def rates(t: Any, y: Any, p: Any) -> Any:
        if p["both"] > 0.5 and y["x"] > 0.5:
            return {"x": 1.0, "y": 2.0}
        return {"x": 1.0, "y": 1.0 if y["x"] > 0.25 else 0.0}

    model = Once(tg.ode(rates, y0={"x": 0.0, "y": 0.0}, p={"both": 1.0}))
    found = tg.sweep(model, (0.0, 1.0), {"both": [0.0, 1.0, 0.2, 0.9]}, workers=1)
    assert_is_the_loop(found, looped(model, [{"both": value} for value in (0.0, 1.0, 0.2, 0.9)], (0.0, 1.0)), ["x", "y"])
    assert found["event_count"].values.tolist() == [1, 2, 1, 2]


@pytest.mark.slow
def test_runs_of_no_length_are_told_apart(together: list[RecordedRuns]) -> None:
    """The last row of one run stands in front of the first of the next, at the same time."""
    model = Once(Machine())
    rows = [{"k": k, "limit": 0.1} for k in (0.5, 1.0, 1.5)]
    found = tg.sweep(model, (0.0, 0.0), {"k": [0.5, 1.0, 1.5], "limit": 0.1}, outputs=[0.0], workers=1)
    assert_is_the_loop(found, looped(model, rows, (0.0, 0.0), outputs=[0.0]), ["x", "sampled"])


@pytest.mark.slow
def test_a_bad_combination_is_a_row_of_its_own(together: list[RecordedRuns]) -> None:
    """Start values outside their limits, which only the combination of two parameters gives; behind the first thousand nobody looked before."""

    class Tank(tg.Component):
        a, b = tg.Parameter(1.0), tg.Parameter(0.0)
        level = tg.State(lambda self: self.a - self.b, min=0.0)

        def equations(self):
            yield tg.der(self.level) == -0.1 * self.level

    a, b = np.linspace(1.0, 2.0, 2100), np.zeros(2100)
    b[1501] = 5.0
    found = tg.sweep(Once(Tank()), (0.0, 1.0), {"a": a, "b": b}, workers=1, progress=False)
    assert np.flatnonzero(found["status"].values == "failed").tolist() == [1501]
    assert "start value" in str(found["message"].values[1501])
    good = np.delete(np.arange(2100), 1501)
    np.testing.assert_allclose(found["level"].values[good], (a - b)[good] * np.exp(-0.1), rtol=1e-5)
    assert counts(together) == (2099, 1)


@pytest.mark.slow
def test_batches_of_a_file_hold_both_kinds(tmp_path: Any, together: list[RecordedRuns]) -> None:
    model = Once(tg.ode(lambda t, y, p: [p["a"] * y["x"] ** 2], y0={"x": 1.0}, p={"a": 1.0}))
    grid = {"a": [0.5, 2.0, 0.25, 7.0, 0.9]}
    tg.sweep(model, (0.0, 1.0), grid=grid, outputs=0.1, out=tmp_path / "sweep.nc", workers=1)
    with xr.open_dataset(tmp_path / "sweep.nc", decode_times=False, decode_timedelta=False) as stored:
        plain = tg.sweep(model, (0.0, 1.0), grid=grid, outputs=0.1, workers=1)
        assert stored["x"].values.tobytes() == plain["x"].values.tobytes()
        assert stored["status"].values.tolist() == plain["status"].values.tolist()
