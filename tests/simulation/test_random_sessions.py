"""Random runs under the user's hand, in random pieces with random changes, slips, copies and files, against a walk in closed form."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from random_sessions import DoubtfulError, Hand, component, random_model

__all__: list[str] = []

METHODS = ("auto", "taylor", "radau", "rodas5p", "bdf", "adams")
SHIFT = 1e-5  # of a parameter, for differences


def seeds(quick: int, count: int) -> list[Any]:
    return [*range(quick), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(quick, count))]


def changes(draw: random.Random, hand: Hand) -> dict[str, float]:
    """New values of one to three quantities."""
    n = len(hand.x)
    names = [*(f"{letter}{i}" for letter in "xkb" for i in range(n)), *(f"d{i}" for i in range(n + 1)), "u"]
    return {name: round(draw.uniform(0.3, 3.0) if name[0] == "k" else draw.uniform(-2.0, 2.0), 3) for name in draw.sample(names, draw.randint(1, 3))}


def goal(draw: random.Random, hand: Hand) -> float:
    """A time to advance to: far, near, none, or the next tick."""
    return draw.choice([hand.time + round(draw.uniform(0.0, 2.0), 3), hand.time + round(draw.uniform(0.0, 0.3), 4), hand.time, hand.next_tick()])


def another(draw: random.Random, simulation: tg.Simulation, model: Any, folder: Path) -> tg.Simulation:
    """One that stands at the same point."""
    how = draw.randrange(3)
    if how == 2:
        simulation.save(folder / "run")
        return tg.Simulation.load(folder / "run", model)
    return copy.copy(simulation) if how == 0 else copy.deepcopy(simulation)


def slip(draw: random.Random, simulation: tg.Simulation) -> None:
    """What is refused changes nothing."""
    wrong = draw.choice([{"b0": 1.25, "nope": 2.0}, {"x0": float("nan")}, {"k0": [1.0, 2.0]}])
    with pytest.raises(tg.UsageError):
        simulation.set(wrong)
    if simulation.time > 0.0:
        with pytest.raises(tg.UsageError):
            simulation.advance(0.5 * simulation.time)


def require_same(simulation: tg.Simulation, hand: Hand) -> None:
    assert simulation.time == hand.time
    for name, value in hand.values().items():
        allowed = 1e-6 * (1.0 + abs(value)) if name[0] == "x" else 1e-12  # of runs at 1e-9, over some twenty events
        assert float(simulation[name]) == pytest.approx(value, abs=allowed), name


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(25, 130))
def test_whatever_is_done_to_a_run_it_stands_where_it_must(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    plan = random_model(draw)
    model, hand = component(plan), Hand(plan)
    records = draw.random() < 0.8
    simulation = tg.Simulation(model, record=records, rtol=1e-9, atol=1e-11, method=draw.choice(METHODS))
    try:
        for _ in range(draw.randint(4, 12)):
            what = draw.random()
            if what < 0.5:
                until = goal(draw, hand)
                hand.advance(until)
                simulation.advance(until, **({"method": draw.choice(METHODS)} if draw.random() < 0.2 else {}))
            elif what < 0.8:
                new = changes(draw, hand)
                hand.set(new)
                simulation.set(new)
            elif what < 0.9:
                other = another(draw, simulation, model, tmp_path)
                simulation, other = (other, simulation) if draw.random() < 0.5 else (simulation, other)
                other["b0"] = 0.3
                other.advance(hand.time + 0.7)  # it goes on by itself
            else:
                slip(draw, simulation)
            require_same(simulation, hand)
    except DoubtfulError:
        return
    if records and hand.time > 0.0:
        for time in (draw.uniform(0.0, hand.time) for _ in range(8)):
            if all(abs(time - since) > 1e-6 for since, _ in hand.pieces):
                for i, value in enumerate(hand.at(time)):
                    assert float(simulation.result.at(time, f"x{i}")) == pytest.approx(value, abs=1e-6 * (1.0 + abs(value)))


@pytest.mark.parametrize("seed", seeds(10, 60))
def test_derivatives_go_through_what_the_user_sets(seed: int) -> None:
    """A parameter that is set is shifted before and behind alike; what else is set depends on nothing any more."""
    draw = random.Random(seed)
    plan = random_model(draw)
    name = draw.choice([f"{letter}{i}" for letter in "kb" for i in range(len(plan.starts))])
    simulation = tg.Simulation(component(plan), sensitivities=[name], rtol=1e-9, atol=1e-11, method=draw.choice(METHODS))
    hands, signs = [Hand(plan) for _ in range(3)], (0.0, SHIFT, -SHIFT)

    def shift() -> None:
        for hand, sign in zip(hands, signs, strict=True):
            getattr(hand, name[0])[int(name[1:])] += sign

    shift()
    try:
        for _ in range(draw.randint(3, 9)):
            if draw.random() < 0.3:
                new = changes(draw, hands[0])
                simulation.set(new)
                for hand in hands:
                    hand.set(new)
                if name in new:
                    shift()
                continue
            until = hands[0].time + round(draw.uniform(0.01, 2.0), 3)
            for hand in hands:
                hand.advance(until)
            new_rows = simulation.advance(until)
            if any(hand.n != hands[0].n for hand in hands):
                return  # an event on one side only: there is no difference to compare with
            if any(0.0 < until - since < 1e-3 for since, _ in hands[0].pieces):
                continue
            for i in range(len(plan.starts)):
                expected = (hands[1].x[i] - hands[2].x[i]) / (2.0 * SHIFT)
                assert float(new_rows.sensitivity(f"x{i}", name)[-1]) == pytest.approx(expected, abs=2e-4 * (1.0 + abs(expected)))
    except DoubtfulError:
        return
