"""Docstrings of the form ``name : meaning`` for the pages of the reference: meanings into the column of meanings, types from the signatures.

An extension of Griffe, which reads docstrings for the pages. In goes a docstring in our form, out comes one in numpydoc's, where a name stands alone
on its line and what is said of it below.
"""

from __future__ import annotations

import re
from typing import Any, Final

import griffe

__all__ = ["Described"]

_SECTIONS: Final = ("Parameters", "Attributes", "Returns", "Raises", "Yields", "Warns", "Other Parameters")
_ITEM: Final = re.compile(r"^(?P<name>\S.*?) : (?P<meaning>.+)$")


def rewritten(text: str) -> str:
    r"""A docstring in which no meaning stands where a type is expected.

    Examples
    --------
    >>> rewritten("Raises\n------\nTypeError : it is none.").splitlines()
    ['Raises', '------', 'TypeError', '    it is none.']
    """
    lines = text.split("\n")
    found: list[str] = []
    inside = False
    for k, line in enumerate(lines):
        if set(line.strip()) == {"-"} and k > 0:
            inside = lines[k - 1].strip() in _SECTIONS
        item = _ITEM.match(line) if inside and not line.startswith(" ") else None
        if item is None:
            found.append(line)
        else:
            found += [item["name"], f"    {item['meaning']}"]
    return "\n".join(found)


class Described(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """See Griffe."""
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)
