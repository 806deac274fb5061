"""Scales have divisions of 1, 2 or 5, show all of a curve and are the closest that do."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate as tg
from tidegate.csmp.trans import Scale, convenient_scale, round_step

sizes = st.floats(min_value=1e-200, max_value=1e200)
numbers = st.one_of(st.just(0.0), sizes, sizes.map(lambda size: -size), st.floats(-1e3, 1e3))
curves = st.lists(numbers, min_size=1, max_size=20)


@pytest.mark.slow
@given(curves, st.integers(2, 20))
def test_every_value_of_a_curve_is_shown(curve: list[float], divisions: int) -> None:
    scale = convenient_scale(curve, divisions)
    slack = 1e-8 * scale.step  # a value may lie past an end by rounding errors only, which 1e-9 of a division allow for
    assert scale.lower - slack <= min(curve)
    assert max(curve) <= scale.upper + slack


@pytest.mark.slow
@given(curves, st.integers(2, 20))
def test_the_step_is_1_2_or_5_and_the_ends_are_multiples_of_it(curve: list[float], divisions: int) -> None:
    scale = convenient_scale(curve, divisions)
    mantissa = f"{scale.step:.9e}".split("e", maxsplit=1)[0]
    assert mantissa in {"1.000000000", "2.000000000", "5.000000000"}
    for end in (scale.lower, scale.upper):
        # doubles near the end of a scale far from zero are 1e-16 of it apart, which may be 1e-4 of a division at most (flat curves are widened)
        assert end / scale.step == pytest.approx(round(end / scale.step), abs=1e-3)
    assert 1 <= round((scale.upper - scale.lower) / scale.step) <= divisions


@pytest.mark.slow
@given(st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=2, max_size=20).filter(lambda values: max(values) > min(values)))
def test_no_smaller_step_would_do(curve: list[float]) -> None:
    scale = convenient_scale(curve)
    exact = Fraction(repr(scale.step))
    low, high = (Fraction(repr(value)) for value in (min(curve), max(curve)))
    for smaller in (exact / 2, exact / 5, exact * 2 / 5):
        if f"{float(smaller):.3e}"[:5] in {"1.000", "2.000", "5.000"}:
            assert math.ceil(high / smaller) - math.floor(low / smaller) > 10


@pytest.mark.parametrize(
    ("curve", "scale"),
    [
        ([0.0], Scale(-1.0, 1.0, 0.2)),
        ([5.0, 5.0], Scale(4.5, 5.5, 0.1)),
        ([], Scale(-1.0, 1.0, 0.2)),
        ([float("nan"), 1.0, float("inf"), 2.0], Scale(1.0, 2.0, 0.1)),
        ([0.0, 0.3], Scale(0.0, 0.3, 0.05)),
        ([0.1, 0.7], Scale(0.1, 0.7, 0.1)),
        ([1.0, 1.0 + 1e-15], Scale(0.9, 1.1, 0.02)),
    ],
)
def test_scales_of_some_curves(curve: list[float], scale: Scale) -> None:
    assert convenient_scale(curve) == scale


def test_the_greatest_numbers_there_are_have_a_scale() -> None:
    scale = convenient_scale([-1e308, 1e308])
    assert scale.lower <= -1e308
    assert scale.upper >= 1e308


def test_marks_stand_at_the_multiples_of_the_step() -> None:
    assert np.array_equal(Scale(-0.3, 0.3, 0.1).marks, [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3])
    assert np.array_equal(Scale(0.5, 3.2, round_step(0.5, 3.2, 4)).marks, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("ends", [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))])
def test_a_scale_without_extent_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(tg.UsageError, match="no scale goes from"):
        Scale(*ends, 1.0)
