"""A command line whose simulator is a stand-in that notes its arguments, and files with models to give to it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tidegate
from tidegate.results import Result

TANK = """
from tidegate.model import Assignment, Branch, Equation, Form, Model, TimeEvent, Variable, VariableRole, When
from tidegate.expressions import Role, as_expr, select, symbol
from tidegate.errors import Origin

level = Variable("level", VariableRole.STATE, unit="m", start=(as_expr(0.5),), description="of water")
pump = Variable("pump", VariableRole.DISCRETE, start=(as_expr(1.0),))
k = Variable("k", VariableRole.PARAMETER, unit="1/s", start=(as_expr(3.0),))
length = Variable("length", VariableRole.PARAMETER, unit="m", start=(as_expr(1.0),))
count = Variable("count", VariableRole.PARAMETER, start=(as_expr(2.0),), kind="integer")
table = Variable("table", VariableRole.PARAMETER, shape=(2,), start=(as_expr(1.0), as_expr(2.0)))
(y,), (u,), (p,), (l,), (n,) = level.symbols(), pump.symbols(), k.symbols(), length.symbols(), count.symbols()
t = symbol(Role.TIME, "time")
full = y > l
model = Model(
    "tank", Form.ODE, (level, pump, k, length, count, table),
    equations=(Equation(symbol(Role.DERIVATIVE, "level"), select(full, 0.2 - p * (y - l), 0.2 + 0.0 * y), label="equation 1"),),
    whens=(When((Branch((y >= 2.0 * l,), (Assignment(u, as_expr(0.0)),), label="stop pump"),)),),
    time_events=(TimeEvent(first=n, actions=(Assignment(u, as_expr(1.0)),), period=as_expr(5.0), label="clock"),),
    condition_origins={full: Origin(__file__, 42, "y > l")},
)
"""


@dataclass
class Line:
    """The command line of a test."""

    folder: Path
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    result: Result | None = None
    action: Callable[[], None] = lambda: None

    def simulate(self, source: Any, t_span: Any, **options: Any) -> Result:
        """What stands in for the simulator."""
        self.calls.append({"source": source, "t_span": t_span, **options})
        options["progress"](0.5 * (t_span[0] + t_span[1]))
        self.action()
        assert self.result is not None
        return self.result

    def write(self, name: str, text: str) -> Path:
        """A file with a model."""
        path = self.folder / name
        path.write_text(text)
        return path

    def __call__(self, *arguments: object) -> Any:
        """Run tidegate with these arguments."""
        from tidegate.cli.app import app

        return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ball: Result) -> Iterator[Line]:
    """Starts in an empty folder that holds tank.py."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    made = Line(tmp_path, result=ball)
    made.write("tank.py", TANK)
    # into the dictionary, since asking the package for its own would load it
    monkeypatch.setitem(vars(tidegate), "simulate", made.simulate)
    yield made
    # the next test has files of the same names elsewhere
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
