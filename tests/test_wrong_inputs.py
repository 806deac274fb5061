"""What is given wrongly is answered by the library itself: one of its own errors, a sentence of what was expected, and what to try."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg

MODEL = tg.ode(
    lambda t, y, p: [-p["speed"] * y["level"] if y["level"] > 0.5 else -1.0],
    y0={"level": 1.0},
    p={"speed": 1.0},
    outputs=lambda t, y, p: {"twice": 2 * y["level"]},
)


def fun(t, y):
    return [-y[0]]


@pytest.fixture(scope="module")
def result() -> tg.Result:
    return tg.simulate(MODEL, (0, 1), sensitivities=["speed"])


def explained(deed: Callable[[], Any], *words: str, also: type[Exception] | None = None) -> None:
    """It raises the library's own error, which Python knows as ``also``; what it says has these words and none of the library's insides."""
    with pytest.raises(tg.TidegateError) as caught:
        deed()
    said = str(caught.value)
    assert also is None or isinstance(caught.value, also)
    for word in words:
        assert word in said
    for inside in ("Traceback", "object at 0x", "unhashable", "not iterable", "has no attribute", "src/tidegate", "Expr", "truth value of an array"):
        assert inside not in said


SPANS: list[Any] = [
    "01", b"01", ("0", "1"), (0, 1, 2), (0,), (), None, 5, {0, 1}, {0: 1, 1: 2}, (0, None), (0, 1j), (0, [1]), [[0, 1]], ("a", 1),
    (0, math.nan), (0, math.inf), (-math.inf, 0), (0, 5e-324), (1e16, 1e16 + 2), (1e15, 1e15 + 1), (0, 1e308), (-1e308, 1e308), (1.0, 1.0 + 2.3e-16),
]  # fmt: skip


@pytest.mark.parametrize("span", [*SPANS, (1, 0)], ids=repr)
def test_a_span_that_is_none_is_refused_before_anything_runs(span: Any) -> None:
    explained(lambda: tg.simulate(MODEL, span), also=None)
    explained(lambda: tg.prepare(MODEL, span))


@pytest.mark.parametrize("span", SPANS, ids=repr)
def test_solve_ivp_refuses_the_same_spans(span: Any) -> None:
    explained(lambda: tg.solve_ivp(fun, span, [1.0]))


def test_a_span_that_floats_cannot_resolve_says_so() -> None:
    explained(lambda: tg.simulate(MODEL, (1e15, 1e15 + 1)), "only 8 floating-point numbers", "count the time from the start of the run")
    assert tg.simulate(MODEL, (1e10, 1e10 + 1)).final["level"] == pytest.approx(0.5 - (1.0 - math.log(2.0)), abs=1e-5)


class Clock(tg.Component):
    n = tg.Discrete(0)
    period = tg.Parameter(1.0)

    @tg.every(lambda self: self.period)
    def tick(self):
        return {self.n: self.n + 1}


def test_a_clock_whose_ticks_floats_cannot_tell_apart_is_refused() -> None:
    explained(lambda: tg.simulate(Clock(), (0, 1e30)), "the clock tick ticks every 1")
    assert tg.simulate(Clock(), (0, 100), parameters={"period": 30.0}).final["n"] == 4


OPTIONS: dict[str, list[Any]] = {
    "rtol": ["1e-6", "a", [1e-6], math.nan, 0, -1, 2, True, 1j],
    "atol": ["1e-6", "a", {"y": 1e-6}, {1: 1e-6}, [], [1e-6, 1e-6], math.nan, -1, 0, {"level": "a"}, True, [[1e-6]], 1j],
    "method": ["RK45", "rad", "", None, 5, ["radau"]],
    "parameters": [{"q": 1}, {"sped": 1}, {1: 2}, {"speed": "a"}, {"speed": None}, {"speed": [1, 2]}, {"speed": math.nan}, [("speed", 1)], 5],
    "sensitivities": ["q", ["q"], [1], 5, [["speed"]], {"speed": 1}, [None], True],
    "outputs": ["a", "0.1", [], [[0, 1]], -1, 0, math.nan, [0.5, 0.2], {}, [None], True, 1j],
    "max_step": ["a", -1, 0, math.nan],
    "first_step": ["a", -1, math.nan],
    "max_steps": ["a", 1.5, -1, 0, math.nan, math.inf, True],
    "dense": ["yes", 2, []],
    "event_rows": ["yes", 2, np.array([1, 2])],
    "progress": [5],
    "on_rows": [5],
    "t_eval": [[0]],
    "Rtol": [1e-3],
}
EACH = [(name, value) for name, values in OPTIONS.items() for value in values]


@pytest.mark.parametrize(("name", "value"), EACH, ids=[f"{name}={value!r}" for name, value in EACH])
def test_options_that_make_no_sense_are_refused_by_both_ways_to_run(name: str, value: Any) -> None:
    explained(lambda: tg.simulate(MODEL, (0, 1), **{name: value}))
    explained(lambda: tg.Simulation(MODEL, **{name: value}))


@pytest.mark.parametrize("source", [None, 5, "model", fun, tg.Component, [MODEL]], ids=["none", "number", "text", "function", "class", "list"])
def test_what_is_no_model_is_not_run(source: Any) -> None:
    with pytest.raises(tg.UsageError, match="cannot be simulated"):
        tg.simulate(source, (0, 1))


READ: dict[str, tuple[Callable[[tg.Result], Any], type[Exception] | None]] = {
    **{f"[{key!r}]": (lambda r, key=key: r[key], KeyError) for key in ("levle", "", 5, None, ("level",), ["level"], slice(0, 1), b"level", 1.5)},
    **{f"events[{key!r}]": (lambda r, key=key: r.events[key], IndexError) for key in ("a", 7, -7, 1.5, None, ("a",), [0], slice("a", 2))},
    "events.of a word": (lambda r: r.events.of("x"), KeyError),
    "events.of a number": (lambda r: r.events.of(5), KeyError),
    "at a late time": (lambda r: r.at(5), None),
    "at a text": (lambda r: r.at("a"), None),
    "at NaN": (lambda r: r.at(math.nan), None),
    "at a matrix": (lambda r: r.at([[0.1, 0.2]]), None),
    "at a wrong name": (lambda r: r.at(0.5, "q"), KeyError),
    "at a number for a name": (lambda r: r.at(0.5, 5), None),
    "at a number among names": (lambda r: r.at(0.5, ["level", 5]), None),
    "at a side": (lambda r: r.at(0.5, "level", side="middle"), None),
    "sensitivity of q": (lambda r: r.sensitivity("q"), KeyError),
    "sensitivity to q": (lambda r: r.sensitivity("level", "q"), KeyError),
    "sensitivity of 5": (lambda r: r.sensitivity(5), KeyError),
    "sensitivity to a list": (lambda r: r.sensitivity("level", ["speed"]), KeyError),
    "sensitivity of a list": (lambda r: r.sensitivity(["level"], "speed"), KeyError),
    "final": (lambda r: r.final["levle"], KeyError),
    "column": (lambda r: r.column(["level"]), KeyError),
    "plot": (lambda r: r.plot("q"), KeyError),
    "save as a number": (lambda r: r.save(5), None),
    "save as something": (lambda r: r.save("result.xyz"), None),
    "load a number": (lambda r: tg.Result.load(5), None),
    "load nothing": (lambda r: tg.Result.load("/nowhere.nc"), None),
    "out": (lambda r: tg.simulate(MODEL, (0, 1), out=5), None),
}


@pytest.mark.parametrize("how", list(READ))
def test_a_result_asked_wrongly_says_what_it_has(how: str, result: tg.Result) -> None:
    deed, also = READ[how]
    explained(lambda: deed(result), also=also)


def test_near_names_are_offered(result: tg.Result) -> None:
    for deed in (lambda: result["levle"], lambda: result.final["levle"], lambda: result.at(0.5, "levle")):
        explained(deed, "level")
    explained(lambda: tg.simulate(MODEL, (0, 1), parameters={"sped": 1.0}), "speed")


def test_what_is_no_name_is_in_no_result(result: tg.Result) -> None:
    assert "level" in result
    assert not any(item in result for item in (5, None, ["level"], {"level": 1}))


RUN: dict[str, Callable[[], Any]] = {
    **{f"t_start={value!r}": (lambda value=value: tg.Simulation(MODEL, value)) for value in ("a", "0", None, math.nan, math.inf, [0], 1j)},
    **{f"advance({until!r})": (lambda until=until: tg.Simulation(MODEL).advance(until)) for until in ("a", "1", None, -1, math.nan, math.inf, [1])},
    **{f"[{key!r}]": (lambda key=key: tg.Simulation(MODEL)[key]) for key in ("levle", 5, None, ["level"], ("level",))},
    "set": lambda: tg.Simulation(MODEL).set(5),
    "set a list": lambda: tg.Simulation(MODEL).set([1]),
    **{
        f"set({name!r}, {value!r})": (lambda name=name, value=value: tg.Simulation(MODEL).set({name: value}))
        for name, value in (("q", 1), (5, 1), (None, 1), ("level", "a"), ("level", None), ("level", [1, 2]), ("level", math.nan), ("level", 1j))
    },
    "set an output": lambda: tg.Simulation(MODEL).set({"twice": 1}),
    "states of a parameter": lambda: tg.Simulation(MODEL).states["speed"],
    "states of a number": lambda: tg.Simulation(MODEL).states[5],
    "advance with a wrong option": lambda: tg.Simulation(MODEL).advance(1, rtoll=1),
    "advance with a wrong method": lambda: tg.Simulation(MODEL).advance(1, method="x"),
    "load": lambda: tg.Simulation.load("/nowhere", MODEL),
    "load a number": lambda: tg.Simulation.load(5, MODEL),
    "save a number": lambda: tg.Simulation(MODEL).save(5),
}


@pytest.mark.parametrize("how", list(RUN))
def test_a_simulation_used_wrongly_says_so(how: str) -> None:
    explained(RUN[how])


IVP: dict[str, Callable[[], Any]] = {
    **{
        f"y0={y0!r}": (lambda y0=y0: tg.solve_ivp(fun, (0, 1), y0))
        for y0 in ("a", None, [], ["a"], [[1.0]], 1.0, [None], {"x": 1}, [1j], [math.nan], [[1], [2, 3]])
    },
    **{
        f"{name}={value!r}": (lambda name=name, value=value: tg.solve_ivp(fun, (0, 1), [1.0], **{name: value}))
        for name, value in (
            ("method", "x"), ("method", 5), ("method", ["RK45"]), ("rtol", "a"), ("rtol", -1), ("rtol", []), ("rtol", 1j), ("atol", "a"),
            ("atol", [1, 2]), ("atol", {}), ("t_eval", "a"), ("t_eval", [2.0]), ("t_eval", [0.5, 0.1]), ("t_eval", 5), ("t_eval", [[0.1]]),
            ("t_eval", [math.nan]), ("t_eval", [1j]), ("events", 5), ("events", [5]), ("events", "a"), ("args", 5), ("first_step", "a"),
            ("max_step", "a"), ("max_step", -1), ("maxstep", 1), ("jacc", 1), ("min_step", 0.1),
        )
    },
    **{
        f"fun {k}": (lambda function=function: tg.solve_ivp(function, (0, 1), [1.0]))
        for k, function in enumerate((None, 5, "f", lambda t, y: None, lambda t, y: [1.0, 2.0], lambda t, y: [1j], lambda t, y: {"a": 1}))
    },
}  # fmt: skip


@pytest.mark.parametrize("how", list(IVP))
def test_solve_ivp_called_wrongly_says_so(how: str) -> None:
    explained(IVP[how])


class Odd:
    """Callable, and compared by content like a list: it has no hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd)

    def __call__(self, x):
        return 2.0 * x


class Wrong(Odd):
    def __hash__(self) -> int:
        raise RuntimeError("not this one")


SQUARE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x * x)


@pytest.mark.parametrize("function", [Odd(), Wrong()], ids=["no hash", "a hash that raises"])
def test_callables_without_a_hash_are_followed(function: Any) -> None:
    assert tg.simulate(tg.ode(lambda t, y: [-function(y[0])], y0=[1.0]), (0, 1), rtol=1e-9).final["y[0]"] == pytest.approx(math.exp(-2), rel=1e-7)


def test_a_function_of_ctypes_is_refused_or_opaque() -> None:
    explained(lambda: tg.simulate(tg.ode(lambda t, y: [-SQUARE(y[0])], y0=[1.0]), (0, 1)), "tg.opaque")
    square = tg.opaque(SQUARE)
    assert tg.simulate(tg.ode(lambda t, y: [-square(y[0])], y0=[1.0]), (0, 1), rtol=1e-8).final["y[0]"] == pytest.approx(0.5, rel=1e-6)
    called = tg.solve_ivp(lambda t, y: [-SQUARE(y[0])], (0, 1), [1.0], rtol=1e-8)
    assert called.y[0, -1] == pytest.approx(0.5, rel=1e-6)
    assert not called.traced
