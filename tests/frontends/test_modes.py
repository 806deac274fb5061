"""Functions whose discrete variables and parameters are texts, or members of an enumeration, against plain Python and closed forms."""

import enum
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from random_modes import END, Modes, source, walk
from written_source import space_of


class Phase(enum.Enum):
    """Its values are texts."""

    RISE = "rise"
    HOLD = "hold"


class Gear(enum.IntEnum):
    """Its values are numbers."""

    NEUTRAL = 0
    FIRST = 1
    SECOND = 2


class Kind(enum.Enum):
    """Its values are other numbers than their places."""

    UP = 4
    DOWN = 7


class Word(enum.StrEnum):
    """Its members are texts."""

    UP = "up"
    DOWN = "down"


def final(rate: Callable[..., Any], start: Any, after: Any) -> float:
    """Where a ramp is at 3 that rises at the rate of the first mode up to 1, and then at that of the other: at 2 for the rates 1 and 0.5."""
    model = tg.ode(
        lambda t, y, d: {"x": rate(d)},
        y0={"x": 0.0},
        discrete={"mode": start},
        events=tg.event(lambda t, y: y["x"] > 1.0, reset=after if callable(after) else lambda t, y: {"mode": after}),
    )
    result = tg.simulate(model, (0.0, 3.0))
    assert tg.verify(result).ok
    return result.final["x"]


def by_match(d: Any) -> float:
    match d.mode:
        case Phase.RISE:
            return 1.0
        case Phase.HOLD:
            return 0.5
    raise AssertionError(d.mode)


SPEEDS = {"rise": 1.0, "hold": 0.5}
OF_PHASES = {Phase.RISE: 1.0, Phase.HOLD: 0.5}
USES: dict[str, tuple[Callable[[Any], float], Any, Any]] = {
    "text": (lambda d: 1.0 if d.mode == "rise" else 0.5, "rise", "hold"),
    "text by key": (lambda d: 1.0 if d["mode"] == "rise" else 0.5, "rise", "hold"),
    "text by place": (lambda d: 1.0 if d[0] == "rise" else 0.5, "rise", "hold"),
    "table of texts": (lambda d: SPEEDS[d.mode], "rise", "hold"),
    "get": (lambda d: SPEEDS.get(d.mode, 7.0), "rise", "hold"),
    "in": (lambda d: 1.0 if d.mode in ("rise", "other") else 0.5, "rise", "hold"),
    "truth of a text": (lambda d: 1.0 if d.mode else 0.5, "rise", ""),
    "member": (lambda d: 1.0 if d.mode == Phase.RISE else 0.5, Phase.RISE, Phase.HOLD),
    "is": (lambda d: 1.0 if d.mode is Phase.RISE else 0.5, Phase.RISE, Phase.HOLD),
    "is not": (lambda d: 0.5 if d.mode is not Phase.RISE else 1.0, Phase.RISE, Phase.HOLD),
    "match": (by_match, Phase.RISE, Phase.HOLD),
    "table of members": (lambda d: OF_PHASES[d.mode], Phase.RISE, Phase.HOLD),
    "value": (lambda d: SPEEDS[d.mode.value], Phase.RISE, Phase.HOLD),
    "name": (lambda d: 1.0 if d.mode.name == "RISE" else 0.5, Phase.RISE, Phase.HOLD),
    "constructed": (lambda d: 1.0 if Phase(d.mode.value) is Phase.RISE else 0.5, Phase.RISE, Phase.HOLD),
    "other numbers": (lambda d: d.mode.value / 4.0 if d.mode is Kind.UP else d.mode.value / 14.0, Kind.UP, Kind.DOWN),
    "members that are texts": (lambda d: 1.0 if d.mode == "up" else 0.5, Word.UP, Word.DOWN),
    "number of a member": (lambda d: 1.0 / (1 + d.mode), Gear.NEUTRAL, Gear.FIRST),
    "sign of a member": (lambda d: 1.0 + -d.mode / 2, Gear.NEUTRAL, Gear.FIRST),
    "functions of a member": (lambda d: 1.0 - max(d.mode, 0) * np.sqrt(abs(d.mode)) / 2, Gear.NEUTRAL, Gear.FIRST),
    "truth of a member": (lambda d: 0.5 if d.mode else 1.0, Gear.NEUTRAL, Gear.FIRST),
    "place in a list": (lambda d: [1.0, 0.5, 9.0][d.mode], Gear.NEUTRAL, Gear.FIRST),
    "whole number": (lambda d: [1.0, 0.5, 9.0][int(d.mode)], Gear.NEUTRAL, Gear.FIRST),
    "order": (lambda d: 1.0 if d.mode < Gear.FIRST else 0.5, Gear.NEUTRAL, Gear.FIRST),
    "given as a number": (lambda d: 1.0 if d.mode == Gear.NEUTRAL else 0.5, Gear.NEUTRAL, 1),
    "next": (lambda d: 1.0 if d.mode == Gear.NEUTRAL else 0.5, Gear.NEUTRAL, lambda t, y, d: {"mode": Gear((d.mode + 1) % 3)}),
    "chosen member": (lambda d: 1.0 if d.mode == 0 else 0.5, 0, lambda t, y: {"mode": Gear.FIRST if y["x"] > 0.5 else Gear.SECOND}),
    "of numpy": (lambda d: float(1) - 0.5 * np.where(d.mode == Gear.NEUTRAL, 0.0, 1.0), Gear.NEUTRAL, Gear.FIRST),
}


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_a_mode_is_used_as_python_uses_it(use: str) -> None:
    assert final(*USES[use]) == pytest.approx(2.0, abs=1e-9)


