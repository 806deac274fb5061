"""A saved simulation goes on as if it had never been away, with the same model only, and its file can do nothing but be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.results.frames import MAGIC, packed

TANK = """
import tidegate as tg

class Tank(tg.Component):
    level = tg.State(0.5)
    width = tg.Parameter(1.0, unit="m")
    pump = tg.Discrete(1)
    count = tg.Discrete(0)
    inflow = tg.Parameter(0.4)
    leak = tg.Output(lambda self: 0.1 * self.level)

    def equations(self):
        yield tg.der(self.level) == self.inflow * self.pump - self.leak

    @tg.when(lambda self: self.level > 1.0)
    def stop(self):
        return {self.pump: 0}

    @stop.elsewhen(lambda self: self.level < 0.8)
    def start(self):
        return {self.pump: 1}

    @tg.every(0.7)
    def clock(self):
        return {self.count: self.count + 1}
"""


def tank(tmp_path: Path, *changes: tuple[str, str]) -> Any:
    """The model, from a file with these texts replaced."""
    text = TANK
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / f"tank{abs(hash(changes))}.py"
    path.write_text(text)
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), namespace)
    return namespace["Tank"]()


def saved(tmp_path: Path, **options: Any) -> tg.Simulation:
    simulation = tg.Simulation(tank(tmp_path), rtol=1e-8, sensitivities=["inflow"], **options)
    simulation.advance(3.0)
    simulation["inflow"] = 0.5
    simulation.save(tmp_path / "tank.sim")
    return simulation


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [None, 0.25])
def test_what_was_saved_goes_on_like_what_was_not(tmp_path: Path, outputs: float | None) -> None:
    simulation = saved(tmp_path, outputs=outputs)
    loaded = tg.Simulation.load(tmp_path / "tank.sim", tank(tmp_path))
    assert (loaded.time, loaded.options, loaded["level"], loaded["inflow"]) == (3.0, simulation.options, simulation["level"], 0.5)
    assert loaded.result.t.tolist() == simulation.result.t.tolist()
    assert list(loaded.result.events) == list(simulation.result.events)
    for each in (simulation, loaded):
        each.advance(10.0)
    assert loaded.result.final == pytest.approx(simulation.result.final, rel=1e-7)
    assert loaded.result.events.times == pytest.approx(simulation.result.events.times, rel=1e-7)
    assert [event.causes for event in loaded.result.events] == [event.causes for event in simulation.result.events]
    one, other = simulation.result, loaded.result
    assert other.sensitivity("level", "inflow").values[-1] == pytest.approx(one.sensitivity("level", "inflow").values[-1], rel=1e-6)
    assert other.at([1.5, 9.0], ["level"])["level"].values == pytest.approx(one.at([1.5, 9.0], ["level"])["level"].values)


@pytest.mark.slow
def test_another_process_goes_on(tmp_path: Path) -> None:
    simulation = saved(tmp_path)
    (tmp_path / "tank_model.py").write_text(TANK)
    code = "import tidegate as tg, tank_model; s = tg.Simulation.load('tank.sim', tank_model.Tank()); s.advance(5); print(repr(s['level']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    simulation.advance(5.0)
    assert float(done.stdout) == pytest.approx(simulation["level"], rel=1e-7)


@pytest.mark.slow
def test_a_simulation_is_saved_before_its_first_advance_and_after_a_failure(tmp_path: Path) -> None:
    model = tank(tmp_path)
    tg.Simulation(model).set({"level": 0.9}).save(tmp_path / "fresh")
    fresh = tg.Simulation.load(tmp_path / "fresh", model)
    assert fresh.advance(0.1).final["level"] > 0.9
    with pytest.raises(tg.TooManyStepsError):
        fresh.advance(5.0, max_steps=3)
    fresh.save(tmp_path / "failed")
    failed = tg.Simulation.load(tmp_path / "failed", model, max_steps=None, method="ida")
    assert (failed.status, failed.time) == ("failed", fresh.time)
    failed.advance(5.0)
    assert failed.status == "ready"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ((("level = tg.State(0.5", "height = tg.State(0.5"), ("self.level", "self.height")), "variable level missing; variable height added"),
        ((("0.1 * self.level", "0.2 * self.level"),), "equation 1 .*changed; definition leak changed"),
        ((("level > 1.0", "level > 1.1"),), "event clause when 1.1 .stop. changed"),
        ((("every(0.7)", "every(0.8)"),), "event clause at 1 .clock. changed"),
        ((('unit="m"', 'unit="cm"'),), "variable width changed"),
    ],
)
def test_another_model_is_refused_with_what_differs(tmp_path: Path, changes: Any, sentence: str) -> None:
    saved(tmp_path)
    with pytest.raises(tg.UsageError, match=rf"was saved from another model .Tank.: .*{sentence}"):
        tg.Simulation.load(tmp_path / "tank.sim", tank(tmp_path, *changes))


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.sim"
    path.write_bytes(MAGIC + packed("simulation", {"format": 99, "tidegate": "9.1"}) + packed("end"))
    with pytest.raises(tg.UsageError, match=r"has format 99, of tidegate 9.1; this is .*\n  try: update tidegate"):
        tg.Simulation.load(path, tank(tmp_path))


@pytest.mark.parametrize("damage", ["cut", "short", "flipped", "empty", "other", "pickle"])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: str) -> None:
    saved(tmp_path)
    path = tmp_path / "tank.sim"
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "cut": data[:-1],
            "short": data[:20],
            "flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
            "other": b"time,level\n0,1\n",
            "pickle": b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94.",
        }[damage]
    )
    with pytest.raises(tg.UsageError, match="damaged"):
        tg.Simulation.load(path, tank(tmp_path))


def test_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(tg.UsageError, match="there is no file"):
        tg.Simulation.load(tmp_path / "none.sim", tank(tmp_path))
    with pytest.raises(tg.UsageError, match="there is no folder"):
        tg.Simulation(tank(tmp_path)).save(tmp_path / "none" / "tank.sim")


@pytest.mark.slow
def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    simulation = saved(tmp_path)
    simulation.advance(4.0)
    simulation.save(tmp_path / "tank.sim")
    assert [path.name for path in tmp_path.glob("*.sim*")] == ["tank.sim"]
    assert tg.Simulation.load(tmp_path / "tank.sim", tank(tmp_path)).time == 4.0


def test_numbers_survive_bit_by_bit(tmp_path: Path) -> None:
    simulation = saved(tmp_path)
    loaded = tg.Simulation.load(tmp_path / "tank.sim", tank(tmp_path))
    assert np.array_equal(loaded.result.values, simulation.result.values)
    assert loaded.result.sensitivities is not None
    assert np.array_equal(loaded.result.sensitivities, simulation.result.sensitivities)
