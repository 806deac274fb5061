"""Waiting for conditions: who is continued, when, and in which order."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from monitor_models import Body, Flow, List, Look, model
from tidegate.executive.monitor import METHODS, Monitor, Stopped

DTMIN = 1e-9


def swing(method: str, dtmax: float = 0.2) -> tuple[Monitor, List, Flow]:
    """sin t, with the error that the method makes at most."""
    monitor, agenda = model(method, dtmin=DTMIN, dtmax=dtmax)
    x, v = Flow(0.0, 1e-10), Flow(1.0, 1e-10)

    def evaluate() -> None:
        x.rate, v.rate = v.state, -x.state

    monitor.start_variable(x)
    monitor.start_variable(v)
    monitor.start_body(Body(evaluate))
    return monitor, agenda, x


def ramp(method: str = "rke", dtmax: float = 0.25, dtmin: float = DTMIN) -> tuple[Monitor, List, Flow]:
    monitor, agenda = model(method, dtmin=dtmin, dtmax=dtmax)
    y = Flow(0.0, abserror=1.0)
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", 1.0)))
    return monitor, agenda, y


def note(monitor: Monitor, seen: list[tuple[str, float]], name: str = "") -> Callable[[], None]:
    return lambda: seen.append((name, monitor.time))


@pytest.mark.parametrize("method", METHODS)
def test_an_event_is_found_to_dtmin_on_the_side_where_its_condition_holds(method: str) -> None:
    for level in (0.1, 0.3141, 0.77, 1.2345, 2.0, 4.5):
        monitor, agenda, y = ramp(method)
        seen: list[tuple[float, float]] = []
        monitor.wait(lambda monitor=monitor, y=y, seen=seen: seen.append((monitor.time, y.state)), lambda y=y, level=level: y.state >= level)
        agenda.run(until=5.0)
        ((time, state),) = seen
        assert state >= level
        assert level - 1e-15 <= time <= level + DTMIN


@pytest.mark.parametrize("method", METHODS)
def test_events_of_a_curved_trajectory_are_where_the_closed_form_has_them(method: str) -> None:
    fixed = method not in {"rke", "pc"}
    monitor, agenda, x = swing(method, dtmax=1e-3 if fixed else 0.2)
    seen: list[float] = []
    for level in (0.5, 0.9, -0.3):
        monitor.wait(lambda: seen.append(monitor.time), (lambda level=level: x.state > level) if level > 0 else (lambda level=level: x.state < level))
    agenda.run(until=4.0)
    truth = [math.asin(0.5), math.asin(0.9), math.pi + math.asin(0.3)]
    # the methods' own error at these steps: of order 1, of order 2, and what is allowed
    assert seen == pytest.approx(truth, abs=5e-3 if method == "euler" else 5e-6 if fixed else 5e-9)


def test_a_larger_dtmin_finds_events_less_exactly_and_with_fewer_probes() -> None:
    probes: list[int] = []
    for dtmin in (1e-2, 1e-4, 1e-8):
        monitor, agenda, y = ramp(dtmin=dtmin)
        seen: list[tuple[str, float]] = []
        monitor.wait(note(monitor, seen), lambda y=y: y.state > 0.3333)
        agenda.run(until=1.0)
        assert 0.3333 < seen[0][1] <= 0.3333 + dtmin
        probes.append(monitor.counters.probes)
    assert probes == sorted(probes)
    assert probes[0] < 8


def test_without_dtmin_the_event_is_found_to_the_last_digit() -> None:
    monitor, agenda, y = ramp(dtmin=0.0)
    seen: list[tuple[str, float]] = []
    monitor.wait(note(monitor, seen), lambda: y.state > 0.3333)
    agenda.run(until=1.0)
    assert seen[0][1] == pytest.approx(0.3333, abs=2e-16)


def test_a_condition_that_holds_from_the_start_of_a_step_is_found_in_few_probes() -> None:
    """At the start itself it does not; without dtmin there is no number behind it that bisection could not halve."""
    monitor, agenda, y = ramp(dtmin=0.0)
    seen: list[tuple[str, float]] = []
    monitor.wait(note(monitor, seen), lambda: y.state > 0)
    agenda.run(until=1.0)
    assert seen == [("", pytest.approx(0.0, abs=1e-16))]
    assert monitor.counters.probes < 60


def test_who_waits_goes_on_once() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[str, float]] = []
    monitor.wait(note(monitor, seen), lambda: y.state > 0.3)
    agenda.run(until=2.0)
    assert len(seen) == 1
    assert monitor.counters.state_events == 1


def test_a_condition_that_holds_already_is_tested_in_the_next_period_behind_bodies_and_samples() -> None:
    monitor, agenda, y = ramp()
    order: list[str] = []
    monitor.start_sample(Look(lambda: order.append("sample"), -1.0))

    def wait() -> None:
        monitor.wait(lambda: order.append(f"goes on at {monitor.time}"), lambda: order.append("tested") or True)
        order.append("waits")

    agenda.at(0.5, wait)
    agenda.run(until=0.75)
    assert order == ["sample", "sample", "waits", "sample", "tested", "goes on at 0.5", "sample", "sample"]
    assert y.state == 0.75


def test_a_condition_that_holds_while_an_event_is_due_waits_for_the_event() -> None:
    """The test is for time between events; there is none."""
    monitor, agenda, _ = ramp()
    order: list[str] = []
    agenda.at(0.5, lambda: monitor.wait(lambda: order.append("wait"), lambda: True))
    agenda.at(0.5, lambda: order.append("event"))
    agenda.run(until=0.75)
    assert order == ["event", "wait"]


def test_of_several_the_earliest_goes_on_first() -> None:
    for method in METHODS:
        monitor, agenda, y = ramp(method, dtmax=1.0)
        seen: list[tuple[str, float]] = []
        for name, level in (("c", 0.7), ("a", 0.2), ("b", 0.45)):
            monitor.wait(note(monitor, seen, name), lambda y=y, level=level: y.state > level)
        agenda.run(until=3.0)
        assert [name for name, _ in seen] == ["a", "b", "c"]
        assert [time for _, time in seen] == pytest.approx([0.2, 0.45, 0.7], abs=2e-9)


def test_of_equals_the_higher_priority_goes_on_first_then_the_one_that_waited_longer() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[str, float]] = []
    for name, priority, is_prior in (("a", 0, False), ("b", 2, False), ("c", 0, False), ("d", 2, True), ("e", 1, True), ("f", 0, True)):
        monitor.wait(note(monitor, seen, name), lambda: y.state > 0.3, priority, is_prior=is_prior)
    agenda.run(until=1.0)
    assert "".join(name for name, _ in seen) == "dbefac"
    assert len({time for _, time in seen}) == 1


def test_conditions_behind_the_first_that_holds_are_not_asked() -> None:
    monitor, agenda = model()
    asked: list[str] = []
    monitor.wait(lambda: None, lambda: asked.append("a") or True)
    monitor.wait(lambda: None, lambda: asked.append("b") or True)
    monitor.advance()
    assert asked == ["a"]
    agenda.run(until=1.0)
    assert asked == ["a", "b"]


def test_what_one_event_does_decides_about_the_others() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[str, float]] = []

    def empty() -> None:
        seen.append(("empty", monitor.time))
        y.state = 0.0

    monitor.wait(empty, lambda: y.state > 0.3)
    monitor.wait(note(monitor, seen, "second"), lambda: y.state > 0.3)
    agenda.run(until=1.0)
    assert [name for name, _ in seen] == ["empty", "second"]
    assert seen[1][1] == pytest.approx(0.6, abs=3e-9)


def test_a_wait_that_is_cancelled_never_goes_on() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[str, float]] = []
    process = note(monitor, seen)
    monitor.wait(process, lambda: y.state > 0.5)
    agenda.at(0.25, lambda: monitor.cancel_wait(process))
    agenda.run(until=1.0)
    assert seen == []
    assert not monitor.cancel_wait(process)


def test_a_process_that_goes_on_otherwise_waits_no_more() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[str, float]] = []
    process = note(monitor, seen)
    monitor.wait(process, lambda: y.state > 0.5)

    def activate() -> None:
        monitor.continued(process)
        process()

    agenda.at(0.25, activate)
    agenda.run(until=1.0)
    assert seen == [("", 0.25)]


def test_of_a_process_that_waits_twice_the_last_wait_is_cancelled() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[str, float]] = []
    process = note(monitor, seen)
    monitor.wait(process, lambda: y.state > 0.25)
    monitor.wait(process, lambda: y.state > 0.125)
    monitor.cancel_wait(process)
    agenda.run(until=1.0)
    assert [time for _, time in seen] == pytest.approx([0.25], abs=2e-9)


def test_at_one_time_the_time_event_comes_first_and_the_condition_is_tested_again() -> None:
    for refill in (False, True):
        monitor, agenda, y = ramp()
        seen: list[tuple[str, float]] = []
        monitor.wait(note(monitor, seen, "full"), lambda y=y: y.state >= 0.5)

        def empty(monitor: Monitor = monitor, y: Flow = y, seen: list[tuple[str, float]] = seen, refill: bool = refill) -> None:
            seen.append(("event", monitor.time))
            y.state = 0.75 if refill else 0.0

        agenda.at(0.5, empty)
        agenda.run(until=0.75)
        assert seen == [("event", 0.5), ("full", 0.5)] if refill else [("event", 0.5)]


def test_who_is_continued_goes_behind_what_is_scheduled_at_that_time() -> None:
    monitor, agenda, y = ramp()
    order: list[str] = []

    def first() -> None:
        order.append("first")
        agenda.at(monitor.time, lambda: order.append("scheduled by the first"))

    monitor.wait(first, lambda: y.state > 0.3)
    monitor.wait(lambda: order.append("second"), lambda: y.state > 0.3)
    agenda.run(until=1.0)
    assert order == ["first", "scheduled by the first", "second"]


def test_true_and_false_again_within_one_step_is_missed_and_seen_with_shorter_steps() -> None:
    for dtmax, expected in ((0.25, 0), (0.01, 1)):
        monitor, agenda, y = ramp(dtmax=dtmax)
        seen: list[tuple[str, float]] = []
        monitor.wait(note(monitor, seen), lambda y=y: 0.3 < y.state < 0.35)
        agenda.run(until=1.0)
        assert len(seen) == expected


def test_conditions_of_time_alone_need_nothing_that_flows() -> None:
    monitor, agenda = model(dtmin=DTMIN, dtmax=0.25)
    seen: list[tuple[str, float]] = []
    monitor.wait(note(monitor, seen), lambda: monitor.time > 0.6)
    agenda.at(2.0)
    agenda.run()
    assert 0.6 < seen[0][1] <= 0.6 + DTMIN


def test_a_wait_keeps_a_run_alive_when_nothing_is_scheduled() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[str, float]] = []
    monitor.wait(note(monitor, seen), lambda: y.state > 7.1)
    monitor.advance()
    assert seen[0][1] == pytest.approx(7.1, abs=2e-9)
    assert agenda.events == []


def test_an_event_at_the_start_of_a_step_shorter_than_dtmin_is_its_end() -> None:
    monitor, agenda, y = ramp(dtmin=0.1, dtmax=0.1)
    seen: list[tuple[str, float]] = []
    monitor.wait(note(monitor, seen), lambda: y.state > 0.33)
    agenda.run(until=1.0)
    assert seen == [("", pytest.approx(0.4))]
    assert monitor.counters.probes == 0


def test_the_state_at_an_event_is_that_of_its_time_and_steps_go_on_from_there() -> None:
    for method in ("rke", "pc"):
        monitor, agenda, x = swing(method)
        at: list[float] = []
        monitor.wait(lambda monitor=monitor, x=x, at=at: at.append(x.state - math.sin(monitor.time)), lambda x=x: x.state > 0.77)
        agenda.run(until=3.0)
        assert abs(at[0]) < 5e-9
        assert x.state == pytest.approx(math.sin(3.0), abs=2e-8)


@pytest.mark.slow
def test_samples_do_not_move_state_events() -> None:
    for method in METHODS:
        found: list[float] = []
        for frequency in (None, 0.0, 0.013):
            monitor, agenda, x = swing(method)
            if frequency is not None:
                monitor.start_sample(Look(lambda: None, frequency))
            monitor.wait(lambda monitor=monitor, found=found: found.append(monitor.time), lambda x=x: x.state > 0.77)
            agenda.run(until=2.0)
        assert max(found) - min(found) <= DTMIN


@pytest.mark.slow
def test_bouncing_ball_bounces_as_the_closed_form() -> None:
    """Dropped from 1 with g = 2, each bounce halves the speed: the first at 1, the others 1, 1/2, 1/4 later."""
    for method in METHODS:
        monitor, agenda = model(method, dtmin=1e-10, dtmax=1e-3 if method == "euler" else 0.01)
        h, v = Flow(1.0, 1e-10), Flow(0.0, 1e-10)

        def evaluate(h: Flow = h, v: Flow = v) -> None:
            h.rate, v.rate = v.state, -2.0

        for variable in (h, v):
            monitor.start_variable(variable)
        monitor.start_body(Body(evaluate))
        bounces: list[float] = []

        def bounce(monitor: Monitor = monitor, h: Flow = h, v: Flow = v, bounces: list[float] = bounces) -> None:
            bounces.append(monitor.time)
            v.state = -0.5 * v.state
            monitor.wait(bounce, lambda: h.state < 0 and v.state < 0)

        monitor.wait(bounce, lambda h=h, v=v: h.state < 0 and v.state < 0)
        agenda.run(until=2.8)
        assert bounces == pytest.approx([1.0, 2.0, 2.5, 2.75], abs=0.01 if method == "euler" else 1e-9)


def test_a_condition_that_never_holds_ends_the_run_when_time_does() -> None:
    monitor, _, _ = ramp()
    monitor.change(latest=10.0)
    monitor.wait(lambda: None, lambda: False)
    with pytest.raises(Stopped, match="7: time is at its maximum") as stopped:
        monitor.advance()
    assert not stopped.value.trouble.can_go_on
    assert monitor.time == 10.0
