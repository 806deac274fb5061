"""Graphs as tapes (stage: expressions): expressions in, rows of numbers out that a loop without allocation can execute.

A row is (operation, a, b, c): the registers of its arguments, or places in the table of constants; of a whole power the last is the register of the
square of what it is of, 0 where there is none. Registers 0 ... n_inputs - 1 are the inputs; row r
writes register n_inputs + r. ``run_tape`` executes a tape on intervals; a point is the interval from it to itself. Numba can compile it unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, MutableSequence, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.expressions import interval
from tidegate.expressions.nodes import Expr, walk
from tidegate.quick_dataclass import dataclass

__all__ = ["KERNELS", "Tape", "build_tape", "run_tape"]

CONST: Final = 0
ADD: Final = 1
SUB: Final = 2
MUL: Final = 3
DIV: Final = 4
NEG: Final = 5
POW: Final = 6
SQUARE: Final = 7
SELECT: Final = 8
ATAN2: Final = 9
GE: Final = 10
GT: Final = 11
NONZERO: Final = 12
AND: Final = 13
OR: Final = 14
NOT: Final = 15
SEGMENT: Final = 16
LOOKUP: Final = 17
SPLINE: Final = 18
UNKNOWN: Final = 19  # an opaque function's output: nothing is known
FIRST_FUNCTION: Final = 20
SIN: Final = 20
COS: Final = 21
TAN: Final = 22
ASIN: Final = 23
ACOS: Final = 24
ATAN: Final = 25
SINH: Final = 26
COSH: Final = 27
TANH: Final = 28
ASINH: Final = 29
ACOSH: Final = 30
ATANH: Final = 31
EXP: Final = 32
EXPM1: Final = 33
LOG: Final = 34
LOG1P: Final = 35
SQRT: Final = 36
CBRT: Final = 37
ERF: Final = 38
FLOOR: Final = 39

OF_ONE: Final = (SQUARE, NEG, NONZERO, NOT, GE, GT)  # operations with one operand, beside functions
OF_PLACES: Final = (SEGMENT, LOOKUP, SPLINE, UNKNOWN)  # those that are not of registers alone: tables have places behind their argument

_OPCODES: Final[dict[str, int]] = {
    "add": ADD,
    "sub": SUB,
    "mul": MUL,
    "div": DIV,
    "neg": NEG,
    "pow": POW,
    "select": SELECT,
    "atan2": ATAN2,
    "ge": GE,
    "gt": GT,
    "nonzero": NONZERO,
    "and": AND,
    "or": OR,
    "not": NOT,
    "sin": SIN,
    "cos": COS,
    "tan": TAN,
    "asin": ASIN,
    "acos": ACOS,
    "atan": ATAN,
    "floor": FLOOR,
    "sqrt": SQRT,
    "cbrt": CBRT,
    "erf": ERF,
    "sinh": SINH,
    "cosh": COSH,
    "tanh": TANH,
    "asinh": ASINH,
    "acosh": ACOSH,
    "atanh": ATANH,
    "exp": EXP,
    "expm1": EXPM1,
    "log": LOG,
    "log1p": LOG1P,
}
_SQUARED: Final = 2.0
_ARITHMETIC: Final = frozenset({"add", "sub", "mul", "div"})
_TABLES: Final[dict[str, int]] = {"segment": SEGMENT, "lookup": LOOKUP, "spline": SPLINE}


@dataclass(frozen=True, eq=False)
class Tape:
    """Expressions as rows.

    Parameters
    ----------
    code : int64, (n_rows, 4): operation and up to three registers or places.
    constants : float64: numbers and tables that the rows refer to.
    outputs : int64: register of each expression.
    n_inputs : number of input registers.
    """

    code: NDArray[np.int64]
    constants: NDArray[np.float64]
    outputs: NDArray[np.int64]
    n_inputs: int

    @property
    def n_registers(self) -> int:
        """Length of the arrays of lower and upper bounds."""
        return self.n_inputs + len(self.code)


def build_tape(exprs: Iterable[Expr], inputs: Sequence[Expr], *, first_constant: int = 0, points: Collection[Expr] = ()) -> Tape:
    """The tape that computes these expressions from these inputs.

    Parameters
    ----------
    exprs : expressions.
    inputs : symbols (or any nodes) whose values the caller fills in.
    first_constant : place that the first constant will have, for tapes that share one table of constants.
    points : inputs that are numbers, never ranges: what arithmetic makes of them is taken with its rounding, as all others get it. The remainder of
        one would else be unknown where it is none.

    Raises
    ------
    UsageError
        For a symbol that is not among the inputs.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> x = symbol(Role.UNKNOWN, "x")
    >>> tape = build_tape([x + 1], [x])
    >>> tape.code.tolist(), tape.outputs.tolist()
    ([[0, 0, 0, 0], [1, 0, 1, 0]], [2])
    """
    roots = list(exprs)
    builder = _Builder(inputs, first_constant, points)
    for root in roots:  # one by one: what comes first does without squares that only later ones ask for
        items = list(walk([root]))
        builder.squares = {item.args[0]: item for item in items if item.op == "pow" and item.args[1].is_constant and item.args[1].value == _SQUARED}
        for item in items:
            builder.append(item)
    outputs = np.array([builder.registers[root] for root in roots], dtype=np.int64)
    code = np.array(builder.rows, dtype=np.int64).reshape(-1, 4)
    return Tape(code, np.array(builder.constants), outputs, len(inputs))


class _Builder:
    def __init__(self, inputs: Sequence[Expr], first_constant: int, points: Collection[Expr]) -> None:
        self.points = set(points)
        self.squares: dict[Expr, Expr] = {}  # by what they are of
        self.n_inputs = len(inputs)
        self.first_constant = first_constant
        self.registers = {item: register for register, item in enumerate(inputs)}
        self.rows: list[tuple[int, int, int, int]] = []
        self.constants: list[float] = []
        self.tables: dict[tuple[float, ...], int] = {}

    def append(self, item: Expr) -> None:
        """Write the row of a node whose arguments have theirs."""
        if item not in self.registers:
            row = self._row(item)
            self.registers[item] = self.n_inputs + len(self.rows)
            self.rows.append(row)
            if item.is_constant or (item.args and self.points.issuperset(item.args)):
                self.points.add(item)

    def _row(self, item: Expr) -> tuple[int, int, int, int]:
        op = item.op
        if item.is_constant:
            return CONST, self._place((item.value,)), 0, 0
        if op == "symbol":
            raise UsageError(f"`{item!r}` is not among the inputs of the tape", hint="list every symbol that appears in the expressions")
        arguments = [self.registers[arg] for arg in item.args]
        if op in _TABLES:
            values, size = item.data, len(item.data) if op != "spline" else len(item.data.grid)
            if op == "spline":
                values = (*item.data.grid.tolist(), *item.data.coefficients.T.ravel().tolist())
            return _TABLES[op], arguments[0], self._place(values), size
        if op not in _OPCODES:
            return UNKNOWN, 0, 0, 0
        are_points = op in _ARITHMETIC and self.points.issuperset(item.args)
        if op == "mul" and arguments[0] == arguments[1] and not are_points:
            return SQUARE, arguments[0], 0, 0
        if op == "pow" and item.args[0] in self.squares and _is_higher(item.args[1]):
            return POW, arguments[0], arguments[1], self._square(item.args[0])
        a, b, c = [*arguments, 0, 0, 0][:3]
        return _OPCODES[op], a, b, 1 if are_points else c

    def _square(self, base: Expr) -> int:
        """The register of a square that is asked for, too, from which higher powers may follow."""
        square = self.squares[base]
        for item in (*square.args, square):
            self.append(item)
        return self.registers[square]

    def _place(self, values: tuple[float, ...]) -> int:
        if values not in self.tables:
            self.tables[values] = self.first_constant + len(self.constants)
            self.constants.extend(values)
        return self.tables[values]


def _is_higher(exponent: Expr) -> bool:
    return exponent.is_constant and exponent.value > _SQUARED and exponent.value == math.floor(exponent.value)


def run_tape(
    code: NDArray[np.int64], rows: int, inputs: int, constants: Sequence[float], lo: MutableSequence[float], hi: MutableSequence[float]
) -> None:
    """Execute so many rows of a tape on intervals.

    Parameters
    ----------
    code, constants : the tape (compiled: as arrays or views of int64 and float64).
    inputs : how many there are; their registers come before those of the rows.
    lo, hi : bounds (compiled: arrays or views of float64) of the registers; the caller has filled in the inputs.
    """
    target = inputs
    for row in range(rows):
        op, a, b, c = int(code[row, 0]), int(code[row, 1]), int(code[row, 2]), int(code[row, 3])
        if op == CONST:
            below = above = constants[a]
        elif op == NEG:
            below, above = interval.neg(lo[a], hi[a])
        elif op == SELECT:
            below, above = interval.select(lo[a], hi[a], lo[b], hi[b], lo[c], hi[c])
        elif op >= FIRST_FUNCTION:
            below, above = function_range(op, lo[a], hi[a])
        elif c == 1 and ADD <= op <= DIV and lo[a] == hi[a] and lo[b] == hi[b]:
            below = above = _of_points(op, lo[a], lo[b])
        elif op == SEGMENT:
            below, above = interval.segment(lo[a], hi[a], constants, b, c)
        elif op == LOOKUP:
            below, above = interval.lookup(lo[a], hi[a], constants, b, c)
        elif op == SPLINE:
            below, above = interval.spline(lo[a], hi[a], constants, b, c)
        else:
            below, above = operation_range(op, lo[a], hi[a], lo[b], hi[b])
        lo[target] = below
        hi[target] = above
        target += 1


def _of_points(op: int, a: float, b: float) -> float:
    if op == ADD:
        return a + b
    if op == SUB:
        return a - b
    if op == MUL:
        return a * b
    return a / b if b != 0.0 else math.nan


def operation_range(op: int, alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """Bounds of an operation of two arguments, or of a condition of one."""
    if op == ADD:
        return interval.add(alo, ahi, blo, bhi)
    if op == SUB:
        return interval.sub(alo, ahi, blo, bhi)
    if op == MUL:
        return interval.mul(alo, ahi, blo, bhi)
    if op == DIV:
        return interval.div(alo, ahi, blo, bhi)
    if op == POW:
        return interval.power(alo, ahi, blo, bhi)
    if op == SQUARE:
        return interval.square(alo, ahi)
    if op == ATAN2:
        return interval.atan2(alo, ahi, blo, bhi)
    return condition_range(op, alo, ahi, blo, bhi)


def condition_range(op: int, alo: float, ahi: float, blo: float, bhi: float) -> tuple[float, float]:
    """Bounds of a condition: (1, 1) holds, (0, 0) does not, (0, 1) unknown."""
    if op == GE:
        return interval.ge(alo, ahi)
    if op == GT:
        return interval.gt(alo, ahi)
    if op == NONZERO:
        return interval.nonzero(alo, ahi)
    if op == AND:
        return interval.both(alo, ahi, blo, bhi)
    if op == OR:
        return interval.either(alo, ahi, blo, bhi)
    if op == NOT:
        return interval.negated(alo, ahi)
    return -math.inf, math.inf


def function_range(op: int, lo: float, hi: float) -> tuple[float, float]:
    """Bounds of a function of one argument."""
    if op == SIN:
        return interval.sin(lo, hi)
    if op == COS:
        return interval.cos(lo, hi)
    if op == EXP:
        return interval.exp(lo, hi)
    if op == LOG:
        return interval.log(lo, hi)
    if op == SQRT:
        return interval.sqrt(lo, hi)
    if op == FLOOR:
        return interval.floor(lo, hi)
    if op == TAN:
        return interval.tan(lo, hi)
    if op == ASIN:
        return interval.asin(lo, hi)
    if op == ACOS:
        return interval.acos(lo, hi)
    if op == ATAN:
        return interval.atan(lo, hi)
    if op == EXPM1:
        return interval.expm1(lo, hi)
    if op == LOG1P:
        return interval.log1p(lo, hi)
    if op == CBRT:
        return interval.cbrt(lo, hi)
    if op == ERF:
        return interval.erf(lo, hi)
    return hyperbolic_range(op, lo, hi)


def hyperbolic_range(op: int, lo: float, hi: float) -> tuple[float, float]:
    """Bounds of a hyperbolic function or its inverse."""
    if op == SINH:
        return interval.sinh(lo, hi)
    if op == COSH:
        return interval.cosh(lo, hi)
    if op == TANH:
        return interval.tanh(lo, hi)
    if op == ASINH:
        return interval.asinh(lo, hi)
    if op == ACOSH:
        return interval.acosh(lo, hi)
    if op == ATANH:
        return interval.atanh(lo, hi)
    return -math.inf, math.inf


# What a compiler of run_tape needs beside the rules of interval arithmetic.
KERNELS: Final[tuple[Callable[..., object], ...]] = (_of_points, operation_range, condition_range, function_range, hyperbolic_range)
