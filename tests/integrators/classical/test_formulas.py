"""The formulas of the classical methods, with exact fractions: what they promise of polynomials they keep to the last digit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from tidegate.integrators.classical import england, hamming
from tidegate.integrators.classical.polynomial import Coefficients, cubic, value

Polynomial = Callable[[Fraction], Fraction]
H = Fraction(3, 7)


def power(degree: int) -> Polynomial:
    """A polynomial of a degree, with nothing special about its coefficients."""
    return lambda t: sum((Fraction(k + 2, k + 1) * (-1) ** k * t**k for k in range(degree + 1)), Fraction(0))


def derivative(degree: int) -> Polynomial:
    return lambda t: sum((Fraction(k + 2, k + 1) * (-1) ** k * k * t ** (k - 1) for k in range(1, degree + 1)), Fraction(0))


def slope(c: Coefficients, s: Fraction) -> Fraction:
    return c.c1 + 2 * c.c2 * s + 3 * c.c3 * s**2 + 4 * c.c4 * s**3 + 5 * c.c5 * s**4


def history(degree: int, h: Fraction = H) -> tuple[list[Fraction], list[Fraction]]:
    """Values and rates at 0, h, 2h, 3h."""
    return [power(degree)(k * h) for k in range(4)], [derivative(degree)(k * h) for k in range(4)]


@pytest.mark.parametrize("degree", range(6))
def test_the_quintic_of_england_is_the_solution_where_that_is_a_quintic(degree: int) -> None:
    """Values and slopes at start, middle and end determine it."""
    y, f = power(degree), derivative(degree)
    whole, half = y(2 * H) - y(Fraction(0)), y(H) - y(Fraction(0))
    # d + err/2 is the middle; halves are floats in the formula, hence a few roundings of the fractions
    c = england.polynomial(H * f(Fraction(0)), H * f(H), H * f(2 * H), half, Fraction(0), whole)
    for s in (Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        assert float(value(c, s)) == pytest.approx(float(y(2 * H * s) - y(Fraction(0))), abs=1e-13)


@pytest.mark.parametrize("degree", range(6))
def test_the_quintic_of_hamming_is_the_solution_where_that_is_a_quintic(degree: int) -> None:
    y, f = history(degree)
    c = hamming.polynomial(y[1], y[2], y[3], f[1], f[2], f[3], H)
    for s in (Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        assert value(c, s) == power(degree)((2 + s) * H) - y[2]
        assert slope(c, s) == H * derivative(degree)((2 + s) * H)


@pytest.mark.parametrize("degree", range(4))
def test_the_cubic_is_the_solution_where_that_is_a_cubic(degree: int) -> None:
    y, f = power(degree), derivative(degree)
    c = cubic(H * f(Fraction(0)), H * f(H), y(H) - y(Fraction(0)))
    for s in (Fraction(1, 5), Fraction(1, 2), Fraction(1)):
        assert value(c, s) == y(H * s) - y(Fraction(0))


@pytest.mark.parametrize("degree", range(5))
def test_predictor_and_corrector_are_exact_to_degree_four(degree: int) -> None:
    y, f = history(degree)
    new, rate = power(degree)(4 * H), derivative(degree)(4 * H)
    assert hamming.predicted(y[0], f[1], f[2], f[3], H) == new
    assert hamming.corrected(y[1], y[3], f[2], f[3], rate, H) == new


def test_modifier_and_improvement_remove_the_error_of_degree_five() -> None:
    """The errors of P and C are in the proportion 112 to -9, so that both are known from their difference."""
    y, f = history(5)
    new, rate = power(5)(4 * H), derivative(5)(4 * H)
    p = hamming.predicted(y[0], f[1], f[2], f[3], H)
    c = hamming.corrected(y[1], y[3], f[2], f[3], rate, H)
    assert p != new
    assert hamming.improved(c, p - c) == new
    assert hamming.modified(p, p - c) == new


def test_the_difference_of_a_new_grid_is_that_of_its_last_step() -> None:
    """Of degree five, where P - C does not depend on the place."""
    y, f = history(5)
    new_y = [power(5)(k * H) for k in range(1, 5)]
    new_f = [derivative(5)(k * H) for k in range(1, 5)]
    p = hamming.predicted(y[0], f[1], f[2], f[3], H)
    c = hamming.corrected(y[1], y[3], f[2], f[3], new_f[3], H)
    assert hamming.difference(new_y[0], new_y[3], *new_f, H) == p - c


@pytest.mark.parametrize("degree", range(6))
def test_points_of_a_halved_grid_lie_on_the_solution(degree: int) -> None:
    y, f = history(degree)
    assert hamming.halved_far(*y, f[1], f[2], f[3], H) == power(degree)(Fraction(3, 2) * H)
    assert hamming.halved_near(*y, f[1], f[2], f[3], H) == power(degree)(Fraction(5, 2) * H)


@pytest.mark.parametrize("degree", range(5))
def test_refined_starting_values_are_exact_to_degree_four_or_three(degree: int) -> None:
    """Simpson's and the three-eighths rule integrate rates of degree three, the first formula as well."""
    y, f = history(degree)
    assert hamming.refined_1(y[0], *f, H) == y[1]
    assert hamming.refined_2(y[0], f[0], f[1], f[2], H) == y[2]
    assert hamming.refined_3(y[0], *f, H) == y[3]


@pytest.mark.parametrize("degree", range(6))
def test_the_point_of_a_finer_start_lies_on_the_solution(degree: int) -> None:
    y, f = history(degree)
    regridded = england.regridded(y[2], y[1], y[0], f[2], f[1], f[0], H)
    assert regridded == power(degree)(Fraction(3, 2) * H)


def test_stages_of_a_linear_problem_give_the_exponential_to_the_fourth_power() -> None:
    """y' = y with one step of 2h: the increment begins with the terms of exp(2h) - 1, the estimate with h**5."""
    increments: list[float] = []
    estimates: list[float] = []
    for h in (1 / 64, 1 / 128):
        k1 = h
        k2 = h * (1 + england.second(k1))
        k3 = h * (1 + england.third(k1, k2))
        k4 = h * (1 + england.fourth(k2, k3))
        d = england.middle(k1, k3, k4)
        k5 = h * (1 + d)
        k6 = h * (1 + england.sixth(d, k5))
        k7 = h * (1 + england.seventh(d, k5, k6))
        k8 = h * (1 + england.eighth(d, k2, k3, k4, k5, k6, k7))
        err = england.estimate(k1, k3, k4, k5, k7, k8)
        k9 = h * (1 + england.ninth(d, k6, k7))
        increments.append(england.increment(err, d, k5, k7, k9) - (2 * h + 2 * h**2 + 4 / 3 * h**3 + 2 / 3 * h**4 + 4 / 15 * h**5 + 4 / 45 * h**6))
        estimates.append(err)
    assert abs(increments[0]) < 2e-11
    assert estimates[0] / estimates[1] == pytest.approx(32, rel=0.05)


def test_a_grown_step_keeps_half_of_the_allowed_error_and_no_more_than_doubles() -> None:
    assert england.following(0.5, 0.5, 2.0, 9.0) == 0.5
    assert england.following(0.5, 0.5, england.MOST, 9.0) == pytest.approx(1.0, abs=1e-15)
    assert england.following(0.5, 0.5, england.MOST, 0.7) == 0.7
    assert england.following(0.3, 0.5, england.MOST, 9.0) == 0.5  # cut by an event
