"""The spring of CSMP-10(ARL)'s report, as its printed table has it, and sessions with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from printed_spring import BLOCKS, TABLE, Script, Session
from tidegate.csmp.trans import OutputProgram
from tidegate.results import Column, Result


@pytest.fixture
def spring() -> Result:
    """Three digits of every number, as they were printed in 1976."""
    rows = np.array([[float(text) for text in line.split("\t")] for line in TABLE.read_text().splitlines()[1:]])
    columns = [Column(label, description=f"block {number}") for number, label in BLOCKS.items()]
    options = {"interval": 0.1, "recorded": "1976-04-21T16:57", "cpu_seconds": 1.25}
    return Result("NON-LINEAR SPRING WITH DASHPOT", columns, rows[:, 0], rows[:, 1:], options=options)


@pytest.fixture
def session(spring: Result, tmp_path: Path) -> Session:
    """Carries out replies on the spring, in a folder of its own; gives what was said after the heading and before the end."""

    def carried_out(*replies: str, result: Result = spring) -> list[str]:
        script = Script(list(replies))
        OutputProgram(result, script, tmp_path / "spring.nc").run()
        assert script.said[-2] == "END OF EXECUTION"
        return script.said[4:-2]

    return carried_out