NEXT = {"green": "amber", "amber": "red", "red": "green"}
RATES = {"green": 1.0, "amber": 0.5, "red": 0.0}


@pytest.mark.slow
def test_texts_that_follow_from_each_other_are_all_found() -> None:
    light = tg.ode(
        lambda t, y, d: [RATES[d.phase]],
        y0=[0.0],
        discrete={"phase": "red", "before": "nothing yet"},
        events=tg.event(every=1.0, start=1.0, reset=lambda t, y, d: {"phase": NEXT[d.phase], "before": d.phase}),
        outputs=lambda t, y, d: {"shown": d.phase, "sort": "many" if y[0] > 1.25 else "few"},
    )
    result = tg.simulate(light, (0.0, 4.5))
    assert [event.change_text() for event in result.events if event.kind == "time"] == [
        "phase: red -> green, before: nothing yet -> red",
        "phase: green -> amber, before: red -> green",
        "phase: amber -> red, before: green -> amber",
        "phase: red -> green, before: amber -> red",
    ]
    assert result.final["y"] == pytest.approx(2.0, abs=1e-12)
    assert [str(result.text(name).values[-1]) for name in ("phase", "before", "shown", "sort")] == ["green", "red", "green", "many"]
    assert [event.time for event in result.events if event.kind == "state"] == pytest.approx([2.5], abs=1e-9)
    assert tg.verify(result).ok


def test_arrays_have_texts_by_element() -> None:
    rooms = tg.ode(
        lambda t, y, d: np.where(d.mode == "on", 1.0, 0.25),
        y0=[0.0, 0.0],
        discrete={"mode": ["on", "off"]},
        events=tg.event(lambda t, y: y[0] > 1.0, reset=lambda t, y, d: {"mode": [d.mode[1], "on"]}),
    )
    assert list(tg.simulate(rooms, (0.0, 3.0)).final["y"]) == pytest.approx([1.5, 2.25], abs=1e-9)


def test_a_reset_may_return_nothing_in_some_branches() -> None:
    def reset(t: Any, y: Any, d: Any) -> Any:
        if d.count >= 2:
            return {"mode": "done"}
        if y[0] < 0.0:
            return None
        return {"count": d.count + 1}

    model = tg.ode(
        lambda t, y, d: [0.0 if d.mode == "done" else 1.0], y0=[0.0], discrete={"mode": "busy", "count": 0}, events=tg.event(every=1.0, reset=reset)
    )
    result = tg.simulate(model, (0.0, 5.0))
    assert result.final["y"] == pytest.approx(2.0, abs=1e-12)
    assert result.text("mode").values[-1] == "done"


def growth(t: Any, y: Any, p: Any) -> Any:
    return [{"linear": 1.0, "exponential": y[0], "none": 0.0}[p.law] * p.rate]


def test_parameters_may_be_texts_and_have_those_of_the_tables_they_are_looked_up_in() -> None:
    model = tg.ode(growth, y0=[1.0], p={"law": "linear", "rate": 1.0})
    for law, end in {"linear": 2.0, "exponential": np.e, "none": 1.0}.items():
        result = tg.simulate(model, (0.0, 1.0), parameters={"law": law}, rtol=1e-10, atol=1e-12, sensitivities=["rate"])
        assert result.final["y"] == pytest.approx(end, rel=1e-9)
    with pytest.raises(tg.UsageError, match="law is one of 'linear', 'exponential', 'none', and not 'cubic'"):
        tg.simulate(model, (0.0, 1.0), parameters={"law": "cubic"})
    swept = tg.sweep(model, (0.0, 1.0), parameters={"law": ["linear", "none"]})
    assert (list(swept["law"].values), swept["law"].attrs["flag_meanings"]) == ([0.0, 2.0], "linear exponential none")
    assert swept["y"].values.ravel() == pytest.approx([2.0, 1.0])


