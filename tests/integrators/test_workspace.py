"""Native code writes only where the workspace says: every array is surrounded by numbers that must stay as they are."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import buck_converter, carver_circuit, hidden_crossing, stiff_relay

import tidegate as tg
from tidegate.compiled import workspace
from tidegate.compiled.schema import CORE, FIELDS, RADAU, SUNDIALS
from tidegate.compiled.workspace import INDEX_OF
from tidegate.integrators.interface import Records, Stop
from tidegate.integrators.kernel_cache import kernel

__all__: list[str] = []

FENCE = -77.0
LENGTH = 400
STAGES_OF_RADAU = {"nodes", "inverse", "residuals", "sens_system", "sens_pivots", "sens_right", "sens_new"}  # radau/sensitivities works on its stages


class Fences:
    """Longer arrays than the run knows of, with fences behind them."""

    def __init__(self) -> None:
        self.arrays: list[tuple[np.ndarray, int]] = []

    def around(self, array: np.ndarray) -> np.ndarray:
        longer = np.full(array.size + LENGTH, FENCE, dtype=array.dtype)
        longer[: array.size] = array.ravel()
        self.arrays.append((longer, array.size))
        return longer[: array.size].reshape(array.shape)

    def stand(self) -> bool:
        return all(np.all(array[size:] == FENCE) for array, size in self.arrays)


@pytest.fixture
def fences(monkeypatch: pytest.MonkeyPatch) -> Fences:
    found = Fences()
    module: Any = kernel("tidegate.integrators.native_run")
    begin: Callable[..., None] = workspace.Workspace.__init__
    buffer: Callable[[np.dtype[np.void]], np.ndarray] = module._buffer

    def fenced(self: Any, sizes: dict[str, int], owners: tuple[str, ...]) -> None:
        begin(self, sizes, owners)
        self.h, self.r = found.around(self.h), found.around(self.r)

    monkeypatch.setattr(workspace.Workspace, "__init__", fenced)
    monkeypatch.setattr(module, "_buffer", lambda kind: found.around(buffer(kind).view(np.float64)).view(kind))
    return found


@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-10])
@pytest.mark.parametrize("sensitivities", [None, "all"])
@pytest.mark.parametrize("example", [buck_converter, carver_circuit, hidden_crossing, stiff_relay])
def test_a_run_writes_only_into_its_own_arrays(fences: Fences, example: Any, sensitivities: str | None, rtol: float) -> None:
    end = example.t_span[1]
    run = tg.prepare(example.model, (0.0, end), rtol=rtol, sensitivities=sensitivities, outputs=end / 7, event_rows=True)
    integrator: Any = run.integrator()
    work = integrator._work
    stop = integrator.start()
    while stop is Stop.LIMIT:
        stop = integrator.advance(10_000)
        integrator.collect(Records())
    assert stop is Stop.TARGET
    assert fences.stand()
    for field in FIELDS:
        if field.part_of or field.shape is None or field.kind == "integer" or field.owner not in (CORE, RADAU):
            continue
        begin = int(work.h[INDEX_OF[field.name]])
        size = work.numbers(field.name).size
        assert not work.r[begin + size : begin - (-max(size, 1) // 8) * 8].any(), field.name


def test_no_two_entries_have_one_name() -> None:
    names = [field.name for field in FIELDS]
    assert len(set(names)) == len(names)


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "stranger"), [("radau", SUNDIALS), ("sundials", RADAU)])
def test_methods_name_no_memory_of_each_other(folder: str, stranger: str) -> None:
    """What a method's own runs have is touched in its folder only: elsewhere it stands nowhere."""
    strange = {field.name for field in FIELDS if field.owner == stranger}
    shared = {field.name for field in FIELDS if field.owner != CORE}
    root = Path(tg.__file__).parent
    assert not strange & names_of_a_run(root / "integrators" / folder)
    for kernel_folder in ("events", "sensitivity"):
        assert not shared & names_of_a_run(root / kernel_folder) - STAGES_OF_RADAU


def names_of_a_run(folder: Path) -> set[str]:
    """Everything behind ``run.`` in a folder."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in folder.glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return {node.attr.removesuffix("_at") for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "run"}
