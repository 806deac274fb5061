"""The numbered errors: what finds each, what it carries, what may be changed in front of it, and how the run goes on."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from monitor_models import Body, Flow, List, Look, model
from tidegate.executive.monitor import METHODS, SENTENCES, Afterwards, Monitor, Refused, Stopped, Trouble


def jump(method: str, **settings: Any) -> tuple[Monitor, List, Flow, list[tuple[float, float]]]:
    """y' jumps from 0 to 1 at t = 1, which no step of a tenth passes with the error that is allowed."""
    monitor, agenda = model(method, **settings)
    y = Flow(0.0, 1e-7)
    rows: list[tuple[float, float]] = []
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", 0.0 if monitor.time < 1 else 1.0)))
    monitor.start_sample(Look(lambda: rows.append((monitor.time, y.state)), 0.0))
    agenda.at(2.0)
    return monitor, agenda, y, rows


def stopped_at(deed: Callable[[], object]) -> Trouble:
    with pytest.raises(Stopped) as stopped:
        deed()
    return stopped.value.trouble


def test_every_number_has_its_sentence_and_some_allow_to_go_on() -> None:
    assert list(SENTENCES) == list(range(1, 22))
    troubles = [Trouble(number, 1.0, 0.1, 0.01, 0.5) for number in SENTENCES]
    assert [trouble.number for trouble in troubles if trouble.can_go_on] == [1, 4, 5, 6, 21]
    assert [trouble.number for trouble in troubles if not trouble.samples_run_at_leaving] == [6]
    assert str(troubles[2]) == "3: nothing is scheduled and nobody waits, at time 1.0 (dt 0.1, dtmin 0.01, dtmax 0.5)"


def test_a_step_that_cannot_be_small_enough_tells_whose_error_is_how_large() -> None:
    monitor, agenda, y, rows = jump("rke", dtmin=0.03, dtmax=0.3)
    trouble = stopped_at(agenda.run)
    assert (trouble.number, trouble.kind, trouble.afterwards) == (1, "rk", Afterwards.REPAIR)
    assert trouble.culprit is y
    assert trouble.allowed == 1e-7
    assert trouble.estimated is not None
    assert trouble.estimated > 1e-7
    assert (trouble.dt, trouble.dtmin, trouble.dtmax) == (0.03, 0.03, 0.3)
    assert rows[-1][0] < 1 < trouble.time
    assert monitor.trouble is trouble


@pytest.mark.parametrize(
    "repair",
    [
        {"abserror": 1.0},
        {"dtmin": 1e-9},
        {"method": "pc"},
        {"method": "euler", "dtmax": 0.001, "dtmin": 0.0},
        {"method": "heun", "dtmax": 0.001, "dtmin": 0.0},
    ],
)
def test_a_repaired_run_goes_on_from_the_last_step_that_was_accepted(repair: dict[str, Any]) -> None:
    monitor, agenda, y, rows = jump("rke", dtmin=0.03, dtmax=0.3)
    stopped_at(agenda.run)
    seen, last = len(rows), rows[-1][0]
    monitor.resume(**repair)
    agenda.carry_out()
    assert [t for t, _ in rows] == sorted(t for t, _ in rows)
    assert rows[seen][0] > last
    assert y.state == pytest.approx(1.0, abs=0.05 if "abserror" in repair else 2e-3)
    assert monitor.trouble is None
    assert not monitor.working


def test_the_same_limits_give_the_same_error_again() -> None:
    monitor, agenda, _, rows = jump("rke", dtmin=0.03, dtmax=0.3)
    first = stopped_at(agenda.run)
    seen = len(rows)
    again = stopped_at(monitor.advance)
    assert (again.number, len(rows)) == (1, seen)
    assert again.time == pytest.approx(first.time)


