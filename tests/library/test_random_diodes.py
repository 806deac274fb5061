"""Random networks of sources, timed switches, resistors, coils and ideal diodes: right, or refused aloud.

The truth is plain Python: implicit Euler steps, in each of which all combinations of conducting diodes are tried until one fits the signs of currents
and voltages; two lengths of step give its error. It knows nothing of states, events or modes that are passed through.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import DAE_METHODS
from tidegate.library import electrical as el

END, STEPS = 0.3, 1200
TIMES = [0.0113 + 0.02 * k for k in range(14)]  # not where switches act
QUICK = (2, 13, 24, 93, 23, 71)  # seeds that are solved: passed modes, ties of one current and of three, guesses without a solution
SHARES = 4
SEEDS = 44  # each a network; raise it to search on

Part = tuple[str, int, int, float, float]  # kind, nodes, value, and what it starts with: closed or not, a current


def network(seed: int) -> tuple[int, list[Part]]:
    r = random.Random(seed)
    n = r.choice([2, 3, 3, 4])
    kinds = ["V"] + [r.choice(["R", "R", "L", "D", "S", "L", "D", "R"]) for _ in range(r.randint(3, 6))]
    kinds += [kind for kind in "DL" if kind not in kinds]
    parts: list[Part] = []
    for kind in kinds:
        a, b = r.sample(range(n), 2)
        value = {
            "V": r.choice([5.0, 12.0, -7.0]), "R": round(r.uniform(0.5, 8), 2), "L": round(r.uniform(0.05, 0.4), 3), "D": 0.0,
            "S": round(r.uniform(0.05, 0.25), 3),
        }[kind]  # fmt: skip
        starts = float(r.choice([0, 1])) if kind == "S" else round(r.uniform(-1, 3), 2) if kind == "L" and r.random() < 0.4 else 0.0
        parts.append((kind, a, b, value, starts))
    return n, parts


def component(n: int, parts: list[Part]) -> Any:
    def made(kind: str, value: float, starts: float) -> Any:
        if kind == "L":
            return el.Inductor(L=value, i=tg.start(starts, fixed=True))
        return {"V": lambda: el.ConstantVoltage(V=value), "R": lambda: el.Resistor(R=value), "D": el.IdealDiode, "S": el.IdealSwitch}[kind]()

    def equations(self: Any) -> Iterator[Any]:
        pins: list[list[Any]] = [[] for _ in range(n)]
        pins[0].append(self.G.p)
        for k, (kind, a, b, value, starts) in enumerate(parts):
            part = getattr(self, f"{kind}{k}")
            pins[a].append(part.p)
            pins[b].append(part.n)
            if kind == "S":
                yield part.control == tg.where(tg.time < value, starts, 1.0 - starts)
        yield from (tg.connect(*group) for group in pins if len(group) > 1)

    body: dict[str, Any] = {f"{kind}{k}": made(kind, value, starts) for k, (kind, _, _, value, starts) in enumerate(parts)}
    return type("Net", (tg.Component,), {**body, "G": el.Ground(), "equations": equations, "__module__": __name__})()


class Stepper:
    """Implicit Euler on potentials and currents of all parts."""

    def __init__(self, n: int, parts: list[Part], step: float) -> None:
        self.n, self.parts, self.step = n, parts, step
        self.diodes = [k for k, part in enumerate(parts) if part[0] == "D"]
        self._inverses: dict[Any, Any] = {}

    def inverse(self, conducts: tuple[int, ...], closed: tuple[bool, ...]) -> Any:
        """None for a combination whose equations are singular."""
        key = conducts, closed
        if key not in self._inverses:
            matrix = self._matrix(dict(zip(self.diodes, conducts, strict=True)), closed)
            is_regular = np.linalg.matrix_rank(matrix) == len(matrix) and np.linalg.cond(matrix) < 1e10
            self._inverses[key] = np.linalg.inv(matrix) if is_regular else None
        return self._inverses[key]

    def _matrix(self, conducts: dict[int, int], closed: tuple[bool, ...]) -> Any:
        first = self.n - 1
        matrix = np.zeros((first + len(self.parts), first + len(self.parts)))
        for k, (kind, a, b, value, _) in enumerate(self.parts):
            row = first + k
            has_voltage = kind in "VRL" or closed[k] or conducts.get(k, 0) == 1
            for node, sign in ((a, 1.0), (b, -1.0)):
                if node:
                    matrix[node - 1, row] += sign
                    matrix[row, node - 1] += sign if has_voltage else 0.0
            matrix[row, row] = 1.0 if not has_voltage else {"R": -value, "L": -value / self.step}.get(kind, 0.0)
        return matrix

    def currents(self) -> Any:
        """At all steps; None where no combination fits."""
        now = np.array([part[4] if part[0] == "L" else 0.0 for part in self.parts])
        found, choices = [now], list(itertools.product((0, 1), repeat=len(self.diodes)))
        for number in range(1, round(END / self.step) + 1):
            t = number * self.step
            closed = tuple(kind == "S" and (t <= value + 1e-12) == bool(starts) for kind, _, _, value, starts in self.parts)
            right = np.zeros(self.n - 1 + len(self.parts))
            for k, (kind, _, _, value, _) in enumerate(self.parts):
                right[self.n - 1 + k] = {"V": value, "L": -value / self.step * now[k]}.get(kind, 0.0)
            for trial in choices:
                inverse = self.inverse(trial, closed)
                if inverse is not None and self._fits(trial, values := inverse @ right):
                    choices.remove(trial)
                    choices.insert(0, trial)
                    now = values[self.n - 1 :]
                    break
            else:
                return None
            found.append(now)
        return np.array(found)

    def _fits(self, trial: tuple[int, ...], values: Any) -> bool:
        potentials, allowed = np.concatenate(([0.0], values[: self.n - 1])), 1e-9 * (1.0 + np.abs(values).max())
        for on, k in zip(trial, self.diodes, strict=True):
            _, a, b, *_ = self.parts[k]
            if (on and values[self.n - 1 + k] < -allowed) or (not on and potentials[a] - potentials[b] > allowed):
                return False
        return True


@cache
def truth(seed: int) -> tuple[Any, Any]:
    """Currents by two lengths of step."""
    n, parts = network(seed)
    rough, fine = (Stepper(n, parts, END / steps).currents() for steps in (STEPS, 2 * STEPS))
    return rough, fine


def check(seed: int, method: str) -> bool:
    """True if it was solved, and rightly; False if it was refused, or has no truth."""
    n, parts = network(seed)
    try:
        result = tg.simulate(component(n, parts), (0.0, END), outputs=TIMES, rtol=1e-7, method=method)
    except (tg.SingularSystemError, tg.StructureError):
        return False
    rough, fine = truth(seed)
    if rough is None or fine is None:
        return False
    for k in (k for k, part in enumerate(parts) if part[0] == "L"):
        a, b = (np.interp(TIMES, np.linspace(0.0, END, len(one)), one[:, k]) for one in (rough, fine))
        # extrapolated, it is good for a part of what two lengths of step differ by
        off = np.abs(result[f"L{k}.i"].values - (2.0 * b - a)) / (10.0 * np.abs(b - a) + 2e-3 * (1.0 + np.abs(b).max()))
        assert off.max() < 1.0, (seed, f"L{k}.i", off)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("seed", QUICK)
def test_networks_of_diodes_and_coils_follow_the_truth(seed: int, dae_method: str) -> None:
    assert check(seed, dae_method)


@pytest.mark.hunt
@pytest.mark.parametrize("share", range(SHARES))
def test_more_networks_of_diodes_and_coils_follow_the_truth_or_are_refused(share: int) -> None:
    solved = sum(check(seed, method) for seed in range(share, SEEDS, SHARES) for method in DAE_METHODS)
    assert solved >= len(DAE_METHODS) * SEEDS // SHARES // 4  # a third of them can be solved at all


@pytest.mark.slow
def test_a_short_circuit_is_refused_with_what_it_may_be(dae_method: str) -> None:
    n, parts = network(248)  # a switch closes a loop of a source and a diode
    with pytest.raises(tg.SingularSystemError, match=r"(?s)at t = 0\.119.*no combination of its conditions.*short-circuited"):
        tg.simulate(component(n, parts), (0.0, END), method=dae_method)


class Island(tg.Component):
    """A part of a circuit that only an ideal diode joins to the ground: it carries nothing, whichever way it stands."""

    source, load, bridge, ground = el.SineVoltage(V=3.0, f=2.0), el.Resistor(R=2.0), el.IdealDiode(), el.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.source.p, self.load.p, self.bridge.n)
        yield tg.connect(self.source.n, self.load.n)
        yield tg.connect(self.bridge.p, self.ground.p)


def test_a_diode_at_the_end_of_an_island_carries_nothing(dae_method: str) -> None:
    result = tg.simulate(Island(), (0.0, 1.0), method=dae_method, outputs=[0.1, 0.3, 0.8])
    assert result["load.i"].values == pytest.approx(1.5 * np.sin(4.0 * np.pi * np.array([0.1, 0.3, 0.8])))
    assert result["bridge.i"].values == pytest.approx(0.0, abs=1e-9)
