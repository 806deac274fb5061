"""Nonlinear guards as interval tapes: bounds of g, of its rate and of the rate's rate over a part of a step (Park and Barton 1996).

In: locked guards. Out: one ``GuardTapes`` in which all guards share their inputs, so that the bounds of the unknowns over a part of a step are
computed once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import GuardTapes
from tidegate.compiled.vector_symbols import Symbols, seed
from tidegate.compiled.workspace import CHOSEN, COMPUTED, MOVING, WRITTEN
from tidegate.expressions import Expr, Role, dependencies, node, select, symbol, walk
from tidegate.expressions.differentiate import tangent
from tidegate.expressions.nodes import raw_node
from tidegate.expressions.tape import CONST, FIRST_FUNCTION, OF_ONE, OF_PLACES, SELECT, build_tape

__all__ = ["guard_tapes"]

_LONGEST_BEND: Final = 4000  # rows of a tape: the second derivative of a longer one costs more than the parts it saves


def guard_tapes(guards: Sequence[Expr], skip: NDArray[np.bool_], symbols: Symbols) -> GuardTapes:
    """Tapes of the guards that are not skipped.

    Parameters
    ----------
    guards : locked discontinuity functions.
    skip : True for a guard that needs no tape.
    """
    wanted = [g for g, s in zip(guards, skip, strict=True) if not s]
    present = dependencies(*wanted)
    used = [k for k, s in enumerate(symbols.unknowns) if s in present]
    time = symbol(Role.TIME, "time")
    seeds = {time: seed("dt", 0)} | {symbols.unknowns[k]: seed("dy", k) for k in used}
    points = [*symbols.parameters, *symbols.of_m()]
    inputs = [time, *(symbols.unknowns[k] for k in used), *(seed("dy", k) for k in used), seed("dt", 0), *points]
    inputs += [seed("ddy", k) for k in used]

    codes: list[NDArray[np.int64]] = []
    constants: list[NDArray[np.float64]] = []
    first, value, rate, bend = (np.zeros(len(guards), dtype=np.int64) for _ in range(4))
    count = np.zeros((3, len(guards)), dtype=np.int64)
    rows = n_constants = longest = 0
    rates = tangent(wanted, seeds)
    bends = tangent(rates, seeds | {seed("dy", k): seed("ddy", k) for k in used})
    rates, bends = _unbounded_at_jumps(wanted, rates), _unbounded_at_jumps(wanted, bends)
    derivatives = iter(zip(rates, bends, strict=True))
    for index, guard in enumerate(guards):
        if skip[index]:
            continue
        guard_rate, guard_bend = next(derivatives)
        tape = build_tape([guard, guard_rate, guard_bend], inputs, first_constant=n_constants, points=points)
        bent = len(tape.code) <= _LONGEST_BEND
        if not bent:
            tape = build_tape([guard, guard_rate], inputs, first_constant=n_constants, points=points)
        first[index] = rows
        # every output and what it needs stand behind those before it
        count[:, index] = (np.maximum.accumulate(np.append(tape.outputs, tape.outputs[-1]))[:3] - len(inputs) + 1).clip(0)
        value[index], rate[index] = tape.outputs[:2]
        bend[index] = tape.outputs[2] if bent else -1
        codes.append(tape.code)
        constants.append(tape.constants)
        rows += len(tape.code)
        n_constants += len(tape.constants)
        longest = max(longest, len(tape.code))
    n_points, first_point = len(points), 2 + 2 * len(used)
    return GuardTapes(
        code=np.concatenate(codes) if codes else np.zeros((0, 4), dtype=np.int64),
        constants=np.concatenate(constants) if constants else np.zeros(0),
        first_row=first,
        n_rows=count,
        value=value,
        rate=rate,
        bend=bend,
        used=np.array(used, dtype=np.int64),
        n_registers=len(inputs) + longest,
        numbers=_read(np.concatenate([value, *(code[code[:, 0] != CONST, 1:].ravel() for code in codes)]), first_point, n_points),
        kinds=np.array([kind for code in codes for kind in _kinds(code, len(inputs), range(first_point, first_point + n_points))], dtype=np.int64),
    )


def _read(operands: NDArray[np.int64], first: int, count: int) -> NDArray[np.int64]:
    """Those registers of numbers that are among operands; what else stands there may make some more."""
    return np.intersect1d(operands, np.arange(first, first + count))


def _kinds(code: NDArray[np.int64], n_inputs: int, points: range) -> list[int]:
    """What is known of every row of a tape before there is a mode."""
    kinds = [COMPUTED if register in points else MOVING for register in range(n_inputs)]
    for operation, *operands in code.tolist():
        if operation == CONST:
            kinds.append(WRITTEN)
        elif operation in OF_PLACES or operation == SELECT:
            kinds.append(CHOSEN)
        else:
            has_one = operation in OF_ONE or operation >= FIRST_FUNCTION
            of = {kinds[register] for register in operands[: 1 if has_one else 2]}
            kinds.append(MOVING if MOVING in of else CHOSEN if CHOSEN in of else COMPUTED)
    return kinds[n_inputs:]


def _unbounded_at_jumps(guards: Sequence[Expr], derivatives: Sequence[Expr]) -> list[Expr]:
    """Derivatives of which nothing is known where an angle may jump by a whole turn, which the derivative of the angle does not show."""
    found: list[Expr] = []
    for guard, derivative in zip(guards, derivatives, strict=True):
        bounded = derivative
        for item in walk([guard]):
            if item.op == "atan2":
                y, x = item.args
                bounded = select(node("gt", (node("sqrt", (x * x + y * y,)) + x,)), bounded, raw_node("unbounded", ()))
        found.append(bounded)
    return found