@pytest.mark.parametrize(
    ("repair", "error"),
    [
        ({"max_halvings": 40}, 1e-6),
        ({"max_halvings": 40, "dtmax": 1e-4}, 1e-6),
        ({"abserror": 1.0}, 0.05),
        ({"method": "rke"}, 1e-6),
        ({"method": "trapezoid", "dtmax": 0.001}, 2e-3),
    ],
)
def test_the_predictor_corrector_is_repaired(repair: dict[str, Any], error: float) -> None:
    monitor, agenda, y, rows = jump("pc", dtmin=1e-10, dtmax=0.1, max_halvings=5)
    trouble = stopped_at(agenda.run)
    assert (trouble.number, trouble.kind) == (1, "pc")
    assert trouble.culprit is y
    last = rows[-1][0]
    monitor.resume(**repair)
    agenda.carry_out()
    assert [t for t, _ in rows] == sorted(t for t, _ in rows)
    assert last < 1
    assert y.state == pytest.approx(1.0, abs=error)


@pytest.mark.parametrize("retry", ["limited", "same"])
@pytest.mark.parametrize(("method", "limits"), [("rke", {"dtmin": 0.3}), ("pc", {"max_halvings": 0})])
def test_a_method_of_fixed_step_never_takes_the_step_that_was_refused(method: str, limits: dict[str, Any], retry: str) -> None:
    """It would not notice the error."""
    monitor, agenda, y, rows = jump(method, dtmax=0.3, retry=retry, **limits)
    stopped_at(agenda.run)
    seen = len(rows)
    monitor.resume(method="trapezoid", dtmin=0.0, dtmax=0.001)
    agenda.carry_out()
    assert rows[seen][0] - rows[seen - 1][0] < 0.00101
    assert y.state == pytest.approx(1.0, abs=1e-3)


def test_what_starts_the_predictor_corrector_has_as_many_halvings() -> None:
    """Its start is limited by halvings, not by dtmin, as in the source's program (its text says otherwise)."""
    monitor, agenda = model("pc", dtmin=0.1, dtmax=0.4, max_halvings=3)
    y = Flow(1.0, 1e-12)
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", math.cos(50 * monitor.time))))
    trouble = stopped_at(lambda: agenda.run(until=1.0))
    assert (trouble.kind, monitor.halvings) == ("rk", 3)
    assert trouble.dt == 0.05


def test_a_step_that_does_not_advance_time_is_found() -> None:
    for method in METHODS:
        monitor, agenda = model(method, dtmin=0.0, dtmax=0.0)
        y = Flow(0.0)
        monitor.start_variable(y)
        monitor.start_body(Body(lambda y=y: setattr(y, "rate", 1.0)))
        trouble = stopped_at(lambda agenda=agenda: agenda.run(until=1.0))
        assert trouble.number == 2
        assert not trouble.can_go_on


def test_nothing_scheduled_and_nobody_waiting_is_found() -> None:
    monitor, agenda = model()
    assert stopped_at(monitor.advance).number == 3
    # an agenda that is filled then is carried out
    agenda.run(until=1.0)
    assert monitor.time == 1.0


@pytest.mark.parametrize(("dtmin", "dtmax", "number"), [(-1.0, 1.0, 4), (0.5, 0.25, 5), (-1.0, -2.0, 4)])
def test_impossible_limits_are_asked_for_again_until_they_are_possible(dtmin: float, dtmax: float, number: int) -> None:
    monitor, agenda = model(dtmin=dtmin, dtmax=dtmax)
    agenda.at(1.0)
    trouble = stopped_at(monitor.advance)
    assert (trouble.number, trouble.afterwards) == (number, Afterwards.LIMITS)
    assert stopped_at(lambda: monitor.resume(dtmin=2.0, dtmax=1.0)).number == 5
    monitor.resume(dtmin=0.1)
    assert monitor.time == 1.0


def test_what_a_trouble_does_not_allow_is_not_changed() -> None:
    monitor, agenda = model(dtmin=-1.0)
    agenda.at(1.0)
    stopped_at(monitor.advance)
    with pytest.raises(KeyError, match="method"):
        monitor.change(dtmin=0.0, method="pc")
    assert monitor.settings.dtmin == -1.0
    monitor.resume(dtmin=0.0)
    with pytest.raises(ValueError, match="rk45"):
        monitor.change(method="rk45")


