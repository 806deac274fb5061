"""Random networks of integrators, samplers and comparators against plain Python that adds up straight lines between instants.

The truth knows of no integrator: between two instants every signal is a straight line. At an instant every block for which something happens is told
with the inputs from before, then signals are made anew, and comparators that have come to their other side follow in a next round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.frontends.dsblock import EventAction, Start

END = 2.5
LOG: list[tuple[float, str, str]] = []


class Integrator(tg.DSblock):
    """``x' = u``, ``y = x``."""

    def __init__(self, x0: float) -> None:
        self.x0 = x0

    def define(self, declare: Any) -> None:
        declare.state("X", start=self.x0)
        declare.input("U")
        declare.output("Y")
        declare.outputs_depend_on(inputs=False)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.X


class Sum(tg.DSblock):
    """``y = w u + c``, at once."""

    def __init__(self, weights: np.ndarray, constant: float) -> None:
        self.weights, self.constant = weights, constant

    def define(self, declare: Any) -> None:
        declare.input("U", shape=self.weights.shape)
        declare.output("Y")

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return float(self.weights @ u.U) + self.constant


class Sampler(tg.DSblock):
    """Takes over its input every period, with some of what it had."""

    def __init__(self, first: float, period: float, keeps: float) -> None:
        self.first, self.period, self.keeps = first, period, keeps

    def define(self, declare: Any) -> None:
        declare.input("U")
        declare.output("Y")
        declare.discrete("held")
        declare.outputs_depend_on(inputs=False)

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        m.k = 0
        return Start(next_event=self.first)

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return m.held

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        assert happening.time
        assert not happening.state
        LOG.append((t, self.block_name, "time"))
        m.k += 1
        m.held = self.keeps * m.held + u.U
        return EventAction(next_event=self.first + m.k * self.period)


class Comparator(tg.DSblock):
    """Its output is another at each crossing of its input and a level; ``n`` crossings are counted."""

    def __init__(self, level: float, direction: int, values: tuple[float, float]) -> None:
        self.level, self.direction, self.values = level, direction, values

    def define(self, declare: Any) -> None:
        declare.input("U")
        declare.output("Y")
        declare.indicator("Z")
        declare.discrete("n")
        declare.outputs_depend_on(inputs=False)

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(directions={"Z": self.direction})

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U - self.level

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.values[int(m.n) % 2]

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        assert happening.zero == ("Z",)
        LOG.append((t, self.block_name, "state"))
        m.n += 1
        return EventAction()


@dataclass
class Network:
    """Integrators, samplers, comparators, and a sum in front of each."""

    blocks: list[Any]
    weights: np.ndarray  # of all outputs in the input of each block
    loops: np.ndarray  # likewise of the inputs of all blocks, which close loops of sums
    constants: np.ndarray

    def inputs(self, outputs: np.ndarray, constants: np.ndarray | float = 0.0) -> np.ndarray:
        """Inputs of all blocks, from outputs of all."""
        return np.linalg.solve(np.eye(len(outputs)) - self.loops, self.weights @ outputs + constants)


def drawn(seed: int) -> Network:
    random = np.random.default_rng(seed)
    blocks: list[Any] = [Integrator(float(random.normal())) for _ in range(random.integers(1, 4))]
    for _ in range(random.integers(1, 4)):
        # halves and quarters meet at one instant
        period = float(random.choice([0.25, 0.5, 0.75, random.uniform(0.2, 1.0)]))
        blocks.append(Sampler(period if random.random() < 0.7 else 2 * period, period, float(random.uniform(-0.5, 0.5))))
    blocks += [
        Comparator(float(random.normal()), int(random.choice([-1, 0, 0, 1])), (float(random.normal()), float(random.normal())))
        for _ in range(random.integers(1, 5))
    ]
    for k, block in enumerate(blocks):
        block.name = f"b{k}"
    n = len(blocks)
    weights = random.normal(size=(n, n)) * (random.random((n, n)) < 0.5)
    # integrators do not drive integrators, so that all lines are straight
    integrators = [k for k, block in enumerate(blocks) if isinstance(block, Integrator)]
    weights[np.ix_(integrators, integrators)] = 0.0
    # what is sampled does not grow without bounds
    samplers = [k for k, block in enumerate(blocks) if isinstance(block, Sampler)]
    weights[np.ix_(samplers, samplers)] *= 0.3
    loops = 0.4 * random.normal(size=(n, n)) * (random.random((n, n)) < 0.3) if random.random() < 0.5 else np.zeros((n, n))
    loops[integrators] = 0.0
    return Network(blocks, weights, loops, random.normal(size=n))


