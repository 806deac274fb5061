"""Guards that a whole step calls far from their zeros are so, all along its polynomial, as the same functions say in plain Python."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tidegate.compiled.emit_taylor.emit_series import Arguments, Form, emit_series
from tidegate.compiled.emit_taylor.guard_ranges import watched_guards
from tidegate.compiled.emit_taylor.recurrences import series_program
from tidegate.compiled.emit_taylor.step_box import DONE, FIRST_LEAST, Box, box_size, first_of_guards
from tidegate.compiled.native import load
from tidegate.expressions import Expr, Role, constant, node, symbol

T, P, M = symbol(Role.TIME, "time"), symbol(Role.PARAMETER, "p"), symbol(Role.MODE, "m")
X, Y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
RATES = [Y, node("sin", (X,)) * (-2.0) + 0.3 * node("cos", (T,))]
ORDER = 10

Values = dict[str, Any]
Made = tuple[Expr, Callable[[Values], Any]]
LEAVES: list[Made] = [
    (X, lambda v: v["x"]), (Y, lambda v: v["y"]), (T, lambda v: v["t"]), (P, lambda v: v["p"]),
    (2.0 * X - Y * P + 0.4, lambda v: 2.0 * v["x"] - v["y"] * v["p"] + 0.4),
]  # fmt: skip
FUNCTIONS = {"sin": np.sin, "cos": np.cos, "tanh": np.tanh, "atan": np.arctan, "asinh": np.arcsinh}


def a_guard(draw: random.Random, depth: int) -> Made:
    if depth == 0:
        return draw.choice(LEAVES)
    a, f = a_guard(draw, depth - 1)
    b, g = a_guard(draw, draw.randrange(depth))
    kind = draw.randrange(12)
    if kind < 2:
        return a + b, lambda v: f(v) + g(v)
    if kind < 4:
        return a * b, lambda v: f(v) * g(v)
    if kind == 4:
        return a - 0.5 * b, lambda v: f(v) - 0.5 * g(v)
    if kind == 5:
        n = draw.randint(2, 5)
        return node("pow", (a, constant(float(n)))), lambda v: f(v) ** n
    if kind == 6:
        return a / (2.0 + b * b), lambda v: f(v) / (2.0 + g(v) * g(v))
    if kind == 7:
        return a / (b + 1.5), lambda v: f(v) / (g(v) + 1.5)  # which may come to zero
    if kind == 8:
        name = draw.choice(list(FUNCTIONS))
        return node(name, (a,)), lambda v: FUNCTIONS[name](f(v))
    if kind == 9:
        return node("exp", (0.3 * a,)), lambda v: np.exp(0.3 * f(v))
    if kind == 10:
        name, function = draw.choice((("sqrt", np.sqrt), ("log", np.log)))
        return node(name, (1.0 + a * a,)), lambda v: function(1.0 + f(v) * f(v))
    return node("select", (node("nonzero", (M,)), a, -b)), lambda v: f(v) if v["m"] else -g(v)


class Step:
    """The machine code of a step that watches some guards."""

    def __init__(self, guards: list[Expr], form: Form) -> None:
        watched = watched_guards(guards, [T, X, Y])
        assert watched is not None
        positions = {T: ("t", 0), P: ("p", 0), M: ("m", 0), X: ("y", 0), Y: ("y", 1)}
        arguments = Arguments(("t", "y", "p", "m", "out"), frozenset({"t"}), positions)
        program = series_program([X, Y], RATES, watched.parts, watched.firsts)
        made = emit_series(program, arguments, ORDER, "series", form=form, with_step=True, guards=watched)
        self.module, self.out = load(made.text), np.zeros(made.n_numbers)
        self.n_guards = len(guards)

    def take(self, t: float, y: Any, p: float, m: float, longest: float, near: list[float]) -> tuple[Any, float, Any]:
        """The box of a step, its polynomial."""
        box = np.zeros(box_size(2, self.n_guards))
        box[Box.CAUTION], box[Box.IDLE], box[Box.FIT], box[Box.UNTIL] = 1.0, 5e-3, 1e6, 1e300
        box[Box.ASKS_FAR] = 1.0
        box[Box.LONGEST] = box[Box.LONGEST_KNOWN] = box[Box.UNLIMITED] = box[Box.LOOK] = longest
        box[FIRST_LEAST : FIRST_LEAST + 2] = 1e-2
        at = first_of_guards(2)
        box[at : at + self.n_guards] = near
        self.out[0] = longest
        a, end, rate = np.zeros((ORDER, 2)), np.zeros(2), np.zeros(2)
        arrays = (y, np.array([p]), np.array([m]), self.out, box, a, end, rate)
        function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, *[ctypes.c_void_p] * 8)(self.module.address("series.step"))
        assert function(t, *(array.ctypes.data for array in arrays)) == DONE
        return box, float(box[Box.STEP]), a


@pytest.mark.hunt
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_called_far_is_far_all_along_the_step(seed: int, form: Form) -> None:
    """Functions at 201 places of the step, in long doubles; one guard at a time. Three in ten that stay on one side at least are seen to be so."""
    draw = random.Random(seed)
    theta = np.linspace(0.0, 1.0, 201, dtype=np.longdouble)
    said = stays = 0
    for _ in range(25):
        guard, plain = a_guard(draw, draw.randint(1, 4))
        step = Step([guard], form)
        for _ in range(12):
            t, p, m = draw.uniform(-2.0, 2.0), draw.uniform(-1.5, 1.5), float(draw.randrange(2))
            y = np.array([draw.gauss(0.0, 1.0), draw.gauss(0.0, 2.0)])
            near = draw.choice((0.0, 0.0, 0.01, 0.3))
            longest = 10.0 ** draw.uniform(-3.0, 0.0)
            box, length, a = step.take(t, y, p, m, longest, [near])
            place = {"t": t + length * theta, "p": np.longdouble(p), "m": m}
            for q, name in enumerate("xy"):
                place[name] = y[q] + sum(a[k, q].astype(np.longdouble) * theta ** (k + 1) for k in range(ORDER))
            values = plain(place) * np.ones_like(theta)
            side = -1.0 if values[0] < 0.0 else 1.0
            assert box[first_of_guards(2) + 1] == pytest.approx(abs(float(values[0])), rel=1e-10, abs=1e-12)
            nearest = float(np.min(side * values))
            assert not (box[Box.IS_FAR] == 1.0 and nearest <= near), guard
            assert not (box[Box.IS_FAR] == 1.0 and box[-1] > nearest + 1e-12 * (1.0 + float(np.max(np.abs(values))))), guard
            # it does come as near as this
            assert step.take(t, y, p, m, longest, [nearest])[0][Box.IS_FAR] == 0.0, guard
            stays += nearest > near + 1e-3
            said += box[Box.IS_FAR] == 1.0
    assert said > 0.3 * stays


def test_all_guards_have_to_be_far() -> None:
    for near, is_far in (([0.1, 0.1], 1.0), ([0.1, 0.6], 0.0), ([2.0, 0.1], 0.0), ([-np.inf, 0.1], 1.0)):
        box, _, _ = Step([X * X + Y * Y, X - 0.5], Form.STRAIGHT).take(0.0, np.array([1.0, 0.0]), 0.0, 0.0, 1e-3, near)
        assert box[Box.IS_FAR] == is_far


def test_a_divisor_that_comes_to_zero_is_no_bound() -> None:
    box, _, _ = Step([constant(1.0) / X], Form.STRAIGHT).take(0.0, np.array([1e-3, -1.0]), 0.0, 0.0, 0.1, [0.0])
    assert box[Box.IS_FAR] == 0.0


@pytest.mark.parametrize("guard", [node("cosh", (X,)) - 2.0, node("pow", (X, Y)), node("floor", (X,)), node("pow", (X, constant(0.5)))])
def test_of_other_functions_nothing_is_watched(guard: Expr) -> None:
    assert watched_guards([X, guard], [T, X, Y]) is None
