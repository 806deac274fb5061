"""Processes in the style of Simula: their order against a plain list of events, beside SimPy's processes and what flows."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from typing import Any

import pytest
import simpy

import tidegate as tg
from tidegate.frontends.processes import Environment, Group, SimulaProcess

__all__: list[str] = []

Gen = Generator[Any, Any, Any]
Action = tuple[str, str, dict[str, Any]]  # verb, whom it concerns, where to
Trace = list[tuple[float, str, int]]


CONTROL = "the monitor"


class ListOfEvents:
    """Simula's own rules, on a plain list of [time, process]; a process is a list of actions and how far it has come.

    With a monitor there stands a control entry in the list, directly behind the process whose event it is. Where it comes first there is a period:
    samples look behind the event before it, and in front of the next one if time has passed; then it goes behind that one.
    """

    def __init__(self, scripts: dict[str, list[Action]], *, has_monitor: bool = False) -> None:
        self.has_monitor = has_monitor
        self.scripts = scripts
        self.done = dict.fromkeys(scripts, 0)
        self.ended: set[str] = set()
        self.now = 0.0
        self.events: list[tuple[float, str]] = [(0.0, next(iter(scripts)))]
        self.trace: Trace = []

    def run(self) -> Trace:
        if self.has_monitor:
            self.events.append((0.0, CONTROL))
        while self.events:
            self.now, current = self.events[0]
            if current == CONTROL:
                self.events.pop(0)
                if self.events:
                    following, _ = self.events[0]
                    self.trace += [(time, CONTROL, 0) for time in ([self.now, following] if following > self.now else [self.now])]
                    self.events.insert(1, (following, CONTROL))
                continue
            place = self.done[current]
            if place == len(self.scripts[current]):
                self.events.pop(0)
                self.ended.add(current)
                continue
            self.trace.append((self.now, current, place))
            self.done[current] += 1
            self.do(current, *self.scripts[current][place])
        return self.trace

    def where(self, process: str) -> int | None:
        return next((k for k, (_, one) in enumerate(self.events) if one == process), None)

    def do(self, current: str, verb: str, whom: str, to: dict[str, Any]) -> None:
        if verb == "hold":
            self.move(current, "delay", to["delay"])
        elif verb == "passivate":
            self.events.pop(0)
        elif verb == "pause":
            self.events.pop(0)
            self.events.insert((self.where(CONTROL) or 0) + 1, (self.now, current))
        elif verb == "cancel":
            if self.where(whom) is not None:
                self.events.pop(self.where(whom))  # type: ignore[arg-type]
        elif whom not in self.ended:
            if verb == "activate" and self.where(whom) is not None:
                return
            self.move(whom, *next(((key, value) for key, value in to.items() if key != "prior"), ("direct", None)), is_prior=to.get("prior", False))

    def move(self, process: str, key: str, value: Any, *, is_prior: bool = False) -> None:
        rest = [event for event in self.events if event[1] != process]
        if key == "direct":
            entry, place = self.now, 0
        elif key in ("at", "delay"):
            entry = max(value if key == "at" else self.now + value, self.now)
            place = sum(time < entry if is_prior else time <= entry for time, _ in rest)
        else:
            neighbour = next((k for k, (_, one) in enumerate(rest) if one == value), None)
            if neighbour is None:
                return
            entry, place = rest[neighbour][0], neighbour + (key == "after")
        self.events = [*rest[:place], (entry, process), *rest[place:]]


class Actor(SimulaProcess):
    """Does what its script says, and notes when."""

    def __init__(self, env: Any, name: str, script: list[Action], trace: Trace, actors: dict[str, Actor], *, always_yields: bool) -> None:
        super().__init__(env, name)
        self.script, self.trace, self.actors, self.always_yields = script, trace, actors, always_yields

    def actions(self) -> Gen:
        for place, (verb, whom, to) in enumerate(self.script):
            self.trace.append((self.env.now, self.name, place))
            where = {key: self.actors[value] if key in ("before", "after") else value for key, value in to.items()}
            if verb == "hold":
                yield self.hold(where["delay"])
            elif verb in ("passivate", "pause"):
                yield getattr(self, verb)()
            else:
                event = getattr(self.actors[whom], verb)(**where)
                if self.always_yields or whom == self.name:
                    yield event


def random_scripts(seed: int, *, is_lively: bool, pauses: int = 0) -> dict[str, list[Action]]:
    """Times from a coarse grid, so that most events have equals."""
    draw = random.Random(seed)
    names = [f"p{k}" for k in range(draw.randint(2, 6))]

    def action(own: str) -> Action:
        verb = draw.choices(["hold", "passivate", "activate", "reactivate", "cancel", "pause"], [5, 1, 6, 3 if is_lively else 1, 1, pauses])[0]
        whom = draw.choice(names)
        if verb in ("hold", "passivate", "cancel", "pause"):
            return verb, whom, {"delay": draw.choice([0, 0, 1, 2, -1])} if verb == "hold" else {}
        key = draw.choice(["direct", "direct", "at", "delay", "before", "after"])
        if key == "direct":
            return verb, whom, {}
        if key in ("before", "after"):
            return verb, whom, {key: draw.choice(names)}
        return verb, whom, {key: draw.choice([0, 1, 2, 3]), "prior": draw.random() < 0.4}

    return {name: [action(name) for _ in range(draw.randint(1, 8))] for name in names}


def executed(scripts: dict[str, list[Action]], *, always_yields: bool, has_monitor: bool = False) -> Trace:
    env = Environment(0.0)
    trace: Trace = []
    if has_monitor:
        env.sample(lambda: trace.append((env.now, CONTROL, 0)), every=-1.0).start()
    actors: dict[str, Actor] = {}
    for name, script in scripts.items():
        actors[name] = Actor(env, name, script, trace, actors, always_yields=always_yields)
    next(iter(actors.values())).activate()
    env.run()
    return trace


def compare(seeds: range) -> None:
    """Whoever yields every call gets Simula's order; whoever does not gets it too, or is told to."""
    told = told_not = 0
    for seed in seeds:
        scripts = random_scripts(seed, is_lively=bool(seed % 2))
        expected = ListOfEvents(scripts).run()
        assert executed(scripts, always_yields=True) == expected, (seed, scripts)
        try:
            trace = executed(scripts, always_yields=False)
        except tg.UsageError as error:
            told += "write `yield` in front of it" in str(error)
        else:
            assert trace == expected, (seed, scripts)
            told_not += 1
    assert told + told_not == len(seeds)
    assert 0 < told < len(seeds) / 2


