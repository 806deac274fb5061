"""Start values and inputs as options of a run: random linear systems in every front end, against exponentials of matrices."""

from __future__ import annotations

import copy
import math
import sys
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.linalg import expm

import tidegate as tg

__all__: list[str] = []

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "simulate.md"
END = 1.7


class Drawn:
    """x' = A x + b u(t) with a start x0 and a signal u, in each front end under the same names."""

    def __init__(self, seed: int) -> None:
        r = np.random.default_rng(seed)
        self.a, self.b, self.x0 = r.normal(size=(2, 2)) * 0.8, r.normal(size=2), r.normal(size=2)
        self.kind = str(r.choice(["function", "lines"]))
        self.slope, self.size, self.pace = r.normal(size=3)
        self.times = np.concatenate(([0.0], np.sort(r.uniform(0.1, 1.6, size=3)), [END]))
        self.samples = r.normal(size=5)

    def signal(self) -> Any:
        if self.kind == "lines":
            return self.times, self.samples
        return lambda t: self.slope * t + self.size * np.sin(self.pace * t)

    def truth(self) -> Any:
        """The end; an input is a linear system of its own, and each of its lines begins anew."""
        w = np.zeros((6, 6))  # states, 1, t, sin, cos
        w[:2, :2], w[3, 2], w[4, 5], w[5, 4] = self.a, 1.0, self.pace, -self.pace
        if self.kind == "function":
            w[:2, 3], w[:2, 4] = self.b * self.slope, self.b * self.size
            return (expm(w * END) @ np.array([*self.x0, 1.0, 0.0, 0.0, 1.0]))[:2]
        x = self.x0
        for k, (left, right) in enumerate(zip(self.times, self.times[1:], strict=False)):
            rate = (self.samples[k + 1] - self.samples[k]) / (right - left)
            w[:2, 2], w[:2, 3] = self.b * self.samples[k], self.b * rate
            x = (expm(w * (right - left)) @ np.array([*x, 1.0, 0.0, 0.0, 1.0]))[:2]
        return x

    def function(self) -> Any:
        return tg.ode(lambda t, y, p: {"x": self.a @ y["x"] + self.b * p["u"]}, y0={"x": [0.0, 0.0]}, p={"u": 0.0})

    def component(self) -> Any:
        a, b = self.a, self.b

        class Plant(tg.Component):
            x = tg.State([0.0, 0.0])
            u = tg.Input(0.0)

            def equations(self) -> Any:
                yield tg.der(self.x) == a @ self.x + b * self.u

        return Plant()

    def callbacks(self) -> Any:
        a, b = self.a, self.b

        class Block(tg.DSblock):
            def define(self, declare: Any) -> None:
                declare.state("x", start=np.zeros(2))
                declare.input("u")

            def derivatives(self, t: Any, x: Any, u: Any, p: Any, m: Any) -> Any:
                return {"x": a @ x.x + b * u.u}

        return Block()


KINDS = {"function": Drawn.function, "component": Drawn.component, "callbacks": Drawn.callbacks}


