"""Variables whose values are texts or members of an enumeration."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tidegate as tg
from tidegate.cli.app import app
from tidegate.plot.panels import value_panels

NAMES: tuple[str, ...] = ("idle", "heating", "off", "out of order")


class Speed(enum.Enum):
    SLOW = 2
    FAST = 5


class Colour(enum.Enum):
    RED = "red light"
    GREEN = "green light"


class Heater(tg.Component):
    T, count = tg.State(15.0), tg.Discrete(0)
    state = tg.Discrete("idle", values=("idle", "heating", "off"))
    program = tg.Parameter("eco", values=("eco", "full"))

    def equations(self) -> Iterator[Any]:
        power = 10.0 if self.state == "heating" else 0.0
        yield tg.der(self.T) == power * tg.where(self.program == "full", 2.0, 1.0) - 0.2 * (self.T - 10.0)

    @tg.when(lambda self: (self.T < 14.0) & (self.state != "off"))
    def cold(self) -> Any:
        return {self.state: "heating", self.count: self.count + 1}

    @tg.when(lambda self: self.T > 20.0)
    def warm(self) -> Any:
        if self.count == 2:
            return {self.state: "off"}
        return {self.state: "idle"}


@pytest.fixture(scope="module")
def result() -> tg.Result:
    return tg.simulate(Heater(), (0.0, 10.0), rtol=1e-8)


def times(power: float) -> list[float]:
    """When it changes: cooling to 10 from 15 and from 20, heating to 10 + 5 power from 14."""
    first, again, up = 5.0 * np.log(5.0 / 4.0), 5.0 * np.log(10.0 / 4.0), 5.0 * np.log((5.0 * power - 4.0) / (5.0 * power - 10.0))
    return [first, first + up, first + up + again, first + 2 * up + again]


@pytest.mark.parametrize(("program", "power"), [("eco", 10.0), ("full", 20.0)])
def test_they_are_compared_and_assigned_as_texts(program: str, power: float, method: str) -> None:
    found = tg.simulate(Heater(program=program), (0.0, 10.0), rtol=1e-8, method=method)
    assert found.events.times == pytest.approx(times(power), rel=1e-6)
    assert [event.change_text() for event in found.events][-1] == "state: heating -> off"
    assert found.text("state").values[-1] == "off"


@pytest.mark.slow
def test_the_same_through_parameters_of_a_run(result: tg.Result) -> None:
    found = tg.simulate(Heater(), (0.0, 10.0), rtol=1e-8, parameters={"program": "full"})
    assert found.events.times == pytest.approx(times(20.0), rel=1e-6)
    assert tg.verify(found).ok
    assert tg.verify(result).ok


@pytest.mark.slow
def test_results_have_numbers_with_their_meaning(result: tg.Result, tmp_path: Path) -> None:
    read = tg.Result.load(result.to_netcdf(tmp_path / "heater.nc"))
    for one in (result, read):
        assert one["state"].attrs["flag_values"].tolist() == [0, 1, 2]
        assert one.dataset["state"].attrs["flag_meanings"] == "idle heating off"
        texts = one.text("state")
        assert texts.dims == ("time",)
        assert [("idle", "heating", "off")[int(value)] for value in one["state"].values] == texts.values.tolist()
        assert re.search(r"state +off", str(one))
        assert "state: idle -> heating" in str(one.events)
    with pytest.raises(tg.UsageError, match="T is a number, and has no texts"):
        result.text("T")


def test_a_picture_has_the_texts_beside_its_axis(result: tg.Result) -> None:
    figure = result.plot("T", "state")
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == ["idle", "heating", "off"]
    assert [panel.texts for panel in value_panels(result, ("T", "state"))] == [(), (("idle", 0), ("heating", 1), ("off", 2))]


@pytest.mark.parametrize("seed", range(3))
def test_random_automata_go_where_plain_python_goes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = list(NAMES)
    following = {name: str(rng.choice(names)) for name in names}
    rates = dict(zip(names, rng.uniform(0.5, 2.0, len(names)).round(3).tolist(), strict=True))

    class Automaton(tg.Component):
        x = tg.State(0.0)
        state, before = tg.Discrete("idle", values=NAMES), tg.Discrete("off", values=NAMES)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == sum(tg.where(self.state == name, rates[name], 0.0) for name in names)

        @tg.every(0.5, start=0.5)
        def step(self) -> Any:
            if self.state == "idle":
                return {self.state: following["idle"], self.before: self.state}
            if self.state == "heating":
                return {self.state: following["heating"], self.before: self.state}
            if self.state != "off":
                return {self.state: following["out of order"], self.before: tg.pre(self.state)}
            return {self.state: following["off"], self.before: "off"}

    state, before, x = NAMES[0], NAMES[2], 0.0
    for _ in range(6):
        x += 0.5 * rates[state]
        state, before = following[state], state
    found = tg.simulate(Automaton(), (0.0, 3.01), rtol=1e-8)
    assert (found.text("state").values[-1], found.text("before").values[-1]) == (state, before)
    assert found.at(3.0, "x") == pytest.approx(x, rel=1e-7)


def test_enumerations_keep_their_numbers_and_texts() -> None:
    class Car(tg.Component):
        x, speed, light = tg.State(0.0), tg.Discrete(Speed.SLOW), tg.Discrete(Colour.RED)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == tg.where(self.speed == Speed.SLOW, 1.0, 3.0)

        @tg.when(lambda self: self.x > 1.0)
        def go(self) -> Any:
            return {self.speed: Speed.FAST, self.light: "green light"}

    found = tg.simulate(Car(), (0.0, 2.0))
    assert found.final == pytest.approx({"x": 4.0, "speed": 5.0, "light": 1.0})
    assert (found.text("speed").values[-1], found.text("light").values[-1]) == ("FAST", "green light")
    assert found["light"].attrs["flag_meanings"] == "red_light green_light"
    assert tg.simulate(Car(speed=Speed.FAST), (0.0, 0.1)).final["x"] == pytest.approx(0.3)


@pytest.mark.slow
def test_parts_are_given_texts_and_their_owners_parameters() -> None:
    class House(tg.Component):
        program = tg.Parameter("eco", values=("eco", "full"))
        one, other = Heater(program=program), Heater(program="full", state=tg.start("off"))

        def equations(self) -> list[Any]:
            return []

    first = tg.simulate(House(), (0.0, 10.0), rtol=1e-8)
    assert [event.time for event in first.events] == pytest.approx(times(10.0), rel=1e-6)
    assert (first.text("other.state") == "off").all()
    assert tg.simulate(House(program="full"), (0.0, 10.0), rtol=1e-8).events.times == pytest.approx(times(20.0), rel=1e-6)


def test_a_simulation_is_set_by_text() -> None:
    simulation = tg.Simulation(Heater())
    simulation["state"] = "heating"
    simulation.advance(0.1)
    assert simulation["T"] > 15.0
    with pytest.raises(tg.UsageError, match="state is one of 'idle', 'heating', 'off', and not 'hot'"):
        simulation["state"] = "hot"


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"parameters": {"program": ["eco", "full"]}}, {"grid": {"program": np.array(["eco", "full"])}}])
def test_a_sweep_goes_over_texts(given: dict[str, Any]) -> None:
    found = tg.sweep(Heater(), (0.0, 10.0), rtol=1e-8, variables=["T"], **given)
    wanted = [tg.simulate(Heater(program=program), (0.0, 10.0), rtol=1e-8).final["T"] for program in ("eco", "full")]
    assert found["T"].values == pytest.approx(wanted, rel=1e-9)
    assert found["program"].attrs["flag_meanings"] == "eco full"
    with pytest.raises(tg.UsageError, match="program is one of 'eco', 'full', and not 'none'"):
        tg.sweep(Heater(), (0.0, 1.0), {"program": ["eco", "none"]})


def test_stored_components_know_them(tmp_path: Path) -> None:
    tg.precompile(Heater(), tmp_path / "heater.tgm")
    stored = tg.load_component(tmp_path / "heater.tgm")
    assert tg.simulate(stored(program="full"), (0.0, 10.0), rtol=1e-8).events.times == pytest.approx(times(20.0), rel=1e-6)


@pytest.mark.slow
def test_the_command_line_takes_and_shows_them() -> None:
    shown = CliRunner().invoke(app, ["run", f"{__file__}:Heater", "--until", "10", "--set", "program=full"])
    assert shown.exit_code == 0, shown.output
    assert re.search(r"state +off", shown.output)
    wrong = CliRunner().invoke(app, ["run", f"{__file__}:Heater", "--until", "10", "--set", "program=none"])
    assert wrong.exit_code != 0
    assert "program is one of 'eco', 'full', and not 'none'" in " ".join(wrong.output.split())


# -- what is refused


class Machine(tg.Component):
    x = tg.State(0.0)
    s = tg.Discrete("a", values=("a", "b"))

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == 1.0

    @tg.when(lambda self: self.x > 1)
    def go(self) -> Any:
        return self.new()

    def new(self) -> Any:
        return {self.s: "b"}


class Unknown(Machine):
    def new(self) -> Any:
        return {self.s: "c"}


class ByName(Machine):
    def new(self) -> Any:
        return {"s": "c"}


class Number(Machine):
    def new(self) -> Any:
        return {self.s: 7}


class Sum(Machine):
    def new(self) -> Any:
        return {self.s: self.s + 1}


class Either(Machine):
    def new(self) -> Any:
        return {self.s: "b" if self.x > 2 else "c"}


class Compared(Machine):
    @tg.when(lambda self: self.s == "on")
    def more(self) -> Any:
        return {self.s: "b"}


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        (Unknown, "s is one of 'a', 'b', and not 'c'"),
        (ByName, "s is one of 'a', 'b', and not 'c'"),
        (Number, "s is one of 'a', 'b', and not 7"),
        (Compared, "s is one of 'a', 'b', and not 'on'"),
        (Sum, "can only concatenate str"),
        (Either, "s is one of 'a', 'b', and not 'c'"),
    ],
)
def test_what_is_none_of_the_texts_is_refused_with_those_that_are(machine: type[tg.Component], sentence: str) -> None:
    with pytest.raises(tg.TidegateError, match=re.escape(sentence)):
        tg.simulate(machine(), (0.0, 2.0))


def test_an_instance_is_given_one_of_the_texts() -> None:
    assert (tg.simulate(Machine(s="b"), (0.0, 0.5)).text("s") == "b").all()
    with pytest.raises(tg.UsageError, match=r"s is one of 'a', 'b', and not 'hot'"):
        tg.simulate(Machine(s="hot"), (0.0, 1.0))


@pytest.mark.parametrize(
    ("start", "values", "sentence"),
    [
        ("idle", None, "the value 'idle' is a text, and it is not said which others there are"),
        ("idle", ("on", "off"), "is one of 'on', 'off', and not 'idle'"),
        ("on", ("on", "on"), "different texts are expected"),
        ("on", "on", "different texts are expected"),
        ("on", (), "different texts are expected"),
    ],
)
def test_declarations_that_say_too_little_are_refused(start: str, values: Any, sentence: str) -> None:
    with pytest.raises(tg.UsageError, match=re.escape(sentence)):
        tg.Discrete(start, values=values)


def test_of_a_parameter_too() -> None:
    with pytest.raises(tg.UsageError, match="program is one of 'eco', 'full', and not 'none'"):
        tg.simulate(Heater(), (0.0, 1.0), parameters={"program": "none"})
    with pytest.raises(tg.UsageError, match=r"program is one of 'eco', 'full', and not 3"):
        tg.simulate(Heater(), (0.0, 1.0), parameters={"program": 3})


class Mode(enum.Enum):
    REST = 1
    BUSY = 2


class Rooms(tg.Component):
    """Three rooms, each with its own state and program."""

    T, looks = tg.State([15.0, 14.5, 20.0]), tg.Discrete(0)
    state = tg.Discrete(["idle", "idle", "off"], values=("idle", "heating", "off"))
    mode, seen = tg.Discrete(Mode.REST, shape=3), tg.Discrete("cold", values=("cold", "warm", "hot"))
    program = tg.Parameter(["eco", "full", "eco"], values=("eco", "full"))

    def equations(self) -> Iterator[Any]:
        for k in range(3):
            power = tg.where(self.state[k] == "heating", tg.where(self.program[k] == "full", 20.0, 10.0), 0.0)
            yield tg.der(self.T[k]) == power - 0.2 * (self.T[k] - 10.0)

    @tg.when(lambda self: self.T < 14.0)
    def cold(self) -> Any:
        return {self.state: "heating", self.mode: Mode.BUSY}

    @tg.when(lambda self: self.T > 20.5)
    def warm(self) -> Any:
        return {self.state: "idle"}

    @tg.every(0.7)
    def look(self) -> Any:
        return {
            self.seen: tg.where(self.T[0] > 19.0, "hot", tg.where(self.T[0] > 15.0, "warm", "cold")),
            self.looks: self.looks + (self.seen == "hot"),
        }

    @tg.at(3.0)
    def open_third(self) -> Any:
        return {self.state[2]: tg.where(self.T[2] > 30.0, "off", self.state[0]), self.mode: [Mode.REST, Mode.BUSY, Mode.BUSY]}


def rooms(programs: list[str], end: float) -> tuple[list[float], list[str], str]:
    """Plain Python: from event to event by exponentials."""
    t, T, state, seen = 0.0, [15.0, 14.5, 20.0], ["idle", "idle", "off"], "cold"
    power = {"eco": 10.0, "full": 20.0}

    def rests(k: int) -> float:
        return 10.0 + 5.0 * (power[programs[k]] if state[k] == "heating" else 0.0)

    def reaches(k: int, level: float) -> float:
        part = (level - rests(k)) / (T[k] - rests(k))
        return t - 5.0 * float(np.log(part)) if 0.0 < part < 1.0 else np.inf

    ticks, third = [0.7 * n for n in range(int(end / 0.7) + 1)], [3.0]
    while True:
        crossings = [(reaches(k, 14.0 if state[k] != "heating" else 20.5), k) for k in range(3)]
        now = min([*ticks[:1], *third, end, *(when for when, _ in crossings)])
        T = [rests(k) + (T[k] - rests(k)) * float(np.exp(-0.2 * (now - t))) for k in range(3)]
        hit, t = [k for when, k in crossings if when == now], now
        for k in hit:
            state[k] = "idle" if state[k] == "heating" else "heating"
        if ticks and now == ticks[0]:
            ticks, seen = ticks[1:], "hot" if T[0] > 19.0 else "warm" if T[0] > 15.0 else "cold"
        if third and now == 3.0:
            third, state[2] = [], state[0]
        if now == end:
            return T, state, seen


@pytest.mark.hunt
@pytest.mark.parametrize("programs", [["eco", "full", "eco"], ["full", "full", "full"]])
def test_arrays_of_texts_go_where_plain_python_goes(programs: list[str], tmp_path: Path) -> None:
    found = tg.simulate(Rooms(), (0.0, 8.0), rtol=1e-9, parameters={"program": programs})
    T, states, seen = rooms(programs, 8.0)
    assert found["T"].values[-1] == pytest.approx(T, rel=1e-6)
    assert found.text("state").values[-1].tolist() == [found.text(f"state[{k}]").values[-1] for k in range(3)] == states
    assert found.text("mode").dims == found["mode"].dims
    assert found.at(3.0, "mode").values.tolist() == [1, 2, 2]
    assert found.text("seen").values[-1] == seen
    assert tg.verify(found).ok
    given = tg.simulate(Rooms(program=programs), (0.0, 8.0), rtol=1e-9)
    assert given.final == found.final
    assert tg.Result.load(found.to_netcdf(tmp_path / "rooms.nc")).text("state").values[-1].tolist() == states


@pytest.mark.slow
def test_a_wrong_text_in_a_condition_names_its_line() -> None:
    class Wrong(Rooms):
        @tg.when(lambda self: self.seen == "tepid")
        def never(self) -> Any:
            return {self.looks: 0}

    with pytest.raises(tg.UsageError, match=r"(?s)seen is one of 'cold', 'warm', 'hot', and not 'tepid'.*test_texts\.py:\d+: .*tepid"):
        tg.simulate(Wrong(), (0.0, 1.0))
    with pytest.raises(tg.UsageError, match=r"program\[1\] is one of 'eco', 'full', and not 'ful'"):
        Rooms(program=["eco", "ful", "eco"]).lower()
    with pytest.raises(tg.UsageError, match=r"program\[1\] is one of 'eco', 'full', and not 'ful'"):
        tg.simulate(Rooms(), (0.0, 1.0), parameters={"program": ["eco", "ful", "eco"]})


def test_a_text_chosen_by_a_condition_is_compared_and_given_on() -> None:
    class Chooser(tg.Component):
        x, kind = tg.State(0.0), tg.Parameter("low", values=("low", "high"))
        state = tg.Discrete("low", values=("low", "high"))
        same = tg.Output(lambda self: tg.where(self.state == tg.where(self.x > 0.5, "high", "low"), 1.0, 0.0))

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == tg.where(tg.where(self.x > 0.75, "high", "low") == self.kind, 1.0, 2.0)

        @tg.when(lambda self: self.x > 0.6)
        def switch(self) -> Any:
            return {self.state: tg.where(self.x > 0.55, "high", self.kind)}

    result = tg.simulate(Chooser(), (0.0, 1.0), rtol=1e-9, outputs=[0.4, 0.55, 0.7, 0.8])
    assert result["x"].values == pytest.approx([0.4, 0.55, 0.7, 0.75 + 2.0 * 0.05])
    assert result["same"].values.tolist() == [1.0, 0.0, 1.0, 1.0]


def test_a_text_chosen_by_if_is_one_chosen_by_where() -> None:
    class Chooser(tg.Component):
        x, state = tg.State(0.0), tg.Discrete("low", values=("low", "mid", "high"))

        def equations(self) -> Iterator[Any]:
            kind = "mid" if self.x > 0.5 else "low"
            if self.x > 0.75:
                kind = "high"
            yield tg.der(self.x) == (1.0 if kind == "low" else 2.0 if kind == "mid" else 4.0)

        @tg.when(lambda self: self.x > 0.6)
        def switch(self) -> Any:
            text = "high" if self.x > 0.7 else "mid"
            return {self.state: text}

    result = tg.simulate(Chooser(), (0.0, 0.75), rtol=1e-9, outputs=[0.5, 0.55, 0.65])
    assert result["x"].values == pytest.approx([0.5, 0.6, 0.75 + 4.0 * 0.025])
    assert result.text("state").values[-1] == "mid"


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda kind: len({kind, "up"}), "kept in a set"),
        (lambda kind: {kind: 1.0, "up": 2.0}["up"], "no key"),
        (lambda kind: 1.0 if kind is NAMES[0] else 2.0, "`is` compares which objects"),
        (lambda kind: {"down": 1.0}[kind], "there is no entry for 'up'"),
    ],
)
def test_what_needs_the_text_itself_is_refused(use: Any, said: str) -> None:
    def rate(t: Any, y: Any) -> Any:
        kind = "up" if y["x"] < 1 else "down"
        return [use(kind)]

    with pytest.raises(tg.UntraceableError, match=said):
        tg.simulate(tg.ode(rate, y0={"x": 0.0}), (0.0, 2.0))


class Gear(enum.IntEnum):
    """Members that are numbers."""

    NEUTRAL = 0
    FIRST = 1
    SECOND = 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "after"),
    [
        (lambda gear: 1.0 / (1 + gear), lambda gear: Gear.FIRST),
        (lambda gear: 1.0 + -gear / 2, lambda gear: Gear((gear + 1) % 3)),
        (lambda gear: 0.5 if gear else 1.0, lambda gear: Gear.FIRST),
        (lambda gear: [1.0, 0.5, 9.0][gear], lambda gear: Gear(gear + 1) if gear != Gear.SECOND else Gear.NEUTRAL),
        (lambda gear: 1.0 - 0.5 * max(int(gear), 0), lambda gear: (gear + 1) % 3),
    ],
)
def test_members_of_an_intenum_count_as_numbers(rate: Any, after: Any) -> None:
    class Car(tg.Component):
        x, gear = tg.State(0.0), tg.Discrete(Gear.NEUTRAL)

        def equations(self) -> Any:
            yield tg.der(self.x) == rate(self.gear)

        @tg.when(lambda self: self.x > 1)
        def change(self) -> Any:
            return {self.gear: after(self.gear)}

    result = tg.simulate(Car(), (0.0, 3.0))
    assert result.final["x"] == pytest.approx(2.0, abs=1e-9)
    assert tg.verify(result).ok


def test_a_number_of_no_member_is_refused() -> None:
    class Car(tg.Component):
        x, gear = tg.State(0.0), tg.Discrete(Gear.NEUTRAL)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: self.x > 1)
        def change(self) -> Any:
            return {self.gear: self.gear + 1}

    with pytest.raises(tg.UsageError, match="gear is one of 'NEUTRAL', 'FIRST', 'SECOND', and not 3"):
        tg.simulate(Car(), (0.0, 3.0))
