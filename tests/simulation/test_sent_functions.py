"""Functions that are sent by value, which cloudpickle does without the name of their file, know it again where they arrive."""

from __future__ import annotations

import pickle
from typing import Any

import cloudpickle
import pytest

import tidegate as tg

HERE = "test_sent_functions.py"


def sent(thing: Any) -> Any:
    """The same as another process sees it: what is defined in a function goes by value."""
    return pickle.loads(cloudpickle.dumps(thing))


def ode(is_wrong: bool) -> Any:
    def helper(x: Any) -> Any:
        return 1.0 if x > 0.25 else 0.0

    def right(t: Any, y: Any) -> Any:
        return [(-2.0 if y["x"] > 0.5 else -1.0) * helper(y["x"])]

    clause = tg.event(lambda t, y: y["x"] < 0.4, reset=lambda t, y: {"x": y["x"] + 0.0})
    return tg.ode((lambda t, y: [-y["xx"]]) if is_wrong else right, y0={"x": 1.0}, events=clause)


def component(is_wrong: bool) -> Any:
    class Tank(tg.Component):
        level = tg.State(1.0)

        @tg.when(lambda self: self.level < 0.5)
        def half(self) -> None:
            tg.message("half is left")

    class Leak(Tank):
        def equations(self) -> Any:
            yield tg.der(self.level) == -(self.levl if is_wrong else self.level)

    return Leak()


@pytest.mark.parametrize("make", [ode, component])
def test_events_and_errors_name_the_users_file_and_line_where_they_arrive(make: Any) -> None:
    here, there = (tg.simulate(model, (0, 1)) for model in (make(False), sent(make(False))))
    assert list(there.events) == list(here.events)
    assert len(here.events) >= 1
    assert all(origin.file.endswith(HERE) and origin.text for event in there.events for origin in event.origins)
    with pytest.raises(tg.TidegateError, match=rf"at \S*{HERE}:\d+: (self\.levl|y\[\"xx\"\])"):
        tg.simulate(sent(make(True)), (0, 1))


def test_what_has_arrived_can_be_sent_on() -> None:
    events = tg.simulate(sent(sent(component(False))), (0, 1)).events
    assert all(origin.file.endswith(HERE) for event in events for origin in event.origins)
