"""The report's text rules: what separates fields, what is blank, where labels and comments begin."""

import pytest

from tidegate.csmp.language.fields import split, title_of


@pytest.mark.parametrize("line", ["4, /, 17, 6", "4 / 17 6", "4,/,17,6", "  4 ,/   17  ,  6  ", "4\t/\t17\t6", "4 / 17, 6,", "4 / 17 6,,"])
def test_commas_and_blanks_separate_alike(line: str) -> None:
    assert split(line).values == ["4", "/", "17", "6"]


@pytest.mark.parametrize("line", ["9,I,,48", "9, I, , 48", "9 I,,48", "9 I , ,48"])
def test_two_commas_have_a_blank_field_between(line: str) -> None:
    assert split(line).values == ["9", "I", None, "48"]


@pytest.mark.parametrize("line", ["", "   ", ",", ", 3", ",,", "$ a comment", "; LABEL", "\t"])
def test_a_blank_first_field_ends_a_set(line: str) -> None:
    assert split(line).is_empty


@pytest.mark.parametrize(
    ("line", "label", "comment"),
    [
        ("2 D 16 ; ALPHA $ IN RADIANS", "ALPHA", "IN RADIANS"),
        ("3, I, 4, 5, 6 $ACCELERATION", "", "ACCELERATION"),
        ("7, K; PHI", "PHI", ""),
        ("4, /, 17, 6;    Y DBLE DOT AND MORE", "Y DBLE DOT", ""),
        ("7 K ; PHI   ", "PHI", ""),
        ("7 K $ a; b $ c", "", "a; b $ c"),
        ("7 K ; a;b", "a;b", ""),
        ("7 K ;", "", ""),
    ],
)
def test_labels_have_ten_characters_and_comments_the_rest(line: str, label: str, comment: str) -> None:
    fields = split(line)
    assert (fields.label, fields.comment) == (label, comment)


def test_labels_keep_their_case() -> None:
    assert split("7 k ; Phi").label == "Phi"


def test_characters_that_would_break_a_stored_line_are_blanks() -> None:
    assert split("7\0K;\x0bA\rB$C\nD").values == ["7", "K"]
    assert (split("7 K;\x0bA\rB$C\nD").label, split("7 K;A$C\nD").comment) == ("A B", "C D")


def test_a_title_has_sixty_characters() -> None:
    assert title_of("  " + "x" * 70 + "\n") == "x" * 60
