"""A run in the memory that another run of the model has left is, to the last bit, the run that it is in memory of its own."""

from __future__ import annotations

import gc
import random
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from examples import bouncing_ball, stiff_relay

import tidegate as tg
from tidegate.integrators import spare_memory
from tidegate.simulate import compiled_of

__all__: list[str] = []

N_CALLS = 14


class Feeder(tg.Component):
    """Discrete variables, an event clause, clocks that begin with the run."""

    level = tg.State(1.0)
    drops = tg.Discrete(0.0)
    rate = tg.Parameter(3.0)

    def equations(self):
        yield tg.der(self.level) == -self.rate * self.level

    @tg.when(lambda self: self.level < 0.5)
    def fill(self):
        return {self.level: 1.0, self.drops: tg.pre(self.drops) + 1.0}

    @tg.every(0.7)
    def tick(self):
        return {self.drops: tg.pre(self.drops) + 0.125}


def forced(t: Any, y: Any, p: Any) -> Any:
    return [p["a"] * y["v"], -y["x"] * abs(y["x"]) + (1.0 if t > p["late"] else -0.5) + np.sin(t * t)]


def circuit(t: Any, y: Any, dy: Any, p: Any) -> Any:
    return {"c": dy["x"] + p["a"] * y["z"], "r": y["z"] ** 3 + y["z"] - y["x"]}


MODELS: dict[str, tuple[Any, tuple[str, ...], tuple[str, ...]]] = {  # models, parameters, methods
    "ball": (bouncing_ball.model, ("e",), ("auto", "radau", "taylor", "rodas5p", "ida", "rke")),
    "relay": (stiff_relay.model, (), ("auto", "radau", "rodas5p")),
    "feeder": (Feeder(), ("rate",), ("auto", "radau", "taylor", "bdf")),
    "forced": (tg.ode(forced, y0={"x": 1.0, "v": 0.0}, p={"a": 1.0, "late": 0.5}), ("a", "late"), ("auto", "radau", "taylor", "rodas5p")),
    "decay": (tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 2.0}), ("k", "x(0)"), ("auto", "radau", "taylor", "adams")),
    "circuit": (tg.dae(circuit, y0={"x": 1.0, "z": 0.6}, p={"a": 1.0}), ("a",), ("auto", "radau", "ida")),
}


def call(draw: random.Random, parameters: tuple[str, ...], methods: tuple[str, ...]) -> tuple[tuple[float, float], dict[str, Any]]:
    """A time span and options, from so few that some calls are alike."""
    start = draw.choice([0.0, 0.0, 0.25])
    options: dict[str, Any] = {"method": draw.choice(methods[:2] if draw.random() < 0.8 else methods), "rtol": draw.choice([1e-5, 1e-8])}
    maybe = {
        "outputs": [0.1, np.array([0.3, 0.31, 0.7])], "atol": [1e-9, 1e-6], "max_step": [0.05, 0.2], "first_step": [1e-3], "dense": [False],
        "event_rows": [True, False], "events": ["proved"], "max_steps": [5000], "progress": [lambda now: None],
    }  # fmt: skip
    options |= {name: draw.choice(choices) for name, choices in maybe.items() if draw.random() < 0.2}
    options["parameters"] = {name: draw.uniform(0.3, 0.9) for name in parameters if draw.random() < 0.7}
    if parameters and draw.random() < 0.3:
        options["sensitivities"] = list(parameters)
    return (start, start + draw.choice([0.8, 2.0])), options


