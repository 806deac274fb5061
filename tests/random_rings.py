"""Random rings of a pendulum of the form HDAE, ODEs and DAEs, circles through derivatives among them; truth: its angle and a linear system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import tidegate as tg

G, MU, T_END = 9.81, 0.05, 0.8


class Pendulum(tg.DSblock):
    """A point on a rod of length 1, pushed along its circle by U; friction in proportion to the force of the rod and the speed."""

    shown: tuple[str, ...] = ("Y",)

    def __init__(self, angle: float, *, gives_acceleration: bool = False) -> None:
        self.angle, self.gives_acceleration = angle, gives_acceleration

    def define(self, declare: Any) -> None:
        c, s = math.cos(self.angle), math.sin(self.angle)
        declare.state("P", shape=(2,), start=(s, -c))
        declare.state("V", shape=(2,), start=(0.0, 0.0))
        declare.state("BRAKE", start=MU * G * c)
        declare.state("FORCE", start=G * c)
        declare.input("U")
        for name in self.shown:
            declare.output(name)
        declare.outputs_depend_on(inputs=False, xdot=self.gives_acceleration)
        declare.form("hdae", parts=(4, 1, 1, 1, 1))

    def parts(self, which: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        (px, py), (vx, vy), force, brake = x.P, x.V, x.FORCE, x.BRAKE
        return {
            1: {"P": [vx, vy], "V": [-force * px - brake * vx - u.U * py, -force * py - brake * vy + u.U * px - G]},
            2: brake - MU * force,
            3: vx**2 + vy**2 - force * (px**2 + py**2) - brake * (px * vx + py * vy) - G * py,
            4: px * vx + py * vy,
            5: (px**2 + py**2 - 1) / 2,
        }

    def outputs(self, t: float, x: Any, *rest: Any) -> Any:
        if self.gives_acceleration:
            return x.P[0] * rest[0].V[1] - x.P[1] * rest[0].V[0]
        return x.P[0] * x.V[1] - x.P[1] * x.V[0]


@dataclass(frozen=True)
class Link:
    """``a x' = b x + c u``, ``y = d x + e u + f x'``; a DAE has ``z = x + g u`` besides, and drives ``y + h z``."""

    is_dae: bool
    numbers: tuple[float, ...]  # a b c d e f g h


class Linear(tg.DSblock):
    """One of them."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def define(self, declare: Any) -> None:
        _, _, _, _, e, f, _, _ = self.link.numbers
        declare.state("X", start=0.3)
        declare.input("U")
        declare.output("Y")
        if self.link.is_dae:
            declare.state("Z", start=0.0)
            declare.form("dae")
        declare.outputs_depend_on(inputs=bool(e), **({} if self.link.is_dae else {"xdot": bool(f)}))

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        a, b, c, *_ = self.link.numbers
        return (b * x.X + c * u.U) / a

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        a, b, c, _, _, _, g, _ = self.link.numbers
        return [x.Z - x.X - g * u.U, a * xdot.X - b * x.X - c * u.U]

    def outputs(self, t: float, x: Any, *rest: Any) -> Any:
        _, _, _, d, e, f, _, h = self.link.numbers
        has_rates = self.link.is_dae or bool(f)
        u = rest[1] if has_rates else rest[0]
        found = d * x.X
        if e:
            found = found + e * u.U
        if f:
            found = found + f * rest[0].X
        return found + h * x.Z if self.link.is_dae else found


@dataclass(frozen=True)
class Ring:
    """A pendulum and links behind one another, the last of which pushes the pendulum."""

    angle: float
    gives_acceleration: bool
    links: tuple[Link, ...]

    @staticmethod
    def random(seed: int) -> Ring:
        """One of them, with at least a DAE or a circle through derivatives."""
        random = np.random.default_rng(seed)
        n = int(random.integers(1, 4))
        links: list[Link] = []
        for k in range(n):
            a, b, c, d, g = random.uniform([0.5, -2.0, -1.0, -1.0, -0.5], [2.0, -0.2, 1.0, 1.0, 0.5])
            e, f, h = (float(value) if random.random() < 0.5 else 0.0 for value in random.uniform(-0.6, 0.6, 3))
            is_dae = bool(random.random() < 0.5 or (k == n - 1 and not any(one.is_dae for one in links) and seed % 2))
            links.append(Link(is_dae, tuple(map(float, (a, b, c, d, e, f, g, h)))))
        return Ring(float(random.uniform(0.3, 1.2)), bool(random.random() < 0.5 or not any(one.is_dae for one in links)), tuple(links))

    def rates(self, _: float, q: Any) -> Any:
        """Of angle, speed and all x: u of every block, x' and the acceleration from one linear system."""
        angle, speed, *x = q
        n = len(x)
        # unknowns: u of the pendulum, u of the links, x', acceleration
        matrix, right = np.eye(2 * n + 2), np.zeros(2 * n + 2)
        last = 2 * n + 1
        force = speed**2 + G * math.cos(angle)
        right[last] = -G * math.sin(angle) - MU * force * speed
        matrix[last, 0] = -1.0
        for k, (one, value) in enumerate(zip(self.links, x, strict=True)):
            a, b, c, d, e, f, g, h = one.numbers
            own, rate = 1 + k, 1 + n + k
            matrix[rate, own], right[rate] = -c / a, b * value / a
            driven = 0 if k == n - 1 else own + 1
            h = h if one.is_dae else 0.0
            matrix[driven, own] -= e + h * g
            matrix[driven, rate] -= f
            right[driven] += (d + h) * value
        if self.gives_acceleration:
            matrix[1, last] -= 1.0
        else:
            right[1] += speed
        found = np.linalg.solve(matrix, right)
        return [speed, found[last], *found[1 + n : 1 + 2 * n]]

    def final(self) -> Any:
        """Speed along the circle and all x at the end."""
        start = [self.angle, 0.0] + [0.3] * len(self.links)
        q = solve_ivp(self.rates, (0, T_END), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
        return [math.sin(q[0]), -math.cos(q[0]), q[1] * math.cos(q[0]), q[1] * math.sin(q[0]), *q[2:]]

    def connection(self) -> Any:
        """The same of blocks."""
        blocks: dict[str, Any] = {"p": Pendulum(self.angle, gives_acceleration=self.gives_acceleration)}
        blocks |= {f"b{k}": Linear(one) for k, one in enumerate(self.links)}
        names = list(blocks)
        links = {f"{names[(k + 1) % len(names)]}.U": f"{name}.Y" for k, name in enumerate(names)}
        return tg.dsblock.join(blocks, links)
