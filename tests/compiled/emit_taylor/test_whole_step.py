"""A whole step in machine code against the same step in plain Python, made of the series alone, for models with few and with many unknowns."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from tidegate.compiled.emit_taylor.emit_series import Arguments, Form, emit_series
from tidegate.compiled.emit_taylor.recurrences import series_program
from tidegate.compiled.emit_taylor.step_box import CAREFULLY, DONE, FIRST_LEAST, Box, box_size
from tidegate.compiled.emit_taylor.whole_step import inverse_root
from tidegate.compiled.native import load
from tidegate.expressions import Expr, Role, node, symbol

__all__: list[str] = []

T = symbol(Role.TIME, "time")
_ORDER = 12
_RTOL = 1e-9


def _model(n: int) -> tuple[list[Expr], list[Expr], Any]:
    """A ring of pendulums and a chain that feeds it; and its rates in plain Python."""
    states = [symbol(Role.UNKNOWN, f"y{k}") for k in range(n)]
    rates = [node("sin", (states[(k + 1) % n] - states[k],)) * (1.0 + T) - states[k - 1] / (2.0 + states[k] * states[k]) for k in range(n)]

    def plain(t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sin(np.roll(y, -1) - y) * (1.0 + t) - np.roll(y, 1) / (2.0 + y * y)

    return states, rates, plain


class Steps:
    """The two functions of a model, called with arrays."""

    def __init__(
        self, states: list[Expr], rates: list[Expr], *, form: Form, divisors: tuple[Expr, ...] = (), exponents: tuple[Expr, ...] = ()
    ) -> None:
        self.n = len(states)
        positions = {T: ("t", 0)} | {state: ("y", k) for k, state in enumerate(states)}
        arguments = Arguments(("t", "y", "p", "m", "out"), frozenset({"t"}), positions)
        program = series_program(states, rates)
        made = emit_series(program, arguments, _ORDER, "series", form=form, with_step=True, divisors=divisors, exponents=exponents)
        self.module = load(made.text)
        self.out = np.zeros(made.n_numbers)
        self.box = np.zeros(box_size(self.n, 0))
        self.a, self.end, self.rate = np.zeros((_ORDER, self.n)), np.zeros(self.n), np.zeros(self.n)
        self.box[FIRST_LEAST : FIRST_LEAST + self.n] = 1e-2
        self.box[Box.CAUTION] = 0.2
        self.box[Box.LONGEST] = self.box[Box.LONGEST_KNOWN] = self.box[Box.UNLIMITED] = self.box[Box.LOOK] = 10.0
        self.box[Box.UNTIL] = 1e300
        self.box[Box.FIT] = 1e3 * _RTOL
        self.box[Box.IDLE] = 5e-3

    def series(self, t: float, y: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
        """Coefficients of orders 1 and above."""
        self.out[0] = unit
        nothing = np.zeros(1)
        function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(self.module.address("series"))
        function(t, *(array.ctypes.data for array in (y, nothing, nothing, self.out)))
        return self.out[1 : 1 + _ORDER * self.n].reshape(_ORDER, self.n).copy()

    def step(self, t: float, y: NDArray[np.float64], unit: float) -> int:
        """What the whole step returns; the rest is in the arrays."""
        self.out[0] = unit
        nothing = np.zeros(1)
        function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, *[ctypes.c_void_p] * 8)(self.module.address("series.step"))
        arrays = (y, nothing, nothing, self.out, self.box, self.a, self.end, self.rate)
        return int(function(t, *(array.ctypes.data for array in arrays)))


def _radius(coefficients: NDArray[np.float64], scale: NDArray[np.float64]) -> float:
    return min(inverse_root(float(np.max(np.abs(coefficients[k - 1]) / scale)), k) for k in (_ORDER, _ORDER - 1))


def _told(c: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The step in units of time, and how large the unknowns are in it: of the same length about, or else asked for twice."""
    still = np.maximum(np.abs(y), 1e-2)
    scale = np.maximum(still, 0.75 * np.abs(c[0]))
    told = 0.2 * _radius(c, scale)
    if not 0.5 <= told <= 2.0:
        scale = np.maximum(still, 0.2 * _radius(c, still) * np.abs(c[0]))
        told = 0.2 * _radius(c, scale)
    return told, scale


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 61])
def test_a_whole_step_is_the_series_its_length_its_end_and_the_rates_there(n: int, form: Form) -> None:
    states, rates, plain = _model(n)
    steps = Steps(states, rates, form=form)
    random = np.random.default_rng(n)
    for _ in range(20):
        t, unit = random.uniform(0.0, 2.0), random.uniform(0.05, 0.5)
        y = random.normal(size=n) * 10.0 ** random.uniform(-4.0, 1.0)
        c = steps.series(t, y, unit)
        told, scale = _told(c, y)
        length = told * unit
        steps.box[Box.IS_STARTED] = 0.0
        assert steps.step(t, y, unit) == DONE
        assert steps.box[Box.LIMIT] == pytest.approx(length, rel=1e-12)
        step = steps.box[Box.STEP]
        assert step == pytest.approx(min(length, 10.0), rel=1e-12)
        a = c * (step / unit) ** np.arange(1, _ORDER + 1)[:, None]
        assert steps.a == pytest.approx(a, rel=1e-12, abs=1e-300)
        assert steps.end == pytest.approx(y + a.sum(axis=0), rel=1e-14, abs=1e-15 * np.abs(y).max())
        assert steps.rate == pytest.approx(plain(t + step, steps.end), rel=1e-12, abs=1e-13 * np.abs(y).max())
        assert steps.box[Box.IS_IDLE] == float(np.all(np.abs(a.sum(axis=0)) <= 5e-3 * scale))
        # and from its end, whose first coefficients are known
        t, y = t + step, steps.end.copy()
        steps.box[Box.IS_STARTED] = 1.0
        assert steps.step(t, y, unit) == DONE
        known = steps.a.copy(), steps.end.copy(), steps.rate.copy()
        steps.box[Box.IS_STARTED] = 0.0
        assert steps.step(t, y, unit) == DONE
        assert all(np.array_equal(one, other) for one, other in zip(known, (steps.a, steps.end, steps.rate), strict=True))