@pytest.mark.slow
def test_random_processes_are_executed_in_simulas_order() -> None:
    compare(range(150))


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(1000, 4000), marks=pytest.mark.slow)])
def test_the_monitor_works_where_its_control_entry_comes_first(seeds: range) -> None:
    for seed in seeds:
        scripts = random_scripts(seed, is_lively=bool(seed % 2), pauses=1)
        assert executed(scripts, always_yields=True, has_monitor=True) == ListOfEvents(scripts, has_monitor=True).run(), (seed, scripts)


@pytest.mark.hunt
def test_many_random_processes_are_executed_in_simulas_order() -> None:
    compare(range(1000, 9000))


# one by one


class Written(SimulaProcess):
    """Its actions are a function of it."""

    def __init__(self, env: Any, actions: Callable[[Any], Any], name: str = "") -> None:
        super().__init__(env, name)
        self._written = actions

    def actions(self) -> Any:
        return self._written(self)


def sleeping(self: Any) -> Gen:
    yield self.passivate()


def test_a_plain_activation_executes_inside_the_call_and_prior_ones_come_first() -> None:
    env = Environment()
    log: list[str] = []

    def other(self: Any) -> Gen:
        log.append(f"other {env.now}")
        yield self.hold(1)
        log.append(f"other again {env.now}")

    def main(self: Any) -> Gen:
        Written(env, other).activate()
        log.append("main goes on")
        assert env.current is self
        assert env.active_process is self
        Written(env, lambda _: log.append(f"late {env.now}")).activate(delay=1)
        Written(env, lambda _: log.append(f"first {env.now}")).activate(delay=1, prior=True)
        yield self.hold(1)
        log.append(f"main {env.now}")
        return "value"

    process = Written(env, main)
    assert (process.idle, process.terminated) == (True, False)
    process.activate()
    assert log == ["other 0", "main goes on"]
    assert env.current is None
    assert env.run(process) == "value"
    assert log[2:] == ["first 1", "other again 1", "late 1", "main 1"]
    assert (process.idle, process.terminated) == (True, True)
    process.activate()
    process.reactivate(delay=1)
    assert process.idle


