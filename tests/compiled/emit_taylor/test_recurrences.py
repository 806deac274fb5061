"""Every recurrence against coefficients found another way: Cauchy's integral of NumPy's and SciPy's complex functions round a circle.

All operations are right sides of one system of quadratures x' = f(t), so that one module holds them all.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from tidegate.compiled.emit_taylor.emit_series import Arguments, Form, emit_series
from tidegate.compiled.emit_taylor.recurrences import NoSeriesError, series_program
from tidegate.compiled.native import load
from tidegate.expressions import Expr, Role, node, symbol
from tidegate.expressions.elementary import where
from tidegate.expressions.lookup_tables import table
from tidegate.expressions.no_event import no_event

__all__: list[str] = []

ORDER = 16
UNIT = 0.7
RADIUS, POINTS = 0.25, 256
T = symbol(Role.TIME, "time")
P, Q = symbol(Role.PARAMETER, "p"), symbol(Role.PARAMETER, "q")
MODE = symbol(Role.MODE, "mode")
PARAMETERS = {"p": 1.5, "q": -2.5}

Complex = NDArray[np.complex128]


def inner(t: Any) -> Any:
    """What the functions are applied to: 0.3 at the start, below 1 near it."""
    return 0.3 + 0.4 * t + 0.1 * t * t


def _of(name: str, f: Callable[[Complex], Complex]) -> tuple[Expr, Callable[[Complex], Complex]]:
    return node(name, (inner(T),)), lambda z: f(inner(z))


def _arc_tangent(y: Complex, x: Complex) -> Complex:
    """The angle of x + i y where both are real, continued."""
    return np.log((x + 1j * y) / np.sqrt(x * x + y * y)) / 1j


CASES: dict[str, tuple[Any, Callable[[Complex], Any]]] = {
    **{name: _of(name, f) for name, f in {
        "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
        "tanh": np.tanh, "asinh": np.arcsinh, "atanh": np.arctanh, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
        "sqrt": np.sqrt, "cbrt": lambda z: z ** (1 / 3), "erf": special.erf,
    }.items()},
    "acosh": (node("acosh", (1.0 + inner(T),)), lambda z: np.arccosh(1.0 + inner(z))),
    "add": (T + inner(T), lambda z: z + inner(z)),
    "sub": (T - inner(T), lambda z: z - inner(z)),
    "sub from a number": (2.0 - T * T, lambda z: 2.0 - z * z),
    "neg": (-(T * inner(T)), lambda z: -z * inner(z)),
    "mul": (node("sin", (T,)) * node("exp", (inner(T),)), lambda z: np.sin(z) * np.exp(inner(z))),
    "square": (node("sin", (T + 1.0,)) ** 2, lambda z: np.sin(z + 1.0) ** 2),
    "div": (node("sin", (T,)) / inner(T), lambda z: np.sin(z) / inner(z)),
    "div by a parameter": (node("sin", (T,)) / P, lambda z: np.sin(z) / 1.5),
    "one over": (P / inner(T), lambda z: 1.5 / inner(z)),
    "third power at zero": (T**3, lambda z: z**3),
    "twentieth power at zero": ((T * (1.0 + T)) ** 20, lambda z: (z * (1.0 + z)) ** 20),
    "negative power": (inner(T) ** -3, lambda z: inner(z) ** -3),
    "half power": (inner(T) ** 0.5, lambda z: np.sqrt(inner(z))),
    "broken power": (inner(T) ** 2.3, lambda z: inner(z) ** 2.3),
    "power by a parameter": (inner(T) ** Q, lambda z: inner(z) ** -2.5),
    "parameter to a power": (P ** inner(T), lambda z: 1.5 ** inner(z)),
    "variable power": (inner(T) ** (1.0 - T), lambda z: inner(z) ** (1.0 - z)),
    "atan2": (node("atan2", (node("sin", (T,)) - 0.4, -inner(T))), lambda z: _arc_tangent(np.sin(z) - 0.4, -inner(z))),
    "atan2 of a parameter": (node("atan2", (P, inner(T))), lambda z: _arc_tangent(1.5 + 0 * z, inner(z))),
    "atan2 by a parameter": (node("atan2", (inner(T), P)), lambda z: _arc_tangent(inner(z), 1.5 + 0 * z)),
    "select": (node("select", (node("nonzero", (MODE,)), node("sin", (T,)), P)), np.sin),
    "select of a number": (node("select", (node("nonzero", (MODE,)), P, node("sin", (T,)))), lambda z: 1.5 + 0 * z),
    "lookup": (node("lookup", (MODE,), (5.0, 7.0)) * T, lambda z: 7.0 * z),
}  # fmt: skip


@cache
def coefficients(*, form: Form) -> dict[str, NDArray[np.float64]]:
    """What the machine code says, of every case."""
    states = [symbol(Role.UNKNOWN, name) for name in CASES]
    positions = {T: ("t", 0), P: ("p", 0), Q: ("p", 1), MODE: ("m", 0)} | {state: ("y", k) for k, state in enumerate(states)}
    arguments = Arguments(("t", "y", "p", "m", "out"), frozenset({"t"}), positions)
    made = emit_series(series_program(states, [expr for expr, _ in CASES.values()]), arguments, ORDER + 1, "series", form=form)
    module = load(made.text)
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(module.address("series"))
    out = np.full(made.n_numbers, np.nan)
    out[0] = UNIT
    y, p, m = np.zeros(len(states)), np.array(list(PARAMETERS.values())), np.ones(1)
    function(0.0, *(array.ctypes.data for array in (y, p, m, out)))
    rows = out[1 : 1 + (ORDER + 1) * len(states)].reshape(ORDER + 1, len(states))
    orders = np.arange(1, ORDER + 2)
    # of x' = f, in powers of time
    return {name: rows[:, q] * orders / UNIT**orders for q, name in enumerate(CASES)}


@pytest.mark.parametrize("form", Form)
def test_every_operation_has_the_series_of_its_complex_function(form: Form) -> None:
    circle = RADIUS * np.exp(2j * np.pi * np.arange(POINTS) / POINTS)
    powers = RADIUS ** np.arange(ORDER + 1)
    for name, (_, f) in CASES.items():
        values = np.asarray(f(circle), dtype=complex)
        expected = np.fft.fft(values)[: ORDER + 1].real / POINTS
        assert coefficients(form=form)[name] * powers == pytest.approx(expected, rel=0.0, abs=2e-14 * np.abs(values).max()), name


def test_states_that_drive_each_other_have_the_series_of_their_closed_form() -> None:
    # x' = v, v' = -x from (0, 1), and u' = u^2 from 1: sine, cosine, the geometric series
    x, v, u = (symbol(Role.UNKNOWN, name) for name in "xvu")
    positions = {x: ("y", 0), v: ("y", 1), u: ("y", 2)}
    program = series_program([x, v, u], [v, -x, u * u])
    made = emit_series(program, Arguments(("t", "y", "p", "m", "out"), frozenset({"t"}), positions), 20, "series")
    module = load(made.text)
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(module.address("series"))
    out, y, nothing = np.zeros(made.n_numbers), np.array([0.0, 1.0, 1.0]), np.zeros(1)
    out[0] = 1.0
    function(0.0, *(array.ctypes.data for array in (y, nothing, nothing, out)))
    rows = out[1:61].reshape(20, 3)
    orders = np.arange(1, 21)
    factorial = special.factorial(orders)
    assert rows[:, 0] == pytest.approx(np.sin(orders * np.pi / 2).round() / factorial, rel=1e-14, abs=1e-30)
    assert rows[:, 1] == pytest.approx(np.cos(orders * np.pi / 2).round() / factorial, rel=1e-14, abs=1e-30)
    assert rows[:, 2] == pytest.approx(np.ones(20), rel=1e-14)


def test_what_bends_without_an_event_has_no_series() -> None:
    x = symbol(Role.UNKNOWN, "x")
    cubic = table([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0], kind="cubic")
    for expr, why in ((no_event(where(x > 0, x, 0.0)), "no_event"), (cubic(x), "cubic table")):
        with pytest.raises(NoSeriesError, match=why):
            series_program([x], [expr])
