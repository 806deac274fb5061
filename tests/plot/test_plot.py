"""Pictures group curves by unit, follow the dense output, break at jumps, and mark events."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from tidegate.errors import Origin, UsageError
from tidegate.numbers_as_texts import TRUTHS
from tidegate.plot import plot
from tidegate.plot.marks import short_cause
from tidegate.results import Column, Event, Result


def test_curves_of_one_unit_share_an_axes() -> None:
    columns = [Column("a", unit="m"), Column("b", unit="s"), Column("c", unit="m")]
    figure = plot(Result("units", columns, [0.0, 1.0], np.ones((2, 3))))
    assert [axes.get_ylabel() for axes in figure.axes] == ["m", "b (s)"]
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


def lines_at_events(figure: Figure) -> list[float]:
    return [float(segment[0][0]) for marks in figure.axes[0].collections for segment in marks.get_segments()]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_events_are_marked_with_each_cause_once(ball: Result) -> None:
    figure = plot(ball, "h")
    assert [text.get_text() for text in figure.axes[0].texts] == ["h < 0 ×4"]
    assert lines_at_events(figure) == ball.events.times.tolist()
    assert lines_at_events(plot(ball, "h", events=False)) == []
    assert lines_at_events(plot(ball, "h", events="time")) == []
    with pytest.raises(UsageError, match="rug"):
        plot(ball, "h", events="rugg")


@pytest.mark.slow
def test_more_than_thirty_events_are_ticks_at_the_foot_and_the_title_counts_them() -> None:
    events = [Event(i, i / 5000.0, "state", (f"x > {i}",)) for i in range(5000)]
    figure = plot(Result("many", [Column("x")], [0.0, 1.0], [[0.0], [1.0]], events=events))
    (marks,) = figure.axes[0].collections
    assert max(float(segment[1][1]) for segment in marks.get_segments()) < 0.1  # type: ignore[attr-defined]
    assert len(lines_at_events(figure)) <= 401
    assert not figure.axes[0].texts
    assert "5000 events" in figure.get_suptitle()


@pytest.mark.slow
def test_clocks_are_marked_only_when_asked_for() -> None:
    events = [Event(i, i / 10, "time", ("tick",)) for i in range(10)] + [
        Event(10, 0.55, "time", ("t > 0.55",)),
        Event(11, 0.7, "state", ("x > 0.7",)),
    ]
    result = Result("clocked", [Column("x")], [0.0, 1.0], [[0.0], [1.0]], events=events)
    assert lines_at_events(plot(result)) == [0.55, 0.7]
    assert len(lines_at_events(plot(result, events=True))) == 12


def test_new_numbers_of_noise_are_ticks_of_one_clock() -> None:
    events = [Event(i, i / 4, "time", (f"time/0.25 >= {i}",)) for i in range(1, 4)] + [Event(3, 0.8, "time", ("time >= 0.8",))]
    assert lines_at_events(plot(Result("gusts", [Column("x")], [0.0, 1.0], [[0.0], [1.0]], events=events))) == [0.8]


@pytest.mark.slow
def test_what_is_true_or_false_is_drawn_as_stairs_without_gaps() -> None:
    columns = [Column("high", "output", texts=TRUTHS), Column("x")]
    result = Result("steps", columns, [0.0, 1.0, 1.0, 2.0], [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 2.0]])
    (line,) = plot(result).axes[0].lines
    assert line.get_drawstyle() == "steps-post"
    assert np.asarray(line.get_ydata(), float).tolist() == [0.0, 0.0, 1.0, 1.0]
    assert [label.get_text() for label in plot(result).axes[0].get_yticklabels()] == ["False", "True"]


@pytest.mark.parametrize(
    ("cause", "path", "said"),
    [
        ("gain1.gain*position > c.upper", "c", "c: upper limit"),
        ("c.lower <= u", "c", "c: lower limit"),
        ("x > 0.5", "", "x > 0.5"),
        ("x > 0.5", "plant", "x > 0.5"),
        ("a.very*long + condition.of(many) > valve.opening", "valve", "valve: opening"),
        ("a*very + long*condition - of*the*user > 0", "", "a*very + long*condition…"),
    ],
)
def test_causes_are_short(cause: str, path: str, said: str) -> None:
    assert short_cause(Event(0, 0.0, "state", (cause,), (Origin(path=path),))) == said


@pytest.mark.slow
def test_labels_stand_upright_and_none_on_another() -> None:
    events = [Event(i, 0.1 + i / 40, "state", (f"variable{i} > 0.5",)) for i in range(30)]
    figure = plot(Result("crowded", [Column("x")], [0.0, 1.0], [[0.0], [1.0]], events=events))
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    figure.draw(renderer)
    texts = [Text.get_window_extent(text, renderer) for text in figure.axes[0].texts]
    assert len(texts) >= 6
    assert all(text.get_rotation() == 0.0 for text in figure.axes[0].texts)
    assert not any(one.overlaps(other) for one, other in combinations(texts, 2))


def test_sensitivities_come_below(ball: Result) -> None:
    labels = [line.get_label() for axes in plot(ball, "v", sensitivities=True).axes for line in axes.lines]
    assert labels == ["v", "d v / d e", "d v / d g"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", *(pytest.param(suffix, marks=pytest.mark.slow) for suffix in (".svg", ".pdf"))])
def test_pictures_are_saved_in_the_format_of_the_suffix(ball: Result, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"ball{suffix}"
    ball.plot("x", "n", path=path)
    start = path.read_bytes()[:200]
    assert {".png": b"PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix] in start
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.slow
def test_no_global_figure_is_left(ball: Result) -> None:
    ball.plot()
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


@pytest.mark.slow
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


@pytest.mark.slow
def test_several_results_share_panels_and_are_told_apart_by_what_differs(ball: Result) -> None:
    other = Result("ball", ball.columns, ball.t, ball.values * 2.0, parameters={**ball.parameters, "e": 0.9})
    (axes,) = plot(ball, "h", others=other).axes
    assert [line.get_label() for line in axes.lines] == ["e = 0.8", "e = 0.9"]
    assert [line.get_label() for line in plot(ball, "h", others={"twice": other}, label="once").axes[0].lines] == ["once", "twice"]
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), np.asarray(plot(other, "h").axes[0].lines[0].get_ydata()))
    both = plot(ball, "x", others=other).axes[0].lines
    assert [(line.get_label(), line.get_color(), line.get_linestyle()) for line in both[1:3]] == [("x[1]", "C1", "-"), ("x[0], e = 0.9", "C0", "--")]
    with pytest.raises(UsageError, match="one result and in"):
        plot(ball, "h", others=Result("ball", [Column("h", unit="cm")], [0.0], [[1.0]]))
    with pytest.raises(UsageError, match="others"):
        plot(ball, other)  # type: ignore[arg-type]


def test_a_phase_plot_draws_one_over_the_other_with_its_jumps_dotted(ball: Result) -> None:
    (axes,) = plot(ball, x="h", y="v").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("h (m)", "v (m/s)")
    h, v = (np.asarray(each, float) for each in axes.lines[0].get_data())
    keep = np.isfinite(v)
    assert (~keep).sum() == len(ball.events)
    lost = [1.0 * 0.8 ** (2 * k) for k in range(5)]  # energy per mass over g, after each bounce
    energy = (v[keep] ** 2 / 2 / 9.81) + h[keep]
    assert min(abs(energy[:, None] - np.array(lost)).min(axis=1) < 1e-9)
    assert sum(line.get_linestyle() == ":" for line in axes.lines) == len(ball.events)
    with pytest.raises(UsageError, match="array"):
        plot(ball, x="x", y="v")
    with pytest.raises(UsageError, match="no x"):
        plot(ball, y="v")


@pytest.mark.slow
def test_curves_go_on_the_users_axes_with_their_units(ball: Result) -> None:
    axes = Figure().add_subplot()
    axes.plot([0.0, 1.0], [1.0, 1.0], label="measured")
    assert plot(ball, "h", ax=axes, title="mine") is axes
    assert [line.get_label() for line in axes.lines] == ["measured", "h"]
    assert axes.lines[1].get_color() != axes.lines[0].get_color()
    assert (axes.get_ylabel(), axes.get_xlabel(), axes.get_title()) == ("h (m)", "time (s)", "mine")
    alone = Figure().add_subplot()
    plot(ball, "h", "v", ax=alone)
    assert [line.get_label() for line in alone.lines] == ["h (m)", "v (m/s)"]
    two = Figure().subplots(2)
    plot(ball, ["h", "v"], ax=two)
    assert [each.get_ylabel() for each in two] == ["h (m)", "v (m/s)"]


def test_a_stretch_of_time_is_as_fine_as_the_whole(ball: Result) -> None:
    (line,) = plot(ball, "h", xlim=(0.1, 0.2), log=True, size=(4, 3)).axes[0].lines
    t = np.asarray(line.get_xdata(), float)
    assert ((t > 0.1) & (t < 0.2)).sum() > 1000
    assert line.axes is not None
    assert (line.axes.get_xlim(), line.axes.get_yscale()) == ((0.1, 0.2), "log")


def test_a_stretch_fills_the_height_of_its_panel(ball: Result) -> None:
    axes = plot(ball, "h", xlim=(0.1, 0.2)).axes[0]
    h = ball.at(np.linspace(0.1, 0.2, 50), "h").values
    low, high = axes.get_ylim()
    assert low < h.min() < h.max() < high
    assert high - low < 1.3 * np.ptp(h)


@pytest.mark.parametrize("wish", [{"log": "z"}, {"size": 4}, {"xlim": (0, None)}, {"x": "h", "sensitivities": True}])
def test_wishes_that_cannot_be_are_refused(ball: Result, wish: dict[str, object]) -> None:
    with pytest.raises((UsageError, TypeError)):
        plot(ball, "h", **wish)


@pytest.mark.slow
def test_a_legend_stands_where_it_tells_something(ball: Result) -> None:
    assert [axes.get_legend() is not None for axes in plot(ball, "h", "x").axes] == [False, True]
    other = Result("ball", ball.columns, ball.t, ball.values * 2.0)
    assert [axes.get_legend() is not None for axes in plot(ball, "h", "v", others=other).axes] == [True, False]


@pytest.mark.slow
def test_forty_curves_of_one_array_are_all_different() -> None:
    columns = [Column(f"T[{i}]") for i in range(40)]
    (axes,) = plot(Result("rod", columns, [0.0, 1.0], np.ones((2, 40)))).axes
    assert len({(str(line.get_color()), str(line.get_linestyle())) for line in axes.lines}) == 40


@pytest.mark.slow
def test_a_figure_is_a_picture_in_a_notebook(ball: Result) -> None:
    bundle, _ = plot(ball, "h")._repr_mimebundle_()
    assert bundle["image/png"].startswith(b"\x89PNG")
