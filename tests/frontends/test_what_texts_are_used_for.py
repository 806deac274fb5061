"""What Python does with texts and members of an enumeration is done with variables that have such values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import tidegate as tg
from random_automata import NAMES, TICKS, Light, automaton_source, functions_source, plain_run
from written_source import space_of

_SHIFT = 1e-7  # of the start: an automaton that this changes is decided by rounding


def outcome(seed: int, source: Callable[[int], str] = automaton_source) -> str:
    """Agrees with plain Python, or says nothing because rounding decides."""
    (expected, said), *others = [plain_run(seed, shift) for shift in (0.0, _SHIFT, -_SHIFT)]
    if any(other[name] != expected[name] for other, _ in others for name in ("state", "before", "light")):
        return "unclear"
    model = space_of(source(seed), f"<automaton {seed}>", Light=Light, tg=tg)["model"]
    found = tg.simulate(model, (0.0, 0.5 * TICKS + 0.1), rtol=1e-9)
    # the rate is a constant between ticks, which is integrated to rounding
    assert [found.final[name] for name in "xn"] == pytest.approx([expected[name] for name in "xn"], abs=1e-6), seed
    texts = {name: str(found.text(name).values[-1]) for name in ("state", "before", "light")}
    assert texts == {"state": expected["state"], "before": expected["before"], "light": expected["light"].value}, seed
    assert {text for event in found.events for text in event.messages} == said
    return "agrees"


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 10, *(pytest.param(first, marks=pytest.mark.slow) for first in (20, 30, 40, 50))])
def test_random_automata_do_what_python_does(first: int) -> None:
    found = [outcome(seed) for seed in range(first, first + 10)]
    assert found.count("agrees") >= 8, found


@pytest.mark.slow
@pytest.mark.parametrize("first", [100, *(pytest.param(first, marks=pytest.mark.slow) for first in (115, 130))])
def test_so_do_those_written_as_functions(first: int) -> None:
    found = [outcome(seed, functions_source) for seed in range(first, first + 15)]
    assert found.count("agrees") >= 12, found


def machine(body: Callable[[Any], Any]) -> Any:
    """An automaton with this body at its clock."""

    class Machine(tg.Component):
        x, n = tg.State(0.0), tg.Discrete(0.0)
        state = tg.Discrete("idle", values=NAMES)
        light = tg.Discrete(Light.RED)
        several = tg.Discrete(["idle", "off"], values=("idle", "off"))

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.every(1.0, start=0.5)
        def step(self) -> Any:
            return body(self)

    return Machine()


FOLLOWING = {"idle": "heating", "heating": "off", "off": "idle", "out of order": "out of order"}


def begin(self: Any) -> Any:
    return {self.state: "heating", self.n: 1.0}


def finish(self: Any) -> Any:
    tg.message("finished")
    return {self.state: "off"}


def by_match(self: Any) -> Any:
    match self.state:
        case "idle":
            return {self.state: "heating", self.n: 1.0}
        case "heating" | "out of order":
            return {self.state: "off"}
    return {}


def by_dispatch(self: Any) -> Any:
    return {"idle": begin, "heating": finish}.get(self.state, lambda self: {})(self)


@pytest.mark.parametrize("body", [by_match, by_dispatch])
def test_an_automaton_goes_its_way(body: Callable[..., Any]) -> None:
    found = tg.simulate(machine(body), (0.0, 3.0))
    assert [event.after["state"] for event in found.events] == [1.0, 2.0, 2.0]
    assert found.final["n"] == 1.0


@pytest.mark.parametrize(
    ("body", "n"),
    [
        (lambda self: {self.n: len(self.state), self.state: FOLLOWING[self.state]}, 3.0),
        (lambda self: {self.n: self.n + (self.state in ("idle", "off")), self.state: FOLLOWING[self.state]}, 2.0),
        (lambda self: {self.n: NAMES.index(self.state), self.state: FOLLOWING[self.state]}, 2.0),
        (lambda self: {self.n: self.n + self.state.startswith("h"), self.state: FOLLOWING[self.state]}, 1.0),
        (lambda self: {self.n: len(f"{self.state} {self.light.name}"), self.light: Light.GREEN}, 10.0),
        (lambda self: {self.n: {Light.RED: 1.0, Light.AMBER: 2.0, Light.GREEN: 3.0}[self.light], self.light: Light.AMBER}, 2.0),
        (lambda self: {self.n: {"red": 1.0, "amber": 2.0, "green": 3.0}[self.light.value], self.light: Light.AMBER}, 2.0),
        (lambda self: {self.n: float("off" in self.several) + 2.0 * (self.several[0] in ("off", "?")), self.several[0]: "off"}, 3.0),
        (lambda self: {self.n: (math.sin if self.x > 1 else math.cos)(0.0) + {"idle": max, "off": min}.get(self.state, min)(3.0, self.n)}, 4.0),
    ],
)
def test_texts_are_looked_up_and_looked_into(body: Callable[..., Any], n: float) -> None:
    assert tg.simulate(machine(body), (0.0, 3.0)).final["n"] == n


def test_messages_say_which_text_it_is() -> None:
    def body(self: Any) -> Any:
        tg.message(f"was {self.state}, {self.light.name.lower()}")
        return {self.state: FOLLOWING[self.state], self.light: Light.GREEN if self.x > 1 else Light.AMBER}

    said = [event.messages for event in tg.simulate(machine(body), (0.0, 3.0)).events]
    assert said == [("was idle, red",), ("was heating, amber",), ("was off, green",)]


def test_equations_and_outputs_look_texts_up() -> None:
    class Heater(tg.Component):
        T, state = tg.State(15.0), tg.Discrete("off", values=("off", "eco", "full"))
        power = tg.Output(lambda self: {"off": 0.0, "eco": 5.0, "full": 10.0}[self.state])

        def equations(self) -> Any:
            match self.state:
                case "off":
                    rate = 0.0
                case "eco" | "full":
                    rate = self.power
            yield tg.der(self.T) == rate  # pyright: ignore[reportPossiblyUnboundVariable] - all texts are cases

        @tg.every(1.0, start=1.0)
        def more(self) -> Any:
            return {self.state: {"off": "eco", "eco": "full"}.get(self.state, self.state)}

    found = tg.simulate(Heater(), (0.0, 3.5))
    assert found["T"].values[-1] == pytest.approx(15.0 + 5.0 + 10.0 + 5.0)
    assert found.final["power"] == 10.0


def test_a_table_without_all_texts_is_named() -> None:
    with pytest.raises(tg.UntraceableError, match="there is no entry for 'off'"):
        tg.simulate(machine(lambda self: {self.n: {"idle": 1.0, "heating": 2.0, "out of order": 3.0}[self.state]}), (0.0, 1.0))


def test_a_table_needs_no_text_that_is_excluded_there() -> None:
    def body(self: Any) -> Any:
        if self.state == "off":
            return {}
        return {self.n: {"idle": 1.0, "heating": 2.0, "out of order": 3.0}[self.state], self.state: FOLLOWING[self.state]}

    assert tg.simulate(machine(body), (0.0, 3.0)).final["n"] == 2.0


def test_all_members_are_cases_in_any_order() -> None:
    class Lamp(tg.Component):
        x, light = tg.State(0.0), tg.Discrete(Light.RED)

        def equations(self) -> Any:
            match self.light:
                case Light.GREEN:
                    rate = 3.0
                case Light.AMBER | Light.RED:
                    rate = 1.0
            if self.light == Light.AMBER:
                more = 0.5
            elif self.light != Light.GREEN:
                more = 0.25
            elif self.light == Light.GREEN:
                more = 0.0
            yield tg.der(self.x) == rate + more  # pyright: ignore[reportPossiblyUnboundVariable] - all members are cases

        @tg.at(1.0, 2.0)
        def change(self) -> Any:
            return {self.light: {Light.RED: Light.GREEN, Light.GREEN: Light.AMBER}.get(self.light, Light.RED)}

    assert tg.simulate(Lamp(), (0.0, 3.0)).final["x"] == pytest.approx(1.25 + 3.0 + 1.5)


@pytest.mark.hunt
def test_runs_of_random_automata_are_verified() -> None:
    for seed in range(12):
        model = space_of(automaton_source(seed), f"<verified {seed}>", Light=Light, tg=tg)["model"]
        verification = tg.verify(tg.simulate(model, (0.0, 0.5 * TICKS + 0.1), rtol=1e-9))
        assert verification.ok, f"{seed}: {verification}"


@pytest.mark.slow
def test_a_clause_without_effect_there_is_no_event_and_one_without_a_body_is() -> None:
    class Quiet(tg.Component):
        x, v, mode = tg.State(0.0), tg.Discrete(0.0), tg.Discrete(0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: self.x > 0.55)
        def over(self) -> Any:
            if self.mode == 2:
                return {self.v: 0.25}
            return {}

        @tg.when(lambda self: self.x > 0.7)
        def seen(self) -> Any:
            return {}

    result = tg.simulate(Quiet(), (0.0, 1.0))
    assert [event.causes[0] for event in result.events] == ["seen"]
    assert tg.verify(result).ok
