"""Random components whose clauses yield equations, against plain Python (``random_instants``), and verified."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidegate as tg
from random_instants import Instants, UnclearError
from source_text_checks import differences, exported
from written_source import space_of

CLOSE = 1e-5  # times of crossings are right to 1e-8, and each moves a state by no more than its rates and jumps are large


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_equations_of_random_clauses_hold_in_their_rounds(seed: int) -> None:
    made = 0
    for number in range(3 * seed, 3 * seed + 3):
        model = Instants(number)
        try:
            want = model.final()
        except UnclearError:
            continue
        made += 1
        result = tg.simulate(space_of(model.source(), f"<instants {number}>")["model"], (0.0, model.end), rtol=1e-8)
        assert {name: result.final[name] for name in want} == pytest.approx(want, rel=CLOSE, abs=CLOSE), number
        check = tg.verify(result, points=3)
        assert check.ok, (number, str(check))
    assert made


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_so_they_do_in_exported_blocks(seed: int, tmp_path: Path) -> None:
    made = Instants(seed)
    model = space_of(made.source(), f"<instants {seed}>")["model"]
    block, names = exported(model, f"instants{seed}", tmp_path, "c")
    assert differences(model, (0.0, made.end), block, names) == []
