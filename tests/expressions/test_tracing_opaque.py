"""Functions marked opaque are called as they are, with the structures the model gave them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import UsageError
from tidegate.expressions import Role, as_real, differentiate, evaluate, symbol
from tidegate.expressions.tracing import Vector, VectorNames, opaque, probe_values, trace

__all__: list[str] = []

X, Y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")


@opaque
def halvings(x):
    count = 0
    while x > 1.0:
        x, count = x / 2.0, count + 1
    return x + count


@pytest.mark.slow
@given(st.floats(0.1, 100))
def test_an_opaque_function_has_its_plain_values(x):
    expression = trace(lambda v: 2.0 * halvings(v), [X]).value
    assert evaluate([expression], {X: x}) == [2.0 * halvings(x)]


def test_with_numbers_it_is_the_function_itself():
    assert halvings(8.0) == 4.0
    assert halvings.__name__ == "halvings"


def test_arguments_keep_their_structure():
    seen = []

    @opaque
    def f(t, y, options):
        seen.append((t, y, options))
        return {"sum": y.sum() * options["scale"], "parts": [y["v"], t]}

    y = Vector([X, Y], VectorNames("y", {"x": (0, ()), "v": (1, ())}))
    result = f(X + 1, y, {"scale": X, "name": "tank", "order": 2})
    assert list(result) == ["sum", "parts"]
    found = evaluate([result["sum"], *result["parts"]], {X: 2.0, Y: 5.0})
    assert found == [14.0, 5.0, 3.0]
    t, vector, options = seen[-1]
    assert (t, options) == (3.0, {"scale": 2.0, "name": "tank", "order": 2})
    assert vector.dtype == float
    assert vector.v == 5.0


def test_equal_calls_are_one_node():
    assert halvings(X) is halvings(X)


def test_an_array_comes_back_as_a_vector():
    f = opaque(lambda y: np.array([[y[0], y[1]], [1.0, y[0] * y[1]]]))
    result = f(Vector([X, Y]))
    assert result.shape == (2, 2)
    assert evaluate(list(result.ravel()), {X: 2.0, Y: 3.0}) == [2.0, 3.0, 1.0, 6.0]


def test_derivatives_are_finite_differences():
    f = opaque(lambda x: x**3)
    assert evaluate([differentiate(f(X), X)], {X: 2.0}) == pytest.approx([12.0], rel=1e-7)


def test_it_is_tried_with_the_start_values():
    tried = []

    def f(x):
        tried.append(x)
        return x

    token = probe_values.set({X: 42.0})
    try:
        opaque(f)(X)
    finally:
        probe_values.reset(token)
    opaque(f, n_outputs=1)(X)
    assert tried == [42.0]


def test_it_decorates_with_and_without_arguments():
    @opaque(n_outputs=2)
    def f(x):
        return [x, 2 * x]

    assert evaluate([as_real(item) for item in f(X)], {X: 3.0}) == [3.0, 6.0]


def test_methods_can_be_opaque():
    class Pump:
        k = 3.0

        @opaque
        def flow(self, x):
            return self.k * x if x > 0 else 0.0

    assert evaluate([trace(Pump().flow, [X]).value], {X: 2.0}) == [6.0]


def test_a_failing_trial_says_how_to_avoid_it():
    with pytest.raises(UsageError, match=r"(?s)failed at the start values with ZeroDivisionError.*n_outputs"):
        opaque(lambda x: 1 / (x - x))(X)


def test_a_result_that_is_no_number_is_refused():
    with pytest.raises(UsageError, match="returned 'text'"):
        opaque(lambda x: "text")(X)


def test_a_changing_number_of_results_is_refused():
    f = opaque(lambda x: [x] if x > 0 else [x, x])
    (value,) = f(X)
    with pytest.raises(UsageError, match="returned 2 numbers where 1 were expected"):
        evaluate([value], {X: -1.0})


@pytest.mark.parametrize("n_outputs", [0, -1, 1.5])
def test_the_number_of_outputs_is_checked(n_outputs):
    with pytest.raises(UsageError, match="n_outputs"):
        opaque(lambda x: x, n_outputs=n_outputs)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(UsageError, match="cannot be called"):
        opaque(3.0)
