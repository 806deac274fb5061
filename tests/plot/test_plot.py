"""Pictures group curves by unit, follow the dense output, break at jumps, and mark events."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tidegate.errors import UsageError
from tidegate.plot import plot
from tidegate.results import Column, Event, Result


def test_curves_of_one_unit_share_an_axes() -> None:
    columns = [Column("a", unit="m"), Column("b", unit="s"), Column("c", unit="m")]
    figure = plot(Result("units", columns, [0.0, 1.0], np.ones((2, 3))))
    assert [axes.get_ylabel() for axes in figure.axes] == ["m", "s"]
    assert [[line.get_label() for line in axes.lines] for axes in figure.axes] == [["a", "c"], ["b"]]


def test_without_units_sizes_keep_curves_apart() -> None:
    figure = plot(Result("sizes", [Column("small"), Column("large"), Column("tiny")], [0.0, 1.0], [[1.0, 1e4, 0.5]] * 2))
    assert [[line.get_label() for line in axes.lines] for axes in figure.axes] == [["small", "tiny"], ["large"]]


def test_curves_follow_the_dense_output_between_rows(ball: Result) -> None:
    (line,) = plot(ball, "h").axes[0].lines
    t, h = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    first = t < ball.events[0].time
    assert first.sum() > 20
    np.testing.assert_allclose(h[first], 1.0 - 9.81 / 2 * t[first] ** 2, rtol=1e-9)
    assert np.all(np.diff(t) >= 0.0)


def test_curves_break_where_a_value_jumps_and_only_there(ball: Result) -> None:
    figure = plot(ball, "h", "v")
    gaps = [int(np.isnan(np.asarray(axes.lines[0].get_ydata(), float)).sum()) for axes in figure.axes]
    assert gaps == [0, len(ball.events)]


def test_events_are_marked_with_their_cause(ball: Result) -> None:
    axes = plot(ball, "h").axes[0]
    assert "h < 0" in {text.get_text() for text in axes.texts}
    assert sum(len(marks.get_segments()) for marks in axes.collections) == len(ball.events)  # type: ignore[attr-defined]


def test_marks_are_thinned_and_the_title_says_so() -> None:
    events = [Event(i, i / 5000.0, "time", ("clock",)) for i in range(5000)]
    figure = plot(Result("many", [Column("x")], [0.0, 1.0], [[0.0], [1.0]], events=events))
    assert len(figure.axes[0].collections[0].get_segments()) <= 201  # type: ignore[attr-defined]
    assert len(figure.axes[0].texts) <= 13
    assert "5000 events" in figure.get_suptitle()


def test_sensitivities_come_below(ball: Result) -> None:
    labels = [line.get_label() for axes in plot(ball, "v", sensitivities=True).axes for line in axes.lines]
    assert labels == ["v", "d v / d e", "d v / d g"]


@pytest.mark.parametrize("suffix", [".png", *(pytest.param(suffix, marks=pytest.mark.slow) for suffix in (".svg", ".pdf"))])
def test_pictures_are_saved_in_the_format_of_the_suffix(ball: Result, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"ball{suffix}"
    ball.plot("x", "n", path=path)
    start = path.read_bytes()[:200]
    assert {".png": b"PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix] in start
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_no_global_figure_is_left(ball: Result) -> None:
    ball.plot()
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


@pytest.mark.parametrize("values", [[np.nan, np.inf, 1.0], [0.0, 0.0, 0.0]])
def test_values_that_are_not_finite_or_all_zero_are_drawn(values: list[float], tmp_path: Path) -> None:
    result = Result("odd $names_", [Column("_a$b")], [0.0, 1.0, 2.0], np.array(values)[:, None], status="failed")
    result.plot(path=tmp_path / "odd.png")
    assert (tmp_path / "odd.png").stat().st_size > 0


def test_wrong_names_and_suffixes_are_refused(ball: Result, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="try: h"):
        ball.plot("hh")
    with pytest.raises(UsageError, match=r"\.png"):
        ball.plot(path=tmp_path / "ball.bmp")
    with pytest.raises(UsageError, match="no sensitivities to draw"):
        Result("m", [Column("x")], [0.0], [[1.0]]).plot(sensitivities=True)
