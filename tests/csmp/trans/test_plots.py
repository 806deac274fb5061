"""Plots of characters and pictures show the curves where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tidegate as tg
from tidegate.csmp.trans import Scale, Window, choose, overlay_plot, strip_plot, terminal_plot
from tidegate.results import Column, Result


def _rows(text: str) -> list[str]:
    """The part between the rulers."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if "TIME" in line)
    return [line[11:62] for line in lines[first + 1 : -1]]


@example([-999500.0, -999501.0])
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_a_curve_of_characters_is_where_its_scale_says(values: list[float]) -> None:
    result = Result("m", [Column("y")], list(range(len(values))), [[value] for value in values])
    text = terminal_plot(choose(result))
    assert max(map(len, text.splitlines())) <= 72
    lower, upper = (float(end) for end in text.splitlines()[1].split()[2::2])
    if lower == upper:  # three digits do not tell the ends of the scale apart
        return
    for value, row in zip(values, _rows(text), strict=True):
        # half a character, and what three digits of a scale may be off: half a percent of the larger end over the extent of the scale
        off = 0.5 + 50 * 0.005 * max(abs(lower), abs(upper)) / (upper - lower)
        assert abs(row.index("*") - 50 * (value - lower) / (upper - lower)) <= off + 1e-6


def test_curves_that_coincide_are_told_apart_at_the_right() -> None:
    result = Result("m", [Column("a"), Column("b"), Column("c")], [0.0, 1.0], [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    lines = terminal_plot(choose(result)).splitlines()
    assert lines[-3].endswith("o *+")
    assert lines[-2].endswith("* *+")


def test_scales_that_were_given_cut_off_what_lies_outside(spring: Result) -> None:
    text = terminal_plot(choose(spring, "9"), {0: Scale(-5.0, 5.0, 1.0)})
    assert text.splitlines()[1].split()[-3:] == ["-5.00E+00", "TO", "5.00E+00"]
    rows = _rows(text)
    assert [("*" in row) for row in rows] == (np.abs(spring.values[:, 0]) <= 5.0).tolist()


def test_values_that_are_not_finite_leave_a_gap() -> None:
    result = Result("m", [Column("y")], [0.0, 1.0, 2.0], [[0.0], [float("nan")], [1.0]])
    assert ["*" in row for row in _rows(terminal_plot(choose(result)))] == [True, False, True]


def test_too_many_curves_for_the_alphabet_are_refused() -> None:
    result = Result("m", [Column(f"y{i}") for i in range(40)], [0.0], [list(range(40))])
    with pytest.raises(tg.UsageError, match="40 curves are too many"):
        terminal_plot(choose(result))


@pytest.mark.slow
def test_strips_share_the_time_and_have_a_scale_each(spring: Result, tmp_path: Path) -> None:
    figure = strip_plot(choose(spring, window=Window(0.0, 10.0)), tmp_path / "strip.svg", {0: Scale(-20.0, 20.0, 5.0)})
    assert [axes.get_ylabel() for axes in figure.axes] == ["Y", "Y DBLE DOT", "Y DOT", "F(Y)"]
    assert all(axes.get_xlim() == (0.0, 10.0) for axes in figure.axes)
    assert figure.axes[0].get_ylim() == (-20.0, 20.0)
    assert figure.axes[1].get_ylim() == (-10.0, 20.0)
    assert (tmp_path / "strip.svg").read_text().startswith("<?xml")


def test_overlaid_curves_of_like_size_share_a_scale(spring: Result) -> None:
    (axes,) = overlay_plot(choose(spring, "9,4,48")).axes
    assert axes.get_ylim() == (-10.0, 20.0)
    assert [line.get_label() for line in axes.lines] == ["Y", "Y DBLE DOT", "Y DOT"]
    assert np.array_equal(axes.lines[0].get_ydata(), spring.values[:, 0])


def test_overlaid_curves_of_different_size_have_ten_divisions_each() -> None:
    result = Result("m", [Column("small"), Column("large")], [0.0, 1.0], [[0.0, 0.0], [1e-3, 1e3]])
    (axes,) = overlay_plot(choose(result)).axes
    assert axes.get_ylim() == (0.0, 10.0)
    assert [line.get_label() for line in axes.lines] == ["small: 0 to 0.001", "large: 0 to 1000"]
    assert all(np.asarray(line.get_ydata()).tolist() == [0.0, 10.0] for line in axes.lines)


def test_a_graph_takes_eight_curves() -> None:
    result = Result("m", [Column(f"y{i}") for i in range(9)], [0.0, 1.0], np.ones((2, 9)))
    with pytest.raises(tg.UsageError, match="9 curves do not go into one graph"):
        overlay_plot(choose(result))


@pytest.mark.parametrize("draw", [strip_plot, overlay_plot])
def test_nothing_to_draw_and_files_that_are_no_pictures_are_refused(spring: Result, tmp_path: Path, draw: type) -> None:
    with pytest.raises(tg.UsageError, match="nothing to draw"):
        draw(choose(spring, []))
    with pytest.raises(tg.UsageError, match="cannot save a picture"):
        draw(choose(spring), tmp_path / "strip.doc")


@pytest.mark.slow
def test_pictures_take_labels_that_matplotlib_would_read_as_formulas(tmp_path: Path) -> None:
    result = Result("cost $", [Column("_a"), Column("$b")], [0.0, 1.0], [[0.0, 1.0], [1.0, 2.0]])
    overlay_plot(choose(result), tmp_path / "overlay.png")
    strip_plot(choose(result), tmp_path / "strip.png")
