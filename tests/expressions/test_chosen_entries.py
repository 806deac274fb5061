"""Entries of lists, arrays and dictionaries whose place is known during the run only: Python's own answer is the truth."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import NotFiniteError, UntraceableError
from tidegate.expressions import Role, symbol
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.tracing import trace

X = symbol(Role.UNKNOWN, "x")
T = symbol(Role.TIME, "time")

NUMBERS = [3.0, 2.0, 1.2, 0.8, 5.0, -1.0, 7.0]
TABLE = {1: 3.0, 2: 2.0, 4: 1.2}
PAIRS = [(1.0, 0.3), (2.0, 0.4), (0.5, 0.1)]
MATRIX = np.arange(12.0).reshape(3, 4) ** 2
PLACES = {
    "branches": "2 if x > 1 else 1 if x > 0 else 0",
    "truth": "int(x > 0.3)",
    "sum of truths": "int(x > 0) + int(x > 1)",
    "product": "int(x > 0) * (1 + int(t > 1))",
    "clipped floor": "min(max(math.floor(x), 0), 2)",
    "other order": "max(min(2, int(x)), 0)",
    "remainder": "int(t) % 3",
    "from the end": "-1 if x > 0 else -2",
    "less": "2 - int(x > 0.5)",
    "rounded": "min(max(round(x), 0), 2)",
    "argmax": "int(np.argmax([x, t, 0.5]))",
    "digitize": "int(np.digitize(x, [0.0, 1.0]))",
}
READERS = {
    "list": "NUMBERS[{i}]",
    "tuple of pairs": "PAIRS[{i}][0] - PAIRS[{i}][1] * x",
    "symbols": "[x, t, x * t][{i}]",
    "array": "np.array(NUMBERS)[{i}]",
    "row": "float(MATRIX[{i}, 1] * x) + MATRIX[1, {i}]",
    "rows": "(MATRIX[{i}] @ np.array([1.0, x, t, 2.0]))",
    "both": "MATRIX[{i}, ({i}) - 1]",
    "string keys": "{{'a': x, 'b': 2.0}}['a' if ({i}) > 0 else 'b']",
    "truth as key": "{{True: x, False: 2.0}}[({i}) > 0]",
    "whole keys": "{{-2: 0.1, -1: x, 0: 3.0, 1: 4.0, 2: t}}[{i}]",
}
WRITERS = {
    "list": "d = [x, 1.0, t]\n    d[{i}] = 5.0\n    return d[0] + 10 * d[1] + 100 * d[2]",
    "array": "d = np.zeros(3)\n    d[{i}] = x\n    return d[0] + 10 * d[1] + 100 * d[2]",
    "added": "d = np.array([1.0, 2.0, 3.0])\n    d[{i}] += x\n    return d @ np.array([1.0, 10.0, 100.0])",
    "matrix": "d = np.ones((3, 4))\n    d[{i}, 2] -= x\n    d[1, {i}] *= 2.0\n    return d.sum() + (d * MATRIX).sum()",
    "twice": "d = [0.0, 0.0, 0.0]\n    for k in ({i}, 1):\n        d[k] += x + k\n    return d[0] + 10 * d[1] + 100 * d[2]",
}


def _function(body: str, path: Any) -> Any:
    """A function from a file, as users have them: what is followed is read from its source."""
    file = path / "model.py"
    file.write_text(f"import math\nimport numpy as np\n\n\ndef f(x, t):\n    {body}\n")
    scope: dict[str, Any] = {"NUMBERS": NUMBERS, "PAIRS": PAIRS, "MATRIX": MATRIX, "TABLE": TABLE}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope["f"]


def _compare(body: str, path: Any) -> None:
    function = _function(body, path)
    followed = trace(function, (X, T)).value
    draw = random.Random(body)
    for _ in range(25):
        x, t = draw.choice([draw.uniform(-1.5, 3.5), float(draw.randint(-1, 3))]), draw.uniform(0.0, 2.99)
        assert evaluate([followed], {X: x, T: t})[0] == pytest.approx(float(function(x, t)), rel=1e-14, abs=1e-14), (body, x, t)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("reader", READERS)
def test_an_entry_is_what_python_takes(reader: str, place: str, tmp_path: Any) -> None:
    _compare(f"return {READERS[reader].format(i=PLACES[place])}", tmp_path)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("writer", WRITERS)
def test_an_assignment_reaches_the_place_that_python_means(writer: str, place: str, tmp_path: Any) -> None:
    _compare(WRITERS[writer].format(i=PLACES[place]), tmp_path)


def gearbox(t: float, y: Any) -> Any:
    """Three gears, whose ratios a list holds."""
    gear = 2 if y[0] > 2.0 else 1 if y[0] > 1.0 else 0
    return [[3.0, 2.0, 1.2][gear] - 0.3 * y[0]]


def hourly(t: float, y: Any) -> Any:
    """A list of samples, each held for a unit of time."""
    return [NUMBERS[int(t)] - y[0]]


def test_gears_change_at_events_and_between_them_the_solution_is_exponential() -> None:
    result = tg.simulate(tg.ode(gearbox, y0={"v": 0.0}), (0, 3), rtol=1e-10, atol=1e-12)
    first = -math.log(1.0 - 0.1) / 0.3
    second = first - math.log((2.0 / 0.3 - 2.0) / (2.0 / 0.3 - 1.0)) / 0.3
    assert [event.time for event in result.events] == pytest.approx([first, second], rel=1e-9)
    assert result.final["v"] == pytest.approx(4.0 - 2.0 * math.exp(-0.3 * (3.0 - second)), rel=1e-9)


@pytest.mark.parametrize("method", ["radau", "taylor", "rodas5p"])
def test_samples_in_a_list_are_a_staircase(method: str) -> None:
    result = tg.simulate(tg.ode(hourly, y0={"x": 0.0}), (0, 6.5), method=method, rtol=1e-10, atol=1e-12)
    x = 0.0
    for level, span in zip(NUMBERS, [1.0] * 6 + [0.5], strict=True):
        x = level + (x - level) * math.exp(-span)
    assert result.final["x"] == pytest.approx(x, rel=1e-9)


def test_a_place_outside_of_the_list_ends_the_run_where_python_would_raise() -> None:
    with pytest.raises(NotFiniteError, match=r"der\(x\) gives nan at t = 7"):
        tg.simulate(tg.ode(hourly, y0={"x": 0.0}), (0, 9))


def _half(y: Any) -> Any:
    numbers: Any = NUMBERS
    return numbers[y[0] / 2.0]


def _outside(y: Any) -> Any:
    d: Any = [0.0, 0.0]
    d[math.floor(y[0])] = 1.0
    return d[0]


def _never(y: Any) -> Any:
    return NUMBERS[9 if y[0] > 1.0 else 8]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_half, r"may be no whole number(?s:.*)int\("),
        (_outside, r"of an assignment may lie outside(?s:.*)min\(max\(i, 0\), 1\)"),
        (_never, r"list index out of range"),
    ],
)
def test_what_is_no_place_is_refused(function: Any, message: str) -> None:
    def rate(t: float, y: Any) -> Any:
        return [function(y)]

    with pytest.raises(UntraceableError, match=message):
        tg.simulate(tg.ode(rate, y0={"x": 0.0}), (0, 1))


class Stage:
    """An object of the user with a number, and one in a tuple."""

    def __init__(self, rate: float) -> None:
        self.rate, self.more = rate, (rate, 2.0)

    def at(self, factor: float) -> float:
        return self.rate * factor


class Pair(NamedTuple):
    """The same as a named tuple."""

    rate: float
    other: float


RECORDS: dict[str, tuple[Callable[[float], Any], Callable[[Any], Any]]] = {
    "attribute": (Stage, lambda one: one.rate),
    "method": (Stage, lambda one: one.at(1.0)),
    "inside": (Stage, lambda one: one.more[0]),
    "named tuple": (lambda rate: Pair(rate, 2.0), lambda one: one.rate),
    "dictionary": (lambda rate: {"rate": rate, "list": [rate, [rate]]}, lambda one: one["list"][1][0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", RECORDS)
def test_records_are_chosen_by_a_place_that_is_in_the_list_or_end_the_run(what: str) -> None:
    make, rate = RECORDS[what]
    records = [make(1.0), make(0.5)]

    def final(place: int) -> float:
        model = tg.ode(
            lambda t, y, d: [rate(records[int(d.place)])],
            y0=[0.0],
            discrete={"place": 0},
            events=tg.event(lambda t, y: y[0] > 1.0, reset=lambda t, y: {"place": place}),
        )
        return tg.simulate(model, (0.0, 3.0)).final["y"]

    assert [final(1), final(-1), final(0)] == pytest.approx([2.0, 2.0, 3.0], abs=1e-9)
    with pytest.raises(NotFiniteError):
        final(2)
