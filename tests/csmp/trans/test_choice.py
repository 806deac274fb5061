"""Columns are found by number, name and label; rows by limits of time and a step."""

from __future__ import annotations

import numpy as np
import pytest

import tidegate as tg
from tidegate.csmp.trans import Window, choose
from tidegate.results import Column, Result


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("9,4", ["Y", "Y DBLE DOT"]),
        ("9 4", ["Y", "Y DBLE DOT"]),
        ("y dot", ["Y DOT"]),
        ("Y DOT, 9", ["Y DOT", "Y"]),
        ("A", ["Y", "Y DBLE DOT", "Y DOT", "F(Y)"]),
        ("all", ["Y", "Y DBLE DOT", "Y DOT", "F(Y)"]),
        ([48, "F(Y)"], ["Y DOT", "F(Y)"]),
        ("1, 9", ["time", "Y"]),
        ("time", ["time"]),
    ],
)
def test_blocks_are_found_by_number_and_by_label(spring: Result, wanted: str | list[str | int], names: list[str]) -> None:
    assert [channel.name for channel in choose(spring, wanted).channels] == names


def test_a_block_that_is_not_there_is_named(spring: Result) -> None:
    with pytest.raises(tg.UsageError, match=r"BLK 7 NOT USED\n.*one of 9, 4, 48, 10"):
        choose(spring, "9,7")
    with pytest.raises(tg.UsageError, match=r"no variable 'Y DOTT'|no variable 'DOTT'"):
        choose(spring, "Y DOTT")


def test_a_column_called_a_is_found_before_all_of_them() -> None:
    result = Result("m", [Column("A"), Column("B")], [0.0], [[1.0, 2.0]])
    assert [channel.name for channel in choose(result, "A").channels] == ["A"]
    assert len(choose(result, "ALL").channels) == 2


def test_a_block_without_a_label_is_known_by_its_name() -> None:
    result = Result("m", [Column("block9"), Column("block48")], [0.0], [[1.0, 2.0]])
    assert choose(result, "48").values.tolist() == [[2.0]]


def test_an_array_is_all_its_elements() -> None:
    result = Result("m", [Column("x[0]"), Column("x[1]"), Column("y"), Column("A[0,0]"), Column("A[0,1]")], [0.0], [[1.0, 2.0, 3.0, 4.0, 5.0]])
    assert choose(result, "y,x").values.tolist() == [[3.0, 1.0, 2.0]]
    assert choose(result, "A[0,1],x[1]").values.tolist() == [[5.0, 2.0]]


def test_labels_are_names_too(spring: Result) -> None:
    assert choose(spring, "position", labels={0: "POSITION"}).channels[0].name == "Y"


def test_the_time_of_a_run_of_blocks_is_block_1(spring: Result) -> None:
    selection = choose(spring, "1")
    assert selection.channels[0].heading == "BLK# 1"
    assert np.array_equal(selection.values[:, 0], spring.t)


def test_limits_keep_the_stored_rows_inside_them(spring: Result) -> None:
    assert choose(spring, "9", window=Window(2.5, 5.0)).times.tolist() == [3.0, 4.0, 5.0]


def test_a_step_takes_rows_at_even_times_and_lines_between_them(spring: Result) -> None:
    selection = choose(spring, "9", window=Window(0.0, 2.0, 0.5))
    assert selection.times.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert selection.values[::2, 0].tolist() == [-10.0, -3.27, 4.5]
    assert selection.values[1, 0] == pytest.approx(0.5 * (-10.0 - 3.27), rel=1e-15)  # the middle of a straight line


def test_the_last_row_of_a_step_that_does_not_divide_the_range_is_inside(spring: Result) -> None:
    assert choose(spring, "9", window=Window(0.0, 1.0, 0.3)).times == pytest.approx([0.0, 0.3, 0.6, 0.9], rel=1e-15)
    assert choose(spring, "9", window=Window(0.0, 1.0, 0.1)).times.size == 11


def test_an_event_shows_its_later_row_and_a_discrete_variable_keeps_its_value() -> None:
    columns = [Column("y"), Column("mode", role="discrete")]
    result = Result("m", columns, [0.0, 1.0, 1.0, 2.0], [[0.0, 1.0], [1.0, 1.0], [5.0, 2.0], [6.0, 2.0]])
    rows = choose(result, "y,mode", window=Window(step=0.5)).values
    assert rows.tolist() == [[0.0, 1.0], [0.5, 1.0], [5.0, 2.0], [5.5, 2.0], [6.0, 2.0]]


def test_rows_between_the_stored_ones_come_from_the_dense_output() -> None:
    result = tg.simulate(tg.ode(lambda t, y: [y["v"], -y["x"]], y0={"x": 0.0, "v": 1.0}), (0, 3))
    selection = choose(result, "x", window=Window(step=0.1))
    # ten times the default rtol, because errors add up over the run; straight lines would be off by 1e-2
    assert selection.values[:, 0] == pytest.approx(np.sin(selection.times), abs=1e-5)


@pytest.mark.parametrize("text", ["-1:2", "0:21", "5:4", "0:20:0", "0:20:-1", "0:20:1e-9", "0:1:2:3", "a:b", "nan:1"])
def test_a_window_that_is_not_in_the_file_is_refused(spring: Result, text: str) -> None:
    with pytest.raises(tg.UsageError):
        choose(spring, window=Window.parsed(text))


def test_parts_of_a_window_may_be_left_out(spring: Result) -> None:
    assert choose(spring, window=Window.parsed("18:")).times.tolist() == [18.0, 19.0, 20.0]
    assert choose(spring, window=Window.parsed(":1")).times.tolist() == [0.0, 1.0]
    assert choose(spring, window=Window.parsed("::10")).times.tolist() == [0.0, 10.0, 20.0]
