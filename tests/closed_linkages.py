"""Random linkages that close, four-bars and slider-cranks, with a truth that shares nothing with what is tested: the angle of the crank for SciPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from constrained_systems import by_differences

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Linkage:
    """A crank about the origin, a rod from its pin to a second point, which a rocker about ``ground``, or a guide at the height of ``ground``, holds.

    Both points have mass, weight and drag. A motor pushes the pin on along its circle while it is above a level, and back while it is below; a
    buffer pushes the second point back while it is beyond a place.

    Parameters
    ----------
    lengths : of crank, rod and rocker.
    has_guide : the second point slides.
    side : 1 or -1, on which side of the line from pin to ground the second point is; of a guide to the right or to the left.
    friction : of the crank's bearing, in proportion to its force and the pin's speed.
    start : angle of the crank, and its speed.
    """

    lengths: tuple[float, float, float]
    ground: tuple[float, float]
    has_guide: bool
    side: float
    masses: tuple[float, float]
    drag: float
    friction: float
    torque: float
    level: float
    buffer: float
    place: float
    start: tuple[float, float]

    @staticmethod
    def random(random: np.random.Generator) -> Linkage:
        """One whose crank can turn around, and which stays away from dead points."""
        has_guide, side = bool(random.integers(2)), float(random.choice([-1.0, 1.0]))
        while True:
            a, b, c = random.uniform(0.3, 0.6), random.uniform(0.9, 1.6), random.uniform(0.9, 1.6)
            ground = (0.0, random.uniform(-0.3, 0.3)) if has_guide else (random.uniform(0.9, 1.6), random.uniform(-0.3, 0.3))
            found = Linkage(
                (a, b, c), ground, has_guide, side, (random.uniform(0.5, 2), random.uniform(0.5, 2)), random.uniform(0, 0.3), random.uniform(0, 0.1),
                random.uniform(0, 3), random.uniform(-0.6, 0.6) * a, random.uniform(0, 30), 0.0, (random.uniform(-3, 3), random.uniform(-4, 4)),
            )  # fmt: skip
            if all(found.transmission(angle) > 0.3 for angle in np.linspace(0, 2 * np.pi, 60)):
                places = [found.points(angle)[1][0] for angle in np.linspace(0, 2 * np.pi, 60)]
                return replace(found, place=float(random.uniform(min(places), max(places))))

    # -- the truth --------------------------------------------------------------------------------------------------------------------------------

    def transmission(self, angle: float) -> float:
        """How far from a dead point: the sine between the rod and what leads the second point; -1 where it cannot be put together."""
        try:
            pin, other = self.points(angle)
        except ValueError:
            return -1.0
        rod = (other - pin) / self.lengths[1]
        along = self._led(other)
        return abs(float(rod[0] * along[1] - rod[1] * along[0])) / float(np.hypot(*along))

    def _led(self, other: FloatArray) -> FloatArray:
        """What the constraint of the second point is normal to its path."""
        return np.array([0.0, 1.0]) if self.has_guide else other - np.array(self.ground)

    def points(self, angle: float) -> tuple[FloatArray, FloatArray]:
        """Pin and second point."""
        a, b, c = self.lengths
        pin = a * np.array([np.cos(angle), np.sin(angle)])
        if self.has_guide:
            rise = self.ground[1] - pin[1]
            if b * b <= rise * rise:
                raise ValueError
            return pin, np.array([pin[0] + self.side * np.sqrt(b * b - rise * rise), self.ground[1]])
        way = np.array(self.ground) - pin
        d = float(np.hypot(*way))
        along = (b * b - c * c + d * d) / (2 * d)
        if b * b <= along * along:
            raise ValueError
        unit = way / d
        return pin, pin + along * unit + self.side * np.sqrt(b * b - along * along) * np.array([-unit[1], unit[0]])

    def moving(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions and speeds of both points, (2, 2) each."""
        pin, other = self.points(q[0])
        v1 = q[1] * np.array([-pin[1], pin[0]])
        rod = other - pin
        v2 = np.linalg.solve(np.array([rod, self._led(other)]), [rod @ v1, 0.0])
        return np.array([pin, other]), np.array([v1, v2])

    def rates(self, q: FloatArray, modes: tuple[bool, bool]) -> FloatArray:
        """q' by the accelerations and the three forces of constraints at once."""
        r, v = self.moving(q)
        rod, led = r[1] - r[0], self._led(r[1])
        (m1, m2), total = self.masses, self.applied(r, v, modes)
        matrix, right = np.zeros((7, 7)), np.zeros(7)
        matrix[0:2, 0:2], matrix[2:4, 2:4] = m1 * np.eye(2), m2 * np.eye(2)
        matrix[0:2, 4], matrix[0:2, 5] = r[0] + self.friction * v[0], -rod
        matrix[2:4, 5], matrix[2:4, 6] = rod, led
        right[0:2], right[2:4] = total
        matrix[4, 0:2] = r[0]
        matrix[5, 0:2], matrix[5, 2:4] = -rod, rod
        matrix[6, 2:4] = led
        right[4], right[5] = -v[0] @ v[0], -(v[1] - v[0]) @ (v[1] - v[0])
        right[6] = 0.0 if self.has_guide else -v[1] @ v[1]
        pushed = np.linalg.solve(matrix, right)[0:2]
        return np.array([q[1], (r[0, 0] * pushed[1] - r[0, 1] * pushed[0]) / self.lengths[0] ** 2])

    def applied(self, r: FloatArray, v: FloatArray, modes: tuple[bool, bool]) -> FloatArray:
        """Forces of everything but constraints and friction."""
        total = np.array(self.masses)[:, None] * np.array([0.0, -9.81]) - self.drag * v
        total[0] += (self.torque if modes[0] else -self.torque) * np.array([-r[0, 1], r[0, 0]])
        total[1, 0] -= self.buffer * (r[1, 0] - self.place) if modes[1] else 0.0
        return total

    def final(self, t_end: float, most: int = 60) -> tuple[FloatArray, list[float]]:
        """Points and speeds at the end, and when the motor or the buffer changed.

        Raises
        ------
        ValueError : that happens too often, or nearly at once.
        """
        q, t, happened = np.array(self.start), 0.0, list[float]()
        functions = (lambda q: self.points(q[0])[0][1] - self.level, lambda q: self.points(q[0])[1][0] - self.place)
        modes = tuple(function(q) > 0.0 for function in functions)
        while t < t_end:
            events = [self._watched(function, -1.0 if mode else 1.0) for function, mode in zip(functions, modes, strict=True)]
            found = solve_ivp(
                lambda _, q, m=modes: self.rates(q, (m[0], m[1])), (t, t_end), q, "DOP853", events=events, rtol=1e-12, atol=1e-13, max_step=0.05
            )
            t, q = float(found.t[-1]), found.y[:, -1]
            for k in range(2):
                if found.status == 1 and len(found.t_events[k]):
                    modes = tuple(not mode if i == k else mode for i, mode in enumerate(modes))
                    happened.append(t)
            if (
                len(happened) > most
                or (len(happened) > 1 and happened[-1] - happened[-2] < 1e-3)
                or (happened and t_end - happened[-1] < 1e-3 < t_end - t)
            ):
                raise ValueError
        r, v = self.moving(q)
        return np.concatenate([r.ravel(), v.ravel()]), happened

    @staticmethod
    def _watched(function: Callable[[FloatArray], float], direction: float) -> Callable[[float, FloatArray], float]:
        def event(_: float, q: FloatArray) -> float:
            return function(q)

        vars(event).update(terminal=True, direction=direction)
        return event

    def derivative(self, name: str, t_end: float) -> FloatArray:
        """Of ``final`` by a parameter, by differences of the fifth order."""
        return by_differences(lambda other: replace(self, **{name: other}).final(t_end)[0], float(getattr(self, name)), 2e-4)

    # -- what tg.hdae is given --------------------------------------------------------------------------------------------------------------------

    names = ("x1", "y1", "x2", "y2", "vx1", "vy1", "vx2", "vy2")
    parameters = ("drag", "friction", "torque", "level", "buffer", "place")

    def functions(self) -> dict[str, Any]:
        """Points, speeds, three forces."""
        (a, b, c), (gx, gy), (m1, m2), guide = self.lengths, self.ground, self.masses, self.has_guide

        def accelerations(y: Any, p: Any) -> list[Any]:
            x1, y1, x2, y2, vx1, vy1, vx2, vy2 = (y[name] for name in self.names)
            motor = p["torque"] if y1 > p["level"] else -p["torque"]
            push = p["buffer"] * (x2 - p["place"]) if x2 > p["place"] else 0.0
            crank, rod, lead = y["crank"], y["rod"], y["lead"]
            lx, ly = (0.0, 1.0) if guide else (x2 - gx, y2 - gy)
            return [
                (-p["drag"] * vx1 - motor * y1 - crank * (x1 + p["friction"] * vx1) + rod * (x2 - x1)) / m1,
                (-p["drag"] * vy1 + motor * x1 - crank * (y1 + p["friction"] * vy1) + rod * (y2 - y1)) / m1 - 9.81,
                (-p["drag"] * vx2 - push - rod * (x2 - x1) - lead * lx) / m2,
                (-p["drag"] * vy2 - rod * (y2 - y1) - lead * ly) / m2 - 9.81,
            ]

        def f1(t: Any, y: Any, p: Any) -> list[Any]:
            return [*(y[name] for name in self.names[4:]), *accelerations(y, p)]

        def f3(t: Any, y: Any, p: Any) -> list[Any]:
            x1, y1, x2, y2, vx1, vy1, vx2, vy2 = (y[name] for name in self.names)
            ax1, ay1, ax2, ay2 = accelerations(y, p)
            return [
                vx1**2 + vy1**2 + x1 * ax1 + y1 * ay1,
                (vx2 - vx1) ** 2 + (vy2 - vy1) ** 2 + (x2 - x1) * (ax2 - ax1) + (y2 - y1) * (ay2 - ay1),
                ay2 if guide else vx2**2 + vy2**2 + (x2 - gx) * ax2 + (y2 - gy) * ay2,
            ]

        def f4(t: Any, y: Any, p: Any) -> list[Any]:
            x1, y1, x2, y2, vx1, vy1, vx2, vy2 = (y[name] for name in self.names)
            return [
                x1 * vx1 + y1 * vy1,
                (x2 - x1) * (vx2 - vx1) + (y2 - y1) * (vy2 - vy1),
                vy2 if guide else (x2 - gx) * vx2 + (y2 - gy) * vy2,
            ]

        def f5(t: Any, y: Any, p: Any) -> list[Any]:
            x1, y1, x2, y2 = (y[name] for name in self.names[:4])
            return [
                (x1**2 + y1**2 - a * a) / 2,
                ((x2 - x1) ** 2 + (y2 - y1) ** 2 - b * b) / 2,
                y2 - gy if guide else ((x2 - gx) ** 2 + (y2 - gy) ** 2 - c * c) / 2,
            ]

        r, v = self.moving(np.array(self.start))
        begun = dict(zip(self.names, [*r.ravel(), *v.ravel()], strict=True))
        return {
            "f1": f1, "f3": f3, "f4": f4, "f5": f5, "x1": begun, "x3": {"crank": 0.0, "rod": 0.0, "lead": 0.0},
            "p": {name: float(getattr(self, name)) for name in self.parameters},
        }  # fmt: skip
