"""The monitor and its agenda: time events, and events that the agenda goes through without the monitor."""

from __future__ import annotations

import pytest

from monitor_models import Body, Flow, List, Look, model
from tidegate.executive.monitor import METHODS, Monitor, Refused


def ramp(method: str = "rke") -> tuple[Monitor, List, Flow, Body]:
    monitor, agenda = model(method, dtmax=0.3)
    y = Flow(0.0, abserror=1.0)
    return monitor, agenda, y, Body(lambda: setattr(y, "rate", 1.0))


@pytest.mark.parametrize("method", METHODS)
def test_time_events_happen_exactly_at_their_times_in_their_order(method: str) -> None:
    monitor, agenda, y, body = ramp(method)
    monitor.start_variable(y)
    monitor.start_body(body)
    seen: list[tuple[int, float, float]] = []
    times = [0.1, 0.1, 1 / 3, 1.0, 1.0 + 2**-40, 1.0 + 2**-40, 17.7]
    for k, time in enumerate(times):
        agenda.at(time, lambda k=k: seen.append((k, monitor.time, y.state)))
    agenda.run()
    assert [(k, time) for k, time, _ in seen] == list(enumerate(times))
    # a few roundings of 17.7, which is ten times what compensated sums leave
    assert [state for _, _, state in seen] == pytest.approx(times, abs=4e-14)


def test_a_process_that_holds_goes_on_where_it_stands() -> None:
    monitor, agenda, y, body = ramp()
    monitor.start_variable(y)
    monitor.start_body(body)
    left = [7]

    def again() -> None:
        if left[0]:
            left[0] -= 1
            agenda.at(monitor.time + 0.25, again)

    agenda.at(0.0, again)
    agenda.run()
    assert (monitor.time, y.state) == (1.75, 1.75)
    assert monitor.counters.periods == 8


def test_each_period_begins_with_dt_zero_and_an_evaluation_that_knows_what_the_event_did() -> None:
    monitor, agenda, y, _ = ramp()
    factor = [1.0]
    seen: list[tuple[float, float, float]] = []

    def evaluate() -> None:
        y.rate = factor[0]
        if monitor.dt == 0:
            seen.append((monitor.time, monitor.lasttime, y.rate))

    monitor.start_variable(y)
    monitor.start_body(Body(evaluate))
    agenda.at(0.5, lambda: factor.__setitem__(0, -1.0))
    agenda.run(until=1.0)
    assert seen == [(0.0, 0.0, 1.0), (0.5, 0.5, -1.0)]
    assert y.state == pytest.approx(0.0, abs=1e-15)


def test_what_is_stopped_stands_still_and_goes_on_where_it_was() -> None:
    for method in METHODS:
        monitor, agenda, y, body = ramp(method)
        monitor.start_variable(y)
        monitor.start_body(body)
        agenda.at(1.0, lambda monitor=monitor, y=y: monitor.stop_variable(y))
        agenda.at(2.0, lambda monitor=monitor, y=y: monitor.start_variable(y))
        agenda.at(3.0, lambda monitor=monitor, body=body: monitor.stop_body(body))
        agenda.run(until=5.0)
        assert y.state == pytest.approx(2.0, abs=1e-14)


def test_the_monitor_is_needed_where_something_flows_looks_or_waits() -> None:
    monitor, _, y, body = ramp()
    look, process = Look(lambda: None), Look
    pairs = (
        (lambda: monitor.start_variable(y), lambda: monitor.stop_variable(y)),
        (lambda: monitor.start_body(body), lambda: monitor.stop_body(body)),
        (lambda: monitor.start_sample(look), lambda: monitor.stop_sample(look)),
        (lambda: monitor.wait(process, lambda: False), lambda: monitor.cancel_wait(process)),
        (lambda: monitor.wait(process, lambda: False), lambda: monitor.continued(process)),
    )
    assert not monitor.is_needed
    for start, stop in pairs:
        start()
        assert monitor.is_needed
        stop()
        assert not monitor.is_needed


def test_an_agenda_may_go_through_its_events_alone_while_the_monitor_is_not_needed() -> None:
    monitor, agenda, y, body = ramp()
    monitor.skip_to(3.5)
    monitor.start_variable(y)
    monitor.start_body(body)
    monitor.skip_to(3.5)
    agenda.run(until=4.0)
    assert y.state == 0.5
    for elsewhere in (3.9, 4.5):
        with pytest.raises(ValueError, match=str(elsewhere)):
            monitor.skip_to(elsewhere)


def test_periods_without_anything_to_do_jump() -> None:
    monitor, agenda, _, _ = ramp()
    for k in range(5):
        agenda.at(0.1 * k)
    agenda.run()
    assert monitor.time == 0.4
    assert monitor.counters.periods == 5
    assert monitor.counters.evaluations == 0


def test_moving_time_from_inside_a_body_is_refused() -> None:
    monitor, agenda, y, _ = ramp()
    monitor.start_variable(y)
    monitor.start_body(Body(monitor.period))
    agenda.at(1.0)
    with pytest.raises(Refused, match="17: "):
        agenda.run()