def facts(model: Any, span: tuple[float, float], options: dict[str, Any]) -> dict[str, Any]:
    """Everything that a run tells, but for how long it took."""
    try:
        result, failure = tg.simulate(model, span, **options), None
    except tg.RunError as error:
        result, failure = error.result, str(error)
    except tg.UsageError as error:
        return {"refused": str(error)}
    assert result is not None
    times = np.linspace(*span, 17)
    return {
        "failure": failure, "t": result.t.tobytes(), "values": result.values.tobytes(), "status": result.status,
        "slopes": None if result.sensitivities is None else result.sensitivities.tobytes(),
        "events": [(event.time, event.kind, event.cause, dict(event.before), dict(event.after)) for event in result.events],
        "between": None if failure or not options.get("dense", True) else repr(result.at(times)),
        "costs": {name: value for name, value in result.statistics.to_dict().items() if "seconds" not in name},
    }  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_calls_one_behind_the_other_are_those_of_memory_of_their_own(name: str, seed: int) -> None:
    draw = random.Random(f"{name} {seed}")
    model, parameters, methods = MODELS[name]
    calls = [call(draw, parameters, methods) for _ in range(N_CALLS)]
    calls = [draw.choice(calls) for _ in range(2 * N_CALLS)]
    spare_memory._spare.clear()
    after_others = [facts(model, *one) for one in calls]
    for one, found in zip(calls, after_others, strict=True):
        spare_memory._spare.clear()
        assert facts(model, *one) == found


def test_memory_is_taken_up_by_another_run_of_the_model_and_by_no_other_kind() -> None:
    model, _, _ = MODELS["decay"]
    spare_memory._spare.clear()
    tg.simulate(model, (0.0, 1.0))
    (first,) = (spare.integrator for spare in spare_memory._spare)
    tg.simulate(model, (0.5, 3.0), parameters={"k": 1.0}, max_step=0.1, atol=1e-7)
    assert [spare.integrator for spare in spare_memory._spare] == [first]
    tg.simulate(model, (0.0, 1.0), rtol=1e-9)
    tg.simulate(model, (0.0, 1.0), sensitivities="all")
    assert len(spare_memory._spare) == 3


def test_memory_put_away_keeps_no_model_alive_and_there_is_little_of_it() -> None:
    held = []
    for k in range(20):
        model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0 + k}, p={"k": 2.0})
        tg.simulate(model, (0.0, 1.0))
        held.append(weakref.ref(compiled_of(model)))
    del model
    gc.collect()
    assert [one() for one in held] == [None] * 20
    assert len(spare_memory._spare) <= spare_memory._MOST


def test_threads_that_simulate_one_model_do_not_share_its_memory() -> None:
    model, _, _ = MODELS["forced"]
    values = np.linspace(0.3, 1.2, 60).tolist()
    wanted = [tg.simulate(model, (0.0, 2.0), parameters={"a": value}, rtol=1e-8).values for value in values]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda value: tg.simulate(model, (0.0, 2.0), parameters={"a": value}, rtol=1e-8).values, values))
    assert all(np.array_equal(one, other) for one, other in zip(wanted, found, strict=True))


def test_a_run_that_failed_leaves_memory_that_is_as_good_as_new() -> None:
    def blows_up(t: Any, y: Any, p: Any) -> Any:
        return [y["x"] ** 2 * p["k"]]

    model = tg.ode(blows_up, y0={"x": 1.0}, p={"k": 0.5})
    spare_memory._spare.clear()
    wanted = tg.simulate(model, (0.0, 1.5)).values
    for _ in range(3):
        with pytest.raises(tg.RunError):
            tg.simulate(model, (0.0, 1.5), parameters={"k": 1.0})
        assert np.array_equal(tg.simulate(model, (0.0, 1.5)).values, wanted)


def test_a_sweep_leaves_its_memory_to_the_next() -> None:
    model, _, _ = MODELS["decay"]
    spare_memory._spare.clear()
    values = np.linspace(0.5, 2.0, 50)
    first = tg.sweep(model, (0.0, 1.0), {"k": values}, workers=1)
    (kept,) = (spare.integrator for spare in spare_memory._spare)
    again = tg.sweep(model, (0.0, 1.0), {"k": values[::-1]}, workers=1)
    assert [spare.integrator for spare in spare_memory._spare] == [kept]
    assert np.array_equal(first["x"].to_numpy(), again["x"].to_numpy()[::-1])
