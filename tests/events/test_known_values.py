"""What is known of guards is what would be worked out anew: runs that keep it are those that do not, to the last bit."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tidegate as tg

__all__: list[str] = []


def _ball() -> tuple[Any, float]:
    bounce = tg.event(lambda t, y, p: y["h"] < 0.0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]})
    return tg.ode(lambda t, y, p: {"h": y["v"], "v": -p["g"]}, {"h": 1.0, "v": 0.0}, p={"g": 9.81, "e": 0.8}, events=bounce), 2.5


def _legs() -> tuple[Any, float]:
    """Each leg has its own rates, and its own end, which may lie where another has just been."""

    def rates(t: Any, y: Any, d: Any) -> dict[str, Any]:
        return {"x": 1.0 - 0.4 * d["leg"] - y["x"] * d["leg"], "v": y["x"] - y["v"]}

    ends = tg.event(lambda t, y, d: y["x"] * y["x"] + 0.3 * y["v"] - 0.2 * d["leg"] > 0.1, reset=lambda t, y, d: {"leg": (d["leg"] + 1.0) % 4.0})
    starts = tg.event(lambda t, y, d: y["v"] - 0.1 * d["leg"] < 0.05, reset=lambda t, y, d: {"x": y["x"] + 0.3})
    return tg.ode(rates, {"x": 0.0, "v": 0.2}, discrete={"leg": 0.0}, events=[ends, starts]), 10.0


def _at_ticks() -> tuple[Any, float]:
    """A relation of time that crosses where a clock ticks, and one that the tick moves."""
    tick = tg.event(every=0.25, reset=lambda t, y, d: {"n": d["n"] + 1.0, "x": 0.5 * y["x"]})
    late = tg.event(lambda t, y, d: t >= 0.5, reset=lambda t, y, d: {"n": d["n"] + 100.0})
    high = tg.event(lambda t, y, d: y["x"] ** 3 - 0.1 * d["n"] * y["x"] > 0.02, reset=lambda t, y, d: {"x": y["x"] - 0.2})
    return tg.ode(lambda t, y, d: {"x": 1.0 + 0.01 * d["n"]}, {"x": 0.0}, discrete={"n": 0.0}, events=[tick, late, high]), 3.0


def _drawn(seed: int) -> tuple[Any, float]:
    """Levels that states oscillate through, and resets, drawn at random."""
    rng = random.Random(seed)
    w, events = rng.uniform(1.0, 5.0), []
    for k in range(rng.randint(1, 4)):
        a, b, c, level, kick = rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-0.5, 0.5), rng.uniform(-0.8, 0.8), rng.uniform(-0.2, 0.2)
        own = {"x": (lambda y, kick=kick: y["x"] + kick), "v": (lambda y, kick=kick: (1.0 - kick) * y["v"])}[rng.choice("xv")]
        name = rng.choice("xv")
        events.append(
            tg.event(
                lambda t, y, d, a=a, b=b, c=c, level=level: a * y["x"] + b * y["v"] + c * y["x"] * y["v"] + 0.1 * d["n"] > level,
                reset=lambda t, y, d, own=own, name=name: {name: own(y), "n": (d["n"] + 1.0) % 3.0},
                name=f"level {k}",
            )
        )
    rates = lambda t, y, d: {"x": y["v"], "v": -w * w * y["x"] - 0.1 * y["v"] + 0.3 * d["n"]}  # noqa: E731
    return tg.ode(rates, {"x": rng.uniform(-1, 1), "v": rng.uniform(-2, 2)}, discrete={"n": 0.0}, events=events), 8.0


MODELS = {"ball": _ball, "legs": _legs, "at ticks": _at_ticks, **{f"drawn {seed}": (lambda seed=seed: _drawn(seed)) for seed in range(8)}}


def _outcome(name: str, method: str, *, keeps: bool) -> Any:
    model, end = MODELS[name]()
    run = tg.prepare(model, (0.0, end), method=method, rtol=1e-8)
    compiled = run.problem.model
    assert not compiled.reads_modes
    assert not compiled.reads_previous
    object.__setattr__(compiled, "reads_previous", not keeps)
    try:
        result = run.run()
    except tg.RunError as error:
        return str(error), error.result.values.tobytes() if error.result is not None else None
    finally:
        object.__setattr__(compiled, "reads_previous", False)
    assert len(result.events) > 2 or name.startswith("drawn")
    return result.t.tobytes(), result.values.tobytes(), [(event.time, event.cause) for event in result.events]


@pytest.mark.parametrize("method", ["taylor", "radau"])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_makes_no_difference(name: str, method: str) -> None:
    assert _outcome(name, method, keeps=True) == _outcome(name, method, keeps=False)
