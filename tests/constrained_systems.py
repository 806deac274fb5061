"""Random constrained systems with a truth that shares nothing with what is tested: particles on random surfaces, in minimal coordinates for SciPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

FloatArray = NDArray[np.float64]
FORMS = ("index1", "index1_partly_stabilised", "index1_stabilised", "index2", "index2_stabilised")


@dataclass(frozen=True)
class OnSurface:
    """A particle on ``z = a u^2 + b u v + c v^2 + d sin(u)``, with gravity, a spring to a point and drag.

    Friction, if any, opposes the velocity in proportion to the constraint force.

    Parameters
    ----------
    shape : a, b, c, d.
    """

    shape: tuple[float, float, float, float]
    spring: float
    drag: float
    friction: float
    centre: tuple[float, float]
    start: tuple[float, float, float, float]

    @staticmethod
    def random(random: np.random.Generator, *, has_friction: bool) -> OnSurface:
        """One of them."""
        shape, centre = random.uniform(-0.6, 0.6, 4), random.uniform(-1, 1, 2)
        friction = float(random.uniform(0.02, 0.2)) if has_friction else 0.0
        start = random.uniform(-1, 1, 4)
        return OnSurface(tuple(shape), float(random.uniform(0.5, 5)), float(random.uniform(0, 0.3)), friction, tuple(centre), tuple(start))

    def height(self, u: float, v: float) -> tuple[float, FloatArray, FloatArray]:
        """z, its gradient and second derivatives."""
        a, b, c, d = self.shape
        z = a * u * u + b * u * v + c * v * v + d * np.sin(u)
        return z, np.array([2 * a * u + b * v + d * np.cos(u), b * u + 2 * c * v]), np.array([[2 * a - d * np.sin(u), b], [b, 2 * c]])

    def applied(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Spring, gravity, drag."""
        return -self.spring * (x - np.array([*self.centre, 0.0])) - np.array([0.0, 0.0, 9.81]) - self.drag * v

    def acceleration(self, q: FloatArray) -> FloatArray:
        """q'' in minimal coordinates u, v; with friction from the normal force, solved for here."""
        z, gradient, second = self.height(q[0], q[1])
        w = q[2:]
        x, speed = np.array([q[0], q[1], z]), np.array([*w, gradient @ w])
        normal = np.array([-gradient[0], -gradient[1], 1.0])
        bend = w @ second @ w  # normal . x'' of the surface
        # x'' = applied + n * force - friction * force * speed, n . x'' = bend
        force = (bend - normal @ self.applied(x, speed)) / (normal @ normal - self.friction * (normal @ speed))
        return (self.applied(x, speed) + normal * force - self.friction * force * speed)[:2]

    def final(self, t_end: float) -> FloatArray:
        """Position and speed at the end."""
        q = solve_ivp(lambda t, q: [*q[2:], *self.acceleration(q)], (0, t_end), self.start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
        z, gradient, _ = self.height(q[0], q[1])
        return np.array([q[0], q[1], z, q[2], q[3], gradient @ q[2:]])

    def functions(self, sin: Callable[[Any], Any]) -> dict[str, Any]:
        """What ``tg.hdae`` is given; x2, the force of friction, only where there is friction."""
        a, b, c, d = self.shape
        k, r, mu, (cu, cv) = self.spring, self.drag, self.friction, self.centre

        def slopes(y: Any) -> tuple[Any, Any]:
            cos_x = sin(y["x"] + np.pi / 2)
            return 2 * a * y["x"] + b * y["y"] + d * cos_x, b * y["x"] + 2 * c * y["y"]

        def accelerations(y: Any) -> tuple[Any, Any, Any]:
            gx, gy = slopes(y)
            force = y["force"]
            brake = y["brake"] if mu else 0.0
            return (
                -k * (y["x"] - cu) - r * y["u"] - gx * force - brake * y["u"],
                -k * (y["y"] - cv) - r * y["v"] - gy * force - brake * y["v"],
                -k * y["z"] - r * y["w"] - 9.81 + force - brake * y["w"],
            )

        def f3(t: Any, y: Any) -> Any:
            gx, gy = slopes(y)
            ax, ay, az = accelerations(y)
            u, v = y["u"], y["v"]
            return [az - gx * ax - gy * ay - (2 * a - d * sin(y["x"])) * u * u - 2 * b * u * v - 2 * c * v * v]

        def f4(t: Any, y: Any) -> Any:
            gx, gy = slopes(y)
            return [y["w"] - gx * y["u"] - gy * y["v"]]

        u0, v0, du, dv = self.start
        z, gradient, _ = self.height(u0, v0)
        given: dict[str, Any] = {
            "f1": lambda t, y: [y["u"], y["v"], y["w"], *accelerations(y)],
            "f3": f3,
            "f4": f4,
            "f5": lambda t, y: [y["z"] - a * y["x"] * y["x"] - b * y["x"] * y["y"] - c * y["y"] * y["y"] - d * sin(y["x"])],
            "x1": {"x": u0, "y": v0, "z": z, "u": du, "v": dv, "w": float(gradient @ np.array([du, dv]))},
            "x3": {"force": 0.0},
        }
        if mu:
            given |= {"f2": lambda t, y: [y["brake"] - mu * y["force"]], "x2": {"brake": 0.0}}
        return given
