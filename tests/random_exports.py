"""Random models that a compiled block has to carry: constrained systems, and components whose starts are solved for and whose ends do something.

``random_models`` has functions, components, diagrams and implicit ones without these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tidegate as tg
from constrained_systems import Chain, OnSurface

__all__ = ["random_constrained", "random_start"]

G = 9.81


def random_constrained(seed: int) -> tuple[Any, float]:
    """A system with constraints and events, and how long it runs; its start is to be made consistent."""
    random = np.random.default_rng(seed)
    kind = random.integers(3)
    if kind == 0:
        base = OnSurface.random(random, has_friction=bool(random.random() < 0.5)).functions(np.sin)
        speeds, places, force = ["u", "v", "w"], ["x", "y"], "force"
    elif kind == 1:
        chain = Chain.random(random, int(random.integers(1, 3)))
        base, speeds, places, force = chain.functions(), [n for n in chain.names() if n[0] == "v"], ["rx0", "ry0"], "force0"
    else:
        return _pendulum(random)
    counted = {"n": 0.0, "last": 0.0}
    return tg.hdae(**base, discrete=counted, events=list(_events(random, speeds, places, force)), name=f"constrained {seed}"), 1.5


def _events(random: np.random.Generator, speeds: list[str], places: list[str], force: str) -> Iterator[Any]:
    """Bounces back along the constraint, counts, clocks."""
    keeps = float(random.uniform(0.3, 0.9))

    def back(t: Any, y: Any, d: Any) -> Any:
        return {**{name: -keeps * y[name] for name in speeds}, "n": d["n"] + 1.0}

    def seen(t: Any, y: Any, d: Any) -> Any:
        return {"last": y[force] + d["n"]}

    def slower(t: Any, y: Any, d: Any) -> Any:
        return {name: keeps * y[name] for name in speeds}

    place, level = str(random.choice(places)), float(random.uniform(-0.5, 0.5))
    yield tg.event(lambda t, y, d: y[place] < level, back, name="back")
    if random.random() < 0.7:
        strong = float(random.uniform(2.0, 12.0))
        yield tg.event(lambda t, y, d: y[force] > strong, seen, name="strong")
    if random.random() < 0.7:
        yield tg.event(every=float(random.uniform(0.2, 0.6)), start=float(random.uniform(0.1, 0.3)), reset=slower, name="slower")


def _pendulum(random: np.random.Generator) -> tuple[Any, float]:
    """A rod with friction that depends on its force, in whose law there are corners, and with a drag that events change."""
    law: Callable[[Any], Any] = [abs, lambda f: max(f, 0.0), lambda f: f * f / 10.0, lambda f: f if f > 4.0 else 2.0 + 0.5 * f][random.integers(4)]
    mu, ratio, threshold = (float(value) for value in random.uniform([0.005, 0.2, 3.0], [0.05, 0.9, 9.0]))

    def pulls(y: Any, p: Any, d: Any) -> tuple[Any, Any]:
        slow = y["brake"] + d["drag"]
        return -y["force"] * y["px"] - slow * y["vx"], -y["force"] * y["py"] - slow * y["vy"] - p["g"]

    def f3(t: Any, y: Any, p: Any, d: Any) -> Any:
        ax, ay = pulls(y, p, d)
        return y["vx"] ** 2 + y["vy"] ** 2 + y["px"] * ax + y["py"] * ay

    def drags(t: Any, y: Any, p: Any, d: Any) -> Any:
        return {"drag": ratio - d["drag"], "n": d["n"] + 1.0}

    def back(t: Any, y: Any, p: Any, d: Any) -> Any:
        return {"vx": -ratio * y["vx"], "vy": -ratio * y["vy"]}

    angle, speed = (float(value) for value in random.uniform([0.3, -1.0], [1.4, 1.0]))
    events = [tg.event(lambda t, y, p, d: y["force"] > threshold, drags, name="drags")]
    if random.random() < 0.5:
        events.append(tg.event(lambda t, y, p, d: y["px"] < 0.0, back, name="wall"))
    if random.random() < 0.5:
        events.append(tg.event(every="period", start="period", reset=drags, name="clock"))
    model = tg.hdae(
        f1=lambda t, y, p, d: [y["vx"], y["vy"], *pulls(y, p, d)],
        f2=lambda t, y, p, d: y["brake"] - p["mu"] * law(y["force"]),
        f3=f3,
        f4=lambda t, y, p, d: y["px"] * y["vx"] + y["py"] * y["vy"],
        f5=lambda t, y, p, d: (y["px"] ** 2 + y["py"] ** 2 - p["length"] ** 2) / 2,
        x1=lambda p: {
            "px": p["length"] * np.sin(p["angle"]), "py": -p["length"] * np.cos(p["angle"]),
            "vx": p["speed"] * np.cos(p["angle"]), "vy": p["speed"] * np.sin(p["angle"]),
        },
        x2={"brake": 0.0}, x3={"force": 0.0}, discrete={"drag": 0.0, "n": 0.0}, events=events,
        p={"length": 1.0, "mu": mu, "g": G, "angle": angle, "speed": speed, "period": float(random.uniform(0.2, 0.6))},
        outputs=lambda t, y, p, d: {"energy": 0.5 * (y["vx"] ** 2 + y["vy"] ** 2) + p["g"] * y["py"]},
        name="rod",
    )  # fmt: skip
    return model, 2.0


def random_start(seed: int) -> tuple[Any, float]:
    """A component with an equation for every way in which a start can be said, and with final actions."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 4))
    a = random.normal(size=(n, n)) - 2.0 * np.eye(n)
    b, c, guess = random.normal(size=n), random.uniform(0.1, 0.5, n), random.normal(size=n)
    how = random.integers(0, 4, size=n)  # declared, at rest, a nonlinear relation, relation to the next
    way = int(random.integers(3))
    period = float(random.uniform(0.2, 0.5))
    level = float(random.normal() * 0.3)

    class Started(tg.Component):
        x = tg.State(guess)
        w = tg.Algebraic(np.zeros(n))
        held = tg.State(0.7, fixed=False)
        twice = tg.Algebraic(0.9, fixed=True if way == 1 else None)
        k = tg.Discrete(0.0)
        read = tg.Discrete(0.0)
        u = tg.Parameter(1.0)

        def equations(self) -> Iterator[Any]:
            for i in range(n):
                yield self.w[i] + c[i] * np.sin(self.w[i]) == sum(a[i, j] * self.x[j] for j in range(n)) + b[i] * (self.u + self.k)
                yield tg.der(self.x[i]) == self.w[i] - 0.1 * self.x[i] ** 3
                if how[i] == 1:
                    yield tg.initial_equations(tg.der(self.x[i]) == 0.1)
                elif how[i] == 2:
                    yield tg.initial_equations(self.x[i] + 0.3 * np.tanh(self.x[i]) == 0.5 * self.u + self.w[i] * 0.1)
                elif how[i] == 3:
                    yield tg.initial_equations(self.x[i] == 0.5 * self.x[(i + 1) % n] + 0.2)
            yield tg.der(self.held) == -self.held + 0.1 * self.x[0]
            # not linear: what must hold of the one determines the other
            yield self.twice == self.held + 0.2 * self.held**3

        @tg.when(lambda self: self.x[0] > level)
        def counts(self) -> Any:
            tg.message("beyond")
            return {self.k: 0.5 - tg.pre(self.k)}

        @tg.every(period, start=period)
        def ticks(self) -> Any:
            return {self.held: 0.5 * self.held + 0.1}

        if way == 2:

            @tg.when(lambda self: self.held > 0.9 + level)
            def ends(self) -> Any:
                tg.terminate("enough")

        @tg.initially
        def begins(self) -> Any:
            tg.message("begins")
            return {self.k: 0.1 * self.u}

        @tg.finally_
        def reads(self) -> Any:
            tg.message("over")
            return {self.read: self.x[0] + self.w[n - 1] + self.k, **({self.k: 2.0} if how[0] % 2 else {})}

    return Started(), 1.5
