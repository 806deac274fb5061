"""What Python looks at under a condition changes things only then; where how far it looks is known only during the run, it is refused."""

import itertools
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from tracing_checks import POINTS, assert_refused, assert_same

__all__: list[str] = []


class Tally:
    """Remembers what it has seen."""

    def __init__(self) -> None:
        self.total = 0.0

    def seen(self, value: Any) -> Any:
        """All so far."""
        self.total += value if value > 0 else 0.1
        return self.total

    def __call__(self, value: Any) -> Any:
        self.total -= value
        return self.total


class Doubled:
    """For a while twice what it was, and a little more afterwards."""

    def __init__(self, held: list[Any]) -> None:
        self.held = held

    def __enter__(self) -> Any:
        self.held[0] *= 2.0
        return self.held[0]

    def __exit__(self, *_: object) -> None:
        self.held[0] += 0.25


def behind_and_or(y):
    tally, r = Tally(), 0.0
    if y[0] > 0 and tally.seen(y[1]) > 1:
        r += 1.0
    if y[1] > 0 or tally.seen(y[2]) > 1 or (r := r + y[2]) > 0:
        r += 2.0
    return [tally.total, r, (y[2] > 1 and tally.seen(y[0])) * 1.0, tally.total]


def behind_a_comparison(y):
    tally = Tally()
    inside = y[0] < tally.seen(y[1]) < tally.seen(y[2]) < 3.0
    return [1.0 if inside else 0.0, tally.total]


def by_methods_handed_on(y):
    tally = Tally()
    r = 0.0
    if y[0] > 0:
        r += sum(map(tally.seen, y))
    if y[1] > 0:
        r += list(map(tally, y))[1]
    return [r, tally.total]


def within_a_context(y):
    held = [y[1]]
    r = 0.0
    if y[0] > 0:
        with Doubled(held) as inside:
            r += inside * held[0]
    elif y[2] > 0:
        held[0] = 3.0
    return [r, held[0]]


def generators_begin_at_once(y):
    values = [y[0], y[1]]
    halves = (0.5 * v for v in values)
    values = [7.0]
    return [sum(halves), *values]


def largest_of_rows_and_by_keys(y):
    rows = [(v, k) for k, v in enumerate(y)]
    return [
        max(rows)[1],
        min(rows)[1],
        max((y[0], y[1]), (y[0], y[2]))[1],
        max(y, key=lambda v: -v * v),
        min([[y[0], 1.0], [y[1], 2.0]], key=lambda row: row[0])[1],
        max(((y[0], 1.0), y[1]), ((y[0], 1.0), y[2]))[1],
        1.0 if max((y[0], "first"), (y[1], "second"))[1] == "first" else 2.0,
    ]


def queues_in_branches(y):
    queue = deque([y[0], 1.0], maxlen=3)
    if y[1] > 0:
        queue.append(y[2])
        queue.popleft()
    else:
        queue[0] = 4.0
    return list(queue)


