"""A step of several runs at once is lane by lane the step of each alone, to the last bit, and tells the same of each."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tidegate.compiled.emit_taylor.emit_members import emit_members
from tidegate.compiled.emit_taylor.emit_series import Arguments, Form, emit_series
from tidegate.compiled.emit_taylor.recurrences import Program, series_program
from tidegate.compiled.emit_taylor.step_box import DONE, FIRST_LEAST, MEMBERS, Box, box_size
from tidegate.compiled.native import load
from tidegate.expressions import Expr, Role, constant, node, symbol

__all__: list[str] = []

T, P = symbol(Role.TIME, "time"), symbol(Role.PARAMETER, "p")
_GIVEN = ("t", "y", "p", "m", "out")
_TOLD = [Box.LIMIT, Box.POSSIBLE, Box.STEP, Box.IS_IDLE, Box.IS_CLEAR, Box.IS_LONG, Box.REACH]


def _models() -> dict[str, tuple[list[Expr], list[Expr], list[Expr]]]:
    """States, rates, divisors to be watched; every rule of recurrence is in one of them."""
    x, y, z = (symbol(Role.UNKNOWN, name) for name in ("x", "y", "z"))
    lorenz = [P * (y - x), x * (constant(28.0) - z) - y, x * y - z * constant(8 / 3)]
    cubed = node("pow", (x * x + y * y + constant(0.1), constant(1.5)))
    ratio = y / (constant(2.0) + x * x)
    elementary = [
        node("sin", (x,)) * node("exp", (-(y * y),)),
        node("atan2", (x, constant(2.0) + y * y)),
        node("sqrt", (constant(1.0) + z * z,)) - P * T,
    ]
    return {
        "products": ([x, y, z], lorenz, []),
        "powers and quotients": ([x, y], [-P * x / cubed, ratio], [cubed]),
        "elementary functions": ([x, y, z], elementary, []),
        "affine": ([x, y], [y - constant(0.5), -P * x + T], []),
        "nothing but numbers": ([x, y], [constant(1.0), constant(0.3)], []),
    }


class Both:
    """Machine code of one step of a model, and of several."""

    def __init__(self, states: list[Expr], rates: list[Expr], divisors: list[Expr], order: int) -> None:
        self.n, self.order = len(states), order
        positions = {T: ("t", 0), P: ("p", 0)} | {state: ("y", k) for k, state in enumerate(states)}
        given = Arguments(_GIVEN, frozenset({"t"}), positions)
        program: Program = series_program(states, rates)
        watched: dict[str, Any] = {"divisors": divisors, "exponents": program.exponents}
        of_one = emit_series(program, given, order, "series", form=Form.STRAIGHT, rests_at_zero=True, with_step=True, **watched)
        of_all = emit_members(program, given, order, "series", **watched)
        self.modules = load(of_one.text), load(of_all.text)
        self.n_one, self.n_all, self.n_scratch = of_one.n_numbers, of_all.n_numbers, of_all.n_scratch

    def alone(self, t: NDArray[Any], y: NDArray[Any], p: NDArray[Any], unit: NDArray[Any], box: NDArray[Any]) -> tuple[list[int], list[NDArray[Any]]]:
        """Codes of the steps; polynomials, ends, rates, and boxes, a row for each run."""
        function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, *[ctypes.c_void_p] * 8)(self.modules[0].address("series.step"))
        m, out = np.zeros(1), np.zeros((MEMBERS, self.n_one))
        a, end, rate = (np.zeros((MEMBERS, count)) for count in (self.order * self.n, self.n, self.n))
        out[:, 0] = unit
        codes = [function(t[k], *(one.ctypes.data for one in (y[k], p[k : k + 1], m, out[k], box[k], a[k], end[k], rate[k]))) for k in range(MEMBERS)]
        return codes, [a, end, rate, box]

    def together(self, t: NDArray[Any], y: NDArray[Any], p: NDArray[Any], unit: NDArray[Any], box: NDArray[Any]) -> tuple[int, list[NDArray[Any]]]:
        """The bits of those that are done; the rest as above."""
        first, step = (self.modules[1].address(f"series.{name}") for name in ("member", "step"))
        m, out, scratch = np.zeros(1), np.zeros((self.n_all, MEMBERS)), np.zeros(self.n_scratch)
        side_by_side, boxes = np.ascontiguousarray(y.T), np.ascontiguousarray(box.T)
        a, end, rate = (np.zeros((count, MEMBERS)) for count in (self.order * self.n, self.n, self.n))
        out[0] = unit
        where = np.array([p[k : k + 1].ctypes.data for k in range(MEMBERS)] + [m.ctypes.data] * MEMBERS)
        begin = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(first)
        for k in range(MEMBERS):
            begin(t[k], side_by_side[:, k:].ctypes.data, p[k:].ctypes.data, m.ctypes.data, out[:, k:].ctypes.data, scratch.ctypes.data)
        arrays = (t, where, side_by_side, out, boxes, a, end, rate, scratch)
        good = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 9)(step)(*(one.ctypes.data for one in arrays))
        return good, [np.ascontiguousarray(one.T) for one in (a, end, rate, boxes)]


@pytest.mark.parametrize("order", [6, 14])
@pytest.mark.parametrize("name", list(_models()))
def test_a_step_of_several_is_the_step_of_each(name: str, order: int) -> None:
    """Scales, lengths and tolerances far apart: some steps are done, some need care, some have to be asked for their scales twice."""
    states, rates, divisors = _models()[name]
    both, draw = Both(states, rates, divisors, order), np.random.default_rng(order)
    done = 0
    for _ in range(60):
        t, p = draw.normal(size=MEMBERS), draw.normal(size=MEMBERS)
        y = draw.normal(size=(MEMBERS, both.n)) * 10.0 ** draw.integers(-3, 3)
        unit = 10.0 ** draw.uniform(-4.0, 0.0, size=MEMBERS)
        box = np.zeros((MEMBERS, box_size(both.n, 0)))
        box[:, Box.CAUTION], box[:, Box.IDLE], box[:, Box.FIT] = 0.5, 5e-3, 10.0 ** draw.uniform(-10.0, -4.0)
        box[:, Box.LONGEST] = box[:, Box.LONGEST_KNOWN] = 100.0 * unit
        box[:, Box.UNLIMITED], box[:, Box.LOOK] = 10.0 * unit, 3.0 * unit
        box[:, Box.UNTIL] = t + 10.0 ** draw.uniform(-5.0, 1.0, size=MEMBERS)
        box[:, Box.SMALLEST] = 10.0 ** draw.uniform(-15.0, -4.0, size=MEMBERS)
        box[:, FIRST_LEAST : FIRST_LEAST + both.n] = 1e-6
        codes, of_one = both.alone(t, y, p, unit, box.copy())
        good, of_all = both.together(t, y, p, unit, box.copy())
        assert [(good >> k) & 1 for k in range(MEMBERS)] == [int(code == DONE) for code in codes]
        for k in range(MEMBERS):
            if codes[k] == DONE:
                done += 1
                assert all(own[k].tobytes() == one[k].tobytes() for own, one in zip(of_all[:3], of_one[:3], strict=True))
                assert of_all[3][k, _TOLD].tobytes() == of_one[3][k, _TOLD].tobytes()
    assert 100 < done < 60 * MEMBERS
