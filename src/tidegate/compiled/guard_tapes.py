"""Nonlinear guards as interval tapes: bounds of g and of its rate over a part of a step (Park and Barton 1996).

In: locked guards. Out: one ``GuardTapes`` in which all guards share their inputs, so that the bounds of the unknowns over a part of a step are
computed once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import GuardTapes
from tidegate.compiled.layout import Layout, seed
from tidegate.expressions import Expr, Role, symbol, walk
from tidegate.expressions.differentiate import tangent
from tidegate.expressions.tape import build_tape

__all__ = ["guard_tapes"]


def guard_tapes(guards: Sequence[Expr], skip: NDArray[np.bool_], layout: Layout) -> GuardTapes:
    """Tapes of the guards that are not skipped.

    Parameters
    ----------
    guards : locked discontinuity functions.
    skip : True for a guard that needs no tape.
    """
    wanted = [g for g, s in zip(guards, skip, strict=True) if not s]
    present = {item for item in walk(wanted) if item.op == "symbol"}
    used = [k for k, s in enumerate(layout.unknowns) if s in present]
    time = symbol(Role.TIME, "time")
    seeds = {time: seed("dt", 0)} | {layout.unknowns[k]: seed("dy", k) for k in used}
    inputs = [time, *(layout.unknowns[k] for k in used), *(seed("dy", k) for k in used), seed("dt", 0), *layout.parameters, *layout.m_symbols()]

    codes: list[NDArray[np.int64]] = []
    constants: list[NDArray[np.float64]] = []
    first, count, value, rate = (np.zeros(len(guards), dtype=np.int64) for _ in range(4))
    rows = n_constants = longest = 0
    rates = iter(tangent(wanted, seeds))
    for index, guard in enumerate(guards):
        if skip[index]:
            continue
        tape = build_tape([guard, next(rates)], inputs, first_constant=n_constants)
        first[index], count[index] = rows, len(tape.code)
        value[index], rate[index] = tape.outputs
        codes.append(tape.code)
        constants.append(tape.constants)
        rows += len(tape.code)
        n_constants += len(tape.constants)
        longest = max(longest, len(tape.code))
    return GuardTapes(
        code=np.concatenate(codes) if codes else np.zeros((0, 4), dtype=np.int64),
        constants=np.concatenate(constants) if constants else np.zeros(0),
        first_row=first,
        n_rows=count,
        value=value,
        rate=rate,
        used=np.array(used, dtype=np.int64),
        n_registers=len(inputs) + longest,
    )
