"""What the body of an event does not name keeps its value, whatever branch it is in and however its answer is put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg

UP = [(0.5, 1.0, 7.0), (1.5, 1.0, 8.0), (2.5, 2.0, 8.0)]  # after the ticks: time, u, n


def by_returns(t: Any, y: Any, d: Any) -> Any:
    if y["x"] > 2.0:
        return {"u": 2.0}
    if y["x"] > 1.0:
        return {"n": d["n"] + 1}
    return {"u": 1.0, "n": 7.0}


def by_keys(t: Any, y: Any, d: Any) -> Any:
    new = {}
    if y["x"] <= 1.0:
        new["u"] = 1.0
        new["n"] = 7.0
    elif y["x"] <= 2.0:
        new["n"] = d["n"] + 1
    if y["x"] > 2.0:
        new["u"] = 2.0
    return new


def by_update(t: Any, y: Any, d: Any) -> Any:
    new = {"u": 1.0} if y["x"] <= 1.0 else {}
    if y["x"] <= 1.0:
        new.update(n=7.0)
        return new
    if y["x"] <= 2.0:
        new |= {"n": d["n"] + 1}
    else:
        new = {**new, "u": 2.0}
    return new


def first_part(y: Any) -> Any:
    if y["x"] <= 1.0:
        return {"u": 1.0, "n": 6.0}
    return {}


def by_parts(t: Any, y: Any, d: Any) -> Any:
    new = first_part(y)
    more = {"n": 7.0} if y["x"] <= 1.0 else {"n": d["n"] + 1} if y["x"] <= 2.0 else {"u": 2.0}
    return new | more


by_one_expression = lambda t, y, d: {"u": 1.0, "n": 7.0} if y["x"] <= 1.0 else {"n": d["n"] + 1} if y["x"] <= 2.0 else {"u": 2.0}  # noqa: E731


def by_leaving(t: Any, y: Any, d: Any) -> Any:
    new = {"n": 7.0}
    if y["x"] > 2.0:
        new.clear()
        return {"u": 2.0}
    if y["x"] > 1.0:
        new["n"] = d["n"] + 1
        return new
    new["u"] = 1.0
    return new


@pytest.mark.parametrize("reset", [by_returns, by_keys, by_update, by_parts, by_one_expression, by_leaving])
def test_resets_of_functions_name_what_they_change(reset: Callable[..., Any]) -> None:
    model = tg.ode(
        lambda t, y, d: [1.0],
        y0={"x": 0.0},
        discrete={"u": 0.0, "n": 0.0},
        events=tg.event(every=1.0, start=0.5, reset=reset),
    )
    result = tg.simulate(model, (0.0, 3.0))
    assert [(event.time, event.after["u"], event.after["n"]) for event in result.events] == UP


def test_a_reset_that_does_nothing_in_one_case_returns_nothing() -> None:
    def reset(t: Any, y: Any, d: Any) -> Any:
        if y["x"] > 1.0:
            return {"n": d["n"] + 1}
        return None

    model = tg.ode(lambda t, y, d: [1.0], y0={"x": 0.0}, discrete={"n": 0.0}, events=tg.event(every=0.5, start=0.25, reset=reset))
    assert tg.simulate(model, (0.0, 2.5)).final["n"] == 3.0  # at 1.25, 1.75, 2.25


def test_a_reset_may_give_all_states_or_some_by_name_or_place() -> None:
    def reset(t: Any, y: Any) -> Any:
        if t > 2.0:
            return [5.0, *y["v"]]
        if t > 1.0:
            return {"v[1]": 4.0}
        return {0: -1.0, "v": 2.0}

    model = tg.ode(lambda t, y: np.zeros(3), y0={"x": 0.0, "v": [0.0, 0.0]}, events=tg.event(every=1.0, start=0.5, reset=reset))
    found = [[event.after[name] for name in ("x", "v[0]", "v[1]")] for event in tg.simulate(model, (0.0, 3.0)).events]
    assert found == [[-1.0, 2.0, 2.0], [-1.0, 2.0, 4.0], [5.0, 2.0, 4.0]]


def test_sensitivities_go_through_what_keeps_its_value() -> None:
    def reset(t: Any, y: Any, p: Any, d: Any) -> Any:
        new = {"u": p["k"]}
        if y["x"] > 1.0:
            new["w"] = d["u"] * p["k"]
        return new

    model = tg.ode(
        lambda t, y, p, d: [d["u"]],
        y0={"x": 0.0},
        p={"k": 1.5},
        discrete={"u": 1.0, "w": 0.0},
        events=tg.event(every=1.0, start=0.5, reset=reset),
    )
    result = tg.simulate(model, (0.0, 2.0), rtol=1e-9, sensitivities=["k"])
    assert result.final["w"] == 2.25  # the second tick only: x = 0.5 + 1.5
    assert result.sensitivity("w", "k")[-1] == pytest.approx(3.0, rel=1e-8)
    assert result.sensitivity("x", "k")[-1] == pytest.approx(1.5, rel=1e-8)


class Counter(tg.Component):
    x, u, n = tg.State(0.0), tg.Discrete(0.0), tg.Discrete(0.0)
    z = tg.Discrete([0.0, 0.0])

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0

    def usual(self) -> Any:
        if self.x <= 1.0:
            return {self.u: 1.0, self.n: 6.0}
        return {}

    @tg.every(1.0, start=0.5)
    def tick(self) -> Any:
        new = self.usual()
        if self.x <= 1.0:
            new[self.n] = 7.0
            new[self.z] = [1.0, 2.0]
        elif self.x <= 2.0:
            new.update({self.n: self.n + 1})
            new[self.z[1]] = 3.0
        else:
            new = {**new, self.u: 2.0}
        return new


def test_clauses_of_components_build_up_what_they_return() -> None:
    result = tg.simulate(Counter(), (0.0, 3.0))
    assert [(event.time, event.after["u"], event.after["n"]) for event in result.events] == UP
    assert [result.final[f"z[{k}]"] for k in range(2)] == [1.0, 3.0]


def reset_of(body: Callable[[dict[str, Any], Any], Any]) -> Any:
    def reset(t: Any, y: Any, d: Any) -> Any:
        new = {"u": 1.0}
        if y["x"] > 1.0:
            new["n"] = 2.0
        return body(new, y)

    events = tg.event(every=1.0, reset=reset)
    return tg.ode(lambda t, y, d: [1.0], y0={"x": 0.0}, discrete={"u": 0.0, "n": 0.0}, events=events)


@pytest.mark.parametrize(
    "body",
    [
        lambda new, y: {"u": float(len(new))},
        lambda new, y: {"u": 1.0 if "n" in new else 0.0},
        lambda new, y: {key: 2 * value for key, value in new.items()},
        lambda new, y: {"u": new.get("n", 5.0)},
        lambda new, y: {"u": new["n"]},
        lambda new, y: {"u": sum(new.values())},
        lambda new, y: dict(new),
        lambda new, y: {"u": float(bool(new))},
        lambda new, y: {"u": 1.0 if new == {"u": 1.0} else 0.0},
        lambda new, y: {"u": float(len({**new}))},
        lambda new, y: {"u": float(len(new | {"u": 2.0}))},
        lambda new, y: {"u": float(len([*new]))},
        lambda new, y: max([new, {"u": 3.0}], key=len),
    ],
)
def test_which_keys_there_are_is_not_asked(body: Callable[..., Any]) -> None:
    with pytest.raises(tg.UntraceableError, match=r"a dict was changed differently|'n' is bound only when|in one branch of"):
        tg.simulate(reset_of(body), (0.0, 3.0))


def test_a_reset_that_never_gives_anything_is_refused() -> None:
    with pytest.raises(tg.UsageError, match="the reset of event 1 returns None"):
        tg.simulate(tg.ode(lambda t, y: [1.0], y0=[0.0], events=tg.event(every=1.0, reset=lambda t, y: None)), (0.0, 2.0))


def test_names_in_any_branch_are_looked_at() -> None:
    def reset(t: Any, y: Any) -> Any:
        if t > 1.0:
            return {"speed": 1.0}
        return {"x": 1.0}

    with pytest.raises(tg.UsageError, match="names 'speed', which is not a variable of y"):
        tg.simulate(tg.ode(lambda t, y: [1.0], y0={"x": 0.0}, events=tg.event(every=1.0, reset=reset)), (0.0, 2.0))


def test_messages_under_one_text_are_said_where_one_of_them_is() -> None:
    class Watched(tg.Component):
        x = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

        @tg.every(1.0, start=0.5)
        def look(self) -> Any:
            if self.x < 1.0:
                tg.message("outside")
            if self.x > 2.0:
                tg.message("outside")
            return {}

    assert [event.messages for event in tg.simulate(Watched(), (0.0, 3.0)).events] == [("outside",), (), ("outside",)]


def test_values_in_messages_are_refused_and_not_written_as_names() -> None:
    def reset(t: Any, y: Any) -> Any:
        tg.message(f"at {y['x']:.2f}")

    with pytest.raises(tg.UntraceableError, match=r"tg\.message is given the value of `x` in its text") as caught:
        tg.simulate(tg.ode(lambda t, y: [1.0], y0={"x": 0.0}, events=tg.event(every=1.0, reset=reset)), (0.0, 2.0))
    assert caught.value.origin is not None
    assert "tg.message" in caught.value.origin.text
