"""Values that fit nowhere, given wherever something is taken: each is answered in the package's own words, or does no harm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import TidegateError

__all__: list[str] = []

pytestmark = pytest.mark.filterwarnings("ignore")

NONSENSE: dict[str, Any] = {
    "None": None, "text": "x", "no text": "", "list": [], "dict": {}, "tuple": (), "object": object(),
    "empty array": np.array([]),
    "array": np.array([1.0, 2.0, 3.0]), "nan": math.nan, "infinity": math.inf, "negative": -1, "zero": 0, "truth": True,
    "complex": 1 + 2j, "bytes": b"x",
    "function": lambda: 1, "class": int, "mixed list": [1, "a"], "other names": {"q": 1}, "array of text": np.array("a"), "range": range(3),
    "iterator": iter([1]), "ellipsis": Ellipsis, "date": np.datetime64("2020-01-01"), "dict by numbers": {1: 2}, "same names": ["x", "x"],
}  # fmt: skip


def decay(t: Any, y: Any) -> list[Any]:
    return [-y[0]]


MODEL = tg.ode(lambda t, y, p: {"x": -p["k"] * y["x"]}, y0={"x": 1.0}, p={"k": 1.0})
OPTIONS = "rtol atol outputs method max_steps sensitivities parameters y0 inputs".split()
OPTIONS += "first_step max_step dense event_rows progress events record_disabled".split()
OF_MODELS = "p events outputs discrete units name".split()
DATA = {"x": ([0.5], [0.5])}

CALLS: dict[str, Callable[[Any], Any]] = {
    "t_span": lambda v: tg.simulate(MODEL, v),
    "t_end": lambda v: tg.simulate(MODEL, (0, v)),
    **{name: lambda v, name=name: tg.simulate(MODEL, (0, 1), **{name: v}) for name in OPTIONS},
    "f": lambda v: tg.ode(v, y0=[1.0]),
    "y0 of a model": lambda v: tg.ode(decay, y0=v),
    **{f"{name} of a model": lambda v, name=name: tg.ode(decay, y0=[1.0], **{name: v}) for name in OF_MODELS},
    "p['k']": lambda v: tg.ode(decay, y0=[1.0], p={"k": v}),
    "a condition": tg.event,
    "every": lambda v: tg.event(every=v),
    "at of an event": lambda v: tg.event(at=v),
    "reset": lambda v: tg.event(lambda t, y: y[0] > 1, reset=v),
    "priority": lambda v: tg.event(lambda t, y: y[0] > 1, priority=v),
    "result.at": lambda v: tg.simulate(MODEL, (0, 1)).at(v),
    "result[...]": lambda v: tg.simulate(MODEL, (0, 1))[v],
    "resample": lambda v: tg.simulate(MODEL, (0, 1)).resample(v),
    "compare": lambda v: tg.simulate(MODEL, (0, 1)).compare(v),
    "table": lambda v: tg.table([0, 1], v),
    "times of a table": lambda v: tg.table(v, [0, 1]),
    "seed": lambda v: tg.noise(seed=v),
    "sweep": lambda v: tg.sweep(MODEL, (0, 1), parameters=v),
    "sweep of k": lambda v: tg.sweep(MODEL, (0, 1), parameters={"k": v}),
    "data": lambda v: tg.fit(MODEL, v, ["k"]),
    "data of x": lambda v: tg.fit(MODEL, {"x": v}, ["k"]),
    "fitted parameters": lambda v: tg.fit(MODEL, DATA, v),
    "sigma": lambda v: tg.fit(MODEL, DATA, ["k"], sigma=v),
    "bounds": lambda v: tg.fit(MODEL, DATA, ["k"], bounds=v),
    "parameters of a steady state": lambda v: tg.steady_state(MODEL, parameters=v),
    "guess of a steady state": lambda v: tg.steady_state(MODEL, y0=v),
    "where to linearize": lambda v: tg.linearize(MODEL, at=v),
    "inputs to linearize": lambda v: tg.linearize(MODEL, inputs=v),
    "advance": lambda v: tg.Simulation(MODEL).advance(v),
    "set": lambda v: tg.Simulation(MODEL).set(v),
    "simulation['k'] =": lambda v: tg.Simulation(MODEL).set({"k": v}),
    "simulation[...]": lambda v: tg.Simulation(MODEL)[v],
    "y0 of solve_ivp": lambda v: tg.solve_ivp(decay, (0, 1), v),
    "t_eval": lambda v: tg.solve_ivp(decay, (0, 1), [1.0], t_eval=v),
    "events of solve_ivp": lambda v: tg.solve_ivp(decay, (0, 1), [1.0], events=v),
    "variable": lambda v: tg.Environment().variable(v),
    "parameter": lambda v: tg.Environment().parameter(v),
    "interval of a sample": lambda v: tg.Environment().sample(lambda: 1, every=v),
    "State": tg.State,
    "Parameter": tg.Parameter,
    "min": lambda v: tg.Parameter(1.0, min=v),
    "unit": lambda v: tg.Parameter(1.0, unit=v),
    "Integrator": lambda v: tg.blocks.Integrator(start=v),
    "Gain": tg.blocks.Gain,
    "Function": lambda v: tg.blocks.Function(v, v),
    "source": lambda v: tg.simulate(v, (0, 1)),
    "verify": tg.verify,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_value_that_fits_nowhere_is_answered_in_our_words(call: Callable[[Any], Any]) -> None:
    answers: dict[str, str] = {}
    for name, value in NONSENSE.items():
        try:
            call(value)
        except TidegateError as error:
            answers[name] = str(error)
    assert all(text.strip() for text in answers.values())
