"""What every callback of a compiled block is given, and when it is called (DSblock 3.3, calling order): said by the block itself."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg

BLOCK = Path(__file__).parent / "blocks" / "witness.c"
OPTIONS: dict[str, Any] = {"inputs": {"U": 3.0}, "outputs": 0.25, "rtol": 1e-9}


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Callbacks in order, with their times; nothing the interface does not promise."""
    lines = [message.partition(": ")[2] for message in caplog.messages if message.startswith("DSblock wit: ")]
    assert [line for line in lines if line.startswith("violated")] == []
    return [line.removeprefix("called ") for line in lines]


def run(caplog: pytest.LogCaptureFixture, span: tuple[float, float] = (0.0, 1.5), **options: Any) -> tuple[list[str], Any]:
    """What was called, and the result."""
    with caplog.at_level(logging.INFO, logger="tidegate.dsblock"):
        block = tg.dsblock.build(BLOCK, prefix="wit")
        try:
            result = tg.simulate(block, span, **OPTIONS, **options)
        except tg.RunError as error:
            result = error.result
        block.close()
    return said(caplog), result


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_callbacks_come_in_the_order_of_the_interface_with_what_it_promises(caplog: pytest.LogCaptureFixture, method: str) -> None:
    calls, result = run(caplog, method=method)
    kinds = [call.split()[0] for call in calls]
    assert kinds[:2] in (["P0", "S"], ["S", "K"])
    assert (kinds.count("S"), kinds.count("T1"), kinds[-2:]) == (1, 1, ["T1", "C"])
    # X1 = t + t^2 is LEVEL = 0.75 at 0.5, with the first time event: one call
    assert [call for call in calls if call.startswith("V")] == ["V12 0.500000", "V1 1.250000"]
    communicated = [float(call.split()[1]) for call in calls if call.startswith("K")]
    assert communicated[0] == 0.0
    assert communicated[-1] == 1.5
    assert {0.25 * k for k in range(7)} <= set(communicated)
    assert result.final["Y"] == pytest.approx(1.5 + 1.5**2 + 3.0)


def test_a_changed_parameter_is_told_by_its_places_and_then_that_changing_ends(caplog: pytest.LogCaptureFixture) -> None:
    calls, _ = run(caplog, parameters={"LEVEL": 0.5, "MODE": 0})
    kinds = [call.split()[0] for call in calls]
    first = kinds.index("S")
    assert sorted(set(kinds[:first])) in (["P0", "P1", "P3"], ["P0", "P3"])
    assert kinds[first - 1] == "P0"


@pytest.mark.parametrize(
    ("mode", "end"), [(0, "T1 1.500000"), (1, "T1 0.500000"), (2, "T2 0.500000"), (3, "T1 1.250000"), (4, "T2 1.250000"), (5, "T2")]
)
def test_blockt_is_told_how_the_run_has_ended(caplog: pytest.LogCaptureFixture, mode: int, end: str) -> None:
    calls, result = run(caplog, parameters={"MODE": mode})
    assert [call for call in calls if call.startswith("T")][-1].startswith(end)
    if end.startswith("T1"):
        assert result.t[-1] == pytest.approx(float(end.removeprefix("T1 ")))
    assert calls[-1].startswith("C")


def test_an_event_at_the_end_is_stored_twice_and_then_the_run_ends(caplog: pytest.LogCaptureFixture) -> None:
    calls, result = run(caplog, span=(0.0, 1.25), store_priority=100)
    assert [call for call in calls if call[0] in "VT"] == ["V12 0.500000", "V1 1.250000", "T1 1.250000"]
    assert result.t[-2:].tolist() == [1.25, 1.25]
