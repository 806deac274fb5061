"""Random components of clauses, clocks and resets against a simulator in plain Python, which knows when straight lines cross their thresholds.

States are straight lines between events, whose direction a count's parity decides, so that the truth needs no integration: the next crossing is a
division. The rounds of an event are played as the specification has them: conditions on what there is and what there was before the round before,
bodies on what there is, all together. Thresholds and slopes are odd fractions, so that nothing but clocks coincides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidegate as tg
from engines import METHODS

_END = 4.0
_N = 3
_CHANGES = {"rises": lambda new, old: new > old, "falls": lambda new, old: new < old, "differs": lambda new, old: new != old}


@dataclass(frozen=True)
class Rule:
    """One clause: ``kind`` is above or below (a threshold of a line), clock, or a change of a count; it adds to its target."""

    kind: str
    which: int
    level: float
    target: str
    add: int
    priority: int
    chained: bool = False


@dataclass
class Truth:
    """The same system in plain Python."""

    rules: list[Rule]
    x: list[float]
    k: list[int]
    slopes: list[float]
    t: float = 0.0
    ticks: list[int] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    conflict: float = math.nan

    def slope(self, i: int) -> float:
        return self.slopes[i] * (1.0 if self.k[i] % 2 == 0 else -1.0)

    def holds(self, rule: Rule, before: list[int], side: dict[int, bool], at: int) -> bool:
        if rule.kind in ("above", "below"):
            return side[at]
        return bool(_CHANGES[rule.kind](self.k[rule.which], before[rule.which]))

    def sides(self) -> dict[int, bool]:
        """Truth of every threshold: where the line is, or just crossed."""
        found: dict[int, bool] = {}
        for at, rule in enumerate(self.rules):
            if rule.kind not in ("above", "below"):
                continue
            gap = (self.x[rule.which] - rule.level) * (1.0 if rule.kind == "above" else -1.0)
            if abs(gap) < 1e-9:
                gap = self.slope(rule.which) * (1.0 if rule.kind == "above" else -1.0)
            found[at] = gap > 0
        return found

    def next_time(self) -> tuple[float, list[int]]:
        times: dict[int, float] = {}
        for at, rule in enumerate(self.rules):
            if rule.kind == "clock":
                times[at] = rule.level * self.ticks[at] + rule.level
            elif rule.kind in ("above", "below"):
                slope, gap = self.slope(rule.which), rule.level - self.x[rule.which]
                if abs(gap) > 1e-9 and gap / slope > 0:
                    times[at] = self.t + gap / slope
        first = min(times.values(), default=math.inf)
        return first, [at for at, t in times.items() if t - first < 1e-9]

    def run(self) -> None:
        self.ticks = [0] * len(self.rules)
        truths = {at: self.holds(r, self.k, self.sides(), at) for at, r in enumerate(self.rules) if r.kind != "clock"}
        while True:
            t, due = self.next_time()
            if t > _END:
                for i in range(_N):
                    self.x[i] += self.slope(i) * (_END - self.t)
                return
            for i in range(_N):
                self.x[i] += self.slope(i) * (t - self.t)
            self.t = t
            truths, happened = self.event([at for at in due if self.rules[at].kind == "clock"], truths)
            if happened:
                self.events.append(t)
            if not math.isnan(self.conflict):
                return

    def event(self, clocks: list[int], truths: dict[int, bool]) -> tuple[dict[int, bool], bool]:
        before, happened = list(self.k), bool(clocks)
        for at in clocks:
            self.ticks[at] += 1
        for _ in range(100):
            now = {at: self.holds(r, before, self.sides(), at) for at, r in enumerate(self.rules) if r.kind != "clock"}
            firing: list[int] = []
            taken = False
            for at, rule in enumerate(self.rules):
                if at in now:
                    if not rule.chained:
                        taken = False
                    if now[at] and not truths[at] and not taken:
                        firing.append(at)
                        taken = True
            firing += clocks
            clocks, truths = [], now
            old_k, old_x = list(self.k), list(self.x)
            if not self.carry_out(firing):
                self.conflict = self.t
                return truths, happened
            happened = happened or self.k != old_k or self.x != old_x
            if self.k == old_k and self.x == old_x and before == old_k and not firing:
                return truths, happened
            before = old_k
        raise AssertionError("the truth's event iteration does not converge")

    def carry_out(self, firing: list[int]) -> bool:
        values: dict[str, dict[int, set[float]]] = {}
        for at in firing:
            rule = self.rules[at]
            name, i = rule.target[0], int(rule.target[1])
            new = (self.k[i] + rule.add) if name == "k" else self.x[i] + rule.add * 7 / 11
            values.setdefault(rule.target, {}).setdefault(rule.priority, set()).add(new)
        for target, by_priority in values.items():
            chosen = by_priority[min(by_priority)]
            if len(chosen) > 1:
                return False
            (value,) = chosen
            if target[0] == "k":
                self.k[int(target[1])] = int(value)
            else:
                self.x[int(target[1])] = value
        return True


def component(rules: list[Rule], x: list[float], slopes: list[float]) -> Any:
    def condition(rule: Rule) -> Any:
        if rule.kind == "above":
            return lambda self: self.x[rule.which] > rule.level
        if rule.kind == "below":
            return lambda self: self.x[rule.which] < rule.level
        change = _CHANGES[rule.kind]
        return lambda self: change(self.k[rule.which], tg.pre(self.k[rule.which]))

    def body(rule: Rule) -> Any:
        i, add = int(rule.target[1]), rule.add
        if rule.target[0] == "k":
            return lambda self: {self.k[i]: self.k[i] + add}
        return lambda self: {self.x[i]: self.x[i] + add * 7 / 11}

    class Made(tg.Component):
        x = tg.State(np.array([0.0] * _N))
        k = tg.Discrete(np.zeros(_N))

        def equations(self) -> Any:
            for i in range(_N):
                odd = self.k[i] - 2 * np.floor(self.k[i] / 2)
                yield tg.der(self.x[i]) == slopes[i] * (1.0 - 2.0 * odd)

    last: Any = None
    for at, rule in enumerate(rules):
        if rule.kind == "clock":
            clause = tg.every(rule.level, start=rule.level, priority=rule.priority)(body(rule))
        else:
            clause = (last.elsewhen if rule.chained else lambda c, p=rule.priority: tg.when(c, priority=p))(condition(rule))(body(rule))
            last = clause
        setattr(Made, f"c{at}", clause)
    return Made(x=np.array(x))


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[Rule], list[float], list[float]]:
    rules: list[Rule] = []
    for at in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(["above", "below", "clock", "clock", "rises", "falls", "differs"]))
        # a count that moves is what a change waits for; it must not move what it waits for
        which = draw(st.integers(0, _N - 1))
        level = draw(st.sampled_from([0.5, 1.0, 1.5])) if kind == "clock" else draw(st.integers(-6, 6)) / 7 + at / 97
        targets = ["x0", "x1", "x2", "k0", "k1", "k2"]
        targets = [f"x{i}" for i in range(_N)] if kind in _CHANGES else targets
        target = draw(st.sampled_from(targets))
        before = next((r for r in reversed(rules) if r.kind != "clock"), None)
        chained = kind != "clock" and before is not None and draw(st.booleans())
        priority = before.priority if chained and before is not None else draw(st.sampled_from([50, 50, 50, 20]))
        rules.append(Rule(kind, which, level, target, draw(st.sampled_from([-2, -1, 1, 2])), priority, chained))
    x = [draw(st.integers(-5, 5)) / 13 + 0.01 for _ in range(_N)]
    slopes = [draw(st.sampled_from([-1.0, 1.0])) * (1.0 + draw(st.integers(1, 9)) / 17 + i / 31) for i in range(_N)]
    return rules, x, slopes


@pytest.mark.hunt
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40)
@given(system=systems())
def test_random_clauses_happen_as_the_rules_say(method: str, system: tuple[list[Rule], list[float], list[float]]) -> None:
    rules, x, slopes = system
    truth = Truth(rules, list(x), [0] * _N, slopes)
    try:
        truth.run()
    except AssertionError:
        return
    if len(truth.events) > 40:
        return
    try:
        prepared = tg.prepare(component(rules, x, slopes), (0.0, _END), rtol=1e-9, method=method)
    except tg.InvalidModelError:
        # two that always happen together; the truth has its conflict when they first do, if a more important one does not hide it
        whens = [(r.level if r.kind == "clock" else r.kind, r.which * (r.kind != "clock"), r.target, r.priority) for r in rules]
        assert len(set(whens)) < len(whens)
        return
    if not math.isnan(truth.conflict):
        with pytest.raises(tg.ConflictError) as caught:
            prepared.run()
        assert caught.value.time == pytest.approx(truth.conflict, abs=1e-8)
        assert caught.value.result is not None
        return
    try:
        result = prepared.run()
    except tg.ZenoError:
        return  # loud, and a matter of its own
    times = [event.time for event in result.events]
    assert times == pytest.approx(truth.events, abs=1e-7)
    assert [result.final[f"k[{i}]"] for i in range(_N)] == truth.k
    # lines are exact; multistep methods add up a few hundred steps' rounding
    assert [result.final[f"x[{i}]"] for i in range(_N)] == pytest.approx(truth.x, abs=1e-6)