DEEDS: dict[int, Callable[[Monitor, Any], object]] = {
    9: lambda monitor, _: monitor.cancel_wait(monitor),
    10: lambda monitor, _: monitor.wait(lambda: None, lambda: True),
    11: lambda monitor, part: monitor.set_priority(part, 1.0),
    12: lambda monitor, part: monitor.start_body(part),
    13: lambda monitor, part: monitor.stop_body(part),
    14: lambda monitor, part: monitor.set_frequency(part, 1.0),
    15: lambda monitor, part: monitor.start_sample(part),
    16: lambda monitor, part: monitor.stop_sample(part),
    17: lambda monitor, _: monitor.refuse_if_working(17),
}


@pytest.mark.parametrize("number", DEEDS)
@pytest.mark.parametrize("where", ["body", "sample", "condition"])
def test_what_only_events_may_do_is_refused_while_time_moves(number: int, where: str) -> None:
    monitor, agenda, _, _ = jump("rke")
    part: Any = Body(lambda: None) if number < 14 else Look(lambda: None)

    def act() -> bool:
        if monitor.time > 0.5:
            DEEDS[number](monitor, part)
        return False

    if where == "body":
        monitor.start_body(Body(lambda: act() and None))
    elif where == "sample":
        monitor.start_sample(Look(act))
    else:
        monitor.wait(lambda: None, act)
    with pytest.raises(Refused) as refused:
        agenda.run()
    trouble = refused.value.trouble
    assert trouble.number == number
    assert trouble.culprit is (part if number in range(11, 17) else None)
    assert not trouble.can_go_on
    assert not monitor.working
    assert not monitor.is_active(part)


def test_a_refusal_that_a_body_catches_stops_the_run_all_the_same() -> None:
    monitor, _, _, _ = jump("rke")

    def act() -> None:
        with suppress(Refused):
            monitor.wait(lambda: None, lambda: True)

    monitor.start_body(Body(act))
    assert stopped_at(monitor.advance).number == 10


def test_events_may_do_all_of_it() -> None:
    for number, deed in DEEDS.items():
        monitor, agenda, _, _ = jump("rke")
        part: Any = Body(lambda: None) if number < 14 else Look(lambda: None)
        agenda.at(0.5, lambda deed=deed, monitor=monitor, part=part: deed(monitor, part))
        agenda.run(until=0.75)


def test_an_event_that_vanishes_or_comes_while_time_moves_is_found() -> None:
    for number, deed in ((20, lambda agenda: agenda.events.clear()), (17, lambda agenda: agenda.at(0.3))):
        monitor, agenda, _, _ = jump("rke")
        done: list[int] = []

        def act(monitor: Monitor = monitor, agenda: List = agenda, deed: Callable[[List], object] = deed, done: list[int] = done) -> None:
            if monitor.time > 0.5 and not done:
                done.append(1)
                deed(agenda)

        monitor.start_body(Body(act))
        assert stopped_at(monitor.advance).number == number


def test_leaving_lets_every_sample_look_once_more() -> None:
    monitor, agenda, _, rows = jump("rke", dtmin=0.03, dtmax=0.3)
    seen: list[str] = []
    for name, frequency in (("minus", -1.0), ("plus", 10.0)):
        monitor.start_sample(Look(lambda name=name: seen.append(name), frequency))
    trouble = stopped_at(agenda.run)
    before = len(rows)
    seen.clear()
    monitor.leave()
    assert seen == ["plus", "minus"]
    assert len(rows) == before + 1
    assert trouble.time > 1
    assert rows[-1] == rows[-2]  # where the refused step starts: not at its end, and not with what it tried
    assert not monitor.working


def test_leaving_in_front_of_a_sample_that_cannot_go_on_lets_none_look() -> None:
    monitor, agenda, _, rows = jump("rke")
    agenda.at(1.5, lambda: monitor.start_sample(Look(lambda: None, 1e-30)))
    assert stopped_at(agenda.run).number == 6
    before = len(rows)
    monitor.leave()
    assert len(rows) == before


@pytest.mark.parametrize("where", ["body", "sample", "condition", "event"])
def test_an_exception_of_the_user_s_comes_through_and_the_monitor_stands_still(where: str) -> None:
    monitor, agenda, _, rows = jump("rke")

    def fail() -> bool:
        if monitor.time > 0.5:
            raise ZeroDivisionError("mine")
        return False

    if where == "body":
        monitor.start_body(Body(lambda: fail() and None))
    elif where == "sample":
        monitor.start_sample(Look(fail))
    elif where == "condition":
        monitor.wait(lambda: None, fail)
    else:
        agenda.at(0.75, fail)
    with pytest.raises(ZeroDivisionError, match="mine"):
        agenda.run()
    assert not monitor.working
    assert rows


