"""Random diagrams of all blocks against the same in small steps of plain Python (``tests/random_diagrams.py``)."""

from __future__ import annotations

import math

import pytest

import tidegate as tg
from random_diagrams import TIMES, Unclear, Written

__all__: list[str] = []

_METHODS = ("auto", "radau", "rodas5p", "bdf")
_CLEAR = 0.1  # how far two truths may be apart
_ALLOWED = (
    1e-2  # of a signal: an event is known to within a step in the truth, and what comes of it is not multiplied by more than this is of the step
)


def check(seed: int) -> bool:
    """False where the truth is not clear."""
    written = Written(seed)
    try:
        coarse, fine = written.in_steps(0.004), written.in_steps(0.002)
    except (Unclear, OverflowError):
        return False
    doubt = [max(abs(x - y) for x, y in zip(*pair, strict=True)) for pair in zip(coarse, fine, strict=True)]
    if not max(doubt) < _CLEAR or not all(math.isfinite(x) for row in fine for x in row):
        return False
    try:
        result = tg.simulate(written.model(), (0.0, TIMES[-1]), method=_METHODS[seed % 4], rtol=1e-8, atol=1e-9, outputs=TIMES, event_rows=False)
    except tg.ChatteringError:
        return False
    worst = 0.0  # what is doubtful once makes doubtful what follows
    for at, row in enumerate(fine):
        worst = max(worst, doubt[at])
        for k, value in enumerate(row):
            found = float(result[f"b{k}"].values[at])
            near = abs(found - value) <= _ALLOWED * (1.0 + abs(value)) + 30.0 * worst or abs(found - coarse[at][k]) <= _ALLOWED
            assert near, (seed, TIMES[at], f"b{k} is {found}, and {value} in small steps")
    return True


@pytest.mark.slow
def test_random_diagrams_do_what_their_blocks_say() -> None:
    assert sum(check(seed) for seed in range(8)) >= 6


@pytest.mark.hunt
def test_many_random_diagrams_do_what_their_blocks_say() -> None:
    assert sum(check(seed) for seed in range(100, 130)) >= 24
