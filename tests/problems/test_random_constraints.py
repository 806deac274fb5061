"""Random linear systems with constraints between states, of index 2 and 3, against the flow on the null space of the constraints."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm  # pyright: ignore[reportUnknownVariableType]

import tidegate as tg
from engines import allowed
from tidegate.expressions import ZERO, Expr, Role, as_expr, node, symbol
from tidegate.model import Equation, Form, Model, Variable, VariableRole
from tidegate.model.validate import validate

__all__: list[str] = []

Matrix = NDArray[np.float64]
TIME = symbol(Role.TIME, "time")


class RandomConstraints:
    """0 = G q - r t, q' = v, v' = K q + D v + B f with random G, K, D, B; or q' = K q + B f.

    Parameters
    ----------
    seed : of everything.
    index : 3 or 2.
    """

    def __init__(self, seed: int, index: int) -> None:
        draw = random.Random(seed)
        self.index = index
        self.n = draw.randint(2, 6)
        self.m = draw.randint(1, self.n)
        number = np.random.default_rng(seed)
        self.K, self.D = (number.uniform(-1.0, 1.0, (self.n, self.n)) - np.eye(self.n) for _ in range(2))
        while True:
            self.G = number.integers(-2, 3, (self.m, self.n)) * (number.uniform(size=(self.m, self.n)) < 0.6).astype(float)
            self.B = self.G.T.copy() if draw.random() < 0.5 else number.integers(-2, 3, (self.n, self.m)).astype(float)
            if abs(np.linalg.det(self.G @ self.B)) > 0.5:
                break
        self.r = number.uniform(-1.0, 1.0, self.m) * (draw.random() < 0.5)
        self.q = [symbol(Role.UNKNOWN, f"q{i}") for i in range(self.n)]
        self.v = [symbol(Role.UNKNOWN, f"v{i}") for i in range(self.n)]
        f = [symbol(Role.UNKNOWN, f"f{i}") for i in range(self.m)]
        names = [item.data.name for item in (*self.q, *(self.v if index == 3 else ()))]
        starts = {name: number.uniform(-1.0, 1.0) for name in names}
        wishes: dict[str, Any] = {name: draw.choice(["default", "default", "default", "avoid", "prefer"]) for name in names}
        variables = [Variable(name, VariableRole.STATE, start=(as_expr(starts[name]),), fixed=False, state_select=wishes[name]) for name in names]
        variables += [Variable(item.data.name, VariableRole.ALGEBRAIC) for item in f]
        push = [self._row(row, self.q) + self._row(force, f) for row, force in zip(self.K, self.B, strict=True)]
        moved = self.v if index == 3 else self.q
        equations = [Equation(self._rate(x), push[i] + (self._row(self.D[i], self.v) if index == 3 else 0.0)) for i, x in enumerate(moved)]
        if index == 3:
            equations += [Equation(self._rate(x), v) for x, v in zip(self.q, self.v, strict=True)]
        # written with factors, so that no two unknowns are one under two names
        equations += [Equation(7.0 * self.r[i] * TIME, 7.0 * self._row(row, self.q)) for i, row in enumerate(self.G)]
        draw.shuffle(equations)
        draw.shuffle(variables)
        self.names = names
        self.starts = starts
        self.model = Model(f"random{seed}", Form.DAE, tuple(variables), tuple(equations))

    @staticmethod
    def _rate(item: Expr) -> Expr:
        return symbol(Role.DERIVATIVE, item.data.name)

    @staticmethod
    def _row(row: Matrix, items: list[Expr]) -> Expr:
        total: Expr = ZERO
        for factor, item in zip(row.tolist(), items, strict=True):
            total = total + factor * item
        return total

    def flow(self, t: float) -> Matrix:
        """From the (consistent) start values and 1 to the values at a time."""
        n, inverse = self.n, np.linalg.inv(self.G @ self.B)
        keep = np.eye(n) - self.B @ inverse @ self.G
        given = self.B @ inverse @ self.r
        if self.index == 2:
            a = np.block([[keep @ self.K, given[:, None]], [np.zeros((1, n + 1))]])
        else:
            # G v = r, so that G v' = 0
            a = np.block([
                [np.zeros((n, n)), np.eye(n), np.zeros((n, 1))],
                [keep @ self.K, keep @ self.D, np.zeros((n, 1))],
                [np.zeros((1, 2 * n + 1))],
            ])  # fmt: skip
        found: Any = expm(a * t)
        return found

    def check(self, method: str) -> None:
        """One run."""
        validate(self.model)
        result = tg.simulate(self.model, (0.0, 1.0), rtol=1e-8, method=method)
        first = np.array([result[name].values[0] for name in self.names])
        np.testing.assert_allclose(self.G @ first[: self.n], 0.0, atol=1e-9)
        n_states = (self.n - self.m) * (self.index - 1)
        kept = sum(first[k] == pytest.approx(self.starts[name], rel=1e-9, abs=1e-12) for k, name in enumerate(self.names))
        assert kept >= n_states  # those that stayed states
        truth = (self.flow(1.0) @ np.array([*first, 1.0]))[:-1]
        last = np.array([result.final[name] for name in self.names])
        assert not result.events
        np.testing.assert_allclose(last, truth, rtol=0.0, atol=allowed(method, 1e-7, 1e-8) * max(1.0, np.max(np.abs(truth))))


@pytest.mark.parametrize("index", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_random_constraints_keep_the_flow_of_their_null_space(seed: int, index: int, dae_method: str) -> None:
    RandomConstraints(seed, index).check(dae_method)


@pytest.mark.hunt
@pytest.mark.parametrize("index", [2, 3])
@pytest.mark.parametrize("seed", range(3, 40))
def test_many_random_constraints_keep_the_flow_of_their_null_space(seed: int, index: int) -> None:
    RandomConstraints(seed, index).check("radau")


def turning(rate: float, decay: float) -> Model:
    """A point on a line that turns and moves away, with a motion along it: in coordinates that turn with it x = 1 + t, y = 2 exp(-decay t).

    The force is 1: where one is zero, the absolute tolerance lets IDA, which looks at algebraic unknowns too, step no further than rounding errors.
    """
    x, y, f = (symbol(Role.UNKNOWN, name) for name in "xyf")
    c, s = (node(name, (rate * TIME,)) for name in ("cos", "sin"))
    along = c * y - s * x
    # with the turning itself, the force across the line, and what goes on along it
    equations = (
        Equation(symbol(Role.DERIVATIVE, "x"), -rate * y + c * f + s * decay * along),
        Equation(symbol(Role.DERIVATIVE, "y"), rate * x + s * f - c * decay * along),
        Equation(1.0 + TIME, c * x + s * y),
    )
    starts = {"x": 1.0, "y": 2.0}
    states = [Variable(name, VariableRole.STATE, start=(as_expr(value),)) for name, value in starts.items()]
    return Model("turning", Form.DAE, (*states, Variable("f", VariableRole.ALGEBRAIC)), equations)


@pytest.mark.parametrize("seed", range(3))
def test_states_on_a_line_that_turns_change_with_it_and_nothing_else_does(seed: int, dae_method: str) -> None:
    draw = random.Random(seed)
    rate, decay = draw.uniform(2.0, 8.0) * draw.choice([-1, 1]), draw.uniform(0.1, 1.0)
    result = tg.simulate(turning(rate, decay), (0.0, 4.0), rtol=1e-8, method=dae_method)
    t = result.t
    along = 2.0 * np.exp(-decay * t)
    exact: dict[str, Any] = {
        "x": np.cos(rate * t) * (1.0 + t) - np.sin(rate * t) * along,
        "y": np.sin(rate * t) * (1.0 + t) + np.cos(rate * t) * along,
    }
    for name, values in exact.items():
        size = np.max(np.abs(values))
        np.testing.assert_allclose(result[name].values, values, rtol=0.0, atol=size * allowed(dae_method, 1e-6, 1e-8, 400.0))  # 18 restarts
    assert result.statistics.extra["choices of states"] >= 4
