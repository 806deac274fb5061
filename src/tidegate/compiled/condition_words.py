"""Conditions as people read them (stage: compiled): in the model's names where that is short, else as the user wrote them, with file and line.

What an `if` compares is the whole graph behind it, with every helper function and branch put in; of that nobody recognises his line.
"""

from __future__ import annotations

import ast
from typing import Final

from tidegate.errors import Origin
from tidegate.expressions import Expr
from tidegate.expressions.printing import relation_text

__all__ = ["condition_words", "shortened"]

_LONGEST: Final = 100  # characters that still read as one condition
_NEGATED: Final[dict[type[ast.cmpop], str]] = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<"}
_DIRECTIONS: Final[dict[type[ast.cmpop], str]] = {ast.Lt: "<", ast.LtE: "<", ast.Gt: ">", ast.GtE: ">"}


def shortened(text: str, longest: int = _LONGEST) -> str:
    """The text in one line, its middle left out where it is too long.

    Examples
    --------
    >>> shortened("a + " * 20 + "b > 1", 20)
    'a + a +...a + b > 1'
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    head = (longest - 3) // 2
    return f"{line[:head].rstrip()}...{line[len(line) - (longest - 3 - head) :]}"


def condition_words(source: Expr, origin: Origin | None, *, holds: bool = True) -> str:
    """A relation, or the one that holds where it does not, in the direction in which it was written.

    Parameters
    ----------
    source : the relation or condition.
    origin : where it was written, if that is known.
    holds : False for the opposite.
    """
    if origin is not None and origin.is_sealed:
        return f"{origin.text} {origin.inside}"
    compared = _comparison(origin.text) if origin is not None else None
    direction = _DIRECTIONS.get(type(compared.ops[0]), "") if compared is not None else ""
    words = relation_text(source, holds=holds, direction=direction)
    has_branches = " if " in words and (origin is None or " if " not in origin.text)
    if len(words) <= _LONGEST and not (has_branches and origin is not None and origin.text):
        return words
    if origin is not None and compared is not None:
        text = " ".join(origin.text.split())
        words = text if holds else _opposite(text, compared)
    elif origin is not None and origin.text and len(origin.text) < len(words):
        words = origin.text if holds else f"not ({origin.text})"
    place = f" ({origin})" if origin is not None and str(origin) else ""
    return shortened(words) + place


def _comparison(written: str) -> ast.Compare | None:
    """The one comparison that a text is, else None."""
    try:
        tree = ast.parse(" ".join(written.split()), mode="eval").body
    except SyntaxError:
        return None
    return tree if isinstance(tree, ast.Compare) and len(tree.ops) == 1 else None


def _opposite(text: str, compared: ast.Compare) -> str:
    sign = _NEGATED.get(type(compared.ops[0]))
    sides = [ast.get_source_segment(text, side) for side in (compared.left, compared.comparators[0])]
    return f"{sides[0]} {sign} {sides[1]}" if sign is not None and all(sides) else f"not ({text})"
