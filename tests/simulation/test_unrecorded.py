"""A simulation that keeps nothing goes through the same numbers and the same events, to the last bit, as one that keeps everything."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from random_models import random_model
from simulation_models import BALL, LINE


def exchanged(source: Any, seed: int, t_end: float, **options: Any) -> tuple[list[Any], tg.Simulation]:
    """What is read, and which events are told, of exchanges at random times."""
    draw, seen = random.Random(seed), list[Any]()
    simulation = tg.Simulation(source, **options)
    parameters = list(simulation.parameters)
    ends = sorted(draw.uniform(0.0, t_end) for _ in range(12))
    try:
        for end in ends:
            part = simulation.advance(end)
            seen.append([(event.time, event.kind, event.causes, event.before, event.after) for event in part.events])
            seen.append([np.asarray(simulation[name], dtype=float).tobytes() for name in simulation])
            seen.append((part.t.tobytes(), part.values.tobytes(), part.status))
            for name in parameters:
                value = simulation[name]
                if draw.random() < 0.4 and isinstance(value, float):
                    simulation[name] = value * draw.uniform(0.9, 1.1)
                    seen.append([np.asarray(simulation[each], dtype=float).tobytes() for each in simulation])
    except tg.TidegateError as error:
        seen.append(str(error))
    return seen, simulation


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "taylor"])
@pytest.mark.parametrize("seed", [1, 5, 11])
def test_exchanges_give_the_same_with_and_without_a_record(seed: int, method: str) -> None:
    model = random_model(seed)
    kept, whole = exchanged(model.source, seed, model.t_end, method=method)
    let_go, last = exchanged(model.source, seed, model.t_end, method=method, record=False)
    assert kept == let_go
    assert len(whole.result.events) > len(last.result.events)
    assert len(whole.result.t) > len(last.result.t)


def test_the_result_is_what_is_new_and_has_its_events() -> None:
    simulation = tg.Simulation(BALL, record=False, rtol=1e-8)
    told = [event.time for end in np.arange(0.1, 2.05, 0.1) for event in simulation.advance(end).events if "bounce" in event.causes]
    assert told == [event.time for event in tg.simulate(BALL, (0.0, 2.0), rtol=1e-8).events if "bounce" in event.causes]
    assert simulation.result.t[0] >= 1.89
    assert simulation.result.t[-1] == pytest.approx(2.0)
    simulation["v"] = 1.0
    assert [event.kind for event in simulation.result.events] == ["set"]
    assert simulation.finish().status == "finished"


def test_a_copy_and_a_file_go_on_without_a_record(tmp_path: Any) -> None:
    simulation = tg.Simulation(LINE, record=False)
    simulation.advance(1.0)
    path = simulation.save(tmp_path / "line.sim")
    for other in (tg.Simulation.load(path, LINE), tg.Simulation.load(path, LINE, record=False)):
        other.advance(2.0)
        other.advance(3.0)
        assert other.result.t[0] >= 2.0
    kept = tg.Simulation.load(path, LINE, record=True)
    kept.advance(2.0)
    kept.advance(3.0)
    assert kept.result.t[0] <= 1.0


def test_a_record_is_wanted_or_not() -> None:
    with pytest.raises(tg.UsageError, match="record must be True or False"):
        tg.Simulation(LINE, record="no")  # pyright: ignore[reportArgumentType]
    with pytest.raises(tg.UsageError, match="no option 'record'") as told:
        tg.simulate(LINE, (0.0, 1.0), record=False)
    assert "tg.Simulation(model, record=False)" in str(told.value)
