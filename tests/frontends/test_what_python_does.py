"""Runs of models whose functions and methods leave loops early, draw random numbers, read what changes outside, or ask for equality."""

from __future__ import annotations

import importlib
import math
import random
import sys
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def falling(y: Any) -> Any:
    for i in range(3):
        if y > i:
            continue
        return -1.0 * i - 0.1
    return -2.0


def test_a_round_that_is_continued_under_a_condition_and_else_returns(method: str) -> None:
    # 2 falls to 2 only at once, where i = 2 is met: from there on at -2.1
    model = tg.ode(lambda t, y: [falling(y[0])], y0=[2.0])
    assert tg.simulate(model, (0, 0.4), method=method, **TIGHT).final["y[0]"] == pytest.approx(2.0 - 0.4 * 2.1, abs=1e-7)


def test_the_same_in_a_method_of_a_component(method: str) -> None:
    class Falling(tg.Component):
        x = tg.State(2.0)

        def rate(self) -> Any:
            return falling(self.x)

        def equations(self) -> Any:
            yield tg.der(self.x) == self.rate()

    assert tg.simulate(Falling(), (0, 0.4), method=method, **TIGHT).final["x"] == pytest.approx(1.16, abs=1e-7)


def test_random_numbers_in_a_function_are_refused_with_the_way_out() -> None:
    rng = random.Random(3)

    def noisy(t: Any, y: Any) -> Any:
        return [-y[0] + rng.gauss(0.0, 1.0)]

    with pytest.raises(tg.UntraceableError, match=r"noisy gives two answers(.|\n)*draw random numbers before the run"):
        tg.simulate(tg.ode(noisy, y0=[1.0]), (0, 1))