def test_who_is_due_when_and_who_is_next_can_be_asked() -> None:
    env = Environment()
    a, b, c = (Written(env, sleeping, name) for name in "abc")
    a.activate(at=2)
    c.activate(delay=5)
    b.activate(before=c)
    env.timeout(3)  # which is no process of this style
    assert [process.evtime for process in (a, b, c)] == [2, 5, 5]
    assert (a.nextev, b.nextev, c.nextev) == (b, c, None)
    assert not a.idle
    a.cancel()
    assert a.idle
    assert a.nextev is None
    with pytest.raises(tg.UsageError, match="the process 'a' is idle: it has no time"):
        _ = a.evtime
    b.reactivate(after=c)
    assert (c.nextev, b.evtime) == (b, 5)


def test_processes_of_both_styles_wait_for_each_other_and_share_resources() -> None:
    env = Environment()
    pump = simpy.PreemptiveResource(env, 1)
    log: list[tuple[str, float]] = []

    def user(self: Any) -> Gen:
        with pump.request(priority=1) as mine:  # pyright: ignore[reportUnknownVariableType]
            yield mine
            try:
                yield self.hold(5)
            except simpy.Interrupt:
                log.append(("interrupted", env.now))
        yield env.timeout(1)
        log.append(("user ends", env.now))
        return 42

    ours = Written(env, user)

    def simpys() -> Gen:
        yield env.timeout(2)
        assert not ours.idle
        with pump.request(priority=0) as mine:  # pyright: ignore[reportUnknownVariableType]
            yield mine
            yield env.timeout(3)
        log.append(("simpy's ends", env.now))

    def listener() -> Gen:
        log.append((f"it was {(yield ours)}", env.now))

    ours.activate()
    env.process(simpys())
    env.process(listener())
    env.run()
    assert log == [("interrupted", 2), ("user ends", 3), ("it was 42", 3), ("simpy's ends", 5)]


def test_an_interrupt_reaches_a_process_that_is_passive_held_or_waiting() -> None:
    env = Environment()
    x = env.variable(0.0)
    log: list[tuple[str, float]] = []

    def one(self: Any, verb: str) -> Gen:
        try:
            yield {"passivate": self.passivate, "hold": lambda: self.hold(9), "wait": lambda: self.wait_until(lambda: x.state > 5)}[verb]()
        except simpy.Interrupt:
            log.append((verb, env.now))
        yield self.hold(1)
        log.append((f"{verb} goes on", env.now))

    processes = [Written(env, lambda self, verb=verb: one(self, verb)) for verb in ("passivate", "hold", "wait")]
    Group(x, env.continuous(lambda: setattr(x, "rate", 1.0))).start()
    for process in processes:
        process.activate()

    def other() -> Gen:
        yield env.timeout(2)
        for process in processes:
            process.interrupt()

    env.process(other())
    env.run(until=20)
    assert log[:3] == [("passivate", 2), ("hold", 2), ("wait", 2)]
    assert log[3:] == [("passivate goes on", 3), ("hold goes on", 3), ("wait goes on", 3)]
    assert env.monitor.counters.state_events == 0


def test_a_process_may_be_activated_while_it_waits_for_an_event_of_simpy_or_a_condition() -> None:
    env = Environment(dtmax=0.1)
    x = env.variable(0.0)
    Group(x, env.continuous(lambda: setattr(x, "rate", 1.0))).start()
    log: list[tuple[str, float]] = []

    def waiter(self: Any) -> Gen:
        yield env.timeout(5)
        log.append(("not for the timeout", env.now))
        yield self.wait_until(lambda: x.state > 4)
        log.append(("not for the condition", env.now))
        yield self.wait_until(lambda: x.state > 6)
        log.append(("for the condition", env.now))

    def other(self: Any) -> Gen:
        yield self.hold(1)
        process.activate()
        assert process.idle
        yield self.hold(1)
        process.activate(delay=1)  # it leaves the list of those that wait when it executes
        assert not process.idle

    process = Written(env, waiter)
    process.activate()
    Written(env, other).activate()
    env.run()
    assert [what for what, _ in log] == ["not for the timeout", "not for the condition", "for the condition"]
    assert [when for _, when in log] == pytest.approx([1, 3, 6], abs=1e-8)
    assert env.monitor.counters.state_events == 1


