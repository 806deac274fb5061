"""The first run of a preparation is watched by Python, later ones are a call of native code each: nobody can tell them apart."""

from __future__ import annotations

import math
import signal
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from examples import bouncing_ball, carver_circuit, hidden_crossing, robertson, stiff_relay
from tests.random_models import random_model

import tidegate as tg

__all__: list[str] = []


def facts(result: tg.Result) -> dict[str, Any]:
    """All that a result says, but for times of the clock."""
    dense = result.interpolant if len(result.t) else None
    return {
        "rows": (result.t, result.values, result.sensitivities),
        "events": [(e.time, e.kind, e.causes, e.before, e.after, e.dt_dp, e.messages, e.rounds) for e in result.events],
        "statistics": {name: count for name, count in result.statistics.to_dict().items() if "seconds" not in name},
        "end": (result.message, result.status),
        "given": (result.options, result.parameters),
        "between": None if dense is None else (dense(np.linspace(result.t[0], result.t[-1], 7)), result.at(float(result.t[-1]) / 3)),
    }


def told(prepared: Any) -> dict[str, Any]:
    """What a run comes to: its result, its error, its warnings."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        try:
            found = facts(prepared.run())
        except tg.RunError as error:
            found = {"error": str(error), **facts(error.result)}
    return {**found, "warnings": sorted(str(each.message) for each in noted)}


def decay(**more: Any) -> Any:
    return tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 1.0}, **more)


def thrown(t: Any, y: Any) -> Any:
    return [y["v"], -1.0]


class Idle(tg.Component):
    """A clause whose condition holds all along."""

    x = tg.State(1.0)

    def equations(self):
        yield tg.der(self.x) == -0.1 * self.x

    @tg.when(lambda self: self.x > 0.5)
    def never(self):
        return {self.x: 2.0}


at_half = tg.event(lambda t, y, p: y["x"] < 0.5, reset=lambda t, y, p: {"x": 1.0})
ending = tg.event(lambda t, y, p: y["x"] < 0.5, terminal=True)
CASES: dict[str, tuple[Any, float, dict[str, Any]]] = {
    "nothing": (decay(), 2.0, {"sensitivities": "all"}),
    "events": (decay(events=at_half), 3.0, {"sensitivities": "all"}),
    "asked times": (decay(events=at_half), 3.0, {"outputs": 0.25, "dense": False}),
    "an end of its own": (decay(events=ending), 3.0, {}),
    "an idle clause": (Idle(), 1.0, {}),
    "not a number": (decay(outputs=lambda t, y, p: {"root": np.sqrt(y["x"] - 0.5)}), 2.0, {}),
    "a pole": (tg.ode(lambda t, y: [y[0] ** 2], y0=[1.0]), 2.0, {}),
    "more steps than one call": (tg.ode(lambda t, y: [y[1], -y[0]], y0=[1.0, 0.0]), 900.0, {"rtol": 1e-10}),
    "stiff all of a sudden": (tg.ode(lambda t, y: [-1e5 * (y[0] - math.pi) if t > 1.0 else -y[0]], y0=[1.0]), 4.0, {"method": "taylor"}),
    "a tangent": (tg.ode(thrown, y0={"x": 0.0, "v": 1.0}, events=tg.event(lambda t, y: y["x"] > 0.5)), 2.0, {}),
    "a ball": (bouncing_ball.model, 3.0, {"sensitivities": "all", "rtol": 1e-9}),
    "hidden crossings": (hidden_crossing.model, 2.0, {"events": "proved"}),
    "a circuit": (carver_circuit.model, 0.002, {}),
    "a relay": (stiff_relay.model, 1.0, {"method": "radau"}),
    "kinetics": (robertson.model, 100.0, {"method": "rodas5p"}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_again_is_the_run_before(name: str) -> None:
    model, t_end, options = CASES[name]
    prepared = tg.prepare(model, (0.0, t_end), **options)
    first = told(prepared)
    for _ in range(3):
        np.testing.assert_equal(told(prepared), first)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 8])
def test_runs_again_with_other_parameters_are_those_of_a_preparation_of_their_own(seed: int) -> None:
    model = random_model(seed)
    prepared = tg.prepare(model.source, (0.0, model.t_end), outputs=0.5)
    for _ in range(2):
        told(prepared)
    for run in (1, 2):
        own = tg.prepare(model.source, (0.0, model.t_end), outputs=0.5, parameters=model.values(run))
        ours, theirs = told(prepared.with_parameters(**model.values(run))), told(own)
        theirs["statistics"] = ours["statistics"]  # which count what getting ready took
        np.testing.assert_equal(ours, theirs)


@pytest.mark.slow
def test_ctrl_c_loses_none_of_many_short_runs() -> None:
    prepared = tg.prepare(decay(events=at_half), (0.0, 3.0))
    whole = facts(prepared.run())
    prepared.run()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    main, stopped = threading.main_thread().ident, 0
    try:
        for k in range(20):
            timer = threading.Timer(0.001 + 2e-5 * k, signal.pthread_kill, (main, signal.SIGINT))
            try:
                timer.start()
                until = time.monotonic() + 2.0
                while time.monotonic() < until:
                    prepared.run()
            except tg.InterruptedRunError as error:
                stopped += 1
                np.testing.assert_equal({**facts(error.result), "end": None}, {**whole, "end": None})
            except KeyboardInterrupt:  # between two runs
                continue
            finally:
                timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped > 4
