"""`np.linalg.solve`, `inv` and `det` of matrices of variables: values, derivatives and runs as NumPy has them, whichever element is the largest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import tidegate as tg
from tidegate.expressions import evaluate
from tidegate.expressions.node_data import Role
from tidegate.expressions.nodes import Expr, as_expr, symbol
from tidegate.expressions.tracing.symbolic_matrices import determinant, inverse, solution

MOST = 6
SYMBOLS = [symbol(Role.UNKNOWN, f"a{k}") for k in range(MOST * MOST)]


def numbers(expressions: Any, values: np.ndarray) -> np.ndarray:
    flat = [as_expr(item) for item in np.ravel(expressions)]
    point: dict[Expr, float] = dict(zip(SYMBOLS, values.ravel().tolist(), strict=False))
    return np.array(evaluate(flat, point)).reshape(np.shape(expressions))


@pytest.mark.slow
@given(st.integers(1, MOST), st.integers(0, 10**6))
def test_random_matrices_are_solved_inverted_and_have_their_determinant(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, n))
    matrix[rng.random((n, n)) < 0.3] = 0.0  # also where a pivot would stand
    size = np.linalg.cond(matrix)
    if size > 1e8:
        return
    symbols = np.array(SYMBOLS[: n * n], dtype=object).reshape(n, n)
    right = rng.normal(size=(n, 2))
    rounding = 1e-14 * size  # some tens of roundings of elements near one, amplified by the condition
    for b in (right[:, 0], right):
        exact = np.linalg.solve(matrix, b)
        np.testing.assert_allclose(numbers(solution(symbols, b), matrix), exact, atol=rounding * np.abs(exact).max() * 10)
    exact = np.linalg.inv(matrix)
    np.testing.assert_allclose(numbers(inverse(symbols), matrix), exact, atol=rounding * np.abs(exact).max() * 10)
    np.testing.assert_allclose(numbers(determinant(symbols), matrix), np.linalg.det(matrix), rtol=rounding * 100, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_a_mass_matrix_that_turns_is_solved_along_a_run(n: int) -> None:
    """The largest elements of its columns change their rows on the way, so that pivots are exchanged; with the derivative by a parameter."""
    rng = np.random.default_rng(n)
    rest = 0.1 * rng.normal(size=(n, n))

    def rates(t: Any, y: Any, p: Any) -> Any:
        matrix = rest + 0.05 * np.outer(y, y)
        for k in range(0, n - 1, 2):  # turned in pairs, by up to 70 degrees
            matrix[k : k + 2, k : k + 2] += p["big"] * np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
        if n % 2:
            matrix[-1, -1] += p["big"]
        return np.linalg.solve(matrix, -y)

    start = rng.normal(size=n)
    result = tg.simulate(tg.ode(rates, start, {"big": 3.0}), (0.0, 1.2), rtol=1e-9, atol=1e-11, sensitivities=["big"])

    def end(big: float) -> np.ndarray:
        return solve_ivp(lambda t, y: rates(t, y, {"big": big}), (0.0, 1.2), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]

    np.testing.assert_allclose(list(result.final.values()), end(3.0), atol=1e-7)
    slopes = (end(3.0 + 1e-4) - end(3.0 - 1e-4)) / 2e-4
    np.testing.assert_allclose(result.sensitivity("y", "big").values[-1], slopes, atol=1e-6)
    assert not len(result.events)


@pytest.mark.slow
def test_a_double_pendulum_by_its_mass_matrix_keeps_its_energy() -> None:
    def rates(t: Any, y: Any) -> Any:
        a, b, u, v = y
        mass = np.array([[2.0, np.cos(a - b)], [np.cos(a - b), 1.0]])
        force = np.array([-v * v * np.sin(a - b) - 2 * 9.81 * np.sin(a), u * u * np.sin(a - b) - 9.81 * np.sin(b)])
        return np.concatenate([[u, v], np.linalg.inv(mass) @ force])

    result = tg.simulate(tg.ode(rates, [1.0, 0.5, 0.0, 0.0]), (0.0, 3.0), rtol=1e-10)
    a, b, u, v = result["y"].values.T
    energy = u * u + v * v / 2 + u * v * np.cos(a - b) - 9.81 * (2 * np.cos(a) + np.cos(b))
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)


def test_what_is_no_square_matrix_is_refused() -> None:
    with pytest.raises(tg.UntraceableError, match=r"np.linalg.inv of symbols with shape \(2, 3\)"):
        tg.simulate(tg.ode(lambda t, y: np.linalg.inv(np.outer(y, np.ones(3)))[0], [1.0, 2.0]), (0.0, 1.0))
