"""Whether the estimated error of a step is allowed, and how far below what is allowed it lies: a rule that two methods share."""

from __future__ import annotations

__all__ = ["allowed", "is_beyond", "lesser"]


def allowed(absolute: float, relative: float, state: float) -> float:
    """What the error of an unknown may be where it has this state."""
    return abs(absolute) + abs(relative * state)


def is_beyond(err: float, limit: float) -> bool:
    """Whether the estimated error is not as small as that; one that is no number is not small."""
    return not abs(err) <= limit


def lesser(quotient: float, err: float, limit: float) -> float:
    """The quotient of allowed and estimated error, if it is less than one found before."""
    size = abs(err)
    return limit / size if limit < quotient * size else quotient
