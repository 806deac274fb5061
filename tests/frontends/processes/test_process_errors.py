"""The numbered errors through an environment: what each says and carries, what repairs it, and where everything stands behind it."""

from __future__ import annotations

import math
import pickle
import traceback
from collections.abc import Callable, Generator
from typing import Any

import pytest
import simpy

import tidegate as tg
from tidegate.executive.monitor import METHODS as METHODS_OF_THE_MONITOR
from tidegate.executive.monitor import Afterwards
from tidegate.executive.monitor.troubles import AFTERWARDS
from tidegate.frontends.processes import Environment, Group, environment
from tidegate.frontends.processes.numbered_errors import CHANGES, METHODS

__all__: list[str] = []

Gen = Generator[Any, Any, Any]
NEAR = 2e-6  # the error of the step over the jump: some 1e-7 for each of the steps that halve on the way to it


def jump(method: str = "rke", **options: Any) -> tuple[Environment, Any, list[tuple[float, float]]]:
    """The rate of y jumps from 0 to 1 at t = 1, which no step of a tenth passes with the error that is allowed."""
    env = Environment(method=method, compiled=False, **({"dtmin": 0.03, "dtmax": 0.3, "abserror": 1e-7, "relerror": 0.0} | options))
    y = env.variable(0.0, name="y")
    rows: list[tuple[float, float]] = []

    @env.continuous
    def jumping() -> None:
        y.rate = 0.0 if env.now < 1 else 1.0

    Group(jumping, y, env.sample(lambda: rows.append((env.now, y.state)))).start()
    return env, y, rows


def failing(deed: Callable[[], object]) -> tg.ProcessError:
    with pytest.raises(tg.ProcessError) as caught:
        deed()
    return caught.value


def test_the_front_end_allows_what_the_monitor_does() -> None:
    assert METHODS == METHODS_OF_THE_MONITOR
    assert {number for number in CHANGES if number != 21} == {number for number, what in AFTERWARDS.items() if what is not Afterwards.SKIP}


def test_number_1_tells_whose_error_is_how_large_and_everything_stands_where_the_step_began() -> None:
    env, y, rows = jump()
    error = failing(lambda: env.run(until=2))
    assert (error.number, error.kind, error.name, error.culprit) == (1, "rk", "y", y)
    assert error.allowed == 1e-7
    assert error.estimated is not None
    assert error.estimated > 1e-7
    assert (error.dt, error.dtmin, error.dtmax) == (0.03, 0.03, 0.3)
    assert str(error).startswith("1: the step cannot be made small enough for the error that is allowed (y: 1e-07 is allowed, ")
    assert "try: where a rate jumps, let a process wait for the jump" in str(error)
    assert error.can_go_on
    # not where it was tried in vain
    assert env.now == rows[-1][0] < 1 < error.time
    assert y.state == rows[-1][1] == 0.0


@pytest.mark.parametrize(
    "repair",
    [
        {"abserror": 1.0},
        {"dtmin": 1e-9},
        {"method": "pc"},
        {"method": "euler", "dtmax": 0.001, "dtmin": 0.0},
        {"dtmin": 1e-9, "dtmax": 0.01, "relerror": 1e-9, "max_halvings": 40, "disc_halvings": 3},
    ],
)
def test_a_run_that_was_repaired_returns_what_it_would_have_returned(repair: dict[str, Any]) -> None:
    env, y, rows = jump()

    def operator() -> Gen:
        yield env.timeout(2.0)
        return "done"

    error = failing(lambda: env.run(env.process(operator())))
    seen, last = len(rows), rows[-1][0]
    assert error.resume(**repair) == "done"
    assert env.now == 2.0
    assert [t for t, _ in rows] == sorted(t for t, _ in rows)
    assert rows[seen][0] > last
    assert y.state == pytest.approx(1.0, abs=0.05 if "abserror" in repair else 2e-3)


