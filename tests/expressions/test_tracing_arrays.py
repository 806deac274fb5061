"""Arrays are followed as NumPy has them: their types, their views, and what functions change in their arguments; or they are refused."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from random_array_functions import random_array_function
from tracing_checks import POINTS, assert_refused, assert_same, followed_or_refused

__all__: list[str] = []


# -- whole numbers and truth values


def converted_to_whole_numbers(y):
    return [*(2.5 * y).astype(int), *np.array([y[0], 3 * y[1]], dtype=int), *np.asarray([y[2]], "int64"), *np.full(2, y[0], dtype=int)]


def whole_numbers_in_an_array_of_them(y):
    k = np.zeros(3, int)
    k[0] = 1 if y[0] > 0 else 2
    k[1] = int(y[1])
    k[2] = y[2] > 0
    k[y > 1] = 0.7
    return [*k, *(k / 2)]


def conditions_as_arrays(y):
    both = (y > 0) * (y < 2)
    either = (y > 0) + (y > 1)
    mixed = ~(np.array([y[0], 1.0, -1.0]) > 0)
    return [*(2.0 * both), *(1.5 * either), *(3.0 * mixed), either.sum(), np.mean(both)]


def truth_values_in_an_array_of_them(y):
    above = y > 0
    above[0] = y[1] > 0
    above[1] = 0.3
    flags = np.zeros(2, dtype=bool)
    flags[0] = y[2]
    return [*(above * 1.0), *(flags * 1.0)]


# -- what is a view of what


def views_by_functions(y):
    a = np.zeros((2, 3))
    np.reshape(a, (3, 2))[2, 0] = y[0]
    np.ravel(a)[1] = y[1]
    np.transpose(a)[2, 1] = y[2]
    halves = np.split(np.ravel(a), 2)
    halves[1][0] = 7.0
    b = np.concatenate([a[0], a[1]])
    b[0] = 100.0
    return [*a.ravel(), *b]


def views_changed_in_branches(y):
    a = np.array([[y[0], 1.0], [2.0, y[1]]])
    part = a[1]
    if y[2] > 0:
        a.flat[3] = -1.0
        a.reshape(-1)[0] = y[2]
    elif y[1] > 0:
        part[0] += y[1]
    return [*a.ravel(), *part]


def rows_in_a_list(y):
    a = np.array([1.0, 2.0])
    rows = [a, y[:2]]
    rows[0] += 1
    rows[1][0] = y[1] if y[2] > 0 else 4.0
    return [*a, *rows[0], *rows[1], *y]


# -- functions of NumPy that change what they are given


def filled_by_functions(y):
    a, b, c = np.zeros((2, 2)), np.ones(3), np.array([y[0], 2.0, y[2]])
    if y[0] > 0:
        np.fill_diagonal(a, 3.0)
        np.put(b, [1], y[1])
    else:
        np.copyto(b, y)
        np.fill_diagonal(a, y[2])
    np.place(a, [[False, True], [False, False]], [9.0])
    np.add.at(c, [0, 0, 1], 2.0)
    return [*a.ravel(), *b, *c]


def given_where_to_put_it(y):
    a = np.zeros(3)
    np.add(y, 1.0, out=a)
    b = np.array([5.0, y[1], 7.0])
    np.maximum(y, 0.0, out=b, where=np.array([True, False, True]))
    c = y.copy()
    np.clip(c, -0.5, 0.5, out=c)
    d = np.ones(3)
    np.multiply(y, 2.0, out=d, where=y > 0)
    return [*a, *b, *c, *d]


def extremes_with_options(y):
    rows = np.array([[y[0], 1.0], [y[1], y[2]]])
    return [
        np.max(y, initial=0.5), np.min(rows, initial=-0.25), *np.max(rows, axis=0, keepdims=True).ravel(), y.max(initial=0.3), y.min(),
        *np.any(rows > 0, axis=1, keepdims=True).ravel(),
    ]  # fmt: skip


def changed_under_a_condition(y):
    modes = np.zeros(2, dtype=int)
    if y[0] > 0:
        modes[0] = 1
    return modes


def chosen_by_a_mask(y):
    m = y > 0.5
    return [y[m].sum(), np.sum(y[m] ** 2), len(y[m]), y[m].size * 1.0, np.max(y[m], initial=-9.0), y[m] @ y[m], np.any(y[m] > 1), (y[m] < 1).all()]


def changed_by_a_mask(y):
    out = np.zeros(3)
    out[y > 0] -= 0.4
    out[y < 1] *= 3.0
    m = y > -0.5
    out[m] = np.sqrt(y[m] + 0.5) - out[m]
    out[~m] += 1.0
    return out


def numbers_compared_with_a_variable(y):
    levels = np.array([0.0, 0.5, 1.0])
    return [(levels > y[0]).sum(), (y[1] >= levels).sum(), levels[levels < y[2]].sum(), *np.where(levels == y[0], 1.0, 2.0)]


def shaped_and_changed(y):
    a = np.arange(6.0).reshape(2, 3)
    a[0, 1] = y[0]
    b = np.linspace(0.0, 1.0, 4)[1:]
    if y[1] > 0:
        b[0] = 7.0
    return [*a.ravel(), *b]


def changed_where_a_list_holds_it(y):
    a = np.arange(2.0)
    held, named = [a], {"a": a}
    a[0] = y[0]
    return [held[0][0], named["a"][0]]


_FOLLOWED = [
    converted_to_whole_numbers, whole_numbers_in_an_array_of_them, conditions_as_arrays, truth_values_in_an_array_of_them, views_by_functions,
    views_changed_in_branches, rows_in_a_list, filled_by_functions, given_where_to_put_it, extremes_with_options,
    changed_under_a_condition, chosen_by_a_mask, changed_by_a_mask, numbers_compared_with_a_variable, shaped_and_changed,
    changed_where_a_list_holds_it,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("function", _FOLLOWED, ids=lambda function: function.__name__)
@given(point=POINTS)
def test_arrays_are_followed_as_numpy_has_them(function: Callable[..., Any], point: tuple[float, ...]) -> None:
    assert_same(function, point)


# -- what is refused


def slope_in_an_array_of_whole_numbers(y):
    slopes = np.array([0, 0])
    slopes[0] = y[1]
    return slopes


def added_to_an_array_of_whole_numbers(y):
    slopes = np.zeros(2, dtype=int)
    slopes[0] += y[1]
    return slopes


def whole_under_a_condition(y):
    a = np.array([1, 2]) if y[0] > 0 else np.array([1.5, 2.5])
    a[0] = 0.5
    return a


def number_in_a_list_changed(y):
    rows = [np.array([1.0, 2.0])]
    rows[0] += y[0]
    return rows[0]


def undetermined_where(y):
    return np.maximum(y, 0.0, where=y > 1)


def complex_numbers(y):
    return np.array([y[0], y[1]], dtype=complex)


def joined_and_changed_under_its_view(y):
    a = np.array([y[0], 1.0, y[1]])
    part = a[:2]
    if y[2] > 0:
        a = a + 1.0
    a[0] = 5.0
    return [*part]


def chosen_by_two_masks(y):
    return [(y[y > 0] * y[y > 1]).sum()]


def looped_over_what_a_mask_chooses(y):
    return sum(v * k for k, v in enumerate(y[y > 0]))


def put_where_a_mask_chooses(y):
    out = np.zeros(3)
    out[y > 0] = y
    return out


def seen_by_a_tuple(y):
    a = np.arange(2.0)
    held = (a, 1.0)
    a[0] = y[0]
    return held[0]


def seen_by_a_view(y):
    a = np.arange(6.0).reshape(2, 3)
    row = a[0]
    a[0, 1] = y[0]
    return row


_REFUSED = [
    (chosen_by_two_masks, "another mask|those of another"),
    (looped_over_what_a_mask_chooses, "how many elements the mask chooses is known only during the run"),
    (put_where_a_mask_chooses, "one element after the other"),
    (seen_by_a_tuple, "part of another array or a tuple"),
    (seen_by_a_view, "part of another array or a tuple"),
    (slope_in_an_array_of_whole_numbers, r"whole numbers is given `b`, of which NumPy would cut off the fraction.*np\.array\(\[0\.0, 0\.0\]\)"),
    (added_to_an_array_of_whole_numbers, "whole numbers is given `b`"),
    (whole_under_a_condition, "whole numbers under a condition is given 0.5"),
    (number_in_a_list_changed, "stands in a list or an object is changed in place"),
    (undetermined_where, "where=, without out="),
    (complex_numbers, "converted to complex128"),
    (joined_and_changed_under_its_view, "is one object where .* and another where not"),
]


@pytest.mark.parametrize(("function", "what"), _REFUSED, ids=lambda item: getattr(item, "__name__", ""))
def test_what_numpy_would_lose_or_nobody_knows_is_refused(function: Callable[..., Any], what: str) -> None:
    assert_refused(function, what)


# -- random functions

_SEEN = [tuple(row) for row in np.random.default_rng(8).normal(scale=1.5, size=(12, 3)).tolist()]


def check_random(seeds: range) -> Counter[str]:
    """How many functions agree with Python, are refused, or raise an error in Python, too."""
    outcome: Counter[str] = Counter()
    for seed in seeds:
        function = random_array_function(seed)
        try:
            for point in _SEEN:
                function(np.array(point))
        except (ValueError, TypeError, IndexError, AttributeError):  # an array of whole numbers is given floats, shapes that do not fit
            outcome["raises"] += 1
            continue
        outcome[followed_or_refused(function, _SEEN, np.array, f"seed {seed}")] += 1
    return outcome


@pytest.mark.slow
def test_random_functions_of_arrays_agree_with_numpy_or_are_refused() -> None:
    assert check_random(range(20))["agree"] > 10


@pytest.mark.hunt
def test_many_random_functions_of_arrays_agree_with_numpy_or_are_refused() -> None:
    outcome = check_random(range(1000, 1080))  # 10 000 were tried once
    assert outcome["agree"] > 40
    assert outcome["refused"] < 32
