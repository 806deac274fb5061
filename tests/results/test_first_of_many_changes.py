"""What is said of an event that changes more than fits into a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.results import Column, Event
from tidegate.results.event_log import largest


class Fan(tg.Component):
    """A switch that a dozen variables follow."""

    x, on = tg.State(0.0), tg.Discrete(True)
    follows = tg.Algebraic(shape=12)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == 1.0
        for k in range(12):
            yield self.follows[k] == tg.where(self.on, 1.0 + k, 0.0) * (-1.0) ** k

    @tg.when(lambda self: self.x > 0.5)
    def stop(self) -> Any:
        return {self.on: False}


@pytest.mark.slow
def test_what_a_clause_sets_comes_first_and_zeros_have_no_sign() -> None:
    (event,) = tg.simulate(Fan(), (0.0, 1.0)).events
    assert event.change_text().startswith("on: True -> False, follows[0]: 1 -> 0, follows[1]: -2 -> 0 and ")
    assert event.change_text(20).startswith("follows[0]: 1 -> 0")


def test_counts_keep_their_digits() -> None:
    counted = Event(
        0,
        1.0,
        "state",
        before={"n": 131574.0, "x": 131574.0},
        after={"n": 131575.0, "x": 131575.0},
        sizes=largest([Column("n", "discrete")], np.ones((1, 1))),
    )
    assert counted.change_text() == "n: 131574 -> 131575"
