"""What relations only seem to say in the midst of an event, before the values that clauses give at it are known, is never so.

Random chains of "track and hold": each signal is a line as long as another one is above a level, and what it was then afterwards. The truth comes
from adding up lines with the signals as they are at every instant, and shares nothing with a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from source_text_checks import differences, exported

__all__: list[str] = []

METHODS = ("taylor", "radau", "rodas5p", "bdf", "adams", "ida", "euler", "rke")
END = 4.0


def shown(y: Any, d: Any) -> Any:
    return y["s"] if y["x"] > 0 else d["held"]


ASKS = {"rises": lambda t, y, d: shown(y, d) > 0, "falls": lambda t, y, d: not shown(y, d) > 0}


def holding(condition: Any) -> Any:
    """What is shown is -0.874 all the time: it is held when x has come to zero."""
    return tg.ode(
        lambda t, y, d: [-1.0, 0.0],
        y0={"x": 0.5, "s": -0.874},
        discrete={"held": 0.253, "n": 0.0},
        events=[
            tg.event(lambda t, y, d: y["x"] <= 0, reset=lambda t, y, d: {"held": y["s"]}),
            tg.event(condition, reset=lambda t, y, d: {"n": d["n"] + 1}),
        ],
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ask", ASKS)
def test_a_value_that_is_taken_over_at_an_event_is_not_seen_as_it_was_before(ask: str, method: str) -> None:
    options: dict[str, Any] = {"max_step": 0.01} if method == "euler" else {}
    result = tg.simulate(holding(ASKS[ask]), (0, 1), method=method, **options)
    assert result.final["n"] == 0.0
    assert [event.causes[0] for event in result.events] == ["event 1"]
    if method == "radau":
        assert tg.verify(result).ok


@pytest.mark.parametrize("method", ["taylor", "radau"])
def test_nor_is_it_in_a_later_round_of_the_event(method: str) -> None:
    def shown(y: Any, d: Any) -> Any:
        return y["s"] if d["runs"] > 0.5 else d["held"]

    for condition in (lambda t, y, d: shown(y, d) > 0, lambda t, y, d: not shown(y, d) > 0):
        model = tg.ode(
            lambda t, y, d: [0.0],
            y0={"s": -0.874},
            discrete={"held": 0.253, "runs": 1.0, "n": 0.0},
            events=[
                tg.event(at=0.5, reset=lambda t, y, d: {"runs": 0.0}),
                tg.event(lambda t, y, d: d["runs"] < 0.5, reset=lambda t, y, d: {"held": y["s"]}),
                tg.event(condition, reset=lambda t, y, d: {"n": d["n"] + 1}),
            ],
        )
        assert tg.simulate(model, (0, 1), method=method).final["n"] == 0.0


def test_a_counter_that_one_clause_sets_back_has_come_to_its_number_for_the_others() -> None:
    """Relations that looked at the counter before have changed, whatever a clause makes of it at once."""
    model = tg.ode(
        lambda t, y, d: [0.0],
        y0={"x": 0.5},
        discrete={"k": 0.0, "n": 0.0, "m": 0.0},
        events=[
            tg.event(every=1.0, start=1.0, reset=lambda t, y, d: {"k": d["k"] + 1}),
            tg.event(lambda t, y, d: y["x"] + d["k"] > 3, reset=lambda t, y, d: {"k": 0.0, "n": d["n"] + 1}),
            tg.event(lambda t, y, d: y["x"] + d["k"] > 2.9, reset=lambda t, y, d: {"m": d["m"] + 1}),
        ],
    )
    final = tg.simulate(model, (0, 10)).final
    assert (final["n"], final["m"]) == (3.0, 3.0)


def test_a_state_that_is_set_at_an_event_was_there_for_the_others() -> None:
    """States jump at the end of a round: what is true before that has happened."""
    model = tg.ode(
        lambda t, y, d: [1.0, 0.0],
        y0={"x": 0.0, "v": 0.0},
        discrete={"n": 0.0},
        events=[
            tg.event(lambda t, y, d: y["x"] > 1, reset=lambda t, y, d: {"v": 5.0}),
            tg.event(lambda t, y, d: y["v"] > 3, reset=lambda t, y, d: {"v": 0.0}),
            tg.event(lambda t, y, d: y["v"] > 2, reset=lambda t, y, d: {"n": d["n"] + 1}),
        ],
    )
    assert tg.simulate(model, (0, 2)).final["n"] == 1.0


class Held(tg.Component):
    x, s = tg.State(0.5), tg.State(-0.874)
    held, n = tg.Discrete(0.253), tg.Discrete(0)
    out = tg.Algebraic(start=0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == -1.0
        yield tg.der(self.s) == 0.0
        yield self.out == (self.s if self.x > 0 else self.held)

    @tg.when(lambda self: self.x <= 0)
    def hold(self) -> Any:
        return {self.held: self.s}

    @tg.when(lambda self: self.out > 0)
    def seen(self) -> Any:
        return {self.n: self.n + 1}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "fortran"])
def test_exported_blocks_do_not_see_it_either(language: str, tmp_path: Path) -> None:
    block, names = exported(Held(), "held", tmp_path, language)
    assert differences(Held(), (0.0, 1.0), block, names) == []
    assert tg.simulate(Held(), (0.0, 1.0)).final["n"] == 0.0


class Counted(tg.Component):
    """What asks for a counter through a system of equations has seen what becomes of it."""

    x, k = tg.State(0.5), tg.Discrete(0.0)
    n, m = tg.Discrete(0), tg.Discrete(0)
    w = tg.Algebraic(start=0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 0.0
        yield self.w + 0.01 * self.w**3 == self.x + self.k

    @tg.every(1.0, start=1.0)
    def tick(self) -> Any:
        return {self.k: self.k + 1}

    @tg.when(lambda self: self.w > 2.9)
    def full(self) -> Any:
        return {self.k: 0.0, self.n: self.n + 1}

    @tg.when(lambda self: self.w > 2.8)
    def nearly(self) -> Any:
        return {self.m: self.m + 1}


class Woken(tg.Component):
    """A clause that asks for a relation does not make it true by what it would do."""

    x, q = tg.State(0.0), tg.State(-0.57)
    is_on, held, k = tg.Discrete(False), tg.Discrete(0.0), tg.Discrete(0)
    out = tg.Output(lambda self: self.q + self.k if self.is_on else self.held)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0
        yield tg.der(self.q) == -0.1

    @tg.when(lambda self: self.x > 0.5)
    def wake(self) -> Any:
        return {self.is_on: True}

    @tg.when(lambda self: (self.out > -0.5) & self.is_on)
    def count(self) -> Any:
        return {self.k: self.k + 1}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["", "c", "fortran"])
def test_what_has_changed_stays_so_for_others_and_for_who_asks(language: str, tmp_path: Path) -> None:
    for model, end, wanted in ((Counted(), 10.0, {"n": 3.0, "m": 3.0}), (Woken(), 1.0, {"k": 0.0})):
        if language:
            block, names = exported(model, type(model).__name__.lower(), tmp_path, language)
            assert differences(model, (0.0, end), block, names) == []
        else:
            final = tg.simulate(model, (0.0, end)).final
            assert {name: final[name] for name in wanted} == wanted


class Chain:
    """Signals of which each is a line while the one before is above its level, and held afterwards.

    Parameters
    ----------
    seed : of everything.
    """

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.n = int(random.integers(2, 5))
        self.start, self.slope = random.uniform(-2, 2, self.n + 1), random.uniform(-2, 2, self.n + 1)
        self.level, self.held = random.uniform(-1, 1, self.n), random.uniform(-1, 1, self.n)

    def lines(self, t: float) -> np.ndarray:
        return self.start + self.slope * t

    def signals(self, t: float, held: np.ndarray) -> np.ndarray:
        """All signals, the first of which is a line."""
        lines = self.lines(t)
        found = [lines[0]]
        for k in range(self.n):
            found.append(lines[k + 1] if found[k] > self.level[k] else held[k])
        return np.array(found)

    def truth(self) -> tuple[np.ndarray, np.ndarray] | None:
        """What is shown at the end, and how often each came above its level; None where two things happen almost at once."""
        t, held, counts = 0.0, self.held.copy(), np.zeros(self.n)
        is_above = self.signals(0.0, held)[:-1] > self.level
        while True:
            # until one of the lines that are shown crosses its level
            shown = [True, *is_above]
            times = [(self.level[k] - self.start[k]) / self.slope[k] if shown[k] else np.inf for k in range(self.n)]
            times = [time if time > t + 1e-12 else np.inf for time in times]
            first = int(np.argmin(times))
            if times[first] >= END:
                return self.signals(END, held), counts
            if sorted(times)[1] - times[first] < 1e-3 or times[first] - t < 1e-3:
                return None
            t = times[first]
            rises = self.slope[first] > 0
            lines = self.lines(t)
            new = is_above.copy()
            new[first] = rises
            value = lines[first + 1]
            for k in range(first, self.n):
                if k > first:
                    new[k] = value > self.level[k]
                    if abs(value - self.level[k]) < 1e-3:
                        return None
                if is_above[k] and not new[k]:
                    held[k] = lines[k + 1]
                value = lines[k + 1] if new[k] else held[k]
            counts += new & ~is_above
            is_above = new

    def model(self) -> Any:
        n = self.n

        def signals(y: Any, d: Any) -> list[Any]:
            found = [y[0]]
            for k in range(n):
                found.append(y[k + 1] if found[k] > self.level[k] else d["held"][k])
            return found

        def one(k: int) -> list[Any]:
            return [
                tg.event(lambda t, y, d: not signals(y, d)[k] > self.level[k], reset=lambda t, y, d: {f"held[{k}]": y[k + 1]}),
                tg.event(lambda t, y, d: signals(y, d)[k] > self.level[k], reset=lambda t, y, d: {f"count[{k}]": d["count"][k] + 1}),
            ]

        return tg.ode(
            lambda t, y, d: self.slope,
            y0=self.start,
            discrete={"held": self.held, "count": np.zeros(n)},
            events=[event for k in range(n) for event in one(k)],
            outputs=lambda t, y, d: {"shown": signals(y, d)[-1]},
        )


def check(seed: int, method: str) -> bool:
    chain = Chain(seed)
    known = chain.truth()
    if known is None:
        return False
    result = tg.simulate(chain.model(), (0.0, END), method=method, rtol=1e-9)
    final = result.final
    assert [final[f"count[{k}]"] for k in range(chain.n)] == known[1].tolist()
    assert final["shown"] == pytest.approx(known[0][-1], abs=1e-6)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "radau"])
def test_random_chains_of_held_signals_count_what_is_so(method: str) -> None:
    assert sum(check(seed, method) for seed in range(25)) > 15
