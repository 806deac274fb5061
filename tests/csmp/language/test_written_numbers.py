"""Numbers in statements: FORTRAN's free form, and texts that read back exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.csmp.language.written_numbers import exact, parse, whole


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-10", -10.0),
        ("+3", 3.0),
        (".5", 0.5),
        ("2.", 2.0),
        ("1E3", 1e3),
        ("1e-3", 1e-3),
        ("1.5D+02", 150.0),
        ("-.5d1", -5.0),
        ("-1.0181E-01", -0.10181),
    ],
)
def test_free_form_is_read(text: str, value: float) -> None:
    assert parse(text) == value


@pytest.mark.parametrize("text", ["", "K", "1,5", "1 5", "--1", "1E", "E3", ".", "nan", "inf", "Infinity", "1_000", "0x10", "1E999", "1+3", "\u0663"])
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number|is too large"):
        parse(text)
    assert whole(text) is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_shortest_text_reads_back_exactly(x: float) -> None:
    assert parse(exact(x)) == x


@pytest.mark.parametrize("x", [float("nan"), float("inf"), float("-inf")])
def test_what_no_statement_can_hold_is_not_written(x: float) -> None:
    with pytest.raises(ValueError, match="is not a number that a statement can hold"):
        exact(x)


def test_whole_numbers_are_whole_in_value() -> None:
    assert [whole(text) for text in ("48", "4.0", "-3", "1E2", "4.5")] == [48, 4, -3, 100, None]
