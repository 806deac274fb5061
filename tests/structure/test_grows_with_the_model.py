"""What translation does, and what a run takes, grows as a model of parts does: counted in calls of functions and in numbers, not in seconds."""

from __future__ import annotations

import cProfile
import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from benchmarks.component_models import chain, ladder, plate

import tidegate as tg
from tidegate.model.validate import validate
from tidegate.simulate import compiled_of
from tidegate.structure import PASSES
from tidegate.structure.passes import reduced

__all__: list[str] = []

# cells of a smaller and of a larger model, and how many times more unknowns the larger one has
MODELS = {"ladder": (ladder, 10, 40, 4.0), "plate": (plate, 4, 8, 4.3), "chain": (chain, 8, 32, 4.0)}


def _calls(work: Callable[[], object]) -> int:
    profile = cProfile.Profile()
    profile.enable()
    try:
        work()
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def _translated(source: Any) -> None:
    model = source.lower()
    validate(model)
    reduced(model, PASSES)


@pytest.mark.hunt
@pytest.mark.parametrize("name", list(MODELS))
def test_translation_calls_as_many_functions_for_every_part_however_many_there_are(name: str) -> None:
    make, few, many, times = MODELS[name]
    _translated(make(few))  # what is loaded or kept once
    small, large = (_calls(lambda n=n: _translated(make(n))) for n in (few, many))
    # every search for a part among all of them would make four times as many parts sixteen times the work
    assert large <= 1.15 * times * small


@pytest.mark.hunt
@pytest.mark.parametrize("name", list(MODELS))
def test_memory_of_a_run_grows_with_the_model_and_not_with_pairs_of_its_unknowns(name: str) -> None:
    make, few, many, times = MODELS[name]
    sizes: list[int] = []
    larger = 2 if name == "plate" else 4
    for n in (larger * few, larger * many):
        run: Any = tg.prepare(make(n), (0.0, 1.0), dense=False).integrator()
        sizes.append(len(run._work.r) + len(run._work.h))
    # factors of a plate grow with n log n
    assert sizes[1] <= 1.6 * times * sizes[0]


@pytest.mark.hunt
@pytest.mark.parametrize("name", list(MODELS))
def test_memory_of_translation_grows_with_the_model_and_not_with_pairs_of_its_unknowns(name: str) -> None:
    make, few, many, times = MODELS[name]
    if name != "plate":  # tracing memory takes ten times as long as what is traced
        few, many = few // 2, many // 2
    compiled_of(make(few))  # what is loaded or kept once
    small, large = (_peak(lambda n=n: compiled_of(make(n))) for n in (few, many))
    assert large <= 1.15 * times * small


def _peak(work: Callable[[], object]) -> int:
    """The most bytes that were taken at one time, the lesser of two times: a table of the process (of strings, say) may outgrow its place in one."""
    peaks: list[int] = []
    for _ in range(2):
        gc.collect()
        tracemalloc.start()
        try:
            work()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)
