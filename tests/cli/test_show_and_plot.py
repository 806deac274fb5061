"""`tidegate show` prints the model in the user's names and lines; `tidegate plot` draws a saved result."""

from __future__ import annotations

import io
import re
from importlib import import_module
from typing import Any

import pytest
from rich.console import Console

import tidegate as tg
from tidegate.description import describe
from tidegate.executive.progress_bar import ProgressBar
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.results import Result


@pytest.mark.slow
def test_show_prints_variables_conditions_events_and_sparsity(line: Any) -> None:
    done = line("show", "tank.py")
    assert done.exit_code == 0, done.output
    rows = [re.sub(r" +", " ", row).strip() for row in done.stdout.splitlines()]
    assert "level state 0.5 m of water" in rows
    assert "k parameter 3 1/s" in rows
    assert "table[2] parameter 1, 2" in rows
    assert "level > length level - length state tank.py:42" in rows
    assert "stop pump when level >= 2*length pump := 0 50" in rows
    assert "clock at count, every 5 pump := 1 50" in rows
    assert "equation 1 X" in rows


@pytest.mark.slow
def test_show_refuses_like_run(line: Any) -> None:
    done = line("show", "tank.py:nothing")
    assert done.exit_code == 2
    assert "no model 'nothing'" in done.stderr


def test_conditions_of_time_and_parameters_are_time_events(line: Any, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(line.folder)
    tank = import_module("tank")
    x = Variable("x", VariableRole.STATE)
    model = Model("m", Form.ODE, (x,), (Equation(tank.symbol(tank.Role.DERIVATIVE, "x"), tank.select(tank.t > tank.p, x.symbols()[0], 0.0)),))
    (condition,) = describe(model).conditions
    assert (condition.kind, condition.relation) == ("time", "time > k")
    (equation,) = describe(model).equations
    assert equation.uses == ("X",)
    assert equation.text.startswith("der(x) = ")


@pytest.mark.slow
def test_plot_draws_a_saved_result(line: Any, ball: Result) -> None:
    ball.to_netcdf(line.folder / "ball.nc")
    done = line("plot", "ball.nc", "h", "v", "--out", "ball.svg", "--sensitivities")
    assert done.exit_code == 0, done.output
    assert "picture written to ball.svg" in done.stdout
    assert line("plot", "ball.nc").exit_code == 0
    assert (line.folder / "ball.png").exists()


@pytest.mark.slow
def test_plot_overwrites_no_file_that_was_not_named(line: Any, ball: Result) -> None:
    ball.to_netcdf(line.folder / "ball.nc")
    (line.folder / "ball.png").write_text("a photograph")
    done = line("plot", "ball.nc")
    assert done.exit_code == 2
    assert "--out ball.png" in done.stderr
    assert (line.folder / "ball.png").read_text() == "a photograph"
    assert line("plot", "ball.nc", "--out", "ball.png").exit_code == 0


@pytest.mark.slow
def test_plot_refuses_wrong_files_and_names(line: Any, ball: Result) -> None:
    ball.to_netcdf(line.folder / "ball.nc")
    for arguments, sentence in (
        (["no.nc"], "there is no file no.nc"),
        (["tank.py"], "tank.py is a model, and `tidegate plot` takes a saved result\n  try: tidegate run tank.py"),
        (["ball.nc", "hh"], "try: h"),
    ):
        done = line("plot", *arguments)
        assert done.exit_code == 2
        assert sentence in done.stderr


def test_progress_waits_before_it_shows_and_then_tells_the_time(monkeypatch: Any) -> None:
    now = [0.0]
    monkeypatch.setattr("tidegate.executive.progress_bar.time.monotonic", lambda: now[0])
    page = io.StringIO()
    with ProgressBar((0.0, 20.0), console=Console(file=page, force_terminal=True, width=80)) as progress:
        progress(1.0)
        assert page.getvalue() == ""
        now[0] = 1.5
        progress(5.0)
        progress(10.0)
    assert "t = 5" in page.getvalue() or "t = 10" in page.getvalue()


def test_progress_is_silent_where_nobody_watches(monkeypatch: Any) -> None:
    monkeypatch.setattr("tidegate.executive.progress_bar._PATIENCE", -1.0)
    page = io.StringIO()
    with ProgressBar((0.0, 1.0), console=Console(file=page, force_terminal=False)) as progress:
        progress(0.5)
    assert page.getvalue() == ""


def test_a_table_is_shown_by_the_number_of_its_corners() -> None:
    valve = tg.table([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 3.0, 4.0], name="valve")
    bend = tg.table([0.0, 1.0, 5.0], [0.0, 1.0, 3.0])
    model = tg.ode(lambda t, y: [valve(y["x"]) - bend(y["w"] + 1.0), y["x"] // 1], y0={"x": 0.0, "w": 0.0})
    found = [(condition.relation, condition.kind) for condition in describe(model).conditions]
    assert sorted(found) == [
        ("floor(x): every integer", "state"),
        ("table `valve` of x: 2 corners", "state"),
        ("table of w + 1: 1 corner", "state"),
    ]


def test_what_bodies_say_is_shown_with_its_condition_and_what_they_see_of_each_other_as_new() -> None:
    class Speaking(tg.Component):
        x = tg.State(0.0)
        d = tg.Discrete(1.0)
        twice = tg.Output(lambda self: 2 * self.d)
        seen = tg.Discrete(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.at(1.0)
        def write(self) -> Any:
            if self.x > 0.5:
                tg.message("up")
            if self.x > 5:
                tg.terminate("far")
            return {self.d: self.x}

        @tg.at(1.0)
        def read(self) -> Any:
            return {self.seen: self.twice + tg.pre(self.twice)}

        @tg.initially
        def begin(self) -> Any:
            return {self.x: 1.0 if tg.time > 3 else 0.0}

    described = describe(Speaking())
    actions = {clause.label: clause.actions for clause in described.clauses}
    assert actions["write"] == ("d := x", "say 'up' if x > 0.5", "terminate: far if x > 5")
    assert actions["read"] == ("seen := 2*new(d) + 2*d",)
    assert not any("time" in condition.relation for condition in described.conditions)
