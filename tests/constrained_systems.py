"""Random constrained systems with a truth that shares nothing with what is tested: particles on random surfaces, in minimal coordinates for SciPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

FloatArray = NDArray[np.float64]
FORMS = ("index1", "index1_partly_stabilised", "index1_stabilised", "index2", "index2_stabilised")


def by_differences(function: Callable[[float], FloatArray], value: float, h: float) -> FloatArray:
    """The derivative there, by differences of the fifth order."""
    near, far = (function(value + k * h) - function(value - k * h) for k in (1, 2))
    return (8 * near - far) / (12 * h)


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


@dataclass(frozen=True)
class Chain:
    """Points on rods, one hanging from the other, in a plane: gravity, springs to points, drag, friction in the first bearing.

    Parameters
    ----------
    lengths, masses, springs, centres, start : of each rod or point; ``start`` holds angles from below and their speeds.
    """

    lengths: FloatArray
    masses: FloatArray
    springs: FloatArray
    centres: FloatArray
    drag: float
    friction: float
    start: FloatArray

    @staticmethod
    def random(random: np.random.Generator, n: int) -> Chain:
        """One of them."""
        start = np.concatenate([random.uniform(-1.2, 1.2, n), random.uniform(-1, 1, n)])
        lengths, masses, springs = random.uniform(0.5, 1.5, n), random.uniform(0.5, 2, n), random.uniform(0, 3, n)
        return Chain(lengths, masses, springs, random.uniform(-1, 1, (n, 2)), random.uniform(0, 0.3), random.uniform(0, 0.1), start)

    def places(self, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Points and speeds, their derivatives by angular speeds, and what is left of accelerations where angles do not accelerate."""
        n = len(self.lengths)
        a, w = q[:n], q[n:]
        along = self.lengths[:, None] * np.stack([np.sin(a), -np.cos(a)], axis=1)
        across = self.lengths[:, None] * np.stack([np.cos(a), np.sin(a)], axis=1)
        jacobian = np.tril(np.ones((n, n)))[:, :, None] * across[None]
        return np.cumsum(along, axis=0), np.einsum("ijk,j->ik", jacobian, w), jacobian, np.cumsum(-along * (w**2)[:, None], axis=0)

    def applied(self, r: FloatArray, v: FloatArray) -> FloatArray:
        """Forces of everything but rods and friction."""
        weight = self.masses[:, None] * np.array([0.0, -9.81])
        return weight - self.springs[:, None] * (r - self.centres) - self.drag * v

    def rates(self, _: float, q: FloatArray) -> FloatArray:
        """q' in angles; the first rod's force is found with them, since friction, -friction * force * speed of the first point, depends on it."""
        n = len(self.lengths)
        r, v, jacobian, left = self.places(q)
        mass = np.einsum("ijk,i,ilk->jl", jacobian, self.masses, jacobian)

        def accelerations(force: float) -> tuple[FloatArray, float]:
            total = self.applied(r, v)
            total[0] -= self.friction * force * v[0]
            slopes = np.linalg.solve(mass, np.einsum("ijk,ik->j", jacobian, total - self.masses[:, None] * left))
            # rods pull with what free points lack: m r'' = total - force_k (r_k - r_(k-1)) + force_(k+1) (r_(k+1) - r_k)
            lacks = total - self.masses[:, None] * (np.einsum("ijk,j->ik", jacobian, slopes) + left)
            return slopes, float(lacks.sum(axis=0) @ r[0] / (r[0] @ r[0]))

        zero, one = accelerations(0.0)[1], accelerations(1.0)[1]  # linear in the force
        return np.concatenate([q[n:], accelerations(zero / (1.0 - one + zero))[0]])

    def final(self, t_end: float) -> FloatArray:
        """Points and speeds at the end."""
        r, v, _, _ = self.places(solve_ivp(self.rates, (0, t_end), self.start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1])
        return np.concatenate([r.ravel(), v.ravel()])

    def moved(self, **changes: Any) -> Chain:
        """With other values of what ``with_parameters`` makes parameters of."""
        spring = changes.pop("spring", None)
        springs = self.springs if spring is None else np.array([spring, *self.springs[1:]])
        return replace(self, springs=springs, **changes)

    def derivative(self, name: str, t_end: float) -> FloatArray:
        """Of ``final`` by drag, friction or the first spring, by differences of the fifth order."""
        value = float(self.springs[0] if name == "spring" else getattr(self, name))
        return by_differences(lambda other: self.moved(**{name: other}).final(t_end), value, 1e-4)

    def with_parameters(self) -> dict[str, Any]:
        """What ``tg.hdae`` is given, drag, friction and the first spring being parameters."""
        fixed = self.functions()

        def of(name: str) -> Callable[..., Any]:
            return lambda t, y, p: self.moved(drag=p["drag"], friction=p["friction"], spring=p["spring"]).functions()[name](t, y)

        followed = {name: of(name) for name in ("f1", "f2", "f3", "f4", "f5")}
        return fixed | followed | {"p": {"drag": self.drag, "friction": self.friction, "spring": float(self.springs[0])}}

    def names(self) -> list[str]:
        """Of what ``final`` gives."""
        return [f"{what}{axis}{k}" for what in "rv" for k in range(len(self.lengths)) for axis in "xy"]

    def functions(self) -> dict[str, Any]:
        """What ``tg.hdae`` is given."""
        n, mu = len(self.lengths), self.friction
        r0, v0, _, _ = self.places(self.start)

        def points(y: Any, what: str) -> list[tuple[Any, Any]]:
            return [(y[f"{what}x{k}"], y[f"{what}y{k}"]) for k in range(n)]

        def rods(p: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
            return [p[0], *((b[0] - a[0], b[1] - a[1]) for a, b in pairwise(p))]

        def accelerations(y: Any) -> list[tuple[Any, Any]]:
            r, v = points(y, "r"), points(y, "v")
            d = rods(r)
            found: list[tuple[Any, Any]] = []
            for k in range(n):
                pair: list[Any] = []
                for axis in range(2):
                    total = -self.springs[k] * (r[k][axis] - self.centres[k, axis]) - self.drag * v[k][axis] - y[f"force{k}"] * d[k][axis]
                    if k + 1 < n:
                        total = total + y[f"force{k + 1}"] * d[k + 1][axis]
                    if k == 0:
                        total = total - y["brake"] * v[0][axis]
                    pair.append(total / self.masses[k] - (9.81 if axis else 0.0))
                found.append((pair[0], pair[1]))
            return found

        def f1(_: Any, y: Any) -> list[Any]:
            return [item for pair in (*points(y, "v"), *accelerations(y)) for item in pair]

        def f3(_: Any, y: Any) -> list[Any]:
            d, w, b = rods(points(y, "r")), rods(points(y, "v")), rods(accelerations(y))
            return [wk[0] ** 2 + wk[1] ** 2 + dk[0] * bk[0] + dk[1] * bk[1] for dk, wk, bk in zip(d, w, b, strict=True)]

        def f4(_: Any, y: Any) -> list[Any]:
            return [dk[0] * wk[0] + dk[1] * wk[1] for dk, wk in zip(rods(points(y, "r")), rods(points(y, "v")), strict=True)]

        def f5(_: Any, y: Any) -> list[Any]:
            return [(dk[0] ** 2 + dk[1] ** 2 - length**2) / 2 for dk, length in zip(rods(points(y, "r")), self.lengths.tolist(), strict=True)]

        return {
            "f1": f1, "f2": lambda t, y: [y["brake"] - mu * y["force0"]], "f3": f3, "f4": f4, "f5": f5,
            "x1": dict(zip(self.names(), np.concatenate([r0.ravel(), v0.ravel()]).tolist(), strict=True)),
            "x2": {"brake": 0.0}, "x3": {f"force{k}": 0.0 for k in range(n)},
        }  # fmt: skip
