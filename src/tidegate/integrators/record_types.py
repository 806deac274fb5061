"""What a run writes down, as types of records: a row, an event, the polynomial of a step. The kernel writes their numbers in this order.

All are numbers of eight bytes, so that a buffer of them is a plain matrix for the kernel (``integrators.hybrid_loop.record``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.integrators.interface import Problem

__all__ = ["Written", "event_type", "joined", "polynomial_type", "row_type"]

Written = NDArray[np.void]


def joined(blocks: Sequence[Written], kind: np.dtype[np.void]) -> Written:
    """All records in one array of its own; ``kind`` where there are none."""
    if not blocks:
        return np.zeros(0, kind)
    # as plain numbers: numpy compares the fields of records one by one to put arrays together
    return np.concatenate([block.view(np.float64) for block in blocks]).view(blocks[0].dtype) if len(blocks) > 1 else blocks[0].copy()


def row_type(problem: Problem) -> np.dtype[np.void]:
    """Time, kind (as in ``compiled.workspace``), all that is recorded and its derivatives by each parameter."""
    width = problem.model.layout.n_recorded
    return _numbers(("time", ()), ("kind", ()), ("values", (width,)), ("sensitivities", (len(problem.sensitivity_parameters), width)))


def event_type(problem: Problem) -> np.dtype[np.void]:
    """Time, what happened (kinds, guard and scheduled item or -1, rounds), derivatives of the time, values before and after, what was carried out."""
    layout = problem.model.layout
    n, n_m = len(layout.unknowns), layout.first_discrete + len(layout.discretes)
    return _numbers(
        ("time", ()), ("kind", ()), ("guard", ()), ("item", ()), ("rounds", ()), ("dt_dp", (len(problem.sensitivity_parameters),)),
        ("y_before", (n,)), ("m_before", (n_m,)), ("y_after", (n,)), ("m_after", (n_m,)), ("fired", (layout.n_actions,)),
    )  # fmt: skip


def polynomial_type(problem: Problem, degree: int) -> np.dtype[np.void]:
    """Where a step begins, how long it is, of which degree; coefficients of theta^k for all unknowns; the discrete variables."""
    layout = problem.model.layout
    shape = (degree + 1, len(layout.unknowns))
    return _numbers(("start", ()), ("length", ()), ("degree", ()), ("coefficients", shape), ("discrete", (len(layout.discretes),)))


def _numbers(*fields: tuple[str, tuple[int, ...]]) -> np.dtype[np.void]:
    described: list[Any] = [(name, np.float64, shape) for name, shape in fields]
    return np.dtype(described)