def test_random_numbers_in_a_component_are_refused() -> None:
    rng = np.random.default_rng(3)

    class Noisy(tg.Component):
        x = tg.State(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == -self.x + rng.normal()

    with pytest.raises(tg.UntraceableError, match=r"Noisy\.equations gives two answers"):
        tg.simulate(Noisy(), (0, 1))


def test_what_only_a_call_shows_is_refused_with_the_point_and_both_values() -> None:
    def by_its_text(t: Any, y: Any) -> Any:
        return [1.0 if str(y[0]).startswith("-") else -1.0]

    with pytest.raises(tg.UntraceableError, match=r"by_its_text was not followed rightly: at .*y\[0\] = .* it gives 1 when it is called, and -1"):
        tg.ode(by_its_text, y0=[1.0]).lower()


def test_a_file_that_was_edited_after_it_was_imported_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "edited_after_import.py"
    file.write_text("def rate(t, y):\n    return [-1.0 * y[0]]\n")
    module = importlib.import_module("edited_after_import")
    file.write_text("def rate(t, y):\n    return [-2.0 * y[0]] # another length\n")
    with pytest.raises(tg.UntraceableError, match=r"gives -1 when it is called, and -2(.|\n)*edited after it was imported: importlib\.reload"):
        tg.simulate(tg.ode(module.rate, y0=[1.0]), (0, 1))
    importlib.reload(module)
    assert tg.simulate(tg.ode(module.rate, y0=[1.0]), (0, 1), **TIGHT).final["y[0]"] == pytest.approx(math.exp(-2.0), rel=1e-8)


def test_numbers_drawn_with_a_seed_inside_are_the_same_every_time() -> None:
    def seeded(t: Any, y: Any) -> Any:
        return [-y[0] * np.random.default_rng(5).uniform()]

    rate = np.random.default_rng(5).uniform()
    assert tg.simulate(tg.ode(seeded, y0=[1.0]), (0, 1), **TIGHT).final["y[0]"] == pytest.approx(math.exp(-rate), rel=1e-8)


# -- what functions read of their surroundings

GAIN = 2.0


def outer_gain(t: Any, y: Any) -> Any:
    return [-GAIN * y[0]]


def test_a_changed_global_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tg.ode(outer_gain, y0=[1.0])
    assert tg.simulate(model, (0, 1), **TIGHT).final["y[0]"] == pytest.approx(math.exp(-2.0), rel=1e-8)
    kept = model.lower()
    assert model.lower() is kept
    monkeypatch.setitem(outer_gain.__globals__, "GAIN", 3.0)
    assert tg.simulate(model, (0, 1), **TIGHT).final["y[0]"] == pytest.approx(math.exp(-3.0), rel=1e-8)


@pytest.mark.parametrize("kind", ["variable", "list", "array", "attribute", "dictionary", "default", "helper", "class"])
def test_whatever_a_function_read_and_that_changed_is_noticed(kind: str) -> None:
    number, values, array, held, named = 2.0, [2.0], np.array([2.0]), SimpleNamespace(k=2.0), {"k": 2.0}

    class Kept:
        k = 2.0

    def helper(x: Any) -> Any:
        return 2.0 * x

    def other(x: Any) -> Any:
        return 3.0 * x

    def rate(t: Any, y: Any, *, k: Any = 2.0) -> Any:
        given = {
            "variable": number, "list": values[0], "array": array[0], "attribute": held.k, "dictionary": named["k"], "default": k,
            "helper": helper(1.0), "class": Kept().k,
        }  # fmt: skip
        return [-given[kind] * y[0]]

    model = tg.ode(rate, y0=[1.0])
    for expected in (2.0, 3.0):
        assert tg.simulate(model, (0, 1), **TIGHT).final["y[0]"] == pytest.approx(math.exp(-expected), rel=1e-8)
        number, values[0], array[0], held.k, named["k"], Kept.k, helper = 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, other  # noqa: F811 - it is exchanged below
        rate.__kwdefaults__["k"] = 3.0


# -- equality as an event


def test_an_event_that_wants_equality_of_what_moves_is_refused() -> None:
    def fall(t: Any, y: Any) -> Any:
        return [-1.0]

    for condition in (lambda t, y: y["h"] == 1.0, lambda t, y: t == 1.0, lambda t, y: (y["h"] == 1.0) | (t > 5)):
        with pytest.raises(tg.UsageError, match=r"exactly zero(.|\n)*>= or <="):
            tg.ode(fall, y0={"h": 2.0}, events=tg.event(condition)).lower()


def test_an_event_that_wants_equality_of_what_stays_happens(method: str) -> None:
    def fall(t: Any, y: Any) -> Any:
        return [-1.0]

    event = tg.event(lambda t, y: np.floor(y["h"]) == 0.0, terminal=True)
    assert tg.simulate(tg.ode(fall, y0={"h": 2.5}, events=event), (0, 5), method=method).t[-1] == pytest.approx(1.5, abs=1e-6)

    class Passing(tg.Component):
        x = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.when(lambda self: self.x == 1.0)
        def passed(self) -> Any:
            return {self.x: 0.0}

    with pytest.raises(tg.UsageError, match="exactly zero"):
        Passing().lower()


REMAINDERS = {
    "%": lambda a, b: a % b, "np.mod": np.mod, "np.fmod": np.fmod, "//": lambda a, b: a // b, "divmod": lambda a, b: divmod(a, b)[1],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", REMAINDERS)
def test_a_whole_part_or_remainder_of_a_division_by_zero_is_no_number(name: str) -> None:
    # Python raises ZeroDivisionError; numpy says nan
    remainder: Any = REMAINDERS[name]

    def model(divisor: Any, **options: Any) -> Any:
        outputs = {"left": lambda t, y, p, d: remainder(y["x"], divisor(p, d))}
        return tg.ode(lambda t, y, p, d: [-y["x"]], y0={"x": 5.0}, p={"z": 0.0}, discrete={"n": 2.0}, outputs=outputs, **options)

    for divisor in (lambda p, d: 0.0, lambda p, d: 0):
        with pytest.raises(tg.UntraceableError, match="ZeroDivisionError"):
            tg.simulate(model(divisor), (0, 1))
    with pytest.raises(tg.NotFiniteError, match=r"whole part or remainder is taken of x/z, which is not finite at t = 0\n"):
        tg.simulate(model(lambda p, d: p["z"]), (0, 1))
    found = tg.simulate(model(lambda p, d: p["z"]), (0, 1), parameters={"z": 1.7}, rtol=1e-10).final["left"]
    assert found == pytest.approx(remainder(5.0 * math.exp(-1.0), 1.7), rel=1e-8)
    goes = tg.event(lambda t, y, p, d: t > 0.5, reset=lambda t, y, p, d: {"n": 0.0})
    for method in ("auto", "radau"):
        with pytest.raises(tg.NotFiniteError, match=r"is taken of x/n, which is not finite at t = 0\.5\n") as told:
            tg.simulate(model(lambda p, d: d["n"], events=[goes]), (0, 1), method=method)
        assert told.value.result is not None
        assert told.value.result.t[-1] == pytest.approx(0.5)
    guarded = model(lambda p, d: tg.where(d["n"] > 0.0, d["n"], 3.0), events=[goes])
    assert tg.simulate(guarded, (0, 1), rtol=1e-10).final["left"] == pytest.approx(remainder(5.0 * math.exp(-1.0), 3.0), rel=1e-8)


class Above(tg.Component):
    x = tg.State(1.0)
    k = tg.Parameter(2.0)

    @property
    def gain(self) -> Any:
        return self.k if self.x > 0.5 else 0.0

    def equations(self) -> Any:
        yield tg.der(self.x) == -self.gain * self.x


class Below(Above):
    @property
    def gain(self) -> Any:
        return 2.0 * super().gain


class Rates:
    k = 1.5

    def rates(self, t: Any, y: Any) -> Any:
        return [-self.k * y["x"]]


class Twice(Rates):
    def rates(self, t: Any, y: Any) -> Any:
        return [2.0 * rate for rate in super().rates(t, y)]


class Shown(tg.DSblock):
    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.output("Y")
        declare.indicator("Z")

    def derivatives(self, t: Any, x: Any, *others: Any) -> Any:
        return -x.X

    def outputs(self, t: Any, x: Any, *others: Any) -> Any:
        return 2.0 * x.X

    def indicators(self, t: Any, x: Any, *others: Any) -> Any:
        return x.X - 0.5

    def event(self, *given: Any) -> Any:
        return tg.dsblock.EventAction("restart")


class ShownMore(Shown):
    def outputs(self, t: Any, x: Any, *others: Any) -> Any:
        return super().outputs(t, x, *others) + 1.0


@pytest.mark.slow
def test_what_classes_above_say_is_followed_and_known_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Below()
    result = tg.simulate(model, (0, 1), rtol=1e-9)
    assert result.final["x"] == pytest.approx(0.5, abs=1e-9)
    assert [event.cause for event in result.events] == ["x <= 0.5"]
    assert tg.simulate(ShownMore(), (0, 1), rtol=1e-9).final["Y"] == pytest.approx(2.0 * math.exp(-1.0) + 1.0, rel=1e-7)
    model = tg.ode(Twice().rates, y0={"x": 1.0})
    assert tg.simulate(model, (0, 1), rtol=1e-9).final["x"] == pytest.approx(math.exp(-3.0), rel=1e-7)
    assert model.lower() is model.lower()
    monkeypatch.setattr(Rates, "k", 3.0)
    assert tg.simulate(model, (0, 1), rtol=1e-9).final["x"] == pytest.approx(math.exp(-6.0), rel=1e-7)
    monkeypatch.setattr(Rates, "rates", lambda self, t, y: [-y["x"]])
    assert tg.simulate(model, (0, 1), rtol=1e-9).final["x"] == pytest.approx(math.exp(-2.0), rel=1e-7)


class Inner(tg.Component):
    y = tg.State(0.0)

    @cached_property
    def rate(self) -> Any:
        return 1.0 - 0.5 * self.y

    def equations(self) -> Any:
        yield tg.der(self.y) == self.rate


class Outer(tg.Component):
    x, seen = tg.State(1.0), tg.Discrete(0.0)
    inner, row = Inner(), tg.Array(Inner(y=0.5), 2)

    @cached_property
    def twice(self) -> Any:
        return 2.0 * self.x

    def equations(self) -> Any:
        yield tg.der(self.x) == (-self.twice if self.twice > 1.0 else -1.0)

    @tg.at(0.5)
    def look(self) -> Any:
        return {self.seen: self.twice + self.inner.rate + sum(one.rate for one in self.row)}


@pytest.mark.slow
def test_what_a_component_computes_once_is_computed_anew_at_every_point() -> None:
    result = tg.simulate(Outer(), (0.0, 0.6), **TIGHT)
    x = 0.5 - (0.5 - 0.5 * math.log(2.0))
    inner, row = math.exp(-0.25), 0.75 * math.exp(-0.25)  # 1 - y/2 dies out
    assert result.final["seen"] == pytest.approx(2.0 * x + inner + 2.0 * row, rel=1e-8)
    assert tg.verify(result).ok
