"""What a trace tells besides values: where conditions were written, what was yielded; and that nothing stays behind."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from tidegate.expressions import Role, symbol
from tidegate.expressions.tracing import Vector, path_condition, trace

__all__: list[str] = []


def symbols() -> Vector:
    return Vector([symbol(Role.UNKNOWN, name) for name in "abc"])


SOURCELESS: dict[str, Any] = {}
exec(
    """
def decide(y):
    a, b, c = y
    if a > 0:
        return [a if b > c else b]
    return [-1.0 if not 0 < c < 1 else 2.0]

def pairs(y):
    yield y[0]
    if y[0] > 0:
        yield y[1]
    else:
        yield 0.0
""",
    SOURCELESS,
)


def combined(y):
    a, b, c = y
    k = 0
    if (a > 0 and b > 0) or not c > 0:
        k = 1
    if -1 < a <= b < 2:
        k += 2
    return k


def returning_early(y):
    if y[0] > 1:
        return y[1]
    if y[1] > 1:
        return y[2]
    return y[0]


def test_the_conditions_of_a_function_without_source_keep_their_line():
    origins = trace(SOURCELESS["decide"], [symbols()]).condition_origins
    assert {(origin.file, origin.line) for origin in origins.values()} >= {("<string>", 4), ("<string>", 5), ("<string>", 6)}


def test_functions_of_other_modules_are_followed(tmp_path: Path):
    place = tmp_path / "plant.py"
    place.write_text("LIMIT = 1.0\n\ndef limited(x):\n    if x > LIMIT:\n        return LIMIT\n    return x\n")
    spec = importlib.util.spec_from_file_location("plant", place)
    assert spec is not None
    assert spec.loader is not None
    plant = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plant)
    followed = trace(lambda y: plant.limited(y[0]) * 2, [symbols()])
    (origin,) = followed.condition_origins.values()
    assert origin.file == str(place)
    assert (origin.line, origin.text) == (4, "x > LIMIT")


def test_conditions_know_their_file_line_and_text():
    followed = trace(combined, [symbols()])
    texts = {origin.text for origin in followed.condition_origins.values()}
    assert {"a > 0", "b > 0", "(a > 0 and b > 0) or not c > 0", "-1 < a <= b < 2"} <= texts
    start = combined.__code__.co_firstlineno
    lines = {origin.text: origin.line - start for origin in followed.condition_origins.values()}
    assert lines["a > 0"] == 3
    assert all(origin.file.endswith("test_tracing_records.py") for origin in followed.condition_origins.values())


def test_conditions_inside_min_and_abs_know_their_call():
    followed = trace(lambda y: abs(y[0]) + max(y[1], 0.0), [symbols()])
    assert [origin.text for origin in followed.condition_origins.values()] == ["abs(y[0])", "max(y[1], 0.0)"]


def test_strictness_of_relations_is_kept():
    operations = trace(lambda y: [y[0] > 0, y[0] >= 0, y[0] < 0, y[0] <= 0], [symbols()]).value
    assert [condition.op for condition in operations] == ["gt", "ge", "gt", "ge"]


def test_the_order_of_selects_follows_the_branches():
    value = trace(returning_early, [symbols()]).value
    assert value.op == "select"
    assert repr(value.args[0]) == "a > 1"


class Counter:
    def __init__(self):
        self.calls = 0
        self.buffer = [0.0, 0.0]

    def derivatives(self, y):
        self.calls += 1
        self.last = y[0]
        self.buffer[0] = y[1] if y[0] > 0 else -1.0
        return self.buffer


def test_tracing_leaves_no_symbols_in_the_user_s_objects():
    counter = Counter()
    value = trace(counter.derivatives, [symbols()]).value
    assert repr(value) == "[b if a > 0 else -1, 0.0]"
    assert vars(counter) == {"calls": 0, "buffer": [0.0, 0.0]}


def test_yields_of_both_branches_are_joined_in_pairs():
    for function in (generator_with_branches, SOURCELESS["pairs"]):
        assert [repr(item.value) for item in trace(function, [symbols()]).yields] == ["a", "b if a > 0 else 0"]


def generator_with_branches(y):
    yield y[0]
    if y[0] > 0:
        yield y[1]
    else:
        yield 0.0


def test_the_front_end_decides_how_yields_are_joined():
    def keep_first(condition, first, second):
        assert repr(condition) == "a > 0"
        assert len(second) == 1
        return first

    assert [repr(item.value) for item in trace(generator_with_branches, [symbols()], merge_yields=keep_first).yields] == ["a", "b"]


def equations(y):
    yield y[0] == 2 * y[1]
    yield y[0] + 1 == y[2]


def test_yielded_equalities_can_become_equations():
    followed = trace(equations, [symbols()], make_equation=lambda left, right: (left, right))
    assert [repr(item.value) for item in followed.yields] == ["(a, 2*b)", "(a + 1, c)"]
    assert [item.origin.text for item in followed.yields] == ["y[0] == 2 * y[1]", "y[0] + 1 == y[2]"]


def test_entries_of_a_returned_list_know_their_lines():
    followed = trace(lambda y: [y[0], y[1] + 1], [symbols()])
    assert [followed.item_origins[at].text for at in range(2)] == ["y[0]", "y[1] + 1"]


def test_the_condition_of_the_path_is_known_in_every_branch():
    first, second = trace(lambda y: [path_condition(), path_condition() if y[0] > 0 else y[1] > 1], [symbols()]).value
    assert repr(first) == "True"
    assert repr(second) == "a > 0 or not a > 0 and b > 1"
    assert repr(path_condition()) == "True"
