"""Sentences about names: which known one is meant, and the first of many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate as tg
from tidegate.names import close_names, listed, shortened, suggestion, unknown_name


def test_letter_case_does_not_count_and_both_of_two_that_differ_by_it_are_told() -> None:
    assert close_names("OHMS", ["Ohm", "ohm", "kg"]) == ["Ohm", "ohm"]


def test_names_that_are_no_text_find_nothing_and_raise_nothing() -> None:
    assert close_names(3, ["level"]) == []
    assert suggestion(None, ["level"], "it has level") == "it has level"


@pytest.mark.slow
@given(st.lists(st.text("ab", min_size=1), max_size=9), st.integers(1, 9))
def test_the_first_are_shown_and_the_others_counted(names: list[str], most: int) -> None:
    shown, short = listed(names, most), shortened(names, most)
    left = max(len(names) - most, 0)
    assert shown == ", ".join(names[:most]) + (f" and {left} more" if left else "")
    assert short == names[:most] + [f"and {left} more"] * bool(left)


def test_an_unknown_name_is_answered_by_close_ones_or_by_those_there_are() -> None:
    for name, hint in (("levle", "level"), ("zzz", "one of level, inflow"), (3, "one of level, inflow")):
        with pytest.raises(tg.UnknownNameError, match=f"try: {hint}$"):
            raise unknown_name("variable", name, ["level", "inflow"])  # pyright: ignore[reportArgumentType] - as users do
    with pytest.raises(tg.UnknownNameError, match="there is no variable at all"):
        raise unknown_name("variable", "level", [])