def test_the_inverse_root_is_right_to_two_percent() -> None:
    for x in 10.0 ** np.linspace(-280.0, 280.0, 999):
        for order in (4, 13, 20):
            assert inverse_root(float(x), order) == pytest.approx(math.exp(-math.log(x) / order), rel=0.02)


@pytest.mark.parametrize("form", Form)
def test_a_step_tells_how_far_exponents_move_that_come_near_zero(form: Form) -> None:
    x = symbol(Role.UNKNOWN, "x")
    exponent = -(T - 3.0) * (T - 3.0) * 50.0
    rates = [node("exp", (exponent,))]
    assert series_program([x], rates).exponents == (exponent,)
    steps = Steps([x], rates, form=form, exponents=(exponent,))
    # from -450: to -200 in the first step, where exponentials are nothing yet, then past zero
    for longest, reach in ((1.0, 0.0), (4.0, (6.0 * 4.0 + 4.0**2) * 50.0)):
        steps.box[Box.LONGEST] = steps.box[Box.UNLIMITED] = longest
        steps.step(0.0, np.array([0.0]), 1.0)
        assert steps.box[Box.STEP] == longest
        assert steps.box[Box.REACH] == pytest.approx(reach, rel=1e-12)


@pytest.mark.parametrize("form", Form)
def test_what_is_not_finite_or_does_not_fit_is_left_to_the_plain_way_and_long_steps_to_be_looked_into(form: Form) -> None:
    x = symbol(Role.UNKNOWN, "x")
    steps = Steps([x], [node("sqrt", (x,))], form=form)
    assert steps.step(0.0, np.array([1.0]), 1.0) == DONE
    assert steps.step(0.0, np.array([0.0]), 1.0) == CAREFULLY  # its series has no coefficients
    assert steps.step(0.0, np.array([np.nan]), 1.0) == CAREFULLY
    assert steps.step(0.0, np.array([-1.0]), 1.0) == CAREFULLY
    assert steps.box[Box.IS_LONG] == 0.0
    steps.box[Box.LOOK] = 1e-3
    assert steps.step(0.0, np.array([1.0]), 1.0) == DONE
    assert steps.box[Box.IS_LONG] == 1.0
    steps.box[Box.LOOK], steps.box[Box.SMALLEST] = 10.0, 20.0
    assert steps.step(0.0, np.array([1.0]), 1.0) == CAREFULLY
    steps = Steps([x], [1.0 / x], form=form)
    assert steps.step(0.0, np.array([1.0]), 1.0) == DONE
    steps.box[Box.FIT], steps.box[Box.CAUTION] = 0.0, 1.0
    assert steps.step(0.0, np.array([1.0]), 1.0) == CAREFULLY