@pytest.mark.parametrize("method", METHODS)
def test_behind_an_exception_everything_is_as_at_the_start_of_the_step_and_the_run_can_go_on(method: str) -> None:
    """y' = -y and x' = y; a body fails somewhere in a step, wherever the method has just tried, and works when it is run again."""

    def run(fails: int) -> tuple[Monitor, Flow, Flow, list[tuple[float, float, float]]]:
        monitor, agenda = model(method, dtmax=0.01, dtmin=1e-9)
        y, x = Flow(1.0, 1e-9), Flow(0.0, 1e-9)
        calls, rows = [0], list[tuple[float, float, float]]()

        def flow() -> None:
            calls[0] += 1
            if calls[0] == fails:
                raise ZeroDivisionError
            y.rate, x.rate = -y.state, y.state

        monitor.start_variable(y)
        monitor.start_variable(x)
        monitor.start_body(Body(flow))
        monitor.start_sample(Look(lambda: rows.append((monitor.time, y.state, x.state))))
        agenda.at(0.5)
        return monitor, y, x, rows

    monitor, y, x, accepted = run(0)
    monitor.advance()
    for fails in (2, 3, 5, 8, 13, 21, 34, 50):
        monitor, y, x, _ = run(fails)
        with pytest.raises(ZeroDivisionError):
            monitor.advance()
        assert (monitor.time, y.state, x.state) in accepted
        monitor.advance()
        assert monitor.time == 0.5
        assert y.state == pytest.approx(math.exp(-0.5), abs=3e-3 if method == "euler" else 2e-5)  # the method's own error
        assert x.state + y.state == pytest.approx(1.0, abs=1e-9)


def test_limits_and_tolerances_may_change_at_events() -> None:
    monitor, agenda, y, rows = jump("rke", dtmin=1e-9, dtmax=0.5)

    def tighten() -> None:
        monitor.change(dtmax=0.01)
        y.abserror = 1e-3

    agenda.at(1.5, tighten)
    agenda.run()
    assert sum(t > 1.5 for t, _ in rows) >= 50


FIXED = ("euler", "adams2", "trapezoid", "heun")


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_step_of_fixed_length_that_leads_to_no_number_is_refused_and_can_be_taken_after_a_repair(method: str, bad: float) -> None:
    """y' = 1 but behind t = 0.55, until somebody mends the body: then y = t."""
    monitor, agenda = model(method, dtmax=0.1)
    y = Flow(0.0)
    is_broken = [True]
    seen: list[tuple[float, float]] = []
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", bad if is_broken[0] and monitor.time > 0.55 else 1.0)))
    monitor.start_sample(Look(lambda: seen.append((monitor.time, y.state)), 0.0))
    agenda.at(2.0)
    trouble = stopped_at(agenda.run)
    assert (trouble.number, trouble.kind, trouble.culprit) == (1, "fixed", y)
    assert "no finite number" in str(trouble)
    assert all(math.isfinite(state) for _, state in seen)
    assert stopped_at(agenda.run).number == 1  # nothing was repaired
    is_broken[0] = False
    monitor.change(dtmax=0.05)
    agenda.run()
    assert all(math.isfinite(state) for _, state in seen)
    assert seen[-1] == (2.0, pytest.approx(2.0, abs=1e-12))


@pytest.mark.parametrize("method", METHODS)
def test_a_solution_that_runs_to_infinity_never_ends_as_a_number(method: str) -> None:
    """y' = y**2 from 1 has a pole at t = 1."""
    monitor, agenda = model(method, dtmin=1e-6, dtmax=0.01, max_halvings=60)
    y = Flow(1.0, 1e-6, 1e-6)
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", y.state * y.state if abs(y.state) < 1e150 else math.inf)))
    agenda.at(3.0)
    assert stopped_at(agenda.run).number == 1