class Unclear(Exception):
    """Rounding decides what happens, or too much does."""


@dataclass
class Truth:
    """The network by straight lines."""

    network: Network
    t: float = 0.0
    log: list[tuple[float, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        blocks = self.network.blocks
        self.x = np.array([getattr(block, "x0", 0.0) for block in blocks])
        self.held = np.zeros(len(blocks))
        self.counts = np.zeros(len(blocks), dtype=int)
        self.next = np.array([getattr(block, "first", math.inf) for block in blocks])
        self.comparators = [k for k, block in enumerate(blocks) if isinstance(block, Comparator)]

    def outputs(self) -> tuple[np.ndarray, np.ndarray]:
        """All outputs, and their slopes, which are the inputs of integrators."""
        y = self.x.copy()
        for k, block in enumerate(self.network.blocks):
            if not isinstance(block, Integrator):
                y[k] = self.held[k] if isinstance(block, Sampler) else block.values[self.counts[k] % 2]
        u = self.network.inputs(y, self.network.constants)
        return y, np.where([isinstance(block, Integrator) for block in self.network.blocks], u, 0.0)

    def inputs(self) -> np.ndarray:
        return self.network.inputs(self.outputs()[0], self.network.constants)

    def run(self) -> None:
        """To the end."""
        levels = np.array([getattr(block, "level", 0.0) for block in self.network.blocks])
        wanted = np.array([getattr(block, "direction", 0) for block in self.network.blocks])
        last = np.zeros(len(levels))
        while True:
            y, slopes = self.outputs()
            u, changes = self.network.inputs(y, self.network.constants), self.network.inputs(slopes)
            waits = np.full(len(u), math.inf)
            for k in self.comparators:
                if abs(u[k] - levels[k]) < 1e-8:
                    if changes[k] * last[k] <= 0.0:
                        raise Unclear  # it turns back where it has crossed
                elif changes[k] * (levels[k] - u[k]) > 0.0:
                    waits[k] = (levels[k] - u[k]) / changes[k]
            clocks = self.next - self.t
            step = min(waits.min(), clocks.min())
            if self.t + step >= END:
                if self.t + step < END + 1e-6:
                    raise Unclear
                self.x += slopes * (END - self.t)
                return
            near = [w for w in (*waits, *clocks) if abs(w - step) < 1e-6 and abs(w - step) > 1e-12]
            crossing = [k for k in self.comparators if waits[k] == step]
            if near or len(crossing) > 1 or (crossing and clocks.min() == step) or len(self.log) > 60:
                raise Unclear
            self.x += slopes * step
            self.t += step
            due = [k for k in range(len(u)) if abs(self.next[k] - self.t) < 1e-9]
            sides = np.sign(u + changes * step - levels)
            for k in crossing:
                sides[k] = np.sign(changes[k])
            fired = sorted([*due, *(k for k in crossing if wanted[k] in (0, sides[k]))])
            last = self.instant(fired, sides, levels, wanted)

    def instant(self, fired: list[int], sides: np.ndarray, levels: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Rounds, until nothing follows; on which sides comparators are then."""
        for _ in range(20):
            u = self.inputs()
            for k in fired:
                block = self.network.blocks[k]
                if isinstance(block, Sampler):
                    self.log.append((self.t, block.name, "time"))
                    self.counts[k] += 1
                    self.held[k] = block.keeps * self.held[k] + u[k]
                    self.next[k] = block.first + self.counts[k] * block.period
                else:
                    self.log.append((self.t, block.name, "state"))
                    self.counts[k] += 1
            z = self.inputs() - levels
            new = np.where(np.abs(z) < 1e-8, sides, np.sign(z))
            if any(abs(z[k]) < 1e-4 and k not in fired for k in self.comparators) or any(1e-8 < abs(z[k]) < 1e-4 for k in self.comparators):
                raise Unclear
            fired = [k for k in self.comparators if new[k] != sides[k] and wanted[k] in (0, new[k])]
            sides = new
            if not fired:
                return sides
        raise Unclear


def clear(seed: int) -> Truth:
    """The first network from this seed on with several things at one instant, and in which nothing depends on rounding."""
    for attempt in range(200):
        truth = Truth(drawn(1000 * seed + attempt))
        try:
            truth.run()
        except Unclear:
            continue
        times = [time for time, _, _ in truth.log]
        if len(times) > 4 and len(set(times)) < len(times):
            return truth
    raise AssertionError(seed)


def joined(network: Network, *, nested: bool) -> Any:
    n = len(network.blocks)
    parts: dict[str, Any] = {}
    links: dict[str, str] = {}
    for k, block in enumerate(network.blocks):
        used = [(f"b{j}.Y", network.weights[k, j]) for j in range(n) if network.weights[k, j] or not j]
        used += [(f"s{j}.Y", network.loops[k, j]) for j in range(n) if network.loops[k, j]]
        parts[f"s{k}"], parts[f"b{k}"] = Sum(np.array([weight for _, weight in used]), float(network.constants[k])), block
        links |= {f"s{k}.U[{i}]": source for i, (source, _) in enumerate(used)}
        links[f"b{k}.U"] = f"s{k}.Y"
    if not nested:
        return tg.dsblock.join(parts, links)
    # every second block with its sum in a connection of its own, which shows both
    moved: dict[str, str] = {}
    for k in range(0, n, 2):
        inner = {"s": parts.pop(f"s{k}"), "b": parts[f"b{k}"]}
        parts[f"b{k}"] = tg.dsblock.join(inner, {"b.U": "s.Y"}, outputs={"Y": "b.Y", "SUM": "s.Y"})
        del links[f"b{k}.U"]
        moved[f"s{k}.Y"] = f"b{k}.SUM"
    inside = {f"s{k}.U": f"b{k}.s.U" for k in range(0, n, 2)}
    return tg.dsblock.join(
        parts,
        {
            inside.get(target.split("[")[0], target.split("[")[0]) + target[len(target.split("[")[0]) :]: moved.get(source, source)
            for target, source in links.items()
        },
    )


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(3))
def test_a_random_network_of_events_does_what_plain_python_does(seed: int) -> None:
    truth = clear(seed)
    LOG.clear()
    nested = bool(seed % 2)
    result = tg.simulate(joined(truth.network, nested=nested), (0.0, END), rtol=1e-9)
    assert [(name, kind) for _, name, kind in LOG] == [(name, kind) for _, name, kind in truth.log]
    assert [time for time, _, _ in LOG] == pytest.approx([time for time, _, _ in truth.log], abs=1e-7)
    for k, block in enumerate(truth.network.blocks):
        owner = f"b{k}.b" if nested and k % 2 == 0 else f"b{k}"
        if isinstance(block, Integrator):
            assert float(result.final[f"{owner}.X"]) == pytest.approx(truth.x[k], abs=1e-6)
        if isinstance(block, Sampler):
            assert float(result.final[f"{owner}.held"]) == pytest.approx(truth.held[k], abs=1e-6)
        if isinstance(block, Comparator):
            assert float(result.final[f"{owner}.n"]) == truth.counts[k]