def test_a_condition_moves_a_process_that_is_due_later() -> None:
    env = Environment(dtmax=0.1)
    x = env.variable(0.0)
    Group(x, env.continuous(lambda: setattr(x, "rate", 1.0))).start()
    log: list[tuple[str, float]] = []

    def waiter(self: Any) -> Gen:
        yield self.wait_until(lambda: x.state >= 1.5)
        log.append(("waiter", env.now))

    process = Written(env, waiter)
    process.activate()
    process.activate(at=9)
    Written(env, lambda _: log.append(("other", env.now))).activate(at=2)
    env.run()
    assert log == [("waiter", pytest.approx(1.5, abs=2e-9)), ("other", 2)]  # dtmin is 1e-9
    assert (env.now, process.terminated) == (2, True)


def test_a_wait_that_is_cancelled_leaves_its_process_passive() -> None:
    env = Environment(dtmax=0.1)
    x = env.variable(0.0)
    Group(x, env.continuous(lambda: setattr(x, "rate", 1.0))).start()
    log: list[float] = []

    def waiter(self: Any) -> Gen:
        yield self.wait_until(lambda: x.state > 1)
        log.append(env.now)

    process = Written(env, waiter)
    process.activate()

    def other(self: Any) -> Gen:
        yield self.hold(0.5)
        process.cancel_wait()
        process.cancel_wait()
        yield self.hold(2.5)
        process.activate()

    Written(env, other).activate()
    env.run(until=5)
    assert log == [3.0]


def test_the_monitor_works_between_events_of_one_time_but_not_between_those_that_belong_together() -> None:
    """One sample for each period: the one an event starts with a plain activation has none of its own, nor has one that it puts behind itself."""
    env = Environment()
    seen: list[str] = []
    env.sample(lambda: seen.append("-"), every=-1.0).start()

    def child(name: str) -> SimulaProcess:
        return Written(env, lambda _: seen.append(name))

    def main(self: Any) -> Gen:
        seen.append("main")
        child("a").activate()
        child("b").activate(after=self)
        child("c").activate(delay=0)
        child("d").activate(delay=0)
        child("e").activate(at=0, prior=True)
        yield self.hold(0)
        seen.append("main")
        yield self.pause()
        seen.append("main")

    Written(env, main).activate()
    env.run(until=1)
    assert "".join(seen) == "mainaeb-c-d-main-main--"


def test_a_pause_comes_before_whatever_else_is_due_now() -> None:
    env = Environment()
    log: list[str] = []

    def pausing(self: Any) -> Gen:
        Written(env, lambda _: log.append("other")).activate(delay=0)
        env.timeout(0).callbacks.append(lambda _: log.append("timeout"))
        yield self.pause()
        log.append("paused")

    Written(env, pausing).activate()
    env.run()
    assert log == ["paused", "other", "timeout"]


@pytest.mark.slow
def test_chains_of_plain_activations_are_as_deep_as_they_like_if_they_are_yielded() -> None:
    env = Environment()
    log: list[int] = []

    def link(depth: int, *, yields: bool) -> Callable[[Any], Gen]:
        def actions(self: Any) -> Gen:
            log.append(depth)
            if depth < 500:
                event = Written(env, link(depth + 1, yields=yields)).activate()
                if yields:
                    yield event
            log.append(-depth)
            yield self.hold(0)

        return actions

    Written(env, link(1, yields=True)).activate()
    env.run()
    assert log == [*range(1, 501), *range(-500, 0)]
    env = Environment()
    Written(env, link(1, yields=False)).activate()
    with pytest.raises(tg.UsageError, match="write `yield` in front of it"):
        env.run()


