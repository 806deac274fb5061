"""`tidegate check` compares two engines, prints the table, and its exit status says whether they agree."""

from __future__ import annotations

from typing import Any

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


def test_prints_the_table_of_two_engines_that_agree(line: Any) -> None:
    line.write("decay.py", RELAY)
    done = line("check", "decay.py", "--sensitivity", "k", "--rtol", 1e-7)
    assert done.exit_code == 0, done.output
    assert "radau and bdf agree" in done.stdout
    assert "x by k" in done.stdout


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
