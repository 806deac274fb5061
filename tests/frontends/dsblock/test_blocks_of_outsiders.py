"""Compiled blocks in styles of their own, each written from the document of 1994 alone, against closed forms."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from tidegate.frontends.dsblock.compiled.answers import ModelAnswers

BLOCKS = Path(__file__).parent / "blocks"
KICKS = [math.pi / 4, math.pi / 4 + math.pi]  # cos(2 t) falls through zero


@pytest.mark.slow
@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_block_data_common_equivalence_entries_and_statement_functions(isolate: bool) -> None:
    block = tg.dsblock.build(BLOCKS / "antique.f", prefix="ant", isolate=isolate)
    assert (block.declared.text, block.declared.version) == ("ANTIQUE  block", "78")
    result = tg.simulate(block, (0.0, 5.0), inputs={"FORCE": 0.0}, parameters={"OMEGA": 2.0}, rtol=1e-9, outputs=0.5)
    assert [event.time for event in result.events] == pytest.approx(KICKS, abs=1e-7)
    level = ((4.0 * math.exp(-KICKS[0] / 2) + 1.0) * math.exp(-math.pi / 2) + 1.0) * math.exp(-(5.0 - KICKS[1]) / 2)
    assert result["PAIR"].values[-1] == pytest.approx([math.cos(10.0), level], abs=1e-6)
    assert (result.final["KICKS"], result.final["ENERGY"]) == (2.0, pytest.approx(2.0, abs=1e-6))
    other = tg.simulate(block, (0.0, 5.0), inputs={"FORCE": 0.0}, parameters={"OMEGA": 1.0, "KICKED": False}, rtol=1e-9)
    assert [other.final[name] for name in ("POS", "LEVEL", "KICKS")] == pytest.approx([math.cos(5.0), 4.0 * math.exp(-2.5), 1.0], abs=1e-6)
    block.close()


@pytest.mark.slow
@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_objects_and_exceptions_of_cpp(isolate: bool) -> None:
    block = tg.dsblock.build(BLOCKS / "harvest.cpp", prefix="pop", isolate=isolate)
    result = tg.simulate(block, parameters={"PART": 0.5, "GROWTH": [2.0, 5.0, 0.25]}, rtol=1e-9)
    x, taken, biggest = 2.0, 0.0, 0.0
    for _ in range(11):
        x = 5.0 / (1 + (5.0 / x - 1) * math.exp(-0.5))
        taken, biggest = taken + x / 2, max(biggest, x / 2)
        x /= 2
    assert len(result.events) == 11
    assert [result.final[name] for name in ("X", "HARVEST", "N", "BIGGEST")] == pytest.approx([x, taken, 11.0, biggest], abs=1e-7)
    with pytest.raises(tg.CallbackError, match=r"BLOCKF \(popF\) of DSblock pop reports an error \(IERR = 1\) .*: a population cannot be negative"):
        tg.simulate(block, y0={"X": -1.0})
    block.close()


@pytest.mark.slow
def test_every_utility_by_its_face_for_c(caplog: pytest.LogCaptureFixture) -> None:
    block = tg.dsblock.build(BLOCKS / "every.c", prefix="every", data_file="the data")
    assert (block.declared.text, block.declared.version) == ("this model", "2.0")
    with caplog.at_level(logging.INFO, logger="tidegate.dsblock"), pytest.warns(tg.DSblockWarning) as warned:
        result = tg.simulate(block, inputs={"C": 0.0, "D": [[0.0, 1.0]]}, rtol=1e-8)
    assert [str(each.message) for each in warned] == [
        "DSblock every: a warning", "DSblock every: value 7, 0.5, 0.25,\nand text"
    ] or [str(each.message).partition(": ")[2] for each in warned][:2] == ["a warning", "value 7, 0.5, 0.25,\nand text"]  # fmt: skip
    assert "DSblock every: begins" in caplog.messages
    assert result.t.tolist() == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0])
    assert (result.final["A"], result["B"].values[-1].tolist()) == (
        pytest.approx(math.exp(-2.0), abs=1e-6), pytest.approx([2 * math.exp(-2.0), 1 + 2 * math.exp(-2.0)], abs=1e-6),
    )  # fmt: skip
    assert result["F"].values[-1].tolist() == pytest.approx([2 * math.exp(-2.0), 2 + 2 * math.exp(-2.0)], abs=1e-6)
    assert result.final["FOUND"] == 1.0
    tolerance, end, epsilon, precision, debug, rounds, unknown = result["ANSWERS"].values[-1].tolist()
    assert (tolerance, end, precision, debug, rounds, unknown) == (1e-10, 2.0, 3.0, 0.0, 20.0, 1.0)
    assert 0.0 < epsilon < 1e-6
    with pytest.raises(tg.UsageError, match=r"I = 0, but 0 < value <= 9"):
        tg.simulate(block, inputs={"C": 0.0, "D": [[0.0, 0.0]]}, parameters={"I": 0.0})
    block.close()


def test_a_model_that_is_collected_while_another_declares_takes_nothing_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = [tg.dsblock.build(BLOCKS / "harvest.cpp", prefix="pop")]
    plain = ModelAnswers.answer

    def answer(self: ModelAnswers, utility: str, request: Any) -> None:
        if ended and utility == "BLO3SX":
            ended.pop().close()  # as the garbage collector may, at any time
        plain(self, utility, request)

    monkeypatch.setattr(ModelAnswers, "answer", answer)
    block = tg.dsblock.build(BLOCKS / "ball.c", prefix="ball")
    assert (len(block.declared.signals), len(block.parameters), ended) == (5, 3, [])


WILD = {
    1: "by signal 11",
    2: "with status 0",
    4: "by signal 6",
    12: "has written into a file that is not its own",
    13: "by signal 8",
    19: "by signal 9",
}


def run_wild(deed: int, where: str, time_limit: float) -> tg.Result:
    options = [f"-DDEED={deed}", f"-DWHERE='{where}'"]
    block = tg.dsblock.build(BLOCKS / "wild.c", prefix="wild", options=options, isolate=True, time_limit=time_limit)
    result = tg.simulate(block, (0.0, 1.0), outputs=0.1, parameters={"P": 1.5}, inputs={"U": 0.0}, rtol=1e-8)
    block.close()
    return result


@pytest.mark.hunt
@pytest.mark.parametrize(("deed", "where"), [(deed, where) for deed in WILD for where in ("C" if deed == 12 else "3SVKTC")])
def test_whatever_an_isolated_block_does_this_process_goes_on(deed: int, where: str) -> None:
    with pytest.raises(tg.CallbackError, match=WILD[deed]) as said:
        run_wild(deed, where, 2.0 if deed == 12 else 5.0)  # which is waited out for the rest of an answer that is garbage
    assert "DSblock wild" in str(said.value)
    assert deed == 12 or f"BLOCK{where.replace('3', 'B')}" in str(said.value)


@pytest.mark.hunt
@pytest.mark.parametrize(("deed", "where"), [(5, "1"), (5, "F"), (6, "V"), (18, "K")])
def test_an_isolated_block_that_does_not_come_back_is_told_within_the_limit(deed: int, where: str) -> None:
    with pytest.raises(tg.CallbackError, match=r"DSblock wild has not come back from BLOCK. ?.*within 2 s"):
        run_wild(deed, where, 2.0)


@pytest.mark.hunt
@pytest.mark.parametrize(("deed", "where"), [(8, "F"), (15, "S")])
def test_an_isolated_block_may_close_its_standard_output_and_fork(deed: int, where: str) -> None:
    assert run_wild(deed, where, 20.0).final["X"] == pytest.approx(math.exp(-1.5), abs=1e-6)
