"""The command line stops quietly where nobody listens, and tells warnings like errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TIDEGATE = Path(sys.executable).with_name("tidegate")


@pytest.mark.slow
def test_a_reader_that_has_gone_is_no_mistake_of_ours(tmp_path: Path) -> None:
    model = tmp_path / "decay.py"
    model.write_text("import tidegate as tg\nmodel = tg.ode(lambda t, y: [-y[0]], y0=[1.0])\n")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        done = subprocess.run([TIDEGATE, "show", model], stdout=nobody, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.slow
def test_warnings_of_python_are_told_with_the_users_line_and_once(tmp_path: Path) -> None:
    model = tmp_path / "doubtful.py"
    model.write_text(
        """
import warnings
import numpy as np
import tidegate as tg
LOWEST = np.log(np.zeros(1))
class Tank(tg.Component):
    h, drain = tg.State(1.0), tg.Output(lambda self: 1.0 / (self.h - 1.0))
    def equations(self):
        warnings.warn("not sure of this")
        yield tg.der(self.h) == -self.h
model = Tank()
"""
    )
    done = subprocess.run([TIDEGATE, "run", model, "--until", "1", "-q"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "warning: divide by zero encountered in log",
        f"  at {model}:5: LOWEST = np.log(np.zeros(1))",
        "warning: not sure of this",
        f'  at {model}:9: warnings.warn("not sure of this")',
        "warning: the output drain is inf at t = 0; choose what it is there with `if` or tg.where",
    ]
