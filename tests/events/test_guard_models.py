"""Random guards as polynomials with bounds: within their bound of the guard in higher precision, and the same whatever was asked before."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest
from tests.kernel_as_python import as_plain_python

from tidegate.compiled.guard_tapes import _kinds
from tidegate.compiled.schema import LANES, MOST_PLANS
from tidegate.expressions import Expr, Role, constant, node, select, symbol
from tidegate.expressions.tape import build_tape

__all__: list[str] = []

EPS: Final = 2.0**-52
UNKNOWNS: Final = 2
NUMBERS: Final = 2  # parameters, and as many numbers that are constant between events
THETAS: Final = (0.0, 1e-5, 0.03, 0.2, 0.5, 0.77, 1.0)
FUNCTIONS: Final = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sinh": np.sinh, "cosh": np.cosh}

Place = tuple[Any, Any, Any, Any]  # time, unknowns, parameters, numbers of the mode
Pair = tuple[Expr, Callable[[Place], Any]]  # what tidegate gets, and the same by NumPy


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    """The module as plain Python."""
    return as_plain_python("tidegate.events.guard_models", "tidegate.events.function_models", "tidegate.events.guards", "tidegate.events.guard_plans")


TIME: Final = symbol(Role.TIME, "t")
UNKNOWN: Final = [symbol(Role.UNKNOWN, f"x{k}") for k in range(UNKNOWNS)]
PARAMETER: Final = [symbol(Role.PARAMETER, f"p{k}") for k in range(NUMBERS)]
MODE: Final = [symbol(Role.DISCRETE, f"m{k}") for k in range(NUMBERS)]
_BESIDE: Final = [symbol(Role.UNKNOWN, f"beside{k}") for k in range(2 * UNKNOWNS + 1)]  # rates, the step, bends
INPUTS: Final = [TIME, *UNKNOWN, *_BESIDE[:UNKNOWNS], _BESIDE[UNKNOWNS], *PARAMETER, *MODE, *_BESIDE[UNKNOWNS + 1 :]]


POINTS: Final = range(2 + 2 * UNKNOWNS, 2 + 2 * UNKNOWNS + 2 * NUMBERS)  # registers of numbers


def _leaf(rng: np.random.Generator) -> Pair:
    which = int(rng.integers(7))
    k = int(rng.integers(2))
    if which == 0:
        return TIME, lambda place: place[0]
    if which <= 3:
        return UNKNOWN[k], lambda place: place[1][k]
    if which == 4:
        return PARAMETER[k], lambda place: place[2][k]
    if which == 5:
        return MODE[k], lambda place: place[3][k]
    number = float(rng.choice([-2.0, 0.5, 3.0, 0.0]))
    return constant(number), lambda _place: np.longdouble(number)


def _tree(rng: np.random.Generator, depth: int) -> Pair:
    if depth == 0 or rng.random() < 0.1:
        return _leaf(rng)
    which = str(rng.choice(["add", "sub", "mul", "mul", "div", "power", "neg", "function", "select"]))
    (a, by_a), (b, by_b) = _tree(rng, depth - 1), _tree(rng, depth - 1)
    if which == "add":
        return a + b, lambda place: by_a(place) + by_b(place)
    if which == "sub":
        return a - b, lambda place: by_a(place) - by_b(place)
    if which == "mul":
        return a * b, lambda place: by_a(place) * by_b(place)
    if which == "div":
        return a / (b + 4.0), lambda place: by_a(place) / (by_b(place) + 4)
    if which == "power":
        exponent = float(rng.choice([2.0, 3.0, 4.0]))
        return a**exponent, lambda place: by_a(place) ** exponent
    if which == "neg":
        return -a, lambda place: -by_a(place)
    if which == "function":
        name = str(rng.choice([*FUNCTIONS]))
        return node(name, (a,)), lambda place: FUNCTIONS[name](by_a(place))
    k = int(rng.integers(2))
    return select(MODE[k] > 0.0, a, b), lambda place: by_a(place) if place[3][k] > 0.0 else by_b(place)


class Guards:
    """Two guards on the polynomials of a step, as the kernel has them."""

    def __init__(self, rng: np.random.Generator, degree: int) -> None:
        self.pairs = [_tree(rng, int(rng.integers(1, 5))) for _ in range(2)]
        code: list[Any] = []
        constants: list[Any] = []
        first, rows, values = [], [], []
        for expr, _ in self.pairs:
            tape = build_tape([expr], INPUTS, first_constant=len(constants))
            first.append(sum(map(len, code)))
            rows.append(len(tape.code))
            values.append(int(tape.outputs[0]))
            code.append(tape.code)
            constants.extend(tape.constants)
        n_models = len(INPUTS) + max(rows) + 2
        self.run = SimpleNamespace(
            n_used=UNKNOWNS, used=np.arange(UNKNOWNS), n_p=NUMBERS, n_m=NUMBERS, degree=degree, t=0.0, y=np.zeros(UNKNOWNS), p=np.zeros(NUMBERS),
            m=np.zeros(NUMBERS), coefficients=np.zeros((degree, UNKNOWNS)), constants=np.array([*constants, 0.0]), n_models=n_models,
            tape_code=np.concatenate(code), tape_first=first, tape_rows=rows, tape_value=values, model_reach=1.0, model_at=-1,
            plan_counts=np.zeros(2, np.int64), planned_value=np.zeros(MOST_PLANS, np.int64),
            tape_kinds=[kind for one in code for kind in _kinds(one, len(INPUTS), POINTS)], n_read=len(POINTS), read_registers=[*POINTS],
            planned_guard=np.zeros(MOST_PLANS, np.int64), n_planned=np.zeros(MOST_PLANS, np.int64), n_numbers=np.zeros(MOST_PLANS, np.int64),
            planned_for=np.zeros((MOST_PLANS, len(POINTS))), planned_rows=np.zeros((MOST_PLANS, n_models), np.int64),
            planned_registers=np.zeros((MOST_PLANS, n_models), np.int64), planned_numbers=np.zeros((MOST_PLANS, n_models)),
            guard_models=np.zeros((n_models, max(degree + 1, LANES) + 4)), product_room=np.zeros(3 * LANES),
            model_is_still=np.zeros(n_models, np.int64),
        )  # fmt: skip
        self.step = 0.0

    def move_on(self, rng: np.random.Generator, is_event: bool) -> None:
        """Another step; behind an event with other numbers."""
        run, degree = self.run, self.run.degree
        run.t, self.step = float(rng.normal()), float(10.0 ** rng.uniform(-2.0, 0.3))
        run.model_reach = float(rng.choice([1.0, 0.3]))
        run.y[:] = rng.normal(size=UNKNOWNS)
        run.coefficients[:] = rng.normal(size=(degree, UNKNOWNS)) * float(rng.uniform(0.05, 0.7)) ** np.arange(1, degree + 1)[:, None]
        if is_event:
            run.m[:] = rng.integers(0, 2, NUMBERS)
            if rng.random() < 0.5:
                run.p[:] = rng.normal(size=NUMBERS)

    def fresh(self) -> SimpleNamespace:
        """The same with nothing asked before."""
        run = self.run
        changed = ("guard_models", "model_is_still", "planned_guard", "n_planned", "n_numbers", "planned_for")
        changed += ("planned_rows", "planned_registers", "planned_numbers", "planned_value", "plan_counts")
        new = {name: np.zeros_like(getattr(run, name)) for name in changed}
        return SimpleNamespace(**{**vars(run), **new})

    def place(self, theta: float, precision: type) -> Place:
        """Where the step is there."""
        run = self.run
        ahead = precision(theta) * precision(run.model_reach)
        y = [precision(run.y[q]) + sum(precision(run.coefficients[k, q]) * ahead ** (k + 1) for k in range(run.degree)) for q in range(UNKNOWNS)]
        return precision(run.t) + ahead * precision(self.step), y, run.p.astype(precision), run.m


@pytest.mark.parametrize("seed", range(100))
def test_a_guard_is_within_the_bound_of_its_model(plain: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    degree = int(rng.integers(1, 18))
    guards = Guards(rng, degree)
    for _ in range(12):
        guards.move_on(rng, is_event=bool(rng.random() < 0.5))
        which = int(rng.integers(2))
        run, by_numpy, new = guards.run, guards.pairs[which][1], guards.fresh()
        with np.errstate(all="ignore"):
            has_model = plain.guard_model(run, guards.step, which)
            assert plain.guard_model(new, guards.step, which) == has_model
        if not has_model:
            continue
        model = run.guard_models[run.model_at]
        np.testing.assert_array_equal(model[: degree + 5], new.guard_models[new.model_at, : degree + 5])
        with np.errstate(all="ignore"):
            exact = [by_numpy(guards.place(theta, np.longdouble)) for theta in THETAS]
            rounded = [by_numpy(guards.place(theta, np.float64)) for theta in THETAS]
        if not np.isfinite(model[: degree + 4]).all() or not np.isfinite(exact).all():
            continue
        rounding = 64.0 * max(abs(float(a - b)) for a, b in zip(exact, rounded, strict=True)) + 512.0 * EPS * float(np.abs(exact).max())
        for theta, value in zip(THETAS, exact, strict=True):
            told = np.sum(model[: degree + 1].astype(np.longdouble) * np.longdouble(theta) ** np.arange(degree + 1))
            assert abs(told - value) <= model[degree + 1] * theta + model[degree + 3] * theta**degree + rounding
        for theta in THETAS[2:-1] if np.isfinite(model[degree + 4]) else ():
            step = np.longdouble(1e-6)
            with np.errstate(all="ignore"):
                ahead, behind = (by_numpy(guards.place(theta + side * step, np.longdouble)) for side in (1, -1))
            bent = np.sum(np.arange(degree + 1) ** 3 * np.abs(model[: degree + 1]))
            told = np.sum(np.arange(1, degree + 1) * model[1 : degree + 1] * theta ** np.arange(degree))
            beside = model[degree + 4] * (model[degree + 1] + model[degree + 3])
            # of a difference over such a step the third derivative leaves 1e-12, and rounding of longer numbers as much
            assert not abs(told - (ahead - behind) / (2 * step)) > beside * (1.0 + 1e-6) + 1e-10 * bent + rounding / step * 2.0**-11
