"""When samples look: the rules of the source, sentence by sentence."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from monitor_models import Body, Flow, List, Look, model
from tidegate.executive.monitor import METHODS, Monitor, Stopped


def ramp(method: str = "rke", dtmax: float = 0.25) -> tuple[Monitor, List, Flow]:
    """y' = 1 from 0, which every method and every polynomial has exactly."""
    monitor, agenda = model(method, dtmax=dtmax)
    y = Flow(0.0, abserror=1.0)
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", 1.0)))
    return monitor, agenda, y


def times(monitor: Monitor, frequency: float) -> list[float]:
    seen: list[float] = []
    monitor.start_sample(Look(lambda: seen.append(monitor.time), frequency))
    return seen


def named(monitor: Monitor, seen: list[str], name: str) -> Callable[[], None]:
    return lambda: seen.append(f"{name}{monitor.time:g}")


def test_an_interval_is_counted_from_the_start_and_events_do_not_shift_it() -> None:
    monitor, agenda, _ = ramp()
    seen: list[float] = []
    sample = Look(lambda: seen.append(monitor.time), 1.0)
    agenda.at(0.5, lambda: monitor.start_sample(sample))
    agenda.at(1.75)
    agenda.run(until=4.0)
    assert seen == [0.5, 1.5, 1.75, 1.75, 2.5, 3.5, 4.0]
    assert sample.sampletime == 4.5


@pytest.mark.parametrize("frequency", [1.0, -1.0])
def test_intervals_and_negative_frequencies_look_before_and_after_each_event(frequency: float) -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[float, float]] = []
    monitor.start_sample(Look(lambda: seen.append((monitor.time, y.state)), frequency))
    agenda.at(0.6, lambda: setattr(y, "state", 10.0))
    agenda.run(until=0.9)
    assert seen == [(0.0, 0.0), (0.6, pytest.approx(0.6)), (0.6, 10.0), (0.9, pytest.approx(10.3))]


def test_frequency_zero_looks_at_the_end_of_every_step_and_after_each_event() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[float, float]] = []
    monitor.start_sample(Look(lambda: seen.append((monitor.time, y.state)), 0.0))
    agenda.at(0.5, lambda: setattr(y, "state", 10.0))
    agenda.run(until=1.0)
    assert seen == [(0.0, 0.0), (0.25, 0.25), (0.5, 0.5), (0.5, 10.0), (0.75, 10.25), (1.0, 10.5)]


def test_after_an_event_those_with_intervals_look_first_then_negative_ones_then_those_of_every_step() -> None:
    monitor, agenda, _ = ramp()
    seen: list[str] = []
    for name, frequency in (("zero", 0.0), ("minus", -1.0), ("plus", 1.0)):
        monitor.start_sample(Look(named(monitor, seen, name), frequency))
    agenda.run(until=0.25)
    assert seen == ["plus0", "minus0", "zero0", "plus0.25", "zero0.25", "minus0.25"]


def test_of_one_kind_the_latest_started_looks_first() -> None:
    for frequency in (1.0, 0.0, -1.0):
        monitor, agenda, _ = ramp()
        seen: list[str] = []
        for name in "abc":
            monitor.start_sample(Look(named(monitor, seen, name), frequency))
        agenda.run(until=0.25)
        assert seen == ["c0", "b0", "a0", "c0.25", "b0.25", "a0.25"]


def test_between_two_events_of_one_time_each_sample_looks_once() -> None:
    monitor, agenda, y = ramp()
    seen = {frequency: [] for frequency in (1.0, 0.0, -1.0)}
    for frequency, states in seen.items():
        monitor.start_sample(Look(lambda states=states: states.append(y.state), frequency))
    agenda.at(0.25, lambda: setattr(y, "state", 5.0))
    agenda.at(0.25, lambda: setattr(y, "state", 6.0))
    agenda.run(until=0.5)
    for states in seen.values():
        assert states == [0.0, 0.25, 5.0, 6.0, 6.25]


def test_due_times_are_built_by_adding() -> None:
    monitor, agenda, _ = ramp()
    seen = times(monitor, 0.1)
    agenda.run(until=2.05)
    due, expected = 0.0, []
    while due < 2.05:
        expected.append(due)
        due += 0.1
    assert seen == [*expected, 2.05]


def test_a_sample_sees_the_states_of_its_time_not_those_of_a_step() -> None:
    for method in METHODS:
        monitor, agenda, y = ramp(method)
        gaps: list[float] = []
        monitor.start_sample(Look(lambda monitor=monitor, y=y, gaps=gaps: gaps.append(y.state - monitor.time), 0.1))
        monitor.start_sample(Look(lambda monitor=monitor, y=y, gaps=gaps: gaps.append(y.state - monitor.time), 0.0))
        agenda.run(until=1.0)
        assert len(gaps) > 13
        assert max(map(abs, gaps)) < 1e-15


def test_rates_and_algebraic_quantities_are_those_of_the_sample_s_time() -> None:
    monitor, agenda = model("rke", dtmax=0.25)
    y = Flow(1.0, 1e-8)
    seen: list[tuple[float, float, float]] = []
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", -y.state)))
    monitor.start_sample(Look(lambda: seen.append((monitor.time, monitor.dt, y.rate)), 0.1))
    agenda.run(until=1.0)
    for t, dt, rate in seen:
        assert rate == pytest.approx(-math.exp(-t), abs=1e-7)
        assert t == 0 or 0 < dt <= 0.25


