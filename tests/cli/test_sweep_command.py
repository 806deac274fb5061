"""tidegate sweep: every combination is run, units and limits are respected, and slips are told in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tidegate as tg
from tidegate.cli.app import app
from tidegate.sweep.files import opened

TANK = """
import tidegate as tg

class Tank(tg.Component):
    level = tg.State(0.0, unit="m")
    k = tg.Parameter(3.0)
    depth = tg.Parameter(1.0, unit="m", min=0.1, max=10.0)

    def equations(self):
        yield tg.der(self.level) == 1.0 - (self.k * (self.level - self.depth) if self.level > self.depth else 0.0)

model = Tank()
t_span = (0.0, 4.0)
"""


@pytest.fixture
def tank(tmp_path: Path) -> Path:
    path = tmp_path / "tank.py"
    path.write_text(TANK)
    return path


def told(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)])


@pytest.mark.slow
def test_combinations_are_run_and_saved(tank: Path, tmp_path: Path) -> None:
    out = tmp_path / "sweep.nc"
    done = told(tank, "--over", "k=1:3:3", "--over", "depth=50cm, 2m", "--set", "k=1", "--out", out)
    assert done.exit_code == 2
    assert "k is given twice" in done.output
    done = told(tank, "--over", "k=1:3:3", "--over", "depth=50cm, 2m", "--step", "1", "--out", out, "--workers", "2")
    assert done.exit_code == 0, done.output
    assert "6 runs: 6 finished" in done.output
    with opened(out) as found:
        assert found["k"].values.tolist() == [1.0, 2.0, 3.0]
        assert found["depth"].values.tolist() == [0.5, 2.0]
        assert found["level"].dims == ("k", "depth", "time")
        assert float(found["level"].sel(k=3.0, depth=2.0, time=4.0)) == pytest.approx(2.0 + 1.0 / 3.0, abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_a_saved_sweep_is_shown_as_it_was_printed(tank: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"sweep.{suffix}"
    printed = told(tank, "--over", "k=1,3", "--over", "depth=1,2", "--out", out).output
    shown = CliRunner().invoke(app, ["show", str(out)])
    assert shown.exit_code == 0, shown.output
    table = shown.output.splitlines()[1:]
    assert table == printed.splitlines()[1 : 1 + len(table)]
    assert len(table) == 6
    one_by_one = tmp_path / f"members.{suffix}"
    tg.sweep(
        tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 1.0}), (0, 1), {"k": [1.0, 2.0]}, out=one_by_one, progress=False
    ).close()
    assert "1  finished  0.367879" in CliRunner().invoke(app, ["show", str(one_by_one)]).output
    if suffix == "nc":
        refused = CliRunner().invoke(app, ["plot", str(out)])
        assert refused.exit_code == 2
        assert "holds the runs of a sweep" in refused.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing is varied"),
        (["--over", "kk=1:2:3"], "no parameter 'kk'"),
        (["--over", "k=1:2"], "from, to and the number of values are expected"),
        (["--over", "k=1:2:0"], "from, to and the number of values are expected"),
        (["--over", "k"], "a name and values are expected"),
        (["--over", "k=1,two"], "'two' is no number"),
        (["--over", "k=1", "--over", "k=2"], "--over k is given twice"),
        (["--over", "depth=1,2s"], "s measures"),
        (["--over", "depth=1:20:2"], "its value 20 must be at least 0.1 and at most 10 (run 2 of 2: depth = 20)"),
        (["--over", "k=1", "--variable", "levle"], "no variable 'levle'"),
        (["--over", "k=1", "--out", "sweep.csv"], "cannot save a sweep"),
        (["--over", "k=a:b:3"], "k=a:b:3"),
    ],
)
def test_slips_are_told(tank: Path, arguments: list[str], said: str) -> None:
    done = told(tank, *arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
