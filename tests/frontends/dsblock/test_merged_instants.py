"""Events that are equal in time within the tolerance of BLOSID(1) are one, and none is lost (DSblock 3.3, BLOCKV: called exactly once)."""

from __future__ import annotations

from typing import Any

import pytest

import tidegate as tg


class Two(tg.DSblock):
    """``x' = 1``: a time event 1/2 behind the start, and two indicators that cross a little before or behind it."""

    def __init__(self, *offsets: float) -> None:
        self.offsets = offsets

    def define(self, declare: Any) -> None:
        declare.state("X")
        declare.indicator("Z", shape=(2,))
        for name in ("CALLS", "TICKS", "FIRST", "SECOND", "TOGETHER"):
            declare.discrete(name)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 1.0

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"Z": [x.X - 0.5 - offset for offset in self.offsets]}

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        return tg.dsblock.Start(next_event=t0 + 0.5)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        m.CALLS += 1
        m.TICKS += happening.time
        m.FIRST += "Z[0]" in happening.zero
        m.SECOND += "Z[1]" in happening.zero
        m.TOGETHER = max(m.TOGETHER, happening.time + len(happening.zero))
        return tg.dsblock.EventAction()


@pytest.mark.parametrize("traced", [None, False])
@pytest.mark.parametrize(
    ("offsets", "calls", "together"),
    [
        ((0.0, 0.0), 1, 3),
        ((1e-15, -1e-15), 1, 3),
        ((1e-13, 3e-12), 1, 3),
        ((-1e-12, 4e-11), 1, 3),
        ((-4e-11, -3e-11), 1, 3),
        ((2e-11, 0.1), 2, 2),
        ((0.1, 0.1 + 1e-11), 2, 2),
        ((0.1 + 1e-9, 0.1), 3, 1),
        ((-1e-9, 1e-9), 3, 1),
    ],
)
def test_what_happens_within_the_tolerance_is_one_call_and_none_is_lost(
    offsets: tuple[float, float], calls: int, together: int, traced: bool | None, method: str
) -> None:
    final = tg.simulate(Two(*offsets), (0.0, 1.0), rtol=1e-8, traced=traced, method=method).final
    assert [final[name] for name in ("TICKS", "FIRST", "SECOND")] == [1.0, 1.0, 1.0]
    assert (final["CALLS"], final["TOGETHER"]) == (calls, together)


@pytest.mark.slow
@pytest.mark.parametrize("traced", [None, False])
@pytest.mark.parametrize(
    ("start", "offsets", "calls", "together"), [(-0.5, (1e-13, 3e-12), 1, 3), (-0.5, (-3e-12, 1e-9), 2, 2), (1e6, (1e-6, -1e-6), 3, 1)]
)
def test_the_tolerance_is_one_of_the_time_since_the_start(
    start: float, offsets: tuple[float, float], calls: int, together: int, traced: bool | None
) -> None:
    final = tg.simulate(Two(*offsets), (start, start + 1.0), rtol=1e-8, traced=traced).final
    assert [final[name] for name in ("TICKS", "FIRST", "SECOND")] == [1.0, 1.0, 1.0]
    assert (final["CALLS"], final["TOGETHER"]) == (calls, together)
