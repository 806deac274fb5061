"""Random components whose clauses drive each other in rounds, against plain Python (``random_machines``), and verified."""

from __future__ import annotations

import pytest

import tidegate as tg
from random_machines import Machine, UnclearError
from written_source import space_of

CLOSE = 1e-6  # times of crossings are right to 1e-12, and each moves a state by no more than its rates and jumps are large


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_rounds_of_random_clauses_are_those_of_plain_python(seed: int) -> None:
    made = 0
    for number in range(3 * seed, 3 * seed + 3):
        machine = Machine(number)
        try:
            want = machine.final()
        except UnclearError:
            continue
        made += 1
        result = tg.simulate(space_of(machine.source(), f"<machine {number}>")["model"], (0.0, machine.end), rtol=1e-8)
        assert {name: result.final[name] for name in want} == pytest.approx(want, rel=CLOSE, abs=CLOSE), number
        check = tg.verify(result, points=3)
        assert check.ok, (number, str(check))
    assert made
