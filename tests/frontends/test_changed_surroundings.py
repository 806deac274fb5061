"""What functions look at of their surroundings, in eighty ways, and what changes there: the next run is of what there is then."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import tidegate as tg
from changed_surroundings import WAYS, Way, looked_at

__all__: list[str] = []

each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.look}, {way.change}")


@each_way
@pytest.mark.parametrize("has_source", [True, False], ids=["followed", "without source"])
def test_a_function_is_followed_anew_where_what_it_looked_at_has_changed(way: Way, has_source: bool) -> None:
    look, change = looked_at(way, has_source=has_source)
    model = tg.ode(lambda t, y: [look(y[0])], y0=[0.0])
    before = look(0.0)
    first = tg.simulate(model, (0, 1)).final["y[0]"]
    change()
    assert look(0.0) != before  # else nothing is tested
    second = tg.simulate(model, (0, 1)).final["y[0]"]
    assert [first, second] == pytest.approx([before, look(0.0)], rel=1e-9)


@each_way
def test_what_a_process_changes_is_seen_by_what_flows(way: Way) -> None:
    look, change = looked_at(way, has_source=True)
    env = tg.Environment()
    tank = env.variable(0.0, name="tank")
    tg.Group(tank, env.continuous(lambda: setattr(tank, "rate", look(0.0)))).start()
    before = look(0.0)

    def process() -> Generator[Any, Any, Any]:
        yield env.timeout(0.5)
        change()

    env.process(process())
    env.run(until=1)
    assert tank.state == pytest.approx(0.5 * (before + look(0.0)), rel=1e-9)


def test_a_process_that_is_over_is_seen_by_what_flows() -> None:
    """It has returned None, which is not what it was before: nothing."""
    env = tg.Environment()
    tank = env.variable(0.0, name="tank")
    working: list[Any] = []
    tg.Group(tank, env.continuous(lambda: setattr(tank, "rate", sum(1 for one in working if one.is_alive)))).start()

    def work(time: float) -> Generator[Any, Any, Any]:
        yield env.timeout(time)

    working += [env.process(work(time)) for time in (0.5, 1.0, 1.5)]
    env.run(until=2)
    assert tank.state == pytest.approx(3.0, rel=1e-9)


def test_objects_that_are_not_looked_into_may_change_without_following_anew() -> None:
    """A list of the user's objects is counted: what they hold is of no interest."""

    class Part:
        def __init__(self) -> None:
            self.k = 1.0

        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = object.__hash__

    parts = [Part(), Part()]
    model = tg.ode(lambda t, y: [len(parts) - y[0]], y0=[0.0])
    kept = model.lower()
    parts[0].k = 2.0
    assert model.lower() is kept
    parts.append(Part())
    assert model.lower() is not kept


@pytest.mark.parametrize("name", ["real", "sqrt", "nothing"])
def test_what_a_variable_has_as_a_number_does_not_change(name: str) -> None:
    model = tg.ode(lambda t, y: [1.0 if hasattr(y[0], name) else 2.0], y0=[0.0])
    assert model.lower() is model.lower()
