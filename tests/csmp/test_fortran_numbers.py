"""Numbers are printed as FORTRAN's 1PE format prints them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.csmp.fortran_numbers import five, one_pe, three


@pytest.mark.parametrize(
    ("value", "short", "long"),
    [
        (-0.101812, "-1.02E-01", "-1.0181E-01"),
        (0.0, "0.00E-01", "0.0000E-01"),
        (-0.0, "0.00E-01", "0.0000E-01"),
        (20.0, "2.00E+01", "2.0000E+01"),
        (9.9996, "1.00E+01", "9.9996E+00"),
        (math.inf, "INF", "INF"),
        (-math.inf, "-INF", "-INF"),
        (math.nan, "NAN", "NAN"),
    ],
)
def test_three_and_five_digits(value: float, short: str, long: str) -> None:
    assert (three(value), five(value)) == (short, long)


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(1, 17))
def test_what_is_printed_reads_back_within_half_a_digit(value: float, digits: int) -> None:
    # half a unit of the last digit, relative to a first digit of at least one; a little more for the reading itself
    assert abs(float(one_pe(value, digits)) - value) <= (0.5 * 10.0 ** (1 - digits) + 1e-15) * value
