"""Names that leave out which part of an array is meant stand for the variables of all of them, wherever names are given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import tidegate as tg
from tidegate.cli.app import app
from tidegate.part_paths import across_parts


class Cell(tg.Component):
    T, n = tg.State(2.0, unit="K"), tg.Discrete(0)
    k = tg.Parameter(1.0)
    x = tg.State([1.0, 2.0, 3.0])

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.T) == -self.k * self.T
        yield tg.der(self.x) == -self.x

    @tg.when(lambda self: self.T < 1)
    def cool(self) -> Any:
        return {self.n: self.n + 1}


class Row(tg.Component):
    cell = tg.Array(Cell, 2, k=lambda self, i: 1.1 + 0.1 * i)
    grid = tg.Array(Cell, (2, 3), k=lambda self, i, j: 1.5 + 0.1 * i + 0.3 * j)


@pytest.mark.slow
@given(st.lists(st.integers(1, 3), min_size=1, max_size=2), st.lists(st.integers(1, 3), max_size=2), st.booleans(), st.randoms())
def test_places_are_those_of_the_array_that_numpy_would_make(parts: list[int], own: list[int], is_written: bool, random: Any) -> None:
    indices = [*np.ndindex(*parts)]
    elements = [*np.ndindex(*own)] if own else [()]

    def index(place: tuple[int, ...]) -> str:
        return f"[{','.join(map(str, place))}]" if place else ""

    paths = [f"a{index(part)}.b.x{index(element)}" for part in indices for element in elements]
    names = [*paths, "a.b", "x", "a.c.x", "ab.x[0]"]
    random.shuffle(names)
    name, shape, chosen = "a.b.x", (*parts, *own), paths
    if is_written:
        first = index(indices[0])
        name, shape, chosen = f"a{first}.b.x", tuple(own), [path for path in paths if path.startswith(f"a{first}.")]
    found = across_parts(name, names)
    if not shape:
        assert found is None
        return
    assert found is not None
    assert (found.shape, len(found.dimensions)) == (shape, len(shape))
    assert [names[place] for place in found.places] == chosen


@pytest.mark.parametrize("names", [["a[0].x", "a[2].x"], ["a[0].x", "a[1].x[0]"], ["a[0].x", "a[0,1].x"], ["b[0].x"]])
def test_what_is_not_there_for_every_part_is_no_array(names: list[str]) -> None:
    assert across_parts("a.x", names) is None


@pytest.mark.slow
def test_results_give_the_variables_of_all_parts_as_one_array() -> None:
    result = tg.simulate(Row(), (0.0, 1.0), sensitivities=["cell.k"])
    assert result["cell.T"].dims == ("time", "cell")
    assert result["cell.x"].dims == ("time", "cell", "cell.x_0")
    assert result["grid.T"].dims == ("time", "grid_0", "grid_1")
    assert result["cell.T"].attrs["units"] == "K"
    for i in range(2):
        assert result["cell.T"][:, i].values.tolist() == result[f"cell[{i}].T"].values.tolist()
        assert result["cell.x"][:, i, 2].values.tolist() == result[f"cell[{i}].x[2]"].values.tolist()
        assert result["grid.n"][:, i, 2].values.tolist() == result[f"grid[{i},2].n"].values.tolist()
        assert (
            result.sensitivity("cell.T")[:, 1, i].values.tolist()
            == result.sensitivity("cell.T", "cell[1].k")[:, i].values.tolist()
            == result.sensitivity(f"cell[{i}].T", "cell[1].k").values.tolist()
        )
    assert (result["cell.T"] * result["cell.n"]).dims == ("time", "cell")
    assert result.at(0.5, "cell.T").values.tolist() == [float(result.at(0.5, f"cell[{i}].T")) for i in range(2)]
    assert result.resample([0.0, 0.5], ["grid.T"])["grid.T"].shape == (2, 2, 3)
    assert len(result.plot("grid.T").axes[0].get_lines()) >= 6
    assert "cell.T" not in result.names


@pytest.mark.slow
def test_runs_take_values_for_all_parts() -> None:
    result = tg.simulate(Row(), (0.0, 1.0), parameters={"cell.k": [1.0, 2.0], "grid.k": 0.0}, y0={"cell.T": [3.0, 4.0], "cell.x": 5.0}, rtol=1e-9)
    np.testing.assert_allclose(result["cell.T"][-1], [3 * np.exp(-1), 4 * np.exp(-2)], rtol=1e-8)
    assert result["cell.x"][0].values.tolist() == [[5.0] * 3] * 2
    assert result["grid.T"][-1].values.tolist() == [[2.0] * 3] * 2
    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert tg.simulate(Row(), (0.0, 1.0), y0={"cell.x": rows})["cell.x"][0].values.tolist() == rows
    names = ("cell[0].T(0)", "cell[1].T(0)")
    assert tg.simulate(Row(), (0.0, 1.0), sensitivities=["cell.T(0)"]).sensitivity_parameters == names


@pytest.mark.slow
def test_a_simulation_reads_and_sets_all_parts() -> None:
    simulation = tg.Simulation(Row())
    simulation["cell.T"] = [3.0, 4.0]
    simulation.set({"cell.k": 0.0})
    simulation.advance(1.0)
    assert np.asarray(simulation["cell.T"]).tolist() == [3.0, 4.0]
    assert simulation["cell[1].k"] == 0.0


def test_limits_of_every_part_are_looked_at() -> None:
    class Limited(tg.Component):
        x, k = tg.State(1.0), tg.Parameter(1.0, min=0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.k

    class Two(tg.Component):
        one = tg.Array(Limited, 2)

    with pytest.raises(tg.UsageError, match=r"one\[1\].k"):
        tg.simulate(Two(), (0.0, 1.0), parameters={"one.k": [1.0, -1.0]})
    with pytest.raises(tg.UsageError, match=r"one\[1\].k"):
        tg.Simulation(Two())["one.k"] = [1.0, -1.0]


@pytest.mark.parametrize(
    ("options", "said"),
    [({"parameters": {"cell.k": [1.0, 2.0, 3.0]}}, r"shape \(2,\)"), ({"y0": {"cell.T": [1.0, 2.0, 3.0]}}, r"shape \(3,\) for cell.T")],
)
def test_values_must_be_as_many_as_the_parts(options: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.UsageError, match=said):
        tg.simulate(Row(), (0.0, 1.0), **options)


@pytest.mark.slow
def test_the_command_line_sets_all_parts(tmp_path: Path) -> None:
    lines = Path(__file__).read_text(encoding="utf-8")
    head = "from collections.abc import Iterator\nfrom typing import Any\nimport tidegate as tg\n\n"
    file = tmp_path / "row.py"
    file.write_text(head + lines[lines.index("class Cell") : lines.index("@pytest.mark.slow\n@given")], encoding="utf-8")
    command = [
        "run",
        f"{file}:Row",
        "--until",
        "1",
        "--set",
        "cell.k=0",
        "--set",
        "cell.T=7",
        "--sensitivity",
        "grid.k",
        "--out",
        str(tmp_path / "x.nc"),
    ]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 0, found.output
    result = tg.Result.load(tmp_path / "x.nc")
    assert result["cell.T"][-1].values.tolist() == [7.0, 7.0]
    assert len(result.sensitivity_parameters) == 6
    twice = CliRunner().invoke(app, [*command, "--set", "cell[1].k=1"])
    assert "cell[1].k is given twice" in twice.output
