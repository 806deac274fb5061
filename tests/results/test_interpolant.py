"""Dense output evaluates the polynomial of the piece that holds the time, with both values at an event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import UsageError
from tidegate.results import Interpolant

numbers = st.floats(-10.0, 10.0)


@pytest.mark.slow
@given(
    widths=st.lists(st.floats(0.1, 2.0), min_size=1, max_size=6),
    seed=st.integers(0, 2**32 - 1),
    place=st.floats(0.0, 0.999),
    backwards=st.booleans(),
)
def test_value_equals_numpy_polynomial_of_the_piece(widths: list[float], seed: int, place: float, backwards: bool) -> None:
    signed = np.array(widths) * (-1.0 if backwards else 1.0)
    starts = np.concatenate([[0.0], np.cumsum(signed)[:-1]])
    coefficients = np.random.default_rng(seed).normal(size=(len(widths), 4, 2))
    dense = Interpolant(starts, signed, coefficients, ["a", "b"])
    k = seed % len(widths)
    t = starts[k] + place * signed[k]
    theta = (t - starts[k]) / signed[k]
    expected = [np.polynomial.polynomial.polyval(theta, coefficients[k, :, i]) for i in range(2)]
    np.testing.assert_allclose(dense(t), expected, rtol=1e-9, atol=1e-9)


def test_two_values_at_an_event() -> None:
    dense = Interpolant([0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [[[0.0], [1.0]], [[7.0], [0.0]], [[5.0], [0.0]]], ["x"])
    assert dense(1.0).tolist() == [5.0]
    assert dense(1.0, side="left").tolist() == [1.0]
    assert dense([0.0, 2.0]).tolist() == [[0.0], [5.0]]


@pytest.mark.parametrize("time", [-0.1, 2.1, float("nan")])
def test_times_outside_the_run_are_refused(time: float) -> None:
    dense = Interpolant([0.0], [2.0], [[[1.0]]], ["x"])
    with pytest.raises(UsageError, match=r"outside the run, which goes from 0 to 2"):
        dense([1.0, time])


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit together"):
        Interpolant([0.0], [1.0, 2.0], [[[1.0]]], ["x"])
