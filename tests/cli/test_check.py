"""`tidegate check` compares two engines, prints the table, and its exit status says whether they agree."""

from __future__ import annotations

from typing import Any

import pytest

import tidegate
from tidegate.simulate import simulate

RELAY = """
import tidegate as tg
model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 2.0})
t_span = (0, 2)
"""
RUNAWAY = """
import tidegate as tg
model = tg.ode(lambda t, y: [y["x"] ** 2], y0={"x": 1.0})
t_span = (0, 2)
"""

# what is run is not what Python says: as after an error in following the function
OTHERWISE = """
import tidegate as tg

class Source:
    def __init__(self):
        self.run, self.truth = (tg.ode(lambda t, y, s=s: {"x": s * y["x"]}, y0={"x": 1.0}) for s in (-1.0, -2.0))

    def lower(self):
        return self.run.lower()

    def plainly(self, parameters, model):
        return self.truth.plainly(parameters, model)

model = Source()
t_span = (0, 2)
"""


@pytest.fixture
def real(line: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command line with the simulator itself, not its stand-in."""
    monkeypatch.setitem(vars(tidegate), "simulate", simulate)
    return line


@pytest.mark.slow
def test_prints_the_table_of_two_engines_that_agree(line: Any) -> None:
    line.write("decay.py", RELAY)
    done = line("check", "decay.py", "--sensitivity", "k", "--rtol", 1e-7)
    assert done.exit_code == 0, done.output
    assert "radau and bdf agree" in done.stdout
    assert "x by k" in done.stdout


@pytest.mark.slow
def test_takes_the_methods_it_is_given(line: Any) -> None:
    line.write("decay.py", RELAY)
    done = line("check", "decay.py", "--method", "ida", "--method", "adams", "--set", "k=3")
    assert done.exit_code == 0, done.output
    assert "ida and adams agree" in done.stdout


def test_status_is_one_where_they_do_not_agree(line: Any) -> None:
    line.write("runaway.py", RUNAWAY)
    done = line("check", "runaway.py")
    assert done.exit_code == 1
    assert "radau stopped: the step size became too small" in done.stdout


def test_a_wrong_method_is_refused(line: Any) -> None:
    line.write("decay.py", RELAY)
    done = line("check", "decay.py", "--method", "ida")
    assert done.exit_code == 2
    assert "two different ones" in done.output
    assert "--method radau --method ida" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("method", ["", "ida"])
def test_status_is_zero_where_plain_python_agrees(real: Any, method: str) -> None:
    real.write("decay.py", RELAY)
    done = real("check", "decay.py", "--against", "python", *(["--method", method] if method else []))
    assert done.exit_code == 0, done.output
    assert "model is verified at" in done.stdout
    assert "points inside the steps, by the function, called as Python" in done.stdout
    assert "WRONG" not in done.stdout


@pytest.mark.slow
def test_status_is_one_where_plain_python_disagrees(real: Any) -> None:
    real.write("otherwise.py", OTHERWISE)
    done = real("check", "otherwise.py", "--against", "python")
    assert done.exit_code == 1, done.output
    assert "WRONG" in done.stdout
    assert "der(x) is off by" in done.stdout


@pytest.mark.slow
def test_what_python_cannot_be_asked_is_refused(line: Any) -> None:
    line.write("decay.py", RELAY)
    done = line("check", "decay.py", "--against", "python", "--method", "ida", "--method", "bdf")
    assert done.exit_code == 2
    assert "against Python one is judged" in done.output
    done = line("check", "decay.py", "--against", "scipy")
    assert done.exit_code == 2
    assert "--against scipy is not known" in done.output
