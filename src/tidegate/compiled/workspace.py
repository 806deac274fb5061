"""The one block of memory of a run, laid out once: integers, addresses and offsets in ``h``, numbers in ``r``.

Native code gets the two arrays and opens views on them by the names below, so nothing is allocated during a run and a run
is copied by copying two arrays. ``Field``-like constants are plain integers because Numba freezes them into the code.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray

__all__ = ["N_FIXED_INTEGERS", "N_FIXED_NUMBERS", "Workspace", "complexes", "integers", "matrix", "pointer", "tail", "vector"]

# --- sizes -----------------------------------------------------------------------------------------------------------------------
N, N_G, N_M, N_P, N_S, N_D, N_FIRE, N_WHEN, N_COND, N_TIMES, N_OUT, N_USED, N_REG, N_MODES = range(14)
# --- addresses of native functions; 0 where the model has none -------------------------------------------------------------------
F_RHS, F_RESIDUAL_T, F_JACOBIAN, F_MASS, F_GUARDS, F_GUARDS_T, F_SCALE, F_ACTIVITY = range(14, 22)
F_CONDITIONS, F_BODIES, F_BODIES_T, F_TIMES, F_TIMES_T = range(22, 27)
L_DGETRF, L_DGETRS, L_ZGETRF, L_ZGETRS = range(27, 31)
# --- facts about the model -------------------------------------------------------------------------------------------------------
MASS_KIND, MASS_VARIES, RANK, FIRST_DISCRETE, FIRST_FIRE, FIRST_COUNT, N_DROP = range(31, 38)
# --- options ---------------------------------------------------------------------------------------------------------------------
BUDGET, EVENT_ROWS, STEP_ROWS, KEEP_POLYNOMIALS, STAGES_WANTED = range(38, 43)
# --- state of the run ------------------------------------------------------------------------------------------------------------
STAGES, IS_FIRST, WAS_REJECTED, HAS_POLYNOMIAL, NEEDS_JACOBIAN, NEEDS_FACTORS, JACOBIAN_FRESH, EVENT_KIND, EVENT_CAUSE, ROUNDS = range(43, 53)
N_ROWS, N_LOGGED, N_POLYNOMIALS, NEXT_OUTPUT, IS_TERMINATED, STILL_EVENTS, SHRINKING, FAILED_GUARD, PHASE, SAME_TIME = range(53, 63)
GOOD_STEPS, FAILURES_IN_A_ROW, LAST_GUARD, CAUSE_ITEM, ITERATIONS, FOUND_GUARD = range(63, 69)
# --- counters --------------------------------------------------------------------------------------------------------------------
C_STEPS, C_REJECTED, C_RHS, C_JACOBIAN, C_FACTOR, C_NEWTON, C_NEWTON_FAILED, C_EVENTS, C_FLIPS, C_RESTEPS = range(69, 79)
FIRST_DROP: Final = 79  # in m, of how far states fell in the round before, for those whose value before it a condition asks for; N_DROP of them
N_STOPS: Final = 80  # instants that no step may pass, although nothing happens at them
# --- buffers: rows of each record, and how wide they are -------------------------------------------------------------------------
ROOM_ROWS, ROOM_LOG, ROOM_POLYNOMIALS, WIDE_ROWS, WIDE_LOG, WIDE_POLYNOMIALS, N_ASKED, F_OUTPUTS, F_OUTPUTS_T, F_TAPE = range(81, 91)
# --- the method: addresses of its units, see integrators/hooks, and the degree of its polynomials ---------------------------------
H_STEP, H_LOCATE, H_SENSITIVITIES, H_VALUES, H_RESTART, H_ACCEPT, DEGREE, MAX_DEGREE = range(91, 99)
# --- SUNDIALS: handles of its memory and of vectors on O_Y, O_YDOT and O_YEND, its last flag, a word it writes to; where h and r stand --
SUN_MEMORY, SUN_Y, SUN_YDOT, SUN_END, SUN_FLAG, SUN_WORD, ADDRESS_H, ADDRESS_R = range(99, 107)
STARTS_COARSE: Final = 107  # 1 for a method that starts at order one and does not see motions within the tolerances
SMOOTHS_RATES: Final = 108  # 1 for a method whose points lie beside the slow motion of a stiff model, see integrators/rate_before
C_UNDECIDED: Final = 109  # a counter
IS_CUT: Final = 110  # 1 if the step is shorter than the one the method has taken, without an event at its end
ENDS_HARD: Final = 111  # 1 if the model must not be asked for anything behind the end of the run
# --- offsets of arrays in r ------------------------------------------------------------------------------------------------------
O_FIRST: Final = 112
(
    O_Y, O_P, O_M, O_YMAX, O_ATOL, O_SCALE, O_F0, O_YDOT, O_W, O_W2, O_W3, O_ERR, O_Z, O_F, O_R, O_A, O_ZB, O_AB, O_DC,
    O_E1, O_E2, O_J, O_MASS, O_ECHELON, O_BASE, O_YNEW, O_YOLD, O_MOLD, O_INVERSE, O_G, O_GT, O_NU, O_NUSTART, O_GC, O_ACT, O_COND, O_COND2, O_TIMES,
    O_BERN, O_LO, O_HI, O_CONST, O_BODY, O_FIRED, O_S, O_D, O_SIGMA, O_K, O_KB, O_DTDP, O_DP, O_DM, O_SNEW, O_OUTPUTS, O_ZERO, O_YDOTM, O_SCALEROW,
    O_NODES, O_NOISE, O_YEND, O_SEND, O_SOUT, O_PNEW, O_SDOT, O_HELD, O_GRIDS, O_YHELD, O_SHELD, O_TRIAL, O_LEFT, O_MTRIAL,
    O_ASKED, O_STOPS,
) = range(O_FIRST, O_FIRST + 73)  # fmt: skip
# --- offsets of integer arrays in h ----------------------------------------------------------------------------------------------
(
    I_PIV1, I_PIV2, I_PIVB, I_PIVK, I_PARAM, I_LINEAR, I_TIME, I_KIND, I_MODE, I_STRICT, I_ALGEBRAIC, I_USED, I_FROW, I_NROW, I_VALUE, I_RATE,
    I_CODE, I_BRANCH, I_CHAIN, I_TERMINATES, I_FLIPPED, I_OPAQUE, I_SUN_A, I_SUN_S, I_SUN_SDOT,
    I_SUN_SEND, I_SUN_SOUT, I_DROP, I_GRID, I_EDGES, I_CLOCK, I_BEND, I_SIDE,
) = range(O_FIRST + 73, O_FIRST + 73 + 33)  # fmt: skip
N_FIXED_INTEGERS: Final = O_FIRST + 73 + 33
# --- numbers in r ----------------------------------------------------------------------------------------------------------------
(
    T, T_END, STEP, STEP_OLD, STEP_NEW, RTOL, RTOL_INNER, ATOL_RATIO, STEP_MAX, NEWTON_TOL, FACCON, THETA, STEP_ACCEPTED, ERROR_ACCEPTED, T_NEXT,
    T_START, LAST_EVENT, LAST_INTERVAL, ZENO_TIME, SHRINK_FROM, STEP_BEFORE_EVENT, LENGTH, FOUND_THETA, LAST_FACTOR, INTERVAL_2, INTERVAL_3, REACHED,
    NOT_FINITE_AT, TIME_SIZE, DECIDED_TO, T_HELD, STEP_HELD, INSIDE,
    T_SHOWN,
) = range(34)  # fmt: skip
N_FIXED_NUMBERS: Final = 48

NEVER: Final = 1e300  # a time behind every other
MAX_STAGES: Final = 7
# of the parts of a step that isolation works on: coefficients of a polynomial of degree 12 and the part's two ends
PART_WIDTH: Final = 16
MOST_PARTS_AT_ONCE: Final = 64

# reasons for which ``advance`` comes back
TARGET, LIMIT, TERMINATED, NOT_FINITE, STEP_TOO_SMALL, SINGULAR, RESTART_FAILED, UNSETTLED, CHATTERING, ZENO, CONFLICT = range(11)
CLOCK_STOPPED, UNDECIDED_GUARD = range(11, 13)
# kinds of events in the log
STATE_EVENT, TIME_EVENT, INITIAL_EVENT = 1, 2, 4
# chain numbers from here on belong to no chain: remarks, which happen with the branch or time event they belong to
FIRST_REMARK: Final = 1 << 32
# what a clause that happened means even where it changed no value: the end of the run, an entry in the log
TERMINATES, IS_NOTED = 1, 2
# kinds of guards
RELATION, LOWER, UPPER = range(3)
# kinds of rows
STEP_ROW, BEFORE_ROW, AFTER_ROW, OUTPUT_ROW = range(4)


def _view(dimensions: int, dtype: Any = None) -> Any:
    """Code generator of a view on memory behind a pointer: it owns nothing, the run does."""

    def implementation(_typing_context: Any, base: Any, offset: Any, *shape: Any) -> Any:
        view_type = types.Array(dtype or base.dtype, dimensions, "C")
        signature = view_type(base, offset, *shape)

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            place = context.cast(builder, values[1], sig.args[1], types.intp)
            pointer = builder.gep(values[0], [place])
            view = context.make_array(view_type)(context, builder)
            sizes = [context.cast(builder, v, t, types.intp) for v, t in zip(values[2:], sig.args[2:], strict=True)]
            item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(view_type.dtype)))
            strides = [item]
            for size in reversed(sizes[1:]):
                strides.insert(0, builder.mul(strides[0], size))
            data = builder.bitcast(pointer, view.data.type)
            populate_array(view, data=data, shape=sizes, strides=strides, itemsize=item, meminfo=None)
            return view._getvalue()  # noqa: SLF001, there is no public way to it

        return signature, generate

    return implementation


@intrinsic
def vector(typing_context: Any, base: Any, offset: Any, n: Any) -> Any:
    """View of n items."""
    return _view(1)(typing_context, base, offset, n)


@intrinsic
def matrix(typing_context: Any, base: Any, offset: Any, rows: Any, columns: Any) -> Any:
    """View of a matrix by rows."""
    return _view(2)(typing_context, base, offset, rows, columns)


@intrinsic
def complexes(typing_context: Any, base: Any, offset: Any, rows: Any, columns: Any) -> Any:
    """View of a complex matrix by rows."""
    return _view(2, types.complex128)(typing_context, base, offset, rows, columns)


@intrinsic
def tail(typing_context: Any, base: Any, offset: Any) -> Any:
    """View of everything from a place on, for functions that know how much they read."""
    view_type = types.Array(base.dtype, 1, "C")

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        one = context.get_constant(types.intp, 1)
        inner = _view(1)(typing_context, base, offset, types.intp)[1]
        return inner(context, builder, view_type(base, offset, types.intp), [values[0], values[1], one])

    return view_type(base, offset), generate


@intrinsic
def pointer(_typing_context: Any, address: Any) -> Any:
    """An address as a pointer to numbers."""
    result = types.CPointer(types.float64)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = context.cast(builder, values[0], signature.args[0], types.uint64)
        return builder.inttoptr(word, context.get_value_type(result))

    return result(address), generate


integers = vector


class Workspace:
    """The arrays of one run and where everything stands in them.

    Parameters
    ----------
    numbers : name of an offset constant -> how many numbers it needs.
    whole : name of an offset constant -> how many integers.
    """

    def __init__(self, numbers: dict[int, int], whole: dict[int, int]) -> None:
        n_numbers = N_FIXED_NUMBERS
        offsets: dict[int, int] = {}
        for name, size in numbers.items():
            # 64-byte steps keep rows of different arrays out of one cache line
            offsets[name] = n_numbers
            n_numbers += -(-max(size, 1) // 8) * 8
        n_whole = N_FIXED_INTEGERS
        for name, size in whole.items():
            offsets[name] = n_whole
            n_whole += max(size, 1)
        self.h: NDArray[np.int64] = np.zeros(n_whole, dtype=np.int64)
        self.r: NDArray[np.float64] = np.zeros(n_numbers)
        self._sizes = {**numbers, **whole}
        self._whole = frozenset(whole)
        for name, offset in offsets.items():
            self.h[name] = offset

    def view(self, name: int) -> NDArray[np.float64]:
        """The numbers of one array."""
        offset = int(self.h[name])
        return self.r[offset : offset + self._sizes[name]]

    def whole(self, name: int) -> NDArray[np.int64]:
        """The integers of one array."""
        offset = int(self.h[name])
        return self.h[offset : offset + self._sizes[name]]
