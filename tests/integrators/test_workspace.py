"""Native code writes only where the workspace says: every array is surrounded by numbers that must stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples import buck_converter, carver_circuit, hidden_crossing, stiff_relay

import tidegate as tg
from tidegate.compiled import workspace
from tidegate.integrators.interface import Records, Stop
from tidegate.integrators.kernel_cache import kernel

__all__: list[str] = []

FENCE = -77.0
LENGTH = 400


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
    buffer: Callable[[int], np.ndarray] = module._buffer

    def fenced(self: Any, numbers: dict[int, int], whole: dict[int, int]) -> None:
        begin(self, numbers, whole)
        self.h, self.r, self.asked = found.around(self.h), found.around(self.r), numbers

    monkeypatch.setattr(workspace.Workspace, "__init__", fenced)
    monkeypatch.setattr(module, "_buffer", lambda width: found.around(buffer(width)))
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
    for offset, size in ((int(work.h[name]), size) for name, size in work.asked.items()):
        gap = work.r[offset + size : offset - (-max(size, 1) // 8) * 8]
        assert not gap.any()