def test_a_run_to_a_time_goes_on_to_that_time_and_no_further() -> None:
    env, y, _ = jump()
    env.timeout(3.0)
    failing(lambda: env.run(until=2)).resume(dtmin=1e-9)
    assert env.now == 2
    assert y.state == pytest.approx(1.0, abs=NEAR)
    env.run()
    assert env.now == 3


def test_the_same_error_comes_again_where_nothing_was_repaired_and_each_goes_on_once() -> None:
    env, y, _ = jump()
    first = failing(lambda: env.run(until=2))
    second = failing(first.resume)
    assert (second.number, second.time) == (1, pytest.approx(first.time))
    with pytest.raises(tg.UsageError, match=r"the run has gone on since number 1 at t = 1\.\d+"):
        first.resume(dtmin=1e-9)
    second.resume(dtmin=1e-9)
    assert y.state == pytest.approx(1.0, abs=NEAR)
    with pytest.raises(tg.UsageError, match="has gone on since"):
        second.resume()


def test_running_again_goes_on_as_well_and_to_another_end() -> None:
    env, y, _ = jump()
    failing(lambda: env.run(until=2))
    y.abserror = 1.0
    env.run(until=1.5)
    assert env.now == 1.5
    env.run(until=3)
    assert env.now == 3
    assert all(event.callbacks == [] for *_, event in env._queue)  # SimPy keeps an end of its own


def test_a_step_by_hand_goes_on_by_one_step() -> None:
    env, _, _ = jump()
    env.timeout(1.5)
    env.timeout(2.5)
    error = failing(env.step)
    error.resume(dtmin=1e-9)
    assert env.now == 1.5


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"every": 1.0}, "behind number 1 every cannot be changed\n  try: method, dtmin, dtmax, abserror, relerror, max_halvings, disc_halvings may"),
        ({"method": "rk4"}, "no method 'rk4'\n  try: did you mean 'rke'?"),
        ({"method": "zzz"}, "one of rke, pc, euler, adams2, trapezoid, heun"),
        ({"dtmin": 0.5}, r"dtmin would be 0\.5 and dtmax 0\.3"),
        ({"dtmin": -1.0}, r"dtmin is a number that is at least 0, not -1\.0"),
        ({"dtmax": math.nan}, "dtmax is a number that is at least 0, not nan"),
        ({"abserror": "small"}, "abserror is a number that is at least 0, not 'small'"),
        ({"max_halvings": 0}, "max_halvings is a whole number above 0, not 0"),
        ({"max_halvings": 2.5}, r"max_halvings is a whole number above 0, not 2\.5"),
    ],
)
def test_a_repair_that_is_not_allowed_or_makes_no_sense_is_refused_and_another_may_be_tried(changes: dict[str, Any], said: str) -> None:
    env, y, _ = jump()
    error = failing(lambda: env.run(until=2))
    with pytest.raises(tg.UsageError, match=said):
        error.resume(dtmin=1e-9, **changes) if "dtmin" not in changes else error.resume(**changes)
    assert env.monitor.settings.dtmin == 0.03
    error.resume(dtmin=1e-9)
    assert y.state == pytest.approx(1.0, abs=NEAR)


def test_the_predictor_corrector_and_a_fixed_step_to_no_number_say_what_helps_them() -> None:
    env, y, _ = jump("pc", dtmin=1e-9, dtmax=0.1)
    env.monitor.change(max_halvings=5)
    error = failing(lambda: env.run(until=2))
    assert (error.number, error.kind) == (1, "pc")
    assert "error.resume(max_halvings=...)" in str(error)
    error.resume(max_halvings=40)
    assert y.state == pytest.approx(1.0, abs=NEAR)

    env = Environment(method="heun", dtmax=0.1, compiled=False)
    z, factor = env.variable(0.0, name="z"), env.parameter(math.inf)
    Group(env.continuous(lambda: setattr(z, "rate", factor.value if env.now > 0.5 else 1.0)), z).start()
    error = failing(lambda: env.run(until=1))
    assert (error.kind, error.name) == ("fixed", "z")
    assert "no finite number (z)" in str(error)
    factor.value = 1.0
    error.resume(dtmax=0.05)
    assert z.state == pytest.approx(1.0, abs=1e-12)