def test_parameters_have_the_texts_they_are_compared_with() -> None:
    model = tg.ode(lambda t, y, p: [1.0 if p.way == "up" else -1.0 if p.way == "down" else 0.0], y0=[0.0], p={"way": "nowhere"})
    ends = [tg.simulate(model, (0.0, 1.0), parameters={"way": way}).final["y"] for way in ("nowhere", "up", "down")]
    assert ends == pytest.approx([0.0, 1.0, -1.0], abs=1e-12)


def test_start_values_may_depend_on_a_text() -> None:
    model = tg.ode(
        lambda t, y, d: [1.0 if d.mode == "fast" else 0.1],
        y0=lambda p: [5.0 if p.place == "above" else 0.0],
        p={"place": "above"},
        discrete=lambda p: {"mode": "fast" if p.place == "below" else "slow"},
    )
    assert [tg.simulate(model, (0.0, 1.0), parameters={"place": place}).final["y"] for place in ("above", "below")] == pytest.approx([5.1, 1.0])


def switching() -> Any:
    """A heater with two modes."""
    return tg.ode(
        heating,
        y0={"T": 15.0},
        discrete={"mode": "idle"},
        events=[
            tg.event(lambda t, y, d: y["T"] < 14.0 and d.mode == "idle", reset=lambda t, y: {"mode": "heating"}),
            tg.event(lambda t, y: y["T"] > 20.0, reset=lambda t, y: {"mode": "idle"}),
        ],
    )


def heating(t: Any, y: Any, d: Any) -> Any:
    return {"T": (10.0 if d.mode == "heating" else 0.0) - 0.2 * (y["T"] - 10.0)}


@pytest.mark.slow
def test_sessions_and_start_values_take_texts() -> None:
    simulation = tg.Simulation(switching())
    simulation.advance(0.5)
    simulation["mode"] = "heating"
    simulation.advance(1.0)
    assert simulation["T"] > 15.0
    with pytest.raises(tg.UsageError, match="mode is one of 'idle', 'heating', and not 'off'"):
        simulation["mode"] = "off"
    begun = tg.simulate(switching(), (0.0, 0.5), y0={"mode": "heating"})
    assert begun.final["T"] == pytest.approx(60.0 - 45.0 * np.exp(-0.1), rel=1e-6)


def test_a_model_with_texts_can_be_shipped() -> None:
    model = tg.ode(growth, y0=[1.0], p={"law": "linear", "rate": 1.0})
    model.lower()
    again = pickle.loads(pickle.dumps(model))
    assert tg.simulate(again, (0.0, 1.0), parameters={"law": "none"}).final["y"] == 1.0


