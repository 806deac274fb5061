"""Functions of SciPy and of `statistics` in models, and products with sparse matrices."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import tidegate as tg
from tidegate.expressions import Role, as_expr, evaluate, symbol
from tidegate.expressions.differentiate import differentiate
from tidegate.expressions.tracing import Vector, trace
from tracing_checks import POINTS, assert_same

X = symbol(Role.UNKNOWN, "x")
A = sp.csr_array([[1.0, 0.0, -2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 0.0]])


def products(y):
    return [*(A @ y), *(y @ A), *A.dot(y), *(sp.csc_matrix(A) @ y), *(sp.dia_matrix(A).T @ y), *(A @ np.array([y, y * y]).T).ravel()]


def weighted(y):
    return [special.logsumexp(y), special.logsumexp([y, y[::-1]], axis=0)[1], special.logsumexp(y, b=[1.0, 2.0, 0.5]), *special.softmax(y)]


def averages(y):
    rows = np.array([y, y - 1.0])
    return [statistics.mean(y), statistics.fmean([y[0], 2.0]), *special.log_softmax(rows, axis=1).ravel(), *special.softmax(rows).ravel()]


def logistic(y):
    return [*special.expit(y), special.log_expit(y[0]), special.logit(0.5 + 0.1 * np.tanh(y[1])), special.erf(y[0]), special.erfc(y[1])]


def summed(y):
    return [
        y.sum(where=y > 0),
        np.prod(y, where=y > 0.5),
        np.add.reduce(y, where=np.array([True, False, True])),
        float(np.allclose(y, [1.0, 1.0, 1.0])),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("function", [products, weighted, averages, logistic, summed])
@given(point=POINTS)
def test_their_graphs_have_their_values(function: Callable[..., Any], point: tuple[float, ...]) -> None:
    assert_same(function, point)


@pytest.mark.slow
@given(x=st.floats(-700, 700))
def test_logistic_functions_lose_no_digits_and_overflow_nowhere(x: float) -> None:
    for function, slope in ((special.expit, special.expit(x) * special.expit(-x)), (special.log_expit, special.expit(-x))):
        (graph,) = (as_expr(trace(function, [X]).value),)
        value, rate = evaluate([graph, differentiate(graph, X)], {X: x})
        # the exponent is rounded: 700 of them make as many roundings
        assert value == pytest.approx(float(function(x)), rel=3e-13)
        assert rate == pytest.approx(float(slope), rel=1e-12, abs=1e-15)


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_random_sparse_products_are_those_of_full_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 6, 2)
    full = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.4)
    matrix = rng.choice([sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix, sp.dok_array])(full)
    unknowns = Vector([symbol(Role.UNKNOWN, f"y[{k}]") for k in range(columns)])
    values = rng.normal(size=columns)
    found = evaluate([as_expr(item) for item in trace(lambda y: matrix @ y, [unknowns]).value], dict(zip(unknowns, values, strict=True)))
    assert found == pytest.approx((full @ values).tolist(), abs=1e-14)


def test_a_sparse_matrix_that_does_not_fit_is_told() -> None:
    with pytest.raises(tg.UntraceableError, match="a sparse matrix of shape"):
        tg.simulate(tg.ode(lambda t, y: A @ y[:2], y0=[1.0, 2.0, 3.0]), (0.0, 1.0))


def heated(n: int, inner: float) -> tuple[Any, Any]:
    """A rod by the method of lines, and its matrix."""
    matrix = sp.diags_array([inner, -2.0 * inner, inner], offsets=[-1, 0, 1], shape=(n, n), format="csr")
    return tg.ode(lambda t, y: matrix @ y, y0=np.sin(np.linspace(0, np.pi, n + 2)[1:-1])), matrix


@pytest.mark.slow
def test_a_rod_by_the_method_of_lines_cools_as_its_slowest_mode() -> None:
    n, inner = 40, 100.0
    model, _ = heated(n, inner)
    rate = 2.0 * inner * (np.cos(np.pi / (n + 1)) - 1.0)  # the eigenvalue of the start, which is an eigenvector
    found = tg.simulate(model, (0.0, 1.0), rtol=1e-8)
    assert found.final["y[19]"] == pytest.approx(np.sin(np.pi * 20 / (n + 1)) * np.exp(rate), rel=1e-6)


def test_a_sparse_matrix_that_has_changed_is_noticed() -> None:
    model, matrix = heated(5, 1.0)
    before = tg.simulate(model, (0.0, 0.5)).final["y[2]"]
    matrix.data *= 2.0
    after = tg.simulate(model, (0.0, 0.25)).final["y[2]"]
    assert after == pytest.approx(before, rel=1e-5)
