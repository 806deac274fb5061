"""A tape gives the bounds of the graph it was made from, interpreted or compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit, typeof

from strategies import SYMBOLS, WILD, graphs
from tidegate.errors import UsageError
from tidegate.expressions import Expr, OpaqueFunction, node, opaque_call, select, table
from tidegate.expressions.interval import bounds
from tidegate.expressions.nodes import UNARY_FUNCTIONS
from tidegate.expressions.tape import build_tape, run_tape
from tidegate.integrators.kernel_cache import kernel

pytestmark = pytest.mark.hunt  # compiling the tape's interpreter alone takes some ten seconds, and every test of events runs it

x, y, z = SYMBOLS

# asked for its type, it tells Numba of the interval rules
kernel("tidegate.compiled.numba_types")
typeof(kernel("tidegate.events.tape_range")._run_tape)
compiled_range = njit(error_model="numpy")(run_tape)
SIDES = st.lists(st.tuples(st.floats(-4, 4), st.floats(0, 2)), min_size=3, max_size=3)


def ranges(exprs: list[Expr], box: dict[Expr, tuple[float, float]]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Bounds by the interpreted and by the compiled tape."""
    tape = build_tape(exprs, list(box))
    lo = [side[0] for side in box.values()] + [math.nan] * len(tape.code)
    hi = [side[1] for side in box.values()] + [math.nan] * len(tape.code)
    compiled_lo, compiled_hi = np.array(lo), np.array(hi)
    rows, inputs = len(tape.code), len(box)
    run_tape(tape.code, rows, inputs, tape.constants.tolist(), lo, hi)
    compiled_range(tape.code, rows, inputs, tape.constants, compiled_lo, compiled_hi)
    return [(lo[k], hi[k]) for k in tape.outputs], [(compiled_lo[k], compiled_hi[k]) for k in tape.outputs]


@given(graphs(WILD, size=10), graphs(WILD, size=5), SIDES)
def test_a_tape_gives_the_bounds_of_its_graph(first: Expr, second: Expr, sides: list[tuple[float, float]]) -> None:
    box = {item: (a, a + width) for item, (a, width) in zip(SYMBOLS, sides, strict=True)}
    interpreted, compiled = ranges([first, second], box)
    np.testing.assert_array_equal(interpreted, bounds([first, second], box))  # a literal may be NaN
    assert np.array(compiled) == pytest.approx(np.array(interpreted), rel=1e-12, abs=1e-290, nan_ok=True)


def test_every_operation_has_a_row() -> None:
    curve, line = table([0, 1, 2, 4], [0, 1, 4, 2], "cubic"), table([0, 1, 2, 4], [0, 1, 4, 2])
    exprs = [node(name, (x,)) for name in sorted(UNARY_FUNCTIONS)]
    exprs += [curve(y), line(y), x**y, x**-3, x * x, node("atan2", (x, y)), select((x > y) | ~(y >= z) & (z != 0), x, y), node("floor", (y,))]
    box = {x: (0.25, 0.5), y: (0.9, 3.1), z: (-1.0, 0.0)}
    interpreted, compiled = ranges(exprs, box)
    assert interpreted == bounds(exprs, box)
    assert np.array(compiled) == pytest.approx(np.array(interpreted), rel=1e-13)


def test_a_known_mode_takes_only_its_arm() -> None:
    expr = select(node("nonzero", (z,)), x, 1 / y)
    assert ranges([expr], {x: (0.0, 1.0), y: (-1.0, 1.0), z: (1.0, 1.0)})[1] == [(0.0, 1.0)]
    assert ranges([expr], {x: (0.0, 1.0), y: (-1.0, 1.0), z: (0.0, 0.0)})[1] == [(-math.inf, math.inf)]


def test_tapes_can_share_a_table_of_constants() -> None:
    first = build_tape([x + 2.5], [x])
    second = build_tape([x * 7.5 - 2.5], [x], first_constant=len(first.constants))
    constants = np.concatenate([first.constants, second.constants])
    lo = np.array([2.0] + [0.0] * len(second.code))
    hi = lo.copy()
    compiled_range(second.code, len(second.code), 1, constants, lo, hi)
    assert lo[second.outputs[0]] == pytest.approx(12.5)
    assert second.n_registers == len(lo)


def test_an_input_can_be_an_output_and_a_constant_too() -> None:
    interpreted, compiled = ranges([x, x * 0 + 3], {x: (1.0, 2.0)})
    assert interpreted == compiled == [(1.0, 2.0), (3.0, 3.0)]


def test_nothing_is_known_of_opaque_outputs() -> None:
    (only,) = opaque_call(OpaqueFunction(lambda a: [a], 1, "f"), [x])
    assert ranges([only], {x: (0.0, 1.0)}) == ([(-math.inf, math.inf)], [(-math.inf, math.inf)])


def test_a_symbol_without_input_is_named() -> None:
    with pytest.raises(UsageError, match="`y` is not among the inputs"):
        build_tape([x + y], [x])
