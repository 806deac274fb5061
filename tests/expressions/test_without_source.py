"""Functions whose source cannot be read: made by exec, typed at Python's prompt, given to python -c."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg

PROGRAM = """
import math
from math import sqrt
import numpy as np
LIMIT = 0.5

def slow(x):
    return np.maximum(x, 0.1) * math.exp(-x)

def rates(t, y, p):
    import math as m
    d = y["x"] - 0.3
    root = np.sign(d) * np.abs(d) ** 2 + m.sin(t) * p["k"]
    if y["x"] > LIMIT:
        return {"x": -sqrt(y["x"] + 2)}
    late = np.where(t > 1.5, slow(y["x"]), 0.0)
    return {"x": late - root - max(y["x"], 0) - 1 - np.interp(t, [0, 1, 2], [0, 1, 0]) + np.clip(y["x"], 0, 0.2) + math.atan2(y["x"], 2)}
"""


def executed() -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "typed"}
    exec(PROGRAM, space)
    return space


@pytest.mark.slow
def test_a_function_without_source_gives_what_the_same_one_in_a_file_gives(tmp_path: Path) -> None:
    file = tmp_path / "written.py"
    file.write_text(PROGRAM)
    written: dict[str, Any] = {"__name__": "written"}
    exec(compile(PROGRAM, str(file), "exec"), written)
    runs = [tg.simulate(tg.ode(space["rates"], {"x": 1.0}, {"k": 0.1}), (0.0, 3.0)) for space in (executed(), written)]
    assert runs[0].final["x"] == pytest.approx(runs[1].final["x"], rel=1e-12)
    assert [event.time for event in runs[0].events] == pytest.approx([event.time for event in runs[1].events], rel=1e-12)
    assert len(runs[0].events) > 2


@pytest.mark.slow
def test_what_such_a_function_reads_is_noticed_where_it_changes() -> None:
    space = executed()
    model = tg.ode(space["rates"], {"x": 1.0}, {"k": 0.1})
    before = tg.simulate(model, (0.0, 1.0)).events[0].time
    space["LIMIT"] = 0.8
    assert tg.simulate(model, (0.0, 1.0)).events[0].time < before


def test_what_a_clause_returns_behind_its_equations_counts() -> None:
    program = """
import tidegate as tg

class Sampler(tg.Component):
    x, d, n, w = tg.State(0.0), tg.Discrete(0.0), tg.Discrete(0), tg.Algebraic()

    def equations(self):
        yield tg.der(self.x) == 1.0
        yield self.w == self.d + self.x

    @tg.every(1.0, start=0.5)
    def tick(self):
        if self.x > 2.0:
            yield self.d == 0.25 * self.w
            return {self.n: self.n + 10}
        yield self.d == tg.pre(self.d) + 0.5 * self.w
        return {self.n: self.n + 1}
"""
    space: dict[str, Any] = {"__name__": "typed"}
    exec(program, space)
    final = tg.simulate(space["Sampler"](), (0.0, 3.2)).final
    # d = 0.25 (d + 2.5) at the last tick
    assert (final["n"], final["d"]) == (12.0, pytest.approx(2.5 / 3.0, rel=1e-9))


@pytest.mark.slow
def test_a_program_after_the_dash_c_of_python_runs() -> None:
    program = """
import tidegate as tg, numpy as np
class Tank(tg.Component):
    h = tg.State(1.0)
    def equations(self):
        yield tg.der(self.h) == -np.sqrt(np.maximum(self.h, 0.0))
print(f"{tg.simulate(Tank(), (0, 1)).final['h']:.6f}")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "0.250000", done.stderr