# mistakes


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda self: self.hold(1), "went on though it had given up its turn by hold\n  try: write `yield` in front of it"),
        (lambda self: self.passivate(), "given up its turn by passivate"),
        (lambda self: (self.hold(1), self.hold(2)), "given up its turn by hold"),
        (lambda self: (self.hold(1), Written(self.env, lambda _: None).activate()), "given up its turn by hold"),
        (lambda self: self.reactivate(delay=1), "given up its turn by reactivate"),
    ],
)
def test_a_verb_of_the_process_itself_that_is_not_yielded_is_told(mistake: Callable[[Any], Any], said: str) -> None:
    env = Environment()

    def actions(self: Any) -> Gen:
        yield self.hold(1)
        mistake(self)
        yield env.timeout(1)

    Written(env, actions, "ship").activate()
    with pytest.raises(tg.UsageError, match=said):
        env.run()


def test_wrong_arguments_are_refused_in_words() -> None:
    env = Environment()
    one, other = Written(env, sleeping, "one"), Written(env, sleeping, "other")
    for deed, said in (
        (lambda: one.activate(at=1, delay=2), "to be activated at and delay"),
        (lambda: one.activate(prior=True), "prior goes with at or delay"),
        (lambda: one.activate(at=float("nan")), r"at of the process 'one' is no number \(nan\)"),
        (lambda: one.activate(delay="soon"), "delay is a number, not 'soon'"),  # type: ignore[arg-type]
        (lambda: one.activate(before=3), "before is a process in the style of Simula, not 3"),  # type: ignore[arg-type]
        (lambda: one.hold(1), "hold is for the process 'one' itself, which does not execute now"),
        (one.passivate, "passivate is for the process 'one' itself"),
    ):
        with pytest.raises(tg.UsageError, match=said):
            deed()
    one.activate(after=other)
    one.reactivate(before=one)
    assert one.idle


@pytest.mark.parametrize(
    ("number", "deed"),
    [
        (17, lambda parts: parts["idle"].activate(delay=1)),
        (17, lambda parts: parts["idle"].activate()),
        (17, lambda parts: parts["next"].reactivate(delay=9)),
        (18, lambda parts: parts["later"].cancel()),
        (18, lambda parts: parts["main"].passivate()),
        (19, lambda parts: parts["main"].hold(1)),
        (20, lambda parts: parts["next"].cancel()),
        (8, lambda parts: parts["main"].pause()),
        (10, lambda parts: parts["main"].wait_until(lambda: True)),
        (9, lambda parts: parts["main"].cancel_wait()),
    ],
)
@pytest.mark.parametrize("where", ["body", "sample", "condition"])
def test_what_only_events_may_do_is_refused_while_time_moves(number: int, deed: Callable[[Any], Any], where: str) -> None:
    env = Environment(dtmax=0.1)
    x = env.variable(0.0)
    Group(x, env.continuous(lambda: setattr(x, "rate", 1.0))).start()
    parts = {name: Written(env, sleeping, name) for name in ("idle", "next", "later", "main")}
    parts["next"].activate(at=2)
    parts["later"].activate(at=3)
    parts["main"].activate()

    def act() -> bool:
        if env.now > 0.55:
            deed(parts)
        return False

    if where == "condition":
        env.wait_until(act)
    else:
        (env.continuous(lambda: act() and None) if where == "body" else env.sample(act)).start()
    with pytest.raises(tg.ProcessError) as caught:
        env.run()
    assert caught.value.number == number
    assert caught.value.name in {17: ("idle", "next"), 18: ("later", "main"), 19: ("main",), 20: ("next",)}.get(number, ("main", ""))
    assert x.state == pytest.approx(env.now)
    assert (parts["next"].evtime, parts["later"].evtime, parts["idle"].idle) == (2, 3, True)


def test_an_exception_names_its_process() -> None:
    env = Environment()

    def actions(self: Any) -> Gen:
        yield self.hold(0.5)
        raise LookupError("mine")

    for process in (Written(env, actions, "Argo"), Written(env, actions, "Vasa")):
        process.activate()
        with pytest.raises(LookupError, match="mine") as caught:
            env.run(process)
        assert caught.value.__notes__ == [f"in the process {process.name!r} at t = {env.now:g}"]


def test_a_process_without_actions_says_so_when_it_begins() -> None:
    env = Environment()
    SimulaProcess(env).activate()
    with pytest.raises(NotImplementedError):
        env.run()