def flowing(**options: Any) -> tuple[Environment, Any]:
    env = Environment(**options)
    x = env.variable(0.0, name="x")

    @env.continuous
    def flow() -> None:
        x.rate = 1.0

    Group(x, flow).start()
    return env, x


def test_number_2_a_step_that_does_not_advance_time() -> None:
    env, _ = flowing(method="euler", dtmin=0.0, dtmax=0.0)
    error = failing(lambda: env.run(until=1))
    assert error.number == 2
    assert not error.can_go_on
    with pytest.raises(tg.UsageError, match="behind number 2 no run goes on"):
        error.resume(dtmax=1.0)


def test_number_3_nothing_is_scheduled_and_nobody_waits_where_somebody_wants_an_event() -> None:
    env, x = flowing()
    error = failing(lambda: env.run(env.event()))
    assert (error.number, error.can_go_on) == (3, False)
    # without a goal the run is over, as in SimPy
    env.run()
    env.run(until=1)
    assert x.state == pytest.approx(1.0)


@pytest.mark.parametrize(("limits", "number"), [({"dtmin": -1.0}, 4), ({"dtmin": 0.5, "dtmax": 0.25}, 5), ({"dtmin": -1.0, "dtmax": -2.0}, 4)])
def test_numbers_4_and_5_limits_that_are_impossible(limits: dict[str, float], number: int) -> None:
    env, x = flowing(**limits)
    error = failing(lambda: env.run(until=1))
    assert error.number == number
    with pytest.raises(tg.UsageError, match="method cannot be changed\n  try: dtmin, dtmax may"):
        error.resume(method="pc")
    error.resume(dtmin=1e-6, dtmax=0.5)
    assert x.state == pytest.approx(1.0)


def test_number_6_a_sample_that_cannot_go_on() -> None:
    env, x = flowing(initial_time=1.0)
    seen: list[float] = []
    look = env.sample(lambda: seen.append(env.now), every=1e-30)
    look.start()
    error = failing(lambda: env.run(until=2))
    assert (error.number, error.culprit) == (6, look)
    assert "(<lambda>)" in str(error)
    with pytest.raises(tg.UsageError, match="every is a number above 0, not 0"):
        error.resume(every=0)
    again = failing(lambda: error.resume(every=1e-20))
    again.resume(every=0.25)
    assert seen == [1.0, 1.25, 1.5, 1.75, 2.0]
    assert x.state == pytest.approx(1.0)


@pytest.mark.slow
def test_number_7_a_condition_that_never_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_MOST_STEPS", 1000)
    env, x = flowing(dtmax=1.0, method="euler")

    def waiter() -> Gen:
        yield env.wait_until(lambda: x.state < 0)

    env.process(waiter())
    error = failing(env.run)
    assert (error.number, error.can_go_on) == (7, False)
    assert "env.run(until=...) ends a run in any case" in str(error)


DEEDS: dict[int, list[Callable[[Environment, Any, Any], object]]] = {
    8: [lambda env, _, __: env.pause()],
    9: [lambda env, parts, _: parts["wait"].cancel()],
    10: [lambda env, _, __: env.wait_until(lambda: True)],
    11: [lambda env, parts, _: setattr(parts["body"], "priority", 1.0)],
    12: [lambda env, parts, _: parts["body"].start()],
    13: [lambda env, parts, _: parts["body"].stop()],
    14: [lambda env, parts, _: setattr(parts["sample"], "every", 1.0)],
    15: [lambda env, parts, _: parts["sample"].start()],
    16: [lambda env, parts, _: parts["sample"].stop()],
    17: [
        lambda env, _, __: env.timeout(1.0),
        lambda env, parts, _: parts["event"].succeed(),
        lambda env, parts, _: parts["process"].interrupt(),
        lambda env, parts, generator: env.process(generator()),
        lambda env, parts, _: simpy.Resource(env).request(),
    ],
}
CASES = [(number, deed) for number, deeds in DEEDS.items() for deed in deeds]


