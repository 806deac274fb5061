"""Messages by number: the source's own example, files that are not there, and random files against a plain reading line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tidegate.frontends.dsblock.messages import MessageValues, expanded, file_name, message, messages_of, starred

TEMPLATE = "Parameter I (= <I2>) has to be in the range <I1> <= I <= <I3>."


def test_the_example_of_the_source_is_printed_as_there(tmp_path: Path) -> None:
    (tmp_path / "MODELA").write_text(f"heading\n#3 no\n#4 {TEMPLATE}\n#5 more\n")
    said = message(4, "Parameter I out of range", "MODELA", MessageValues(integers=(1, 7, 4)), [tmp_path])
    assert starred(said) == "***** Parameter I (= 7) has to be in the range 1 <= I <= 4."


@pytest.mark.parametrize(("number", "file"), [(9, "MODELA"), (4, "MODELB"), (4, None), (4, " ")])
def test_where_file_or_number_is_missing_the_text_is_said_as_it_is(tmp_path: Path, number: int, file: str | None) -> None:
    (tmp_path / "MODELA").write_text(f"#4 {TEMPLATE}\n")
    assert message(number, "out of range <I1>", file, MessageValues(integers=(1,)), [tmp_path]) == "out of range <I1>"


def test_values_of_every_kind_have_their_letter() -> None:
    values = MessageValues((3,), (0.1,), (1 / 3,), ("left  ",))
    assert expanded("<I1> <R1> <D1> <C1>| <I2> <X1> <I0>", values) == "3 0.1 0.333333333333 left| <I2> <X1> <I0>"


@pytest.mark.parametrize(
    ("written", "found"),
    [("$DSB/a.txt", "/lib/a.txt"), ("${DSB}a", "/liba"), ("$(DSB)/a", "/lib/a"), ("$OTHER/a", "$OTHER/a"), ("a$DSB", "a$DSB"), ("a", "a")],
)
def test_a_variable_in_front_of_a_file_name_is_put_in(written: str, found: str) -> None:
    assert file_name(written, {"DSB": "/lib"}) == found


@pytest.mark.parametrize("seed", range(30))
def test_a_random_file_is_read_as_line_by_line(seed: int) -> None:
    random = np.random.default_rng(seed)
    lines: list[str] = []
    truth: dict[int, list[str]] = {}
    current: list[str] | None = None
    for _ in range(int(random.integers(0, 30))):
        kind, word = random.random(), f"w{random.integers(100)} # <I1>"
        if kind < 0.4:
            number = int(random.integers(1, 8))
            lines.append(f"#{number} {word}")
            current = [word]
            truth.setdefault(number, current)
        elif kind < 0.5:
            lines.append("#remark")
            current = None
        else:
            lines.append(f"  {word}")
            if current is not None:
                current.append(f"  {word}")
    assert messages_of("\n".join(lines)) == {number: "\n".join(words) for number, words in truth.items()}
