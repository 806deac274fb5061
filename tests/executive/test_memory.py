"""Memory: runs leave nothing behind, and a run needs as much as it stores.

What a process holds is asked from the operating system, since native code takes memory that Python does not see. The bounds are far above what the
allocator keeps for itself (some 100 KiB) and far below what one array left behind by each run would cost.
"""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []

KIB = 1024
STATUS = Path("/proc/self/statm")
needs_proc = pytest.mark.skipif(not STATUS.exists(), reason="the size of the process is read from /proc")


class Drip(tg.Component):
    level = tg.State(1.0)
    drops = tg.Discrete(0.0)
    rate = tg.Parameter(3.0)

    def equations(self):
        yield tg.der(self.level) == -self.rate * self.level

    @tg.when(lambda self: self.level < 0.5)
    def fill(self):
        return {self.level: 1.0, self.drops: tg.pre(self.drops) + 1.0}


def resident() -> int:
    """Bytes of this process in memory."""
    return int(STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(run: Callable[[], object], *, warm_up: int, runs: int) -> int:
    for _ in range(warm_up):
        run()
    gc.collect()
    before = resident()
    for _ in range(runs):
        run()
    gc.collect()
    return resident() - before


@pytest.mark.slow
@needs_proc
def test_runs_of_a_prepared_model_leave_nothing_behind() -> None:
    prepared = tg.prepare(Drip(), (0.0, 3.0), sensitivities=["rate"])
    assert prepared.run().final["drops"] > 5.0
    assert growth(prepared.run, warm_up=100, runs=300) < 300 * KIB  # a KiB a run; the smallest buffer of a run has more


@pytest.mark.slow
@needs_proc
def test_models_simulated_anew_leave_nothing_behind() -> None:
    def simulate() -> object:
        return tg.simulate(Drip(), (0.0, 3.0))

    # the machine code alone of one model has more than 8 KiB
    assert growth(simulate, warm_up=50, runs=100) < 100 * 8 * KIB


@pytest.mark.slow
def test_a_model_and_its_machine_code_go_without_the_garbage_collector() -> None:
    tg.simulate(Drip(), (0.0, 1.0))
    gc.collect()
    gc.disable()
    try:
        before = sum(type(item).__name__ == "CompiledModel" for item in gc.get_objects())
        tg.simulate(Drip(), (0.0, 1.0))
        assert sum(type(item).__name__ == "CompiledModel" for item in gc.get_objects()) == before
    finally:
        gc.enable()


@pytest.mark.hunt
@needs_proc
@pytest.mark.parametrize("t_end", [2e3, 2e4])
def test_a_long_run_with_few_outputs_needs_no_more_memory_than_a_short_one(t_end: float) -> None:
    model = tg.ode(lambda t, y: [y[1], -y[0]], y0=[1.0, 0.0])
    options = {"outputs": [0.0, t_end], "dense": False, "event_rows": False, "rtol": 1e-8}
    tg.prepare(model, (0.0, 100.0), **{**options, "outputs": [0.0, 100.0]}).run()
    gc.collect()
    before = resident()
    result = tg.prepare(model, (0.0, t_end), **options).run()
    steps = result.statistics.steps
    assert steps > 0.8 * t_end
    # a step that was kept, with time and two unknowns, would be 24 bytes, and its polynomial ten times that
    assert resident() - before < 200 * KIB + 4 * steps
    assert len(result.t) == 2


def test_what_a_run_needs_is_a_few_times_what_it_stores() -> None:
    model = tg.ode(lambda t, y: [y[1], -y[0]], y0=[1.0, 0.0])
    prepared = tg.prepare(model, (0.0, 1e4), outputs=np.linspace(0.0, 1e4, 100_001), dense=False)
    prepared.run()
    tracemalloc.start()
    try:
        result = prepared.run()
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    stored = result.t.nbytes + sum(result[name].nbytes for name in ("y[0]", "y[1]"))
    # rows come in buffers of fixed size, are put together once, and are then split into times and values
    assert held < 3 * stored + 256 * KIB
    assert most < 5 * stored + 1024 * KIB