_FOLLOWED = [
    behind_and_or, behind_a_comparison, by_methods_handed_on, within_a_context, generators_begin_at_once, largest_of_rows_and_by_keys,
    queues_in_branches,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("function", _FOLLOWED, ids=lambda function: function.__name__)
@given(point=POINTS)
def test_things_change_where_python_looks(function: Callable[..., Any], point: tuple[float, ...]) -> None:
    assert_same(function, point)


def witness(y):
    found = 0.0
    if any((found := v) > 1 for v in y):
        return found
    return -1.0


def changing_generator(y):
    held = [0.0]

    def running() -> Generator[Any]:
        for v in y:
            held[0] += v
            yield held[0]

    r = 0.0
    for v in running():
        r += v
        held[0] *= 0.5
    return r


def generator_as_a_context(y):
    held = [y[1]]

    @contextmanager
    def doubled() -> Generator[Any]:
        held[0] *= 2.0
        yield held[0]

    if y[0] > 0:
        with doubled():
            held[0] += 1.0
    return held[0]


def keys_in_another_order(y):
    held = {"a": y[0], "b": y[1]}
    if y[2] > 0:
        held["a"] = held.pop("a")
    return next(iter(held.values()))


def rows_of_different_lengths(y):
    return max((y[0], 1.0), (y[1],))[0]


def kind_of_a_whole_number(y):
    return 1.0 if isinstance(int(y[0]), float) else 2.0


def lists_in_a_list(y):
    first = [1.0]
    both = [first, [3.0, 4.0]]
    if y[0] > 0:
        first.append(2.0)
    return sum(map(len, both))


def rows_of_a_list(y):
    first = [1.0]
    both = {"rows": (first, [3.0, 4.0])}
    if y[0] > 0:
        first.append(2.0)
    return len(list(zip(*both["rows"], strict=False)))


_REFUSED = [
    (lists_in_a_list, "a list was changed differently"),
    (rows_of_a_list, "a list was changed differently"),
    (witness, "`any` of values that change something else"),
    (changing_generator, "a generator changes what stands outside of it"),
    (generator_as_a_context, "a context manager that is a generator, in a branch"),
    (keys_in_another_order, "keys of a dict stand in another order"),
    (rows_of_different_lengths, "a tuple of length 1 and a tuple of length 2"),
    (kind_of_a_whole_number, "an int or a float is asked"),
]


@pytest.mark.parametrize(("function", "what"), _REFUSED, ids=lambda item: getattr(item, "__name__", ""))
def test_what_is_looked_at_in_an_unknown_order_is_refused(function: Callable[..., Any], what: str) -> None:
    assert_refused(function, what)


def test_a_generator_that_is_taken_at_once_may_change_things() -> None:
    def running(y: Any) -> Any:
        held = [0.0]

        def sums() -> Generator[Any]:
            for v in y:
                held[0] += v
                yield held[0]

        return [*list(sums()), sum(sums()), held[0]]

    assert_same(running, (1.0, -2.0, 0.5))


def test_an_exception_leaves_a_context_as_in_python() -> None:
    def leaving(y: Any) -> Any:
        held = [y[0]]
        try:
            with Doubled(held):
                dict[str, float]()["missing"]
        except KeyError:
            return held

    assert_same(leaving, (1.5, 0.0, 0.0))


def test_attributes_that_are_there_in_one_branch_only_are_asked_for_as_in_python() -> None:
    def asked(y: Any) -> Any:
        record = SimpleNamespace(v=1.0)
        if y[0] > 0:
            record.more = 5.0
            if y[1] > 0:
                del record.more
        elif y[2] > 0:
            record.more = 7.0
        return [getattr(record, "more", y[1]), 1.0 if hasattr(record, "more") and record.v > 0 else 0.0]

    for point in itertools.product((-1.0, 0.5), repeat=3):
        assert_same(asked, point)


def test_what_a_branch_returns_is_what_it_held_there() -> None:
    def returned(y: Any) -> Any:
        rows = [[y[0]], [y[1]]]
        record, other = SimpleNamespace(v=1.0), SimpleNamespace(v=2.0)

        def row() -> Any:
            if y[0] > 0:
                rows[0].append(2.0)
                return rows[1], record
            if y[1] > 0:
                rows[1][0], record.v = 4.0, 5.0
                return rows[1], record
            return rows[0], other

        first, second = row()
        return [first[0], second.v]

    for point in itertools.product((-1.0, 0.5), repeat=3):
        assert_same(returned, point)


def a_number_among_numbers(y):
    mode = int(y[0]) % 3
    return [
        1.0 if mode in (0, 2) else 0.5,
        float(mode not in [1, 7]),
        2.0 if mode in range(1, 3) else 0.0,
        3.0 if y[1] in [y[2], 0.0, y[0]] else 4.0,
        1.0 if 2.0 in (y[0], y[1]) else 0.0,
    ]


@pytest.mark.slow
@given(POINTS)
def test_a_number_is_looked_for_among_numbers(point: tuple[float, ...]) -> None:
    assert_same(a_number_among_numbers, point)


def known_operands(y):
    a, b, c = y
    return [b and (b or c), (a or 0.5) and (a or b), a and (a and c), (b > 0 and (b > 0 or c)), not (a and not (a or b))]


@given(POINTS)
def test_an_operand_whose_truth_is_known_is_the_value_itself(point: tuple[float, ...]) -> None:
    assert_same(known_operands, point)


def functions_by_conditions(y):
    held = [0.0]

    def up(v):
        held[0] += v
        return v + 1.0

    def down(v):
        held[0] -= 0.5
        return v * 0.5

    first = max if y[0] > 0 else min
    second = up if y[1] > 0 else down if y[2] > 0 else float
    third = {"up": up, "down": down}["up" if y[2] > 1 else "down"]
    return [first(y[1], y[2]), second(y[0]) + third(0.5), sum(map(second, [1.0, 2.0])), held[0]]


@pytest.mark.slow
@given(POINTS)
def test_a_function_that_a_condition_chooses_is_called_in_a_branch(point: tuple[float, ...]) -> None:
    assert_same(functions_by_conditions, point)
