"""Tables say what the report's say, fit their page, and read back."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from printed_spring import TABLE
from tidegate.csmp.trans import choose, csv_table, heading, markdown_table, printer_table, teletype_table
from tidegate.results import Column, Result


def test_the_table_of_the_report_is_printed_figure_by_figure(spring: Result) -> None:
    printed = [line.split() for line in teletype_table(choose(spring)).splitlines()]
    assert printed == [line.replace("\t", " ").split() for line in TABLE.read_text().splitlines()]


@pytest.mark.slow
@given(
    st.lists(st.text(st.characters(codec="ascii", exclude_categories=["Cc", "Zs"]), min_size=1, max_size=90), min_size=1, max_size=30, unique=True)
)
def test_lines_fit_their_page_and_every_group_has_the_time(names: list[str]) -> None:
    result = Result("m", [Column(name) for name in names], [-1e-100, 1.0], np.full((2, len(names)), -1.23456e-123))
    selection = choose(result)
    for text, width in ((teletype_table(selection), 72), (printer_table(selection, []), 132)):
        lines = text.splitlines()
        assert max(map(len, lines)) <= width
        groups = [group.splitlines() for group in text.strip("\n").split("\n\n")]
        assert all(group[0].split()[0] == "TIME" and len(group) == 3 for group in groups)
        assert sum(len(group[1].split()) - 1 for group in groups) == len(selection.channels)


def test_the_line_printer_gets_labels_and_the_facts_of_the_file(spring: Result) -> None:
    lines = printer_table(choose(spring, "9,4"), heading(spring)).splitlines()
    assert lines[:4] == [
        "NON-LINEAR SPRING WITH DASHPOT",
        "I/P FILE RECORDED ON 21-APR-76 AT 16:57",
        "INTEGN INT = 1.0000E-01; RUN CPU TIME = 1.25 SEC.",
        "TIME FROM 0.0000E-01 TO 2.0000E+01 IN STEPS OF 1.0000E+00",
    ]
    assert lines[5].split() == ["BLK#", "9", "BLK#", "4"]
    assert lines[6].split() == ["TIME", "Y", "Y", "DBLE", "DOT"]
    assert lines[7].split() == ["0.0000E-01", "-1.0000E+01", "2.0000E+01"]


def test_a_run_with_steps_of_its_own_choice_says_so() -> None:
    result = Result("m", [Column("y")], [0.0, 0.1, 1.0], [[0.0], [1.0], [2.0]])
    assert heading(result)[-2:] == ["INTEGN INT = VARIABLE; RUN CPU TIME = 0.00 SEC.", "TIME FROM 0.0000E-01 TO 1.0000E+00 IN 3 ROWS"]


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=5))
def test_csv_keeps_every_digit(values: list[float]) -> None:
    result = Result("m", [Column("a, b"), Column("c")], list(range(len(values))), [[value, -value] for value in values])
    head, *rows = csv.reader(csv_table(choose(result)).splitlines())
    assert head == ["time", "a, b", "c"]
    assert [[float(cell) for cell in row] for row in rows] == [[k, value, -value] for k, value in enumerate(values)]


def test_markdown_keeps_its_columns_whatever_the_labels_are() -> None:
    result = Result("m", [Column("a|b", unit="m/s")], [0.0], [[1 / 3]], time_unit="s")
    assert markdown_table(choose(result), 3).splitlines() == ["| time (s) | a\\|b (m/s) |", "|---:|---:|", "| 0 | 0.333 |"]


@pytest.mark.parametrize(("digits", "cell"), [(1, "-1E+01"), (3, "-1.00E+01"), (5, "-1.0000E+01")])
def test_digits_can_be_chosen(spring: Result, digits: int, cell: str) -> None:
    assert teletype_table(choose(spring, "9"), digits).splitlines()[1].split()[1].replace(".E", "E") == cell
