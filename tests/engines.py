"""The integration methods that every trap and every rule of events is tried with, and how far each may be off, in one place.

A test states what it allows Radau, which is exact on parabolas and takes few long steps. A multistep method holds each step to the tolerance, not the
run: tens to hundreds of steps add up, and those after each event most of all, since they are of order one.
"""

from __future__ import annotations

import math
from typing import Any, Final

import pytest

__all__ = [
    "ADDED_UP",
    "COARSE_METHODS",
    "DAE_METHODS",
    "METHODS",
    "METHODS_WITH_RODAS5P",
    "SUNDIALS_METHODS",
    "allowed",
    "unseen_time",
    "with_others_later",
]

METHODS: Final = ["radau", "ida", "bdf", "adams"]
METHODS_WITH_RODAS5P: Final = [*METHODS, "rodas5p"]  # where events and sensitivities are decided
SUNDIALS_METHODS: Final = METHODS[1:]
DAE_METHODS: Final = ["radau", "ida", "rodas5p"]  # those that solve for algebraic unknowns too
COARSE_METHODS: Final = ["bdf", "adams"]  # start at order one, and do not see motions within the tolerances
ADDED_UP: Final = 200.0  # tolerances: a few hundred steps of up to one each, some of which cancel


def allowed(method: str, ours: float, rtol: float, tolerances: float = ADDED_UP) -> float:
    """What a result may be off.

    Parameters
    ----------
    ours : what Radau may be off; no method has to be better.
    rtol : the tolerance asked for.
    tolerances : how many of them the steps of a multistep method may add up to; where a problem makes errors larger or smaller on the way, the test
        says by what.
    """
    return ours if method == "radau" else max(ours, tolerances * rtol)


def unseen_time(method: str, height: float, acceleration: float, ratio: float) -> float:
    """How long motions that shrink by a ratio go on below a height, which is how early a method may end them that cannot see below it.

    Thrown back with speed v the motion comes back after 2 v / acceleration and has reached v^2 / (2 acceleration); the times that follow are a
    geometric series. CVODE's first step after an event leads as far as the tolerances let order one go, that is, beyond so small a motion.
    """
    if method not in COARSE_METHODS:
        return 0.0
    return 2.0 * math.sqrt(2.0 * height / acceleration) / (1.0 - ratio)


def with_others_later(methods: list[str]) -> list[Any]:
    """The first method in every run of the tests; the others, which repeat what it does, only where all tests are run."""
    return [pytest.param(name, marks=[pytest.mark.slow] if name != methods[0] else []) for name in methods]
