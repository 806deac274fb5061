"""Which problems methods for y' = f cannot solve, in words."""

from __future__ import annotations

from typing import Final

from tidegate.errors import UsageError
from tidegate.integrators.interface import Problem
from tidegate.names import listed

__all__ = ["check_explicit", "hidden_algebraic"]

_SHOWN: Final = 4
_SOLVE_BOTH: Final = "method='ida' or method='radau' solve them together with the differential equations"


def check_explicit(problem: Problem, name: str) -> None:
    """UsageError where there are algebraic unknowns."""
    model = problem.model
    names = [unknown for unknown, is_algebraic in zip(model.layout.unknowns, model.algebraic, strict=True) if is_algebraic]
    if names:
        kind = "is an algebraic unknown" if len(names) == 1 else "are algebraic unknowns"
        raise UsageError(
            f"method {name!r} solves differential equations only, and {listed(names, _SHOWN)} {kind}",
            hint=_SOLVE_BOTH,
        )


def hidden_algebraic(name: str, n: int, rank: int) -> UsageError:
    """What is said where a mass matrix of n rows has a smaller rank."""
    return UsageError(
        f"method {name!r} solves differential equations only, and {n - rank} of the {n} equations are algebraic in hiding: "
        "they contain the same combinations of derivatives as others",
        hint=_SOLVE_BOTH,
    )
