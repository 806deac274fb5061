"""The coefficients fulfil the equations that define Radau IIA (Hairer and Wanner, Solving ODEs II, sections IV.5 and IV.8)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Legendre, Polynomial
from numpy.typing import NDArray

from tidegate.integrators.radau import tableau

STAGES = pytest.mark.parametrize("s", [3, 5, 7])


def place(s: int) -> int:
    return (s - 3) // 2


def nodes(s: int) -> NDArray[np.float64]:
    return np.asarray(tableau.NODES[place(s), :s])


def runge_kutta_matrix(s: int) -> NDArray[np.float64]:
    """A from the collocation conditions: row i integrates the Lagrange polynomials to c_i."""
    c = nodes(s)
    powers = np.arange(s)
    return (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(c[:, None] ** powers)


@STAGES
def test_nodes_are_the_zeros_of_the_radau_polynomial(s: int) -> None:
    shifted = (Legendre.basis(s) - Legendre.basis(s - 1)).convert(kind=Polynomial)(Polynomial([-1.0, 2.0]))
    assert np.sort(shifted.roots().real) == pytest.approx(nodes(s), abs=1e-11)
    assert nodes(s)[-1] == 1.0


@STAGES
def test_the_inverse_matrix_fulfils_the_collocation_conditions(s: int) -> None:
    inverse = tableau.INVERSE[place(s), :s, :s]
    assert inverse @ runge_kutta_matrix(s) == pytest.approx(np.eye(s), abs=1e-9)


@STAGES
def test_end_weights_integrate_polynomials_of_degree_2s_minus_2(s: int) -> None:
    weights = np.linalg.inv(tableau.INVERSE[place(s), :s, :s])[-1]
    for degree in range(2 * s - 1):
        assert weights @ nodes(s) ** degree == pytest.approx(1.0 / (degree + 1), abs=1e-13)
    assert weights @ nodes(s) ** (2 * s - 1) != pytest.approx(1.0 / (2 * s), abs=1e-13)


@STAGES
def test_eigenpairs_belong_to_the_inverse_matrix(s: int) -> None:
    k, pairs = place(s), (s - 1) // 2
    inverse = tableau.INVERSE[k, :s, :s]
    v = tableau.FROM_REAL[k, :s]
    assert inverse @ v == pytest.approx(tableau.LAMBDA_REAL[k] * v, abs=1e-11)
    assert tableau.TO_REAL[k, :s] @ inverse == pytest.approx(tableau.LAMBDA_REAL[k] * tableau.TO_REAL[k, :s], rel=1e-11, abs=1e-9)
    for c in range(pairs):
        v, value = tableau.FROM_COMPLEX[k, :s, c], tableau.LAMBDA_COMPLEX[k, c]
        assert np.abs(inverse @ v - value * v).max() < 1e-11
        left = tableau.TO_COMPLEX[k, c, :s]
        assert np.abs(left @ inverse - value * left).max() < 1e-9


@STAGES
def test_going_to_eigenvectors_and_back_changes_nothing(s: int) -> None:
    k, pairs = place(s), (s - 1) // 2
    back = np.outer(tableau.FROM_REAL[k, :s], tableau.TO_REAL[k, :s])
    for c in range(pairs):
        back = back + np.outer(tableau.FROM_COMPLEX[k, :s, c], tableau.TO_COMPLEX[k, c, :s]).real
    assert back == pytest.approx(np.eye(s), abs=1e-11)


@STAGES
def test_the_error_estimate_vanishes_for_solutions_of_degree_s(s: int) -> None:
    """Embedded formula with gamma_0 = 1/lambda: for y = t^q it is gamma_0 y'(0) h + e . Z, zero for q = 1 ... s (IV.8.19)."""
    e, c = tableau.ERROR[place(s), :s], nodes(s)
    assert e @ c == pytest.approx(-1.0 / tableau.LAMBDA_REAL[place(s)], abs=1e-13)
    for degree in range(2, s + 1):
        assert e @ c**degree == pytest.approx(0.0, abs=1e-12)
    assert abs(e @ c ** (s + 1)) > 1e-5


@STAGES
def test_the_step_polynomial_goes_through_all_stages(s: int) -> None:
    coefficients = tableau.POLYNOMIAL[place(s), :s, :s]
    for i, theta in enumerate(nodes(s)):
        assert theta ** np.arange(1, s + 1) @ coefficients == pytest.approx(np.eye(s)[i], abs=1e-9)


@STAGES
def test_the_inner_points_are_no_nodes_and_their_weights_those_of_the_step_polynomial(s: int) -> None:
    k = place(s)
    for i, theta in enumerate(tableau.INNER[k]):
        if theta == 0.0:
            continue
        assert np.abs(nodes(s) - theta).min() > 0.05
        powers = np.arange(1, s + 1)
        coefficients = tableau.POLYNOMIAL[k, :s, :s]
        assert tableau.INNER_VALUE[k, i, :s] == pytest.approx(theta**powers @ coefficients, abs=1e-10)
        assert tableau.INNER_RATE[k, i, :s] == pytest.approx(powers * theta ** (powers - 1) @ coefficients, abs=1e-9)