@pytest.mark.parametrize(("number", "deed"), CASES, ids=[f"{number}-{place}" for place, (number, _) in enumerate(CASES)])
@pytest.mark.parametrize("where", ["body", "sample", "condition"])
def test_numbers_8_to_17_what_only_events_may_do(number: int, deed: Callable[..., object], where: str) -> None:
    env, x = flowing(dtmax=0.1)
    rows: list[float] = []
    env.sample(lambda: rows.append(x.state)).start()

    def sleeper() -> Gen:
        yield env.timeout(5.0)

    parts: dict[str, Any] = {
        "wait": env.wait_until(lambda: False),
        "body": env.continuous(lambda: None),
        "sample": env.sample(lambda: None),
        "event": env.event(),
        "process": env.process(sleeper()),
    }

    def act() -> bool:
        if env.now > 0.5:
            deed(env, parts, sleeper)
        return False

    if where == "body":
        env.continuous(lambda: act() and None).start()
    elif where == "sample":
        env.sample(act).start()
    else:
        env.wait_until(act)
    error = failing(lambda: env.run(until=2))
    assert (error.number, error.can_go_on) == (number, False)
    assert error.culprit is (parts["body" if number < 14 else "sample"] if number in range(11, 17) else None)
    assert error.origin is not None
    assert error.origin.file.endswith("test_process_errors.py")
    assert "try: do it in a process" in str(error)
    # the environment stands still between two events, at the last state that was accepted
    assert env.now == pytest.approx(x.state, abs=1e-12)
    assert rows[-1] <= x.state < 0.71
    assert not env.monitor.working
    assert not parts["event"].triggered
    parts["wait"].cancel()


def test_a_refusal_that_a_body_swallows_ends_the_run_all_the_same() -> None:
    env, _ = flowing(dtmax=0.1)

    def act() -> None:
        try:
            env.timeout(1.0)
        except Exception:  # noqa: BLE001
            return

    env.continuous(act).start()
    assert failing(lambda: env.run(until=2)).number == 17


def test_number_21_in_a_run_the_event_is_carried_out_to_its_end_and_the_run_can_go_on() -> None:
    env = Environment()
    x, y = env.variable(0.0), env.variable(0.0)
    body = env.continuous(lambda: (setattr(x, "rate", 1.0), setattr(y, "rate", 2.0)))
    done: list[float] = []

    def operator() -> Gen:
        yield env.timeout(1.0)
        Group(x, "valve", y, body).start()  # type: ignore[arg-type]
        done.append(env.now)
        yield env.timeout(1.0)
        return "done"

    error = failing(lambda: env.run(env.process(operator())))
    assert (error.number, error.culprit, error.name) == (21, "valve", "'valve'")
    assert str(error).startswith("21: the element cannot be started or stopped: it is no variable, continuous body or sample ('valve'), at t = 1 ")
    assert done == [1.0]
    assert x.active
    assert y.active
    with pytest.raises(tg.UsageError, match="behind number 21 dtmax cannot be changed"):
        error.resume(dtmax=1.0)
    assert error.resume() == "done"
    assert (x.state, y.state) == (pytest.approx(1.0), pytest.approx(2.0))


def test_number_21_in_the_last_event_of_a_run_is_told_too() -> None:
    env = Environment()
    x = env.variable(0.0)

    def operator() -> Gen:
        yield env.timeout(1.0)
        Group(x, None).start()  # type: ignore[arg-type]
        return "done"

    assert failing(lambda: env.run(env.process(operator()))).resume() == "done"


