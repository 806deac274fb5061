"""`tidegate run` and `tidegate show` of a compiled DSblock: only when it is said that its code is trusted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tidegate.frontends.dsblock.compiled.compiler import build_library

BALL = Path(__file__).parents[1] / "frontends" / "dsblock" / "blocks" / "ball.c"


@pytest.fixture
def library(line: Any) -> str:
    found = line.folder / "libball.so"
    shutil.copy(build_library("ball", [BALL]), found)
    return str(found)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "show"])
def test_a_library_is_not_loaded_without_trust_and_prefix(line: Any, library: str, command: str) -> None:
    done = line(command, library)
    assert done.exit_code != 0
    assert "--prefix vdp" in done.output
    done = line(command, library, "--prefix", "ball")
    assert done.exit_code != 0
    assert "to load it is to carry out its code" in " ".join(done.output.split())
    assert not line.calls


@pytest.mark.slow
def test_a_trusted_library_runs_and_is_shown(line: Any, library: str) -> None:
    done = line("run", library, "--prefix", "ball", "--trust", "--set", "STOPS=2")
    assert done.exit_code == 0, done.output
    assert "ball: DSblock, ODE, bouncing ball 1.2" in done.stdout
    assert line.calls[0]["parameters"] == {"STOPS": 2.0}
    assert line.calls[0]["t_span"] == (0.0, 2.0)
    done = line("show", library, "--prefix", "ball", "--trust")
    assert done.exit_code == 0, done.output
    for text in ("HEIGHT", "of the ball above the ground [m]", "0 <= value <= 1"):
        assert text in done.stdout


@pytest.mark.slow
def test_a_library_that_ends_its_process_ends_an_isolated_one(line: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARELESS", "crash")
    library = str(build_library("careless", [BALL.parent / "careless.c"]))
    done = line("run", library, "--prefix", "careless", "--trust", "--isolate")
    assert done.exit_code == 1
    assert "DSblock careless ended its process in BLOCKB by signal 11 (SIGSEGV)" in " ".join(done.output.split())


@pytest.mark.slow
def test_settings_must_be_numbers(line: Any, library: str) -> None:
    done = line("run", library, "--prefix", "ball", "--trust", "--set", "E=much")
    assert done.exit_code != 0
    assert "its parameters are G, E, STOPS" in " ".join(done.output.split())