@pytest.mark.slow
@pytest.mark.parametrize("form", Form)
def test_divisors_are_said_to_be_clear_only_where_no_point_of_the_step_brings_them_near_zero(form: Form) -> None:
    x = symbol(Role.UNKNOWN, "x")
    divisor = x - 2.0 + node("sin", (x + T,))
    steps = Steps([x], [1.0 / divisor], form=form, divisors=(divisor,))
    random = np.random.default_rng(3)
    clear = 0
    for _ in range(2000):
        t, start = random.uniform(-3.0, 3.0), random.uniform(-3.0, 6.0)
        steps.box[Box.IS_STARTED], steps.box[Box.CAUTION] = 0.0, random.uniform(0.1, 0.6)
        steps.box[Box.FIT] = 1e-3
        if steps.step(t, np.array([start]), 0.1) != DONE:
            continue
        if steps.box[Box.IS_CLEAR] == 0.0:
            continue
        clear += 1
        theta = np.linspace(0.0, 1.0, 101)
        path: NDArray[np.float64] = start + (steps.a[:, 0] * theta[:, None] ** np.arange(1, _ORDER + 1)).sum(axis=1)
        values: NDArray[np.float64] = path - 2.0 + np.sin(path + t + theta * steps.box[Box.STEP])
        assert np.all(values > 0.0) or np.all(values < 0.0)
    assert clear > 500


def test_a_model_that_rounds_down_itself_has_a_whole_step_too() -> None:
    model = tg.ode(lambda t, y, p: [-np.floor(p["k"]) * y["x"]], y0={"x": 1.0}, p={"k": 2.5})
    result = tg.simulate(model, (0.0, 1.0), method="taylor", rtol=1e-10)
    assert result.final["x"] == pytest.approx(math.exp(-2.0), rel=1e-9)


@pytest.mark.parametrize("form", Form)
def test_long_steps_are_not_looked_into_where_the_equations_are_affine(form: Form) -> None:
    x, v = (symbol(Role.UNKNOWN, name) for name in "xv")
    y = np.array([1.0, 2.0])

    def answer(rate: Expr) -> tuple[bool, NDArray[np.float64]]:
        steps = Steps([x, v], [v, rate], form=form)
        steps.box[Box.LOOK] = 1e-3
        assert steps.step(0.5, y, 0.25) == DONE
        return steps.box[Box.IS_LONG] == 1.0, steps.end

    falls, end = answer(2.0 * T - 10.0)
    assert not falls  # a step of any length
    h = 10.0  # the longest
    t = 0.5
    assert end == pytest.approx([1.0 + 2.0 * h + (t - 5.0) * h * h + h**3 / 3.0, 2.0 + 2.0 * (t - 5.0) * h + h * h], rel=1e-14)
    swings, end = answer(-4.0 * x)
    assert not swings
    assert float(4.0 * end[0] ** 2 + end[1] ** 2) == pytest.approx(8.0, rel=1e-5)  # the energy
    assert not np.array_equal(end, y)
    # the series ends here, and not because of what the equations are made of
    assert answer(node("sin", (v - 2.0 + 10.0 * (T - 0.5),)) - 10.0)[0]
