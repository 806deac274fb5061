"""What the report prints, by text equality: the number formats are the report's, so nothing is left to a tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from golden_csmp import REPORT, control, model, program, run
from tidegate import csmp
from tidegate.csmp.fortran_numbers import five, three


def test_appendix_d_has_the_105_figures_of_the_report() -> None:
    expected = REPORT["spring"]["appendix_D"]["rows"]
    done = run("spring")
    printed = [[three(value) for value in (time, *row)] for time, row in zip(done.times.tolist(), done.rows.tolist(), strict=True)]
    assert printed == expected
    assert sum(map(len, printed)) == 105


def test_appendix_e_has_the_165_fields_of_the_report() -> None:
    expected = REPORT["spring"]["appendix_E"]
    done = csmp.run_program(model("spring"), control("spring"), debug=tuple(expected["time_limits"]))
    numbers = ("X", "X1", "X2", "X3", "P1", "P2", "P3")
    printed = [
        {"time": five(e.time), "B": e.block, "T": e.kind, "M": e.m}
        | dict(zip(numbers, map(five, (e.x, e.x1, e.x2, e.x3, e.p1, e.p2, e.p3)), strict=True))
        for e in done.debug
    ]
    assert printed == [{key: value for key, value in row.items() if key != "M_as_scanned"} for row in expected["rows"]]
    assert sum(map(len, printed)) == 165


def test_debug_listing_prints_the_fields_of_appendix_e_in_two_lines() -> None:
    rows = REPORT["spring"]["appendix_E"]["rows"]
    done = csmp.run_program(model("spring"), control("spring"), debug=(0.2, 0.3))
    _, _, *lines = csmp.debug_text(done.debug)
    for row, first, second in zip(rows, lines[::2], lines[1::2], strict=True):
        assert first.split() == [row["time"], str(row["B"]), row["T"], row["X"], row["X1"], row["X2"], row["X3"]]
        assert second.split() == [str(row["M"]), row["P1"], row["P2"], row["P3"]]


def test_look_shows_the_five_values_of_the_report() -> None:
    final = run("spring").final
    assert {block: five(final[int(block)]) for block in REPORT["spring"]["look"]} == REPORT["spring"]["look"]


def test_spring_with_a_user_block_gives_the_same_figures() -> None:
    done = run("spring_u1")
    expected = [row[1:] for row in REPORT["spring"]["appendix_D"]["rows"]]
    assert [[three(value) for value in row[:4]] for row in done.rows.tolist()] == expected
    np.testing.assert_allclose(done.rows[:, :4], run("spring").rows, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("is_called", [False, True], ids=["compiled", "called"])
def test_difference_equation_holds_the_35_entries_of_table_3(is_called: bool) -> None:
    table = REPORT["table_3"]
    y = {"y0": 1.0, "y1": 2.0, "y2": 3.0, "y3": 5.0, "y4": 8.0}
    start = {12: "y1", 13: "y0", 7: "y1", 8: "y0", 6: "y2"}
    parameters = "\n".join(["4 1", *(f"{block} {y[name]}" for block, name in start.items())])
    difference = program("\n".join(table["configurations"]) + "\n---\n" + parameters)
    seen: list[int] = []

    def called(ctx, block):
        seen.append(block)
        return ctx.x1 + ctx.x2

    def compiled(ctx, block):
        return ctx.x1 + ctx.x2

    blocks = [row[0] for row in table["rows_in_execution_order"]]
    done = csmp.run(difference, to=2, h=1, out=blocks, every=0.5, user={"user3": called if is_called else compiled})
    assert (done.native, done.called) == (((), (10,)) if is_called else ((10,), ()))
    assert seen == [10] * 5 * is_called
    expected = [[y.get(entry, entry) for entry in row[2]] for row in table["rows_in_execution_order"]]
    assert done.rows.T.tolist() == expected
    assert done.rows.size == 35


def test_table_3_is_executed_in_the_order_of_the_report() -> None:
    rows = REPORT["table_3"]["rows_in_execution_order"]
    done = csmp.run_program(model("diff2"), control("diff2"), debug=(0, 0))
    assert [entry.block for entry in done.debug] == [row[0] for row in rows]


def test_unit_delays_in_series_delay_by_half_a_step_each() -> None:
    chain = REPORT["unit_delay_chain"]
    # block 9 counts half steps, and U3 hands it on
    delays = program("\n".join([*chain["configurations"], "9 O 1"]) + "\n---\n2 0\n3 -1\n5 -2\n6 -3\n4 -4\n")
    done = csmp.run(delays, to=5, h=1, out=[2, 4, 6, 5, 3], every=0, user={"user3": lambda ctx, block: ctx.x1})
    for block, half_steps in ((4, 1), (6, 2), (5, 3), (3, 4)):
        assert done[block][half_steps:].tolist() == done[2][: len(done.times) - half_steps].tolist()
    # before real values arrive, each shows its own P1, then those behind it
    assert done[3][:4].tolist() == [-1.0, -2.0, -3.0, -4.0]
