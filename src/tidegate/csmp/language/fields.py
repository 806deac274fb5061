"""A line of the language taken to pieces: fields, label, comment (section 3.1 of the report). In goes a line, out come texts; nothing is judged."""

from __future__ import annotations

import re
from typing import Final

from tidegate.quick_dataclass import dataclass

__all__ = ["MOST_IN_LABEL", "MOST_IN_TITLE", "Fields", "split", "title_of"]

MOST_IN_LABEL: Final = 10
MOST_IN_TITLE: Final = 60

_SEPARATOR: Final = re.compile(r"\s*,\s*|\s+")
# A tab is a blank; the others come from paper tape, other editors or a slip of the hand, and would break a line where it is stored.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Fields:
    """What a line holds.

    Parameters
    ----------
    values : the fields in order, None for a blank one; blank fields at the end are left out.
    label : up to ten characters behind a semicolon.
    comment : what stands behind a dollar sign.
    has_label : whether there was a semicolon at all; parameter and function statements have none.
    """

    values: list[str | None]
    label: str = ""
    comment: str = ""
    has_label: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the first field is blank: such a line ends a set of statements."""
        return not self.values or self.values[0] is None


def split(line: str) -> Fields:
    """Take a line to pieces.

    Commas and runs of blanks separate; a comma with blanks around it is one separator, and two commas have a blank field between them. Control
    characters count as blanks.

    >>> split("4, /, 17,, 6; Y DBLE DOT $ m/s**2")
    Fields(values=['4', '/', '17', None, '6'], label='Y DBLE DOT', comment='m/s**2', has_label=True)
    """
    statement, _, comment = _CONTROL.sub(" ", line).partition("$")
    text, semicolon, label = statement.partition(";")
    values: list[str | None] = [value or None for value in _SEPARATOR.split(text.strip())]
    while values and values[-1] is None:
        values.pop()
    return Fields(values, label.lstrip()[:MOST_IN_LABEL].rstrip(), comment.strip(), bool(semicolon))


def title_of(line: str) -> str:
    """A line as a title: cut to sixty characters, blanks around it left out.

    >>> title_of("  Decay  ")
    'Decay'
    """
    return _CONTROL.sub(" ", line).strip()[:MOST_IN_TITLE].rstrip()
