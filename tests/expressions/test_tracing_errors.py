"""What cannot be followed on symbols is refused with the file, the line, the construct, and what to try."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tidegate.errors import UntraceableError, UsageError
from tidegate.expressions import Role, symbol
from tidegate.expressions.tracing import Vector, VectorNames, trace

__all__: list[str] = []

NAMES = ("alpha", "beta", "gamma")


def symbols() -> Vector:
    return Vector([symbol(Role.UNKNOWN, name) for name in NAMES], VectorNames("y", {name: (at, ()) for at, name in enumerate(NAMES)}))


def symbolic_while(y):
    x = y[0]
    while x > 1:  # here
        x = x / 2
    return x


def symbolic_range(y):
    return sum(i for i in range(y[0]))  # here


def symbolic_assert(y):
    assert y[0] > 0  # here
    return y


def symbolic_raise(y):
    if y[0] < 0:
        raise ValueError("negative")  # here
    return y[0]


def symbolic_sort(y):
    return sorted([*y, *range(30)])  # here


def symbolic_list_sort(y):
    values = [*y, *range(30)]
    values.sort()  # here
    return values


def symbolic_membership(y):
    return 1.0 if y[0] in (1, "one") else 0.0  # here


def bound_in_one_branch(y):
    if y[0] > 0:
        k = 1.0
    return k  # here


def different_lengths(y):
    r = [1.0, 2.0]
    if y[0] > 0:
        r = [1.0]
    return r  # here


def different_texts(y):
    mode = "low"
    if y[0] > 0:
        mode = "high"
    return {"low": 1.0, "high": 2.0, mode: 3.0}["low"]  # here


def appended_in_one_branch(y):
    values = []
    if y[0] > 0:
        values.append(1.0)
    return values  # here


def returns_in_one_branch(y):  # noqa: RET503 - the construct under test
    if y[0] > 0:  # here
        return 1.0


def filtered_comprehension(y):
    return [v for v in y if v > 0]  # here


def symbolic_index(y):
    return [1, 2, 3][y[0]]  # here


def symbolic_mask(y):
    return y[y > 0]  # here


def compiled_function(y):
    return math.gamma(y[0])  # here


def unpacked_number(y):
    first, second = y[0]  # here
    return first + second


def symbolic_match(y):
    match y[0] > 0:
        case True:  # here
            return 2.0
    return 0.0


def exception_in_a_branch(y):
    try:
        if y[0] > 0:
            return {}["k"]  # here
    except KeyError:
        return 0.0
    return 1.0


def endless_recursion(y):
    def factorial(n):
        return 1.0 if n < 1 else n * factorial(n - 1)  # here

    return factorial(y[0])


def loop_over_a_number(y):
    for _ in y[0]:  # here
        pass


def evaluated_text(y):
    return eval("y[0] + 1")  # here


def undefined_name(y):
    return y[0] + undefined  # here # noqa: F821 # pyright: ignore[reportUndefinedVariable]


def later_line_of_an_expression(y):
    return [
        y[0],
        math.lgamma(y[1]),  # here
    ]


def in_a_helper(y):
    return 2 * compiled_function(y)


BUFFER = np.zeros(3)


def foreign_buffer(y):
    BUFFER[0] = y[0]  # here
    return BUFFER


CASES = [
    (symbolic_while, "while"),
    (symbolic_range, "range"),
    (symbolic_assert, "assert"),
    (symbolic_raise, "raise"),
    (symbolic_sort, "sorting"),
    (symbolic_list_sort, "sorting"),
    (symbolic_membership, "`in`"),
    (bound_in_one_branch, "'k' is bound only when `alpha > 0`"),
    (different_lengths, "'r' has no common structure"),
    (different_texts, "is no key"),
    (appended_in_one_branch, "a list was changed differently"),
    (returns_in_one_branch, "None in the other"),
    (filtered_comprehension, "comprehension"),
    (symbolic_index, "may be no whole number"),
    (symbolic_mask, "how many elements the mask chooses"),
    (compiled_function, "alpha"),
    (unpacked_number, "cannot be unpacked"),
    (symbolic_match, "match"),
    (exception_in_a_branch, "try"),
    (endless_recursion, "recursion"),
    (loop_over_a_number, "single symbolic number"),
    (evaluated_text, "eval"),
    (undefined_name, "NameError"),
    (later_line_of_an_expression, "beta"),
    (foreign_buffer, "made outside"),
]


def marked_line(function: Any) -> int:
    """The line that says `# here`, counted in the file."""
    lines = Path(__file__).read_text().splitlines()
    start = function.__code__.co_firstlineno
    return next(number for number in range(start, len(lines) + 1) if "# here" in lines[number - 1])


@pytest.mark.slow
@pytest.mark.parametrize(("function", "construct"), CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_an_untraceable_construct_is_named_with_its_line(function, construct):
    with pytest.raises(UntraceableError) as caught:
        trace(function, [symbols()])
    error = caught.value
    assert construct in error.message
    assert error.hint
    assert error.origin is not None
    assert error.origin.file.endswith("test_tracing_errors.py")
    assert error.origin.line == marked_line(function)


def test_an_error_in_a_helper_names_the_helper_s_line():
    with pytest.raises(UntraceableError) as caught:
        trace(in_a_helper, [symbols()])
    assert caught.value.origin is not None
    assert caught.value.origin.line == marked_line(compiled_function)


@pytest.mark.slow
@pytest.mark.parametrize("function", [symbolic_while, compiled_function])
def test_what_needs_python_points_to_opaque(function):
    with pytest.raises(UntraceableError, match=r"tg\.opaque"):
        trace(function, [symbols()])


@pytest.mark.parametrize("function", [lambda y: y["alpah"], lambda y: y.alpah])
def test_an_unknown_name_suggests_close_ones(function):
    with pytest.raises(UsageError, match=r"(?s)y has no entry 'alpah'.*did you mean 'alpha'"):
        trace(function, [symbols()])


def test_unknown_names_are_also_the_errors_python_expects():
    y = symbols()
    assert not hasattr(y, "missing")
    assert y.get("missing", 7.0) == 7.0
    with pytest.raises(KeyError):
        y["missing"]


@pytest.mark.hunt
def test_too_many_paths_without_source_are_refused():
    space: dict[str, Any] = {}
    exec("def f(y):\n    return sum(1.0 for i in range(14) if y[0] * i > i * i * y[1] + i)\n", space)
    with pytest.raises(UntraceableError, match="more than 4096 paths"):
        trace(space["f"], [symbols()])


def test_what_a_function_without_source_cannot_do_names_its_line_and_a_file_as_the_way_out():
    space: dict[str, Any] = {}
    exec("def f(y):\n    return 2.0 * float(y[0])\n", space)
    with pytest.raises(UntraceableError, match="put the function into a file") as caught:
        trace(space["f"], [symbols()])
    assert caught.value.origin is not None
    assert caught.value.origin.line == 2


@pytest.mark.slow
def test_the_decisions_of_a_failed_trace_do_not_stay_behind():
    with pytest.raises(UntraceableError):
        trace(symbolic_while, [symbols()])
    with pytest.raises(UntraceableError, match="truth"):
        bool(symbol(Role.UNKNOWN, "alpha") > 0)