WRONG: dict[str, tuple[Callable[..., Any], Any, str]] = {
    "a number": (lambda t, y: {"mode": 1}, "a", "mode is one of 'a', and not 1"),
    "the number of the text": (lambda t, y: {"mode": 0}, "a", "mode is one of 'a', and not 0"),
    "a quantity": (lambda t, y: {"mode": y["x"]}, "a", "mode is one of 'a', and not x"),
    "a condition": (lambda t, y: {"mode": y["x"] > 0}, "a", "mode is one of 'a', and not "),
    "nothing": (lambda t, y: {"mode": None}, "a", "mode is one of 'a', and not None"),
    "ever more": (lambda t, y, d: {"mode": d.mode + "a"}, "a", "more than 100 texts"),
    "a member of another": (lambda t, y: {"mode": Gear.FIRST}, Phase.RISE, "mode is one of 'rise', 'hold', and not 'FIRST'"),
    "one too many": (lambda t, y, d: {"mode": d.mode + 1}, Gear.SECOND, "mode is one of 'NEUTRAL', 'FIRST', 'SECOND', and not 3"),
    "a text to a quantity": (lambda t, y: {"x": "a"}, "a", "x is given 'a'; a number is expected"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_what_is_none_of_the_texts_is_refused_at_its_line(what: str) -> None:
    reset, start, said = WRONG[what]
    model = tg.ode(lambda t, y, d: {"x": 1.0}, y0={"x": 0.0}, discrete={"mode": start}, events=tg.event(every=1.0, reset=reset))
    with pytest.raises(tg.UsageError, match=said) as caught:
        tg.simulate(model, (0.0, 3.0))
    assert caught.value.origin is not None


def test_states_are_no_texts() -> None:
    with pytest.raises(tg.InvalidModelError, match="texts are possible by name, in discrete= and p="):
        tg.ode(lambda t, y: [0.0], y0={"mode": "idle"})


class Bits(enum.IntFlag):
    """A set of bits."""

    FIRST = 1
    SECOND = 2


@pytest.mark.parametrize("start", [Bits.FIRST, 1])
def test_two_numbers_are_not_taken_bit_by_bit(start: Any) -> None:
    model = tg.ode(lambda t, y, d: [1.0 if d.set & Bits.SECOND else 0.5], y0=[0.0], discrete={"set": start})
    with pytest.raises(tg.UntraceableError, match="goes bit by bit"):
        tg.simulate(model, (0.0, 1.0))
    by_hand = tg.ode(lambda t, y, d: [1.0 if d.set // 2 % 2 == 1 else 0.5], y0=[0.0], discrete={"set": start})
    assert tg.simulate(by_hand, (0.0, 1.0)).final["y"] == pytest.approx(0.5)


NUMPYS = ["T", "size", "shape", "ndim", "base", "real", "flat", "mean", "min", "sum", "dot", "data", "kind", "numpy", "any", "get", "items", "layout"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMPYS)
def test_the_user_s_names_come_before_those_of_arrays(name: str) -> None:
    def rate(t: Any, y: Any, p: Any) -> Any:
        return [-getattr(p, name) * y[0]]

    def outside(p: Any, y: Any) -> Any:
        return -getattr(p, name) * y[0]

    opaque = tg.opaque(outside)
    for function in (rate, lambda t, y, p: [opaque(p, y)]):
        result = tg.simulate(tg.ode(function, y0=[1.0], p={name: 2.0, "other": 3.0}), (0.0, 1.0), rtol=1e-9)
        assert result.final["y"] == pytest.approx(np.exp(-2.0), rel=1e-8)
        assert tg.verify(result).ok


def random_run(seed: int) -> int | None:
    """How many exits an automaton took on its way to where plain arithmetic says it is; None where rounding may decide."""
    rng = random.Random(seed)
    modes = Modes(rng)
    text, truth = source(rng, modes), walk(modes)
    if truth is None:
        return None
    mode, y, count = truth
    model = space_of(text, f"<modes {seed}>", tg=tg, enum=enum)["model"]
    method = ("auto", "radau", "taylor", "bdf", "adams", "rodas5p")[seed % 6]
    result = tg.simulate(model, (0.0, END), method=method, rtol=1e-8, atol=1e-10)
    assert str(result.text("mode").values[-1]).lower() == mode, seed
    # rates are constants, so only the times of the exits are not exact
    assert [result.final["a"], result.final["b"]] == pytest.approx(y, abs=1e-6), seed
    return count


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in (40, 80))])
def test_random_automata_go_where_plain_arithmetic_does(first: int) -> None:
    counts = [random_run(seed) for seed in range(first, first + 40)]
    assert counts.count(None) <= 10
    assert sum(count or 0 for count in counts) >= 12


ROWS: dict[str, list[tuple[float, str]]] = {"first": [(1.0, "second")], "second": [(2.0, "third"), (9.0, "first")], "third": [(99.0, "first")]}


@pytest.mark.slow
def test_rows_of_different_lengths_are_looked_up_for_each_mode_by_itself() -> None:
    def over(t: Any, y: Any, d: Any) -> Any:
        return any(y[0] > bound for bound, _ in ROWS[d.mode])

    def move(t: Any, y: Any, d: Any) -> Any:
        bound, to = ROWS[d.mode][0]
        if bound > 1.5:
            tg.message(f"{d.mode} is over")
        return {"mode": to}

    model = tg.ode(lambda t, y: [1.0], y0=[0.0], discrete={"mode": "first"}, events=tg.event(over, reset=move, name="move"))
    result = tg.simulate(model, (0.0, 3.0))
    assert [(round(event.time, 9), event.change_text(), event.messages) for event in result.events] == [
        (1.0, "mode: first -> second", ()),
        (2.0, "mode: second -> third", ("second is over",)),
    ]
    assert tg.verify(result).ok