def test_all_with_intervals_look_at_the_same_interpolated_states() -> None:
    monitor, agenda, y = ramp()
    seen: list[tuple[float, float]] = []
    for _ in range(2):
        monitor.start_sample(Look(lambda: seen.append((monitor.time, y.state)), 0.1))
    agenda.run(until=0.25)
    assert seen[0::2] == seen[1::2]
    assert monitor.counters.interpolated_samples == 2
    assert monitor.counters.steps_with_samples == 1


def test_a_sample_that_is_not_due_does_not_look_when_another_is() -> None:
    monitor, agenda, _ = ramp()
    often, seldom = times(monitor, 0.1), times(monitor, 0.35)
    agenda.run(until=0.75)
    assert often == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75])
    assert seldom == pytest.approx([0, 0.35, 0.7, 0.75])


def test_a_sample_due_exactly_at_the_end_of_a_step_costs_nothing() -> None:
    monitor, agenda, _ = ramp()
    seen = times(monitor, 0.5)
    agenda.run(until=1.0)
    assert seen == [0, 0.5, 1.0]
    assert monitor.counters.interpolated_samples == 0


def test_a_sample_first_looks_behind_the_event_that_starts_it() -> None:
    for frequency in (1.0, 0.0, -1.0):
        monitor, agenda, _ = ramp()
        seen: list[float] = []
        sample = Look(lambda monitor=monitor, seen=seen: seen.append(monitor.time), frequency)
        agenda.at(0.25, lambda monitor=monitor, sample=sample: monitor.start_sample(sample))
        agenda.at(0.25)
        agenda.run(until=0.375)
        assert seen == [0.25, 0.25, 0.375]


def test_starting_twice_and_stopping_what_is_stopped_do_nothing() -> None:
    monitor, agenda, _ = ramp()
    seen: list[float] = []
    sample = Look(lambda: seen.append(monitor.time), -1.0)
    monitor.stop_sample(sample)
    monitor.start_sample(sample)
    monitor.start_sample(sample)
    assert monitor.is_active(sample)
    agenda.at(0.25, lambda: monitor.stop_sample(sample))
    agenda.run(until=1.0)
    assert seen == [0.0, 0.25]
    assert not monitor.is_active(sample)


def test_a_new_frequency_is_counted_from_when_it_is_set() -> None:
    monitor, agenda, _ = ramp()
    seen: list[float] = []
    sample = Look(lambda: seen.append(monitor.time), 0.5)
    monitor.start_sample(sample)
    agenda.at(0.75, lambda: monitor.set_frequency(sample, 1.0))
    agenda.run(until=2.25)
    assert seen == [0, 0.5, 0.75, 0.75, 1.75, 2.25]


def test_a_frequency_of_another_sign_takes_the_sample_to_another_list() -> None:
    monitor, agenda, _ = ramp()
    seen: list[str] = []
    sample = Look(named(monitor, seen, "a"), -1.0)
    monitor.start_sample(sample)
    monitor.start_sample(Look(named(monitor, seen, "b"), 0.0))
    agenda.at(0.25, lambda: monitor.set_frequency(sample, 0.0))
    agenda.run(until=0.5)
    assert seen == ["a0", "b0", "b0.25", "a0.25", "a0.25", "b0.25", "a0.5", "b0.5"]


def test_the_frequency_of_an_inactive_sample_is_kept_for_its_start() -> None:
    monitor, agenda, _ = ramp()
    seen: list[float] = []
    sample = Look(lambda: seen.append(monitor.time), 0.0)
    agenda.at(0.25, lambda: monitor.set_frequency(sample, 0.5))
    agenda.at(0.5, lambda: monitor.start_sample(sample))
    agenda.run(until=1.25)
    assert seen == [0.5, 1.0, 1.25]


def test_samples_look_where_nothing_flows() -> None:
    monitor, agenda = model("rke", dtmax=0.25)
    seen, steps, around = times(monitor, 0.3), times(monitor, 0.0), times(monitor, -1.0)
    agenda.at(1.0)
    agenda.run(until=1.5)
    assert seen == pytest.approx([0, 0.3, 0.6, 0.9, 1, 1, 1.2, 1.5])
    assert steps == [0, 1, 1, 1.5]
    assert around == [0, 1, 1, 1.5]
    assert monitor.counters.evaluations == 0


def test_samples_up_to_a_state_event_look_and_later_ones_do_not() -> None:
    for method in METHODS:
        monitor, agenda, y = ramp(method, dtmax=1.0)
        seen = times(monitor, 0.1)
        monitor.wait(lambda: None, lambda y=y: y.state > 0.35)
        monitor.advance()
        assert seen == pytest.approx([0, 0.1, 0.2, 0.3, 0.35], abs=1e-8)
        agenda.run(until=0.42)
        assert seen == pytest.approx([0, 0.1, 0.2, 0.3, 0.35, 0.35, 0.4, 0.42], abs=1e-8)


def test_an_interval_too_short_for_the_time_asks_for_another() -> None:
    """Adding it changes nothing: the run stands still until a new one does."""
    monitor, agenda, _ = ramp()
    seen: list[float] = []
    sample = Look(lambda: seen.append(monitor.time), 1e-20)
    agenda.at(1.0, lambda: monitor.start_sample(sample))
    with pytest.raises(Stopped, match="6: ") as stopped:
        agenda.run(until=2.0)
    assert stopped.value.trouble.culprit is sample
    assert stopped.value.trouble.time == 1.0
    with pytest.raises(Stopped, match="6: "):
        monitor.resume(frequency=1e-19)
    monitor.resume(frequency=0.5)
    assert seen == [1.0, 1.5, 2.0]
