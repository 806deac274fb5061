"""Processes: a queue without anything that flows, against SimPy alone; a tank farm, against SimPy with ``solve_ivp`` between its events.

The farm has 200 tanks and 20 operators, who fill one tank after the other up to a level, or for half a unit of time. Both sides run the same
operators with the same random numbers; the loop over the tanks is plain Python on both, which tidegate follows and compiles. SciPy's side stands
twice: with that loop, and with numpy in place of it.
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Callable, Generator
from typing import Any, Final

import numpy as np
import simpy
from scipy.integrate import solve_ivp

import tidegate as tg

__all__ = ["farm_facts", "queue_ratio"]

CUSTOMERS: Final = 100_000
TANKS: Final = 200
OPERATORS: Final = 20
EVENTS: Final = 10_000
SCIPY_EVENTS: Final = 400  # counted, of as many as there are
LOSS: Final = 0.4


def queue_ratio(rounds: int) -> float:
    """M/M/1 in a ``tg.Environment`` over SimPy's own, in turn; the fastest of each counts."""
    own, simpys = [], []
    for _ in range(max(rounds, 3)):
        simpys.append(_queue_seconds(simpy.Environment))
        own.append(_queue_seconds(tg.Environment))
    return min(own) / min(simpys)


def _queue_seconds(kind: Callable[[], Any]) -> float:
    env, numbers = kind(), random.Random(1)
    gc.collect()
    server = simpy.Resource(env, 1)

    def customer() -> Generator[Any, Any, None]:
        with server.request() as mine:  # pyright: ignore[reportUnknownVariableType]
            yield mine
            yield env.timeout(numbers.expovariate(1.0))

    def source() -> Generator[Any, Any, None]:
        for _ in range(CUSTOMERS):
            yield env.timeout(numbers.expovariate(0.8))
            env.process(customer())

    env.process(source())
    began = time.perf_counter()
    env.run()
    return time.perf_counter() - began


class _Farm:
    """What both sides have: inflows, and operators that ask for ``full`` and count what they do."""

    def __init__(self, env: Any, most: int) -> None:
        self.env, self.count, self.most = env, 0, most
        self.done = env.event()

    def operator(self, number: int) -> Generator[Any, Any, None]:
        env, numbers = self.env, np.random.default_rng(number)
        while True:
            for k in range(number, TANKS, OPERATORS):
                self.set_inflow(k, float(numbers.uniform(0.6, 0.9)))
                yield self.full(k, 1.02 * self.level(k)) | env.timeout(0.5)
                self.set_inflow(k, float(numbers.uniform(0.1, 0.3)))
                yield env.timeout(float(numbers.uniform(0.01, 0.05)))
                self.count += 2
                if self.count >= self.most and not self.done.triggered:
                    self.done.succeed()

    def set_inflow(self, k: int, value: float) -> None:
        raise NotImplementedError

    def level(self, k: int) -> float:
        raise NotImplementedError

    def full(self, k: int, top: float) -> Any:
        raise NotImplementedError


class _Own(_Farm):
    def __init__(self, most: int) -> None:
        super().__init__(tg.Environment(method="rke", abserror=1e-6, relerror=1e-6, record=False), most)
        env = self.env
        self.levels = levels = [env.variable(1.0 + 0.005 * k, name="level") for k in range(TANKS)]
        self.inflows = inflows = [env.parameter(0.5, name="inflow") for _ in range(TANKS)]

        def farm() -> None:
            for k in range(TANKS):
                levels[k].rate = inflows[k].value - LOSS * math.sqrt(max(levels[k].state, 0.0))

        tg.Group(env.continuous(farm), *levels).start()

    def set_inflow(self, k: int, value: float) -> None:
        self.inflows[k].value = value

    def level(self, k: int) -> float:
        return self.levels[k].state

    def full(self, k: int, top: float) -> Any:
        level = self.levels[k]
        return self.env.wait_until(lambda: level.state > top)


class _WithSciPy(_Farm):
    """SimPy, whose time is moved by ``solve_ivp`` from event to event; levels waited for are its terminal events."""

    def __init__(self, most: int, *, vectorized: bool) -> None:
        super().__init__(simpy.Environment(), most)
        self.y = 1.0 + 0.005 * np.arange(TANKS)
        self.inflows = np.full(TANKS, 0.5)
        self.waits: dict[Any, tuple[int, float]] = {}
        self.rates = self._vectorized if vectorized else self._plain

    def _plain(self, _t: float, y: Any) -> list[float]:
        inflows = self.inflows.tolist()
        return [inflows[k] - LOSS * math.sqrt(max(level, 0.0)) for k, level in enumerate(y.tolist())]

    def _vectorized(self, _t: float, y: Any) -> Any:
        return self.inflows - LOSS * np.sqrt(np.maximum(y, 0.0))

    def set_inflow(self, k: int, value: float) -> None:
        self.inflows[k] = value

    def level(self, k: int) -> float:
        return float(self.y[k])

    def full(self, k: int, top: float) -> Any:
        event = self.env.event()
        self.waits[event] = k, top
        return event

    def run(self) -> None:
        env: Any = self.env
        while not self.done.processed:
            due = env.peek()
            if due > env.now and self._advance(env.now, due):
                continue
            env.step()

    def _advance(self, now: float, due: float) -> bool:
        """To the next event, or to a level that somebody waits for: then it is scheduled, and true."""
        self.waits = {event: wait for event, wait in self.waits.items() if event.callbacks}
        watched = [self._event(k, top) for k, top in self.waits.values()]
        found = solve_ivp(self.rates, (now, due), self.y, rtol=1e-6, atol=1e-6, events=watched or None)
        self.y = found.y[:, -1].copy()
        if found.status != 1:
            return False
        env: Any = self.env
        reached = next(event for event, times in zip(self.waits, found.t_events, strict=True) if len(times))
        env._now = float(found.t[-1])  # noqa: SLF001
        del self.waits[reached]
        reached.succeed()
        env.step()
        return True

    @staticmethod
    def _event(k: int, top: float) -> Any:
        def reached(_t: float, y: Any) -> float:
            return y[k] - top

        reached.terminal, reached.direction = True, 1.0  # type: ignore[attr-defined]
        return reached


def _seconds(farm: _Farm, run: Callable[[], Any]) -> float:
    for number in range(OPERATORS):
        farm.env.process(farm.operator(number))
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def farm_facts() -> dict[str, float]:
    """Milliseconds an event: of tidegate with and without what it needs once, of SciPy with a plain and a vectorized right-hand side."""
    own: dict[int, float] = {}
    for events in (EVENTS // 10, EVENTS):
        farm = _Own(events)
        own[events] = _seconds(farm, lambda farm=farm: farm.env.run(farm.done))
    scipys = {}
    for is_vectorized in (False, True):
        farm = _WithSciPy(SCIPY_EVENTS, vectorized=is_vectorized)
        scipys[is_vectorized] = _seconds(farm, farm.run) / SCIPY_EVENTS
    fewest, most = own
    return {
        "tidegate, an event": 1e3 * (own[most] - own[fewest]) / (most - fewest),
        "tidegate, an event of ten thousand, with what is done once": 1e3 * own[most] / most,
        "SciPy, plain Python, an event": 1e3 * scipys[False],
        "SciPy, numpy, an event": 1e3 * scipys[True],
    }
