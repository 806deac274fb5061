"""What another run goes on from lies together in the memory of a run, and is copied and put back as it lies."""

from __future__ import annotations

import numpy as np
import pytest
from examples import bouncing_ball, carver_circuit

import tidegate as tg
from tidegate.compiled.workspace import INDEX_OF
from tidegate.integrators import run_state

__all__: list[str] = []


def test_numbers_and_integers_lie_one_behind_the_other() -> None:
    for names in (run_state._NUMBERS, run_state._INTEGERS):
        first = INDEX_OF[names[0]]
        assert [INDEX_OF[name] for name in names] == list(range(first, first + len(names)))


@pytest.mark.parametrize("model", [bouncing_ball.model, carver_circuit.model])
def test_every_array_is_what_stands_in_memory(model: object) -> None:
    prepared = tg.prepare(model, (0.0, 0.03), sensitivities="all")
    run = prepared.integrator()
    run.start()
    work, state = run._work, run.state()
    assert list(state) == [*run_state._ARRAYS, "progress"]
    rng = np.random.default_rng(1)
    for array in run_state._ARRAYS.values():
        work.numbers(array)[:] = rng.random(work.numbers(array).size)
    new = run.state()
    for name, array in run_state._ARRAYS.items():
        assert new[name].tolist() == work.numbers(array).tolist()
    assert new["progress"].tolist() == [work[name] for name in (*run_state._NUMBERS, *run_state._INTEGERS)]
    run._kept.put(state)
    for name, array in run_state._ARRAYS.items():
        assert work.numbers(array).tolist() == state[name].tolist()
