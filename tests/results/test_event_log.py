"""The log filters, prints within a screen, and asks a lazy source only for what is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tidegate.errors import UsageError
from tidegate.results import Column, Event, EventLog, Result
from tidegate.results.event_log import largest


def test_filters_keep_order_and_leave_the_log_alone() -> None:
    log = EventLog([Event(i, float(i), kind, (f"cause {i % 2}",)) for i, kind in enumerate(["initial", "state", "time", "state"])])
    assert [event.index for event in log.of("state")] == [1, 3]
    assert [event.index for event in log.of("time", "initial")] == [0, 2]
    assert [event.index for event in log.caused_by("1")] == [1, 3]
    assert [event.index for event in log.between(1.0, 2.0)] == [1, 2]
    assert [event.index for event in log[1:3]] == [1, 2]
    assert len(log) == 4


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="no kind of event 'stat'"):
        EventLog().of("stat")  # type: ignore[arg-type]


def test_changes_are_the_values_that_differ() -> None:
    nan = float("nan")
    event = Event(0, 0.0, "state", before={"a": 1.0, "b": 2.0, "c": nan}, after={"a": 1.0, "b": 3.0, "c": nan})
    assert event.changes == {"b": (2.0, 3.0)}
    assert event.change_text() == "b: 2 -> 3"


def test_long_tables_leave_out_the_middle_and_say_how_many() -> None:
    log = EventLog([Event(i, float(i), "time", ("clock",)) for i in range(500)])
    table = log.table(max_rows=20)
    assert table.row_count == 21
    assert "480 more" in list(table.columns[3].cells)
    assert "470 more" in str(log)
    assert "470 more" in log._repr_html_()


def test_a_lazy_source_makes_only_the_events_looked_at() -> None:
    made: list[int] = []

    class Lazy(Sequence[Event]):
        def __len__(self) -> int:
            return 1000

        def __getitem__(self, index: int) -> Event:  # type: ignore[override]
            made.append(index)
            return Event(index, index * 0.5, "time")

    log = EventLog(Lazy(), times=np.arange(1000) * 0.5)
    assert log.times[10] == 5.0
    assert log[7].time == 3.5
    assert log[-1].index == -1
    assert made == [7, -1]


def test_markup_in_causes_is_text() -> None:
    log = EventLog([Event(0, 0.0, "state", ("x[0] < [bold]",))])
    assert "x[0] < [bold]" in str(log)


def test_table_for_pandas_has_a_row_an_event_and_derivatives_of_time(ball: Result) -> None:
    frame = ball.events.to_dataframe()
    assert frame["time"].tolist() == ball.events.times.tolist()
    assert frame["dt/d(e)"].tolist() == [0.5, 1.5, 2.5, 3.5]
    assert frame["written at"].tolist() == ["ball.py:12"] * 4
    assert frame["v before"].tolist() == [event.before["v"] for event in ball.events]
    assert frame["n after"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert "v after" not in ball.events.to_dataframe(values=False)
    assert EventLog().to_dataframe().empty


def test_rounding_is_no_change() -> None:
    before = {"h": 3e-17, "v": -4.0, "x": 1.0, "z": 0.0, "n": 1.0}
    after = {"h": -2e-12, "v": 3.0, "x": 1.0 + 1e-12, "z": 2e-20, "n": 2.0}
    event = Event(0, 0.0, "state", before=before, after=after, sizes={"h": 1.0, "v": 4.0, "x": 1.0, "z": 1e-13, "n": 2.0})
    assert event.change_text() == "v: -4 -> 3, n: 1 -> 2"


def test_what_is_small_in_the_whole_run_changes_by_little() -> None:
    event = Event(0, 0.0, "state", before={"flow": 1e-9, "level": 1e3}, after={"flow": 3e-9, "level": 1e3}, sizes={"flow": 3e-9, "level": 1e3})
    assert event.change_text() == "flow: 1e-9 -> 3e-9"


def test_sizes_are_the_largest_finite_values() -> None:
    values = np.array([[1.0, np.nan, 0.0], [-3.0, np.inf, 0.0], [2.0, -5.0, 0.0]])
    assert largest([Column("a"), Column("b")], values) == {"a": 3.0, "b": 5.0}
    assert largest([Column("a")], np.zeros((0, 2))) == {"a": 0.0}


@pytest.mark.slow
def test_a_result_read_back_tells_rounding_from_change_alike(ball: Result, tmp_path: Path) -> None:
    ball.to_netcdf(tmp_path / "ball.nc")
    read = Result.load(tmp_path / "ball.nc")
    assert read.events[0].sizes["h"] == np.max(np.abs(ball["h"]))