def test_number_21_in_a_step_by_hand_is_told_by_the_next() -> None:
    env = Environment()
    x = env.variable(0.0)
    done: list[float] = []

    def operator() -> Gen:
        Group(x, "valve").start()  # type: ignore[arg-type]
        yield env.timeout(1.0)
        done.append(env.now)

    env.process(operator())
    env.step()
    error = failing(env.step)
    assert error.number == 21
    error.resume()
    assert done == [1.0]


def test_number_21_before_a_run_is_told_at_once_and_every_other_is_started() -> None:
    env = Environment()
    x, y = env.variable(0.0), env.variable(0.0)
    error = failing(Group(x, 3.0, y).start)  # type: ignore[arg-type]
    assert error.number == 21
    assert x.active
    assert y.active
    with pytest.raises(tg.UsageError, match=r"a group of 3\.0 is to start"):
        Group(3.0).start()  # type: ignore[arg-type]


def test_what_events_may_do_is_refused_in_words_while_the_run_stands_in_a_step() -> None:
    env, y, _ = jump()
    error = failing(lambda: env.run(until=2))
    for deed in (env.continuous(lambda: None).start, lambda: env.wait_until(lambda: True), env.pause, lambda: env.timeout(1.0), env.event().succeed):
        with pytest.raises(tg.UsageError, match=r"the run stands in front of number 1, in the middle of a step"):
            deed()
    error.resume(dtmin=1e-9)
    assert y.state == pytest.approx(1.0, abs=NEAR)


def test_an_error_goes_along_to_another_process_without_its_environment() -> None:
    env, _, _ = jump()
    error = failing(lambda: env.run(until=2))
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.number, copy.allowed) == (str(error), 1, 1e-7)
    with pytest.raises(tg.UsageError):
        copy.resume()


# exceptions of the user's


@pytest.mark.parametrize("where", ["body", "sample", "condition", "process", "child", "callback"])
def test_an_exception_of_the_user_s_is_the_original_one_and_says_where_it_comes_from(where: str) -> None:
    env, x = flowing(dtmax=0.1, method="euler")
    rows: list[float] = []
    env.sample(lambda: rows.append(x.state)).start()

    def fail() -> bool:
        if env.now > 0.55:
            raise ValueError("mine")
        return False

    def pump() -> Gen:
        yield env.timeout(0.6)
        fail()

    def parent() -> Gen:
        yield env.process(pump())

    def waiter() -> Gen:
        yield env.wait_until(fail)

    def sleeper() -> Gen:
        yield env.timeout(1.0)
        return "done"

    deeds: dict[str, tuple[Callable[[], object], str]] = {
        "body": (lambda: env.continuous(fail).start(), "in the continuous body 'fail' at t = 0.6"),
        "sample": (lambda: env.sample(fail).start(), "in the sample 'fail' at t = 0.6"),
        "condition": (lambda: env.process(waiter()), "in the condition for which the process 'waiter' waits, at t = 0.6"),
        "process": (lambda: env.process(pump()), "in the process 'pump' at t = 0.6"),
        "child": (lambda: env.process(parent()), "in the process 'pump' at t = 0.6"),
        "callback": (lambda: env.timeout(0.6).callbacks.append(lambda _: fail()), "at t = 0.6"),  # pyright: ignore[reportOptionalMemberAccess]
    }
    deed, note = deeds[where]
    deed()
    process = env.process(sleeper())
    with pytest.raises(ValueError, match="mine") as caught:
        env.run(process)
    assert caught.value.__notes__ == [note]
    assert rows[-1] <= x.state <= 0.6 + 1e-12
    assert env.now == pytest.approx(x.state)
    # what has failed in an event is over; the rest can be run again
    if where in ("process", "child", "callback"):
        assert env.run(process) == "done"
        assert x.state == pytest.approx(1.0)


def test_the_process_that_the_run_waits_for_is_named_as_well() -> None:
    env, _ = flowing()

    def pump() -> Gen:
        yield env.timeout(0.6)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine") as caught:
        env.run(env.process(pump()))
    assert caught.value.__notes__ == ["in the process 'pump' at t = 0.6"]