def judge(seed: int, kind: str) -> None:
    drawn = Drawn(seed)
    by_start = [] if kind == "callbacks" else ["x(0)"]
    result = tg.simulate(KINDS[kind](drawn), (0, END), y0={"x": drawn.x0}, inputs={"u": drawn.signal()}, rtol=1e-9, sensitivities=by_start)
    np.testing.assert_allclose(result["x"].values[-1], drawn.truth(), rtol=1e-6, atol=1e-7)
    if by_start:
        derivatives = np.array([result.sensitivity("x", f"x(0)[{k}]").values[-1] for k in range(2)])
        np.testing.assert_allclose(derivatives.T, expm(drawn.a * END), rtol=1e-6, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_runs_with_random_starts_and_inputs_end_where_exponentials_of_matrices_do(kind: str) -> None:
    for seed in range(2):
        judge(seed, kind)


class Ticking(tg.Component):
    x = tg.State(1.0, unit="m")
    tau = tg.Parameter(0.5, unit="s")
    u = tg.Input(0.0, unit="m")
    n = tg.Discrete(0)

    def equations(self) -> Any:
        yield self.tau * tg.der(self.x) == self.u - self.x

    @tg.every(0.25)
    def tick(self) -> Any:
        return {self.n: self.n + 1}


def test_start_values_of_discrete_variables_and_of_all_in_order() -> None:
    assert tg.simulate(Ticking(), (0, 0.4), y0={"n": 5}).final["n"] == 7
    result = tg.simulate(Ticking(), (0, 0.4), y0=[2.0, 5])
    assert result.final["n"] == 7
    assert result.final["x"] == pytest.approx(2.0 * np.exp(-0.8), rel=1e-5)
    assert result.parameters["x(0)"] == 2.0


def test_elements_of_arrays_have_start_values_of_their_own() -> None:
    """The others keep theirs; closed form of x' = -x."""
    model = tg.ode(lambda t, y: {"x": -y["x"], "A": -y["A"], "s": 0.0}, {"x": np.array([1.0, 2.0, 3.0]), "A": np.ones((2, 2)), "s": 0.0})
    final = tg.simulate(model, (0.0, 1.0), y0={"x[1]": 5.0, "A[1,0]": 4.0, "s": 7.0}).final
    expected = {"x[0]": 1.0, "x[1]": 5.0, "x[2]": 3.0, "A[0,0]": 1.0, "A[1,0]": 4.0}
    assert {name: float(final[name]) * math.e for name in expected} == pytest.approx(expected, rel=1e-6)
    assert final["s"] == 7.0
    with pytest.raises(tg.UsageError, match=r"y0 names x\[3\], and x has x\[0\] to x\[2\]"):
        tg.simulate(model, (0.0, 1.0), y0={"x[3]": 1.0})
    with pytest.raises(tg.UsageError, match="start value of x as a whole and of one of its elements"):
        tg.simulate(model, (0.0, 1.0), y0={"x[0]": 1.0, "x": np.ones(3)})
    with pytest.raises(tg.UsageError, match=r"no start value of 's\[0\]'"):
        tg.simulate(model, (0.0, 1.0), y0={"s[0]": 1.0})


@pytest.mark.slow
def test_start_values_are_swept_fitted_and_set_in_a_prepared_run() -> None:
    model = Ticking()
    swept = tg.sweep(model, (0, 1), grid={"x(0)": [1.0, 3.0]}, rtol=1e-8)
    np.testing.assert_allclose(swept["x"].values, np.array([1.0, 3.0]) * np.exp(-2.0), rtol=1e-6)
    found = tg.fit(model, {"x": ([0.2, 0.7], 2.5 * np.exp(-2.0 * np.array([0.2, 0.7])))}, ["x(0)"], rtol=1e-8)
    assert found.values["x(0)"] == pytest.approx(2.5, rel=1e-6)
    run = tg.prepare(model, (0, 1), y0={"x": 2.0}, inputs={"u": 1.0}, rtol=1e-8)
    for start in (2.0, 4.0):
        assert run.with_parameters(**{"x(0)": start}).run().final["x"] == pytest.approx(1.0 + (start - 1.0) * np.exp(-2.0), rel=1e-6)


def test_a_simulation_with_a_start_and_an_input_is_saved_and_goes_on(tmp_path: Path) -> None:
    chosen: dict[str, Any] = {"y0": {"x": 2.0}, "inputs": {"u": lambda t: t}}
    simulation = tg.Simulation(Ticking(), rtol=1e-9, **chosen)
    assert simulation["x"] == 2.0
    simulation.advance(0.5)
    loaded = tg.Simulation.load(simulation.save(tmp_path / "s.nc"), Ticking(), **chosen)
    twin = copy.copy(simulation)
    for one in (simulation, loaded, twin):
        one.advance(1.0)
        assert one["x"] == pytest.approx(1.0 - 0.5 + 2.5 * np.exp(-2.0), rel=1e-7)


def test_a_column_of_a_table_is_a_signal_as_its_times_and_values_are() -> None:
    times, values = np.array([0.0, 0.3, 1.0]), np.array([1.0, -2.0, 4.0])
    options: dict[str, Any] = {"rtol": 1e-8}
    column = tg.simulate(Ticking(), (0, 1), inputs={"u": pd.Series(values, index=times)}, **options)
    pair = tg.simulate(Ticking(), (0, 1), inputs={"u": (times, values)}, **options)
    assert column.final["x"] == pair.final["x"] != tg.simulate(Ticking(), (0, 1), **options).final["x"]


class Smoothed(tg.DSblock):
    """Ticking without ticks, as a block."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.input("u")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.u - x.X


@pytest.mark.hunt
@pytest.mark.parametrize("model", [Ticking(), Smoothed()])
def test_columns_of_pandas_and_of_results_and_lists_are_signals_of_every_model(model: Any) -> None:
    times, values = np.array([0.0, 0.3, 1.0]), np.array([1.0, -2.0, 4.0])
    column = xr.DataArray(values, dims="time", coords={"time": times})
    forms = [(times, values), [times.tolist(), values.tolist()], pd.Series(values, index=times), column, column.rename(time="t")]
    final = [tg.simulate(model, (0, 1), inputs={"u": given}, rtol=1e-8).values[-1].tolist() for given in forms]
    assert all(one == final[0] for one in final)
    first = tg.simulate(model, (0, 1), inputs={"u": lambda t: t}, rtol=1e-8)
    follows = tg.simulate(Smoothed(), (0, 1), inputs={"u": first.resample(np.linspace(0, 1, 201))["x" if "x" in first.names else "X"]}, rtol=1e-8)
    assert follows.success
    for wrong, words in (
        (column.assign_coords(time=[0.0, 0.3, 0.3]), r"do not increase: 0\.3 is followed by 0\.3\n  try: a result has two rows at each event"),
        (([0.0, 1.0], [1.0, np.inf]), "is inf at 1\n"),
        (np.ones((30, 2)), r"a ndarray of shape \(30, 2\)\n"),
    ):
        with pytest.raises(tg.UsageError, match=words):
            tg.simulate(model, (0, 1), inputs={"u": wrong})


@pytest.mark.slow
def test_a_signal_follows_what_it_closes_over_and_is_judged_as_python() -> None:
    height = 1.0
    model = Ticking()

    def step(t: Any) -> Any:
        return height if t > 0.5 else 0.0

    first = tg.simulate(model, (0, 1), inputs={"u": step}, rtol=1e-8)
    assert [event.kind for event in first.events].count("time") == len(first.events)
    assert tg.verify(first).ok
    height = 3.0
    second = tg.simulate(model, (0, 1), inputs={"u": step}, rtol=1e-8)
    rise = 1.0 - np.exp(-1.0)
    for result, size in ((first, 1.0), (second, 3.0)):
        assert result.final["x"] == pytest.approx(np.exp(-2.0) + size * rise, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"y0": {"xx": 1.0}}, "no start value of 'xx'"),
        ({"y0": {"x": "a"}}, r"x\(0\) needs a number"),
        ({"y0": [1.0]}, "y0 has 1 values"),
        ({"y0": {"x": 1.0}, "parameters": {"x(0)": 2.0}}, "in y0 and in parameters"),
        ({"inputs": {"v": 1.0}}, "no input 'v'"),
        ({"inputs": {"u": "a"}}, "a function of time, a number"),
        ({"inputs": {"u": lambda: 1.0}}, "cannot be called with the time alone"),
        ({"inputs": {"u": ([0, 1], [1, 2, 3])}}, "a value for each time"),
        ({"inputs": [1.0]}, "a dict by name"),
        ({"inputs": pd.DataFrame({"u": [1.0, 2.0]})}, "not a table; each of its columns is a signal"),
        ({"inputs": {"u": pd.Series([1.0], pd.to_datetime(["2020-01-01"]))}}, "times of input u are dates"),
        ({"inputs": {"u": np.ones((5, 5))}}, r"u is a ndarray of shape \(5, 5\)\n"),
        ({"sensitivities": ["z(0)"]}, "no start value of 'z'"),
        ({"progress": 3}, "progress must be True or a function"),
    ],
)
def test_slips_are_told(options: dict[str, Any], words: str) -> None:
    with pytest.raises(tg.UsageError, match=words):
        tg.simulate(Ticking(), (0, 1), **options)


def test_a_start_value_that_the_model_assigns_is_refused() -> None:
    class Filled(Ticking):
        @tg.initially
        def fill(self) -> Any:
            return {self.x: 3.0}

    with pytest.raises(tg.UsageError, match="another would have no effect"):
        tg.simulate(Filled(), (0, 1), y0={"x": 1.0})


def test_a_bar_is_told_the_simulated_time_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    class Bar:
        def __init__(self, t_span: tuple[float, float]) -> None:
            told.append(t_span)

        def __enter__(self) -> Self:
            return self

        def __call__(self, now: float) -> None:
            told.append(now)

        def __exit__(self, *error: object) -> None:
            told.append("taken away")

    monkeypatch.setattr(sys.modules["tidegate.executive.drive"], "ProgressBar", Bar)
    tg.simulate(Ticking(), (0, 1), progress=True)
    assert told == [(0.0, 1.0), 1.0, "taken away"]
    simulation = tg.Simulation(Ticking(), progress=True)
    simulation.advance(0.5)
    simulation.advance(1.0)
    assert told[3:] == [(0.0, 0.5), 0.5, "taken away", (0.5, 1.0), 1.0, "taken away"]


# -- which front end takes what


def diagram() -> tg.Diagram:
    found = tg.Diagram("lag")
    found.a = tg.blocks.Constant(2.0)
    found.x = tg.blocks.Integrator(start=0.0)
    found.x(found.a - found.x)
    return found


MODELS: dict[str, Any] = {
    "function (`tg.ode`, `tg.dae`)": lambda: tg.ode(lambda t, y, p: [p["a"] - y["x"]], y0={"x": 0.0}, p={"a": 2.0}),
    "component": Ticking,
    "diagram": diagram,
    "callbacks (`tg.DSblock`)": lambda: Drawn(0).callbacks(),
}
INPUTS = {"function (`tg.ode`, `tg.dae`)": "a", "diagram": "a.value"}
OPTIONS: dict[str, Any] = {
    "`y0={...}`": lambda kind: {"y0": {"x": 1.5}},
    "`inputs={...}`": lambda kind: {"inputs": {INPUTS.get(kind, "u"): lambda t: 2.0 * t}},
    '`sensitivities=["x(0)"]`': lambda kind: {"sensitivities": ["x(0)"]},
    "`progress=True`": lambda kind: {"progress": True},
    "`outputs=`, `event_rows=`, `dense=`": lambda kind: {"outputs": 0.1, "event_rows": True, "dense": False},
    "`method=`, `rtol=`, `atol=`, `max_step=`": lambda kind: {"method": "bdf", "rtol": 1e-5, "atol": 1e-8, "max_step": 0.2},
}


@pytest.mark.slow
def test_the_page_says_which_front_end_takes_which_option() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## Which model takes which option")[1].split("## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table if line.startswith("|")]
    kinds, said = rows[0][1:], {row[0]: row[1:] for row in rows[2:]}
    assert kinds == list(MODELS)
    assert list(said) == list(OPTIONS)
    for option, answers in said.items():
        for kind, answer in zip(kinds, answers, strict=True):
            try:
                tg.simulate(MODELS[kind](), (0, 0.5), **OPTIONS[option](kind))
                took = "yes"
            except tg.UsageError:
                took = "no"
            assert took == answer, (option, kind)


@pytest.mark.parametrize("traced", [None, False])
def test_a_block_whose_callback_gives_the_start_value_refuses_another(traced: bool | None) -> None:
    class Block(tg.DSblock):
        def define(self, declare: Any) -> None:
            declare.state("x", start=0.0)

        def start(self, t0: Any, x0: Any, u0: Any, p: Any, m: Any) -> Any:
            return tg.dsblock.Start(x={"x": 3.0})

        def derivatives(self, t: Any, x: Any, u: Any, p: Any, m: Any) -> Any:
            return {"x": -x.x}

    with pytest.raises(tg.TidegateError, match="another would have no effect"):
        tg.simulate(Block(), (0, 1), y0={"x": 1.0}, traced=traced)
