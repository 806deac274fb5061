"""Routines of a block that are lists of expressions, and texts as the interface takes them (stage: source text)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tidegate.expressions import Expr
from tidegate.quick_dataclass import dataclass

__all__ = ["ARGUMENTS", "Formula", "formula", "shortened"]

ARGUMENTS: Final = ("t", "x", "u", "dp", "ip", "lp", "m")
_MOST_TEXT: Final = 132  # characters


@dataclass(frozen=True, eq=False)
class Formula:
    """A routine that is a list of expressions, ``out[index] = expression``.

    Parameters
    ----------
    name, comment, arguments : of it; the last argument is written to.
    size : of what is set to zero before; 0 if everything is written, or the rest is to stay.
    """

    name: str
    comment: str
    arguments: tuple[str, ...]
    outputs: tuple[tuple[int, Expr], ...]
    size: int = 0


def formula(name: str, comment: str, outputs: Iterable[tuple[int, Expr]], arguments: tuple[str, ...] = ARGUMENTS, size: int = 0) -> Formula:
    """One, which writes to ``out``."""
    return Formula(name, comment, (*arguments, "out"), tuple(outputs), size)


def shortened(text: str) -> str:
    """A text in ASCII, on one line, as long as the interface allows."""
    plain = " ".join(text.split()).encode("ascii", errors="replace").decode()
    return plain if len(plain) <= _MOST_TEXT else plain[: _MOST_TEXT - 3] + "..."