def test_a_tidegate_error_in_a_process_keeps_what_it_carries() -> None:
    env, _ = flowing()

    def pump() -> Gen:
        yield env.timeout(0.5)
        raise tg.UsageError("too much", hint="less")

    env.process(pump())
    with pytest.raises(tg.UsageError) as caught:
        env.run()
    assert (caught.value.message, caught.value.hint) == ("too much", "less")


class Empty(Exception):
    """As users write them: with arguments of its own, and more than a text."""

    def __init__(self, tank: str, level: float) -> None:
        super().__init__(f"{tank} is empty")
        self.level = level


class Overflow(Exception):
    def __init__(self, level: float = 0.0) -> None:
        super().__init__(f"at {level}")
        self.level = level


@pytest.mark.parametrize("error", [Empty("tank", 0.25), Overflow(0.25)])
@pytest.mark.parametrize("is_awaited", [False, True])
def test_an_exception_with_arguments_of_its_own_comes_out_of_a_process_as_it_is(error: Exception, is_awaited: bool) -> None:
    """SimPy would copy it from its text alone, which is a TypeError, or an exception with a wrong level."""
    env, _ = flowing()

    def pump() -> Gen:
        yield env.timeout(0.5)
        raise error

    process = env.process(pump())
    with pytest.raises(type(error)) as caught:
        env.run(process if is_awaited else None)
    assert caught.value is error
    assert caught.value.level == 0.25  # type: ignore[attr-defined]
    assert caught.value.__notes__ == ["in the process 'pump' at t = 0.5"]
    assert "raise error" in "".join(traceback.format_exception(caught.value))
    del error.__notes__


def test_a_callback_of_a_failing_event_that_fails_itself_is_told_as_it_is() -> None:
    env, _ = flowing()

    def broken(_: object) -> None:
        raise LookupError("the callback's own")

    event = env.event()
    event.callbacks.append(broken)
    event.fail(ValueError("the event's"))
    with pytest.raises(LookupError, match="the callback's own") as caught:
        env.run()
    assert caught.value.__notes__ == ["at t = 0"]
    env.event().fail(ValueError("nobody's"))
    with pytest.raises(ValueError, match="nobody's") as caught_too:
        env.run()
    assert caught_too.value.__notes__ == ["at t = 0"]


@pytest.mark.parametrize("where", ["body", "process"])
def test_ctrl_c_stops_a_run_and_it_can_go_on(where: str) -> None:
    env, x = flowing(dtmax=0.1)
    pressed: list[int] = []

    def press() -> None:
        if env.now > 0.55 and not pressed:
            pressed.append(1)
            raise KeyboardInterrupt

    def pump() -> Gen:
        yield env.timeout(0.6)
        press()

    if where == "body":
        env.continuous(press).start()
    else:
        env.process(pump())
    with pytest.raises(tg.InterruptedRunError, match=r"interrupted at t = 0\.[56]") as caught:
        env.run(until=1)
    assert caught.value.time == env.now == pytest.approx(x.state)
    env.run(until=1)
    assert x.state == pytest.approx(1.0)


def test_a_goal_that_an_exception_has_cut_off_ends_no_later_run() -> None:
    env, x = flowing(dtmax=0.1)
    failed: list[int] = []

    @env.sample
    def fail() -> None:
        if env.now > 0.5 and not failed:
            failed.append(1)
            raise ValueError

    fail.start()
    goal = env.event()
    with pytest.raises(ValueError):  # noqa: PT011
        env.run(until=1)
    assert env.peek() == math.inf
    with pytest.raises(tg.ProcessError):
        env.run(goal)
    goal.succeed()
    env.run(until=2)
    assert (env.now, x.state) == (2, pytest.approx(2.0))


def test_ordinary_simpy_is_run_by_simpy() -> None:
    env = Environment()

    def pump() -> Gen:
        yield env.timeout(1.0)

    env.run(env.process(pump()))
    assert "run" not in vars(env)
